/* SPDX-License-Identifier: GPL-2.0 */
/* Programs of others that run where ours do, and cost time there. */
#ifndef LIB_BPF_BESIDE_H
#define LIB_BPF_BESIDE_H

#include <stddef.h>

/*
 * Counts the BPF links, not of this process, on the same kernel function, tracepoint or place in a
 * file as one of those that this process holds; the name of one's program goes to @name ("": none).
 * Seen is what has a link: not what was attached by ioctl(2) of a perf event, nor ftrace and perf.
 * A kprobe and an fentry program on one function are not taken for the same place. Kernels before
 * 6.6 do not tell what a perf event's link (kprobe, uprobe, tracepoint) is on.
 * Returns -errno where the kernel does not list its links (requires CAP_SYS_ADMIN).
 */
int beside_count(char *name, size_t size);

#endif /* LIB_BPF_BESIDE_H */

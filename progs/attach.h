/* SPDX-License-Identifier: GPL-2.0 */
/* What user space fills in for the programs that SYSCALL_PROGS() makes. */
#ifndef PROGS_ATTACH_H
#define PROGS_ATTACH_H

#include <linux/types.h>

/* Filled in by lib/bpf/attach.c before the load. */
struct attach_target {
	__u32 tgid; /* of the benchmark: calls of other processes do not count */
	__u32 syscall_nr;
};

#endif /* PROGS_ATTACH_H */

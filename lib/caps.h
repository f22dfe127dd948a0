/* SPDX-License-Identifier: GPL-2.0 */
/* What this process is not allowed to do with BPF. */
#ifndef LIB_CAPS_H
#define LIB_CAPS_H

#include <stddef.h>

/*
 * Writes the names of the capabilities that loading and attaching tracing programs needs and this
 * process lacks, "CAP_BPF and CAP_PERFMON", or "" where none is missing. CAP_SYS_ADMIN stands for
 * both. Returns 0, or -errno where /proc cannot be read (@buf is "" then).
 */
int caps_missing(char *buf, size_t size);

/*
 * Writes why BPF may be refused although no capability is missing: "the kernel is in lockdown
 * mode ...", "in a user namespace ...", "a seccomp filter ...", or "" where no reason is seen.
 */
void caps_other_limits(char *buf, size_t size);

#endif /* LIB_CAPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What this process is not allowed to do, and by whom. */
#ifndef LIB_BPF_CAPS_H
#define LIB_BPF_CAPS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes the names of the capabilities that loading and attaching tracing programs needs and this
 * process lacks, "CAP_BPF and CAP_PERFMON", or "" where none is missing. CAP_SYS_ADMIN stands for
 * both, and is what kernels before 5.8 want. Returns 0, or -errno where /proc cannot be read (@buf
 * is "" then).
 */
int caps_missing(char *buf, size_t size);

/* Has it CAP_SYS_ADMIN? True where /proc cannot be read. */
bool caps_sys_admin(void);

/* Is it in a user namespace, whose capabilities do not count for BPF? */
bool caps_in_user_namespace(void);

/* Is a seccomp filter active? */
bool caps_has_seccomp(void);

/*
 * Writes how the kernel is locked down, "integrity" or "confidentiality"; "" where it is not, or
 * does not tell.
 */
void caps_lockdown(char *buf, size_t size);

/* Writes the active security modules as the kernel lists them; "" where it does not tell. */
void caps_security_modules(char *buf, size_t size);

#endif /* LIB_BPF_CAPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_SYSCTL_H
#define LIB_SYSCTL_H

/*
 * The number in /proc/sys/@name ("net/core/bpf_jit_enable"); @otherwise if this process cannot read
 * the file, or it does not start with a number.
 */
long long sysctl_read(const char *name, long long otherwise);

#endif /* LIB_SYSCTL_H */

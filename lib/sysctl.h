/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_SYSCTL_H
#define LIB_SYSCTL_H

/*
 * The number in /proc/sys/@name ("net/core/bpf_jit_enable"); @otherwise where there is no such
 * file, none for this process to read, or no number in it.
 */
long long sysctl_read(const char *name, long long otherwise);

#endif /* LIB_SYSCTL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* USDT probes: places in a program that an ELF note names for tracers (section .note.stapsdt). */
#ifndef LIB_BPF_USDT_H
#define LIB_BPF_USDT_H

#include <stdint.h>

/*
 * Offset, in the file that we were run from, of the nop of USDT probe @provider:@name, as uprobes
 * want it. Returns 0, -ENOENT where the file has no note of it, or another -errno.
 */
int usdt_file_offset(const char *provider, const char *name, uint64_t *offset);

#endif /* LIB_BPF_USDT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of its own to attach uprobes to, and where to find them in the file we were run from.
 */
#ifndef LIB_BPF_UPROBE_TARGET_H
#define LIB_BPF_UPROBE_TARGET_H

#include <stdint.h>

/* By their first instruction, for what a uprobe costs depends on it. */
enum uprobe_target {
	UPROBE_TARGET_NOP, /* the kernel emulates it */
	UPROBE_TARGET_PUSH, /* a register to the stack, as most functions begin */
	UPROBE_TARGET_RET, /* nothing else in the function */
	UPROBE_TARGET_NOP5, /* x86-64: of 5 bytes, which kernels from 6.18 on turn into a call */
	UPROBE_NR_TARGETS,
};

/* Where the function begins; 0 where there is none for this architecture. */
uintptr_t uprobe_target_addr(enum uprobe_target target);

/* Calls it, if there is one. */
void uprobe_target_call(enum uprobe_target target);

/* Does nothing; on every architecture. That of UPROBE_TARGET_NOP where there is one. */
void uprobe_target_nop(void);

/*
 * Offset in our executable's file of the code at @addr, as uprobes want it. Taken from where the
 * code is mapped, so it needs no symbols and holds for PIE, static and stripped files alike.
 * Returns 0 or -errno: -ENOENT where no file is mapped there.
 */
int uprobe_file_offset(uintptr_t addr, uint64_t *offset);

#endif /* LIB_BPF_UPROBE_TARGET_H */

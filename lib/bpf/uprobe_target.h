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
	/* x86-64: of 5 and 10 bytes; there are kernels that turn one of them into a call */
	UPROBE_TARGET_NOP5,
	UPROBE_TARGET_NOP10,
	/* Of USDT probes: a nop alone; x86-64: the long nop that follows it */
	UPROBE_TARGET_USDT_NOP,
	UPROBE_TARGET_USDT_NOP5,
	UPROBE_TARGET_USDT_NOP10,
	UPROBE_NR_TARGETS,
};

/* Who it is that USDT probes of the functions are named after. */
#define UPROBE_USDT_PROVIDER "optimized_attach"

/* Name of the USDT probe that the target belongs to; NULL: to none. */
const char *uprobe_target_usdt(enum uprobe_target target);

/* How many bytes the target lies behind the place that its USDT probe names. */
unsigned int uprobe_target_usdt_skip(enum uprobe_target target);

/* Where the instruction is; 0 where there is none for this architecture. */
uintptr_t uprobe_target_addr(enum uprobe_target target);

/* Calls the function that it is in, if there is one. */
void uprobe_target_call(enum uprobe_target target);

/* Does nothing; on every architecture. That of UPROBE_TARGET_NOP where there is one. */
void uprobe_target_nop(void);

/* What a kernel makes of an instruction with a uprobe on it. */
enum uprobe_site {
	UPROBE_SITE_UNTOUCHED, /* or it is not known how that looks on this architecture */
	UPROBE_SITE_BREAKPOINT,
	UPROBE_SITE_CALL,
};

/*
 * What is there now, in the memory of this process. A breakpoint becomes a call once it is hit, not
 * before.
 */
enum uprobe_site uprobe_target_site(enum uprobe_target target);

/*
 * Offset in our executable's file of the code at @addr, as uprobes want it. Taken from where the
 * code is mapped, so it needs no symbols and holds for PIE, static and stripped files alike.
 * Returns 0 or -errno: -ENOENT where no file is mapped there.
 */
int uprobe_file_offset(uintptr_t addr, uint64_t *offset);

#endif /* LIB_BPF_UPROBE_TARGET_H */

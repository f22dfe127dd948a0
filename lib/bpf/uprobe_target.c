// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/bpf/uprobe_target.h"

/*
 * In assembler, since only so is the first instruction what it shall be: compilers put frame
 * set-up, landing pads (endbr64, bti) and calls for profiling or patching in front. Without a
 * landing pad they must not be called through a pointer.
 */
#define TARGET(name, body)                                           \
	__asm__(".pushsection .text\n"                               \
		".balign 64\n"                                       \
		".globl " #name "\n"                                 \
		".hidden " #name "\n"                                \
		".type " #name ", %function\n" #name ":\n" body "\n" \
		".size " #name ", . - " #name "\n"                   \
		".popsection\n");                                    \
	void name(void)

#if defined(__x86_64__)

TARGET(uprobe_target_nop, "nop\n ret");
TARGET(uprobe_target_push, "push %rbp\n pop %rbp\n ret");
TARGET(uprobe_target_ret, "ret");
TARGET(uprobe_target_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n ret");
#define HAVE_TARGETS
#define HAVE_NOP5

#elif defined(__aarch64__)

TARGET(uprobe_target_nop, "nop\n ret");
TARGET(uprobe_target_push, "stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret");
TARGET(uprobe_target_ret, "ret");
#define HAVE_TARGETS

#else

/* What its first instruction is, the compiler decides: good for calling, not for a uprobe. */
void __attribute__((noinline)) uprobe_target_nop(void)
{
	__asm__ volatile("");
}

#endif

uintptr_t uprobe_target_addr(enum uprobe_target target)
{
	switch (target) {
#ifdef HAVE_TARGETS
	case UPROBE_TARGET_NOP:
		return (uintptr_t)uprobe_target_nop;
	case UPROBE_TARGET_PUSH:
		return (uintptr_t)uprobe_target_push;
	case UPROBE_TARGET_RET:
		return (uintptr_t)uprobe_target_ret;
#endif
#ifdef HAVE_NOP5
	case UPROBE_TARGET_NOP5:
		return (uintptr_t)uprobe_target_nop5;
#endif
	default:
		return 0;
	}
}

void uprobe_target_call(enum uprobe_target target)
{
	switch (target) {
#ifdef HAVE_TARGETS
	case UPROBE_TARGET_NOP:
		uprobe_target_nop();
		break;
	case UPROBE_TARGET_PUSH:
		uprobe_target_push();
		break;
	case UPROBE_TARGET_RET:
		uprobe_target_ret();
		break;
#endif
#ifdef HAVE_NOP5
	case UPROBE_TARGET_NOP5:
		uprobe_target_nop5();
		break;
#endif
	default:
		break;
	}
}

int uprobe_file_offset(uintptr_t addr, uint64_t *offset)
{
	uint64_t start, end, pgoff, inode;
	char line[4096 + 256];
	int err = -ENOENT;
	FILE *f;

	f = fopen("/proc/self/maps", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %" SCNu64, &start,
			   &end, &pgoff, &inode) != 4)
			continue;
		if (addr < start || addr >= end)
			continue;
		if (inode) {
			*offset = pgoff + (addr - start);
			err = 0;
		}
		break;
	}
	fclose(f);
	return err;
}

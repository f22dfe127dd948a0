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

/*
 * The ELF note of a USDT probe, as libbpf, bpftrace and systemtap read it: where its nop is, where
 * this section was linked to, no semaphore, provider, name, and no arguments. The nop has local
 * label 1.
 */
#define USDT_NOTE(name)                                             \
	".pushsection .note.stapsdt, \"\", \"note\"\n"              \
	".balign 4\n"                                               \
	".4byte 3f - 2f, 5f - 4f, 3\n"                              \
	"2: .asciz \"stapsdt\"\n"                                   \
	"3: .balign 4\n"                                            \
	"4: .8byte 1b, usdt_base, 0\n"                              \
	".asciz \"" UPROBE_USDT_PROVIDER "\", \"" name "\", \"\"\n" \
	"5: .balign 4\n"                                            \
	".popsection\n"

/* A tool that moves sections (prelink) leaves the notes alone: they moved as far as this one. */
__asm__(".pushsection .stapsdt.base, \"a\"\n"
	"usdt_base: .space 1\n"
	".popsection\n");

#if defined(__x86_64__)

TARGET(uprobe_target_nop, "nop\n ret");
TARGET(uprobe_target_push, "push %rbp\n pop %rbp\n ret");
TARGET(uprobe_target_ret, "ret");
#define NOP5_BYTES  ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define NOP10_BYTES ".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
TARGET(uprobe_target_nop5, NOP5_BYTES "ret");
TARGET(uprobe_target_nop10, NOP10_BYTES "ret");
TARGET(usdt_target_nop, "1: nop\n ret\n" USDT_NOTE("usdt_1"));
TARGET(usdt_target_nop5, "1: nop\n" NOP5_BYTES "ret\n" USDT_NOTE("usdt_2_nop5"));
TARGET(usdt_target_nop10, "1: nop\n" NOP10_BYTES "ret\n" USDT_NOTE("usdt_2"));
#define HAVE_TARGETS
#define HAVE_LONG_NOPS

#elif defined(__aarch64__)

TARGET(uprobe_target_nop, "nop\n ret");
TARGET(uprobe_target_push, "stp x29, x30, [sp, #-16]!\n ldp x29, x30, [sp], #16\n ret");
TARGET(uprobe_target_ret, "ret");
TARGET(usdt_target_nop, "1: nop\n ret\n" USDT_NOTE("usdt_1"));
#define HAVE_TARGETS

#else

/* What its first instruction is, the compiler decides: good for calling, not for a uprobe. */
void __attribute__((noinline)) uprobe_target_nop(void)
{
	__asm__ volatile("");
}

#endif

/* The address is that of the function, and @skip bytes. */
static const struct {
	void (*function)(void);
	unsigned int skip;
	const char *usdt;
} targets[UPROBE_NR_TARGETS] = {
#ifdef HAVE_TARGETS
	[UPROBE_TARGET_NOP] = { .function = uprobe_target_nop },
	[UPROBE_TARGET_PUSH] = { .function = uprobe_target_push },
	[UPROBE_TARGET_RET] = { .function = uprobe_target_ret },
	[UPROBE_TARGET_USDT_NOP] = { .function = usdt_target_nop, .usdt = "usdt_1" },
#endif
#ifdef HAVE_LONG_NOPS
	[UPROBE_TARGET_NOP5] = { .function = uprobe_target_nop5 },
	[UPROBE_TARGET_NOP10] = { .function = uprobe_target_nop10 },
	[UPROBE_TARGET_USDT_NOP5] = { usdt_target_nop5, 1, "usdt_2_nop5" },
	[UPROBE_TARGET_USDT_NOP10] = { usdt_target_nop10, 1, "usdt_2" },
#endif
};

const char *uprobe_target_usdt(enum uprobe_target target)
{
	return targets[target].usdt;
}

unsigned int uprobe_target_usdt_skip(enum uprobe_target target)
{
	return targets[target].skip;
}

uintptr_t uprobe_target_addr(enum uprobe_target target)
{
	if (!targets[target].function)
		return 0;
	return (uintptr_t)targets[target].function + targets[target].skip;
}

/* By name, not through the table: they have no landing pads. */
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
	case UPROBE_TARGET_USDT_NOP:
		usdt_target_nop();
		break;
#endif
#ifdef HAVE_LONG_NOPS
	case UPROBE_TARGET_NOP5:
		uprobe_target_nop5();
		break;
	case UPROBE_TARGET_NOP10:
		uprobe_target_nop10();
		break;
	case UPROBE_TARGET_USDT_NOP5:
		usdt_target_nop5();
		break;
	case UPROBE_TARGET_USDT_NOP10:
		usdt_target_nop10();
		break;
#endif
	default:
		break;
	}
}

enum uprobe_site uprobe_target_site(enum uprobe_target target)
{
	/* The kernel writes there, the compiler is not to know what it finds. */
	const volatile uint8_t *code = (const volatile uint8_t *)uprobe_target_addr(target);

	if (!code)
		return UPROBE_SITE_UNTOUCHED;
#if defined(__x86_64__)
	if (code[0] == 0xcc) /* int3 */
		return UPROBE_SITE_BREAKPOINT;
	/* call; or, in place of 10 bytes, lea -128(%rsp), %rsp and a call */
	if (code[0] == 0xe8 || (code[0] == 0x48 && code[1] == 0x8d && code[5] == 0xe8))
		return UPROBE_SITE_CALL;
#elif defined(__aarch64__)
	if ((*(const volatile uint32_t *)code & 0xffe0001f) == 0xd4200000) /* brk */
		return UPROBE_SITE_BREAKPOINT;
#endif
	return UPROBE_SITE_UNTOUCHED;
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

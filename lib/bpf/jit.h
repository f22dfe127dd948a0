/* SPDX-License-Identifier: GPL-2.0 */
/* The machine code that the kernel's JIT made of a BPF program: read back, examined, shown. */
#ifndef LIB_BPF_JIT_H
#define LIB_BPF_JIT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum jit_arch {
	JIT_X86_64,
	JIT_ARM64,
	JIT_OTHER, /* nothing is known of it */
};

#if defined(__x86_64__)
#define JIT_HOST_ARCH JIT_X86_64
#elif defined(__aarch64__)
#define JIT_HOST_ARCH JIT_ARM64
#else
#define JIT_HOST_ARCH JIT_OTHER
#endif

/* The program itself (the first one), or a function of it that is not inlined. */
struct jit_func {
	char name[64]; /* as in the source; "func3" where the kernel does not report it */
	uint64_t addr; /* in the kernel */
	const uint8_t *code;
	size_t len; /* bytes */
};

struct jit_image {
	enum jit_arch arch;
	struct jit_func *funcs;
	size_t nr_funcs;
	uint8_t *code; /* of all of them, one after the other */
};

/*
 * Reads the code of the loaded program @prog_fd into @img, to be freed by jit_image_free() (on an
 * error there is nothing to free). Returns 0, -ENODATA where the program is not JITed, -EACCES
 * where the kernel keeps its code from us (it shows code only to those who may see kernel
 * addresses: CAP_SYSLOG, and kernel.kptr_restrict not 2), or another -errno.
 */
int jit_image_read(int prog_fd, struct jit_image *img);
void jit_image_free(struct jit_image *img);

/*
 * Does the function use a private stack? Looks in its prologue for the instructions that compute
 * the address of this CPU's private stack. Their source: emit_priv_frame_ptr() of
 * arch/x86/net/bpf_jit_comp.c (Linux 6.13), emit_percpu_ptr() of arch/arm64/net/bpf_jit_comp.c
 * (6.17). Returns 1 (yes), 0 (no) or -EOPNOTSUPP (unknown for @arch).
 */
int jit_has_private_stack(enum jit_arch arch, const uint8_t *code, size_t len);

/*
 * Writes all functions of @img to @out, disassembled: offset in the function, instruction. Targets
 * of calls and jumps are written as offsets in the function, or by name where they have one. What
 * cannot be disassembled is shown as bytes. Returns 0, -EOPNOTSUPP (not for this architecture) or
 * another -errno.
 */
int jit_image_print(const struct jit_image *img, FILE *out);

#endif /* LIB_BPF_JIT_H */

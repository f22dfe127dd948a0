// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <capstone/capstone.h>

#include "lib/bpf/jit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- reading */

static void name_funcs(struct jit_image *img, uint32_t btf_id, const struct bpf_func_info *info,
		       size_t nr_info)
{
	struct btf *btf = btf_id ? btf__load_from_kernel_by_id(btf_id) : NULL;
	const struct btf_type *t;
	const char *name;
	size_t i;

	for (i = 0; i < img->nr_funcs; i++) {
		t = btf && i < nr_info ? btf__type_by_id(btf, info[i].type_id) : NULL;
		name = t ? btf__name_by_offset(btf, t->name_off) : NULL;
		if (name && *name)
			snprintf(img->funcs[i].name, sizeof(img->funcs[i].name), "%s", name);
		else
			snprintf(img->funcs[i].name, sizeof(img->funcs[i].name), "func%zu", i);
	}
	btf__free(btf);
}

int jit_image_read(int prog_fd, struct jit_image *img)
{
	struct bpf_func_info *func_info = NULL;
	uint64_t *addrs = NULL;
	uint32_t *lens = NULL;
	struct bpf_prog_info sizes = {}, info = {};
	uint32_t info_len = sizeof(sizes);
	size_t off = 0, i;
	int err;

	memset(img, 0, sizeof(*img));
	img->arch = JIT_HOST_ARCH;
	if (bpf_obj_get_info_by_fd(prog_fd, &sizes, &info_len))
		return -errno;
	if (!sizes.jited_prog_len || !sizes.nr_jited_func_lens)
		return -ENODATA;

	img->code = malloc(sizes.jited_prog_len);
	img->funcs = calloc(sizes.nr_jited_func_lens, sizeof(*img->funcs));
	addrs = calloc(sizes.nr_jited_func_lens, sizeof(*addrs));
	lens = calloc(sizes.nr_jited_func_lens, sizeof(*lens));
	func_info = calloc(sizes.nr_func_info + 1, sizeof(*func_info));
	if (!img->code || !img->funcs || !addrs || !lens || !func_info) {
		err = -ENOMEM;
		goto out;
	}
	info.jited_prog_len = sizes.jited_prog_len;
	info.jited_prog_insns = (uintptr_t)img->code;
	info.nr_jited_ksyms = sizes.nr_jited_func_lens;
	info.jited_ksyms = (uintptr_t)addrs;
	info.nr_jited_func_lens = sizes.nr_jited_func_lens;
	info.jited_func_lens = (uintptr_t)lens;
	info.nr_func_info = sizes.nr_func_info;
	info.func_info_rec_size = sizeof(*func_info);
	info.func_info = (uintptr_t)func_info;
	info_len = sizeof(info);
	if (bpf_obj_get_info_by_fd(prog_fd, &info, &info_len)) {
		err = -errno;
		goto out;
	}
	/* The kernel does not fail for what it does not show: it takes the pointer away. */
	if (!info.jited_prog_insns || !info.jited_ksyms || !info.jited_func_lens) {
		err = -EACCES;
		goto out;
	}

	img->nr_funcs = sizes.nr_jited_func_lens;
	err = 0;
	for (i = 0; i < img->nr_funcs; i++) {
		if (lens[i] > sizes.jited_prog_len - off) {
			err = -EBADMSG;
			goto out;
		}
		img->funcs[i].addr = addrs[i];
		img->funcs[i].code = img->code + off;
		img->funcs[i].len = lens[i];
		off += lens[i];
	}
	name_funcs(img, sizes.btf_id, func_info, info.func_info ? sizes.nr_func_info : 0);
out:
	free(addrs);
	free(lens);
	free(func_info);
	if (err)
		jit_image_free(img);
	return err;
}

void jit_image_free(struct jit_image *img)
{
	free(img->funcs);
	free(img->code);
	memset(img, 0, sizeof(*img));
}

/* ---- private stack */

/*
 * Where the prologue has ended for sure. On x86-64 it is at most: endbr64, a 5-byte nop, setting up
 * of the tail call counter, push rbp and mov, endbr64, sub rsp, pushes of five registers and a
 * movabs for the arena. On arm64 about as many instructions.
 */
#define PROLOGUE_MAX_BYTES 96
#define PROLOGUE_MAX_INSNS 48

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The per-CPU address goes to r9: movabs r9, imm64; or, where it is below 4 GiB, mov r9d, imm32;
 * or, in the highest 2 GiB, mov r9, simm32. Then comes add r9, gs:[disp32]. No other instruction of
 * the JIT sets r9, which belongs to no BPF register, and then adds the CPU's offset.
 */
static int x86_has_private_stack(const uint8_t *code, size_t len)
{
	static const struct {
		uint8_t opcode[3], opcode_len, len;
	} movs[] = {
		{ { 0x49, 0xb9 }, 2, 2 + 8 },
		{ { 0x41, 0xb9 }, 2, 2 + 4 },
		{ { 0x49, 0xc7, 0xc1 }, 3, 3 + 4 },
	};
	static const uint8_t add_r9_gs[] = { 0x65, 0x4c, 0x03, 0x0c, 0x25 };
	const size_t end = min_size(len, PROLOGUE_MAX_BYTES);
	size_t i, m, add;

	for (i = 0; i < end; i++) {
		for (m = 0; m < sizeof(movs) / sizeof(movs[0]); m++) {
			add = i + movs[m].len;
			if (add + sizeof(add_r9_gs) + 4 <= len &&
			    !memcmp(code + i, movs[m].opcode, movs[m].opcode_len) &&
			    !memcmp(code + add, add_r9_gs, sizeof(add_r9_gs)))
				return 1;
		}
	}
	return 0;
}

static uint32_t read_insn(const uint8_t *code)
{
	return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
}

/*
 * mrs Xt, tpidr_el1 (tpidr_el2 where the kernel runs at EL2), which is where arm64 keeps the CPU's
 * offset; then add x27, x27, Xt. x27 is the register of the private stack pointer.
 */
static int arm64_has_private_stack(const uint8_t *code, size_t len)
{
	const uint32_t mrs_el1 = 0xd538d080, mrs_el2 = 0xd53cd040, add_x27_x27 = 0x8b00037b;
	const size_t end = min_size(len / 4, PROLOGUE_MAX_INSNS);
	uint32_t insn, reg;
	size_t i;

	for (i = 0; i + 2 <= end; i++) {
		insn = read_insn(code + 4 * i);
		reg = insn & 0x1f;
		insn &= ~0x1fU;
		if (insn != mrs_el1 && insn != mrs_el2)
			continue;
		if (read_insn(code + 4 * (i + 1)) == (add_x27_x27 | reg << 16))
			return 1;
	}
	return 0;
}

int jit_has_private_stack(enum jit_arch arch, const uint8_t *code, size_t len)
{
	switch (arch) {
	case JIT_X86_64:
		return x86_has_private_stack(code, len);
	case JIT_ARM64:
		return arm64_has_private_stack(code, len);
	default:
		return -EOPNOTSUPP;
	}
}

/* ---- disassembly */

/* Addresses outside the program that its instructions name, and what the kernel has there. */
struct symbols {
	struct {
		uint64_t addr;
		char name[64];
	} sym[64];
	size_t nr;
};

static int open_disassembler(enum jit_arch arch, csh *handle)
{
	cs_err err;

	switch (arch) {
	case JIT_X86_64:
		err = cs_open(CS_ARCH_X86, CS_MODE_64, handle);
		break;
	case JIT_ARM64:
#if CS_API_MAJOR >= 6
		err = cs_open(CS_ARCH_AARCH64, CS_MODE_LITTLE_ENDIAN, handle);
#else
		err = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, handle);
#endif
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (err == CS_ERR_ARCH)
		return -EOPNOTSUPP; /* a libcapstone built without it */
	if (err)
		return -ENOMEM;
	/* What it does not know is shown as ".byte" and does not end it all. */
	cs_option(*handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	return 0;
}

/* Is the last operand a plain number ("0xffffffffa0001234", "#0x10")? Where it begins, and it. */
static const char *last_number(const char *ops, uint64_t *value)
{
	const char *p = strrchr(ops, ' ');
	char *end;

	p = p ? p + 1 : ops;
	if (*p == '#')
		p++;
	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	*value = strtoull(p, &end, 16);
	return *end ? NULL : p;
}

static const struct jit_func *func_at(const struct jit_image *img, uint64_t addr)
{
	size_t i;

	for (i = 0; i < img->nr_funcs; i++)
		if (img->funcs[i].addr == addr)
			return &img->funcs[i];
	return NULL;
}

static bool is_inside(const struct jit_func *func, uint64_t addr)
{
	return addr >= func->addr && addr - func->addr < func->len;
}

static void remember(struct symbols *syms, uint64_t addr)
{
	size_t i;

	for (i = 0; i < syms->nr; i++)
		if (syms->sym[i].addr == addr)
			return;
	if (syms->nr < ARRAY_SIZE(syms->sym))
		syms->sym[syms->nr++].addr = addr;
}

static const char *symbol_at(const struct symbols *syms, uint64_t addr)
{
	size_t i;

	for (i = 0; i < syms->nr; i++)
		if (syms->sym[i].addr == addr && syms->sym[i].name[0])
			return syms->sym[i].name;
	return NULL;
}

/* Without kallsyms, or with its addresses hidden, the numbers stay as they are. */
static void look_up(struct symbols *syms)
{
	FILE *f = syms->nr ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512], name[64];
	uint64_t addr;
	size_t i;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		addr = strtoull(line, NULL, 16);
		for (i = 0; i < syms->nr; i++) {
			if (addr != syms->sym[i].addr || syms->sym[i].name[0])
				continue;
			if (sscanf(line, "%*s %*s %63s", name) == 1)
				strcpy(syms->sym[i].name, name);
		}
	}
	fclose(f);
}

/* Calls @each for every instruction of every function. */
static int walk(const struct jit_image *img, void *ctx,
		void (*each)(void *ctx, const struct jit_image *img, const struct jit_func *func,
			     const cs_insn *insn))
{
	const struct jit_func *func;
	const uint8_t *code;
	uint64_t addr;
	cs_insn *insn;
	size_t i, len;
	csh handle;
	int err;

	err = open_disassembler(img->arch, &handle);
	if (err)
		return err;
	insn = cs_malloc(handle);
	if (!insn) {
		cs_close(&handle);
		return -ENOMEM;
	}
	for (i = 0; i < img->nr_funcs; i++) {
		func = &img->funcs[i];
		code = func->code;
		len = func->len;
		addr = func->addr;
		while (cs_disasm_iter(handle, &code, &len, &addr, insn))
			each(ctx, img, func, insn);
	}
	cs_free(insn, 1);
	cs_close(&handle);
	return 0;
}

static void collect(void *ctx, const struct jit_image *img, const struct jit_func *func,
		    const cs_insn *insn)
{
	uint64_t value;

	/* Only addresses of kernel text can have a name: the upper half. */
	if (last_number(insn->op_str, &value) && value >> 63 && !is_inside(func, value) &&
	    !func_at(img, value))
		remember(ctx, value);
}

struct printer {
	FILE *out;
	const struct symbols *syms;
};

static void print_insn(void *ctx, const struct jit_image *img, const struct jit_func *func,
		       const cs_insn *insn)
{
	const struct printer *p = ctx;
	const struct jit_func *callee;
	const char *number, *name;
	uint64_t value;

	if (insn->address == func->addr)
		fprintf(p->out, "%s%s:\n", func == img->funcs ? "" : "\n", func->name);
	fprintf(p->out, "%6" PRIx64 ":  %s", insn->address - func->addr, insn->mnemonic);
	if (insn->op_str[0])
		fprintf(p->out, "%*s ", (int)(7 - min_size(strlen(insn->mnemonic), 7)), "");
	number = last_number(insn->op_str, &value);
	callee = number ? func_at(img, value) : NULL;
	name = callee ? callee->name : number ? symbol_at(p->syms, value) : NULL;
	if (name)
		fprintf(p->out, "%.*s%s\n", (int)(number - insn->op_str), insn->op_str, name);
	else if (number && is_inside(func, value))
		fprintf(p->out, "%.*s0x%" PRIx64 "\n", (int)(number - insn->op_str), insn->op_str,
			value - func->addr);
	else
		fprintf(p->out, "%s\n", insn->op_str);
}

int jit_image_print(const struct jit_image *img, FILE *out)
{
	struct symbols syms = {};
	struct printer printer = { .out = out, .syms = &syms };
	int err;

	err = walk(img, &syms, collect);
	if (err)
		return err;
	look_up(&syms);
	return walk(img, &printer, print_insn);
}

// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bpf/jit.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* nop5, nop3, push rbp, mov rbp, rsp */
#define X86_ENTRY  0x0f, 0x1f, 0x44, 0x00, 0x00, 0x0f, 0x1f, 0x00, 0x55, 0x48, 0x89, 0xe5
#define X86_SUB	   0x48, 0x81, 0xec, 0x30, 0x00, 0x00, 0x00 /* sub rsp, 0x30 */
#define X86_PUSHES 0x53, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57 /* rbx, r13 to r15 */
#define X86_MOVABS 0x49, 0xb9, 0xd8, 0x1e, 0xb0, 0x5b, 0x79, 0x60, 0x00, 0x00 /* r9, imm64 */
#define X86_MOV32  0x41, 0xb9, 0x40, 0xa3, 0x02, 0x00 /* r9d, imm32 */
#define X86_MOVS32 0x49, 0xc7, 0xc1, 0x08, 0xa3, 0xc4, 0x93 /* r9, simm32 */
#define X86_ADD	   0x65, 0x4c, 0x03, 0x0c, 0x25, 0x28, 0xc0, 0xb0, 0x83 /* r9, gs:[] */
#define X86_EXIT   0x31, 0xc0, 0xc9, 0xc3 /* xor, leave, ret */

/* In a buffer that ends with the code, so that a sanitizer sees a read beyond it. */
static int has(enum jit_arch arch, const void *code, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, code, len);
	ret = jit_has_private_stack(arch, copy, len);
	free(copy);
	return ret;
}

static void x86_private_stack(void **state)
{
	static const uint8_t plain[] = { X86_ENTRY, X86_MOVABS, X86_ADD, X86_EXIT };
	static const uint8_t pushes[] = { X86_ENTRY, X86_PUSHES, X86_MOVABS, X86_ADD, X86_EXIT };
	static const uint8_t low_address[] = { X86_ENTRY, X86_MOV32, X86_ADD, X86_EXIT };
	static const uint8_t high_address[] = { X86_ENTRY, X86_MOVS32, X86_ADD, X86_EXIT };
	static const uint8_t bare[] = { X86_MOVABS, X86_ADD };

	assert_int_equal(has(JIT_X86_64, plain, sizeof(plain)), 1);
	assert_int_equal(has(JIT_X86_64, pushes, sizeof(pushes)), 1);
	assert_int_equal(has(JIT_X86_64, low_address, sizeof(low_address)), 1);
	assert_int_equal(has(JIT_X86_64, high_address, sizeof(high_address)), 1);
	assert_int_equal(has(JIT_X86_64, bare, sizeof(bare)), 1);
}

static void x86_other_stack(void **state)
{
	static const uint8_t plain[] = { X86_ENTRY, X86_SUB, X86_EXIT };
	static const uint8_t no_add[] = { X86_ENTRY, X86_MOVABS, X86_EXIT };
	static const uint8_t no_mov[] = { X86_ENTRY, X86_ADD, X86_EXIT };
	static const uint8_t between[] = { X86_ENTRY, X86_MOVABS, 0x90, X86_ADD, X86_EXIT };
	/* add r10, gs:[] after mov r10, as for a per-CPU variable */
	static const uint8_t r10[] = { X86_ENTRY, 0x49, 0xba, 1,    2,	  3,	4,
				       5,	  6,	7,    8,    0x65, 0x4c, 0x03,
				       0x14,	  0x25, 0x28, 0xc0, 0xb0, 0x83, X86_EXIT };

	assert_int_equal(has(JIT_X86_64, plain, sizeof(plain)), 0);
	assert_int_equal(has(JIT_X86_64, no_add, sizeof(no_add)), 0);
	assert_int_equal(has(JIT_X86_64, no_mov, sizeof(no_mov)), 0);
	assert_int_equal(has(JIT_X86_64, between, sizeof(between)), 0);
	assert_int_equal(has(JIT_X86_64, r10, sizeof(r10)), 0);
}

static void x86_only_in_the_prologue(void **state)
{
	static const uint8_t pattern[] = { X86_MOVABS, X86_ADD };
	uint8_t code[400];

	memset(code, 0x90, sizeof(code)); /* nop */
	memcpy(code + 60, pattern, sizeof(pattern));
	assert_int_equal(has(JIT_X86_64, code, sizeof(code)), 1);
	memset(code, 0x90, sizeof(code));
	memcpy(code + 300, pattern, sizeof(pattern));
	assert_int_equal(has(JIT_X86_64, code, sizeof(code)), 0);
}

/* Code that ends anywhere: found only once all of the two instructions is there. */
static void x86_cut_short(void **state)
{
	static const uint8_t code[] = { X86_ENTRY, X86_MOVABS, X86_ADD };
	static const uint8_t low[] = { X86_ENTRY, X86_MOV32, X86_ADD };
	static const uint8_t high[] = { X86_ENTRY, X86_MOVS32, X86_ADD };
	size_t len;

	for (len = 0; len <= sizeof(code); len++)
		assert_int_equal(has(JIT_X86_64, code, len), len == sizeof(code));
	for (len = 0; len <= sizeof(low); len++)
		assert_int_equal(has(JIT_X86_64, low, len), len == sizeof(low));
	for (len = 0; len <= sizeof(high); len++)
		assert_int_equal(has(JIT_X86_64, high, len), len == sizeof(high));
}

/* As an assembler makes them of the words in the comments. */
static void arm64(void **state)
{
	static const uint8_t el1[] = {
		0x9b, 0x46, 0x82, 0xd2, /* mov x27, #0x1234 */
		0x8a, 0xd0, 0x38, 0xd5, /* mrs x10, tpidr_el1 */
		0x7b, 0x03, 0x0a, 0x8b, /* add x27, x27, x10 */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
	};
	static const uint8_t el2[] = {
		0x4a, 0xd0, 0x3c, 0xd5, /* mrs x10, tpidr_el2 */
		0x7b, 0x03, 0x0a, 0x8b, /* add x27, x27, x10 */
	};
	static const uint8_t x11[] = {
		0x8b, 0xd0, 0x38, 0xd5, /* mrs x11, tpidr_el1 */
		0x7b, 0x03, 0x0b, 0x8b, /* add x27, x27, x11 */
	};
	static const uint8_t other_reg[] = {
		0x8b, 0xd0, 0x38, 0xd5, /* mrs x11, tpidr_el1 */
		0x7b, 0x03, 0x0a, 0x8b, /* add x27, x27, x10 */
	};
	static const uint8_t per_cpu_variable[] = {
		0x8a, 0xd0, 0x38, 0xd5, /* mrs x10, tpidr_el1 */
		0xe7, 0x00, 0x0a, 0x8b, /* add x7, x7, x10 */
	};
	static const uint8_t no_mrs[] = {
		0x9b, 0x46, 0x82, 0xd2, /* mov x27, #0x1234 */
		0x7b, 0x03, 0x0a, 0x8b, /* add x27, x27, x10 */
	};
	size_t len;

	for (len = 0; len <= sizeof(el1); len++)
		assert_int_equal(has(JIT_ARM64, el1, len), len >= 12);
	assert_int_equal(has(JIT_ARM64, el2, sizeof(el2)), 1);
	assert_int_equal(has(JIT_ARM64, x11, sizeof(x11)), 1);
	assert_int_equal(has(JIT_ARM64, other_reg, sizeof(other_reg)), 0);
	assert_int_equal(has(JIT_ARM64, per_cpu_variable, sizeof(per_cpu_variable)), 0);
	assert_int_equal(has(JIT_ARM64, no_mrs, sizeof(no_mrs)), 0);
}

static void one_architecture_is_not_another(void **state)
{
	static const uint8_t x86[] = { X86_MOVABS, X86_ADD, 0x90 };
	static const uint8_t arm64[] = { 0x8a, 0xd0, 0x38, 0xd5, 0x7b, 0x03, 0x0a, 0x8b };

	assert_int_equal(has(JIT_ARM64, x86, sizeof(x86)), 0);
	assert_int_equal(has(JIT_X86_64, arm64, sizeof(arm64)), 0);
	assert_int_equal(has(JIT_OTHER, x86, sizeof(x86)), -EOPNOTSUPP);
}

/* What jit_image_print() writes; freed by the caller. */
static char *print(const struct jit_image *img)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(jit_image_print(img, f), 0);
	fclose(f);
	return text;
}

#define MAIN_ADDR 0xffffffffc0001000
#define SUB_ADDR  0xffffffffc0002001

static void disassembly(void **state)
{
	static const uint8_t code_main[] = {
		0x55, /* 0: push rbp */
		0x48, 0x89, 0xe5, /* 1: mov rbp, rsp */
		0xe8, 0xf8, 0x0f, 0x00, 0x00, /* 4: call SUB_ADDR */
		0x74, 0x05, /* 9: je 0x10 */
		0xe8, 0x00, 0x00, 0x00, 0x10, /* b: call far away */
		0x06, /* 10: no instruction */
		0xf0, 0x48, 0x01, 0x37, /* 11: lock add [rdi], rsi */
		0x49, 0xb9, 0xd8, 0x1e, 0xb0, 0x5b, 0x79, 0x60, 0x00, 0x00, /* 15: movabs */
		0xc3, /* 1f: ret */
	};
	static const uint8_t code_sub[] = { 0xeb, 0x00, 0xc3 };
	struct jit_func funcs[] = {
		{ .name = "prog", .addr = MAIN_ADDR, .code = code_main, .len = sizeof(code_main) },
		{ .name = "callee", .addr = SUB_ADDR, .code = code_sub, .len = sizeof(code_sub) },
	};
	struct jit_image img = { .arch = JIT_X86_64,
				 .funcs = funcs,
				 .nr_funcs = ARRAY_SIZE(funcs) };
	char *text;

	text = print(&img);
	assert_string_equal(text, "prog:\n"
				  "     0:  push    rbp\n"
				  "     1:  mov     rbp, rsp\n"
				  "     4:  call    callee\n"
				  "     9:  je      0x10\n"
				  "     b:  call    0xffffffffd0001010\n"
				  "    10:  .byte   0x06\n"
				  "    11:  lock add qword ptr [rdi], rsi\n"
				  "    15:  movabs  r9, 0x60795bb01ed8\n"
				  "    1f:  ret\n"
				  "\n"
				  "callee:\n"
				  "     0:  jmp     0x2\n"
				  "     2:  ret\n");
	free(text);
}

static void disassembly_arm64(void **state)
{
	static const uint8_t code[] = {
		0x02, 0x00, 0x00, 0x94, /* 0: bl 8 */
		0xc0, 0x03, 0x5f, 0xd6, /* 4: ret */
		0x7b, 0x03, 0x0a, 0x8b, /* 8: add x27, x27, x10 */
	};
	struct jit_func func = {
		.name = "prog", .addr = 0xffff800080001000, .code = code, .len = sizeof(code)
	};
	struct jit_image img = { .arch = JIT_ARM64, .funcs = &func, .nr_funcs = 1 };
	char *text;

	text = print(&img);
	assert_string_equal(text, "prog:\n"
				  "     0:  bl      #0x8\n"
				  "     4:  ret\n"
				  "     8:  add     x27, x27, x10\n");
	free(text);
}

/* The first symbol of kernel text that /proc/kallsyms shows; 0 where addresses are hidden. */
static uint64_t kernel_symbol(char *name, size_t size)
{
	char line[512], word[64];
	uint64_t addr = 0;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		addr = strtoull(line, NULL, 16);
		if (addr >> 63 && sscanf(line, "%*s %*s %63s", word) == 1) {
			snprintf(name, size, "%s", word);
			break;
		}
		addr = 0;
	}
	if (f)
		fclose(f);
	return addr;
}

static void kernel_functions_by_name(void **state)
{
	static const uint8_t code[] = { 0xe8, 0xfb, 0x0f, 0x00, 0x00 }; /* call 0x1000 */
	struct jit_func func = { .name = "prog", .code = code, .len = sizeof(code) };
	struct jit_image img = { .arch = JIT_X86_64, .funcs = &func, .nr_funcs = 1 };
	char name[64], expected[128], *text;
	uint64_t addr;

	addr = kernel_symbol(name, sizeof(name));
	if (!addr) {
		print_message("/proc/kallsyms shows no address\n");
		skip();
	}
	func.addr = addr - 0x1000;
	text = print(&img);
	snprintf(expected, sizeof(expected), "prog:\n     0:  call    %s\n", name);
	assert_string_equal(text, expected);
	free(text);
}

static void no_disassembler(void **state)
{
	static const uint8_t code[] = { 0 };
	struct jit_func func = { .name = "prog", .code = code, .len = sizeof(code) };
	struct jit_image img = { .arch = JIT_OTHER, .funcs = &func, .nr_funcs = 1 };

	assert_int_equal(jit_image_print(&img, stderr), -EOPNOTSUPP);
}

static void not_a_program(void **state)
{
	struct jit_image img;

	assert_true(jit_image_read(-1, &img) < 0);
	assert_null(img.funcs);
	jit_image_free(&img);
	jit_image_free(&img);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_private_stack),
		cmocka_unit_test(x86_other_stack),
		cmocka_unit_test(x86_only_in_the_prologue),
		cmocka_unit_test(x86_cut_short),
		cmocka_unit_test(arm64),
		cmocka_unit_test(one_architecture_is_not_another),
		cmocka_unit_test(disassembly),
		cmocka_unit_test(disassembly_arm64),
		cmocka_unit_test(kernel_functions_by_name),
		cmocka_unit_test(no_disassembler),
		cmocka_unit_test(not_a_program),
	};

	return cmocka_run_group_tests_name("jit", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bpf/uprobe_target.h"
#include "lib/bpf/usdt.h"

/* What each target has to begin with. */
static const struct {
	size_t len;
	unsigned char code[12];
} begins[UPROBE_NR_TARGETS] = {
#if defined(__x86_64__)
	[UPROBE_TARGET_NOP] = { 2, { 0x90, 0xc3 } },
	[UPROBE_TARGET_PUSH] = { 1, { 0x55 } },
	[UPROBE_TARGET_RET] = { 1, { 0xc3 } },
	[UPROBE_TARGET_NOP5] = { 6, { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3 } },
	[UPROBE_TARGET_NOP10] = { 11,
				  { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00,
				    0xc3 } },
	[UPROBE_TARGET_USDT_NOP] = { 2, { 0x90, 0xc3 } },
	[UPROBE_TARGET_USDT_NOP5] = { 6, { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3 } },
	[UPROBE_TARGET_USDT_NOP10] = { 11,
				       { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00,
					 0xc3 } },
#elif defined(__aarch64__)
	[UPROBE_TARGET_NOP] = { 8, { 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 } },
	[UPROBE_TARGET_PUSH] = { 4, { 0xfd, 0x7b, 0xbf, 0xa9 } },
	[UPROBE_TARGET_RET] = { 4, { 0xc0, 0x03, 0x5f, 0xd6 } },
	[UPROBE_TARGET_USDT_NOP] = { 8, { 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 } },
#else
	[UPROBE_TARGET_NOP] = { 0 },
#endif
};

static void test_first_instruction_in_the_file(void **state)
{
	unsigned char buf[12];
	uint64_t offset;
	int fd, t;

	fd = open("/proc/self/exe", O_RDONLY);
	assert_true(fd >= 0);
	for (t = 0; t < UPROBE_NR_TARGETS; t++) {
		if (!begins[t].len) {
			assert_int_equal(uprobe_target_addr(t), 0);
			continue;
		}
		assert_int_equal(uprobe_file_offset(uprobe_target_addr(t), &offset), 0);
		assert_int_equal(pread(fd, buf, begins[t].len, offset), begins[t].len);
		assert_memory_equal(buf, begins[t].code, begins[t].len);
	}
	close(fd);
}

/* The nop that the note names is the one before the long nop, or the target itself. */
static void test_usdt_notes(void **state)
{
	uint64_t offset, target;
	unsigned char nop;
	int fd, t, n = 0;

	fd = open("/proc/self/exe", O_RDONLY);
	assert_true(fd >= 0);
	for (t = 0; t < UPROBE_NR_TARGETS; t++) {
		if (!uprobe_target_usdt(t))
			continue;
		n++;
		assert_int_equal(
			usdt_file_offset(UPROBE_USDT_PROVIDER, uprobe_target_usdt(t), &offset), 0);
		assert_int_equal(uprobe_file_offset(uprobe_target_addr(t), &target), 0);
		assert_int_equal(offset + uprobe_target_usdt_skip(t), target);
		assert_int_equal(uprobe_target_usdt_skip(t), t == UPROBE_TARGET_USDT_NOP ? 0 : 1);
		assert_int_equal(pread(fd, &nop, 1, offset), 1);
#ifdef __x86_64__
		assert_int_equal(nop, 0x90);
#endif
	}
	close(fd);
	assert_int_equal(n > 0, begins[UPROBE_TARGET_NOP].len > 0);
	assert_int_equal(usdt_file_offset(UPROBE_USDT_PROVIDER, "usdt", &offset), -ENOENT);
	assert_int_equal(usdt_file_offset(UPROBE_USDT_PROVIDER, "usdt_11", &offset), -ENOENT);
	assert_int_equal(usdt_file_offset("optimized", "usdt_1", &offset), -ENOENT);
	assert_int_equal(usdt_file_offset("", "usdt_1", &offset), -ENOENT);
}

static void test_untouched(void **state)
{
	int t;

	for (t = 0; t < UPROBE_NR_TARGETS; t++)
		assert_int_equal(uprobe_target_site(t), UPROBE_SITE_UNTOUCHED);
}

static void test_targets_differ(void **state)
{
	int a, b;

	for (a = 0; a < UPROBE_NR_TARGETS; a++)
		for (b = 0; b < a; b++)
			if (begins[a].len && begins[b].len)
				assert_int_not_equal(uprobe_target_addr(a), uprobe_target_addr(b));
}

/* A push that is not popped again, say, would not get as far as the last line. */
static void test_calls_return(void **state)
{
	int t, n = 0;

	for (t = 0; t < UPROBE_NR_TARGETS; t++) {
		uprobe_target_call(t);
		n++;
	}
	uprobe_target_nop();
	assert_int_equal(n, UPROBE_NR_TARGETS);
}

static void test_no_file_there(void **state)
{
	uint64_t offset = 4711;
	void *heap = malloc(1);
	int on_stack;

	assert_int_equal(uprobe_file_offset((uintptr_t)heap, &offset), -ENOENT);
	assert_int_equal(uprobe_file_offset((uintptr_t)&on_stack, &offset), -ENOENT);
	assert_int_equal(uprobe_file_offset(0, &offset), -ENOENT);
	assert_int_equal(uprobe_file_offset(UINTPTR_MAX, &offset), -ENOENT);
	assert_int_equal(offset, 4711);
	free(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_instruction_in_the_file),
		cmocka_unit_test(test_usdt_notes),
		cmocka_unit_test(test_untouched),
		cmocka_unit_test(test_targets_differ),
		cmocka_unit_test(test_calls_return),
		cmocka_unit_test(test_no_file_there),
	};

	return cmocka_run_group_tests_name("uprobe_target", tests, NULL, NULL);
}

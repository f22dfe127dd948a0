// SPDX-License-Identifier: GPL-2.0
/* Services for benchmarks that need no kernel: errors and counters. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/services.h"

static void errors_say_what_and_return_what(void **state)
{
	struct bench_err e = {};

	assert_int_equal(bench_failed(&e, ENOENT, "cannot open %s", "it"), -ENOENT);
	assert_string_equal(e.text, "cannot open it: No such file or directory");
	assert_int_equal(e.code, BENCH_EXIT_FAILED);

	e = (struct bench_err){};
	assert_int_equal(bench_failed(&e, -ENOENT, "x"), -ENOENT);
	assert_string_equal(e.text, "x: No such file or directory");
	e = (struct bench_err){};
	assert_int_equal(bench_failed(&e, 0, "x"), -EIO);
	assert_string_equal(e.text, "x");

	e = (struct bench_err){};
	assert_int_equal(bench_unavailable(&e, "no %d", 7), -EOPNOTSUPP);
	assert_string_equal(e.text, "no 7");
	assert_int_equal(e.code, BENCH_EXIT_UNAVAILABLE);

	e = (struct bench_err){};
	assert_int_equal(bench_refused(&e, "not %s", "so"), -EINVAL);
	assert_string_equal(e.text, "not so");
	assert_int_equal(e.code, BENCH_EXIT_USAGE);

	/* the first cause counts */
	assert_int_equal(bench_failed(&e, ENOENT, "later"), -ENOENT);
	assert_string_equal(e.text, "not so");
	assert_int_equal(e.code, BENCH_EXIT_USAGE);
}

static void long_errors_are_cut(void **state)
{
	char *words = malloc(5000);
	struct bench_err e = {};

	assert_non_null(words);
	memset(words, 'x', 4999);
	words[4999] = '\0';
	assert_int_equal(bench_bpf_error(&e, ENOMEM, "%s", words), -ENOMEM);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_string_equal(e.detail, "");
	/* where only the reason is too long, what it was about is kept */
	e = (struct bench_err){};
	words[sizeof(e.text) - 5] = '\0';
	assert_int_equal(bench_bpf_error(&e, ENOMEM, "%s", words), -ENOMEM);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	free(words);
}

static void counters_are_apart_and_add_up(void **state)
{
	struct bench_counter *c = bench_counters_alloc(5);
	int i;

	assert_non_null(c);
	assert_int_equal((uintptr_t)c % BENCH_CACHELINE, 0);
	assert_true((char *)&c[1] - (char *)&c[0] >= BENCH_CACHELINE);
	assert_int_equal(bench_counters_sum(c, 5), 0);
	for (i = 0; i < 5; i++)
		bench_counter_add(&c[i], 1ULL << (10 * i));
	bench_counter_add(&c[4], 1);
	assert_int_equal(bench_counter_read(&c[4]), (1ULL << 40) + 1);
	assert_int_equal(bench_counters_sum(c, 5),
			 1 + (1 << 10) + (1 << 20) + (1 << 30) + (1ULL << 40) + 1);
	assert_int_equal(bench_counters_sum(c, 0), 0);
	free(c);
	c = bench_counters_alloc(0);
	assert_non_null(c);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_say_what_and_return_what),
		cmocka_unit_test(long_errors_are_cut),
		cmocka_unit_test(counters_are_apart_and_add_up),
	};

	return cmocka_run_group_tests_name("services", tests, NULL, NULL);
}

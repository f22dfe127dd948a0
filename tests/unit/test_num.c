// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "lib/num.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define UNTOUCHED     4711

struct num_case {
	const char *s;
	long long min, max;
	int err;
	long long value; /* where err is 0 */
};

static void check_by(int (*parse)(const char *, long long, long long, long long *),
		     const struct num_case *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		long long want = c[i].err ? UNTOUCHED : c[i].value;
		long long out = UNTOUCHED;
		int err;

		err = parse(c[i].s, c[i].min, c[i].max, &out);
		if (err != c[i].err || out != want)
			fail_msg("'%s' in %lld..%lld: got %d, %lld, want %d, %lld",
				 c[i].s ? c[i].s : "NULL", c[i].min, c[i].max, err, out, c[i].err,
				 want);
	}
}

static void check(const struct num_case *c, size_t n)
{
	check_by(num_parse, c, n);
}

static void plain_numbers(void **state)
{
	static const struct num_case cases[] = {
		{ "0", 0, 10, 0, 0 },
		{ "7", 0, 10, 0, 7 },
		{ "1234567890", 0, LLONG_MAX, 0, 1234567890 },
		{ "-7", -10, 10, 0, -7 },
		{ "-0", -10, 10, 0, 0 },
		{ "7", -10, 10, 0, 7 },
	};

	check(cases, ARRAY_SIZE(cases));
}

/* strtoll() with base 0 would read 8 here, and refuse the second */
static void leading_zeros_are_decimal(void **state)
{
	static const struct num_case cases[] = {
		{ "010", 0, 100, 0, 10 },
		{ "09", 0, 100, 0, 9 },
		{ "000", 0, 100, 0, 0 },
		{ "-010", -100, 100, 0, -10 },
		/* 30 digits, yet a small number */
		{ "000000000000000000000000000042", 0, 100, 0, 42 },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void not_a_number(void **state)
{
	static const struct num_case cases[] = {
		{ NULL, 0, 10, -EINVAL, 0 },
		{ "", 0, 10, -EINVAL, 0 },
		{ " ", 0, 10, -EINVAL, 0 },
		{ " 5", 0, 10, -EINVAL, 0 },
		{ "5 ", 0, 10, -EINVAL, 0 },
		{ "5\n", 0, 10, -EINVAL, 0 },
		{ "5x", 0, 10, -EINVAL, 0 },
		{ "x5", 0, 10, -EINVAL, 0 },
		{ "5.0", 0, 10, -EINVAL, 0 },
		{ "5,0", 0, 10, -EINVAL, 0 },
		{ "1e3", 0, 10000, -EINVAL, 0 },
		{ "0x10", 0, 100, -EINVAL, 0 },
		{ "+5", 0, 10, -EINVAL, 0 },
		{ "+5", -10, 10, -EINVAL, 0 },
		{ "-", -10, 10, -EINVAL, 0 },
		{ "--5", -10, 10, -EINVAL, 0 },
		{ "-+5", -10, 10, -EINVAL, 0 },
		{ "- 5", -10, 10, -EINVAL, 0 },
		{ "5-", -10, 10, -EINVAL, 0 },
		/* The characters next to '0' and '9', and a byte that is negative as char */
		{ "/", 0, 10, -EINVAL, 0 },
		{ ":", 0, 10, -EINVAL, 0 },
		{ "\xb2", 0, 10, -EINVAL, 0 },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void minus_needs_a_negative_minimum(void **state)
{
	static const struct num_case cases[] = {
		{ "-5", 0, 10, -EINVAL, 0 },
		{ "-0", 0, 10, -EINVAL, 0 },
		{ "-5", -5, 10, 0, -5 },
		{ "-6", -5, 10, -ERANGE, 0 },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void range_is_inclusive(void **state)
{
	static const struct num_case cases[] = {
		{ "0", 1, 10, -ERANGE, 0 },
		{ "1", 1, 10, 0, 1 },
		{ "10", 1, 10, 0, 10 },
		{ "11", 1, 10, -ERANGE, 0 },
		/* A range wholly below zero */
		{ "-10", -20, -10, 0, -10 },
		{ "-9", -20, -10, -ERANGE, 0 },
		{ "5", -20, -10, -ERANGE, 0 },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void limits_of_the_type(void **state)
{
	static const struct num_case cases[] = {
		{ "9223372036854775807", LLONG_MIN, LLONG_MAX, 0, LLONG_MAX },
		{ "9223372036854775808", LLONG_MIN, LLONG_MAX, -ERANGE, 0 },
		{ "-9223372036854775808", LLONG_MIN, LLONG_MAX, 0, LLONG_MIN },
		{ "-9223372036854775809", LLONG_MIN, LLONG_MAX, -ERANGE, 0 },
		/* 2^64 + 5, which a wrapping parser reads as 5 */
		{ "18446744073709551621", 0, 10, -ERANGE, 0 },
		/* Its first 20 digits wrap to 4, and the last then fits: 45 */
		{ "184467440737095516205", 0, 100, -ERANGE, 0 },
		{ "99999999999999999999999999999999999999", 0, LLONG_MAX, -ERANGE, 0 },
		/* Junk after an overflow is junk still */
		{ "99999999999999999999999999999999999999x", 0, LLONG_MAX, -EINVAL, 0 },
	};

	check(cases, ARRAY_SIZE(cases));
}

static void sizes(void **state)
{
	static const struct num_case cases[] = {
		/* a number is a size */
		{ "0", 0, 10, 0, 0 },
		{ "4096", 0, LLONG_MAX, 0, 4096 },
		{ "-7", -10, 10, 0, -7 },
		{ "11", 0, 10, -ERANGE, 0 },
		{ "5x", 0, 10, -EINVAL, 0 },
		{ NULL, 0, 10, -EINVAL, 0 },
		{ "", 0, 10, -EINVAL, 0 },
		/* and may be in larger units */
		{ "1K", 0, LLONG_MAX, 0, 1024 },
		{ "1k", 0, LLONG_MAX, 0, 1024 },
		{ "3M", 0, LLONG_MAX, 0, 3145728 },
		{ "3m", 0, LLONG_MAX, 0, 3145728 },
		{ "2G", 0, LLONG_MAX, 0, 2147483648 },
		{ "2g", 0, LLONG_MAX, 0, 2147483648 },
		{ "007K", 0, LLONG_MAX, 0, 7168 },
		{ "0G", 0, 10, 0, 0 },
		/* of which there are no others, one is enough, and it comes last */
		{ "1T", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1B", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1KB", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1KiB", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1KK", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1 K", 0, LLONG_MAX, -EINVAL, 0 },
		{ "K", 0, LLONG_MAX, -EINVAL, 0 },
		{ "K1", 0, LLONG_MAX, -EINVAL, 0 },
		{ "1.5K", 0, LLONG_MAX, -EINVAL, 0 },
		{ "-1K", -4096, 4096, -EINVAL, 0 },
		/* the range is that of the bytes */
		{ "1K", 0, 1024, 0, 1024 },
		{ "1K", 0, 1023, -ERANGE, 0 },
		{ "1K", 1025, 4096, -ERANGE, 0 },
		{ "2K", 1025, 4096, 0, 2048 },
		/* 2^63 and what wraps around to a small one */
		{ "8589934591G", 0, LLONG_MAX, 0, 8589934591LL << 30 },
		{ "8589934592G", 0, LLONG_MAX, -ERANGE, 0 },
		{ "17179869185G", 0, LLONG_MAX, -ERANGE, 0 },
		{ "9223372036854775808K", 0, LLONG_MAX, -ERANGE, 0 },
	};

	check_by(num_parse_size, cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_numbers),
		cmocka_unit_test(leading_zeros_are_decimal),
		cmocka_unit_test(not_a_number),
		cmocka_unit_test(minus_needs_a_negative_minimum),
		cmocka_unit_test(range_is_inclusive),
		cmocka_unit_test(limits_of_the_type),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests_name("num", tests, NULL, NULL);
}

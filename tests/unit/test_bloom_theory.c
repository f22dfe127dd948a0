// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bloom_theory.h"

/* Tests are run from the top of the tree. */
#define REFERENCE "reference/bloom_filter.tsv"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the size of a filter, worked out by hand */

static void bits_are_rounded_up(void **state)
{
	static const struct {
		uint32_t nr_entries;
		unsigned int nr_hash_funcs;
		uint64_t bits;
	} c[] = {
		{ 1, 1, 64 }, /* 1 / 5 is 0: the least there is */
		{ 4, 15, 128 }, /* 60 / 5 * 7 = 84 */
		{ 9, 5, 64 }, /* 45 / 5 * 7 = 63 */
		{ 50, 1, 128 }, /* 50 / 5 * 7 = 70 */
		{ 49, 1, 64 }, /* 49 / 5 = 9, * 7 = 63; 49 * 7 / 5 would be 68 */
		{ 1000, 3, 8192 }, /* 3000 / 5 * 7 = 4200 */
		{ 50000, 1, 131072 }, /* 70000 */
		{ 5000000, 5, 67108864 }, /* 35000000 */
		{ 1533916891, 1, 2147483648 }, /* 306783378 * 7 = 2147483646 <= 2^31 */
		{ 1533916895, 1, 4294967296 }, /* 306783379 * 7 = 2147483653 > 2^31 */
		{ 286331153, 15, 4294967296 }, /* product 2^32 - 1, * 7 / 5 does not fit */
		{ 286331154, 15, 4294967296 }, /* the product itself does not fit */
		{ UINT32_MAX, 15, 4294967296 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c); i++)
		if (bloom_bits(c[i].nr_entries, c[i].nr_hash_funcs) != c[i].bits)
			fail_msg("%u entries, %u functions: %llu bits, not %llu", c[i].nr_entries,
				 c[i].nr_hash_funcs,
				 (unsigned long long)bloom_bits(c[i].nr_entries,
								c[i].nr_hash_funcs),
				 (unsigned long long)c[i].bits);
}

/*
 * One entry, one function, 64 bits: the chance is one in 64, and exp() makes 1 - e^(-1/64) of it.
 */
static void rate_of_one_entry(void **state)
{
	assert_true(fabs(bloom_rate(1, 1) - 0.0155035635) < 1e-9);
}

/* ---- the published figures */

/* Rows of the file whose figure is within 0.12 points of that which @printed makes of our rate. */
static int rows_explained(double (*printed)(double), int *rows)
{
	unsigned int nr_hash_funcs, nr_entries;
	double pct;
	int explained = 0;
	char line[256];
	FILE *f;

	f = fopen(REFERENCE, "r");
	if (!f)
		fail_msg("cannot open %s: run the tests from the top of the tree", REFERENCE);
	*rows = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %u %*u %*f %*f %lf", &nr_hash_funcs, &nr_entries, &pct) != 3)
			continue; /* comment or heading */
		++*rows;
		if (fabs(100 * printed(bloom_rate(nr_entries, nr_hash_funcs)) - pct) <= 0.12)
			explained++;
	}
	fclose(f);
	return explained;
}

static double unchanged(double p)
{
	return p;
}

static void formula_explains_the_reference(void **state)
{
	int rows;

	assert_int_equal(rows_explained(bloom_rate_as_printed, &rows), 57);
	assert_int_equal(rows, 60);
	/*
	 * Without the conversion it does not: the other rates are so small that it hardly matters.
	 */
	assert_int_equal(rows_explained(unchanged, &rows), 24);
}

/* ---- the variance, against filters that are filled by another generator */

static uint64_t rng_state;

/* xorshift64* (Vigna, 2014) */
static uint64_t rng(void)
{
	rng_state ^= rng_state >> 12;
	rng_state ^= rng_state << 25;
	rng_state ^= rng_state >> 27;
	return rng_state * 0x2545f4914f6cdd1dULL;
}

/* Fills a filter at random. Returns the part of its bits that are set. */
static double random_fill(uint32_t nr_entries, unsigned int nr_hash_funcs)
{
	static bool set[1 << 12];
	uint64_t bits = bloom_bits(nr_entries, nr_hash_funcs), i, nr_set = 0, b;

	assert_true(bits <= ARRAY_SIZE(set));
	memset(set, 0, sizeof(set));
	for (i = 0; i < (uint64_t)nr_entries * nr_hash_funcs; i++) {
		b = rng() & (bits - 1);
		nr_set += !set[b];
		set[b] = true;
	}
	return (double)nr_set / bits;
}

static bool chance(double p)
{
	return (double)(rng() >> 11) / (1ULL << 53) < p;
}

/* What is measured on one filter: @lookups at random of @absent values; 0: all there could be. */
static double random_rate(uint32_t nr_entries, unsigned int nr_hash_funcs, int lookups, int absent)
{
	double p = pow(random_fill(nr_entries, nr_hash_funcs), nr_hash_funcs);
	static bool positive[1024];
	int i, hits = 0;

	if (!lookups)
		return p;
	assert_true(absent <= (int)ARRAY_SIZE(positive));
	for (i = 0; i < absent; i++)
		positive[i] = chance(p);
	for (i = 0; i < lookups; i++)
		hits += positive[rng() % absent];
	return (double)hits / lookups;
}

/*
 * Mean and variance over many filters. The mean of n values strays by sigma / sqrt(n), an estimate
 * of the variance by sqrt(2 / n) of it: five times that is allowed, and for the mean one percent
 * more, by which the formula (exp() for a power, the mean's power for the power's mean) is off
 * with filters this small.
 */
static void check_variance(uint32_t nr_entries, unsigned int nr_hash_funcs, int lookups, int absent)
{
	double p = bloom_rate(nr_entries, nr_hash_funcs), sum = 0, squares = 0, want, mean, got, x;
	const int n = 4000;
	int i;

	rng_state = 0x1234567 + nr_entries + nr_hash_funcs;
	for (i = 0; i < n; i++) {
		x = random_rate(nr_entries, nr_hash_funcs, lookups, absent) - p;
		sum += x;
		squares += x * x;
	}
	mean = sum / n;
	got = squares / n - mean * mean;
	want = bloom_rate_variance(nr_entries, nr_hash_funcs, lookups ? lookups : INFINITY,
				   absent ? absent : INFINITY);
	if (!(fabs(mean) < 5 * sqrt(want / n) + 0.01 * p))
		fail_msg("%u entries, %u functions: mean %g, expected %g", nr_entries,
			 nr_hash_funcs, p + mean, p);
	if (!(fabs(got / want - 1) < 5 * sqrt(2.0 / n)))
		fail_msg("%u entries, %u functions, %d lookups of %d: variance %g, expected %g",
			 nr_entries, nr_hash_funcs, lookups, absent, got, want);
}

static void variance_of_the_fill(void **state)
{
	check_variance(500, 1, 0, 0);
	check_variance(250, 3, 0, 0);
	check_variance(100, 10, 0, 0);
}

/* 300 values looked up 1000 times: nearly all of the variance is that of which values there are. */
static void variance_of_few_values(void **state)
{
	check_variance(500, 1, 1000, 300);
	check_variance(250, 3, 300, 1000);
}

static void variance_adds_up(void **state)
{
	double p = bloom_rate(1000, 1), fill = bloom_rate_variance(1000, 1, INFINITY, INFINITY);

	assert_true(fabs(bloom_rate_variance(1000, 1, 1e6, INFINITY) - fill - p * (1 - p) / 1e6) <
		    1e-15);
	assert_true(fabs(bloom_rate_variance(1000, 1, 1e6, 1e5) - fill - p * (1 - p) * 1.1e-5) <
		    1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_are_rounded_up),
		cmocka_unit_test(rate_of_one_entry),
		cmocka_unit_test(formula_explains_the_reference),
		cmocka_unit_test(variance_of_the_fill),
		cmocka_unit_test(variance_of_few_values),
		cmocka_unit_test(variance_adds_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

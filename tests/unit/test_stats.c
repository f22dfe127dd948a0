// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stats.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A few roundings of a double (2^-53), relative to the size of the value */
#define ROUNDING 1e-15

static void assert_near(double got, double want, double rel)
{
	if (!(fabs(got - want) <= rel * fmax(fabs(want), 1)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static struct stats_rate rate(const double *count, const double *seconds, size_t n)
{
	struct stats_rate r;

	memset(&r, 0xff, sizeof(r));
	assert_int_equal(stats_rate(count, seconds, n, &r), 0);
	assert_int_equal(r.n, n);
	return r;
}

/* mean (10 + 12 + 14) / 3 = 12; variance (4 + 0 + 4) / (3 - 1) = 4 */
static void rate_equal_intervals(void **state)
{
	static const double count[] = { 10, 12, 14 }, seconds[] = { 1, 1, 1 };
	struct stats_rate r = rate(count, seconds, 3);

	assert_near(r.mean, 12, ROUNDING);
	assert_near(r.stddev, 2, ROUNDING);
}

/*
 * Rates 2, 4, 6, 8, 10: mean 15 / 2.5 = 6; variance
 * (16 + 4 + 0 + 4 + 16) / (5 - 1) = 10
 */
static void rate_equal_half_seconds(void **state)
{
	static const double count[] = { 1, 2, 3, 4, 5 }, seconds[] = { .5, .5, .5, .5, .5 };
	struct stats_rate r = rate(count, seconds, 5);

	assert_near(r.mean, 6, ROUNDING);
	assert_near(r.stddev, sqrt(10), ROUNDING);
}

/*
 * Rates 10 and 20: mean 70 / 4 = 17.5, not the rates' average of 15; squares
 * 1 * 7.5^2 + 3 * 2.5^2 = 56.25 + 18.75 = 75; variance 75 / (4 * 1/2) = 37.5
 */
static void rate_two_unequal_intervals(void **state)
{
	static const double count[] = { 10, 60 }, seconds[] = { 1, 3 };
	struct stats_rate r = rate(count, seconds, 2);

	assert_near(r.mean, 17.5, ROUNDING);
	assert_near(r.stddev, sqrt(37.5), ROUNDING);
}

/*
 * Rates 2, 3, 4: mean 27 / 8 = 3.375; squares 2 * 1.375^2 + 1 * 0.375^2 +
 * 5 * 0.625^2 = 3.78125 + 0.140625 + 1.953125 = 5.875; variance
 * 5.875 / (8 * 2/3) = 1.1015625
 */
static void rate_three_unequal_intervals(void **state)
{
	static const double count[] = { 4, 3, 20 }, seconds[] = { 2, 1, 5 };
	struct stats_rate r = rate(count, seconds, 3);

	assert_near(r.mean, 3.375, ROUNDING);
	assert_near(r.stddev, sqrt(1.1015625), ROUNDING);
}

/* Counts differ, but only because the intervals do */
static void rate_steady_over_unequal_intervals(void **state)
{
	static const double count[] = { 5, 50, 15, 500 }, seconds[] = { .5, 5, 1.5, 50 };
	struct stats_rate r = rate(count, seconds, 4);

	assert_near(r.mean, 10, ROUNDING);
	assert_near(r.stddev, 0, ROUNDING);
}

/* An idle interval counts as time: (0 + 8) / 2 = 4; variance (16 + 16) / 1 */
static void rate_with_idle_interval(void **state)
{
	static const double count[] = { 0, 8 }, seconds[] = { 1, 1 };
	struct stats_rate r = rate(count, seconds, 2);

	assert_near(r.mean, 4, ROUNDING);
	assert_near(r.stddev, sqrt(32), ROUNDING);
}

/* n - 1 is 0 here: the formula alone would give 0 / 0 */
static void rate_single_interval(void **state)
{
	static const double count[] = { 7 }, seconds[] = { .1 };
	struct stats_rate r = rate(count, seconds, 1);

	assert_near(r.mean, 70, ROUNDING);
	assert_true(r.stddev == 0);
}

/*
 * 1e12 - 1, 1e12, 1e12 + 1: variance (1 + 0 + 1) / 2 = 1. The squares are near
 * 1e24, where doubles are 2^27 apart: sum(r^2) - n * mean^2 finds nothing here.
 */
static void rate_small_deviation_of_large_counts(void **state)
{
	static const double count[] = { 1e12 - 1, 1e12, 1e12 + 1 }, seconds[] = { 1, 1, 1 };
	struct stats_rate r = rate(count, seconds, 3);

	assert_near(r.mean, 1e12, ROUNDING);
	assert_near(r.stddev, 1, ROUNDING);
}

/*
 * Doubles are 2 apart above 2^53, so that a plain sum loses each 1 added to
 * 2^53, and with them 2^13 of 2^53 + 2^13: 1e-12, a thousand roundings.
 */
static void rate_long_run(void **state)
{
	enum { N = (1 << 13) + 1 };
	static double count[N], seconds[N];
	struct stats_rate r;

	for (size_t i = 0; i < N; i++) {
		count[i] = i ? 1 : 0x1p53;
		seconds[i] = 1;
	}
	r = rate(count, seconds, N);
	assert_near(r.mean, (0x1p53 + 0x1p13) / N, ROUNDING);

	/* The same for time: many short intervals after a long one */
	count[0] = 1;
	for (size_t i = 0; i < N; i++)
		seconds[i] = i ? 0x1p-53 : 1;
	r = rate(count, seconds, N);
	assert_near(r.mean, N / (1 + 0x1p-40), ROUNDING);
}

/* Ten times the time and the same rates: nothing changes */
static void rate_does_not_depend_on_time_unit(void **state)
{
	static const double count[] = { 4, 3, 20 }, seconds[] = { 2, 1, 5 };
	static const double count10[] = { 40, 30, 200 }, seconds10[] = { 20, 10, 50 };
	struct stats_rate a = rate(count, seconds, 3), b = rate(count10, seconds10, 3);

	assert_near(b.mean, a.mean, ROUNDING);
	assert_near(b.stddev, a.stddev, ROUNDING);
}

static void rate_refuses(void **state)
{
	static const double ok[] = { 1, 1, 1 };
	static const double bad[] = { 0, -1, -0.0, INFINITY, -INFINITY, NAN };
	const struct stats_rate before = { .mean = 47, .stddev = 11, .n = 3 };
	struct stats_rate r = before;

	assert_int_equal(stats_rate(ok, ok, 0, &r), -ENODATA);
	assert_int_equal(stats_rate(NULL, NULL, 0, &r), -ENODATA);
	for (size_t at = 0; at < 3; at++) {
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			double v[] = { 1, 1, 1 };

			v[at] = bad[i];
			assert_int_equal(stats_rate(ok, v, 3, &r), -EINVAL);
			if (!isfinite(bad[i]))
				assert_int_equal(stats_rate(v, ok, 3, &r), -EINVAL);
		}
	}
	assert_true(r.mean == before.mean && r.stddev == before.stddev && r.n == before.n);
}

static void quantile_median(void **state)
{
	double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 5 }, two[] = { 7, 4 };

	assert_near(stats_quantile(odd, 3, .5), 2, ROUNDING);
	assert_near(stats_quantile(even, 4, .5), 2.5, ROUNDING);
	assert_near(stats_quantile(one, 1, .5), 5, ROUNDING);
	assert_near(stats_quantile(two, 2, .5), 5.5, ROUNDING);
}

/*
 * Type 7 puts quantile q at position (n - 1) q, counted from 0. Of 1, 2, 3, 4:
 * 0.25 at 0.75, 1 + 0.75 = 1.75 (type 6 would give 1.25). Of 10, 20, ..., 50:
 * 0.9 at 3.6, 40 + 0.6 * 10 = 46; 0.25 at 1 exactly.
 */
static void quantile_is_type_7(void **state)
{
	double a[] = { 4, 3, 2, 1 }, b[] = { 30, 50, 10, 40, 20 };

	assert_near(stats_quantile(a, 4, .25), 1.75, ROUNDING);
	assert_near(stats_quantile(a, 4, .75), 3.25, ROUNDING);
	assert_near(stats_quantile(b, 5, .9), 46, ROUNDING);
	assert_near(stats_quantile(b, 5, .25), 20, ROUNDING);
}

static void quantile_ends(void **state)
{
	double v[] = { -2, 7.5, -10, 3 }, one[] = { 5 };

	assert_true(stats_quantile(v, 4, 0) == -10);
	assert_true(stats_quantile(v, 4, 1) == 7.5);
	assert_true(stats_quantile(one, 1, 0) == 5);
	assert_true(stats_quantile(one, 1, 1) == 5);
}

static void quantile_sorts_in_place(void **state)
{
	double v[] = { 3, -1, 2, INFINITY, 0, 2, -INFINITY };
	static const double want[] = { -INFINITY, -1, 0, 2, 2, 3, INFINITY };

	/* Infinite neighbours must not turn the exact middle into NaN */
	assert_true(stats_quantile(v, ARRAY_SIZE(v), .5) == 2);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		assert_true(v[i] == want[i]);
}

static void quantile_refuses(void **state)
{
	double v[] = { 1, 2, 3 }, nan[] = { 1, NAN, 3, 2 };

	assert_true(isnan(stats_quantile(v, 0, .5)));
	assert_true(isnan(stats_quantile(NULL, 0, .5)));
	assert_true(isnan(stats_quantile(v, 3, -.01)));
	assert_true(isnan(stats_quantile(v, 3, 1.01)));
	assert_true(isnan(stats_quantile(v, 3, NAN)));
	assert_true(isnan(stats_quantile(nan, 4, 0)));
	assert_true(isnan(stats_quantile(nan, 4, 1)));
}

/* ---- p-values of many tests */

/*
 * The example of Benjamini and Hochberg (1995), section 4: thrombolysis and its outcomes, 15 tests,
 * of which their procedure shows four at 0.05, and Bonferroni's three. The adjusted values follow
 * from their definition: p m / rank, or a later one that is smaller (as the sixth is, by the
 * seventh).
 */
static void adjusted_p_published(void **state)
{
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	const double want[] = {
		0.0015,		  0.003,	   0.0095,	     0.035625,	       0.0603,
		0.0298 * 15 / 7,  0.0298 * 15 / 7, 0.0645,	     0.0765,	       0.486,
		0.4262 * 15 / 11, 0.714875,	   0.6528 * 15 / 13, 0.7590 * 15 / 14, 1
	};
	size_t i;

	stats_adjust_p(p, ARRAY_SIZE(p));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		assert_near(p[i], want[i], ROUNDING);
	assert_true(p[3] < 0.05 && p[4] >= 0.05);
}

static void adjusted_p_of_few(void **state)
{
	double one = 0.0499, two[] = { 0.03, 0.04 }, equal[] = { 0.02, 0.02, 0.02 },
	       large[] = { 0.9, 1, 1 };

	stats_adjust_p(NULL, 0);
	stats_adjust_p(&one, 1);
	assert_true(one == 0.0499);
	stats_adjust_p(two, 2);
	assert_near(two[0], 0.04, ROUNDING);
	assert_near(two[1], 0.04, ROUNDING);
	stats_adjust_p(equal, 3);
	assert_near(equal[0], 0.02, ROUNDING);
	assert_near(equal[2], 0.02, ROUNDING);
	stats_adjust_p(large, 3);
	assert_true(large[0] == 1 && large[1] == 1 && large[2] == 1);
}

/* With nothing to be found, p-values are uniform, and one of 20 files shows something. */
static void adjusted_p_of_nothing(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };
	size_t times = 20000, alarmed = 0, t, i, j;
	double p[12], v;

	for (t = 0; t < times; t++) {
		for (i = 0; i < ARRAY_SIZE(p); i++) {
			v = erand48(seed);
			for (j = i; j > 0 && p[j - 1] > v; j--)
				p[j] = p[j - 1];
			p[j] = v;
		}
		stats_adjust_p(p, ARRAY_SIZE(p));
		alarmed += p[0] < 0.05;
	}
	print_message("# 12 tests of nothing: one is taken for shown in %.2f %%\n",
		      100. * alarmed / times);
	assert_true(fabs((double)alarmed / times - 0.05) < 4 * sqrt(0.05 * 0.95 / times));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_equal_intervals),
		cmocka_unit_test(rate_equal_half_seconds),
		cmocka_unit_test(rate_two_unequal_intervals),
		cmocka_unit_test(rate_three_unequal_intervals),
		cmocka_unit_test(rate_steady_over_unequal_intervals),
		cmocka_unit_test(rate_with_idle_interval),
		cmocka_unit_test(rate_single_interval),
		cmocka_unit_test(rate_small_deviation_of_large_counts),
		cmocka_unit_test(rate_long_run),
		cmocka_unit_test(rate_does_not_depend_on_time_unit),
		cmocka_unit_test(rate_refuses),
		cmocka_unit_test(quantile_median),
		cmocka_unit_test(quantile_is_type_7),
		cmocka_unit_test(quantile_ends),
		cmocka_unit_test(quantile_sorts_in_place),
		cmocka_unit_test(quantile_refuses),
		cmocka_unit_test(adjusted_p_published),
		cmocka_unit_test(adjusted_p_of_few),
		cmocka_unit_test(adjusted_p_of_nothing),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Confidence intervals of lib/stats.h: of a median, and of the mean of correlated samples. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "lib/stats.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- median */

static void check_median_ranks(size_t n, size_t low_rank)
{
	double v[64], low = -1, high = -1;
	size_t i;

	/* Descending: it has to sort them. */
	for (i = 0; i < n; i++)
		v[i] = n - i;
	if (!low_rank) {
		assert_int_equal(stats_median_ci(v, n, 0.95, &low, &high), -ENODATA);
		assert_true(low == -1 && high == -1);
		return;
	}
	assert_int_equal(stats_median_ci(v, n, 0.95, &low, &high), 0);
	assert_true(low == low_rank);
	assert_true(high == n + 1 - low_rank);
}

/*
 * Rank of the lower end from the tables of the sign test's critical values: W. J. Dixon and
 * F. J. Massey, "Introduction to Statistical Analysis", 3rd edition (1969), table A-10a (5 % two-
 * sided), plus 1.
 */
static void median_ranks_as_in_tables(void **state)
{
	static const unsigned char rank[] = {
		[0] = 0,  [1] = 0,  [2] = 0,  [3] = 0,	[4] = 0,  [5] = 0,  [6] = 1,   [7] = 1,
		[8] = 1,  [9] = 2,  [10] = 2, [11] = 2, [12] = 3, [13] = 3, [14] = 3,  [15] = 4,
		[16] = 4, [17] = 5, [18] = 5, [19] = 5, [20] = 6, [25] = 8, [30] = 10,
	};
	size_t n;

	for (n = 0; n < ARRAY_SIZE(rank); n++)
		if (n <= 20 || rank[n])
			check_median_ranks(n, rank[n]);
}

static void median_interval_covers(void **state)
{
	unsigned short seed[3] = { 3, 1, 4 };
	size_t covered = 0, times = 10000, i, j;
	double v[12], low, high;

	/* Lopsided on purpose: exponential, of median log 2. */
	for (i = 0; i < times; i++) {
		for (j = 0; j < ARRAY_SIZE(v); j++)
			v[j] = -log1p(-erand48(seed));
		assert_int_equal(stats_median_ci(v, ARRAY_SIZE(v), 0.95, &low, &high), 0);
		covered += low <= M_LN2 && M_LN2 <= high;
	}
	/* 1 - 2 P(Bin(12, 1/2) <= 2) = 0.9614 */
	assert_true(fabs((double)covered / times - 0.9614) < 0.008);
}

/* ---- mean of a series */

#define MAX_SAMPLES 4000
#define TRUE_MEAN   100.0

/* A series as a run makes it; the time of each sample is tenths of a second, more or less. */
struct series {
	double count[MAX_SAMPLES], seconds[MAX_SAMPLES];
	double phi, sd; /* autoregressive of order 1; standard deviation of a sample's rate */
	double jitter; /* of the intervals, relative */
	double state;
	size_t n;
	unsigned short seed[3];
};

static double noise(struct series *s)
{
	return qnorm(erand48(s->seed), 0, 1, 1, 0);
}

static void series_start(struct series *s)
{
	s->n = 0;
	s->state = noise(s);
}

static void series_add(struct series *s)
{
	s->seconds[s->n] = 0.1 * (1 + s->jitter * (2 * erand48(s->seed) - 1));
	s->count[s->n] = (TRUE_MEAN + s->sd * s->state) * s->seconds[s->n];
	s->state = s->phi * s->state + sqrt(1 - s->phi * s->phi) * noise(s);
	s->n++;
}

static bool series_covered(const struct series *s)
{
	double mean, half_width;

	assert_int_equal(stats_mean_ci(s->count, s->seconds, s->n, 0.95, &mean, &half_width), 0);
	assert_true(isfinite(half_width) && half_width >= 0);
	return fabs(mean - TRUE_MEAN) <= half_width;
}

static double coverage(struct series *s, size_t n, size_t times)
{
	size_t covered = 0, i;

	for (i = 0; i < times; i++) {
		series_start(s);
		while (s->n < n)
			series_add(s);
		covered += series_covered(s);
	}
	return (double)covered / times;
}

static void check_coverage(struct series s)
{
	static const size_t lengths[] = { STATS_CI_MIN, 10, 12, 16, 20, 30, 50, 100, 200, 500 };
	double covered;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		covered = coverage(&s, lengths[i], 3000);
		print_message("# phi %.1f, %zu samples: covers %.1f %%\n", s.phi, lengths[i],
			      100 * covered);
		if (covered < 0.93)
			fail_msg("phi %.1f, %zu samples: covers only %.2f %%", s.phi, lengths[i],
				 100 * covered);
		/* Nor may it be had by intervals that hold anything. */
		assert_true(covered < 0.99);
	}
}

static void covers_independent_samples(void **state)
{
	check_coverage((struct series){ .phi = 0, .sd = 3, .seed = { 1, 2, 3 } });
}

static void covers_correlated_samples(void **state)
{
	check_coverage((struct series){ .phi = 0.5, .sd = 3, .seed = { 1, 2, 3 } });
}

static void covers_samples_of_unequal_length(void **state)
{
	struct series s = { .phi = 0.5, .sd = 3, .jitter = 0.5, .seed = { 4, 5, 6 } };

	assert_true(coverage(&s, 40, 3000) >= 0.93);
	s.phi = 0;
	assert_true(coverage(&s, 40, 3000) >= 0.93);
}

static int cmp_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

struct stops {
	double covered;
	size_t median, p90; /* samples */
};

/* Measures until stats_precise() says that it is enough. */
static struct stops stop_at(struct series *s, double pct, size_t times)
{
	size_t *n = test_malloc(times * sizeof(*n)), covered = 0, i;
	struct stops r;

	for (i = 0; i < times; i++) {
		series_start(s);
		do
			series_add(s);
		while (!stats_precise(s->count, s->seconds, s->n, pct) && s->n < MAX_SAMPLES);
		assert_true(s->n < MAX_SAMPLES);
		covered += series_covered(s);
		n[i] = s->n;
	}
	qsort(n, times, sizeof(*n), cmp_size);
	r = (struct stops){ (double)covered / times, n[times / 2], n[times * 9 / 10] };
	print_message("# stopped at 1 %%, phi %.1f, noise %.0f %%: covers %.1f %%, samples %zu "
		      "(median), %zu (90 %%)\n",
		      s->phi, s->sd, 100 * r.covered, r.median, r.p90);
	test_free(n);
	return r;
}

static void covers_when_stopped_early(void **state)
{
	struct series s = { .seed = { 7, 8, 9 } };
	static const double phis[] = { 0, 0.5 }, sds[] = { 1, 2, 3 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(phis); i++) {
		for (j = 0; j < ARRAY_SIZE(sds); j++) {
			struct stops r;

			s.phi = phis[i];
			s.sd = sds[j];
			r = stop_at(&s, 1, 5000);
			assert_true(r.covered >= 0.93);
			/* Samples of 0.1 s, independent: a few seconds */
			if (!s.phi)
				assert_in_range(r.median, STATS_STOP_MIN, 60);
			else
				assert_in_range(r.median, STATS_STOP_MIN, 200);
		}
	}
}

/* A disturbance that comes and goes: half of the time 10 % slower, for 25 samples each. */
static void sees_slow_changes(void **state)
{
	double count[100], seconds[100], mean, slow, mixed;
	size_t i;

	for (i = 0; i < 100; i++) {
		seconds[i] = 0.1;
		count[i] = i / 25 % 2 ? 9 : 10;
	}
	assert_int_equal(stats_mean_ci(count, seconds, 100, 0.95, &mean, &slow), 0);
	assert_true(fabs(mean - 95) < 1e-9);
	/* The same samples, mixed: each one tells something new. */
	for (i = 0; i < 100; i++)
		count[i] = (i * 37 % 100) / 25 % 2 ? 9 : 10;
	assert_int_equal(stats_mean_ci(count, seconds, 100, 0.95, &mean, &mixed), 0);
	assert_true(fabs(mean - 95) < 1e-9);
	if (slow < 3 * mixed)
		fail_msg("slow %g, mixed %g", slow, mixed);
	/* In truth there were only four samples, or five: they allow no more than +- 5 */
	assert_true(slow > 3);
}

static void mean_is_that_of_stats_rate(void **state)
{
	double count[8] = { 10, 11, 30, 12, 10, 9, 11, 8 };
	double seconds[8] = { 1, 1, 3, 1, 1, 1, 1, 1 }, mean, half_width;
	struct stats_rate rate;

	assert_int_equal(stats_rate(count, seconds, 8, &rate), 0);
	assert_int_equal(stats_mean_ci(count, seconds, 8, 0.95, &mean, &half_width), 0);
	assert_true(mean == rate.mean);
	assert_true(half_width > 0);
}

static void widens_with_confidence(void **state)
{
	double count[8] = { 10, 11, 9, 12, 10, 9, 11, 8 };
	double seconds[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, mean, w90, w99;

	assert_int_equal(stats_mean_ci(count, seconds, 8, 0.90, &mean, &w90), 0);
	assert_int_equal(stats_mean_ci(count, seconds, 8, 0.99, &mean, &w99), 0);
	/* t with as many degrees of freedom, whatever they are: more than normal quantiles */
	assert_true(w99 / w90 > 2.576 / 1.645);
}

static void steady_series_has_no_width(void **state)
{
	double count[40], seconds[40], mean, half_width;
	size_t i;

	for (i = 0; i < 40; i++) {
		count[i] = 5;
		seconds[i] = 0.1;
	}
	assert_int_equal(stats_mean_ci(count, seconds, 40, 0.95, &mean, &half_width), 0);
	assert_true(fabs(mean - 50) < 1e-12);
	assert_true(half_width < 1e-12);
	assert_true(stats_precise(count, seconds, 40, 0.001));
	/* Nothing is counted at all: there is no percentage of it. */
	for (i = 0; i < 40; i++)
		count[i] = 0;
	assert_false(stats_precise(count, seconds, 40, 50));
}

static void stops_not_too_early(void **state)
{
	double count[STATS_STOP_MIN + 1], seconds[STATS_STOP_MIN + 1];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(count); i++) {
		count[i] = 5;
		seconds[i] = 0.1;
	}
	for (i = 0; i <= STATS_STOP_MIN + 1; i++)
		assert_int_equal(stats_precise(count, seconds, i, 1), i >= STATS_STOP_MIN);
}

/* Long series are not looked at each time, but never long not at all. */
static void looks_often_enough(void **state)
{
	static double count[MAX_SAMPLES], seconds[MAX_SAMPLES];
	size_t n, last = STATS_STOP_MIN, looks = 0;

	for (n = 0; n < MAX_SAMPLES; n++) {
		count[n] = 5;
		seconds[n] = 1;
	}
	for (n = STATS_STOP_MIN; n <= MAX_SAMPLES; n++) {
		if (!stats_precise(count, seconds, n, 1)) {
			assert_true(n - last <= n / 64);
			continue;
		}
		last = n;
		looks++;
	}
	assert_in_range(looks, 100, 500);
}

static void refuses(void **state)
{
	double count[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	double seconds[8] = { 1, 1, 1, 1, 1, 1, 1, 1 }, mean = -1, half_width = -1;

	assert_int_equal(stats_mean_ci(count, seconds, 0, 0.95, &mean, &half_width), -ENODATA);
	assert_int_equal(stats_mean_ci(count, seconds, STATS_CI_MIN - 1, 0.95, &mean, &half_width),
			 -ENODATA);
	seconds[3] = 0;
	assert_int_equal(stats_mean_ci(count, seconds, 8, 0.95, &mean, &half_width), -EINVAL);
	seconds[3] = 1;
	count[7] = NAN;
	assert_int_equal(stats_mean_ci(count, seconds, 8, 0.95, &mean, &half_width), -EINVAL);
	assert_true(mean == -1 && half_width == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_ranks_as_in_tables),
		cmocka_unit_test(median_interval_covers),
		cmocka_unit_test(covers_independent_samples),
		cmocka_unit_test(covers_correlated_samples),
		cmocka_unit_test(covers_samples_of_unequal_length),
		cmocka_unit_test(covers_when_stopped_early),
		cmocka_unit_test(sees_slow_changes),
		cmocka_unit_test(mean_is_that_of_stats_rate),
		cmocka_unit_test(widens_with_confidence),
		cmocka_unit_test(steady_series_has_no_width),
		cmocka_unit_test(stops_not_too_early),
		cmocka_unit_test(looks_often_enough),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests_name("ci", tests, NULL, NULL);
}

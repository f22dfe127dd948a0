// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "lib/compare/utest.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* As published: to so many decimals */
#define assert_published(got, want, decimals)                                        \
	do {                                                                         \
		if (!(fabs((got) - (want)) <= 0.5000001 * pow(10, -(decimals))))     \
			fail_msg(#got ": got %.10g, published %.10g", (double)(got), \
				 (double)(want));                                    \
	} while (0)

static struct utest test(const double *x, size_t m, const double *y, size_t n)
{
	struct utest t = { .u = -1, .p = -1 };

	assert_int_equal(utest(x, m, y, n, &t), 0);
	return t;
}

static struct utest_shift shift(const double *x, size_t m, const double *y, size_t n)
{
	struct utest_shift s = {};

	assert_int_equal(utest_shift(x, m, y, n, 0.95, &s), 0);
	return s;
}

/* ---- published examples: R's W and SciPy's U1 count the pairs in which the first is larger */

/*
 * Hollander and Wolfe, "Nonparametric Statistical Methods" (1999), example 4.1, results pp. 110,
 * 111 and 126; also the two-sample example of R's ?wilcox.test: W = 35, two-sided p = 0.2544 (twice
 * the 0.1272 printed there); difference x - y 0.305, 95 % interval -0.15 to 0.76; normal
 * approximation without correction, two-sided: 0.2207.
 */
static const double at_term[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
static const double weeks_12_26[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };

static void published_permeability(void **state)
{
	struct utest t = test(at_term, 10, weeks_12_26, 5);
	struct utest_shift s = shift(weeks_12_26, 5, at_term, 10);

	assert_int_equal(t.method, UTEST_EXACT);
	assert_true(10 * 5 - t.u == 35);
	assert_published(t.p, 0.2544, 4);
	assert_published(t.p / 2, 0.1272, 4);
	assert_true(s.has_interval);
	assert_published(s.estimate, 0.305, 3);
	assert_published(s.low, -0.15, 2);
	assert_published(s.high, 0.76, 2);

	assert_int_equal(utest_normal(at_term, 10, weeks_12_26, 5, false, &t), 0);
	assert_int_equal(t.method, UTEST_NORMAL);
	assert_published(t.p, 0.2207, 4);
}

/*
 * Wikipedia, "Mann-Whitney U test", illustration: tortoises and hares arrive in the order
 * T H H H H H T T T T T H; U is 11 for the tortoises and 25 for the hares.
 */
static void published_tortoise_and_hare(void **state)
{
	static const double tortoise[] = { 1, 7, 8, 9, 10, 11 }, hare[] = { 2, 3, 4, 5, 6, 12 };

	/* The rank counts from the winner: a tortoise beats a hare where its rank is smaller. */
	assert_true(test(tortoise, 6, hare, 6).u == 11);
	assert_true(test(hare, 6, tortoise, 6).u == 25);
}

/*
 * SciPy, scipy.stats.mannwhitneyu, examples (age at diagnosis of diabetes): U1 = 17 for males, 3
 * for females, exact p = 0.1111111111111111, asymptotic with continuity correction
 * 0.11134688653314041.
 */
static void published_age_at_diagnosis(void **state)
{
	static const double males[] = { 19, 22, 16, 29, 24 }, females[] = { 20, 11, 17, 12 };
	struct utest t = test(females, 4, males, 5);

	assert_true(t.u == 17);
	assert_true(test(males, 5, females, 4).u == 3);
	assert_published(t.p, 0.1111111111111111, 15);
	assert_int_equal(utest_normal(males, 5, females, 4, true, &t), 0);
	assert_published(t.p, 0.11134688653314041, 15);
}

/*
 * StatXact-4 manual, p. 221, diastolic blood pressure, with ties; printed by the examples of the R
 * package exactRankTests: exact two-sided p = 0.0989, asymptotic 0.0853; difference 9.5, 95 %
 * interval -4 to 22. That one is made of two one-sided tests at 0.025; ours of the two-sided one,
 * which rejects a difference just below 0 (p = 0.0359).
 */
static void published_blood_pressure_with_ties(void **state)
{
	static const double treated[] = { 94, 108, 110, 90 };
	static const double control[] = { 80, 94, 85, 90, 90, 90, 108, 94, 78, 105, 88 };
	struct utest t = test(control, 11, treated, 4);
	struct utest_shift s = shift(control, 11, treated, 4);

	assert_int_equal(t.method, UTEST_EXACT_TIES);
	assert_published(t.p, 0.0989, 4);
	assert_true(s.estimate == 9.5);
	assert_true(s.high == 22);
	assert_true(s.low == 0);
	assert_int_equal(utest_normal(control, 11, treated, 4, false, &t), 0);
	assert_published(t.p, 0.0853, 4);
}

/*
 * The manual of the R package compwrap (T. Ara, 2018), "Comparison with other methods": W = 20;
 * wilcox_test() of the package coin, exact: p = 0.0207; wilcox.test() with ties, so by normal
 * approximation with continuity correction: p = 0.02196.
 */
static void published_scores_with_ties(void **state)
{
	static const double y[] = { 1, 2, 1, 3, 1, 2, 2, 4, 1, 1 };
	static const double n[] = { 3, 4, 5, 2, 3, 2, 1, 5, 4, 3 };
	struct utest t = test(y, 10, n, 10);

	assert_int_equal(t.method, UTEST_EXACT_TIES);
	assert_true(100 - t.u == 20);
	assert_published(t.p, 0.0207, 4);
	assert_int_equal(utest_normal(y, 10, n, 10, true, &t), 0);
	assert_published(t.p, 0.02196, 5);
}

/*
 * R. Bergmann, J. Ludbrook and W. Spooren, "Different Outcomes of the Wilcoxon-Mann-Whitney Test
 * from Different Statistics Packages", The American Statistician 54 (2000): 24 rats on a rotating
 * rod. Data rotarod of the R package coin: exact two-sided p = 0.0373, asymptotic 0.0147.
 */
static void published_rotating_rats(void **state)
{
	static const double drug[] = { 18, 22, 75, 163, 271, 300, 300, 300, 300, 300, 300, 300 };
	double control[12];
	struct utest t;

	for (size_t i = 0; i < ARRAY_SIZE(control); i++)
		control[i] = 300;
	t = test(drug, 12, control, 12);
	assert_published(t.p, 0.0373, 4);
	assert_int_equal(utest_normal(drug, 12, control, 12, false, &t), 0);
	assert_published(t.p, 0.0147, 4);
}

/*
 * R's ?wilcox.test, last example: wilcox.test(Ozone ~ Month, data = airquality, subset = Month %in%
 * c(5, 8)) prints W = 127.5, p-value = 0.0001208 (normal approximation, ties, corrected).
 */
static void published_ozone(void **state)
{
	static const double may[] = { 41, 36, 12, 18, 28, 23, 19, 8, 7,	 16, 11, 14,  18,
				      14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37 };
	static const double august[] = { 39, 9,	 16, 78, 35, 66, 122, 89,  110, 44, 28,	 65, 22,
					 59, 23, 31, 44, 21, 9,	 45,  168, 73,	76, 118, 84, 85 };
	struct utest t;

	assert_int_equal(utest_normal(august, 26, may, 26, true, &t), 0);
	assert_true(26 * 26 - t.u == 26 * 26 - 127.5);
	assert_published(t.p, 0.0001208, 7);
}

/* ---- exactness: against all ways to deal the values out to two samples */

struct deal {
	const double *pool;
	size_t m, n;
	double *p, *u; /* of each way */
	size_t cnt;
};

static void deal_out(struct deal *d, double *x, size_t nx, double *y, size_t ny)
{
	size_t i = nx + ny;

	if (i == d->m + d->n) {
		struct utest t = test(x, d->m, y, d->n);

		d->p[d->cnt] = t.p;
		d->u[d->cnt++] = t.u;
		return;
	}
	if (nx < d->m) {
		x[nx] = d->pool[i];
		deal_out(d, x, nx + 1, y, ny);
	}
	if (ny < d->n) {
		y[ny] = d->pool[i];
		deal_out(d, x, nx, y, ny + 1);
	}
}

static void deal_all(struct deal *d)
{
	size_t ways = lround(choose(d->m + d->n, d->m));
	double x[16], y[16];

	d->p = test_malloc(ways * sizeof(*d->p));
	d->u = test_malloc(ways * sizeof(*d->u));
	d->cnt = 0;
	deal_out(d, x, 0, y, 0);
	assert_int_equal(d->cnt, ways);
}

static void deal_free(struct deal *d)
{
	test_free(d->p);
	test_free(d->u);
}

/* p is what it claims to be: the part of all ways whose U is as far from the mean, or farther. */
static void check_is_exact(const double *pool, size_t m, size_t n)
{
	struct deal d = { .pool = pool, .m = m, .n = n };
	double mean = m * n / 2.0;
	size_t i, j, far;

	deal_all(&d);
	for (i = 0; i < d.cnt; i += 1 + d.cnt / 200) {
		for (far = 0, j = 0; j < d.cnt; j++)
			far += fabs(d.u[j] - mean) >= fabs(d.u[i] - mean);
		if (fabs(d.p[i] - (double)far / d.cnt) > 1e-12)
			fail_msg("%zu+%zu, U = %g: p = %.15g, but %zu of %zu ways", m, n, d.u[i],
				 d.p[i], far, d.cnt);
	}
	deal_free(&d);
}

static void exact_without_ties(void **state)
{
	static const double pool[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

	check_is_exact(pool, 1, 1);
	check_is_exact(pool, 1, 6);
	check_is_exact(pool, 4, 4);
	check_is_exact(pool, 3, 7);
	check_is_exact(pool, 7, 6);
	check_is_exact(pool, 7, 7);
}

static void exact_with_ties(void **state)
{
	static const double pool[] = { 2, 2, 2, 3, 3, 5, 6, 6, 6, 6, 7, 8, 8 };
	static const double two_values[] = { 0, 0, 0, 0, 0, 0, 0, 1, 1, 1 };
	static const double all_equal[] = { 4, 4, 4, 4, 4, 4, 4, 4 };

	check_is_exact(pool, 4, 4);
	check_is_exact(pool, 3, 8);
	check_is_exact(pool, 8, 3);
	check_is_exact(pool, 6, 7);
	check_is_exact(two_values, 5, 5);
	check_is_exact(two_values, 4, 6);
	check_is_exact(all_equal, 4, 4);
}

/*
 * No false alarms beyond 5 %: not estimated but counted, for all arrangements of equal samples.
 * With 4 a side p < 0.05 is possible, with 3 it is not.
 */
static void false_alarms_of_all_arrangements(void **state)
{
	static const double pool[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	size_t n, i, alarms;

	for (n = 3; n <= 8; n++) {
		struct deal d = { .pool = pool, .m = n, .n = n };

		deal_all(&d);
		for (alarms = 0, i = 0; i < d.cnt; i++)
			alarms += d.p[i] < 0.05;
		if (alarms > d.cnt * 0.05)
			fail_msg("%zu a side: %zu of %zu", n, alarms, d.cnt);
		assert_int_equal(alarms > 0, n >= 4);
		deal_free(&d);
	}
}

/* ---- what must not make a difference, and what must */

static void sides_can_be_swapped(void **state)
{
	struct utest t = test(at_term, 10, weeks_12_26, 5), r = test(weeks_12_26, 5, at_term, 10);
	struct utest_shift s = shift(at_term, 10, weeks_12_26, 5),
			   back = shift(weeks_12_26, 5, at_term, 10);

	assert_true(t.u + r.u == 50);
	assert_true(t.p == r.p);
	assert_true(s.estimate == -back.estimate);
	assert_true(s.low == -back.high);
	assert_true(s.high == -back.low);
}

static void only_ranks_count(void **state)
{
	double y[] = { 11, 12, 13, 14 }, x[] = { 1, 2, 3, 4 };
	double p = test(x, 4, y, 4).p;

	/* 2 of the 70 ways are as extreme */
	assert_published(p, 2 / 70.0, 15);
	y[3] = 1e300;
	assert_true(test(x, 4, y, 4).p == p);
	y[3] = INFINITY;
	x[0] = -INFINITY;
	assert_true(test(x, 4, y, 4).p == p);
}

static void large_samples_are_approximated(void **state)
{
	double x[50], y[50];
	struct utest t, exact;
	size_t i;

	/* Just about a difference; no ties. */
	for (i = 0; i < 50; i++) {
		x[i] = i;
		y[i] = i + 6.5;
	}
	exact = test(x, 49, y, 49);
	assert_int_equal(exact.method, UTEST_EXACT);
	assert_true(exact.p > 0.01 && exact.p < 0.1);
	assert_int_equal(utest_normal(x, 49, y, 49, true, &t), 0);
	if (fabs(t.p / exact.p - 1) > 0.02)
		fail_msg("p is %g, approximated by %g", exact.p, t.p);

	assert_int_equal(test(x, 50, y, 50).method, UTEST_NORMAL);
	assert_int_equal(test(x, 4, y, 50).method, UTEST_NORMAL);
	assert_int_equal(test(x, 50, y, 4).method, UTEST_NORMAL);
	/* Ties change no method that large, but the exact one below. */
	y[0] = x[0];
	assert_int_equal(test(x, 50, y, 50).method, UTEST_NORMAL);
	assert_int_equal(test(x, 49, y, 49).method, UTEST_EXACT_TIES);
}

static void all_equal_is_no_difference(void **state)
{
	double x[60];
	struct utest_shift s;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(x); i++)
		x[i] = 7;
	assert_true(test(x, 8, x, 8).p == 1);
	assert_true(test(x, 60, x, 60).p == 1);
	s = shift(x, 8, x, 8);
	assert_true(s.estimate == 0 && s.low == 0 && s.high == 0);
}

static void refuses(void **state)
{
	double v[] = { 1, 2, NAN, 4 };
	struct utest_shift s;
	struct utest t;

	assert_int_equal(utest(v, 0, v, 2, &t), -EINVAL);
	assert_int_equal(utest(v, 2, v, 0, &t), -EINVAL);
	assert_int_equal(utest(v, 4, v, 2, &t), -EINVAL);
	assert_int_equal(utest(v, 2, v, 4, &t), -EINVAL);
	assert_int_equal(utest_shift(v, 0, v, 2, 0.95, &s), -EINVAL);
	assert_int_equal(utest_shift(v, 4, v, 2, 0.95, &s), -EINVAL);
	assert_int_equal(utest_shift(v, 2, v, 4, 0.95, &s), -EINVAL);
	assert_int_equal(utest_shift(v, 1 << 13, v, 1 << 12, 0.95, &s), -E2BIG);
	assert_int_equal(utest_shift(v, SIZE_MAX / 2, v, 8, 0.95, &s), -E2BIG);
}

/* ---- the shift and its interval */

static void shift_of_small_samples(void **state)
{
	static const double x[] = { 1, 2, 4, 8 }, y[] = { 3, 5, 9, 20 };
	struct utest_shift s;

	/*
	 * Differences, sorted: -5 -3 -1 1 1 1 2 3 4 5 7 8 12 16 18 19: the median is between 3 and
	 * 4. P(U <= 0) = 1/70 < 0.025 <= P(U <= 1): the interval goes from first to last.
	 */
	s = shift(x, 4, y, 4);
	assert_true(s.estimate == 3.5);
	assert_true(s.has_interval && s.low == -5 && s.high == 19);
	/* 3 a side allow no such confidence (2/20), but an estimate. */
	s = shift(x, 3, y, 3);
	assert_true(s.estimate == 3);
	assert_false(s.has_interval);
	assert_true(isinf(s.low) && isinf(s.high));
}

/* Logarithms of rates: one that is 0 has none. */
static void shift_with_infinite_values(void **state)
{
	static const double x[] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	static const double y[] = { 1, 2, 3, 4 };
	struct utest_shift s;

	s = shift(x, 4, x, 4);
	assert_true(s.estimate == 0 && s.low == 0 && s.high == 0);
	s = shift(x, 4, y, 4);
	assert_true(s.estimate == INFINITY && s.low == INFINITY);
	s = shift(y, 4, x, 4);
	assert_true(s.estimate == -INFINITY && s.high == -INFINITY);
}

/* Normal values, the same ones each time. */
static double noise(unsigned short seed[3])
{
	return qnorm(erand48(seed), 0, 1, 1, 0);
}

static void draw(unsigned short seed[3], double *v, size_t n, double mean, double sd)
{
	for (size_t i = 0; i < n; i++)
		v[i] = mean + sd * noise(seed);
}

static void check_agreement(unsigned short seed[3], size_t m, size_t n, size_t times)
{
	size_t differ = 0, i;
	double x[80], y[80];

	for (i = 0; i < times; i++) {
		struct utest_shift s;
		struct utest t;

		draw(seed, x, m, 0, 1);
		/* Somewhere between never and always found */
		draw(seed, y, n, 2.2 * sqrt(1.0 / m + 1.0 / n), 1);
		t = test(x, m, y, n);
		s = shift(x, m, y, n);
		assert_true(s.has_interval);
		if ((t.p < 0.05) != (s.low > 0 || s.high < 0))
			fail_msg("%zu+%zu: p = %.6f, interval %g to %g", m, n, t.p, s.low, s.high);
		differ += t.p < 0.05;
	}
	assert_in_range(differ, times / 10, times * 9 / 10);
}

static void interval_agrees_with_test(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };
	size_t m, n;

	for (m = 4; m <= 10; m++)
		for (n = 4; n <= 10; n++)
			check_agreement(seed, m, n, 60);
	check_agreement(seed, 49, 49, 100);
	check_agreement(seed, 50, 50, 100);
	check_agreement(seed, 80, 4, 100);
	check_agreement(seed, 60, 75, 100);
}

/* ---- what a user may expect: 3 % noise, one run one observation */

#define SIMULATIONS 20000

struct rates {
	double alarms, covered;
};

static struct rates simulate(unsigned short seed[3], size_t runs, double change)
{
	double base[16], new[16];
	size_t alarms = 0, covered = 0, i, j;

	for (i = 0; i < SIMULATIONS; i++) {
		struct utest_shift s;

		draw(seed, base, runs, 1, 0.03);
		draw(seed, new, runs, 1, 0.03);
		for (j = 0; j < runs; j++) {
			base[j] = log(100 * base[j]);
			new[j] = log((1 + change) * 100 * new[j]);
		}
		alarms += test(base, runs, new, runs).p < 0.05;
		s = shift(base, runs, new, runs);
		covered += s.low <= log1p(change) && log1p(change) <= s.high;
	}
	return (struct rates){ (double)alarms / SIMULATIONS, (double)covered / SIMULATIONS };
}

static void simulated_false_alarms(void **state)
{
	/* What is attainable at most, from the tables of U: the largest 2 P(U <= u) below 0.05 */
	static const struct {
		size_t runs;
		double level;
	} cases[] = {
		{ 4, 0.0286 }, { 5, 0.0317 }, { 6, 0.0411 }, { 8, 0.0499 }, { 10, 0.0433 },
	};
	unsigned short seed[3] = { 1, 1, 1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rates r = simulate(seed, cases[i].runs, 0);
		double sd = sqrt(cases[i].level * (1 - cases[i].level) / SIMULATIONS);

		print_message("# %zu runs a side: false alarms %.2f %%, interval covers %.2f %%\n",
			      cases[i].runs, 100 * r.alarms, 100 * r.covered);
		/* Within the simulation's own error of what it must be */
		assert_true(fabs(r.alarms - cases[i].level) < 4 * sd);
		assert_true(fabs(r.covered - (1 - cases[i].level)) < 4 * sd);
		assert_true(r.alarms <= 0.05);
	}
}

static void simulated_power(void **state)
{
	unsigned short seed[3] = { 7, 8, 9 };
	struct rates up = simulate(seed, 8, 0.1), down = simulate(seed, 8, -0.1),
		     small = simulate(seed, 8, 0.03);

	print_message("# 8 runs a side, 3 %% noise: +10 %% found in %.2f %%, -10 %% in %.2f %%, "
		      "+3 %% in %.1f %%\n",
		      100 * up.alarms, 100 * down.alarms, 100 * small.alarms);
	assert_true(up.alarms > 0.99);
	assert_true(down.alarms > 0.99);
	/* It is not the test that says yes to everything. */
	assert_true(small.alarms < 0.7);
	assert_true(up.covered > 0.93 && down.covered > 0.93 && small.covered > 0.93);
}

/* 1 / 35 and 1 / 6435 are what perfect separation of 4 and 8 a side comes to. */
static void least_p(void **state)
{
	const double x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 11, 12, 13, 14 };
	struct utest t;

	assert_true(fabs(utest_least_p(4, 4) - 1 / 35.) < 1e-15);
	assert_true(fabs(utest_least_p(8, 8) - 1 / 6435.) < 1e-17);
	assert_true(utest_least_p(1, 1) == 1);
	assert_true(utest_least_p(0, 4) == 1);
	assert_true(utest_least_p(100000, 100000) < 1e-100);
	assert_int_equal(utest(x, 6, y, 4, &t), 0);
	assert_true(fabs(t.p - utest_least_p(6, 4)) < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_permeability),
		cmocka_unit_test(published_tortoise_and_hare),
		cmocka_unit_test(published_age_at_diagnosis),
		cmocka_unit_test(published_blood_pressure_with_ties),
		cmocka_unit_test(published_scores_with_ties),
		cmocka_unit_test(published_rotating_rats),
		cmocka_unit_test(published_ozone),
		cmocka_unit_test(exact_without_ties),
		cmocka_unit_test(exact_with_ties),
		cmocka_unit_test(false_alarms_of_all_arrangements),
		cmocka_unit_test(sides_can_be_swapped),
		cmocka_unit_test(only_ranks_count),
		cmocka_unit_test(large_samples_are_approximated),
		cmocka_unit_test(all_equal_is_no_difference),
		cmocka_unit_test(refuses),
		cmocka_unit_test(shift_of_small_samples),
		cmocka_unit_test(shift_with_infinite_values),
		cmocka_unit_test(interval_agrees_with_test),
		cmocka_unit_test(least_p),
		cmocka_unit_test(simulated_false_alarms),
		cmocka_unit_test(simulated_power),
	};

	return cmocka_run_group_tests_name("utest", tests, NULL, NULL);
}

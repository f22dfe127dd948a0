// SPDX-License-Identifier: GPL-2.0
/* What scripts parse, to the byte: samples made by hand against lines written by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/report.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define SEC	      1000000000ULL

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * want))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void assert_progress(const struct report *r, int iter, uint64_t interval_ns,
			    const struct sample *s, int producers, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	r->progress(f, iter, interval_ns, s, producers);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_summary(const struct report *r, const struct sample *s, size_t n, int producers,
			   int ret, const char *expected)
{
	struct report_summary sum;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(r->sum_up(s, n, producers, &sum), ret);
	if (!ret) {
		r->summary(f, &sum, producers);
		assert_int_equal(sum.n, n);
	}
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

/* ---- hits and drops */

/* The lines that the specification shows. */
static void hits_drops_as_specified(void **state)
{
	/* 24.822 us late; 148.179 M/s are 148182678 in that time */
	static const struct sample iter = {
		.dt_ns = SEC + 24822,
		.res = { .hits = 148182678 },
	};
	/* (149.725 + 151.251) / 2 = 150.488; their difference over the root of two is 1.079 */
	static const struct sample samples[] = {
		{ .dt_ns = SEC, .res = { .hits = 149725032 } },
		{ .dt_ns = SEC, .res = { .hits = 151250968 } },
	};

	assert_progress(&report_hits_drops, 0, SEC, &iter, 1,
			"Iter   0 ( 24.822us): hits  148.179M/s (148.179M/prod), "
			"drops    0.000M/s, total operations  148.179M/s\n");
	assert_summary(&report_hits_drops, samples, 2, 1, 0,
		       "Summary: hits  150.488 \xc2\xb1 1.079M/s (150.488M/prod), "
		       "drops    0.000 \xc2\xb1 0.000M/s, "
		       "total operations  150.488 \xc2\xb1 1.079M/s\n");
}

static void hits_drops_progress(void **state)
{
	struct sample s = {
		.t_ns = 5 * SEC,
		.dt_ns = SEC / 10 - 12345,
		.res = { .hits = 1000000, .drops = 250000, .false_hits = 999 },
	};

	/* early, four producers: 1e6 in 0.099987655 s are 10.00123 M/s */
	assert_progress(&report_hits_drops, 7, SEC / 10, &s, 4,
			"Iter   7 (-12.345us): hits   10.001M/s (  2.500M/prod), "
			"drops    2.500M/s, total operations   12.502M/s\n");
	/* columns grow where a number does not fit, and nothing is cut off */
	s = (struct sample){ .dt_ns = SEC + 1234567000, .res = { .hits = 2234567000000 } };
	assert_progress(&report_hits_drops, 12345, SEC, &s, 1,
			"Iter 12345 (1234567.000us): hits 1000000.000M/s (1000000.000M/prod), "
			"drops    0.000M/s, total operations 1000000.000M/s\n");
	/* nothing at all happened, exactly on time */
	s = (struct sample){ .dt_ns = SEC };
	assert_progress(&report_hits_drops, 0, SEC, &s, 2,
			"Iter   0 (  0.000us): hits    0.000M/s (  0.000M/prod), "
			"drops    0.000M/s, total operations    0.000M/s\n");
}

/*
 * Rates use the time that really passed: 3e6 in 1 s and 1e6 in 3 s make 1 M/s, not the 1.667 that
 * the mean of both rates would be. Deviation, weighted by time: the root of
 * (1 * (3 - 1)^2 + 3 * (1/3 - 1)^2) / (4 * 1/2) = (4 + 4/3) / 2 = 2.667: 1.633.
 */
static void hits_drops_unequal_intervals(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 3000000 } },
		{ .t_ns = SEC, .dt_ns = 3 * SEC, .res = { .hits = 1000000 } },
	};

	assert_summary(&report_hits_drops, s, 2, 1, 0,
		       "Summary: hits    1.000 \xc2\xb1 1.633M/s (  1.000M/prod), "
		       "drops    0.000 \xc2\xb1 0.000M/s, "
		       "total operations    1.000 \xc2\xb1 1.633M/s\n");
}

/*
 * Hits 4, 6, 8 M/s: 6 +- 2. Drops 3, 2, 1: 2 +- 1. Their sum is 7, 8, 9: its deviation is 1, neither
 * the sum of the two nor the root of their squares.
 */
static void hits_drops_total_has_its_own_deviation(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 4000000, .drops = 3000000 } },
		{ .dt_ns = SEC, .res = { .hits = 6000000, .drops = 2000000 } },
		{ .dt_ns = SEC, .res = { .hits = 8000000, .drops = 1000000 } },
	};

	assert_summary(&report_hits_drops, s, 3, 4, 0,
		       "Summary: hits    6.000 \xc2\xb1 2.000M/s (  1.500M/prod), "
		       "drops    2.000 \xc2\xb1 1.000M/s, "
		       "total operations    8.000 \xc2\xb1 1.000M/s\n");
	/* one sample only */
	assert_summary(&report_hits_drops, s, 1, 1, 0,
		       "Summary: hits    4.000 \xc2\xb1 0.000M/s (  4.000M/prod), "
		       "drops    3.000 \xc2\xb1 0.000M/s, "
		       "total operations    7.000 \xc2\xb1 0.000M/s\n");
}

static void hits_drops_wide(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 98000000000, .drops = 12345678 } },
		{ .dt_ns = SEC, .res = { .hits = 102000000000, .drops = 12345678 } },
	};

	assert_summary(&report_hits_drops, s, 2, 1, 0,
		       "Summary: hits 100000.000 \xc2\xb1 2828.427M/s (100000.000M/prod), "
		       "drops   12.346 \xc2\xb1 0.000M/s, "
		       "total operations 100012.346 \xc2\xb1 2828.427M/s\n");
}

/* ---- operations */

static void ops_lines(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 250000000, .drops = 7 } },
		{ .dt_ns = SEC, .res = { .hits = 270000000 } },
	};

	assert_progress(&report_ops, 3, SEC, &s[0], 1,
			"Iter   3 (  0.000us): hits  250.000M/s (250.000M/prod)\n");
	assert_progress(&report_ops, 999, SEC - 500, &s[0], 8,
			"Iter 999 (  0.500us): hits  250.000M/s ( 31.250M/prod)\n");
	/* 260 +- 14.142; 1000 / 260 = 3.846 ns */
	assert_summary(&report_ops, s, 2, 1, 0,
		       "Summary: throughput  260.000 \xc2\xb1 14.142 M ops/s (260.000M ops/prod), "
		       "latency    3.846 ns/op\n");
	/* four producers: each does 65 M/s, an operation takes it 15.385 ns */
	assert_summary(&report_ops, s, 2, 4, 0,
		       "Summary: throughput  260.000 \xc2\xb1 14.142 M ops/s ( 65.000M ops/prod), "
		       "latency   15.385 ns/op\n");
}

/* No operation has no latency; nothing is made up. */
static void ops_without_operations(void **state)
{
	static const struct sample s[] = { { .dt_ns = SEC }, { .dt_ns = SEC } };

	assert_progress(&report_ops, 0, SEC, &s[0], 1,
			"Iter   0 (  0.000us): hits    0.000M/s (  0.000M/prod)\n");
	assert_summary(&report_ops, s, 2, 1, -ENODATA, "");
}

/* ---- false hits */

static void false_hits_lines(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 1000000, .false_hits = 31000 } },
		{ .dt_ns = SEC / 2, .res = { .hits = 3000000, .false_hits = 150 } },
	};

	assert_progress(&report_false_hits, 1, SEC, &s[0], 1,
			"Iter   1 (  0.000us): 31000 false hits of 1000000 total operations. "
			"Percentage =  3.10 %\n");
	/* all false hits of all operations, whatever time they took and whoever made them */
	assert_summary(&report_false_hits, s, 2, 1, 0,
		       "Summary: 31150 false hits of 4000000 total operations. "
		       "Percentage =  0.78 %\n");
	assert_summary(&report_false_hits, s, 2, 16, 0,
		       "Summary: 31150 false hits of 4000000 total operations. "
		       "Percentage =  0.78 %\n");
}

static void false_hits_ends_of_the_scale(void **state)
{
	static const struct sample none = { .dt_ns = SEC },
				   all = { .dt_ns = SEC, .res = { .hits = 5, .false_hits = 5 } },
				   zero = { .dt_ns = SEC, .res = { .hits = 5 } };

	assert_progress(&report_false_hits, 0, SEC, &none, 1,
			"Iter   0 (  0.000us): 0 false hits of 0 total operations. "
			"Percentage =  0.00 %\n");
	assert_summary(&report_false_hits, &none, 1, 1, -ENODATA, "");
	assert_summary(&report_false_hits, &all, 1, 1, 0,
		       "Summary: 5 false hits of 5 total operations. Percentage =  100.00 %\n");
	assert_summary(&report_false_hits, &zero, 1, 1, 0,
		       "Summary: 0 false hits of 5 total operations. Percentage =  0.00 %\n");
}

/* ---- what a record keeps of it */

static void summaries_in_numbers(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 4000000, .drops = 3000000, .false_hits = 40000 } },
		{ .dt_ns = SEC,
		  .res = { .hits = 6000000, .drops = 2000000, .false_hits = 180000 } },
	};
	struct report_summary sum;

	assert_int_equal(report_hits_drops.sum_up(s, 2, 2, &sum), 0);
	assert_near(sum.mean, 5);
	assert_near(sum.stddev, sqrt(2));
	assert_near(sum.drops_mean, 2.5);
	assert_near(sum.drops_stddev, sqrt(0.5));
	assert_near(sum.total_mean, 7.5);
	assert_near(sum.total_stddev, sqrt(0.5));
	assert_true(isnan(sum.latency_ns));

	assert_int_equal(report_ops.sum_up(s, 2, 2, &sum), 0);
	assert_near(sum.mean, 5);
	assert_near(sum.latency_ns, 400);
	assert_true(isnan(sum.drops_mean));
	assert_true(isnan(sum.total_stddev));

	/* 1 % and 3 %, weighted by lookups: 2.2 %; (4 * 1.2^2 + 6 * 0.8^2) / (10 / 2) = 1.92 */
	assert_int_equal(report_false_hits.sum_up(s, 2, 2, &sum), 0);
	assert_near(sum.mean, 2.2);
	assert_near(sum.stddev, sqrt(1.92));
	assert_int_equal(sum.false_hits, 220000);
	assert_int_equal(sum.lookups, 10000000);
	assert_true(isnan(sum.latency_ns));
}

/* ---- all of them */

static const struct report *const reports[] = {
	&report_hits_drops,
	&report_ops,
	&report_false_hits,
};

static void no_samples_no_summary(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reports); i++)
		assert_summary(reports[i], NULL, 0, 1, -ENODATA, "");
}

/* A sample without a length has no rate: nor is it "inf" or "nan" for somebody's script. */
static void interval_of_no_length(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .res = { .hits = 5000000 } },
		{ .dt_ns = 0, .res = { .hits = 5 } },
	};

	assert_summary(&report_hits_drops, &s[1], 1, 1, -ENODATA, "");
	assert_summary(&report_ops, &s[1], 1, 1, -ENODATA, "");
	assert_summary(&report_ops, s, 2, 1, 0,
		       "Summary: throughput    5.000 \xc2\xb1 0.000 M ops/s (  5.000M ops/prod), "
		       "latency  200.000 ns/op\n");
	assert_progress(&report_hits_drops, 0, SEC, &s[1], 1,
			"Iter   0 (-1000000.000us): hits    0.000M/s (  0.000M/prod), "
			"drops    0.000M/s, total operations    0.000M/s\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hits_drops_as_specified),
		cmocka_unit_test(hits_drops_progress),
		cmocka_unit_test(hits_drops_unequal_intervals),
		cmocka_unit_test(hits_drops_total_has_its_own_deviation),
		cmocka_unit_test(hits_drops_wide),
		cmocka_unit_test(ops_lines),
		cmocka_unit_test(ops_without_operations),
		cmocka_unit_test(false_hits_lines),
		cmocka_unit_test(false_hits_ends_of_the_scale),
		cmocka_unit_test(summaries_in_numbers),
		cmocka_unit_test(no_samples_no_summary),
		cmocka_unit_test(interval_of_no_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

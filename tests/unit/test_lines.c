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

#include "lib/cli/lines.h"
#include "lib/util.h"

#define SEC 1000000000ULL

static void assert_progress(const struct report *r, int iter, uint64_t interval_ns,
			    const struct sample *s, int producers, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	lines_progress(f, r, iter, interval_ns, s, producers);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

static void assert_summary(const struct report *r, const struct sample *s, size_t n, int producers,
			   int ret, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(lines_summary(f, r, NULL, s, n, producers), ret);
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
		.raw = { { [HITS] = 148182678 } },
	};
	/* (149.725 + 151.251) / 2 = 150.488; their difference over the root of two is 1.079 */
	static const struct sample samples[] = {
		{ .dt_ns = SEC, .raw = { { [HITS] = 149725032 } } },
		{ .dt_ns = SEC, .raw = { { [HITS] = 151250968 } } },
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
		.raw = { { [HITS] = 1000000, [DROPS] = 250000 } },
	};

	/* early, four producers: 1e6 in 0.099987655 s are 10.00123 M/s */
	assert_progress(&report_hits_drops, 7, SEC / 10, &s, 4,
			"Iter   7 (-12.345us): hits   10.001M/s (  2.500M/prod), "
			"drops    2.500M/s, total operations   12.502M/s\n");
	/* columns grow where a number does not fit, and nothing is cut off */
	s = (struct sample){ .dt_ns = SEC + 1234567000, .raw = { { [HITS] = 2234567000000 } } };
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
		{ .dt_ns = SEC, .raw = { { [HITS] = 3000000 } } },
		{ .t_ns = SEC, .dt_ns = 3 * SEC, .raw = { { [HITS] = 1000000 } } },
	};

	assert_summary(&report_hits_drops, s, 2, 1, 0,
		       "Summary: hits    1.000 \xc2\xb1 1.633M/s (  1.000M/prod), "
		       "drops    0.000 \xc2\xb1 0.000M/s, "
		       "total operations    1.000 \xc2\xb1 1.633M/s\n");
}

/*
 * Hits 4, 6, 8 M/s: 6 +- 2. Drops 3, 2, 1: 2 +- 1. Their sum is 7, 8, 9: its deviation is 1,
 * neither the sum of the two nor the root of their squares.
 */
static void hits_drops_total_has_its_own_deviation(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .raw = { { [HITS] = 4000000, [DROPS] = 3000000 } } },
		{ .dt_ns = SEC, .raw = { { [HITS] = 6000000, [DROPS] = 2000000 } } },
		{ .dt_ns = SEC, .raw = { { [HITS] = 8000000, [DROPS] = 1000000 } } },
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
		{ .dt_ns = SEC, .raw = { { [HITS] = 98000000000, [DROPS] = 12345678 } } },
		{ .dt_ns = SEC, .raw = { { [HITS] = 102000000000, [DROPS] = 12345678 } } },
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
		{ .dt_ns = SEC, .raw = { { [HITS] = 250000000, [DROPS] = 7 } } },
		{ .dt_ns = SEC, .raw = { { [HITS] = 270000000 } } },
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

/* ---- any table */

enum { LOOKUPS, MEMORY, FALSE_HITS, FALSE_PCT };

static const struct figure generic_figures[] = {
	[LOOKUPS] = { .name = "lookups", .unit = "M/s", .help = "h", .scale = 1e6 },
	[MEMORY] = { .name = "memory",
		     .unit = "MiB",
		     .help = "h",
		     .kind = FIGURE_GAUGE,
		     .scale = 1048576 },
	[FALSE_HITS] = { .name = "false_hits", .unit = "/s", .help = "h" },
	[FALSE_PCT] = { .name = "false",
			.unit = "%",
			.help = "h",
			.kind = FIGURE_RATIO,
			.of = FALSE_HITS,
			.per = LOOKUPS,
			.scale = 0.01 },
};

static const struct report generic = {
	.name = "generic",
	.figures = generic_figures,
	.nr_figures = ARRAY_SIZE(generic_figures),
};

static const struct sample generic_samples[] = {
	{ .dt_ns = SEC, .raw = { { 3000000, 10485760, 30000 } } },
	{ .dt_ns = SEC, .raw = { { 5000000, 12582912, 50000 } } },
};

static void generic_lines(void **state)
{
	assert_progress(&generic, 1, SEC, &generic_samples[0], 4,
			"Iter   1 (  0.000us): lookups    3.000M/s, memory   10.000MiB, "
			"false_hits 30000.000/s, false    1.000%\n");
	assert_summary(&generic, generic_samples, 2, 4, 0,
		       "Summary: lookups    4.000 \xc2\xb1 1.414M/s, "
		       "memory   11.000 \xc2\xb1 1.414MiB (highest 12.000MiB), "
		       "false_hits 40000.000 \xc2\xb1 14142.136/s, "
		       "false    1.000 \xc2\xb1 0.000%\n");
}

/* A figure beside the first may be unknown; without the first there is nothing to print. */
static void generic_lines_with_gaps(void **state)
{
	static const struct figure gauge_first[] = {
		{ .name = "level", .unit = "B", .help = "h", .kind = FIGURE_GAUGE },
		{ .name = "work", .unit = "/s", .help = "h" },
		{ .name = "cost", .unit = "ns", .help = "h", .kind = FIGURE_TIME, .of = 1 },
	};
	static const struct report r = {
		.name = "gaps",
		.figures = gauge_first,
		.nr_figures = ARRAY_SIZE(gauge_first),
	};
	static const struct sample idle = { .dt_ns = SEC, .raw = { { 7 } } },
				   nothing = { .dt_ns = SEC, .raw = { { [MEMORY] = 7 } } };

	assert_progress(
		&r, 0, SEC, &idle, 1,
		"Iter   0 (  0.000us): level    7.000B, work    0.000/s, cost      nanns\n");
	assert_summary(&r, &idle, 1, 1, 0,
		       "Summary: level    7.000 \xc2\xb1 0.000B (highest 7.000B), "
		       "work    0.000 \xc2\xb1 0.000/s, cost      nan \xc2\xb1   nanns\n");
	assert_summary(&generic, &nothing, 1, 1, -ENODATA, "");
}

/* ---- all of them */

static const struct report *const reports[] = {
	&report_hits_drops,
	&report_ops,
	&generic,
};

static void no_samples_no_summary(void **state)
{
	/* a sample without a length has no rate: nor is it "inf" or "nan" for somebody's script */
	static const struct sample instant = { .raw = { { 5, 5, 5 } } };
	char why[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		assert_int_equal(report_check(reports[i], why, sizeof(why)), 0);
		assert_summary(reports[i], NULL, 0, 1, -ENODATA, "");
		assert_summary(reports[i], &instant, 1, 1, -ENODATA, "");
	}
}

static void interval_of_no_length(void **state)
{
	static const struct sample s[] = {
		{ .dt_ns = SEC, .raw = { { [HITS] = 5000000 } } },
		{ .dt_ns = 0, .raw = { { [HITS] = 5 } } },
	};

	assert_summary(&report_ops, s, 2, 1, 0,
		       "Summary: throughput    5.000 \xc2\xb1 0.000 M ops/s (  5.000M ops/prod), "
		       "latency  200.000 ns/op\n");
}

/* Drops alone are no result: the core says so in words. */
static void nothing_but_drops(void **state)
{
	static const struct sample s = { .dt_ns = SEC, .raw = { { [DROPS] = 5 } } };

	assert_summary(&report_hits_drops, &s, 1, 1, -ENODATA, "");
	assert_progress(&report_hits_drops, 0, SEC, &s, 1,
			"Iter   0 (  0.000us): hits    0.000M/s (  0.000M/prod), "
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
		cmocka_unit_test(generic_lines),
		cmocka_unit_test(generic_lines_with_gaps),
		cmocka_unit_test(no_samples_no_summary),
		cmocka_unit_test(interval_of_no_length),
		cmocka_unit_test(nothing_but_drops),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}

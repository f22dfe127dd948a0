// SPDX-License-Identifier: GPL-2.0
/* What samples come to, by tables of figures: against numbers worked out by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/run/figures.h"
#include "lib/stats.h"
#include "lib/util.h"

#define SEC 1000000000ULL

enum { WORK, MISSES, SECTION, MEMORY, MISS_PCT, TIME, ALL, IN_SECTION, TIME_IN_SECTION };

/* A row of each kind. */
static const struct figure figures[] = {
	[WORK] = { .name = "work", .unit = "M/s", .help = "h", .kind = FIGURE_RATE, .scale = 1e6 },
	[MISSES] = { .name = "misses", .unit = "/s", .help = "h", .kind = FIGURE_RATE },
	[SECTION] = { .name = "inside", .unit = "%", .help = "h", .kind = FIGURE_SECTION },
	[MEMORY] = { .name = "memory",
		     .unit = "KiB",
		     .help = "h",
		     .kind = FIGURE_GAUGE,
		     .scale = 1024 },
	[MISS_PCT] = { .name = "missed",
		       .unit = "%",
		       .help = "h",
		       .kind = FIGURE_RATIO,
		       .of = MISSES,
		       .per = WORK,
		       .scale = 0.01 },
	[TIME] = { .name = "time", .unit = "ns", .help = "h", .kind = FIGURE_TIME, .of = WORK },
	[ALL] = { .name = "all",
		  .unit = "/s",
		  .help = "h",
		  .kind = FIGURE_SUM,
		  .of = WORK,
		  .per = MISSES },
	[IN_SECTION] = { .name = "work inside",
			 .unit = "/s",
			 .help = "h",
			 .kind = FIGURE_RATE,
			 .in_section = true },
	[TIME_IN_SECTION] = { .name = "time inside",
			      .unit = "us",
			      .help = "h",
			      .kind = FIGURE_TIME,
			      .scale = 1000,
			      .of = IN_SECTION,
			      .in_section = true },
};

static const struct report report = {
	.name = "test",
	.figures = figures,
	.nr_figures = ARRAY_SIZE(figures),
};

#define SAMPLE(ns, ...)                                   \
	{                                                 \
		.dt_ns = (ns), .raw = { { __VA_ARGS__ } } \
	}

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void assert_value(size_t row, struct sample s, int producers, double want)
{
	assert_near(figure_value(&report, row, &s, producers), want);
}

static void assert_unknown(const struct figure_stats *st)
{
	assert_int_equal(st->n, 0);
	assert_true(isnan(st->mean) && isnan(st->stddev) && isnan(st->median));
	assert_true(isnan(st->ci_low) && isnan(st->ci_high) && isnan(st->max));
}

static struct figure_stats sum_up(size_t row, const struct sample *s, size_t n, int producers)
{
	struct figure_stats st;

	assert_int_equal(figure_sum_up(&report, row, s, n, producers, &st), 0);
	/*
	 * only a gauge has a highest value to tell: that of a rate would be the luckiest interval
	 */
	assert_true(isnan(st.max) == (figures[row].kind != FIGURE_GAUGE));
	return st;
}

/* ---- one sample */

static void values_of_a_sample(void **state)
{
	/* 4 s, in which 3 producers spent 6 s inside */
	const struct sample s = SAMPLE(4 * SEC, [WORK] = 8000000, [MISSES] = 200000,
				       [SECTION] = 6 * SEC, [MEMORY] = 3072, [IN_SECTION] = 500);

	assert_value(WORK, s, 3, 2);
	assert_value(MISSES, s, 3, 50000);
	assert_value(SECTION, s, 3, 50);
	assert_value(MEMORY, s, 3, 3);
	assert_value(MISS_PCT, s, 3, 2.5);
	/* each of the three does a third of the operations in the same time */
	assert_value(TIME, s, 1, 500);
	assert_value(TIME, s, 3, 1500);
	assert_value(ALL, s, 3, 8200000 / 4.0);
	/* of 6 s, each producer was inside 2 s: 500 in that time; and 6 s / 500 is 12 ms */
	assert_value(IN_SECTION, s, 3, 250);
	assert_value(TIME_IN_SECTION, s, 3, 12000);
	assert_value(IN_SECTION, s, 1, 500 / 6.0);
	assert_value(TIME_IN_SECTION, s, 1, 12000);
}

/* Nothing counted is a rate of 0; but nothing has no ratio and takes no time. */
static void values_of_nothing(void **state)
{
	const struct sample idle = SAMPLE(SEC), instant = SAMPLE(0, 1, 1, 1, 1, 1, 1, 1, 1);
	size_t i;

	assert_value(WORK, idle, 2, 0);
	assert_value(ALL, idle, 2, 0);
	assert_value(SECTION, idle, 2, 0);
	assert_value(MEMORY, idle, 2, 0);
	assert_true(isnan(figure_value(&report, MISS_PCT, &idle, 2)));
	assert_true(isnan(figure_value(&report, TIME, &idle, 2)));
	/* no time inside, so no rate of what is done there */
	assert_true(isnan(figure_value(&report, IN_SECTION, &idle, 2)));
	assert_true(isnan(figure_value(&report, TIME_IN_SECTION, &idle, 2)));
	/* misses without work: a ratio to nothing */
	assert_true(isnan(
		figure_value(&report, MISS_PCT, &(struct sample)SAMPLE(SEC, [MISSES] = 5), 2)));
	/* an interval of no length has no rate, nor is it infinite */
	for (i = WORK; i <= MEMORY; i++)
		assert_true(isnan(figure_value(&report, i, &instant, 1)));
	assert_true(isnan(figure_value(&report, ALL, &instant, 1)));
}

/* ---- many */

/*
 * Rates use the time that really passed: 3e6 in 1 s and 1e6 in 3 s make 1 M/s, not the 1.667 that
 * the mean of both rates would be. Deviation, weighted by time: the root of
 * (1 * (3 - 1)^2 + 3 * (1/3 - 1)^2) / (4 * 1/2) = (4 + 4/3) / 2 = 8/3.
 */
static void rates_over_unequal_intervals(void **state)
{
	static const struct sample s[] = { SAMPLE(SEC, 3000000), SAMPLE(3 * SEC, 1000000) };
	struct figure_stats st = sum_up(WORK, s, 2, 1);

	assert_int_equal(st.n, 2);
	assert_near(st.mean, 1);
	assert_near(st.stddev, sqrt(8 / 3.0));
	assert_near(st.median, (3 + 1 / 3.0) / 2);
	/* as many producers as there may be: the rate is that of all */
	assert_near(sum_up(WORK, s, 2, 7).mean, 1);
}

/*
 * Work 4, 6, 8: 6 +- 2. Misses 3, 2, 1: 2 +- 1. Their sum is 7, 8, 9: its deviation is 1, neither
 * the sum of the two nor the root of their squares.
 */
static void a_sum_has_its_own_deviation(void **state)
{
	static const struct sample s[] = { SAMPLE(SEC, 4, 3), SAMPLE(SEC, 6, 2),
					   SAMPLE(SEC, 8, 1) };
	struct figure_stats st = sum_up(ALL, s, 3, 4);

	assert_near(st.mean, 8);
	assert_near(st.stddev, 1);
	assert_near(st.median, 8);
	/* too few for an interval of the mean */
	assert_true(isnan(st.ci_low) && isnan(st.ci_high));
	assert_near(sum_up(MISSES, s, 3, 4).stddev, 1);
	/* one sample deviates from nothing */
	st = sum_up(ALL, s, 1, 4);
	assert_near(st.mean, 7);
	assert_true(st.stddev == 0);
}

/* That of stats_mean_ci(), in the figure's unit, around the mean over all time. */
static void intervals_of_means(void **state)
{
	struct sample s[STATS_CI_MIN];
	double count[STATS_CI_MIN], seconds[STATS_CI_MIN], mean, half;
	struct figure_stats st;
	size_t i;

	for (i = 0; i < STATS_CI_MIN; i++) {
		s[i] = (struct sample)SAMPLE(SEC + i % 3 * SEC, 1000000 * (10 + i * i % 7));
		count[i] = 10 + i * i % 7;
		seconds[i] = 1 + i % 3;
	}
	assert_int_equal(stats_mean_ci(count, seconds, i, STATS_CONFIDENCE, &mean, &half), 0);
	st = sum_up(WORK, s, i, 1);
	assert_near(st.mean, mean);
	assert_near(st.ci_low, mean - half);
	assert_near(st.ci_high, mean + half);
	assert_true(half > 0);
	assert_true(isnan(sum_up(WORK, s, i - 1, 1).ci_low));
}

/* The mean is that over time; the highest is the highest however short it lasted. */
static void gauges(void **state)
{
	static const struct sample s[] = {
		SAMPLE(3 * SEC, [MEMORY] = 1024),
		SAMPLE(SEC, [MEMORY] = 9 * 1024),
		SAMPLE(4 * SEC, [MEMORY] = 0),
	};
	struct figure_stats st = sum_up(MEMORY, s, 3, 2);

	assert_near(st.mean, 1.5);
	assert_near(st.median, 1);
	assert_near(st.max, 9);
	assert_int_equal(st.n, 3);
	/* a level of 0 is known */
	st = sum_up(MEMORY, &s[2], 1, 2);
	assert_true(st.mean == 0 && st.max == 0);
}

/* Time inside is that of all producers together: 1 s of 2 * 1 s, then 3 s of 2 * 3 s. */
static void sections(void **state)
{
	static const struct sample s[] = {
		SAMPLE(SEC, [SECTION] = SEC, [IN_SECTION] = 100),
		SAMPLE(3 * SEC, [SECTION] = 3 * SEC, [IN_SECTION] = 900),
		SAMPLE(SEC), /* no one was inside: of the rate there it says nothing */
	};
	struct figure_stats st = sum_up(SECTION, s, 2, 2);

	assert_near(st.mean, 50);
	assert_true(fabs(st.stddev) < 1e-12);
	assert_near(sum_up(SECTION, s, 3, 2).mean, 40);
	/* 100 in half a second, 900 in one and a half: 1000 in two */
	st = sum_up(IN_SECTION, s, 3, 2);
	assert_int_equal(st.n, 2);
	assert_near(st.mean, 500);
	assert_near(st.median, 400);
	/* 4 s of 1000 operations, in us */
	assert_near(sum_up(TIME_IN_SECTION, s, 3, 2).mean, 4000);
	/* the time that was spent does not depend on who spent it; their number does */
	assert_near(sum_up(IN_SECTION, s, 3, 4).mean, 1000);
	assert_near(sum_up(TIME_IN_SECTION, s, 3, 4).mean, 4000);
}

/*
 * 1 % and 3 %, weighted by what they are part of: 2.2 %; the root of
 * (4 * 1.2^2 + 6 * 0.8^2) / (10 / 2) = 1.92.
 */
static void ratios(void **state)
{
	static const struct sample s[] = {
		SAMPLE(SEC, 4000000, 40000),
		SAMPLE(9 * SEC), /* nothing to be a part of */
		SAMPLE(5 * SEC, 6000000, 180000),
	};
	struct figure_stats st = sum_up(MISS_PCT, s, 3, 2);

	assert_int_equal(st.n, 2);
	assert_near(st.mean, 2.2);
	assert_near(st.stddev, sqrt(1.92));
	assert_near(st.median, 2);
	/* the ends of the scale */
	assert_true(sum_up(MISS_PCT, &(struct sample)SAMPLE(SEC, 5), 1, 1).mean == 0);
	assert_near(sum_up(MISS_PCT, &(struct sample)SAMPLE(SEC, 5, 5), 1, 1).mean, 100);
}

/* Two producers, 2 s: 4 s of work for 10 operations. Not the mean of 250 ms and 1 s. */
static void times(void **state)
{
	static const struct sample s[] = { SAMPLE(SEC, 8), SAMPLE(SEC, 2), SAMPLE(0, 5) };

	assert_near(sum_up(TIME, s, 2, 2).mean, 4e8);
	assert_near(sum_up(TIME, s, 2, 1).mean, 2e8);
	assert_near(sum_up(TIME, s, 2, 1).median, (0.125e9 + 0.5e9) / 2);
}

/* What takes longer than a sample: the time of empty ones counts, before an operation and after. */
static void times_longer_than_a_sample(void **state)
{
	const struct sample samples[] = {
		SAMPLE(1000, [WORK] = 0), SAMPLE(1000, [WORK] = 1), SAMPLE(1000, [WORK] = 0),
		SAMPLE(1000, [WORK] = 1), SAMPLE(1000, [WORK] = 0),
	};
	struct figure_stats stats;

	assert_int_equal(figure_sum_up(&report, TIME, samples, ARRAY_SIZE(samples), 1, &stats), 0);
	assert_near(stats.mean, 2500);
	assert_int_equal(stats.n, 2);
}

static void figures_without_data(void **state)
{
	static const struct sample idle[] = { SAMPLE(SEC), SAMPLE(2 * SEC) },
				   instant = SAMPLE(0, 5);
	static const size_t unknown[] = { MISS_PCT, TIME, IN_SECTION, TIME_IN_SECTION };
	struct figure_stats st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		assert_int_equal(figure_sum_up(&report, i, NULL, 0, 1, &st), -ENODATA);
		assert_unknown(&st);
	}
	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		assert_int_equal(figure_sum_up(&report, unknown[i], idle, 2, 1, &st), -ENODATA);
		assert_unknown(&st);
	}
	assert_int_equal(figure_sum_up(&report, WORK, &instant, 1, 1, &st), -ENODATA);
	assert_unknown(&st);
	/* a rate of 0 is known */
	st = sum_up(WORK, idle, 2, 1);
	assert_int_equal(st.n, 2);
	assert_true(st.mean == 0 && st.stddev == 0 && st.median == 0);
}

/* Those that say nothing are left out, and the others moved together. */
static void observations(void **state)
{
	static const struct sample s[] = { SAMPLE(SEC), SAMPLE(SEC, 10, 1), SAMPLE(SEC),
					   SAMPLE(SEC, 20, 4) };
	struct observations obs;

	assert_int_equal(observations_make(&report, MISS_PCT, s, 4, 1, &obs), 0);
	assert_int_equal(obs.n, 2);
	assert_near(obs.count[0] / obs.weight[0], 10);
	assert_near(obs.count[1] / obs.weight[1], 20);
	assert_near((obs.count[0] + obs.count[1]) / (obs.weight[0] + obs.weight[1]), 500 / 30.0);
	observations_free(&obs);
	assert_null(obs.count);
	observations_free(&obs);
	assert_int_equal(observations_make(&report, WORK, NULL, 0, 1, &obs), 0);
	assert_int_equal(obs.n, 0);
	observations_free(&obs);
}

/* ---- arithmetic of samples */

static void samples_are_merged(void **state)
{
	static const struct sample s[] = {
		SAMPLE(SEC, [WORK] = 1ULL << 60, [SECTION] = 5, [MEMORY] = 100),
		SAMPLE(3 * SEC, [WORK] = 1, [MISSES] = 7, [MEMORY] = 202),
	};
	struct sample m = samples_merge(&report, s, 2);

	assert_int_equal(m.dt_ns, 4 * SEC);
	assert_int_equal(m.raw.v[WORK], (1ULL << 60) + 1);
	assert_int_equal(m.raw.v[MISSES], 7);
	assert_int_equal(m.raw.v[SECTION], 5);
	/* over time: (100 + 3 * 202) / 4 = 176.5, and a value is whole */
	assert_int_equal(m.raw.v[MEMORY], 177);
	/* what it comes to is what they come to */
	assert_near(figure_value(&report, WORK, &m, 1), sum_up(WORK, s, 2, 1).mean);

	m = samples_merge(&report, NULL, 0);
	assert_int_equal(m.dt_ns, 0);
	assert_int_equal(m.raw.v[MEMORY], 0);
}

static void readings_are_subtracted(void **state)
{
	static const struct values before = { { [WORK] = 10, [SECTION] = 3, [MEMORY] = 500 } },
				   after = { { [WORK] = 15, [SECTION] = 9, [MEMORY] = 400 } };
	struct values diff = values_minus(&report, &after, &before);

	assert_int_equal(diff.v[WORK], 5);
	assert_int_equal(diff.v[SECTION], 6);
	assert_int_equal(diff.v[MEMORY], 400);
	assert_int_equal(diff.v[MISSES], 0);
}

/* ---- tables */

static void kinds_have_names(void **state)
{
	assert_string_equal(figure_kind_name(FIGURE_RATE), "rate");
	assert_string_equal(figure_kind_name(FIGURE_GAUGE), "gauge");
	assert_string_equal(figure_kind_name(FIGURE_SECTION), "ratio");
	assert_string_equal(figure_kind_name(FIGURE_RATIO), "ratio");
	assert_string_equal(figure_kind_name(FIGURE_TIME), "time");
	assert_string_equal(figure_kind_name(FIGURE_SUM), "rate");
	assert_string_equal(figure_better_name(BETTER_HIGHER), "higher");
	assert_string_equal(figure_better_name(BETTER_LOWER), "lower");
	assert_string_equal(figure_better_name(BETTER_NONE), "none");
	assert_true(figure_is_raw(&figures[WORK]) && figure_is_raw(&figures[SECTION]) &&
		    figure_is_raw(&figures[MEMORY]));
	assert_false(figure_is_raw(&figures[MISS_PCT]) || figure_is_raw(&figures[TIME]) ||
		     figure_is_raw(&figures[ALL]));
}

/* The table above with one row changed. */
static void assert_fault(size_t row, struct figure f, const char *text)
{
	struct figure changed[ARRAY_SIZE(figures)];
	const struct report r = { .figures = changed, .nr_figures = ARRAY_SIZE(changed) };
	char err[128] = "";

	memcpy(changed, figures, sizeof(changed));
	changed[row] = f;
	assert_int_equal(report_check(&r, err, sizeof(err)), *text ? -EINVAL : 0);
	assert_string_equal(err, text);
}

#define WITH(row, ...)                                \
	({                                            \
		struct figure changed = figures[row]; \
		__VA_ARGS__;                          \
		changed;                              \
	})

static void faults_of_tables(void **state)
{
	static const char of_no_count[] = "figure 'missed' is made of what is no count";

	assert_fault(WORK, figures[WORK], "");
	assert_fault(WORK, WITH(WORK, changed.name = NULL), "figure '' has no name");
	assert_fault(MEMORY, WITH(MEMORY, changed.unit = NULL),
		     "figure 'memory' has no unit, or no help");
	assert_fault(MEMORY, WITH(MEMORY, changed.help = NULL),
		     "figure 'memory' has no unit, or no help");
	assert_fault(ALL, WITH(ALL, changed.name = "misses"), "figure 'misses' is there twice");
	/* of a gauge, of itself, of what there is not, of something derived */
	assert_fault(MISS_PCT, WITH(MISS_PCT, changed.of = MEMORY), of_no_count);
	assert_fault(MISS_PCT, WITH(MISS_PCT, changed.per = MISS_PCT), of_no_count);
	assert_fault(MISS_PCT, WITH(MISS_PCT, changed.per = ARRAY_SIZE(figures)), of_no_count);
	assert_fault(MISS_PCT, WITH(MISS_PCT, changed.of = ARRAY_SIZE(figures)), of_no_count);
	assert_fault(MISS_PCT, WITH(MISS_PCT, changed.of = ALL), of_no_count);
	assert_fault(TIME, WITH(TIME, changed.of = SECTION),
		     "figure 'time' is made of what is no count");
	/* a time is made of one row only */
	assert_fault(TIME, WITH(TIME, changed.per = MEMORY), "");
	/* both rows that are measured inside, for want of the row that says how long that was */
	assert_fault(SECTION, WITH(SECTION, changed.kind = FIGURE_GAUGE),
		     "figure 'work inside' is measured in a section, but no row is of kind "
		     "FIGURE_SECTION");
}

static void tables_of_the_wrong_size(void **state)
{
	static const char text[] = "it has no figures, or more than 12";
	struct report r = report;
	char err[128];

	assert_int_equal(FIGURES_MAX, 12);
	assert_int_equal(report_check(&r, err, sizeof(err)), 0);
	r.nr_figures = FIGURES_MAX + 1;
	assert_int_equal(report_check(&r, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, text);
	r.nr_figures = 0;
	assert_int_equal(report_check(&r, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, text);
	assert_int_equal(report_check(NULL, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, text);
}

/* ---- quantiles of batches */

enum { MEDIAN, SHORTEST, LONGEST };

static const struct figure quantiles[] = {
	[MEDIAN] = { .name = "median",
		     .unit = "ns",
		     .help = "h",
		     .kind = FIGURE_QUANTILE,
		     .quantile = 0.5,
		     .scale = 1000 },
	[SHORTEST] = { .name = "min", .unit = "ps", .help = "h", .kind = FIGURE_QUANTILE },
	[LONGEST] = { .name = "max",
		      .unit = "ps",
		      .help = "h",
		      .kind = FIGURE_QUANTILE,
		      .quantile = 1 },
};

static const struct report of_batches = {
	.name = "batches",
	.figures = quantiles,
	.nr_figures = ARRAY_SIZE(quantiles),
};

static struct sample sample_of_batches(double *v, size_t nr)
{
	struct sample s = { .dt_ns = SEC, .batches = { .v = v, .nr = nr, .room = nr } };

	batches_sort(&s.batches);
	sample_set_quantiles(&of_batches, &s);
	return s;
}

/* Not the mean of the samples' quantiles: one sample has three batches, the other one. */
static void quantiles_are_those_of_all_batches(void **state)
{
	double few[] = { 9000 }, many[] = { 5000, 1000, 3000 };
	const struct sample s[] = { sample_of_batches(many, 3), sample_of_batches(few, 1) };
	struct sample m = samples_merge(&of_batches, s, 2), runs[2];
	const double want[] = { 4, 1000, 9000 };
	struct figure_stats st;
	size_t i;

	assert_near(figure_value(&of_batches, MEDIAN, &s[0], 1), 3);
	assert_near(figure_value(&of_batches, LONGEST, &s[0], 1), 5000);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_int_equal(figure_sum_up(&of_batches, i, s, 2, 1, &st), 0);
		assert_near(st.mean, want[i]);
		assert_near(figure_value(&of_batches, i, &m, 1), want[i]);
		assert_int_equal(st.n, 4);
		/* of 1, 3, 5 and 9: the squares add up to 35 */
		assert_near(st.stddev, sqrt(35 / 3.) * (i ? 1000 : 1));
	}
	/* Runs have no batches any more: they are one observation each. */
	assert_int_equal(m.batches.nr, 0);
	runs[0] = runs[1] = m;
	runs[1].raw.v[MEDIAN] = 6000;
	assert_int_equal(figure_sum_up(&of_batches, MEDIAN, runs, 2, 1, &st), 0);
	assert_near(st.mean, 5);
	m = samples_merge(&of_batches, runs, 2);
	assert_near(figure_value(&of_batches, MEDIAN, &m, 1), 5);
}

static void no_batches_make_no_quantile(void **state)
{
	const struct sample s[] = { sample_of_batches(NULL, 0), sample_of_batches(NULL, 0) };
	struct figure_stats st;

	assert_true(isnan(figure_value(&of_batches, MEDIAN, &s[0], 1)));
	assert_int_equal(figure_sum_up(&of_batches, MEDIAN, s, 2, 1, &st), -ENODATA);
	assert_unknown(&st);
}

/* Every fourth of 4 x 2000, of sets of one as well; the median stays. */
static void thinned_batches_keep_their_quantiles(void **state)
{
	struct batches b = {};
	size_t phase = 0, kept = 0, i;

	for (i = 0; i < 8000; i++)
		assert_int_equal(batches_add(&b, (i * 7919) % 8000), 0);
	batches_sort(&b);
	batches_thin(&b, 4, &phase);
	assert_int_equal(b.nr, 2000);
	assert_near(b.v[0], 0);
	assert_true(fabs(stats_quantile(b.v, b.nr, 0.5) - 4000) <= 4);
	for (i = 0; i < 100; i++) {
		b.nr = 1;
		batches_thin(&b, 4, &phase);
		kept += b.nr;
	}
	assert_int_equal(kept, 25);
	batches_free(&b);
}

/* One set that stands for many: where the quantiles of these are. */
static void batches_that_stand_for_many(void **state)
{
	struct sample s[2] = { { .dt_ns = SEC }, { .dt_ns = SEC } };
	struct figure_stats st;
	struct batches b = {};

	assert_int_equal(batches_add_many(&s[0].batches, 1000, 1), 0);
	assert_int_equal(batches_add_many(&s[0].batches, 2000, 1), 0);
	assert_int_equal(batches_add_many(&s[1].batches, 2000, 3), 0);
	assert_int_equal(batches_add_many(&s[1].batches, 9000, 995), 0);
	sample_set_quantiles(&of_batches, &s[0]);
	sample_set_quantiles(&of_batches, &s[1]);
	assert_near(figure_value(&of_batches, MEDIAN, &s[0], 1), 1);
	assert_near(figure_value(&of_batches, MEDIAN, &s[1], 1), 9);
	assert_int_equal(figure_sum_up(&of_batches, MEDIAN, s, 2, 1, &st), 0);
	assert_near(st.mean, 9);
	assert_int_equal(batches_merge(&b, &s[1].batches), 0);
	assert_int_equal(batches_merge(&b, &s[0].batches), 0);
	assert_int_equal(b.nr, 3);
	assert_near(batches_quantile(&b, 0), 1000);
	assert_near(batches_quantile(&b, 0.004), 2000);
	assert_near(batches_quantile(&b, 0.006), 9000);
	assert_near(batches_quantile(&b, 1), 9000);
	batches_free(&b);
	batches_free(&s[0].batches);
	batches_free(&s[1].batches);
	assert_true(isnan(batches_quantile(&b, 0.5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_a_sample),
		cmocka_unit_test(values_of_nothing),
		cmocka_unit_test(rates_over_unequal_intervals),
		cmocka_unit_test(a_sum_has_its_own_deviation),
		cmocka_unit_test(intervals_of_means),
		cmocka_unit_test(gauges),
		cmocka_unit_test(sections),
		cmocka_unit_test(ratios),
		cmocka_unit_test(times),
		cmocka_unit_test(times_longer_than_a_sample),
		cmocka_unit_test(figures_without_data),
		cmocka_unit_test(observations),
		cmocka_unit_test(samples_are_merged),
		cmocka_unit_test(readings_are_subtracted),
		cmocka_unit_test(kinds_have_names),
		cmocka_unit_test(faults_of_tables),
		cmocka_unit_test(tables_of_the_wrong_size),
		cmocka_unit_test(quantiles_are_those_of_all_batches),
		cmocka_unit_test(no_batches_make_no_quantile),
		cmocka_unit_test(thinned_batches_keep_their_quantiles),
		cmocka_unit_test(batches_that_stand_for_many),
	};

	return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}

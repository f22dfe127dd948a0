/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a benchmark measures, as a table with a row for each figure. Sampling, statistics, records,
 * comparisons, plots and help follow from the table; a family that has lines of its own to print
 * adds two small functions.
 */
#ifndef LIB_RUN_FIGURES_H
#define LIB_RUN_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/run/batches.h"

#define FIGURES_MAX 12 /* rows of a table */

enum figure_kind {
	/* Raw: measure() writes their values. */
	FIGURE_RATE, /* a cumulative count; the figure is its rate */
	FIGURE_GAUGE, /* a level; the figure is its mean over time, and the highest */
	FIGURE_SECTION, /* cumulative ns inside the measured section, summed over the producers; the
			   figure is its share of their time, % */
	/*
	 * Raw as well, but the core's: see batches() of struct bench. The row's quantile @quantile
	 * of the time of one operation, ps, over all batches. Of several runs: the mean of theirs.
	 */
	FIGURE_QUANTILE,
	/* Derived from raw ones, which the row names by @of and @per. */
	FIGURE_RATIO, /* count @of over count @per */
	FIGURE_TIME, /* time of one operation of rate @of, as one producer sees it */
	FIGURE_SUM, /* rate of @of and @per together */
};

enum figure_better {
	BETTER_HIGHER,
	BETTER_LOWER,
	BETTER_NONE, /* neither: it says what kind of run it was */
};

struct figure {
	const char *name; /* in records, and for -C --figure */
	const char *unit;
	const char *help; /* one line */
	enum figure_kind kind;
	enum figure_better better;
	/* What a unit is worth: 1e6 counts per second for M/s, 1048576 bytes for MiB; 0: 1. */
	double scale;
	unsigned int of, per; /* rows, for derived ones */
	double quantile; /* 0: the shortest, 0.5: the median, 1: the longest */
	/*
	 * FIGURE_RATE, and FIGURE_TIME of one: over the time in the table's FIGURE_SECTION, not
	 * all.
	 */
	bool in_section;
};

/* Values of the raw rows, by row number. Those of FIGURE_QUANTILE: 0 where there was no batch. */
struct values {
	uint64_t v[FIGURES_MAX];
};

/* The difference of two readings; gauges: the second one. */
struct sample {
	uint64_t t_ns; /* start of the interval, after the start of the threads */
	uint64_t dt_ns; /* its true length, CLOCK_MONOTONIC */
	struct values raw;
	struct batches batches; /* that ended in it, ascending; empty where no row asks for them */
};

/* What samples, or runs, come to; in the figure's unit. NAN: not known. */
struct figure_stats {
	size_t n; /* of them, that had something to tell */
	double mean, stddev, median;
	double ci_low, ci_high; /* 95 % interval of the mean, see stats_mean_ci() */
	double max; /* gauges: the highest; else NAN */
};

struct report {
	const char *name; /* kind of result, as recorded */
	const struct figure *figures; /* the first one is what comparisons use by default */
	size_t nr_figures;

	/*
	 * Lines for the terminal where the family has a format of its own, each with its line
	 * break; NULL: a list of all figures. @values: the figures of this sample, by row.
	 */
	void (*progress)(FILE *out, const struct report *report, const double *values,
			 const struct sample *s, int producers);
	/* Like @progress, for one whose lines do not begin as all others do: the whole lines. */
	void (*progress_lines)(FILE *out, const struct report *report, int iter,
			       const double *values, const struct sample *s);
	/* @stats: by row. @total: all samples as one. */
	void (*summary)(FILE *out, const struct report *report, const struct figure_stats *stats,
			const struct sample *total, int producers);
	/*
	 * In its place, for a line that options of the family decide about. @params: their values.
	 * Returns false where @summary shall print.
	 */
	bool (*summary_by_params)(FILE *out, const struct report *report, const void *params,
				  const struct figure_stats *stats);
};

/*
 * "rate", "gauge", "ratio", "time", as records name the kinds; a sum is a rate, a section a ratio.
 */
const char *figure_kind_name(enum figure_kind kind);
const char *figure_better_name(enum figure_better better);

/* Does the row have a value of its own in samples? */
bool figure_is_raw(const struct figure *f);

/*
 * An observation of row @row, such that the mean over samples is sum(count) / sum(weight) in the
 * figure's unit. Weight 0: this sample says nothing about it.
 */
void figure_observe(const struct report *report, size_t row, const struct sample *s, int producers,
		    double *count, double *weight);

/* The row's value in one sample; NAN: it says nothing about it. */
double figure_value(const struct report *report, size_t row, const struct sample *s, int producers);

/* Observations of a row in all of @n samples. Owned by the caller; freed by observations_free(). */
struct observations {
	double *count, *weight;
	size_t n; /* of those that say something */
};

/* Returns 0 or -ENOMEM. */
int observations_make(const struct report *report, size_t row, const struct sample *samples,
		      size_t n, int producers, struct observations *obs);
void observations_free(struct observations *obs);

/*
 * Sums up row @row of @n samples. A quantile over all their batches takes the place of a mean, with
 * the batches' number and deviation; its interval is that of the samples' quantiles, moved there.
 * Returns 0; -ENODATA where they make no figure (nothing happened in any of them), with all of @out
 * unknown; or another -errno.
 */
int figure_sum_up(const struct report *report, size_t row, const struct sample *samples, size_t n,
		  int producers, struct figure_stats *out);

/* @n samples as one; gauges: their mean over time. Their batches stay theirs. */
struct sample samples_merge(const struct report *report, const struct sample *samples, size_t n);

/* @after - @before; gauges and quantiles: @after. */
struct values values_minus(const struct report *report, const struct values *after,
			   const struct values *before);

/* Writes the rows of FIGURE_QUANTILE from the sample's batches. */
void sample_set_quantiles(const struct report *report, struct sample *s);

/* Has the table such rows? */
bool report_wants_batches(const struct report *report);

/* For whoever writes a table: 0, or -EINVAL with what is wrong with it in @err. */
int report_check(const struct report *report, char *err, size_t err_size);

#endif /* LIB_RUN_FIGURES_H */

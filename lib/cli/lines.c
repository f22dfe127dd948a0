// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>

#include "lib/cli/lines.h"
#include "lib/util.h"

/* ---- any table: "hits  150.488 ± 1.079M/s, memory   12.000 ± 0.100MiB" */

static void generic_progress(FILE *out, const struct report *report, const double *values)
{
	size_t i;

	for (i = 0; i < report->nr_figures; i++)
		fprintf(out, "%s%s %8.3lf%s", i ? ", " : "", report->figures[i].name, values[i],
			report->figures[i].unit);
	fputc('\n', out);
}

static void generic_summary(FILE *out, const struct report *report,
			    const struct figure_stats *stats)
{
	size_t i;

	fputs("Summary: ", out);
	for (i = 0; i < report->nr_figures; i++) {
		fprintf(out, "%s%s %8.3lf \u00B1 %5.3lf%s", i ? ", " : "", report->figures[i].name,
			stats[i].mean, stats[i].stddev, report->figures[i].unit);
		if (report->figures[i].kind == FIGURE_GAUGE)
			fprintf(out, " (highest %.3lf%s)", stats[i].max, report->figures[i].unit);
	}
	fputc('\n', out);
}

void lines_progress(FILE *out, const struct report *report, int iter, uint64_t interval_ns,
		    const struct sample *s, int producers)
{
	double values[FIGURES_MAX];
	size_t i;

	for (i = 0; i < report->nr_figures; i++)
		values[i] = figure_value(report, i, s, producers);
	if (report->progress_lines) {
		report->progress_lines(out, report, iter, values, s);
		return;
	}
	/* The column that scripts look for: how far the interval was from the asked one, us. */
	fprintf(out, "Iter %3d (%7.3lfus): ", iter,
		((double)s->dt_ns - (double)interval_ns) / 1000.0);
	if (isnan(values[0])) /* a time, of what did not happen */
		fputs("nothing ended in it\n", out);
	else if (report->progress)
		report->progress(out, report, values, s, producers);
	else
		generic_progress(out, report, values);
}

static int sum_up(const struct report *report, const struct sample *samples, size_t n,
		  int producers, struct figure_stats *stats, struct sample *total)
{
	size_t i;
	int err;

	for (i = 0; i < report->nr_figures; i++) {
		err = figure_sum_up(report, i, samples, n, producers, &stats[i]);
		/* Without the first figure there is nothing to tell; another one may be unknown. */
		if (err && (!i || err != -ENODATA))
			return err;
	}
	*total = samples_merge(report, samples, n);
	return report->figures[0].kind == FIGURE_RATE && !total->raw.v[0] ? -ENODATA : 0;
}

int lines_check(const struct report *report, const struct sample *samples, size_t n, int producers)
{
	struct figure_stats stats[FIGURES_MAX];
	struct sample total;

	return sum_up(report, samples, n, producers, stats, &total);
}

int lines_summary(FILE *out, const struct report *report, const void *params,
		  const struct sample *samples, size_t n, int producers)
{
	struct figure_stats stats[FIGURES_MAX];
	struct sample total;
	int err;

	err = sum_up(report, samples, n, producers, stats, &total);
	if (err)
		return err;
	if (report->summary_by_params && report->summary_by_params(out, report, params, stats))
		return 0;
	if (report->summary)
		report->summary(out, report, stats, &total, producers);
	else
		generic_summary(out, report, stats);
	return 0;
}

/* ---- hits and drops */

static const struct figure hits_drops_figures[] = { HITS_DROPS_FIGURES };

void lines_hits_drops_progress(FILE *out, const struct report *report, const double *values,
			       const struct sample *s, int producers)
{
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod), drops %8.3lfM/s, total operations %8.3lfM/s\n",
		values[HITS], values[HITS] / producers, values[DROPS], values[TOTAL]);
}

void lines_hits_drops_summary(FILE *out, const struct report *report,
			      const struct figure_stats *stats, const struct sample *total,
			      int producers)
{
	fprintf(out,
		"Summary: hits %8.3lf \u00B1 %5.3lfM/s (%7.3lfM/prod), "
		"drops %8.3lf \u00B1 %5.3lfM/s, total operations %8.3lf \u00B1 %5.3lfM/s\n",
		stats[HITS].mean, stats[HITS].stddev, stats[HITS].mean / producers,
		stats[DROPS].mean, stats[DROPS].stddev, stats[TOTAL].mean, stats[TOTAL].stddev);
}

const struct report report_hits_drops = {
	.name = "hits_drops",
	.figures = hits_drops_figures,
	.nr_figures = ARRAY_SIZE(hits_drops_figures),
	.progress = lines_hits_drops_progress,
	.summary = lines_hits_drops_summary,
};

/* ---- operations */

enum { LATENCY = OPS + 1 };

static const struct figure ops_figures[] = {
	[OPS] = {
		.name = "ops",
		.unit = "M ops/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "operations, in millions per second",
	},
	[LATENCY] = {
		.name = "latency",
		.unit = "ns/op",
		.kind = FIGURE_TIME,
		.of = OPS,
		.better = BETTER_LOWER,
		.help = "time of one operation, as one producer sees it",
	},
};

static void ops_progress(FILE *out, const struct report *report, const double *values,
			 const struct sample *s, int producers)
{
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod)\n", values[OPS], values[OPS] / producers);
}

static void ops_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			const struct sample *total, int producers)
{
	fprintf(out,
		"Summary: throughput %8.3lf \u00B1 %5.3lf M ops/s (%7.3lfM ops/prod), "
		"latency %8.3lf ns/op\n",
		stats[OPS].mean, stats[OPS].stddev, stats[OPS].mean / producers,
		stats[LATENCY].mean);
}

const struct report report_ops = {
	.name = "ops",
	.figures = ops_figures,
	.nr_figures = ARRAY_SIZE(ops_figures),
	.progress = ops_progress,
	.summary = ops_summary,
};

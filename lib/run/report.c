// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/run/report.h"
#include "lib/stats.h"

#define NS_PER_SEC 1e9

/* The column that scripts look for: how far the interval was from the asked one, in microseconds. */
static void print_iter(FILE *out, int iter, uint64_t interval_ns, const struct sample *s)
{
	fprintf(out, "Iter %3d (%7.3lfus): ", iter,
		((double)s->dt_ns - (double)interval_ns) / 1000.0);
}

/* Million a second. */
static double rate(uint64_t count, uint64_t dt_ns)
{
	return dt_ns ? count / 1e6 / (dt_ns / NS_PER_SEC) : 0;
}

/* Mean and deviation of what @observe picks. */
static int stats_of(const struct sample *samples, size_t n,
		    void (*observe)(const struct sample *, double *, double *),
		    struct stats_rate *out)
{
	size_t i, used = 0;
	double *v;
	int err;

	v = calloc(2 * n, sizeof(*v));
	if (!v)
		return n ? -ENOMEM : -ENODATA;
	for (i = 0; i < n; i++) {
		observe(&samples[i], &v[used], &v[n + used]);
		/* A sample without a lookup says nothing about the share of false ones. */
		used += v[n + used] > 0;
	}
	err = stats_rate(v, v + n, used, out);
	free(v);
	return err;
}

static void observe_hits(const struct sample *s, double *count, double *weight)
{
	*count = s->res.hits / 1e6;
	*weight = s->dt_ns / NS_PER_SEC;
}

static void observe_drops(const struct sample *s, double *count, double *weight)
{
	*count = s->res.drops / 1e6;
	*weight = s->dt_ns / NS_PER_SEC;
}

static void observe_total(const struct sample *s, double *count, double *weight)
{
	*count = (s->res.hits + s->res.drops) / 1e6;
	*weight = s->dt_ns / NS_PER_SEC;
}

/* Percent of lookups. */
static void observe_false_hits(const struct sample *s, double *count, double *weight)
{
	*count = 100.0 * s->res.false_hits;
	*weight = s->res.hits;
}

static const struct report_summary empty_summary = {
	.mean = NAN,
	.stddev = NAN,
	.drops_mean = NAN,
	.drops_stddev = NAN,
	.total_mean = NAN,
	.total_stddev = NAN,
	.latency_ns = NAN,
};

static void hits_drops_progress(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
				int producers)
{
	double hits = rate(s->res.hits, s->dt_ns), drops = rate(s->res.drops, s->dt_ns);

	print_iter(out, iter, interval_ns, s);
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod), drops %8.3lfM/s, total operations %8.3lfM/s\n",
		hits, hits / producers, drops, hits + drops);
}

static int hits_drops_sum_up(const struct sample *samples, size_t n, int producers,
			     struct report_summary *sum)
{
	struct stats_rate hits, drops, total;
	int err;

	(void)producers;
	err = stats_of(samples, n, observe_hits, &hits);
	if (!err)
		err = stats_of(samples, n, observe_drops, &drops);
	if (!err)
		err = stats_of(samples, n, observe_total, &total);
	if (err)
		return err;
	*sum = empty_summary;
	sum->n = n;
	sum->mean = hits.mean;
	sum->stddev = hits.stddev;
	sum->drops_mean = drops.mean;
	sum->drops_stddev = drops.stddev;
	sum->total_mean = total.mean;
	sum->total_stddev = total.stddev;
	return 0;
}

static void hits_drops_summary(FILE *out, const struct report_summary *sum, int producers)
{
	fprintf(out,
		"Summary: hits %8.3lf \u00B1 %5.3lfM/s (%7.3lfM/prod), "
		"drops %8.3lf \u00B1 %5.3lfM/s, total operations %8.3lf \u00B1 %5.3lfM/s\n",
		sum->mean, sum->stddev, sum->mean / producers, sum->drops_mean, sum->drops_stddev,
		sum->total_mean, sum->total_stddev);
}

static void ops_progress(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
			 int producers)
{
	double hits = rate(s->res.hits, s->dt_ns);

	print_iter(out, iter, interval_ns, s);
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod)\n", hits, hits / producers);
}

static int ops_sum_up(const struct sample *samples, size_t n, int producers,
		      struct report_summary *sum)
{
	struct stats_rate hits;
	int err;

	err = stats_of(samples, n, observe_hits, &hits);
	if (err)
		return err;
	if (hits.mean <= 0)
		return -ENODATA; /* no operation, no latency */
	*sum = empty_summary;
	sum->n = n;
	sum->mean = hits.mean;
	sum->stddev = hits.stddev;
	/* What one producer sees: its own rate, turned over. */
	sum->latency_ns = 1000.0 / hits.mean * producers;
	return 0;
}

static void ops_summary(FILE *out, const struct report_summary *sum, int producers)
{
	fprintf(out,
		"Summary: throughput %8.3lf \u00B1 %5.3lf M ops/s (%7.3lfM ops/prod), "
		"latency %8.3lf ns/op\n",
		sum->mean, sum->stddev, sum->mean / producers, sum->latency_ns);
}

static void print_false_hits(FILE *out, uint64_t false_hits, uint64_t total)
{
	fprintf(out,
		"%" PRIu64 " false hits of %" PRIu64 " total operations. Percentage =  %2.2f %%\n",
		false_hits, total, total ? 100.0 * false_hits / total : 0.0);
}

static void false_hits_progress(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
				int producers)
{
	(void)producers;
	print_iter(out, iter, interval_ns, s);
	print_false_hits(out, s->res.false_hits, s->res.hits);
}

static int false_hits_sum_up(const struct sample *samples, size_t n, int producers,
			     struct report_summary *sum)
{
	struct stats_rate pct;
	size_t i;
	int err;

	(void)producers;
	err = stats_of(samples, n, observe_false_hits, &pct);
	if (err)
		return err;
	*sum = empty_summary;
	sum->n = n;
	sum->mean = pct.mean;
	sum->stddev = pct.stddev;
	for (i = 0; i < n; i++) {
		sum->lookups += samples[i].res.hits;
		sum->false_hits += samples[i].res.false_hits;
	}
	return 0;
}

static void false_hits_summary(FILE *out, const struct report_summary *sum, int producers)
{
	(void)producers;
	fputs("Summary: ", out);
	print_false_hits(out, sum->false_hits, sum->lookups);
}

const struct report report_hits_drops = {
	.name = "hits_drops",
	.unit = "M/s",
	.progress = hits_drops_progress,
	.observe = observe_hits,
	.sum_up = hits_drops_sum_up,
	.summary = hits_drops_summary,
};

const struct report report_ops = {
	.name = "ops",
	.unit = "M ops/s",
	.progress = ops_progress,
	.observe = observe_hits,
	.sum_up = ops_sum_up,
	.summary = ops_summary,
};

const struct report report_false_hits = {
	.name = "false_hits",
	.unit = "%",
	.progress = false_hits_progress,
	.observe = observe_false_hits,
	.sum_up = false_hits_sum_up,
	.summary = false_hits_summary,
};

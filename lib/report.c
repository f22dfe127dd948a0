// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lib/report.h"
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

static uint64_t count_hits(const struct bench_res *r)
{
	return r->hits;
}

static uint64_t count_drops(const struct bench_res *r)
{
	return r->drops;
}

static uint64_t count_total(const struct bench_res *r)
{
	return r->hits + r->drops;
}

/* Rate of what @count picks, in million a second. */
static int rate_of(const struct sample *samples, size_t n,
		   uint64_t (*count)(const struct bench_res *), struct stats_rate *out)
{
	double *v;
	size_t i;
	int err;

	v = calloc(2 * n, sizeof(*v));
	if (!v)
		return n ? -ENOMEM : -ENODATA;
	for (i = 0; i < n; i++) {
		v[i] = count(&samples[i].res) / 1e6;
		v[n + i] = samples[i].dt_ns / NS_PER_SEC;
	}
	err = stats_rate(v, v + n, n, out);
	free(v);
	return err;
}

static void hits_drops_progress(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
				int producers)
{
	double hits = rate(s->res.hits, s->dt_ns), drops = rate(s->res.drops, s->dt_ns);

	print_iter(out, iter, interval_ns, s);
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod), drops %8.3lfM/s, total operations %8.3lfM/s\n",
		hits, hits / producers, drops, hits + drops);
}

static int hits_drops_summary(FILE *out, const struct sample *samples, size_t n, int producers)
{
	struct stats_rate hits, drops, total;
	int err;

	err = rate_of(samples, n, count_hits, &hits);
	if (!err)
		err = rate_of(samples, n, count_drops, &drops);
	if (!err)
		err = rate_of(samples, n, count_total, &total);
	if (err)
		return err;
	fprintf(out,
		"Summary: hits %8.3lf \u00B1 %5.3lfM/s (%7.3lfM/prod), drops %8.3lf \u00B1 %5.3lfM/s, "
		"total operations %8.3lf \u00B1 %5.3lfM/s\n",
		hits.mean, hits.stddev, hits.mean / producers, drops.mean, drops.stddev, total.mean,
		total.stddev);
	return 0;
}

static void ops_progress(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
			 int producers)
{
	double hits = rate(s->res.hits, s->dt_ns);

	print_iter(out, iter, interval_ns, s);
	fprintf(out, "hits %8.3lfM/s (%7.3lfM/prod)\n", hits, hits / producers);
}

/* Latency is what one producer sees: its own rate, turned over. */
static int ops_summary(FILE *out, const struct sample *samples, size_t n, int producers)
{
	struct stats_rate hits;
	int err;

	err = rate_of(samples, n, count_hits, &hits);
	if (err)
		return err;
	if (hits.mean <= 0)
		return -ENODATA; /* no operation, no latency */
	fprintf(out,
		"Summary: throughput %8.3lf \u00B1 %5.3lf M ops/s (%7.3lfM ops/prod), "
		"latency %8.3lf ns/op\n",
		hits.mean, hits.stddev, hits.mean / producers, 1000.0 / hits.mean * producers);
	return 0;
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

static int false_hits_summary(FILE *out, const struct sample *samples, size_t n, int producers)
{
	uint64_t total = 0, false_hits = 0;
	size_t i;

	(void)producers;
	for (i = 0; i < n; i++) {
		total += samples[i].res.hits;
		false_hits += samples[i].res.false_hits;
	}
	if (!total)
		return -ENODATA;
	fputs("Summary: ", out);
	print_false_hits(out, false_hits, total);
	return 0;
}

const struct report report_hits_drops = {
	.name = "hits_drops",
	.unit = "M/s",
	.progress = hits_drops_progress,
	.summary = hits_drops_summary,
};

const struct report report_ops = {
	.name = "ops",
	.unit = "M ops/s",
	.progress = ops_progress,
	.summary = ops_summary,
};

const struct report report_false_hits = {
	.name = "false_hits",
	.unit = "%",
	.progress = false_hits_progress,
	.summary = false_hits_summary,
};

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/figures.h"
#include "lib/stats.h"
#include "lib/util.h"

#define NS_PER_S 1e9

const char *figure_kind_name(enum figure_kind kind)
{
	/* clang-format off */
	static const char *const names[] = {
		[FIGURE_RATE] = "rate",
		[FIGURE_GAUGE] = "gauge",
		[FIGURE_SECTION] = "ratio",
		[FIGURE_QUANTILE] = "time",
		[FIGURE_RATIO] = "ratio",
		[FIGURE_TIME] = "time",
		[FIGURE_SUM] = "rate",
	};
	/* clang-format on */

	return names[kind];
}

const char *figure_better_name(enum figure_better better)
{
	static const char *const names[] = {
		[BETTER_HIGHER] = "higher",
		[BETTER_LOWER] = "lower",
		[BETTER_NONE] = "none",
	};

	return names[better];
}

bool figure_is_raw(const struct figure *f)
{
	return f->kind == FIGURE_RATE || f->kind == FIGURE_GAUGE || f->kind == FIGURE_SECTION ||
	       f->kind == FIGURE_QUANTILE;
}

static double scale_of(const struct figure *f)
{
	return f->scale ? f->scale : 1;
}

/* Time that a count is divided by, s: all of it, or that inside the section, of one producer. */
static double seconds_of(const struct report *report, const struct figure *f,
			 const struct sample *s, int producers)
{
	size_t i;

	for (i = 0; f->in_section && i < report->nr_figures; i++)
		if (report->figures[i].kind == FIGURE_SECTION)
			return s->raw.v[i] / NS_PER_S / producers;
	return s->dt_ns / NS_PER_S;
}

void figure_observe(const struct report *report, size_t row, const struct sample *s, int producers,
		    double *count, double *weight)
{
	const struct figure *f = &report->figures[row];
	const uint64_t *v = s->raw.v;

	switch (f->kind) {
	case FIGURE_RATE:
		*count = v[row];
		*weight = seconds_of(report, f, s, producers);
		break;
	case FIGURE_SUM:
		*count = v[f->of] + v[f->per];
		*weight = seconds_of(report, f, s, producers);
		break;
	case FIGURE_GAUGE:
		*weight = s->dt_ns / NS_PER_S;
		*count = v[row] * *weight;
		break;
	case FIGURE_QUANTILE:
		*weight = v[row] ? s->dt_ns / NS_PER_S : 0;
		*count = v[row] * *weight;
		break;
	case FIGURE_SECTION:
		*count = 100.0 * v[row];
		*weight = (double)s->dt_ns * producers;
		break;
	case FIGURE_RATIO:
		*count = v[f->of];
		*weight = v[f->per];
		break;
	case FIGURE_TIME:
		*count = NS_PER_S * seconds_of(report, f, s, producers) * producers;
		*weight = v[f->of];
		break;
	}
	*count /= scale_of(f);
}

double figure_value(const struct report *report, size_t row, const struct sample *s, int producers)
{
	double count, weight;

	figure_observe(report, row, s, producers, &count, &weight);
	return weight > 0 ? count / weight : NAN;
}

int observations_make(const struct report *report, size_t row, const struct sample *samples,
		      size_t n, int producers, struct observations *obs)
{
	double *v = calloc(2 * n + 1, sizeof(*v)), idle = 0;
	size_t i, used = 0;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		figure_observe(report, row, &samples[i], producers, &v[used], &v[n + used]);
		/* Time in which no operation ended is part of what the next one took. */
		v[used] += idle;
		idle = v[n + used] > 0 ? 0 : v[used];
		used += v[n + used] > 0;
	}
	if (used)
		v[used - 1] += idle;
	*obs = (struct observations){ .count = v, .weight = v + n, .n = used };
	return 0;
}

void observations_free(struct observations *obs)
{
	free(obs->count);
	memset(obs, 0, sizeof(*obs));
}

/* The median and, of a gauge, the highest. */
static int find_quantiles(const struct observations *obs, bool is_gauge, struct figure_stats *out)
{
	double *v = calloc(obs->n, sizeof(*v));
	size_t i;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < obs->n; i++)
		v[i] = obs->count[i] / obs->weight[i];
	out->median = stats_quantile(v, obs->n, 0.5);
	if (is_gauge)
		out->max = v[obs->n - 1];
	free(v);
	return 0;
}

/* ---- quantiles of batches */

/* All of them, to be freed by free(). NULL: there are none, as of runs that are over. */
static double *all_batches(const struct sample *samples, size_t n, size_t *nr)
{
	size_t i;
	double *v;

	for (i = *nr = 0; i < n; i++)
		*nr += samples[i].batches.nr;
	v = *nr ? malloc(*nr * sizeof(*v)) : NULL;
	if (!v)
		return NULL;
	for (i = *nr = 0; i < n; i++) {
		if (samples[i].batches.nr)
			memcpy(v + *nr, samples[i].batches.v, samples[i].batches.nr * sizeof(*v));
		*nr += samples[i].batches.nr;
	}
	return v;
}

/* Some value stands for many operations: how many there are of it is in its weight. */
static bool any_weighted(const struct sample *samples, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (samples[i].batches.weight)
			return true;
	return false;
}

static double quantile_of_all(const struct sample *samples, size_t n, double q)
{
	struct batches merged = {};
	double *v, ret;
	size_t nr, i;
	int err = 0;

	if (any_weighted(samples, n)) {
		for (i = 0; i < n && !err; i++)
			err = batches_merge(&merged, &samples[i].batches);
		ret = err ? NAN : batches_quantile(&merged, q);
		batches_free(&merged);
		return ret;
	}
	v = all_batches(samples, n, &nr);
	ret = v ? stats_quantile(v, nr, q) : NAN;
	free(v);
	return ret;
}

static bool row_wants_batches(const struct figure *f)
{
	return f->kind == FIGURE_QUANTILE;
}

bool report_wants_batches(const struct report *report)
{
	size_t i;

	for (i = 0; i < report->nr_figures; i++)
		if (row_wants_batches(&report->figures[i]))
			return true;
	return false;
}

void sample_set_quantiles(const struct report *report, struct sample *s)
{
	size_t i;

	for (i = 0; s->batches.nr && i < report->nr_figures; i++)
		if (row_wants_batches(&report->figures[i]))
			s->raw.v[i] = llround(quantile_of_all(s, 1, report->figures[i].quantile));
}

static double merged_quantile(const struct figure *f, size_t row, const struct sample *samples,
			      size_t n)
{
	double all = quantile_of_all(samples, n, f->quantile), sum = 0;
	size_t known = 0, i;

	if (!isnan(all))
		return all;
	for (i = 0; i < n; i++) {
		sum += samples[i].raw.v[row];
		known += samples[i].raw.v[row] > 0;
	}
	return known ? sum / known : 0;
}

/* What is in @out is of the samples' quantiles. */
static void move_to_batches(const struct figure *f, const struct sample *samples, size_t n,
			    struct figure_stats *out)
{
	double quantile = quantile_of_all(samples, n, f->quantile) / scale_of(f);
	double *v, mean = 0, squares = 0;
	size_t nr, i;

	if (isnan(quantile))
		return;
	out->ci_low += quantile - out->mean;
	out->ci_high += quantile - out->mean;
	out->mean = quantile;
	v = any_weighted(samples, n) ? NULL : all_batches(samples, n, &nr);
	if (!v)
		return;
	for (i = 0; i < nr; i++)
		mean += v[i] / nr;
	for (i = 0; i < nr; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	out->stddev = nr > 1 ? sqrt(squares / (nr - 1)) / scale_of(f) : 0;
	out->n = nr;
	free(v);
}

/* ---- all samples */

int figure_sum_up(const struct report *report, size_t row, const struct sample *samples, size_t n,
		  int producers, struct figure_stats *out)
{
	const struct figure *f = &report->figures[row];
	struct observations obs;
	struct stats_rate rate;
	double mean, half;
	int err;

	*out = (struct figure_stats){ 0, NAN, NAN, NAN, NAN, NAN, NAN };
	err = observations_make(report, row, samples, n, producers, &obs);
	if (err)
		return err;
	err = obs.n ? stats_rate(obs.count, obs.weight, obs.n, &rate) : -ENODATA;
	if (!err)
		err = find_quantiles(&obs, f->kind == FIGURE_GAUGE, out);
	if (!err) {
		out->n = obs.n;
		out->mean = rate.mean;
		out->stddev = rate.stddev;
		if (!stats_mean_ci(obs.count, obs.weight, obs.n, STATS_CONFIDENCE, &mean, &half)) {
			out->ci_low = mean - half;
			out->ci_high = mean + half;
		}
		if (row_wants_batches(f))
			move_to_batches(f, samples, n, out);
	}
	observations_free(&obs);
	return err;
}

struct sample samples_merge(const struct report *report, const struct sample *samples, size_t n)
{
	struct sample all = {};
	double gauge;
	size_t i, k;

	for (i = 0; i < n; i++)
		all.dt_ns += samples[i].dt_ns;
	for (k = 0; k < report->nr_figures; k++) {
		gauge = 0;
		for (i = 0; i < n; i++) {
			if (report->figures[k].kind == FIGURE_GAUGE)
				gauge += (double)samples[i].raw.v[k] * samples[i].dt_ns;
			else
				all.raw.v[k] += samples[i].raw.v[k];
		}
		if (gauge)
			all.raw.v[k] = llround(gauge / all.dt_ns);
		if (row_wants_batches(&report->figures[k]))
			all.raw.v[k] = llround(merged_quantile(&report->figures[k], k, samples, n));
	}
	return all;
}

struct values values_minus(const struct report *report, const struct values *after,
			   const struct values *before)
{
	struct values diff = *after;
	size_t i;

	for (i = 0; i < report->nr_figures; i++)
		if (report->figures[i].kind != FIGURE_GAUGE &&
		    report->figures[i].kind != FIGURE_QUANTILE)
			diff.v[i] -= before->v[i];
	return diff;
}

static const char *row_fault(const struct report *report, size_t row)
{
	const struct figure *f = &report->figures[row];
	bool has_section = false;
	size_t i;

	if (!f->unit || !f->help)
		return "has no unit, or no help";
	for (i = 0; i < report->nr_figures; i++) {
		if (i < row && !strcmp(report->figures[i].name, f->name))
			return "is there twice";
		has_section = has_section || report->figures[i].kind == FIGURE_SECTION;
	}
	if (!(f->quantile >= 0 && f->quantile <= 1))
		return "has a quantile outside of 0 to 1";
	if (f->in_section && !has_section)
		return "is measured in a section, but no row is of kind FIGURE_SECTION";
	if (figure_is_raw(f))
		return NULL;
	if (f->of >= report->nr_figures || report->figures[f->of].kind != FIGURE_RATE ||
	    (f->kind != FIGURE_TIME &&
	     (f->per >= report->nr_figures || report->figures[f->per].kind != FIGURE_RATE)))
		return "is made of what is no count";
	return NULL;
}

int report_check(const struct report *report, char *err, size_t err_size)
{
	const char *fault;
	size_t i;

	if (!report || !report->nr_figures || report->nr_figures > FIGURES_MAX) {
		snprintf(err, err_size, "it has no figures, or more than %d", FIGURES_MAX);
		return -EINVAL;
	}
	for (i = 0; i < report->nr_figures; i++) {
		fault = report->figures[i].name ? row_fault(report, i) : "has no name";
		if (!fault)
			continue;
		snprintf(err, err_size, "figure '%s' %s", report->figures[i].name ?: "", fault);
		return -EINVAL;
	}
	return 0;
}

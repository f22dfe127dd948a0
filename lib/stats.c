// SPDX-License-Identifier: GPL-2.0
#include "lib/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

/*
 * Compensated sum: the rounding error of each addition is collected apart, so
 * that a long run loses no small samples beside a large total. Algorithm Sum2
 * of Ogita, Rump and Oishi, "Accurate Sum and Dot Product", SIAM Journal on
 * Scientific Computing 26 (2005). Must not be built with -ffast-math.
 */
struct sum {
	double total;
	double lost;
};

static void sum_add(struct sum *s, double v)
{
	double total = s->total + v;
	double added = total - s->total;

	s->lost += (s->total - (total - added)) + (v - added);
	s->total = total;
}

static double sum_value(const struct sum *s)
{
	return s->total + s->lost;
}

static double total_of(const double *v, size_t n)
{
	struct sum total = {};
	size_t i;

	for (i = 0; i < n; i++)
		sum_add(&total, v[i]);
	return sum_value(&total);
}

/*
 * The deviation is the weighted one of the NIST Dataplot reference manual,
 * volume 2, "Weighted Standard Deviation", with the intervals as weights:
 *
 *   s^2 = sum(w_i * (r_i - mean)^2) / (sum(w) * (n - 1) / n)
 *
 * Where a rate's variance falls with the length of its interval (v / w_i, as
 * for a Poisson count), the numerator's expectation is (n - 1) * v, so that s^2
 * estimates, without bias, the variance over an interval of average length.
 *
 * Two passes, since sum(r^2) - n * mean^2 cancels catastrophically for a steady
 * rate of 1e8 and more.
 */
int stats_rate(const double *count, const double *seconds, size_t n, struct stats_rate *out)
{
	struct sum counts = {}, time = {}, squares = {};
	double mean, total;
	size_t i;

	if (!n)
		return -ENODATA;
	for (i = 0; i < n; i++) {
		if (!isfinite(count[i]) || !isfinite(seconds[i]) || seconds[i] <= 0)
			return -EINVAL;
		sum_add(&counts, count[i]);
		sum_add(&time, seconds[i]);
	}
	total = sum_value(&time);
	mean = sum_value(&counts) / total;

	for (i = 0; i < n; i++) {
		double diff = count[i] / seconds[i] - mean;

		sum_add(&squares, seconds[i] * diff * diff);
	}
	out->mean = mean;
	out->n = n;
	out->stddev = n == 1 ? 0 : sqrt(sum_value(&squares) / (total * (n - 1) / n));
	return 0;
}

/* Ascending, NaN last. */
static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

double stats_quantile(double *v, size_t n, double q)
{
	double pos, frac;
	size_t lo;

	/* Written so that a NaN for q is refused too */
	if (!n || !(q >= 0 && q <= 1))
		return NAN;
	qsort(v, n, sizeof(*v), cmp_double);
	if (isnan(v[n - 1]))
		return NAN;

	pos = (n - 1) * q;
	lo = (size_t)pos;
	frac = pos - lo;
	/* Also keeps the last value from reading one past the end */
	if (frac == 0)
		return v[lo];
	return v[lo] + frac * (v[lo + 1] - v[lo]);
}

int stats_median_ci(double *v, size_t n, double confidence, double *low, double *high)
{
	size_t rank;

	if (!n)
		return -ENODATA;
	/*
	 * As many values as lie below the median are binomial: the smallest number that is not too
	 * rare, with that many values left out on either side. 0: not even none is too rare.
	 */
	rank = qbinom((1 - confidence) / 2, n, 0.5, 1, 0);
	if (!rank)
		return -ENODATA;
	qsort(v, n, sizeof(*v), cmp_double);
	*low = v[rank - 1];
	*high = v[n - rank];
	return 0;
}

void stats_adjust_p(double *p, size_t n)
{
	double least = 1;
	size_t rank;

	for (rank = n; rank > 0; rank--) {
		least = fmin(least, p[rank - 1] * n / rank);
		p[rank - 1] = least;
	}
}

/* ---- correlated samples */

#define BATCHES 8
#define MAX_PHI 0.99 /* a longer memory cannot be told from a drift; batch means have their say */
/*
 * Standard errors that phi is taken to be above its estimate. Found by simulation: the least that
 * gives 94 % and more with phi = 0.5, from 8 samples on and when stopped early. Independent samples
 * pay for it with 5 samples in 40.
 */
#define PHI_MARGIN 0.7

/*
 * Samples of a ratio of two sums, counts over time, become samples of a mean: what each count has
 * above mean * its time, over the average time. W. G. Cochran, "Sampling Techniques", 3rd edition
 * (1977), section 6.4.
 */
struct residuals {
	const double *count, *seconds;
	double mean, avg_seconds;
};

static double residual(const struct residuals *r, size_t i)
{
	return (r->count[i] - r->mean * r->seconds[i]) / r->avg_seconds;
}

static double t_quantile(double confidence, double freedom)
{
	return qt((1 + confidence) / 2, freedom, 1, 0);
}

static double ar1_half_width(const struct residuals *r, size_t n, double confidence)
{
	struct sum squares = {}, products = {};
	double phi, worth, variance, v, prev = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		v = residual(r, i);
		sum_add(&squares, v * v);
		sum_add(&products, v * prev);
		prev = v;
	}
	variance = sum_value(&squares) / (n - 1);
	if (!(variance > 0))
		return 0;
	phi = sum_value(&products) / sum_value(&squares);
	phi += (1 + 3 * phi) / n;
	phi += PHI_MARGIN * sqrt(fmax(0, 1 - phi * phi) / n);
	phi = fmin(fmax(phi, 0), MAX_PHI);
	/* With less than two samples' worth there is no variance to speak of. */
	worth = fmax(2, n * (1 - phi) / (1 + phi));
	/* Neighbours that are alike also make the sample variance too small. */
	variance *= worth * (n - 1) / (n * (worth - 1));
	return t_quantile(confidence, worth - 1) * sqrt(variance / worth);
}

static double batch_half_width(const struct residuals *r, size_t n, double confidence)
{
	const size_t size = n / BATCHES, first = n - size * BATCHES;
	double batch[BATCHES] = {}, mean = 0, squares = 0;
	size_t b, i;

	for (b = 0; b < BATCHES; b++) {
		for (i = 0; i < size; i++)
			batch[b] += residual(r, first + b * size + i) / size;
		mean += batch[b] / BATCHES;
	}
	for (b = 0; b < BATCHES; b++)
		squares += (batch[b] - mean) * (batch[b] - mean);
	return t_quantile(confidence, BATCHES - 1) * sqrt(squares / (BATCHES - 1) * size / n);
}

int stats_mean_ci(const double *count, const double *seconds, size_t n, double confidence,
		  double *mean, double *half_width)
{
	struct residuals r = { .count = count, .seconds = seconds };
	struct stats_rate rate;
	double width, batches;
	int err;

	if (n < STATS_CI_MIN)
		return -ENODATA;
	err = stats_rate(count, seconds, n, &rate);
	if (err)
		return err;
	r.mean = rate.mean;
	r.avg_seconds = total_of(seconds, n) / n;
	width = ar1_half_width(&r, n, confidence);
	/* Batches of a single sample would be those samples again. */
	if (n >= 2 * BATCHES) {
		batches = batch_half_width(&r, n, confidence);
		width = fmax(width, batches);
	}
	*mean = rate.mean;
	*half_width = width;
	return 0;
}

/* Every n up to 127, then every second one, from 256 on every fourth, and so on. */
static bool look_due(size_t n)
{
	size_t step = 1;

	while (n / step >= 128)
		step *= 2;
	return n % step == 0;
}

bool stats_precise(const double *count, const double *seconds, size_t n, double pct)
{
	double mean, half_width;

	if (n < STATS_STOP_MIN || !look_due(n))
		return false;
	if (stats_mean_ci(count, seconds, n, STATS_CONFIDENCE, &mean, &half_width))
		return false;
	return mean > 0 && half_width <= mean * pct / 100;
}

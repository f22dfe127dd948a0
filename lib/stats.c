// SPDX-License-Identifier: GPL-2.0
#include "lib/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

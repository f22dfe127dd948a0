/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics over samples. */
#ifndef LIB_STATS_H
#define LIB_STATS_H

#include <stddef.h>

/* Rates are in counts a second. */
struct stats_rate {
	double mean;
	double stddev;
	size_t n; /* number of intervals */
};

/*
 * Rate of n counts, each taken over its own interval in seconds. The mean is
 * all counts over all time. The deviation is that of the intervals' rates,
 * weighted by their length; for equal intervals it is the ordinary sample
 * deviation (n - 1), and for n = 1 it is 0.
 *
 * Returns 0; -ENODATA for n = 0; -EINVAL where an interval is not positive or a
 * value not finite. *out is left alone on error.
 */
int stats_rate(const double *count, const double *seconds, size_t n, struct stats_rate *out);

/*
 * The q-quantile (0 <= q <= 1, 0.5 is the median) of n values, linear between
 * neighbours: type 7 in Hyndman and Fan, "Sample Quantiles in Statistical
 * Packages", The American Statistician 50 (1996), the default of R and NumPy.
 *
 * Sorts v in place, ascending. Returns NaN for n = 0, for q outside 0..1, and
 * where a value is NaN.
 */
double stats_quantile(double *v, size_t n, double q);

#endif /* LIB_STATS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics over samples. */
#ifndef LIB_STATS_H
#define LIB_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Of every interval that is printed, recorded or compared. */
#define STATS_CONFIDENCE 0.95

/* Rates are in counts per second. */
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

/*
 * Interval of the median of a distribution, between two of the n values drawn from it (sorts v in
 * place), so that it holds with at least @confidence: H. A. David and H. N. Nagaraja, "Order
 * Statistics", 3rd edition (2003), section 7.1. Nothing is assumed of the distribution. 95 % take 6
 * values. Returns 0; -ENODATA with too few values for such a confidence.
 */
int stats_median_ci(double *v, size_t n, double confidence, double *low, double *high);

/*
 * Many tests at once: what becomes of the p-values of @n of them, ascending, in place, so that
 * taking all those for shown that are below a rate holds the expected part of false ones among them
 * at that rate. Where there is nothing to be shown at all, that is the probability that anything
 * is. Y. Benjamini and Y. Hochberg, "Controlling the False Discovery Rate", Journal of the Royal
 * Statistical Society B 57 (1995), in the form of R's p.adjust(): right for independent tests, and
 * for those that tend to err to the same side, as rows measured at the same time do (Y. Benjamini
 * and D. Yekutieli, Annals of Statistics 29 (2001)). One p-value alone stays what it is.
 */
void stats_adjust_p(double *p, size_t n);

/*
 * Mean rate of a series of counts, each taken over its own interval in seconds, and how far on
 * either side of it the true one lies with @confidence (0.95), half_width. Neighbours may be
 * correlated, as the samples of a run are. (For a proportion, the count's whole takes the place of
 * the seconds.)
 *
 * Two estimates are made, and the wider one counts. (1) The number of independent samples that the
 * series is worth, n (1 - phi) / (1 + phi), from its lag-1 correlation phi: right for an
 * autoregressive series of order 1. The bias of the estimated phi is corrected (F. H. C. Marriott
 * and J. A. Pope, "Bias in the Estimation of Autocorrelations", Biometrika 41 (1954)), a part of
 * its standard error is added, and a phi below 0 does not count, so that a short series is not
 * taken for better than it is. (2) Batch means over 8 batches (A. M. Law, "Simulation Modeling and
 * Analysis", section 9.5.3), which see disturbances that last long. Both take Student's t.
 *
 * Tests find that 95 % intervals cover the true mean in 93 % of cases and more, for independent
 * samples and for a phi of 0.5, from STATS_CI_MIN samples on.
 *
 * Returns 0; -ENODATA with fewer samples than that; -EINVAL where an interval is not positive or a
 * value not finite.
 */
int stats_mean_ci(const double *count, const double *seconds, size_t n, double confidence,
		  double *mean, double *half_width);

#define STATS_CI_MIN 8

/*
 * Is the mean rate known to @pct percent, so that measuring may stop here? That is, is the 95 %
 * interval within it? To be asked after each sample.
 *
 * Who stops as soon as an interval is narrow enough stops more often than not where chance made it
 * so, and it covers less (Y. S. Chow and H. Robbins, "On the Asymptotic Theory of Fixed-Width
 * Sequential Confidence Intervals for the Mean", Annals of Mathematical Statistics 36 (1965)). So
 * there must be STATS_STOP_MIN samples, whatever their spread. Long series are looked at after each
 * 64th part more, to keep the cost down.
 */
bool stats_precise(const double *count, const double *seconds, size_t n, double pct);

#define STATS_STOP_MIN 30

#endif /* LIB_STATS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Mann-Whitney U test (Wilcoxon's rank sum test) of two samples, and the shift between them.
 * Every value counts as it is: none is an outlier. Not for several threads at once, since the
 * distribution functions of R's libRmath keep tables.
 */
#ifndef LIB_COMPARE_UTEST_H
#define LIB_COMPARE_UTEST_H

#include <stdbool.h>
#include <stddef.h>

enum utest_method {
	UTEST_EXACT, /* all arrangements of the ranks */
	UTEST_EXACT_TIES, /* the same where values are equal */
	UTEST_NORMAL, /* approximation, for large samples */
};

struct utest {
	double u; /* pairs in which y is the larger one; a pair of equals counts half */
	double p; /* two-sided */
	enum utest_method method;
};

/*
 * Could the samples x (m values) and y (n values) come from one distribution? Infinite values are
 * fine. H. B. Mann and D. R. Whitney, "On a Test of Whether one of Two Random Variables is
 * Stochastically Larger than the Other", Annals of Mathematical Statistics 18 (1947).
 *
 * With fewer than 50 values on either side p is exact: without ties from the distribution of U,
 * with ties from that of the midranks over all ways to choose m of the m + n values, as the
 * probability of a rank sum at least as far from its mean. With 50 or more it is the normal
 * approximation with correction for ties and for continuity (limits and formulas as in R's
 * wilcox.test()).
 *
 * Returns 0; -EINVAL where a side is empty or a value is NaN; -ENOMEM.
 */
int utest(const double *x, size_t m, const double *y, size_t n, struct utest *out);

/* The same by normal approximation, whatever the size; @continuity: with its correction. */
int utest_normal(const double *x, size_t m, const double *y, size_t n, bool continuity,
		 struct utest *out);

/* The smallest p that utest() can come to with samples of @m and @n values. */
double utest_least_p(size_t m, size_t n);

struct utest_shift {
	double estimate;
	bool has_interval;
	double low, high;
};

/*
 * By how much y lies above x, if nothing but that tells them apart: the median of all y - x
 * (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of
 * Mathematical Statistics 34 (1963)), and the interval of all shifts that the U test would not
 * reject at 1 - @confidence (M. Hollander and D. A. Wolfe, "Nonparametric Statistical Methods", 2nd
 * edition (1999), section 4.3). It leaves 0 out where utest() says p < 1 - @confidence, and only
 * there; with ties, whose p has a distribution of its own, almost only there.
 *
 * Two values that are equal, infinite ones too, differ by 0. There is no interval where samples are
 * too small for such a confidence. Returns 0; -EINVAL as above; -ENOMEM; -E2BIG where there are
 * more than UTEST_MAX_PAIRS pairs.
 */
int utest_shift(const double *x, size_t m, const double *y, size_t n, double confidence,
		struct utest_shift *out);

#define UTEST_MAX_PAIRS (16 * 1024 * 1024)

#endif /* LIB_COMPARE_UTEST_H */

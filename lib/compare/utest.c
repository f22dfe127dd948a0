// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/utest.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "lib/stats.h"

/* From this size of a sample on, the normal approximation serves (as in R's wilcox.test()). */
#define LARGE 50

struct value {
	double v;
	bool is_y;
	size_t rank2; /* twice the midrank, from 2: a whole number */
};

/* Both samples together, ascending. */
struct ranking {
	struct value *values;
	size_t m, n;
	size_t sum2; /* of rank2 over x */
	double tie_term; /* sum of t^3 - t over all groups of t equal values */
};

static int cmp_value(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

static int rank_all(const double *x, size_t m, const double *y, size_t n, struct ranking *r)
{
	size_t nr = m + n, i, j, k;
	double ties;

	if (!m || !n)
		return -EINVAL;
	*r = (struct ranking){ .m = m, .n = n };
	r->values = calloc(nr, sizeof(*r->values));
	if (!r->values)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		r->values[i].v = i < m ? x[i] : y[i - m];
		r->values[i].is_y = i >= m;
		if (isnan(r->values[i].v)) {
			free(r->values);
			return -EINVAL;
		}
	}
	qsort(r->values, nr, sizeof(*r->values), cmp_value);
	for (i = 0; i < nr; i = j) {
		for (j = i + 1; j < nr && r->values[j].v == r->values[i].v;)
			j++;
		/* Ranks i + 1 to j are shared: their mean, twice, is i + 1 + j. */
		for (k = i; k < j; k++) {
			r->values[k].rank2 = i + 1 + j;
			if (!r->values[k].is_y)
				r->sum2 += r->values[k].rank2;
		}
		ties = j - i;
		r->tie_term += ties * ties * ties - ties;
	}
	return 0;
}

/* Pairs in which x is the larger one are its rank sum less what the ranks 1 to m would give. */
static double u_of(const struct ranking *r)
{
	double x_larger = (r->sum2 - (double)r->m * (r->m + 1)) / 2;

	return (double)r->m * r->n - x_larger;
}

static double p_exact(const struct ranking *r)
{
	double u = u_of(r), pairs = (double)r->m * r->n;

	/* Symmetric: both tails are the same. */
	return fmin(1, 2 * pwilcox(fmin(u, pairs - u), r->m, r->n, 1, 0));
}

/*
 * How many ways there are to choose k of the values so that their ranks sum up to s: the shift
 * algorithm of B. Streitberg and J. Roehmel, "Exact Distributions for Permutation and Rank Tests",
 * Statistical Software Newsletter 12 (1986). Each value in turn is chosen or not: ways[k][s] +=
 * ways[k - 1][s - its rank], from k = m down, so that no value is chosen twice. Doubles hold the
 * counts to 16 digits, and as only sums are made of them, no digits are lost.
 */
static int p_exact_ties(const struct ranking *r, double *p)
{
	const size_t nr = r->m + r->n, max_sum = nr * (nr + 1); /* of all rank2 */
	const size_t mean = r->m * (nr + 1); /* of the sums, by symmetry of each rank's chance */
	const size_t dist = r->sum2 > mean ? r->sum2 - mean : mean - r->sum2;
	double *ways, total = 0, far = 0;
	size_t i, k, s, d;

	ways = calloc((r->m + 1) * (max_sum + 1), sizeof(*ways));
	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (i = 0; i < nr; i++) {
		const size_t rank2 = r->values[i].rank2;

		for (k = i + 1 < r->m ? i + 1 : r->m; k > 0; k--) {
			double *to = ways + k * (max_sum + 1), *from = to - (max_sum + 1);

			for (s = rank2; s <= max_sum; s++)
				to[s] += from[s - rank2];
		}
	}
	for (s = 0; s <= max_sum; s++) {
		d = s > mean ? s - mean : mean - s;
		total += ways[r->m * (max_sum + 1) + s];
		if (d >= dist)
			far += ways[r->m * (max_sum + 1) + s];
	}
	*p = fmin(1, far / total);
	free(ways);
	return 0;
}

/* Variance of U, less for ties: E. L. Lehmann, "Nonparametrics" (1975), section 1.3. */
static double p_normal(const struct ranking *r, bool continuity)
{
	double m = r->m, n = r->n, nr = m + n;
	double sigma = sqrt(m * n / 12 * (nr + 1 - r->tie_term / (nr * (nr - 1))));
	double dist = fabs(u_of(r) - m * n / 2);

	if (continuity)
		dist = fmax(0, dist - 0.5);
	if (!(sigma > 0)) /* all values are equal */
		return 1;
	return fmin(1, 2 * pnorm(-dist / sigma, 0, 1, 1, 0));
}

int utest(const double *x, size_t m, const double *y, size_t n, struct utest *out)
{
	struct ranking r;
	int err;

	err = rank_all(x, m, y, n, &r);
	if (err)
		return err;
	out->u = u_of(&r);
	if (m >= LARGE || n >= LARGE) {
		out->method = UTEST_NORMAL;
		out->p = p_normal(&r, true);
	} else if (r.tie_term > 0) {
		out->method = UTEST_EXACT_TIES;
		err = p_exact_ties(&r, &out->p);
	} else {
		out->method = UTEST_EXACT;
		out->p = p_exact(&r);
	}
	free(r.values);
	return err;
}

int utest_normal(const double *x, size_t m, const double *y, size_t n, bool continuity,
		 struct utest *out)
{
	struct ranking r;
	int err;

	err = rank_all(x, m, y, n, &r);
	if (err)
		return err;
	out->u = u_of(&r);
	out->method = UTEST_NORMAL;
	out->p = p_normal(&r, continuity);
	free(r.values);
	return 0;
}

/* All values of one sample above all of the other: one of so many arrangements, at either end. */
double utest_least_p(size_t m, size_t n)
{
	return fmin(1, 2 / choose(m + n, m));
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The interval goes from the rank-th smallest to the rank-th largest difference: this is the
 * largest rank with 2 P(U < rank) < 1 - confidence; 0: even the first is not that rare. For large
 * samples it is what p_normal() with its continuity correction means.
 */
static double interval_rank(size_t m, size_t n, double confidence)
{
	const double alpha = 1 - confidence, pairs = (double)m * n;

	if (m < LARGE && n < LARGE)
		return qwilcox(alpha / 2, m, n, 1, 0);
	return fmax(0, ceil(pairs / 2 - 0.5 +
			    qnorm(alpha / 2, 0, 1, 1, 0) * sqrt(pairs * (m + n + 1.0) / 12)));
}

int utest_shift(const double *x, size_t m, const double *y, size_t n, double confidence,
		struct utest_shift *out)
{
	size_t pairs = m * n, i, j, rank;
	double *diffs;

	if (!m || !n)
		return -EINVAL;
	if (pairs / m != n || pairs > UTEST_MAX_PAIRS)
		return -E2BIG;
	diffs = calloc(pairs, sizeof(*diffs));
	if (!diffs)
		return -ENOMEM;
	for (i = 0; i < m; i++) {
		for (j = 0; j < n; j++) {
			if (isnan(x[i]) || isnan(y[j])) {
				free(diffs);
				return -EINVAL;
			}
			diffs[i * n + j] = y[j] == x[i] ? 0 : y[j] - x[i];
		}
	}
	qsort(diffs, pairs, sizeof(*diffs), cmp_double);
	out->estimate = pairs % 2 ? diffs[pairs / 2] :
				    diffs[pairs / 2 - 1] / 2 + diffs[pairs / 2] / 2;
	rank = interval_rank(m, n, confidence);
	out->has_interval = rank > 0;
	out->low = rank ? diffs[rank - 1] : -INFINITY;
	out->high = rank ? diffs[pairs - rank] : INFINITY;
	free(diffs);
	return 0;
}

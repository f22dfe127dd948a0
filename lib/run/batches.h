/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Times of one operation, each a mean over a batch of them: what rows of kind FIGURE_QUANTILE are
 * made of.
 */
#ifndef LIB_RUN_BATCHES_H
#define LIB_RUN_BATCHES_H

#include <stddef.h>

/* Owned by the caller; zeroed at first; freed by batches_free(). */
struct batches {
	double *v; /* ps */
	size_t nr, room;
	double *weight; /* batches that each of them stands for; NULL: one */
};

/* Returns 0 or -ENOMEM. */
int batches_add(struct batches *b, double ps);

/*
 * The same as a batch added @weight times; in one set, all are added by this function. What stands
 * for many is added in ascending order.
 */
int batches_add_many(struct batches *b, double ps, double weight);

/* Adds all of @from, which is ascending, as is @to. Returns 0 or -ENOMEM. */
int batches_merge(struct batches *to, const struct batches *from);

/* The @q-quantile of an ascending set; NAN where it is empty. */
double batches_quantile(const struct batches *b, double q);

/* Ascending. */
void batches_sort(struct batches *b);

/*
 * Keeps every @stride-th of them, in the order in which they are. @phase, at first 0, goes on from
 * one set to the next, so that small sets get their share too. What is kept of sorted ones has the
 * same quantiles.
 */
void batches_thin(struct batches *b, size_t stride, size_t *phase);

void batches_free(struct batches *b);

#endif /* LIB_RUN_BATCHES_H */

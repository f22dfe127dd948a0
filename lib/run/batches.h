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
};

/* Returns 0 or -ENOMEM. */
int batches_add(struct batches *b, double ps);

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

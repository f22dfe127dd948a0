/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In which order the runs of two sides were made. A machine drifts: a block of runs has its own
 * mean, and a test over the runs of one block against those of another finds that drift as well.
 */
#ifndef LIB_COMPARE_ORDER_H
#define LIB_COMPARE_ORDER_H

#include <stddef.h>

/* A run by the time of its record. */
struct timed_run {
	double time; /* s since the epoch; NAN: not known */
	double mean;
};

enum order {
	ORDER_TURNS, /* by turns, or not known: the runs are the observations */
	ORDER_BLOCKS, /* ORDER_MIN_BLOCKS a side by turns: each block is one observation */
	ORDER_APART, /* fewer: what drifts between them is not in p */
};

#define ORDER_MIN_BLOCKS 4

/* The means of the blocks of one side. Owned by the caller; freed by free(). */
struct blocks {
	double *means;
	size_t nr;
};

/*
 * Finds the order of @nr_base and @nr_new runs. For ORDER_BLOCKS the means are in @base_blocks and
 * @new_blocks, to be freed in any case. Returns an enum order, or -ENOMEM.
 */
int order_find(const struct timed_run *base, size_t nr_base, const struct timed_run *new,
	       size_t nr_new, struct blocks *base_blocks, struct blocks *new_blocks);

/* "2026-12-01T05:12:34+00:00" in seconds since the epoch; NAN: it is no such text (or NULL). */
double order_parse_time(const char *text);

#endif /* LIB_COMPARE_ORDER_H */

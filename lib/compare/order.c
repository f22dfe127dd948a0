// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/order.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Runs by turns: no block is longer. (ABBA makes blocks of two.) */
#define MAX_TURN 2

double order_parse_time(const char *text)
{
	int hours = 0, minutes = 0;
	struct tm tm = {};
	const char *rest;
	double s = 0;
	char sign;

	rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	if (!rest)
		return NAN;
	if (*rest == '.') {
		char *end;

		s = strtod(rest, &end);
		rest = end;
	}
	if (!strcmp(rest, "Z"))
		return timegm(&tm) + s;
	if (sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes) != 3 || (sign != '+' && sign != '-'))
		return NAN;
	s -= (sign == '+' ? 60 : -60) * (60 * hours + minutes);
	return timegm(&tm) + s;
}

static int cmp_runs(const void *a, const void *b)
{
	const struct timed_run *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* A run of either side. */
struct turn {
	struct timed_run run;
	bool is_new;
};

static int cmp_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	return cmp_runs(&x->run, &y->run);
}

static bool all_timed(const struct timed_run *runs, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (isnan(runs[i].time))
			return false;
	return nr > 0;
}

/* Puts the runs @turns[first..last) into their side's blocks. */
static void add_block(const struct turn *turns, size_t first, size_t last, struct blocks *blocks)
{
	double sum = 0;
	size_t i;

	for (i = first; i < last; i++)
		sum += turns[i].run.mean;
	blocks->means[blocks->nr++] = sum / (last - first);
}

int order_find(const struct timed_run *base, size_t nr_base, const struct timed_run *new,
	       size_t nr_new, struct blocks *base_blocks, struct blocks *new_blocks)
{
	size_t n = nr_base + nr_new, longest = 0, first, i;
	struct turn *turns;

	*base_blocks = *new_blocks = (struct blocks){};
	if (!all_timed(base, nr_base) || !all_timed(new, nr_new))
		return ORDER_TURNS;
	turns = calloc(n, sizeof(*turns));
	base_blocks->means = calloc(n, sizeof(double));
	new_blocks->means = calloc(n, sizeof(double));
	if (!turns || !base_blocks->means || !new_blocks->means) {
		free(turns);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		turns[i] = (struct turn){ i < nr_base ? base[i] : new[i - nr_base], i >= nr_base };
	qsort(turns, n, sizeof(*turns), cmp_turns);
	/* Times that do not tell the sides apart tell nothing of their order. */
	if (turns[0].run.time == turns[n - 1].run.time) {
		free(turns);
		return ORDER_TURNS;
	}
	for (first = 0; first < n; first = i) {
		for (i = first; i < n && turns[i].is_new == turns[first].is_new; i++)
			;
		longest = i - first > longest ? i - first : longest;
		add_block(turns, first, i, turns[first].is_new ? new_blocks : base_blocks);
	}
	free(turns);
	if (base_blocks->nr < ORDER_MIN_BLOCKS || new_blocks->nr < ORDER_MIN_BLOCKS)
		return base_blocks->nr + new_blocks->nr > 2 && longest <= MAX_TURN ? ORDER_TURNS :
										     ORDER_APART;
	return longest <= MAX_TURN ? ORDER_TURNS : ORDER_BLOCKS;
}

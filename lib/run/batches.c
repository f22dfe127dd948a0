// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/batches.h"
#include "lib/stats.h"

int batches_add(struct batches *b, double ps)
{
	size_t room = b->room ? 2 * b->room : 64;
	double *grown;

	if (b->nr == b->room) {
		grown = realloc(b->v, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		b->v = grown;
		b->room = room;
	}
	b->v[b->nr++] = ps;
	return 0;
}

int batches_add_many(struct batches *b, double ps, double weight)
{
	double *grown;
	int err;

	err = batches_add(b, ps);
	if (err)
		return err;
	grown = realloc(b->weight, b->room * sizeof(*grown));
	if (!grown) {
		b->nr--;
		return -ENOMEM;
	}
	b->weight = grown;
	b->weight[b->nr - 1] = weight;
	return 0;
}

static double weight_of(const struct batches *b, size_t i)
{
	return b->weight ? b->weight[i] : 1;
}

int batches_merge(struct batches *to, const struct batches *from)
{
	struct batches all = {};
	size_t i = 0, k = 0;
	double ps, weight;
	int err = 0;

	while (!err && (i < to->nr || k < from->nr)) {
		ps = k == from->nr || (i < to->nr && to->v[i] < from->v[k]) ? to->v[i] : from->v[k];
		weight = 0;
		if (i < to->nr && to->v[i] == ps)
			weight += weight_of(to, i++);
		if (k < from->nr && from->v[k] == ps)
			weight += weight_of(from, k++);
		err = batches_add_many(&all, ps, weight);
	}
	if (err) {
		batches_free(&all);
		return err;
	}
	batches_free(to);
	*to = all;
	return 0;
}

double batches_quantile(const struct batches *b, double q)
{
	double total = 0, sum = 0;
	size_t i;

	if (!b->weight)
		return stats_quantile(b->v, b->nr, q);
	for (i = 0; i < b->nr; i++)
		total += b->weight[i];
	for (i = 0; i < b->nr; i++) {
		sum += b->weight[i];
		if (sum > q * (total - 1))
			return b->v[i];
	}
	return NAN;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void batches_sort(struct batches *b)
{
	if (b->nr && !b->weight)
		qsort(b->v, b->nr, sizeof(*b->v), by_value);
}

void batches_thin(struct batches *b, size_t stride, size_t *phase)
{
	size_t i, kept = 0;

	for (i = 0; i < b->nr; i++)
		if ((*phase)++ % stride == 0)
			b->v[kept++] = b->v[i];
	b->nr = kept;
}

void batches_free(struct batches *b)
{
	free(b->v);
	free(b->weight);
	memset(b, 0, sizeof(*b));
}

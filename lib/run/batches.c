// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/batches.h"

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

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void batches_sort(struct batches *b)
{
	if (b->nr)
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
	memset(b, 0, sizeof(*b));
}

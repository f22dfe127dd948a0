/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often each value occurred, where there are millions per second: in buckets as wide as 1/64 of
 * their values, so that what is read from it is off by less than 1 %. One thread adds; others may
 * read meanwhile.
 */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BITS	  6 /* buckets to a power of two: 2 to this */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct histogram {
	uint64_t count[HISTOGRAM_BUCKETS];
};

/* Values below 64 have buckets of their own. */
static inline size_t histogram_bucket(uint64_t value)
{
	int shift = 63 - HISTOGRAM_BITS - __builtin_clzll(value | 1ULL << HISTOGRAM_BITS);

	return ((size_t)shift << HISTOGRAM_BITS) + (value >> shift);
}

/* The middle of a bucket. */
static inline double histogram_value(size_t bucket)
{
	size_t shift = bucket >> HISTOGRAM_BITS;
	uint64_t low = bucket;

	if (shift < 2)
		return bucket;
	low = ((1ULL << HISTOGRAM_BITS) | (bucket & ((1 << HISTOGRAM_BITS) - 1))) << (shift - 1);
	return low + ((1ULL << (shift - 1)) - 1) / 2.0;
}

static inline void histogram_add(struct histogram *h, uint64_t value)
{
	uint64_t *count = &h->count[histogram_bucket(value)];

	__atomic_store_n(count, *count + 1, __ATOMIC_RELAXED);
}

static inline uint64_t histogram_count(const struct histogram *h, size_t bucket)
{
	return __atomic_load_n(&h->count[bucket], __ATOMIC_RELAXED);
}

static inline uint64_t histogram_total(const struct histogram *h)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += histogram_count(h, i);
	return sum;
}

#endif /* LIB_HISTOGRAM_H */

// SPDX-License-Identifier: GPL-2.0
#include <math.h>

#include "lib/bloom_theory.h"

uint64_t bloom_bits(uint32_t nr_entries, unsigned int nr_hash_funcs)
{
	uint64_t want = (uint64_t)nr_entries * nr_hash_funcs, bits = 64;

	if (want <= UINT32_MAX)
		want = want / 5 * 7; /* the kernel divides first */
	if (want > 1ULL << 31)
		return 1ULL << 32;
	while (bits < want)
		bits *= 2;
	return bits;
}

/* k N / m: how often a bit is chosen on average. */
static double load(uint32_t nr_entries, unsigned int nr_hash_funcs)
{
	return (double)nr_entries * nr_hash_funcs / bloom_bits(nr_entries, nr_hash_funcs);
}

double bloom_rate(uint32_t nr_entries, unsigned int nr_hash_funcs)
{
	return pow(-expm1(-load(nr_entries, nr_hash_funcs)), nr_hash_funcs);
}

double bloom_rate_variance(uint32_t nr_entries, unsigned int nr_hash_funcs, double lookups,
			   double absent)
{
	double p = bloom_rate(nr_entries, nr_hash_funcs);
	double c = load(nr_entries, nr_hash_funcs), f = -expm1(-c);
	double values = p * (1 - p) * (1 / lookups + 1 / absent);
	double empty = (exp(-c) - (1 + c) * exp(-2 * c)) / bloom_bits(nr_entries, nr_hash_funcs);

	return values + pow(nr_hash_funcs * p / f, 2) * empty;
}

double bloom_rate_as_printed(double p)
{
	return p / (1 + p);
}

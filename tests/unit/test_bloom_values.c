// SPDX-License-Identifier: GPL-2.0
/* The values that progs/bloom.h makes: distinct, well mixed, and given by the seed alone. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "progs/bloom.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const uint64_t seeds[] = { 0, 1, 2, 12345, INT64_MAX };

/* All numbers of @size bytes, where they can be gone through: each value comes once. */
static void check_all(unsigned int size, uint64_t seed)
{
	static uint64_t seen[(1 << 24) / 64];
	__u64 words[BLOOM_MAX_WORDS];
	uint64_t n, value;
	struct bloom_values v;

	memset(seen, 0, sizeof(seen));
	bloom_values_init(&v, size, seed);
	assert_int_equal(v.mask, (1ULL << 8 * size) - 1);
	for (n = 0; n <= v.mask; n++) {
		bloom_value(&v, n, words);
		value = 0;
		memcpy(&value, words, size);
		if (seen[value / 64] >> value % 64 & 1)
			fail_msg("%u bytes, seed %llu: twice the same value", size,
				 (unsigned long long)seed);
		seen[value / 64] |= 1ULL << value % 64;
	}
}

static void short_values_come_once(void **state)
{
	size_t s;

	for (s = 0; s < ARRAY_SIZE(seeds); s++)
		check_all(2, seeds[s]);
	check_all(3, 1);
}

/* Of an odd number, modulo 2^64: each step of Newton's doubles the number of right bits. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;
	int i;

	for (i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/* bloom_permute() backwards. x ^= x >> half undoes itself. */
static uint64_t unpermute(const struct bloom_values *v, uint64_t x)
{
	x ^= x >> v->shift;
	x = x * inverse(0xd6e8feb86659fd93ULL) & v->mask;
	x ^= x >> v->shift;
	x = (x - v->keys[2]) * inverse(0x94d049bb133111ebULL) & v->mask;
	x ^= x >> v->shift;
	x = (x - v->keys[1]) * inverse(0xbf58476d1ce4e5b9ULL) & v->mask;
	x ^= x >> v->shift;
	return (x - v->keys[0]) & v->mask;
}

/* What can be computed backwards, from the value's first bytes alone, comes once. */
static void values_tell_their_number(void **state)
{
	static const unsigned int sizes[] = { 2, 3, 4, 5, 6, 7, 8, 9, 64, 255, 256 };
	__u64 words[BLOOM_MAX_WORDS];
	uint64_t n, got;
	struct bloom_values v;
	size_t i, s;
	int k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (s = 0; s < ARRAY_SIZE(seeds); s++) {
			bloom_values_init(&v, sizes[i], seeds[s]);
			for (k = 0; k < 20000; k++) {
				/* small numbers, and some from all over the range */
				n = (k % 2 ? (uint64_t)k : bloom_mix(k)) & v.mask;
				bloom_value(&v, n, words);
				got = 0;
				memcpy(&got, words, sizes[i] < 8 ? sizes[i] : 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
				got >>= 64 - 2 * v.shift;
#endif
				if (unpermute(&v, got) != n)
					fail_msg("%u bytes, seed %llu: number %llu is lost",
						 sizes[i], (unsigned long long)seeds[s],
						 (unsigned long long)n);
			}
		}
	}
}

/*
 * Each bit of the values of neighbouring numbers is set in half of them, and changes in half of
 * the steps from one to the next: within five deviations, sqrt(n) / 2.
 */
static void bits_are_set_in_half_of_them(void **state)
{
	static const unsigned int sizes[] = { 4, 7, 8, 40, 256 };
	__u64 words[BLOOM_MAX_WORDS], before[BLOOM_MAX_WORDS] = {};
	static int set[8 * BLOOM_MAX_VALUE_SIZE], changed[8 * BLOOM_MAX_VALUE_SIZE];
	const int nr = 10000;
	struct bloom_values v;
	unsigned int b;
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(set, 0, sizeof(set));
		memset(changed, 0, sizeof(changed));
		bloom_values_init(&v, sizes[i], 7);
		for (n = 0; n < nr; n++) {
			bloom_value(&v, n, words);
			for (b = 0; b < 8 * sizes[i]; b++) {
				set[b] += words[b / 64] >> b % 64 & 1;
				changed[b] += (words[b / 64] ^ before[b / 64]) >> b % 64 & 1;
			}
			memcpy(before, words, sizeof(before));
		}
		for (b = 0; b < 8 * sizes[i]; b++)
			if (abs(set[b] - nr / 2) > 5 * sqrt(nr) / 2 ||
			    abs(changed[b] - nr / 2) > 5 * sqrt(nr) / 2)
				fail_msg(
					"%u bytes: bit %u is set in %d of %d values, changes in %d",
					sizes[i], b, set[b], nr, changed[b]);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Values of different seeds have no more in common than chance gives them. */
static void seeds_give_other_values(void **state)
{
	const uint64_t nr = 100000;
	struct bloom_values v;
	uint64_t *all, i;
	int common = 0;

	all = calloc(2 * nr, sizeof(*all));
	assert_non_null(all);
	bloom_values_init(&v, 4, 1);
	for (i = 0; i < nr; i++)
		all[i] = bloom_permute(&v, i);
	bloom_values_init(&v, 4, 2);
	for (i = 0; i < nr; i++)
		all[nr + i] = bloom_permute(&v, i);
	qsort(all, 2 * nr, sizeof(*all), compare);
	for (i = 1; i < 2 * nr; i++)
		common += all[i] == all[i - 1];
	free(all);
	/* Expected 100000^2 / 2^32 = 2.3, and hardly ever more than 12. */
	assert_in_range(common, 0, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_values_come_once),
		cmocka_unit_test(values_tell_their_number),
		cmocka_unit_test(bits_are_set_in_half_of_them),
		cmocka_unit_test(seeds_give_other_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

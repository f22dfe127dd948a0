/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The values that the bloom filter benchmarks put into their maps and look up, made from a number:
 * by BPF programs, and by the tests.
 *
 * Value n is one of 2..256 bytes. Its first 8 bytes (all bytes, where it has fewer) are a
 * permutation of n that depends on the seed; so values of different numbers differ, with nothing
 * to be looked up while the maps are filled, and what is above the number of entries is absent
 * from them for certain. The values are the same whoever makes them, in whichever order.
 */
#ifndef PROGS_BLOOM_H
#define PROGS_BLOOM_H

#include <linux/types.h>

#define BLOOM_MAX_VALUE_SIZE 256
#define BLOOM_MAX_WORDS	     (BLOOM_MAX_VALUE_SIZE / 8)

/*
 * Operations that the verifier is shown in one piece, and values that one run of a filling program
 * makes. It follows every turn of a loop and keeps at most 8192 branches in mind.
 */
#define BLOOM_CHUNK 256

/* Which values there are: for a size and a seed. */
struct bloom_values {
	__u64 mask; /* of a number: 8 * size bits, at most 64 */
	__u64 keys[3];
	__u32 shift; /* half of those bits */
	__u32 nr_words; /* 64-bit words that hold a value */
};

/* The arguments of one run of a program. */
struct bloom_args {
	__u64 first; /* number of the value to begin with */
	__u64 producer; /* whose run it is; only where values are made anew */
};

/* The programs' configuration, from user space; constants to the verifier. */
struct bloom_config {
	struct bloom_values values;
	__u64 nr_absent; /* values that are not entries: numbers nr_entries, ... */
	__u64 first_stored; /* number of the first value in the array */
	__u32 nr_entries; /* numbers 0, 1, ...: put into filter and hash map */
	__u32 nr_stored; /* different values in the array */
	__u32 nr_chunks; /* of BLOOM_CHUNK operations, in one run of a measured program */
	__u32 has_filter;
	__u32 has_hash;
};

/* Finaliser of splitmix64 (Steele, Lea, Flood, 2014). */
static inline __attribute__((always_inline)) __u64 bloom_mix(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

#define BLOOM_GOLDEN 0x9e3779b97f4a7c15ULL /* 2^64 / golden ratio, the step of splitmix64 */

static inline void bloom_values_init(struct bloom_values *v, __u32 size, __u64 seed)
{
	__u32 bits = size < 8 ? 8 * size : 64, i;

	v->mask = ~0ULL >> (64 - bits);
	v->shift = bits / 2;
	v->nr_words = (size + 7) / 8;
	for (i = 0; i < 3; i++)
		v->keys[i] = bloom_mix(seed + (i + 1) * BLOOM_GOLDEN) & v->mask;
}

/*
 * A permutation of the numbers 0..mask: adding a key, exclusive or with one's own upper half,
 * and multiplying by an odd number can each be undone modulo a power of two.
 */
static inline __attribute__((always_inline)) __u64
bloom_permute(const volatile struct bloom_values *v, __u64 x)
{
	__u64 mask = v->mask;
	__u32 shift = v->shift;

	x = (x + v->keys[0]) & mask;
	x ^= x >> shift;
	x = (x * 0xbf58476d1ce4e5b9ULL + v->keys[1]) & mask;
	x ^= x >> shift;
	x = (x * 0x94d049bb133111ebULL + v->keys[2]) & mask;
	x ^= x >> shift;
	x = (x * 0xd6e8feb86659fd93ULL) & mask;
	return x ^ x >> shift;
}

/* Writes value number @n to @words, v->nr_words of them; the value is its first bytes. */
static inline __attribute__((always_inline)) void bloom_value(const volatile struct bloom_values *v,
							      __u64 n, __u64 *words)
{
	__u64 first = bloom_permute(v, n), state = first;
	__u32 i;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	first <<= 64 - 2 * v->shift; /* so that a short value is in the first bytes here, too */
#endif
	words[0] = first;
	for (i = 1; i < v->nr_words; i++) {
		state += BLOOM_GOLDEN;
		words[i] = bloom_mix(state);
	}
}

#endif /* PROGS_BLOOM_H */

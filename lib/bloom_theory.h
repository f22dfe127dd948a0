/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large the kernel makes a bloom filter, and how often it is then wrong: formulas only.
 *
 * A filter for N entries has m bits; each entry sets k of them, chosen at random one by one. A
 * value that is no entry is taken for one where all of its own k bits are set.
 */
#ifndef LIB_BLOOM_THEORY_H
#define LIB_BLOOM_THEORY_H

#include <stdint.h>

/*
 * Bits of a BPF_MAP_TYPE_BLOOM_FILTER made for @nr_entries (>= 1) and @nr_hash_funcs (1..15) on a
 * 64-bit kernel: N * k / 5 * 7 in whole numbers of 32 bits (7 / 5 stands for 1 / ln 2), rounded up
 * to a power of two, at least 64, and 2^32 where the product does not fit or is above 2^31.
 * Source: what bloom_map_alloc() of kernel/bpf/bloom_filter.c does, Linux 5.16 to 6.18.
 */
uint64_t bloom_bits(uint32_t nr_entries, unsigned int nr_hash_funcs);

/*
 * The expected false-positive rate, 0 to 1, of that filter once it holds @nr_entries: f^k, where f
 * = 1 - exp(-k * N / m) is the expected part of the bits that are set. Source: Broder and
 * Mitzenmacher, Network Applications of Bloom Filters, 2004, section 2.1.
 */
double bloom_rate(uint32_t nr_entries, unsigned int nr_hash_funcs);

/*
 * Variance of a measured rate around bloom_rate(): @lookups were made, in turn or at random, of
 * values out of @absent that are no entries (INFINITY: never the same one twice). It has two parts:
 *
 * That of the values looked up, p (1 - p) (1 / lookups + 1 / absent). With absent = INFINITY it is
 * the binomial's. Where there are few values, looking all of them up again and again brings the
 * rate among those few, which differs from p by chance as well, and does not come closer to p.
 * (Exact for draws at random; lookups in turn vary less until they have been round a few times.)
 *
 * That of the filter's fill, (k p / f)^2 (exp(-c) - (1 + c) exp(-2c)) / m with c = k N / m: the
 * derivative of f^k squared, times the variance of the part of m cells that are empty after c m
 * balls were thrown into them. Source of that: Kolchin, Sevast'yanov, Chistyakov, Random
 * Allocations, 1978, chapter 1.
 */
double bloom_rate_variance(uint32_t nr_entries, unsigned int nr_hash_funcs, double lookups,
			   double absent);

/*
 * What the kernel selftests' bench prints for a true rate @p: p / (1 + p), for it counts each false
 * hit twice in the number of operations that it divides by.
 */
double bloom_rate_as_printed(double p);

#endif /* LIB_BLOOM_THEORY_H */

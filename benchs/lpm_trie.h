/* SPDX-License-Identifier: GPL-2.0 */
/* What the benchmarks of LPM tries share. */
#ifndef BENCHS_LPM_TRIE_H
#define BENCHS_LPM_TRIE_H

#include <pthread.h>

#include "bench.h"

struct lpm_params {
	long long nr_entries;
	long long prefix_len;
	long long seed;
	bool random;
};

extern const struct bench lpm_free;

/* Checks the options of a benchmark in which one producer changes the trie, or frees it. */
int lpm_check_single(struct bench_run *run);

/* Bytes of a trie with all entries, at most. */
uint64_t lpm_trie_bytes(const struct lpm_params *params);

/*
 * Counts of one producer. Time and operations belong together: whoever reads or writes them takes
 * the lock, which is hardly ever contended.
 */
struct lpm_counts {
	pthread_mutex_t lock;
	uint64_t runs; /* of the measured program */
	uint64_t ops;
	uint64_t section_ns;
} __attribute__((aligned(BENCH_CACHELINE)));

/* @nr zeroed ones, to be freed by free(); NULL: no memory. */
struct lpm_counts *lpm_counts_alloc(size_t nr);

/* @ops more, which took @ns, by one run of the program. */
void lpm_counts_add(struct lpm_counts *counts, uint64_t ops, uint64_t ns);

/* Adds what @counts has to @sum. */
void lpm_counts_sum(struct lpm_counts *counts, struct lpm_counts *sum);

/* ---- figures of what is timed in a section: the rows, and their lines */

enum { SECTION_OPS, SECTION_LATENCY, SECTION };

void lpm_section_progress(FILE *out, const struct report *report, const double *values,
			  const struct sample *s, int producers);
void lpm_section_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			 const struct sample *total, int producers);

#endif /* BENCHS_LPM_TRIE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What a benchmark counts, and what one sampling interval saw of it. */
#ifndef LIB_RUN_SAMPLE_H
#define LIB_RUN_SAMPLE_H

#include <stdint.h>

/* Cumulative counts since the threads started; never reset while they run. */
struct bench_res {
	uint64_t hits; /* what the benchmark's description calls a hit */
	uint64_t drops; /* attempts that the kernel refused */
	uint64_t false_hits; /* hits that were wrongly positive (bloom filter) */
};

/* The difference of two readings. */
struct sample {
	uint64_t t_ns; /* start of the interval, after the start of the threads */
	uint64_t dt_ns; /* its true length, CLOCK_MONOTONIC */
	struct bench_res res; /* counted within it */
};

#endif /* LIB_RUN_SAMPLE_H */

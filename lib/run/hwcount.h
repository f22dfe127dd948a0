/* SPDX-License-Identifier: GPL-2.0 */
/* Hardware counters of a run's threads, over the measured time: --counters. */
#ifndef LIB_RUN_HWCOUNT_H
#define LIB_RUN_HWCOUNT_H

#include <stddef.h>

#define HWCOUNT_MAX 8

/* Sets of events are bits: that of hwcount_names[i] is 1 << i. */
extern const char *const hwcount_names[HWCOUNT_MAX + 1]; /* NULL at the end */
#define HWCOUNT_DEFAULT "instructions,cycles,cache-misses,branch-misses"

/* A list such as HWCOUNT_DEFAULT. Returns 0, or -EINVAL and leaves *@set alone. */
int hwcount_parse(const char *list, unsigned int *set);

/* What was counted, by event. */
struct hwcount {
	unsigned int asked;
	double count[HWCOUNT_MAX]; /* of all threads, the kernel included; NAN: not counted */
	double running_pct[HWCOUNT_MAX]; /* of the time; below 100 the count is scaled up */
};

struct run_state;

/*
 * Between the threads' start and their work: opens the counters of cfg->counters. Returns 0, or
 * -errno after bench_unavailable() where there is none of them, or bench_failed().
 */
int hwcount_open(struct run_state *state);

/* Where the measured time begins and ends; the latter writes state->res->hw. */
void hwcount_begin(struct run_state *state);
void hwcount_end(struct run_state *state);
void hwcount_close(struct run_state *state);

#endif /* LIB_RUN_HWCOUNT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Hardware counters of a run's threads, over the measured time: --counters. */
#ifndef LIB_RUN_HWCOUNT_H
#define LIB_RUN_HWCOUNT_H

#include <stddef.h>
#include <sys/types.h>

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

struct hwcounters;

/*
 * Opens the counters of @asked, not 0, for threads of this process. Returns 0, with *@counters to
 * be closed; -ENODATA where the machine has none of them; or another -errno, with the event in
 * *@event.
 */
int hwcount_open(unsigned int asked, const pid_t *tids, size_t nr_tids,
		 struct hwcounters **counters, const char **event);

/* Where the measured time begins and ends. @counters, here and below: may be NULL. */
void hwcount_begin(struct hwcounters *counters);
void hwcount_end(const struct hwcounters *counters, struct hwcount *hw);
void hwcount_close(struct hwcounters *counters);

#endif /* LIB_RUN_HWCOUNT_H */

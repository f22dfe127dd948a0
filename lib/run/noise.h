/* SPDX-License-Identifier: GPL-2.0 */
/* What disturbed a run. */
#ifndef LIB_RUN_NOISE_H
#define LIB_RUN_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Take a reading where the measured time starts and another where it ends, both while the threads
 * live, and ask for the difference.
 */

/* One thread's counters since it was born. */
struct noise_thread {
	pid_t tid;
	long long invol_switches; /* -1: the thread had ended */
	long long migrations; /* from CPU to CPU; -1: this kernel does not count them */
	long long waited_ns; /* able to run, but without a CPU; -1: the same */
};

struct noise_reading {
	long long steal_ticks; /* of all CPUs since boot; -1 unknown */
	long long total_ticks; /* the same, all kinds of time together */
	uint64_t ns; /* when it was taken, now_ns() */
	long long throttled_ns; /* by a CPU quota, see cgroup_throttled_ns(); -1 unknown */
	size_t nr_threads;
	struct noise_thread *threads; /* owned by the reading */
};

struct noise {
	double steal_pct; /* of all CPUs' time, 0 to 100; -1 unknown */
	long long invol_switches; /* of all threads together; -1 unknown */
	long long migrations; /* the same; -1 unknown */
	double throttled_pct; /* of the threads' time, taken by a CPU quota; -1 unknown */
	/* Of the threads' time, able to run but without a CPU, quotas included; -1 unknown */
	double waited_pct;
	size_t threads_lost; /* threads that ended early: the two sums lack them */
};

/*
 * Read the system's counters and those of nr_tids threads of this process. What cannot be read, a
 * thread that has ended included, is marked as such and is no error.
 * Returns 0; the caller then frees the reading with noise_reading_free(). Returns -ENOMEM with
 * nothing to free.
 */
int noise_read(struct noise_reading *reading, const pid_t *tids, size_t nr_tids);

/* The same, with /proc looked up below the directory root ("" is the running machine). */
int noise_read_at(const char *root, struct noise_reading *reading, const pid_t *tids,
		  size_t nr_tids);

/* Free what a reading owns. A reading that is all zero, or freed before, is fine. */
void noise_reading_free(struct noise_reading *reading);

/*
 * What happened between two readings. Threads are those of start, matched to end by TID; threads
 * that only end has are left out. A sum is -1 where no thread, or (migrations, waited_pct) where
 * not every thread, could be counted; all are 0 where start has no threads. Steal is unknown where
 * a reading lacks it, or is all zero (never taken), or where no tick passed in between.
 */
void noise_diff(const struct noise_reading *start, const struct noise_reading *end,
		struct noise *noise);

/* How often a thread of this process has slept and was woken since it was born; -1 unknown. */
long long noise_wakeups(pid_t tid);

/*
 * Real-time threads (SCHED_FIFO, SCHED_RR) are stopped for a part of each period. Percent of a CPU
 * that is left to thread @tid (0: the caller); 100 for others, and where there is no such limit.
 */
double noise_rt_limit_pct(pid_t tid);

/*
 * How the kernel schedules thread @tid (0: the caller), as records have it: "SCHED_OTHER", or
 * "SCHED_BATCH, nice 5", "SCHED_FIFO 10". Returns whether that is the usual, or a real-time thread.
 */
bool noise_sched(pid_t tid, char *buf, size_t size);

/*
 * May a thread of this process run on @cpu and nowhere else? When a CPU goes offline, the kernel
 * gives the threads that had only that one all others. True as well where the thread has ended.
 */
bool noise_thread_is_pinned(pid_t tid, int cpu);

#endif /* LIB_RUN_NOISE_H */

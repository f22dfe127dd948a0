/* SPDX-License-Identifier: GPL-2.0 */
/* One run while it lives: shared by run.c, threads.c, samples.c and conserve.c, and no one else. */
#ifndef LIB_RUN_STATE_H
#define LIB_RUN_STATE_H

#include <pthread.h>
#include <signal.h>

#include "lib/run/job.h"

enum gate {
	GATE_SHUT,
	GATE_OPEN,
	GATE_ABORT,
};

/* What a run needs besides what benchmarks see of it. */
struct run_state {
	struct bench_run run;
	struct bench_result *res;
	const struct bench_watch *watch;
	struct worker *workers; /* consumers first */
	size_t nr_workers; /* of which the threads exist */
	size_t samples_room;
	size_t nr_batches; /* that are kept */
	size_t batch_stride, batch_phase; /* see batches_thin() */
	struct hwcounters *hwcounters; /* NULL: none were asked for */
	struct noise_reading noise_start;
	bool noise_started;

	struct sigaction old_kick; /* what the caller does at KICK_SIGNAL */
	size_t nr_working; /* threads that have come through; atomic */
	int gate; /* enum gate, a futex: where new threads wait */
	int stats_probe_fd; /* see bench_stats_probe(); -1: not asked */
	bool stuck; /* a thread does not stop */
	bool outranking; /* the sampling thread is a real-time one */

	pthread_mutex_t lock; /* for what follows, and worker.done */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	size_t nr_ready; /* threads that are pinned, have told their id and wait there */
};

struct worker {
	struct bench_thread t;
	struct run_state *state;
	pthread_t thread;
	bool done;
	bool joined;
};

/* Has a thread, or another part of the run, failed? */
static inline bool run_failed(const struct bench_run *run)
{
	return __atomic_load_n(&run->err.code, __ATOMIC_ACQUIRE) != BENCH_EXIT_OK;
}

/* ---- threads.c */

/* Interrupts a system call that a thread sleeps in once it is to stop. */
#define KICK_SIGNAL SIGRTMIN

/* Does nothing: that a system call returns EINTR is all that is wanted. */
void kicked(int sig);

/* Starts all threads, which then wait at the gate. 0, or -errno after bench_failed(). */
int threads_start(struct run_state *state);

/* Lets them work, or end without having worked. */
void threads_open_gate(struct run_state *state);
void threads_abort(struct run_state *state);

/*
 * Where there are more threads than CPUs it takes a while until each has had its first turn. That
 * is no part of what is measured: a sample would have fewer threads at work than were asked for.
 */
void threads_wait_until_all_work(struct run_state *state);

/*
 * Ends all threads of @role. A thread may sleep in a system call, and may enter one just after it
 * looked whether to stop: so it is interrupted again and again until it has ended. 0, or -errno
 * after bench_failed(), with state->stuck.
 */
int threads_stop(struct run_state *state, enum bench_role role);

/* ---- samples.c */

/*
 * Takes samples until the measured time is full, a signal says stop, or a thread fails. Ticks of
 * the timer that come while a sample is taken are lost, but no time is: a sample lasts from the
 * one before it to itself.
 */
int samples_take(struct run_state *state);

/* Stops the timer, and takes what disturbed the run. */
void samples_end(struct run_state *state);

/* ---- conserve.c */

/* Do the final counts agree? 0, or -errno after bench_failed(). */
int conservation_check(struct run_state *state);

#endif /* LIB_RUN_STATE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of one run: set-up, threads, sampling, stop, drain, check, tear-down. Prints nothing;
 * what is to be seen while it goes on is told to a watcher.
 */
#ifndef LIB_RUN_RUN_H
#define LIB_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "bench.h"
#include "lib/run/noise.h"

/* Called from the thread that called bench_run(). Any of them may be NULL. */
struct bench_watch {
	void *ctx;
	/* The set-up goes on: see bench_progress(). */
	void (*progress)(void *ctx, const char *what, double fraction);
	/* The threads are about to start. */
	void (*started)(void *ctx, const struct bench_run *run);
	/* A sample was taken; the first ones are the warm-up's. */
	void (*sampled)(void *ctx, int iter, const struct sample *s);
};

/* What came of a run. Owned by the caller; freed by bench_result_free(). */
struct bench_result {
	struct sample *samples; /* all of them, in order */
	size_t nr_samples;
	size_t nr_warmup; /* the first ones, which do not count */
	int signal; /* that cut it short: SIGINT or SIGTERM; 0: none did */
	bool precise; /* it ended early, for the mean is known as well as asked */
	double ci_pct; /* half the mean's 95 % interval, in percent of it; NAN: not known */
	enum attach_kind attach;
	char attach_note[1024];
	char trigger[64];
	char trigger_note[1024];
	struct cpuset allowed; /* what the process could use when the threads were placed */
	struct noise noise; /* during the measured time */
	bool have_noise;
	int strayed_tid; /* a pinned thread seen on another CPU than its own; 0: none */
	int strayed_cpu;
	struct bench_conservation conservation; /* has_records, prog_fd: what of it is filled in */
	uint64_t setup_ns; /* from the start of the set-up to the start of the threads */
};

/* The confidence that every interval in this project has. */
#define BENCH_CONFIDENCE 0.95

/* CPU that thread @idx of @role is pinned to; -1: none. @allowed: what the process may use. */
int bench_run_cpu(const struct bench_config *cfg, const struct cpuset *allowed,
		  enum bench_role role, int idx);

/*
 * Does one whole run of @bench. The arguments in @cfg must have been checked. Returns 0, with at
 * least what was measured until a signal came in @res, or -errno with the user's line in @err
 * (@res is then to be freed as well: what was measured before the failure is there).
 */
int bench_run(const struct bench *bench, const struct bench_config *cfg,
	      const struct bench_watch *watch, struct bench_result *res, struct bench_err *err);

void bench_result_free(struct bench_result *res);

#endif /* LIB_RUN_RUN_H */

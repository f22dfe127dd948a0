/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The life of one run: set-up, threads, sampling, stop, drain, check, tear-down. Prints nothing;
 * what is to be seen while it goes on is passed to a watcher.
 */
#ifndef LIB_RUN_RUN_H
#define LIB_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/run/job.h"

/*
 * Does the kernel, and do the user's rights, allow @job? Leaves nothing behind. Returns 0, or
 * -errno with the user's line in @err.
 */
int bench_probe(const struct bench_job *job, struct bench_err *err);

/* Prints what the user asked for in place of a run. False: nothing, or a run. */
bool bench_print(const struct bench_job *job, FILE *out);

/* Do the arguments of @job fit together? Loads nothing. Returns as bench_probe() does. */
int bench_check(const struct bench_job *job, struct bench_err *err);

/* How many consumers @job needs. */
int bench_consumers(const struct bench_job *job);

/*
 * Does one whole run. signals_start() must have been called; from the end of the set-up on, signals
 * are caught (signals_catch()). Returns 0, with at least what was measured until a signal
 * came in @res, or -errno with the user's line in @err (@res is then to be freed as well: what was
 * measured before the failure is there).
 */
int bench_run(const struct bench_job *job, const struct bench_watch *watch,
	      struct bench_result *res, struct bench_err *err);

#endif /* LIB_RUN_RUN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What the user sees of a run: progress, samples, warnings, summary. */
#ifndef LIB_CLI_VIEW_H
#define LIB_CLI_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/run/run.h"

struct view {
	FILE *out; /* for the lines of figures */
	const struct bench_job *job;
	bool brief; /* no lines of a run, but what falsifies it */
	bool heading; /* the benchmark is named where runs are summed up */
	char what[96]; /* what goes on, where it is more than a run; "": only that */
	uint64_t end_ns; /* of @what */
	bool triggered; /* how the program is triggered has been reported */
	bool noted; /* so have the notes of the set-up */
	size_t nr_noted; /* the notes that this run had by then */
};

/* A watcher for bench_run() that shows the run of @view->job. */
struct bench_watch view_watch(struct view *view);

/* The set-up begins; @view->what and @view->end_ns say what of. */
void view_begin(struct view *view);

/* The run has ended: takes what shows progress off the terminal. */
void view_end(struct view *view);

/* What puts the figures of all runs on this machine in doubt: JIT, frequency governor. */
void view_warn_of_machine(bool uses_bpf);

/* More threads than CPUs. */
void view_warn_of_threads(const struct bench_config *cfg);

/*
 * Summary of a run and what disturbed it. Returns an enum bench_exit; BENCH_EXIT_FAILED where there
 * is nothing to sum up.
 */
int view_result(const struct view *view, const struct bench_result *res);

/* Summary over @n runs, each merged to one sample. Returns as view_result() does. */
int view_runs(const struct view *view, const struct sample *runs, size_t n);

#endif /* LIB_CLI_VIEW_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which runs of a program are the benchmark's own. A kernel function or a tracepoint is there for
 * everybody: other processes, and another bench, make our program run as well.
 */
#ifndef PROGS_OWN_RUNS_H
#define PROGS_OWN_RUNS_H

#include <linux/types.h>

enum own_runs_filter {
	OWN_RUNS_ALL, /* attached so that no other process can make it run */
	OWN_RUNS_BATCH, /* those while a batch of ours is under way on the CPU */
	OWN_RUNS_TGID, /* those in one of our threads */
};

/* Filled in by user space before the load. */
struct own_runs {
	__u32 filter; /* enum own_runs_filter */
	__u32 tgid; /* as BPF programs see it */
};

#endif /* PROGS_OWN_RUNS_H */

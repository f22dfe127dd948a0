/* SPDX-License-Identifier: GPL-2.0 */
/* What a run is given, and what comes of it. */
#ifndef LIB_RUN_JOB_H
#define LIB_RUN_JOB_H

#include "lib/run/benchmark.h"
#include "lib/run/canary.h"
#include "lib/run/hwcount.h"
#include "lib/run/noise.h"

/* What a run is to be of. */
struct bench_job {
	const struct bench *bench;
	const struct bench_config *cfg; /* checked */
	const void *params; /* the family's options as parsed */
};

/* What came of a run. Owned by the caller; freed by bench_result_free(). */
struct bench_result {
	struct sample *samples; /* all of them, in order */
	size_t nr_samples;
	size_t nr_warmup; /* the first ones, which do not count */
	int signal; /* that cut it short; 0: none did */
	uint64_t paused_ns; /* the process did not run, after the warm-up: no sample holds that */
	unsigned int stops; /* how often it was stopped and continued in that time */
	bool precise; /* it ended early, for the mean is known as well as asked */
	double ci_pct; /* half the mean's 95 % interval, in percent of it; NAN: not known */
	struct bench_trigger trigger;
	struct bench_notes notes;
	struct bench_facts facts;
	struct cpuset allowed; /* that threads were placed on, see bench_run_cpus() */
	struct noise noise; /* during the measured time */
	bool have_noise;
	char sched[48]; /* of the threads, see noise_sched(); "": not known */
	bool sched_unusual;
	struct hwcount hw;
	double rt_limit_pct; /* percent of a CPU that real-time threads get; 100: no limit */
	struct canary before, after; /* the machine's own speed */
	bool stats_by_others; /* the kernel counted the runs of programs, and not for --verify */
	int beside; /* BPF programs of others on the same hook, see beside_count(); -1: unknown */
	char beside_name[16]; /* of one of them */
	int strayed_tid; /* a pinned thread seen on another CPU than its own; 0: none */
	int strayed_cpu;
	struct bench_conservation conservation; /* nr_counts, prog_fd: what of it is filled in */
	uint64_t setup_ns; /* from the start of the set-up to the start of the threads */
};

/*
 * The CPUs that the process may use, in the order in which threads are placed: different cores
 * first. Returns 0 or -errno; to be freed by cpuset_free().
 */
int bench_run_cpus(struct cpuset *cpus);

/* CPU that thread @idx of @role is pinned to; -1: none. @allowed: those of bench_run_cpus(). */
int bench_run_cpu(const struct bench_config *cfg, const struct cpuset *allowed,
		  enum bench_role role, int idx);

/*
 * In a guest whose clock advances by 1 ns per instruction. It cannot see that, so scripts/vmtest.sh
 * tells it by the environment variable BENCH_CLOCK.
 */
bool bench_counts_instructions(void);

/*
 * Operations in the measured time: the first rate in the table, whose name is written to *@name.
 * 0: there is none.
 */
double bench_operations(const struct report *report, const struct bench_result *res,
			const char **name);

void bench_result_free(struct bench_result *res);

#endif /* LIB_RUN_JOB_H */

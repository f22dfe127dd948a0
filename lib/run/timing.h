/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Benchmarks that are measured in batches: how long a known number of operations ("turns") took, by
 * a clock that is read as close to them as can be. Most are BPF programs that read it themselves
 * (progs/timing.bpf.h), so that no system call is in what is measured.
 *
 * Each producer finds out how many turns make a batch of a given length, on its own CPU and by a
 * time in floating point, and goes on making batches of these. The turns that a batch really made
 * are stored with its time. Between them there are batches of nothing, so that the cost of the loop
 * (or of the call) alone stands beside; and now and then one of twice as many turns, which has to
 * take twice as long: where it does not, a warning says that the time per turn depends on how many
 * there are. Neither counts in the figures otherwise.
 *
 * The figures: quantiles of the batches, all of them, with nothing filtered out; and the mean, all
 * their time over all their turns. A quantile of batches is not one of turns: a turn that takes a
 * hundred times as long as the others moves a batch of thousands by a few percent.
 */
#ifndef LIB_RUN_TIMING_H
#define LIB_RUN_TIMING_H

#include "lib/run/services.h"

struct timing;

/* For programs that run with preemption off; a batch of twice as many turns takes 1 ms. */
#define TIMING_BATCH_NS 500000

/* A batch as it came out. */
struct timing_batch {
	uint64_t turns; /* that were really made; 0: it tells nothing, and does not count */
	double ns;
};

/*
 * Makes a batch of @turns operations, or of @turns times nothing, on the thread of the producer
 * @t. 0, or -errno after bench_failed().
 */
typedef int (*timing_batch_fn)(struct bench_thread *t, bool nothing, uint64_t turns,
			       struct timing_batch *out);

/*
 * @turn: what a turn is to the user ("turns", "runs"). @max_turns: that a batch may have.
 * @batch_ns: that a batch shall take. NULL after bench_failed(); to be freed by timing_free() in
 * teardown().
 */
struct timing *timing_new(struct bench_run *run, timing_batch_fn batch, const char *turn,
			  uint64_t max_turns, double batch_ns);

/* Each batch that counts is of @turns, however long it takes; there are none of twice as many. */
void timing_fix_turns(struct timing *timing, uint64_t turns);
void timing_free(struct timing *timing);

/* Of struct bench: the whole of producer(), measure() and batches(). */
int timing_producer(struct timing *timing, struct bench_thread *t);
void timing_measure(struct timing *timing, struct values *v);
int timing_batches(struct timing *timing, struct batches *b);

/* What all producers have done. */
struct timing_sums {
	uint64_t batches; /* that count */
	uint64_t measured; /* turns in them */
	uint64_t beside; /* turns in others: of double length, and to find the length */
	uint64_t nothing; /* turns of nothing */
	uint64_t cut_short; /* batches that made fewer turns than they should */
};
void timing_sum_up(const struct timing *timing, struct timing_sums *sums);

/* In conserve(): warns where batches were cut short, or time does not grow with the turns. */
void timing_judge(struct timing *timing, const struct timing_sums *sums);

/* ---- BPF programs that time themselves */

/* Zeroed at first; ended by timing_prog_end(). */
struct timing_prog {
	struct bpf_program *prog, *nothing;
	struct bpf_map *map;
	struct timing_slot *slots; /* of each producer */
	size_t nr_slots;
};

/*
 * Between open and load: finds out which loop this kernel has, lets only @name's program with that
 * one be loaded, and @nothing's for the batches of nothing; and notes which it is. 0, or -errno
 * with the reason.
 */
int timing_prog_prepare(struct bench_run *run, struct bpf_object *obj, const char *name,
			const char *nothing, struct timing_prog *p);

/* After the load. 0 or -errno after bench_failed(). */
int timing_prog_start(struct bench_run *run, struct timing_prog *p);
void timing_prog_end(struct timing_prog *p);

/*
 * A batch by such a program: @opts has its context or its packet, where @args are, which are filled
 * in here. For timing_batch_fn.
 */
struct bpf_test_run_opts;
struct timing_args;
int timing_prog_batch(struct timing_prog *p, struct bench_thread *t, bool nothing, uint64_t turns,
		      struct bpf_test_run_opts *opts, struct timing_args *args,
		      struct timing_batch *out);

/*
 * The turns that producers counted, by what they were for, and those that the programs counted
 * themselves: they are the same.
 */
void timing_conserve(const struct timing_prog *p, const struct timing_sums *sums,
		     struct bench_conservation *c);

/* ---- figures */

enum {
	TIMING_MEDIAN,
	TIMING_MEAN,
	TIMING_P99,
	TIMING_MIN,
	TIMING_MAX,
	TIMING_NOTHING,
	TIMING_TURNS,
	TIMING_TIMED,
	TIMING_NR,
};

#define TIMING_QUANTILE(name_, quantile_, help_)                                        \
	{                                                                               \
		.name = name_, .unit = "ns/op", .scale = 1000, .kind = FIGURE_QUANTILE, \
		.quantile = quantile_, .better = BETTER_LOWER, .help = help_,           \
	}

/* The first rows of a table; there may be more behind them. */
#define TIMING_FIGURES \
	[TIMING_MEDIAN] = TIMING_QUANTILE("median", 0.5,                                   \
					  "time of one operation in the median batch"),    \
	[TIMING_MEAN] = {                                                                  \
		.name = "mean",                                                            \
		.unit = "ns/op",                                                           \
		.kind = FIGURE_TIME,                                                       \
		.of = TIMING_TURNS,                                                        \
		.in_section = true,                                                        \
		.better = BETTER_LOWER,                                                    \
		.help = "time of one operation: that of all batches over all their operations", \
	},                                                                                 \
	[TIMING_P99] = TIMING_QUANTILE("p99_of_batches", 0.99,                             \
				       "99th percentile of batches, none left out; no tail " \
				       "latency of operations"),                           \
	[TIMING_MIN] = TIMING_QUANTILE("min_of_batches", 0, "the shortest batch"),         \
	[TIMING_MAX] = TIMING_QUANTILE("max_of_batches", 1, "the longest batch"),          \
	[TIMING_NOTHING] = {                                                               \
		.name = "empty",                                                           \
		.unit = "ns/op",                                                           \
		.scale = 1000,                                                             \
		.kind = FIGURE_GAUGE,                                                      \
		.better = BETTER_NONE,                                                     \
		.help = "what an operation that does nothing takes, in the median batch; not subtracted", \
	},                                                                                 \
	[TIMING_TURNS] = {                                                                 \
		.name = "ops",                                                             \
		.unit = "M ops/s",                                                         \
		.scale = 1e6,                                                              \
		.in_section = true,                                                        \
		.better = BETTER_HIGHER,                                                   \
		.help = "operations per second in the batches, of all producers",          \
	},                                                                                 \
	[TIMING_TIMED] = {                                                                 \
		.name = "timed",                                                           \
		.unit = "%",                                                               \
		.kind = FIGURE_SECTION,                                                    \
		.better = BETTER_NONE,                                                     \
		.help = "part of the producers' time that the batches took",               \
	}

void timing_progress_line(FILE *out, const struct report *report, const double *values,
			  const struct sample *s, int producers);
void timing_summary_line(FILE *out, const struct report *report, const struct figure_stats *stats,
			 const struct sample *total, int producers);

#endif /* LIB_RUN_TIMING_H */

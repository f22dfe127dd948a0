/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a benchmark is to the core: a table of functions, and what they are given. bench.h, which
 * benchmarks include, has this and the services that they may call.
 *
 * Errors: functions return 0 or a negative errno. The text for the user is written once, where
 * the user's words are known, by bench_failed(), bench_unavailable() or bench_refused().
 */
#ifndef LIB_RUN_BENCHMARK_H
#define LIB_RUN_BENCHMARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/cpuset.h"
#include "lib/opttab.h"
#include "lib/run/figures.h"

struct bpf_link;
struct bench_run;

#define BENCH_MAX_THREADS 4096

/* What the process exits with; 4 is kselftest's skip code, 64 is EX_USAGE of sysexits.h. */
enum bench_exit {
	BENCH_EXIT_OK = 0,
	BENCH_EXIT_FAILED = 1,
	BENCH_EXIT_UNAVAILABLE = 4,
	BENCH_EXIT_USAGE = 64,
	BENCH_EXIT_UNJUDGED = 125, /* -C --fail-on-slower cannot tell; git bisect run skips it */
};

/* Why something did not work: the process's exit code and one line for the user. */
struct bench_err {
	enum bench_exit code;
	char text[2048];
	char detail[4096]; /* lines shown below it: what the verifier said; mostly "" */
};

/*
 * Each writes the line for the user, unless an earlier one is there (the first cause counts), and
 * returns a negative errno to be passed on: -@err for bench_failed(), -EOPNOTSUPP for
 * bench_unavailable(), -EINVAL for bench_refused(). bench_failed() appends errno @err in words;
 * @err may be given with either sign, and 0 means that there is no errno (-EIO is returned).
 */
int bench_failed(struct bench_err *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int bench_unavailable(struct bench_err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int bench_refused(struct bench_err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How the user asked for the run; fixed once the arguments are checked. */
struct bench_config {
	long long producers; /* threads */
	long long consumers; /* threads; -1 until the core has put in what the benchmark needs */
	long long warmup_s;
	long long duration_s;
	long long interval_ms;
	double precision_pct; /* stop when the mean is known to within so much; 0: never */
	bool affinity;
	struct cpuset prod_cpus; /* as asked; empty: the next CPUs that the process may use */
	struct cpuset cons_cpus;
	int attach; /* enum attach_kind as asked, maybe ATTACH_AUTO */
	unsigned int counters; /* by hardware, see hwcount.h; 0: none */
	bool verify; /* check against the kernel's run count */
	bool verbose;
	bool quiet;
};

/* What makes the BPF program run, as it came out. */
struct bench_trigger {
	const char *verb; /* for the note: "attached by", "driven by" */
	char name[64]; /* "fentry", "batch"; "": there is no program */
	char fallback[192]; /* why it is not the first choice, in brief; "": it is */
	char reasons[1024]; /* the same in full */
};

#define BENCH_MAX_NOTES 4

/* What the user has to know of a run, see bench_note(). */
struct bench_notes {
	struct {
		bool warning;
		char text[256];
	} v[BENCH_MAX_NOTES];
	size_t nr;
};

#define BENCH_MAX_FACTS 8

/* What of the environment is this run's own, see bench_fact(). */
struct bench_facts {
	struct {
		const char *name;
		char text[256];
	} v[BENCH_MAX_FACTS];
	size_t nr;
};

#define BENCH_MAX_COUNTS 12

/*
 * What was counted from the first to the last moment, to be held against something independent.
 *
 * Counts: conserve() names them by bench_count() and says by bench_identity() what must hold among
 * them; the core checks that after each run, and records both.
 *
 * Runs: with --verify, the core has the kernel count the runs of program @prog_fd
 * (BPF_ENABLE_STATS) and checks that they are @runs. Only for a program that runs for no one but
 * the benchmark.
 */
struct bench_conservation {
	struct bench_count {
		const char *name;
		uint64_t value;
	} counts[BENCH_MAX_COUNTS];
	size_t nr_counts;
	const char *identities[BENCH_MAX_COUNTS]; /* "attempts = submitted + drops" */
	size_t nr_identities;
	bool violated; /* the core's */

	int prog_fd; /* still loaded; 0: there is no such program */
	uint64_t runs;
	uint64_t kernel_runs; /* the core's: what the kernel says */
};

enum bench_role {
	BENCH_PRODUCER,
	BENCH_CONSUMER,
	BENCH_NR_ROLES,
};

/* One thread of a run. Only bench_stopping() looks at @run's stop flags for it. */
struct bench_thread {
	struct bench_run *run;
	int idx; /* 0, 1, ... among the threads of its role */
	enum bench_role role;
	int cpu; /* that it is pinned to; -1: not pinned */
	pid_t tid;
};

struct bench {
	const char *name;
	const char *const *aliases; /* other names that it answers to; NULL-terminated, or NULL */
	const char *desc; /* one line: what one hit is */
	const char *needs; /* what the kernel has to have: "Linux 5.17 (bpf_loop())"; or NULL */
	const struct report *report; /* what it measures */
	const char *when_dropping; /* advice where more than a tenth of @report's DROPS; or NULL */
	const void *data; /* the family's own: what its benchmarks differ in */
	bool no_bpf; /* it uses no BPF at all */
	bool kernel_workers; /* threads of the kernel do a part of it, on the CPUs of its own */
	bool any_consumers; /* takes a -c larger than what it needs, as its forerunner did */

	/* Number of consumers that it needs with the options as parsed; NULL: none. */
	int (*consumers)(const struct bench_run *run);

	/*
	 * Has the user asked for a text in place of a run, such as a list of what an option takes?
	 * Then prints it and returns true. May be NULL.
	 */
	bool (*print)(const struct bench_run *run, FILE *out);

	/* Do the arguments fit together? Loads nothing. Refuse by bench_refused(). May be NULL. */
	int (*check)(struct bench_run *run);

	/*
	 * Can this kernel, and this user, run it with the options as parsed? By trying the feature,
	 * not by version. Leaves nothing behind. Returns 0, or -errno after bench_unavailable().
	 * NULL: @setup and @teardown tell; a family has one of its own where these are too slow.
	 */
	int (*probe)(struct bench_run *run);

	/*
	 * Sets up one run: its state goes to run->priv. On an error, says why (run->err), and
	 * @teardown is called all the same: it must cope with a set-up that went only half way.
	 */
	int (*setup)(struct bench_run *run);
	void (*teardown)(struct bench_run *run);

	/*
	 * Shows what the user asked to see of the run that has been set up (--show-jit), on @out.
	 * 0, or -errno after bench_failed(). May be NULL.
	 */
	int (*describe)(struct bench_run *run, FILE *out);

	/*
	 * Threads: work until bench_stopping(). Any system call of theirs may return EINTR once the
	 * core wants them to stop. A consumer is stopped after all producers have ended; it then
	 * consumes what is left and returns. 0, or -errno after bench_failed(&run->err, ...).
	 */
	int (*producer)(struct bench_thread *t);
	int (*consumer)(struct bench_thread *t);

	/*
	 * Writes the raw rows of @report's table to @v->v[], zeroed before; cumulative since the
	 * threads started (gauges: now). Called from the sampling thread while the others run.
	 */
	void (*measure)(struct bench_run *run, struct values *v);

	/*
	 * Adds to @b the time of one operation, ps, in each batch that has ended since the last
	 * call; or of many operations at once, by batches_add_many(). For reports with rows of kind
	 * FIGURE_QUANTILE, and NULL for all others. Called after each measure(). 0 or -errno.
	 */
	int (*batches)(struct bench_run *run, struct batches *b);

	/* Final counts, after all threads have ended. NULL: nothing to conserve. */
	void (*conserve)(struct bench_run *run, struct bench_conservation *c);
};

/*
 * Callbacks of a run while it goes on, from the thread that called bench_run(). Any of the
 * functions may be NULL.
 */
struct bench_watch {
	void *ctx;
	/* The set-up goes on, see bench_progress() of lib/run/services.h. */
	void (*progress)(void *ctx, const char *what, double fraction);
	/* The threads are about to start. */
	void (*started)(void *ctx, const struct bench_run *run);
	/* A sample was taken; the first ones are the warm-up's. */
	void (*sampled)(void *ctx, int iter, const struct sample *s);
};

/* One run. A value: nothing of it is left in static variables, so that it can be done again. */
struct bench_run {
	const struct bench *bench;
	const struct bench_config *cfg;
	const void *params; /* the family's options as parsed, in its own struct */
	void *priv; /* the benchmark's own */
	struct bench_err err; /* written through bench_failed() and its like only */
	struct bench_trigger trigger; /* written by @setup, or by the services that attach */
	struct bench_notes notes; /* written through bench_note() and bench_warn() */
	struct bench_facts facts; /* written through bench_fact() */
	int attach; /* enum attach_kind that bench_attach_prepare() chose */
	struct bpf_link **links; /* owned; destroyed by the core after @teardown */
	size_t nr_links;
	const struct bench_watch *watch; /* the core's */
	bool stop[BENCH_NR_ROLES]; /* relaxed atomic */
};

/* Options shared by the benchmarks of one file, and those benchmarks. */
struct bench_family {
	const char *title; /* heading of its options in --help */
	const char *about; /* one line: what its benchmarks tell */
	const struct opt *opts;
	size_t nr_opts;
	size_t params_size; /* of the struct that the options' values are in */
	const struct bench *const *benchs;
	size_t nr_benchs;
	struct bench_family *next; /* the core's */
};

/* All families, by title. */
extern struct bench_family *bench_families;

void bench_register_family(struct bench_family *family);

/* Does @bench go by this name? */
bool bench_answers_to(const struct bench *bench, const char *name);

/*
 * Looks through what the families registered, for whoever writes one: two benchmarks of one name, a
 * callback that is missing, an option that takes an argument in one family and none in another.
 * @core: options that no family may have. Returns 0, or -EINVAL with the reason in @err.
 */
int bench_families_check(const struct opt *core, size_t nr_core, char *err, size_t err_size);

/* Makes the core know @var, a struct bench_family of static storage, before main() starts. */
#define BENCH_FAMILY(var)                                                   \
	static void __attribute__((constructor)) bench_register_##var(void) \
	{                                                                   \
		bench_register_family(&(var));                              \
	}                                                                   \
	static void bench_register_##var(void)

#endif /* LIB_RUN_BENCHMARK_H */

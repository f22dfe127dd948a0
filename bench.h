/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between the core (bench.c) and the benchmarks (benchs/).
 *
 * A benchmark is a table of functions, struct bench. Its family registers it, together with the
 * options of the family, by BENCH_FAMILY(); nothing else in the tree has to be edited. The core
 * parses, checks, probes, sets up, starts and stops threads, samples, reports and tears down; a
 * benchmark never prints, never exits and never calls the core but through the services below.
 *
 * Errors: functions return 0 or a negative errno. The text for the user is written once, where
 * the user's words are known, by bench_failed(), bench_unavailable() or bench_refused().
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/bpf/attach.h"
#include "lib/cpuset.h"
#include "lib/meminfo.h"
#include "lib/opttab.h"
#include "lib/run/report.h"
#include "lib/run/sample.h"
#include "lib/bpf/why.h"
#include "progs/cpu_slots.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_object_skeleton;
struct bench_run;
struct bench_watch;

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Two cache lines: the adjacent-line prefetcher of x86 couples lines in pairs. */
#define BENCH_CACHELINE 128

#define BENCH_MAX_THREADS 4096

/* What the process exits with; 4 is kselftest's skip code, 64 is EX_USAGE of sysexits.h. */
enum bench_exit {
	BENCH_EXIT_OK = 0,
	BENCH_EXIT_FAILED = 1,
	BENCH_EXIT_UNAVAILABLE = 4,
	BENCH_EXIT_USAGE = 64,
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
	bool verify; /* check against the kernel's run count */
	bool verbose;
	bool quiet;
};

/*
 * What was counted from the first to the last moment, to be held against something independent.
 *
 * Records (producer/consumer benchmarks): the core checks attempts = submitted + drops and, with
 * @has_consumed, submitted = consumed, after each run.
 *
 * Runs: with --verify, the core has the kernel count the runs of program @prog_fd (BPF_ENABLE_STATS)
 * and checks that they are @runs. Only for a program that runs for nobody but the benchmark.
 */
struct bench_conservation {
	bool has_records;
	bool has_consumed;
	uint64_t attempts;
	uint64_t submitted;
	uint64_t consumed;
	uint64_t drops;

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
	const char *desc; /* one line for -l -v: what one hit is */
	const struct report *report;

	/*
	 * Number of consumers with the options as parsed; NULL: none. Where it is none, the core
	 * accepts -c 0 and -c 1, and with @any_consumers (benchmarks that never counted them) any -c.
	 */
	int (*consumers)(void);
	bool any_consumers;

	/* Do the arguments fit together? Loads nothing. Refuse by bench_refused(). May be NULL. */
	int (*check)(const struct bench_config *cfg, struct bench_err *err);

	/*
	 * Can this kernel, and this user, run it with the options as parsed? By trying the feature,
	 * not by version. Leaves nothing behind. Says no by bench_unavailable(). May be NULL.
	 */
	int (*probe)(const struct bench_config *cfg, struct bench_err *err);

	/*
	 * Sets up one run: its state goes to run->priv. On an error, says why (run->err), and
	 * @teardown is called all the same: it must cope with a set-up that went only half way.
	 */
	int (*setup)(struct bench_run *run);
	void (*teardown)(struct bench_run *run);

	/*
	 * Shows what the user asked to see of the run that has been set up (--show-jit), on @out.
	 * The one place where a benchmark prints. 0, or -errno after bench_failed(). May be NULL.
	 */
	int (*describe)(struct bench_run *run, FILE *out);

	/*
	 * Threads: work until bench_stopping(). Any system call of theirs may return EINTR once the
	 * core wants them to stop. A consumer is stopped after all producers have ended; it then
	 * consumes what is left and returns. 0, or -errno after bench_failed(&run->err, ...).
	 */
	int (*producer)(struct bench_thread *t);
	int (*consumer)(struct bench_thread *t);

	/* Cumulative counts; called from the sampling thread while the others run. */
	void (*measure)(struct bench_run *run, struct bench_res *res);

	/* Final counts, after all threads have ended. NULL: nothing to conserve. */
	void (*conserve)(struct bench_run *run, struct bench_conservation *c);
};

/* One run. A value: nothing of it is left in static variables, so that it can be done again. */
struct bench_run {
	const struct bench *bench;
	const struct bench_config *cfg;
	void *priv; /* the benchmark's own */
	struct bench_err err; /* written through bench_failed() and its like only */
	enum attach_kind attach; /* how the trigger is attached; ATTACH_AUTO: not by attach.h */
	char attach_note[1024]; /* why `auto` did not take its first choice; "": it did */
	char trigger[64]; /* set by @setup: what makes the program run; "": attach tells */
	char trigger_note[1024]; /* why it is not the first choice; "": it is */
	struct bpf_link **links; /* owned; destroyed by the core after @teardown */
	size_t nr_links;
	const struct bench_watch *watch; /* the core's */
	bool stop[BENCH_NR_ROLES]; /* relaxed atomic */
};

/* Options shared by the benchmarks of one file, and those benchmarks. */
struct bench_family {
	const char *title; /* heading of its options in --help */
	const struct opt *opts;
	size_t nr_opts;
	const struct bench *const *benchs;
	size_t nr_benchs;
	struct bench_family *next; /* the core's */
};

void bench_register_family(struct bench_family *family);

/* Makes the core know @var, a struct bench_family of static storage, before main() starts. */
#define BENCH_FAMILY(var)                                                   \
	static void __attribute__((constructor)) bench_register_##var(void) \
	{                                                                   \
		bench_register_family(&(var));                              \
	}                                                                   \
	static void bench_register_##var(void)

/* Shall this thread come to its end? Cheap enough for the innermost loop. */
static inline bool bench_stopping(const struct bench_thread *t)
{
	return __atomic_load_n(&t->run->stop[t->role], __ATOMIC_RELAXED);
}

/* A count with one writer, alone on its cache lines; read by the sampling thread. */
struct bench_counter {
	uint64_t value;
} __attribute__((aligned(BENCH_CACHELINE)));

/* @nr zeroed counters, or NULL (no memory); to be freed by free(). */
struct bench_counter *bench_counters_alloc(size_t nr);
uint64_t bench_counters_sum(const struct bench_counter *counters, size_t nr);

/* By the owner only: no read-modify-write cycle on the bus, a plain load, add and store. */
static inline void bench_counter_add(struct bench_counter *c, uint64_t n)
{
	__atomic_store_n(&c->value, c->value + n, __ATOMIC_RELAXED);
}

static inline uint64_t bench_counter_read(const struct bench_counter *c)
{
	return __atomic_load_n(&c->value, __ATOMIC_RELAXED);
}

/*
 * Services around BPF. All of them say why they fail in @err (or run->err) and tell what this
 * user and this kernel lack apart from a plain failure, see bench_bpf_error().
 */

/*
 * Writes the line for a failed step of BPF work: "@what: errno in words: what is missing: what to
 * do". Where it is the user's rights or the kernel that do not allow it, it is `unavailable`; the
 * rest is `failed`. Returns -@err. bench_bpf_error() is for what bpf(2) was asked for.
 */
int bench_step_error(struct bench_err *e, enum why_step step, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define bench_bpf_error(e, err, ...) bench_step_error(e, WHY_BPF, err, __VA_ARGS__)

/*
 * Are there the few descriptors that any BPF work takes? Where they run out in the midst of it, libbpf
 * takes that for features that the kernel lacks. Says no by bench_failed().
 */
int bench_check_descriptors(struct bench_err *err);

/* Makes @from the error, unless an earlier one is there. Returns -@err. */
int bench_take_error(struct bench_err *e, const struct bench_err *from, int err);

/*
 * Loads an opened skeleton. Returns 0 or libbpf's -errno. Where it is not known what the kernel or
 * the user lacks for it, the last words of libbpf and the verifier come with the error.
 */
int bench_load(struct bench_run *run, struct bpf_object_skeleton *skel);

/* Keeps a link until the end of the run; @link may be NULL with errno set (libbpf's failure). */
int bench_keep_link(struct bench_run *run, struct bpf_link *link, const char *what);

/*
 * For a program that hangs on a system call and was defined by SYSCALL_PROGS(@syscall, ...) of
 * progs/attach.bpf.h. bench_syscall_prepare() comes between open and load: it finds out which
 * kind of attachment this kernel takes and lets only that entry be loaded; bench_syscall_attach()
 * after the load. bench_syscall_probe() only answers whether any kind (that the user allows) works.
 */
int bench_syscall_probe(const struct bench_config *cfg, const char *syscall, struct bench_err *err);
int bench_syscall_prepare(struct bench_run *run, struct bpf_object *obj, const char *syscall);
int bench_syscall_attach(struct bench_run *run, struct bpf_object *obj, const char *syscall);

/*
 * Can this kernel create such a map? @what names it for the user ("BPF ring buffer"), and @since the
 * version that brought it ("Linux 5.8"). Sizes as for bpf_map_create(). Says no by
 * bench_unavailable().
 */
int bench_probe_map(struct bench_err *err, const char *what, const char *since, int type,
		    int key_size, int value_size, int max_entries, unsigned int flags);

/*
 * Bytes of memory that are available, as meminfo_available() says; where they are fewer than @need,
 * waits a while for what maps of a former run still hold.
 */
uint64_t bench_memory_available(uint64_t need, enum meminfo_limit *limit);

/*
 * For check(): are the @need bytes there that @what ("the ring buffers") take with @value for the
 * option @opt? Says no by bench_refused(), with both amounts.
 */
int bench_check_memory(struct bench_err *err, const char *opt, long long value, const char *what,
		       uint64_t need);

/* Writes that refusal: @need bytes are more than the @have that @limit leaves. Returns -EINVAL. */
int bench_refuse_memory(struct bench_err *err, const char *opt, long long value, const char *what,
			uint64_t need, uint64_t have, enum meminfo_limit limit);

/*
 * Tells a user who waits how far a long set-up is: @what ("filling the hash map"), and the part
 * that is done, 0 to 1. Cheap; shown on a terminal only, and only once a second has passed.
 */
void bench_progress(struct bench_run *run, const char *what, double fraction);

/*
 * Runs a loaded raw_tp program once, on the CPU of the calling thread (BPF_PROG_TEST_RUN, Linux
 * 5.10). What the program returned goes to @retval (may be NULL). Returns 0 or -errno.
 */
int bench_prog_run(int prog_fd, uint32_t *retval);

/* Does this kernel do so? Says no by bench_unavailable(). */
int bench_probe_prog_run(struct bench_err *err);

/* Does the kernel interpret programs? Then those with callbacks or calls of its functions do not load. */
bool bench_jit_is_off(void);

/* Our thread group id as BPF programs see it: in a pid namespace not the same as getpid(). */
pid_t bench_tgid(void);

/* Sum of @field over all CPUs; @slots are those in a skeleton's .bss. */
uint64_t bench_slots_sum(const struct cpu_slot *slots, enum cpu_slot_field field);

#endif /* BENCH_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * local-storage-tasks-trace: how long grace periods of RCU Tasks Trace last, and what CPU time its
 * thread takes for them, while many processes create and delete task storage.
 *
 * The kernel frees deleted storage after such a grace period, and for each it looks at all tasks
 * there are. So most of the processes sleep.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "progs/own_runs.h"
#include "local_storage_tasks_trace.skel.h"

#define MAX_PROCS 150000

/* Of a process that sleeps: page tables, kernel stack, pages that it no longer shares. */
#define PROC_BYTES (160 * 1024)

#define KTHREAD "rcu_tasks_trace" /* the first 15 letters are all that there is before Linux 5.17 */

struct trace_params {
	long long nr_procs;
	long long kthread_pid;
};

static const struct opt trace_opts[] = {
	{ .name = "nr_procs",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct trace_params, nr_procs),
	  .def = 1000,
	  .min = 1,
	  .max = MAX_PROCS,
	  .help = "Processes that sleep up to 3 s, create and delete a storage, and sleep again" },
	{ .name = "kthread_pid",
	  .arg = "PID",
	  .type = OPT_NUM,
	  .at = offsetof(struct trace_params, kthread_pid),
	  .def = 0,
	  .def_text = "found by its name",
	  .min = 1,
	  .max = INT32_MAX,
	  .help = "The thread of RCU Tasks Trace, whose CPU time is measured" },
};

enum { STARTS, ENDS, STORAGE, NR_HOOKS };

struct trace_ctx {
	struct local_storage_tasks_trace_bpf *skel;
	struct hook hooks[NR_HOOKS];
	char function[64]; /* behind getpgid(2) */
	pid_t kthread; /* 0: not found */
	pid_t *procs;
	size_t nr_procs;
};

/* ---- the thread of RCU Tasks Trace */

static bool is_kthread(pid_t pid)
{
	char path[64], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strncmp(name, KTHREAD, strlen(KTHREAD));
}

/* One of the first that the kernel starts. 0: it is not there, or in another pid namespace. */
static pid_t find_kthread(void)
{
	pid_t pid;

	for (pid = 2; pid < 1000; pid++)
		if (is_kthread(pid))
			return pid;
	return 0;
}

/* CPU time of a thread, ns: exact where the kernel has it, else in ticks. -errno: there is none. */
static int64_t cpu_time(pid_t pid)
{
	unsigned long long ns, ticks;
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "re");
	if (f) {
		n = fscanf(f, "%llu", &ns);
		fclose(f);
	}
	if (n == 1)
		return ns;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	/* Field 15; what is in the parentheses of field 2 has no space here. */
	n = fscanf(f, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &ticks);
	fclose(f);
	return n == 1 ? (int64_t)(ticks * (1000000000ULL / sysconf(_SC_CLK_TCK))) : -EIO;
}

/* ---- the processes */

static void __attribute__((noreturn)) sleep_and_call(uint64_t random)
{
	struct timespec t;

	for (;;) {
		/* Another generator for each: alike, they would all wake at the same moments. */
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		t.tv_sec = (random >> 32) * 3 >> 32;
		t.tv_nsec = ((random >> 2) & 0x3fffffff) % 1000000000;
		nanosleep(&t, NULL);
		attach_trigger();
	}
}

static int start_procs(struct bench_run *run)
{
	const struct trace_params *params = run->params;
	struct trace_ctx *ctx = run->priv;
	pid_t parent = getpid(), pid;

	ctx->procs = calloc(params->nr_procs, sizeof(*ctx->procs));
	if (!ctx->procs)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	while (ctx->nr_procs < (size_t)params->nr_procs) {
		pid = fork();
		if (pid < 0)
			return bench_step_error(&run->err, WHY_THREAD, errno,
						"cannot start process %zu of %lld",
						ctx->nr_procs + 1, params->nr_procs);
		if (!pid) {
			/* Gone with us, whatever we die of. */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				kill(getpid(), SIGKILL);
#ifdef __NR_close_range
			syscall(__NR_close_range, 0, ~0U, 0);
#endif
			sleep_and_call(ctx->nr_procs * 0x9e3779b97f4a7c15ULL);
		}
		ctx->procs[ctx->nr_procs++] = pid;
		bench_progress(run, "starting the processes",
			       (double)ctx->nr_procs / params->nr_procs);
	}
	return 0;
}

static void end_procs(struct trace_ctx *ctx)
{
	size_t i;

	for (i = 0; i < ctx->nr_procs; i++)
		kill(ctx->procs[i], SIGKILL);
	for (i = 0; i < ctx->nr_procs; i++)
		while (waitpid(ctx->procs[i], NULL, 0) < 0 && errno == EINTR)
			;
	free(ctx->procs);
}

/* ---- set-up */

static int trace_check(struct bench_run *run)
{
	const struct trace_params *params = run->params;

	return bench_check_memory(&run->err, "nr_procs", params->nr_procs, "that many processes",
				  (uint64_t)params->nr_procs * PROC_BYTES);
}

static int find_targets(struct bench_run *run, struct trace_ctx *ctx)
{
	static const char *const functions[] = {
		[STARTS] = "rcu_tasks_trace_pregp_step",
		[ENDS] = "rcu_tasks_trace_postgp",
	};
	int i;

	if (!hook_has_btf())
		return bench_unavailable(&run->err, "%s", why_no_btf());
	for (i = 0; i < (int)ARRAY_SIZE(functions); i++) {
		if (!hook_function_exists(functions[i]))
			return bench_unavailable(&run->err,
						 "this kernel has no function %s(), which is what "
						 "is measured: requires Linux 5.11 to 6.19 with "
						 "CONFIG_TASKS_TRACE_RCU",
						 functions[i]);
		ctx->hooks[i].target = functions[i];
	}
	if (attach_syscall_function(ATTACH_SYSCALL, ctx->function, sizeof(ctx->function)))
		return bench_unavailable(&run->err, "the BTF of this kernel does not name the "
						    "function behind getpgid(2)");
	ctx->hooks[STORAGE].target = ctx->function;
	return 0;
}

static int attach(struct bench_run *run, struct trace_ctx *ctx)
{
	int i, err;

	ctx->skel = local_storage_tasks_trace_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->own_runs.tgid = bench_tgid();
	ctx->hooks[STARTS].prog = ctx->skel->progs.grace_period_starts;
	ctx->hooks[ENDS].prog = ctx->skel->progs.grace_period_ends;
	ctx->hooks[STORAGE].prog = ctx->skel->progs.create_and_delete;
	for (i = 0; i < NR_HOOKS; i++)
		ctx->hooks[i].kind = HOOK_FENTRY;
	for (i = 1; i < NR_HOOKS; i++)
		hook_prepare(&ctx->hooks[i]);
	/* Prepares the one left out; why that fails holds for all of them. */
	err = bench_hook_load(run, &ctx->hooks[0], ctx->skel->skeleton);
	for (i = 0; i < NR_HOOKS && !err; i++)
		err = bench_hook_attach(run, &ctx->hooks[i]);
	return err;
}

/* All but the processes. */
static int prepare(struct bench_run *run)
{
	const struct trace_params *params = run->params;
	struct trace_ctx *ctx;
	int err;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	err = bench_probe_storage(&run->err, "local storage of tasks", "Linux 5.13",
				  BPF_MAP_TYPE_TASK_STORAGE);
	if (!err)
		err = find_targets(run, ctx);
	if (!err)
		err = attach(run, ctx);
	if (err)
		return err;
	ctx->kthread = params->kthread_pid ? params->kthread_pid : find_kthread();
	if (ctx->kthread && cpu_time(ctx->kthread) < 0)
		return bench_failed(&run->err, cpu_time(ctx->kthread),
				    "cannot read the CPU time of thread %d (--kthread_pid)",
				    ctx->kthread);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "fentry");
	return 0;
}

static void trace_teardown(struct bench_run *run)
{
	struct trace_ctx *ctx = run->priv;
	int i;

	if (!ctx)
		return;
	end_procs(ctx);
	for (i = 0; i < NR_HOOKS; i++)
		hook_detach(&ctx->hooks[i]);
	local_storage_tasks_trace_bpf__destroy(ctx->skel);
	free(ctx);
}

static int trace_probe(struct bench_run *run)
{
	int err = prepare(run);

	trace_teardown(run);
	return err;
}

static int trace_setup(struct bench_run *run)
{
	int err = prepare(run);

	return err ? err : start_procs(run);
}

static int trace_producer(struct bench_thread *t)
{
	while (!bench_stopping(t))
		attach_trigger();
	return 0;
}

/* ---- figures */

enum { LATENCY, TICKS, GRACE_PERIODS, GRACE_NS, CPU_NS, STORAGES };

static const struct figure trace_figures[] = {
	[LATENCY] = {
		.name = "latency",
		.unit = "us",
		.kind = FIGURE_RATIO,
		.of = GRACE_NS,
		.per = GRACE_PERIODS,
		.scale = 1e3,
		.better = BETTER_LOWER,
		.help = "duration of a grace period of RCU Tasks Trace",
	},
	[TICKS] = {
		.name = "ticks",
		.unit = "ticks",
		.kind = FIGURE_RATIO,
		.of = CPU_NS,
		.per = GRACE_PERIODS,
		.scale = 1e7,
		.better = BETTER_LOWER,
		.help = "CPU time of its thread per grace period, in units of 10 ms; 0: not known",
	},
	[GRACE_PERIODS] = {
		.name = "grace_periods",
		.unit = "/s",
		.better = BETTER_NONE,
		.help = "grace periods that ended",
	},
	[GRACE_NS] = {
		.name = "grace_ns",
		.unit = "ns/s",
		.better = BETTER_NONE,
		.help = "duration of these together",
	},
	[CPU_NS] = {
		.name = "cpu_ns",
		.unit = "ns/s",
		.better = BETTER_LOWER,
		.help = "CPU time of the thread",
	},
	[STORAGES] = {
		.name = "storages",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_HIGHER,
		.help = "storages created and deleted, in thousands per second",
	},
};

static void trace_progress_lines(FILE *out, const struct report *report, int iter,
				 const double *values, const struct sample *s)
{
	if (!s->raw.v[GRACE_PERIODS]) {
		fprintf(out, "Iter %d\t no tasks_trace grace period ended\n", iter);
		return;
	}
	fprintf(out, "Iter %d\t avg tasks_trace grace period latency\t%lf ns\n", iter,
		values[LATENCY] * 1e3);
	if (s->raw.v[CPU_NS])
		fprintf(out, "Iter %d\t avg ticks per tasks_trace grace period\t%lf\n", iter,
			values[TICKS]);
}

static void trace_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			  const struct sample *total, int producers)
{
	fprintf(out, "SUMMARY tasks_trace grace period latency\tavg %.3lf us\tstddev %.3lf us\n",
		stats[LATENCY].mean, stats[LATENCY].stddev);
	if (total->raw.v[CPU_NS])
		fprintf(out,
			"SUMMARY ticks per tasks_trace grace period\tavg %.3lf\tstddev %.3lf\n",
			stats[TICKS].mean, stats[TICKS].stddev);
}

static const struct report report_grace_periods = {
	.name = "grace_periods",
	.figures = trace_figures,
	.nr_figures = ARRAY_SIZE(trace_figures),
	.progress_lines = trace_progress_lines,
	.summary = trace_summary,
};

static void trace_measure(struct bench_run *run, struct values *v)
{
	struct trace_ctx *ctx = run->priv;
	int64_t cpu = ctx->kthread ? cpu_time(ctx->kthread) : 0;

	v->v[GRACE_NS] = __atomic_load_n(&ctx->skel->bss->total_ns, __ATOMIC_RELAXED);
	v->v[GRACE_PERIODS] = __atomic_load_n(&ctx->skel->bss->nr_ended, __ATOMIC_RELAXED);
	v->v[CPU_NS] = cpu < 0 ? 0 : cpu;
	v->v[STORAGES] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
}

static void trace_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct trace_ctx *ctx = run->priv;
	int i;

	for (i = 0; i < NR_HOOKS; i++)
		hook_detach(&ctx->hooks[i]);
	if (run->cfg->verify)
		hook_quiesce();
	bench_count(c, "started", ctx->skel->bss->nr_started);
	bench_count(c, "ended", ctx->skel->bss->nr_ended);
	bench_count(c, "under_way", !!ctx->skel->bss->start_ns);
	bench_count(c, "storages", bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS));
	bench_count(c, "failures", bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_DROPS));
	bench_identity(c, "started = ended + under_way");
	c->prog_fd = bpf_program__fd(ctx->hooks[ENDS].prog);
	c->runs = ctx->skel->bss->nr_ended + ctx->skel->bss->nr_others;
}

static const struct bench tasks_trace = {
	.name = "local-storage-tasks-trace",
	.kernel_workers = true,
	.desc = "grace periods of RCU Tasks Trace while --nr_procs processes create and delete storage",
	.needs = "Linux 5.13 to 6.19",
	.report = &report_grace_periods,
	.check = trace_check,
	.probe = trace_probe,
	.setup = trace_setup,
	.teardown = trace_teardown,
	.producer = trace_producer,
	.measure = trace_measure,
	.conserve = trace_conserve,
};

static const struct bench *const trace_benchs[] = { &tasks_trace };

static struct bench_family trace_family = {
	.title = "Local storage: RCU Tasks Trace",
	.about = "what it costs to wait until deleted storage can be freed",
	.opts = trace_opts,
	.nr_opts = ARRAY_SIZE(trace_opts),
	.params_size = sizeof(struct trace_params),
	.benchs = trace_benchs,
	.nr_benchs = ARRAY_SIZE(trace_benchs),
};

BENCH_FAMILY(trace_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * trig-*: how fast a BPF program can be made to run, by each way to attach one.
 *
 * A hit is one run of the attached program, counted by that program. What makes it run, the
 * driver, costs time as well, and the less of it the better: where the kernel can, it is a loop in
 * another BPF program (one system call a batch), else one system call a run. What the drivers can
 * do at most, trig-kernel-count, trig-syscall-count and trig-usermode-count tell.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/user_probes.h"
#include "lib/bpf/traceable.h"
#include "lib/bpf/uprobe_target.h"
#include "progs/own_runs.h"
#include "trigger.skel.h"
#include "trigger_kfunc.skel.h"

#define KFUNC "bpf_modify_return_test_tp"

enum trig_driver {
	DRIVER_AUTO,
	DRIVER_BATCH,
	DRIVER_SYSCALL,
	DRIVER_CALL, /* of a function of ours, for uprobes; not to be chosen */
};

static const char *const driver_names[] = { "auto", "batch", "syscall", NULL };

struct trig_params {
	long long batch_iters;
	int driver; /* enum trig_driver */
	bool stacktrace;
};

static const struct opt trig_opts[] = {
	{ .name = "trig-batch-iters",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct trig_params, batch_iters),
	  .def = 100,
	  .min = 1,
	  .max = 1000,
	  .sizes_program = true,
	  .help = "Runs of the program that one call of the in-kernel driver makes" },
	{ .name = "trig-driver",
	  .arg = "KIND",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct trig_params, driver),
	  .def = DRIVER_AUTO,
	  .choices = driver_names,
	  .help = "What makes a program in the kernel run: a loop in the kernel, or one getpgid(2) "
		  "for each run; auto: the first of them that works" },
	{ .name = "stacktrace",
	  .key = 's',
	  .type = OPT_FLAG,
	  .at = offsetof(struct trig_params, stacktrace),
	  .help = "Each run of a program in the kernel takes a stack trace as well; drops are those "
		  "that failed" },
};

/* What the benchmarks with an attached program differ in. */
struct trig_kind {
	enum hook_kind hook;
	enum uprobe_target target; /* uprobes */
	bool all; /* multi-kprobes: with an empty program on all other functions */
};

/* One way to make that program run. */
struct trig_driving {
	enum trig_driver driver;
	const char *name;
	bool anybody; /* uprobes: not limited to our process */
};

struct trig_ctx {
	struct trigger_bpf *skel;
	struct trigger_kfunc_bpf *kfunc_skel; /* NULL: that is not what triggers */
	struct hook hook;
	struct hook all_hook; /* of the empty program on all functions */
	struct traceable all;
	const struct trig_driving *way;
	enum uprobe_target target;
	char function[64]; /* behind getpgid(2) */
	pid_t getpgid_arg;
	int batch_fd;
	struct bench_counter *counters; /* of each producer: turns, or batches; count benchmarks */
};

static struct trig_ctx *new_ctx(struct bench_run *run)
{
	struct trig_ctx *ctx = bench_priv_alloc(run, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->counters = bench_counters_alloc(run->cfg->producers);
	if (ctx->counters)
		return ctx;
	bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	return NULL;
}

/* What one way has set up; ctx itself stays. */
static void undo_way(struct trig_ctx *ctx)
{
	hook_detach(&ctx->all_hook);
	traceable_free(&ctx->all);
	hook_detach(&ctx->hook);
	trigger_kfunc_bpf__destroy(ctx->kfunc_skel);
	ctx->kfunc_skel = NULL;
	trigger_bpf__destroy(ctx->skel);
	ctx->skel = NULL;
}

static void trig_teardown(struct bench_run *run)
{
	struct trig_ctx *ctx = run->priv;

	if (!ctx)
		return;
	undo_way(ctx);
	free(ctx->counters);
	free(ctx);
}

/* ---- what a program is attached to, and which one that is */

static bool needs_kfunc(enum hook_kind kind)
{
	return kind == HOOK_TP || kind == HOOK_RAWTP || kind == HOOK_FMODRET;
}

static const char *batch_target(enum hook_kind kind)
{
	switch (kind) {
	case HOOK_TP:
		return "bpf_test_run/bpf_trigger_tp";
	case HOOK_RAWTP:
		return "bpf_trigger_tp";
	case HOOK_FMODRET:
		return KFUNC;
	default:
		return "bpf_get_numa_node_id";
	}
}

static const char *syscall_target(enum hook_kind kind, const char *function)
{
	switch (kind) {
	case HOOK_TP:
		return "syscalls/sys_enter_getpgid";
	case HOOK_RAWTP:
		return "sys_enter";
	case HOOK_FMODRET:
		return "security_task_getpgid";
	default:
		return function;
	}
}

static struct bpf_program *counting_program(const struct trigger_bpf *skel, enum hook_kind kind,
					    enum trig_driver driver)
{
	switch (kind) {
	case HOOK_TP:
		return skel->progs.trig_tp;
	case HOOK_RAWTP:
		return driver == DRIVER_SYSCALL ? skel->progs.trig_rawtp_syscall :
						  skel->progs.trig_rawtp;
	case HOOK_FENTRY:
		return skel->progs.trig_fentry;
	case HOOK_FENTRY_SLEEP:
		return skel->progs.trig_fentry_sleep;
	case HOOK_FEXIT:
		return skel->progs.trig_fexit;
	case HOOK_FMODRET:
		return skel->progs.trig_fmodret;
	default:
		return skel->progs.trig_probe;
	}
}

static bool takes_stacks(const struct bench_run *run, enum hook_kind kind)
{
	const struct trig_params *params = run->params;

	return params->stacktrace && !hook_is_uprobe(kind);
}

static struct bpf_program *program_of(const struct bench_run *run, const struct trig_ctx *ctx,
				      enum hook_kind kind)
{
	struct bpf_program *prog = counting_program(ctx->skel, kind, ctx->way->driver);
	char name[64];

	if (!takes_stacks(run, kind))
		return prog;
	snprintf(name, sizeof(name), "%s_stack", bpf_program__name(prog));
	return bpf_object__find_program_by_name(ctx->skel->obj, name);
}

/* ---- setting up one way; says in run->err why it does not work */

static int prepare_batch(struct bench_run *run, struct trig_ctx *ctx, enum hook_kind kind)
{
	const struct trig_params *params = run->params;

	if (needs_kfunc(kind)) {
		if (!hook_has_btf())
			return bench_unavailable(&run->err, "%s", why_no_btf());
		if (!hook_function_exists(KFUNC))
			return bench_unavailable(&run->err, "this kernel has no kfunc " KFUNC "(): "
							    "requires Linux 6.10 or newer");
	} else {
		bpf_program__set_autoload(ctx->skel->progs.batch_helper, true);
	}
	ctx->hook.target = batch_target(kind);
	ctx->skel->rodata->own_runs.filter = OWN_RUNS_BATCH;
	ctx->skel->rodata->batch_iters = params->batch_iters;
	ctx->skel->rodata->fmodret_value = -EINVAL;
	return 0;
}

/* Loads what runs the batches, and tells which program that is. */
static int load_driver(struct bench_run *run, struct trig_ctx *ctx, enum hook_kind kind)
{
	const struct trig_params *params = run->params;
	int err;

	if (!needs_kfunc(kind)) {
		ctx->batch_fd = bpf_program__fd(ctx->skel->progs.batch_helper);
		return 0;
	}
	ctx->kfunc_skel = trigger_kfunc_bpf__open();
	if (!ctx->kfunc_skel)
		return bench_open_error(run);
	ctx->kfunc_skel->rodata->batch_iters = params->batch_iters;
	/*
	 * Both have the same slots, in one map: that a batch is on is for the other program to see.
	 */
	err = bpf_map__reuse_fd(ctx->kfunc_skel->maps.bss, bpf_map__fd(ctx->skel->maps.bss));
	if (err)
		return bench_bpf_error(&run->err, err, "cannot share a map of %s",
				       run->bench->name);
	err = bench_load(run, ctx->kfunc_skel->skeleton);
	ctx->batch_fd = bpf_program__fd(ctx->kfunc_skel->progs.batch_kfunc);
	return err;
}

static int prepare_syscall(struct bench_run *run, struct trig_ctx *ctx, enum hook_kind kind)
{
	if (!needs_kfunc(kind) &&
	    attach_syscall_function("getpgid", ctx->function, sizeof(ctx->function)))
		return bench_unavailable(&run->err, "%s",
					 hook_has_btf() ? "the BTF of this kernel does not name "
							  "the function behind getpgid(2)" :
							  why_no_btf());
	ctx->hook.target = syscall_target(kind, ctx->function);
	/* Asked for 0, the system call does not ask the security modules. */
	ctx->getpgid_arg = kind == HOOK_FMODRET ? getpid() : 0;
	ctx->skel->rodata->own_runs.filter = OWN_RUNS_TGID;
	ctx->skel->rodata->own_runs.tgid = bench_tgid();
	ctx->skel->rodata->syscall_nr = __NR_getpgid;
	/* Here other processes' calls are at stake: 0 lets them go on. */
	ctx->skel->rodata->fmodret_value = 0;
	return 0;
}

static int prepare_call(struct bench_run *run, struct trig_ctx *ctx, const struct trig_driving *way)
{
	int err = user_probe_find(run, ctx->target, &ctx->hook);

	if (err)
		return err;
	ctx->hook.anybody = way->anybody;
	ctx->skel->rodata->own_runs.filter = OWN_RUNS_ALL;
	if (way->anybody) {
		ctx->skel->rodata->own_runs.filter = OWN_RUNS_TGID;
		ctx->skel->rodata->own_runs.tgid = bench_tgid();
	}
	return 0;
}

static void *call_target(void *arg)
{
	struct trig_ctx *ctx = arg;

	uprobe_target_call(ctx->target);
	return NULL;
}

/*
 * Makes the program run and looks whether it did. Uprobes in another thread, as the producers do:
 * up to Linux 6.9 a multi-uprobe that is limited to a process does not see its other threads.
 */
static int try_once(struct bench_run *run, struct trig_ctx *ctx)
{
	pthread_t thread;
	int err;

	switch (ctx->way->driver) {
	case DRIVER_BATCH:
		err = bench_prog_run(ctx->batch_fd, NULL);
		if (err) {
			bench_probe_prog_run(&run->err);
			return bench_bpf_error(&run->err, err, "cannot run a batch");
		}
		break;
	case DRIVER_SYSCALL:
		syscall(__NR_getpgid, ctx->getpgid_arg);
		break;
	default:
		err = pthread_create(&thread, NULL, call_target, ctx);
		if (err)
			return bench_step_error(&run->err, WHY_THREAD, err,
						"cannot start a thread");
		pthread_join(thread, NULL);
	}
	if (bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS))
		return 0;
	switch (ctx->way->driver) {
	case DRIVER_BATCH:
		return bench_unavailable(&run->err, "a batch does not make the program on %s run%s",
					 ctx->hook.target, hook_why_not_run(ctx->hook.kind));
	case DRIVER_SYSCALL:
		return bench_unavailable(&run->err,
					 "getpgid(2) does not make the program on %s run%s",
					 ctx->hook.target, hook_why_not_run(ctx->hook.kind));
	default:
		return bench_unavailable(&run->err,
					 "this kernel does not run it in the threads of the "
					 "process that it is limited to: requires Linux 6.10 or "
					 "newer");
	}
}

static int read_all(struct bench_run *run, struct trig_ctx *ctx)
{
	char words[512];
	int err;

	err = traceable_read(&ctx->all, ctx->hook.target);
	if (!err)
		return 0;
	why_words(WHY_TRACEFS, err, words, sizeof(words));
	return bench_unavailable(
		&run->err, "the list of functions that can be traced cannot be read: %s", words);
}

/* The empty program, on all functions but the one that the counting program is on. */
static int attach_all(struct bench_run *run, struct trig_ctx *ctx)
{
	int err;

	err = read_all(run, ctx);
	if (err)
		return err;
	ctx->all_hook.targets = (const char *const *)ctx->all.names;
	ctx->all_hook.nr_targets = ctx->all.nr;
	return bench_hook_attach(run, &ctx->all_hook);
}

static int set_up_way(struct bench_run *run, struct trig_ctx *ctx, const struct trig_kind *kind,
		      const struct trig_driving *way)
{
	int err;

	ctx->way = way;
	ctx->skel = trigger_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->hook = (struct hook){
		.kind = kind->hook,
		.prog = program_of(run, ctx, kind->hook),
	};
	ctx->all_hook = (struct hook){
		.kind = kind->hook,
		.prog = ctx->skel->progs.trig_empty,
	};
	err = bpf_map__set_autocreate(ctx->skel->maps.stacks, takes_stacks(run, kind->hook));
	if (err)
		return bench_failed(&run->err, err, "cannot set up %s", run->bench->name);
	if (way->driver == DRIVER_BATCH)
		err = prepare_batch(run, ctx, kind->hook);
	else if (way->driver == DRIVER_SYSCALL)
		err = prepare_syscall(run, ctx, kind->hook);
	else
		err = prepare_call(run, ctx, way);
	if (!err && kind->all)
		err = hook_prepare(&ctx->all_hook);
	if (!err)
		err = bench_hook_load(run, &ctx->hook, ctx->skel->skeleton);
	if (!err && way->driver == DRIVER_BATCH)
		err = load_driver(run, ctx, kind->hook);
	if (!err)
		err = bench_hook_attach(run, &ctx->hook);
	if (!err && kind->all)
		err = attach_all(run, ctx);
	return err ? err : try_once(run, ctx);
}

/* The ways of a kind, best first; ended by one without a name. */
static const struct trig_driving *ways_of(enum hook_kind kind)
{
	static const struct trig_driving in_kernel[] = {
		{ .driver = DRIVER_BATCH, .name = "batch" },
		{ .driver = DRIVER_SYSCALL, .name = "syscall" },
		{},
	};
	static const struct trig_driving in_user_space[] = {
		{ .driver = DRIVER_CALL, .name = "call" },
		{ .driver = DRIVER_CALL,
		  .name = "call, attached for all processes",
		  .anybody = true },
		{},
	};

	if (hook_is_uprobe(kind))
		return in_user_space;
	/* A batch runs with preemption off: not the place for a program that may sleep. */
	return kind == HOOK_FENTRY_SLEEP ? &in_kernel[1] : in_kernel;
}

/* Adds to @all, why the first way does not work, why the second one does not either. */
static void add_reason(struct bench_err *all, const struct trig_driving *first,
		       const struct trig_driving *second, const struct bench_err *err)
{
	struct bench_err tmp = *all;

	if (!strcmp(all->text, err->text))
		return;
	snprintf(all->text, sizeof(all->text), "%s: %.990s; %s: %.990s", first->name, tmp.text,
		 second->name, err->text);
	if (err->code == BENCH_EXIT_FAILED) {
		all->code = err->code;
		memcpy(all->detail, err->detail, sizeof(all->detail));
	}
}

static void trigger_fell_back(struct bench_trigger *trigger, const struct trig_driving *first,
			      const struct bench_err *why)
{
	snprintf(trigger->fallback, sizeof(trigger->fallback), "%s: %.170s", first->name,
		 why->text);
	snprintf(trigger->reasons, sizeof(trigger->reasons), "%s: %.990s", first->name, why->text);
}

/* ---- what is to be said of it */

static void note_no_stacks(struct bench_run *run)
{
	const struct trig_params *params = run->params;

	if (params->stacktrace)
		bench_note(run, "--stacktrace has no effect on %s", run->bench->name);
}

static int add_notes(struct bench_run *run, const struct trig_ctx *ctx,
		     const struct trig_kind *kind)
{
	if (kind->all)
		bench_note(run, "an empty program is attached to %zu functions", ctx->all.nr);
	if (!hook_is_uprobe(kind->hook))
		return 0;
	note_no_stacks(run);
	return user_probe_note(run, ctx->target, &ctx->hook);
}

static int set_up_kind(struct bench_run *run, const struct trig_kind *kind)
{
	const struct trig_params *params = run->params;
	const struct trig_driving *way, *first = NULL;
	struct bench_err why = {};
	struct trig_ctx *ctx;

	ctx = new_ctx(run);
	if (!ctx)
		return -ENOMEM;
	ctx->target = kind->target;
	run->trigger.verb = "driven by";
	for (way = ways_of(kind->hook); way->name; way++) {
		if (!hook_is_uprobe(kind->hook) && params->driver != DRIVER_AUTO &&
		    params->driver != (int)way->driver)
			continue;
		if (!set_up_way(run, ctx, kind, way)) {
			snprintf(run->trigger.name, sizeof(run->trigger.name), "%s", way->name);
			if (first)
				trigger_fell_back(&run->trigger, first, &why);
			return add_notes(run, ctx, kind);
		}
		undo_way(ctx);
		if (first) {
			add_reason(&why, first, way, &run->err);
		} else {
			first = way;
			why = run->err;
		}
		run->err = (struct bench_err){}; /* the next way may work */
	}
	if (!first) /* refused by fentry_sleep_check(), but -l lists without that */
		return bench_unavailable(&run->err, "it cannot be driven in batches: requires "
						    "--trig-driver syscall");
	run->err = why;
	return run->err.code == BENCH_EXIT_FAILED ? -EIO : -EOPNOTSUPP;
}

static int trig_setup(struct bench_run *run)
{
	return set_up_kind(run, run->bench->data);
}

/* Without the empty program: to attach it takes seconds, to detach it as long. */
static int all_probe(struct bench_run *run)
{
	struct trig_kind kind = *(const struct trig_kind *)run->bench->data;
	struct trig_ctx *ctx;
	int err;

	kind.all = false;
	err = set_up_kind(run, &kind);
	ctx = run->priv;
	if (!err)
		err = read_all(run, ctx);
	trig_teardown(run);
	return err;
}

/* ---- the run */

static int batch_producer(struct bench_thread *t)
{
	struct trig_ctx *ctx = t->run->priv;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(ctx->batch_fd, NULL);
		if (err && err != -EINTR)
			return bench_bpf_error(&t->run->err, err, "cannot run a batch");
	}
	return 0;
}

static int trig_producer(struct bench_thread *t)
{
	struct trig_ctx *ctx = t->run->priv;

	switch (ctx->way->driver) {
	case DRIVER_BATCH:
		return batch_producer(t);
	case DRIVER_SYSCALL:
		while (!bench_stopping(t))
			syscall(__NR_getpgid, ctx->getpgid_arg);
		return 0;
	default:
		while (!bench_stopping(t))
			uprobe_target_call(ctx->target);
		return 0;
	}
}

static void trig_measure(struct bench_run *run, struct values *v)
{
	struct trig_ctx *ctx = run->priv;

	v->v[HITS] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
	v->v[DROPS] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_DROPS);
}

/* ---- hits while all functions are traced: with how many there are */

enum { FUNCTIONS = NR_HITS_DROPS };

static const struct figure all_figures[] = {
	HITS_DROPS_FIGURES,
	[FUNCTIONS] = {
		.name = "functions",
		.unit = "functions",
		.kind = FIGURE_GAUGE,
		.better = BETTER_NONE,
		.help = "kernel functions that the empty program is attached to",
	},
};

static const struct report report_all = {
	.name = "hits_functions",
	.figures = all_figures,
	.nr_figures = ARRAY_SIZE(all_figures),
	.progress = lines_hits_drops_progress,
	.summary = lines_hits_drops_summary,
};

static void all_measure(struct bench_run *run, struct values *v)
{
	struct trig_ctx *ctx = run->priv;

	trig_measure(run, v);
	v->v[FUNCTIONS] = ctx->all.nr;
}

static void trig_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct trig_kind *kind = run->bench->data;
	struct trig_ctx *ctx = run->priv;
	const struct cpu_slot *slots = ctx->skel->bss->cpu_slots;

	hook_detach(&ctx->all_hook);
	bench_hook_conserve(run, &ctx->hook, slots, c);
	if (!takes_stacks(run, kind->hook))
		return;
	bench_count(c, "hits", bench_slots_sum(slots, SLOT_HITS));
	bench_count(c, "stacks", bench_slots_sum(slots, SLOT_SUBMITTED));
	bench_count(c, "drops", bench_slots_sum(slots, SLOT_DROPS));
	bench_identity(c, "hits = stacks + drops");
}

/* ---- the limits, without an attached program */

static int count_setup(struct bench_run *run)
{
	note_no_stacks(run);
	return new_ctx(run) ? 0 : -ENOMEM;
}

static void count_measure(struct bench_run *run, struct values *v)
{
	struct trig_ctx *ctx = run->priv;

	v->v[HITS] = bench_counters_sum(ctx->counters, run->cfg->producers);
}

static int usermode_count_producer(struct bench_thread *t)
{
	struct trig_ctx *ctx = t->run->priv;

	while (!bench_stopping(t)) {
		uprobe_target_nop();
		bench_counter_add(&ctx->counters[t->idx], 1);
	}
	return 0;
}

static int syscall_count_producer(struct bench_thread *t)
{
	struct trig_ctx *ctx = t->run->priv;

	while (!bench_stopping(t)) {
		syscall(__NR_getpgid, 0);
		bench_counter_add(&ctx->counters[t->idx], 1);
	}
	return 0;
}

static int kernel_count_setup(struct bench_run *run)
{
	const struct trig_params *params = run->params;
	struct trig_ctx *ctx = new_ctx(run);
	int err;

	if (!ctx)
		return -ENOMEM;
	ctx->skel = trigger_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	note_no_stacks(run);
	ctx->skel->rodata->batch_iters = params->batch_iters;
	bpf_program__set_autoload(ctx->skel->progs.batch_count, true);
	err = bpf_map__set_autocreate(ctx->skel->maps.stacks, false);
	if (err)
		return bench_failed(&run->err, err, "cannot set up %s", run->bench->name);
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	ctx->batch_fd = bpf_program__fd(ctx->skel->progs.batch_count);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return bench_probe_prog_run(&run->err);
}

static int kernel_count_producer(struct bench_thread *t)
{
	struct trig_ctx *ctx = t->run->priv;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(ctx->batch_fd, NULL);
		if (err && err != -EINTR)
			return bench_bpf_error(&t->run->err, err, "cannot run a batch");
		if (!err)
			bench_counter_add(&ctx->counters[t->idx], 1);
	}
	return 0;
}

static void kernel_count_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct trig_params *params = run->params;
	struct trig_ctx *ctx = run->priv;

	c->prog_fd = ctx->batch_fd;
	c->runs = bench_counters_sum(ctx->counters, run->cfg->producers);
	bench_count(c, "turns", c->runs * params->batch_iters);
	bench_count(c, "hits", bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS));
	bench_identity(c, "turns = hits");
}

static const struct bench trig_usermode_count = {
	.name = "trig-usermode-count",
	.aliases = (const char *const[]){ "trig-uprobe-base", NULL },
	.desc = "calls of an empty function; the limit of trig-uprobe-*; no BPF",
	.no_bpf = true,
	.report = &report_hits_drops,
	.setup = count_setup,
	.teardown = trig_teardown,
	.producer = usermode_count_producer,
	.measure = count_measure,
};

static const struct bench trig_syscall_count = {
	.name = "trig-syscall-count",
	.aliases = (const char *const[]){ "trig-base", NULL },
	.desc = "getpgid(2) calls; the limit of what is driven by system calls; no BPF",
	.no_bpf = true,
	.report = &report_hits_drops,
	.setup = count_setup,
	.teardown = trig_teardown,
	.producer = syscall_count_producer,
	.measure = count_measure,
};

static const struct bench trig_kernel_count = {
	.name = "trig-kernel-count",
	.desc = "turns of a counting loop in the kernel; the limit of what is driven in batches",
	.report = &report_hits_drops,
	.setup = kernel_count_setup,
	.teardown = trig_teardown,
	.producer = kernel_count_producer,
	.measure = trig_measure,
	.conserve = kernel_count_conserve,
};

/* ---- with an attached program: the table */

static int fentry_sleep_check(struct bench_run *run)
{
	const struct trig_params *params = run->params;

	if (params->driver == DRIVER_BATCH)
		return bench_refused(&run->err,
				     "--trig-driver: invalid value 'batch': trig-fentry-sleep is "
				     "driven by system calls only, a batch must not sleep");
	return 0;
}

#define TRIG_BENCH_OF(var, name_, desc_, report_, measure_, kind_, ...)           \
	static const struct bench var = { .name = name_,                          \
					  .desc = desc_,                          \
					  .report = &report_,                     \
					  .data = &(const struct trig_kind)kind_, \
					  .setup = trig_setup,                    \
					  .teardown = trig_teardown,              \
					  .producer = trig_producer,              \
					  .measure = measure_,                    \
					  .conserve = trig_conserve,              \
					  __VA_ARGS__ }

#define KIND(...)           \
	{                   \
		__VA_ARGS__ \
	}

#define TRIG_BENCH_ON(var, name_, desc_, hook_, target_, ...)             \
	TRIG_BENCH_OF(var, name_, desc_, report_hits_drops, trig_measure, \
		      KIND(.hook = hook_, .target = target_), __VA_ARGS__)

#define TRIG_BENCH_ALL(var, name_, desc_, hook_, ...)             \
	TRIG_BENCH_OF(var, name_, desc_, report_all, all_measure, \
		      KIND(.hook = hook_, .all = true), .probe = all_probe, __VA_ARGS__)

#define TRIG_BENCH(var, name_, desc_, hook_, ...) \
	TRIG_BENCH_ON(var, name_, desc_, hook_, 0, __VA_ARGS__)

TRIG_BENCH(trig_tp, "trig-tp", "runs of a program on a tracepoint", HOOK_TP);
TRIG_BENCH(trig_rawtp, "trig-rawtp", "runs of a program on a raw tracepoint", HOOK_RAWTP);
TRIG_BENCH(trig_kprobe, "trig-kprobe", "runs of a program on a kprobe", HOOK_KPROBE);
TRIG_BENCH(trig_kretprobe, "trig-kretprobe", "runs of a program on a kretprobe", HOOK_KRETPROBE);
TRIG_BENCH(trig_kprobe_multi, "trig-kprobe-multi",
	   "runs of a program on a multi-kprobe of one function", HOOK_KPROBE_MULTI);
TRIG_BENCH(trig_kretprobe_multi, "trig-kretprobe-multi",
	   "runs of a program on a multi-kretprobe of one function", HOOK_KRETPROBE_MULTI);
TRIG_BENCH_ALL(trig_kprobe_multi_all, "trig-kprobe-multi-all",
	       "the same as trig-kprobe-multi, with an empty program on all other functions",
	       HOOK_KPROBE_MULTI);
TRIG_BENCH_ALL(trig_kretprobe_multi_all, "trig-kretprobe-multi-all",
	       "the same as trig-kretprobe-multi, with an empty program on all other functions",
	       HOOK_KRETPROBE_MULTI);
TRIG_BENCH(trig_fentry, "trig-fentry", "runs of a program at the entry of a function (trampoline)",
	   HOOK_FENTRY);
TRIG_BENCH(trig_fexit, "trig-fexit", "runs of a program at the exit of a function (trampoline)",
	   HOOK_FEXIT);
TRIG_BENCH(trig_fentry_sleep, "trig-fentry-sleep",
	   "runs of a sleepable program at the entry of a system call", HOOK_FENTRY_SLEEP,
	   .check = fentry_sleep_check);
TRIG_BENCH(trig_fmodret, "trig-fmodret", "runs of a program that sets a function's return value",
	   HOOK_FMODRET);

#define UPROBE_BENCHS(insn, INSN, what, uprobe_aliases, uretprobe_aliases)                         \
	TRIG_BENCH_ON(trig_uprobe_##insn, "trig-uprobe-" #insn,                                    \
		      "runs of a program on a uprobe on " what, HOOK_UPROBE, UPROBE_TARGET_##INSN, \
		      .aliases = uprobe_aliases);                                                  \
	TRIG_BENCH_ON(trig_uretprobe_##insn, "trig-uretprobe-" #insn,                              \
		      "runs of a program on a uretprobe; the function begins with " what,          \
		      HOOK_URETPROBE, UPROBE_TARGET_##INSN, .aliases = uretprobe_aliases);         \
	TRIG_BENCH_ON(trig_uprobe_multi_##insn, "trig-uprobe-multi-" #insn,                        \
		      "the same as trig-uprobe-" #insn ", attached by a multi-uprobe link",        \
		      HOOK_UPROBE_MULTI, UPROBE_TARGET_##INSN, .needs = "Linux 6.6 or newer");     \
	TRIG_BENCH_ON(trig_uretprobe_multi_##insn, "trig-uretprobe-multi-" #insn,                  \
		      "the same as trig-uretprobe-" #insn ", attached by a multi-uprobe link",     \
		      HOOK_URETPROBE_MULTI, UPROBE_TARGET_##INSN, .needs = "Linux 6.6 or newer")

/* What the kernel selftests' bench called them before it told push from ret. */
static const char *const uprobe_nop_aliases[] = { "trig-uprobe-with-nop", NULL };
static const char *const uretprobe_nop_aliases[] = { "trig-uretprobe-with-nop", NULL };
static const char *const uprobe_push_aliases[] = { "trig-uprobe-with-push", NULL };
static const char *const uretprobe_push_aliases[] = { "trig-uretprobe-with-push", NULL };
static const char *const uprobe_ret_aliases[] = { "trig-uprobe-with-ret", "trig-uprobe-without-nop",
						  NULL };
static const char *const uretprobe_ret_aliases[] = { "trig-uretprobe-with-ret",
						     "trig-uretprobe-without-nop", NULL };

UPROBE_BENCHS(nop, NOP, "a nop", uprobe_nop_aliases, uretprobe_nop_aliases);
UPROBE_BENCHS(push, PUSH, "a push", uprobe_push_aliases, uretprobe_push_aliases);
UPROBE_BENCHS(ret, RET, "a ret", uprobe_ret_aliases, uretprobe_ret_aliases);
#ifdef __x86_64__
UPROBE_BENCHS(nop5, NOP5, "a nop of 5 bytes", NULL, NULL);
UPROBE_BENCHS(nop10, NOP10, "a nop of 10 bytes", NULL, NULL);
#endif

#define USDT_BENCH(insn, INSN, what)                                           \
	TRIG_BENCH_ON(trig_usdt_##insn, "trig-usdt-" #insn,                    \
		      "runs of a program on a USDT probe; " what, HOOK_UPROBE, \
		      UPROBE_TARGET_USDT_##INSN)

USDT_BENCH(nop, NOP, "its place is a nop");
#ifdef __x86_64__
USDT_BENCH(nop5, NOP5, "its place is the nop of 5 bytes after a nop");
USDT_BENCH(nop10, NOP10, "its place is the nop of 10 bytes after a nop");
#endif

#define UPROBE_TABLE(insn)                                                      \
	&trig_uprobe_##insn, &trig_uretprobe_##insn, &trig_uprobe_multi_##insn, \
		&trig_uretprobe_multi_##insn

/* clang-format off */
static const struct bench *const trig_benchs[] = {
	&trig_usermode_count,
	&trig_syscall_count,
	&trig_kernel_count,
	&trig_tp,
	&trig_rawtp,
	&trig_kprobe,
	&trig_kretprobe,
	&trig_kprobe_multi,
	&trig_kretprobe_multi,
	&trig_kprobe_multi_all,
	&trig_kretprobe_multi_all,
	&trig_fentry,
	&trig_fexit,
	&trig_fentry_sleep,
	&trig_fmodret,
	UPROBE_TABLE(nop),
	UPROBE_TABLE(push),
	UPROBE_TABLE(ret),
#ifdef __x86_64__
	UPROBE_TABLE(nop5),
	UPROBE_TABLE(nop10),
#endif
	&trig_usdt_nop,
#ifdef __x86_64__
	&trig_usdt_nop5,
	&trig_usdt_nop10,
#endif
};
/* clang-format on */

static struct bench_family trig_family = {
	.title = "Triggering",
	.about = "how fast a program can be made to run, by each way to attach it",
	.opts = trig_opts,
	.nr_opts = ARRAY_SIZE(trig_opts),
	.params_size = sizeof(struct trig_params),
	.benchs = trig_benchs,
	.nr_benchs = ARRAY_SIZE(trig_benchs),
};

BENCH_FAMILY(trig_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * rename-*: what a program costs that hangs on a kernel function of some length, by each way to
 * hang it there. Each producer renames itself by writing to its comm file; a hit is one write.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/run/bench_hook.h"
#include "progs/own_runs.h"
#include "rename.skel.h"

/* That of the calling thread: the same file as /proc/self/task/TID/comm. */
#define COMM_FILE "/proc/thread-self/comm"

#define FUNCTION "__set_task_comm"

struct rename_bench {
	struct bench bench; /* first, see rename_bench_of() */
	enum hook_kind kind;
	bool no_hook; /* rename-base */
};

struct rename_ctx {
	struct rename_bpf *skel;
	struct hook hook;
	struct bench_counter *writes; /* of each producer */
	uint64_t own_writes; /* of the set-up */
};

static const struct rename_bench *rename_bench_of(const struct bench_run *run)
{
	return (const struct rename_bench *)run->bench;
}

/* ---- renaming the calling thread, to what it is called already */

struct comm {
	int fd;
	char name[16];
	size_t len;
};

static int comm_open(struct comm *comm, struct bench_err *err)
{
	comm->fd = open(COMM_FILE, O_WRONLY | O_CLOEXEC);
	if (comm->fd < 0 && errno == ENOENT)
		return bench_unavailable(err, "there is no %s: mount -t proc proc /proc",
					 COMM_FILE);
	if (comm->fd < 0)
		return bench_failed(err, errno, "cannot open %s", COMM_FILE);
	prctl(PR_GET_NAME, comm->name);
	comm->len = strlen(comm->name);
	return 0;
}

static int comm_write(const struct comm *comm, struct bench_err *err)
{
	ssize_t n = write(comm->fd, comm->name, comm->len);

	if (n == (ssize_t)comm->len)
		return 0;
	return bench_failed(err, n < 0 ? errno : 0, "cannot write a name to %s", COMM_FILE);
}

/* ---- set-up */

/* Of this thread; as for the producers, the name stays what it is. */
static int try_once(struct bench_run *run, struct rename_ctx *ctx)
{
	struct comm comm;
	int err;

	err = comm_open(&comm, &run->err);
	if (err)
		return err;
	err = comm_write(&comm, &run->err);
	if (!err)
		ctx->own_writes++;
	close(comm.fd);
	return err;
}

static struct bpf_program *program_of(const struct rename_bpf *skel, enum hook_kind kind)
{
	switch (kind) {
	case HOOK_RAWTP:
		return skel->progs.rename_rawtp;
	case HOOK_FENTRY:
		return skel->progs.rename_fentry;
	case HOOK_FEXIT:
		return skel->progs.rename_fexit;
	default:
		return skel->progs.rename_probe;
	}
}

static int rename_setup(struct bench_run *run)
{
	const struct rename_bench *rb = rename_bench_of(run);
	struct rename_ctx *ctx = calloc(1, sizeof(*ctx));
	int err;

	run->priv = ctx;
	if (ctx)
		ctx->writes = bench_counters_alloc(run->cfg->producers);
	if (!ctx || !ctx->writes)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	if (rb->no_hook)
		return try_once(run, ctx);

	ctx->skel = rename_bpf__open();
	if (!ctx->skel)
		return bench_bpf_error(&run->err, errno, "cannot open the BPF programs of %s",
				       run->bench->name);
	ctx->skel->rodata->own_runs.by = OWN_RUNS_TGID;
	ctx->skel->rodata->own_runs.tgid = bench_tgid();
	ctx->hook = (struct hook){
		.kind = rb->kind,
		.prog = program_of(ctx->skel, rb->kind),
		.target = rb->kind == HOOK_RAWTP ? "task_rename" : FUNCTION,
	};
	err = bench_hook_load(run, &ctx->hook, ctx->skel->skeleton);
	if (!err)
		err = bench_hook_attach(run, &ctx->hook);
	if (!err)
		err = try_once(run, ctx);
	if (!err && !bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS))
		err = bench_unavailable(&run->err,
					"a write to %s does not make the program on %s run: %s",
					COMM_FILE, ctx->hook.target, hook_why_not_run(rb->kind));
	return err;
}

static void rename_teardown(struct bench_run *run)
{
	struct rename_ctx *ctx = run->priv;

	if (!ctx)
		return;
	hook_detach(&ctx->hook);
	rename_bpf__destroy(ctx->skel);
	free(ctx->writes);
	free(ctx);
	run->priv = NULL;
}

/* Does the set-up, which renames once, and takes it down again. */
static int rename_probe(const struct rename_bench *rb, const struct bench_config *cfg,
			struct bench_err *err)
{
	struct bench_run run = { .bench = &rb->bench, .cfg = cfg };
	int ret;

	ret = rename_setup(&run);
	if (ret)
		*err = run.err;
	rename_teardown(&run);
	return ret;
}

/* ---- the run */

static int rename_producer(struct bench_thread *t)
{
	struct rename_ctx *ctx = t->run->priv;
	struct comm comm;
	int err;

	err = comm_open(&comm, &t->run->err);
	if (err)
		return err;
	while (!err && !bench_stopping(t)) {
		err = comm_write(&comm, &t->run->err);
		if (!err)
			bench_counter_add(&ctx->writes[t->idx], 1);
	}
	close(comm.fd);
	return err;
}

static void rename_measure(struct bench_run *run, struct bench_res *res)
{
	struct rename_ctx *ctx = run->priv;

	res->hits = bench_counters_sum(ctx->writes, run->cfg->producers);
}

/*
 * A program on a trampoline is not run where it would interrupt itself: the thread that runs it was
 * preempted by another one that renames as well. The kernel counts that (since Linux 5.12).
 */
static uint64_t missed_runs(int prog_fd)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &size) ? 0 : info.recursion_misses;
}

static void rename_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct rename_bench *rb = rename_bench_of(run);
	struct rename_ctx *ctx = run->priv;
	uint64_t missed;

	if (rb->no_hook)
		return;
	bench_hook_conserve(run, &ctx->hook, ctx->skel->bss->cpu_slots, c);
	/* What a kretprobe misses, for want of room to keep return addresses, nobody can tell. */
	if (rb->kind == HOOK_KRETPROBE)
		return;
	c->has_records = true;
	c->attempts = ctx->own_writes + bench_counters_sum(ctx->writes, run->cfg->producers);
	c->submitted = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
	if (c->attempts <= c->submitted)
		return;
	/* Some of them may be other processes' misses. */
	missed = missed_runs(c->prog_fd);
	c->drops = c->attempts - c->submitted < missed ? c->attempts - c->submitted : missed;
}

/* ---- the table */

#define RENAME_BENCH(var, name_, desc_, ...)                                          \
	static const struct rename_bench var;                                         \
	static int var##_probe(const struct bench_config *cfg, struct bench_err *err) \
	{                                                                             \
		return rename_probe(&var, cfg, err);                                  \
	}                                                                             \
	static const struct rename_bench var = {                                                   \
		.bench = {                                                                         \
			.name = name_,                                                             \
			.desc = desc_,                                                             \
			.report = &report_hits_drops,                                              \
			.probe = var##_probe,                                                      \
			.setup = rename_setup,                                                     \
			.teardown = rename_teardown,                                               \
			.producer = rename_producer,                                               \
			.measure = rename_measure,                                                 \
			.conserve = rename_conserve,                                               \
		},                                                                                 \
		__VA_ARGS__                                                                        \
	}

RENAME_BENCH(rename_base, "rename-base", "renamings of a thread by itself; no BPF",
	     .no_hook = true);
RENAME_BENCH(rename_kprobe, "rename-kprobe", "the same with a program on a kprobe on " FUNCTION,
	     .kind = HOOK_KPROBE);
RENAME_BENCH(rename_kretprobe, "rename-kretprobe",
	     "the same with a program on a kretprobe on " FUNCTION, .kind = HOOK_KRETPROBE);
RENAME_BENCH(rename_rawtp, "rename-rawtp", "the same with a program on raw tracepoint task_rename",
	     .kind = HOOK_RAWTP);
RENAME_BENCH(rename_fentry, "rename-fentry", "the same with a program at the entry of " FUNCTION,
	     .kind = HOOK_FENTRY);
RENAME_BENCH(rename_fexit, "rename-fexit", "the same with a program at the exit of " FUNCTION,
	     .kind = HOOK_FEXIT);

static const struct bench *const rename_benchs[] = {
	&rename_base.bench,  &rename_kprobe.bench, &rename_kretprobe.bench,
	&rename_rawtp.bench, &rename_fentry.bench, &rename_fexit.bench,
};

static struct bench_family rename_family = {
	.title = "Renaming",
	.benchs = rename_benchs,
	.nr_benchs = ARRAY_SIZE(rename_benchs),
};

BENCH_FAMILY(rename_family);

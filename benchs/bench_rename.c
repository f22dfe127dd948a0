// SPDX-License-Identifier: GPL-2.0
/*
 * rename-*: what a program costs that is attached to a kernel function of some length, by each way
 * to attach it. Each producer renames itself by writing to its comm file; a hit is one write.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "progs/own_runs.h"
#include "rename.skel.h"

/* That of the calling thread: the same file as /proc/self/task/TID/comm. */
#define COMM_FILE "/proc/thread-self/comm"

#define FUNCTION "__set_task_comm"

struct rename_ctx {
	struct rename_bpf *skel;
	struct hook hook;
	struct bench_counter *writes; /* of each producer */
	uint64_t own_writes; /* of the set-up */
};

/* The kind of hook that the benchmark is about; NULL: rename-base has none. */
static const enum hook_kind *kind_of(const struct bench_run *run)
{
	return run->bench->data;
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
	case HOOK_FMODRET:
		return skel->progs.rename_fmodret;
	default:
		return skel->progs.rename_probe;
	}
}

static int rename_setup(struct bench_run *run)
{
	struct rename_ctx *ctx = bench_priv_alloc(run, sizeof(*ctx));
	const enum hook_kind *kind = kind_of(run);
	int err;

	if (!ctx)
		return -ENOMEM;
	ctx->writes = bench_counters_alloc(run->cfg->producers);
	if (!ctx->writes)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	if (!kind)
		return try_once(run, ctx);

	ctx->skel = rename_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->own_runs.filter = OWN_RUNS_TGID;
	ctx->skel->rodata->own_runs.tgid = bench_tgid();
	ctx->hook = (struct hook){
		.kind = *kind,
		.prog = program_of(ctx->skel, *kind),
		.target = *kind == HOOK_RAWTP ? "task_rename" : FUNCTION,
	};
	err = bench_hook_load(run, &ctx->hook, ctx->skel->skeleton);
	if (!err)
		err = bench_hook_attach(run, &ctx->hook);
	if (!err)
		err = try_once(run, ctx);
	if (!err && !bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS))
		err = bench_unavailable(&run->err,
					"a write to %s does not make the program on %s run%s",
					COMM_FILE, ctx->hook.target, hook_why_not_run(*kind));
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

static void rename_measure(struct bench_run *run, struct values *v)
{
	struct rename_ctx *ctx = run->priv;

	v->v[HITS] = bench_counters_sum(ctx->writes, run->cfg->producers);
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
	struct rename_ctx *ctx = run->priv;
	uint64_t writes, hits, missed;

	if (!kind_of(run))
		return;
	bench_hook_conserve(run, &ctx->hook, ctx->skel->bss->cpu_slots, c);
	/* What a kretprobe misses, for want of room to keep return addresses, nobody can tell. */
	if (*kind_of(run) == HOOK_KRETPROBE)
		return;
	writes = ctx->own_writes + bench_counters_sum(ctx->writes, run->cfg->producers);
	hits = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
	/* Some of them may be other processes' misses. */
	missed = writes > hits ? missed_runs(c->prog_fd) : 0;
	if (writes > hits && missed > writes - hits)
		missed = writes - hits;
	bench_count(c, "writes", writes);
	bench_count(c, "hits", hits);
	bench_count(c, "missed", missed);
	bench_identity(c, "writes = hits + missed");
}

/* ---- the table */

#define RENAME_BENCH(var, name_, desc_, ...)                            \
	static const struct bench var = { .name = name_,                \
					  .desc = desc_,                \
					  .report = &report_hits_drops, \
					  .setup = rename_setup,        \
					  .teardown = rename_teardown,  \
					  .producer = rename_producer,  \
					  .measure = rename_measure,    \
					  .conserve = rename_conserve,  \
					  __VA_ARGS__ }

#define KIND(kind_)                     \
	.data = &(const enum hook_kind) \
	{                               \
		kind_                   \
	}

RENAME_BENCH(rename_base, "rename-base", "renamings of a thread by itself; no BPF", .no_bpf = true);
RENAME_BENCH(rename_kprobe, "rename-kprobe", "the same with a program on a kprobe on " FUNCTION,
	     KIND(HOOK_KPROBE));
RENAME_BENCH(rename_kretprobe, "rename-kretprobe",
	     "the same with a program on a kretprobe on " FUNCTION, KIND(HOOK_KRETPROBE));
RENAME_BENCH(rename_rawtp, "rename-rawtp", "the same with a program on raw tracepoint task_rename",
	     KIND(HOOK_RAWTP));
RENAME_BENCH(rename_fentry, "rename-fentry", "the same with a program at the entry of " FUNCTION,
	     KIND(HOOK_FENTRY));
RENAME_BENCH(rename_fexit, "rename-fexit", "the same with a program at the exit of " FUNCTION,
	     KIND(HOOK_FEXIT));

RENAME_BENCH(rename_fmodret, "rename-fmodret",
	     "the same with a program that could set a return value of " FUNCTION
	     "; refused since Linux 5.7",
	     KIND(HOOK_FMODRET));

static const struct bench *const rename_benchs[] = {
	&rename_base,	&rename_kprobe, &rename_kretprobe, &rename_rawtp,
	&rename_fentry, &rename_fexit,	&rename_fmodret,
};

static struct bench_family rename_family = {
	.title = "Renaming",
	.about =
		"what a program on a kernel function of some length costs, by each way to attach it",
	.benchs = rename_benchs,
	.nr_benchs = ARRAY_SIZE(rename_benchs),
};

BENCH_FAMILY(rename_family);

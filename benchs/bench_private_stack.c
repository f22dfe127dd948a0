// SPDX-License-Identifier: GPL-2.0
/*
 * no-private-stack, private-stack: what the private stack costs that kernels from 6.13 on give to
 * tracing programs with a frame of 64 bytes or more. The two measured programs are the same but for
 * the size of the frame; that the kernel made the one stack or the other of it is read from the
 * JITed code before anything is measured.
 *
 * What else differs follows from the private stack and is part of its cost: each call has a push
 * and a pop of the register that holds the stack's address around it. The check that a program does
 * not run inside itself, which private stacks need, is there for both (the kernel makes it for
 * every raw_tp program).
 */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/hook.h"
#include "lib/bpf/jit.h"
#include "private_stack.skel.h"

struct private_stack_params {
	long long nr_batch_iters;
	bool show_jit;
};

/* The batch runs with preemption off, at 20 to 100 ns an entry: so it shall not be too long. */
static const struct opt private_stack_opts[] = {
	{ .name = "nr-batch-iters",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct private_stack_params, nr_batch_iters),
	  .def = 1000,
	  .min = 1,
	  .max = 1 << 16,
	  .help = "Runs of the measured program for each entry into the kernel" },
	{ .name = "show-jit",
	  .type = OPT_FLAG,
	  .at = offsetof(struct private_stack_params, show_jit),
	  .help = "Print the measured program's JITed code, disassembled, on standard error" },
};

struct private_stack_ctx {
	struct private_stack_bpf *skel;
	struct bpf_program *prog; /* the measured one */
	struct bpf_link *link;
	struct jit_image jit;
};

/* Reads the code of the loaded program back, into @jit, and looks whether it is as it should be. */
static int check_jit(int prog_fd, bool private, struct jit_image *jit, struct bench_err *e)
{
	int err, has;

	err = jit_image_read(prog_fd, jit);
	if (err == -ENODATA)
		return bench_unavailable(e, "%s", why_no_jit());
	if (err == -EACCES)
		return bench_unavailable(e,
					 "the kernel does not show the JITed code, without which "
					 "one cannot tell what is measured: requires CAP_SYSLOG "
					 "(root has it) and sysctl kernel.kptr_restrict=1 or 0");
	if (err)
		return bench_bpf_error(e, err, "cannot read the JITed code");
	has = jit_has_private_stack(jit->arch, jit->funcs[0].code, jit->funcs[0].len);
	if (has < 0)
		return bench_unavailable(e, "it is not known how to tell a private stack from "
					    "another in the JITed code of this architecture: "
					    "requires x86-64 or arm64");
	if (private && !has)
		return bench_unavailable(e,
					 "this kernel gives the program no private stack: requires "
					 "Linux 6.13 (arm64: 6.17) or newer");
	if (!private && has)
		return bench_unavailable(e,
					 "this kernel gives even the program with the small frame "
					 "a private stack");
	return 0;
}

/* Is it the one with the private stack? */
static bool is_private(const struct bench_run *run)
{
	return *(const bool *)run->bench->data;
}

static int check_kernel(struct bench_err *err)
{
	int ret;

	ret = bench_probe_prog_run(err);
	if (ret)
		return ret;
	if (!hook_has_btf())
		return bench_unavailable(err, "%s", why_no_btf());
	if (!hook_function_exists("bpf_modify_return_test_tp"))
		return bench_unavailable(err,
					 "this kernel has no bpf_modify_return_test_tp(), which "
					 "triggers the program: requires Linux 6.10 or newer");
	return 0;
}

static int private_stack_setup(struct bench_run *run)
{
	const struct private_stack_params *params = run->params;
	const bool private = is_private(run);
	struct private_stack_ctx *ctx;
	int err;

	err = check_kernel(&run->err);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->skel = private_stack_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->prog = private ? ctx->skel->progs.large_frame : ctx->skel->progs.small_frame;
	bpf_program__set_autoload(ctx->prog, true);
	ctx->skel->rodata->nr_batch_iters = params->nr_batch_iters;
	ctx->skel->rodata->run_id = bench_tgid();
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		err = check_jit(bpf_program__fd(ctx->prog), private, &ctx->jit, &run->err);
	if (err)
		return err;
	ctx->link = bpf_program__attach_raw_tracepoint(ctx->prog, "bpf_trigger_tp");
	if (!ctx->link)
		return bench_bpf_error(&run->err, errno,
				       "cannot attach to the tracepoint bpf_trigger_tp");
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return 0;
}

static void private_stack_teardown(struct bench_run *run)
{
	struct private_stack_ctx *ctx = run->priv;

	if (!ctx)
		return;
	bpf_link__destroy(ctx->link);
	private_stack_bpf__destroy(ctx->skel);
	jit_image_free(&ctx->jit);
	free(ctx);
}

static int private_stack_describe(struct bench_run *run, FILE *out)
{
	const struct private_stack_params *params = run->params;
	struct private_stack_ctx *ctx = run->priv;
	int err;

	if (!params->show_jit)
		return 0;
	err = jit_image_print(&ctx->jit, out);
	if (err)
		return bench_failed(&run->err, err, "cannot disassemble the JITed code");
	return 0;
}

static int private_stack_producer(struct bench_thread *t)
{
	const struct private_stack_params *params = t->run->params;
	struct private_stack_ctx *ctx = t->run->priv;
	const int prog_fd = bpf_program__fd(ctx->skel->progs.trigger);
	uint32_t retval;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(prog_fd, &retval);
		if (err)
			return bench_bpf_error(&t->run->err, err,
					       "cannot run the program that triggers");
		if (retval)
			return bench_failed(&t->run->err, 0,
					    "bpf_loop(%lld) was not run to its end",
					    params->nr_batch_iters);
	}
	return 0;
}

static void private_stack_measure(struct bench_run *run, struct values *v)
{
	struct private_stack_ctx *ctx = run->priv;

	v->v[HITS] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
}

static void private_stack_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct private_stack_ctx *ctx = run->priv;

	/*
	 * Others may fire the tracepoint all the time: so that the kernel's count and ours stand
	 * still, detach, and wait until runs that are under way have ended (an RCU grace period).
	 */
	bpf_link__destroy(ctx->link);
	ctx->link = NULL;
	hook_quiesce();
	c->prog_fd = bpf_program__fd(ctx->prog);
	c->runs = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS) +
		  bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_OTHERS);
}

#define PRIVATE_STACK_BENCH(var, private_, name_, needs_, desc_) \
	static const struct bench var = {                        \
		.name = name_,                                   \
		.desc = desc_,                                   \
		.needs = needs_,                                 \
		.report = &report_hits_drops,                    \
		.data = &(const bool){ private_ },               \
		.setup = private_stack_setup,                    \
		.teardown = private_stack_teardown,              \
		.describe = private_stack_describe,              \
		.producer = private_stack_producer,              \
		.measure = private_stack_measure,                \
		.conserve = private_stack_conserve,              \
	}

PRIVATE_STACK_BENCH(no_private_stack, false, "no-private-stack", "Linux 6.10 or newer",
		    "runs of a program of three calls that uses the kernel's stack (48-byte frame)");
PRIVATE_STACK_BENCH(private_stack, true, "private-stack", "Linux 6.13 (arm64: 6.17) or newer",
		    "runs of the same program on a private stack (64-byte frame)");

static const struct bench *const private_stack_benchs[] = { &no_private_stack, &private_stack };

static struct bench_family private_stack_family = {
	.title = "Private stack",
	.about = "what the private stack of tracing programs costs",
	.opts = private_stack_opts,
	.nr_opts = ARRAY_SIZE(private_stack_opts),
	.params_size = sizeof(struct private_stack_params),
	.benchs = private_stack_benchs,
	.nr_benchs = ARRAY_SIZE(private_stack_benchs),
};

BENCH_FAMILY(private_stack_family);

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

static long long arg_nr_batch_iters;
static bool arg_show_jit;

/* The batch runs with preemption off, at 20 to 100 ns an entry: so it shall not be too long. */
static const struct opt private_stack_opts[] = {
	{ .name = "nr-batch-iters",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &arg_nr_batch_iters,
	  .def = 1000,
	  .min = 1,
	  .max = 1 << 16,
	  .help = "Runs of the measured program for each entry into the kernel" },
	{ .name = "show-jit",
	  .type = OPT_FLAG,
	  .dest = &arg_show_jit,
	  .help = "Print the measured program's JITed code, disassembled, on standard error" },
};

struct private_stack_ctx {
	struct private_stack_bpf *skel;
	struct bpf_program *prog; /* the measured one */
	struct bpf_link *link;
	struct jit_image jit;
};

/* Opens it, with the measured program that @private asks for. NULL with errno set on failure. */
static struct private_stack_bpf *open_skel(bool private, struct bpf_program **prog)
{
	struct private_stack_bpf *skel = private_stack_bpf__open();

	if (!skel)
		return NULL;
	*prog = private ? skel->progs.large_frame : skel->progs.small_frame;
	bpf_program__set_autoload(*prog, true);
	skel->rodata->nr_batch_iters = arg_nr_batch_iters;
	skel->rodata->run_id = bench_tgid();
	return skel;
}

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
					 "one cannot tell what is measured: it takes CAP_SYSLOG "
					 "(root has it) and sysctl kernel.kptr_restrict=1 or 0");
	if (err)
		return bench_bpf_error(e, err, "cannot read the JITed code");
	has = jit_has_private_stack(jit->arch, jit->funcs[0].code, jit->funcs[0].len);
	if (has < 0)
		return bench_unavailable(e, "it is not known how to tell a private stack from "
					    "another in the JITed code of this architecture: it "
					    "takes x86-64 or arm64");
	if (private && !has)
		return bench_unavailable(e,
					 "this kernel gives the program no private stack: it takes "
					 "Linux 6.13 (arm64: 6.17) or newer");
	if (!private && has)
		return bench_unavailable(e,
					 "this kernel gives even the program with the small frame "
					 "a private stack: it takes another one");
	return 0;
}

static int private_stack_do_setup(struct bench_run *run, bool private)
{
	struct private_stack_ctx *ctx = calloc(1, sizeof(*ctx));
	int err;

	run->priv = ctx;
	if (!ctx)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->skel = open_skel(private, &ctx->prog);
	if (!ctx->skel)
		return bench_bpf_error(&run->err, errno, "cannot open the programs");
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		err = check_jit(bpf_program__fd(ctx->prog), private, &ctx->jit, &run->err);
	if (err)
		return err;
	ctx->link = bpf_program__attach_raw_tracepoint(ctx->prog, "bpf_trigger_tp");
	if (!ctx->link)
		return bench_bpf_error(&run->err, errno,
				       "cannot attach to the tracepoint bpf_trigger_tp");
	snprintf(run->trigger, sizeof(run->trigger), "batch");
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
	struct private_stack_ctx *ctx = run->priv;
	int err;

	if (!arg_show_jit)
		return 0;
	err = jit_image_print(&ctx->jit, out);
	if (err)
		return bench_failed(&run->err, err, "cannot disassemble the JITed code");
	return 0;
}

static int private_stack_producer(struct bench_thread *t)
{
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
					    arg_nr_batch_iters);
	}
	return 0;
}

static void private_stack_measure(struct bench_run *run, struct bench_res *res)
{
	struct private_stack_ctx *ctx = run->priv;

	res->hits = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
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

static int no_private_stack_setup(struct bench_run *run)
{
	return private_stack_do_setup(run, false);
}

static int private_stack_setup(struct bench_run *run)
{
	return private_stack_do_setup(run, true);
}

/* Does the set-up, so that what it lacks is known before anything is measured, and takes it down. */
static int private_stack_do_probe(const struct bench *bench, const struct bench_config *cfg,
				  struct bench_err *err)
{
	struct bench_run run = { .bench = bench, .cfg = cfg };
	int ret;

	ret = bench_probe_prog_run(err);
	if (ret)
		return ret;
	if (!hook_has_btf())
		return bench_unavailable(err, "%s", why_no_btf());
	if (!hook_function_exists("bpf_modify_return_test_tp"))
		return bench_unavailable(err,
					 "this kernel has no bpf_modify_return_test_tp(), which "
					 "triggers the program: it takes Linux 6.10 or newer");
	ret = bench->setup(&run);
	if (ret)
		bench_take_error(err, &run.err, ret);
	private_stack_teardown(&run);
	return ret;
}

static const struct bench no_private_stack, private_stack;

static int no_private_stack_probe(const struct bench_config *cfg, struct bench_err *err)
{
	return private_stack_do_probe(&no_private_stack, cfg, err);
}

static int private_stack_probe(const struct bench_config *cfg, struct bench_err *err)
{
	return private_stack_do_probe(&private_stack, cfg, err);
}

static const struct bench no_private_stack = {
	.name = "no-private-stack",
	.desc = "runs of a program of three calls that uses the kernel's stack (48-byte frame)",
	.report = &report_hits_drops,
	.probe = no_private_stack_probe,
	.setup = no_private_stack_setup,
	.teardown = private_stack_teardown,
	.describe = private_stack_describe,
	.producer = private_stack_producer,
	.measure = private_stack_measure,
	.conserve = private_stack_conserve,
};

static const struct bench private_stack = {
	.name = "private-stack",
	.desc = "runs of the same program on a private stack (64-byte frame)",
	.report = &report_hits_drops,
	.probe = private_stack_probe,
	.setup = private_stack_setup,
	.teardown = private_stack_teardown,
	.describe = private_stack_describe,
	.producer = private_stack_producer,
	.measure = private_stack_measure,
	.conserve = private_stack_conserve,
};

static const struct bench *const private_stack_benchs[] = { &no_private_stack, &private_stack };

static struct bench_family private_stack_family = {
	.title = "Private stack",
	.opts = private_stack_opts,
	.nr_opts = ARRAY_SIZE(private_stack_opts),
	.benchs = private_stack_benchs,
	.nr_benchs = ARRAY_SIZE(private_stack_benchs),
};

BENCH_FAMILY(private_stack_family);

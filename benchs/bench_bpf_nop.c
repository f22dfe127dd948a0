// SPDX-License-Identifier: GPL-2.0
/*
 * bpf-nop: a turn of the loop that programs which time themselves are measured in, with nothing in
 * it. What all others of that kind are to be held against.
 */
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/run/timing.h"
#include "progs/timing.h"
#include "bpf_nop.skel.h"

/* That bpf_loop() makes at once (BPF_MAX_LOOPS); may_goto ends as many turns on some kernels. */
#define MAX_TURNS (1 << 23)

struct bpf_nop_ctx {
	struct bpf_nop_bpf *skel;
	struct timing_prog prog;
	struct timing *timing;
	struct bench_counter *runs; /* of the program, by each producer */
};

static int bpf_nop_batch(struct bench_thread *t, bool nothing, uint64_t turns,
			 struct timing_batch *out)
{
	struct bpf_nop_ctx *ctx = t->run->priv;
	struct timing_args args = {};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &args, .ctx_size_in = sizeof(args));

	if (!nothing)
		bench_counter_add(&ctx->runs[t->idx], 1);
	return timing_prog_batch(&ctx->prog, t, nothing, turns, &opts, &args, out);
}

static int bpf_nop_setup(struct bench_run *run)
{
	struct bpf_nop_ctx *ctx;
	int err;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->timing = timing_new(run, bpf_nop_batch, "turns", MAX_TURNS, TIMING_BATCH_NS);
	ctx->runs = bench_counters_alloc(run->cfg->producers);
	if (!ctx->timing || !ctx->runs)
		return bench_failed(&run->err, ENOMEM, "cannot set up bpf-nop");
	ctx->skel = bpf_nop_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	err = timing_prog_prepare(run, ctx->skel->obj, "bpf_nop", "timing_empty", &ctx->prog);
	if (!err)
		err = bench_load(run, ctx->skel->skeleton);
	return err ? err : timing_prog_start(run, &ctx->prog);
}

static void bpf_nop_teardown(struct bench_run *run)
{
	struct bpf_nop_ctx *ctx = run->priv;

	if (!ctx)
		return;
	timing_prog_end(&ctx->prog);
	bpf_nop_bpf__destroy(ctx->skel);
	timing_free(ctx->timing);
	free(ctx->runs);
	free(ctx);
}

static int bpf_nop_producer(struct bench_thread *t)
{
	struct bpf_nop_ctx *ctx = t->run->priv;

	return timing_producer(ctx->timing, t);
}

static void bpf_nop_measure(struct bench_run *run, struct values *v)
{
	struct bpf_nop_ctx *ctx = run->priv;

	timing_measure(ctx->timing, v);
}

static int bpf_nop_batches(struct bench_run *run, struct batches *b)
{
	struct bpf_nop_ctx *ctx = run->priv;

	return timing_batches(ctx->timing, b);
}

static void bpf_nop_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct bpf_nop_ctx *ctx = run->priv;
	struct timing_sums sums;

	timing_sum_up(ctx->timing, &sums);
	timing_judge(ctx->timing, &sums);
	timing_conserve(&ctx->prog, &sums, c);
	c->prog_fd = bpf_program__fd(ctx->prog.prog);
	c->runs = bench_counters_sum(ctx->runs, run->cfg->producers);
}

static const struct figure bpf_nop_figures[] = { TIMING_FIGURES };

static const struct report bpf_nop_report = {
	.name = "timing",
	.figures = bpf_nop_figures,
	.nr_figures = ARRAY_SIZE(bpf_nop_figures),
	.progress = timing_progress_line,
	.summary = timing_summary_line,
};

static const struct bench bpf_nop = {
	.name = "bpf-nop",
	.desc = "turns of the loop around a program that times itself, with nothing in it",
	.needs = "Linux 5.17 or newer",
	.report = &bpf_nop_report,
	.setup = bpf_nop_setup,
	.teardown = bpf_nop_teardown,
	.producer = bpf_nop_producer,
	.measure = bpf_nop_measure,
	.batches = bpf_nop_batches,
	.conserve = bpf_nop_conserve,
};

static const struct bench *const bpf_nop_benchs[] = { &bpf_nop };

static struct bench_family bpf_nop_family = {
	.title = "Timed by itself",
	.about = "what the loop costs that BPF code is timed in",
	.benchs = bpf_nop_benchs,
	.nr_benchs = ARRAY_SIZE(bpf_nop_benchs),
};

BENCH_FAMILY(bpf_nop_family);

// SPDX-License-Identifier: GPL-2.0
/* bpf-loop: what the bpf_loop() helper costs for each turn of the loop. */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/loops.h"
#include "lib/bpf/xlated.h"
#include "bpf_loop.skel.h"

struct bpf_loop_params {
	long long nr_loops;
};

static const struct opt bpf_loop_opts[] = {
	{ .name = "nr_loops",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct bpf_loop_params, nr_loops),
	  .def = 10,
	  .min = 1,
	  .max = NR_LOOPS_MAX,
	  .help = "Callbacks that one call of bpf_loop() makes; above 131072 the loop is run in "
		  "equal parts of at most that" },
};

struct bpf_loop_ctx {
	struct bpf_loop_bpf *skel;
	int prog_fd;
	uint32_t loops_per_call;
	uint64_t hits_per_trigger;
	struct bench_counter *triggers; /* of each producer */
};

static int bpf_loop_setup(struct bench_run *run)
{
	const struct bpf_loop_params *params = run->params;
	struct bpf_loop_ctx *ctx;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->triggers = bench_counters_alloc(run->cfg->producers);
	if (!ctx->triggers)
		return bench_failed(&run->err, ENOMEM, "cannot set up bpf-loop");
	ctx->loops_per_call = turns_per_loop(params->nr_loops);
	ctx->hits_per_trigger = (uint64_t)ctx->loops_per_call * loops_per_trigger(params->nr_loops);
	ctx->skel = bpf_loop_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_loops = ctx->loops_per_call;
	ctx->skel->rodata->nr_calls = loops_per_trigger(params->nr_loops);
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	ctx->prog_fd = bpf_program__fd(ctx->skel->progs.call_bpf_loop);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	if (xlated_calls(ctx->prog_fd, XLATED_HELPER) == 1)
		bench_note(run, "the loop is in the helper bpf_loop(), which Linux 5.19 and newer "
				"inline");
	return 0;
}

static void bpf_loop_teardown(struct bench_run *run)
{
	struct bpf_loop_ctx *ctx = run->priv;

	if (!ctx)
		return;
	bpf_loop_bpf__destroy(ctx->skel);
	free(ctx->triggers);
	free(ctx);
}

static int bpf_loop_producer(struct bench_thread *t)
{
	struct bpf_loop_ctx *ctx = t->run->priv;
	struct bench_counter *triggers = &ctx->triggers[t->idx];
	uint32_t retval;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(ctx->prog_fd, &retval);
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		if (retval)
			return bench_failed(
				&t->run->err, 0,
				"bpf_loop(%u) returned %lld: not all callbacks were made",
				ctx->loops_per_call, (long long)ctx->skel->bss->failed_return);
		bench_counter_add(triggers, 1);
	}
	return 0;
}

static void bpf_loop_measure(struct bench_run *run, struct values *v)
{
	struct bpf_loop_ctx *ctx = run->priv;

	v->v[OPS] = bench_counters_sum(ctx->triggers, run->cfg->producers) * ctx->hits_per_trigger;
}

static void bpf_loop_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct bpf_loop_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	c->runs = bench_counters_sum(ctx->triggers, run->cfg->producers);
}

static const struct bench bpf_loop = {
	.name = "bpf-loop",
	.desc = "callbacks made by bpf_loop(), which do nothing; --nr_loops a call, at most 131072",
	.needs = "Linux 5.17 or newer",
	.report = &report_ops,
	.setup = bpf_loop_setup,
	.teardown = bpf_loop_teardown,
	.producer = bpf_loop_producer,
	.measure = bpf_loop_measure,
	.conserve = bpf_loop_conserve,
};

static const struct bench *const bpf_loop_benchs[] = { &bpf_loop };

static struct bench_family bpf_loop_family = {
	.title = "bpf_loop()",
	.about = "what a turn of bpf_loop() costs",
	.opts = bpf_loop_opts,
	.nr_opts = ARRAY_SIZE(bpf_loop_opts),
	.params_size = sizeof(struct bpf_loop_params),
	.benchs = bpf_loop_benchs,
	.nr_benchs = ARRAY_SIZE(bpf_loop_benchs),
};

BENCH_FAMILY(bpf_loop_family);

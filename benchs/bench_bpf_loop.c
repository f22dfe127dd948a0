// SPDX-License-Identifier: GPL-2.0
/* bpf-loop: what the bpf_loop() helper costs for each turn of the loop. */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/xlated.h"
#include "bpf_loop.skel.h"

#define NR_LOOPS_MAX (1 << 23) /* the kernel's BPF_MAX_LOOPS */

#define NR_CALLS 1000 /* per trigger, where that stays short */

/*
 * Callbacks per trigger, at most. The count goes up when the trigger returns, and a CPU that runs
 * it does nothing else meanwhile (preemption is off): so it has to return soon, whatever
 * --nr_loops is. At 4 to 9 ns a callback this is about 1 ms at most. It is a fixed number and not
 * a measured time, so that all runs do the same.
 */
#define LOOPS_PER_TRIGGER (1 << 17)

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

/*
 * Callbacks that one call makes: a long loop is cut into equal parts, see LOOPS_PER_TRIGGER. That
 * adds one call for 65536 callbacks or more, which does not show in what each of them costs.
 */
static uint32_t loops_per_call(const struct bpf_loop_params *params)
{
	uint32_t parts = (params->nr_loops + LOOPS_PER_TRIGGER - 1) / LOOPS_PER_TRIGGER;

	return (params->nr_loops + parts - 1) / parts;
}

static uint32_t calls_per_trigger(const struct bpf_loop_params *params)
{
	uint32_t calls = LOOPS_PER_TRIGGER / loops_per_call(params);

	return calls < NR_CALLS ? calls : NR_CALLS;
}

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
	ctx->loops_per_call = loops_per_call(params);
	ctx->hits_per_trigger = (uint64_t)ctx->loops_per_call * calls_per_trigger(params);
	ctx->skel = bpf_loop_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_loops = ctx->loops_per_call;
	ctx->skel->rodata->nr_calls = calls_per_trigger(params);
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

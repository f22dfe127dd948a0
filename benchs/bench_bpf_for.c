// SPDX-License-Identifier: GPL-2.0
/* bpf-for: what a turn of a loop by the kernel's numeric iterator costs. */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/loops.h"
#include "lib/bpf/xlated.h"
#include "bpf_for.skel.h"

struct bpf_for_params {
	long long nr_loops;
};

static const struct opt bpf_for_opts[] = {
	{ .name = "nr_loops",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct bpf_for_params, nr_loops),
	  .def = 1000,
	  .min = 1,
	  .max = NR_LOOPS_MAX,
	  .help = "Turns of one loop; above 131072 they are made in equal parts of at most that" },
};

struct bpf_for_ctx {
	struct bpf_for_bpf *skel;
	int prog_fd;
	uint64_t turns_per_trigger;
	struct bench_counter *triggers; /* of each producer */
};

static int bpf_for_setup(struct bench_run *run)
{
	const struct bpf_for_params *params = run->params;
	struct bpf_for_ctx *ctx;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (err)
		return err;
	if (!hook_has_btf())
		return bench_unavailable(&run->err, "%s", why_no_btf());
	if (!hook_function_exists("bpf_iter_num_new"))
		return bench_unavailable(&run->err, "this kernel has no kfunc bpf_iter_num_new(): "
						    "requires Linux 6.4 or newer");
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->triggers = bench_counters_alloc(run->cfg->producers);
	if (!ctx->triggers)
		return bench_failed(&run->err, ENOMEM, "cannot set up bpf-for");
	ctx->turns_per_trigger =
		(uint64_t)turns_per_loop(params->nr_loops) * loops_per_trigger(params->nr_loops);
	ctx->skel = bpf_for_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_loops = turns_per_loop(params->nr_loops);
	ctx->skel->rodata->nr_calls = loops_per_trigger(params->nr_loops);
	ctx->skel->rodata->count_turns = run->cfg->verify;
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	ctx->prog_fd = bpf_program__fd(ctx->skel->progs.call_bpf_for);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	if (xlated_calls(ctx->prog_fd, XLATED_KFUNC) == 1)
		bench_note(run, "each turn calls bpf_iter_num_next(), which Linux 7.3 and newer "
				"inline");
	return 0;
}

static void bpf_for_teardown(struct bench_run *run)
{
	struct bpf_for_ctx *ctx = run->priv;

	if (!ctx)
		return;
	bpf_for_bpf__destroy(ctx->skel);
	free(ctx->triggers);
	free(ctx);
}

static int bpf_for_producer(struct bench_thread *t)
{
	struct bpf_for_ctx *ctx = t->run->priv;
	struct bench_counter *triggers = &ctx->triggers[t->idx];
	uint32_t retval;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(ctx->prog_fd, &retval);
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		if (retval)
			return bench_failed(&t->run->err, 0,
					    "a loop was not made: the kernel returned %lld",
					    (long long)ctx->skel->bss->failed_return);
		bench_counter_add(triggers, 1);
	}
	return 0;
}

static uint64_t sum_triggers(const struct bench_run *run)
{
	const struct bpf_for_ctx *ctx = run->priv;

	return bench_counters_sum(ctx->triggers, run->cfg->producers);
}

static void bpf_for_measure(struct bench_run *run, struct values *v)
{
	const struct bpf_for_ctx *ctx = run->priv;

	v->v[OPS] = sum_triggers(run) * ctx->turns_per_trigger;
}

static void bpf_for_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct bpf_for_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	c->runs = sum_triggers(run);
	if (!run->cfg->verify)
		return;
	/* The program's own count of turns, which it does not make while it is measured. */
	bench_count(c, "turns", bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS));
	bench_count(c, "hits", c->runs * ctx->turns_per_trigger);
	bench_identity(c, "turns = hits");
}

static const struct bench bpf_for = {
	.name = "bpf-for",
	.desc = "turns of an open-coded loop (bpf_for()) with nothing in it; --nr_loops a loop",
	.needs = "Linux 6.4 or newer",
	.report = &report_ops,
	.setup = bpf_for_setup,
	.teardown = bpf_for_teardown,
	.producer = bpf_for_producer,
	.measure = bpf_for_measure,
	.conserve = bpf_for_conserve,
};

static const struct bench *const bpf_for_benchs[] = { &bpf_for };

static struct bench_family bpf_for_family = {
	.title = "bpf_for()",
	.about = "what a turn of an open-coded loop costs",
	.opts = bpf_for_opts,
	.nr_opts = ARRAY_SIZE(bpf_for_opts),
	.params_size = sizeof(struct bpf_for_params),
	.benchs = bpf_for_benchs,
	.nr_benchs = ARRAY_SIZE(bpf_for_benchs),
};

BENCH_FAMILY(bpf_for_family);

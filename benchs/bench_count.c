// SPDX-License-Identifier: GPL-2.0
/*
 * What counting itself costs: the limit of any benchmark that counts, and how far contention for
 * one cache line pulls it down. No BPF.
 */
#include <stdlib.h>

#include "bench.h"

struct count_ctx {
	struct bench_counter *counters;
	int nr;
};

static int count_setup(struct bench_run *run, int nr)
{
	struct count_ctx *ctx = calloc(1, sizeof(*ctx));

	run->priv = ctx;
	if (ctx)
		ctx->counters = bench_counters_alloc(nr);
	if (!ctx || !ctx->counters)
		return bench_failed(&run->err, ENOMEM, "cannot set up %d counters", nr);
	ctx->nr = nr;
	return 0;
}

static void count_teardown(struct bench_run *run)
{
	struct count_ctx *ctx = run->priv;

	if (ctx)
		free(ctx->counters);
	free(ctx);
}

static void count_measure(struct bench_run *run, struct bench_res *res)
{
	struct count_ctx *ctx = run->priv;

	res->hits = bench_counters_sum(ctx->counters, ctx->nr);
}

/*
 * Both benchmarks count by the same atomic addition, though count-local has no need of it: so the
 * difference between them is contention and nothing else.
 */
static int count_until_stopped(const struct bench_thread *t, struct bench_counter *c)
{
	while (!bench_stopping(t))
		__atomic_fetch_add(&c->value, 1, __ATOMIC_RELAXED);
	return 0;
}

static int count_global_setup(struct bench_run *run)
{
	return count_setup(run, 1);
}

static int count_global_producer(struct bench_thread *t)
{
	struct count_ctx *ctx = t->run->priv;

	return count_until_stopped(t, &ctx->counters[0]);
}

static int count_local_setup(struct bench_run *run)
{
	return count_setup(run, run->cfg->producers);
}

static int count_local_producer(struct bench_thread *t)
{
	struct count_ctx *ctx = t->run->priv;

	return count_until_stopped(t, &ctx->counters[t->idx]);
}

static const struct bench count_global = {
	.name = "count-global",
	.desc = "atomic additions of all producers to one counter; no BPF",
	.report = &report_hits_drops,
	.any_consumers = true,
	.setup = count_global_setup,
	.teardown = count_teardown,
	.producer = count_global_producer,
	.measure = count_measure,
};

static const struct bench count_local = {
	.name = "count-local",
	.desc = "atomic additions of each producer to a counter of its own; no BPF",
	.report = &report_hits_drops,
	.any_consumers = true,
	.setup = count_local_setup,
	.teardown = count_teardown,
	.producer = count_local_producer,
	.measure = count_measure,
};

static const struct bench *const count_benchs[] = { &count_global, &count_local };

static struct bench_family count_family = {
	.title = "Counting",
	.benchs = count_benchs,
	.nr_benchs = ARRAY_SIZE(count_benchs),
};

BENCH_FAMILY(count_family);

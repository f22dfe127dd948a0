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

/* How many counters there are is what the two differ in. */
static const struct bench count_global;

static int count_setup(struct bench_run *run)
{
	struct count_ctx *ctx = bench_priv_alloc(run, sizeof(*ctx));

	if (!ctx)
		return -ENOMEM;
	ctx->nr = run->bench == &count_global ? 1 : run->cfg->producers;
	ctx->counters = bench_counters_alloc(ctx->nr);
	if (!ctx->counters)
		return bench_failed(&run->err, ENOMEM, "cannot set up %d counters", ctx->nr);
	return 0;
}

static void count_teardown(struct bench_run *run)
{
	struct count_ctx *ctx = run->priv;

	if (ctx)
		free(ctx->counters);
	free(ctx);
}

static void count_measure(struct bench_run *run, struct values *v)
{
	struct count_ctx *ctx = run->priv;

	v->v[HITS] = bench_counters_sum(ctx->counters, ctx->nr);
}

/*
 * Both benchmarks count by the same atomic addition, though count-local has no need of it: so the
 * difference between them is contention and nothing else.
 */
static int count_producer(struct bench_thread *t)
{
	struct count_ctx *ctx = t->run->priv;
	struct bench_counter *c = &ctx->counters[t->idx % ctx->nr];

	while (!bench_stopping(t))
		__atomic_fetch_add(&c->value, 1, __ATOMIC_RELAXED);
	return 0;
}

static const struct bench count_global = {
	.name = "count-global",
	.desc = "atomic additions of all producers to one counter; no BPF",
	.report = &report_hits_drops,
	.no_bpf = true,
	.any_consumers = true,
	.setup = count_setup,
	.teardown = count_teardown,
	.producer = count_producer,
	.measure = count_measure,
};

static const struct bench count_local = {
	.name = "count-local",
	.desc = "atomic additions of each producer to a counter of its own; no BPF",
	.report = &report_hits_drops,
	.no_bpf = true,
	.any_consumers = true,
	.setup = count_setup,
	.teardown = count_teardown,
	.producer = count_producer,
	.measure = count_measure,
};

static const struct bench *const count_benchs[] = { &count_global, &count_local };

static struct bench_family count_family = {
	.title = "Counting",
	.about = "what counting itself costs: the limit of any benchmark that counts",
	.benchs = count_benchs,
	.nr_benchs = ARRAY_SIZE(count_benchs),
};

BENCH_FAMILY(count_family);

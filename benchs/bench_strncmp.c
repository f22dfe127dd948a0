// SPDX-License-Identifier: GPL-2.0
/*
 * strncmp-*: what it costs to compare two strings, by a loop in the program and by bpf_strncmp().
 *
 * Nothing is attached: each producer has the kernel run the program again and again, each time for
 * a batch of comparisons.
 */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "progs/strncmp.h"
#include "strncmp.skel.h"

/* A CPU that runs a batch does nothing else meanwhile (preemption is off): so it shall be short. */
#define BATCH_NS   (250 * 1000)
#define MAX_CHUNKS 512

struct strncmp_params {
	long long cmp_str_len;
	long long seed;
};

static const struct opt strncmp_opts[] = {
	{ .name = "cmp-str-len",
	  .arg = "LEN",
	  .type = OPT_NUM,
	  .at = offsetof(struct strncmp_params, cmp_str_len),
	  .def = 32,
	  .min = 1,
	  .max = STRNCMP_MAX_LEN,
	  .help = "Length of the strings, which differ in the last character",
	  .sizes_program = true },
	{ .name = "seed",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct strncmp_params, seed),
	  .def = 1,
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "Which random characters; the same seed gives the same strings" },
};

/* What the benchmarks differ in. */
struct strncmp_kind {
	const char *prog;
	unsigned int byte_ps; /* that a character takes at most; a guess, for the batch's length */
};

struct strncmp_ctx {
	struct strncmp_bpf *skel;
	int prog_fd;
	uint32_t per_run; /* comparisons */
	struct bench_counter *runs, *hits; /* of each producer */
};

static uint32_t chunks_per_run(const struct bench_run *run)
{
	const struct strncmp_params *params = run->params;
	const struct strncmp_kind *kind = run->bench->data;
	uint64_t chunk_ns = STRNCMP_CHUNK * (5 + params->cmp_str_len * kind->byte_ps / 1000);
	uint64_t chunks = BATCH_NS / chunk_ns;

	return chunks > MAX_CHUNKS ? MAX_CHUNKS : chunks ? chunks : 1;
}

/* Digits at random, the last one of @target above that of @str. */
static void fill_strings(unsigned char *str, char *target, uint32_t len, uint64_t seed)
{
	uint64_t state = seed + 1;
	uint32_t i;

	for (i = 0; i < len; i++) {
		/* A linear congruential generator with the constants of Knuth's MMIX. */
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		str[i] = target[i] = '0' + (state >> 33) % 9;
	}
	target[len - 1]++;
}

static int strncmp_setup(struct bench_run *run)
{
	const struct strncmp_params *params = run->params;
	const struct strncmp_kind *kind = run->bench->data;
	struct bpf_program *prog;
	struct strncmp_ctx *ctx;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->runs = bench_counters_alloc(run->cfg->producers);
	ctx->hits = bench_counters_alloc(run->cfg->producers);
	if (!ctx->runs || !ctx->hits)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->per_run = chunks_per_run(run) * STRNCMP_CHUNK;
	ctx->skel = strncmp_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->cmp_str_len = params->cmp_str_len;
	ctx->skel->rodata->nr_chunks = chunks_per_run(run);
	fill_strings(ctx->skel->bss->str, (char *)ctx->skel->rodata->target, params->cmp_str_len,
		     params->seed);
	prog = bpf_object__find_program_by_name(ctx->skel->obj, kind->prog);
	bpf_program__set_autoload(prog, true);
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	ctx->prog_fd = bpf_program__fd(prog);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return 0;
}

static void strncmp_teardown(struct bench_run *run)
{
	struct strncmp_ctx *ctx = run->priv;

	if (!ctx)
		return;
	strncmp_bpf__destroy(ctx->skel);
	free(ctx->runs);
	free(ctx->hits);
	free(ctx);
}

static int strncmp_producer(struct bench_thread *t)
{
	struct strncmp_ctx *ctx = t->run->priv;
	uint32_t below;
	int err;

	while (!bench_stopping(t)) {
		err = bench_prog_run(ctx->prog_fd, &below);
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		bench_counter_add(&ctx->hits[t->idx], below);
		bench_counter_add(&ctx->runs[t->idx], 1);
		if (below != ctx->per_run)
			return bench_failed(&t->run->err, 0,
					    "%u of %u comparisons did not find the lesser string",
					    ctx->per_run - below, ctx->per_run);
	}
	return 0;
}

static uint64_t sum_runs(const struct bench_run *run)
{
	const struct strncmp_ctx *ctx = run->priv;

	return bench_counters_sum(ctx->runs, run->cfg->producers);
}

static uint64_t sum_hits(const struct bench_run *run)
{
	const struct strncmp_ctx *ctx = run->priv;

	return bench_counters_sum(ctx->hits, run->cfg->producers);
}

static void strncmp_measure(struct bench_run *run, struct values *v)
{
	v->v[HITS] = sum_hits(run);
}

static void strncmp_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct strncmp_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	c->runs = sum_runs(run);
	bench_count(c, "attempts", c->runs * ctx->per_run);
	bench_count(c, "hits", sum_hits(run));
	bench_identity(c, "attempts = hits");
}

#define STRNCMP_BENCH(id, name_, needs_, desc_, byte_ps_)                                 \
	static const struct bench id = {                                                  \
		.name = name_,                                                            \
		.desc = desc_,                                                            \
		.needs = needs_,                                                          \
		.report = &report_hits_drops,                                             \
		.data = &(const struct strncmp_kind){ .prog = #id, .byte_ps = byte_ps_ }, \
		.setup = strncmp_setup,                                                   \
		.teardown = strncmp_teardown,                                             \
		.producer = strncmp_producer,                                             \
		.measure = strncmp_measure,                                               \
		.conserve = strncmp_conserve,                                             \
	}

STRNCMP_BENCH(strncmp_no_helper, "strncmp-no-helper", "Linux 5.10 or newer",
	      "comparisons of two strings by a loop in the program", 3000);

STRNCMP_BENCH(strncmp_helper, "strncmp-helper", "Linux 5.17 or newer",
	      "comparisons of two strings by bpf_strncmp()", 1000);

static const struct bench *const strncmp_benchs[] = { &strncmp_no_helper, &strncmp_helper };

static struct bench_family strncmp_family = {
	.title = "String comparison",
	.about = "what bpf_strncmp() saves over a loop in the program",
	.opts = strncmp_opts,
	.nr_opts = ARRAY_SIZE(strncmp_opts),
	.params_size = sizeof(struct strncmp_params),
	.benchs = strncmp_benchs,
	.nr_benchs = ARRAY_SIZE(strncmp_benchs),
};

BENCH_FAMILY(strncmp_family);

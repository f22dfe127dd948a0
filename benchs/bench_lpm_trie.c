// SPDX-License-Identifier: GPL-2.0
/*
 * LPM trie (BPF_MAP_TYPE_LPM_TRIE): what a lookup, an update, an insert and a delete cost. What
 * freeing the whole trie costs is in bench_lpm_trie_free.c.
 *
 * Nothing is attached: a producer has the kernel run a program (progs/lpm_trie.bpf.c) again and
 * again, each time for a batch of operations from where its last run ended, in a range of keys of
 * its own. Inserts and deletes, which end when the trie is full or empty, are timed by the program
 * itself: the time to empty or fill the trie again does not count.
 */
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "benchs/lpm_trie.h"
#include "progs/lpm_trie.h"
#include "lpm_trie.skel.h"

/* A batch runs with preemption off: it shall be short, but long against the system call. */
#define BATCH_NS (500 * 1000)

/*
 * Memory of an entry: its node and, since there are no gaps, an intermediate one, each a slab
 * object of 64 bytes with a pointer to the memory cgroup that it is charged to. (On Linux 6.18 they
 * are 149 bytes; memlock in the map's fdinfo says 32.)
 */
#define ENTRY_BYTES 160

/* Above this many entries the trie is in no cache, and an operation takes several times as long. */
#define CACHED_ENTRIES 65536

static const struct opt lpm_opts[] = {
	{ .name = "nr_entries",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lpm_params, nr_entries),
	  .def = 10000,
	  .min = 1,
	  .max = 100 * 1000 * 1000,
	  .help = "Entries of the trie: keys of one prefix length, without gaps" },
	{ .name = "prefix_len",
	  .arg = "BITS",
	  .type = OPT_NUM,
	  .at = offsetof(struct lpm_params, prefix_len),
	  .def = 32,
	  .min = 1,
	  .max = 32,
	  .help = "Prefix length of all keys" },
	{ .name = "random",
	  .type = OPT_FLAG,
	  .at = offsetof(struct lpm_params, random),
	  .help = "Use keys in random order, and not one after the other; not for insert, delete and "
		  "free" },
	{ .name = "seed",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lpm_params, seed),
	  .def = 1,
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "Which random order; the same seed gives the same one" },
};

/* What the benchmarks differ in. */
struct lpm_kind {
	const char *prog;
	unsigned int op_ns; /* about what an operation takes, for the length of a batch */
	bool has_trie;
	bool filled; /* before the start */
	bool changes; /* the number of entries: by one producer, timed by the program */
};

struct lpm_ctx {
	struct lpm_trie_bpf *skel;
	int prog_fd;
	uint32_t ops_per_run;
	bool knows_noexist; /* BPF_NOEXIST has an effect */
	struct lpm_counts *counts;

	/* lpm-trie-insert, lpm-trie-delete: by the one producer */
	uint64_t rounds; /* times that the trie became full, or empty */
	uint64_t refused; /* operations after that, which have to fail */
};

static const struct lpm_params *params_of(const struct bench_run *run)
{
	return run->params;
}

static const struct lpm_kind *kind_of(const struct bench_run *run)
{
	return run->bench->data;
}

/* ---- counts */

struct lpm_counts *lpm_counts_alloc(size_t nr)
{
	struct lpm_counts *counts = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*counts));
	size_t i;

	if (!counts)
		return NULL;
	memset(counts, 0, nr * sizeof(*counts));
	for (i = 0; i < nr; i++)
		pthread_mutex_init(&counts[i].lock, NULL);
	return counts;
}

void lpm_counts_add(struct lpm_counts *counts, uint64_t ops, uint64_t ns)
{
	pthread_mutex_lock(&counts->lock);
	counts->runs++;
	counts->ops += ops;
	counts->section_ns += ns;
	pthread_mutex_unlock(&counts->lock);
}

void lpm_counts_sum(struct lpm_counts *counts, struct lpm_counts *sum)
{
	pthread_mutex_lock(&counts->lock);
	sum->runs += counts->runs;
	sum->ops += counts->ops;
	sum->section_ns += counts->section_ns;
	pthread_mutex_unlock(&counts->lock);
}

/* ---- checks */

static int check_keys(struct bench_run *run)
{
	const struct lpm_params *params = params_of(run);

	if (params->nr_entries <= 1LL << params->prefix_len)
		return 0;
	return bench_refused(&run->err,
			     "--nr_entries: invalid value '%lld': there are only %lld different "
			     "prefixes of %lld bits (--prefix_len)",
			     params->nr_entries, 1LL << params->prefix_len, params->prefix_len);
}

uint64_t lpm_trie_bytes(const struct lpm_params *params)
{
	return params->nr_entries * ENTRY_BYTES;
}

static int check_memory(struct bench_run *run)
{
	const struct lpm_params *params = params_of(run);

	return bench_check_memory(&run->err, "nr_entries", params->nr_entries,
				  "an LPM trie of that many entries", lpm_trie_bytes(params));
}

static int check_walk(struct bench_run *run)
{
	int err;

	err = check_keys(run);
	return err || !kind_of(run)->has_trie ? err : check_memory(run);
}

int lpm_check_single(struct bench_run *run)
{
	int err;

	err = check_keys(run);
	if (err)
		return err;
	if (params_of(run)->random)
		return bench_refused(&run->err, "--random: %s uses each key once, in order",
				     run->bench->name);
	if (run->cfg->producers != 1)
		return bench_refused(&run->err,
				     "-p, --producers: invalid value '%lld': %s has one producer, "
				     "which fills and empties the trie",
				     run->cfg->producers, run->bench->name);
	return check_memory(run);
}

/* ---- running programs */

/* Runs a program of ours. Returns what it returned, or -errno. */
static int run_prog(int prog_fd, const struct lpm_args *prog_args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = prog_args,
		    .ctx_size_in = sizeof(*prog_args));
	int err;

	err = bpf_prog_test_run_opts(prog_fd, &opts);
	return err ? err : (int)opts.retval;
}

static int run_failed(struct bench_run *run, const struct bpf_program *prog, int err)
{
	if (err == -ENOENT)
		return bench_failed(&run->err, 0,
				    "the trie does not find a key that it holds (ENOENT)");
	if (err == -EEXIST)
		return bench_failed(&run->err, 0,
				    "the trie has a key that was not inserted (EEXIST)");
	if (err == -ESTALE)
		return bench_failed(&run->err, 0, "the trie has a wrong value for a key");
	return bench_bpf_error(&run->err, err, "cannot run program %s", bpf_program__name(prog));
}

/* Operations of one run, of @left at most. */
static uint32_t batch_of(const struct lpm_ctx *ctx, uint64_t left)
{
	return left < ctx->ops_per_run ? left : ctx->ops_per_run;
}

/*
 * Runs @prog over all keys, in batches. @t: the thread that does it, which may have to stop; NULL:
 * it is the set-up, whose progress is shown as @what.
 */
static int run_over_all(struct bench_run *run, const struct bpf_program *prog,
			const struct bench_thread *t, const char *what)
{
	const struct lpm_ctx *ctx = run->priv;
	struct lpm_args prog_args = { .len = params_of(run)->nr_entries };
	int err;

	for (; prog_args.at < prog_args.len; prog_args.at += prog_args.nr) {
		if (t && bench_stopping(t))
			return 0;
		prog_args.nr = batch_of(ctx, prog_args.len - prog_args.at);
		err = run_prog(bpf_program__fd(prog), &prog_args);
		if (err)
			return run_failed(run, prog, err);
		if (what)
			bench_progress(run, what, (double)prog_args.at / prog_args.len);
	}
	return 0;
}

/* ---- set-up */

static uint32_t ops_per_run(const struct bench_run *run)
{
	unsigned int ns = kind_of(run)->op_ns;

	if (kind_of(run)->has_trie && params_of(run)->nr_entries > CACHED_ENTRIES)
		ns *= 4;
	return BATCH_NS / ns;
}

static int load(struct bench_run *run)
{
	const struct lpm_params *params = params_of(run);
	const struct lpm_kind *kind = kind_of(run);
	struct lpm_ctx *ctx = run->priv;
	struct lpm_config config = { .random = params->random };
	struct bpf_program *prog;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (err)
		return err;
	ctx->skel = lpm_trie_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	lpm_keys_init(&config.keys, params->prefix_len);
	*(struct lpm_config *)&ctx->skel->rodata->config = config;
	bpf_map__set_autocreate(ctx->skel->maps.trie, kind->has_trie);
	/* One more than there will be, so that it is the keys that count where one is inserted. */
	bpf_map__set_max_entries(ctx->skel->maps.trie, params->nr_entries + 1);
	prog = bpf_object__find_program_by_name(ctx->skel->obj, kind->prog);
	bpf_program__set_autoload(prog, true);
	bpf_program__set_autoload(ctx->skel->progs.lpm_insert, kind->has_trie);
	bpf_program__set_autoload(ctx->skel->progs.lpm_check, kind->filled);
	bpf_program__set_autoload(ctx->skel->progs.lpm_delete, kind->changes);
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		ctx->prog_fd = bpf_program__fd(prog);
	return err;
}

static int new_ctx(struct bench_run *run)
{
	struct lpm_ctx *ctx = bench_priv_alloc(run, sizeof(*ctx));

	if (!ctx)
		return -ENOMEM;
	ctx->counts = lpm_counts_alloc(run->cfg->producers);
	if (!ctx->counts)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->ops_per_run = ops_per_run(run);
	return 0;
}

static void lpm_teardown(struct bench_run *run)
{
	struct lpm_ctx *ctx = run->priv;

	if (!ctx)
		return;
	lpm_trie_bpf__destroy(ctx->skel);
	free(ctx->counts);
	free(ctx);
}

/* To fill a trie of millions of entries takes too long for a probe. */
static int lpm_probe(struct bench_run *run)
{
	int err;

	err = new_ctx(run);
	if (!err)
		err = load(run);
	lpm_teardown(run);
	return err;
}

/*
 * Before Linux 6.13, and in stable kernels of that time, BPF_NOEXIST has no effect on this kind of
 * map. What the benchmark inserts is new all the same; but that a key is there cannot be shown.
 */
static int find_noexist(struct bench_run *run)
{
	struct lpm_ctx *ctx = run->priv;
	const struct bpf_program *insert = ctx->skel->progs.lpm_insert;
	const struct lpm_args one = { .nr = 1, .len = 1 };
	int err;

	err = run_prog(bpf_program__fd(insert), &one);
	if (err)
		return run_failed(run, insert, err);
	err = run_prog(bpf_program__fd(insert), &one);
	ctx->knows_noexist = err == -EEXIST;
	if (err && err != -EEXIST)
		return run_failed(run, insert, err);
	err = run_prog(bpf_program__fd(ctx->skel->progs.lpm_delete), &one);
	return err ? run_failed(run, ctx->skel->progs.lpm_delete, err) : 0;
}

static int lpm_setup(struct bench_run *run)
{
	const struct lpm_kind *kind = kind_of(run);
	struct lpm_ctx *ctx;
	int err;

	if (kind->has_trie)
		bench_memory_available(lpm_trie_bytes(params_of(run)), NULL);
	err = new_ctx(run);
	if (!err)
		err = load(run);
	ctx = run->priv;
	if (!err && kind->changes)
		err = find_noexist(run);
	if (!err && kind->filled)
		err = run_over_all(run, ctx->skel->progs.lpm_insert, NULL, "filling the trie");
	if (!err && kind->filled)
		err = run_over_all(run, ctx->skel->progs.lpm_check, NULL, "checking the trie");
	if (!err)
		snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return err;
}

/* ---- producers */

/* The keys of producer @idx: a part of all, or the same as another's where there are too few. */
static void set_range(const struct bench_run *run, int idx, struct lpm_args *prog_args)
{
	const uint64_t nr = params_of(run)->nr_entries, parts = run->cfg->producers;

	if (nr < parts) {
		prog_args->first = idx % nr;
		prog_args->len = 1;
	} else {
		prog_args->first = nr * idx / parts;
		prog_args->len = nr * (idx + 1) / parts - prog_args->first;
	}
}

/* noop, baseline, lookup, update: they leave the trie as it is, and go round and round. */
static int walk_producer(struct bench_thread *t)
{
	struct bench_run *run = t->run;
	const struct lpm_params *params = params_of(run);
	struct lpm_ctx *ctx = run->priv;
	struct lpm_args prog_args = { .nr = ctx->ops_per_run };
	uint64_t seed = params->seed + ((uint64_t)t->idx << 32);
	int err;

	set_range(run, t->idx, &prog_args);
	while (!bench_stopping(t)) {
		/* Spread over all bits: neighboring seeds would give neighboring sequences. */
		prog_args.seed = seed++ * 0x9e3779b97f4a7c15ULL;
		err = run_prog(ctx->prog_fd, &prog_args);
		if (err)
			return run_failed(run,
					  bpf_object__find_program_by_name(ctx->skel->obj,
									   kind_of(run)->prog),
					  err);
		prog_args.at = (prog_args.at + prog_args.nr) % prog_args.len;
		lpm_counts_add(&ctx->counts[t->idx], prog_args.nr, 0);
	}
	return 0;
}

/*
 * insert, delete: the measured program until it has used all keys, then its opposite, which does
 * not count. In between, one operation more must return -@refusal (0: this kernel does not).
 */
static int change(struct bench_thread *t, const struct bpf_program *measured,
		  const struct bpf_program *opposite, int refusal)
{
	struct bench_run *run = t->run;
	struct lpm_ctx *ctx = run->priv;
	struct lpm_args prog_args = { .len = params_of(run)->nr_entries };
	int err = 0;

	while (!err && !bench_stopping(t)) {
		prog_args.nr = batch_of(ctx, prog_args.len - prog_args.at);
		err = run_prog(ctx->prog_fd, &prog_args);
		if (err)
			return run_failed(run, measured, err);
		lpm_counts_add(&ctx->counts[0], prog_args.nr, ctx->skel->bss->section_ns);
		prog_args.at += prog_args.nr;
		if (prog_args.at < prog_args.len)
			continue;
		prog_args.at = 0;
		ctx->rounds++;
		if (refusal) {
			prog_args.nr = 1;
			err = run_prog(ctx->prog_fd, &prog_args);
			if (err != -refusal)
				return bench_failed(&run->err, 0,
						    "program %s has used all %llu keys, and one "
						    "more returns %s and not %s",
						    bpf_program__name(measured),
						    (unsigned long long)prog_args.len,
						    err ? "another error" : "success",
						    why_errno_name(refusal));
			ctx->refused++;
		}
		err = run_over_all(run, opposite, t, NULL);
	}
	return err;
}

static int insert_producer(struct bench_thread *t)
{
	const struct lpm_ctx *ctx = t->run->priv;

	return change(t, ctx->skel->progs.lpm_insert, ctx->skel->progs.lpm_delete,
		      ctx->knows_noexist ? EEXIST : 0);
}

static int delete_producer(struct bench_thread *t)
{
	const struct lpm_ctx *ctx = t->run->priv;

	return change(t, ctx->skel->progs.lpm_delete, ctx->skel->progs.lpm_insert, ENOENT);
}

/* ---- figures */

static const struct figure change_figures[] = {
	[SECTION_OPS] = {
		.name = "ops",
		.unit = "M ops/s",
		.scale = 1e6,
		.in_section = true,
		.better = BETTER_HIGHER,
		.help = "operations, in millions per second of the time that they took",
	},
	[SECTION_LATENCY] = {
		.name = "latency",
		.unit = "ns/op",
		.kind = FIGURE_TIME,
		.of = SECTION_OPS,
		.in_section = true,
		.better = BETTER_LOWER,
		.help = "time of one operation",
	},
	[SECTION] = {
		.name = "in_section",
		.unit = "%",
		.kind = FIGURE_SECTION,
		.better = BETTER_NONE,
		.help = "share of the time in which operations were measured; the rest refilled or "
			"emptied the trie",
	},
};

void lpm_section_progress(FILE *out, const struct report *report, const double *values,
			  const struct sample *s, int producers)
{
	const char unit = report->figures[SECTION_OPS].unit[0]; /* M or K */

	fprintf(out, "hits %8.3lf%c/s (%7.3lf%c/prod)\n", values[SECTION_OPS], unit,
		values[SECTION_OPS] / producers, unit);
}

void lpm_section_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			 const struct sample *total, int producers)
{
	const struct figure *ops = &report->figures[SECTION_OPS];

	fprintf(out,
		"Summary: throughput %8.3lf \u00B1 %5.3lf %s (%7.3lf%c ops/prod), latency %8.3lf "
		"%s\n",
		stats[SECTION_OPS].mean, stats[SECTION_OPS].stddev, ops->unit,
		stats[SECTION_OPS].mean / producers, ops->unit[0], stats[SECTION_LATENCY].mean,
		report->figures[SECTION_LATENCY].unit);
}

static const struct report report_change = {
	.name = "ops_in_section",
	.figures = change_figures,
	.nr_figures = ARRAY_SIZE(change_figures),
	.progress = lpm_section_progress,
	.summary = lpm_section_summary,
};

static struct lpm_counts sum_counts(const struct bench_run *run)
{
	struct lpm_ctx *ctx = run->priv;
	struct lpm_counts sum = {};
	int i;

	for (i = 0; i < run->cfg->producers; i++)
		lpm_counts_sum(&ctx->counts[i], &sum);
	return sum;
}

static void walk_measure(struct bench_run *run, struct values *v)
{
	v->v[OPS] = sum_counts(run).ops;
}

static void change_measure(struct bench_run *run, struct values *v)
{
	const struct lpm_counts sum = sum_counts(run);

	v->v[SECTION_OPS] = sum.ops;
	v->v[SECTION] = sum.section_ns;
}

static void walk_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct lpm_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	c->runs = sum_counts(run).runs;
}

/* The inserting program, and the deleting one, run for the set-up as well. */
static void change_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const bool inserts = !kind_of(run)->filled;
	struct lpm_ctx *ctx = run->priv;
	const struct lpm_counts sum = sum_counts(run);

	c->prog_fd = ctx->prog_fd;
	c->runs = sum.runs + ctx->refused + (inserts ? 2 : 1);
	bench_count(c, "ops", sum.ops);
	if (inserts && !ctx->knows_noexist)
		return;
	bench_count(c, "rounds", ctx->rounds);
	bench_count(c, "refused", ctx->refused);
	bench_identity(c, "rounds = refused");
}

/* ---- the benchmarks */

/* Defines lpm-trie-@op, whose program is lpm_@op; what follows goes into its kind. */
#define LPM_BENCH(op, desc_, frees_, report_, check_, producer_, measure_, conserve_, ...) \
	static const struct bench lpm_##op = {                                             \
		.name = "lpm-trie-" #op,                                                   \
		.desc = desc_,                                                             \
		.needs = "Linux 5.17 or newer",                                            \
		.kernel_workers = frees_,                                                  \
		.report = report_,                                                         \
		.data = &(const struct lpm_kind){ .prog = "lpm_" #op, __VA_ARGS__ },       \
		.check = check_,                                                           \
		.probe = lpm_probe,                                                        \
		.setup = lpm_setup,                                                        \
		.teardown = lpm_teardown,                                                  \
		.producer = producer_,                                                     \
		.measure = measure_,                                                       \
		.conserve = conserve_,                                                     \
	}

/* Those that leave the number of entries alone, and those that change it; which free nodes. */
#define LPM_WALK_BENCH(op, desc_, frees_, ...)                                             \
	LPM_BENCH(op, desc_, frees_, &report_ops, check_walk, walk_producer, walk_measure, \
		  walk_conserve, __VA_ARGS__)
#define LPM_CHANGE_BENCH(op, desc_, ...)                                            \
	LPM_BENCH(op, desc_, true, &report_change, lpm_check_single, op##_producer, \
		  change_measure, change_conserve, .has_trie = true, .changes = true, __VA_ARGS__)

LPM_WALK_BENCH(noop, "turns of the loop that the other benchmarks use, which do nothing", false,
	       .op_ns = 8);
LPM_WALK_BENCH(baseline, "keys made and not used: what lookups and updates cost without a trie",
	       false, .op_ns = 10);
LPM_WALK_BENCH(lookup, "lookups in an LPM trie of keys that it holds", false, .op_ns = 150,
	       .has_trie = true, .filled = true);
LPM_WALK_BENCH(update, "updates of entries of an LPM trie (BPF_EXIST)", true, .op_ns = 400,
	       .has_trie = true, .filled = true);
LPM_CHANGE_BENCH(insert, "inserts of new keys into an LPM trie, which is emptied when full",
		 .op_ns = 800);
LPM_CHANGE_BENCH(delete, "deletes of all keys of an LPM trie, which is filled when empty",
		 .op_ns = 800, .filled = true);

static const struct bench *const lpm_benchs[] = {
	&lpm_noop, &lpm_baseline, &lpm_lookup, &lpm_insert, &lpm_update, &lpm_delete, &lpm_free,
};

static struct bench_family lpm_family = {
	.title = "LPM trie",
	.about = "what lookups in an LPM trie cost, and changes of it, and to free it",
	.opts = lpm_opts,
	.nr_opts = ARRAY_SIZE(lpm_opts),
	.params_size = sizeof(struct lpm_params),
	.benchs = lpm_benchs,
	.nr_benchs = ARRAY_SIZE(lpm_benchs),
};

BENCH_FAMILY(lpm_family);

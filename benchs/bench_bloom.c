// SPDX-License-Identifier: GPL-2.0
/*
 * BPF bloom filter: what a lookup and an update cost, how often it is wrong, and what it saves in
 * front of a hash map.
 *
 * Nothing is attached: each producer has the kernel run the program (progs/bloom.bpf.c) again and
 * again, each time for a batch of operations from where its last run ended. It walks through all
 * values, beginning at a point of its own, and shares nothing that is written with the others.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bloom_theory.h"
#include "progs/bloom.h"
#include "bloom.skel.h"

/*
 * A CPU that runs a batch does nothing else meanwhile (preemption is off), and its operations are
 * counted when it ends: so it shall be short, but long against the system call, which takes about
 * a microsecond.
 */
#define BATCH_NS	 (250 * 1000)
#define BATCH_CHUNKS_MAX 32

/* Fewer absent values than this would let branch prediction learn the answers by heart. */
#define STORED_ABSENT_MIN 65536

/*
 * More buckets than this do not fit into the 32-bit size that the kernel computes (16 bytes each).
 */
#define HASH_ENTRIES_MAX (1ULL << 27)

struct bloom_params {
	long long nr_entries;
	long long nr_hash_funcs;
	long long value_size;
	long long seed;
};

static const struct opt bloom_opts[] = {
	{ .name = "nr_entries",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct bloom_params, nr_entries),
	  .def = 1000,
	  .min = 1,
	  .max = UINT32_MAX,
	  .help = "Different values put into the maps" },
	{ .name = "nr_hash_funcs",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct bloom_params, nr_hash_funcs),
	  .def = 3,
	  .min = 1,
	  .max = 15,
	  .help = "Hash functions of the bloom filter" },
	{ .name = "value_size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct bloom_params, value_size),
	  .def = 8,
	  .min = 2,
	  .max = BLOOM_MAX_VALUE_SIZE,
	  .help = "Size of a value" },
	{ .name = "seed",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct bloom_params, seed),
	  .def = 1,
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "Which random values; the same seed gives the same values and filter" },
};

/* What the benchmarks differ in. */
struct bloom_kind {
	const char *prog;
	bool has_filter;
	bool has_hash;
	bool verifies_by_hash; /* has it only with --verify: whether what is absent is absent */
	/* What is asked for is stored in an array: the entries, or others. Else it is made anew. */
	bool stores_entries;
	bool stores_absent;
	/* What the program returns when a map gave a wrong answer, and that in words. */
	int wrong;
	const char *wrong_text;
};

/* Counts of one producer, alone on their cache lines. */
struct bloom_counts {
	uint64_t runs;
	uint64_t false_hits;
} __attribute__((aligned(BENCH_CACHELINE)));

struct bloom_ctx {
	struct bloom_bpf *skel;
	int prog_fd;
	uint64_t nr_walked; /* values that producers walk through */
	uint64_t ops_per_run;
	struct bloom_counts *counts;
};

/* ---- sizes */

static uint64_t nr_values(const struct bloom_values *values)
{
	return values->mask == UINT64_MAX ? UINT64_MAX : values->mask + 1;
}

/* Nanoseconds that an operation takes at most; a guess that is good enough for a batch's length. */
static uint64_t op_ns(const struct bloom_kind *kind, const struct bloom_params *params,
		      const struct bloom_config *cfg)
{
	uint64_t filter_bytes = bloom_bits(cfg->nr_entries, params->nr_hash_funcs) / 8;
	uint64_t hashes, ns = 10;

	if (cfg->has_filter) {
		/* A lookup ends at the first bit that is not set: that of an absent value soon. */
		hashes = kind->stores_entries || params->nr_hash_funcs < 3 ? params->nr_hash_funcs :
									     3;
		/* A large filter is not in the cache. */
		ns += hashes * (5 + params->value_size / 2 + (filter_bytes >> 20 ? 30 : 0));
	}
	if (cfg->has_hash)
		ns += 20 + params->value_size / 2 + (cfg->nr_entries >> 14 ? 200 : 0);
	return ns;
}

static struct bloom_config make_config(const struct bench_run *run)
{
	const struct bloom_params *params = run->params;
	const struct bloom_kind *kind = run->bench->data;
	struct bloom_config cfg = {
		.nr_entries = params->nr_entries,
		.nr_stored = 1,
		.has_filter = kind->has_filter,
		.has_hash = kind->has_hash || (kind->verifies_by_hash && run->cfg->verify),
	};
	uint64_t chunks;

	bloom_values_init(&cfg.values, params->value_size, params->seed);
	cfg.nr_absent = cfg.values.mask - cfg.nr_entries + 1;
	if (kind->stores_entries) {
		cfg.nr_stored = cfg.nr_entries;
	} else if (kind->stores_absent) {
		/* As many as there are entries, so that they are spread over as much memory. */
		cfg.first_stored = cfg.nr_entries;
		cfg.nr_stored = cfg.nr_entries > STORED_ABSENT_MIN ? cfg.nr_entries :
								     STORED_ABSENT_MIN;
		if (cfg.nr_stored > cfg.nr_absent)
			cfg.nr_stored = cfg.nr_absent;
	}
	chunks = BATCH_NS / op_ns(kind, params, &cfg) / BLOOM_CHUNK;
	if (chunks > BATCH_CHUNKS_MAX)
		chunks = BATCH_CHUNKS_MAX;
	cfg.nr_chunks = chunks ? chunks : 1;
	return cfg;
}

static bool stores_any(const struct bloom_kind *kind)
{
	return kind->stores_entries || kind->stores_absent;
}

static uint64_t stored_slots(const struct bloom_config *cfg)
{
	return (uint64_t)cfg->nr_stored + BLOOM_CHUNK - 1;
}

static uint64_t round_up_8(uint64_t n)
{
	return (n + 7) / 8 * 8;
}

/* Bytes of the maps: what the kernel allocates for them when they are created. */
static uint64_t memory_needed(const struct bench_run *run, const struct bloom_config *cfg)
{
	const struct bloom_params *params = run->params;
	const struct bloom_kind *kind = run->bench->data;
	uint64_t bytes = 0, buckets = 1;

	if (kind->has_filter)
		bytes += bloom_bits(cfg->nr_entries, params->nr_hash_funcs) / 8;
	if (cfg->has_hash) {
		while (buckets < cfg->nr_entries)
			buckets *= 2;
		/* struct bucket; struct htab_elem, key, value, and a spare one for each CPU. */
		bytes += 16 * buckets;
		bytes += ((uint64_t)cfg->nr_entries + cpuset_nr_possible()) *
			 (48 + round_up_8(params->value_size) + 8);
	}
	if (stores_any(kind))
		bytes += stored_slots(cfg) * round_up_8(params->value_size);
	return bytes;
}

/* ---- checks and probes */

static int check_memory(struct bench_run *run, const struct bloom_config *cfg)
{
	const struct bloom_params *params = run->params;
	char what[128];

	snprintf(what, sizeof(what), "for that many values of %lld bytes the maps of %s",
		 params->value_size, run->bench->name);
	return bench_check_memory(&run->err, "nr_entries", params->nr_entries, what,
				  memory_needed(run, cfg));
}

static int bloom_check(struct bench_run *run)
{
	const struct bloom_params *params = run->params;
	const struct bloom_kind *kind = run->bench->data;
	struct bloom_values values;
	struct bloom_config cfg;
	uint64_t nr = params->nr_entries;

	bloom_values_init(&values, params->value_size, params->seed);
	if (nr > nr_values(&values))
		return bench_refused(&run->err,
				     "--nr_entries: invalid value '%lld': there are only %llu "
				     "different values of %lld bytes (--value_size)",
				     params->nr_entries, (unsigned long long)nr_values(&values),
				     params->value_size);
	/* All but lookup and update ask for values that are not there. */
	if (!kind->stores_entries && nr == nr_values(&values))
		return bench_refused(&run->err,
				     "--nr_entries: invalid value '%lld': these are all values of "
				     "%lld bytes (--value_size), and %s looks up others",
				     params->nr_entries, params->value_size, run->bench->name);
	cfg = make_config(run);
	if (cfg.has_hash && nr > HASH_ENTRIES_MAX)
		return bench_refused(&run->err,
				     "--nr_entries: invalid value '%lld': a BPF hash map holds "
				     "%llu at most",
				     params->nr_entries, HASH_ENTRIES_MAX);
	return check_memory(run, &cfg);
}

/* To fill maps of millions of entries takes too long for a probe. */
static int bloom_probe(struct bench_run *run)
{
	const struct bloom_params *params = run->params;
	const struct bloom_kind *kind = run->bench->data;
	int ret;

	ret = bench_probe_prog_run(&run->err);
	if (!ret && kind->has_filter)
		ret = bench_probe_map(&run->err, "bloom filter map (BPF_MAP_TYPE_BLOOM_FILTER)",
				      "Linux 5.16", BPF_MAP_TYPE_BLOOM_FILTER, 0,
				      params->value_size, 1, BPF_F_ZERO_SEED);
	return ret;
}

/* ---- set-up */

/*
 * Runs a program of ours for the values from @first on, as producer @idx. Returns what it returned,
 * or -errno.
 */
static int run_prog(int prog_fd, uint64_t first, unsigned int idx)
{
	struct bloom_args prog_args = { .first = first, .producer = idx };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &prog_args,
		    .ctx_size_in = sizeof(prog_args));
	int err;

	err = bpf_prog_test_run_opts(prog_fd, &opts);
	return err ? err : (int)opts.retval;
}

/* One map, or two, being filled by all CPUs. */
struct fill {
	int prog_fd;
	uint64_t total;
	uint64_t next; /* value that nobody has begun with; atomic */
	int err; /* the first one; atomic */
};

/* Takes the next values to be filled in, until there are none. Returns whether there are more. */
static bool fill_some(struct fill *fill)
{
	uint64_t first = __atomic_fetch_add(&fill->next, BLOOM_CHUNK, __ATOMIC_RELAXED);
	int err, none = 0;

	if (first >= fill->total || __atomic_load_n(&fill->err, __ATOMIC_RELAXED))
		return false;
	err = run_prog(fill->prog_fd, first, 0);
	if (err)
		__atomic_compare_exchange_n(&fill->err, &none, err, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return !err;
}

static void *fill_thread(void *arg)
{
	while (fill_some(arg))
		;
	return NULL;
}

/* @done and @share: the parts of the whole set-up that lie behind, and that this is. */
static int fill_maps(struct bench_run *run, int prog_fd, uint64_t total, double done, double share)
{
	struct fill fill = { .prog_fd = prog_fd, .total = total };
	int nr_threads = 0, nr_cpus = 1, i;
	struct cpuset allowed = {};
	pthread_t *threads;

	if (!cpuset_allowed(&allowed))
		nr_cpus = allowed.cnt;
	cpuset_free(&allowed);
	/* This thread is one of them. Where others cannot be had, it only takes longer. */
	threads = calloc(nr_cpus, sizeof(*threads));
	while (threads && nr_threads < nr_cpus - 1 &&
	       !pthread_create(&threads[nr_threads], NULL, fill_thread, &fill))
		nr_threads++;
	while (fill_some(&fill))
		bench_progress(run, "filling the maps",
			       done + share * __atomic_load_n(&fill.next, __ATOMIC_RELAXED) /
					       total);
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	if (fill.err)
		return bench_bpf_error(&run->err, fill.err, "cannot fill the maps with %llu values",
				       (unsigned long long)total);
	return 0;
}

static void set_up_map(struct bpf_map *map, bool wanted, uint32_t key_size, uint32_t value_size,
		       uint32_t nr)
{
	bpf_map__set_autocreate(map, wanted);
	bpf_map__set_key_size(map, key_size);
	bpf_map__set_value_size(map, value_size);
	bpf_map__set_max_entries(map, nr);
}

static int load(struct bench_run *run, const struct bloom_config *cfg)
{
	const struct bloom_params *params = run->params;
	const struct bloom_kind *kind = run->bench->data;
	struct bloom_ctx *ctx = run->priv;
	struct bpf_program *prog;
	int err;

	ctx->skel = bloom_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	*(struct bloom_config *)&ctx->skel->rodata->config = *cfg;
	set_up_map(ctx->skel->maps.filter, kind->has_filter, 0, params->value_size,
		   cfg->nr_entries);
	bpf_map__set_map_extra(ctx->skel->maps.filter, params->nr_hash_funcs);
	set_up_map(ctx->skel->maps.hash, cfg->has_hash, params->value_size, 1, cfg->nr_entries);
	set_up_map(ctx->skel->maps.stored, stores_any(kind), sizeof(uint32_t), params->value_size,
		   stored_slots(cfg));
	set_up_map(ctx->skel->maps.made, !stores_any(kind), sizeof(uint32_t), BLOOM_MAX_VALUE_SIZE,
		   run->cfg->producers);
	prog = bpf_object__find_program_by_name(ctx->skel->obj, kind->prog);
	bpf_program__set_autoload(prog, true);
	bpf_program__set_autoload(ctx->skel->progs.bloom_insert, true);
	bpf_program__set_autoload(ctx->skel->progs.bloom_store, stores_any(kind));
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		ctx->prog_fd = bpf_program__fd(prog);
	return err;
}

static int bloom_setup(struct bench_run *run)
{
	const struct bloom_config cfg = make_config(run);
	const struct bloom_kind *kind = run->bench->data;
	struct bloom_ctx *ctx = bench_priv_alloc(run, sizeof(*ctx));
	uint64_t slots = stores_any(kind) ? stored_slots(&cfg) : 0;
	double inserts;
	size_t size;
	int err;

	if (!ctx)
		return -ENOMEM;
	size = run->cfg->producers * sizeof(*ctx->counts);
	ctx->counts = aligned_alloc(BENCH_CACHELINE, size);
	if (!ctx->counts)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	memset(ctx->counts, 0, size);
	ctx->ops_per_run = (uint64_t)cfg.nr_chunks * BLOOM_CHUNK;
	ctx->nr_walked = slots ? cfg.nr_stored : cfg.nr_absent;
	bench_memory_available(memory_needed(run, &cfg), NULL);
	err = load(run, &cfg);
	if (err)
		return err;
	inserts = (double)cfg.nr_entries / (cfg.nr_entries + slots);
	err = fill_maps(run, bpf_program__fd(ctx->skel->progs.bloom_insert), cfg.nr_entries, 0,
			inserts);
	if (!err && slots)
		err = fill_maps(run, bpf_program__fd(ctx->skel->progs.bloom_store), slots, inserts,
				1 - inserts);
	return err;
}

static void bloom_teardown(struct bench_run *run)
{
	struct bloom_ctx *ctx = run->priv;

	if (!ctx)
		return;
	bloom_bpf__destroy(ctx->skel);
	free(ctx->counts);
	free(ctx);
}

/* ---- the run */

static int run_failed(struct bench_run *run, int err)
{
	const struct bloom_kind *kind = run->bench->data;

	if (err == -kind->wrong)
		return bench_failed(&run->err, 0, "%s", kind->wrong_text);
	return bench_bpf_error(&run->err, err, "cannot run program %s", kind->prog);
}

static int bloom_producer(struct bench_thread *t)
{
	struct bloom_ctx *ctx = t->run->priv;
	struct bloom_counts *counts = &ctx->counts[t->idx];
	uint64_t next = ctx->nr_walked / t->run->cfg->producers * t->idx;
	int ret;

	while (!bench_stopping(t)) {
		ret = run_prog(ctx->prog_fd, next, t->idx);
		if (ret < 0)
			return run_failed(t->run, ret);
		next = (next + ctx->ops_per_run) % ctx->nr_walked;
		__atomic_store_n(&counts->false_hits, counts->false_hits + ret, __ATOMIC_RELAXED);
		__atomic_store_n(&counts->runs, counts->runs + 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static uint64_t sum_runs(const struct bench_run *run)
{
	const struct bloom_ctx *ctx = run->priv;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < run->cfg->producers; i++)
		sum += __atomic_load_n(&ctx->counts[i].runs, __ATOMIC_RELAXED);
	return sum;
}

static uint64_t sum_false_hits(const struct bench_run *run)
{
	const struct bloom_ctx *ctx = run->priv;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < run->cfg->producers; i++)
		sum += __atomic_load_n(&ctx->counts[i].false_hits, __ATOMIC_RELAXED);
	return sum;
}

static void bloom_measure(struct bench_run *run, struct values *v)
{
	const struct bloom_ctx *ctx = run->priv;

	v->v[HITS] = sum_runs(run) * ctx->ops_per_run;
}

static void bloom_conserve(struct bench_run *run, struct bench_conservation *c)
{
	c->prog_fd = ((struct bloom_ctx *)run->priv)->prog_fd;
	c->runs = sum_runs(run);
}

/* ---- false positives */

enum { FALSE_POSITIVES, FALSE_HITS, LOOKUPS };

static const struct figure false_positive_figures[] = {
	[FALSE_POSITIVES] = {
		.name = "false_positives",
		.unit = "%",
		.kind = FIGURE_RATIO,
		.of = FALSE_HITS,
		.per = LOOKUPS,
		.scale = 0.01,
		.better = BETTER_LOWER,
		.help = "lookups of absent values that the filter answers by 'maybe'",
	},
	[FALSE_HITS] = {
		.name = "false_hits",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "the same, in millions per second",
	},
	[LOOKUPS] = {
		.name = "lookups",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "lookups of absent values",
	},
};

static void print_false_hits(FILE *out, const struct sample *s)
{
	uint64_t false_hits = s->raw.v[FALSE_HITS], lookups = s->raw.v[LOOKUPS];

	fprintf(out,
		"%" PRIu64 " false hits of %" PRIu64 " total operations. Percentage =  %2.2f %%\n",
		false_hits, lookups, lookups ? 100.0 * false_hits / lookups : 0.0);
}

static void false_positive_progress(FILE *out, const struct report *report, const double *values,
				    const struct sample *s, int producers)
{
	print_false_hits(out, s);
}

static void false_positive_summary(FILE *out, const struct report *report,
				   const struct figure_stats *stats, const struct sample *total,
				   int producers)
{
	fputs("Summary: ", out);
	print_false_hits(out, total);
}

static const struct report report_false_positives = {
	.name = "false_positives",
	.figures = false_positive_figures,
	.nr_figures = ARRAY_SIZE(false_positive_figures),
	.progress = false_positive_progress,
	.summary = false_positive_summary,
};

static void false_positive_measure(struct bench_run *run, struct values *v)
{
	const struct bloom_ctx *ctx = run->priv;

	v->v[FALSE_HITS] = sum_false_hits(run);
	v->v[LOOKUPS] = sum_runs(run) * ctx->ops_per_run;
}

/* ---- the benchmarks */

/* Defines benchmark @id, whose program has the same name; what follows goes into its kind. */
#define BLOOM_BENCH(id, name_, needs_, desc_, report_, measure_, ...)           \
	static const struct bench id = {                                        \
		.name = name_,                                                  \
		.desc = desc_,                                                  \
		.needs = needs_,                                                \
		.report = report_,                                              \
		.data = &(const struct bloom_kind){ .prog = #id, __VA_ARGS__ }, \
		.check = bloom_check,                                           \
		.probe = bloom_probe,                                           \
		.setup = bloom_setup,                                           \
		.teardown = bloom_teardown,                                     \
		.producer = bloom_producer,                                     \
		.measure = measure_,                                            \
		.conserve = bloom_conserve,                                     \
	}

#define FOUND_ABSENT "the hash map claims to have a value that was never put into it"

BLOOM_BENCH(bloom_lookup, "bloom-lookup", "Linux 5.16 or newer",
	    "lookups in a bloom filter (bpf_map_peek_elem()) of the values that it holds",
	    &report_hits_drops, bloom_measure, .has_filter = true, .stores_entries = true,
	    .wrong = ENOENT,
	    .wrong_text = "the bloom filter does not find a value that was put into it (ENOENT)");

BLOOM_BENCH(bloom_update, "bloom-update", "Linux 5.16 or newer",
	    "updates of a bloom filter (bpf_map_push_elem()) with the values that it holds",
	    &report_hits_drops, bloom_measure, .has_filter = true, .stores_entries = true);

BLOOM_BENCH(bloom_false_positive, "bloom-false-positive", "Linux 5.16 or newer",
	    "lookups in a bloom filter of values that it does not hold; how many it claims to have",
	    &report_false_positives, false_positive_measure, .has_filter = true,
	    .verifies_by_hash = true, .wrong = EEXIST, .wrong_text = FOUND_ABSENT);

BLOOM_BENCH(hashmap_without_bloom, "hashmap-without-bloom", "Linux 5.10 or newer",
	    "lookups in a hash map of values that it does not hold", &report_hits_drops,
	    bloom_measure, .has_hash = true, .stores_absent = true, .wrong = EEXIST,
	    .wrong_text = FOUND_ABSENT);

BLOOM_BENCH(hashmap_with_bloom, "hashmap-with-bloom", "Linux 5.16 or newer",
	    "the same, with a bloom filter asked first, and the hash map only where it says maybe",
	    &report_hits_drops, bloom_measure, .has_filter = true, .has_hash = true,
	    .stores_absent = true, .wrong = EEXIST, .wrong_text = FOUND_ABSENT);

static const struct bench *const bloom_benchs[] = {
	&bloom_lookup,		&bloom_update,	     &bloom_false_positive,
	&hashmap_without_bloom, &hashmap_with_bloom,
};

static struct bench_family bloom_family = {
	.title = "Bloom filter",
	.about =
		"what a bloom filter costs, how often it is wrong, what it saves in front of a hash map",
	.opts = bloom_opts,
	.nr_opts = ARRAY_SIZE(bloom_opts),
	.params_size = sizeof(struct bloom_params),
	.benchs = bloom_benchs,
	.nr_benchs = ARRAY_SIZE(bloom_benchs),
};

BENCH_FAMILY(bloom_family);

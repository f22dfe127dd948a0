// SPDX-License-Identifier: GPL-2.0
/*
 * bpf-hashmap-lookup, bpf-rhashmap-lookup: what it costs to look up a key that a hash map has, by
 * the size of the key and by how full the map is.
 *
 * Nothing is attached: each producer has the kernel run the program again and again, each time for
 * a batch of lookups from where its last run ended.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/hashmaps.h"
#include "progs/hashmap_lookup.h"
#include "hashmap_lookup.skel.h"

/* Counted when a run ends, during which a CPU may do little else: so it is short. */
#define BATCH_NS    (250 * 1000)
#define MAX_LOOKUPS (512 * LOOKUP_CHUNK) /* in one run */

#define NR_LOOPS_MAX (1 << 23) /* the kernel's BPF_MAX_LOOPS */

#define VALUE_SIZE 8

enum order { ORDER_LINEAR, ORDER_RANDOM };

struct lookup_params {
	long long key_size;
	long long map_flags;
	long long max_entries;
	long long nr_entries;
	long long nr_loops;
	long long seed;
	int order;
};

/* ---- --map_flags */

#define KNOWN_FLAGS (BPF_F_NO_PREALLOC | BPF_F_ZERO_SEED | BPF_F_RDONLY_PROG)

/* In any base, as strtoul() has it: people know these flags by hexadecimal numbers. */
static int flags_parse(const char *arg, void *dest)
{
	unsigned long value;
	char *end;

	if (*arg < '0' || *arg > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(arg, &end, 0);
	if (errno || *end || value & ~(unsigned long)KNOWN_FLAGS)
		return -EINVAL;
	*(long long *)dest = value;
	return 0;
}

static void flags_reset(void *dest)
{
	*(long long *)dest = 0;
}

static int flags_format(const void *dest, char *buf, size_t size)
{
	snprintf(buf, size, "%#llx", *(const long long *)dest);
	return 0;
}

static const char *const order_names[] = { "linear", "random", NULL };

static const struct opt lookup_opts[] = {
	{ .name = "key_size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct lookup_params, key_size),
	  .def = 4,
	  .min = 1,
	  .max = LOOKUP_MAX_KEY_SIZE,
	  .help = "Size of a key" },
	{ .name = "map_flags",
	  .arg = "FLAGS",
	  .type = OPT_CUSTOM,
	  .at = offsetof(struct lookup_params, map_flags),
	  .help = "Flags to create the map with: 0x1 BPF_F_NO_PREALLOC, 0x40 BPF_F_ZERO_SEED, "
		  "0x80 BPF_F_RDONLY_PROG, or a sum of them",
	  .allowed = "0, or a sum of 0x1, 0x40 and 0x80",
	  .parse = flags_parse,
	  .reset = flags_reset,
	  .format = flags_format },
	{ .name = "max_entries",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lookup_params, max_entries),
	  .def = 1000,
	  .min = 1,
	  .max = HASHMAP_MAX_ENTRIES,
	  .help = "Entries that the map is created for" },
	{ .name = "nr_entries",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lookup_params, nr_entries),
	  .def = 500,
	  .min = 1,
	  .max = HASHMAP_MAX_ENTRIES,
	  .help = "Entries that it has; all of them are looked up" },
	{ .name = "nr_loops",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lookup_params, nr_loops),
	  .def = 1000000,
	  .min = 1,
	  .max = NR_LOOPS_MAX,
	  .help = "Lookups per trigger; more than take about 0.25 ms are made in equal parts" },
	{ .name = "order",
	  .arg = "ORDER",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct lookup_params, order),
	  .def = ORDER_LINEAR,
	  .choices = order_names,
	  .help = "Where the keys that are looked up one after the other lie in memory: in a row, "
		  "as they were inserted, or anywhere" },
	{ .name = "seed",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct lookup_params, seed),
	  .def = 1,
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "Which random order, and which bytes follow the number in a key" },
};

struct lookup_ctx {
	struct hashmap_lookup_bpf *skel;
	int prog_fd;
	uint32_t per_run; /* lookups */
	struct bench_counter *runs, *misses; /* of each producer */
};

static bool is_resizable(const struct bench_run *run)
{
	return *(const bool *)run->bench->data;
}

static struct hashmap_spec make_spec(const struct bench_run *run)
{
	const struct lookup_params *params = run->params;
	struct hashmap_spec spec = {
		.resizable = is_resizable(run),
		.key_size = params->key_size,
		.value_size = VALUE_SIZE,
		.max_entries = params->max_entries,
		.flags = params->map_flags,
	};

	if (spec.resizable)
		spec.flags |= BPF_F_NO_PREALLOC;
	return spec;
}

static uint32_t lookups_per_run(const struct bench_run *run)
{
	const struct lookup_params *params = run->params;
	const struct hashmap_spec spec = make_spec(run);
	/* What does not fit into a cache waits for memory. */
	uint64_t op_ns = 10 + params->key_size / 2 +
			 (hashmap_bytes(&spec, params->nr_entries) >> 20 ? 100 : 0);
	uint64_t most = BATCH_NS / op_ns, parts;

	if (most > MAX_LOOKUPS)
		most = MAX_LOOKUPS;
	parts = (params->nr_loops + most - 1) / most;
	return (params->nr_loops + parts - 1) / parts;
}

static int lookup_check(struct bench_run *run)
{
	const struct lookup_params *params = run->params;
	const struct hashmap_spec spec = make_spec(run);
	const long long nr = params->nr_entries;
	uint64_t need;

	if (nr > params->max_entries)
		return bench_refused(&run->err,
				     "--nr_entries: invalid value '%lld': expected at most the "
				     "%lld of --max_entries",
				     nr, params->max_entries);
	if (params->key_size < 4 && nr > 1LL << 8 * params->key_size)
		return bench_refused(&run->err,
				     "--nr_entries: invalid value '%lld': there are only %lld "
				     "different keys of %lld bytes (--key_size)",
				     nr, 1LL << 8 * params->key_size, params->key_size);
	/* With the order in which they are inserted, and the keys of the producers. */
	need = hashmap_bytes(&spec, nr) + 4 * nr + run->cfg->producers * LOOKUP_MAX_KEY_SIZE;
	return bench_check_memory(&run->err, "max_entries", params->max_entries,
				  "for that many entries the maps", need);
}

/* To fill a map of millions of entries takes too long for a probe. */
static int lookup_probe(struct bench_run *run)
{
	struct hashmap_spec spec = make_spec(run);
	int type;

	spec.max_entries = 1;
	return hashmap_probe(run, &spec, &type);
}

/* ---- filling */

/* Steele, Lea, Flood: splitmix64, 2014. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Keys in the order in which they are inserted; to be freed. NULL: no memory. */
static uint32_t *make_order(const struct lookup_params *params)
{
	uint64_t state = params->seed;
	uint32_t *order, i, k, tmp;

	order = malloc(params->nr_entries * sizeof(*order));
	for (i = 0; order && i < params->nr_entries; i++)
		order[i] = i;
	/* Fisher and Yates */
	for (i = params->nr_entries - 1; order && params->order == ORDER_RANDOM && i; i--) {
		k = next_random(&state) % (i + 1);
		tmp = order[i];
		order[i] = order[k];
		order[k] = tmp;
	}
	return order;
}

/* Bytes of a key behind its number, the same in all. */
static void make_key(const struct lookup_params *params, unsigned char *key)
{
	uint64_t state = ~params->seed;
	int i;

	for (i = 0; i < LOOKUP_MAX_KEY_SIZE; i++)
		key[i] = next_random(&state);
}

static void put_number(unsigned char *key, size_t key_size, uint32_t number)
{
	number = htole32(number);
	memcpy(key, &number, key_size < sizeof(number) ? key_size : sizeof(number));
}

#define FILL_BATCH 4096

struct fill {
	size_t key_size;
	unsigned char key[LOOKUP_MAX_KEY_SIZE];
	unsigned char *keys; /* FILL_BATCH of them */
	uint64_t *values;
};

/* Inserts @nr keys. Returns 0 or -errno. */
static int insert_batch(int map_fd, struct fill *fill, const uint32_t *numbers, uint32_t nr)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	unsigned char *key;
	uint32_t i, done = nr;
	int err;

	for (i = 0; i < nr; i++) {
		key = fill->keys + i * fill->key_size;
		memcpy(key, fill->key, fill->key_size);
		put_number(key, fill->key_size, numbers[i]);
		fill->values[i] = numbers[i];
	}
	err = bpf_map_update_batch(map_fd, fill->keys, fill->values, &done, &opts);
	if (err != -524 && err != -EINVAL) /* 524: the kernel's ENOTSUPP */
		return err;
	/* This kernel, or this type of map, has no batches. */
	for (i = 0, err = 0; !err && i < nr; i++)
		err = bpf_map_update_elem(map_fd, fill->keys + i * fill->key_size, &fill->values[i],
					  BPF_NOEXIST);
	return err;
}

static int fill_map(struct bench_run *run, int map_fd)
{
	const struct lookup_params *params = run->params;
	struct fill fill = { .key_size = params->key_size };
	uint32_t *order = make_order(params), nr, i;
	int err = -ENOMEM;

	make_key(params, fill.key);
	fill.keys = malloc(FILL_BATCH * fill.key_size);
	fill.values = malloc(FILL_BATCH * sizeof(*fill.values));
	if (order && fill.keys && fill.values)
		err = 0;
	for (i = 0; !err && i < params->nr_entries; i += nr) {
		nr = params->nr_entries - i < FILL_BATCH ? params->nr_entries - i : FILL_BATCH;
		err = insert_batch(map_fd, &fill, order + i, nr);
		bench_progress(run, "filling the hash map", (double)i / params->nr_entries);
	}
	free(order);
	free(fill.keys);
	free(fill.values);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot fill the hash map");
	return 0;
}

/* The key that each producer looks up. */
static int fill_keys(struct bench_run *run, int map_fd)
{
	unsigned char key[LOOKUP_MAX_KEY_SIZE];
	uint32_t i;
	int err = 0;

	make_key(run->params, key);
	for (i = 0; !err && i < run->cfg->producers; i++)
		err = bpf_map_update_elem(map_fd, &i, key, BPF_ANY);
	return err ? bench_bpf_error(&run->err, err, "cannot write the keys to look up") : 0;
}

/* ---- set-up */

static int load(struct bench_run *run, struct lookup_ctx *ctx, int type)
{
	const struct lookup_params *params = run->params;
	const struct hashmap_spec spec = make_spec(run);
	struct bpf_map *hash;
	int err;

	ctx->skel = hashmap_lookup_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_entries = params->nr_entries;
	ctx->skel->rodata->nr_lookups = ctx->per_run;
	hash = ctx->skel->maps.hash;
	bpf_map__set_type(hash, type);
	bpf_map__set_key_size(hash, spec.key_size);
	bpf_map__set_max_entries(hash, spec.max_entries);
	bpf_map__set_map_flags(hash, spec.flags);
	bpf_map__set_max_entries(ctx->skel->maps.keys, run->cfg->producers);
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		ctx->prog_fd = bpf_program__fd(ctx->skel->progs.hashmap_lookup);
	return err;
}

static int lookup_setup(struct bench_run *run)
{
	struct hashmap_spec spec = make_spec(run);
	struct lookup_ctx *ctx;
	int err, type;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->runs = bench_counters_alloc(run->cfg->producers);
	ctx->misses = bench_counters_alloc(run->cfg->producers);
	if (!ctx->runs || !ctx->misses)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->per_run = lookups_per_run(run);
	bench_memory_available(hashmap_bytes(&spec, spec.max_entries), NULL);
	spec.max_entries = 1;
	err = hashmap_probe(run, &spec, &type);
	if (!err)
		err = load(run, ctx, type);
	if (!err)
		err = fill_map(run, bpf_map__fd(ctx->skel->maps.hash));
	if (!err)
		err = fill_keys(run, bpf_map__fd(ctx->skel->maps.keys));
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return err;
}

static void lookup_teardown(struct bench_run *run)
{
	struct lookup_ctx *ctx = run->priv;

	if (!ctx)
		return;
	hashmap_lookup_bpf__destroy(ctx->skel);
	free(ctx->runs);
	free(ctx->misses);
	free(ctx);
}

/* ---- the run */

static int lookup_producer(struct bench_thread *t)
{
	const struct lookup_params *params = t->run->params;
	struct lookup_ctx *ctx = t->run->priv;
	uint64_t next = params->nr_entries / t->run->cfg->producers * t->idx;
	uint32_t ret;
	int err, misses;

	while (!bench_stopping(t)) {
		err = hashmap_run(ctx->prog_fd, next, t->idx, &ret);
		misses = ret;
		if (!err && misses < 0)
			err = misses;
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		next = (next + ctx->per_run) % params->nr_entries;
		bench_counter_add(&ctx->misses[t->idx], misses);
		bench_counter_add(&ctx->runs[t->idx], 1);
		if (misses)
			return bench_failed(&t->run->err, 0,
					    "%d of %u lookups did not find a key that the map has",
					    misses, ctx->per_run);
	}
	return 0;
}

static uint64_t sum_runs(const struct bench_run *run)
{
	const struct lookup_ctx *ctx = run->priv;

	return bench_counters_sum(ctx->runs, run->cfg->producers);
}

static void lookup_measure(struct bench_run *run, struct values *v)
{
	const struct lookup_ctx *ctx = run->priv;

	v->v[OPS] = sum_runs(run) * ctx->per_run;
}

static void lookup_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct lookup_params *params = run->params;
	const struct lookup_ctx *ctx = run->priv;
	uint64_t misses = bench_counters_sum(ctx->misses, run->cfg->producers);

	c->prog_fd = ctx->prog_fd;
	c->runs = sum_runs(run);
	bench_count(c, "lookups", c->runs * ctx->per_run);
	bench_count(c, "found", c->runs * ctx->per_run - misses);
	bench_identity(c, "lookups = found");
	if (!run->cfg->verify)
		return;
	bench_count(c, "nr_entries", params->nr_entries);
	bench_count(c, "entries", hashmap_count(bpf_map__fd(ctx->skel->maps.hash)));
	bench_identity(c, "nr_entries = entries");
}

#define LOOKUP_BENCH(id, name_, needs_, desc_, resizable_) \
	static const struct bench id = {                   \
		.name = name_,                             \
		.desc = desc_,                             \
		.needs = needs_,                           \
		.report = &report_ops,                     \
		.data = &(const bool){ resizable_ },       \
		.check = lookup_check,                     \
		.probe = lookup_probe,                     \
		.setup = lookup_setup,                     \
		.teardown = lookup_teardown,               \
		.producer = lookup_producer,               \
		.measure = lookup_measure,                 \
		.conserve = lookup_conserve,               \
	}

LOOKUP_BENCH(hashmap_lookup, "bpf-hashmap-lookup", "Linux 5.6 or newer",
	     "lookups in a hash map of the keys that it has", false);

LOOKUP_BENCH(rhashmap_lookup, "bpf-rhashmap-lookup", "Linux 7.2 or newer",
	     "the same in a resizable hash map (BPF_MAP_TYPE_RHASH)", true);

static const struct bench *const lookup_benchs[] = { &hashmap_lookup, &rhashmap_lookup };

static struct bench_family lookup_family = {
	.title = "Hash map, lookup",
	.about =
		"what a lookup in a hash map costs, by its size, its fill and the size of the keys",
	.opts = lookup_opts,
	.nr_opts = ARRAY_SIZE(lookup_opts),
	.params_size = sizeof(struct lookup_params),
	.benchs = lookup_benchs,
	.nr_benchs = ARRAY_SIZE(lookup_benchs),
};

BENCH_FAMILY(lookup_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * bpf-hashmap-full-update, bpf-rhashmap-full-update: how fast a full hash map refuses a new key. It
 * looks for a free element in the lists of all CPUs first, which once meant all their locks.
 *
 * Nothing is attached: each producer has the kernel run the program again and again, each time for
 * a batch of attempts with a key of its own, or keys.
 */
#include <stdio.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/hashmaps.h"
#include "progs/hashmap_full_update.h"
#include "hashmap_full_update.skel.h"

/*
 * What a run has done is counted when it ends, and a CPU may do little else meanwhile: so it is
 * short. An attempt takes longer the more CPUs there are to look for an element at.
 */
#define BATCH_NS 500000
#define BASE_NS	 20
#define CPU_NS	 20

/*
 * A resizable map cannot do without a seed: for it all buckets are searched in turn, each time for
 * another key that the map does not have, of so many. The producers begin apart from each other.
 */
#define ABSENT_KEYS	(1U << 30)
#define PRODUCER_STRIDE 1000003

struct full_update_ctx {
	struct hashmap_full_update_bpf *skel;
	int prog_fd;
	int map_fd;
	uint32_t per_run; /* attempts */
	int64_t entries; /* that the map had at the start */
	struct bench_counter *runs, *others; /* of each producer: runs, and what was not E2BIG */
};

static struct hashmap_spec make_spec(const struct bench_run *run)
{
	const bool resizable = *(const bool *)run->bench->data;

	return (struct hashmap_spec){
		.resizable = resizable,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint64_t),
		.max_entries = FULL_UPDATE_ENTRIES,
		.flags = resizable ? BPF_F_NO_PREALLOC : hashmap_no_seed(),
	};
}

static uint32_t chunks_per_run(void)
{
	uint32_t chunk_ns = FULL_UPDATE_CHUNK * (BASE_NS + CPU_NS * cpuset_nr_possible());

	return BATCH_NS / chunk_ns ? BATCH_NS / chunk_ns : 1;
}

static int full_update_probe(struct bench_run *run)
{
	const struct hashmap_spec spec = make_spec(run);
	int type;

	return hashmap_probe(run, &spec, &type);
}

static int load(struct bench_run *run, struct full_update_ctx *ctx, const struct hashmap_spec *spec,
		int type)
{
	int err;

	ctx->skel = hashmap_full_update_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_chunks = chunks_per_run();
	ctx->skel->rodata->walk = spec->resizable;
	bpf_map__set_type(ctx->skel->maps.hash, type);
	bpf_map__set_map_flags(ctx->skel->maps.hash, spec->flags);
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	ctx->prog_fd = bpf_program__fd(ctx->skel->progs.hashmap_full_update);
	ctx->map_fd = bpf_map__fd(ctx->skel->maps.hash);
	return 0;
}

static int fill_map(struct bench_run *run, struct full_update_ctx *ctx)
{
	uint64_t value = 0;
	uint32_t key;
	int err = 0;

	for (key = 0; !err && key < FULL_UPDATE_ENTRIES; key++)
		err = bpf_map_update_elem(ctx->map_fd, &key, &value, BPF_NOEXIST);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot fill the hash map");
	ctx->entries = hashmap_count(ctx->map_fd);
	if (ctx->entries != FULL_UPDATE_ENTRIES)
		return bench_failed(&run->err, 0, "the hash map has %lld entries, not %d",
				    (long long)ctx->entries, FULL_UPDATE_ENTRIES);
	return 0;
}

static int full_update_setup(struct bench_run *run)
{
	const struct hashmap_spec spec = make_spec(run);
	struct full_update_ctx *ctx;
	int err, type;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->runs = bench_counters_alloc(run->cfg->producers);
	ctx->others = bench_counters_alloc(run->cfg->producers);
	if (!ctx->runs || !ctx->others)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->per_run = chunks_per_run() * FULL_UPDATE_CHUNK;
	err = hashmap_probe(run, &spec, &type);
	if (!err)
		err = load(run, ctx, &spec, type);
	if (!err)
		err = fill_map(run, ctx);
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	if (!err && !spec.resizable)
		hashmap_note_seed(run, spec.flags);
	return err;
}

static void full_update_teardown(struct bench_run *run)
{
	struct full_update_ctx *ctx = run->priv;

	if (!ctx)
		return;
	hashmap_full_update_bpf__destroy(ctx->skel);
	free(ctx->runs);
	free(ctx->others);
	free(ctx);
}

static int full_update_producer(struct bench_thread *t)
{
	struct full_update_ctx *ctx = t->run->priv;
	const bool walk = ctx->skel->rodata->walk;
	uint32_t others, walked = t->idx * PRODUCER_STRIDE, key;
	int err;

	for (; !bench_stopping(t); walked += ctx->per_run) {
		key = FULL_UPDATE_ENTRIES + (walk ? walked % ABSENT_KEYS : (uint32_t)t->idx);
		err = hashmap_run(ctx->prog_fd, key, 0, &others);
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		bench_counter_add(&ctx->others[t->idx], others);
		bench_counter_add(&ctx->runs[t->idx], 1);
		if (others)
			return bench_failed(&t->run->err, 0,
					    "%u of %u updates of a full hash map returned "
					    "something else than E2BIG: %lld",
					    others, ctx->per_run,
					    (long long)ctx->skel->bss->other_return);
	}
	return 0;
}

static uint64_t sum_runs(const struct bench_run *run)
{
	const struct full_update_ctx *ctx = run->priv;

	return bench_counters_sum(ctx->runs, run->cfg->producers);
}

static uint64_t sum_refused(const struct bench_run *run)
{
	const struct full_update_ctx *ctx = run->priv;

	return sum_runs(run) * ctx->per_run - bench_counters_sum(ctx->others, run->cfg->producers);
}

static void full_update_measure(struct bench_run *run, struct values *v)
{
	v->v[OPS] = sum_refused(run);
}

static void full_update_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct full_update_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	c->runs = sum_runs(run);
	bench_count(c, "attempts", c->runs * ctx->per_run);
	bench_count(c, "refused", sum_refused(run));
	bench_identity(c, "attempts = refused");
	bench_count(c, "entries_before", ctx->entries);
	bench_count(c, "entries_after", hashmap_count(ctx->map_fd));
	bench_identity(c, "entries_before = entries_after");
}

#define FULL_UPDATE_BENCH(id, name_, aliases_, needs_, desc_, resizable_) \
	static const struct bench id = {                                  \
		.name = name_,                                            \
		.aliases = aliases_,                                      \
		.desc = desc_,                                            \
		.needs = needs_,                                          \
		.report = &report_ops,                                    \
		.data = &(const bool){ resizable_ },                      \
		.probe = full_update_probe,                               \
		.setup = full_update_setup,                               \
		.teardown = full_update_teardown,                         \
		.producer = full_update_producer,                         \
		.measure = full_update_measure,                           \
		.conserve = full_update_conserve,                         \
	}

static const char *const old_names[] = { "bpf-hashmap-ful-update", NULL };

FULL_UPDATE_BENCH(hashmap_full_update, "bpf-hashmap-full-update", old_names, "Linux 5.6 or newer",
		  "updates that a full hash map of 1000 entries refuses (E2BIG)", false);

FULL_UPDATE_BENCH(rhashmap_full_update, "bpf-rhashmap-full-update", NULL, "Linux 7.2 or newer",
		  "the same with a resizable hash map (BPF_MAP_TYPE_RHASH)", true);

static const struct bench *const full_update_benchs[] = {
	&hashmap_full_update,
	&rhashmap_full_update,
};

static struct bench_family full_update_family = {
	.title = "Hash map, full",
	.about = "how fast a full hash map refuses a new key",
	.benchs = full_update_benchs,
	.nr_benchs = ARRAY_SIZE(full_update_benchs),
};

BENCH_FAMILY(full_update_family);

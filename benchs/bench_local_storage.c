// SPDX-License-Identifier: GPL-2.0
/*
 * local-storage-cache-*: what it costs to get a task's local storage, over the number of maps that
 * the task has storage in; and a lookup in a hash map, which is what one would use without.
 *
 * A task caches its storage of 16 maps (slots), each map has one of the slots, and what is not in
 * the cache is searched for in a list. So the rate falls from 16 to 17 maps, where the first two
 * share a slot, and steeply up to 32, where all do.
 *
 * Nothing is attached: each producer has the kernel run the program (progs/local_storage.bpf.c)
 * for some rounds over all maps, or a part of one. Only whole rounds count, so the share of map 0
 * is exact whatever the number of maps.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "progs/local_storage.h"
#include "local_storage.skel.h"

/* Time of a run; counts go up when it ends, and nothing else runs on its CPU until then. */
#define RUN_NS (300 * 1000)

struct storage_params {
	long long nr_maps;
	long long nr_keys;
	long long seed;
	bool empty;
};

#define NR_MAPS(def_, help_)                                                             \
	{                                                                                \
		.name = "nr_maps", .arg = "NUM", .type = OPT_NUM,                        \
		.at = offsetof(struct storage_params, nr_maps), .def = (def_), .min = 1, \
		.max = LOCAL_STORAGE_MAX_MAPS, .help = (help_)                           \
	}

#define EMPTY                                                                                    \
	{                                                                                        \
		.name = "empty", .type = OPT_FLAG, .at = offsetof(struct storage_params, empty), \
		.help = "Leave out the measured operation: what is left is the cost of the loop" \
	}

static const struct opt storage_opts[] = {
	NR_MAPS(1000, "Maps that the task has storage in"),
	EMPTY,
};

static const struct opt control_opts[] = {
	NR_MAPS(1, "Hash maps, of 4194304 entries (320 MiB) each"),
	{ .name = "hashmap_nr_keys_used",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct storage_params, nr_keys),
	  .def = 1000,
	  .min = 1,
	  .max = LOCAL_STORAGE_HASH_ENTRIES,
	  .help = "Different keys that are looked up" },
	{ .name = "seed",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct storage_params, seed),
	  .def = 1,
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "Which keys are looked up in which order" },
	EMPTY,
};

struct storage_kind {
	bool is_hash;
	bool interleave;
};

struct storage_ctx {
	struct local_storage_bpf *skel;
	struct local_storage_config cfg;
	int maps_fd; /* of the array of maps */
	int prog_fd;
	uint32_t key_type, value_type; /* of a storage map, in the BTF of the skeleton */
	uint64_t turns_per_run;
	uint64_t map_bytes; /* all maps together, as the kernel reports it; atomic */
	struct bench_counter *runs; /* of each producer */
};

static struct local_storage_config make_config(const struct bench_run *run)
{
	const struct storage_params *params = run->params;
	const struct storage_kind *kind = run->bench->data;

	return (struct local_storage_config){
		.nr_maps = params->nr_maps,
		.nr_keys = params->nr_keys,
		.interleave = kind->interleave,
		.empty = params->empty,
	};
}

/* Nanoseconds that a turn takes; a guess that is good enough for the length of a run. */
static uint64_t turn_ns(const struct storage_kind *kind, const struct local_storage_config *cfg)
{
	if (cfg->empty)
		return 3;
	if (kind->is_hash)
		return cfg->nr_keys >> 14 || cfg->nr_maps > 1 ? 150 : 30;
	if (cfg->nr_maps <= 16)
		return 10;
	return cfg->nr_maps <= 32 ? 40 : 3 * cfg->nr_maps;
}

/* Whole rounds, or an equal part of one where a round is too long. */
static uint64_t turns_per_run(const struct storage_kind *kind,
			      const struct local_storage_config *cfg)
{
	uint64_t turns = RUN_NS / turn_ns(kind, cfg), parts;

	if (turns > LOCAL_STORAGE_MAX_CHUNKS * LOCAL_STORAGE_CHUNK)
		turns = LOCAL_STORAGE_MAX_CHUNKS * LOCAL_STORAGE_CHUNK;
	if (turns >= cfg->nr_maps)
		return turns / cfg->nr_maps * cfg->nr_maps;
	parts = (cfg->nr_maps + turns - 1) / turns;
	return (cfg->nr_maps + parts - 1) / parts;
}

/* ---- much of the same, at once */

struct share {
	struct bench_run *run;
	int (*make)(struct bench_run *run, uint32_t i);
	uint32_t total;
	uint32_t next; /* the first that is not begun with; atomic */
	int err; /* the first one; atomic */
};

static bool make_next(struct share *s)
{
	int none = 0, err;
	uint32_t i;

	if (__atomic_load_n(&s->err, __ATOMIC_RELAXED))
		return false;
	i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
	if (i >= s->total)
		return false;
	err = s->make(s->run, i);
	if (err)
		__atomic_compare_exchange_n(&s->err, &none, err, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
	return !err;
}

static void *share_thread(void *arg)
{
	while (make_next(arg))
		;
	return NULL;
}

/* Makes @total of something by @nr threads, or as many of them as can be had. Returns an -errno. */
static int make_all(struct bench_run *run, const char *what, uint32_t total, uint32_t nr,
		    int (*make)(struct bench_run *run, uint32_t i))
{
	struct share share = { .run = run, .make = make, .total = total };
	pthread_t threads[nr];
	uint32_t n = 0;

	while (n + 1 < nr && !pthread_create(&threads[n], NULL, share_thread, &share))
		n++;
	while (make_next(&share))
		bench_progress(run, what,
			       (double)__atomic_load_n(&share.next, __ATOMIC_RELAXED) / total);
	while (n)
		pthread_join(threads[--n], NULL);
	return share.err;
}

/* ---- maps */

/* Memory of the map as the kernel reports it; 0: it does not. */
static uint64_t map_bytes(int fd)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	if (f)
		fclose(f);
	return bytes;
}

static int create_map(struct bench_run *run)
{
	const struct storage_kind *kind = run->bench->data;
	const struct storage_ctx *ctx = run->priv;
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int fd;

	if (kind->is_hash) {
		fd = bpf_map_create(BPF_MAP_TYPE_HASH, "hash", sizeof(uint32_t), sizeof(uint32_t),
				    LOCAL_STORAGE_HASH_ENTRIES, NULL);
	} else {
		opts.map_flags = BPF_F_NO_PREALLOC;
		opts.btf_fd = bpf_object__btf_fd(ctx->skel->obj);
		opts.btf_key_type_id = ctx->key_type;
		opts.btf_value_type_id = ctx->value_type;
		fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "storage", sizeof(int), sizeof(int),
				    0, &opts);
	}
	if (fd < 0)
		bench_bpf_error(&run->err, fd, "cannot create the maps of %s", run->bench->name);
	return fd;
}

/* The array of maps keeps the map, so that a thousand of them need no descriptors. */
static int put_new_map(struct bench_run *run, uint32_t i)
{
	struct storage_ctx *ctx = run->priv;
	int fd, err;

	fd = create_map(run);
	if (fd < 0)
		return fd;
	__atomic_fetch_add(&ctx->map_bytes, map_bytes(fd), __ATOMIC_RELAXED);
	err = bpf_map_update_elem(ctx->maps_fd, &i, &fd, BPF_ANY);
	close(fd);
	return err ? bench_bpf_error(&run->err, err, "cannot put a map into the array of maps") : 0;
}

static int fill_some(struct bench_run *run, uint32_t i)
{
	const uint32_t per_map = LOCAL_STORAGE_HASH_ENTRIES / LOCAL_STORAGE_FILL;
	struct storage_ctx *ctx = run->priv;
	struct local_storage_fill_args fill = {
		.map = i / per_map,
		.first = i % per_map * LOCAL_STORAGE_FILL,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &fill, .ctx_size_in = sizeof(fill));
	int err;

	err = bpf_prog_test_run_opts(bpf_program__fd(ctx->skel->progs.hash_fill), &opts);
	if (!err)
		err = (int)opts.retval;
	return err ? bench_bpf_error(&run->err, err, "cannot fill the hash maps") : 0;
}

static int fill_maps(struct bench_run *run)
{
	const struct storage_ctx *ctx = run->priv;
	struct cpuset allowed = {};
	uint32_t nr_cpus = 1;

	if (!cpuset_allowed(&allowed))
		nr_cpus = allowed.cnt;
	cpuset_free(&allowed);
	return make_all(run, "filling the hash maps",
			LOCAL_STORAGE_HASH_ENTRIES / LOCAL_STORAGE_FILL * ctx->cfg.nr_maps, nr_cpus,
			fill_some);
}

/* ---- cache slots */

#define NR_SLOTS 16 /* the kernel's BPF_LOCAL_STORAGE_CACHE_SIZE */

#define REPLACEMENTS_MAX 64

/* The cache slot of map @i; or -ENOENT where the kernel does not report it. */
static int slot_of(const struct storage_ctx *ctx, uint64_t i)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &i, .ctx_size_in = sizeof(i));
	int err;

	err = bpf_prog_test_run_opts(bpf_program__fd(ctx->skel->progs.storage_slot), &opts);
	if (err)
		return err;
	return (int)opts.retval < NR_SLOTS ? (int)opts.retval : -ENOENT;
}

static int find_slots(const struct storage_ctx *ctx, int *slots, uint32_t *used)
{
	uint32_t i;

	for (i = 0; i < ctx->cfg.nr_maps; i++) {
		slots[i] = slot_of(ctx, i);
		if (slots[i] < 0)
			return slots[i];
		used[slots[i]]++;
	}
	return 0;
}

/* The map itself, kept from being freed; or an error, for which one needs CAP_SYS_ADMIN. */
static int hold_map(const struct storage_ctx *ctx, uint32_t i)
{
	uint32_t id;

	if (bpf_map_lookup_elem(ctx->maps_fd, &i, &id))
		return -1;
	return bpf_map_get_fd_by_id(id);
}

/*
 * Sees to it that the maps share slots as little as they can. The kernel gives a new map the slot
 * that the fewest maps have, counting those of others as well: one map of another process is
 * enough for 16 maps to share a slot and leave another one unused. In that case a map is replaced
 * by a new one, and held until the end so that its slot does not look free. Where that does not
 * help, or the kernel does not report slots, the maps stay as they are.
 */
static int spread_over_slots(struct bench_run *run)
{
	struct storage_ctx *ctx = run->priv;
	uint32_t used[NR_SLOTS] = {}, most, least, i;
	int slots[LOCAL_STORAGE_MAX_MAPS], held[REPLACEMENTS_MAX], nr_held = 0, err = 0;

	if (find_slots(ctx, slots, used))
		return 0;
	while (nr_held < REPLACEMENTS_MAX) {
		for (most = least = 0, i = 1; i < NR_SLOTS; i++) {
			most = used[i] > used[most] ? i : most;
			least = used[i] < used[least] ? i : least;
		}
		if (used[most] <= used[least] + 1)
			break;
		for (i = 0; slots[i] != (int)most; i++)
			;
		held[nr_held++] = hold_map(ctx, i);
		used[most]--;
		err = put_new_map(run, i);
		if (err)
			break;
		slots[i] = slot_of(ctx, i);
		if (slots[i] < 0)
			break;
		used[slots[i]]++;
	}
	while (nr_held--)
		if (held[nr_held] >= 0)
			close(held[nr_held]);
	return err;
}

/* ---- set-up */

static uint64_t memory_needed(const struct local_storage_config *cfg)
{
	/* struct bucket; struct htab_elem, key and value, and a spare one for each CPU. */
	uint64_t map = 16ULL * LOCAL_STORAGE_HASH_ENTRIES +
		       64ULL * (LOCAL_STORAGE_HASH_ENTRIES + cpuset_nr_possible());

	return cfg->nr_maps * map;
}

static int control_check(struct bench_run *run)
{
	const struct local_storage_config cfg = make_config(run);

	return bench_check_memory(&run->err, "nr_maps", cfg.nr_maps,
				  "hash maps of 4194304 entries, that many,", memory_needed(&cfg));
}

static int load(struct bench_run *run)
{
	const struct storage_kind *kind = run->bench->data;
	struct storage_ctx *ctx;
	struct local_storage_bpf *skel;
	struct bpf_map *maps, *inner;
	struct bpf_program *prog;
	int err;

	if (kind->is_hash)
		err = bench_probe_prog_run(&run->err);
	else
		err = bench_probe_storage(&run->err, "local storage of tasks", "Linux 5.13",
					  BPF_MAP_TYPE_TASK_STORAGE);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->cfg = make_config(run);
	skel = ctx->skel = local_storage_bpf__open();
	if (!skel)
		return bench_open_error(run);
	maps = kind->is_hash ? skel->maps.hashes : skel->maps.storages;
	prog = kind->is_hash ? skel->progs.hash_lookup : skel->progs.storage_get;
	inner = bpf_map__inner_map(maps);
	ctx->key_type = bpf_map__btf_key_type_id(inner);
	ctx->value_type = bpf_map__btf_value_type_id(inner);
	*(struct local_storage_config *)&skel->rodata->config = ctx->cfg;
	bpf_map__set_max_entries(maps, ctx->cfg.nr_maps);
	bpf_map__set_autocreate(skel->maps.hashes, kind->is_hash);
	bpf_map__set_autocreate(skel->maps.storages, !kind->is_hash);
	bpf_program__set_autoload(prog, true);
	bpf_program__set_autoload(skel->progs.hash_fill, kind->is_hash);
	bpf_program__set_autoload(skel->progs.storage_slot, !kind->is_hash);
	err = bench_load(run, skel->skeleton);
	if (err)
		return err;
	ctx->maps_fd = bpf_map__fd(maps);
	ctx->prog_fd = bpf_program__fd(prog);
	return 0;
}

static void storage_teardown(struct bench_run *run)
{
	struct storage_ctx *ctx = run->priv;

	if (!ctx)
		return;
	local_storage_bpf__destroy(ctx->skel);
	free(ctx->runs);
	free(ctx);
}

/* To make a thousand maps, or one of hundreds of megabytes, takes too long for a probe. */
static int storage_probe(struct bench_run *run)
{
	int err = load(run);

	storage_teardown(run);
	return err;
}

#define FILES_SPARE 40 /* for all other files of the process */

/*
 * Threads that put maps into the array of maps. The kernel waits for an RCU grace period each time,
 * milliseconds; but all who wait wait for the same one.
 */
#define PUT_THREADS 128

/* As many as there may be files, two for each: a map, and where its size is read. */
static uint32_t put_threads(uint32_t nr_maps)
{
	uint32_t nr = nr_maps < PUT_THREADS ? nr_maps : PUT_THREADS;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= 2 * nr + FILES_SPARE)
		return nr;
	return files.rlim_cur > FILES_SPARE + 2 ? (files.rlim_cur - FILES_SPARE) / 2 : 1;
}

static int storage_setup(struct bench_run *run)
{
	const struct storage_kind *kind = run->bench->data;
	const struct local_storage_config cfg = make_config(run);
	struct storage_ctx *ctx;
	int err;

	if (kind->is_hash)
		bench_memory_available(memory_needed(&cfg), NULL);
	err = load(run);
	if (err)
		return err;
	ctx = run->priv;
	ctx->runs = bench_counters_alloc(run->cfg->producers);
	if (!ctx->runs)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->turns_per_run = turns_per_run(kind, &ctx->cfg);
	err = make_all(run, "making the maps", cfg.nr_maps, put_threads(cfg.nr_maps), put_new_map);
	if (!err && !kind->is_hash)
		err = spread_over_slots(run);
	else if (!err && !cfg.empty)
		err = fill_maps(run);
	if (!err)
		snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return err;
}

/* ---- the run */

static uint64_t sum_counts(const struct storage_ctx *ctx, size_t offset)
{
	const struct local_storage_counts *counts = ctx->skel->bss->counts;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < LOCAL_STORAGE_CPUS; i++)
		sum += __atomic_load_n((const uint64_t *)((const char *)&counts[i] + offset),
				       __ATOMIC_RELAXED);
	return sum;
}

#define SUM_COUNTS(ctx, member) sum_counts(ctx, offsetof(struct local_storage_counts, member))

static int run_once(const struct storage_ctx *ctx, struct local_storage_args *args)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(*args));
	int err;

	err = bpf_prog_test_run_opts(ctx->prog_fd, &opts);
	return err ? err : (int)opts.retval;
}

static int run_error(struct bench_run *run, int err)
{
	if (err == -ENOMEM)
		return bench_failed(&run->err, 0,
				    "bpf_task_storage_get() cannot create the storage of a task");
	if (err == -ENOENT)
		return bench_failed(&run->err, 0,
				    "the hash map does not find a key that was put into it");
	return bench_bpf_error(&run->err, err, "cannot run the program of %s", run->bench->name);
}

/*
 * Runs that may fail one after the other: up to Linux 6.19 storage cannot be created while someone
 * else works on some on that CPU, which is over soon. No get of such a run counts.
 */
#define FAILURES_MAX 1000

static int storage_producer(struct bench_thread *t)
{
	const struct storage_params *params = t->run->params;
	const struct storage_ctx *ctx = t->run->priv;
	struct local_storage_args args = { .seed = params->seed + ((uint64_t)t->idx << 40) };
	struct bench_counter *runs = &ctx->runs[t->idx];
	int failures = 0, err;

	/* A round that has begun is brought to its end. */
	while (!bench_stopping(t) || args.first) {
		args.turns = ctx->turns_per_run;
		if (args.first + args.turns > ctx->cfg.nr_maps && args.first)
			args.turns = ctx->cfg.nr_maps - args.first;
		err = run_once(ctx, &args);
		if (err != -EINTR)
			bench_counter_add(runs, 1);
		if (!err) {
			failures = 0;
			args.first = (args.first + args.turns) % ctx->cfg.nr_maps;
			/* The step of splitmix64, for keys of its own each time. */
			args.seed += 0x9e3779b97f4a7c15ULL;
		} else if (err == -ENOMEM && ++failures < FAILURES_MAX) {
			usleep(1000);
		} else if (err != -EINTR) {
			return run_error(t->run, err);
		}
	}
	return 0;
}

/* ---- figures */

enum { GETS, IMPORTANT, LATENCY, MEMORY };

static const struct figure storage_figures[] = {
	[GETS] = {
		.name = "hits",
		.unit = "M ops/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "gets, or lookups, in millions per second",
	},
	[IMPORTANT] = {
		.name = "important_hits",
		.unit = "M ops/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "those of map 0",
	},
	[LATENCY] = {
		.name = "latency",
		.unit = "ns/op",
		.kind = FIGURE_TIME,
		.of = GETS,
		.better = BETTER_LOWER,
		.help = "time of one of them, as one producer sees it",
	},
	[MEMORY] = {
		.name = "memory",
		.unit = "MiB",
		.kind = FIGURE_GAUGE,
		.scale = 1048576,
		.better = BETTER_LOWER,
		.help = "memory of the maps as the kernel reports it, without tasks' storage",
	},
};

static void storage_progress(FILE *out, const struct report *report, const double *values,
			     const struct sample *s, int producers)
{
	fprintf(out, "hits %8.3lfM/s important_hits %8.3lfM/s\n", values[GETS], values[IMPORTANT]);
}

static void storage_summary(FILE *out, const struct report *report,
			    const struct figure_stats *stats, const struct sample *total,
			    int producers)
{
	/* The latency of the mean rate, so that samples without a hit are in it too. */
	fprintf(out,
		"Summary: hits throughput %8.3lf \u00B1 %5.3lf M ops/s, hits latency %8.3lf ns/op, "
		"important_hits throughput %8.3lf \u00B1 %5.3lf M ops/s\n",
		stats[GETS].mean, stats[GETS].stddev, 1e3 / stats[GETS].mean * producers,
		stats[IMPORTANT].mean, stats[IMPORTANT].stddev);
}

static const struct report report_storage = {
	.name = "local_storage",
	.figures = storage_figures,
	.nr_figures = ARRAY_SIZE(storage_figures),
	.progress = storage_progress,
	.summary = storage_summary,
};

/* From one count, since two that belong together cannot be read at the same moment. */
static void storage_measure(struct bench_run *run, struct values *v)
{
	const struct storage_ctx *ctx = run->priv;
	uint64_t rounds = SUM_COUNTS(ctx, rounds);

	v->v[GETS] = rounds * local_storage_gets(&ctx->cfg);
	v->v[IMPORTANT] = rounds * local_storage_important(&ctx->cfg);
	v->v[MEMORY] = ctx->map_bytes;
}

static void storage_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct storage_ctx *ctx = run->priv;
	uint64_t rounds = SUM_COUNTS(ctx, rounds);

	bench_count(c, "hits", SUM_COUNTS(ctx, gets));
	bench_count(c, "important_hits", SUM_COUNTS(ctx, important));
	bench_count(c, "rounds", rounds);
	bench_count(c, "hits_of_rounds", rounds * local_storage_gets(&ctx->cfg));
	bench_count(c, "important_hits_of_rounds", rounds * local_storage_important(&ctx->cfg));
	bench_identity(c, "hits = hits_of_rounds");
	bench_identity(c, "important_hits = important_hits_of_rounds");
	c->prog_fd = ctx->prog_fd;
	c->runs = bench_counters_sum(ctx->runs, run->cfg->producers);
}

/* ---- the benchmarks */

#define STORAGE_BENCH(id, name_, needs_, desc_, check_, ...)         \
	static const struct bench id = {                             \
		.name = name_,                                       \
		.desc = desc_,                                       \
		.needs = needs_,                                     \
		.report = &report_storage,                           \
		.data = &(const struct storage_kind){ __VA_ARGS__ }, \
		.check = check_,                                     \
		.probe = storage_probe,                              \
		.setup = storage_setup,                              \
		.teardown = storage_teardown,                        \
		.producer = storage_producer,                        \
		.measure = storage_measure,                          \
		.conserve = storage_conserve,                        \
	}

STORAGE_BENCH(seq_get, "local-storage-cache-seq-get", "Linux 5.13 or newer",
	      "bpf_task_storage_get() of --nr_maps maps in turn", NULL, .interleave = false);

STORAGE_BENCH(int_get, "local-storage-cache-int-get", "Linux 5.13 or newer",
	      "the same, with map 0 read once more after each third map", NULL, .interleave = true);

STORAGE_BENCH(hashmap_control, "local-storage-cache-hashmap-control", "Linux 5.10 or newer",
	      "lookups of random keys in --nr_maps hash maps in turn, to compare with",
	      control_check, .is_hash = true);

static const struct bench *const storage_benchs[] = { &seq_get, &int_get };

static struct bench_family storage_family = {
	.title = "Local storage",
	.about = "what it costs to get a task's local storage",
	.opts = storage_opts,
	.nr_opts = ARRAY_SIZE(storage_opts),
	.params_size = sizeof(struct storage_params),
	.benchs = storage_benchs,
	.nr_benchs = ARRAY_SIZE(storage_benchs),
};

BENCH_FAMILY(storage_family);

/* A family of its own, for it has another number of maps by default, and more options. */
static const struct bench *const control_benchs[] = { &hashmap_control };

static struct bench_family control_family = {
	.title = "Local storage: control",
	.about = "what a hash map costs in place of local storage",
	.opts = control_opts,
	.nr_opts = ARRAY_SIZE(control_opts),
	.params_size = sizeof(struct storage_params),
	.benchs = control_benchs,
	.nr_benchs = ARRAY_SIZE(control_benchs),
};

BENCH_FAMILY(control_family);

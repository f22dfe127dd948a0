// SPDX-License-Identifier: GPL-2.0
/*
 * htab-mem, rhtab-mem: how much memory a hash map holds while entries come and go, and how fast
 * they do.
 *
 * Nothing is attached: each producer has the kernel run a program again and again, on keys that are
 * its own; in the third use case on those that it shares with its partner.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/hashmaps.h"
#include "lib/memcg.h"
#include "progs/htab_mem.h"
#include "htab_mem.skel.h"

/* Batches in one run, where a producer needs not wait for another in between. */
#define BATCHES_PER_RUN 16

#define MIN_MAX_ENTRIES 8192

enum use_case { OVERWRITE, ADD_DEL, ADD_DEL_ON_DIFF_CPU };

struct htab_mem_params {
	int use_case;
	long long value_size;
	bool preallocated;
};

static const char *const use_case_names[] = {
	"overwrite",
	"batch_add_batch_del",
	"add_del_on_diff_cpu",
	NULL,
};

static const struct opt htab_mem_opts[] = {
	{ .name = "use-case",
	  .arg = "CASE",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct htab_mem_params, use_case),
	  .def = OVERWRITE,
	  .choices = use_case_names,
	  .help = "What a producer does: update the same 64 keys; add 64 and delete them; or add 64 "
		  "that its partner deletes, which takes an even number of producers, and -a" },
	{ .name = "value-size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct htab_mem_params, value_size),
	  .def = 8,
	  .min = 1,
	  .max = HTAB_MEM_MAX_VALUE_SIZE,
	  .help = "Size of a value" },
	{ .name = "preallocated",
	  .type = OPT_FLAG,
	  .at = offsetof(struct htab_mem_params, preallocated),
	  .help = "Create the map with all its elements (htab-mem only)" },
};

/* Counts of one producer, alone on their cache lines. */
struct htab_mem_counts {
	uint64_t runs;
	uint64_t batches; /* of HTAB_MEM_BATCH operations */
	uint64_t updates, deletes; /* that were done */
	uint64_t refused;
} __attribute__((aligned(BENCH_CACHELINE)));

/* Whose turn it is, of two producers that share their keys. */
enum turn { TURN_ADD, TURN_DEL, TURN_NOBODY };

struct pair {
	uint32_t turn; /* atomic; a futex */
} __attribute__((aligned(BENCH_CACHELINE)));

struct htab_mem_ctx {
	struct htab_mem_bpf *skel;
	int map_fd;
	struct htab_mem_counts *counts; /* of each producer */
	struct pair *pairs; /* of two producers each */

	struct memcg *memcg; /* that the map is charged to; NULL: see memlock_path */
	char memlock_path[64]; /* its line in /proc/self/fdinfo tells */
	uint64_t base; /* what the cgroup had before */
	uint64_t peak; /* the highest seen, where the kernel does not keep it */
};

static bool is_resizable(const struct bench_run *run)
{
	return *(const bool *)run->bench->data;
}

static struct hashmap_spec make_spec(const struct bench_run *run)
{
	const struct htab_mem_params *params = run->params;
	/* The same on all machines but the largest, whatever the number of producers. */
	uint32_t cpus = cpuset_nr_possible(), nr = HTAB_MEM_BATCH;

	nr *= cpus > run->cfg->producers ? cpus : run->cfg->producers;
	return (struct hashmap_spec){
		.resizable = is_resizable(run),
		.key_size = sizeof(uint32_t),
		.value_size = params->value_size,
		.max_entries = nr > MIN_MAX_ENTRIES ? nr : MIN_MAX_ENTRIES,
		.flags = params->preallocated ? 0 : BPF_F_NO_PREALLOC,
	};
}

static int htab_mem_check(struct bench_run *run)
{
	const struct htab_mem_params *params = run->params;
	const struct hashmap_spec spec = make_spec(run);

	if (spec.resizable && params->preallocated)
		return bench_refused(&run->err,
				     "--preallocated: %s cannot: a resizable hash map "
				     "allocates each element when it is added",
				     run->bench->name);
	if (params->use_case == ADD_DEL_ON_DIFF_CPU && run->cfg->producers % 2)
		return bench_refused(&run->err,
				     "--producers: invalid value '%lld': --use-case=%s requires an "
				     "even number",
				     run->cfg->producers, use_case_names[params->use_case]);
	return bench_check_memory(&run->err, "value-size", params->value_size,
				  "with values of that size the maps",
				  hashmap_bytes(&spec, spec.max_entries));
}

static int htab_mem_probe(struct bench_run *run)
{
	const struct hashmap_spec spec = make_spec(run);
	int type;

	return hashmap_probe(run, &spec, &type);
}

/* ---- the map, and what is charged for it */

struct creation {
	struct hashmap_spec spec;
	int type;
};

static int create_map(void *arg)
{
	const struct creation *creation = arg;
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = creation->spec.flags);

	return bpf_map_create(creation->type, "htab", creation->spec.key_size,
			      creation->spec.value_size, creation->spec.max_entries, &opts);
}

#define TRIAL_BYTES (1 << 20)

static int create_trial_map(void *arg)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", sizeof(uint32_t), TRIAL_BYTES, 1, NULL);
}

/*
 * Does this kernel charge maps to cgroups? Before Linux 5.11 it does not, nor with
 * cgroup.memory=nokmem; but small allocations on the way have whole pages charged in advance.
 * Returns 1 or 0, or -errno.
 */
static int charges_maps(void)
{
	uint64_t before, after;
	struct memcg *memcg;
	int err, fd = -1;

	err = memcg_create(&memcg);
	if (!err)
		err = memcg_usage(memcg, &before);
	if (!err)
		err = memcg_call(memcg, create_trial_map, NULL, &fd);
	if (!err)
		err = memcg_usage(memcg, &after);
	if (fd >= 0)
		close(fd);
	memcg_destroy(memcg);
	return err ? err : fd < 0 ? fd : after >= before + TRIAL_BYTES;
}

/* By the cgroup, where that is possible. Returns 0, -errno of the map, or 1 with the reason. */
static int create_in_memcg(struct htab_mem_ctx *ctx, struct creation *creation, char *why,
			   size_t size)
{
	int err = charges_maps();

	if (!err) {
		snprintf(why, size, "this kernel charges no map to a cgroup");
		return 1;
	}
	if (err > 0)
		err = memcg_create(&ctx->memcg);
	if (!err)
		err = memcg_usage(ctx->memcg, &ctx->base);
	if (!err)
		err = memcg_call(ctx->memcg, create_map, creation, &ctx->map_fd);
	if (!err)
		return ctx->map_fd < 0 ? ctx->map_fd : 0;
	if (err == -ENOENT)
		snprintf(why, size, "no cgroup with a memory controller");
	else
		snprintf(why, size, "no cgroup of its own: %s", why_errno(err));
	memcg_destroy(ctx->memcg);
	ctx->memcg = NULL;
	return 1;
}

static int read_memlock(const struct htab_mem_ctx *ctx, uint64_t *bytes)
{
	unsigned long long value;
	int err = -ENOENT;
	char line[128];
	FILE *f;

	f = fopen(ctx->memlock_path, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &value) == 1)
			err = 0;
	fclose(f);
	if (!err)
		*bytes = value;
	return err;
}

static int make_map(struct bench_run *run, struct htab_mem_ctx *ctx, int type)
{
	struct creation creation = { .spec = make_spec(run), .type = type };
	char why[96];
	int ret;

	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	ret = create_in_memcg(ctx, &creation, why, sizeof(why));
	if (ret == 1) {
		ctx->map_fd = create_map(&creation);
		ret = ctx->map_fd < 0 ? ctx->map_fd : 0;
		bench_note(run, "memory is the kernel's estimate (memlock in fdinfo): %s", why);
	}
	if (ret)
		return bench_bpf_error(&run->err, ret, "cannot create the hash map");
	snprintf(ctx->memlock_path, sizeof(ctx->memlock_path), "/proc/self/fdinfo/%d", ctx->map_fd);
	return 0;
}

static void read_memory(struct htab_mem_ctx *ctx, uint64_t *now, uint64_t *peak)
{
	int err;

	*now = *peak = 0;
	if (!ctx->memcg)
		err = read_memlock(ctx, now);
	else
		err = memcg_usage(ctx->memcg, now);
	if (err)
		return;
	*now = *now > ctx->base ? *now - ctx->base : 0;
	if (*now > ctx->peak)
		ctx->peak = *now;
	if (!ctx->memcg || memcg_peak(ctx->memcg, peak) || *peak < ctx->base + ctx->peak)
		*peak = ctx->peak;
	else
		*peak -= ctx->base;
}

/* ---- set-up */

static struct bpf_program *program(const struct bench_run *run, enum use_case use_case, bool add)
{
	const struct htab_mem_ctx *ctx = run->priv;

	switch (use_case) {
	case OVERWRITE:
		return ctx->skel->progs.overwrite;
	case ADD_DEL:
		return ctx->skel->progs.add_del;
	default:
		return add ? ctx->skel->progs.add : ctx->skel->progs.del;
	}
}

static int load(struct bench_run *run, struct htab_mem_ctx *ctx)
{
	const struct htab_mem_params *params = run->params;
	int err;

	ctx->skel = htab_mem_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->nr_batches = BATCHES_PER_RUN;
	err = bpf_map__reuse_fd(ctx->skel->maps.htab, ctx->map_fd);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot use the hash map");
	bpf_program__set_autoload(program(run, params->use_case, true), true);
	bpf_program__set_autoload(program(run, params->use_case, false), true);
	return bench_load(run, ctx->skel->skeleton);
}

static int htab_mem_setup(struct bench_run *run)
{
	const struct hashmap_spec spec = make_spec(run);
	size_t nr = run->cfg->producers;
	struct htab_mem_ctx *ctx;
	int err, type;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->map_fd = -1;
	ctx->counts = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*ctx->counts));
	ctx->pairs = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*ctx->pairs));
	if (!ctx->counts || !ctx->pairs)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	memset(ctx->counts, 0, nr * sizeof(*ctx->counts));
	memset(ctx->pairs, 0, nr * sizeof(*ctx->pairs));
	err = hashmap_probe(run, &spec, &type);
	if (!err)
		err = make_map(run, ctx, type);
	return err ? err : load(run, ctx);
}

static void htab_mem_teardown(struct bench_run *run)
{
	struct htab_mem_ctx *ctx = run->priv;

	if (!ctx)
		return;
	htab_mem_bpf__destroy(ctx->skel);
	if (ctx->map_fd >= 0)
		close(ctx->map_fd);
	memcg_destroy(ctx->memcg);
	free(ctx->counts);
	free(ctx->pairs);
	free(ctx);
}

/* ---- the run */

static void add_to(uint64_t *count, uint64_t n)
{
	__atomic_store_n(count, *count + n, __ATOMIC_RELAXED);
}

/* Keys of a producer: every @step th from @first on, HTAB_MEM_BATCH of them. */
struct keys {
	uint32_t first, step;
};

/* Runs @prog once, for so many batches of updates and of deletes. Returns 0 or -errno. */
static int run_prog(struct bench_thread *t, int prog_fd, const struct keys *keys, uint32_t updates,
		    uint32_t deletes)
{
	struct htab_mem_ctx *ctx = t->run->priv;
	struct htab_mem_counts *counts = &ctx->counts[t->idx];
	uint32_t no_updates, no_deletes, ret;
	int err;

	err = hashmap_run(prog_fd, keys->first, keys->step, &ret);
	if (err)
		return bench_bpf_error(&t->run->err, err, "cannot run the program");
	no_updates = HTAB_MEM_UPDATES(ret);
	no_deletes = HTAB_MEM_DELETES(ret);
	add_to(&counts->updates, updates * HTAB_MEM_BATCH - no_updates);
	add_to(&counts->deletes, deletes * HTAB_MEM_BATCH - no_deletes);
	add_to(&counts->refused, no_updates + no_deletes);
	add_to(&counts->batches, updates + deletes);
	add_to(&counts->runs, 1);
	return 0;
}

static int work_alone(struct bench_thread *t)
{
	const struct htab_mem_params *params = t->run->params;
	const struct keys keys = { .first = t->idx, .step = t->run->cfg->producers };
	int prog_fd = bpf_program__fd(program(t->run, params->use_case, true)), err = 0;
	uint32_t deletes = params->use_case == ADD_DEL ? BATCHES_PER_RUN : 0;

	while (!err && !bench_stopping(t))
		err = run_prog(t, prog_fd, &keys, BATCHES_PER_RUN, deletes);
	return err;
}

static void set_turn(struct pair *pair, enum turn turn)
{
	__atomic_store_n(&pair->turn, turn, __ATOMIC_RELEASE);
	syscall(SYS_futex, &pair->turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A partner on another CPU comes back soon. */
#define SPINS 1000

/* Waits until it is @turn, or nobody's: returns which. */
static enum turn wait_turn(struct pair *pair, enum turn turn)
{
	const struct timespec a_while = { .tv_nsec = 10 * 1000 * 1000 };
	enum turn now;
	int spins = 0;

	for (;;) {
		now = __atomic_load_n(&pair->turn, __ATOMIC_ACQUIRE);
		if (now == turn || now == TURN_NOBODY)
			return now;
		if (++spins > SPINS)
			syscall(SYS_futex, &pair->turn, FUTEX_WAIT_PRIVATE, now, &a_while, NULL, 0);
	}
}

/*
 * The first of the two decides when it is over, and not before the other has deleted what it added:
 * so the map is empty in the end.
 */
static int work_in_pair(struct bench_thread *t)
{
	struct htab_mem_ctx *ctx = t->run->priv;
	const bool adds = t->idx % 2 == 0;
	const enum turn mine = adds ? TURN_ADD : TURN_DEL;
	const struct keys keys = { .first = t->idx / 2, .step = t->run->cfg->producers / 2 };
	int prog_fd = bpf_program__fd(program(t->run, ADD_DEL_ON_DIFF_CPU, adds)), err = 0;
	struct pair *pair = &ctx->pairs[t->idx / 2];

	while (!err && wait_turn(pair, mine) == mine) {
		if (adds && bench_stopping(t))
			break;
		err = run_prog(t, prog_fd, &keys, adds, !adds);
		if (!err)
			set_turn(pair, adds ? TURN_DEL : TURN_ADD);
	}
	set_turn(pair, TURN_NOBODY);
	return err;
}

static int htab_mem_producer(struct bench_thread *t)
{
	const struct htab_mem_params *params = t->run->params;

	return params->use_case == ADD_DEL_ON_DIFF_CPU ? work_in_pair(t) : work_alone(t);
}

/* ---- the result */

enum { BATCHES, MEMORY, PEAK, OPERATIONS, REFUSED };

#define MIB 1048576

static const struct figure htab_mem_figures[] = {
	[BATCHES] = {
		.name = "batches",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_HIGHER,
		.help = "batches of 64 updates or deletes, in thousands per second; the lines show "
			"those of one producer",
	},
	[MEMORY] = {
		.name = "memory",
		.unit = "MiB",
		.kind = FIGURE_GAUGE,
		.scale = MIB,
		.better = BETTER_LOWER,
		.help = "memory that is charged for the map",
	},
	[PEAK] = {
		.name = "peak_memory",
		.unit = "MiB",
		.kind = FIGURE_GAUGE,
		.scale = MIB,
		.better = BETTER_LOWER,
		.help = "the highest that it has been since the map was created",
	},
	[OPERATIONS] = {
		.name = "operations",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "updates and deletes that were done",
	},
	[REFUSED] = {
		.name = "refused",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_LOWER,
		.help = "updates that failed for want of memory, and deletes of what was not added",
	},
};

static void htab_mem_progress(FILE *out, const struct report *report, const double *values,
			      const struct sample *s, int producers)
{
	fprintf(out, "per-prod-op %7.2lfk/s, memory usage %7.2lfMiB", values[BATCHES] / producers,
		values[MEMORY]);
	if (s->raw.v[REFUSED])
		fprintf(out, ", refused %7.3lfM/s", values[REFUSED]);
	fputc('\n', out);
}

static void htab_mem_summary(FILE *out, const struct report *report,
			     const struct figure_stats *stats, const struct sample *total,
			     int producers)
{
	fprintf(out,
		"Summary: per-prod-op %7.2lf \u00B1 %7.2lfk/s, memory usage %7.2lf \u00B1 "
		"%7.2lfMiB, peak memory usage %7.2lfMiB",
		stats[BATCHES].mean / producers, stats[BATCHES].stddev / producers,
		stats[MEMORY].mean, stats[MEMORY].stddev, stats[PEAK].max);
	if (total->raw.v[REFUSED])
		fprintf(out, ", refused %7.3lf \u00B1 %5.3lfM/s", stats[REFUSED].mean,
			stats[REFUSED].stddev);
	fputc('\n', out);
}

static const struct report report_htab_mem = {
	.name = "htab_mem",
	.figures = htab_mem_figures,
	.nr_figures = ARRAY_SIZE(htab_mem_figures),
	.progress = htab_mem_progress,
	.summary = htab_mem_summary,
};

/* What all producers have counted, and how many of them anything. */
static struct htab_mem_counts sum_counts(const struct bench_run *run, int *active)
{
	const struct htab_mem_ctx *ctx = run->priv;
	struct htab_mem_counts sum = {};
	int i;

	*active = 0;
	for (i = 0; i < run->cfg->producers; i++) {
		const struct htab_mem_counts *c = &ctx->counts[i];
		uint64_t batches = __atomic_load_n(&c->batches, __ATOMIC_RELAXED);

		sum.runs += __atomic_load_n(&c->runs, __ATOMIC_RELAXED);
		sum.batches += batches;
		sum.updates += __atomic_load_n(&c->updates, __ATOMIC_RELAXED);
		sum.deletes += __atomic_load_n(&c->deletes, __ATOMIC_RELAXED);
		sum.refused += __atomic_load_n(&c->refused, __ATOMIC_RELAXED);
		*active += batches != 0;
	}
	return sum;
}

static void htab_mem_measure(struct bench_run *run, struct values *v)
{
	struct htab_mem_counts sum;
	int active;

	sum = sum_counts(run, &active);
	v->v[BATCHES] = sum.batches;
	v->v[OPERATIONS] = sum.updates + sum.deletes;
	v->v[REFUSED] = sum.refused;
	read_memory(run->priv, &v->v[MEMORY], &v->v[PEAK]);
}

static void htab_mem_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct htab_mem_params *params = run->params;
	const struct htab_mem_ctx *ctx = run->priv;
	struct htab_mem_counts sum;
	int active;

	sum = sum_counts(run, &active);
	/* In pairs there are two programs. */
	if (params->use_case != ADD_DEL_ON_DIFF_CPU) {
		c->prog_fd = bpf_program__fd(program(run, params->use_case, true));
		c->runs = sum.runs;
	}
	bench_count(c, "attempts", sum.batches * HTAB_MEM_BATCH);
	bench_count(c, params->use_case == OVERWRITE ? "updates" : "adds", sum.updates);
	bench_count(c, "deletes", sum.deletes);
	bench_count(c, "refused", sum.refused);
	bench_count(c, "entries", hashmap_count(ctx->map_fd));
	if (params->use_case == OVERWRITE) {
		bench_identity(c, "attempts = updates + refused");
		/* A key that was refused each time is not there. */
		if (sum.refused)
			return;
		bench_count(c, "keys", (uint64_t)active * HTAB_MEM_BATCH);
		bench_identity(c, "entries = keys");
	} else {
		bench_identity(c, "attempts = adds + deletes + refused");
		bench_identity(c, "adds = deletes");
		bench_count(c, "none", 0);
		bench_identity(c, "entries = none");
	}
}

#define HTAB_MEM_BENCH(id, name_, needs_, desc_, resizable_) \
	static const struct bench id = {                     \
		.name = name_,                               \
		.desc = desc_,                               \
		.needs = needs_,                             \
		.report = &report_htab_mem,                  \
		.data = &(const bool){ resizable_ },         \
		.check = htab_mem_check,                     \
		.probe = htab_mem_probe,                     \
		.setup = htab_mem_setup,                     \
		.teardown = htab_mem_teardown,               \
		.producer = htab_mem_producer,               \
		.measure = htab_mem_measure,                 \
		.conserve = htab_mem_conserve,               \
	}

HTAB_MEM_BENCH(htab_mem, "htab-mem", "Linux 5.6 or newer",
	       "batches of 64 updates or deletes of a hash map, and the memory that it holds",
	       false);

HTAB_MEM_BENCH(rhtab_mem, "rhtab-mem", "Linux 7.2 or newer",
	       "the same with a resizable hash map (BPF_MAP_TYPE_RHASH)", true);

static const struct bench *const htab_mem_benchs[] = { &htab_mem, &rhtab_mem };

static struct bench_family htab_mem_family = {
	.title = "Hash map, memory",
	.about = "how much memory a hash map holds while entries come and go",
	.opts = htab_mem_opts,
	.nr_opts = ARRAY_SIZE(htab_mem_opts),
	.params_size = sizeof(struct htab_mem_params),
	.benchs = htab_mem_benchs,
	.nr_benchs = ARRAY_SIZE(htab_mem_benchs),
};

BENCH_FAMILY(htab_mem_family);

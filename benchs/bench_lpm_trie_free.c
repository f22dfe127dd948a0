// SPDX-License-Identifier: GPL-2.0
/*
 * lpm-trie-free: how long the kernel takes to free an LPM trie.
 *
 * A worker thread of the kernel frees a map after its last descriptor was closed. Programs at the
 * worker's tracepoints (progs/lpm_trie_free.bpf.c) take the time of our maps, and of no others. The
 * producer fills a trie, closes it, and waits until it is freed: filling does not count, and does
 * not compete with the worker.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "benchs/lpm_trie.h"
#include "progs/lpm_trie.h"
#include "lpm_trie_free.skel.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own */
#endif

/* Keys that one bpf_map_update_batch() inserts. */
#define FILL_BATCH 4096

/* How long to wait, at the end of a run, for a map that is being freed. */
#define LAST_FREE_NS (1000 * 1000 * 1000ULL)

/* How long the kernel may take for a map at most: this, and some time for each entry. */
#define FREE_LIMIT_NS	    (5000 * 1000 * 1000ULL)
#define FREE_LIMIT_ENTRY_NS 10000

/* Bounds of the sleep between two looks at whether a map is gone. */
#define MIN_SLEEP_US 50
#define MAX_SLEEP_US 10000

struct free_ctx {
	struct lpm_trie_free_bpf *skel;
	struct lpm_keys keys;
	struct lpm_counts *counts; /* ops: maps that were freed */
	uint64_t closed, unfinished; /* maps */

	/* The trie to be closed next: 0, there is none. Afterwards only its name is left of it. */
	int map_fd;
	char name[BPF_OBJ_NAME_LEN];
};

static int load(struct bench_run *run)
{
	struct free_ctx *ctx;
	int err;

	err = bench_probe_map(&run->err, "trie map (BPF_MAP_TYPE_LPM_TRIE)", "Linux 4.11",
			      BPF_MAP_TYPE_LPM_TRIE, sizeof(struct lpm_key), sizeof(uint32_t), 1,
			      BPF_F_NO_PREALLOC);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->counts = lpm_counts_alloc(1);
	if (!ctx->counts)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	ctx->skel = lpm_trie_free_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	err = bench_load(run, ctx->skel->skeleton);
	if (err)
		return err;
	err = lpm_trie_free_bpf__attach(ctx->skel);
	if (err)
		return bench_bpf_error(
			&run->err, err,
			"cannot attach to the tracepoints workqueue_execute_start and "
			"workqueue_execute_end");
	run->trigger.verb = "timed by";
	snprintf(run->trigger.name, sizeof(run->trigger.name), "rawtp");
	return 0;
}

static void free_teardown(struct bench_run *run)
{
	struct free_ctx *ctx = run->priv;

	if (!ctx)
		return;
	if (ctx->map_fd > 0)
		close(ctx->map_fd);
	lpm_trie_free_bpf__destroy(ctx->skel);
	free(ctx->counts);
	free(ctx);
}

/* Without a trie: to fill one of millions of entries takes too long for a probe. */
static int free_probe(struct bench_run *run)
{
	int err;

	err = load(run);
	free_teardown(run);
	return err;
}

/* A new trie, which the programs can tell from all other maps by its name: 12 random digits. */
static int create_map(struct bench_run *run)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	const struct lpm_params *params = run->params;
	struct free_ctx *ctx = run->priv;
	uint64_t number;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return bench_failed(&run->err, errno, "cannot get a random number");
	memset(ctx->name, 0, sizeof(ctx->name));
	snprintf(ctx->name, sizeof(ctx->name), "lpm%012llx", (unsigned long long)(number >> 16));
	fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, ctx->name, sizeof(struct lpm_key),
			    sizeof(uint32_t), params->nr_entries, &opts);
	if (fd < 0)
		return bench_bpf_error(&run->err, fd, "cannot create an LPM trie");
	ctx->map_fd = fd;
	return 0;
}

/* The entries from @first on, of a batch. */
static int fill_batch(struct bench_run *run, uint32_t first)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	const struct lpm_params *params = run->params;
	struct free_ctx *ctx = run->priv;
	struct lpm_key keys[FILL_BATCH];
	uint32_t values[FILL_BATCH], nr, done;
	int err;

	for (nr = 0; nr < FILL_BATCH && first + nr < params->nr_entries; nr++) {
		keys[nr] = lpm_key(&ctx->keys, first + nr);
		values[nr] = first + nr;
	}
	/* After a signal it begins anew: the keys that are there already do no harm. */
	do {
		done = nr;
		err = bpf_map_update_batch(ctx->map_fd, keys, values, &done, &opts);
	} while (err == -EINTR);
	/* Before Linux 5.13 there are no batches for tries: one by one. */
	if (err == -ENOTSUPP)
		for (err = 0, done = 0; done < nr && !err; done++)
			err = bpf_map_update_elem(ctx->map_fd, &keys[done], &values[done], BPF_ANY);
	return err ? bench_bpf_error(&run->err, err, "cannot fill an LPM trie") : 0;
}

/*
 * A trie with all entries. @t: the thread that it is for, which may have to end before; NULL: it is
 * the set-up's.
 */
static int make_trie(struct bench_run *run, const struct bench_thread *t)
{
	const struct lpm_params *params = run->params;
	uint32_t first;
	int err;

	err = create_map(run);
	for (first = 0; !err && first < params->nr_entries; first += FILL_BATCH) {
		if (t && bench_stopping(t))
			break;
		err = fill_batch(run, first);
		if (!t)
			bench_progress(run, "filling the trie", (double)first / params->nr_entries);
	}
	return err;
}

static int free_setup(struct bench_run *run)
{
	const struct lpm_params *params = run->params;
	struct free_ctx *ctx;
	int err;

	bench_memory_available(lpm_trie_bytes(params), NULL);
	err = load(run);
	if (err)
		return err;
	ctx = run->priv;
	lpm_keys_init(&ctx->keys, params->prefix_len);
	/* The first one now: to fill millions of entries takes longer than many a run. */
	return make_trie(run, NULL);
}

static uint64_t nr_freed(const struct free_ctx *ctx)
{
	return __atomic_load_n(&ctx->skel->bss->freed, __ATOMIC_ACQUIRE);
}

/*
 * Closes the trie and waits until it is gone, or too long after the run is to end. It sleeps
 * meanwhile, each time for a part of what the last one took: the worker may be on this CPU.
 */
static int close_trie(const struct bench_thread *t)
{
	const struct lpm_params *params = t->run->params;
	const uint64_t limit_ns = FREE_LIMIT_NS + params->nr_entries * FREE_LIMIT_ENTRY_NS;
	struct free_ctx *ctx = t->run->priv;
	const uint64_t before = nr_freed(ctx), closed_ns = now_ns();
	uint64_t us = ctx->skel->bss->section_ns / 1000 / 16, stopped_ns = 0;

	us = us < MIN_SLEEP_US ? MIN_SLEEP_US : us > MAX_SLEEP_US ? MAX_SLEEP_US : us;
	memcpy(ctx->skel->bss->wanted, ctx->name, sizeof(ctx->name));
	close(ctx->map_fd);
	ctx->map_fd = 0;
	ctx->closed++;
	while (nr_freed(ctx) == before) {
		usleep(us);
		if (now_ns() - closed_ns > limit_ns)
			return bench_failed(&t->run->err, 0,
					    "a trie is not yet freed %llu s after it was "
					    "closed: does another process hold it?",
					    (unsigned long long)limit_ns / 1000000000);
		if (!bench_stopping(t))
			continue;
		if (!stopped_ns)
			stopped_ns = now_ns();
		if (now_ns() - stopped_ns > LAST_FREE_NS) {
			ctx->unfinished++;
			return 0;
		}
	}
	lpm_counts_add(ctx->counts, nr_freed(ctx) - before, ctx->skel->bss->section_ns);
	return 0;
}

static int free_producer(struct bench_thread *t)
{
	int err = 0;

	while (!err && !bench_stopping(t)) {
		err = close_trie(t);
		if (!err && !bench_stopping(t))
			err = make_trie(t->run, t);
	}
	return err;
}

static const struct figure free_figures[] = {
	[SECTION_OPS] = {
		.name = "ops",
		.unit = "K ops/s",
		.scale = 1e3,
		.in_section = true,
		.better = BETTER_HIGHER,
		.help = "tries freed, in thousands per second of the time that it took",
	},
	[SECTION_LATENCY] = {
		.name = "latency",
		.unit = "ms/op",
		.kind = FIGURE_TIME,
		.of = SECTION_OPS,
		.scale = 1e6,
		.in_section = true,
		.better = BETTER_LOWER,
		.help = "time to free one trie",
	},
	[SECTION] = {
		.name = "in_section",
		.unit = "%",
		.kind = FIGURE_SECTION,
		.better = BETTER_NONE,
		.help = "share of the time in which the kernel freed tries; the rest filled them",
	},
};

static const struct report report_free = {
	.name = "frees_in_section",
	.figures = free_figures,
	.nr_figures = ARRAY_SIZE(free_figures),
	.progress = lpm_section_progress,
	.summary = lpm_section_summary,
};

static void free_measure(struct bench_run *run, struct values *v)
{
	struct free_ctx *ctx = run->priv;
	struct lpm_counts sum = {};

	lpm_counts_sum(ctx->counts, &sum);
	v->v[SECTION_OPS] = sum.ops;
	v->v[SECTION] = sum.section_ns;
}

static void free_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct free_ctx *ctx = run->priv;

	bench_count(c, "closed", ctx->closed);
	bench_count(c, "freed", nr_freed(ctx));
	bench_count(c, "unfinished", ctx->unfinished);
	bench_identity(c, "closed = freed + unfinished");
}

const struct bench lpm_free = {
	.name = "lpm-trie-free",
	.kernel_workers = true,
	.desc = "LPM tries of --nr_entries entries that the kernel frees, after they were closed",
	.needs = "Linux 5.10 or newer",
	.report = &report_free,
	.check = lpm_check_single,
	.probe = free_probe,
	.setup = free_setup,
	.teardown = free_teardown,
	.producer = free_producer,
	.measure = free_measure,
	.conserve = free_conserve,
};

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/job.h"
#include "lib/run/marks.h"
#include "lib/run/timing.h"
#include "lib/stats.h"
#include "lib/util.h"

/*
 * Of so many batches, one is of nothing, and one is followed by one of twice as many turns, to be
 * held against it.
 */
#define CYCLE 16

/* How many times as long the next batch may be while the right length is looked for. */
#define STEP 64

/* And how many of them there may be. */
#define MAX_STEPS 16

/* The last so many of such pairs are kept, of each producer. */
#define MAX_PAIRS 1024

/* Fewer tell nothing. */
#define MIN_PAIRS 20

/* How far off 2 the time of twice as many turns may be. */
#define TOLERANCE 0.05

/* Batches in a row that were far too long or too short; then their length is found anew. */
#define MISFITS 8

struct batch_producer {
	pthread_mutex_t lock; /* for what the sampling thread reads: all but what is below */
	struct batches batches, nothing; /* that it has not fetched yet */
	struct timing_sums sums;
	double measured_ns; /* in the batches that count */

	uint64_t turns; /* of a batch */
	double *ratios; /* time of a double batch over that of the one before */
	size_t nr_ratios; /* ever */
	int misfits;
} __attribute__((aligned(BENCH_CACHELINE)));

struct timing {
	struct bench_run *run;
	timing_batch_fn batch;
	const char *turn;
	uint64_t max_turns;
	double batch_ns; /* that a batch shall take */
	uint64_t fixed_turns; /* that it shall have instead; 0: it is found out */
	struct batch_producer *producers;
	size_t nr;

	uint64_t nothing_ps; /* what timing_measure() read last */
};

struct timing *timing_new(struct bench_run *run, timing_batch_fn batch, const char *turn,
			  uint64_t max_turns, double batch_ns)
{
	struct timing *timing = calloc(1, sizeof(*timing));
	size_t nr = run->cfg->producers, i;

	if (timing)
		timing->producers = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*timing->producers));
	if (!timing || !timing->producers)
		goto fail;
	memset(timing->producers, 0, nr * sizeof(*timing->producers));
	timing->run = run;
	timing->batch = batch;
	timing->turn = turn;
	timing->max_turns = max_turns;
	/*
	 * What surrounds a batch is 1 to 3 % of it, which profiles of instructions would show; so
	 * would a part of a long one, at either end of the measured time.
	 */
	timing->batch_ns = batch_ns * (bench_counts_instructions() ? 5 : 1);
	for (i = 0; i < nr; i++) {
		struct batch_producer *p = &timing->producers[i];

		p->ratios = calloc(MAX_PAIRS, sizeof(*p->ratios));
		if (!p->ratios)
			goto fail;
		pthread_mutex_init(&p->lock, NULL);
		timing->nr++;
	}
	return timing;
fail:
	timing_free(timing);
	bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	return NULL;
}

void timing_fix_turns(struct timing *timing, uint64_t turns)
{
	timing->fixed_turns = turns;
}

void timing_free(struct timing *timing)
{
	size_t i;

	if (!timing)
		return;
	for (i = 0; i < timing->nr; i++) {
		pthread_mutex_destroy(&timing->producers[i].lock);
		batches_free(&timing->producers[i].batches);
		batches_free(&timing->producers[i].nothing);
		free(timing->producers[i].ratios);
	}
	free(timing->producers);
	free(timing);
}

/* ---- producers */

static bool tells(const struct timing_batch *b)
{
	return b->turns && b->ns > 0;
}

static uint64_t turns_in(const struct timing *timing, const struct timing_batch *b, double ns)
{
	double turns = ns * b->turns / b->ns;

	if (!(turns < timing->max_turns))
		return timing->max_turns;
	return turns < 1 ? 1 : llround(turns);
}

/* What a batch is there for. */
enum batch_kind {
	BATCH_MEASURED,
	BATCH_BESIDE,
	BATCH_NOTHING,
	BATCH_NOTHING_BESIDE, /* to find out how many turns there shall be */
};

static int make_batch(struct timing *timing, struct bench_thread *t, enum batch_kind kind,
		      uint64_t turns, struct timing_batch *b)
{
	struct batch_producer *p = &timing->producers[t->idx];
	int err;

	*b = (struct timing_batch){};
	if (kind != BATCH_MEASURED)
		bench_measure_pause();
	err = timing->batch(t, kind >= BATCH_NOTHING, turns, b);
	if (kind != BATCH_MEASURED)
		bench_measure_resume();
	if (err)
		return err;
	pthread_mutex_lock(&p->lock);
	p->sums.cut_short += b->turns && b->turns < turns;
	switch (tells(b) ? kind : BATCH_BESIDE) {
	case BATCH_MEASURED:
		p->sums.measured += b->turns;
		p->sums.batches++;
		p->measured_ns += b->ns;
		err = batches_add(&p->batches, 1000 * b->ns / b->turns);
		break;
	case BATCH_BESIDE:
		p->sums.beside += b->turns;
		break;
	case BATCH_NOTHING:
		err = batches_add(&p->nothing, 1000 * b->ns / b->turns);
		/* fallthrough */
	case BATCH_NOTHING_BESIDE:
		p->sums.nothing += b->turns;
		break;
	}
	pthread_mutex_unlock(&p->lock);
	return err ? bench_failed(&t->run->err, err, "cannot keep the batches") : 0;
}

/* Is it about as long as it shall be? */
static bool fits(const struct timing_batch *b, double ns)
{
	return b->ns < ns * 4 && b->ns > ns / 4;
}

/*
 * How many turns take @ns? A first run is slower than those that follow, one that was disturbed is
 * as well, and short batches say more of the clock than of turns: so the length is looked for step
 * by step, until a batch of it fits. @turns: at first a guess, not too high.
 */
static int find_turns(struct timing *timing, struct bench_thread *t, bool nothing, double ns,
		      uint64_t *turns)
{
	const enum batch_kind kind = nothing ? BATCH_NOTHING_BESIDE : BATCH_BESIDE;
	struct timing_batch b;
	uint64_t most, before;
	int i, err;

	for (i = 0; i < MAX_STEPS && !bench_stopping(t); i++) {
		err = make_batch(timing, t, kind, *turns, &b);
		if (err)
			return err;
		before = *turns;
		most = *turns > timing->max_turns / STEP ? timing->max_turns : STEP * *turns;
		*turns = tells(&b) && turns_in(timing, &b, ns) < most ? turns_in(timing, &b, ns) :
									most;
		/* One turn may be too long already, or as many as there may be too short. */
		if (*turns == before || (tells(&b) && fits(&b, ns)))
			break;
	}
	return 0;
}

/* The body's cost may change while it runs, as a map fills: then so does the batch's length. */
static void adapt(struct timing *timing, struct batch_producer *p, const struct timing_batch *b)
{
	if (timing->fixed_turns)
		return;
	if (fits(b, timing->batch_ns)) {
		p->misfits = 0;
		return;
	}
	if (++p->misfits < MISFITS)
		return;
	p->misfits = 0;
	p->turns = turns_in(timing, b, timing->batch_ns);
}

static int pair_up(struct timing *timing, struct bench_thread *t, const struct timing_batch *once)
{
	struct batch_producer *p = &timing->producers[t->idx];
	struct timing_batch twice;
	int err;

	if (timing->fixed_turns || once->turns != p->turns || 2 * p->turns > timing->max_turns)
		return 0;
	err = make_batch(timing, t, BATCH_BESIDE, 2 * p->turns, &twice);
	if (!err && twice.turns == 2 * p->turns && tells(once) && tells(&twice))
		p->ratios[p->nr_ratios++ % MAX_PAIRS] = twice.ns / once->ns;
	return err;
}

int timing_producer(struct timing *timing, struct bench_thread *t)
{
	struct batch_producer *p = &timing->producers[t->idx];
	uint64_t nothing, round;
	struct timing_batch b;
	int err;

	p->turns = timing->fixed_turns ?: 1;
	err = timing->fixed_turns ? 0 : find_turns(timing, t, false, timing->batch_ns, &p->turns);
	/* Nothing takes less time than something. */
	nothing = p->turns / 4 + 1;
	if (!err)
		err = find_turns(timing, t, true, timing->batch_ns / 4, &nothing);
	for (round = 0; !err && !bench_stopping(t); round++) {
		if (round % CYCLE == 0)
			err = make_batch(timing, t, BATCH_NOTHING, nothing, &b);
		if (!err)
			err = make_batch(timing, t, BATCH_MEASURED, p->turns, &b);
		if (!err && round % CYCLE == CYCLE / 2)
			err = pair_up(timing, t, &b);
		if (!err && tells(&b))
			adapt(timing, p, &b);
	}
	return err;
}

/* ---- figures */

void timing_sum_up(const struct timing *timing, struct timing_sums *sums)
{
	size_t i;

	*sums = (struct timing_sums){};
	for (i = 0; i < timing->nr; i++) {
		struct batch_producer *p = &timing->producers[i];

		pthread_mutex_lock(&p->lock);
		sums->batches += p->sums.batches;
		sums->measured += p->sums.measured;
		sums->beside += p->sums.beside;
		sums->nothing += p->sums.nothing;
		sums->cut_short += p->sums.cut_short;
		pthread_mutex_unlock(&p->lock);
	}
}

/* Moves what there is to @to. 0 or -ENOMEM. */
static int fetch(struct batches *to, struct batches *from)
{
	size_t i;
	int err = 0;

	for (i = 0; i < from->nr && !err; i++)
		err = batches_add(to, from->v[i]);
	from->nr = 0;
	return err;
}

void timing_measure(struct timing *timing, struct values *v)
{
	struct batches nothing = {};
	double measured_ns = 0;
	size_t i;

	for (i = 0; i < timing->nr; i++) {
		struct batch_producer *p = &timing->producers[i];

		pthread_mutex_lock(&p->lock);
		v->v[TIMING_TURNS] += p->sums.measured;
		measured_ns += p->measured_ns;
		/* Without memory it is the median of fewer. */
		fetch(&nothing, &p->nothing);
		pthread_mutex_unlock(&p->lock);
	}
	v->v[TIMING_TIMED] = llround(measured_ns);
	/* Where there was no such batch since the last time, the last one still holds. */
	if (nothing.nr)
		timing->nothing_ps = llround(stats_quantile(nothing.v, nothing.nr, 0.5));
	v->v[TIMING_NOTHING] = timing->nothing_ps;
	batches_free(&nothing);
}

int timing_batches(struct timing *timing, struct batches *b)
{
	int err = 0;
	size_t i;

	for (i = 0; i < timing->nr && !err; i++) {
		struct batch_producer *p = &timing->producers[i];

		pthread_mutex_lock(&p->lock);
		err = fetch(b, &p->batches);
		pthread_mutex_unlock(&p->lock);
	}
	return err;
}

/* ---- is it right? */

static double *all_ratios(const struct timing *timing, size_t *nr)
{
	double *v = calloc(timing->nr * MAX_PAIRS, sizeof(*v));
	size_t i, k;

	*nr = 0;
	for (i = 0; v && i < timing->nr; i++) {
		const struct batch_producer *p = &timing->producers[i];

		for (k = 0; k < p->nr_ratios && k < MAX_PAIRS; k++)
			v[(*nr)++] = p->ratios[k];
	}
	return v;
}

/* Only what chance does not explain: the interval of the median has to lie outside as well. */
static void judge_proportions(struct timing *timing)
{
	double *ratios, low, high, median;
	size_t nr;

	ratios = all_ratios(timing, &nr);
	if (ratios && nr >= MIN_PAIRS &&
	    !stats_median_ci(ratios, nr, STATS_CONFIDENCE, &low, &high)) {
		median = stats_quantile(ratios, nr, 0.5);
		if (low > 2 * (1 + TOLERANCE) || high < 2 * (1 - TOLERANCE))
			bench_warn(timing->run,
				   "twice as many %s take %.2f times as long, not 2 (%" PRIu64
				   " and %" PRIu64
				   "): the time of one depends on how many there are",
				   timing->turn, median, timing->producers[0].turns,
				   2 * timing->producers[0].turns);
	}
	free(ratios);
}

void timing_judge(struct timing *timing, const struct timing_sums *sums)
{
	if (sums->cut_short)
		bench_note(timing->run,
			   "%" PRIu64 " batches ended early, and count with the %s that they made",
			   sums->cut_short, timing->turn);
	judge_proportions(timing);
}

/* ---- lines */

void timing_progress_line(FILE *out, const struct report *report, const double *values,
			  const struct sample *s, int producers)
{
	fprintf(out, "median %8.3lf ns/op, mean %8.3lf ns/op, p99 of batches %8.3lf ns/op\n",
		values[TIMING_MEDIAN], values[TIMING_MEAN], values[TIMING_P99]);
}

void timing_summary_line(FILE *out, const struct report *report, const struct figure_stats *stats,
			 const struct sample *total, int producers)
{
	fprintf(out,
		"Summary: median %8.3lf \u00B1 %5.3lf ns/op, mean %8.3lf \u00B1 %5.3lf ns/op, "
		"p99 of batches %8.3lf ns/op, empty %8.3lf ns/op\n",
		stats[TIMING_MEDIAN].mean, stats[TIMING_MEDIAN].stddev, stats[TIMING_MEAN].mean,
		stats[TIMING_MEAN].stddev, stats[TIMING_P99].mean, stats[TIMING_NOTHING].mean);
}

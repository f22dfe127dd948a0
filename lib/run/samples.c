// SPDX-License-Identifier: GPL-2.0
/* The thread that samples: once an interval it reads the counts, until the run is to end. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "lib/run/marks.h"
#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/run/state.h"
#include "lib/stats.h"
#include "lib/util.h"

/*
 * With more threads per CPU, their counters of noise may be left alone: see count_threads_noise().
 */
#define NOISE_THREADS_PER_CPU 32

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

/*
 * Reading them takes some 20 us a thread. A sampling thread that does not outrank many others would
 * wait for its turn again and again until it is through: for minutes, with thousands.
 */
static bool count_threads_noise(const struct run_state *state)
{
	return state->outranking ||
	       state->nr_workers <= NOISE_THREADS_PER_CPU * (size_t)state->res->allowed.cnt;
}

static int read_noise(struct run_state *state, struct noise_reading *reading)
{
	size_t nr = count_threads_noise(state) ? state->nr_workers : 0, i;
	pid_t *tids = calloc(nr + 1, sizeof(*tids));
	int err = -ENOMEM;

	if (tids) {
		for (i = 0; i < nr; i++)
			tids[i] = state->workers[i].t.tid;
		err = noise_read(reading, tids, nr);
	}
	free(tids);
	return err;
}

/* The scheduler moves a pinned thread only when its CPU goes away; then the run means nothing. */
static void look_for_strays(struct run_state *state)
{
	struct bench_result *res = state->res;
	size_t i;

	for (i = 0; i < state->nr_workers && !res->strayed_tid; i++) {
		struct worker *w = &state->workers[i];

		if (w->t.cpu >= 0 && !noise_thread_is_pinned(w->t.tid, w->t.cpu)) {
			res->strayed_tid = w->t.tid;
			res->strayed_cpu = w->t.cpu;
		}
	}
}

/* Another program may switch them on in the midst of a run. */
static void look_for_stats(struct run_state *state)
{
	/* With --verify it is us. */
	if (state->stats_probe_fd >= 0 && !state->run.cfg->verify &&
	    bench_stats_count(state->stats_probe_fd))
		state->res->stats_by_others = true;
}

static int add_sample(struct run_state *state, const struct sample *s)
{
	struct bench_result *res = state->res;

	if (res->nr_samples == state->samples_room) {
		size_t room = state->samples_room ? 2 * state->samples_room : 64;
		struct sample *p = realloc(res->samples, room * sizeof(*p));

		if (!p)
			return bench_failed(&state->run.err, ENOMEM, "cannot keep the samples");
		res->samples = p;
		state->samples_room = room;
	}
	res->samples[res->nr_samples++] = *s;
	return 0;
}

/* Batches that are kept, 32 MiB of them; of more, every second one, and so on. */
#define MAX_BATCHES (1 << 22)

static void thin_batches(struct run_state *state)
{
	struct bench_result *res = state->res;
	size_t phase = 0, i;

	state->batch_stride *= 2;
	state->nr_batches = 0;
	for (i = 0; i < res->nr_samples; i++) {
		batches_thin(&res->samples[i].batches, 2, &phase);
		state->nr_batches += res->samples[i].batches.nr;
	}
}

/* Takes what batches there were since the last sample. @keep: not in the warm-up. */
static int take_batches(struct run_state *state, struct sample *s, bool keep)
{
	struct bench_run *run = &state->run;
	int err;

	if (!run->bench->batches)
		return 0;
	err = run->bench->batches(run, &s->batches);
	if (err)
		return bench_failed(&run->err, err, "cannot keep the batches");
	batches_sort(&s->batches);
	sample_set_quantiles(run->bench->report, s);
	if (!keep) {
		batches_free(&s->batches);
		return 0;
	}
	if (!state->batch_stride)
		state->batch_stride = 1;
	/* Those with weights are merged into one set, which does not grow with the time. */
	if (s->batches.weight)
		return 0;
	batches_thin(&s->batches, state->batch_stride, &state->batch_phase);
	state->nr_batches += s->batches.nr;
	return 0;
}

/* The first measured sample keeps what has weights, of all samples. */
static int merge_batches(struct run_state *state)
{
	struct bench_result *res = state->res;
	struct sample *first = &res->samples[res->nr_warmup];
	struct sample *last = &res->samples[res->nr_samples - 1];
	int err;

	if (!last->batches.weight || last <= first)
		return 0;
	err = batches_merge(&first->batches, &last->batches);
	batches_free(&last->batches);
	return err ? bench_failed(&state->run.err, err, "cannot keep the batches") : 0;
}

/* What the table's first figure observes of the measured samples. */
static int observe_first(const struct run_state *state, struct observations *obs)
{
	const struct bench_result *res = state->res;

	return observations_make(state->run.bench->report, 0, res->samples + res->nr_warmup,
				 res->nr_samples - res->nr_warmup, state->run.cfg->producers, obs);
}

/* Half the interval of the mean, in percent of it; NAN where the samples are too few to tell. */
static double ci_pct(const struct run_state *state)
{
	double mean, half, pct = NAN;
	struct observations obs;

	if (observe_first(state, &obs))
		return NAN;
	if (!stats_mean_ci(obs.count, obs.weight, obs.n, STATS_CONFIDENCE, &mean, &half) &&
	    mean > 0)
		pct = 100 * half / mean;
	observations_free(&obs);
	return pct;
}

static bool precise_enough(const struct run_state *state)
{
	const double pct = state->run.cfg->precision_pct;
	struct observations obs;
	bool precise;

	/* Instructions are not left to chance, which fewer samples would favor. */
	if (bench_counts_instructions())
		return ci_pct(state) <= pct;
	if (observe_first(state, &obs))
		return false;
	precise = stats_precise(obs.count, obs.weight, obs.n, pct);
	observations_free(&obs);
	return precise;
}

static void set_timer(long long interval_ms)
{
	struct itimerval timer = {
		.it_interval = { .tv_sec = interval_ms / 1000,
				 .tv_usec = interval_ms % 1000 * 1000 },
	};

	timer.it_value = timer.it_interval;
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Where sampling is: what was read last, and when. */
struct sampler {
	uint64_t start_ns, prev_ns, warmup_end_ns;
	uint64_t cpu_ns; /* CPU time of the process at the last sample */
	uint64_t busy_ns, total_ns; /* of all samples: its CPU time, and their length */
	uint64_t measured_ns;
	uint64_t strays_looked_ns;
	uint64_t suspended_ns; /* the machine, ever */
	uint64_t watched_ns; /* spent in the watcher since the last sample */
	unsigned int continued; /* see signals_continued() */
	struct values before;
};

static uint64_t process_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Time that the machine was suspended, which CLOCK_MONOTONIC leaves out. */
static uint64_t suspended_ns(void)
{
	uint64_t before = now_ns();
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec - before;
}

/* Later than this is no jitter. */
#define LATE_NS (NS_PER_S / 2)

/*
 * Did the clock go on while the process did not? It was frozen, or the machine is a guest that was.
 * A sample may be late for other reasons. The sampling thread waited for whoever reads what it
 * prints: that it knows. Or it waited for its turn: then the other threads have used the CPUs as
 * before; else they did so for no longer than an interval, since at its end a tick was pending.
 */
static bool was_paused(const struct run_state *state, const struct sampler *sampler, uint64_t dt_ns,
		       uint64_t busy_ns)
{
	const uint64_t interval_ns = state->run.cfg->interval_ms * NS_PER_MS;
	double usual;

	if (dt_ns < interval_ns + sampler->watched_ns + LATE_NS)
		return false;
	if (!sampler->total_ns)
		return dt_ns >= 2 * interval_ns + LATE_NS;
	usual = (double)sampler->busy_ns / sampler->total_ns;
	return (double)busy_ns / dt_ns < usual * (1 + (double)interval_ns / dt_ns) / 2;
}

/* Does the sample hold a time in which a signal had stopped the process, or the machine slept? */
static bool was_stopped(struct run_state *state, struct sampler *sampler)
{
	const uint64_t duration_ns = state->run.cfg->duration_s * NS_PER_S;
	unsigned int ever = signals_continued();
	/* A count on its way from pending to counted is in neither for a moment. */
	unsigned int continued = ever > sampler->continued ? ever - sampler->continued : 0;
	uint64_t suspended = suspended_ns() - sampler->suspended_ns;
	struct bench_result *res = state->res;

	sampler->continued += continued;
	sampler->suspended_ns += suspended;
	res->stops += continued;
	if (suspended > LATE_NS && suspended < INT64_MAX) {
		res->paused_ns += suspended;
		return true;
	}
	/* Who is stopped many times per second, as cpulimit does it, has no others. */
	return continued && res->paused_ns < duration_ns;
}

static void measured_time_begins(struct run_state *state)
{
	hwcount_begin(state->hwcounters);
	bench_measure_begin();
}

/* Reads the counts. Returns 0, or -errno after bench_failed(). */
static int take_sample(struct run_state *state, struct sampler *sampler)
{
	struct bench_run *run = &state->run;
	struct bench_result *res = state->res;
	uint64_t now = now_ns(), cpu = process_cpu_ns();
	struct values after = {};
	struct sample s = {};
	bool paused, warmup = sampler->prev_ns < sampler->warmup_end_ns;
	bool begins = warmup && now >= sampler->warmup_end_ns;
	int err;

	run->bench->measure(run, &after);
	if (begins)
		measured_time_begins(state);
	s.t_ns = sampler->prev_ns - sampler->start_ns;
	s.dt_ns = now - sampler->prev_ns;
	s.raw = values_minus(run->bench->report, &after, &sampler->before);
	err = take_batches(state, &s, !warmup);
	if (err)
		return err;
	paused = was_stopped(state, sampler) ||
		 was_paused(state, sampler, s.dt_ns, cpu - sampler->cpu_ns);
	if (paused) {
		res->paused_ns += s.dt_ns;
		batches_free(&s.batches);
	} else {
		err = add_sample(state, &s);
		if (err) {
			batches_free(&s.batches);
			return err;
		}
		if (state->nr_batches > MAX_BATCHES)
			thin_batches(state);
		if (warmup)
			res->nr_warmup++;
		else
			sampler->measured_ns += s.dt_ns;
		err = merge_batches(state);
		if (err)
			return err;
		sampler->busy_ns += cpu - sampler->cpu_ns;
		sampler->total_ns += s.dt_ns;
	}
	/* Pauses of the warm-up say nothing about what is measured. */
	if (begins) {
		res->paused_ns = 0;
		res->stops = 0;
	}
	sampler->before = after;
	sampler->prev_ns = now;
	sampler->cpu_ns = cpu;
	if (!state->noise_started && now >= sampler->warmup_end_ns)
		state->noise_started = !read_noise(state, &state->noise_start);
	/* A system call per thread: not for each of a thousand samples per second. */
	if (now - sampler->strays_looked_ns >= NS_PER_S) {
		look_for_strays(state);
		look_for_stats(state);
		sampler->strays_looked_ns = now;
	}
	now = now_ns();
	if (!paused && state->watch->sampled)
		state->watch->sampled(state->watch->ctx, res->nr_samples - 1, &s);
	sampler->watched_ns = now_ns() - now;
	return 0;
}

static bool has_measured_enough(struct run_state *state, const struct sampler *sampler)
{
	const struct bench_config *cfg = state->run.cfg;
	/* What disturbs a machine lasts: less than a second says little; of instructions, much. */
	const uint64_t least_ns = bench_counts_instructions() ? NS_PER_S / 10 : NS_PER_S;

	if (cfg->precision_pct > 0 && sampler->measured_ns >= least_ns && precise_enough(state)) {
		state->res->precise = true;
		return true;
	}
	/* The timer's jitter shall not cost a whole interval more. */
	return sampler->measured_ns + cfg->interval_ms * NS_PER_MS / 2 >=
	       cfg->duration_s * NS_PER_S;
}

int samples_take(struct run_state *state)
{
	const struct bench_config *cfg = state->run.cfg;
	struct bench_run *run = &state->run;
	struct sampler sampler = {};
	sigset_t alarm;
	int sig, err;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);

	threads_open_gate(state);
	threads_wait_until_all_work(state);
	sampler.start_ns = sampler.prev_ns = now_ns();
	sampler.cpu_ns = process_cpu_ns();
	sampler.continued = signals_continued();
	sampler.suspended_ns = suspended_ns();
	sampler.warmup_end_ns = sampler.start_ns + cfg->warmup_s * NS_PER_S;
	run->bench->measure(run, &sampler.before);
	if (!cfg->warmup_s) {
		measured_time_begins(state);
		state->noise_started = !read_noise(state, &state->noise_start);
	}
	set_timer(cfg->interval_ms);
	do {
		do {
			sig = sigwaitinfo(&alarm, NULL);
			if (sig < 0 && errno != EINTR)
				return bench_failed(&run->err, errno,
						    "waiting for the sampling timer");
			if (run_failed(run))
				return -EIO;
			if (signals_caught())
				return 0;
		} while (sig != SIGALRM);
		err = take_sample(state, &sampler);
		if (err)
			return err;
	} while (!has_measured_enough(state, &sampler));
	return 0;
}

void samples_end(struct run_state *state)
{
	struct noise_reading end = {};

	hwcount_end(state->hwcounters, &state->res->hw);
	bench_measure_end();
	set_timer(0);
	look_for_strays(state);
	state->res->ci_pct = ci_pct(state);
	state->res->sched_unusual =
		!noise_sched(state->workers[0].t.tid, state->res->sched, sizeof(state->res->sched));
	state->res->rt_limit_pct = noise_rt_limit_pct(state->workers[0].t.tid);
	if (state->noise_started && !read_noise(state, &end)) {
		noise_diff(&state->noise_start, &end, &state->res->noise);
		if (!count_threads_noise(state)) {
			state->res->noise.invol_switches = state->res->noise.migrations = -1;
			state->res->noise.waited_pct = -1;
		}
		state->res->have_noise = true;
		noise_reading_free(&end);
	}
}

// SPDX-License-Identifier: GPL-2.0
/* The thread that samples: once an interval it reads the counts, until the run is to end. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/time.h>

#include "lib/run/signals.h"
#include "lib/run/state.h"
#include "lib/stats.h"
#include "lib/util.h"

/*
 * With more threads per CPU, their counters of noise may be left alone: see count_threads_noise().
 */
#define NOISE_THREADS_PER_CPU 32

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

/* What the table's first figure observes of the measured samples. */
static int observe_first(const struct run_state *state, struct observations *obs)
{
	const struct bench_result *res = state->res;

	return observations_make(state->run.bench->report, 0, res->samples + res->nr_warmup,
				 res->nr_samples - res->nr_warmup, state->run.cfg->producers, obs);
}

static bool precise_enough(const struct run_state *state)
{
	struct observations obs;
	bool precise;

	if (observe_first(state, &obs))
		return false;
	precise = stats_precise(obs.count, obs.weight, obs.n, state->run.cfg->precision_pct);
	observations_free(&obs);
	return precise;
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

static void set_timer(long long interval_ms)
{
	struct itimerval timer = {
		.it_interval = { .tv_sec = interval_ms / 1000,
				 .tv_usec = interval_ms % 1000 * 1000 },
	};

	timer.it_value = timer.it_interval;
	setitimer(ITIMER_REAL, &timer, NULL);
}

int samples_take(struct run_state *state)
{
	const struct bench_config *cfg = state->run.cfg;
	const uint64_t interval_ns = cfg->interval_ms * 1000000ULL;
	uint64_t start, prev, now, warmup_end, measured_ns = 0, strays_looked = 0;
	struct bench_result *res = state->res;
	struct bench_run *run = &state->run;
	const struct report *report = run->bench->report;
	struct values before = {}, after;
	struct sample s;
	sigset_t alarm;
	int sig, err;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);

	threads_open_gate(state);
	threads_wait_until_all_work(state);
	start = prev = now_ns();
	warmup_end = start + cfg->warmup_s * 1000000000ULL;
	run->bench->measure(run, &before);
	if (!cfg->warmup_s)
		state->noise_started = !read_noise(state, &state->noise_start);
	set_timer(cfg->interval_ms);
	for (;;) {
		sig = sigwaitinfo(&alarm, NULL);
		if (sig < 0 && errno != EINTR)
			return bench_failed(&run->err, errno, "waiting for the sampling timer");
		if (run_failed(run))
			return -EIO;
		if (signals_caught())
			return 0;
		if (sig != SIGALRM)
			continue;

		now = now_ns();
		after = (struct values){};
		run->bench->measure(run, &after);
		s.t_ns = prev - start;
		s.dt_ns = now - prev;
		s.raw = values_minus(report, &after, &before);
		err = add_sample(state, &s);
		if (err)
			return err;
		if (prev < warmup_end)
			res->nr_warmup++;
		else
			measured_ns += s.dt_ns;
		before = after;
		prev = now;
		if (!state->noise_started && now >= warmup_end)
			state->noise_started = !read_noise(state, &state->noise_start);
		/* A system call a thread: not for each of a thousand samples a second. */
		if (now - strays_looked >= 1000000000ULL) {
			look_for_strays(state);
			strays_looked = now;
		}
		if (state->watch->sampled)
			state->watch->sampled(state->watch->ctx, res->nr_samples - 1, &s);
		/* What disturbs a machine lasts: less than a second says little. */
		if (cfg->precision_pct > 0 && measured_ns >= 1000000000ULL &&
		    precise_enough(state)) {
			res->precise = true;
			return 0;
		}
		/* The timer's jitter shall not cost a whole interval more. */
		if (measured_ns + interval_ns / 2 >= cfg->duration_s * 1000000000ULL)
			return 0;
	}
}

void samples_end(struct run_state *state)
{
	struct noise_reading end = {};

	set_timer(0);
	look_for_strays(state);
	state->res->ci_pct = ci_pct(state);
	if (state->noise_started && !read_noise(state, &end)) {
		noise_diff(&state->noise_start, &end, &state->res->noise);
		if (!count_threads_noise(state))
			state->res->noise.invol_switches = state->res->noise.migrations = -1;
		state->res->have_noise = true;
		noise_reading_free(&end);
	}
}

// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/run/run.h"
#include "lib/run/sigwatch.h"
#include "lib/stats.h"

/* Interrupts a system call that a thread sleeps in once it is to stop. */
#define KICK_SIGNAL	 SIGUSR1
#define KICK_INTERVAL_NS (5 * 1000 * 1000)
/* Thousands of threads on a few CPUs may not all get there in a bearable time: go on without. */
#define ALL_WORK_TIMEOUT_NS (10ULL * 1000 * 1000 * 1000)
/* With more threads a CPU, their counters of noise may be left alone: see count_threads_noise(). */
#define NOISE_THREADS_PER_CPU 32
/* Far beyond any drain: a thread that has not ended by then never will. */
#define STOP_TIMEOUT_NS (60ULL * 1000 * 1000 * 1000)

enum gate {
	GATE_SHUT,
	GATE_OPEN,
	GATE_ABORT,
};

/* What a run needs besides what benchmarks see of it. */
struct run_state {
	struct bench_run run;
	struct bench_result *res;
	const struct bench_watch *watch;
	struct worker *workers; /* consumers first */
	size_t nr_workers; /* of which the threads exist */
	size_t samples_room;
	struct noise_reading noise_start;
	bool noise_started;

	struct sigaction old_kick; /* what the caller does at KICK_SIGNAL */
	size_t nr_working; /* threads that have come through; atomic */
	int gate; /* enum gate, a futex: where new threads wait */
	bool stuck; /* a thread does not stop */
	bool outranking; /* the sampling thread is a real-time one */

	pthread_mutex_t lock; /* for what follows, and worker.done */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	size_t nr_ready; /* threads that are pinned, have told their id and wait there */
};

struct worker {
	struct bench_thread t;
	struct run_state *state;
	pthread_t thread;
	bool done;
	bool joined;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static bool run_failed(const struct bench_run *run)
{
	return __atomic_load_n(&run->err.code, __ATOMIC_ACQUIRE) != BENCH_EXIT_OK;
}

/* ---- placement */

static int cpuset_index_after(const struct cpuset *set, int cpu)
{
	int i;

	for (i = 0; i < set->cnt; i++)
		if (set->cpus[i] > cpu)
			return i;
	return 0;
}

int bench_run_cpu(const struct bench_config *cfg, const struct cpuset *allowed,
		  enum bench_role role, int idx)
{
	const struct cpuset *asked = role == BENCH_CONSUMER ? &cfg->cons_cpus : &cfg->prod_cpus;
	int first = 0, last;

	if (!cfg->affinity)
		return -1;
	if (asked->cnt)
		return asked->cpus[idx % asked->cnt];
	if (role == BENCH_PRODUCER && cfg->consumers > 0) {
		/* Go on where the consumers end, whether the user placed them or we did. */
		first = cfg->consumers;
		if (cfg->cons_cpus.cnt) {
			last = cfg->consumers < cfg->cons_cpus.cnt ? cfg->consumers :
								     cfg->cons_cpus.cnt;
			first = cpuset_index_after(allowed, cfg->cons_cpus.cpus[last - 1]);
		}
	}
	return allowed->cpus[(first + idx) % allowed->cnt];
}

/* ---- threads */

static void kicked(int sig)
{
	/* Nothing to do: that a system call returns EINTR is all that is wanted. */
	(void)sig;
}

/*
 * Some threads; each of them wakes as many. A thread that does not outrank them and woke thousands
 * alone would be put back after each few, for those to work: it would take a minute.
 */
static void wake_at_gate(struct run_state *state)
{
	syscall(SYS_futex, &state->gate, FUTEX_WAKE_PRIVATE, 64, NULL, NULL, 0);
}

/*
 * Returns whether the thread is to work. The gate is a futex and not a condition: from that, threads
 * come one by one, each when the one before has had a CPU to hand a lock on; and with more threads
 * than CPUs those who already work leave none. The last ones would come long after the first sample.
 */
static bool wait_at_gate(struct run_state *state)
{
	int gate;

	pthread_mutex_lock(&state->lock);
	state->nr_ready++;
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
	while ((gate = __atomic_load_n(&state->gate, __ATOMIC_ACQUIRE)) == GATE_SHUT)
		syscall(SYS_futex, &state->gate, FUTEX_WAIT_PRIVATE, GATE_SHUT, NULL, NULL, 0);
	wake_at_gate(state);
	return gate == GATE_OPEN;
}

static void set_gate(struct run_state *state, int gate)
{
	__atomic_store_n(&state->gate, gate, __ATOMIC_RELEASE);
	wake_at_gate(state);
}

/*
 * Where there are more threads than CPUs it takes a while until each has had its first turn. That
 * is no part of what is measured: a sample would have fewer threads at work than were asked for.
 */
static void wait_until_all_work(struct run_state *state)
{
	const struct timespec a_moment = { .tv_nsec = 200 * 1000 };
	uint64_t start = now_ns();

	while (__atomic_load_n(&state->nr_working, __ATOMIC_RELAXED) < state->nr_workers &&
	       !run_failed(&state->run) && !sigwatch_pending() &&
	       now_ns() - start < ALL_WORK_TIMEOUT_NS)
		nanosleep(&a_moment, NULL);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct bench_thread *t = &w->t;
	const struct bench *bench = t->run->bench;
	struct run_state *state = w->state;
	sigset_t kick;
	int err = 0;

	/* Whoever started us may have had it blocked. */
	sigemptyset(&kick);
	sigaddset(&kick, KICK_SIGNAL);
	pthread_sigmask(SIG_UNBLOCK, &kick, NULL);

	t->tid = gettid();
	if (wait_at_gate(state)) {
		__atomic_fetch_add(&state->nr_working, 1, __ATOMIC_RELAXED);
		err = t->role == BENCH_CONSUMER ? bench->consumer(t) : bench->producer(t);
	}
	if (err) {
		/* The benchmark has said why; this is for one that forgot. */
		bench_failed(&t->run->err, err, "a thread of %s failed", bench->name);
		kill(getpid(), SIGALRM); /* the sampling thread shall not wait for its next turn */
	}
	pthread_mutex_lock(&state->lock);
	w->done = true;
	pthread_cond_broadcast(&state->changed);
	pthread_mutex_unlock(&state->lock);
	return NULL;
}

static int worker_start(struct run_state *state, struct worker *w)
{
	const struct bench_config *cfg = state->run.cfg;
	char where[32] = "";
	cpu_set_t *mask = NULL;
	size_t size = 0;
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	if (w->t.cpu >= 0) {
		mask = CPU_ALLOC(w->t.cpu + 1);
		if (!mask) {
			err = ENOMEM;
			goto out;
		}
		size = CPU_ALLOC_SIZE(w->t.cpu + 1);
		CPU_ZERO_S(size, mask);
		CPU_SET_S(w->t.cpu, size, mask);
		err = pthread_attr_setaffinity_np(&attr, size, mask);
		if (err)
			goto out;
	}
	err = pthread_create(&w->thread, &attr, worker_main, w);
out:
	if (mask)
		CPU_FREE(mask);
	pthread_attr_destroy(&attr);
	if (!err)
		return 0;
	if (w->t.cpu >= 0)
		snprintf(where, sizeof(where), " on CPU %d", w->t.cpu);
	return bench_step_error(&state->run.err, WHY_THREAD, err, "cannot start %s %d of %lld%s",
				w->t.role == BENCH_CONSUMER ? "consumer" : "producer", w->t.idx + 1,
				w->t.role == BENCH_CONSUMER ? cfg->consumers : cfg->producers,
				where);
}

/*
 * SIGINT and SIGTERM that came since the last look. The first one only marks the run as cut short;
 * at a second one the user does not want to wait for an orderly end: the process dies of it.
 */
static void look_for_signals(struct run_state *state)
{
	struct timespec zero = {};
	sigset_t set;
	int sig;

	sigwatch_signals(&set);
	while ((sig = sigtimedwait(&set, NULL, &zero)) > 0) {
		if (state->res->signal) {
			signal(sig, SIG_DFL);
			pthread_sigmask(SIG_UNBLOCK, &set, NULL);
			raise(sig);
		}
		state->res->signal = sig;
	}
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

/*
 * Ends all threads of @role. A thread may sleep in a system call, and may enter one just after it
 * looked whether to stop: so it is interrupted again and again until it has ended.
 */
static int stop_role(struct run_state *state, enum bench_role role)
{
	uint64_t start = now_ns(), now;
	struct timespec until;
	struct worker *w;
	size_t i;

	__atomic_store_n(&state->run.stop[role], true, __ATOMIC_RELAXED);
	for (i = 0; i < state->nr_workers; i++) {
		w = &state->workers[i];
		if (w->t.role != role || w->joined)
			continue;
		pthread_mutex_lock(&state->lock);
		while (!w->done) {
			now = now_ns();
			if (now - start > STOP_TIMEOUT_NS) {
				pthread_mutex_unlock(&state->lock);
				state->stuck = true;
				return bench_failed(&state->run.err, ETIMEDOUT,
						    "a thread of %s does not stop",
						    state->run.bench->name);
			}
			pthread_kill(w->thread, KICK_SIGNAL);
			until = timespec_of(now + KICK_INTERVAL_NS);
			pthread_cond_timedwait(&state->changed, &state->lock, &until);
			look_for_signals(state);
		}
		pthread_mutex_unlock(&state->lock);
		pthread_join(w->thread, NULL);
		w->joined = true;
	}
	return 0;
}

static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigwatch_signals(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

static int start_threads(struct run_state *state)
{
	const struct bench_config *cfg = state->run.cfg;
	size_t nr = cfg->consumers + cfg->producers, i;
	int err;

	err = cpuset_allowed(&state->res->allowed);
	if (err)
		return bench_failed(&state->run.err, err, "cannot tell the CPUs to use");
	state->workers = calloc(nr, sizeof(*state->workers));
	if (!state->workers)
		return bench_failed(&state->run.err, ENOMEM, "cannot start %zu threads", nr);
	for (i = 0; i < nr; i++) {
		struct worker *w = &state->workers[i];

		w->state = state;
		w->t.run = &state->run;
		w->t.role = i < (size_t)cfg->consumers ? BENCH_CONSUMER : BENCH_PRODUCER;
		w->t.idx = w->t.role == BENCH_CONSUMER ? i : i - cfg->consumers;
		w->t.cpu = bench_run_cpu(cfg, &state->res->allowed, w->t.role, w->t.idx);
		err = worker_start(state, w);
		if (err)
			return err;
		state->nr_workers++;
	}
	pthread_mutex_lock(&state->lock);
	while (state->nr_ready < nr)
		pthread_cond_wait(&state->changed, &state->lock);
	pthread_mutex_unlock(&state->lock);
	return 0;
}

/* ---- sampling */

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

static struct bench_res res_minus(const struct bench_res *a, const struct bench_res *b)
{
	return (struct bench_res){
		.hits = a->hits - b->hits,
		.drops = a->drops - b->drops,
		.false_hits = a->false_hits - b->false_hits,
	};
}

/* What the report observes of the measured samples. Frees nothing of @state; see series_free(). */
struct series {
	double *count, *weight;
	size_t n;
};

static int series_make(const struct run_state *state, struct series *series)
{
	const struct bench_result *res = state->res;
	size_t n = res->nr_samples - res->nr_warmup, i, used = 0;
	double *v;

	v = calloc(2 * n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (i = res->nr_warmup; i < res->nr_samples; i++) {
		state->run.bench->report->observe(&res->samples[i], &v[used], &v[n + used]);
		used += v[n + used] > 0;
	}
	*series = (struct series){ .count = v, .weight = v + n, .n = used };
	return 0;
}

static void series_free(struct series *series)
{
	free(series->count);
}

static bool precise_enough(const struct run_state *state)
{
	struct series series;
	bool precise;

	if (series_make(state, &series))
		return false;
	precise =
		stats_precise(series.count, series.weight, series.n, state->run.cfg->precision_pct);
	series_free(&series);
	return precise;
}

/* Half the interval of the mean, in percent of it; NAN where the samples are too few to tell. */
static double ci_pct(const struct run_state *state)
{
	double mean, half, pct = NAN;
	struct series series;

	if (series_make(state, &series))
		return NAN;
	if (!stats_mean_ci(series.count, series.weight, series.n, BENCH_CONFIDENCE, &mean, &half) &&
	    mean > 0)
		pct = 100 * half / mean;
	series_free(&series);
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

/*
 * Takes samples until the measured time is full, a signal says stop, or a thread fails. Ticks of
 * the timer that come while a sample is taken are lost, but no time is: a sample lasts from the
 * one before it to itself.
 */
static int take_samples(struct run_state *state)
{
	const struct bench_config *cfg = state->run.cfg;
	const uint64_t interval_ns = cfg->interval_ms * 1000000ULL;
	uint64_t start, prev, now, warmup_end, measured_ns = 0, strays_looked = 0;
	struct bench_result *res = state->res;
	struct bench_run *run = &state->run;
	struct bench_res before = {}, after;
	struct sample s;
	sigset_t set;
	int sig, err;

	sigwatch_signals(&set);
	sigaddset(&set, SIGALRM);

	set_gate(state, GATE_OPEN);
	wait_until_all_work(state);
	start = prev = now_ns();
	warmup_end = start + cfg->warmup_s * 1000000000ULL;
	run->bench->measure(run, &before);
	if (!cfg->warmup_s)
		state->noise_started = !read_noise(state, &state->noise_start);
	set_timer(cfg->interval_ms);
	for (;;) {
		sig = sigwaitinfo(&set, NULL);
		if (sig < 0 && errno != EINTR)
			return bench_failed(&run->err, errno, "waiting for the sampling timer");
		if (run_failed(run))
			return -EIO;
		if (sig == SIGINT || sig == SIGTERM) {
			res->signal = sig;
			return 0;
		}
		/* The kernel hands out SIGALRM first: where there is always one, never SIGTERM. */
		if (sig != SIGALRM || sigwatch_pending())
			continue;

		now = now_ns();
		after = (struct bench_res){};
		run->bench->measure(run, &after);
		s.t_ns = prev - start;
		s.dt_ns = now - prev;
		s.res = res_minus(&after, &before);
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
		/* In less than a second the machine has no time to show its moods. */
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

/*
 * A tick, or the call of a thread that failed, may be pending still when all threads have ended. It
 * must not hit the caller, who has the signal unblocked and would die of it.
 */
static void drop_alarms(void)
{
	struct timespec zero = {};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	while (sigtimedwait(&set, NULL, &zero) == SIGALRM)
		;
}

static void end_sampling(struct run_state *state)
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

/* ---- the whole */

static int check_records(struct bench_run *run, const struct bench_conservation *c)
{
	if (c->attempts != c->submitted + c->drops)
		return bench_failed(&run->err, 0,
				    "%s does not conserve records: %" PRIu64
				    " attempts, but %" PRIu64 " submitted + %" PRIu64 " dropped",
				    run->bench->name, c->attempts, c->submitted, c->drops);
	if (c->has_consumed && c->submitted != c->consumed)
		return bench_failed(&run->err, 0,
				    "%s does not conserve records: %" PRIu64
				    " submitted, but %" PRIu64 " consumed",
				    run->bench->name, c->submitted, c->consumed);
	return 0;
}

static int check_run_count(struct bench_run *run, struct bench_conservation *c)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int err;

	err = bpf_obj_get_info_by_fd(c->prog_fd, &info, &size);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot ask for the kernel's run count");
	c->kernel_runs = info.run_cnt;
	if (c->runs != c->kernel_runs)
		return bench_failed(&run->err, 0,
				    "%s miscounts: %" PRIu64
				    " runs counted, but the kernel says %" PRIu64,
				    run->bench->name, c->runs, c->kernel_runs);
	return 0;
}

static int check_conservation(struct run_state *state)
{
	struct bench_conservation *c = &state->res->conservation;
	struct bench_run *run = &state->run;
	int err = 0;

	if (run->bench->conserve)
		run->bench->conserve(run, c);
	if (c->has_records)
		err = check_records(run, c);
	/* Attached, but never run (kernel.ftrace_enabled=0 does that): no rate of 0 is to be told. */
	if (!err && c->has_records && !c->attempts && !state->res->signal)
		err = bench_failed(&run->err, 0,
				   "the BPF program of %s never ran, although it is attached (%s)",
				   run->bench->name, attach_kind_names[run->attach]);
	if (!err && c->prog_fd > 0 && run->cfg->verify)
		err = check_run_count(run, c);
	return err;
}

/*
 * Among thousands of busy threads the fair scheduler may leave the one that samples waiting for
 * minutes (seen: six, with 4096 on two CPUs); a few are enough to delay its samples. It needs a CPU
 * for some microseconds only, and gets it at once as a real-time thread, where that is allowed. A
 * policy that the user has chosen is left alone. Returns whether there is something to put back.
 */
static bool outrank_workers(void)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };

	return sched_getscheduler(0) == SCHED_OTHER && !sched_setscheduler(0, SCHED_FIFO, &param);
}

static void rejoin_workers(void)
{
	const struct sched_param param = {};

	sched_setscheduler(0, SCHED_OTHER, &param);
}

static int run_threads(struct run_state *state)
{
	int err, err2;

	err = start_threads(state);
	if (err) {
		set_gate(state, GATE_ABORT);
	} else {
		/* Not before: the threads would inherit it. */
		state->outranking = outrank_workers();
		err = take_samples(state);
		end_sampling(state);
	}
	/* Both are stopped whatever happened; a thread that does not stop ends it all. */
	err2 = stop_role(state, BENCH_PRODUCER);
	if (!state->stuck)
		err2 = stop_role(state, BENCH_CONSUMER);
	if (state->outranking)
		rejoin_workers();
	if (!err)
		err = err2;
	if (!err && run_failed(&state->run))
		err = -EIO;
	return err;
}

static int stats_error(struct bench_err *err, int errnum)
{
	if (errnum == -EINVAL)
		return bench_unavailable(err, "this kernel cannot be asked to count the runs of "
					      "programs, as --verify wants (BPF_ENABLE_STATS): it "
					      "takes Linux 5.8 or newer");
	return bench_step_error(err, WHY_STATS, errnum,
				"cannot switch BPF statistics on, as --verify wants");
}

int bench_run(const struct bench *bench, const struct bench_config *cfg,
	      const struct bench_watch *watch, struct bench_result *res, struct bench_err *err)
{
	struct run_state *state;
	uint64_t start = now_ns();
	const struct sigaction kick = { .sa_handler = kicked }; /* no SA_RESTART */
	pthread_condattr_t attr;
	int stats_fd = -1, ret;
	sigset_t old;
	size_t i;

	memset(res, 0, sizeof(*res));
	state = calloc(1, sizeof(*state));
	if (!state)
		return bench_failed(err, ENOMEM, "cannot start");
	state->run.bench = bench;
	state->run.cfg = cfg;
	state->res = res;
	res->ci_pct = NAN; /* until there are samples */
	state->watch = watch;
	state->run.watch = watch;
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->changed, &attr);
	pthread_condattr_destroy(&attr);

	if (cfg->verify) {
		/* Before any program of ours can run: from then on the kernel counts. */
		stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (stats_fd < 0) {
			ret = stats_error(err, stats_fd);
			goto out_free;
		}
	}

	/* Until the threads start SIGINT just kills us: all that is held is held by descriptor. */
	ret = bench->setup ? bench->setup(&state->run) : 0;
	if (ret) /* the benchmark has said why; this is for one that forgot */
		bench_failed(&state->run.err, ret, "cannot set up %s", bench->name);
	block_signals(&old);
	sigaction(KICK_SIGNAL, &kick, &state->old_kick);
	res->attach = state->run.attach;
	memcpy(res->attach_note, state->run.attach_note, sizeof(res->attach_note));
	memcpy(res->trigger, state->run.trigger, sizeof(res->trigger));
	memcpy(res->trigger_note, state->run.trigger_note, sizeof(res->trigger_note));
	if (!ret && bench->describe)
		ret = bench->describe(&state->run, stderr);
	if (!ret) {
		res->setup_ns = now_ns() - start;
		if (watch->started)
			watch->started(watch->ctx, &state->run);
		ret = run_threads(state);
	}
	if (!ret)
		ret = check_conservation(state);
	*err = state->run.err;
	/* A thread still runs, so nothing may be freed under it; the caller exits with the reason. */
	if (state->stuck)
		return ret;
	if (bench->teardown)
		bench->teardown(&state->run);
	for (i = 0; i < state->run.nr_links; i++)
		bpf_link__destroy(state->run.links[i]);
	free(state->run.links);
	noise_reading_free(&state->noise_start);
	free(state->workers);
	look_for_signals(state);
	drop_alarms();
	sigaction(KICK_SIGNAL, &state->old_kick, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (stats_fd >= 0)
		close(stats_fd);
out_free:
	pthread_cond_destroy(&state->changed);
	pthread_mutex_destroy(&state->lock);
	free(state);
	return ret;
}

void bench_result_free(struct bench_result *res)
{
	free(res->samples);
	cpuset_free(&res->allowed);
	memset(res, 0, sizeof(*res));
}

// SPDX-License-Identifier: GPL-2.0
/* The threads of a run: where they are placed, how they start at the same time, how they end. */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/run/state.h"
#include "lib/util.h"

#define KICK_INTERVAL_NS (5 * 1000 * 1000)
/* Thousands of threads on a few CPUs may not all get there in a bearable time: go on without. */
#define ALL_WORK_TIMEOUT_NS (10ULL * 1000 * 1000 * 1000)
/* Far beyond any drain: a thread that has not ended by then never will. */
#define STOP_TIMEOUT_NS (60ULL * 1000 * 1000 * 1000)

/* ---- placement */

/* Where to go on in @set after @cpu, which may not be in it. */
static int index_after(const struct cpuset *set, int cpu)
{
	int i;

	for (i = 0; i < set->cnt; i++)
		if (set->cpus[i] == cpu)
			return i + 1;
	for (i = 0; i < set->cnt; i++)
		if (set->cpus[i] > cpu)
			return i;
	return 0;
}

int bench_run_cpus(struct cpuset *cpus)
{
	int err = cpuset_allowed(cpus);

	if (!err)
		cpuset_spread("", cpus);
	return err;
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
			first = index_after(allowed, cfg->cons_cpus.cpus[last - 1]);
		}
	}
	return allowed->cpus[(first + idx) % allowed->cnt];
}

/* ---- start and end */

void kicked(int sig)
{
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
 * Returns whether the thread is to work. The gate is a futex and not a condition: from that,
 * threads come one by one, each when the one before has had a CPU to hand a lock on; and with more
 * threads than CPUs those who already work leave none. The last ones would come long after the
 * first sample.
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

void threads_wait_until_all_work(struct run_state *state)
{
	const struct timespec a_moment = { .tv_nsec = 200 * 1000 };
	uint64_t start = now_ns();

	while (__atomic_load_n(&state->nr_working, __ATOMIC_RELAXED) < state->nr_workers &&
	       !run_failed(&state->run) && !signals_caught() &&
	       now_ns() - start < ALL_WORK_TIMEOUT_NS)
		nanosleep(&a_moment, NULL);
}

void threads_open_gate(struct run_state *state)
{
	set_gate(state, GATE_OPEN);
}

void threads_abort(struct run_state *state)
{
	set_gate(state, GATE_ABORT);
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

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

int threads_stop(struct run_state *state, enum bench_role role)
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
		}
		pthread_mutex_unlock(&state->lock);
		pthread_join(w->thread, NULL);
		w->joined = true;
	}
	return 0;
}

int threads_start(struct run_state *state)
{
	const struct bench_config *cfg = state->run.cfg;
	size_t nr = cfg->consumers + cfg->producers, i;
	int err;

	err = bench_run_cpus(&state->res->allowed);
	if (err)
		return bench_failed(&state->run.err, err, "cannot find out which CPUs to use");
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

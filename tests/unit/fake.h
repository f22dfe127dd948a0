/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Benchmarks made up for tests of the life of a run: without BPF. They count what the core does
 * with them. The tests copy the one below and put in what should not be: functions that lie, fail,
 * sleep and hang as no real ones should.
 */
#ifndef TESTS_UNIT_FAKE_H
#define TESTS_UNIT_FAKE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/lines.h"
#include "lib/run/run.h"
#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/util.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

#define ADD(v, n) __atomic_add_fetch(&(v), (n), __ATOMIC_SEQ_CST)
#define READ(v)	  __atomic_load_n(&(v), __ATOMIC_SEQ_CST)

/* What the benchmarks saw; cleared before each test. */
static struct {
	int setups, teardowns, describes, probes, measures, conserves, started, sampled;
	int producers, consumers; /* that came to work */
	int producers_done, consumers_done;
	int at_first_measure; /* threads that had come to work */
	int producers_done_at_stop; /* when the consumer was told to stop */
	int tids[BENCH_MAX_THREADS], cpus[BENCH_MAX_THREADS]; /* of producers, by index */
	bool pinned_right;
	int sampling_policy, producer_policy;
	int order_err;
} seen;

/* What a test asks for beside its struct bench. */
static struct {
	int stop_after; /* samples, after which @stop_signal comes; 0: the time runs out */
	int stop_signal;
	int stray_to; /* CPU */
	struct bench_conservation conservation;
} plan;

static inline int clear(void **state)
{
	memset(&seen, 0, sizeof(seen));
	memset(&plan, 0, sizeof(plan));
	seen.pinned_right = true;
	plan.stop_signal = SIGINT;
	signals_forget();
	signals_end_process();
	return 0;
}

/* Sends @sig to the process, and waits until it has been taken note of. */
static inline void send_and_wait(int sig)
{
	kill(getpid(), sig);
	while (!signals_caught())
		sched_yield();
}

/* ---- parts of benchmarks */

static inline int fake_setup(struct bench_run *run)
{
	seen.setups++;
	run->priv = &seen;
	return 0;
}

static inline void fake_teardown(struct bench_run *run)
{
	seen.teardowns++;
	/* Whatever has gone wrong, nothing is torn down under a thread that works. */
	if (READ(seen.producers) != READ(seen.producers_done) ||
	    READ(seen.consumers) != READ(seen.consumers_done))
		seen.order_err = 1;
}

static inline void producer_begins(struct bench_thread *t)
{
	seen.tids[t->idx] = gettid();
	__atomic_store_n(&seen.producer_policy, sched_getscheduler(0), __ATOMIC_RELAXED);
	seen.cpus[t->idx] = t->cpu;
	ADD(seen.producers, 1);
}

static inline int fake_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		sched_yield();
	ADD(seen.producers_done, 1);
	return 0;
}

static inline int fake_consumer(struct bench_thread *t)
{
	ADD(seen.consumers, 1);
	while (!bench_stopping(t))
		sched_yield();
	__atomic_store_n(&seen.producers_done_at_stop, READ(seen.producers_done), __ATOMIC_SEQ_CST);
	ADD(seen.consumers_done, 1);
	return 0;
}

static inline void fake_measure(struct bench_run *run, struct values *v)
{
	assert_ptr_equal(run->priv, &seen);
	v->v[HITS] = ++seen.measures;
}

static inline void fake_conserve(struct bench_run *run, struct bench_conservation *c)
{
	seen.conserves++;
	*c = plan.conservation;
}

static const struct bench fake = {
	.report = &report_hits_drops,
	.name = "fake",
	.setup = fake_setup,
	.teardown = fake_teardown,
	.producer = fake_producer,
	.consumer = fake_consumer,
	.measure = fake_measure,
	.conserve = fake_conserve,
};

/* ---- running them */

struct outcome {
	int ret;
	struct bench_result res;
	struct bench_err err;
	uint64_t took_ns;
};

static inline void on_started(void *ctx, const struct bench_run *run)
{
	assert_ptr_equal(ctx, &plan);
	assert_non_null(run->bench);
	seen.started++;
	/* "The threads are about to start": no one works yet. */
	if (READ(seen.producers) || READ(seen.consumers))
		seen.order_err = 1;
}

static inline void on_sampled(void *ctx, int iter, const struct sample *s)
{
	assert_ptr_equal(ctx, &plan);
	assert_int_equal(iter, seen.sampled);
	assert_true(s->dt_ns > 0);
	seen.sampling_policy = sched_getscheduler(0);
	seen.sampled++;
	if (seen.sampled == plan.stop_after)
		send_and_wait(plan.stop_signal);
}

static inline struct bench_config config(int producers, int consumers)
{
	return (struct bench_config){
		.producers = producers,
		.consumers = consumers,
		.duration_s = 1,
		.interval_ms = 10,
	};
}

/* A run that would last an hour, with a sample an hour. */
static inline struct bench_config long_config(int producers, int consumers)
{
	struct bench_config cfg = config(producers, consumers);

	cfg.duration_s = 3600;
	cfg.interval_ms = 3600 * 1000;
	return cfg;
}

static inline bool is_alarm_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGALRM);
}

static inline void run(const struct bench *bench, const struct bench_config *cfg, struct outcome *o)
{
	static const struct bench_watch watch = {
		.ctx = &plan,
		.started = on_started,
		.sampled = on_sampled,
	};
	const struct bench_job job = { .bench = bench, .cfg = cfg };
	uint64_t start = now_ns();

	memset(o, 0, sizeof(*o));
	o->ret = bench_run(&job, &watch, &o->res, &o->err);
	o->took_ns = now_ns() - start;
	assert_int_equal(seen.order_err, 0);
	/* The next run would take a tick of this one's timer for its own. */
	assert_true(signals_caught() || !is_alarm_pending());
}

/* A run that is cut short after @samples, so that it takes no second. */
static inline void run_short(const struct bench *bench, const struct bench_config *cfg, int samples,
			     struct outcome *o)
{
	plan.stop_after = samples;
	run(bench, cfg, o);
}

static inline void assert_fine(const struct outcome *o)
{
	if (o->ret || o->err.code)
		fail_msg("ret %d, code %d: %s", o->ret, o->err.code, o->err.text);
	assert_string_equal(o->err.text, "");
}

/* It failed, with these words, and the process would not exit with 0. */
static inline void assert_failed(const struct outcome *o, const char *words)
{
	assert_true(o->ret < 0);
	assert_int_equal(o->err.code, BENCH_EXIT_FAILED);
	if (!strstr(o->err.text, words))
		fail_msg("'%s' is not in '%s'", words, o->err.text);
}

/* ---- what is left behind */

static inline int entries_of(const char *dir)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

#endif /* TESTS_UNIT_FAKE_H */

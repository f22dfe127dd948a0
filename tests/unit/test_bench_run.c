// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a run, with benchmarks made up here: without BPF, but for the test of --verify. They
 * lie, fail, sleep and hang as no real one should.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/run/run.h"

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

/* Nothing here takes so long but by a hang; shorter than the core's own time limit for threads. */
#define HANG_S 20

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* Not a sleep: no system call that a signal could end. */
static void spin(uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

/* Sleeps to the end, whatever signals come. */
static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

#define ADD(v, n) __atomic_add_fetch(&(v), (n), __ATOMIC_SEQ_CST)
#define READ(v)	  __atomic_load_n(&(v), __ATOMIC_SEQ_CST)

/* What the made-up benchmarks saw; cleared before each test. */
static struct {
	int setups, teardowns, describes, measures, conserves, started, sampled;
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
	int stop_after; /* samples, after which SIGINT comes; 0: the time runs out */
	int stop_signal;
	int stray_to; /* CPU */
	struct bench_conservation conservation;
} plan;

/* Ticks of the sampling timer that reached us: by default each would have ended the process. */
static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

static int clear(void **state)
{
	memset(&seen, 0, sizeof(seen));
	memset(&plan, 0, sizeof(plan));
	seen.pinned_right = true;
	alarms = 0;
	plan.stop_signal = SIGINT;
	return 0;
}

/* ---- parts of benchmarks */

static int fake_setup(struct bench_run *run)
{
	seen.setups++;
	run->priv = &seen;
	return 0;
}

static void fake_teardown(struct bench_run *run)
{
	seen.teardowns++;
	/* Whatever has gone wrong, nothing is torn down under a thread that works. */
	if (READ(seen.producers) != READ(seen.producers_done) ||
	    READ(seen.consumers) != READ(seen.consumers_done))
		seen.order_err = 1;
}

static int producer_begins(struct bench_thread *t)
{
	seen.tids[t->idx] = gettid();
	__atomic_store_n(&seen.producer_policy, sched_getscheduler(0), __ATOMIC_RELAXED);
	seen.cpus[t->idx] = t->cpu;
	return ADD(seen.producers, 1);
}

static int fake_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		sched_yield();
	ADD(seen.producers_done, 1);
	return 0;
}

static int fake_consumer(struct bench_thread *t)
{
	ADD(seen.consumers, 1);
	while (!bench_stopping(t))
		sched_yield();
	__atomic_store_n(&seen.producers_done_at_stop, READ(seen.producers_done), __ATOMIC_SEQ_CST);
	ADD(seen.consumers_done, 1);
	return 0;
}

static void fake_measure(struct bench_run *run, struct bench_res *res)
{
	assert_ptr_equal(run->priv, &seen);
	res->hits = ++seen.measures;
}

static void fake_conserve(struct bench_run *run, struct bench_conservation *c)
{
	seen.conserves++;
	*c = plan.conservation;
}

/* As it should be; tests copy it and put in what should not be. */
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

static void on_started(void *ctx, const struct bench_run *run)
{
	assert_ptr_equal(ctx, &plan);
	assert_non_null(run->bench);
	seen.started++;
	/* "The threads are about to start": no one works yet. */
	if (READ(seen.producers) || READ(seen.consumers))
		seen.order_err = 1;
}

static void on_sampled(void *ctx, int iter, const struct sample *s)
{
	assert_ptr_equal(ctx, &plan);
	assert_int_equal(iter, seen.sampled);
	assert_true(s->dt_ns > 0);
	seen.sampling_policy = sched_getscheduler(0);
	seen.sampled++;
	if (seen.sampled == plan.stop_after)
		kill(getpid(), plan.stop_signal);
}

static struct bench_config config(int producers, int consumers)
{
	return (struct bench_config){
		.producers = producers,
		.consumers = consumers,
		.duration_s = 1,
		.interval_ms = 10,
	};
}

static void run(const struct bench *bench, const struct bench_config *cfg, struct outcome *o)
{
	static const struct bench_watch watch = {
		.ctx = &plan,
		.started = on_started,
		.sampled = on_sampled,
	};
	uint64_t start = now_ns();

	memset(o, 0, sizeof(*o));
	o->ret = bench_run(bench, cfg, &watch, &o->res, &o->err);
	o->took_ns = now_ns() - start;
	assert_int_equal(seen.order_err, 0);
	assert_int_equal(alarms, 0);
}

/* A run that is cut short after @samples, so that it takes no second. */
static void run_short(const struct bench *bench, const struct bench_config *cfg, int samples,
		      struct outcome *o)
{
	plan.stop_after = samples;
	run(bench, cfg, o);
}

static void assert_fine(const struct outcome *o)
{
	if (o->ret || o->err.code)
		fail_msg("ret %d, code %d: %s", o->ret, o->err.code, o->err.text);
	assert_string_equal(o->err.text, "");
}

/* It failed, with these words, and the process would not exit with 0. */
static void assert_failed(const struct outcome *o, const char *words)
{
	assert_true(o->ret < 0);
	assert_int_equal(o->err.code, BENCH_EXIT_FAILED);
	if (!strstr(o->err.text, words))
		fail_msg("'%s' is not in '%s'", words, o->err.text);
}

/*
 * Runs @fn in a process of its own. Returns what waitpid() says; -1 where it had to be ended.
 * What the child checks it tells by its exit status: cmocka's asserts mean nothing there.
 */
static int in_child(void (*fn)(void))
{
	uint64_t until = now_ns() + HANG_S * NS_PER_S;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		fn();
		_exit(0);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ns() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		sleep_ns(5 * NS_PER_MS);
	}
	return status;
}

static void assert_same_signals(const sigset_t *a, const sigset_t *b)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(a, sig) != sigismember(b, sig))
			fail_msg("signal %d is blocked in one of them only", sig);
}

static int entries_of(const char *dir)
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

/* The thread sanitizer starts one of its own when the first of ours is started. */
#ifdef __SANITIZE_THREAD__
#define OTHER_THREADS 1
#else
#define OTHER_THREADS 0
#endif

/* A thread that was joined may still be seen in /proc for a moment. */
static int settled_threads(int expected)
{
	int n = 0, i;

	for (i = 0; i < 1000; i++) {
		n = entries_of("/proc/self/task");
		if (n == expected)
			break;
		sleep_ns(5 * NS_PER_MS);
	}
	return n;
}

/* ---- placement */

/* CPU numbers up to -1. */
static struct cpuset set_of(int *cpus)
{
	struct cpuset set = { .cpus = cpus };

	while (cpus[set.cnt] >= 0)
		set.cnt++;
	return set;
}

#define SET(...) set_of((int[]){ __VA_ARGS__, -1 })

static const struct cpuset no_cpus;

/* Where the first threads of @role go, up to -2. */
static void assert_cpus(const struct bench_config *cfg, const struct cpuset *allowed,
			enum bench_role role, const int *expected)
{
	int i, cpu;

	for (i = 0; expected[i] != -2; i++) {
		cpu = bench_run_cpu(cfg, allowed, role, i);
		if (cpu != expected[i])
			fail_msg("%s %d goes to CPU %d, not %d",
				 role == BENCH_CONSUMER ? "consumer" : "producer", i, cpu,
				 expected[i]);
	}
}

static void assert_placement(struct cpuset allowed, struct cpuset cons, struct cpuset prod,
			     int consumers, const int *cons_at, const int *prod_at)
{
	struct bench_config cfg = config(8, consumers);

	cfg.affinity = true;
	cfg.cons_cpus = cons;
	cfg.prod_cpus = prod;
	assert_cpus(&cfg, &allowed, BENCH_CONSUMER, cons_at);
	assert_cpus(&cfg, &allowed, BENCH_PRODUCER, prod_at);
}

#define AT(...) ((const int[]){ __VA_ARGS__, -2 })
#define NOWHERE ((const int[]){ -2 })

static void no_affinity_no_place(void **state)
{
	struct bench_config cfg = config(4, 1);
	struct cpuset allowed = SET(0, 1, 2, 3);

	assert_cpus(&cfg, &allowed, BENCH_CONSUMER, AT(-1));
	assert_cpus(&cfg, &allowed, BENCH_PRODUCER, AT(-1, -1, -1, -1));
}

static void consumers_first_then_producers(void **state)
{
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 1, AT(0), AT(1, 2, 3, 0, 1, 2));
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 2, AT(0, 1), AT(2, 3, 0, 1));
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 0, NOWHERE, AT(0, 1, 2, 3, 0));
	assert_placement(SET(0, 1), no_cpus, no_cpus, 1, AT(0), AT(1, 0, 1, 0, 1));
	/* more consumers than CPUs */
	assert_placement(SET(0, 1), no_cpus, no_cpus, 3, AT(0, 1, 0), AT(1, 0, 1));
}

static void only_cpus_that_are_allowed(void **state)
{
	assert_placement(SET(1, 3, 6), no_cpus, no_cpus, 1, AT(1), AT(3, 6, 1, 3));
	assert_placement(SET(5), no_cpus, no_cpus, 1, AT(5), AT(5, 5, 5));
}

static void sets_are_gone_through_in_order(void **state)
{
	assert_placement(SET(0, 1, 2, 3), SET(3), SET(0, 2), 1, AT(3), AT(0, 2, 0, 2, 0));
	assert_placement(SET(0, 1, 2, 3), SET(1, 2), SET(0), 3, AT(1, 2, 1), AT(0, 0, 0));
	/* the consumer goes from the first CPU up also where the producers have it */
	assert_placement(SET(0, 1, 2, 3), no_cpus, SET(0), 1, AT(0), AT(0, 0));
}

static void producers_go_on_behind_placed_consumers(void **state)
{
	assert_placement(SET(0, 1, 2, 3), SET(2), no_cpus, 1, AT(2), AT(3, 0, 1, 2, 3));
	assert_placement(SET(0, 1, 2, 3), SET(3), no_cpus, 1, AT(3), AT(0, 1, 2, 3, 0));
	/* behind the last one in use, not the last one of the set */
	assert_placement(SET(0, 1, 2, 3), SET(0, 2), no_cpus, 1, AT(0), AT(1, 2, 3, 0));
	assert_placement(SET(0, 1, 2, 3), SET(0, 2), no_cpus, 2, AT(0, 2), AT(3, 0, 1));
	assert_placement(SET(0, 1, 2, 3), SET(0, 1), no_cpus, 3, AT(0, 1, 0), AT(2, 3, 0));
	assert_placement(SET(1, 3, 6), SET(3), no_cpus, 1, AT(3), AT(6, 1, 3));
	/* no consumer, so nothing to be behind */
	assert_placement(SET(0, 1, 2, 3), SET(2), no_cpus, 0, NOWHERE, AT(0, 1, 2));
}

/* What a thread is told is what the kernel does. */
static int pinned_producer(struct bench_thread *t)
{
	cpu_set_t mask;
	int at;

	if (sched_getaffinity(0, sizeof(mask), &mask))
		return -errno;
	at = sched_getcpu();
	if (t->cpu < 0 || CPU_COUNT(&mask) != 1 || !CPU_ISSET(t->cpu, &mask) || at != t->cpu)
		seen.pinned_right = false;
	return fake_producer(t);
}

static void threads_are_pinned_from_the_start(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(3, 1);
	struct cpuset allowed;
	cpu_set_t before, after;
	struct outcome o;

	bench.producer = pinned_producer;
	assert_int_equal(cpuset_allowed(&allowed), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	cfg.affinity = true;
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.producers, 3);
	assert_true(seen.pinned_right);
	assert_int_equal(seen.cpus[0], allowed.cpus[1 % allowed.cnt]);
	assert_int_equal(seen.cpus[1], allowed.cpus[2 % allowed.cnt]);
	/* and the caller's own thread is not */
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	bench_result_free(&o.res);
	cpuset_free(&allowed);
}

static int straying_producer(struct bench_thread *t)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET(plan.stray_to, &mask);
	if (sched_setaffinity(0, sizeof(mask), &mask))
		return -errno;
	return fake_producer(t);
}

static void strayed_thread_is_seen(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 0);
	struct cpuset allowed;
	struct outcome o;

	bench.producer = straying_producer;
	assert_int_equal(cpuset_allowed(&allowed), 0);
	if (allowed.cnt < 2) {
		cpuset_free(&allowed);
		skip();
	}
	cfg.affinity = true;
	/* it is put on the first CPU, and goes to the second */
	plan.stray_to = allowed.cpus[1];
	cfg.interval_ms = 200;
	run_short(&bench, &cfg, 2, &o);
	assert_fine(&o);
	assert_int_equal(o.res.strayed_tid, seen.tids[0]);
	assert_int_equal(o.res.strayed_cpu, allowed.cpus[0]);
	bench_result_free(&o.res);
	cpuset_free(&allowed);
}

/* ---- threads */

static void all_threads_work(void **state)
{
	struct bench_config cfg = config(64, 3);
	struct outcome o;
	int i, k;

	run_short(&fake, &cfg, 3, &o);
	assert_fine(&o);
	assert_int_equal(seen.producers, 64);
	assert_int_equal(seen.consumers, 3);
	assert_int_equal(seen.producers_done, 64);
	assert_int_equal(seen.consumers_done, 3);
	for (i = 0; i < 64; i++) {
		assert_true(seen.tids[i] > 0);
		assert_int_equal(seen.cpus[i], -1);
		for (k = 0; k < i; k++)
			assert_int_not_equal(seen.tids[i], seen.tids[k]);
	}
	assert_int_equal(seen.setups, 1);
	assert_int_equal(seen.started, 1);
	assert_int_equal(seen.conserves, 1);
	assert_int_equal(seen.teardowns, 1);
	bench_result_free(&o.res);
}

static int spinning_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		;
	ADD(seen.producers_done, 1);
	return 0;
}

static void first_measure_counts_threads(struct bench_run *run, struct bench_res *res)
{
	if (!seen.measures)
		seen.at_first_measure = READ(seen.producers) + READ(seen.consumers);
	fake_measure(run, res);
}

/*
 * Where there are more threads than CPUs it takes a while until each has had its first turn. That is
 * no part of what is measured: else a run measures fewer threads than were asked for.
 */
static void all_threads_work_when_measuring_begins(void **state)
{
	struct bench_config cfg = config(64, 1);
	struct bench bench = fake;
	struct outcome o;

	bench.producer = spinning_producer;
	bench.measure = first_measure_counts_threads;
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.at_first_measure, 65);
	bench_result_free(&o.res);
}

/* Takes its time, so that a core that does not wait for it is found out. */
static int slow_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		sched_yield();
	sleep_ns((1 + t->idx) * 30 * NS_PER_MS);
	ADD(seen.producers_done, 1);
	return 0;
}

static void producers_end_before_consumers_are_told(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(4, 1);
	struct outcome o;

	bench.producer = slow_producer;
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.producers_done_at_stop, 4);
	assert_int_equal(seen.consumers_done, 1);
	bench_result_free(&o.res);
}

static int sleeping_consumer(struct bench_thread *t)
{
	ADD(seen.consumers, 1);
	while (!bench_stopping(t))
		if (poll(NULL, 0, -1) < 0 && errno != EINTR)
			return bench_failed(&t->run->err, errno, "poll()");
	ADD(seen.consumers_done, 1);
	return 0;
}

static void sleeping_consumer_is_woken(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.consumer = sleeping_consumer;
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.consumers_done, 1);
	assert_true(o.took_ns < HANG_S * NS_PER_S);
	bench_result_free(&o.res);
}

/* Falls asleep a while after it was told to stop: a single interruption would be lost on it. */
static int late_sleeper(struct bench_thread *t)
{
	ADD(seen.consumers, 1);
	while (!bench_stopping(t))
		;
	spin(30 * NS_PER_MS);
	poll(NULL, 0, -1);
	ADD(seen.consumers_done, 1);
	return 0;
}

static void consumer_that_sleeps_late_is_woken(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.consumer = late_sleeper;
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.consumers_done, 1);
	assert_true(o.took_ns < HANG_S * NS_PER_S);
	bench_result_free(&o.res);
}

/* Which signals the caller has blocked must not matter. */
static void woken_though_all_signals_were_blocked(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	sigset_t all, old, after;
	struct outcome o;

	bench.consumer = sleeping_consumer;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_sigmask(SIG_SETMASK, NULL, &all); /* without those that cannot be blocked */
	run_short(&bench, &cfg, 1, &o);
	pthread_sigmask(SIG_SETMASK, &old, &after);
	assert_fine(&o);
	assert_int_equal(seen.consumers_done, 1);
	assert_same_signals(&after, &all);
	bench_result_free(&o.res);
}

static bool may_be_real_time(void)
{
	const struct sched_param fifo = { .sched_priority = 1 }, other = {};

	return !sched_setscheduler(0, SCHED_FIFO, &fifo) &&
	       !sched_setscheduler(0, SCHED_OTHER, &other);
}

/* Where it may, so that busy threads cannot keep it off the CPUs; and only while they are there. */
static void sampling_outranks_the_threads(void **state)
{
	struct bench_config cfg = config(2, 1);
	struct outcome o;

	run_short(&fake, &cfg, 3, &o);
	assert_fine(&o);
	assert_int_equal(seen.sampling_policy, may_be_real_time() ? SCHED_FIFO : SCHED_OTHER);
	assert_int_equal(seen.producer_policy, SCHED_OTHER);
	assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
	bench_result_free(&o.res);
}

static void run_in_batch(void)
{
	const struct sched_param none = {};
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	if (sched_setscheduler(0, SCHED_BATCH, &none))
		_exit(1);
	run_short(&fake, &cfg, 3, &o);
	bench_result_free(&o.res);
	_exit(seen.sampling_policy == SCHED_BATCH && seen.producer_policy == SCHED_BATCH &&
			      sched_getscheduler(0) == SCHED_BATCH ?
		      0 :
		      2);
}

static void chosen_policy_is_kept(void **state)
{
	assert_int_equal(in_child(run_in_batch), 0);
}

/* The signal that ends threads means nothing to the sampling. */
static void stray_wakeup_signal_changes_nothing(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.consumer = sleeping_consumer;
	cfg.interval_ms = 200;
	plan.stop_after = 2;
	plan.stop_signal = SIGUSR1;
	run(&bench, &cfg, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, 0);
	assert_int_equal(seen.consumers_done, 1);
	assert_true(seen.sampled > 2);
	bench_result_free(&o.res);
}

static int short_lived(struct bench_thread *t)
{
	producer_begins(t);
	ADD(seen.producers_done, 1);
	return 0;
}

static void threads_may_end_early(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(2, 1);
	struct outcome o;

	bench.producer = short_lived;
	run_short(&bench, &cfg, 3, &o);
	assert_fine(&o);
	assert_int_equal(seen.sampled, 3);
	bench_result_free(&o.res);
}

/* ---- threads that fail */

static int burning_thread(struct bench_thread *t)
{
	if (t->role == BENCH_PRODUCER) {
		producer_begins(t);
		ADD(seen.producers_done, 1);
	} else {
		ADD(seen.consumers, 1);
		ADD(seen.consumers_done, 1);
	}
	return bench_failed(&t->run->err, ENOSPC, "the %s is on fire",
			    t->role == BENCH_PRODUCER ? "producer" : "consumer");
}

/* A run that would last an hour, with a sample an hour. */
static struct bench_config long_config(int producers, int consumers)
{
	struct bench_config cfg = config(producers, consumers);

	cfg.duration_s = 3600;
	cfg.interval_ms = 3600 * 1000;
	return cfg;
}

static void assert_failed_soon(struct outcome *o, const char *words)
{
	assert_failed(o, words);
	assert_true(o->took_ns < HANG_S * NS_PER_S);
	assert_int_equal(o->res.nr_samples, 0);
	assert_int_equal(o->res.signal, 0);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(seen.conserves, 0); /* its numbers mean nothing */
	bench_result_free(&o->res);
}

static void failing_producer_ends_the_run(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = long_config(1, 1);
	struct outcome o;

	bench.producer = burning_thread;
	bench.consumer = sleeping_consumer;
	run(&bench, &cfg, &o);
	assert_failed_soon(&o, "the producer is on fire: No space left on device");
	assert_int_equal(seen.consumers_done, 1);
}

static void failing_consumer_ends_the_run(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = long_config(4, 1);
	struct outcome o;

	bench.consumer = burning_thread;
	run(&bench, &cfg, &o);
	assert_failed_soon(&o, "the consumer is on fire: No space left on device");
	assert_int_equal(seen.producers_done, 4);
}

static int silent_failure(struct bench_thread *t)
{
	producer_begins(t);
	ADD(seen.producers_done, 1);
	return -EBADF;
}

static void thread_that_fails_without_a_word(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = long_config(2, 1);
	struct outcome o;

	bench.producer = silent_failure;
	run(&bench, &cfg, &o);
	assert_failed_soon(&o, "fake");
	assert_non_null(strstr(o.err.text, "Bad file descriptor"));
}

/* The first fails at once, the others when they are told to stop. */
static int failing_in_turn(struct bench_thread *t)
{
	producer_begins(t);
	while (t->idx && !bench_stopping(t))
		sched_yield();
	ADD(seen.producers_done, 1);
	return bench_failed(&t->run->err, 0, t->idx ? "a consequence" : "the cause");
}

static void first_words_are_kept(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = long_config(3, 1);
	struct outcome o;

	bench.producer = failing_in_turn;
	run(&bench, &cfg, &o);
	assert_string_equal(o.err.text, "the cause");
	assert_failed_soon(&o, "the cause");
}

static int failing_at_the_end(struct bench_thread *t)
{
	ADD(seen.consumers, 1);
	while (!bench_stopping(t))
		sched_yield();
	ADD(seen.consumers_done, 1);
	return bench_failed(&t->run->err, 0, "cannot drain");
}

static void failure_while_stopping_counts(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.consumer = failing_at_the_end;
	run_short(&bench, &cfg, 2, &o);
	assert_failed(&o, "cannot drain");
	/* what was measured before is there */
	assert_int_equal(o.res.nr_samples, 2);
	assert_int_equal(seen.teardowns, 1);
	bench_result_free(&o.res);
}

static void thread_that_cannot_be_started(void **state)
{
	struct bench_config cfg = config(2, 1);
	struct cpuset allowed;
	struct outcome o;

	assert_int_equal(cpuset_allowed(&allowed), 0);
	cfg.affinity = true;
	cfg.prod_cpus = SET(allowed.cpus[0], CPUSET_MAX);
	run(&fake, &cfg, &o);
	assert_failed(
		&o,
		"cannot start producer 2 of 2 on CPU 65535: Invalid argument: is that CPU online");
	/* those that were started have come to their end without working */
	assert_int_equal(seen.producers, 0);
	assert_int_equal(seen.consumers, 0);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(seen.sampled, 0);
	assert_int_equal(settled_threads(1 + OTHER_THREADS), 1 + OTHER_THREADS);
	bench_result_free(&o.res);
	cpuset_free(&allowed);
}

/* ---- set-up that fails */

static int half_setup(struct bench_run *run)
{
	seen.setups++;
	run->priv = &seen;
	run->attach = ATTACH_TP;
	strcpy(run->attach_note, "fentry: no");
	return bench_unavailable(&run->err, "no such thing in this kernel");
}

static void assert_not_started(const struct outcome *o)
{
	assert_int_equal(seen.setups, 1);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(seen.started, 0);
	assert_int_equal(seen.producers, 0);
	assert_int_equal(seen.consumers, 0);
	assert_int_equal(seen.measures, 0);
	assert_int_equal(seen.conserves, 0);
	assert_int_equal(o->res.nr_samples, 0);
	assert_int_equal(o->res.signal, 0);
}

static void failed_setup_is_torn_down(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	sigset_t before, after;
	struct outcome o;

	bench.setup = half_setup;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	run(&bench, &cfg, &o);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	assert_int_equal(o.ret, -EOPNOTSUPP);
	assert_int_equal(o.err.code, BENCH_EXIT_UNAVAILABLE);
	assert_string_equal(o.err.text, "no such thing in this kernel");
	assert_not_started(&o);
	assert_int_equal(o.res.attach, ATTACH_TP);
	assert_string_equal(o.res.attach_note, "fentry: no");
	assert_same_signals(&before, &after);
	bench_result_free(&o.res);
}

/* The core's own mark for a thread that does not stop must not be taken for this. */
static int timed_out_setup(struct bench_run *run)
{
	seen.setups++;
	return bench_failed(&run->err, ETIMEDOUT, "the kernel does not answer");
}

static void setup_that_times_out_is_torn_down(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	sigset_t before, after;
	struct outcome o;

	bench.setup = timed_out_setup;
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	run(&bench, &cfg, &o);
	pthread_sigmask(SIG_SETMASK, &before, &after);
	assert_failed(&o, "the kernel does not answer");
	assert_not_started(&o);
	assert_same_signals(&before, &after);
	bench_result_free(&o.res);
}

static int silent_setup(struct bench_run *run)
{
	seen.setups++;
	return -ENODEV;
}

/* Else the process would say 'failed: ' and exit with 0. */
static void setup_that_fails_without_a_word(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.setup = silent_setup;
	run(&bench, &cfg, &o);
	assert_int_equal(o.ret, -ENODEV);
	assert_not_started(&o);
	assert_failed(&o, "fake");
	bench_result_free(&o.res);
}

static int failing_describe(struct bench_run *run, FILE *out)
{
	seen.describes++;
	return bench_failed(&run->err, 0, "nothing to show");
}

static void failed_describe_starts_nothing(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.describe = failing_describe;
	run(&bench, &cfg, &o);
	assert_failed(&o, "nothing to show");
	assert_int_equal(seen.describes, 1);
	assert_not_started(&o);
	bench_result_free(&o.res);
}

/* ---- samples */

/* Counts that the @k-th reading finds. They do not begin at 0, and grow by another amount each. */
static struct bench_res scripted(uint64_t k)
{
	return (struct bench_res){
		.hits = 1000 + 7 * k * k,
		.drops = 10 + k * k * k,
		.false_hits = 5 + 3 * k,
	};
}

static void scripted_measure(struct bench_run *run, struct bench_res *res)
{
	*res = scripted(seen.measures++);
}

static const struct bench scripted_bench = {
	.report = &report_hits_drops,
	.name = "scripted",
	.setup = fake_setup,
	.teardown = fake_teardown,
	.producer = fake_producer,
	.consumer = fake_consumer,
	.measure = scripted_measure,
	.conserve = fake_conserve,
};

/* Samples follow each other without a gap, and hold the difference of neighbouring readings. */
static void assert_chained(const struct bench_result *res)
{
	struct bench_res a, b;
	size_t i;

	for (i = 0; i < res->nr_samples; i++) {
		const struct sample *s = &res->samples[i];

		assert_int_equal(s->t_ns, i ? s[-1].t_ns + s[-1].dt_ns : 0);
		a = scripted(i);
		b = scripted(i + 1);
		assert_int_equal(s->res.hits, b.hits - a.hits);
		assert_int_equal(s->res.drops, b.drops - a.drops);
		assert_int_equal(s->res.false_hits, b.false_hits - a.false_hits);
	}
}

/*
 * A busy machine may be late with a sample: so what is checked is what has to be right however late
 * it is. @exact: the number of samples where no tick of the timer was seen late by much, which the
 * caller sees to that it does not matter.
 */
static void assert_sampled(const struct bench_result *res, const struct bench_config *cfg,
			   size_t warmup, size_t exact)
{
	const uint64_t interval = cfg->interval_ms * NS_PER_MS;
	uint64_t measured = 0, dt, end;
	bool on_time = true;
	size_t i, w = 0;

	assert_int_equal(res->nr_samples, seen.sampled);
	assert_chained(res);
	for (i = 0; i < res->nr_samples; i++) {
		dt = res->samples[i].dt_ns;
		end = res->samples[i].t_ns + dt;
		/* the timer is never early */
		assert_true(end >= (i + 1) * interval);
		on_time = on_time && end < (i + 1) * interval + interval / 4;
		w += res->samples[i].t_ns < cfg->warmup_s * NS_PER_S;
		if (i >= res->nr_warmup)
			measured += dt;
	}
	assert_int_equal(res->nr_warmup, w);
	assert_true(res->nr_samples > w);
	/* it is full, and was not before the last one */
	assert_true(measured + interval / 2 >= cfg->duration_s * NS_PER_S);
	dt = res->samples[res->nr_samples - 1].dt_ns;
	assert_true(measured - dt + interval / 2 < cfg->duration_s * NS_PER_S);
	if (on_time) {
		assert_int_equal(res->nr_samples, exact);
		assert_int_equal(res->nr_warmup, warmup);
	}
}

static void samples_of_one_second(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	cfg.interval_ms = 100;
	run(&scripted_bench, &cfg, &o);
	assert_fine(&o);
	assert_sampled(&o.res, &cfg, 0, 10);
	assert_int_equal(o.res.nr_warmup, 0);
	assert_true(o.res.have_noise);
	assert_true(o.res.setup_ns < o.took_ns);
	bench_result_free(&o.res);
}

static void warmup_is_apart(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	cfg.warmup_s = 1;
	cfg.interval_ms = 200;
	run(&scripted_bench, &cfg, &o);
	assert_fine(&o);
	assert_sampled(&o.res, &cfg, 5, 10);
	assert_true(o.res.nr_warmup > 0);
	bench_result_free(&o.res);
}

/* The sample in which the warm-up ends is the warm-up's: nothing measured lies before that. */
static void interval_across_the_end_of_warmup(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	cfg.warmup_s = 1;
	cfg.interval_ms = 450; /* samples begin at 0, 0.45, 0.9, 1.35 s */
	run(&scripted_bench, &cfg, &o);
	assert_fine(&o);
	assert_sampled(&o.res, &cfg, 3, 5);
	bench_result_free(&o.res);
}

/* More samples than are made room for at first, and ticks that come while one is taken. */
static void slow_measure(struct bench_run *run, struct bench_res *res)
{
	scripted_measure(run, res);
	spin(3 * NS_PER_MS);
}

static void many_samples_and_lost_ticks(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct itimerval timer;
	struct outcome o;
	sigset_t pending;
	size_t i;

	bench.measure = slow_measure;
	cfg.interval_ms = 1;
	cfg.duration_s = 60;
	run_short(&bench, &cfg, 200, &o);
	assert_fine(&o);
	assert_int_equal(o.res.nr_samples, 200);
	assert_chained(&o.res);
	for (i = 1; i < o.res.nr_samples; i++)
		assert_true(o.res.samples[i].dt_ns >= 3 * NS_PER_MS);
	sigpending(&pending);
	assert_false(sigismember(&pending, SIGALRM));
	getitimer(ITIMER_REAL, &timer);
	assert_true(!timer.it_value.tv_sec && !timer.it_value.tv_usec);
	assert_true(!timer.it_interval.tv_sec && !timer.it_interval.tv_usec);
	bench_result_free(&o.res);
}

/* The kernel hands out the lowest signal first, which SIGTERM is not, and there is always a tick. */
static void sigterm_among_lost_ticks(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.measure = slow_measure;
	cfg.interval_ms = 1;
	cfg.duration_s = 3;
	plan.stop_signal = SIGTERM;
	run_short(&bench, &cfg, 5, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGTERM);
	assert_int_equal(o.res.nr_samples, 5);
	bench_result_free(&o.res);
}

static void nobody_has_to_watch(void **state)
{
	static const struct bench_watch watch;
	struct bench_config cfg = config(1, 1);
	struct bench_result res;
	struct bench_err err = {};

	cfg.interval_ms = 500;
	assert_int_equal(bench_run(&scripted_bench, &cfg, &watch, &res, &err), 0);
	assert_true(res.nr_samples == 2 || res.nr_samples == 1);
	assert_int_equal(seen.producers_done, 1);
	assert_chained(&res);
	bench_result_free(&res);
	assert_null(res.samples);
	bench_result_free(&res);
}

/* ---- conservation */

static void conserved(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	plan.conservation = (struct bench_conservation){ .has_records = true,
							 .has_consumed = true,
							 .attempts = 12,
							 .submitted = 9,
							 .consumed = 9,
							 .drops = 3 };
	run_short(&fake, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.conserves, 1);
	assert_int_equal(o.res.conservation.attempts, 12);
	assert_int_equal(o.res.conservation.drops, 3);
	bench_result_free(&o.res);
}

static void assert_not_conserved(struct bench_conservation c, const char *words)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	clear(NULL);
	c.has_records = true;
	plan.conservation = c;
	run_short(&fake, &cfg, 1, &o);
	assert_failed(&o, words);
	assert_non_null(strstr(o.err.text, "fake does not conserve records"));
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(o.res.nr_samples, 1);
	bench_result_free(&o.res);
}

static void one_record_too_few_or_too_many(void **state)
{
	const uint64_t huge = 1ULL << 60;

	assert_not_conserved((struct bench_conservation){ .has_consumed = true,
							  .attempts = 12,
							  .submitted = 9,
							  .consumed = 8,
							  .drops = 3 },
			     "9 submitted, but 8 consumed");
	assert_not_conserved((struct bench_conservation){ .has_consumed = true,
							  .attempts = 12,
							  .submitted = 9,
							  .consumed = 10,
							  .drops = 3 },
			     "9 submitted, but 10 consumed");
	assert_not_conserved((struct bench_conservation){ .has_consumed = true,
							  .attempts = 12,
							  .submitted = 9,
							  .consumed = 9,
							  .drops = 2 },
			     "12 attempts, but 9 submitted + 2 dropped");
	assert_not_conserved(
		(struct bench_conservation){ .attempts = 12, .submitted = 9, .drops = 4 },
		"12 attempts, but 9 submitted + 4 dropped");
	/* a difference of one is seen in any number */
	assert_not_conserved((struct bench_conservation){ .has_consumed = true,
							  .attempts = huge,
							  .submitted = huge,
							  .consumed = huge + 1 },
			     "1152921504606846976 submitted, but 1152921504606846977 consumed");
}

/* Where there is no consumer nothing is consumed; and who has no records cannot lose any. */
static void only_what_is_there_is_compared(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	plan.conservation = (struct bench_conservation){
		.has_records = true, .attempts = 12, .submitted = 9, .drops = 3
	};
	run_short(&fake, &cfg, 1, &o);
	assert_fine(&o);
	bench_result_free(&o.res);

	clear(NULL);
	plan.conservation = (struct bench_conservation){ .attempts = 1 };
	run_short(&fake, &cfg, 1, &o);
	assert_fine(&o);
	bench_result_free(&o.res);
}

/* A program that the kernel counts the runs of. */
static int counted_fd = -1;

/* Runs it 100 times and not once more. */
static int counted_producer(struct bench_thread *t)
{
	int i, err = 0;

	producer_begins(t);
	for (i = 0; !err && i < 100; i++)
		err = bench_prog_run(counted_fd, NULL);
	ADD(seen.producers_done, 1);
	return err ? bench_failed(&t->run->err, err, "cannot run the program") : 0;
}

static void run_counts_are_held_against_the_kernels(void **state)
{
	/* r0 = 0; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bench bench = fake;
	struct bench_config cfg = config(1, 0);
	struct outcome o;
	int fds;

	bench.producer = counted_producer;
	counted_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", insns,
				   ARRAY_SIZE(insns), NULL);
	if (counted_fd == -EPERM)
		skip();
	assert_true(counted_fd >= 0);
	fds = entries_of("/proc/self/fd");
	cfg.verify = true;
	cfg.interval_ms = 100; /* the hundred runs are done by then, or else by the end */
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 100 };
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(o.res.conservation.kernel_runs, 100);
	bench_result_free(&o.res);

	/* the count goes on, and we are wrong by one */
	clear(NULL);
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 201 };
	run_short(&bench, &cfg, 1, &o);
	assert_failed(&o, "fake miscounts: 201 runs counted, but the kernel says 200");
	bench_result_free(&o.res);

	/* nobody asked: the kernel does not count, and nothing is compared */
	clear(NULL);
	cfg.verify = false;
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 1 };
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	bench_result_free(&o.res);
	/* else the kernel would go on counting, for all programs there are */
	assert_int_equal(entries_of("/proc/self/fd"), fds);
	close(counted_fd);
}

/* ---- signals */

static void signal_cuts_a_run_short(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct bench_config cfg = config(2, 1);
	struct outcome o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		clear(NULL);
		plan.stop_signal = signals[i];
		run_short(&scripted_bench, &cfg, 3, &o);
		assert_fine(&o);
		assert_int_equal(o.res.signal, signals[i]);
		assert_int_equal(o.res.nr_samples, 3);
		assert_int_equal(o.res.nr_warmup, 0);
		assert_chained(&o.res);
		/* orderly all the same */
		assert_int_equal(seen.producers_done_at_stop, 2);
		assert_int_equal(seen.conserves, 1);
		assert_int_equal(seen.teardowns, 1);
		assert_true(o.res.have_noise);
		bench_result_free(&o.res);
	}
}

static void signal_in_warmup_leaves_no_sample(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	cfg.warmup_s = 3600;
	run_short(&scripted_bench, &cfg, 2, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGINT);
	assert_int_equal(o.res.nr_samples, 2);
	assert_int_equal(o.res.nr_warmup, 2);
	assert_false(o.res.have_noise);
	bench_result_free(&o.res);
}

/* As in a background job of a script. */
static void ignored_signal_is_taken_all_the_same(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;
	void (*old)(int);

	old = signal(SIGINT, SIG_IGN);
	run_short(&fake, &cfg, 2, &o);
	signal(SIGINT, old);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGINT);
	assert_int_equal(o.res.nr_samples, 2);
	bench_result_free(&o.res);
}

/* Nothing has been measured yet; but the threads may be there. */
static void interrupting_started(void *ctx, const struct bench_run *run)
{
	kill(getpid(), SIGTERM);
}

static void signal_before_the_first_sample(void **state)
{
	static const struct bench_watch watch = { .started = interrupting_started };
	struct bench_config cfg = long_config(2, 1);
	struct bench_result res;
	struct bench_err err = {};

	assert_int_equal(bench_run(&fake, &cfg, &watch, &res, &err), 0);
	assert_int_equal(res.signal, SIGTERM);
	assert_int_equal(res.nr_samples, 0);
	assert_int_equal(seen.conserves, 1);
	assert_int_equal(seen.teardowns, 1);
	bench_result_free(&res);
}

/* Interrupts the process while it waits for its threads. */
static int interrupting_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		sched_yield();
	kill(getpid(), SIGINT);
	sleep_ns(50 * NS_PER_MS);
	ADD(seen.producers_done, 1);
	return 0;
}

static void signal_while_stopping(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.producer = interrupting_producer;
	cfg.interval_ms = 500;
	run(&bench, &cfg, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGINT);
	assert_int_equal(seen.conserves, 1);
	bench_result_free(&o.res);
}

/* The user does not want to wait: one signal to stop, another while a thread takes its time. */
static int impatient_producer(struct bench_thread *t)
{
	while (!bench_stopping(t))
		sched_yield();
	kill(getpid(), SIGINT);
	sleep_ns(2 * HANG_S * NS_PER_S);
	return 0;
}

static void two_signals(void)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.producer = impatient_producer;
	run_short(&bench, &cfg, 1, &o);
}

static void second_signal_ends_at_once(void **state)
{
	int status = in_child(two_signals);

	assert_int_not_equal(status, -1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

static int interrupted_setup(struct bench_run *run)
{
	kill(getpid(), SIGTERM);
	sleep_ns(2 * HANG_S * NS_PER_S);
	return 0;
}

static void signal_in_setup(void)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.setup = interrupted_setup;
	run(&bench, &cfg, &o);
}

static void signal_during_setup_just_ends_us(void **state)
{
	int status = in_child(signal_in_setup);

	assert_int_not_equal(status, -1);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

/* ---- nothing is left */

static void nothing_is_left_for_the_next_run(void **state)
{
	struct sigaction before[NSIG], after;
	int fds, i, sig;
	sigset_t mask, mask_after;
	struct bench_config cfg = config(3, 1);
	struct outcome o;

	fds = entries_of("/proc/self/fd");
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &before[sig]);

	/* one that is cut short, one that fails, one that is as it should be */
	for (i = 0; i < 3; i++) {
		clear(NULL);
		plan.conservation.has_records = true;
		plan.conservation.attempts = i == 1;
		run_short(&scripted_bench, &cfg, 4, &o);
		assert_int_equal(o.ret, i == 1 ? -EIO : 0);
		assert_int_equal(o.res.nr_samples, 4);
		assert_int_equal(o.res.signal, SIGINT);
		assert_chained(&o.res);
		assert_int_equal(seen.setups, 1);
		assert_int_equal(seen.teardowns, 1);
		assert_int_equal(seen.producers_done, 3);
		assert_int_equal(seen.consumers_done, 1);
		bench_result_free(&o.res);
	}

	assert_int_equal(settled_threads(1 + OTHER_THREADS), 1 + OTHER_THREADS);
	assert_int_equal(entries_of("/proc/self/fd"), fds);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	assert_same_signals(&mask, &mask_after);
	for (sig = 1; sig < NSIG; sig++) {
		if (sigaction(sig, NULL, &after))
			continue;
		if (after.sa_handler != before[sig].sa_handler)
			fail_msg("the handler of signal %d is not what it was", sig);
	}
}

/* ---- errors */

static void errors_say_what_and_return_what(void **state)
{
	struct bench_err e = {};

	assert_int_equal(bench_failed(&e, ENOENT, "cannot open %s", "it"), -ENOENT);
	assert_string_equal(e.text, "cannot open it: No such file or directory");
	assert_int_equal(e.code, BENCH_EXIT_FAILED);

	e = (struct bench_err){};
	assert_int_equal(bench_failed(&e, -ENOENT, "x"), -ENOENT);
	assert_string_equal(e.text, "x: No such file or directory");
	e = (struct bench_err){};
	assert_int_equal(bench_failed(&e, 0, "x"), -EIO);
	assert_string_equal(e.text, "x");

	e = (struct bench_err){};
	assert_int_equal(bench_unavailable(&e, "no %d", 7), -EOPNOTSUPP);
	assert_string_equal(e.text, "no 7");
	assert_int_equal(e.code, BENCH_EXIT_UNAVAILABLE);

	e = (struct bench_err){};
	assert_int_equal(bench_refused(&e, "not %s", "so"), -EINVAL);
	assert_string_equal(e.text, "not so");
	assert_int_equal(e.code, BENCH_EXIT_USAGE);

	/* the first cause counts */
	assert_int_equal(bench_failed(&e, ENOENT, "later"), -ENOENT);
	assert_string_equal(e.text, "not so");
	assert_int_equal(e.code, BENCH_EXIT_USAGE);
}

static void long_errors_are_cut(void **state)
{
	char *words = malloc(5000);
	struct bench_err e = {};

	assert_non_null(words);
	memset(words, 'x', 4999);
	words[4999] = '\0';
	assert_int_equal(bench_bpf_error(&e, ENOMEM, "%s", words), -ENOMEM);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_string_equal(e.detail, "");
	/* where only the reason is too long, what it was about is kept */
	e = (struct bench_err){};
	words[sizeof(e.text) - 5] = '\0';
	assert_int_equal(bench_bpf_error(&e, ENOMEM, "%s", words), -ENOMEM);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	free(words);
}

static void counters_are_apart_and_add_up(void **state)
{
	struct bench_counter *c = bench_counters_alloc(5);
	int i;

	assert_non_null(c);
	assert_int_equal((uintptr_t)c % BENCH_CACHELINE, 0);
	assert_true((char *)&c[1] - (char *)&c[0] >= BENCH_CACHELINE);
	assert_int_equal(bench_counters_sum(c, 5), 0);
	for (i = 0; i < 5; i++)
		bench_counter_add(&c[i], 1ULL << (10 * i));
	bench_counter_add(&c[4], 1);
	assert_int_equal(bench_counter_read(&c[4]), (1ULL << 40) + 1);
	assert_int_equal(bench_counters_sum(c, 5),
			 1 + (1 << 10) + (1 << 20) + (1 << 30) + (1ULL << 40) + 1);
	assert_int_equal(bench_counters_sum(c, 0), 0);
	free(c);
	c = bench_counters_alloc(0);
	assert_non_null(c);
	free(c);
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first, while the process is as it was started */
		TEST(nothing_is_left_for_the_next_run),
		TEST(no_affinity_no_place),
		TEST(consumers_first_then_producers),
		TEST(only_cpus_that_are_allowed),
		TEST(sets_are_gone_through_in_order),
		TEST(producers_go_on_behind_placed_consumers),
		TEST(threads_are_pinned_from_the_start),
		TEST(strayed_thread_is_seen),
		TEST(all_threads_work),
		TEST(all_threads_work_when_measuring_begins),
		TEST(producers_end_before_consumers_are_told),
		TEST(sleeping_consumer_is_woken),
		TEST(consumer_that_sleeps_late_is_woken),
		TEST(woken_though_all_signals_were_blocked),
		TEST(sampling_outranks_the_threads),
		TEST(chosen_policy_is_kept),
		TEST(stray_wakeup_signal_changes_nothing),
		TEST(threads_may_end_early),
		TEST(failing_producer_ends_the_run),
		TEST(failing_consumer_ends_the_run),
		TEST(thread_that_fails_without_a_word),
		TEST(first_words_are_kept),
		TEST(failure_while_stopping_counts),
		TEST(thread_that_cannot_be_started),
		TEST(failed_setup_is_torn_down),
		TEST(setup_that_times_out_is_torn_down),
		TEST(setup_that_fails_without_a_word),
		TEST(failed_describe_starts_nothing),
		TEST(samples_of_one_second),
		TEST(warmup_is_apart),
		TEST(interval_across_the_end_of_warmup),
		TEST(many_samples_and_lost_ticks),
		TEST(sigterm_among_lost_ticks),
		TEST(nobody_has_to_watch),
		TEST(conserved),
		TEST(one_record_too_few_or_too_many),
		TEST(only_what_is_there_is_compared),
		TEST(run_counts_are_held_against_the_kernels),
		TEST(signal_cuts_a_run_short),
		TEST(signal_in_warmup_leaves_no_sample),
		TEST(ignored_signal_is_taken_all_the_same),
		TEST(signal_before_the_first_sample),
		TEST(signal_while_stopping),
		TEST(second_signal_ends_at_once),
		TEST(signal_during_setup_just_ends_us),
		TEST(errors_say_what_and_return_what),
		TEST(long_errors_are_cut),
		TEST(counters_are_apart_and_add_up),
	};

	signal(SIGALRM, on_alarm);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

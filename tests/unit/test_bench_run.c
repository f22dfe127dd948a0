// SPDX-License-Identifier: GPL-2.0
/* The life of a run: threads, set-up, samples. Signals are in test_signals.c. */
#include "tests/unit/child.h"
#include "tests/unit/fake.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

/* Not a sleep: no system call that a signal could end. */
static void spin(uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static void assert_same_signals(const sigset_t *a, const sigset_t *b)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(a, sig) != sigismember(b, sig))
			fail_msg("signal %d is blocked in one of them only", sig);
}

/* The thread sanitizer starts one of its own when the first of ours is started. */
#ifdef __SANITIZE_THREAD__
#define NR_THREADS 3
#else
#define NR_THREADS 2 /* the main one, and that which receives signals */
#endif

/* A thread that was joined may still be seen in /proc for a moment. */
static void assert_no_thread_is_left(void)
{
	int i;

	for (i = 0; i < 1000 && entries_of("/proc/self/task") != NR_THREADS; i++)
		sleep_ms(5);
	assert_int_equal(entries_of("/proc/self/task"), NR_THREADS);
}

/* What a thread is asked for is what the kernel does. */
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

static void first_measure_counts_threads(struct bench_run *run, struct values *v)
{
	if (!seen.measures)
		seen.at_first_measure = READ(seen.producers) + READ(seen.consumers);
	fake_measure(run, v);
}

/*
 * Where there are more threads than CPUs it takes a while until each has had its first turn. That
 * is no part of what is measured: else a run measures fewer threads than were asked for.
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
	sleep_ms((1 + t->idx) * 30);
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

	if (signals_start() || sched_setscheduler(0, SCHED_BATCH, &none))
		exit(1);
	clear(NULL);
	run_short(&fake, &cfg, 3, &o);
	bench_result_free(&o.res);
	exit(seen.sampling_policy == SCHED_BATCH && seen.producer_policy == SCHED_BATCH &&
			     sched_getscheduler(0) == SCHED_BATCH ?
		     0 :
		     2);
}

static void chosen_policy_is_kept(void **state)
{
	assert_int_equal(in_child(run_in_batch), 0);
}

/* The signal that ends threads, from who knows where. */
static void kicking_measure(struct bench_run *run, struct values *v)
{
	fake_measure(run, v);
	if (seen.measures == 2)
		kill(getpid(), SIGRTMIN);
}

static void stray_wakeup_signal_changes_nothing(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	bench.consumer = sleeping_consumer;
	cfg.interval_ms = 200;
	bench.measure = kicking_measure;
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

/* The first fails at once, the others when asked to stop. */
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
	int cpus[] = { 0, CPUSET_MAX };
	struct cpuset allowed;
	struct outcome o;

	assert_int_equal(cpuset_allowed(&allowed), 0);
	cpus[0] = allowed.cpus[0];
	cfg.affinity = true;
	cfg.prod_cpus = (struct cpuset){ .cpus = cpus, .cnt = 2 };
	run(&fake, &cfg, &o);
	assert_failed(
		&o,
		"cannot start producer 2 of 2 on CPU 65535: Invalid argument: is that CPU online");
	/* those that were started have come to their end without working */
	assert_int_equal(seen.producers, 0);
	assert_int_equal(seen.consumers, 0);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(seen.sampled, 0);
	assert_no_thread_is_left();
	bench_result_free(&o.res);
	cpuset_free(&allowed);
}

/* ---- set-up that fails */

static int half_setup(struct bench_run *run)
{
	seen.setups++;
	run->priv = &seen;
	run->trigger = (struct bench_trigger){ .verb = "attached by", .name = "tp" };
	strcpy(run->trigger.fallback, "fentry: no");
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
	assert_string_equal(o.res.trigger.verb, "attached by");
	assert_string_equal(o.res.trigger.name, "tp");
	assert_string_equal(o.res.trigger.fallback, "fentry: no");
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

/* ---- what comes before a run */

static int asked_probe(struct bench_run *run)
{
	seen.probes++;
	assert_int_equal(*(const int *)run->params, 42);
	return *(const int *)run->params == 42 ? 0 : -EINVAL;
}

static int no_room(struct bench_run *run)
{
	seen.probes++;
	return bench_refused(&run->err, "--size: no room");
}

static int silent_refusal(struct bench_run *run)
{
	seen.probes++;
	return -ENOTTY;
}

static int three_consumers(const struct bench_run *run)
{
	return *(const int *)run->params == 42 ? 3 : 0;
}

static int setup_for_three(struct bench_run *run)
{
	return run->cfg->consumers == 3 ? 0 : bench_refused(&run->err, "not three consumers");
}

/* Where the user did not say how many. */
static void probe_has_the_consumers_it_needs(void **state)
{
	struct bench bench = fake;
	const struct bench_config cfg = config(1, -1);
	const int params = 42;
	const struct bench_job job = { &bench, &cfg, &params };
	struct bench_err err = {};

	bench.setup = setup_for_three;
	bench.consumers = three_consumers;
	assert_int_equal(bench_probe(&job, &err), 0);
	assert_string_equal(err.text, "");
}

static void probe_is_a_setup_where_there_is_none(void **state)
{
	struct bench bench = fake;
	const struct bench_config cfg = config(1, 0);
	const int params = 42;
	const struct bench_job job = { &bench, &cfg, &params };
	struct bench_err err = {};

	assert_int_equal(bench_probe(&job, &err), 0);
	assert_int_equal(seen.setups, 1);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(err.code, BENCH_EXIT_OK);

	bench.setup = half_setup;
	assert_int_equal(bench_probe(&job, &err), -EOPNOTSUPP);
	assert_int_equal(seen.teardowns, 2);
	assert_int_equal(err.code, BENCH_EXIT_UNAVAILABLE);
	assert_string_equal(err.text, "no such thing in this kernel");

	bench.probe = asked_probe;
	err = (struct bench_err){};
	assert_int_equal(bench_probe(&job, &err), 0);
	assert_int_equal(seen.probes, 1);
	assert_int_equal(seen.setups, 2);
	assert_int_equal(seen.teardowns, 2);
}

/* With no reason there would be no exit code either. */
static void refusals_without_a_word(void **state)
{
	struct bench bench = fake;
	const struct bench_config cfg = config(1, 0);
	const struct bench_job job = { .bench = &bench, .cfg = &cfg };
	struct bench_err err = {};

	bench.probe = silent_refusal;
	assert_int_equal(bench_probe(&job, &err), -ENOTTY);
	assert_int_equal(err.code, BENCH_EXIT_FAILED);
	assert_non_null(strstr(err.text, "fake"));
	bench.check = silent_refusal;
	err = (struct bench_err){};
	assert_int_equal(bench_check(&job, &err), -ENOTTY);
	assert_int_equal(err.code, BENCH_EXIT_FAILED);
	assert_non_null(strstr(err.text, "fake"));
}

static void checks_and_consumers_are_asked_for(void **state)
{
	struct bench bench = fake;
	const struct bench_config cfg = config(1, -1);
	const int params = 42;
	const struct bench_job job = { &bench, &cfg, &params };
	struct bench_err err = {};

	assert_int_equal(bench_check(&job, &err), 0);
	assert_int_equal(bench_consumers(&job), 0);
	bench.check = no_room;
	bench.consumers = three_consumers;
	assert_int_equal(bench_check(&job, &err), -EINVAL);
	assert_int_equal(err.code, BENCH_EXIT_USAGE);
	assert_string_equal(err.text, "--size: no room");
	assert_int_equal(bench_consumers(&job), 3);
	assert_int_equal(seen.setups, 0);
}

/* ---- samples */

static const struct figure scripted_figures[] = {
	{ .name = "work", .unit = "/s", .kind = FIGURE_RATE },
	{ .name = "other work", .unit = "/s", .kind = FIGURE_RATE },
	{ .name = "level", .unit = "B", .kind = FIGURE_GAUGE },
};

static const struct report scripted_report = {
	.name = "scripted",
	.figures = scripted_figures,
	.nr_figures = ARRAY_SIZE(scripted_figures),
};

/* What the @k-th reading finds. Counts do not begin at 0, and grow by another amount each. */
static struct values scripted(uint64_t k)
{
	return (struct values){ { 1000 + 7 * k * k, 10 + k * k * k, 50 - k % 2 } };
}

static void scripted_measure(struct bench_run *run, struct values *v)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(scripted_figures); i++)
		assert_int_equal(v->v[i], 0); /* "zeroed before" */
	*v = scripted(seen.measures++);
}

static const struct bench scripted_bench = {
	.report = &scripted_report,
	.name = "scripted",
	.setup = fake_setup,
	.teardown = fake_teardown,
	.producer = fake_producer,
	.consumer = fake_consumer,
	.measure = scripted_measure,
	.conserve = fake_conserve,
};

/*
 * Samples follow each other without a gap, and hold the difference of neighbouring readings; of a
 * gauge, the later one.
 */
static void assert_chained(const struct bench_result *res)
{
	struct values a, b;
	size_t i;

	for (i = 0; i < res->nr_samples; i++) {
		const struct sample *s = &res->samples[i];

		assert_int_equal(s->t_ns, i ? s[-1].t_ns + s[-1].dt_ns : 0);
		a = scripted(i);
		b = scripted(i + 1);
		assert_int_equal(s->raw.v[0], b.v[0] - a.v[0]);
		assert_int_equal(s->raw.v[1], b.v[1] - a.v[1]);
		assert_int_equal(s->raw.v[2], b.v[2]);
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
static void slow_measure(struct bench_run *run, struct values *v)
{
	scripted_measure(run, v);
	spin(3 * NS_PER_MS);
}

static void many_samples_and_lost_ticks(void **state)
{
	struct bench bench = scripted_bench;
	struct bench_config cfg = config(1, 1);
	struct itimerval timer;
	struct outcome o;
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
	getitimer(ITIMER_REAL, &timer);
	assert_true(!timer.it_value.tv_sec && !timer.it_value.tv_usec);
	assert_true(!timer.it_interval.tv_sec && !timer.it_interval.tv_usec);
	bench_result_free(&o.res);
}

/* There is always a tick pending. */
static void sigterm_among_lost_ticks(void **state)
{
	struct bench bench = scripted_bench;
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

static void ends_when_the_mean_is_known(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	/* one hit per sample, whatever it lasts: some 10 % off where ticks come late */
	cfg.interval_ms = 50;
	cfg.duration_s = 3600;
	cfg.precision_pct = 50;
	run(&fake, &cfg, &o);
	assert_fine(&o);
	assert_true(o.res.precise);
	assert_true(o.res.ci_pct <= 50);
	assert_int_equal(o.res.signal, 0);
	/* not before a second has been measured */
	assert_true(o.took_ns >= NS_PER_S);
	bench_result_free(&o.res);

	/* rates that grow all the time are never known so well */
	clear(NULL);
	cfg.duration_s = 1;
	cfg.precision_pct = 0.01;
	run(&scripted_bench, &cfg, &o);
	assert_fine(&o);
	assert_false(o.res.precise);
	assert_true(o.res.ci_pct > 0.01);
	bench_result_free(&o.res);
}

static void nobody_has_to_watch(void **state)
{
	static const struct bench_watch watch;
	struct bench_config cfg = config(1, 1);
	const struct bench_job job = { .bench = &scripted_bench, .cfg = &cfg };
	struct bench_result res;
	struct bench_err err = {};

	cfg.interval_ms = 500;
	assert_int_equal(bench_run(&job, &watch, &res, &err), 0);
	assert_true(res.nr_samples == 2 || res.nr_samples == 1);
	assert_int_equal(seen.producers_done, 1);
	assert_chained(&res);
	bench_result_free(&res);
	assert_null(res.samples);
	bench_result_free(&res);
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
		bench_count(&plan.conservation, "in", 1);
		bench_count(&plan.conservation, "out", i == 1 ? 2 : 1);
		bench_identity(&plan.conservation, "in = out");
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

	assert_no_thread_is_left();
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

static const struct child children[] = {
	CHILD(run_in_batch),
};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		/* first, while the process is as it was started */
		TEST(nothing_is_left_for_the_next_run),
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
		TEST(probe_has_the_consumers_it_needs),
		TEST(probe_is_a_setup_where_there_is_none),
		TEST(refusals_without_a_word),
		TEST(checks_and_consumers_are_asked_for),
		TEST(samples_of_one_second),
		TEST(warmup_is_apart),
		TEST(interval_across_the_end_of_warmup),
		TEST(many_samples_and_lost_ticks),
		TEST(sigterm_among_lost_ticks),
		TEST(ends_when_the_mean_is_known),
		TEST(nobody_has_to_watch),
	};

	child_main(argc, argv, children, ARRAY_SIZE(children));
	if (signals_start())
		return 1;
	return cmocka_run_group_tests_name("bench_run", tests, NULL, NULL);
}

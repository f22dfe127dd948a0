// SPDX-License-Identifier: GPL-2.0
/*
 * Signals that say stop: what becomes of a run, and, in processes of their own, what becomes of the
 * process.
 */
#include "tests/unit/child.h"
#include "tests/unit/fake.h"

#include <stdio.h>
#include <stdlib.h>

#define EXIT_IF(cond)                            \
	do {                                     \
		if (cond)                        \
			exit(__LINE__ % 90 + 1); \
	} while (0)

static const int stop_signals[] = { SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGXCPU, SIGUSR1,
				    SIGUSR2, SIGPROF, SIGVTALRM, SIGIO,	  SIGPWR };

/* Longer than it takes until a signal is taken note of, were it not ignored or blocked. */
static void let_it_come(void)
{
	sleep_ms(100);
}

/* For a signal that is to end the process. */
static void wait_for_the_end(void)
{
	sleep_ms(2 * HANG_S * 1000);
}

/* ---- runs */

static void signal_cuts_a_run_short(void **state)
{
	struct bench_config cfg = config(2, 1);
	struct outcome o;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		clear(NULL);
		plan.stop_signal = stop_signals[i];
		run_short(&fake, &cfg, 3, &o);
		assert_fine(&o);
		assert_int_equal(o.res.signal, stop_signals[i]);
		assert_int_equal(o.res.nr_samples, 3);
		assert_int_equal(o.res.nr_warmup, 0);
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
	run_short(&fake, &cfg, 2, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGINT);
	assert_int_equal(o.res.nr_samples, 2);
	assert_int_equal(o.res.nr_warmup, 2);
	assert_false(o.res.have_noise);
	bench_result_free(&o.res);
}

/* Nothing has been measured yet; but the threads may be there. */
static void interrupting_started(void *ctx, const struct bench_run *run)
{
	send_and_wait(SIGTERM);
}

static void signal_before_the_first_sample(void **state)
{
	static const struct bench_watch watch = { .started = interrupting_started };
	struct bench_config cfg = long_config(2, 1);
	const struct bench_job job = { .bench = &fake, .cfg = &cfg };
	struct bench_result res;
	struct bench_err err = {};

	assert_int_equal(bench_run(&job, &watch, &res, &err), 0);
	assert_int_equal(res.signal, SIGTERM);
	assert_int_equal(res.nr_samples, 0);
	assert_int_equal(seen.conserves, 1);
	assert_int_equal(seen.teardowns, 1);
	bench_result_free(&res);
}

/* From a thread, while the sampling thread waits an hour for its tick. */
static int hasty_producer(struct bench_thread *t)
{
	producer_begins(t);
	sleep_ms(50);
	kill(getpid(), SIGINT);
	while (!bench_stopping(t))
		sched_yield();
	ADD(seen.producers_done, 1);
	return 0;
}

static void signal_between_samples(void **state)
{
	struct bench bench = fake;
	struct bench_config cfg = long_config(1, 1);
	struct outcome o;

	bench.producer = hasty_producer;
	run(&bench, &cfg, &o);
	assert_fine(&o);
	assert_int_equal(o.res.signal, SIGINT);
	assert_int_equal(o.res.nr_samples, 0);
	assert_true(o.took_ns < HANG_S * NS_PER_S);
	bench_result_free(&o.res);
}

/* Interrupts the process while it waits for its threads. */
static int interrupting_producer(struct bench_thread *t)
{
	producer_begins(t);
	while (!bench_stopping(t))
		sched_yield();
	send_and_wait(SIGINT);
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

static void names(void **state)
{
	assert_string_equal(signals_name(SIGINT), "SIGINT");
	assert_string_equal(signals_name(SIGTERM), "SIGTERM");
	assert_string_equal(signals_name(SIGUSR2), "SIGUSR2");
	assert_string_equal(signals_name(SIGALRM), "a signal");
}

/* ---- the modes */

static void all_are_caught(void **state)
{
	const struct timespec hang = { .tv_sec = HANG_S };
	sigset_t alarm;
	size_t i;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	signals_catch();
	assert_int_equal(signals_caught(), 0);
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		kill(getpid(), stop_signals[i]);
		/* the main thread is woken */
		assert_int_equal(sigtimedwait(&alarm, NULL, &hang), SIGALRM);
		assert_int_equal(signals_caught(), stop_signals[i]);
		signals_forget();
		assert_int_equal(signals_caught(), 0);
	}
}

/* Else the next run would take it for a tick of its timer. */
static void what_is_forgotten_wakes_nobody(void **state)
{
	int i;

	signals_catch();
	for (i = 0; i < 200; i++) {
		send_and_wait(SIGUSR1);
		signals_forget();
		assert_false(is_alarm_pending());
	}
}

static void start(void)
{
	EXIT_IF(signals_start());
	clear(NULL);
}

static void end_by_default(void)
{
	EXIT_IF(signals_start());
	kill(getpid(), SIGTERM);
	wait_for_the_end();
}

static void end_by_quit(void)
{
	start();
	kill(getpid(), SIGQUIT);
	wait_for_the_end();
}

/* One that was caught just before. */
static void end_after_all(void)
{
	start();
	signals_catch();
	send_and_wait(SIGHUP);
	signals_end_process();
}

static void end_by_the_second(void)
{
	start();
	signals_catch();
	send_and_wait(SIGINT);
	kill(getpid(), SIGTERM);
	wait_for_the_end();
}

static void process_is_ended(void **state)
{
	assert_true(died_of(in_child(end_by_default), SIGTERM));
	assert_true(died_of(in_child(end_by_quit), SIGQUIT));
	assert_true(died_of(in_child(end_after_all), SIGHUP));
	assert_true(died_of(in_child(end_by_the_second), SIGTERM));
}

/* "in another thread", and what it returns to is the end. */
static void tell(void *ctx, int sig)
{
	EXIT_IF(ctx != &plan || sig != SIGTERM || gettid() == getpid());
}

static void tell_and_exit(void)
{
	start();
	signals_tell_and_exit(tell, &plan);
	kill(getpid(), SIGTERM);
	wait_for_the_end();
}

static void tell_here(void *ctx, int sig)
{
	EXIT_IF(ctx != &seen || sig != SIGUSR2);
}

static void tell_of_what_was_caught(void)
{
	start();
	signals_catch();
	send_and_wait(SIGUSR2);
	signals_tell_and_exit(tell_here, &seen);
}

static void tell_for_ever(void *ctx, int sig)
{
	kill(getpid(), SIGINT);
	wait_for_the_end();
}

static void tell_and_hang(void)
{
	start();
	signals_tell_and_exit(tell_for_ever, NULL);
	kill(getpid(), SIGTERM);
	wait_for_the_end();
}

static void somebody_is_told(void **state)
{
	assert_int_equal(in_child(tell_and_exit), W_EXITCODE(128 + SIGTERM, 0));
	assert_int_equal(in_child(tell_of_what_was_caught), W_EXITCODE(128 + SIGUSR2, 0));
	assert_true(died_of(in_child(tell_and_hang), SIGINT));
}

static void do_not_tell(void *ctx, int sig)
{
	exit(97);
}

static int failing_setup(struct bench_run *run)
{
	return bench_failed(&run->err, 0, "no");
}

/* Who wanted to be told of a signal in the set-up may be gone after it, also where it failed. */
static void after_failed_setup(void)
{
	struct bench_config cfg = config(1, 1);
	struct bench bench = fake;
	struct outcome o;

	start();
	bench.setup = failing_setup;
	signals_tell_and_exit(do_not_tell, NULL);
	run(&bench, &cfg, &o);
	send_and_wait(SIGTERM);
	let_it_come();
}

static int interrupted_setup(struct bench_run *run)
{
	kill(getpid(), SIGTERM);
	wait_for_the_end();
	return 0;
}

static void signal_in_setup(void)
{
	struct bench_config cfg = config(1, 1);
	struct bench bench = fake;
	struct outcome o;

	start();
	bench.setup = interrupted_setup;
	run(&bench, &cfg, &o);
}

static void signal_in_setup_that_is_told(void)
{
	struct bench_config cfg = config(1, 1);
	struct bench bench = fake;
	struct outcome o;

	start();
	bench.setup = interrupted_setup;
	signals_tell_and_exit(tell, &plan);
	run(&bench, &cfg, &o);
}

static void signals_and_setups(void **state)
{
	assert_int_equal(in_child(after_failed_setup), 0);
	assert_true(died_of(in_child(signal_in_setup), SIGTERM));
	assert_int_equal(in_child(signal_in_setup_that_is_told), W_EXITCODE(128 + SIGTERM, 0));
}

/* The user does not want to wait: one signal to stop, another while a thread takes its time. */
static int impatient_producer(struct bench_thread *t)
{
	while (!bench_stopping(t))
		sched_yield();
	sleep_ms(300); /* at once it would be the same */
	kill(getpid(), SIGINT);
	wait_for_the_end();
	return 0;
}

static void two_signals(void)
{
	struct bench_config cfg = config(1, 1);
	struct bench bench = fake;
	struct outcome o;

	start();
	bench.producer = impatient_producer;
	run_short(&bench, &cfg, 1, &o);
}

static void second_signal_ends_a_run_at_once(void **state)
{
	assert_true(died_of(in_child(two_signals), SIGINT));
}

/* ---- how the process was started */

/* With nohup; the others work. */
static void hangup_is_ignored(void)
{
	start();
	kill(getpid(), SIGHUP);
	let_it_come();
	signals_catch();
	kill(getpid(), SIGHUP);
	let_it_come();
	EXIT_IF(signals_caught());
	send_and_wait(SIGUSR1);
	EXIT_IF(signals_caught() != SIGUSR1);
}

/* As in a background job of a script. */
static void interrupt_is_caught(void)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	start();
	run_short(&fake, &cfg, 2, &o);
	EXIT_IF(o.ret || o.res.signal != SIGINT || o.res.nr_samples != 2);
	bench_result_free(&o.res);
}

static void ignored_from_the_start(void **state)
{
	assert_int_equal(in_child_ignoring("hangup_is_ignored", SIGHUP), 0);
	assert_int_equal(in_child_ignoring("interrupt_is_caught", SIGINT), 0);
	/* the same where nothing was ignored: then the first hangup ends it */
	assert_true(died_of(in_child(hangup_is_ignored), SIGHUP));
	assert_int_equal(in_child(interrupt_is_caught), 0);
}

/* A signal that is not handled does not end process 1. */
static void first_of_its_namespace(void)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		exit(77);
	pid = fork();
	if (!pid)
		execl("/proc/self/exe", program_invocation_name, "--child", "end_by_default", NULL);
	/* Not exit(): the leak sanitizer could not clone into a namespace that has ended. */
	_exit(child_wait(pid) != W_EXITCODE(128 + SIGTERM, 0));
}

static void process_1_ends_too(void **state)
{
	int status = in_child(first_of_its_namespace);

	if (status == W_EXITCODE(77, 0))
		skip();
	assert_int_equal(status, 0);
}

static const struct child children[] = {
	CHILD(end_by_default),	    CHILD(end_by_quit),
	CHILD(end_after_all),	    CHILD(end_by_the_second),
	CHILD(tell_and_exit),	    CHILD(tell_of_what_was_caught),
	CHILD(tell_and_hang),	    CHILD(after_failed_setup),
	CHILD(signal_in_setup),	    CHILD(signal_in_setup_that_is_told),
	CHILD(two_signals),	    CHILD(hangup_is_ignored),
	CHILD(interrupt_is_caught), CHILD(first_of_its_namespace),
};

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(signal_cuts_a_run_short),
		TEST(signal_in_warmup_leaves_no_sample),
		TEST(signal_before_the_first_sample),
		TEST(signal_between_samples),
		TEST(signal_while_stopping),
		TEST(names),
		TEST(all_are_caught),
		TEST(what_is_forgotten_wakes_nobody),
		TEST(process_is_ended),
		TEST(somebody_is_told),
		TEST(signals_and_setups),
		TEST(second_signal_ends_a_run_at_once),
		TEST(ignored_from_the_start),
		TEST(process_1_ends_too),
	};

	child_main(argc, argv, children, ARRAY_SIZE(children));
	if (signals_start())
		return 1;
	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}

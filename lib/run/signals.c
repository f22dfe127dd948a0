// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "lib/run/signals.h"
#include "lib/util.h"

/*
 * The same a second time so soon is no second one: timeout(1) sends each to the process and to its
 * group.
 */
#define SAME_NS (100 * 1000 * 1000)

/* The one before it interrupts threads of a run: KICK_SIGNAL in state.h. */
#define FIRST_RT_SIGNAL (SIGRTMIN + 1)

/* clang-format off */
static const struct {
	int sig;
	const char *name;
} stop_signals[] = {
	{ SIGINT, "SIGINT" },
	{ SIGTERM, "SIGTERM" },
	{ SIGHUP, "SIGHUP" },
	{ SIGQUIT, "SIGQUIT" },
	{ SIGXCPU, "SIGXCPU" },
	{ SIGUSR1, "SIGUSR1" },
	{ SIGUSR2, "SIGUSR2" },
	{ SIGVTALRM, "SIGVTALRM" },
	{ SIGPROF, "SIGPROF" },
	{ SIGIO, "SIGIO" },
	{ SIGPWR, "SIGPWR" },
#ifdef SIGSTKFLT
	{ SIGSTKFLT, "SIGSTKFLT" },
#endif
};
/* clang-format on */

static struct {
	pthread_mutex_t lock; /* held while a signal is handled, and for the next two */
	enum { END_PROCESS, TELL_AND_EXIT, CATCH } mode;
	void (*fn)(void *ctx, int sig);
	void *ctx;
	int caught; /* atomic */
	uint64_t caught_ns; /* when */
	unsigned int continued; /* atomic */
	pthread_t main, receiver;
	bool started;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *signals_name(int sig)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(stop_signals); i++)
		if (stop_signals[i].sig == sig)
			return stop_signals[i].name;
	return sig == SIGPIPE ? "SIGPIPE" : sig >= SIGRTMIN ? "a real-time signal" : "a signal";
}

unsigned int signals_continued(void)
{
	sigset_t pending;

	sigemptyset(&pending);
	/* It may be there already, and the thread that counts not yet have run. */
	sigpending(&pending);
	return __atomic_load_n(&state.continued, __ATOMIC_RELAXED) + sigismember(&pending, SIGCONT);
}

int signals_caught(void)
{
	return __atomic_load_n(&state.caught, __ATOMIC_ACQUIRE);
}

/* The calling thread gets the stop signals again; what they do to it is the default. */
static void unblock_all(void)
{
	sigset_t set;
	size_t i;
	int sig;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaddset(&set, stop_signals[i].sig);
	for (sig = FIRST_RT_SIGNAL; sig <= SIGRTMAX; sig++)
		sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void die_of(int sig)
{
	signal(sig, SIG_DFL);
	unblock_all();
	raise(sig);
	_exit(128 + sig); /* process 1 of a pid namespace survives that */
}

/* With the lock held, which is kept where the process ends. */
static void act(int sig)
{
	if (state.mode == END_PROCESS)
		die_of(sig);
	if (state.mode == TELL_AND_EXIT) {
		/* What @fn prints may wait for a reader: a second signal ends that. */
		unblock_all();
		state.fn(state.ctx, sig);
		_exit(128 + sig);
	}
	pthread_kill(state.main, SIGALRM);
}

static void handle(int sig)
{
	pthread_mutex_lock(&state.lock);
	if (signals_caught()) {
		if (sig != signals_caught() || now_ns() - state.caught_ns > SAME_NS)
			die_of(sig);
		pthread_mutex_unlock(&state.lock);
		return;
	}
	state.caught_ns = now_ns();
	__atomic_store_n(&state.caught, sig, __ATOMIC_RELEASE);
	act(sig);
	pthread_mutex_unlock(&state.lock);
}

static void *receive(void *arg)
{
	const sigset_t *set = arg;
	int sig;

	for (;;) {
		sig = sigwaitinfo(set, NULL);
		if (sig == SIGCONT)
			__atomic_fetch_add(&state.continued, 1, __ATOMIC_RELAXED);
		else if (sig > 0)
			handle(sig);
	}
	return NULL;
}

static bool is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * Who reads what we print has gone. In the midst of a run, that is to end as at any other signal,
 * and to be recorded; else it ends the process. In the thread that writes, at any point: without a
 * lock.
 */
static void on_broken_pipe(int sig)
{
	if (__atomic_load_n(&state.mode, __ATOMIC_RELAXED) != CATCH || signals_caught()) {
		signal(sig, SIG_DFL);
		raise(sig); /* when this handler has returned */
		return;
	}
	__atomic_store_n(&state.caught, sig, __ATOMIC_RELEASE);
	pthread_kill(state.main, SIGALRM);
}

int signals_start(void)
{
	const struct sigaction broken_pipe = { .sa_handler = on_broken_pipe,
					       .sa_flags = SA_RESTART };
	static sigset_t set;
	sigset_t blocked;
	size_t i;
	int sig, err;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(stop_signals); i++) {
		if (stop_signals[i].sig == SIGHUP && is_ignored(SIGHUP))
			continue;
		/* A shell without job control has some of them ignored in the background. */
		signal(stop_signals[i].sig, SIG_DFL);
		sigaddset(&set, stop_signals[i].sig);
	}
	for (sig = FIRST_RT_SIGNAL; sig <= SIGRTMAX; sig++)
		sigaddset(&set, sig);
	sigaddset(&set, SIGCONT);
	if (!is_ignored(SIGPIPE))
		sigaction(SIGPIPE, &broken_pipe, NULL);
	blocked = set;
	sigaddset(&blocked, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	state.main = pthread_self();
	err = pthread_create(&state.receiver, NULL, receive, &set);
	state.started = !err;
	return -err;
}

static void set_mode(int mode, void (*fn)(void *ctx, int sig), void *ctx)
{
	pthread_mutex_lock(&state.lock);
	__atomic_store_n(&state.mode, mode, __ATOMIC_RELAXED);
	state.fn = fn;
	state.ctx = ctx;
	/* One that was caught just now, before the mode changed. */
	if (signals_caught())
		act(signals_caught());
	pthread_mutex_unlock(&state.lock);
}

void signals_forget(void)
{
	const struct timespec now = {};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_mutex_lock(&state.lock);
	__atomic_store_n(&state.caught, 0, __ATOMIC_RELEASE);
	/* The one that told of it may be pending still. */
	while (sigtimedwait(&alarm, NULL, &now) == SIGALRM)
		;
	pthread_mutex_unlock(&state.lock);
}

void signals_end_process(void)
{
	set_mode(END_PROCESS, NULL, NULL);
}

void signals_tell_and_exit(void (*fn)(void *ctx, int sig), void *ctx)
{
	set_mode(TELL_AND_EXIT, fn, ctx);
}

void signals_catch(void)
{
	set_mode(CATCH, NULL, NULL);
}

void signals_set_realtime(bool on)
{
	struct sched_param param = { .sched_priority = on ? sched_get_priority_min(SCHED_FIFO) :
							    0 };

	if (state.started)
		pthread_setschedparam(state.receiver, on ? SCHED_FIFO : SCHED_OTHER, &param);
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/beside.h"
#include "lib/run/run.h"
#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/run/state.h"
#include "lib/util.h"

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

static int open_counters(struct run_state *state)
{
	struct bench_err *why = &state->run.err;
	pid_t *tids;
	const char *event;
	size_t i;
	int err;

	if (!state->run.cfg->counters)
		return 0;
	tids = calloc(state->nr_workers, sizeof(*tids));
	if (!tids)
		return bench_failed(why, ENOMEM, "cannot count by hardware");
	for (i = 0; i < state->nr_workers; i++)
		tids[i] = state->workers[i].t.tid;
	err = hwcount_open(state->run.cfg->counters, tids, state->nr_workers, &state->hwcounters,
			   &event);
	free(tids);
	if (err == -ENODATA)
		return bench_unavailable(why,
					 "this machine has no hardware counter of those that "
					 "--counters asks for (most virtual machines have none)");
	if (err)
		return bench_step_error(why, WHY_PERF, err, "cannot count %s, as --counters wants",
					event);
	return 0;
}

static int run_threads(struct run_state *state)
{
	int err, err2;

	err = threads_start(state);
	if (!err)
		err = open_counters(state);
	if (err) {
		threads_abort(state);
	} else {
		/* Not before: the threads would inherit it. */
		state->outranking = outrank_workers();
		if (state->outranking)
			signals_set_realtime(true);
		err = samples_take(state);
		samples_end(state);
	}
	/* Both are stopped whatever happened; a thread that does not stop ends it all. */
	err2 = threads_stop(state, BENCH_PRODUCER);
	if (!state->stuck)
		err2 = threads_stop(state, BENCH_CONSUMER);
	if (state->outranking) {
		rejoin_workers();
		signals_set_realtime(false);
	}
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
					      "programs, as --verify wants (BPF_ENABLE_STATS): "
					      "requires Linux 5.8 or newer");
	return bench_step_error(err, WHY_STATS, errnum,
				"cannot switch BPF statistics on, as --verify wants");
}

#define DESCRIPTORS 32

/*
 * Are there the few descriptors that any BPF work takes? Where they run out in the midst of it,
 * libbpf takes that for features that the kernel lacks.
 */
static int check_descriptors(struct bench_err *err)
{
	int fds[DESCRIPTORS], nr, ret = 0;

	for (nr = 0; nr < DESCRIPTORS && !ret; nr++) {
		fds[nr] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
		if (fds[nr] < 0)
			ret = bench_failed(err, errno, "cannot open %d files", DESCRIPTORS);
	}
	while (nr-- > 0)
		if (fds[nr] >= 0)
			close(fds[nr]);
	return ret;
}

static void run_init(struct bench_run *run, const struct bench_job *job,
		     const struct bench_watch *watch)
{
	run->bench = job->bench;
	run->cfg = job->cfg;
	run->params = job->params;
	run->watch = watch;
}

static int set_up(struct bench_run *run)
{
	int ret = run->bench->setup(run);

	if (ret) /* the benchmark has said why; this is for one that forgot */
		bench_failed(&run->err, ret, "cannot set up %s", run->bench->name);
	return ret;
}

static void tear_down(struct bench_run *run)
{
	size_t i;

	run->bench->teardown(run);
	for (i = 0; i < run->nr_links; i++)
		bpf_link__destroy(run->links[i]);
	free(run->links);
}

int bench_probe(const struct bench_job *job, struct bench_err *err)
{
	static const struct bench_watch silent;
	struct bench_config cfg = *job->cfg;
	struct bench_run run = {};
	int ret;

	run_init(&run, job, &silent);
	/* A list probes what nobody has checked: a set-up must not find -1 of them. */
	if (cfg.consumers < 0)
		cfg.consumers = bench_consumers(job);
	run.cfg = &cfg;
	ret = job->bench->no_bpf ? 0 : check_descriptors(&run.err);
	if (!ret && job->bench->probe) {
		ret = job->bench->probe(&run);
		if (ret) /* as in set_up() */
			bench_failed(&run.err, ret, "cannot probe %s", job->bench->name);
	} else if (!ret) {
		ret = set_up(&run);
		tear_down(&run);
	}
	if (ret)
		*err = run.err;
	return ret;
}

bool bench_print(const struct bench_job *job, FILE *out)
{
	struct bench_run run = {};

	run_init(&run, job, NULL);
	return job->bench->print && job->bench->print(&run, out);
}

int bench_check(const struct bench_job *job, struct bench_err *err)
{
	struct bench_run run = {};
	int ret;

	run_init(&run, job, NULL);
	ret = job->bench->check ? job->bench->check(&run) : 0;
	if (ret) {
		bench_failed(&run.err, ret, "cannot check %s", job->bench->name);
		*err = run.err;
	}
	return ret;
}

int bench_consumers(const struct bench_job *job)
{
	struct bench_run run = {};

	run_init(&run, job, NULL);
	return job->bench->consumers ? job->bench->consumers(&run) : 0;
}

static struct run_state *state_new(const struct bench_job *job, const struct bench_watch *watch,
				   struct bench_result *res)
{
	struct run_state *state = calloc(1, sizeof(*state));
	pthread_condattr_t attr;

	if (!state)
		return NULL;
	run_init(&state->run, job, watch);
	state->res = res;
	state->watch = watch;
	state->stats_probe_fd = -1;
	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&state->changed, &attr);
	pthread_condattr_destroy(&attr);
	return state;
}

static void state_free(struct run_state *state)
{
	noise_reading_free(&state->noise_start);
	hwcount_close(state->hwcounters);
	free(state->workers);
	if (state->stats_probe_fd >= 0)
		close(state->stats_probe_fd);
	pthread_cond_destroy(&state->changed);
	pthread_mutex_destroy(&state->lock);
	free(state);
}

/* More of them, or fewer, may be there at the end than at the start. */
static void look_beside(struct bench_result *res)
{
	char name[sizeof(res->beside_name)];
	int nr = beside_count(name, sizeof(name));

	if (nr <= res->beside)
		return;
	res->beside = nr;
	memcpy(res->beside_name, name, sizeof(name));
}

int bench_run(const struct bench_job *job, const struct bench_watch *watch,
	      struct bench_result *res, struct bench_err *err)
{
	const struct sigaction kick = { .sa_handler = kicked }; /* no SA_RESTART */
	const struct bench *bench = job->bench;
	uint64_t start = now_ns();
	struct run_state *state;
	int stats_fd = -1, ret;

	memset(res, 0, sizeof(*res));
	res->ci_pct = NAN; /* until there are samples */
	res->rt_limit_pct = 100;
	res->beside = -1;
	state = state_new(job, watch, res);
	if (!state)
		return bench_failed(err, ENOMEM, "cannot start");
	canary_measure(&res->before);
	if (!bench->no_bpf)
		state->stats_probe_fd = bench_stats_probe();
	if (state->stats_probe_fd >= 0)
		res->stats_by_others = bench_stats_count(state->stats_probe_fd);
	if (job->cfg->verify) {
		/* Before any program of ours can run: from then on the kernel counts. */
		stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (stats_fd < 0) {
			ret = stats_error(err, stats_fd);
			state_free(state);
			return ret;
		}
	}
	ret = set_up(&state->run);
	/* Not only where it succeeded: what was to be done at a signal in the set-up is over. */
	signals_catch();
	sigaction(KICK_SIGNAL, &kick, &state->old_kick);
	res->trigger = state->run.trigger;
	res->notes = state->run.notes;
	res->facts = state->run.facts;
	if (!ret && bench->describe)
		ret = bench->describe(&state->run, stderr);
	if (!ret) {
		res->setup_ns = now_ns() - start;
		look_beside(res);
		if (watch->started)
			watch->started(watch->ctx, &state->run);
		ret = run_threads(state);
		look_beside(res);
		res->signal = signals_caught();
	}
	if (!ret)
		ret = conservation_check(state);
	res->notes = state->run.notes;
	*err = state->run.err;
	/*
	 * A thread still runs, so nothing may be freed under it; the caller exits with the reason.
	 */
	if (state->stuck)
		return ret;
	tear_down(&state->run);
	drop_alarms();
	sigaction(KICK_SIGNAL, &state->old_kick, NULL);
	if (stats_fd >= 0)
		close(stats_fd);
	if (!bench->no_bpf)
		res->stats_by_others = res->stats_by_others || bench_stats_are_on();
	canary_measure(&res->after);
	state_free(state);
	return ret;
}

bool bench_counts_instructions(void)
{
	const char *clock = getenv("BENCH_CLOCK");

	return clock && !strcmp(clock, "instructions");
}

double bench_operations(const struct report *report, const struct bench_result *res,
			const char **name)
{
	double operations = 0;
	size_t row = 0, i;

	while (row < report->nr_figures && report->figures[row].kind != FIGURE_RATE)
		row++;
	if (row == report->nr_figures)
		return 0;
	*name = report->figures[row].name;
	for (i = res->nr_warmup; i < res->nr_samples; i++)
		operations += res->samples[i].raw.v[row];
	return operations;
}

void bench_result_free(struct bench_result *res)
{
	size_t i;

	for (i = 0; i < res->nr_samples; i++)
		batches_free(&res->samples[i].batches);
	free(res->samples);
	cpuset_free(&res->allowed);
	memset(res, 0, sizeof(*res));
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/lines.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"
#include "lib/cli/view.h"
#include "lib/machine.h"
#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/sysctl.h"
#include "lib/util.h"

#define STEAL_WARN_PCT	   1.0
#define THROTTLED_WARN_PCT 1.0
#define WAITED_WARN_PCT	   5.0
#define TRACED_RATIO	   1.5

/* ---- while it runs */

static void on_progress(void *ctx, const char *what, double fraction)
{
	const struct view *view = ctx;

	if (!view->what[0])
		progress_set(what, fraction);
}

static void report_trigger(struct view *view, const struct bench_trigger *trigger)
{
	const bool verbose = view->job->cfg->verbose;

	if (view->triggered || view->brief || !trigger->fallback[0])
		return;
	view->triggered = true;
	note("%s %s (%s)%s", trigger->verb, trigger->name,
	     verbose ? trigger->reasons : trigger->fallback, verbose ? "" : "; -v for details");
}

static void report_notes(const struct view *view, const struct bench_notes *notes, size_t first)
{
	size_t i;

	for (i = first; i < notes->nr; i++) {
		if (notes->v[i].warning)
			warning("%s", notes->v[i].text);
		else if (!view->job->cfg->quiet)
			note("%s", notes->v[i].text);
	}
}

/* Without the lines of samples nothing would be seen of a run. */
static void show_time_left(const struct view *view, const struct bench_run *run)
{
	const struct bench_config *cfg = run->cfg;

	if (view->what[0]) {
		progress_go_on(view->what, view->end_ns);
		return;
	}
	progress_begin(run->bench->name);
	progress_set_end(now_ns() + (cfg->warmup_s + cfg->duration_s) * 1000000000ULL);
}

static void on_started(void *ctx, const struct bench_run *run)
{
	struct view *view = ctx;

	progress_end();
	report_trigger(view, &run->trigger);
	/* Those of the set-up are the same for each run. */
	if (!view->noted)
		report_notes(view, &run->notes, 0);
	view->noted = true;
	view->nr_noted = run->notes.nr;
	if (!run->cfg->quiet)
		fprintf(view->out, "Benchmark '%s' started.\n", run->bench->name);
	else
		show_time_left(view, run);
}

/*
 * The reader of what we print may leave it in the pipe until that is full. Then a run waits, but
 * not past a signal: that does not interrupt a write of this thread.
 */
static bool may_print(FILE *out)
{
	struct pollfd fd = { .fd = fileno(out), .events = POLLOUT };

	while (!poll(&fd, 1, 100))
		if (signals_caught())
			return false;
	return true;
}

static void on_sampled(void *ctx, int iter, const struct sample *s)
{
	const struct view *view = ctx;
	const struct bench_config *cfg = view->job->cfg;

	if (!cfg->quiet && may_print(view->out))
		lines_progress(view->out, view->job->bench->report, iter,
			       cfg->interval_ms * 1000000ULL, s, cfg->producers);
}

struct bench_watch view_watch(struct view *view)
{
	return (struct bench_watch){
		.ctx = view,
		.progress = on_progress,
		.started = on_started,
		.sampled = on_sampled,
	};
}

void view_begin(struct view *view)
{
	if (!view->job->cfg->quiet)
		fprintf(view->out, "Setting up benchmark '%s'...\n", view->job->bench->name);
	if (view->brief)
		message_about(view->job->bench->name);
	if (view->what[0] && view->job->cfg->quiet)
		progress_go_on(view->what, view->end_ns);
	else
		progress_begin(view->what[0] ? view->what : "setting up");
}

void view_end(struct view *view)
{
	progress_end();
}

/* ---- before */

/* CPUs that the threads of the run have to share. */
static int usable_cpus(const struct bench_config *cfg)
{
	struct cpuset allowed = {}, used = {};
	int nr = 0, role, i, k, cpu;

	if (bench_run_cpus(&allowed))
		return 0;
	if (!cfg->affinity) {
		nr = allowed.cnt;
		goto out;
	}
	used.cpus = calloc(cfg->producers + cfg->consumers, sizeof(*used.cpus));
	for (role = 0; used.cpus && role < BENCH_NR_ROLES; role++) {
		for (i = 0; i < (role == BENCH_CONSUMER ? cfg->consumers : cfg->producers); i++) {
			cpu = bench_run_cpu(cfg, &allowed, role, i);
			for (k = 0; k < used.cnt && used.cpus[k] != cpu; k++)
				;
			if (k == used.cnt)
				used.cpus[used.cnt++] = cpu;
		}
	}
	nr = used.cnt;
out:
	cpuset_free(&allowed);
	cpuset_free(&used);
	return nr;
}

/* The first consumer's CPU, where a producer is on the same core; -1: none is. */
static int shared_core(const struct bench_config *cfg)
{
	struct cpuset allowed = {};
	int cpu = -1, other, i;
	bool shared = false;

	if (!cfg->affinity || !cfg->consumers || bench_run_cpus(&allowed))
		return -1;
	cpu = bench_run_cpu(cfg, &allowed, BENCH_CONSUMER, 0);
	for (i = 0; i < cfg->producers && i < allowed.cnt && !shared; i++) {
		other = bench_run_cpu(cfg, &allowed, BENCH_PRODUCER, i);
		shared = cpuset_share_core("", cpu, other);
	}
	cpuset_free(&allowed);
	return shared ? cpu : -1;
}

void view_warn_of_threads(const struct bench_config *cfg)
{
	long long threads = cfg->producers + cfg->consumers;
	int cpus = usable_cpus(cfg), cpu = shared_core(cfg);

	if (cpus && threads > cpus)
		warning("%lld threads on %d CPU%s: they preempt each other", threads, cpus,
			cpus == 1 ? "" : "s");
	if (cpu >= 0)
		warning("the consumer on CPU %d shares its core with a producer (SMT): choose other CPUs",
			cpu);
}

/*
 * For programs of all users, root's too; where only root may read it, other users get no warning.
 */
static bool jit_is_hardened(void)
{
	return sysctl_read("net/core/bpf_jit_harden", 0) == 2;
}

void view_warn_of_machine(bool uses_bpf)
{
	struct machine_fact governor, debug;

	if (bench_counts_instructions())
		note("the clock counts instructions: 1 ns is one instruction");
	if (uses_bpf && bench_jit_is_off())
		warning("the BPF JIT is off: programs are interpreted; sysctl net.core.bpf_jit_enable=1");
	else if (uses_bpf && jit_is_hardened())
		warning("the BPF JIT blinds constants, which makes programs slower: sysctl net.core.bpf_jit_harden=1 or 0");
	machine_fact("debug", &debug);
	if (strcmp(debug.value, "unknown") && strcmp(debug.value, "none"))
		warning("this kernel is built to find its own bugs (%s): it is far slower than others",
			debug.value);
	machine_fact("governor", &governor);
	if (strcmp(governor.value, "unknown") && strcmp(governor.value, "performance"))
		warning("CPU frequency governor is '%s', not 'performance'", governor.value);
}

/* ---- after */

/* With -v, what the summary line has no place for. */
static void report_figures(const struct report *report, const struct sample *samples, size_t n,
			   int producers)
{
	struct figure_stats stats;
	size_t i;

	for (i = 0; i < report->nr_figures; i++)
		if (!figure_sum_up(report, i, samples, n, producers, &stats))
			note("%s %.4g ± %.2g %s", report->figures[i].name, stats.mean, stats.stddev,
			     report->figures[i].unit);
}

static bool has_drops(const struct report *report)
{
	return report->nr_figures > DROPS && !strcmp(report->figures[DROPS].name, "drops");
}

/* @cut_short: by a signal; that nothing had happened until then is no failure. */
static int complain_of_summary(const struct view *view, int err, bool cut_short,
			       const struct sample *samples, size_t n)
{
	const struct bench_job *job = view->job;
	const struct report *report = job->bench->report;
	struct sample total = samples_merge(report, samples, n);
	const char *failed = cut_short ? "" : "failed: ";
	const char *when = cut_short ? "until then" : "in the measured time";

	if (err == -ENODATA && has_drops(report) && total.raw.v[DROPS])
		complain("%s: %sno hits %s, and %" PRIu64 " drops", job->bench->name, failed, when,
			 total.raw.v[DROPS]);
	else if (err == -ENODATA)
		complain("%s: %snothing happened %s", job->bench->name, failed, when);
	else
		complain("%s: failed: cannot sum up: %s", job->bench->name, strerror(-err));
	return BENCH_EXIT_FAILED;
}

static int print_summary(const struct view *view, bool cut_short, const struct sample *samples,
			 size_t n)
{
	const struct bench_job *job = view->job;
	int err;

	fflush(stderr); /* the summary comes last where both go to one place */
	err = lines_summary(view->out, job->bench->report, job->params, samples, n,
			    job->cfg->producers);
	return err ? complain_of_summary(view, err, cut_short, samples, n) : BENCH_EXIT_OK;
}

/* Is there something to sum up? */
static int check_summary(const struct view *view, bool cut_short, const struct sample *samples,
			 size_t n)
{
	int err;

	err = lines_check(view->job->bench->report, samples, n, view->job->cfg->producers);
	return err ? complain_of_summary(view, err, cut_short, samples, n) : BENCH_EXIT_OK;
}

static void warn_of_precision(const struct bench_config *cfg, const struct bench_result *res)
{
	if (!cfg->precision_pct || res->signal || res->precise)
		return;
	if (isnan(res->ci_pct))
		warning("±%g %% was not reached in %lld s: too few samples to tell (%zu): try --interval 100",
			cfg->precision_pct, cfg->duration_s, res->nr_samples - res->nr_warmup);
	else
		warning("±%g %% was not reached in %lld s: ±%.2g %% was", cfg->precision_pct,
			cfg->duration_s, res->ci_pct);
}

static void report_verification(const struct bench_result *res)
{
	if (res->conservation.prog_fd > 0)
		note("verified: the kernel counts %" PRIu64 " runs too",
		     res->conservation.kernel_runs);
	else
		note("--verify: there is no run count to hold this benchmark against");
}

/*
 * Do ftrace, perf, or programs without a link sit on the system call that runs ours? It does no
 * more than getppid(2) does.
 */
static bool is_traced(const struct bench_result *res)
{
	return res->trigger.name[0] &&
	       res->before.trigger_ns > TRACED_RATIO * res->before.syscall_ns &&
	       res->after.trigger_ns > TRACED_RATIO * res->after.syscall_ns;
}

static void report_counters(const struct report *report, const struct bench_result *res)
{
	const char *name = "", *sep = "";
	char text[512] = "", scaled[256] = "";
	double operations;
	size_t i;

	if (!res->hw.asked)
		return;
	operations = bench_operations(report, res, &name);
	for (i = 0; i < HWCOUNT_MAX; i++) {
		char figure[32] = "-";

		if (!(res->hw.asked & 1U << i))
			continue;
		if (operations > 0 && isfinite(res->hw.count[i]))
			snprintf(figure, sizeof(figure), "%.5g", res->hw.count[i] / operations);
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %s", sep,
			 hwcount_names[i], figure);
		sep = ", ";
		if (isfinite(res->hw.count[i]) && res->hw.running_pct[i] < 99.9)
			snprintf(scaled + strlen(scaled), sizeof(scaled) - strlen(scaled),
				 "%s%s %.0f %%", scaled[0] ? ", " : "", hwcount_names[i],
				 res->hw.running_pct[i]);
	}
	note("per operation (%s): %s", name, text);
	if (scaled[0])
		note("the hardware has fewer counters: they took turns, and are scaled (%s of the time)",
		     scaled);
}

/* Quotas, threads that share CPUs by what was asked for, and strays have warnings of their own. */
static void warn_of_waiting(const struct bench_job *job, const struct bench_result *res)
{
	const double pct = res->noise.waited_pct - fmax(0, res->noise.throttled_pct);

	if (!res->have_noise || pct <= WAITED_WARN_PCT || res->strayed_tid ||
	    job->bench->kernel_workers)
		return;
	if (job->cfg->producers + job->cfg->consumers <= usable_cpus(job->cfg))
		warning("the threads waited for a CPU for %.1f %% of the time: something else ran there%s",
			pct, job->cfg->affinity ? "" : " (-a keeps them from each other)");
}

static void warn_of_disturbances(const struct bench_job *job, const struct bench_result *res)
{
	const struct bench_config *cfg = job->cfg;

	if (res->have_noise && res->noise.steal_pct > STEAL_WARN_PCT)
		warning("%.1f %% steal time: the hypervisor ran something else",
			res->noise.steal_pct);
	if (res->have_noise && res->noise.throttled_pct > THROTTLED_WARN_PCT)
		warning("a CPU quota (cgroup) stopped the threads for %.1f %% of the time",
			res->noise.throttled_pct);
	warn_of_waiting(job, res);
	if (res->sched_unusual)
		warning("the threads run as %s, not as usual: run it without nice(1) and chrt(1)",
			res->sched);
	if (res->rt_limit_pct < 100)
		warning("the threads are real-time ones, which get %.0f %% of a CPU at most: sysctl kernel.sched_rt_runtime_us=-1",
			res->rt_limit_pct);
	if (res->paused_ns)
		warning("the process did not run for %.1f s (stopped by a signal, or a paused guest): that time does not count",
			res->paused_ns / 1e9);
	if (res->stops > 1)
		warning("the process was stopped and continued %u times (cpulimit?): use a CPU quota or fewer threads",
			res->stops);
	if (res->stats_by_others)
		warning("BPF statistics are on (sysctl kernel.bpf_stats_enabled, or another program): they slow programs down");
	if (res->beside > 0)
		warning("%d BPF program%s of others on the same hook (%s%s): their time is part of the figures",
			res->beside, res->beside == 1 ? "" : "s", res->beside == 1 ? "" : "one is ",
			res->beside_name);
	else if (is_traced(res))
		warning("something else traces getpgid(2), which runs the program: without ours it takes %.0f ns, and getppid(2) %.0f ns",
			res->before.trigger_ns, res->before.syscall_ns);
	if (res->strayed_tid)
		warning("a thread pinned to CPU %d ran elsewhere (was the CPU taken offline?)",
			res->strayed_cpu);
	if (cfg->verify && !cfg->quiet)
		report_verification(res);
	warn_of_precision(cfg, res);
	if (res->nr_samples == res->nr_warmup + 1 && !cfg->quiet)
		note("one sample only: it has no deviation");
}

/*
 * Where the consumer limits, the rate of hits is that of the consumer, which users do not expect.
 */
static void report_drops(const struct bench_job *job, const struct sample *samples, size_t n)
{
	struct sample total;
	double pct;

	if (!job->bench->when_dropping || !job->cfg->consumers || job->cfg->quiet)
		return;
	total = samples_merge(job->bench->report, samples, n);
	pct = 100.0 * total.raw.v[DROPS] / (total.raw.v[HITS] + total.raw.v[DROPS] + 1.0);
	if (pct > 10)
		note("%.0f %% were dropped: the consumer is the limit; %s", pct,
		     job->bench->when_dropping);
}

int view_result(const struct view *view, const struct bench_result *res)
{
	const struct bench_config *cfg = view->job->cfg;
	const struct sample *samples = res->samples + res->nr_warmup;
	size_t n = res->nr_samples - res->nr_warmup, i;
	double seconds = 0;

	for (i = 0; i < n; i++)
		seconds += samples[i].dt_ns / 1e9;
	if (res->signal)
		warning("cut short by %s after %.1f of %lld measured seconds",
			signals_name(res->signal), seconds, cfg->duration_s);
	report_notes(view, &res->notes, view->nr_noted);
	warn_of_disturbances(view->job, res);
	if (!n) {
		complain("%s%sno full sample: nothing was measured",
			 view->brief ? view->job->bench->name : "", view->brief ? ": " : "");
		return BENCH_EXIT_FAILED;
	}
	if (view->brief)
		return check_summary(view, res->signal, samples, n);
	report_drops(view->job, samples, n);
	report_counters(view->job->bench->report, res);
	if (cfg->verbose)
		report_figures(view->job->bench->report, samples, n, cfg->producers);
	return print_summary(view, res->signal, samples, n);
}

int view_runs(const struct view *view, const struct sample *runs, size_t n)
{
	if (view->heading)
		fprintf(view->out, "Over %zu run%s of '%s':\n", n, n == 1 ? "" : "s",
			view->job->bench->name);
	return print_summary(view, false, runs, n);
}

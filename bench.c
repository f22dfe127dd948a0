// SPDX-License-Identifier: GPL-2.0
/*
 * bench: which command, the life of a series of runs, exit codes. What a benchmark is, is in
 * bench.h; the life of one run in lib/run/run.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "lib/bpf/bpflog.h"
#include "lib/cli/args.h"
#include "lib/cli/help.h"
#include "lib/cli/message.h"
#include "lib/cli/output.h"
#include "lib/cli/progress.h"
#include "lib/cli/resume.h"
#include "lib/cli/usable.h"
#include "lib/cli/view.h"
#include "lib/compare/compare.h"
#include "lib/machine.h"
#include "lib/record.h"
#include "lib/run/run_record.h"
#include "lib/run/services.h"
#include "lib/run/signals.h"
#include "lib/util.h"

/* ---- commands that run nothing */

static void list_bench(const struct chosen *c)
{
	struct bench_err err = {};

	printf("- %s\n", c->job.bench->name);
	if (!c->cfg.verbose)
		return;
	printf("    %s\n", c->job.bench->desc);
	if (bench_probe(&c->job, &err))
		printf("    unavailable: %s\n", err.text);
	else
		printf("    available\n");
}

static int list_benchs(const struct args *args)
{
	size_t i;

	printf("Available benchmarks:\n");
	for (i = 0; i < args->nr_chosen; i++)
		list_bench(&args->chosen[i]);
	return BENCH_EXIT_OK;
}

static int show_env(void)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	size_t nr, i;

	nr = machine_facts(facts, MACHINE_NR_FACTS);
	for (i = 0; i < nr; i++)
		printf("%s: %s\n", facts[i].key, facts[i].value);
	printf("libbpf: %s\n", libbpf_version_string());
	printf("bench: %s\n", BENCH_VERSION);
	return BENCH_EXIT_OK;
}

static int compare(const struct args *args)
{
	const struct compare_opts opts = {
		.match = args->match,
		.figure = args->figure,
		.format = args->csv	 ? COMPARE_CSV :
			  args->markdown ? COMPARE_MARKDOWN :
					   COMPARE_TEXT,
		.fail_on_slower = args->fail_on_slower_pct >= 0,
		.fail_on_slower_pct = args->fail_on_slower_pct,
		.assume_steady = args->assume_steady,
	};
	const char *paths[args->nr_words + 1];
	bool slower = false;
	char err[512];
	int ret;

	paths[0] = args->compare;
	memcpy(paths + 1, args->words, args->nr_words * sizeof(*paths));
	ret = compare_files(paths, args->nr_words + 1, &opts, stdout, &slower, err, sizeof(err));
	if (ret) {
		complain("%s", err);
		if (ret == -EINVAL)
			return BENCH_EXIT_USAGE;
		/* For git bisect run: neither good nor bad. */
		return opts.fail_on_slower ? BENCH_EXIT_UNJUDGED : BENCH_EXIT_FAILED;
	}
	return slower ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

/* ---- runs */

/* The runs of one benchmark. */
struct series {
	struct chosen *chosen;
	struct view view;
	struct sample *runs; /* what each of those done measured, as one sample */
	size_t nr_runs;
	double run_s; /* that the last one took, set-up and all; 0: not known */
};

/* All that a command runs. */
struct session {
	const struct args *args;
	char *const *argv;
	struct series *series;
	size_t nr_series;
	size_t current; /* that a run is being set up or done of */
	int record_fd; /* -1: no records */
	struct records done; /* by a former process, with --resume */
};

/*
 * What happened first of these decides about the exit code: a signal, a failure, what cannot run.
 */
static int worse_code(int a, int b)
{
	static const int order[] = { BENCH_EXIT_FAILED, BENCH_EXIT_UNAVAILABLE };
	size_t i;

	if (a > 128 || b > 128)
		return a > 128 ? a : b;
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a ? a : b;
}

static int append_record(const struct session *s, const struct series *series,
			 const struct bench_result *res, bool failed)
{
	json_t *record;
	int err;

	if (s->record_fd < 0)
		return 0;
	record = bench_record_make(&series->chosen->job, series->chosen->family, res, failed,
				   s->argv);
	err = record ? record_append(s->record_fd, record) : -ENOMEM;
	json_decref(record);
	if (err)
		complain("-o, --output: cannot write to '%s': %s", s->args->output, strerror(-err));
	return err;
}

/*
 * One run is one observation: here the deviation is that between runs. It is printed like any
 * other summary, so that scripts which read the last line get it.
 */
static int report_runs(const struct session *s)
{
	int code = BENCH_EXIT_OK;
	size_t i;

	message_about(NULL);
	for (i = 0; i < s->nr_series; i++)
		if (s->series[i].nr_runs && (s->args->runs > 1 || s->series[i].view.brief))
			code = worse_code(code, view_runs(&s->series[i].view, s->series[i].runs,
							  s->series[i].nr_runs));
	return code;
}

/* What is still to be told of those that did not run, and how to go on after a signal. */
static void report_end(const struct session *s, int sig)
{
	const struct args *args = s->args;

	usable_report(args);
	if (sig && args->all && s->record_fd >= 0 && strcmp(args->output, "-"))
		note("%s keeps what was measured; the same command with --resume goes on",
		     args->output);
}

static bool any_run(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->nr_series; i++)
		if (s->series[i].nr_runs)
			return true;
	return false;
}

static void end_in_setup(void *ctx, int sig)
{
	const struct session *s = ctx;
	const struct series *series = &s->series[s->current];

	progress_stop();
	warning("cut short by %s in the set-up of run %zu of %lld", signals_name(sig),
		series->nr_runs + 1, s->args->runs);
	report_runs(s);
	report_end(s, sig);
	check_stdout();
}

/* "round 2 of 8, rb-custom", and when all will be done: by what each benchmark took so far. */
static void set_progress(struct session *s, long long round)
{
	const struct series *current = &s->series[s->current];
	double sum = 0, known = 0, left = 0, usual;
	struct view *view = &s->series[s->current].view;
	size_t i;

	for (i = 0; i < s->nr_series; i++) {
		sum += s->series[i].run_s;
		known += s->series[i].run_s > 0;
	}
	usual = known ? sum / known : s->args->cfg.warmup_s + s->args->cfg.duration_s;
	for (i = 0; i < s->nr_series; i++)
		if (!s->series[i].chosen->skipped)
			left += (s->args->runs - s->series[i].nr_runs) *
				(s->series[i].run_s > 0 ? s->series[i].run_s : usual);
	view->end_ns = now_ns() + left * 1e9;
	snprintf(view->what, sizeof(view->what), "round %lld of %lld, %s", round + 1, s->args->runs,
		 current->chosen->job.bench->name);
}

/* Does one run and prints it. Returns an exit code. */
static int do_run(struct session *s, struct series *series)
{
	const uint64_t start_ns = now_ns();
	const struct bench_watch watch = view_watch(&series->view);
	const struct bench_job *job = &series->chosen->job;
	struct bench_err err = {};
	struct bench_result res;
	int code, ret;

	/* With runs to report, a signal must not just end the process. */
	if (any_run(s))
		signals_tell_and_exit(end_in_setup, s);
	else
		signals_end_process();
	view_begin(&series->view);
	ret = bench_run(job, &watch, &res, &err);
	view_end(&series->view);
	if (err.code == BENCH_EXIT_UNAVAILABLE && s->args->all && !series->chosen->outright) {
		usable_skip(series->chosen, &err);
		bench_result_free(&res);
		return BENCH_EXIT_OK;
	}
	/* A run that failed has no summary: its numbers cannot be trusted. */
	code = ret ? complain_err(job->bench, &err) : view_result(&series->view, &res);
	/* What never started has nothing to record. A signal is no excuse for a failed check. */
	if (code != BENCH_EXIT_UNAVAILABLE &&
	    append_record(s, series, &res, ret || (code && !res.signal)) && !code)
		code = BENCH_EXIT_FAILED;
	if (!code)
		series->runs[series->nr_runs++] = samples_merge(job->bench->report,
								res.samples + res.nr_warmup,
								res.nr_samples - res.nr_warmup);
	if (res.signal && !ret)
		code = 128 + res.signal;
	bench_result_free(&res);
	series->run_s = (now_ns() - start_ns) / 1e9;
	return code;
}

/* Round by round: each benchmark once, then each again, so that drift falls on all alike. */
static int do_rounds(struct session *s)
{
	int code = BENCH_EXIT_OK;
	long long round;

	for (round = 0; round < s->args->runs; round++) {
		for (s->current = 0; s->current < s->nr_series; s->current++) {
			struct series *series = &s->series[s->current];

			if (series->chosen->skipped || series->nr_runs > (size_t)round)
				continue;
			if (s->nr_series > 1)
				set_progress(s, round);
			code = worse_code(code, do_run(s, series));
			/* One that has failed would fail again. */
			series->chosen->skipped = series->nr_runs <= (size_t)round;
			if (code > 128)
				return code;
			if (signals_caught())
				return 128 + signals_caught();
		}
	}
	return code;
}

static int session_init(struct session *s, FILE *out)
{
	bool uses_bpf = false;
	size_t i;

	s->series = calloc(s->args->nr_chosen, sizeof(*s->series));
	if (!s->series)
		return -ENOMEM;
	for (i = 0; i < s->args->nr_chosen; i++) {
		struct chosen *c = &s->args->chosen[i];
		struct series *series = &s->series[i];

		series->chosen = c;
		/* Of all benchmarks, lines of each run would be thousands. */
		series->view = (struct view){ .out = out,
					      .job = &c->job,
					      .brief = s->args->all && !c->cfg.verbose,
					      .heading = !c->cfg.quiet };
		c->cfg.quiet = c->cfg.quiet || series->view.brief;
		series->runs = calloc(s->args->runs, sizeof(*series->runs));
		if (!series->runs)
			return -ENOMEM;
		s->nr_series++;
		uses_bpf = uses_bpf || (!c->skipped && !c->job.bench->no_bpf);
		if (!c->skipped)
			view_warn_of_threads(&c->cfg);
	}
	view_warn_of_machine(uses_bpf);
	return 0;
}

static void session_free(struct session *s)
{
	size_t i;

	for (i = 0; i < s->nr_series; i++)
		free(s->series[i].runs);
	free(s->series);
	records_free(&s->done);
}

/* --resume: takes what the file has as run. Returns an exit code. */
static int take_done_runs(struct session *s)
{
	int code = BENCH_EXIT_OK;
	bool failed;
	size_t i;

	for (i = 0; i < s->nr_series; i++) {
		struct series *series = &s->series[i];

		series->nr_runs = resume_runs(&s->done, series->chosen->job.bench, series->runs,
					      s->args->runs, &failed);
		if (!failed)
			continue;
		note("%s failed before: it is not run again", series->chosen->job.bench->name);
		series->chosen->skipped = true;
		code = BENCH_EXIT_FAILED;
	}
	return code;
}

/* Opens the file of records, and looks what it has. Returns an exit code. */
static int open_records(struct session *s, struct args *args, char *const *argv)
{
	struct bench_err err = {};

	s->record_fd = output_open(args->output, &err);
	if (s->record_fd < 0 ||
	    (args->resume && resume_read(args->output, s->record_fd, argv, &s->done, &err)))
		return complain_err(args->chosen[0].job.bench, &err);
	return BENCH_EXIT_OK;
}

/* Runs all that was asked for; returns an exit code. */
static int run(struct args *args, char *const *argv, FILE *out)
{
	struct session s = { .args = args, .argv = argv, .record_fd = -1 };
	size_t i;
	int code;

	for (i = 0; i < args->nr_chosen; i++)
		if (bench_print(&args->chosen[i].job, stdout))
			return BENCH_EXIT_OK;
	code = usable_check(args);
	if (!code && args->resume)
		code = open_records(&s, args, argv);
	if (code)
		return code;
	code = usable_probe(args);
	if (args->output && s.record_fd < 0 && code != BENCH_EXIT_FAILED) {
		int opened = open_records(&s, args, argv);

		if (opened)
			return opened;
	}
	if (session_init(&s, out)) {
		complain("cannot keep %lld runs: %s", args->runs, strerror(ENOMEM));
		code = worse_code(code, BENCH_EXIT_FAILED);
	} else {
		code = worse_code(code, take_done_runs(&s));
		code = worse_code(code, do_rounds(&s));
		code = worse_code(code, report_runs(&s));
		report_end(&s, code > 128 ? code - 128 : 0);
	}
	session_free(&s);
	if (s.record_fd >= 0 && close(s.record_fd)) {
		complain("-o, --output: cannot write to '%s': %s", args->output, strerror(errno));
		code = worse_code(code, BENCH_EXIT_FAILED);
	}
	return code;
}

/* ---- the process */

/*
 * Where standard input, output or error is closed, the next file that is opened would take its
 * place, and get what is meant for the user. In its place stands something that cannot be written
 * to.
 */
static void keep_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(BENCH_EXIT_FAILED);
}

static int do_command(struct args *args, char *const *argv)
{
	/* Records alone on standard output, where they were sent there. */
	const bool records_only = args->output && !strcmp(args->output, "-");

	if (args->help || args->usage)
		return (args->help ? help_print(args, stdout) : help_usage(stdout)) ?
			       BENCH_EXIT_FAILED :
			       BENCH_EXIT_OK;
	if (args->version) {
		printf("bench %s\n", BENCH_VERSION);
		return BENCH_EXIT_OK;
	}
	bpflog_start(args->cfg.verbose && !args->list);
	if (args->list)
		return list_benchs(args);
	if (args->show_env)
		return show_env();
	if (args->show_tables)
		return help_tables(stdout) ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
	if (args->compare)
		return compare(args);
	return run(args, argv, records_only ? stderr : stdout);
}

int main(int argc, char **argv)
{
	char why[512];
	struct args args;
	int code, err;

	keep_standard_fds();
	/* At ulimit -f there shall be a message that names the file, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	atexit(check_stdout);
	/* A pipe shall see each line when it is printed, not when a buffer is full. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (bench_families_check(args_core_opts, args_nr_core_opts, why, sizeof(why))) {
		complain("%s", why);
		return BENCH_EXIT_FAILED;
	}
	err = signals_start();
	if (err) {
		complain("cannot start a thread for signals: %s", strerror(-err));
		return BENCH_EXIT_FAILED;
	}
	code = args_parse(argc, argv, &args);
	if (!code)
		code = do_command(&args, argv);
	args_free(&args);
	return code;
}

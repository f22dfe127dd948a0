// SPDX-License-Identifier: GPL-2.0
/*
 * bench: arguments, what is printed, exit codes. The life of a run is in lib/run/run.c, what a
 * benchmark is in bench.h.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/run/run_record.h"
#include "lib/run/run.h"
#include "lib/bpf/bpflog.h"
#include "lib/compare/compare.h"
#include "lib/machine.h"
#include "lib/record.h"
#include "lib/run/sigwatch.h"
#include "lib/sysctl.h"
#include "lib/text.h"

#define STEAL_WARN_PCT 1.0

static struct bench_family *families;

/* Where what people read goes: standard output, or standard error while records take that. */
static FILE *human;

/* What only the core itself asks for; the rest of the core's options is in struct bench_config. */
static struct {
	struct bench_config cfg;
	bool list;
	bool show_env;
	long long runs;
	const char *output; /* file for records; "-": standard output; NULL: none */
	const char *bench_name; /* the one argument that is no option; with -C the second file */

	const char *compare; /* the first file */
	const char *match;
	bool markdown;
	bool csv;
	double fail_on_slower_pct; /* negative: not asked for */
} args;

/* ---- the core's options */

static int parse_cpuset(const char *arg, void *dest)
{
	struct cpuset set;
	int err;

	err = cpuset_parse(arg, &set);
	if (err)
		return err;
	cpuset_free(dest);
	*(struct cpuset *)dest = set;
	return 0;
}

static void reset_cpuset(void *dest)
{
	cpuset_free(dest);
}

static int format_cpuset(const void *dest, char *buf, size_t size)
{
	return cpuset_format(dest, buf, size);
}

static int parse_string(const char *arg, void *dest)
{
	if (!*arg)
		return -EINVAL;
	*(const char **)dest = arg;
	return 0;
}

static void reset_string(void *dest)
{
	*(const char **)dest = NULL;
}

static int format_string(const void *dest, char *buf, size_t size)
{
	const char *s = *(const char *const *)dest;

	snprintf(buf, size, "%s", s ? s : "");
	return 0;
}

/* A percentage may have a fraction: that is the one number here that need not be whole. */
static int parse_pct(const char *arg, void *dest)
{
	char *end;
	double v;

	if (arg[strspn(arg, "0123456789.")] || !*arg)
		return -EINVAL;
	v = strtod(arg, &end);
	if (*end || v > 100)
		return -EINVAL;
	*(double *)dest = v;
	return 0;
}

static int parse_precision(const char *arg, void *dest)
{
	double v;

	if (parse_pct(arg, &v) || v < 0.01 || v > 50)
		return -EINVAL;
	*(double *)dest = v;
	return 0;
}

static void reset_precision(void *dest)
{
	*(double *)dest = 0;
}

static void reset_slower(void *dest)
{
	*(double *)dest = -1;
}

static int format_pct(const void *dest, char *buf, size_t size)
{
	double v = *(const double *)dest;

	snprintf(buf, size, v > 0 ? "%g" : "off", v);
	return 0;
}

#define DAY_S (24 * 60 * 60)

static const struct opt core_opts[] = {
	{ .name = "list",
	  .key = 'l',
	  .type = OPT_FLAG,
	  .dest = &args.list,
	  .help = "List the benchmarks; with -v what each does and whether it runs here" },
	{ .name = "duration",
	  .key = 'd',
	  .arg = "SEC",
	  .type = OPT_NUM,
	  .dest = &args.cfg.duration_s,
	  .def = 5,
	  .min = 1,
	  .max = DAY_S,
	  .help = "Measured time, seconds" },
	{ .name = "warmup",
	  .key = 'w',
	  .arg = "SEC",
	  .type = OPT_NUM,
	  .dest = &args.cfg.warmup_s,
	  .def = 1,
	  .min = 0,
	  .max = DAY_S,
	  .help = "Time thrown away before, seconds" },
	{ .name = "producers",
	  .key = 'p',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &args.cfg.producers,
	  .def = 1,
	  .min = 1,
	  .max = BENCH_MAX_THREADS,
	  .help = "Producer threads" },
	{ .name = "consumers",
	  .key = 'c',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &args.cfg.consumers,
	  .def = -1,
	  .def_text = "what the benchmark needs",
	  .min = 0,
	  .max = BENCH_MAX_THREADS,
	  .help = "Consumer threads" },
	{ .name = "affinity",
	  .key = 'a',
	  .type = OPT_FLAG,
	  .dest = &args.cfg.affinity,
	  .help = "Pin the threads: consumers from the first CPU up, then producers" },
	{ .name = "prod-affinity",
	  .arg = "CPUSET",
	  .type = OPT_CUSTOM,
	  .dest = &args.cfg.prod_cpus,
	  .parse = parse_cpuset,
	  .reset = reset_cpuset,
	  .format = format_cpuset,
	  .allowed = "CPUs such as 1,2-10,15",
	  .help = "CPUs for the producers; implies -a" },
	{ .name = "cons-affinity",
	  .arg = "CPUSET",
	  .type = OPT_CUSTOM,
	  .dest = &args.cfg.cons_cpus,
	  .parse = parse_cpuset,
	  .reset = reset_cpuset,
	  .format = format_cpuset,
	  .allowed = "CPUs such as 1,2-10,15",
	  .help = "CPUs for the consumers; implies -a" },
	{ .name = "verbose",
	  .key = 'v',
	  .type = OPT_FLAG,
	  .dest = &args.cfg.verbose,
	  .help = "Show what libbpf does" },
	{ .name = "quiet",
	  .key = 'q',
	  .type = OPT_FLAG,
	  .dest = &args.cfg.quiet,
	  .help = "Only the summary" },
	{ .name = "interval",
	  .arg = "MS",
	  .type = OPT_NUM,
	  .dest = &args.cfg.interval_ms,
	  .def = 1000,
	  .min = 1,
	  .max = 1000LL * DAY_S,
	  .help = "Sampling interval, milliseconds" },
	{ .name = "runs",
	  .key = 'r',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &args.runs,
	  .def = 1,
	  .min = 1,
	  .max = 100000,
	  .help = "Whole runs, each with fresh maps, programs and threads; then a summary over them" },
	{ .name = "attach",
	  .arg = "KIND",
	  .type = OPT_CHOICE,
	  .dest = &args.cfg.attach,
	  .def = ATTACH_AUTO,
	  .choices = attach_kind_names,
	  .help = "How programs that hang on a system call are attached" },
	{ .name = "verify",
	  .type = OPT_FLAG,
	  .dest = &args.cfg.verify,
	  .help = "Check that the kernel's own run count equals what was counted; slows BPF down" },
	{ .name = "precision",
	  .arg = "PCT",
	  .type = OPT_CUSTOM,
	  .dest = &args.cfg.precision_pct,
	  .parse = parse_precision,
	  .reset = reset_precision,
	  .format = format_pct,
	  .allowed = "a percentage from 0.01 to 50",
	  .help = "Stop as soon as the 95 % interval of the mean is within so much of it; -d is then "
		  "the longest that it may take" },
	{ .name = "output",
	  .key = 'o',
	  .arg = "FILE",
	  .type = OPT_CUSTOM,
	  .dest = &args.output,
	  .parse = parse_string,
	  .reset = reset_string,
	  .format = format_string,
	  .allowed = "the name of a file, or - for standard output",
	  .help = "Append a record of each run, one JSON object a line" },
	{ .name = "compare",
	  .key = 'C',
	  .arg = "BASE",
	  .type = OPT_CUSTOM,
	  .dest = &args.compare,
	  .parse = parse_string,
	  .reset = reset_string,
	  .format = format_string,
	  .allowed = "the name of a file",
	  .help = "Compare two files of records: -C BASE NEW" },
	{ .name = "match",
	  .arg = "FIELDS",
	  .type = OPT_CUSTOM,
	  .dest = &args.match,
	  .parse = parse_string,
	  .reset = reset_string,
	  .format = format_string,
	  .allowed = "a comma list such as bench,params,config.producers",
	  .help = "With -C: what has to be the same for two runs to be compared" },
	{ .name = "markdown",
	  .type = OPT_FLAG,
	  .dest = &args.markdown,
	  .help = "With -C: the table as Markdown" },
	{ .name = "csv", .type = OPT_FLAG, .dest = &args.csv, .help = "With -C: the table as CSV" },
	{ .name = "fail-on-slower",
	  .arg = "PCT",
	  .type = OPT_CUSTOM,
	  .dest = &args.fail_on_slower_pct,
	  .parse = parse_pct,
	  .reset = reset_slower,
	  .format = format_pct,
	  .allowed = "a percentage from 0 to 100",
	  .help = "With -C: exit with 1 where something got slower by more than that, with p < 0.05" },
	{ .name = "show-env",
	  .type = OPT_FLAG,
	  .dest = &args.show_env,
	  .help = "Print what is known about this machine, and exit" },
};

/* ---- messages */

/*
 * Standard output is for scripts; all else goes to standard error, each line with our name. What it
 * repeats, an argument or a file's words, may hold a line's end, or make a terminal do anything.
 */
static void say(const char *kind, const char *fmt, va_list va)
{
	char *text;

	if (vasprintf(&text, fmt, va) < 0)
		text = NULL;
	else
		text_make_harmless(text);
	fflush(stdout); /* so that the lines come in order where both go to one terminal */
	fprintf(stderr, "bench: %s%s\n", kind, text ? text : fmt);
	free(text);
}

static void __attribute__((format(printf, 1, 2))) complain(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	say("", fmt, va);
	va_end(va);
}

static void __attribute__((format(printf, 1, 2))) warning(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	say("warning: ", fmt, va);
	va_end(va);
}

/* For what does not put the numbers in doubt; not with -q. */
static void __attribute__((format(printf, 1, 2))) note(const char *fmt, ...)
{
	va_list va;

	if (args.cfg.quiet)
		return;
	va_start(va, fmt);
	say("note: ", fmt, va);
	va_end(va);
}

/* The exit code that goes with an error whose words have now been printed. */
static int complain_err(const char *bench, const struct bench_err *err)
{
	char detail[sizeof(err->detail)], *line, *save;

	if (err->code == BENCH_EXIT_UNAVAILABLE)
		complain("%s: unavailable: %s", bench, err->text);
	else if (err->code == BENCH_EXIT_USAGE)
		complain("%s", err->text);
	else
		complain("%s: failed: %s", bench, err->text);
	memcpy(detail, err->detail, sizeof(detail));
	for (line = strtok_r(detail, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		fprintf(stderr, "  | %s\n", line);
	return err->code;
}

/* ---- families and benchmarks */

void bench_register_family(struct bench_family *family)
{
	struct bench_family **p = &families;

	/* In alphabetical order, whatever order the linker had them in. */
	while (*p && strcmp((*p)->title, family->title) < 0)
		p = &(*p)->next;
	family->next = *p;
	*p = family;
}

static bool answers_to(const struct bench *bench, const char *name)
{
	size_t i;

	if (!strcmp(bench->name, name))
		return true;
	for (i = 0; bench->aliases && bench->aliases[i]; i++)
		if (!strcmp(bench->aliases[i], name))
			return true;
	return false;
}

static const struct bench *find_bench(const char *name, const struct bench_family **family)
{
	const struct bench_family *f;
	size_t i;

	for (f = families; f; f = f->next) {
		for (i = 0; i < f->nr_benchs; i++) {
			if (answers_to(f->benchs[i], name)) {
				*family = f;
				return f->benchs[i];
			}
		}
	}
	return NULL;
}

static int probe_bench(const struct bench *bench, struct bench_err *err)
{
	int ret;

	if (!bench->probe)
		return 0;
	ret = bench_check_descriptors(err);
	return ret ? ret : bench->probe(&args.cfg, err);
}

static void list_bench(const struct bench *bench)
{
	struct bench_err err = {};

	printf("- %s\n", bench->name);
	if (!args.cfg.verbose)
		return;
	printf("    %s\n", bench->desc);
	if (probe_bench(bench, &err))
		printf("    unavailable: %s\n", err.text);
	else
		printf("    available\n");
}

static int list_benchs(void)
{
	const struct bench_family *f;
	size_t i;

	printf("Available benchmarks:\n");
	for (f = families; f; f = f->next)
		for (i = 0; i < f->nr_benchs; i++)
			list_bench(f->benchs[i]);
	return 0;
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
	return 0;
}

static int compare(void)
{
	const struct compare_opts opts = {
		.match = args.match,
		.format = args.csv	? COMPARE_CSV :
			  args.markdown ? COMPARE_MARKDOWN :
					  COMPARE_TEXT,
		.fail_on_slower = args.fail_on_slower_pct >= 0,
		.fail_on_slower_pct = args.fail_on_slower_pct,
	};
	const char *const paths[] = { args.compare, args.bench_name };
	bool slower = false;
	char err[512];
	int ret;

	ret = compare_files(paths, ARRAY_SIZE(paths), &opts, stdout, &slower, err, sizeof(err));
	if (ret) {
		complain("%s", err);
		return ret == -EINVAL ? BENCH_EXIT_USAGE : BENCH_EXIT_FAILED;
	}
	return slower ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

/* ---- command line */

static char argp_program_name[] = "bench";

static const char argp_doc[] =
	"Measures what BPF costs: ring buffers, maps, helpers, ways to attach.\v"
	"EXAMPLES\n"
	"  # what is there, and what this kernel can run\n"
	"  bench -l -v\n"
	"  # ring buffer, threads pinned, 3 s of warm-up, 10 s measured\n"
	"  sudo bench -a -w3 -d10 rb-custom\n"
	"  # the same with four producers that compete\n"
	"  sudo bench -a -w3 -d10 -p4 rb-custom\n"
	"  # ten runs on each of two kernels, and what came of it\n"
	"  sudo bench -a -r10 -o base.jsonl rb-custom\n"
	"  sudo bench -a -r10 -o new.jsonl rb-custom\n"
	"  bench -C base.jsonl new.jsonl\n"
	"\n"
	"EXIT CODES\n"
	"  0 done, 1 failed, 4 this kernel or user cannot run it, 64 usage, 130/143 interrupted\n";

#define KEY_USAGE 0x100

/* As argp has them, less its hidden ones: --HANG, for which --H will do, sleeps for an hour. */
static const struct argp_option info_opts[] = {
	{ "help", '?', NULL, 0, "Give this help list", -1 },
	{ "usage", KEY_USAGE, NULL, 0, "Give a short usage message", 0 },
	{ "version", 'V', NULL, 0, "Print program version", -1 },
	{},
};

/* The core's own table and one for each family, in the order of the children of argp. */
struct parser {
	struct opttab *tabs; /* [0]: the core's */
	size_t nr_tabs;
	char err[512];
};

static error_t parse_other(int key, char *arg, struct argp_state *state)
{
	struct parser *parser = state->input;
	size_t i;

	switch (key) {
	case ARGP_KEY_INIT:
		/* One line says enough, and getopt writes it: argp shall add none. */
		state->err_stream = NULL;
		for (i = 0; i < parser->nr_tabs; i++)
			state->child_inputs[i] = &parser->tabs[i];
		return 0;
	case ARGP_KEY_ARG:
		if (args.bench_name) {
			snprintf(parser->err, sizeof(parser->err),
				 "one name at a time: '%s' comes after '%s'", arg, args.bench_name);
			return EINVAL;
		}
		args.bench_name = arg;
		return 0;
	case '?':
		argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_USAGE:
		argp_state_help(state, state->out_stream, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		fprintf(state->out_stream, "bench %s\n", BENCH_VERSION);
		if (!(state->flags & ARGP_NO_EXIT))
			exit(BENCH_EXIT_OK);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/*
 * Options of another family than the benchmark's are accepted, as the kernel's runner does, since
 * its scripts pass one set of options to all; but the user shall know.
 */
static void note_foreign_options(const struct parser *parser, const struct bench_family *family)
{
	const struct bench_family *f;
	size_t t = 1, i;

	for (f = families; f; f = f->next, t++)
		for (i = 0; f != family && i < f->nr_opts; i++)
			if (parser->tabs[t].given[i])
				note("--%s means nothing to %s", f->opts[i].name, args.bench_name);
}

/* Fills args; returns an exit code, or -1 where the run may go on. */
static int parse_args(int argc, char **argv, const struct bench **bench,
		      const struct bench_family **family)
{
	const struct bench_family *f;
	struct parser parser = { .nr_tabs = 1 };
	struct argp_child *children;
	struct argp argp = {
		.options = info_opts,
		.parser = parse_other,
		.args_doc = "BENCHMARK",
		.doc = argp_doc,
	};
	int ret = -1, err;
	size_t t;

	for (f = families; f; f = f->next)
		parser.nr_tabs++;
	parser.tabs = calloc(parser.nr_tabs, sizeof(*parser.tabs));
	children = calloc(parser.nr_tabs + 1, sizeof(*children));
	err = parser.tabs && children ? 0 : -ENOMEM;
	if (!err)
		err = opttab_init(&parser.tabs[0], NULL, core_opts, ARRAY_SIZE(core_opts),
				  parser.err, sizeof(parser.err));
	for (f = families, t = 1; !err && f; f = f->next, t++)
		err = opttab_init(&parser.tabs[t], f->title, f->opts, f->nr_opts, parser.err,
				  sizeof(parser.err));
	for (t = 0; !err && t < parser.nr_tabs; t++) {
		children[t].argp = &parser.tabs[t].argp;
		children[t].header = parser.tabs[t].cnt ? parser.tabs[t].title : NULL;
		children[t].group = t;
	}
	if (err) {
		complain("cannot read the arguments: %s", strerror(-err));
		ret = BENCH_EXIT_FAILED;
		goto out;
	}
	argp.children = children;
	argp_err_exit_status = BENCH_EXIT_USAGE;
	argv[0] = argp_program_name; /* how getopt calls us in its message */
	err = argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, &parser);
	if (err) {
		/* At an option that there is not, getopt has said so. */
		if (parser.err[0])
			complain("%s", parser.err);
		ret = BENCH_EXIT_USAGE;
		goto out;
	}
	if (args.list || args.show_env)
		goto out;
	if (args.compare && !args.bench_name) {
		complain("-C, --compare: takes two files, -C BASE NEW");
		ret = BENCH_EXIT_USAGE;
	} else if (args.compare && args.markdown && args.csv) {
		complain("--csv: contradicts --markdown");
		ret = BENCH_EXIT_USAGE;
	}
	if (args.compare)
		goto out;
	if (!args.bench_name) {
		complain("no benchmark named: 'bench -l' lists them, 'bench --help' explains");
		ret = BENCH_EXIT_USAGE;
		goto out;
	}
	*bench = find_bench(args.bench_name, family);
	if (!*bench) {
		complain("there is no benchmark '%s': 'bench -l' lists them", args.bench_name);
		ret = BENCH_EXIT_USAGE;
		goto out;
	}
	note_foreign_options(&parser, *family);
out:
	for (t = 0; parser.tabs && t < parser.nr_tabs; t++)
		opttab_free(&parser.tabs[t]);
	free(parser.tabs);
	free(children);
	return ret;
}

/* ---- checks that need more than one argument, or the machine */

static int check_cpus(const char *opt, const struct cpuset *asked, struct bench_err *err)
{
	struct cpuset online = {}, allowed = {};
	char have[256] = "";
	int cpu, ret = 0;

	if (!asked->cnt)
		return 0;
	if (cpuset_online(&online) || cpuset_allowed(&allowed)) {
		ret = bench_failed(err, 0, "cannot tell which CPUs there are");
		goto out;
	}
	cpu = cpuset_first_missing(asked, &online);
	if (cpu >= 0) {
		cpuset_format(&online, have, sizeof(have));
		ret = bench_refused(err, "--%s: CPU %d is not online; online are %s", opt, cpu,
				    have);
		goto out;
	}
	cpu = cpuset_first_missing(asked, &allowed);
	if (cpu >= 0) {
		cpuset_format(&allowed, have, sizeof(have));
		ret = bench_refused(err,
				    "--%s: CPU %d may not be used by this process; it may use %s",
				    opt, cpu, have);
	}
out:
	cpuset_free(&online);
	cpuset_free(&allowed);
	return ret;
}

static int check_consumers(const struct bench *bench, struct bench_config *cfg,
			   struct bench_err *err)
{
	int need = bench->consumers ? bench->consumers() : 0;

	if (!need && cfg->consumers > 1 && !bench->any_consumers)
		return bench_refused(err,
				     "-c, --consumers: '%lld' is not allowed: %s has no "
				     "consumer, it takes 0 or 1",
				     cfg->consumers, bench->name);
	if (!need && cfg->consumers > 1)
		note("%s has no consumers: -c %lld means nothing to it", bench->name,
		     cfg->consumers);
	if (need && cfg->consumers >= 0 && cfg->consumers != need)
		return bench_refused(err, "-c, --consumers: '%lld' is not allowed: %s takes %d",
				     cfg->consumers, bench->name, need);
	cfg->consumers = need;
	return 0;
}

static int check_config(const struct bench *bench, struct bench_config *cfg, struct bench_err *err)
{
	int ret;

	if (cfg->interval_ms > cfg->duration_s * 1000)
		return bench_refused(err,
				     "--interval: '%lld' is not allowed: longer than the measured "
				     "time, %lld s",
				     cfg->interval_ms, cfg->duration_s);
	if (cfg->prod_cpus.cnt || cfg->cons_cpus.cnt)
		cfg->affinity = true;
	ret = check_cpus("prod-affinity", &cfg->prod_cpus, err);
	if (!ret)
		ret = check_cpus("cons-affinity", &cfg->cons_cpus, err);
	if (!ret)
		ret = check_consumers(bench, cfg, err);
	if (!ret && bench->check)
		ret = bench->check(cfg, err);
	return ret;
}

/* ---- one run, as the user sees it */

/* What the watcher of a run needs to know. */
struct view {
	const struct bench *bench;
	uint64_t start_ns; /* of the set-up */
	uint64_t shown_ns; /* when progress was last shown; 0: never */
	struct sigwatch *setup; /* watches until the threads start */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#define CLEAR_LINE "\r\033[K"

/* For a person who waits and might think that it hangs; a script or a log never sees it. */
static void on_progress(void *ctx, const char *what, double fraction)
{
	struct view *view = ctx;
	uint64_t now = now_ns();

	if (args.cfg.quiet || now - view->start_ns < 1000000000ULL ||
	    now - view->shown_ns < 100000000ULL || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, CLEAR_LINE "%s: %3.0f %%", what, 100 * fraction);
	view->shown_ns = now;
}

static void clear_progress(struct view *view)
{
	if (view->shown_ns)
		fputs(CLEAR_LINE, stderr);
	view->shown_ns = 0;
}

static volatile sig_atomic_t late_signal;

static void on_late_signal(int sig)
{
	late_signal = sig;
}

/*
 * Once a run has measured something, that is told whole, summary and record, and a signal meanwhile
 * (one in the run is taken there) ends the series after it. A second one ends the process.
 */
static void expect_late_signals(void)
{
	const struct sigaction late = {
		.sa_handler = on_late_signal,
		.sa_flags = SA_RESTART | SA_RESETHAND,
	};

	sigaction(SIGINT, &late, NULL);
	sigaction(SIGTERM, &late, NULL);
}

static void on_started(void *ctx, const struct bench_run *run)
{
	struct view *view = ctx;

	sigwatch_stop(view->setup);
	expect_late_signals();
	clear_progress(view);
	if (run->trigger_note[0])
		note("triggered by %s (%s)", run->trigger, run->trigger_note);

	if (run->attach_note[0] && run->cfg->attach == ATTACH_AUTO)
		note("attached by %s (%s)", attach_kind_names[run->attach], run->attach_note);
	if (!args.cfg.quiet)
		fprintf(human, "Benchmark '%s' started.\n", view->bench->name);
}

/*
 * Whoever reads what we print may leave it in the pipe until that is full. Then a run waits, but not
 * past a signal: that is blocked, and would not interrupt a write.
 */
static bool may_print(void)
{
	struct pollfd fd = { .fd = fileno(human), .events = POLLOUT };

	while (!poll(&fd, 1, 100))
		if (sigwatch_pending())
			return false;
	return true;
}

static void on_sampled(void *ctx, int iter, const struct sample *s)
{
	const struct bench *bench = ((struct view *)ctx)->bench;

	if (!args.cfg.quiet && may_print())
		bench->report->progress(human, iter, args.cfg.interval_ms * 1000000ULL, s,
					args.cfg.producers);
}

/* CPUs that the threads of the run have to share. */
static int usable_cpus(const struct bench_config *cfg)
{
	struct cpuset allowed = {}, used = {};
	int nr = 0, role, i, k, cpu;

	if (cpuset_allowed(&allowed))
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

/* For programs of all users, root's too; where only root may read it, nobody else is told. */
static bool jit_is_hardened(void)
{
	return sysctl_read("net/core/bpf_jit_harden", 0) == 2;
}

static void warn_before(const struct bench *bench, const struct bench_config *cfg)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	long long threads = cfg->producers + cfg->consumers;
	const char *governor;
	size_t nr;
	int cpus;

	cpus = usable_cpus(cfg);
	if (cpus && threads > cpus)
		warning("%lld threads share %d CPU%s: they wait for each other", threads, cpus,
			cpus == 1 ? "" : "s");
	nr = machine_facts(facts, MACHINE_NR_FACTS);
	/* What has nothing to probe for takes no BPF. */
	if (bench->probe && bench_jit_is_off())
		warning("the BPF JIT is off: programs are interpreted; sysctl net.core.bpf_jit_enable=1");
	else if (bench->probe && jit_is_hardened())
		warning("the BPF JIT blinds constants, which makes programs slower: sysctl net.core.bpf_jit_harden=1 or 0");
	governor = machine_fact_value(facts, nr, "governor");
	if (governor && strcmp(governor, "unknown") && strcmp(governor, "performance"))
		warning("CPU frequency governor is '%s', not 'performance'", governor);
}

static void warn_after(const struct bench_config *cfg, const struct bench_result *res)
{
	if (res->have_noise && res->noise.steal_pct > STEAL_WARN_PCT)
		warning("the hypervisor took away %.1f %% of the CPU time (steal)",
			res->noise.steal_pct);
	if (res->strayed_tid)
		warning("a thread pinned to CPU %d ran elsewhere (was the CPU taken offline?)",
			res->strayed_cpu);
	if (cfg->verify && res->conservation.prog_fd > 0)
		note("verified: the kernel counts %" PRIu64 " runs too",
		     res->conservation.kernel_runs);
	else if (cfg->verify)
		note("--verify: there is no run count to hold this benchmark against");
	if (cfg->precision_pct > 0 && !res->signal && !res->precise)
		warning("±%g %% was not reached in %lld s: %s%.2g%s", cfg->precision_pct,
			cfg->duration_s, isnan(res->ci_pct) ? "too few samples to tell (" : "±",
			isnan(res->ci_pct) ? (double)(res->nr_samples - res->nr_warmup) :
					     res->ci_pct,
			isnan(res->ci_pct) ? "), try --interval 100" : " % was");
	if (res->nr_samples == res->nr_warmup + 1)
		note("one sample only: it has no deviation");
}

static int print_summary(const struct bench *bench, const struct bench_config *cfg,
			 const struct sample *samples, size_t n)
{
	struct report_summary sum;
	int err;

	err = bench->report->sum_up(samples, n, cfg->producers, &sum);
	if (!err) {
		fflush(stderr); /* the summary comes last where both go to one place */
		bench->report->summary(human, &sum, cfg->producers);
	} else if (err == -ENODATA) {
		complain("%s: failed: nothing happened in the measured time", bench->name);
	} else {
		complain("%s: failed: cannot make the summary: %s", bench->name, strerror(-err));
	}
	return err;
}

static int report_result(const struct bench *bench, const struct bench_config *cfg,
			 const struct bench_result *res)
{
	size_t n = res->nr_samples - res->nr_warmup, i;
	double seconds = 0;

	for (i = res->nr_warmup; i < res->nr_samples; i++)
		seconds += res->samples[i].dt_ns / 1e9;
	if (res->signal)
		warning("cut short by %s after %.1f of %lld measured seconds",
			sigwatch_name(res->signal), seconds, cfg->duration_s);
	warn_after(cfg, res);
	if (!n) {
		complain("no full sample: nothing was measured");
		return -ENODATA;
	}
	return print_summary(bench, cfg, res->samples + res->nr_warmup, n);
}

/* All that was measured in a run, as one sample: for the summary over several runs. */
static struct sample whole_run(const struct bench_result *res)
{
	struct sample all = {};
	size_t i;

	for (i = res->nr_warmup; i < res->nr_samples; i++) {
		all.dt_ns += res->samples[i].dt_ns;
		all.res.hits += res->samples[i].res.hits;
		all.res.drops += res->samples[i].res.drops;
		all.res.false_hits += res->samples[i].res.false_hits;
	}
	return all;
}

/* A full disk shall not look like success. Also where argp exits, after --help. */
static void check_stdout(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write to standard output: %s", strerror(errno));
		_exit(BENCH_EXIT_FAILED);
	}
}

/* All runs of one command. */
struct series {
	const struct bench *bench;
	const struct bench_family *family;
	const struct bench_config *cfg;
	char **argv;
	int record_fd; /* -1: no records */
	struct sample *runs; /* what each of those done measured */
	long long nr_runs;
	struct sigwatch setup;
	sigset_t old_mask;
};

/*
 * A FIFO is opened for writing alone. With an end to read from of our own, records would go nowhere
 * without a word once the reader has gone, and we would wait for ever when the pipe is full.
 */
static int open_fifo(const char *path)
{
	int fd;

	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		fcntl(fd, F_SETFL, 0); /* but writes shall wait */
	} else if (errno == ENXIO) {
		warning("-o, --output: nobody reads from '%s' yet, waiting for a reader", path);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	return fd;
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

/* A file that cannot be written is found out before anything is measured. */
static int open_records(const char *path, struct bench_err *err)
{
	int fd;

	if (!strcmp(path, "-"))
		fd = dup(STDOUT_FILENO);
	else if (is_fifo(path))
		fd = open_fifo(path);
	else
		/* For reading too: record_append() looks whether the last line was ended. */
		fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	return fd < 0 ? bench_failed(err, errno, "-o, --output: cannot open '%s'", path) : fd;
}

static int append_record(const struct series *series, const struct bench_result *res, bool failed)
{
	json_t *record;
	int err;

	if (series->record_fd < 0)
		return 0;
	record = bench_record_make(series->bench, series->family, series->cfg, res, failed,
				   series->argv);
	err = record ? record_append(series->record_fd, record) : -ENOMEM;
	json_decref(record);
	if (err)
		complain("-o, --output: cannot write to '%s': %s", args.output, strerror(-err));
	return err;
}

/*
 * One run is one observation: here the deviation is that between runs. It is printed like any
 * other summary, so that scripts which read the last line get it.
 */
static int report_runs(const struct series *series)
{
	if (args.runs == 1 || !series->nr_runs)
		return 0;
	if (!series->cfg->quiet)
		fprintf(human, "Over %lld run%s of '%s':\n", series->nr_runs,
			series->nr_runs == 1 ? "" : "s", series->bench->name);
	return print_summary(series->bench, series->cfg, series->runs, series->nr_runs);
}

/* In a thread of its own: what holds up the main one, a program that loads, cannot be ended. */
static void end_in_setup(void *ctx, int sig)
{
	const struct series *series = ctx;

	warning("cut short by %s in the set-up of run %lld of %lld", sigwatch_name(sig),
		series->nr_runs + 1, args.runs);
	report_runs(series);
	check_stdout();
	_exit(128 + sig);
}

/*
 * A signal in the set-up of the first run just ends the process: nothing is lost, since all that it
 * holds of the kernel is held by descriptor. Later there is something to tell before.
 */
static void watch_setup(struct series *series)
{
	sigset_t set;

	if (series->nr_runs)
		sigwatch_signals(&set);
	else
		sigemptyset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &series->old_mask);
	if (!series->nr_runs)
		return;
	if (late_signal)
		raise(late_signal);
	/* Without it the signal is taken when the threads start. */
	sigwatch_start(&series->setup, end_in_setup, series);
}

/* Does one run and prints it. Fills @whole with what it measured; returns an exit code. */
static int do_run(struct series *series, struct sample *whole)
{
	const struct bench_config *cfg = series->cfg;
	const struct bench *bench = series->bench;
	struct view view = { .bench = bench, .start_ns = now_ns(), .setup = &series->setup };
	const struct bench_watch watch = {
		.ctx = &view,
		.progress = on_progress,
		.started = on_started,
		.sampled = on_sampled,
	};
	struct bench_err err = {};
	struct bench_result res;
	int code = BENCH_EXIT_OK, ret;

	if (!cfg->quiet)
		fprintf(human, "Setting up benchmark '%s'...\n", bench->name);
	watch_setup(series);
	ret = bench_run(bench, cfg, &watch, &res, &err);
	sigwatch_stop(&series->setup);
	pthread_sigmask(SIG_SETMASK, &series->old_mask, NULL);
	clear_progress(&view);
	if (ret)
		code = complain_err(bench->name, &err);
	/* A run that failed has no summary: its numbers cannot be trusted. */
	else if (report_result(bench, cfg, &res))
		code = BENCH_EXIT_FAILED;
	/* What never started has nothing to tell. */
	if (code != BENCH_EXIT_UNAVAILABLE && append_record(series, &res, code && !res.signal) &&
	    !code)
		code = BENCH_EXIT_FAILED;
	*whole = whole_run(&res);
	if (res.signal && (!code || res.nr_samples == res.nr_warmup))
		code = 128 + res.signal;
	bench_result_free(&res);
	return code;
}

/* Does all runs that were asked for; returns an exit code. */
static int do_runs(struct series *series)
{
	const struct bench_config *cfg = series->cfg;
	const struct bench *bench = series->bench;
	struct bench_err err = {};
	int code = BENCH_EXIT_OK;

	if (probe_bench(bench, &err))
		return complain_err(bench->name, &err);
	if (args.output) {
		series->record_fd = open_records(args.output, &err);
		if (series->record_fd < 0)
			return complain_err(bench->name, &err);
	}
	series->runs = calloc(args.runs, sizeof(*series->runs));
	if (!series->runs) {
		complain("cannot keep %lld runs: %s", args.runs, strerror(ENOMEM));
		return BENCH_EXIT_FAILED;
	}
	warn_before(bench, cfg);
	while (series->nr_runs < args.runs) {
		code = do_run(series, &series->runs[series->nr_runs]);
		if (code)
			break;
		series->nr_runs++;
		if (late_signal) {
			code = 128 + late_signal;
			break;
		}
	}
	if (report_runs(series) && !code)
		code = BENCH_EXIT_FAILED;
	free(series->runs);
	if (series->record_fd >= 0 && close(series->record_fd) && !code) {
		complain("-o, --output: cannot write to '%s': %s", args.output, strerror(errno));
		code = BENCH_EXIT_FAILED;
	}
	return code;
}

/*
 * Where standard input, output or error is closed, the next file that is opened would take its place,
 * and get what is meant for a person. In its place stands something that cannot be written to.
 */
static void keep_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(BENCH_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	struct series series = { .cfg = &args.cfg, .argv = argv, .record_fd = -1 };
	struct bench_err err = {};
	int code;

	keep_standard_fds();
	/* A shell without job control has them ignored in the background; a set-up may last. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* At ulimit -f there shall be a message that names the file, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
	atexit(check_stdout);
	/* A pipe shall see each line when it is printed, not when a buffer is full. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	human = stdout;
	/* argp sorts argv: options first. What is recorded is what was typed. */
	series.argv = malloc((argc + 1) * sizeof(*series.argv));
	if (series.argv)
		memcpy(series.argv, argv, (argc + 1) * sizeof(*series.argv));
	code = parse_args(argc, argv, &series.bench, &series.family);
	if (code < 0) {
		/* Records alone on standard output, where they were sent there. */
		if (args.output && !strcmp(args.output, "-"))
			human = stderr;
		bpflog_start(args.cfg.verbose && !args.list);
		if (args.list)
			code = list_benchs();
		else if (args.show_env)
			code = show_env();
		else if (args.compare)
			code = compare();
		else if (check_config(series.bench, &args.cfg, &err))
			code = complain_err(series.bench->name, &err);
		else
			code = do_runs(&series);
	}
	cpuset_free(&args.cfg.prod_cpus);
	cpuset_free(&args.cfg.cons_cpus);
	free(series.argv);
	return code;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The command line: any arguments, up to where the program would begin to work. Nothing is loaded,
 * started or written: what comes after the checks is not called. An input is the arguments, each
 * with a NUL byte behind it.
 */
#include <argp.h>

#include "tests/fuzz/fuzz.h"

/* --help, --usage and --version end the program, but must not end the fuzzer. */
static error_t parse_without_exit(const struct argp *argp, int argc, char **argv,
				  unsigned int flags, int *index, void *input)
{
	return argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT, index, input);
}

#define argp_parse parse_without_exit
#define main	   bench_main
int bench_main(int argc, char **argv);

#include "bench.c"

#undef main

#define MAX_ARGS 256

struct arguments {
	char *argv[MAX_ARGS + 2]; /* [0]: the program's name */
	int argc;
};

static void arguments_add(struct arguments *a, const void *data, size_t size)
{
	char *copy;

	if (a->argc == MAX_ARGS)
		return;
	/* Each in a block of its own, so that reading behind its end is noticed. */
	copy = strndup(data, size);
	fuzz_check(copy, "no memory");
	a->argv[a->argc++] = copy;
	a->argv[a->argc] = NULL;
}

static void arguments_split(struct arguments *a, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *nul;

	a->argc = 0;
	arguments_add(a, "bench", 5);
	for (; data < end; data = nul + 1) {
		nul = memchr(data, '\0', end - data);
		nul = nul ? nul : end;
		arguments_add(a, data, nul - data);
	}
}

/* ---- standard output and standard error of one call */

struct capture {
	FILE **stream, *real;
	char *text;
	size_t size;
};

static void capture_start(struct capture *c, FILE **stream)
{
	c->stream = stream;
	c->real = *stream;
	*stream = open_memstream(&c->text, &c->size);
	fuzz_check(*stream, "no memory");
}

static void capture_stop(struct capture *c)
{
	fuzz_check(!fclose(*c->stream), "no memory");
	*c->stream = c->real;
}

/* ---- what has to be */

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/* getopt's own messages repeat an option that there is not as it was typed. */
static bool is_from_getopt(const char *line)
{
	return starts_with(line, "bench: unrecognized option ") ||
	       starts_with(line, "bench: invalid option ") || starts_with(line, "bench: option ");
}

/* One line says what is wrong; notes may stand beside it. Nothing is said where nothing is wrong. */
static void check_messages(int code, char *text)
{
	char *rest = text, *line;
	size_t lines = 0;

	if (is_from_getopt(text)) {
		fuzz_check(code == BENCH_EXIT_USAGE, "exit code %d after: %s", code, text);
		return;
	}
	fuzz_check_text("message", text, 0);
	while ((line = strsep(&rest, "\n")) && rest) {
		fuzz_check(starts_with(line, "bench: "), "no message of ours: %s", line);
		lines += !starts_with(line, "bench: note: ");
	}
	fuzz_check(!*line, "a line without its end: %s", line);
	fuzz_check(lines == (code > 0), "%zu lines for exit code %d", lines, code);
}

/* What stands in a record can be typed, and means the same. Overwrites the value. */
static void check_format(const struct opt *opt)
{
	char text[256], again[256], def[256];

	fuzz_check(!opt_format(opt, text, sizeof(text)), "--%s cannot be shown", opt->name);
	if (opt->type == OPT_NUM && opt->parse)
		fuzz_check(!opt->parse(text, opt->dest), "--%s is '%s'", opt->name, text);
	if (opt->type != OPT_CUSTOM)
		return;
	opt->reset(opt->dest);
	fuzz_check(!opt_format(opt, def, sizeof(def)), "--%s has no default", opt->name);
	if (!strcmp(text, def)) /* which may be a word that is not an argument */
		return;
	fuzz_check(!opt->parse(text, opt->dest), "--%s is '%s', which it refuses", opt->name, text);
	fuzz_check(!opt_format(opt, again, sizeof(again)) && !strcmp(text, again),
		   "--%s: '%s' became '%s'", opt->name, text, again);
}

static void check_value(const struct opt *opt)
{
	long long v;
	int i, nr;

	if (opt->type == OPT_NUM) {
		v = *(long long *)opt->dest;
		fuzz_check(v == opt->def || (v >= opt->min && v <= opt->max), "--%s is %lld",
			   opt->name, v);
	} else if (opt->type == OPT_CHOICE) {
		for (nr = 0; opt->choices[nr];)
			nr++;
		i = *(int *)opt->dest;
		fuzz_check(i >= 0 && i < nr, "--%s is number %d of %d", opt->name, i, nr);
	}
}

static void check_values(void)
{
	const struct bench_family *f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(core_opts); i++)
		check_value(&core_opts[i]);
	for (f = families; f; f = f->next) {
		for (i = 0; i < f->nr_opts; i++) {
			check_value(&f->opts[i]);
			check_format(&f->opts[i]);
		}
	}
}

/* As main() does it, up to where it would act: an exit code, or -1. */
static int parse_and_check(int argc, char **argv)
{
	const struct bench_family *family = NULL;
	const struct bench *bench = NULL;
	struct bench_err err = {};
	int code;

	code = parse_args(argc, argv, &bench, &family);
	if (code >= 0 || !bench)
		return code;
	fuzz_check(family, "a benchmark without a family");
	if (check_config(bench, &args.cfg, &err))
		return complain_err(bench->name, &err);
	fuzz_check(args.cfg.consumers >= 0, "%s has %lld consumers", bench->name,
		   args.cfg.consumers);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct capture out, err;
	struct arguments a;
	char *typed[MAX_ARGS + 1];
	int code, i;

	arguments_split(&a, data, size);
	/* argp sorts them, and the name is replaced. */
	memcpy(typed, a.argv, sizeof(typed));
	capture_start(&out, &stdout);
	capture_start(&err, &stderr);
	code = parse_and_check(a.argc, a.argv);
	capture_stop(&out);
	capture_stop(&err);
	/* The program would have ended with success, when it printed its help or its version. */
	if (!*out.text) {
		fuzz_check(code != BENCH_EXIT_OK, "exit code 0 for nothing");
		check_messages(code, err.text);
		if (code < 0)
			check_values();
	}
	free(out.text);
	free(err.text);
	cpuset_free(&args.cfg.prod_cpus);
	cpuset_free(&args.cfg.cons_cpus);
	memset(&args, 0, sizeof(args));
	for (i = 0; i < a.argc; i++)
		free(typed[i]);
	return 0;
}

/* ---- mutations: arguments that the program has heard of */

static const struct opt *random_opt(struct fuzz_random *r)
{
	const struct bench_family *f;
	size_t nr = ARRAY_SIZE(core_opts), i;

	for (f = families; f; f = f->next)
		nr += f->nr_opts;
	i = fuzz_below(r, nr);
	if (i < ARRAY_SIZE(core_opts))
		return &core_opts[i];
	i -= ARRAY_SIZE(core_opts);
	for (f = families; i >= f->nr_opts; f = f->next)
		i -= f->nr_opts;
	return &f->opts[i];
}

static const char *random_bench(struct fuzz_random *r)
{
	const struct bench_family *f;
	const struct bench *bench;
	size_t nr = 0, i;

	for (f = families; f; f = f->next)
		nr += f->nr_benchs;
	i = fuzz_below(r, nr);
	for (f = families; i >= f->nr_benchs; f = f->next)
		i -= f->nr_benchs;
	bench = f->benchs[i];
	for (nr = 0; bench->aliases && bench->aliases[nr];)
		nr++;
	i = fuzz_below(r, nr + 1);
	return i < nr ? bench->aliases[i] : bench->name;
}

static void random_value(struct fuzz_random *r, const struct opt *opt, char *buf, size_t size)
{
	static const char *const words[] = {
		"",	"-1",	     "007",	   "0x10",
		"1 ",	"1\n",	     "\x1b[2J",	   "99999999999999999999",
		"0",	"0-1",	     "1,0-1",	   "1-0",
		"9999", "0-65535",   "65536",	   "12.5",
		".",	"1.2.3",     "100",	   "0.01",
		"-",	"/dev/null", "params,env", "epollet",
		"busy", "timer:",    "timer:1",	   "timer:10000",
		"512",	"4096",
	};
	size_t nr;

	if (opt->type == OPT_NUM && fuzz_below(r, 4)) {
		long long v[] = { opt->min,
				  opt->max,
				  opt->def,
				  opt->min - 1,
				  opt->max - (opt->max == LLONG_MAX) + 1,
				  1LL << fuzz_below(r, 40),
				  fuzz_below(r, 1 << 20) };

		snprintf(buf, size, "%lld", v[fuzz_below(r, ARRAY_SIZE(v))]);
	} else if (opt->type == OPT_CHOICE && fuzz_below(r, 8)) {
		for (nr = 0; opt->choices[nr];)
			nr++;
		snprintf(buf, size, "%s", opt->choices[fuzz_below(r, nr)]);
	} else {
		snprintf(buf, size, "%s", words[fuzz_below(r, ARRAY_SIZE(words))]);
	}
}

static void arguments_insert(struct fuzz_random *r, struct arguments *a, const char *arg)
{
	int at = 1 + fuzz_below(r, a->argc), i;
	char *last;

	arguments_add(a, arg, strlen(arg));
	last = a->argv[a->argc - 1];
	for (i = a->argc - 1; i > at; i--)
		a->argv[i] = a->argv[i - 1];
	a->argv[at < i ? at : i] = last;
}

/* An option in one of the ways in which it can be written. */
static void insert_option(struct fuzz_random *r, struct arguments *a)
{
	const struct opt *opt = random_opt(r);
	const char *name = opt->alias && fuzz_below(r, 2) ? opt->alias : opt->name;
	char value[64], arg[256];

	random_value(r, opt, value, sizeof(value));
	if (opt->key && fuzz_below(r, 2))
		snprintf(arg, sizeof(arg), "-%c%s", opt->key, opt->arg ? value : "");
	else if (opt->arg || !fuzz_below(r, 16))
		snprintf(arg, sizeof(arg), "--%s=%s", name, value);
	else
		snprintf(arg, sizeof(arg), "--%s", name);
	/* The beginning of a name will do, where it is the only one. */
	if (!fuzz_below(r, 16))
		arg[2 + fuzz_below(r, strlen(arg))] = '\0';
	arguments_insert(r, a, arg);
}

static void arguments_remove(struct arguments *a, int i)
{
	free(a->argv[i]);
	for (a->argc--; i < a->argc; i++)
		a->argv[i] = a->argv[i + 1];
	a->argv[a->argc] = NULL;
}

static void mutate(struct fuzz_random *r, struct arguments *a)
{
	static const char *const words[] = { "--help", "--usage", "--version", "--", "-", "-?V" };
	int i = a->argc > 1 ? 1 + fuzz_below(r, a->argc - 1) : 0;

	switch (fuzz_below(r, 8)) {
	case 0:
		arguments_insert(r, a, random_bench(r));
		break;
	case 1:
		arguments_insert(r, a, words[fuzz_below(r, ARRAY_SIZE(words))]);
		break;
	case 2:
	case 3:
		if (i)
			arguments_remove(a, i);
		break;
	case 4: /* another benchmark in place of what is there */
		if (i) {
			arguments_remove(a, i);
			arguments_insert(r, a, random_bench(r));
		}
		break;
	default:
		insert_option(r, a);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct fuzz_random r = fuzz_random(seed);
	size_t len = 0, part, times;
	struct arguments a;
	bool fits = true;
	int i;

	if (!fuzz_below(&r, 2))
		return LLVMFuzzerMutate(data, size, max_size);
	arguments_split(&a, data, size);
	for (times = 1 + fuzz_below(&r, 4); times; times--)
		mutate(&r, &a);
	for (i = 1; i < a.argc; i++) {
		part = strlen(a.argv[i]) + 1;
		fits = fits && len + part <= max_size;
		if (fits) {
			memcpy(data + len, a.argv[i], part);
			len += part;
		}
	}
	for (i = 0; i < a.argc; i++)
		free(a.argv[i]);
	return len;
}

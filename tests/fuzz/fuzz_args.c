// SPDX-License-Identifier: GPL-2.0
/*
 * The command line: any arguments, with the options that the benchmarks have. Nothing is loaded,
 * started or written. An input is the arguments, each with a NUL byte behind it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli/args.h"
#include "lib/cli/message.h"
#include "lib/run/run.h"
#include "lib/util.h"
#include "tests/fuzz/fuzz.h"

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

/* ---- what has to be */

static bool starts_with(const char *s, const char *start)
{
	return !strncmp(s, start, strlen(start));
}

/*
 * One line says what is wrong; notes may stand beside it. Nothing is said where nothing is wrong.
 */
static void check_messages(int code, char *text)
{
	char *rest = text, *line;
	size_t lines = 0;

	fuzz_check_text("message", text, 0);
	while ((line = strsep(&rest, "\n")) && rest) {
		fuzz_check(starts_with(line, "bench: "), "no message of ours: %s", line);
		lines += !starts_with(line, "bench: note: ");
	}
	fuzz_check(!*line, "a line without its end: %s", line);
	fuzz_check(lines == (code != BENCH_EXIT_OK), "%zu lines for exit code %d", lines, code);
}

/* May be the default without being in the range: a mark for 'not given'. */
static bool is_in_range(const struct opt *opt, const void *base)
{
	const long long v = *(const long long *)opt_dest(opt, (void *)base);

	fuzz_check(v == opt->def || (v >= opt->min && v <= opt->max), "--%s is %lld", opt->name, v);
	return v >= opt->min && v <= opt->max;
}

/* What stands in a record can be typed, and means the same. Overwrites the value. */
static void check_value(const struct opt *opt, void *base)
{
	static char text[1 << 16], again[1 << 16];
	char err[512];

	if (opt->type == OPT_FLAG)
		return;
	if ((opt->type == OPT_NUM || opt->type == OPT_SIZE) && !is_in_range(opt, base))
		return;
	fuzz_check(!opt_format(opt, base, text, sizeof(text)), "--%s cannot be shown", opt->name);
	opttab_reset(opt, 1, base);
	if (opt->type == OPT_CUSTOM) {
		fuzz_check(!opt_format(opt, base, again, sizeof(again)), "--%s has no default",
			   opt->name);
		if (!strcmp(text, again)) /* which may be a word that is not an argument */
			return;
	}
	fuzz_check(!opt_set(opt, text, base, err, sizeof(err)), "--%s is '%s', but: %s", opt->name,
		   text, err);
	fuzz_check(!opt_format(opt, base, again, sizeof(again)) && !strcmp(text, again),
		   "--%s: '%s' became '%s'", opt->name, text, again);
}

static void check_values(struct args *args)
{
	const struct bench_family *f;
	size_t i;

	for (f = bench_families; f; f = f->next)
		for (i = 0; i < f->nr_opts; i++)
			check_value(&f->opts[i], args_params(args, f));
	for (i = 0; i < args_nr_core_opts; i++)
		check_value(&args_core_opts[i], args);
}

static void check_chosen(const struct args *args)
{
	const bool runs_nothing = args->list || args->show_env || args->show_tables || args->help ||
				  args->usage || args->version;
	size_t i, k;

	fuzz_check(!args->compare || (args->nr_words && !args->nr_chosen), "no file to compare");
	fuzz_check(args->compare || args->nr_chosen || runs_nothing, "nothing to do");
	for (i = 0; i < args->nr_chosen; i++) {
		const struct chosen *c = &args->chosen[i];

		fuzz_check(c->job.cfg == &c->cfg, "the configuration of another benchmark");
		fuzz_check(c->job.params == args_params(args, c->family), "another's options");
		for (k = 0; k < i; k++)
			fuzz_check(c->job.bench != args->chosen[k].job.bench, "%s is there twice",
				   c->job.bench->name);
	}
}

/* What the first of the benchmarks says to its options: an exit code. */
static int ask_benchmark(struct chosen *c)
{
	struct bench_err err = {};
	int need = bench_consumers(&c->job);

	fuzz_check(need >= 0, "%s has %d consumers", c->job.bench->name, need);
	c->cfg.consumers = need;
	if (!bench_check(&c->job, &err))
		return BENCH_EXIT_OK;
	fuzz_check(err.code == BENCH_EXIT_USAGE || err.code == BENCH_EXIT_FAILED,
		   "code %d of a check", err.code);
	return complain_err(c->job.bench, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *real = stderr;
	char *text, *typed[MAX_ARGS + 2];
	struct arguments a;
	struct args args;
	size_t text_size;
	int code, i;

	arguments_split(&a, data, size);
	memcpy(typed, a.argv, sizeof(typed));
	stderr = open_memstream(&text, &text_size);
	fuzz_check(stderr, "no memory");
	code = args_parse(a.argc, a.argv, &args);
	fuzz_check(code == BENCH_EXIT_OK || code == BENCH_EXIT_USAGE, "exit code %d", code);
	if (!code) {
		check_chosen(&args);
		if (args.nr_chosen)
			code = ask_benchmark(&args.chosen[0]);
	}
	fuzz_check(!fclose(stderr), "no memory");
	stderr = real;
	check_messages(code, text);
	if (!code)
		check_values(&args);
	args_free(&args);
	for (i = 0; i < a.argc; i++)
		fuzz_check(a.argv[i] == typed[i], "the arguments were sorted");
	for (i = 0; i < a.argc; i++)
		free(a.argv[i]);
	free(text);
	return 0;
}

/* ---- mutations: arguments that the program has heard of */

static const struct opt *random_opt(struct fuzz_random *r)
{
	const struct bench_family *f;
	size_t nr = args_nr_core_opts, i;

	for (f = bench_families; f; f = f->next)
		nr += f->nr_opts;
	i = fuzz_below(r, nr);
	if (i < args_nr_core_opts)
		return &args_core_opts[i];
	i -= args_nr_core_opts;
	for (f = bench_families; i >= f->nr_opts; f = f->next)
		i -= f->nr_opts;
	return &f->opts[i];
}

static const char *random_bench(struct fuzz_random *r)
{
	const struct bench_family *f;
	const struct bench *bench;
	size_t nr = 0, i;

	for (f = bench_families; f; f = f->next)
		nr += f->nr_benchs;
	i = fuzz_below(r, nr);
	for (f = bench_families; i >= f->nr_benchs; f = f->next)
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
	static const char *const suffixes[] = { "", "K", "m", "G" };
	size_t nr;

	if ((opt->type == OPT_NUM || opt->type == OPT_SIZE) && fuzz_below(r, 4)) {
		long long v[] = { opt->min,
				  opt->max,
				  opt->def,
				  opt->min - 1,
				  opt->max - (opt->max == LLONG_MAX) + 1,
				  1LL << fuzz_below(r, 40),
				  fuzz_below(r, 1 << 20) };

		snprintf(buf, size, "%lld%s", v[fuzz_below(r, ARRAY_SIZE(v))],
			 suffixes[fuzz_below(r, opt->type == OPT_SIZE ? 4 : 1)]);
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
	static const char *const words[] = { "--help", "--version", "--all", "-l",   "--",    "-",
					     "-?V",    "-vvvvvvvv", "*",     "rb-*", "-Cbase" };
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

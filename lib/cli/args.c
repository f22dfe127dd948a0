// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli/args.h"
#include "lib/cli/message.h"
#include "lib/text.h"

/* ---- all names that any table has, for getopt */

/* One option on the command line. */
struct given {
	const char *name; /* the spelling in the table */
	const char *arg; /* NULL: a flag */
};

struct parser {
	struct option *names; /* ended by a zeroed one; val: index + NAME_BASE */
	size_t nr_names;
	char letters[2 * 64];
	struct given *given;
	size_t nr_given;
};

#define NAME_BASE 0x1000

static void add_name(struct parser *p, const char *name, int has_arg)
{
	size_t i;

	if (!name)
		return;
	for (i = 0; i < p->nr_names; i++)
		if (!strcmp(p->names[i].name, name))
			return;
	p->names[i] = (struct option){ .name = name, .has_arg = has_arg, .val = NAME_BASE + i };
	p->nr_names++;
}

static void add_table(struct parser *p, const struct opt *opts, size_t nr)
{
	size_t i, used = strlen(p->letters);
	int has_arg;

	for (i = 0; i < nr; i++) {
		has_arg = opts[i].implied ? optional_argument :
			  opts[i].arg	  ? required_argument :
					    no_argument;
		add_name(p, opts[i].name, has_arg);
		add_name(p, opts[i].alias, has_arg);
		/* Families may share an option, and its letter with it. */
		if (opts[i].key && !strchr(p->letters, opts[i].key))
			used += snprintf(p->letters + used, sizeof(p->letters) - used, "%c%s",
					 opts[i].key, opts[i].arg ? ":" : "");
	}
}

static int parser_init(struct parser *p, int argc, char *const *argv)
{
	const struct bench_family *f;
	size_t nr = args_nr_core_opts, room = 1;
	int i;

	for (i = 0; i < argc; i++)
		room += strlen(argv[i]); /* "-vqa" is three options */
	for (f = bench_families; f; f = f->next)
		nr += f->nr_opts;
	memset(p, 0, sizeof(*p));
	p->names = calloc(2 * nr + 1, sizeof(*p->names));
	p->given = calloc(room, sizeof(*p->given));
	if (!p->names || !p->given)
		return -ENOMEM;
	strcpy(p->letters, ":"); /* getopt shall tell a missing argument apart, and print nothing */
	add_table(p, args_core_opts, args_nr_core_opts);
	for (f = bench_families; f; f = f->next)
		add_table(p, f->opts, f->nr_opts);
	return 0;
}

static void parser_free(struct parser *p)
{
	free(p->names);
	free(p->given);
}

/* A long option that there is not: "--rb-bacth-cnt=5", at @word. */
static void refuse_long(const struct parser *p, const char *word)
{
	size_t len = strcspn(word + 2, "="), i, nr = 0;
	const char *names[p->nr_names + 1], *nearest;
	char name[64], list[160] = "";

	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	for (i = 0; i < p->nr_names; i++) {
		names[i] = p->names[i].name;
		if (len && !strncmp(names[i], name, len) && strlen(list) < sizeof(list) - 40)
			nr += snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s--%s",
				       nr ? ", " : "", names[i]);
	}
	nearest = text_nearest(name, names, p->nr_names);
	if (nr)
		complain("option '--%s' is ambiguous: it may be %s", name, list);
	else if (nearest)
		complain("unrecognized option '--%s': did you mean '--%s'?", name, nearest);
	else
		complain("unrecognized option '--%s': 'bench --help' lists them", name);
}

static const char *name_in_table(const struct opt *opts, size_t nr, int key)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (opts[i].key == key)
			return opts[i].name;
	return NULL;
}

/* The name of the option with letter @key. */
static const char *name_of_key(int key)
{
	const char *name = name_in_table(args_core_opts, args_nr_core_opts, key);
	const struct bench_family *f;

	for (f = bench_families; f && !name; f = f->next)
		name = name_in_table(f->opts, f->nr_opts, key);
	return name ?: "help"; /* -? */
}

static void refuse(const struct parser *p, int c, char *const *argv)
{
	if (c == '?' && optopt >= NAME_BASE)
		complain("option '--%s' takes no argument", p->names[optopt - NAME_BASE].name);
	else if (c == ':' && optopt >= NAME_BASE)
		complain("option '--%s' requires an argument", p->names[optopt - NAME_BASE].name);
	else if (c == ':')
		complain("option '-%c' requires an argument", optopt);
	else if (!optopt)
		refuse_long(p, argv[optind - 1]);
	else
		complain("unrecognized option '-%c': 'bench --help' lists them", optopt);
}

/* Splits the command line into options and words. Options have no meaning yet. */
static int split(struct parser *p, int argc, char **argv, struct args *args)
{
	int c;

	optind = 0; /* glibc's word for: from the start, whoever parsed before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, p->letters, p->names, NULL)) >= 0) {
		/* '?' says that something is wrong; -? is help, and as a letter looks the same. */
		if (c == ':' || (c == '?' && optopt != '?')) {
			refuse(p, c, argv);
			return -EINVAL;
		}
		p->given[p->nr_given++] = (struct given){
			.name = c >= NAME_BASE ? p->names[c - NAME_BASE].name : name_of_key(c),
			.arg = optarg,
		};
	}
	args->words = (const char **)argv + optind;
	args->nr_words = argc - optind;
	return 0;
}

static int set_core_options(const struct parser *p, struct args *args)
{
	const struct opt *opt;
	char err[512];
	size_t i;

	for (i = 0; i < p->nr_given; i++) {
		opt = opttab_find(args_core_opts, args_nr_core_opts, p->given[i].name);
		if (opt && opt_set(opt, p->given[i].arg, args, err, sizeof(err))) {
			complain("%s", err);
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_given(const struct parser *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nr_given; i++)
		if (opttab_find(args_core_opts, args_nr_core_opts, p->given[i].name) ==
		    opttab_find(args_core_opts, args_nr_core_opts, name))
			return true;
	return false;
}

/*
 * Of all benchmarks, 8 short runs: with fewer a side, no change could be shown after the correction
 * for so many rows.
 */
static void set_snapshot_defaults(const struct parser *p, struct args *args)
{
	if (!is_given(p, "warmup"))
		args->cfg.warmup_s = 0;
	if (!is_given(p, "duration"))
		args->cfg.duration_s = 1;
	if (!is_given(p, "runs"))
		args->runs = 8;
}

/* ---- benchmarks */

static int add_chosen(struct args *args, const struct bench_family *family,
		      const struct bench *bench, bool outright)
{
	struct chosen *grown;
	size_t i;

	for (i = 0; i < args->nr_chosen; i++) {
		if (args->chosen[i].job.bench == bench) {
			args->chosen[i].outright = args->chosen[i].outright || outright;
			return 0;
		}
	}
	grown = realloc(args->chosen, (args->nr_chosen + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	args->chosen = grown;
	args->chosen[args->nr_chosen++] = (struct chosen){
		.family = family,
		.job = { .bench = bench },
		.outright = outright,
	};
	return 0;
}

static void refuse_name(const char *word)
{
	const struct bench_family *f;
	const char **names, *nearest;
	size_t nr = 0, i;

	for (f = bench_families; f; f = f->next)
		nr += f->nr_benchs;
	names = calloc(nr, sizeof(*names));
	for (f = bench_families, nr = 0; names && f; f = f->next)
		for (i = 0; i < f->nr_benchs; i++)
			names[nr++] = f->benchs[i]->name;
	nearest = names ? text_nearest(word, names, nr) : NULL;
	if (nearest)
		complain("there is no benchmark '%s': did you mean '%s'?", word, nearest);
	else
		complain("there is no benchmark '%s': 'bench -l' lists them", word);
	free(names);
}

/* A name outright, or a pattern. */
static int choose(struct args *args, const char *word)
{
	const bool is_pattern = word[strcspn(word, "*?[")];
	const struct bench_family *f;
	const struct bench *bench;
	bool found = false;
	size_t i;
	int err;

	for (f = bench_families; f; f = f->next) {
		for (i = 0; i < f->nr_benchs; i++) {
			bench = f->benchs[i];
			if (is_pattern ? fnmatch(word, bench->name, 0) != 0 :
					 !bench_answers_to(bench, word))
				continue;
			found = true;
			err = add_chosen(args, f, bench, !is_pattern);
			if (err)
				return err;
		}
	}
	if (found)
		return 0;
	if (is_pattern)
		complain("no benchmark matches '%s': 'bench -l' lists them", word);
	else
		refuse_name(word);
	return -EINVAL;
}

static bool wants_a_run(const struct args *args)
{
	return !args->list && !args->show_env && !args->show_tables && !args->compare &&
	       !args->help && !args->usage && !args->version;
}

static int choose_all(struct args *args)
{
	size_t i;
	int err = 0;

	if (args->compare)
		return 0; /* the words are files */
	for (i = 0; i < args->nr_words && !err; i++)
		err = choose(args, args->words[i]);
	if (!err && (args->all || (args->list && !args->nr_words)))
		err = choose(args, "*");
	if (!err && !args->nr_chosen && wants_a_run(args)) {
		complain("no benchmark named: 'bench -l' lists them, 'bench --help' explains");
		err = -EINVAL;
	}
	return err;
}

/* ---- options of families */

void *args_params(const struct args *args, const struct bench_family *family)
{
	const struct bench_family *f;
	size_t i = 0;

	for (f = bench_families; f != family; f = f->next)
		i++;
	return args->params[i];
}

static int make_params(struct args *args)
{
	const struct bench_family *f;
	size_t nr = 0;

	for (f = bench_families; f; f = f->next)
		nr++;
	args->params = calloc(nr + 1, sizeof(*args->params));
	if (!args->params)
		return -ENOMEM;
	for (f = bench_families, nr = 0; f; f = f->next, nr++) {
		args->params[nr] = calloc(1, f->params_size + 1);
		if (!args->params[nr])
			return -ENOMEM;
		opttab_reset(f->opts, f->nr_opts, args->params[nr]);
	}
	return 0;
}

static bool is_chosen(const struct args *args, const struct bench_family *family)
{
	size_t i;

	for (i = 0; i < args->nr_chosen; i++)
		if (args->chosen[i].family == family)
			return true;
	return false;
}

/* What nobody is to get has to make sense to some family all the same. */
static int check_foreign(const struct args *args, const struct given *given)
{
	char err[512], first_err[512] = "";
	const struct bench_family *f;
	const struct opt *opt;

	for (f = bench_families; f; f = f->next) {
		opt = opttab_find(f->opts, f->nr_opts, given->name);
		if (opt && !opt_set(opt, given->arg, args_params(args, f), err, sizeof(err))) {
			if (wants_a_run(args) && !args->cfg.quiet && args->nr_chosen == 1)
				note("--%s has no effect on %s", given->name,
				     args->chosen[0].job.bench->name);
			else if (wants_a_run(args) && !args->cfg.quiet)
				note("--%s has no effect on any of these benchmarks", given->name);
			return 0;
		}
		if (opt && !first_err[0])
			memcpy(first_err, err, sizeof(err));
	}
	complain("%s", first_err);
	return -EINVAL;
}

static int set_family_option(const struct args *args, const struct given *given)
{
	const struct bench_family *f;
	const struct opt *opt;
	bool taken = false;
	char err[512];

	for (f = bench_families; f; f = f->next) {
		opt = is_chosen(args, f) ? opttab_find(f->opts, f->nr_opts, given->name) : NULL;
		if (!opt)
			continue;
		taken = true;
		if (opt_set(opt, given->arg, args_params(args, f), err, sizeof(err))) {
			complain("%s", err);
			return -EINVAL;
		}
	}
	return taken ? 0 : check_foreign(args, given);
}

static int set_family_options(const struct parser *p, const struct args *args)
{
	size_t i;
	int err = 0;

	for (i = 0; i < p->nr_given && !err; i++)
		if (!opttab_find(args_core_opts, args_nr_core_opts, p->given[i].name))
			err = set_family_option(args, &p->given[i]);
	return err;
}

/* Is there an option among them that implies -q? */
static bool implies_quiet(const struct parser *p, const struct args *args)
{
	const struct bench_family *f;
	const struct opt *opt;
	size_t i;

	for (f = bench_families; f; f = f->next) {
		for (i = 0; i < p->nr_given && is_chosen(args, f); i++) {
			opt = opttab_find(f->opts, f->nr_opts, p->given[i].name);
			if (opt && opt->is_quiet)
				return true;
		}
	}
	return false;
}

/* ---- the whole */

static int check_comparison(const struct args *args)
{
	if (!args->compare)
		return 0;
	if (!args->nr_words) {
		complain("-C, --compare: requires two files or more, -C BASE NEW");
		return -EINVAL;
	}
	if (args->markdown && args->csv) {
		complain("--csv: contradicts --markdown");
		return -EINVAL;
	}
	return 0;
}

static int copy_words(struct args *args)
{
	const char **copy = calloc(args->nr_words + 1, sizeof(*copy));

	if (copy)
		memcpy(copy, args->words, args->nr_words * sizeof(*copy));
	args->words = copy; /* also where it is NULL: args_free() must not get those of argv */
	return copy ? 0 : -ENOMEM;
}

static int parse(struct parser *p, int argc, char **argv, struct args *args)
{
	size_t i;
	int err;

	err = split(p, argc, argv, args);
	if (err)
		args->words = NULL;
	else
		err = copy_words(args);
	if (!err)
		err = set_core_options(p, args);
	if (!err)
		err = check_comparison(args);
	if (!err && args->all)
		set_snapshot_defaults(p, args);
	if (!err && args->resume && !args->output) {
		complain("--resume: requires -o FILE, the records of the command that goes on");
		err = -EINVAL;
	}
	if (!err)
		err = choose_all(args);
	if (!err)
		err = make_params(args);
	if (!err)
		err = set_family_options(p, args);
	args->cfg.quiet = args->cfg.quiet || implies_quiet(p, args);
	for (i = 0; i < args->nr_chosen && !err; i++) {
		args->chosen[i].cfg = args->cfg;
		args->chosen[i].job.cfg = &args->chosen[i].cfg;
		args->chosen[i].job.params = args_params(args, args->chosen[i].family);
	}
	return err;
}

/*
 * In the kernel selftests' bench one benchmark has an option --quiet of its own, with an argument:
 * "--quiet 1", as its script has it, is --quiet, and "--quiet 0" is nothing. Returns the new argc.
 */
static int drop_quiet_arguments(int argc, char **argv)
{
	int i, n = 0;

	for (i = 0; i < argc; i++) {
		if (i && !strcmp(argv[i], "--"))
			break;
		if (i + 1 < argc && !strcmp(argv[i], "--quiet") &&
		    (!strcmp(argv[i + 1], "0") || !strcmp(argv[i + 1], "1"))) {
			if (argv[i + 1][0] == '1')
				argv[n++] = argv[i];
			i++;
		} else {
			argv[n++] = argv[i];
		}
	}
	while (i < argc)
		argv[n++] = argv[i++];
	return n;
}

int args_parse(int argc, char *const *argv, struct args *args)
{
	char **copy = calloc(argc + 1, sizeof(*copy)); /* getopt puts the options first */
	struct parser p = {};
	int err;

	memset(args, 0, sizeof(*args));
	opttab_reset(args_core_opts, args_nr_core_opts, args);
	err = copy ? parser_init(&p, argc, argv) : -ENOMEM;
	if (!err) {
		memcpy(copy, argv, argc * sizeof(*copy));
		err = parse(&p, drop_quiet_arguments(argc, copy), copy, args);
	}
	if (err == -ENOMEM)
		complain("cannot read the arguments: %s", strerror(ENOMEM));
	parser_free(&p);
	free(copy);
	if (!err)
		return BENCH_EXIT_OK;
	return err == -ENOMEM ? BENCH_EXIT_FAILED : BENCH_EXIT_USAGE;
}

void args_free(struct args *args)
{
	const struct bench_family *f;
	size_t i = 0;

	for (f = bench_families; f && args->params; f = f->next)
		free(args->params[i++]);
	free(args->params);
	free(args->chosen);
	free(args->words);
	cpuset_free(&args->cfg.prod_cpus);
	cpuset_free(&args->cfg.cons_cpus);
	memset(args, 0, sizeof(*args));
}

// SPDX-License-Identifier: GPL-2.0
/* The command line, with families of benchmarks made up here. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bpf/attach.h"
#include "lib/cli/args.h"
#include "lib/cli/lines.h"
#include "lib/text.h"
#include "lib/util.h"

/* ---- memory that runs out; sanitizers bring an allocator of their own */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FAILING_CALLOC
static int callocs_left = -1; /* that succeed; -1: all */

void *__libc_calloc(size_t nr, size_t size);

void *calloc(size_t nr, size_t size)
{
	if (!callocs_left)
		return NULL;
	if (callocs_left > 0)
		callocs_left--;
	return __libc_calloc(nr, size);
}
#endif

/* ---- families; nothing of a benchmark is called */

struct apple_params {
	long long weight, size;
	bool red;
};

struct pear_params {
	bool green;
	long long size;
	int shape;
};

static const char *const shapes[] = { "round", "long", NULL };

/* "size" is in both, with another place, type, default and range. */
static const struct opt apple_opts[] = {
	{ .name = "weight",
	  .alias = "mass",
	  .arg = "GRAMS",
	  .type = OPT_NUM,
	  .at = offsetof(struct apple_params, weight),
	  .def = 100,
	  .min = 1,
	  .max = 500,
	  .help = "Weight" },
	{ .name = "size",
	  .arg = "CM",
	  .type = OPT_NUM,
	  .at = offsetof(struct apple_params, size),
	  .def = 5,
	  .min = 1,
	  .max = 30,
	  .help = "Size" },
	{ .name = "red", .type = OPT_FLAG, .at = offsetof(struct apple_params, red), .help = "Red" },
};

static const struct opt pear_opts[] = {
	{ .name = "green",
	  .key = 'g',
	  .type = OPT_FLAG,
	  .at = offsetof(struct pear_params, green),
	  .help = "Green" },
	{ .name = "size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct pear_params, size),
	  .def = 4096,
	  .min = 20,
	  .max = 1 << 20,
	  .help = "Size" },
	{ .name = "shape",
	  .arg = "SHAPE",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct pear_params, shape),
	  .choices = shapes,
	  .help = "Shape" },
};

static const char *const eat_aliases[] = { "bite", "chew", NULL };
static const struct bench apple_eat = { .name = "apple-eat", .aliases = eat_aliases };
static const struct bench apple_peel = { .name = "apple-peel" };
static const struct bench pear_eat = { .name = "pear-eat" };
static const struct bench nut_crack = { .name = "nut-crack" };

static const struct bench *const apples[] = { &apple_eat, &apple_peel };
static const struct bench *const pears[] = { &pear_eat };
static const struct bench *const nuts[] = { &nut_crack };

static struct bench_family apple = {
	.title = "Apple",
	.opts = apple_opts,
	.nr_opts = ARRAY_SIZE(apple_opts),
	.params_size = sizeof(struct apple_params),
	.benchs = apples,
	.nr_benchs = ARRAY_SIZE(apples),
};
BENCH_FAMILY(apple);

static struct bench_family pear = {
	.title = "Pear",
	.opts = pear_opts,
	.nr_opts = ARRAY_SIZE(pear_opts),
	.params_size = sizeof(struct pear_params),
	.benchs = pears,
	.nr_benchs = ARRAY_SIZE(pears),
};
BENCH_FAMILY(pear);

/* It has no options. */
static struct bench_family nut = { .title = "Nut", .benchs = nuts, .nr_benchs = ARRAY_SIZE(nuts) };
BENCH_FAMILY(nut);

/* ---- a command line, and what came of it */

static struct args args;
static char *said; /* on standard error */

static int forget(void **state)
{
	args_free(&args);
	free(said);
	said = NULL;
	return 0;
}

#define MAX_WORDS 32

static int parse(const char *const *words)
{
	char *argv[MAX_WORDS] = { (char *)"bench" }, *before[MAX_WORDS];
	FILE *real = stderr;
	int argc = 1, code;
	size_t size;

	for (; words[argc - 1]; argc++)
		argv[argc] = (char *)words[argc - 1];
	memcpy(before, argv, sizeof(argv));
	forget(NULL);
	stderr = open_memstream(&said, &size);
	assert_non_null(stderr);
	code = args_parse(argc, argv, &args);
	fclose(stderr);
	stderr = real;
	/* records hold it as it was typed */
	assert_memory_equal(argv, before, sizeof(argv));
	return code;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

/* It is accepted, with this to say about it. */
static void accept_noting(const char *const *words, const char *note)
{
	int code = parse(words);

	if (code || strcmp(said, note))
		fail_msg("exit code %d, and '%s' in place of '%s'", code, said, note);
}

#define ACCEPT(...) accept_noting(WORDS(__VA_ARGS__), "")

/* It is refused with @text, after "bench: " and on a line of its own. */
static void refuse(const char *const *words, const char *text)
{
	char line[512];

	assert_int_equal(parse(words), BENCH_EXIT_USAGE);
	snprintf(line, sizeof(line), "bench: %s\n", text);
	assert_string_equal(said, line);
}

#define REFUSE(text, ...) refuse(WORDS(__VA_ARGS__), text)

/* These benchmarks were chosen, in this order. */
static void assert_chosen(const char *const *names)
{
	size_t i;

	for (i = 0; names[i]; i++) {
		assert_true(i < args.nr_chosen);
		assert_string_equal(args.chosen[i].job.bench->name, names[i]);
		assert_ptr_equal(args.chosen[i].job.cfg, &args.chosen[i].cfg);
		assert_ptr_equal(args.chosen[i].job.params,
				 args_params(&args, args.chosen[i].family));
		assert_false(args.chosen[i].skipped);
	}
	assert_int_equal(args.nr_chosen, i);
}

#define CHOSEN(...) assert_chosen(WORDS(__VA_ARGS__))

static const struct apple_params *apple_params(void)
{
	return args_params(&args, &apple);
}

static const struct pear_params *pear_params(void)
{
	return args_params(&args, &pear);
}

/* ---- the core's options */

static void defaults(void **state)
{
	ACCEPT("apple-eat");
	CHOSEN("apple-eat");
	assert_ptr_equal(args.chosen[0].family, &apple);
	assert_true(args.chosen[0].outright);
	assert_int_equal(args.cfg.duration_s, 5);
	assert_int_equal(args.cfg.warmup_s, 1);
	assert_int_equal(args.cfg.producers, 1);
	assert_int_equal(args.cfg.consumers, -1);
	assert_int_equal(args.cfg.interval_ms, 1000);
	assert_int_equal(args.cfg.attach, ATTACH_AUTO);
	assert_int_equal(args.runs, 1);
	assert_true(args.cfg.precision_pct == 0);
	assert_true(args.fail_on_slower_pct < 0);
	assert_null(args.output);
	assert_null(args.compare);
	assert_false(args.cfg.affinity || args.cfg.verify || args.cfg.verbose || args.cfg.quiet ||
		     args.list || args.help || args.version);
	assert_int_equal(args.cfg.prod_cpus.cnt, 0);
	assert_int_equal(apple_params()->size, 5);
	assert_int_equal(apple_params()->weight, 100);
	assert_false(apple_params()->red);
}

static void all_spellings(void **state)
{
	ACCEPT("-d", "7", "-w0", "--producers=3", "--consumers", "2", "apple-eat", "-avq", "-r",
	       "9", "--cons-affinity=0-2", "-o-", "--attach=tp", "--interval", "100",
	       "--precision=0.5");
	CHOSEN("apple-eat");
	assert_int_equal(args.cfg.duration_s, 7);
	assert_int_equal(args.cfg.warmup_s, 0);
	assert_int_equal(args.cfg.producers, 3);
	assert_int_equal(args.cfg.consumers, 2);
	assert_true(args.cfg.affinity && args.cfg.verbose && args.cfg.quiet);
	assert_int_equal(args.runs, 9);
	assert_int_equal(args.cfg.cons_cpus.cnt, 3);
	assert_string_equal(args.output, "-");
	assert_int_equal(args.cfg.attach, ATTACH_TP);
	assert_int_equal(args.cfg.interval_ms, 100);
	assert_true(args.cfg.precision_pct == 0.5);
	/* each benchmark has it */
	assert_int_equal(args.chosen[0].cfg.duration_s, 7);
	assert_int_equal(args.chosen[0].cfg.cons_cpus.cnt, 3);

	/* the last one counts; and the beginning of a name will do where it is the only one */
	ACCEPT("-d2", "--dura=3", "--prod-affinity=0,1", "apple-eat", "--prod-a=2");
	assert_int_equal(args.cfg.duration_s, 3);
	assert_int_equal(args.cfg.prod_cpus.cnt, 1);
	assert_int_equal(args.cfg.prod_cpus.cpus[0], 2);
}

/* There are more options than words. */
static void letters_in_a_row(void **state)
{
	char many[1000] = "-";

	memset(many + 1, 'v', sizeof(many) - 4);
	strcat(many, "d3");
	ACCEPT(many, "apple-eat");
	assert_true(args.cfg.verbose);
	assert_int_equal(args.cfg.duration_s, 3);
}

static void a_letter_of_a_family(void **state)
{
	ACCEPT("-gv", "pear-eat");
	assert_true(args.cfg.verbose);
	assert_true(((const struct pear_params *)args_params(&args, &pear))->green);
	ACCEPT("-q", "-g", "apple-eat");
	REFUSE("unrecognized option '-G': 'bench --help' lists them", "-G", "pear-eat");
}

static void help_by_any_name(void **state)
{
	static const char *const words[] = { "-?", "-h", "--help", "-v?", "-?v", "-q?v", "-??" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		ACCEPT(words[i]);
		assert_true(args.help);
		assert_int_equal(args.nr_chosen, 0);
		ACCEPT("pear-eat", words[i]);
		assert_true(args.help);
		CHOSEN("pear-eat");
	}
	REFUSE("unrecognized option '-Z': 'bench --help' lists them", "-?Z");
	REFUSE("unrecognized option '-Z': 'bench --help' lists them", "-Z?");
}

static void bad_values(void **state)
{
#define BAD(opt, value, name, expected) \
	REFUSE(name ": invalid value '" value "': expected " expected, opt value, "apple-eat")
	BAD("-d", "0", "-d, --duration", "a whole number from 1 to 86400");
	BAD("-d", "5x", "-d, --duration", "a whole number from 1 to 86400");
	BAD("--duration=", "", "-d, --duration", "a whole number from 1 to 86400");
	BAD("-w", "-1", "-w, --warmup", "a whole number from 0 to 86400");
	BAD("-p", "0", "-p, --producers", "a whole number from 1 to 4096");
	BAD("-p", "4097", "-p, --producers", "a whole number from 1 to 4096");
	BAD("-c", "-1", "-c, --consumers", "a whole number from 0 to 4096");
	BAD("-r", "1.5", "-r, --runs", "a whole number from 1 to 100000");
	BAD("--interval=", "0", "--interval", "a whole number from 1 to 86400000");
	BAD("--precision=", "0", "--precision", "a percentage from 0.01 to 50");
	BAD("--precision=", "50.1", "--precision", "a percentage from 0.01 to 50");
	BAD("--precision=", "1e1", "--precision", "a percentage from 0.01 to 50");
	BAD("--precision=", "1.2.3", "--precision", "a percentage from 0.01 to 50");
	BAD("--precision=", ".", "--precision", "a percentage from 0.01 to 50");
	BAD("--precision=", "nan", "--precision", "a percentage from 0.01 to 50");
	BAD("--fail-on-slower=", "101", "--fail-on-slower", "a percentage from 0 to 100");
	BAD("--fail-on-slower=", "-1", "--fail-on-slower", "a percentage from 0 to 100");
	BAD("--prod-affinity=", "", "--prod-affinity", "CPUs such as 1,2-10,15");
	BAD("--cons-affinity=", "1-", "--cons-affinity", "CPUs such as 1,2-10,15");
	BAD("--output=", "", "-o, --output", "the name of a file, or - for standard output");
	BAD("--compare=", "", "-C, --compare", "the name of a file");
#undef BAD
	/* a choice may come with a suggestion */
	assert_int_equal(parse(WORDS("--attach=syscall", "apple-eat")), BENCH_EXIT_USAGE);
	assert_non_null(strstr(said, "bench: --attach: invalid value 'syscall': expected auto, "
				     "fentry, kprobe, tp, rawtp"));
	/* one line, however many are wrong */
	REFUSE("-d, --duration: invalid value 'x': expected a whole number from 1 to 86400", "-dx",
	       "-wx", "--size=x", "nonsense");
}

/* What can be typed, as it is shown in a record and in --help. */
static void percentages_are_shown_as_typed(void **state)
{
	const struct opt *precision = opttab_find(args_core_opts, args_nr_core_opts, "precision"),
			 *slower = opttab_find(args_core_opts, args_nr_core_opts, "fail-on-slower");
	char buf[32];

	ACCEPT("apple-eat");
	assert_int_equal(opt_format(precision, &args, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "off");
	assert_int_equal(opt_format(slower, &args, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "off");
	ACCEPT("--precision=2.50", "--fail-on-slower=0", "apple-eat");
	assert_int_equal(opt_format(precision, &args, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "2.5");
	assert_int_equal(opt_format(slower, &args, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "0");
}

static void the_cores_table_is_right(void **state)
{
	char err[128] = "";

	opttab_check(args_core_opts, args_nr_core_opts, sizeof(struct args), err, sizeof(err));
	assert_string_equal(err, "");
}

/* ---- options that there are not, or not so */

/* @text names @nearest where it is near enough. */
static void assert_suggested(const char *text, const char *word, const char *nearest,
			     const char *pointer, const char *dashes)
{
	char line[256];

	if (text_nearest(word, &nearest, 1))
		snprintf(line, sizeof(line), "bench: %s '%s%s': did you mean '%s%s'?\n", text,
			 dashes, word, dashes, nearest);
	else
		snprintf(line, sizeof(line), "bench: %s '%s%s': %s lists them\n", text, dashes,
			 word, pointer);
	assert_string_equal(said, line);
}

static void options_that_there_are_not(void **state)
{
	char word[5002] = "--";

	assert_int_equal(parse(WORDS("--duratoin=3", "apple-eat")), BENCH_EXIT_USAGE);
	assert_suggested("unrecognized option", "duratoin", "duration", "'bench --help'", "--");
	assert_int_equal(parse(WORDS("apple-eat", "--sahpe")), BENCH_EXIT_USAGE);
	assert_suggested("unrecognized option", "sahpe", "shape", "'bench --help'", "--");
	REFUSE("unrecognized option '--xyzzyxyzzy': 'bench --help' lists them", "--xyzzyxyzzy=1");
	REFUSE("unrecognized option '--': 'bench --help' lists them", "--=1");
	REFUSE("unrecognized option '-Z': 'bench --help' lists them", "-Z", "apple-eat");
	REFUSE("unrecognized option '-Z': 'bench --help' lists them", "-vZq", "apple-eat");
	REFUSE("unrecognized option '-:': 'bench --help' lists them", "-:");
	REFUSE("unrecognized option '--': 'bench --help' lists them", "-v-");
	/* Harmless for a terminal, and one line */
	REFUSE("unrecognized option '-?': 'bench --help' lists them", "-\033[2J");
	REFUSE("unrecognized option '--x?y?[2Jzzzz': 'bench --help' lists them",
	       "--x\ny\033[2Jzzzz");
	memset(word + 2, 'x', sizeof(word) - 3);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(parse(WORDS(word)), BENCH_EXIT_USAGE);
	assert_true(strlen(said) < 200);
}

static void ambiguous_options(void **state)
{
	REFUSE("option '--pro' is ambiguous: it may be --producers, --prod-affinity", "--pro=1",
	       "apple-eat");
	REFUSE("option '--show' is ambiguous: it may be --show-env, --show-tables", "--show");
	/* also of other families, whose options it may be as well; once where two have it */
	REFUSE("option '--s' is ambiguous: it may be --show-env, --show-tables, --size, --shape",
	       "--s=1", "apple-eat");
	REFUSE("option '--ma' is ambiguous: it may be --match, --markdown, --mass", "--ma");
	ACCEPT("apple-eat", "--si=6");
	assert_int_equal(apple_params()->size, 6);
}

static void arguments_too_few_or_too_many(void **state)
{
	REFUSE("option '-p' requires an argument", "apple-eat", "-p");
	REFUSE("option '-p' requires an argument", "apple-eat", "-vp");
	REFUSE("option '--duration' requires an argument", "apple-eat", "--durat");
	REFUSE("option '--size' requires an argument", "apple-eat", "--size");
	REFUSE("option '--verify' takes no argument", "--verify=1", "apple-eat");
	REFUSE("option '--verify' takes no argument", "--verif=", "apple-eat");
	REFUSE("option '--red' takes no argument", "--red=yes", "apple-eat");
	/* what follows is its argument, whatever it looks like */
	REFUSE("-p, --producers: invalid value '-v': expected a whole number from 1 to 4096", "-p",
	       "-v", "apple-eat");
}

/* ---- options of families */

static void options_mean_what_their_family_says(void **state)
{
	ACCEPT("apple-eat", "--size", "7");
	assert_int_equal(apple_params()->size, 7);
	ACCEPT("--size=7", "apple-eat");
	assert_int_equal(apple_params()->size, 7);
	ACCEPT("--size=4K", "pear-eat");
	assert_int_equal(pear_params()->size, 4096);
	REFUSE("--size: invalid value '4K': expected a whole number from 1 to 30", "--size=4K",
	       "apple-eat");
	REFUSE("--size: invalid value '7': expected a whole number from 20 to 1048576", "--size=7",
	       "pear-eat");
	REFUSE("--size: invalid value '': expected a whole number from 1 to 30",
	       "--size=", "apple-eat");
	ACCEPT("apple-eat", "--mass=3", "--red");
	assert_int_equal(apple_params()->weight, 3);
	assert_true(apple_params()->red);
	/* by the table's name, whatever was typed */
	REFUSE("--weight: invalid value '0': expected a whole number from 1 to 500", "--mass=0",
	       "apple-eat");
	ACCEPT("pear-eat", "--shape=long");
	assert_int_equal(pear_params()->shape, 1);
}

static void options_go_to_all_that_know_them(void **state)
{
	ACCEPT("apple-eat", "pear-eat", "--size=25", "--red", "--shape=long");
	assert_int_equal(apple_params()->size, 25);
	assert_int_equal(pear_params()->size, 25);
	assert_true(apple_params()->red);
	assert_int_equal(pear_params()->shape, 1);
	/* it has to suit them all, in whichever order they are */
	REFUSE("--size: invalid value '7': expected a whole number from 20 to 1048576", "apple-eat",
	       "pear-eat", "--size=7");
	REFUSE("--size: invalid value '64': expected a whole number from 1 to 30", "pear-eat",
	       "apple-eat", "--size=64");
}

static void options_of_other_families(void **state)
{
	accept_noting(WORDS("pear-eat", "--red", "--size=20"),
		      "bench: note: --red has no effect on pear-eat\n");
	assert_int_equal(pear_params()->size, 20);
	/* each of them; also by an alias, and with an argument */
	accept_noting(WORDS("pear-eat", "--mass=5", "--red"),
		      "bench: note: --mass has no effect on pear-eat\n"
		      "bench: note: --red has no effect on pear-eat\n");
	accept_noting(WORDS("apple-*", "--green"),
		      "bench: note: --green has no effect on any of these benchmarks\n");
	/* nobody wants to know */
	ACCEPT("-q", "pear-eat", "--red");
	ACCEPT("-l", "pear-eat", "--red");
	ACCEPT("--help", "pear-eat", "--red");
	/* nonsense it must not be all the same */
	REFUSE("--weight: invalid value '501': expected a whole number from 1 to 500",
	       "--weight=501", "pear-eat");
	REFUSE("--weight: invalid value 'x': expected a whole number from 1 to 500", "-l",
	       "--weight=x");
	/* it makes sense to one of them */
	accept_noting(WORDS("nut-crack", "--size=1"),
		      "bench: note: --size has no effect on nut-crack\n");
	accept_noting(WORDS("nut-crack", "--size=1M"),
		      "bench: note: --size has no effect on nut-crack\n");
	REFUSE("--size: invalid value '2M': expected a whole number from 1 to 30", "nut-crack",
	       "--size=2M");
}

/* ---- benchmarks */

static void names_and_patterns(void **state)
{
	ACCEPT("pear-eat", "apple-eat");
	CHOSEN("pear-eat", "apple-eat");
	ACCEPT("apple-*");
	CHOSEN("apple-eat", "apple-peel");
	assert_false(args.chosen[0].outright || args.chosen[1].outright);
	ACCEPT("*-eat");
	CHOSEN("apple-eat", "pear-eat");
	ACCEPT("[np]*-[ce]*");
	CHOSEN("nut-crack", "pear-eat");
	/* once each, where it came first; outright is outright, wherever */
	ACCEPT("*-eat", "pear-eat", "*", "pear-eat");
	CHOSEN("apple-eat", "pear-eat", "apple-peel", "nut-crack");
	assert_false(args.chosen[0].outright);
	assert_true(args.chosen[1].outright);
	ACCEPT("pear-eat", "*-eat");
	assert_true(args.chosen[0].outright);
	assert_false(args.chosen[1].outright);
}

static void all_of_them(void **state)
{
	ACCEPT("--all");
	CHOSEN("apple-eat", "apple-peel", "nut-crack", "pear-eat");
	assert_false(args.chosen[3].outright);
	ACCEPT("pear-eat", "--all");
	CHOSEN("pear-eat", "apple-eat", "apple-peel", "nut-crack");
	assert_true(args.chosen[0].outright);
	/* a snapshot: short runs, but 8 of them; what is given stays, wherever */
	ACCEPT("--all");
	assert_int_equal(args.cfg.warmup_s, 0);
	assert_int_equal(args.cfg.duration_s, 1);
	assert_int_equal(args.runs, 8);
	ACCEPT("-w2", "-d3", "--all", "--run=4");
	assert_int_equal(args.cfg.warmup_s, 2);
	assert_int_equal(args.cfg.duration_s, 3);
	assert_int_equal(args.runs, 4);
	/* a list is of all, or of those that match */
	ACCEPT("-l");
	CHOSEN("apple-eat", "apple-peel", "nut-crack", "pear-eat");
	ACCEPT("-l", "a*");
	CHOSEN("apple-eat", "apple-peel");
}

static void aliases(void **state)
{
	ACCEPT("chew");
	CHOSEN("apple-eat");
	ACCEPT("bite", "apple-eat", "chew");
	CHOSEN("apple-eat");
	/* which patterns do not match */
	REFUSE("no benchmark matches 'bi*': 'bench -l' lists them", "bi*");
}

static void benchmarks_that_there_are_not(void **state)
{
	REFUSE("no benchmark named: 'bench -l' lists them, 'bench --help' explains");
	REFUSE("no benchmark named: 'bench -l' lists them, 'bench --help' explains", "-d3",
	       "--size=5");
	assert_int_equal(parse(WORDS("aplpe-eat")), BENCH_EXIT_USAGE);
	assert_suggested("there is no benchmark", "aplpe-eat", "apple-eat", "'bench -l'", "");
	REFUSE("there is no benchmark 'xyzzyxyzzy': 'bench -l' lists them", "pear-eat",
	       "xyzzyxyzzy");
	REFUSE("there is no benchmark '': 'bench -l' lists them", "");
	REFUSE("there is no benchmark '-': 'bench -l' lists them", "-");
	REFUSE("there is no benchmark '?]0;xxxxxxxxx': 'bench -l' lists them", "\033]0;xxxxxxxxx");
	REFUSE("no benchmark matches 'x*': 'bench -l' lists them", "pear-eat", "x*");
	REFUSE("no benchmark matches '[': 'bench -l' lists them", "[");
	REFUSE("no benchmark matches 'x*': 'bench -l' lists them", "-l", "x*");
	/* what runs nothing needs none */
	ACCEPT("--version");
	ACCEPT("--usage");
	ACCEPT("--show-env");
	ACCEPT("--show-tables");
}

static void options_and_words_in_any_order(void **state)
{
	ACCEPT("apple-eat", "-d", "2", "pear-eat", "-w0");
	CHOSEN("apple-eat", "pear-eat");
	assert_int_equal(args.cfg.duration_s, 2);
	assert_int_equal(args.cfg.warmup_s, 0);
	ACCEPT("-d2", "--", "apple-eat");
	CHOSEN("apple-eat");
	ACCEPT("apple-eat", "--");
	CHOSEN("apple-eat");
	REFUSE("there is no benchmark '-d2': 'bench -l' lists them", "apple-eat", "--", "-d2");
	REFUSE("there is no benchmark '--': 'bench -l' lists them", "--", "--");
}

/* ---- comparisons */

static void files_are_compared(void **state)
{
	ACCEPT("-C", "base", "new");
	assert_string_equal(args.compare, "base");
	assert_int_equal(args.nr_words, 1);
	assert_string_equal(args.words[0], "new");
	/* which are no benchmarks, whatever they are called */
	CHOSEN();
	ACCEPT("a*", "--markdown", "pear-eat", "--compare=base", "--", "--csv");
	CHOSEN();
	assert_true(args.markdown && !args.csv);
	assert_int_equal(args.nr_words, 3);
	assert_string_equal(args.words[0], "a*");
	assert_string_equal(args.words[1], "pear-eat");
	assert_string_equal(args.words[2], "--csv");
	ACCEPT("-Cbase", "new", "--fail-on-slower=2.5", "--match=bench", "--figure=all", "--csv");
	assert_true(args.fail_on_slower_pct == 2.5);
	assert_string_equal(args.match, "bench");
	assert_string_equal(args.figure, "all");
	/* what has no effect is checked */
	ACCEPT("-Cbase", "new", "--red", "--size=5");
	REFUSE("--weight: invalid value '0': expected a whole number from 1 to 500", "-Cbase",
	       "new", "--weight=0");
}

static void comparisons_that_are_refused(void **state)
{
	REFUSE("-C, --compare: requires two files or more, -C BASE NEW", "-C", "base");
	REFUSE("option '-C' requires an argument", "new", "-C");
	REFUSE("--csv: contradicts --markdown", "-C", "base", "new", "--csv", "--markdown");
}

/* ---- the whole */

/* One after the other in one process: nothing of the former is left. */
static void nothing_is_left(void **state)
{
	ACCEPT("-vqd3", "apple-eat", "--size=6", "--prod-affinity=1");
	REFUSE("option '-p' requires an argument", "-vp");
	ACCEPT("pear-eat");
	CHOSEN("pear-eat");
	assert_int_equal(args.cfg.duration_s, 5);
	assert_false(args.cfg.verbose);
	assert_int_equal(args.cfg.prod_cpus.cnt, 0);
	assert_int_equal(apple_params()->size, 5);
	/* also after a refusal there is nothing to be freed twice */
	REFUSE("there is no benchmark 'no': 'bench -l' lists them", "no");
	args_free(&args);
	args_free(&args);
}

/* Wherever memory runs out: that is reported, and what is there can be freed. */
static void memory_runs_out(void **state)
{
#ifdef FAILING_CALLOC
	static const char *const words[] = { "-vqd3", "apple-eat", "pear-*", "--size=25", NULL };
	char *argv[] = { (char *)"bench",  (char *)words[0], (char *)words[1],
			 (char *)words[2], (char *)words[3], NULL };
	FILE *real = stderr;
	int nr, code = BENCH_EXIT_FAILED;
	size_t size;

	for (nr = 0; code == BENCH_EXIT_FAILED; nr++) {
		forget(NULL);
		stderr = open_memstream(&said, &size);
		callocs_left = nr;
		code = args_parse(ARRAY_SIZE(argv) - 1, argv, &args);
		callocs_left = -1;
		fclose(stderr);
		stderr = real;
		if (code)
			assert_string_equal(
				said, "bench: cannot read the arguments: Cannot allocate memory\n");
		args_free(&args);
	}
	assert_int_equal(code, BENCH_EXIT_OK);
	assert_true(nr > 5);
#else
	skip();
#endif
}

#define TEST(name) cmocka_unit_test_teardown(name, forget)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults),
		TEST(all_spellings),
		TEST(letters_in_a_row),
		TEST(a_letter_of_a_family),
		TEST(help_by_any_name),
		TEST(bad_values),
		TEST(percentages_are_shown_as_typed),
		TEST(the_cores_table_is_right),
		TEST(options_that_there_are_not),
		TEST(ambiguous_options),
		TEST(arguments_too_few_or_too_many),
		TEST(options_mean_what_their_family_says),
		TEST(options_go_to_all_that_know_them),
		TEST(options_of_other_families),
		TEST(names_and_patterns),
		TEST(all_of_them),
		TEST(aliases),
		TEST(benchmarks_that_there_are_not),
		TEST(options_and_words_in_any_order),
		TEST(files_are_compared),
		TEST(comparisons_that_are_refused),
		TEST(nothing_is_left),
		TEST(memory_runs_out),
	};

	return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}

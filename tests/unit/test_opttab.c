// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/opttab.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- a table with a row of each kind */

static bool flag;
static long long num, size, mark;
static int colour;
static char *word;

static const char *const colours[] = { "red", "green", "blue", NULL };

static int word_parse(const char *arg, void *dest)
{
	if (strlen(arg) > 8)
		return -EINVAL;
	free(*(char **)dest);
	*(char **)dest = strdup(arg);
	return 0;
}

static void word_reset(void *dest)
{
	free(*(char **)dest);
	*(char **)dest = NULL;
}

static int word_format(const void *dest, char *buf, size_t n)
{
	const char *s = *(char *const *)dest;
	int len = snprintf(buf, n, "%s", s ? s : "");

	return len < 0 || (size_t)len >= n ? -ENOSPC : 0;
}

static const struct opt opts[] = {
	{ .name = "flag", .key = 'f', .type = OPT_FLAG, .dest = &flag, .help = "A flag" },
	{ .name = "num",
	  .alias = "number",
	  .key = 'n',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &num,
	  .def = 5,
	  .min = 1,
	  .max = 100,
	  .help = "A number" },
	{ .name = "size",
	  .arg = "BYTES",
	  .type = OPT_NUM,
	  .dest = &size,
	  .def = 64,
	  .min = 8,
	  .max = 1024,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "A size" },
	{ .name = "mark",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &mark,
	  .def = -1,
	  .def_text = "whatever fits",
	  .min = 0,
	  .max = 9,
	  .help = "A mark" },
	{ .name = "colour",
	  .alias = "color",
	  .arg = "COLOUR",
	  .type = OPT_CHOICE,
	  .dest = &colour,
	  .def = 1,
	  .choices = colours,
	  .help = "A colour" },
	{ .name = "word",
	  .key = 'w',
	  .arg = "WORD",
	  .type = OPT_CUSTOM,
	  .dest = &word,
	  .parse = word_parse,
	  .reset = word_reset,
	  .format = word_format,
	  .allowed = "up to eight letters",
	  .help = "A word" },
};

enum { FLAG, NUM, SIZE, MARK, COLOUR, WORD };

static struct opttab tab;
static char err[256];

/* Parses @args, up to NULL, as a command line. Returns what argp_parse() does. */
static int parse(const char *const *args)
{
	char *argv[16] = { (char *)"prog" };
	int argc = 1;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	err[0] = '\0';
	/* Nothing of it may print or exit: what argp itself would say is not looked at here. */
	return argp_parse(&tab.argp, argc, argv, ARGP_SILENT, NULL, &tab);
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__, NULL })

static int init(void **state)
{
	return opttab_init(&tab, "Things", opts, ARRAY_SIZE(opts), err, sizeof(err));
}

static int end(void **state)
{
	opttab_free(&tab);
	word_reset(&word);
	return 0;
}

/* ---- */

static void defaults_are_put_in(void **state)
{
	size_t i;

	assert_false(flag);
	assert_int_equal(num, 5);
	assert_int_equal(size, 64);
	assert_int_equal(mark, -1);
	assert_int_equal(colour, 1);
	assert_null(word);
	assert_int_equal(PARSE(NULL), 0);
	for (i = 0; i < ARRAY_SIZE(opts); i++)
		assert_false(tab.given[i]);
	assert_string_equal(tab.title, "Things");
}

static void defaults_are_put_in_again(void **state)
{
	assert_int_equal(PARSE("-f", "-n7", "--size=8", "--mark", "0", "--colour=blue", "-wabc"),
			 0);
	opttab_free(&tab);
	assert_int_equal(init(state), 0);
	defaults_are_put_in(state);
}

static void all_spellings(void **state)
{
	assert_int_equal(
		PARSE("-f", "-n", "7", "--size=8", "--mark", "0", "--colour=blue", "-wabc"), 0);
	assert_true(flag);
	assert_int_equal(num, 7);
	assert_int_equal(size, 8);
	assert_int_equal(mark, 0);
	assert_int_equal(colour, 2);
	assert_string_equal(word, "abc");
	assert_string_equal(err, "");

	assert_int_equal(PARSE("--num=8"), 0);
	assert_int_equal(num, 8);
	assert_int_equal(PARSE("--number=9"), 0);
	assert_int_equal(num, 9);
	assert_int_equal(PARSE("--color", "red"), 0);
	assert_int_equal(colour, 0);
	assert_int_equal(PARSE("--word=", "-n100"), 0);
	assert_string_equal(word, "");
	assert_int_equal(num, 100);
	/* the last one counts */
	assert_int_equal(PARSE("-n2", "-n3", "--num=4"), 0);
	assert_int_equal(num, 4);
}

static void given_is_what_was_there(void **state)
{
	/* also where the value is the default's, and by an alias */
	assert_int_equal(PARSE("--number=5", "--color=green"), 0);
	assert_false(tab.given[FLAG]);
	assert_true(tab.given[NUM]);
	assert_false(tab.given[SIZE]);
	assert_false(tab.given[MARK]);
	assert_true(tab.given[COLOUR]);
	assert_false(tab.given[WORD]);
}

static void assert_refused(const char *arg, const char *words)
{
	assert_int_equal(PARSE("-n42", "--size=512", "--colour=blue", "-wkeep", arg, "-n43"),
			 EINVAL);
	assert_string_equal(err, words);
	/* what it was before, and what comes after it is not looked at */
	assert_int_equal(num, 42);
	assert_int_equal(size, 512);
	assert_int_equal(colour, 2);
	assert_string_equal(word, "keep");
}

static void refusals_name_option_value_and_what_is_allowed(void **state)
{
	assert_refused("-n0",
		       "-n, --num: '0' is not allowed: it takes a whole number from 1 to 100");
	assert_refused("--num=101",
		       "-n, --num: '101' is not allowed: it takes a whole number from 1 to 100");
	assert_refused("--number=5x",
		       "-n, --num: '5x' is not allowed: it takes a whole number from 1 to 100");
	assert_refused("--num=",
		       "-n, --num: '' is not allowed: it takes a whole number from 1 to 100");
	assert_refused("-n 5",
		       "-n, --num: ' 5' is not allowed: it takes a whole number from 1 to 100");
	assert_refused("-n99999999999999999999",
		       "-n, --num: '99999999999999999999' is not allowed: "
		       "it takes a whole number from 1 to 100");
	assert_refused("--size=24",
		       "--size: '24' is not allowed: it takes a power of two from 8 to 1024");
	assert_refused("--size=4",
		       "--size: '4' is not allowed: it takes a power of two from 8 to 1024");
	assert_refused("--size=2048",
		       "--size: '2048' is not allowed: it takes a power of two from 8 to 1024");
	/* a mark for 'not given' is not a value that can be given */
	assert_refused("--mark=-1",
		       "--mark: '-1' is not allowed: it takes a whole number from 0 to 9");
	assert_refused("--colour=yellow",
		       "--colour: 'yellow' is not allowed: it takes red, green, blue");
	/* no abbreviations of values */
	assert_refused("--color=gree",
		       "--colour: 'gree' is not allowed: it takes red, green, blue");
	assert_refused("--colour=", "--colour: '' is not allowed: it takes red, green, blue");
	assert_refused("-wfar-too-long",
		       "-w, --word: 'far-too-long' is not allowed: it takes up to eight letters");
}

/* A refusal is one line, and whole, whatever was typed. */
static void endless_values(void **state)
{
	char arg[5000];

	memset(arg, '9', sizeof(arg));
	memcpy(arg, "--num=1", 7);
	arg[sizeof(arg) - 2] = '8';
	arg[sizeof(arg) - 1] = '\0';
	assert_int_equal(PARSE(arg), EINVAL);
	assert_string_equal(err, "-n, --num: '19999999999999999999999999999...99999999999999999999"
				 "99999998' is not allowed: it takes a whole number from 1 to 100");
	assert_int_equal(PARSE("--num=5\r"), EINVAL);
	assert_string_equal(err, "-n, --num: '5?' is not allowed: it takes a whole number from 1 "
				 "to 100");
}

static void assert_format(int opt, const char *expected)
{
	char buf[64], tight[3];

	assert_int_equal(opt_format(&opts[opt], buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
	assert_int_equal(opt_format(&opts[opt], buf, strlen(expected) + 1), 0);
	if (strlen(expected) > 2)
		assert_int_equal(opt_format(&opts[opt], tight, sizeof(tight)), -ENOSPC);
}

static void values_as_they_would_be_typed(void **state)
{
	assert_format(FLAG, "false");
	assert_format(NUM, "5");
	assert_format(MARK, "-1");
	assert_format(COLOUR, "green");
	assert_format(WORD, "");
	assert_int_equal(PARSE("-f", "-n100", "--size=1024", "--colour=red", "-wabcd"), 0);
	assert_format(FLAG, "true");
	assert_format(NUM, "100");
	assert_format(SIZE, "1024");
	assert_format(COLOUR, "red");
	assert_format(WORD, "abcd");
}

static void powers_of_two(void **state)
{
	static const long long yes[] = { 1, 2, 4, 4096, 1LL << 40, 1LL << 62 },
			       no[] = { 0, -1, -2, -4, 3, 6, 4095, 4097, INT64_MAX, INT64_MIN };
	long long v;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(yes); i++) {
		v = yes[i];
		assert_int_equal(opt_power_of_two("", &v), 0);
	}
	for (i = 0; i < ARRAY_SIZE(no); i++) {
		v = no[i];
		assert_int_equal(opt_power_of_two("", &v), -EINVAL);
	}
}

/* What is in the table is in --help: default, range, choices; and aliases are not. */
static void help_follows_from_the_table(void **state)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	assert_int_equal(setenv("ARGP_HELP_FMT", "rmargin=200", 1), 0);
	argp_help(&tab.argp, f, ARGP_HELP_LONG, (char *)"prog");
	fclose(f);
	unsetenv("ARGP_HELP_FMT");
	assert_non_null(strstr(text, "-f, --flag                 A flag\n"));
	assert_non_null(
		strstr(text, "-n, --num=NUM              A number (default 5; 1 to 100)\n"));
	assert_non_null(strstr(text, "--size=BYTES           A size (default 64; "
				     "a power of two, 8 to 1024)\n"));
	assert_non_null(strstr(text, "--mark=NUM             A mark (default whatever fits; "
				     "0 to 9)\n"));
	assert_non_null(strstr(text, "--colour=COLOUR        A colour (default green; "
				     "red, green, blue)\n"));
	assert_non_null(strstr(text, "-w, --word=WORD            A word (up to eight letters)\n"));
	assert_null(strstr(text, "--number"));
	assert_null(strstr(text, "color="));
	free(text);
}

/* A family may have no options of its own. */
static void empty_table(void **state)
{
	struct opttab none;
	char *argv[] = { (char *)"prog", NULL };

	assert_int_equal(opttab_init(&none, NULL, NULL, 0, err, sizeof(err)), 0);
	assert_null(none.title);
	/* argp would lose memory over an empty one */
	assert_null(none.argp.options);
	assert_int_equal(argp_parse(&none.argp, 1, argv, ARGP_SILENT, NULL, &none), 0);
	opttab_free(&none);
	/* and freeing twice does no harm */
	opttab_free(&none);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, init, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(defaults_are_put_in),
		TEST(defaults_are_put_in_again),
		TEST(all_spellings),
		TEST(given_is_what_was_there),
		TEST(refusals_name_option_value_and_what_is_allowed),
		TEST(endless_values),
		TEST(values_as_they_would_be_typed),
		TEST(powers_of_two),
		TEST(help_follows_from_the_table),
		TEST(empty_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

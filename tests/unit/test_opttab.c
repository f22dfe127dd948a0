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

#include "lib/opttab.h"
#include "lib/text.h"
#include "lib/util.h"

/* ---- a table with a row of each kind */

struct things {
	bool flag;
	long long num, size, mark;
	int color;
	char word[9];
};

static const char *const colors[] = { "red", "green", "blue", NULL };

static int word_parse(const char *arg, void *dest)
{
	if (strlen(arg) > 8)
		return -EINVAL;
	strcpy(dest, arg);
	return 0;
}

static void word_reset(void *dest)
{
	*(char *)dest = '\0';
}

static int word_format(const void *dest, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s", (const char *)dest);

	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

static const struct opt opts[] = {
	{ .name = "flag",
	  .key = 'f',
	  .type = OPT_FLAG,
	  .at = offsetof(struct things, flag),
	  .help = "A flag" },
	{ .name = "num",
	  .alias = "number",
	  .key = 'n',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct things, num),
	  .def = 5,
	  .min = 1,
	  .max = 100,
	  .help = "A number" },
	{ .name = "size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct things, size),
	  .def = 65536,
	  .min = 8,
	  .max = 1LL << 32,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "A size" },
	{ .name = "mark",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct things, mark),
	  .def = -1,
	  .def_text = "whatever fits",
	  .min = 0,
	  .max = 9,
	  .help = "A mark" },
	{ .name = "color",
	  .alias = "colour",
	  .arg = "COLOR",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct things, color),
	  .def = 1,
	  .choices = colors,
	  .help = "A color" },
	{ .name = "word",
	  .key = 'w',
	  .arg = "WORD",
	  .type = OPT_CUSTOM,
	  .at = offsetof(struct things, word),
	  .parse = word_parse,
	  .reset = word_reset,
	  .format = word_format,
	  .allowed = "up to eight letters",
	  .help = "A word" },
};

enum { FLAG, NUM, SIZE, MARK, COLOR, WORD, NR_OPTS };

static struct things defaults(void)
{
	struct things t;

	memset(&t, 0xa5, sizeof(t));
	opttab_reset(opts, NR_OPTS, &t);
	return t;
}

static void set(struct things *t, int opt, const char *arg)
{
	char err[256] = "";

	if (opt_set(&opts[opt], arg, t, err, sizeof(err)))
		fail_msg("%s", err);
	assert_string_equal(err, "");
}

/* ---- values */

static void defaults_are_put_in(void **state)
{
	const struct things t = defaults();

	assert_false(t.flag);
	assert_int_equal(t.num, 5);
	assert_int_equal(t.size, 65536);
	assert_int_equal(t.mark, -1);
	assert_int_equal(t.color, 1);
	assert_string_equal(t.word, "");
}

static void values_are_set(void **state)
{
	struct things t = defaults(), before = t;

	set(&t, FLAG, NULL);
	assert_true(t.flag);
	set(&t, NUM, "7");
	set(&t, NUM, "100");
	set(&t, MARK, "0");
	set(&t, COLOR, "blue");
	set(&t, WORD, "abcdefgh");
	/* each in its place, and nothing else */
	assert_int_equal(t.num, 100);
	assert_int_equal(t.mark, 0);
	assert_int_equal(t.color, 2);
	assert_string_equal(t.word, "abcdefgh");
	assert_int_equal(t.size, before.size);
	/* a default given outright, and an argument of no letters */
	set(&t, COLOR, "green");
	assert_int_equal(t.color, 1);
	set(&t, WORD, "");
	assert_string_equal(t.word, "");
	opttab_reset(opts, NR_OPTS, &t);
	assert_int_equal(t.num, 5);
	assert_false(t.flag);
}

static void sizes_have_suffixes(void **state)
{
	struct things t = defaults();

	set(&t, SIZE, "8");
	assert_int_equal(t.size, 8);
	set(&t, SIZE, "4K");
	assert_int_equal(t.size, 4096);
	set(&t, SIZE, "2m");
	assert_int_equal(t.size, 2 << 20);
	set(&t, SIZE, "4G");
	assert_int_equal(t.size, 1LL << 32);
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

static void assert_format(const struct things *t, int opt, const char *expected)
{
	char buf[64], tight[3];

	assert_int_equal(opt_format(&opts[opt], t, buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
	assert_int_equal(opt_format(&opts[opt], t, buf, strlen(expected) + 1), 0);
	if (strlen(expected) > 2)
		assert_int_equal(opt_format(&opts[opt], t, tight, sizeof(tight)), -ENOSPC);
}

static void values_as_they_would_be_typed(void **state)
{
	struct things t = defaults();

	assert_format(&t, FLAG, "false");
	assert_format(&t, NUM, "5");
	assert_format(&t, SIZE, "65536");
	assert_format(&t, MARK, "-1");
	assert_format(&t, COLOR, "green");
	assert_format(&t, WORD, "");
	set(&t, FLAG, NULL);
	set(&t, NUM, "100");
	set(&t, SIZE, "1M");
	set(&t, COLOR, "red");
	set(&t, WORD, "abcd");
	assert_format(&t, FLAG, "true");
	assert_format(&t, NUM, "100");
	assert_format(&t, SIZE, "1048576");
	assert_format(&t, COLOR, "red");
	assert_format(&t, WORD, "abcd");
}

/* ---- refusals */

/* It is refused with these words, which a suggestion may follow, and changes nothing. */
static void assert_refused(int opt, const char *arg, const char *words)
{
	struct things t = defaults(), before;
	const char *nearest = NULL;
	char err[256], expected[512];

	set(&t, NUM, "42");
	set(&t, SIZE, "512");
	set(&t, COLOR, "blue");
	set(&t, WORD, "keep");
	before = t;
	if (opt == COLOR)
		nearest = text_nearest(arg, colors, 3);
	snprintf(expected, sizeof(expected), nearest ? "%s (did you mean '%s'?)" : "%s", words,
		 nearest);
	assert_int_equal(opt_set(&opts[opt], arg, &t, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, expected);
	assert_memory_equal(&t, &before, sizeof(t));
}

static void numbers_that_are_refused(void **state)
{
#define TEXT(value) "-n, --num: invalid value '" value "': expected a whole number from 1 to 100"
	assert_refused(NUM, "0", TEXT("0"));
	assert_refused(NUM, "101", TEXT("101"));
	assert_refused(NUM, "5x", TEXT("5x"));
	assert_refused(NUM, "5K", TEXT("5K")); /* is no size */
	assert_refused(NUM, "", TEXT(""));
	assert_refused(NUM, " 5", TEXT(" 5"));
	assert_refused(NUM, "99999999999999999999", TEXT("99999999999999999999"));
	/* a mark for 'not given' is not a value that can be given */
	assert_refused(MARK, "-1",
		       "--mark: invalid value '-1': expected a whole number from 0 to 9");
#undef TEXT
}

static void sizes_that_are_refused(void **state)
{
#define TEXT(value) \
	"--size: invalid value '" value "': expected a power of two from 8 to 4294967296"
	/* in range and no power of two; and the other way round */
	assert_refused(SIZE, "24", TEXT("24"));
	assert_refused(SIZE, "3K", TEXT("3K"));
	assert_refused(SIZE, "4", TEXT("4"));
	assert_refused(SIZE, "8G", TEXT("8G"));
	assert_refused(SIZE, "K", TEXT("K"));
	assert_refused(SIZE, "4KB", TEXT("4KB"));
	assert_refused(SIZE, "-8", TEXT("-8"));
#undef TEXT
}

static void choices_and_words_that_are_refused(void **state)
{
	assert_refused(COLOR, "yellow",
		       "--color: invalid value 'yellow': expected red, green, blue");
	/* no abbreviations of values */
	assert_refused(COLOR, "gree", "--color: invalid value 'gree': expected red, green, blue");
	assert_refused(COLOR, "", "--color: invalid value '': expected red, green, blue");
	assert_refused(WORD, "far-too-long",
		       "-w, --word: invalid value 'far-too-long': expected up to eight letters");
}

/* A refusal is one line, and whole, whatever was typed. */
static void endless_values(void **state)
{
	char arg[5000], word[5000];

	memset(arg, '9', sizeof(arg));
	arg[0] = '1';
	arg[sizeof(arg) - 2] = '8';
	arg[sizeof(arg) - 1] = '\0';
	assert_refused(
		NUM, arg,
		"-n, --num: invalid value '19999999999999999999999999999...99999999999999999999"
		"99999998': expected a whole number from 1 to 100");
	assert_refused(NUM, "5\r",
		       "-n, --num: invalid value '5?': expected a whole number from 1 to 100");
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	assert_refused(
		COLOR, word,
		"--color: invalid value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxx': expected red, green, blue");
}

/* ---- --help */

static void assert_help(const struct opt *opt, const char *expected)
{
	const struct things t = defaults();
	char *text = opt_help(opt, &t);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void help_follows_from_the_table(void **state)
{
	struct opt opt = opts[WORD];

	assert_help(&opts[FLAG], "A flag");
	assert_help(&opts[NUM], "A number (default 5; 1 to 100)");
	assert_help(&opts[SIZE], "A size (default 65536; a power of two, 8 to 4294967296)");
	assert_help(&opts[MARK], "A mark (default whatever fits; 0 to 9)");
	assert_help(&opts[COLOR], "A color (default green; red, green, blue)");
	assert_help(&opts[WORD], "A word (up to eight letters)");
	opt.allowed = NULL;
	assert_help(&opt, "A word");
	opt.def_text = "none";
	assert_help(&opt, "A word (default none)");
}

/* ---- tables */

static void rows_are_found(void **state)
{
	assert_ptr_equal(opttab_find(opts, NR_OPTS, "num"), &opts[NUM]);
	assert_ptr_equal(opttab_find(opts, NR_OPTS, "number"), &opts[NUM]);
	assert_ptr_equal(opttab_find(opts, NR_OPTS, "colour"), &opts[COLOR]);
	assert_null(opttab_find(opts, NR_OPTS, "numb"));
	assert_null(opttab_find(opts, NR_OPTS, "n"));
	assert_null(opttab_find(opts, NR_OPTS, ""));
	assert_null(opttab_find(opts, NUM, "num"));
	assert_null(opttab_find(NULL, 0, "num"));
}

/* The table above with one row changed; "": nothing is wrong. */
static void assert_fault(int row, struct opt opt, const char *text)
{
	struct opt table[NR_OPTS];
	char err[128] = "";

	memcpy(table, opts, sizeof(table));
	table[row] = opt;
	assert_int_equal(opttab_check(table, NR_OPTS, sizeof(struct things), err, sizeof(err)),
			 *text ? -EINVAL : 0);
	assert_string_equal(err, text);
}

#define WITH(row, ...)                          \
	({                                      \
		struct opt changed = opts[row]; \
		__VA_ARGS__;                    \
		changed;                        \
	})

static void faults_of_rows(void **state)
{
	assert_fault(NUM, opts[NUM], "");
	assert_fault(NUM, WITH(NUM, changed.name = NULL), "option '' has no name");
	assert_fault(NUM, WITH(NUM, changed.help = NULL), "option 'num' has no help");
	assert_fault(NUM, WITH(NUM, changed.arg = NULL),
		     "option 'num' has no name for its argument");
	assert_fault(WORD, WITH(WORD, changed.arg = NULL),
		     "option 'word' has no name for its argument");
	assert_fault(FLAG, WITH(FLAG, changed.arg = "X"),
		     "option 'flag' is a flag with an argument");
	assert_fault(NUM, WITH(NUM, changed.def = 101),
		     "option 'num' has a default outside of its range");
	assert_fault(SIZE, WITH(SIZE, changed.def = 7),
		     "option 'size' has a default outside of its range");
	assert_fault(MARK, WITH(MARK, changed.def_text = NULL),
		     "option 'mark' has a default outside of its range");
	assert_fault(COLOR, WITH(COLOR, changed.choices = NULL), "option 'color' has no choices");
	assert_fault(COLOR, WITH(COLOR, changed.def = 3),
		     "option 'color' has a default that is none of its choices");
	assert_fault(COLOR, WITH(COLOR, changed.def = -1),
		     "option 'color' has a default that is none of its choices");
	assert_fault(WORD, WITH(WORD, changed.parse = NULL),
		     "option 'word' lacks one of parse, reset and format");
	assert_fault(WORD, WITH(WORD, changed.reset = NULL),
		     "option 'word' lacks one of parse, reset and format");
	assert_fault(WORD, WITH(WORD, changed.format = NULL),
		     "option 'word' lacks one of parse, reset and format");
	/* the last number that fits, and the first that does not */
	assert_fault(NUM, WITH(NUM, changed.at = sizeof(struct things) - sizeof(long long)), "");
	assert_fault(NUM, WITH(NUM, changed.at = sizeof(struct things) - sizeof(long long) + 1),
		     "option 'num' lies outside of the struct for its value");
	assert_fault(FLAG, WITH(FLAG, changed.at = sizeof(struct things)),
		     "option 'flag' lies outside of the struct for its value");
}

static void names_that_are_there_twice(void **state)
{
	assert_fault(SIZE, WITH(SIZE, changed.name = "num"), "option 'num' is there twice");
	assert_fault(SIZE, WITH(SIZE, changed.name = "number"), "option 'number' is there twice");
	assert_fault(SIZE, WITH(SIZE, changed.alias = "num"), "option 'size' is there twice");
	assert_fault(SIZE, WITH(SIZE, changed.alias = "number"), "option 'size' is there twice");
	/* getopt would give both to the first */
	assert_fault(SIZE, WITH(SIZE, changed.key = 'n'), "option 'size' has another one's letter");
}

/* A family may have no options of its own. */
static void empty_table(void **state)
{
	char err[16] = "";

	opttab_reset(NULL, 0, NULL);
	assert_int_equal(opttab_check(NULL, 0, 0, err, sizeof(err)), 0);
	assert_string_equal(err, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_put_in),
		cmocka_unit_test(values_are_set),
		cmocka_unit_test(sizes_have_suffixes),
		cmocka_unit_test(powers_of_two),
		cmocka_unit_test(values_as_they_would_be_typed),
		cmocka_unit_test(numbers_that_are_refused),
		cmocka_unit_test(sizes_that_are_refused),
		cmocka_unit_test(choices_and_words_that_are_refused),
		cmocka_unit_test(endless_values),
		cmocka_unit_test(help_follows_from_the_table),
		cmocka_unit_test(rows_are_found),
		cmocka_unit_test(faults_of_rows),
		cmocka_unit_test(names_that_are_there_twice),
		cmocka_unit_test(empty_table),
	};

	return cmocka_run_group_tests_name("opttab", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* lib/text.h and lib/table.h. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/table.h"
#include "lib/text.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- text */

static void width_counts_characters(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("abc"), 3);
	assert_int_equal(text_width("1 \u00B1 2"), 5);
	assert_int_equal(text_width("\u00e4\u20ac\U0001d11e"), 3);
}

static void check_shortened(const char *s, size_t width, const char *want)
{
	char *got = text_shortened(s, width);

	assert_string_equal(got, want);
	free(got);
}

static void shortens_in_the_middle(void **state)
{
	(void)state;
	check_shortened("abcdefghij", 10, "abcdefghij");
	check_shortened("abcdefghij", 9, "abc...hij");
	check_shortened("abcdefghij", 8, "abc...ij");
	check_shortened("abcdefghij", 4, "a...");
	check_shortened("abcdefghij", 3, "abc");
	check_shortened("abcdefghij", 1, "a");
	check_shortened("abcdefghij", 0, "");
	/* Characters stay whole. */
	check_shortened("\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6", 7,
			"\u00e4\u00f6...\u00e4\u00f6");
	check_shortened("\u00e4\u00f6\u00fc\u00e4", 2, "\u00e4\u00f6");
}

static void terminals_are_safe(void **state)
{
	(void)state;
	check_shortened("a\x1b[31mb\x7f\tc", 80, "a?[31mb??c");
	/* U+009B begins a control sequence, as Escape [ does. */
	check_shortened("a\xc2\x9b"
			"1mb",
			80, "a?1mb");
	check_shortened("\u00a0\u00b1", 80, "\u00a0\u00b1");
}

static char *wrapped(const char *first, const char *rest, const char *s, size_t width)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(text_wrap(f, first, rest, s, width), 0);
	fclose(f);
	return text;
}

static void check_wrapped(const char *first, const char *rest, const char *s, size_t width,
			  const char *want)
{
	char *got = wrapped(first, rest, s, width);

	assert_string_equal(got, want);
	free(got);
}

static void wraps_at_blanks(void **state)
{
	(void)state;
	check_wrapped("", "", "one two three", 80, "one two three\n");
	check_wrapped("", "", "one two three", 13, "one two three\n");
	check_wrapped("", "", "one two three", 12, "one two\nthree\n");
	check_wrapped("", "", "one two three", 7, "one two\nthree\n");
	check_wrapped("", "", "one two three", 6, "one\ntwo\nthree\n");
	check_wrapped("base: ", "      ", "one two three", 13, "base: one two\n      three\n");
	check_wrapped("", "", "", 10, "\n");
	check_wrapped("", "", "   a   b   ", 10, "a   b\n");
	check_wrapped("", "", "a bcdefghijklm n", 7, "a\nbc...lm\nn\n");
	check_wrapped("", "", "\u00b1\u00b1\u00b1 \u00b1\u00b1", 6,
		      "\u00b1\u00b1\u00b1 \u00b1\u00b1\n");
}

/* Whatever comes in, no line comes out wider, and no word is lost. */
static void never_wider(void **state)
{
	char s[300], *got, *line, *save;
	unsigned short seed[3] = { 1, 2, 3 };
	size_t width, i, n, words, words_out;

	(void)state;
	for (n = 0; n < 2000; n++) {
		size_t len = nrand48(seed) % (sizeof(s) - 1);

		for (i = 0; i < len; i++)
			s[i] = nrand48(seed) % 5 ? 'a' + nrand48(seed) % 26 : ' ';
		s[len] = '\0';
		width = 5 + nrand48(seed) % 70;
		got = wrapped("  ", "    ", s, width);
		words = words_out = 0;
		for (i = 0; s[i]; i++)
			words += s[i] != ' ' && (s[i + 1] == ' ' || !s[i + 1]);
		for (line = strtok_r(got, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			if (text_width(line) > width)
				fail_msg("%zu wide: '%s'", width, line);
			for (i = 0; line[i]; i++)
				words_out += line[i] != ' ' && (line[i + 1] == ' ' || !line[i + 1]);
		}
		assert_int_equal(words_out, words);
		free(got);
	}
}

static void check_markdown(const char *s, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	text_put_markdown(f, s);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void escapes_markdown(void **state)
{
	(void)state;
	check_markdown("# a|b *c* warmup_s=3 _x_ <b> `d` \\ -1..+2 a->b [l](u) &lt; ~~s~~",
		       "\\# a\\|b \\*c\\* warmup_s=3 \\_x\\_ \\<b> \\`d\\` \\\\ -1..+2 a->b "
		       "\\[l\\](u) \\&lt; \\~\\~s\\~\\~");
	check_markdown("a\nb\33[1mc\177d\302\2331me\302", "a?b?\\[1mc?d?1me\302");
	check_markdown("\u00a0\u00b1", "\u00a0\u00b1");
}

/* ---- tables */

static const struct table_col cols[] = {
	{ "name", false },
	{ "value", true },
	{ "p", true },
};

static void add(struct table *t, const char *a, const char *b, const char *c)
{
	char *cells[] = { strdup(a), strdup(b), strdup(c) };

	assert_int_equal(table_add(t, cells), 0);
}

static void check_table(const struct table *t, int (*print)(const struct table *t, FILE *out),
			const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(print ? print(t, f) : table_print_text(t, f, 40), 0);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void table_that_fits(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "one\n8+8 runs", "1.5\n1.4..1.6", "0.1\n~");
	add(&t, "\u00b1two\n", "10", "");
	check_table(&t, NULL,
		    "name           value    p\n"
		    "one              1.5  0.1\n"
		    "  8+8 runs  1.4..1.6    ~\n"
		    "\u00b1two              10\n");
	table_free(&t);
	assert_int_equal(t.nr_rows, 0);
}

/* 12 columns of numbers and gaps leave 28 for the names. */
static void table_with_long_names(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "123456789 123456789 12345678\nx", "12345", "123");
	check_table(&t, NULL,
		    "name                          value    p\n"
		    "123456789 123456789 12345678  12345  123\n"
		    "  x\n");
	add(&t, "123456789 123456789 123456789\nx\n", "1\n2", "3\n4");
	check_table(&t, NULL,
		    "name  value    p\n"
		    "123456789 123456789 12345678\n"
		    "  x   12345  123\n"
		    "123456789 123456789 123456789\n"
		    "  x       1    3\n"
		    "          2    4\n");
	table_free(&t);
}

/* Not even what is below the names has room beside the numbers. */
static void table_of_wide_numbers(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "a name that is longer than one line can be here\n8+8 runs",
	    "12345678901234567890\n1", "1234567890123");
	check_table(&t, NULL,
		    "nam                 value              p\n"
		    "a name that is longer than one line can\n"
		    "  be here\n"
		    "  8+8 runs\n"
		    "     12345678901234567890  1234567890123\n"
		    "                        1\n");
	table_free(&t);
}

static void table_as_markdown(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "a|b", "1\n0..2", "~");
	check_table(&t, table_print_markdown,
		    "| name | value | p |\n"
		    "| --- | ---: | ---: |\n"
		    "| a\\|b | 1 (0..2) | \\~ |\n");
	table_free(&t);
}

static void table_as_csv(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "a,b", "say \"x\"", "two\nlines");
	add(&t, "", "\r", "-1");
	check_table(&t, table_print_csv,
		    "name,value,p\r\n"
		    "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\r\n"
		    ",\"\r\",-1\r\n");
	table_free(&t);
}

static void table_without_rows(void **state)
{
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	check_table(&t, NULL, "name  value  p\n");
	check_table(&t, table_print_csv, "name,value,p\r\n");
	table_free(&t);
}

static void table_add_takes_all_or_nothing(void **state)
{
	char *cells[] = { strdup("a"), NULL, strdup("c") };
	struct table t;

	(void)state;
	table_init(&t, cols, ARRAY_SIZE(cols));
	/* Leak checkers see whether the two others are freed. */
	assert_int_equal(table_add(&t, cells), -ENOMEM);
	assert_int_equal(t.nr_rows, 0);
	table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(width_counts_characters),
		cmocka_unit_test(shortens_in_the_middle),
		cmocka_unit_test(terminals_are_safe),
		cmocka_unit_test(wraps_at_blanks),
		cmocka_unit_test(never_wider),
		cmocka_unit_test(escapes_markdown),
		cmocka_unit_test(table_that_fits),
		cmocka_unit_test(table_with_long_names),
		cmocka_unit_test(table_of_wide_numbers),
		cmocka_unit_test(table_as_markdown),
		cmocka_unit_test(table_as_csv),
		cmocka_unit_test(table_without_rows),
		cmocka_unit_test(table_add_takes_all_or_nothing),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}

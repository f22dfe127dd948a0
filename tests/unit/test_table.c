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

#include "lib/table.h"
#include "lib/util.h"

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

/* 12 columns of numbers and gaps, whatever the first column has */
static void table_that_has_room(void **state)
{
	struct table t;

	table_init(&t, cols, ARRAY_SIZE(cols));
	add(&t, "a name that is longer than one line can be here", "12345\n1", "1\n123");
	assert_true(table_fits(&t, 12));
	assert_false(table_fits(&t, 11));
	table_free(&t);
}

/* Not even what is below the names has room beside the numbers. */
static void table_of_wide_numbers(void **state)
{
	struct table t;

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
	static const struct table_col marked[] = { { "a|b", false },
						   { "value", true },
						   { "p", true } };
	struct table t;

	table_init(&t, marked, ARRAY_SIZE(marked));
	add(&t, "a|b", "1\n0..2", "~");
	check_table(&t, table_print_markdown,
		    "| a\\|b | value | p |\n"
		    "| --- | ---: | ---: |\n"
		    "| a\\|b | 1 (0..2) | \\~ |\n");
	table_free(&t);
}

static void table_as_csv(void **state)
{
	struct table t;

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

	table_init(&t, cols, ARRAY_SIZE(cols));
	check_table(&t, NULL, "name  value  p\n");
	check_table(&t, table_print_csv, "name,value,p\r\n");
	table_free(&t);
}

static void table_add_takes_all_or_nothing(void **state)
{
	char *cells[] = { strdup("a"), NULL, strdup("c") };
	struct table t;

	table_init(&t, cols, ARRAY_SIZE(cols));
	/* Leak checkers see whether the two others are freed. */
	assert_int_equal(table_add(&t, cells), -ENOMEM);
	assert_int_equal(t.nr_rows, 0);
	table_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_that_fits),
		cmocka_unit_test(table_with_long_names),
		cmocka_unit_test(table_that_has_room),
		cmocka_unit_test(table_of_wide_numbers),
		cmocka_unit_test(table_as_markdown),
		cmocka_unit_test(table_as_csv),
		cmocka_unit_test(table_without_rows),
		cmocka_unit_test(table_add_takes_all_or_nothing),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}

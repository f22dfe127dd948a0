// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sysfile.h"
#include "lib/util.h"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/test_sysfile.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/f", root);
	unlink(path);
	return rmdir(root);
}

static void put(const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/f", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_line(const char *text, size_t size, int want, const char *line)
{
	char buf[64] = "unchanged";

	put(text);
	assert_int_equal(sysfile_line(root, buf, size, "/%c", 'f'), want);
	assert_string_equal(buf, line);
}

static void first_line(void **state)
{
	char buf[64];

	(void)state;
	assert_line(" \ta b \r\nc\n", 64, 0, "a b");
	assert_line("abc", 4, 0, "abc");
	assert_line("abcd\n", 4, -EOVERFLOW, "unchanged");
	assert_line("", 64, -ENODATA, "unchanged");
	assert_line(" \nsecond\n", 64, -ENODATA, "unchanged");
	assert_int_equal(sysfile_line(root, buf, 64, "/nothing"), -ENOENT);
	assert_int_equal(sysfile_line("", buf, 64, "/proc"), -EISDIR);
}

static void path_too_long(void **state)
{
	char path[PATH_MAX + 1], buf[64];

	(void)state;
	put("7\n");
	memset(path, '/', PATH_MAX);
	memcpy(path, root, strlen(root));
	path[PATH_MAX] = '\0';
	assert_int_equal(sysfile_line(path, buf, sizeof(buf), "f"), -ENAMETOOLONG);
	path[PATH_MAX - 1] = '\0';
	assert_int_equal(sysfile_line(path, buf, sizeof(buf), "f"), -ENAMETOOLONG);
	/* The longest that the system accepts */
	path[PATH_MAX - 2] = '\0';
	assert_int_equal(sysfile_line(path, buf, sizeof(buf), "f"), 0);
}

static void number(void **state)
{
	static const struct {
		const char *text;
		int err;
		long long value;
	} cases[] = {
		{ "7\n", 0, 7 },
		{ "-1", 0, -1 },
		{ "4\t4\t1\t7\n", 0, 4 },
		{ "9223372036854771712\n", 0, 9223372036854771712 },
		{ "99999999999999999999\n", -ERANGE, 42 },
		{ "max\n", -EINVAL, 42 },
		{ "7kB\n", -EINVAL, 42 },
		{ "\n7\n", -ENODATA, 42 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		long long value = 42;

		put(cases[i].text);
		assert_int_equal(sysfile_number(root, &value, "/f"), cases[i].err);
		assert_true(value == cases[i].value);
	}
}

static void assert_value(const char *text, const char *key, char sep, const char *want)
{
	char line[64], *value;

	strcpy(line, text);
	value = sysfile_value(line, key, sep);
	if (want)
		assert_string_equal(value, want);
	else
		assert_null(value);
}

static void value_in_line(void **state)
{
	(void)state;
	assert_value("model name\t: A: B \n", "model name", ':', "A: B");
	assert_value("MemAvailable:   12 kB\n", "MemAvailable", ':', "12 kB");
	assert_value("flags\t:\n", "flags", ':', "");
	assert_value("model name of it : B\n", "model name", ':', NULL);
	assert_value("my key : B\n", "key", ':', NULL);
	assert_value("key", "key", ':', NULL);
	assert_value("file 10\n", "file", ' ', "10");
	assert_value("file_mapped 3\n", "file", ' ', NULL);
	assert_value("file", "file", ' ', NULL);
}

static void first_value_not_empty(void **state)
{
	char buf[4];

	(void)state;
	put("key :\nother : 1\nkey : abcdef\nkey : 2\n");
	assert_int_equal(sysfile_key(root, "/f", "key", ':', buf, sizeof(buf)), 0);
	assert_string_equal(buf, "abc");
	assert_int_equal(sysfile_key(root, "/f", "ke", ':', buf, sizeof(buf)), -ENODATA);
	assert_int_equal(sysfile_key(root, "/g", "key", ':', buf, sizeof(buf)), -ENOENT);
}

#define ROOTED(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOTED(first_line),
		ROOTED(path_too_long),
		ROOTED(number),
		cmocka_unit_test(value_in_line),
		ROOTED(first_value_not_empty),
	};

	return cmocka_run_group_tests_name("sysfile", tests, NULL, NULL);
}

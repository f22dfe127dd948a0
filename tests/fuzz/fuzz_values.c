// SPDX-License-Identifier: GPL-2.0
/*
 * The small parsers below the options, one a call, with what they promise: numbers, CPU sets, and
 * text laid out for people. The first byte of the input chooses; the rest is the text.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cpuset.h"
#include "lib/num.h"
#include "lib/text.h"

/* By the C library, for what has the form of a number. */
static int parse_by_libc(const char *s, long long min, long long max, long long *out)
{
	const char *digits = s + (*s == '-' && min < 0);

	if (!*digits || digits[strspn(digits, "0123456789")])
		return -EINVAL;
	errno = 0;
	*out = strtoll(s, NULL, 10);
	return errno || *out < min || *out > max ? -ERANGE : 0;
}

static void try_num(const char *s)
{
	static const long long ranges[][2] = {
		{ 0, 4096 },	   { 1, 1 },	      { LLONG_MIN, LLONG_MAX },
		{ -1, LLONG_MAX }, { LLONG_MIN, -5 },
	};
	long long want, got;
	size_t i;
	int ret;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
		got = 77;
		ret = num_parse(s, ranges[i][0], ranges[i][1], &got);
		fuzz_check(ret == parse_by_libc(s, ranges[i][0], ranges[i][1], &want),
			   "num_parse() returns %d for '%s'", ret, s);
		fuzz_check(got == (ret ? 77 : want), "'%s' became %lld", s, got);
	}
}

static void try_cpuset(const char *s)
{
	struct cpuset set, again;
	char *text;
	int ret, i;

	ret = cpuset_parse(s, &set);
	if (ret) {
		fuzz_check(ret == -EINVAL || ret == -ERANGE, "cpuset_parse() returns %d", ret);
		fuzz_check(!set.cpus && !set.cnt, "a set after an error");
		return;
	}
	fuzz_check(!s[strspn(s, "0123456789,-")], "'%s' is a set", s);
	fuzz_check(set.cnt > 0 && set.cpus[0] >= 0 && set.cpus[set.cnt - 1] <= CPUSET_MAX,
		   "what came of '%s' is no set", s);
	for (i = 0; i < set.cnt; i++) {
		fuzz_check(!i || set.cpus[i - 1] < set.cpus[i], "'%s' became unsorted", s);
		fuzz_check(cpuset_has(&set, set.cpus[i]), "CPU %d is lost", set.cpus[i]);
	}
	/* The shortest form is no longer than what it came from, but for zeros in front. */
	text = malloc(strlen(s) + 1);
	fuzz_check(text && !cpuset_format(&set, text, strlen(s) + 1), "'%s' cannot be formatted",
		   s);
	fuzz_check(!cpuset_parse(text, &again), "'%s' became '%s', which is none", s, text);
	fuzz_check(again.cnt == set.cnt && cpuset_first_missing(&again, &set) < 0,
		   "'%s' became '%s', which is another", s, text);
	free(text);
	cpuset_free(&again);
	cpuset_free(&set);
}

static void try_shortened(const char *s, size_t width)
{
	char *text = text_shortened(s, width);

	fuzz_check(text, "no memory");
	fuzz_check_text("shortened", text, width ? width : 1);
	fuzz_check(!fuzz_is_utf8(s) || fuzz_is_utf8(text), "UTF-8 became something else: %s", text);
	fuzz_check(text_width(s) > width || strlen(text) <= strlen(s), "'%s' grew", s);
	free(text);
}

static void try_wrap(const char *s, size_t width)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	fuzz_check(out && !text_wrap(out, "", "  ", s, width) && !fclose(out), "no memory");
	/* Behind an indent there is always room for one character. */
	fuzz_check_text("wrapped", text, width > 3 ? width : 3);
	fuzz_check(!fuzz_is_utf8(s) || fuzz_is_utf8(text), "UTF-8 became something else: %s", text);
	free(text);
}

static void try_markdown(const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	fuzz_check(out, "no memory");
	text_put_markdown(out, s);
	fuzz_check(!fclose(out), "no memory");
	fuzz_check(!strchr(text, '\n'), "several lines: %s", text);
	fuzz_check_text("markdown", text, 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t width;
	char *s;

	if (!size)
		return 0;
	s = strndup((const char *)data + 1, size - 1);
	fuzz_check(s, "no memory");
	width = data[0] / 8;
	switch (data[0] % 5) {
	case 0:
		try_num(s);
		break;
	case 1:
		try_cpuset(s);
		break;
	case 2:
		try_shortened(s, width);
		break;
	case 3:
		try_wrap(s, width);
		break;
	case 4:
		try_markdown(s);
		break;
	}
	free(s);
	return 0;
}

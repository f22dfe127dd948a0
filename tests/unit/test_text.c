// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/util.h"

static void width_counts_characters(void **state)
{
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
	check_markdown("# a|b *c* warmup_s=3 _x_ <b> `d` \\ -1..+2 a->b [l](u) &lt; ~~s~~",
		       "\\# a\\|b \\*c\\* warmup_s=3 \\_x\\_ \\<b> \\`d\\` \\\\ -1..+2 a->b "
		       "\\[l\\](u) \\&lt; \\~\\~s\\~\\~");
	check_markdown("a\nb\33[1mc\177d\302\2331me\302", "a?b?\\[1mc?d?1me\302");
	check_markdown("\u00a0\u00b1", "\u00a0\u00b1");
}

static void check_nearest(const char *word, const char *want)
{
	static const char *const names[] = {
		"rb-custom",
		"rb-libbpf",
		"pb-custom",
		"hits",
		"drops",
		"ab",
		"a-name-that-is-longer-than-any-name-that-a-user-would-ever-type-by-hand",
	};
	const char *got = text_nearest(word, names, ARRAY_SIZE(names));

	if (!!got != !!want || (got && strcmp(got, want)))
		fail_msg("'%s': got '%s', want '%s'", word, got ? got : "none",
			 want ? want : "none");
}

static void finds_the_nearest(void **state)
{
	check_nearest("rb-custom", "rb-custom");
	check_nearest("rb-custon", "rb-custom"); /* substitution */
	check_nearest("rb-custm", "rb-custom"); /* deletion */
	check_nearest("rb-customs", "rb-custom"); /* insertion */
	check_nearest("pb-custm", "pb-custom"); /* not "rb-custom", which is 2 away */
	check_nearest("rp-custom", "rb-custom"); /* the first of two that are as near */
	check_nearest("rb_libpbf", "rb-libbpf");
	/* A swap of neighbors is one edit: at four letters two would be too many. */
	check_nearest("htis", "hits");
	check_nearest("hsti", NULL);
	check_nearest("ba", "ab");
	/* A third of its length */
	check_nearest("dro", NULL);
	check_nearest("drosp", "drops");
	check_nearest("cb-kustam", "rb-custom");
	check_nearest("cb-kustan", NULL);
	check_nearest("x", NULL);
	check_nearest("", NULL);
	check_nearest("a-name-that-is-longer-than-any-name-that-a-user-would-ever-type-by-hand",
		      NULL);
	assert_null(text_nearest("hits", NULL, 0));
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
		cmocka_unit_test(finds_the_nearest),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}

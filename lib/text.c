// SPDX-License-Identifier: GPL-2.0
#include "lib/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GAP "..."

/* All bytes of a UTF-8 character but the first look like 10xxxxxx. */
static bool starts_char(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += starts_char(*s);
	return n;
}

/* Bytes of the first @chars characters of @s. */
static size_t prefix_bytes(const char *s, size_t chars)
{
	size_t i;

	for (i = 0; s[i]; i++) {
		if (starts_char(s[i]) && !chars--)
			break;
	}
	return i;
}

/* Bytes of the control character that @s begins with; 0: with another character. */
static size_t control_bytes(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	if (c[0] < ' ' || c[0] == 0x7f)
		return 1;
	/* U+0080 to U+009F are control characters as well. */
	return c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0 ? 2 : 0;
}

void text_make_harmless(char *s)
{
	size_t n;

	for (; *s; s++) {
		n = control_bytes(s);
		if (n) {
			memmove(s, s + n - 1, strlen(s + n - 1) + 1);
			*s = '?';
		}
	}
}

static char *shortened(const char *s, size_t len, size_t width)
{
	size_t chars, head, tail, gap = strlen(GAP), head_bytes, tail_at;
	char *copy;

	copy = strndup(s, len);
	if (!copy)
		return NULL;
	text_make_harmless(copy);
	chars = text_width(copy);
	if (chars <= width)
		return copy;
	if (width <= gap) {
		copy[prefix_bytes(copy, width)] = '\0';
		return copy;
	}
	head = (width - gap + 1) / 2;
	tail = width - gap - head;
	head_bytes = prefix_bytes(copy, head);
	tail_at = prefix_bytes(copy, chars - tail);
	/* At least one character more than the gap's three bytes has gone: it fits. */
	memcpy(copy + head_bytes, GAP, gap);
	memmove(copy + head_bytes + gap, copy + tail_at, strlen(copy + tail_at) + 1);
	return copy;
}

char *text_shortened(const char *s, size_t width)
{
	return shortened(s, strlen(s), width);
}

char *text_next_line(const char **s, size_t width)
{
	const char *start = *s + strspn(*s, " "), *end, *word = start, *next;
	size_t used = 0, chars;

	*s = start;
	if (!*start)
		return NULL;
	for (end = start; *word; word = next) {
		size_t skip = strspn(word, " "), len = strcspn(word + skip, " ");

		next = word + skip + len;
		for (chars = 0; word < next; word++)
			chars += starts_char(*word);
		if (end > start && used + chars > width)
			break;
		if (len)
			end = next;
		used += chars;
	}
	*s = end + strspn(end, " ");
	return shortened(start, end - start, width);
}

int text_wrap(FILE *out, const char *first, const char *rest, const char *s, size_t width)
{
	const char *indent = first;
	size_t used;
	char *line;

	do {
		used = text_width(indent);
		line = text_next_line(&s, width > used ? width - used : 1);
		if (!line && *s)
			return -ENOMEM;
		fprintf(out, "%s%s\n", indent, line ? line : "");
		free(line);
		indent = rest;
	} while (*s);
	return 0;
}

/* Within a word an underscore is itself; so are some others unless a line begins with them. */
static bool needs_escape(const char *start, const char *c)
{
	if (*c == '_')
		return c == start || !isalnum((unsigned char)c[-1]) ||
		       !isalnum((unsigned char)c[1]);
	if (strchr("+-", *c))
		return c == start && c[1] == ' ';
	if (strchr(">#", *c))
		return c == start;
	return strchr("\\`*<|~[]&", *c);
}

void text_put_markdown(FILE *out, const char *s)
{
	const char *c;
	size_t n;

	for (c = s; *c; c++) {
		n = control_bytes(c);
		if (n) {
			fputc('?', out);
			c += n - 1;
			continue;
		}
		if (needs_escape(s, c))
			fputc('\\', out);
		fputc(*c, out);
	}
}

/* Nobody types longer names. */
#define MAX_WORD 64

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Edit distance of @a and @b, of at most MAX_WORD bytes each, in the form in which no part is
 * edited twice ("optimal string alignment").
 */
static size_t distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	size_t rows[3][MAX_WORD + 1], *before = rows[0], *last = rows[1], *row = rows[2], *spare;
	size_t i, j;

	for (j = 0; j <= len_b; j++)
		last[j] = j;
	for (i = 1; i <= len_a; i++) {
		row[0] = i;
		for (j = 1; j <= len_b; j++) {
			row[j] = min(last[j], row[j - 1]) + 1;
			row[j] = min(row[j], last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[len_b];
}

const char *text_nearest(const char *word, const char *const *names, size_t nr)
{
	const size_t len = strlen(word);
	size_t least = (len + 1) / 3 + 1, d, i;
	const char *nearest = NULL;

	if (len > MAX_WORD)
		return NULL;
	for (i = 0; i < nr; i++) {
		if (strlen(names[i]) > MAX_WORD)
			continue;
		d = distance(word, len, names[i], strlen(names[i]));
		if (d < least) {
			nearest = names[i];
			least = d;
		}
	}
	return nearest;
}

int text_fail(char *err, size_t size, int ret, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(err, size, fmt, va);
	va_end(va);
	return ret;
}

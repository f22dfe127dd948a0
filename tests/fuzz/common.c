// SPDX-License-Identifier: GPL-2.0
#include "tests/fuzz/fuzz.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/text.h"

void fuzz_fail(const char *fmt, ...)
{
	va_list va;

	/* Not by way of stderr, which a target may have sent elsewhere. */
	dprintf(STDERR_FILENO, "fuzz_check: ");
	va_start(va, fmt);
	vdprintf(STDERR_FILENO, fmt, va);
	va_end(va);
	dprintf(STDERR_FILENO, "\n");
	abort();
}

const char *fuzz_file(int nr, const void *data, size_t size)
{
	static char paths[FUZZ_NR_FILES][32];
	static int fds[FUZZ_NR_FILES];

	if (!paths[nr][0]) {
		fds[nr] = memfd_create("input", MFD_CLOEXEC);
		fuzz_check(fds[nr] >= 0, "no file in memory");
		snprintf(paths[nr], sizeof(paths[nr]), "/proc/self/fd/%d", fds[nr]);
	}
	fuzz_check(!ftruncate(fds[nr], 0) && pwrite(fds[nr], data, size, 0) == (ssize_t)size,
		   "cannot write a file in memory");
	return paths[nr];
}

static bool is_control(const unsigned char *c)
{
	return *c < ' ' || *c == 0x7f || (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

static void check_line(const char *what, const char *line, size_t width)
{
	const char *c;

	for (c = line; *c; c++)
		fuzz_check(!is_control((const unsigned char *)c),
			   "%s: character 0x%02x at %td of: %s", what, (unsigned char)*c, c - line,
			   line);
	fuzz_check(!width || text_width(line) <= width, "%s: %zu columns, more than %zu: %s", what,
		   text_width(line), width, line);
}

bool fuzz_is_utf8(const char *text)
{
	json_t *json = json_string(text);

	json_decref(json);
	return json;
}

void fuzz_check_text(const char *what, const char *text, size_t width)
{
	char *copy = strdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		check_line(what, line, width);
	free(copy);
}

struct fuzz_random fuzz_random(unsigned int seed)
{
	/* Seeds come in a row: spread them. 0 would stay 0 for ever. */
	return (struct fuzz_random){ .state = seed * 2654435761U ?: 1 };
}

/* G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003). */
size_t fuzz_below(struct fuzz_random *r, size_t n)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 17;
	r->state ^= r->state << 5;
	return r->state % n;
}

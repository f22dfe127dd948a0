// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/message.h"
#include "lib/text.h"

/* Set between runs, and read by the thread that receives signals. */
static const char *_Atomic about;

void message_about(const char *name)
{
	about = name;
}

static void say(const char *kind, const char *fmt, va_list va)
{
	const char *name = *kind ? about : NULL;
	char *text;

	if (vasprintf(&text, fmt, va) < 0)
		text = NULL;
	else
		text_make_harmless(text);
	fflush(stdout); /* so that the lines come in order where both go to one terminal */
	fprintf(stderr, "bench: %s%s%s%s\n", kind, name ? name : "", name ? ": " : "",
		text ? text : fmt);
	free(text);
}

void complain(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	say("", fmt, va);
	va_end(va);
}

void warning(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	say("warning: ", fmt, va);
	va_end(va);
}

void note(const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	say("note: ", fmt, va);
	va_end(va);
}

int complain_err(const struct bench *bench, const struct bench_err *err)
{
	char detail[sizeof(err->detail)], *line, *save;

	if (err->code == BENCH_EXIT_UNAVAILABLE)
		complain("%s: unavailable: %s", bench->name, err->text);
	else if (err->code == BENCH_EXIT_USAGE)
		complain("%s", err->text);
	else
		complain("%s: failed: %s", bench->name, err->text);
	memcpy(detail, err->detail, sizeof(detail));
	for (line = strtok_r(detail, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		fprintf(stderr, "  | %s\n", line);
	return err->code;
}

void check_stdout(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write to standard output: %s", strerror(errno));
		_exit(BENCH_EXIT_FAILED);
	}
}

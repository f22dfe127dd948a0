/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages: lines on standard error, each with our name in front. What they repeat, an argument or
 * a file's words, is made harmless for a terminal.
 */
#ifndef LIB_CLI_MESSAGE_H
#define LIB_CLI_MESSAGE_H

#include "lib/run/benchmark.h"

/* "bench: ..." */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "bench: warning: ...": something puts the numbers in doubt. */
void warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "bench: note: ..." */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Until message_about(NULL), warnings and notes have "@name: " in front, where many runs follow
 * each other and none of them has a heading.
 */
void message_about(const char *name);

/* The line for @err, which @bench failed with, and its details. Returns the exit code of it. */
int complain_err(const struct bench *bench, const struct bench_err *err);

/*
 * A full disk shall not look like success: ends the process with 1 if standard output has failed.
 */
void check_stdout(void);

#endif /* LIB_CLI_MESSAGE_H */

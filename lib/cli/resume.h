/* SPDX-License-Identifier: GPL-2.0 */
/* A command that goes on where its file of records ends: --resume. */
#ifndef LIB_CLI_RESUME_H
#define LIB_CLI_RESUME_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/record.h"
#include "lib/run/benchmark.h"

/*
 * Reads @path, which must have been written by @argv (--resume apart) on this kernel. A file with
 * nothing in it is one without records. @fd, the same file opened for writing, is locked against
 * others that resume until it is closed. Returns 0; or -errno with the user's line in @err, a usage
 * error where the file is of something else. @out: owned by the caller; freed by records_free().
 */
int resume_read(const char *path, int fd, char *const *argv, struct records *out,
		struct bench_err *err);

/*
 * The complete runs of @bench in @done, each as one sample, into @runs, which has room for @max of
 * them. @failed: one has failed. Returns their number.
 */
size_t resume_runs(const struct records *done, const struct bench *bench, struct sample *runs,
		   size_t max, bool *failed);

#endif /* LIB_CLI_RESUME_H */

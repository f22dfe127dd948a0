/* SPDX-License-Identifier: GPL-2.0 */
/* Where records go: -o FILE. */
#ifndef LIB_CLI_OUTPUT_H
#define LIB_CLI_OUTPUT_H

#include "lib/run/benchmark.h"

/*
 * Opens @path for records ("-": standard output). A file that cannot be written is found out here,
 * before anything is measured. Returns a descriptor, or -errno with the user's line in @err.
 */
int output_open(const char *path, struct bench_err *err);

#endif /* LIB_CLI_OUTPUT_H */

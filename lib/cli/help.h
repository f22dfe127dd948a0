/* SPDX-License-Identifier: GPL-2.0 */
/* What the tables say of options and figures: --help, --usage, and all of it as JSON. */
#ifndef LIB_CLI_HELP_H
#define LIB_CLI_HELP_H

#include "lib/cli/args.h"

/* --help: all options; where benchmarks were named, what these take and measure. 0 or -ENOMEM. */
int help_print(const struct args *args, FILE *out);

int help_usage(FILE *out);

/*
 * One JSON object: the core's options, and the families with their options, benchmarks and figures,
 * from which the docs, the schema of records and completions are made. 0 or -errno.
 */
int help_tables(FILE *out);

#endif /* LIB_CLI_HELP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of arguments that need more than one of them, or the machine. */
#ifndef LIB_CLI_CHECK_H
#define LIB_CLI_CHECK_H

#include "lib/cli/args.h"

/*
 * Do the arguments fit together, this machine, and the benchmark? Fills in its consumers. Loads
 * nothing. Returns 0, or -errno with the user's line in @err.
 */
int check_chosen(struct chosen *c, struct bench_err *err);

#endif /* LIB_CLI_CHECK_H */

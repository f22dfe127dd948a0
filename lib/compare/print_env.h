/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_COMPARE_PRINT_ENV_H
#define LIB_COMPARE_PRINT_ENV_H

#include "lib/compare/comparison.h"
#include "lib/compare/prose.h"

/* What is not the same on the machines that files come from: a reader's first question. */
void print_env(struct prose *p, const struct comparison *c);

#endif /* LIB_COMPARE_PRINT_ENV_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* How a comparison looks: as text for a mail, as Markdown, as CSV. All return 0 or -ENOMEM. */
#ifndef LIB_COMPARE_PRINT_H
#define LIB_COMPARE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/compare/comparison.h"

/* The table, and around it what was compared, what was not, and how to read it. */
int print_text(const struct comparison *c, FILE *out, bool markdown);

/* The table of the rows that are compared, and nothing else. */
int print_table(const struct comparison *c, FILE *out, bool markdown);

/* All rows, whatever came of them: a line for each and for each file but the first. */
int print_csv(const struct comparison *c, FILE *out);

#endif /* LIB_COMPARE_PRINT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Which runs make a row: those that match, and one row for each figure that is asked for. */
#ifndef LIB_COMPARE_ROWS_H
#define LIB_COMPARE_ROWS_H

#include <stddef.h>

#include "lib/compare/comparison.h"
#include "lib/compare/match.h"

/* A field of @m that no record has was misspelt. Returns 0, or -EINVAL with a message in @err. */
int rows_check_match(const struct comparison *c, const struct match *m, char *err, size_t err_size);

/* The same for the figure that is asked for; also -ENOMEM. */
int rows_check_figure(const struct comparison *c, char *err, size_t err_size);

/* Makes c->rows, with their records and figures, and c->ignored. Returns 0 or -ENOMEM. */
int rows_make(struct comparison *c, const struct match *m);

void rows_free(struct comparison *c);

#endif /* LIB_COMPARE_ROWS_H */

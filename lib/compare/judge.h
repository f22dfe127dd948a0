/* SPDX-License-Identifier: GPL-2.0 */
/* The statistics of a comparison, and what follows from them. */
#ifndef LIB_COMPARE_JUDGE_H
#define LIB_COMPARE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/compare/comparison.h"

/*
 * Fills in what is computed of the rows, once they have their records and labels. Returns 0,
 * -ENOMEM, or -E2BIG where a row has too many runs; then the message is in @err.
 */
int judge_rows(struct comparison *c, char *err, size_t err_size);

/*
 * Is any row shown to have changed by more than @pct percent for the worse? @judged: the number of
 * verdicts that could have said so.
 */
bool judge_is_slower(const struct comparison *c, double pct, size_t *judged);

const char *judge_verdict_word(enum verdict v);

#endif /* LIB_COMPARE_JUDGE_H */

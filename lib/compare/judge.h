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

enum judgement {
	JUDGED_FINE, /* all common rows could be judged, and none is slower */
	JUDGED_SLOWER,
	JUDGED_BY_DRIFT, /* one is "slower?": the machine may have drifted */
	NOT_JUDGED, /* a common row could not be, or there is none */
};

/*
 * Has any row changed by more than @pct percent for the worse? With @assume_steady, a machine that
 * does not drift, "slower?" counts as slower.
 */
enum judgement judge_slower(const struct comparison *c, double pct, bool assume_steady);

const char *judge_verdict_word(const struct row_side *side);

#endif /* LIB_COMPARE_JUDGE_H */

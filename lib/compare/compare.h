/* SPDX-License-Identifier: GPL-2.0 */
/* Compares files of records: what `bench -C BASE NEW...` does. */
#ifndef LIB_COMPARE_COMPARE_H
#define LIB_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/compare/limits.h"

struct compare_opts {
	/*
	 * What two runs must have in common to be runs of one row: a comma list of bench, params,
	 * config (all of their fields), or single fields such as params.rb-b2b, config.producers or
	 * env.host. NULL: bench,params,config. Of params as a whole, an option that only one of the
	 * runs has is ignored where that run's value is the default, and a note names it.
	 */
	const char *match;
	/*
	 * The figure that is compared: NULL for the default one of each record, a name, or "all"
	 * for each in a row of its own.
	 */
	const char *figure;
	enum { COMPARE_TEXT, COMPARE_MARKDOWN, COMPARE_CSV } format;
	double fail_on_slower_pct;
	bool fail_on_slower;
	bool assume_steady; /* the machine does not drift: "slower?" counts as slower */
};

/*
 * Compares the runs recorded in the @nr_paths files @paths, two or more: each with the first.
 * Prints the result to @out.
 *
 * One run is one observation: the mean of a record with status ok. Others are left out, and their
 * number is printed; no outlier is removed. For each row: the medians and their intervals
 * (stats_median_ci()), the change from base with its interval (utest_shift() of the logarithms, so
 * that it is a ratio), p (utest()), and a verdict. All intervals are 95 % ones. A difference is
 * shown where p, adjusted for the number of tests (stats_adjust_p()), is below COMPARE_ALPHA: so a
 * file compared with its like has '~' on all of its rows, however many, 19 times in 20. The
 * verdicts on speeds are faster and slower, on other figures better and worse, or higher and lower
 * where neither is better.
 *
 * With @opts->fail_on_slower, *@slower (may be NULL) is set where a row is slower or worse by more
 * than the percentage given.
 *
 * Returns 0, or -errno with one line for the user in @err:
 *   -EINVAL   @opts->match or @opts->figure makes no sense (a usage error)
 *   -EBADMSG  a bad record (with its line number)
 *   -ENODATA  a file without a record
 *   -ENOMSG   nothing can be compared, or, with fail_on_slower, no row allows a verdict that could
 *             fail: a check that cannot fail is none. @out has been written all the same.
 */
int compare_files(const char *const *paths, size_t nr_paths, const struct compare_opts *opts,
		  FILE *out, bool *slower, char *err, size_t err_size);

#endif /* LIB_COMPARE_COMPARE_H */

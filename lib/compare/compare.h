/* SPDX-License-Identifier: GPL-2.0 */
/* Holds two files of records against each other: what `bench -C BASE NEW` does. */
#ifndef LIB_COMPARE_COMPARE_H
#define LIB_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A U test of two samples cannot reach p < 0.05 with fewer runs on each side. */
#define COMPARE_MIN_RUNS 4

/* What p, adjusted for the number of rows, has to be below for a difference to count as shown. */
#define COMPARE_ALPHA 0.05

/* As many columns as can be quoted in a mail and still be below 80. */
#define COMPARE_WIDTH 75

struct compare_opts {
	/*
	 * What two runs must have in common to be runs of one row: a comma list of bench, params,
	 * config (all of their fields), or single fields such as params.rb-b2b, config.producers or
	 * env.host. NULL: bench,params,config.
	 */
	const char *match;
	enum { COMPARE_TEXT, COMPARE_MARKDOWN, COMPARE_CSV } format;
	double fail_on_slower_pct;
	bool fail_on_slower;
};

/*
 * Compares the runs recorded in the files @base and @new, and prints the result to @out.
 *
 * One run is one observation: the mean of a record with status ok. Others are left out, and their
 * number is said; no outlier is removed. For each row: the medians and their intervals
 * (stats_median_ci()), the change from base to new with its interval (utest_shift() of the
 * logarithms, so that it is a ratio), p (utest()), and a verdict. All intervals are 95 % ones. A
 * difference is shown where p, adjusted for the number of rows (stats_adjust_p()), is below
 * COMPARE_ALPHA: so a file compared with its like has '~' on all of its rows, however many, 19 times
 * in 20. A unit of "%" is no speed: its verdicts are higher and lower.
 *
 * With @opts->fail_on_slower, *@slower (may be NULL) tells whether a row has the verdict slower and
 * changed by more than the percentage given; a file that allows no verdict at all is an error then,
 * for a check that cannot fail is none.
 *
 * Returns 0, or -errno with one line for the user in @err: -EINVAL where @opts->match makes no
 * sense (a usage error), -EBADMSG for a bad record (with its line number), -ENODATA for an empty
 * file, or where nothing could be judged (with fail_on_slower: @out has been written then).
 */
int compare_files(const char *base, const char *new, const struct compare_opts *opts, FILE *out,
		  bool *slower, char *err, size_t err_size);

#endif /* LIB_COMPARE_COMPARE_H */

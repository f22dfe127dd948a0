/* SPDX-License-Identifier: GPL-2.0 */
/* A comparison as data: rows.c, fields.c and judge.c fill it in, and print_*.c print it. */
#ifndef LIB_COMPARE_COMPARISON_H
#define LIB_COMPARE_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/compare/utest.h"
#include "lib/compare/order.h"
#include "lib/record.h"

/* The file that the others are compared with. */
#define BASE 0

enum verdict {
	VERDICT_SAME, /* no difference shown */
	VERDICT_FASTER, /* of speeds */
	VERDICT_SLOWER,
	VERDICT_BETTER,
	VERDICT_WORSE,
	VERDICT_HIGHER, /* where neither direction is better */
	VERDICT_LOWER,
	VERDICT_TOO_FEW, /* under COMPARE_MIN_RUNS on a side */
	VERDICT_UNITS, /* not the same on both sides: not compared */
	VERDICT_NO_FIGURE, /* the runs of a side lack the figure: not compared */
	VERDICT_ONE_SIDED, /* no record at all on the other side */
};

struct interval {
	double low, high; /* NaN: there is none */
};

/* A value of a record that may tell rows apart. */
struct field {
	const char *section; /* "params" or "config"; NULL: of the record itself, "bench" */
	const char *name;
	char *label; /* the name, with the section where it is ambiguous without */
	bool varies; /* among the records of one benchmark */
	bool varies_by_bench; /* from benchmark to benchmark only: the name says it all */
	bool ignored; /* in matching: that some records lack it is as good as its default */
};

/* One side of a row: its runs in one file. */
struct row_side {
	json_t **records; /* not owned, only the array */
	size_t nr_records;
	double *means; /* of the runs with status ok, ascending */
	struct timed_run *runs; /* the same in the order of the records */
	size_t nr_runs;
	size_t nr_left_out; /* records with another status, or with an unknown mean */
	bool lacks_figure; /* all runs with status ok do */
	bool units_differ; /* among its own runs */
	struct record_figure figure; /* of its runs, but the mean; unit NULL: there is none */
	double spread; /* of instructions: how far its runs, or samples, differ; NaN: unknown */
	double median; /* NaN: no runs */
	struct interval median_ci;

	/* What follows is against the row's first side, and unused in that one. */
	enum verdict verdict;
	bool is_exact; /* of instructions: what changes by more than @exact_pct differs */
	double exact_pct; /* to which both sides repeat */
	bool apart; /* its runs and those of the first side are not by turns: ORDER_APART */
	size_t nr_blocks[2]; /* of the first side and of this one; 0: the test is of runs */
	double change_pct; /* NaN: no runs on a side; infinite: from 0 */
	struct interval change_ci;
	enum record_better better;
	struct utest test; /* p is NaN where there are too few runs */
	double p_adjusted; /* for the number of tests; NaN where there is none */
};

struct row {
	char *label; /* what tells it from other rows */
	bool pooled; /* runs of different kinds on one side, as --match has it */
	const char *figure; /* not owned; NULL: the default one of each record */
	const char *unit; /* the first one among its runs; NULL: no runs */
	struct row_side *sides; /* one for each file */
	size_t nr_sides;
};

struct file {
	const char *path;
	char *name; /* short, in tables: "base", "new" */
	struct records records;
};

struct comparison {
	struct file *files;
	size_t nr_files;
	const char *figure; /* as asked for: NULL, a name, or "all" */
	struct field *fields;
	size_t nr_fields;
	/*
	 * Parameters that some records lack and that were ignored for that: arrays of their values.
	 */
	json_t *ignored;
	struct row *rows;
	size_t nr_rows;
	size_t nr_tested; /* sides with a p */
	double p_limit; /* what p has to be below for a verdict; NaN where nr_tested is 0 */
};

/* Do @side and the row's first one have a median, or could have with more runs? */
static inline bool side_is_compared(const struct row_side *side)
{
	return side->verdict < VERDICT_UNITS;
}

/* Is any side of @row compared with its first one? */
static inline bool row_is_compared(const struct row *row)
{
	size_t s;

	for (s = 1; s < row->nr_sides; s++)
		if (side_is_compared(&row->sides[s]))
			return true;
	return false;
}

#endif /* LIB_COMPARE_COMPARISON_H */

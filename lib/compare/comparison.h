/* SPDX-License-Identifier: GPL-2.0 */
/* Between compare.c, which makes a comparison, and compare_print.c, which shows it. */
#ifndef LIB_COMPARE_COMPARISON_H
#define LIB_COMPARE_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/record.h"
#include "lib/compare/utest.h"

enum side {
	BASE,
	NEW,
	NR_SIDES,
};

enum verdict {
	VERDICT_SAME, /* no difference shown */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_HIGHER, /* of percentages */
	VERDICT_LOWER,
	VERDICT_TOO_FEW, /* under COMPARE_MIN_RUNS on a side */
	VERDICT_UNITS, /* not the same on both sides: not compared */
	VERDICT_ONE_SIDED, /* no record at all on the other side */
};

struct interval {
	double low, high; /* NaN: there is none */
};

/* A value of a record that may tell rows apart. */
struct field {
	const char *section; /* "params" or "config"; NULL: of the record itself, "bench" */
	const char *name;
	const char *label; /* owned: the name, with the section where it is not clear without */
	bool varies; /* among the records of one benchmark */
	bool varies_by_bench; /* from benchmark to benchmark only: the name says it all */
};

/* Values and how many records have them: a JSON object of numbers, in order of appearance. */
typedef json_t *value_set;

struct row_side {
	json_t **records; /* not owned, only the array */
	size_t nr_records;
	double *means; /* of the runs with status ok, ascending */
	size_t nr_runs;
	size_t nr_left_out; /* records with another status */
	double median; /* NaN: no runs */
	struct interval median_ci;
};

struct row {
	char *label; /* what tells it from other rows */
	bool pooled; /* runs of different kinds on one side, as --match has it */
	struct row_side side[NR_SIDES];
	const char *unit; /* NULL: no runs, or VERDICT_UNITS */
	double change_pct; /* NaN: no runs on a side */
	struct interval change_ci;
	struct utest test; /* p is NaN where there are too few runs */
	double p_adjusted; /* for the number of rows with a p; NaN where there is none */
	enum verdict verdict;
};

struct comparison {
	const char *path[NR_SIDES];
	struct records records[NR_SIDES];
	struct field *fields;
	size_t nr_fields;
	struct row *rows;
	size_t nr_rows;
	size_t nr_tested; /* rows with a p */
	double p_limit; /* what p has to be below for a verdict; NaN where nr_tested is 0 */
};

/* @record's value of field @name in @section as text, to be freed by free(); NULL: it has none. */
char *comparison_value(const json_t *record, const char *section, const char *name);

/*
 * Values of a field among @nr records, to be released by json_decref(); records without the field
 * do not count. NULL: no memory.
 */
value_set comparison_values(json_t *const *records, size_t nr, const char *section,
			    const char *name);

/* Have @a and @b the same values? Their numbers do not matter. */
bool value_set_equal(value_set a, value_set b);

/* How the records of a row differ in a field. */
enum row_mix {
	ROW_SIDES_DIFFER = 1, /* base has other values than new */
	ROW_SIDE_MIXED = 2, /* one side alone has several */
};

/*
 * The values of @field in a row, "base->new" where the sides differ; "": it is another benchmark's.
 * @mix (may be NULL): of enum row_mix. NULL: no memory.
 */
char *comparison_row_value(const struct row *row, const struct field *field, unsigned int *mix);

const char *comparison_verdict(enum verdict v);

/* Formats of compare_opts. Return 0 or -errno. */
int comparison_print_text(const struct comparison *c, FILE *out);
int comparison_print_markdown(const struct comparison *c, FILE *out);
int comparison_print_csv(const struct comparison *c, FILE *out);

#endif /* LIB_COMPARE_COMPARISON_H */

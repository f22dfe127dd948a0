// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/fields.h"
#include "lib/compare/judge.h"
#include "lib/compare/print.h"
#include "lib/table.h"
#include "lib/util.h"

static const char *csv_label(const struct row *row, const struct row_side *side)
{
	return row->label;
}

static const char *csv_unit(const struct row *row, const struct row_side *side)
{
	const char *unit = row->sides[BASE].figure.unit;

	if (side->verdict == VERDICT_UNITS)
		return "";
	unit = unit ? unit : side->figure.unit;
	return unit ? unit : "";
}

static const char *csv_verdict(const struct row *row, const struct row_side *side)
{
	return judge_verdict_word(side);
}

static const char *csv_method(const struct row *row, const struct row_side *side)
{
	static const char *const names[] = {
		[UTEST_EXACT] = "exact",
		[UTEST_EXACT_TIES] = "exact_ties",
		[UTEST_NORMAL] = "normal",
	};

	return isnan(side->test.p) ? "" : names[side->test.method];
}

/* A text, or a member of struct row_side with all its digits: base's, or the other file's. */
struct csv_column {
	const char *head;
	const char *(*text)(const struct row *row, const struct row_side *side);
	enum { CSV_TEXT, CSV_COUNT, CSV_NUMBER } kind;
	bool base;
	size_t offset;
};

#define TEXT(head, f)                       \
	{                                   \
		head, f, CSV_TEXT, false, 0 \
	}
#define COUNT(head, base, m)                                              \
	{                                                                 \
		head, NULL, CSV_COUNT, base, offsetof(struct row_side, m) \
	}
#define NUMBER(head, base, m)                                              \
	{                                                                  \
		head, NULL, CSV_NUMBER, base, offsetof(struct row_side, m) \
	}

/* A column a line. The figure, the file, and the fields that vary follow them. */
/* clang-format off */
static const struct csv_column columns[] = {
	TEXT("row", csv_label),
	TEXT("unit", csv_unit),
	TEXT("verdict", csv_verdict),
	COUNT("base_runs", true, nr_runs),
	COUNT("new_runs", false, nr_runs),
	COUNT("base_left_out", true, nr_left_out),
	COUNT("new_left_out", false, nr_left_out),
	NUMBER("base_median", true, median),
	NUMBER("base_ci95_low", true, median_ci.low),
	NUMBER("base_ci95_high", true, median_ci.high),
	NUMBER("new_median", false, median),
	NUMBER("new_ci95_low", false, median_ci.low),
	NUMBER("new_ci95_high", false, median_ci.high),
	NUMBER("change_pct", false, change_pct),
	NUMBER("change_ci95_low_pct", false, change_ci.low),
	NUMBER("change_ci95_high_pct", false, change_ci.high),
	NUMBER("u", false, test.u),
	NUMBER("p", false, test.p),
	NUMBER("p_adjusted", false, p_adjusted),
	TEXT("p_method", csv_method),
};
/* clang-format on */

enum {
	FIGURE = ARRAY_SIZE(columns),
	FILE_NAME,
	NR_FIXED,
};

/* The shortest text that reads back as the same number; nothing where there is none. */
static char *exact_text(double v)
{
	char buf[32] = "";
	int digits;

	for (digits = 15; isfinite(v) && digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	return strdup(buf);
}

static char *column_text(const struct csv_column *column, const struct row *row,
			 const struct row_side *side)
{
	const struct row_side *from = column->base ? &row->sides[BASE] : side;
	const char *member = (const char *)from + column->offset;
	char *text = NULL;

	switch (column->kind) {
	case CSV_TEXT:
		return strdup(column->text(row, side));
	case CSV_COUNT:
		return asprintf(&text, "%zu", *(const size_t *)member) < 0 ? NULL : text;
	case CSV_NUMBER:
		/* In units that differ it would mislead. */
		return exact_text(side->verdict == VERDICT_UNITS ? NAN : *(const double *)member);
	}
	return NULL;
}

/* The lines of a table whose columns from NR_FIXED on are @fields. */
static int fill_table(struct table *t, const struct comparison *c,
		      const struct field *const *fields, char **cells)
{
	size_t i, s, col;
	int err = 0;

	for (i = 0; i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];

		for (s = 1; !err && s < c->nr_files; s++) {
			const struct row_side *side = &row->sides[s];

			if (!row->sides[BASE].nr_records && !side->nr_records)
				continue;
			for (col = 0; col < FIGURE; col++)
				cells[col] = column_text(&columns[col], row, side);
			cells[FIGURE] = fields_row_figure(row, s);
			cells[FILE_NAME] = strdup(c->files[s].path);
			for (col = NR_FIXED; col < t->nr_cols; col++)
				cells[col] = fields_row_text(row, fields[col - NR_FIXED], s);
			err = table_add(t, cells);
		}
	}
	return err;
}

static int add_heads(struct table_col *cols, const struct field *const *fields, size_t nr)
{
	const struct field *f;
	char *head;
	size_t i;

	for (i = 0; i < FIGURE; i++)
		cols[i].head = columns[i].head;
	cols[FIGURE].head = "figure";
	cols[FILE_NAME].head = "file";
	for (i = 0; i < nr; i++) {
		f = fields[i];
		if (asprintf(&head, "%s%s%s", f->section ? f->section : "", f->section ? "." : "",
			     f->name) < 0)
			return -ENOMEM;
		cols[NR_FIXED + i].head = head;
	}
	return 0;
}

int print_csv(const struct comparison *c, FILE *out)
{
	const size_t most = NR_FIXED + c->nr_fields;
	struct table_col *cols = calloc(most, sizeof(*cols));
	const struct field **fields = calloc(most, sizeof(*fields));
	char **cells = calloc(most, sizeof(*cells));
	int err = cols && fields && cells ? 0 : -ENOMEM;
	struct table t = {};
	size_t nr = 0, i;

	for (i = 0; !err && i < c->nr_fields; i++)
		if (!i || c->fields[i].varies || c->fields[i].varies_by_bench)
			fields[nr++] = &c->fields[i];
	if (!err)
		err = add_heads(cols, fields, nr);
	table_init(&t, cols, NR_FIXED + nr);
	if (!err)
		err = fill_table(&t, c, fields, cells);
	if (!err)
		err = table_print_csv(&t, out);
	table_free(&t);
	for (i = 0; i < nr; i++)
		free((char *)cols[NR_FIXED + i].head);
	free(cols);
	free(fields);
	free(cells);
	return err;
}

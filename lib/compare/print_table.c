// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>

#include "lib/compare/cells.h"
#include "lib/compare/limits.h"
#include "lib/compare/print.h"
#include "lib/table.h"
#include "lib/util.h"

struct column {
	struct table_col col;
	cell_put put, below; /* below may be NULL */
	size_t side;
};

/* Two files have room for the intervals. A column a line. */
/* clang-format off */
static const struct column two_files_text[] = {
	{ { "",        false }, cell_label,  cell_runs_unit, 1 },
	{ { "base",    true },  cell_base,   cell_base_ci,   1 },
	{ { "new",     true },  cell_median, cell_median_ci, 1 },
	{ { "change",  true },  cell_change, cell_change_ci, 1 },
	{ { "p",       true },  cell_p,      cell_verdict,   1 },
};

static const struct column two_files_markdown[] = {
	{ { "",        false }, cell_label,   NULL,           1 },
	{ { "unit",    false }, cell_unit,    NULL,           1 },
	{ { "runs",    true },  cell_runs,    NULL,           1 },
	{ { "base",    true },  cell_base,    cell_base_ci,   1 },
	{ { "new",     true },  cell_median,  cell_median_ci, 1 },
	{ { "change",  true },  cell_change,  cell_change_ci, 1 },
	{ { "p",       true },  cell_p,       NULL,           1 },
	{ { "verdict", false }, cell_verdict, NULL,           1 },
};

/* A column for each other file follows these. */
static const struct column files_text[] = {
	{ { "",        false }, cell_label,   cell_runs_unit, BASE },
	{ { "base",    true },  cell_base,    cell_base_ci,   BASE },
};

static const struct column files_markdown[] = {
	{ { "",        false }, cell_label,   NULL,           BASE },
	{ { "unit",    false }, cell_unit,    NULL,           BASE },
	{ { "runs",    true },  cell_runs,    NULL,           BASE },
	{ { "base",    true },  cell_base,    cell_base_ci,   BASE },
};
/* clang-format on */

static int fill_table(struct table *t, const struct comparison *c, const struct column *columns,
		      char **cells)
{
	size_t i, col;
	int err = 0;

	for (i = 0; !err && i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];

		if (!row_is_compared(row))
			continue;
		for (col = 0; col < t->nr_cols; col++)
			cells[col] = cell_text(columns[col].put, columns[col].below, row,
					       &row->sides[columns[col].side]);
		err = table_add(t, cells);
	}
	return err;
}

/*
 * Returns 1 where @fit is set and the table is too wide: then nothing is printed. Else 0 or
 * -ENOMEM.
 */
static int print_columns(const struct comparison *c, FILE *out, bool markdown,
			 const struct column *columns, size_t nr, bool fit)
{
	struct table_col *cols = calloc(nr, sizeof(*cols));
	char **cells = calloc(nr, sizeof(*cells));
	int err = cols && cells ? 0 : -ENOMEM;
	struct table t = {};
	size_t i;

	for (i = 0; !err && i < nr; i++)
		cols[i] = columns[i].col;
	table_init(&t, cols, nr);
	if (!err)
		err = fill_table(&t, c, columns, cells);
	if (!err && fit && !table_fits(&t, COMPARE_WIDTH))
		err = 1;
	if (!err)
		err = markdown ? table_print_markdown(&t, out) :
				 table_print_text(&t, out, COMPARE_WIDTH);
	table_free(&t);
	free(cols);
	free(cells);
	return err;
}

/* As many files side by side as there is room for, and the others in tables that follow. */
#define MAX_FILES_ABREAST 8

static int print_files(const struct comparison *c, FILE *out, bool markdown)
{
	const struct column *first = markdown ? files_markdown : files_text;
	const size_t fixed = markdown ? ARRAY_SIZE(files_markdown) : ARRAY_SIZE(files_text);
	struct column *columns = calloc(fixed + c->nr_files, sizeof(*columns));
	size_t from = 1, nr, i;
	int err = columns ? 0 : -ENOMEM;

	while (!err && from < c->nr_files) {
		nr = c->nr_files - from;
		if (!markdown && nr > MAX_FILES_ABREAST)
			nr = MAX_FILES_ABREAST;
		if (from > 1)
			fputc('\n', out);
		for (i = 0; i < fixed; i++)
			columns[i] = first[i];
		for (i = 0; i < nr; i++)
			columns[fixed + i] = (struct column){ { c->files[from + i].name, true },
							      cell_median,
							      cell_change_verdict,
							      from + i };
		do {
			err = print_columns(c, out, markdown, columns, fixed + nr,
					    !markdown && nr > 1);
		} while (err > 0 && nr-- > 1);
		from += nr;
	}
	free(columns);
	return err;
}

int print_table(const struct comparison *c, FILE *out, bool markdown)
{
	if (c->nr_files > 2)
		return print_files(c, out, markdown);
	if (markdown)
		return print_columns(c, out, true, two_files_markdown,
				     ARRAY_SIZE(two_files_markdown), false);
	return print_columns(c, out, false, two_files_text, ARRAY_SIZE(two_files_text), false);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Tables described by data: columns, and a text for each cell. */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct table_col {
	const char *head;
	bool right; /* flush right, as numbers are */
};

/* Owned by the caller; freed by table_free(). */
struct table {
	const struct table_col *cols;
	size_t nr_cols;
	char **cells; /* row by row */
	size_t nr_rows;
};

/* @cols must live as long as the table. */
void table_init(struct table *t, const struct table_col *cols, size_t nr_cols);
void table_free(struct table *t);

/*
 * Adds a row of nr_cols texts, which are taken over and will be freed, even on an error. In a cell
 * a line break begins a second line, which is shown below the first. Returns 0 or -ENOMEM, which is
 * also what a NULL among the texts leads to.
 */
int table_add(struct table *t, char **cells);

/*
 * Prints it as text. Columns are as wide as their cells. Where that makes more than @width, the
 * texts of the first column get lines of their own above the rest of their row, wrapped at @width.
 * Second lines of the first column are set in. Returns 0 or -ENOMEM.
 */
int table_print_text(const struct table *t, FILE *out, size_t width);

/* Is there room in @width for all columns but the first? If not, that prints wider lines. */
bool table_fits(const struct table *t, size_t width);

/* As a table of GitHub Flavored Markdown; a second line follows the first in brackets. */
int table_print_markdown(const struct table *t, FILE *out);

/* As CSV, RFC 4180, with the heads as its header line. Line breaks within cells remain. */
int table_print_csv(const struct table *t, FILE *out);

#endif /* LIB_TABLE_H */

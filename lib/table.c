// SPDX-License-Identifier: GPL-2.0
#include "lib/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

void table_init(struct table *t, const struct table_col *cols, size_t nr_cols)
{
	memset(t, 0, sizeof(*t));
	t->cols = cols;
	t->nr_cols = nr_cols;
}

void table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->nr_rows * t->nr_cols; i++)
		free(t->cells[i]);
	free(t->cells);
	memset(t, 0, sizeof(*t));
}

int table_add(struct table *t, char **cells)
{
	bool complete = true;
	char **grown = NULL;
	size_t i;

	for (i = 0; i < t->nr_cols; i++)
		complete = complete && cells[i];
	if (complete)
		grown = realloc(t->cells, (t->nr_rows + 1) * t->nr_cols * sizeof(*grown));
	if (!grown) {
		for (i = 0; i < t->nr_cols; i++)
			free(cells[i]);
		return -ENOMEM;
	}
	t->cells = grown;
	memcpy(&t->cells[t->nr_rows * t->nr_cols], cells, t->nr_cols * sizeof(*cells));
	t->nr_rows++;
	return 0;
}

static const char *cell(const struct table *t, size_t row, size_t col)
{
	return t->cells[row * t->nr_cols + col];
}

/* Line 0 or 1 of a cell: a copy, "" where there is none; NULL: no memory. */
static char *line_of(const char *text, int line)
{
	if (line) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return strndup(text, strcspn(text, "\n"));
}

/* ---- text */

#define GAP    2 /* between columns */
#define INDENT "  " /* of what belongs to the line above */

struct layout {
	const struct table *t;
	FILE *out;
	size_t width;
	size_t *widths; /* of the columns */
	bool first_above; /* the first column has lines of its own above the others */
	bool below_above; /* its second line too */
};

static size_t line_width(const char *cell, int line)
{
	char *copy = line_of(cell, line);
	size_t width = copy ? text_width(copy) : 0;

	free(copy);
	return width;
}

/* Of the head and of all cells; @lines: of their first lines and of their second ones. */
static size_t column_width(const struct table *t, size_t col, size_t lines[2])
{
	size_t widest = text_width(t->cols[col].head), row, width;
	int line;

	for (row = 0; row < t->nr_rows; row++) {
		for (line = 0; line < 2; line++) {
			width = line_width(cell(t, row, col), line);
			if (!col && line && width)
				width += strlen(INDENT);
			lines[line] = width > lines[line] ? width : lines[line];
			widest = width > widest ? width : widest;
		}
	}
	return widest;
}

bool table_fits(const struct table *t, size_t width)
{
	size_t others = 0, lines[2] = {}, col;

	for (col = 1; col < t->nr_cols; col++)
		others += GAP + column_width(t, col, lines);
	return others <= width;
}

static void find_widths(struct layout *l)
{
	const struct table *t = l->t;
	size_t first[2] = {}, lines[2] = {}, others = 0, left, col;

	for (col = 0; col < t->nr_cols; col++) {
		l->widths[col] = column_width(t, col, col ? lines : first);
		if (col)
			others += GAP + l->widths[col];
	}
	left = l->width > others ? l->width - others : 0;
	if (l->widths[0] <= left)
		return;
	l->first_above = true;
	l->below_above = first[1] > left;
	l->widths[0] = text_width(t->cols[0].head);
	if (l->widths[0] < first[1])
		l->widths[0] = first[1];
	if (l->widths[0] > left)
		l->widths[0] = left;
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

/* Trailing blanks are left out: mail programs make trouble with them. */
static void print_line(const struct layout *l, char *const *texts)
{
	const struct table *t = l->t;
	size_t blanks = 0, col, width;

	for (col = 0; col < t->nr_cols; col++) {
		width = text_width(texts[col]);
		blanks += col ? GAP : 0;
		if (t->cols[col].right)
			blanks += l->widths[col] - width;
		if (width) {
			pad(l->out, blanks);
			fputs(texts[col], l->out);
			blanks = 0;
		}
		if (!t->cols[col].right)
			blanks += l->widths[col] - width;
	}
	fputc('\n', l->out);
}

/* What stands in the first column on line @line beside the others. */
static char *first_beside(const struct layout *l, const char *text, int line)
{
	const int wanted = l->first_above ? line + 1 : line;
	char *found, *indented = NULL;

	if (wanted > 1 || (wanted == 1 && l->below_above))
		return strdup("");
	found = line_of(text, wanted);
	if (!wanted || !found)
		return found;
	if (asprintf(&indented, "%s%s", *found ? INDENT : "", found) < 0)
		indented = NULL;
	free(found);
	return indented;
}

static int print_above(const struct layout *l, const char *text)
{
	int line, err = 0;
	char *copy;

	for (line = 0; !err && line < (l->below_above ? 2 : l->first_above); line++) {
		copy = line_of(text, line);
		err = copy ? text_wrap(l->out, line ? INDENT : "", INDENT, copy, l->width) :
			     -ENOMEM;
		free(copy);
	}
	return err;
}

static bool is_empty(char *const *texts, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (*texts[i])
			return false;
	return true;
}

static int print_row(const struct layout *l, size_t row)
{
	const size_t nr = l->t->nr_cols;
	char **texts;
	size_t col;
	int line, err;

	texts = calloc(nr, sizeof(*texts));
	err = texts ? print_above(l, cell(l->t, row, 0)) : -ENOMEM;
	for (line = 0; !err && line < 2; line++) {
		for (col = 0; col < nr; col++) {
			texts[col] = col ? line_of(cell(l->t, row, col), line) :
					   first_beside(l, cell(l->t, row, 0), line);
			if (!texts[col])
				err = -ENOMEM;
		}
		if (!err && !is_empty(texts, nr))
			print_line(l, texts);
		for (col = 0; col < nr; col++)
			free(texts[col]);
	}
	free(texts);
	return err;
}

int table_print_text(const struct table *t, FILE *out, size_t width)
{
	struct layout l = { .t = t, .out = out, .width = width };
	int err = -ENOMEM;
	char **heads;
	size_t i;

	l.widths = calloc(t->nr_cols, sizeof(*l.widths));
	heads = calloc(t->nr_cols, sizeof(*heads));
	if (!l.widths || !heads)
		goto out;
	find_widths(&l);
	/* Only the first one can be wider than its column. */
	for (i = 0; i < t->nr_cols; i++) {
		heads[i] = text_shortened(t->cols[i].head, l.widths[i]);
		if (!heads[i])
			goto out;
	}
	print_line(&l, heads);
	for (err = 0, i = 0; !err && i < t->nr_rows; i++)
		err = print_row(&l, i);
out:
	for (i = 0; heads && i < t->nr_cols; i++)
		free(heads[i]);
	free(heads);
	free(l.widths);
	return err;
}

/* ---- markdown */

int table_print_markdown(const struct table *t, FILE *out)
{
	size_t col, row;
	char *line[2];
	int i, err = 0;

	for (col = 0; col < t->nr_cols; col++) {
		fputs("| ", out);
		text_put_markdown(out, t->cols[col].head);
		fputc(' ', out);
	}
	fputs("|\n", out);
	for (col = 0; col < t->nr_cols; col++)
		fputs(t->cols[col].right ? "| ---: " : "| --- ", out);
	fputs("|\n", out);
	for (row = 0; !err && row < t->nr_rows; row++) {
		for (col = 0; !err && col < t->nr_cols; col++) {
			for (i = 0; i < 2; i++) {
				line[i] = line_of(cell(t, row, col), i);
				if (!line[i])
					err = -ENOMEM;
			}
			if (!err) {
				fputs("| ", out);
				text_put_markdown(out, line[0]);
				if (*line[1]) {
					fputs(" (", out);
					text_put_markdown(out, line[1]);
					fputc(')', out);
				}
				fputc(' ', out);
			}
			free(line[0]);
			free(line[1]);
		}
		fputs("|\n", out);
	}
	return err;
}

/* ---- CSV */

static void print_csv_field(FILE *out, const char *s)
{
	const char *c;

	if (!strpbrk(s, ",\"\r\n")) {
		fputs(s, out);
		return;
	}
	fputc('"', out);
	for (c = s; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}

int table_print_csv(const struct table *t, FILE *out)
{
	size_t col, row;

	for (col = 0; col < t->nr_cols; col++) {
		if (col)
			fputc(',', out);
		print_csv_field(out, t->cols[col].head);
	}
	fputs("\r\n", out);
	for (row = 0; row < t->nr_rows; row++) {
		for (col = 0; col < t->nr_cols; col++) {
			if (col)
				fputc(',', out);
			print_csv_field(out, cell(t, row, col));
		}
		fputs("\r\n", out);
	}
	return 0;
}

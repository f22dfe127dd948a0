/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of records that tell rows apart, and what rows are called for them. */
#ifndef LIB_COMPARE_FIELDS_H
#define LIB_COMPARE_FIELDS_H

#include <jansson.h>
#include <stddef.h>

#include "lib/compare/comparison.h"
#include "lib/compare/match.h"

/*
 * Finds c->fields, of which the first is the benchmark, and labels all rows with those that vary:
 * "rb-custom rb-b2b=true producers=2". Returns 0 or -ENOMEM.
 */
int fields_label_rows(struct comparison *c, const struct match *m);

void fields_free(struct comparison *c);

/*
 * The values of @field in the files BASE and @other of a row, "base->new" where they differ; "": it
 * is a field of another benchmark. NULL: no memory.
 */
char *fields_row_text(const struct row *row, const struct field *field, size_t other);

/* The same for the names of its figures; "": it has no runs. */
char *fields_row_figure(const struct row *row, size_t other);

/* How the rows that are in BASE only differ from those that are in one other file only. */
struct fields_apart {
	char **texts; /* such as "attach: tp -> fentry" */
	size_t nr;
};

/*
 * Rows on one side only are often meant to be the same ones: so this finds the fields in which all
 * of those that are in BASE but not in file @other differ from all of those for which it is the
 * other way round. To be freed by fields_apart_free() in any case. Returns 0 or -ENOMEM.
 */
int fields_apart(const struct comparison *c, size_t other, struct fields_apart *apart);
void fields_apart_free(struct fields_apart *apart);

#endif /* LIB_COMPARE_FIELDS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands in the cells of tables: each prints one thing of a row, or of one side against base.
 */
#ifndef LIB_COMPARE_CELLS_H
#define LIB_COMPARE_CELLS_H

#include <stdio.h>

#include "lib/compare/comparison.h"

typedef void (*cell_put)(FILE *out, const struct row *row, const struct row_side *side);

/* Texts of the row; what stands in a record may hold anything, and becomes harmless. */
void cell_label(FILE *out, const struct row *row, const struct row_side *side);
void cell_unit(FILE *out, const struct row *row, const struct row_side *side);
void cell_runs(FILE *out, const struct row *row, const struct row_side *side);
void cell_runs_unit(FILE *out, const struct row *row, const struct row_side *side);

/* Numbers of base, with four digits, so that columns stay narrow; '-': there is none. */
void cell_base(FILE *out, const struct row *row, const struct row_side *side);
void cell_base_ci(FILE *out, const struct row *row, const struct row_side *side);

/* Those of @side, and what comes of them. */
void cell_median(FILE *out, const struct row *row, const struct row_side *side);
void cell_median_ci(FILE *out, const struct row *row, const struct row_side *side);
void cell_change(FILE *out, const struct row *row, const struct row_side *side);
void cell_change_ci(FILE *out, const struct row *row, const struct row_side *side);
void cell_p(FILE *out, const struct row *row, const struct row_side *side);
void cell_verdict(FILE *out, const struct row *row, const struct row_side *side);
void cell_change_verdict(FILE *out, const struct row *row, const struct row_side *side);

/* @put and, if not NULL, @below in a second line. To be freed by free(); NULL: no memory. */
char *cell_text(cell_put put, cell_put below, const struct row *row, const struct row_side *side);

#endif /* LIB_COMPARE_CELLS_H */

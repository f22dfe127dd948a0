// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/cells.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/compare/judge.h"
#include "lib/compare/limits.h"
#include "lib/text.h"

/* ---- numbers */

static void put_number(FILE *out, double v)
{
	int decimals;

	if (isnan(v)) {
		fputc('-', out);
	} else if (v == 0) {
		fputc('0', out);
	} else if (v < 0.01 || v >= 1e7) {
		fprintf(out, "%.3g", v);
	} else {
		decimals = 3 - (int)floor(log10(v));
		fprintf(out, "%.*f", decimals < 0 ? 0 : decimals, v);
	}
}

static void put_interval(FILE *out, struct interval i)
{
	if (isnan(i.low)) {
		fputc('-', out);
		return;
	}
	put_number(out, i.low);
	fputs("..", out);
	put_number(out, i.high);
}

static void put_change_number(FILE *out, double pct)
{
	if (fabs(pct) < 0.005) /* no -0.00 */
		fputs("0.00", out);
	else if (fabs(pct) < 9.995)
		fprintf(out, "%+.2f", pct);
	else if (fabs(pct) < 99.95)
		fprintf(out, "%+.1f", pct);
	else if (fabs(pct) < 9999.5)
		fprintf(out, "%+.0f", pct);
	else
		fprintf(out, "%+.0e", pct);
}

/* ---- cells */

static void put_harmless(FILE *out, const char *s)
{
	char *copy = text_shortened(s, SIZE_MAX);

	fputs(copy ? copy : "?", out);
	free(copy);
}

void cell_label(FILE *out, const struct row *row, const struct row_side *side)
{
	put_harmless(out, row->label);
}

void cell_unit(FILE *out, const struct row *row, const struct row_side *side)
{
	put_harmless(out, row->unit ? row->unit : "");
}

/* Has each of more than two files as many? Then one number says it all. */
static bool has_same_runs(const struct row *row)
{
	size_t s;

	for (s = 1; s < row->nr_sides; s++)
		if (row->sides[s].nr_runs != row->sides[BASE].nr_runs)
			return false;
	return row->nr_sides > 2;
}

static void put_runs(FILE *out, const struct row *row)
{
	size_t s;

	for (s = 0; s < (has_same_runs(row) ? 1 : row->nr_sides); s++)
		fprintf(out, "%s%zu", s ? "+" : "", row->sides[s].nr_runs);
}

void cell_runs(FILE *out, const struct row *row, const struct row_side *side)
{
	put_runs(out, row);
	fputs(has_same_runs(row) ? " each" : "", out);
}

void cell_runs_unit(FILE *out, const struct row *row, const struct row_side *side)
{
	put_runs(out, row);
	fputs(row->sides[BASE].nr_runs == 1 && has_same_runs(row) ? " run" : " runs", out);
	fputs(has_same_runs(row) ? " each" : "", out);
	fputs(row->unit ? ", " : "", out);
	cell_unit(out, row, side);
}

void cell_base(FILE *out, const struct row *row, const struct row_side *side)
{
	put_number(out, row->sides[BASE].median);
}

void cell_base_ci(FILE *out, const struct row *row, const struct row_side *side)
{
	put_interval(out, row->sides[BASE].median_ci);
}

void cell_median(FILE *out, const struct row *row, const struct row_side *side)
{
	/* In another unit it would mislead. */
	put_number(out, side->verdict == VERDICT_UNITS ? NAN : side->median);
}

void cell_median_ci(FILE *out, const struct row *row, const struct row_side *side)
{
	put_interval(out, side->median_ci);
}

/* From 0 there is no change in percent. */
void cell_change(FILE *out, const struct row *row, const struct row_side *side)
{
	if (!isfinite(side->change_pct)) {
		fputc('-', out);
		return;
	}
	put_change_number(out, side->change_pct);
	fputc('%', out);
}

void cell_change_ci(FILE *out, const struct row *row, const struct row_side *side)
{
	if (!isfinite(side->change_ci.low) || !isfinite(side->change_ci.high)) {
		fputc('-', out);
		return;
	}
	put_change_number(out, side->change_ci.low);
	fputs("..", out);
	put_change_number(out, side->change_ci.high);
	fputc('%', out);
}

void cell_p(FILE *out, const struct row *row, const struct row_side *side)
{
	double p = side->test.p;

	if (isnan(p))
		fputc('-', out);
	else if (p < 0.0001)
		fputs("<0.0001", out);
	else
		/* Never up to 0.05: the reader shall see why it is a difference. */
		fprintf(out, "%.4f", p < COMPARE_ALPHA ? fmin(p, 0.0499) : p);
}

void cell_verdict(FILE *out, const struct row *row, const struct row_side *side)
{
	fputs(judge_verdict_word(side), out);
}

void cell_change_verdict(FILE *out, const struct row *row, const struct row_side *side)
{
	if (side->verdict == VERDICT_ONE_SIDED)
		return;
	if (isfinite(side->change_pct)) {
		cell_change(out, row, side);
		fputc(' ', out);
	}
	cell_verdict(out, row, side);
}

char *cell_text(cell_put put, cell_put below, const struct row *row, const struct row_side *side)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	put(out, row, side);
	if (below) {
		fputc('\n', out);
		below(out, row, side);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

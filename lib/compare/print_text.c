// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/fields.h"
#include "lib/compare/limits.h"
#include "lib/compare/print.h"
#include "lib/compare/print_env.h"
#include "lib/compare/print_noise.h"
#include "lib/compare/prose.h"
#include "lib/compare/values.h"
#include "lib/text.h"
#include "lib/util.h"

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- what was compared */

/* How many records have this status, added to a list: "1 failed, 1 paused". */
static size_t list_status(const struct file *f, const char *status, FILE *list, bool first)
{
	size_t nr = 0, i;

	for (i = 0; i < f->records.cnt; i++)
		nr += !strcmp(json_string_value(json_object_get(f->records.records[i], "status")),
			      status);
	if (nr)
		fprintf(list, "%s%zu %s", first ? "" : ", ", nr, status);
	return nr;
}

/* "24 runs, 2 left out (1 failed, 1 interrupted)" */
static void say_file(struct prose *p, const struct file *f, size_t width)
{
	static const char *const statuses[] = { "failed", "interrupted", "paused" };
	char *name = NULL, *list = NULL;
	size_t left_out = 0, size, ok, i;
	FILE *out = open_memstream(&list, &size);

	for (i = 0; out && i < ARRAY_SIZE(statuses); i++)
		left_out += list_status(f, statuses[i], out, !left_out);
	if (!out || fclose(out) || asprintf(&name, "%s:", f->name) < 0) {
		p->err = -ENOMEM;
		free(list);
		return;
	}
	ok = f->records.cnt - left_out;
	if (left_out)
		prose_say(p, prose_hanging, "%s%*s %s, %zu run%s, %zu left out (%s)", name,
			  (int)(width - text_width(name)), "", f->path, ok, plural(ok), left_out,
			  list);
	else
		prose_say(p, prose_hanging, "%s%*s %s, %zu run%s", name,
			  (int)(width - text_width(name)), "", f->path, ok, plural(ok));
	free(name);
	free(list);
}

static void say_files(struct prose *p, const struct comparison *c)
{
	size_t width = strlen("base:"), s;

	for (s = 0; s < c->nr_files; s++)
		if (text_width(c->files[s].name) + 1 > width)
			width = text_width(c->files[s].name) + 1;
	for (s = 0; s < c->nr_files; s++)
		say_file(p, &c->files[s], width);
}

/* The first value of a field that does not vary, or NULL: to be freed. */
static char *common_value(const struct comparison *c, const struct field *f)
{
	const json_t *value = NULL;
	size_t s, i;

	for (s = 0; s < c->nr_files; s++)
		for (i = 0; !value && i < c->files[s].records.cnt; i++)
			value = value_find(c->files[s].records.records[i], f->section, f->name);
	return value ? value_text(value) : NULL;
}

/* What all runs share, and therefore is in no row's label. */
static void say_common(struct prose *p, const struct comparison *c)
{
	char *text = NULL, *value;
	const char *comma = "";
	size_t size, i;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out) {
		p->err = -ENOMEM;
		return;
	}
	for (i = 1; i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		if (f->varies || f->varies_by_bench || f->ignored)
			continue;
		value = common_value(c, f);
		if (value && strcmp(value, "none")) {
			fprintf(out, "%s%s=%s", comma, f->label, value);
			comma = ", ";
		}
		free(value);
	}
	if (fclose(out))
		p->err = -ENOMEM;
	else if (*text)
		prose_say(p, prose_hanging, "all:  %s", text);
	free(text);
}

/* Which benchmarks have which value: an object of arrays of names. NULL: no memory. */
static json_t *benchs_by_value(const struct comparison *c, const struct field *f)
{
	json_t *by_value = json_object(), *seen = json_object(), *value;
	const char *bench;
	size_t s, i;
	char *text;

	for (s = 0; s < c->nr_files; s++) {
		for (i = 0; i < c->files[s].records.cnt; i++) {
			const json_t *record = c->files[s].records.records[i];

			bench = json_string_value(json_object_get(record, "bench"));
			if (json_object_get(seen, bench))
				continue;
			json_object_set_new_nocheck(seen, bench, json_true());
			value = value_find(record, f->section, f->name);
			text = value ? value_text(value) : NULL;
			if (!text)
				continue;
			if (!json_object_get(by_value, text))
				json_object_set_new_nocheck(by_value, text, json_array());
			json_array_append_new(json_object_get(by_value, text), json_string(bench));
			free(text);
		}
	}
	json_decref(seen);
	return by_value;
}

/* So many names of benchmarks are printed of the value that most of them have. */
#define MOST_NAMES 4

/* The value that most benchmarks have, if these are too many to be named; or NULL. */
static const char *value_of_most(json_t *by_value)
{
	const char *most = NULL, *value;
	size_t cnt = MOST_NAMES;
	json_t *names;

	json_object_foreach(by_value, value, names) {
		if (json_array_size(names) <= cnt)
			continue;
		cnt = json_array_size(names);
		most = value;
	}
	return most;
}

/*
 * What all runs of a benchmark share, but not all benchmarks: "consumers: 1 (rb-custom), 0 (x)", or
 * "consumers: 1 (rb-custom), others 0"
 */
static void say_by_bench(struct prose *p, const struct comparison *c, const struct field *f)
{
	json_t *by_value = benchs_by_value(c, f), *names, *name;
	const char *comma = "", *value, *most;
	char *text = NULL;
	size_t size, i;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out || !by_value) {
		p->err = -ENOMEM;
		if (out)
			fclose(out);
		goto out;
	}
	most = value_of_most(by_value);
	json_object_foreach(by_value, value, names) {
		if (value == most)
			continue;
		fprintf(out, "%s%s (", comma, value);
		json_array_foreach(names, i, name)
			fprintf(out, "%s%s", i ? ", " : "", json_string_value(name));
		fputc(')', out);
		comma = ", ";
	}
	if (most)
		fprintf(out, "%sothers %s", comma, most);
	if (fclose(out))
		p->err = -ENOMEM;
	else
		prose_say(p, prose_hanging, "%s: %s", f->label, text);
out:
	free(text);
	json_decref(by_value);
}

static void say_ignored(struct prose *p, const struct comparison *c)
{
	char *text = NULL, *value;
	const char *comma = "", *name;
	json_t *values, *v;
	size_t size, i;
	FILE *out;

	if (!json_object_size(c->ignored))
		return;
	out = open_memstream(&text, &size);
	json_object_foreach(c->ignored, name, values) {
		json_array_foreach(values, i, v) {
			value = value_text(v);
			if (out && value)
				fprintf(out, "%s%s=%s", comma, name, value);
			comma = ", ";
			free(value);
		}
	}
	if (!out || fclose(out))
		p->err = -ENOMEM;
	else
		prose_say(p, prose_hanging,
			  "note: ignored, since some runs lack it and others have its default: %s",
			  text);
	free(text);
}

/* ---- what was not compared */

static void say_units(struct prose *p, const struct comparison *c)
{
	bool any = false, differ;
	size_t i, s;

	for (i = 0; i < c->nr_rows; i++) {
		differ = false;
		for (s = 1; s < c->nr_files; s++)
			differ = differ || c->rows[i].sides[s].verdict == VERDICT_UNITS;
		if (!differ)
			continue;
		if (!any)
			prose_say(p, prose_paragraph, "Not compared, for their units differ:");
		any = true;
		prose_say(p, prose_item, "%s", c->rows[i].label);
	}
	if (any)
		prose_gap(p, true);
}

/* The names of those files whose sides of @row are so, with a comma between them. */
static char *names_of(const struct comparison *c, const struct row *row,
		      bool (*is_so)(const struct row_side *side))
{
	const char *comma = "";
	char *text = NULL;
	size_t size, s;
	FILE *out;

	out = open_memstream(&text, &size);
	for (s = 0; out && s < c->nr_files; s++) {
		if (!is_so(&row->sides[s]))
			continue;
		fprintf(out, "%s%s", comma, c->files[s].name);
		comma = ", ";
	}
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool lacks_figure(const struct row_side *side)
{
	return side->lacks_figure;
}

static void say_no_figure(struct prose *p, const struct comparison *c)
{
	bool any = false, lacks;
	size_t i, s;
	char *names;

	for (i = 0; i < c->nr_rows; i++) {
		lacks = false;
		for (s = 1; s < c->nr_files; s++)
			lacks = lacks || c->rows[i].sides[s].verdict == VERDICT_NO_FIGURE;
		if (!lacks)
			continue;
		names = names_of(c, &c->rows[i], lacks_figure);
		if (!any)
			prose_say(p, prose_paragraph, "Not compared, since runs lack the figure:");
		any = true;
		if (names)
			prose_say(p, prose_item, "%s (in %s)", c->rows[i].label, names);
		else
			p->err = -ENOMEM;
		free(names);
	}
	if (any)
		prose_gap(p, true);
}

static bool is_one_sided(const struct row *row)
{
	size_t s;

	for (s = 1; s < row->nr_sides; s++)
		if (row->sides[s].verdict != VERDICT_ONE_SIDED)
			return false;
	return true;
}

/* "8 runs", or of several files, "6.6: 8 runs, 6.12: 1 run" */
static void say_one_sided_row(struct prose *p, const struct comparison *c, const struct row *row)
{
	const char *comma = "";
	char *text = NULL;
	size_t size, s;
	FILE *out;

	out = open_memstream(&text, &size);
	for (s = 0; out && s < c->nr_files; s++) {
		if (!row->sides[s].nr_records)
			continue;
		fputs(comma, out);
		if (s && c->nr_files > 2)
			fprintf(out, "%s: ", c->files[s].name);
		fprintf(out, "%zu run%s", row->sides[s].nr_records,
			plural(row->sides[s].nr_records));
		comma = ", ";
	}
	if (!out || fclose(out))
		p->err = -ENOMEM;
	else
		prose_say(p, prose_item, "%s (%s)", row->label, text);
	free(text);
}

static void say_one_sided(struct prose *p, const struct comparison *c)
{
	const char *const heads[] = { c->nr_files > 2 ? "Not in base:" : "Only in new:",
				      "Only in base:" };
	int in_base;
	size_t i;
	bool any;

	for (in_base = 1; in_base >= 0; in_base--) {
		any = false;
		for (i = 0; i < c->nr_rows; i++) {
			const struct row *row = &c->rows[i];

			if (!is_one_sided(row) || (row->sides[BASE].nr_records > 0) != in_base)
				continue;
			if (!any)
				prose_say(p, prose_paragraph, "%s", heads[in_base]);
			any = true;
			say_one_sided_row(p, c, row);
		}
		if (any)
			prose_gap(p, true);
	}
}

static void say_why_one_sided(struct prose *p, const struct comparison *c)
{
	struct fields_apart apart;
	size_t s, i;

	for (s = 1; s < c->nr_files; s++) {
		if (fields_apart(c, s, &apart))
			p->err = -ENOMEM;
		if (apart.nr)
			prose_say(
				p, prose_paragraph,
				c->nr_files > 2 ?
					"What is in base but not in %s differs from the reverse in (see "
					"--match):" :
					"What is only in base differs from what is only in %s in (see "
					"--match):",
				c->files[s].name);
		for (i = 0; i < apart.nr; i++)
			prose_say(p, prose_item, "%s", apart.texts[i]);
		if (apart.nr)
			prose_gap(p, true);
		fields_apart_free(&apart);
	}
}

/* ---- how to read it */

/* Rows of instructions have no p. */
static void say_exact(struct prose *p, const struct comparison *c)
{
	double least_exact = -1;
	size_t i, s;

	for (i = 0; i < c->nr_rows; i++)
		for (s = 1; s < c->nr_files; s++)
			if (c->rows[i].sides[s].is_exact)
				least_exact = fmax(least_exact, c->rows[i].sides[s].exact_pct);
	if (least_exact >= 0)
		prose_say(p, prose_paragraph,
			  "Instructions repeat: between runs, or samples where there is one run, "
			  "both sides together differ by %.2g %% at most, and a change beyond what "
			  "its row does is a difference. No test is needed.",
			  least_exact);
}

/* What a verdict with a question mark means, and what blocks are. */
static void say_order(struct prose *p, const struct comparison *c)
{
	bool apart = false, blocks = false;
	size_t i, s;

	for (i = 0; i < c->nr_rows; i++) {
		for (s = 1; s < c->nr_files; s++) {
			const struct row_side *side = &c->rows[i].sides[s];

			apart = apart || (side->apart && side->verdict != VERDICT_SAME &&
					  !isnan(side->test.p));
			blocks = blocks || side->nr_blocks[0];
		}
	}
	if (apart)
		prose_say(p, prose_paragraph,
			  "?: the runs of the two sides were made one side after the other, and "
			  "what drifts on the machine between them is not in p: measure by turns "
			  "(scripts/ab.sh), or in %d blocks or more on each side (boots, say).",
			  ORDER_MIN_BLOCKS);
	if (blocks)
		prose_say(p, prose_paragraph,
			  "Runs were made in blocks: p is of the means of the blocks, since each "
			  "has its own.");
}

/* What p has to be below for a verdict, and whether there are runs enough for that. */
static void say_limit(struct prose *p, const struct comparison *c)
{
	const double lone_limit = COMPARE_ALPHA / c->nr_tested; /* of a test that is the only one */
	size_t blind = 0, i, s;
	int runs;

	if (c->nr_tested < 2)
		return;
	for (i = 0; i < c->nr_rows; i++) {
		const struct row_side *sides = c->rows[i].sides;

		for (s = 1; s < c->nr_files; s++)
			blind += !isnan(sides[s].test.p) &&
				 utest_least_p(sides[BASE].nr_runs, sides[s].nr_runs) >= lone_limit;
	}
	prose_say(p, prose_paragraph,
		  "For a verdict among %zu %s p has to be below %.3g, so that of the verdicts no "
		  "more than 5 %% are to be expected by chance (Benjamini-Hochberg).",
		  c->nr_tested, c->nr_files > 2 ? "tests" : "rows", c->p_limit);
	if (!blind)
		return;
	for (runs = COMPARE_MIN_RUNS; utest_least_p(runs, runs) >= lone_limit;)
		runs++;
	prose_say(p, prose_paragraph,
		  "%zu of them could show no difference if it were the only one: that takes %d "
		  "runs on each side.",
		  blind, runs);
}

static void say_method(struct prose *p, const struct comparison *c)
{
	size_t approximated = 0, no_interval = 0, i, s;
	const char *few, *exact, *limit;

	for (i = 0; i < c->nr_rows; i++) {
		const struct row_side *sides = c->rows[i].sides;

		for (s = 1; s < c->nr_files; s++) {
			if (!side_is_compared(&sides[s]))
				continue;
			approximated += !isnan(sides[s].test.p) &&
					sides[s].test.method == UTEST_NORMAL;
			no_interval += isnan(sides[BASE].median_ci.low) ||
				       (isnan(sides[s].median_ci.low) && c->nr_files == 2);
		}
	}
	few = no_interval ? " (-: these take 6 runs)" : "";
	exact = approximated ? "exact below 50 runs" : "exact";
	limit = c->nr_tested > 1 ? "" : " (p >= 0.05)";
	if (c->nr_files > 2)
		prose_say(
			p, prose_paragraph,
			"Medians over runs and, %s, the 95 %% interval of base%s; for the others "
			"the change from base (Hodges-Lehmann estimate of the ratio) and the "
			"verdict of a two-sided Mann-Whitney U test, %s%s. ~: no difference shown%s. --csv "
			"has p and all intervals.",
			p->markdown ? "in brackets" : "below", few, exact,
			c->nr_tested ? "" : " (takes 4 runs in each file)", limit);
	else
		prose_say(
			p, prose_paragraph,
			"Medians over runs and, %s, their 95 %% intervals%s. Change: Hodges-Lehmann "
			"estimate of the ratio, with its 95 %% interval. p: two-sided Mann-Whitney "
			"U test, %s%s. ~: no difference shown%s.",
			p->markdown ? "in brackets" : "below", few, exact,
			c->nr_tested ? "" : " (takes 4 runs on each side)", limit);
}

static void say_pooled(struct prose *p, const struct comparison *c)
{
	size_t pooled = 0, i;

	for (i = 0; i < c->nr_rows; i++)
		pooled += c->rows[i].pooled && row_is_compared(&c->rows[i]);
	if (pooled)
		prose_say(
			p, prose_paragraph,
			"%zu row%s of runs that are not of one kind: where the name lists several "
			"values, these are mixed on one side (see --match).",
			pooled, pooled == 1 ? " is" : "s are");
}

/* ---- the whole */

int print_text(const struct comparison *c, FILE *out, bool markdown)
{
	struct prose p = { .out = out, .markdown = markdown };
	bool any = false, all_one_sided = true;
	size_t i;

	say_files(&p, c);
	say_common(&p, c);
	for (i = 1; i < c->nr_fields; i++)
		if (c->fields[i].varies_by_bench)
			say_by_bench(&p, c, &c->fields[i]);
	say_ignored(&p, c);
	prose_gap(&p, false);
	print_env(&p, c);
	print_noise(&p, c);
	for (i = 0; i < c->nr_rows; i++) {
		any = any || row_is_compared(&c->rows[i]);
		all_one_sided = all_one_sided && is_one_sided(&c->rows[i]);
	}
	if (any) {
		p.err = p.err ? p.err : print_table(c, out, markdown);
		fputc('\n', out);
	} else {
		prose_say(&p, prose_paragraph, "Nothing to compare%s.",
			  all_one_sided ? ": no row is on both sides" : "");
		prose_gap(&p, false);
	}
	say_units(&p, c);
	say_no_figure(&p, c);
	say_one_sided(&p, c);
	say_why_one_sided(&p, c);
	if (any) {
		say_method(&p, c);
		say_exact(&p, c);
		say_order(&p, c);
		say_limit(&p, c);
		say_pooled(&p, c);
	}
	return p.err;
}

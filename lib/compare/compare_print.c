// SPDX-License-Identifier: GPL-2.0
/* How a comparison looks: as text for a mail, as Markdown, as CSV. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/compare.h"
#include "lib/compare/comparison.h"
#include "lib/table.h"
#include "lib/text.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const side_names[] = { [BASE] = "base", [NEW] = "new" };

/* ---- numbers */

/* Four digits, so that columns stay narrow and neighbours can be compared by eye. */
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
	else if (fabs(pct) < 9999.5 || isinf(pct))
		fprintf(out, "%+.0f", pct);
	else
		fprintf(out, "%+.0e", pct);
}

/* The shortest text that reads back as the same number; nothing where there is none. */
static void put_exact(FILE *out, double v)
{
	char buf[32];
	int digits;

	if (isnan(v))
		return;
	for (digits = 15; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			break;
	}
	fputs(buf, out);
}

/* ---- columns: what is in a cell, and what is below it */

/* What a cell shows: what @put prints, or a member of struct row, with all its digits. */
struct column {
	struct table_col col;
	void (*put)(FILE *out, const struct row *row);
	void (*below)(FILE *out, const struct row *row); /* may be NULL */
	enum { COLUMN_PUT, COLUMN_DOUBLE, COLUMN_SIZE } kind;
	size_t offset;
};

/* What stands in a record may hold anything. */
static void put_harmless(FILE *out, const char *s)
{
	char *copy = text_shortened(s, SIZE_MAX);

	fputs(copy ? copy : "?", out);
	free(copy);
}

static void put_label(FILE *out, const struct row *row)
{
	put_harmless(out, row->label);
}

static void csv_label(FILE *out, const struct row *row)
{
	fputs(row->label, out);
}

static void put_unit(FILE *out, const struct row *row)
{
	put_harmless(out, row->unit ? row->unit : "");
}

static void csv_unit(FILE *out, const struct row *row)
{
	fputs(row->unit ? row->unit : "", out);
}

static void put_runs(FILE *out, const struct row *row)
{
	fprintf(out, "%zu+%zu", row->side[BASE].nr_runs, row->side[NEW].nr_runs);
}

static void put_runs_unit(FILE *out, const struct row *row)
{
	put_runs(out, row);
	fputs(row->unit ? " runs, " : " runs", out);
	put_unit(out, row);
}

static void put_base(FILE *out, const struct row *row)
{
	put_number(out, row->side[BASE].median);
}

static void put_base_ci(FILE *out, const struct row *row)
{
	put_interval(out, row->side[BASE].median_ci);
}

static void put_new(FILE *out, const struct row *row)
{
	put_number(out, row->side[NEW].median);
}

static void put_new_ci(FILE *out, const struct row *row)
{
	put_interval(out, row->side[NEW].median_ci);
}

static void put_change(FILE *out, const struct row *row)
{
	if (isnan(row->change_pct)) {
		fputc('-', out);
		return;
	}
	put_change_number(out, row->change_pct);
	fputc('%', out);
}

static void put_change_ci(FILE *out, const struct row *row)
{
	if (isnan(row->change_ci.low)) {
		fputc('-', out);
		return;
	}
	put_change_number(out, row->change_ci.low);
	fputs("..", out);
	put_change_number(out, row->change_ci.high);
	fputc('%', out);
}

static void put_p(FILE *out, const struct row *row)
{
	if (isnan(row->test.p))
		fputc('-', out);
	else if (row->test.p < 0.0001)
		fputs("<0.0001", out);
	else
		/* Never up to 0.05: the reader shall see why it is a difference. */
		fprintf(out, "%.4f",
			row->test.p < COMPARE_ALPHA ? fmin(row->test.p, 0.0499) : row->test.p);
}

static void put_verdict(FILE *out, const struct row *row)
{
	fputs(comparison_verdict(row->verdict), out);
}

static void csv_method(FILE *out, const struct row *row)
{
	static const char *const names[] = {
		[UTEST_EXACT] = "exact",
		[UTEST_EXACT_TIES] = "exact_ties",
		[UTEST_NORMAL] = "normal",
	};

	if (!isnan(row->test.p))
		fputs(names[row->test.method], out);
}

#define LEFT(head, ...)                             \
	{                                           \
		.col = { head, false }, __VA_ARGS__ \
	}
#define RIGHT(head, ...)                           \
	{                                          \
		.col = { head, true }, __VA_ARGS__ \
	}
#define NUMBER(head, member) LEFT(head, NULL, NULL, COLUMN_DOUBLE, offsetof(struct row, member))
#define COUNT(head, member)  LEFT(head, NULL, NULL, COLUMN_SIZE, offsetof(struct row, member))

/* A column a line. */
/* clang-format off */
static const struct column text_columns[] = {
	LEFT("", put_label, put_runs_unit),
	RIGHT("base", put_base, put_base_ci),
	RIGHT("new", put_new, put_new_ci),
	RIGHT("change", put_change, put_change_ci),
	RIGHT("p", put_p, put_verdict),
};

static const struct column markdown_columns[] = {
	LEFT("", put_label),
	LEFT("unit", put_unit),
	RIGHT("runs", put_runs),
	RIGHT("base", put_base, put_base_ci),
	RIGHT("new", put_new, put_new_ci),
	RIGHT("change", put_change, put_change_ci),
	RIGHT("p", put_p),
	LEFT("verdict", put_verdict),
};

/* The fields that vary follow them, each in a column of its own. */
static const struct column csv_columns[] = {
	LEFT("row", csv_label),
	LEFT("unit", csv_unit),
	LEFT("verdict", put_verdict),
	COUNT("base_runs", side[BASE].nr_runs),
	COUNT("new_runs", side[NEW].nr_runs),
	COUNT("base_left_out", side[BASE].nr_left_out),
	COUNT("new_left_out", side[NEW].nr_left_out),
	NUMBER("base_median", side[BASE].median),
	NUMBER("base_ci95_low", side[BASE].median_ci.low),
	NUMBER("base_ci95_high", side[BASE].median_ci.high),
	NUMBER("new_median", side[NEW].median),
	NUMBER("new_ci95_low", side[NEW].median_ci.low),
	NUMBER("new_ci95_high", side[NEW].median_ci.high),
	NUMBER("change_pct", change_pct),
	NUMBER("change_ci95_low_pct", change_ci.low),
	NUMBER("change_ci95_high_pct", change_ci.high),
	NUMBER("u", test.u),
	NUMBER("p", test.p),
	NUMBER("p_adjusted", p_adjusted),
	LEFT("p_method", csv_method),
};
/* clang-format on */

static char *cell_text(const struct column *column, const struct row *row)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	switch (column->kind) {
	case COLUMN_DOUBLE:
		put_exact(out, *(const double *)((const char *)row + column->offset));
		break;
	case COLUMN_SIZE:
		fprintf(out, "%zu", *(const size_t *)((const char *)row + column->offset));
		break;
	case COLUMN_PUT:
		column->put(out, row);
		break;
	}
	if (column->below) {
		fputc('\n', out);
		column->below(out, row);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_compared(const struct row *row)
{
	return row->verdict != VERDICT_UNITS && row->verdict != VERDICT_ONE_SIDED;
}

/* Room for all the columns that any of the formats has. */
#define MAX_COLUMNS 32

static int fill_table(struct table *t, const struct comparison *c, const struct column *columns,
		      size_t nr)
{
	char *cells[MAX_COLUMNS];
	size_t i, col;
	int err = 0;

	for (i = 0; !err && i < c->nr_rows; i++) {
		if (!is_compared(&c->rows[i]))
			continue;
		for (col = 0; col < nr; col++)
			cells[col] = cell_text(&columns[col], &c->rows[i]);
		err = table_add(t, cells);
	}
	return err;
}

static int print_table(const struct comparison *c, FILE *out, bool markdown)
{
	const struct column *columns = markdown ? markdown_columns : text_columns;
	size_t nr = markdown ? ARRAY_SIZE(markdown_columns) : ARRAY_SIZE(text_columns), col;
	struct table_col cols[MAX_COLUMNS];
	struct table t;
	int err;

	for (col = 0; col < nr; col++)
		cols[col] = columns[col].col;
	table_init(&t, cols, nr);
	err = fill_table(&t, c, columns, nr);
	if (!err)
		err = markdown ? table_print_markdown(&t, out) :
				 table_print_text(&t, out, COMPARE_WIDTH);
	table_free(&t);
	return err;
}

/* ---- prose */

struct prose {
	const struct comparison *c;
	FILE *out;
	bool markdown;
	int err; /* the first one */
};

/* Indents of the first line and of those that follow. */
struct indent {
	const char *first, *rest;
};

static const struct indent paragraph = { "", "" };
static const struct indent hanging = { "", "      " };
static const struct indent item = { "  ", "    " };
static const struct indent item_side = { "    ", "          " };

static void __attribute__((format(printf, 3, 4)))
say(struct prose *p, struct indent indent, const char *fmt, ...)
{
	char *text = NULL;
	va_list va;
	int n;

	va_start(va, fmt);
	n = vasprintf(&text, fmt, va);
	va_end(va);
	if (n < 0) {
		p->err = -ENOMEM;
		return;
	}
	if (!p->markdown) {
		n = text_wrap(p->out, indent.first, indent.rest, text, COMPARE_WIDTH);
		p->err = p->err ? p->err : n;
	} else {
		fputs(*indent.first ? "- " : "", p->out);
		text_put_markdown(p->out, text);
		fputs(*indent.first ? "\n" : "\n\n", p->out);
	}
	free(text);
}

/* Ends a group of paragraphs, or a list. */
static void gap(struct prose *p, bool list)
{
	if (!p->markdown || list)
		fputc('\n', p->out);
}

/* "24 runs, 2 left out (1 failed, 1 interrupted)" */
static void say_side(struct prose *p, enum side s)
{
	const struct records *r = &p->c->records[s];
	size_t failed = 0, interrupted = 0, ok, i;
	char left_out[80] = "";
	const char *status;

	for (i = 0; i < r->cnt; i++) {
		status = json_string_value(json_object_get(r->records[i], "status"));
		failed += !strcmp(status, "failed");
		interrupted += !strcmp(status, "interrupted");
	}
	if (failed && interrupted)
		snprintf(left_out, sizeof(left_out), ", %zu left out (%zu failed, %zu interrupted)",
			 failed + interrupted, failed, interrupted);
	else if (failed || interrupted)
		snprintf(left_out, sizeof(left_out), ", %zu left out (%s)", failed + interrupted,
			 failed ? "failed" : "interrupted");
	ok = r->cnt - failed - interrupted;
	say(p, hanging, "%-5s %s, %zu run%s%s", s == BASE ? "base:" : "new:", p->c->path[s], ok,
	    ok == 1 ? "" : "s", left_out);
}

/* The one value of a field that does not vary, or NULL: to be freed. */
static char *common_value(const struct comparison *c, const struct field *f)
{
	char *value = NULL;
	size_t i;
	int s;

	for (s = 0; s < NR_SIDES; s++)
		for (i = 0; !value && i < c->records[s].cnt; i++)
			value = comparison_value(c->records[s].records[i], f->section, f->name);
	return value;
}

/* What all runs share, and therefore is in no row's label. */
static void say_common(struct prose *p)
{
	const struct comparison *c = p->c;
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

		if (f->varies || f->varies_by_bench)
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
		say(p, hanging, "all:  %s", text);
	free(text);
}

/* Which benchmarks have which value: an object of arrays of names. NULL: no memory. */
static json_t *benchs_by_value(const struct comparison *c, const struct field *f)
{
	json_t *by_value = json_object(), *seen = json_object(), *names;
	const char *bench;
	char *value;
	size_t i;
	int s;

	for (s = 0; s < NR_SIDES; s++) {
		for (i = 0; i < c->records[s].cnt; i++) {
			const json_t *record = c->records[s].records[i];

			bench = json_string_value(json_object_get(record, "bench"));
			if (json_object_get(seen, bench))
				continue;
			json_object_set_new_nocheck(seen, bench, json_true());
			value = comparison_value(record, f->section, f->name);
			if (!value)
				continue;
			if (!json_object_get(by_value, value))
				json_object_set_new_nocheck(by_value, value, json_array());
			names = json_object_get(by_value, value);
			json_array_append_new(names, json_string(bench));
			free(value);
		}
	}
	json_decref(seen);
	return by_value;
}

/* What all runs of a benchmark share, but not all benchmarks: "consumers: 1 (rb-custom), 0 (x)" */
static void say_by_bench(struct prose *p, const struct field *f)
{
	json_t *by_value = benchs_by_value(p->c, f), *names, *name;
	const char *comma = "", *value;
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
	json_object_foreach(by_value, value, names) {
		fprintf(out, "%s%s (", comma, value);
		json_array_foreach(names, i, name)
			fprintf(out, "%s%s", i ? ", " : "", json_string_value(name));
		fputc(')', out);
		comma = ", ";
	}
	if (fclose(out))
		p->err = -ENOMEM;
	else
		say(p, hanging, "%s: %s", f->label, text);
out:
	free(text);
	json_decref(by_value);
}

/* Values beyond these help nobody. */
#define MAX_ENV_VALUES 4

static char *env_text(value_set set)
{
	size_t nr = 0, size;
	const char *value;
	char *text = NULL;
	json_t *cnt;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (!json_object_size(set))
		fputs("absent", out);
	json_object_foreach(set, value, cnt) {
		if (nr++ == MAX_ENV_VALUES) {
			fprintf(out, ", and %zu more", json_object_size(set) - MAX_ENV_VALUES);
			break;
		}
		fprintf(out, "%s%s", nr > 1 ? ", " : "", value);
		if (json_object_size(set) > 1)
			fprintf(out, " (%" JSON_INTEGER_FORMAT " run%s)", json_integer_value(cnt),
				json_integer_value(cnt) == 1 ? "" : "s");
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Long texts that differ in a few words, as the mitigations do: what they have in common at either
 * end becomes "...". @texts: replaced.
 */
static int cut_common(char *texts[NR_SIDES])
{
	char *a = texts[BASE], *b = texts[NEW], *cut[NR_SIDES] = {};
	size_t head, tail, len[NR_SIDES] = { strlen(a), strlen(b) };
	int s;

	for (head = 0; a[head] && a[head] == b[head];)
		head++;
	while (head && a[head - 1] != ' ')
		head--;
	for (tail = 0; tail < len[BASE] - head && tail < len[NEW] - head &&
		       a[len[BASE] - tail - 1] == b[len[NEW] - tail - 1];)
		tail++;
	while (tail && a[len[BASE] - tail] != ' ')
		tail--;
	for (s = 0; s < NR_SIDES; s++) {
		if (asprintf(&cut[s], "%s%.*s%s", head ? "... " : "", (int)(len[s] - head - tail),
			     texts[s] + head, tail ? " ..." : "") < 0) {
			free(cut[BASE]);
			return -ENOMEM;
		}
	}
	for (s = 0; s < NR_SIDES; s++) {
		free(texts[s]);
		texts[s] = cut[s];
	}
	return 0;
}

static void say_env_key(struct prose *p, const char *key, value_set sets[NR_SIDES])
{
	char *texts[NR_SIDES] = { env_text(sets[BASE]), env_text(sets[NEW]) };
	int s;

	if (!texts[BASE] || !texts[NEW]) {
		p->err = -ENOMEM;
		goto out;
	}
	if (json_object_size(sets[BASE]) == 1 && json_object_size(sets[NEW]) == 1 &&
	    text_width(texts[BASE]) + text_width(texts[NEW]) > COMPARE_WIDTH && cut_common(texts))
		p->err = -ENOMEM;
	if (p->markdown || strlen(item.first) + text_width(key) + strlen(": ") +
					   text_width(texts[BASE]) + strlen(" -> ") +
					   text_width(texts[NEW]) <=
				   COMPARE_WIDTH) {
		say(p, item, "%s: %s -> %s", key, texts[BASE], texts[NEW]);
		goto out;
	}
	say(p, item, "%s:", key);
	for (s = 0; s < NR_SIDES; s++)
		say(p, item_side, "%-5s %s", s == BASE ? "base:" : "new:", texts[s]);
out:
	free(texts[BASE]);
	free(texts[NEW]);
}

/* Keys of env, in order of appearance. */
static value_set env_keys(const struct comparison *c)
{
	value_set keys = json_object();
	const char *key;
	json_t *value;
	size_t i;
	int s;

	for (s = 0; s < NR_SIDES; s++)
		for (i = 0; i < c->records[s].cnt; i++)
			json_object_foreach(json_object_get(c->records[s].records[i], "env"), key,
					    value)
				json_object_set_new_nocheck(keys, key, json_true());
	return keys;
}

static void say_env(struct prose *p)
{
	const struct comparison *c = p->c;
	value_set keys = env_keys(c), sets[NR_SIDES];
	const char *key;
	json_t *value;
	bool any = false;
	int s;

	json_object_foreach(keys, key, value) {
		if (!strcmp(key, "time"))
			continue;
		for (s = 0; s < NR_SIDES; s++)
			sets[s] = comparison_values(c->records[s].records, c->records[s].cnt, "env",
						    key);
		if (!sets[BASE] || !sets[NEW]) {
			p->err = -ENOMEM;
		} else if (!value_set_equal(sets[BASE], sets[NEW]) ||
			   json_object_size(sets[BASE]) > 1) {
			if (!any)
				say(p, paragraph, "Environments differ (base -> new):");
			any = true;
			say_env_key(p, key, sets);
		}
		json_decref(sets[BASE]);
		json_decref(sets[NEW]);
	}
	json_decref(keys);
	if (any)
		gap(p, true);
}

static void say_units(struct prose *p)
{
	const struct comparison *c = p->c;
	bool any = false;
	size_t i;

	for (i = 0; i < c->nr_rows; i++) {
		if (c->rows[i].verdict != VERDICT_UNITS)
			continue;
		if (!any)
			say(p, paragraph, "Not compared, for their units differ:");
		any = true;
		say(p, item, "%s", c->rows[i].label);
	}
	if (any)
		gap(p, true);
}

/* All records of rows that are on side @s only: an array to be freed; NULL: none, or no memory. */
static json_t **one_sided_records(const struct comparison *c, enum side s, size_t *nr)
{
	json_t **records = NULL, **grown;
	size_t i;

	*nr = 0;
	for (i = 0; i < c->nr_rows; i++) {
		const struct row_side *side = &c->rows[i].side[s];

		if (c->rows[i].verdict != VERDICT_ONE_SIDED || !side->nr_records)
			continue;
		grown = realloc(records, (*nr + side->nr_records) * sizeof(*grown));
		if (!grown)
			break;
		records = grown;
		memcpy(records + *nr, side->records, side->nr_records * sizeof(*records));
		*nr += side->nr_records;
	}
	return records;
}

static bool have_common_value(value_set a, value_set b)
{
	const char *value;
	json_t *cnt;

	json_object_foreach(a, value, cnt)
		if (json_object_get(b, value))
			return true;
	return false;
}

/*
 * Rows on one side only are often meant to be the same ones: so the reader is told in which fields
 * all of those in base differ from all of those in new.
 */
static void say_why_one_sided(struct prose *p)
{
	const struct comparison *c = p->c;
	size_t nr[NR_SIDES], i;
	json_t **records[NR_SIDES];
	value_set sets[NR_SIDES];
	bool any = false, disjoint, benchs_differ = false;
	char *texts[NR_SIDES];
	int s;

	for (s = 0; s < NR_SIDES; s++)
		records[s] = one_sided_records(c, s, &nr[s]);
	/* Where the benchmarks are others, so are most of their options: that is no news. */
	for (i = 0; nr[BASE] && nr[NEW] && !benchs_differ && i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		for (s = 0; s < NR_SIDES; s++)
			sets[s] = comparison_values(records[s], nr[s], f->section, f->name);
		disjoint = sets[BASE] && sets[NEW] && !have_common_value(sets[BASE], sets[NEW]) &&
			   json_object_size(sets[BASE]) + json_object_size(sets[NEW]);
		if (disjoint) {
			texts[BASE] = env_text(sets[BASE]);
			texts[NEW] = env_text(sets[NEW]);
			if (!any)
				say(p, paragraph,
				    "What is only in base differs from what is only in new in "
				    "(see --match):");
			any = true;
			say(p, item, "%s: %s -> %s", f->label, texts[BASE] ? texts[BASE] : "",
			    texts[NEW] ? texts[NEW] : "");
			free(texts[BASE]);
			free(texts[NEW]);
			benchs_differ = i == 0;
		}
		json_decref(sets[BASE]);
		json_decref(sets[NEW]);
	}
	if (any)
		gap(p, true);
	free(records[BASE]);
	free(records[NEW]);
}

static void say_one_sided(struct prose *p)
{
	const struct comparison *c = p->c;
	bool any;
	size_t i;
	int s;

	for (s = 0; s < NR_SIDES; s++) {
		any = false;
		for (i = 0; i < c->nr_rows; i++) {
			const struct row *row = &c->rows[i];

			if (row->verdict != VERDICT_ONE_SIDED || !row->side[s].nr_records)
				continue;
			if (!any)
				say(p, paragraph, "Only in %s:", side_names[s]);
			any = true;
			say(p, item, "%s (%zu run%s)", row->label, row->side[s].nr_records,
			    row->side[s].nr_records == 1 ? "" : "s");
		}
		if (any)
			gap(p, true);
	}
	say_why_one_sided(p);
}

/* What p has to be below for a verdict, and whether there are runs enough for that. */
static void say_limit(struct prose *p)
{
	const struct comparison *c = p->c;
	const double lone_limit = COMPARE_ALPHA / c->nr_tested; /* of a row that is the only one */
	size_t blind = 0, i;
	int runs;

	if (c->nr_tested < 2)
		return;
	for (i = 0; i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];

		blind += !isnan(row->test.p) && utest_least_p(row->side[BASE].nr_runs,
							      row->side[NEW].nr_runs) >= lone_limit;
	}
	say(p, paragraph,
	    "For a verdict among %zu rows p has to be below %.3g, so that of the verdicts no more "
	    "than 5 %% are to be expected by chance (Benjamini-Hochberg).",
	    c->nr_tested, c->p_limit);
	if (!blind)
		return;
	for (runs = COMPARE_MIN_RUNS; utest_least_p(runs, runs) >= lone_limit;)
		runs++;
	say(p, paragraph,
	    "%zu of them could show no difference if it were the only one: that takes %d runs on "
	    "each side.",
	    blind, runs);
}

static void say_how(struct prose *p)
{
	size_t approximated = 0, no_interval = 0, pooled = 0, i;
	const struct comparison *c = p->c;

	for (i = 0; i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];

		if (!is_compared(row))
			continue;
		pooled += row->pooled;
		approximated += !isnan(row->test.p) && row->test.method == UTEST_NORMAL;
		no_interval += isnan(row->side[BASE].median_ci.low) ||
			       isnan(row->side[NEW].median_ci.low);
	}
	say(p, paragraph,
	    "Medians over runs and, %s, their 95 %% intervals%s. Change: Hodges-Lehmann estimate of "
	    "the ratio, with its 95 %% interval. p: two-sided Mann-Whitney U test, %s%s. ~: no "
	    "difference shown%s.",
	    p->markdown ? "in brackets" : "below", no_interval ? " (-: these take 6 runs)" : "",
	    approximated ? "exact below 50 runs" : "exact",
	    c->nr_tested ? "" : " (takes 4 runs on each side)",
	    c->nr_tested > 1 ? "" : " (p >= 0.05)");
	say_limit(p);
	if (pooled)
		say(p, paragraph,
		    "%zu row%s of runs that are not of one kind: where the name lists several "
		    "values, these are mixed on one side (see --match).",
		    pooled, pooled == 1 ? " is" : "s are");
}

static int print_prose(const struct comparison *c, FILE *out, bool markdown)
{
	struct prose p = { .c = c, .out = out, .markdown = markdown };
	bool any = false;
	size_t i;

	say_side(&p, BASE);
	say_side(&p, NEW);
	say_common(&p);
	for (i = 1; i < c->nr_fields; i++)
		if (c->fields[i].varies_by_bench)
			say_by_bench(&p, &c->fields[i]);
	gap(&p, false);
	say_env(&p);
	for (i = 0; i < c->nr_rows; i++)
		any = any || is_compared(&c->rows[i]);
	if (any) {
		p.err = p.err ? p.err : print_table(c, out, markdown);
		fputc('\n', out);
	} else {
		say(&p, paragraph, "Nothing to compare: no row is on both sides.");
		gap(&p, false);
	}
	say_units(&p);
	say_one_sided(&p);
	if (any)
		say_how(&p);
	return p.err;
}

int comparison_print_text(const struct comparison *c, FILE *out)
{
	return print_prose(c, out, false);
}

int comparison_print_markdown(const struct comparison *c, FILE *out)
{
	return print_prose(c, out, true);
}

/* ---- CSV: all rows, whatever came of them */

static char *field_head(const struct field *f)
{
	char *head = NULL;

	if (asprintf(&head, "%s%s%s", f->section ? f->section : "", f->section ? "." : "",
		     f->name) < 0)
		return NULL;
	return head;
}

int comparison_print_csv(const struct comparison *c, FILE *out)
{
	const size_t fixed = ARRAY_SIZE(csv_columns);
	struct table_col *cols;
	const struct field **fields;
	struct table t;
	char **cells;
	size_t nr = fixed, row, col, i;
	int err = 0;

	cols = calloc(fixed + c->nr_fields, sizeof(*cols));
	cells = calloc(fixed + c->nr_fields, sizeof(*cells));
	fields = calloc(fixed + c->nr_fields, sizeof(*fields));
	if (!cols || !cells || !fields) {
		err = -ENOMEM;
		goto out_free;
	}
	for (col = 0; col < fixed; col++)
		cols[col] = csv_columns[col].col;
	for (i = 0; i < c->nr_fields; i++) {
		if (i && !c->fields[i].varies && !c->fields[i].varies_by_bench)
			continue;
		fields[nr] = &c->fields[i];
		cols[nr].head = field_head(&c->fields[i]);
		if (!cols[nr++].head)
			err = -ENOMEM;
	}
	table_init(&t, cols, nr);
	for (row = 0; !err && row < c->nr_rows; row++) {
		for (col = 0; col < nr; col++)
			cells[col] = fields[col] ? comparison_row_value(&c->rows[row], fields[col],
									NULL) :
						   cell_text(&csv_columns[col], &c->rows[row]);
		err = table_add(&t, cells);
	}
	if (!err)
		err = table_print_csv(&t, out);
	table_free(&t);
	for (col = fixed; col < nr; col++)
		free((char *)cols[col].head);
out_free:
	free(cols);
	free(cells);
	free(fields);
	return err;
}

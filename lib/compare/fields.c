// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/values.h"

/* ---- which there are */

static int add_field(struct comparison *c, const char *section, const char *name)
{
	struct field *grown;
	size_t i;

	for (i = 0; i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		if (!strcmp(f->name, name) &&
		    (f->section == section ||
		     (f->section && section && !strcmp(f->section, section))))
			return 0;
	}
	grown = realloc(c->fields, (c->nr_fields + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->fields = grown;
	c->fields[c->nr_fields++] = (struct field){ .section = section, .name = name };
	return 0;
}

static int add_fields_of(struct comparison *c, const char *section)
{
	const char *name;
	json_t *value;
	size_t s, i;
	int err;

	for (s = 0; s < c->nr_files; s++) {
		for (i = 0; i < c->files[s].records.cnt; i++) {
			json_object_foreach(json_object_get(c->files[s].records.records[i],
							    section),
					    name, value) {
				err = add_field(c, section, name);
				if (err)
					return err;
			}
		}
	}
	return 0;
}

static int label_field(const struct comparison *c, struct field *f)
{
	bool unique = true;
	size_t i;
	int n;

	for (i = 0; i < c->nr_fields; i++)
		if (&c->fields[i] != f && !strcmp(c->fields[i].name, f->name))
			unique = false;
	n = asprintf(&f->label, "%s%s%s", unique || !f->section ? "" : f->section,
		     unique || !f->section ? "" : ".", f->name);
	if (n < 0)
		f->label = NULL;
	return f->label ? 0 : -ENOMEM;
}

/*
 * Within a benchmark, a field varies also where only some records have it: unless that was ignored
 * in matching, since the others have its default. (That those of another benchmark lack it says
 * nothing.)
 */
static int find_variation(const struct comparison *c, struct field *f)
{
	json_t *first = NULL, *record, *value, *prev, *of_bench = json_object();
	json_t *lacking = json_object(), *not_default = json_object(), *cnt;
	int err = of_bench && lacking && not_default ? 0 : -ENOMEM;
	bool several = false;
	const char *bench;
	size_t s, i;

	f->ignored = f->section && !strcmp(f->section, "params") &&
		     json_object_get(c->ignored, f->name);
	for (s = 0; s < c->nr_files; s++) {
		for (i = 0; !err && i < c->files[s].records.cnt; i++) {
			record = c->files[s].records.records[i];
			value = value_find(record, f->section, f->name);
			bench = json_string_value(json_object_get(record, "bench"));
			if (!value) {
				err = value_set_add(lacking, bench);
				continue;
			}
			first = first ? first : value;
			several = several || !json_equal(first, value);
			prev = json_object_get(of_bench, bench);
			if (prev && !json_equal(prev, value))
				f->varies = true;
			err = json_object_set_nocheck(of_bench, bench, value) ? -ENOMEM : 0;
			if (!err && !(f->ignored && record_is_default(record, f->name, value)))
				err = value_set_add(not_default, bench);
		}
	}
	json_object_foreach(lacking, bench, cnt)
		if (json_object_get(not_default, bench))
			f->varies = true;
	f->varies_by_bench = several && !f->varies;
	json_decref(of_bench);
	json_decref(lacking);
	json_decref(not_default);
	return err;
}

static int find_fields(struct comparison *c, const struct match *m)
{
	size_t i;
	int err;

	err = add_field(c, NULL, "bench");
	if (!err)
		err = add_fields_of(c, "params");
	if (!err)
		err = add_fields_of(c, "config");
	for (i = 0; !err && i < m->cnt; i++)
		if (m->items[i].name)
			err = add_field(c, m->items[i].section, m->items[i].name);
	for (i = 0; !err && i < c->nr_fields; i++) {
		err = label_field(c, &c->fields[i]);
		if (!err)
			err = find_variation(c, &c->fields[i]);
	}
	return err;
}

void fields_free(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nr_fields; i++)
		free(c->fields[i].label);
	free(c->fields);
}

/* ---- the values in a row */

/* Many values in one row would hide what the row is. */
#define MAX_VALUES 3

static void print_values(FILE *out, value_set set)
{
	const char *value, *comma = "";
	json_t *cnt;

	if (!json_object_size(set))
		fputs("absent", out);
	if (json_object_size(set) > MAX_VALUES) {
		fprintf(out, "(%zu values)", json_object_size(set));
		return;
	}
	json_object_foreach(set, value, cnt) {
		fprintf(out, "%s%s", comma, value);
		comma = ",";
	}
}

/* How the records of a row differ. */
enum mix {
	SIDES_DIFFER = 1, /* a side has other values than another one */
	SIDE_MIXED = 2, /* one side alone has several */
};

/* The values of a row's sides that are part of a text: all, or base and one more. */
struct side_values {
	value_set *sets; /* one for each side; NULL: not part of it */
	size_t nr;
	bool units_differ; /* of figures */
};

static void free_values(struct side_values *v)
{
	size_t s;

	for (s = 0; v->sets && s < v->nr; s++)
		json_decref(v->sets[s]);
	free(v->sets);
}

#define ALL_SIDES 0

static bool takes_part(const struct row *row, size_t s, size_t other)
{
	return row->sides[s].nr_records && (s == BASE || other == ALL_SIDES || s == other);
}

static int find_values(const struct row *row, const struct field *f, size_t other,
		       struct side_values *v)
{
	size_t s;

	v->nr = row->nr_sides;
	v->sets = calloc(v->nr, sizeof(*v->sets));
	for (s = 0; v->sets && s < v->nr; s++) {
		if (!takes_part(row, s, other))
			continue;
		v->sets[s] = value_set_make(row->sides[s].records, row->sides[s].nr_records,
					    f->section, f->name, f->ignored);
		if (!v->sets[s])
			return -ENOMEM;
	}
	return v->sets ? 0 : -ENOMEM;
}

static int find_figures(const struct row *row, size_t other, struct side_values *v)
{
	const char *unit = NULL;
	struct record_figure f;
	size_t s, i;
	int err = 0;

	v->nr = row->nr_sides;
	v->sets = calloc(v->nr, sizeof(*v->sets));
	for (s = 0; v->sets && s < v->nr; s++) {
		const struct row_side *side = &row->sides[s];

		if (!takes_part(row, s, other))
			continue;
		for (i = 0; !err && i < side->nr_records; i++) {
			if (!record_is_ok(side->records[i]) ||
			    !record_figure_named(side->records[i], row->figure, &f))
				continue;
			unit = unit ? unit : f.unit;
			v->units_differ = v->units_differ || strcmp(unit, f.unit);
			if (!v->sets[s])
				v->sets[s] = json_object();
			err = v->sets[s] ? value_set_add(v->sets[s], f.name) : -ENOMEM;
		}
	}
	return v->sets ? err : -ENOMEM;
}

/* "base->new", or what all sides have in common; "": none of them has a value. */
static char *values_text(const struct side_values *v, unsigned int *mix)
{
	value_set first = NULL;
	bool any = false;
	char *text = NULL;
	size_t size, s;
	FILE *out;

	*mix = 0;
	for (s = 0; s < v->nr; s++) {
		if (!v->sets[s])
			continue;
		first = first ? first : v->sets[s];
		any = any || json_object_size(v->sets[s]);
		*mix |= json_object_size(v->sets[s]) > 1 ? SIDE_MIXED : 0;
		*mix |= value_set_equal(first, v->sets[s]) ? 0 : SIDES_DIFFER;
	}
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	for (s = 0; any && s < v->nr; s++) {
		if (!v->sets[s] || (v->sets[s] != first && !(*mix & SIDES_DIFFER)))
			continue;
		fputs(v->sets[s] == first ? "" : "->", out);
		print_values(out, v->sets[s]);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static char *row_text(const struct row *row, const struct field *f, size_t other, unsigned int *mix)
{
	struct side_values v = {};
	char *text = NULL;

	if (!find_values(row, f, other, &v))
		text = values_text(&v, mix);
	free_values(&v);
	return text;
}

char *fields_row_text(const struct row *row, const struct field *field, size_t other)
{
	unsigned int mix;

	return row_text(row, field, other, &mix);
}

char *fields_row_figure(const struct row *row, size_t other)
{
	struct side_values v = {};
	unsigned int mix;
	char *text = NULL;

	if (row->figure)
		return strdup(row->figure);
	if (!find_figures(row, other, &v))
		text = values_text(&v, &mix);
	free_values(&v);
	return text;
}

/* ---- labels */

/* The figure that is asked for; of default ones only where other names have the same unit. */
static int print_figure(FILE *out, struct row *row)
{
	struct side_values v = {};
	unsigned int mix;
	char *text = NULL;

	if (row->figure) {
		fprintf(out, " %s", row->figure);
		return 0;
	}
	if (!find_figures(row, ALL_SIDES, &v))
		text = values_text(&v, &mix);
	free_values(&v);
	if (!text)
		return -ENOMEM;
	if (mix && !v.units_differ) {
		fprintf(out, " figure=%s", text);
		row->pooled = row->pooled || (mix & SIDE_MIXED);
	}
	free(text);
	return 0;
}

/* The benchmark, what tells its rows apart, and what is not the same in all of the row's runs. */
static int label_row(const struct comparison *c, struct row *row)
{
	unsigned int mix;
	size_t size, i;
	char *value;
	FILE *out;
	int err = 0;

	out = open_memstream(&row->label, &size);
	if (!out)
		return -ENOMEM;
	for (i = 0; !err && i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		if (i && !f->varies && !f->varies_by_bench)
			continue;
		value = row_text(row, f, ALL_SIDES, &mix);
		if (!value) {
			err = -ENOMEM;
			break;
		}
		row->pooled = row->pooled || (mix & SIDE_MIXED);
		if (!i) {
			fputs(value, out);
			err = print_figure(out, row);
		} else if (*value && (f->varies || mix)) {
			fprintf(out, " %s=%s", f->label, value);
		}
		free(value);
	}
	return fclose(out) ? -ENOMEM : err;
}

int fields_label_rows(struct comparison *c, const struct match *m)
{
	size_t i;
	int err;

	err = find_fields(c, m);
	for (i = 0; !err && i < c->nr_rows; i++)
		err = label_row(c, &c->rows[i]);
	return err;
}

/* ---- why rows are on one side only */

/* All records of rows that are in file @s, but not in the other one; an array to be freed. */
static int records_apart(const struct comparison *c, size_t s, size_t other, json_t ***records,
			 size_t *nr)
{
	json_t **grown;
	size_t i;

	*records = NULL;
	*nr = 0;
	for (i = 0; i < c->nr_rows; i++) {
		const struct row_side *side = &c->rows[i].sides[s];

		if (c->rows[i].sides[other].verdict != VERDICT_ONE_SIDED || !side->nr_records)
			continue;
		grown = realloc(*records, (*nr + side->nr_records) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*records = grown;
		memcpy(grown + *nr, side->records, side->nr_records * sizeof(*grown));
		*nr += side->nr_records;
	}
	return 0;
}

static int add_apart(struct fields_apart *apart, const struct field *f, value_set base,
		     value_set new)
{
	char *from, *to, *text = NULL, **grown;
	int n = -1;

	if (value_sets_overlap(base, new) || !(json_object_size(base) + json_object_size(new)))
		return 0;
	from = value_set_text(base);
	to = value_set_text(new);
	if (from && to)
		n = asprintf(&text, "%s: %s -> %s", f->label, from, to);
	free(from);
	free(to);
	if (n < 0)
		return -ENOMEM;
	grown = realloc(apart->texts, (apart->nr + 1) * sizeof(*grown));
	if (!grown) {
		free(text);
		return -ENOMEM;
	}
	apart->texts = grown;
	apart->texts[apart->nr++] = text;
	return 0;
}

int fields_apart(const struct comparison *c, size_t other, struct fields_apart *apart)
{
	json_t **base = NULL, **new = NULL;
	size_t nr_base = 0, nr_new = 0, i;
	value_set base_set, new_set;
	int err;

	*apart = (struct fields_apart){};
	err = records_apart(c, BASE, other, &base, &nr_base);
	if (!err)
		err = records_apart(c, other, other, &new, &nr_new);
	for (i = 0; !err && nr_base && nr_new && i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		base_set = value_set_make(base, nr_base, f->section, f->name, f->ignored);
		new_set = value_set_make(new, nr_new, f->section, f->name, f->ignored);
		err = base_set && new_set ? add_apart(apart, f, base_set, new_set) : -ENOMEM;
		json_decref(base_set);
		json_decref(new_set);
		/*
		 * Where the benchmarks are others, so are most of their options: that is no news.
		 */
		if (!i && apart->nr)
			break;
	}
	free(base);
	free(new);
	return err;
}

void fields_apart_free(struct fields_apart *apart)
{
	size_t i;

	for (i = 0; i < apart->nr; i++)
		free(apart->texts[i]);
	free(apart->texts);
}

// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/values.h"
#include "lib/text.h"

/* ---- what the user asks for, and no record has */

int rows_check_match(const struct comparison *c, const struct match *m, char *err, size_t err_size)
{
	size_t i, j, s;

	for (i = 0; i < m->cnt; i++) {
		const struct match_item *item = &m->items[i];
		bool found = !item->name;

		for (s = 0; s < c->nr_files; s++)
			for (j = 0; !found && j < c->files[s].records.cnt; j++)
				found = value_find(c->files[s].records.records[j], item->section,
						   item->name);
		if (!found)
			return text_fail(err, err_size, -EINVAL,
					 "--match: no record has a field '%s.%s'", item->section,
					 item->name);
	}
	return 0;
}

/* The names of figures, each once, in order of appearance. */
struct names {
	const char **names; /* not owned, only the array */
	size_t cnt;
};

static int add_name(struct names *names, const char *name)
{
	const char **grown;
	size_t i;

	for (i = 0; i < names->cnt; i++)
		if (!strcmp(names->names[i], name))
			return 0;
	grown = realloc(names->names, (names->cnt + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	names->names = grown;
	names->names[names->cnt++] = name;
	return 0;
}

static int add_names_of(struct names *names, json_t *const *records, size_t nr)
{
	struct record_figure f;
	size_t i, k;
	int err = 0;

	for (i = 0; i < nr; i++)
		for (k = 0; !err && record_is_ok(records[i]) && record_figure(records[i], k, &f);
		     k++)
			err = add_name(names, f.name);
	return err;
}

static void refuse_figure(const char *figure, const struct names *names, char *err, size_t err_size)
{
	const char *nearest = text_nearest(figure, names->names, names->cnt);
	char *list = NULL;
	size_t size, i;
	FILE *out;

	out = open_memstream(&list, &size);
	for (i = 0; out && i < names->cnt; i++)
		fprintf(out, "%s%s", i ? ", " : "", names->names[i]);
	if (!out || fclose(out) || !names->cnt)
		text_fail(err, err_size, 0, "--figure: no record has a figure '%s'", figure);
	else
		text_fail(err, err_size, 0,
			  "--figure: no record has a figure '%s'%s%s%s: expected all, %s", figure,
			  nearest ? " (did you mean '" : "", nearest ? nearest : "",
			  nearest ? "'?)" : "", list);
	text_make_harmless(err);
	free(list);
}

int rows_check_figure(const struct comparison *c, char *err, size_t err_size)
{
	struct names names = {};
	size_t s, i;
	int ret = 0;

	if (!c->figure || !strcmp(c->figure, "all"))
		return 0;
	for (s = 0; !ret && s < c->nr_files; s++)
		ret = add_names_of(&names, c->files[s].records.records, c->files[s].records.cnt);
	if (!ret) {
		for (i = 0; i < names.cnt && strcmp(names.names[i], c->figure);)
			i++;
		if (i == names.cnt) {
			refuse_figure(c->figure, &names, err, err_size);
			ret = -EINVAL;
		}
	}
	free(names.names);
	return ret;
}

/* ---- runs of one row */

static void free_row(struct row *row)
{
	size_t s;

	for (s = 0; row->sides && s < row->nr_sides; s++) {
		free(row->sides[s].records);
		free(row->sides[s].means);
		free(row->sides[s].runs);
	}
	free(row->sides);
	free(row->label);
}

void rows_free(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->nr_rows; i++)
		free_row(&c->rows[i]);
	free(c->rows);
}

static struct row *add_row(struct comparison *c)
{
	struct row *grown = realloc(c->rows, (c->nr_rows + 1) * sizeof(*grown)), *row;

	if (!grown)
		return NULL;
	c->rows = grown;
	row = &c->rows[c->nr_rows];
	*row = (struct row){ .nr_sides = c->nr_files };
	row->sides = calloc(row->nr_sides, sizeof(*row->sides));
	if (!row->sides)
		return NULL;
	c->nr_rows++;
	return row;
}

static int add_record(struct row_side *side, json_t *record)
{
	json_t **grown;

	grown = realloc(side->records, (side->nr_records + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	side->records = grown;
	side->records[side->nr_records++] = record;
	return 0;
}

/* Row numbers by what their records have in common. */
struct index {
	json_t *by_key; /* of each row's first record: all of it */
	json_t *by_rest; /* all but the parameters: arrays of numbers */
	json_t *found; /* by key, parameters and defaults: what was looked for before */
};

static int index_add(json_t *index, const char *key, size_t row)
{
	return json_object_set_new_nocheck(index, key, json_integer(row)) ? -ENOMEM : 0;
}

static const json_t *first_record(const struct row *row)
{
	size_t s;

	for (s = 0; s < row->nr_sides; s++)
		if (row->sides[s].nr_records)
			return row->sides[s].records[0];
	return NULL;
}

/* The parameters that only one of two matching records has. */
static int note_ignored(struct comparison *c, const json_t *a, const json_t *b)
{
	json_t *value, *values;
	const char *name;
	size_t i;

	json_object_foreach(json_object_get(a, "params"), name, value) {
		if (value_find(b, "params", name))
			continue;
		values = json_object_get(c->ignored, name);
		if (!values) {
			values = json_array();
			if (json_object_set_new_nocheck(c->ignored, name, values))
				return -ENOMEM;
		}
		for (i = 0; i < json_array_size(values); i++)
			if (json_equal(json_array_get(values, i), value))
				break;
		if (i == json_array_size(values) && json_array_append(values, value))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Among the rows that have all but the parameters in common with @record, that with matching ones.
 * A row is what its first record is: one of base, where base has any. Returns its number, -1 if
 * there is none, or -ENOMEM.
 */
static ssize_t find_by_params(struct comparison *c, const json_t *rows, const json_t *record)
{
	const json_t *first;
	json_t *nr;
	size_t i;

	json_array_foreach(rows, i, nr) {
		first = first_record(&c->rows[json_integer_value(nr)]);
		if (match_params(first, record)) {
			if (note_ignored(c, first, record) || note_ignored(c, record, first))
				return -ENOMEM;
			return json_integer_value(nr);
		}
	}
	return -1;
}

static int new_row(struct comparison *c, struct index *index, const char *key, const char *rest)
{
	json_t *rows = json_object_get(index->by_rest, rest);

	if (!rows) {
		rows = json_array();
		if (json_object_set_new_nocheck(index->by_rest, rest, rows))
			return -ENOMEM;
	}
	if (!add_row(c) || json_array_append_new(rows, json_integer(c->nr_rows - 1)))
		return -ENOMEM;
	return index_add(index->by_key, key, c->nr_rows - 1);
}

/* The key with which @record is looked for once: its defaults have a say in what it matches. */
static char *key_with_defaults(const char *key, const json_t *record)
{
	const json_t *defaults = json_object_get(record, "defaults");
	char *text = NULL, *dump;

	dump = json_dumps(defaults ? defaults : json_null(),
			  JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	if (dump && asprintf(&text, "%s%s", key, dump) < 0)
		text = NULL;
	free(dump);
	return text;
}

/* The number of the row that @record belongs to, which may be a new one, or -ENOMEM. */
static ssize_t find_row(struct comparison *c, const struct match *m, struct index *index,
			const json_t *record)
{
	char *key = match_key(m, record, false), *rest = match_key(m, record, true);
	char *with_defaults = key ? key_with_defaults(key, record) : NULL;
	ssize_t nr = -1;
	json_t *found;

	if (!rest || !with_defaults) {
		nr = -ENOMEM;
		goto out;
	}
	found = json_object_get(index->by_key, key);
	if (!found)
		found = json_object_get(index->found, with_defaults);
	if (found) {
		nr = json_integer_value(found);
		goto out;
	}
	if (m->by_params)
		nr = find_by_params(c, json_object_get(index->by_rest, rest), record);
	if (nr == -1)
		nr = new_row(c, index, key, rest) ? -ENOMEM : (ssize_t)c->nr_rows - 1;
	if (nr >= 0 && index_add(index->found, with_defaults, nr))
		nr = -ENOMEM;
out:
	free(with_defaults);
	free(rest);
	free(key);
	return nr;
}

static int match_records(struct comparison *c, const struct match *m)
{
	struct index index = { json_object(), json_object(), json_object() };
	int err = index.by_key && index.by_rest && index.found && c->ignored ? 0 : -ENOMEM;
	size_t s, i;
	ssize_t nr;

	for (s = 0; s < c->nr_files; s++) {
		const struct records *r = &c->files[s].records;

		for (i = 0; !err && i < r->cnt; i++) {
			nr = find_row(c, m, &index, r->records[i]);
			err = nr < 0 ? -ENOMEM : add_record(&c->rows[nr].sides[s], r->records[i]);
		}
	}
	json_decref(index.by_key);
	json_decref(index.by_rest);
	json_decref(index.found);
	return err;
}

/* ---- rows by figure */

static int copy_row(struct comparison *c, const struct row *from, const char *figure)
{
	struct row *row = add_row(c);
	size_t s, i;
	int err = 0;

	if (!row)
		return -ENOMEM;
	row->figure = figure;
	for (s = 0; s < row->nr_sides; s++)
		for (i = 0; !err && i < from->sides[s].nr_records; i++)
			err = add_record(&row->sides[s], from->sides[s].records[i]);
	return err;
}

/* The figures that have a row in place of @row; none where there is nothing to compare anyway. */
static int names_of(const struct row *row, struct names *names)
{
	size_t others = 0, s;
	int err = 0;

	for (s = 1; s < row->nr_sides; s++)
		others += row->sides[s].nr_records;
	if (!others || !row->sides[BASE].nr_records)
		return 0;
	for (s = 0; !err && s < row->nr_sides; s++)
		err = add_names_of(names, row->sides[s].records, row->sides[s].nr_records);
	return err;
}

static int split_by_figure(struct comparison *c)
{
	struct comparison old = { .rows = c->rows, .nr_rows = c->nr_rows };
	size_t i, k;
	int err = 0;

	c->rows = NULL;
	c->nr_rows = 0;
	for (i = 0; !err && i < old.nr_rows; i++) {
		struct names names = {};

		err = names_of(&old.rows[i], &names);
		if (!err && !names.cnt)
			err = copy_row(c, &old.rows[i], NULL);
		for (k = 0; !err && k < names.cnt; k++)
			err = copy_row(c, &old.rows[i], names.names[k]);
		free(names.names);
	}
	rows_free(&old);
	return err;
}

int rows_make(struct comparison *c, const struct match *m)
{
	size_t i;
	int err;

	c->ignored = json_object();
	err = match_records(c, m);
	if (err || !c->figure)
		return err;
	if (!strcmp(c->figure, "all"))
		return split_by_figure(c);
	for (i = 0; i < c->nr_rows; i++)
		c->rows[i].figure = c->figure;
	return 0;
}

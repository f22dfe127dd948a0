// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/comparison.h"
#include "lib/stats.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define CONFIDENCE 0.95

/* Where the user's words end up. */
struct complaint {
	char *text;
	size_t size;
};

static int __attribute__((format(printf, 3, 4)))
complain(const struct complaint *e, int ret, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(e->text, e->size, fmt, va);
	va_end(va);
	return ret;
}

/* ---- values of records */

static json_t *find_value(const json_t *record, const char *section, const char *name)
{
	return json_object_get(section ? json_object_get(record, section) : record, name);
}

char *comparison_value(const json_t *record, const char *section, const char *name)
{
	const json_t *value = find_value(record, section, name);

	if (!value)
		return NULL;
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_null(value))
		return strdup("none");
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
}

static int value_set_add(value_set set, const char *value)
{
	json_int_t cnt = json_integer_value(json_object_get(set, value));

	return json_object_set_new_nocheck(set, value, json_integer(cnt + 1)) ? -ENOMEM : 0;
}

value_set comparison_values(json_t *const *records, size_t nr, const char *section,
			    const char *name)
{
	value_set set = json_object();
	char *value;
	size_t i;
	int err;

	for (i = 0; set && i < nr; i++) {
		if (!find_value(records[i], section, name))
			continue;
		value = comparison_value(records[i], section, name);
		err = value ? value_set_add(set, value) : -ENOMEM;
		free(value);
		if (err) {
			json_decref(set);
			return NULL;
		}
	}
	return set;
}

bool value_set_equal(value_set a, value_set b)
{
	const char *value;
	json_t *cnt;

	json_object_foreach(a, value, cnt)
		if (!json_object_get(b, value))
			return false;
	return json_object_size(a) == json_object_size(b);
}

/* ---- what makes runs those of one row */

struct match_item {
	const char *section; /* NULL: "bench" */
	const char *name; /* NULL: the whole section; else into struct match's copy */
};

struct match {
	char *copy;
	struct match_item *items;
	size_t cnt;
};

static const char *const match_sections[] = { "params", "config", "env" };

static void match_free(struct match *m)
{
	free(m->copy);
	free(m->items);
}

static int match_add(struct match *m, char *word)
{
	struct match_item item = {}, *grown;
	char *dot = strchr(word, '.');
	size_t i;

	if (!strcmp(word, "bench")) {
		item.name = "bench";
	} else {
		if (dot)
			*dot = '\0';
		for (i = 0; i < ARRAY_SIZE(match_sections); i++)
			if (!strcmp(word, match_sections[i]))
				item.section = match_sections[i];
		if (dot)
			*dot = '.';
		/* All of env holds the time, which no two runs have in common. */
		if (!item.section || (dot && !dot[1]) || (!dot && !strcmp(word, "env")))
			return -EINVAL;
		item.name = dot ? dot + 1 : NULL;
	}
	grown = realloc(m->items, (m->cnt + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->items = grown;
	m->items[m->cnt++] = item;
	return 0;
}

static int match_parse(const char *arg, struct match *m, const struct complaint *e)
{
	char *rest, *word;
	int err;

	memset(m, 0, sizeof(*m));
	m->copy = strdup(arg ? arg : "bench,params,config");
	if (!m->copy)
		return complain(e, -ENOMEM, "%s", strerror(ENOMEM));
	rest = m->copy;
	while ((word = strsep(&rest, ","))) {
		err = match_add(m, word);
		if (err == -EINVAL)
			return complain(e, err,
					"--match: '%s' is not allowed: it takes a comma list of "
					"bench, params, config, or single fields such as "
					"config.producers, params.rb-b2b or env.host",
					word);
		if (err)
			return complain(e, err, "%s", strerror(-err));
	}
	return 0;
}

/* A field that no record has was misspelt, and would match everything. */
static int match_check(const struct match *m, const struct comparison *c, const struct complaint *e)
{
	size_t i, j;
	int s;

	for (i = 0; i < m->cnt; i++) {
		const struct match_item *item = &m->items[i];
		bool found = !item->name;

		for (s = 0; s < NR_SIDES; s++)
			for (j = 0; !found && j < c->records[s].cnt; j++)
				found = find_value(c->records[s].records[j], item->section,
						   item->name);
		if (!found)
			return complain(e, -EINVAL, "--match: no record has a field '%s.%s'",
					item->section, item->name);
	}
	return 0;
}

/* A text that two records share where they are runs of one row; NULL: no memory. */
static char *match_key(const struct match *m, const json_t *record)
{
	json_t *key = json_array(), *value;
	char *text = NULL;
	size_t i;

	for (i = 0; i < m->cnt; i++) {
		const struct match_item *item = &m->items[i];

		value = item->name ? find_value(record, item->section, item->name) :
				     json_object_get(record, item->section);
		/* A field that is not there is not the same as one that is null. */
		if (json_array_append_new(key, value ? json_incref(value) : json_array()))
			goto out;
	}
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
out:
	json_decref(key);
	return text;
}

/* ---- rows */

/* @index: row numbers by key. */
static struct row *find_row(struct comparison *c, json_t *index, const char *key)
{
	const json_t *nr = json_object_get(index, key);
	struct row *grown;

	if (nr)
		return &c->rows[json_integer_value(nr)];
	grown = realloc(c->rows, (c->nr_rows + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	c->rows = grown;
	if (json_object_set_new_nocheck(index, key, json_integer(c->nr_rows)))
		return NULL;
	memset(&c->rows[c->nr_rows], 0, sizeof(*c->rows));
	return &c->rows[c->nr_rows++];
}

static int row_side_add(struct row_side *side, json_t *record)
{
	json_t **grown;

	grown = realloc(side->records, (side->nr_records + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	side->records = grown;
	side->records[side->nr_records++] = record;
	return 0;
}

static int make_rows(struct comparison *c, const struct match *m)
{
	json_t *index = json_object();
	int s, err = index ? 0 : -ENOMEM;
	struct row *row;
	size_t i;
	char *key;

	for (s = 0; s < NR_SIDES; s++) {
		for (i = 0; !err && i < c->records[s].cnt; i++) {
			key = match_key(m, c->records[s].records[i]);
			row = key ? find_row(c, index, key) : NULL;
			err = row ? row_side_add(&row->side[s], c->records[s].records[i]) : -ENOMEM;
			free(key);
		}
	}
	json_decref(index);
	return err;
}

/* ---- labels */

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
	size_t i;
	int s, err;

	for (s = 0; s < NR_SIDES; s++) {
		for (i = 0; i < c->records[s].cnt; i++) {
			json_object_foreach(json_object_get(c->records[s].records[i], section),
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
	n = asprintf((char **)&f->label, "%s%s%s", unique || !f->section ? "" : f->section,
		     unique || !f->section ? "" : ".", f->name);
	return n < 0 ? -ENOMEM : 0;
}

/*
 * Within a benchmark, a field varies also where only some records have it. (That those of another
 * benchmark lack it says nothing.)
 */
static int find_variation(struct comparison *c, struct field *f)
{
	json_t *first = NULL, *record, *value, *prev, *of_bench = json_object();
	const char *bench;
	int s, err = of_bench ? 0 : -ENOMEM;
	bool several = false;
	size_t i;

	for (s = 0; s < NR_SIDES; s++) {
		for (i = 0; !err && i < c->records[s].cnt; i++) {
			record = c->records[s].records[i];
			value = find_value(record, f->section, f->name);
			bench = json_string_value(json_object_get(record, "bench"));
			if (value && !first)
				first = value;
			several = several || (value && !json_equal(first, value));
			/* An array, which no field is, stands for one that is not there. */
			value = value ? json_incref(value) : json_array();
			prev = json_object_get(of_bench, bench);
			if (prev && !json_equal(prev, value))
				f->varies = true;
			if (json_object_set_new_nocheck(of_bench, bench, value))
				err = -ENOMEM;
		}
	}
	f->varies_by_bench = several && !f->varies;
	json_decref(of_bench);
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

/* Many values in one row would hide what the row is. */
#define MAX_VALUES 3

static void print_values(FILE *out, value_set set, const struct row_side *side)
{
	const char *value, *comma = "";
	json_t *cnt;

	if (!json_object_size(set) && side->nr_records) {
		fputs("absent", out);
		return;
	}
	if (json_object_size(set) > MAX_VALUES) {
		fprintf(out, "(%zu values)", json_object_size(set));
		return;
	}
	json_object_foreach(set, value, cnt) {
		fprintf(out, "%s%s", comma, value);
		comma = ",";
	}
}

char *comparison_row_value(const struct row *row, const struct field *field, unsigned int *mix)
{
	const struct row_side *base = &row->side[BASE], *new = &row->side[NEW];
	value_set sets[NR_SIDES];
	bool differ, several;
	char *text = NULL;
	size_t size;
	FILE *out;
	int s;

	for (s = 0; s < NR_SIDES; s++)
		sets[s] = comparison_values(row->side[s].records, row->side[s].nr_records,
					    field->section, field->name);
	out = open_memstream(&text, &size);
	if (!out || !sets[BASE] || !sets[NEW])
		goto out;
	several = json_object_size(sets[BASE]) > 1 || json_object_size(sets[NEW]) > 1;
	differ = base->nr_records && new->nr_records && !value_set_equal(sets[BASE], sets[NEW]);
	if (mix)
		*mix = (several ? ROW_SIDE_MIXED : 0) | (differ ? ROW_SIDES_DIFFER : 0);
	if (!json_object_size(sets[BASE]) && !json_object_size(sets[NEW]))
		goto out;
	if (base->nr_records)
		print_values(out, sets[BASE], base);
	if (differ)
		fputs("->", out);
	if (differ || !base->nr_records)
		print_values(out, sets[NEW], new);
out:
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	json_decref(sets[BASE]);
	json_decref(sets[NEW]);
	return text;
}

/*
 * The benchmark, what tells its rows apart, and what is not the same in all of the row's runs:
 * "rb-custom rb-b2b=true producers=2".
 */
static int label_row(const struct comparison *c, struct row *row)
{
	unsigned int mix = 0;
	size_t size, i;
	char *value;
	FILE *out;
	int err = 0;

	out = open_memstream(&row->label, &size);
	if (!out)
		return -ENOMEM;
	for (i = 0; i < c->nr_fields; i++) {
		const struct field *f = &c->fields[i];

		if (i && !f->varies && !f->varies_by_bench)
			continue;
		value = comparison_row_value(row, f, &mix);
		row->pooled = row->pooled || (mix & ROW_SIDE_MIXED);
		if (!value)
			err = -ENOMEM;
		else if (!i)
			fputs(value, out);
		else if (*value && (f->varies || mix))
			fprintf(out, " %s=%s", f->label, value);
		free(value);
	}
	return fclose(out) ? -ENOMEM : err;
}

/* ---- statistics */

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int collect_runs(struct row_side *side)
{
	const json_t *record;
	size_t i;

	side->median = NAN;
	side->median_ci = (struct interval){ NAN, NAN };
	side->means = calloc(side->nr_records + 1, sizeof(*side->means));
	if (!side->means)
		return -ENOMEM;
	for (i = 0; i < side->nr_records; i++) {
		record = side->records[i];
		if (strcmp(json_string_value(json_object_get(record, "status")), "ok"))
			continue;
		side->means[side->nr_runs++] =
			json_number_value(find_value(record, "summary", "mean"));
	}
	side->nr_left_out = side->nr_records - side->nr_runs;
	qsort(side->means, side->nr_runs, sizeof(*side->means), cmp_double);
	return 0;
}

/* The unit of all runs with status ok; "": they have several; NULL: there are none. */
static const char *unit_of(const struct row *row)
{
	const char *unit = NULL, *u;
	size_t i;
	int s;

	for (s = 0; s < NR_SIDES; s++) {
		for (i = 0; i < row->side[s].nr_records; i++) {
			const json_t *record = row->side[s].records[i];

			if (strcmp(json_string_value(json_object_get(record, "status")), "ok"))
				continue;
			u = json_string_value(find_value(record, "summary", "unit"));
			if (unit && strcmp(unit, u))
				return "";
			unit = u;
		}
	}
	return unit;
}

static double *logarithms(const struct row_side *side)
{
	double *logs;
	size_t i;

	logs = calloc(side->nr_runs, sizeof(*logs));
	for (i = 0; logs && i < side->nr_runs; i++)
		logs[i] = log(side->means[i]); /* -inf for 0 */
	return logs;
}

static int find_change(struct row *row)
{
	const struct row_side *base = &row->side[BASE], *new = &row->side[NEW];
	double *base_logs = logarithms(base), *new_logs = logarithms(new);
	struct utest_shift shift = {};
	int err = -ENOMEM;

	if (base_logs && new_logs)
		err = utest_shift(base_logs, base->nr_runs, new_logs, new->nr_runs, CONFIDENCE,
				  &shift);
	if (!err) {
		row->change_pct = 100 * expm1(shift.estimate);
		if (row->verdict != VERDICT_TOO_FEW && shift.has_interval) {
			row->change_ci.low = 100 * expm1(shift.low);
			row->change_ci.high = 100 * expm1(shift.high);
		}
	}
	free(base_logs);
	free(new_logs);
	return err;
}

static enum verdict verdict_of(const struct row *row)
{
	bool percentage = !strcmp(row->unit, "%");
	double pairs = (double)row->side[BASE].nr_runs * row->side[NEW].nr_runs;

	if (!(row->p_adjusted < COMPARE_ALPHA))
		return VERDICT_SAME;
	if (row->test.u > pairs / 2)
		return percentage ? VERDICT_HIGHER : VERDICT_FASTER;
	return percentage ? VERDICT_LOWER : VERDICT_SLOWER;
}

static int test_row(struct row *row)
{
	struct row_side *base = &row->side[BASE], *new = &row->side[NEW], *side;
	int s, err = 0;

	row->change_pct = NAN;
	row->change_ci = (struct interval){ NAN, NAN };
	row->test = (struct utest){ .u = NAN, .p = NAN };
	row->p_adjusted = NAN;
	for (s = 0; !err && s < NR_SIDES; s++)
		err = collect_runs(&row->side[s]);
	if (err)
		return err;
	row->unit = unit_of(row);
	if (row->unit && !*row->unit) {
		row->unit = NULL;
		row->verdict = VERDICT_UNITS;
		return 0;
	}
	for (s = 0; s < NR_SIDES; s++) {
		side = &row->side[s];
		side->median = stats_quantile(side->means, side->nr_runs, 0.5);
		stats_median_ci(side->means, side->nr_runs, CONFIDENCE, &side->median_ci.low,
				&side->median_ci.high);
	}
	if (!base->nr_records || !new->nr_records) {
		row->verdict = VERDICT_ONE_SIDED;
		return 0;
	}
	if (base->nr_runs < COMPARE_MIN_RUNS || new->nr_runs < COMPARE_MIN_RUNS)
		row->verdict = VERDICT_TOO_FEW;
	if (base->nr_runs && new->nr_runs)
		err = find_change(row);
	if (err || row->verdict == VERDICT_TOO_FEW)
		return err;
	return utest(base->means, base->nr_runs, new->means, new->nr_runs, &row->test);
}

static int cmp_rows_by_p(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return cmp_double(&x->test.p, &y->test.p);
}

/*
 * All rows together: of many in which nothing has changed, one in twenty would have a p below 0.05,
 * and a reader of the table would believe it.
 */
static int judge_rows(struct comparison *c)
{
	struct row **tested = calloc(c->nr_rows + 1, sizeof(struct row *));
	double *p = calloc(c->nr_rows + 1, sizeof(*p));
	size_t shown = 0, n = 0, i;

	if (!tested || !p) {
		free(tested);
		free(p);
		return -ENOMEM;
	}
	for (i = 0; i < c->nr_rows; i++)
		if (!isnan(c->rows[i].test.p))
			tested[n++] = &c->rows[i];
	qsort(tested, n, sizeof(struct row *), cmp_rows_by_p);
	for (i = 0; i < n; i++)
		p[i] = tested[i]->test.p;
	stats_adjust_p(p, n);
	for (i = 0; i < n; i++) {
		tested[i]->p_adjusted = p[i];
		tested[i]->verdict = verdict_of(tested[i]);
		shown += tested[i]->verdict != VERDICT_SAME;
	}
	c->nr_tested = n;
	c->p_limit = n ? COMPARE_ALPHA * (shown ? shown : 1) / n : NAN;
	free(tested);
	free(p);
	return 0;
}

const char *comparison_verdict(enum verdict v)
{
	static const char *const words[] = {
		[VERDICT_SAME] = "~",
		[VERDICT_FASTER] = "faster",
		[VERDICT_SLOWER] = "slower",
		[VERDICT_HIGHER] = "higher",
		[VERDICT_LOWER] = "lower",
		[VERDICT_TOO_FEW] = "too few runs",
		[VERDICT_UNITS] = "units differ",
		[VERDICT_ONE_SIDED] = "one side only",
	};

	return words[v];
}

/* ---- the whole */

static void comparison_free(struct comparison *c)
{
	size_t i;
	int s;

	for (i = 0; i < c->nr_rows; i++) {
		for (s = 0; s < NR_SIDES; s++) {
			free(c->rows[i].side[s].records);
			free(c->rows[i].side[s].means);
		}
		free(c->rows[i].label);
	}
	free(c->rows);
	for (i = 0; i < c->nr_fields; i++)
		free((char *)c->fields[i].label);
	free(c->fields);
	for (s = 0; s < NR_SIDES; s++)
		records_free(&c->records[s]);
}

/* Rows of percentages can never be slower, so that they do not count here. */
static int check_slower(const struct comparison *c, double pct, bool *slower,
			const struct complaint *e)
{
	size_t judged = 0, i;

	for (i = 0; i < c->nr_rows; i++) {
		const struct row *row = &c->rows[i];

		judged += row->verdict == VERDICT_SAME ?
				  strcmp(row->unit, "%") != 0 :
				  row->verdict == VERDICT_FASTER || row->verdict == VERDICT_SLOWER;
		if (row->verdict == VERDICT_SLOWER && row->change_pct < -pct)
			*slower = true;
	}
	if (judged)
		return 0;
	return complain(e, -ENODATA,
			"--fail-on-slower: nothing to judge: no row of rates has the %d runs on "
			"each side that a verdict takes",
			COMPARE_MIN_RUNS);
}

/*
 * The whole text first, and then to @out in one go: so that an error of writing is seen where it
 * happens, and nothing is written where there is another error.
 */
static int print_comparison(const struct comparison *c, const struct compare_opts *opts, FILE *out)
{
	static int (*const print[])(const struct comparison *c, FILE *out) = {
		[COMPARE_TEXT] = comparison_print_text,
		[COMPARE_MARKDOWN] = comparison_print_markdown,
		[COMPARE_CSV] = comparison_print_csv,
	};
	char *text = NULL;
	size_t size;
	FILE *f;
	int err;

	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	err = print[opts->format](c, f);
	if (fclose(f) && !err)
		err = -ENOMEM;
	if (!err && (fwrite(text, 1, size, out) != size || fflush(out)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

int compare_files(const char *base, const char *new, const struct compare_opts *opts, FILE *out,
		  bool *slower, char *err, size_t err_size)
{
	const struct complaint e = { err, err_size };
	struct comparison c = { .path = { base, new } };
	bool is_slower = false;
	struct match match;
	size_t i;
	int s, ret;

	if (slower)
		*slower = false;
	ret = match_parse(opts->match, &match, &e);
	for (s = 0; !ret && s < NR_SIDES; s++)
		ret = records_read(c.path[s], &c.records[s], err, err_size);
	if (!ret)
		ret = match_check(&match, &c, &e);
	if (ret)
		goto out; /* the words are there */
	ret = make_rows(&c, &match);
	if (!ret)
		ret = find_fields(&c, &match);
	for (i = 0; !ret && i < c.nr_rows; i++) {
		ret = label_row(&c, &c.rows[i]);
		if (!ret)
			ret = test_row(&c.rows[i]);
		if (ret == -E2BIG) {
			complain(&e, ret, "'%s' has too many runs: %zu and %zu", c.rows[i].label,
				 c.rows[i].side[BASE].nr_runs, c.rows[i].side[NEW].nr_runs);
			goto out;
		}
	}
	if (!ret)
		ret = judge_rows(&c);
	if (!ret)
		ret = print_comparison(&c, opts, out);
	if (ret) {
		complain(&e, ret, "cannot write the comparison: %s", strerror(-ret));
		goto out;
	}
	if (opts->fail_on_slower)
		ret = check_slower(&c, opts->fail_on_slower_pct, &is_slower, &e);
	if (slower)
		*slower = is_slower;
out:
	match_free(&match);
	comparison_free(&c);
	return ret;
}

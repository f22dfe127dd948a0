// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/comparison.h"
#include "lib/compare/fields.h"
#include "lib/compare/judge.h"
#include "lib/compare/match.h"
#include "lib/compare/print.h"
#include "lib/compare/rows.h"
#include "lib/text.h"

/* ---- files and their names */

#define MAX_NAME 14

/* "6.12" for "runs/6.12.jsonl" */
static char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot;
	char *copy = strdup(base), *name;

	if (!copy)
		return NULL;
	dot = strrchr(base, '.');
	if (dot > base && (!strcmp(dot, ".jsonl") || !strcmp(dot, ".json")))
		copy[dot - base] = '\0';
	name = text_shortened(copy, MAX_NAME);
	free(copy);
	return name;
}

static bool are_distinct(const struct comparison *c)
{
	size_t i, k;

	for (i = 0; i < c->nr_files; i++)
		for (k = 0; k < i; k++)
			if (!strcmp(c->files[i].name, c->files[k].name))
				return false;
	return true;
}

/* "base" and "new"; of more files, the others by their own names if these are distinct. */
static int name_files(struct comparison *c)
{
	size_t s;

	for (s = 0; s < c->nr_files; s++) {
		if (s != BASE && c->nr_files > 2)
			c->files[s].name = name_of(c->files[s].path);
		else
			c->files[s].name = strdup(s == BASE ? "base" : "new");
		if (!c->files[s].name)
			return -ENOMEM;
	}
	if (are_distinct(c))
		return 0;
	for (s = 1; s < c->nr_files; s++) {
		free(c->files[s].name);
		if (asprintf(&c->files[s].name, "file %zu", s + 1) < 0) {
			c->files[s].name = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

static int read_files(struct comparison *c, const char *const *paths, char *err, size_t err_size)
{
	size_t s;
	int ret;

	for (s = 0; s < c->nr_files; s++) {
		c->files[s].path = paths[s];
		ret = records_read(paths[s], &c->files[s].records, err, err_size);
		if (ret)
			return ret;
	}
	return name_files(c);
}

static void free_files(struct comparison *c)
{
	size_t s;

	for (s = 0; c->files && s < c->nr_files; s++) {
		free(c->files[s].name);
		records_free(&c->files[s].records);
	}
	free(c->files);
}

/* ---- the result */

/*
 * The whole text first, and then to @out in one go: so that an error of writing is seen where it
 * happens, and nothing is written where there is another error.
 */
static int print_comparison(const struct comparison *c, const struct compare_opts *opts, FILE *out)
{
	char *text = NULL;
	size_t size;
	FILE *f;
	int err;

	f = open_memstream(&text, &size);
	if (!f)
		return -ENOMEM;
	if (opts->format == COMPARE_CSV)
		err = print_csv(c, f);
	else
		err = print_text(c, f, opts->format == COMPARE_MARKDOWN);
	if (fclose(f) && !err)
		err = -ENOMEM;
	if (!err && (fwrite(text, 1, size, out) != size || fflush(out)))
		err = errno ? -errno : -EIO;
	free(text);
	return err;
}

/* A message has room for a few fields only; the text has them all. */
#define MAX_APART 120

/* What tells the rows of base from those of the other files: "attach: tp -> fentry". */
static char *why_apart(const struct comparison *c)
{
	struct fields_apart apart = {};
	char *text = NULL, *cut;
	size_t size, s, i;
	FILE *out;

	for (s = 1; s < c->nr_files && !apart.nr; s++) {
		fields_apart_free(&apart);
		if (fields_apart(c, s, &apart))
			break;
	}
	out = open_memstream(&text, &size);
	for (i = 0; out && i < apart.nr; i++)
		fprintf(out, "%s%s", i ? "; " : "", apart.texts[i]);
	fields_apart_free(&apart);
	if (!out || fclose(out)) {
		free(text);
		return NULL;
	}
	cut = text_shortened(text, MAX_APART);
	free(text);
	return cut;
}

static int check_compared(const struct comparison *c, char *err, size_t err_size)
{
	bool units = false, figures = false;
	size_t i, s;
	char *why;

	for (i = 0; i < c->nr_rows; i++) {
		if (row_is_compared(&c->rows[i]))
			return 0;
		for (s = 1; s < c->nr_files; s++) {
			units = units || c->rows[i].sides[s].verdict == VERDICT_UNITS;
			figures = figures || c->rows[i].sides[s].verdict == VERDICT_NO_FIGURE;
		}
	}
	if (units || figures)
		return text_fail(
			err, err_size, -ENOMSG,
			"nothing to compare: in no row do all runs have one figure in one unit"
			": try --figure or --match");
	why = why_apart(c);
	text_fail(err, err_size, -ENOMSG, "nothing to compare: no row of base is in %s%s%s%s",
		  c->nr_files > 2 ? "another file" : "new", why && *why ? " (" : "",
		  why && *why ? why : "", why && *why ? "; see --match)" : "");
	free(why);
	return -ENOMSG;
}

int compare_files(const char *const *paths, size_t nr_paths, const struct compare_opts *opts,
		  FILE *out, bool *slower, char *err, size_t err_size)
{
	struct comparison c = { .nr_files = nr_paths, .figure = opts->figure };
	bool is_slower = false;
	struct match match;
	int ret;

	if (slower)
		*slower = false;
	err[0] = '\0';
	c.files = calloc(nr_paths, sizeof(*c.files));
	ret = match_parse(opts->match, &match, err, err_size);
	if (!ret)
		ret = c.files ? read_files(&c, paths, err, err_size) : -ENOMEM;
	if (!ret)
		ret = rows_check_match(&c, &match, err, err_size);
	if (!ret)
		ret = rows_check_figure(&c, err, err_size);
	if (!ret)
		ret = rows_make(&c, &match);
	if (!ret)
		ret = fields_label_rows(&c, &match);
	if (!ret)
		ret = judge_rows(&c, err, err_size);
	if (!ret)
		ret = print_comparison(&c, opts, out);
	if (ret && !err[0])
		text_fail(err, err_size, 0, "cannot write the comparison: %s", strerror(-ret));
	if (ret)
		goto out;
	ret = check_compared(&c, err, err_size);
	if (ret || !opts->fail_on_slower)
		goto out;
	switch (judge_slower(&c, opts->fail_on_slower_pct, opts->assume_steady)) {
	case JUDGED_FINE:
		break;
	case JUDGED_SLOWER:
		is_slower = true;
		break;
	case JUDGED_BY_DRIFT:
		ret = text_fail(err, err_size, -ENOMSG,
				"--fail-on-slower: a row is 'slower?': its runs were not made by "
				"turns, so that the machine may have drifted; measure by turns "
				"(ab.sh), or --assume-steady");
		break;
	case NOT_JUDGED:
		ret = text_fail(err, err_size, -ENOMSG,
				"--fail-on-slower: a common row cannot be judged: a verdict "
				"requires %d runs on each side, with one figure in one unit",
				COMPARE_MIN_RUNS);
		break;
	}
	if (slower)
		*slower = is_slower;
out:
	match_free(&match);
	rows_free(&c);
	fields_free(&c);
	json_decref(c.ignored);
	free_files(&c);
	return ret;
}

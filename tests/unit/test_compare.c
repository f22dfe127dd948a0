// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "lib/compare/compare.h"
#include "lib/record.h"
#include "lib/text.h"
#include "lib/util.h"

static char dir[] = "/tmp/test_compare.XXXXXX";
static char base[sizeof(dir) + 16], new[sizeof(dir) + 16], newer[sizeof(dir) + 16];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(base, sizeof(base), "%s/base.jsonl", dir);
	snprintf(new, sizeof(new), "%s/new.jsonl", dir);
	snprintf(newer, sizeof(newer), "%s/newer.jsonl", dir);
	return 0;
}

static int remove_dir(void **state)
{
	unlink(base);
	unlink(new);
	unlink(newer);
	return rmdir(dir);
}

static size_t nr_paths; /* 2 unless a test has more */

static int clear(void **state)
{
	unlink(base);
	unlink(new);
	unlink(newer);
	nr_paths = 2;
	return 0;
}

/* ---- records */

/*
 * A record as bench writes them; @edit ("params.a=1,summary.unit=\"%\"", JSON values; "-": removed)
 * alters it.
 */
static void edit_record(json_t *r, const char *edit)
{
	char *copy, *save, *word;
	json_t *section;

	copy = strdup(edit ? edit : "");
	for (word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *name = strchr(word, '.') ? strchr(word, '.') + 1 : word;
		char *value = strchr(word, '=');
		int ret;

		*value++ = '\0';
		section = r;
		if (name != word) {
			name[-1] = '\0';
			section = json_object_get(r, word);
		}
		if (!strcmp(value, "-"))
			ret = json_object_del(section, name);
		else
			ret = json_object_set_new(section, name,
						  json_loads(value, JSON_DECODE_ANY, NULL));
		assert_int_equal(ret, 0);
	}
	free(copy);
}

static json_t *make_record(const char *bench, double mean, const char *edit)
{
	json_t *r;

	r = json_pack("{s:i, s:s, s:{s:b}, s:{s:i, s:i, s:s}, s:{s:s, s:s}, s:{s:s, s:f}, s:s}",
		      "schema", 1, "bench", bench, "params", "rb-b2b", 0, "config", "producers", 1,
		      "duration_s", 10, "attach", "tp", "env", "time", "2026-11-30T11:37:01+00:00",
		      "host", "vm", "summary", "unit", "M/s", "mean", mean, "status", "ok");
	assert_non_null(r);
	edit_record(r, edit);
	return r;
}

/* The figures of a run of schema 2, all proportional to its mean */
static const struct {
	const char *name, *unit, *kind, *better;
	double scale;
} figures[] = {
	{ "drops", "M/s", "rate", "lower", 0.01 },   { "hits", "M/s", "rate", "higher", 1 },
	{ "latency", "ns/op", "time", "lower", 10 }, { "mem", "KiB", "gauge", "lower", 2 },
	{ "level", "x", "gauge", "none", 3 },	     { "share", "%", "ratio", "higher", 0.5 },
};

/* The same of schema 2; the default figure, "hits", is not the first one. */
static json_t *make_record_2(const char *bench, double mean, const char *edit)
{
	json_t *r = make_record(bench, mean, "schema=2,summary.figure=\"hits\"");
	json_t *all = json_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(figures); i++)
		json_object_set_new(all, figures[i].name,
				    json_pack("{s:s, s:s, s:s, s:f}", "unit", figures[i].unit,
					      "kind", figures[i].kind, "better", figures[i].better,
					      "mean", mean * figures[i].scale));
	json_object_set_new(r, "figures", all);
	json_object_set_new(r, "defaults", json_pack("{s:b}", "rb-b2b", 0));
	edit_record(r, edit);
	return r;
}

static void append(const char *path, json_t *r)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(record_append(fd, r), 0);
	close(fd);
	json_decref(r);
}

static void add_record(const char *path, const char *bench, double mean, const char *edit)
{
	append(path, make_record(bench, mean, edit));
}

/* The means of @n runs, evenly from 3.5 % below @mean to 3.5 % above it, in some order */
static double mean_of_run(size_t i, size_t n, double mean)
{
	return n == 1 ? mean : mean * (0.965 + 0.07 * (i * 11 % n) / (n - 1));
}

static void add_runs(const char *path, const char *bench, size_t n, double mean, const char *edit)
{
	for (size_t i = 0; i < n; i++)
		append(path, make_record(bench, mean_of_run(i, n, mean), edit));
}

static void add_runs_2(const char *path, const char *bench, size_t n, double mean, const char *edit)
{
	for (size_t i = 0; i < n; i++)
		append(path, make_record_2(bench, mean_of_run(i, n, mean), edit));
}

/* ---- running it */

static char err[1024];
static bool slower;

static int run(const struct compare_opts *opts, char **text)
{
	const char *const paths[] = { base, new, newer, base, new, newer, base, new, newer, base };
	size_t size;
	FILE *out = open_memstream(text, &size);
	int ret;

	memset(err, 0, sizeof(err));
	slower = false;
	ret = compare_files(paths, nr_paths, opts, out, &slower, err, sizeof(err));
	fclose(out);
	assert_int_equal(ret < 0, err[0] != '\0');
	assert_null(strchr(err, '\n'));
	return ret;
}

static char *run_good(struct compare_opts opts)
{
	char *text;

	if (run(&opts, &text))
		fail_msg("%s", err);
	return text;
}

#define good(...) run_good((struct compare_opts){ __VA_ARGS__ })

static void run_bad(struct compare_opts opts, int want)
{
	char *text;

	assert_int_equal(run(&opts, &text), want);
	free(text);
}

#define bad(want, ...) run_bad((struct compare_opts){ __VA_ARGS__ }, want)

/* Where nothing can be compared there is a text all the same. */
static char *run_nothing(struct compare_opts opts)
{
	char *text;

	assert_int_equal(run(&opts, &text), -ENOMSG);
	return text;
}

#define nothing(...) run_nothing((struct compare_opts){ __VA_ARGS__ })

static void check_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void check_has_not(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void check_width(const char *text)
{
	char *copy = strdup(text), *line, *rest = copy;

	while ((line = strsep(&rest, "\n"))) {
		if (text_width(line) > COMPARE_WIDTH)
			fail_msg("%zu columns: '%s'", text_width(line), line);
		if (*line && line[strlen(line) - 1] == ' ')
			fail_msg("a blank at the end: '%s'", line);
	}
	free(copy);
}

/* ---- CSV, read back as RFC 4180 has it */

struct csv {
	char *fields[64][40]; /* [0]: the heads */
	size_t rows, cols;
};

static void csv_parse(struct csv *csv, char *text)
{
	char *in = text, *out;
	size_t col = 0;

	memset(csv, 0, sizeof(*csv));
	while (*in) {
		char *start = out = in;
		bool quoted = *in == '"';

		if (quoted)
			in++;
		while (*in && (quoted || (*in != ',' && *in != '\r'))) {
			if (quoted && *in == '"') {
				in++;
				if (*in != '"')
					break;
			}
			*out++ = *in++;
		}
		assert_in_range(csv->rows, 0, ARRAY_SIZE(csv->fields) - 1);
		assert_in_range(col, 0, ARRAY_SIZE(csv->fields[0]) - 1);
		csv->fields[csv->rows][col++] = start;
		if (*in == ',') {
			in++;
		} else {
			if (strncmp(in, "\r\n", 2))
				fail_msg("no CRLF in row %zu: '%.20s'", csv->rows, in);
			in += 2;
			if (csv->rows)
				assert_int_equal(col, csv->cols);
			csv->cols = col;
			csv->rows++;
			col = 0;
		}
		*out = '\0';
	}
}

static const char *csv_get(const struct csv *csv, size_t row, const char *head)
{
	size_t col;

	for (col = 0; col < csv->cols; col++)
		if (!strcmp(csv->fields[0][col], head))
			return csv->fields[row][col];
	fail_msg("no column '%s'", head);
	return NULL;
}

static double csv_number(const struct csv *csv, size_t row, const char *head)
{
	const char *text = csv_get(csv, row, head);
	char *end;
	double v = strtod(text, &end);

	if (!*text || *end)
		fail_msg("%s: '%s' is no number", head, text);
	return v;
}

/* ---- verdicts */

static bool is_slower(double pct)
{
	char *text;

	text = good(.fail_on_slower = true, .fail_on_slower_pct = pct);
	free(text);
	return slower;
}

static void with_itself(void **state)
{
	char *text;
	struct csv csv;
	size_t i;

	add_runs(base, "rb-custom", 8, 150, NULL);
	add_runs(base, "rb-libbpf", 5, 0.15, "config.producers=2");
	add_runs(base, "bloom", 12, 2, "summary.unit=\"%\"");
	assert_int_equal(link(base, new), 0);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 3);
	for (i = 1; i < csv.rows; i++) {
		assert_string_equal(csv_get(&csv, i, "verdict"), "~");
		assert_true(csv_number(&csv, i, "p") == 1);
		assert_true(csv_number(&csv, i, "change_pct") == 0);
		assert_true(csv_number(&csv, i, "change_ci95_low_pct") < 0);
		assert_true(csv_number(&csv, i, "change_ci95_high_pct") > 0);
	}
	free(text);
	text = good(.fail_on_slower = true, .fail_on_slower_pct = 0);
	assert_false(slower);
	check_has(text, "0.00%  1.0000\n");
	check_has_not(text, "faster");
	check_has_not(text, "slower");
	check_has_not(text, "differ (");
	free(text);
}

static void verdicts(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "up", 8, 100, NULL);
	add_runs(new, "up", 8, 125, NULL);
	add_runs(base, "down", 8, 100, NULL);
	add_runs(new, "down", 8, 80, NULL);
	add_runs(base, "same", 8, 100, NULL);
	add_runs(new, "same", 8, 100.1, NULL);
	add_runs(base, "more-false", 8, 2, "summary.unit=\"%\"");
	add_runs(new, "more-false", 8, 3, "summary.unit=\"%\"");
	add_runs(base, "less-false", 8, 2, "summary.unit=\"%\"");
	add_runs(new, "less-false", 8, 1, "summary.unit=\"%\"");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 5);
	assert_string_equal(csv_get(&csv, 1, "bench"), "up");
	assert_string_equal(csv_get(&csv, 1, "verdict"), "faster");
	assert_string_equal(csv_get(&csv, 2, "verdict"), "slower");
	assert_string_equal(csv_get(&csv, 3, "verdict"), "~");
	assert_string_equal(csv_get(&csv, 4, "verdict"), "worse");
	assert_string_equal(csv_get(&csv, 5, "verdict"), "better");
	assert_string_equal(csv_get(&csv, 1, "p_method"), "exact");
	/* Nothing in common, 8 a side: 2 of the C(16, 8) = 12870 ways */
	assert_true(fabs(csv_number(&csv, 1, "p") - 2 / 12870.0) < 1e-15);
	assert_true(csv_number(&csv, 1, "u") == 64);
	assert_true(csv_number(&csv, 2, "u") == 0);
	/*
	 * Ratios: the same spread on both sides, so that the estimate is exactly that of the means
	 */
	assert_true(fabs(csv_number(&csv, 1, "change_pct") - 25) < 1e-9);
	assert_true(fabs(csv_number(&csv, 2, "change_pct") + 20) < 1e-9);
	assert_true(csv_number(&csv, 1, "change_ci95_low_pct") > 15);
	assert_true(csv_number(&csv, 1, "change_ci95_high_pct") < 35);
	free(text);

	text = good();
	check_has(text, "\nup                      100.0          125.0         +25.0%  0.0002\n"
			"  8+8 runs, M/s  96.50..103.5   120.6..129.4  +21.3..+28.8%  faster\n");
	check_has(text, "-20.0%  0.0002\n");
	check_has(text, "+50.0%  0.0002\n");
	free(text);
}

/* Eight values 96.5 to 103.5: median 100; order statistics 1 and 8 (P = 2/256 to be outside). */
static void medians_and_intervals(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "b", 8, 100, NULL);
	add_runs(new, "b", 5, 100, NULL);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_true(fabs(csv_number(&csv, 1, "base_median") - 100) < 1e-9);
	assert_true(fabs(csv_number(&csv, 1, "base_ci95_low") - 96.5) < 1e-9);
	assert_true(fabs(csv_number(&csv, 1, "base_ci95_high") - 103.5) < 1e-9);
	assert_true(fabs(csv_number(&csv, 1, "new_median") - 100) < 1e-9);
	/* 5 runs allow no 95 % interval of the median, but one of the change. */
	assert_string_equal(csv_get(&csv, 1, "new_ci95_low"), "");
	assert_string_equal(csv_get(&csv, 1, "new_ci95_high"), "");
	csv_number(&csv, 1, "change_ci95_low_pct");
	assert_int_equal(csv_number(&csv, 1, "base_runs"), 8);
	assert_int_equal(csv_number(&csv, 1, "new_runs"), 5);
	free(text);
	text = good();
	check_has(text, "8+5 runs, M/s");
	check_has(text, "96.50..103.5");
	check_has(text, "(-: these take 6 runs)");
	free(text);
}

static void too_few_runs(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "three", 3, 100, NULL);
	add_runs(new, "three", 8, 200, NULL);
	add_runs(base, "four", 4, 100, NULL);
	add_runs(new, "four", 4, 200, NULL);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	/* 3 and 8 could reach 2/165 = 0.012, but a verdict takes 4 on each side. */
	assert_string_equal(csv_get(&csv, 1, "verdict"), "too few runs");
	assert_string_equal(csv_get(&csv, 1, "p"), "");
	assert_string_equal(csv_get(&csv, 1, "change_ci95_low_pct"), "");
	assert_true(fabs(csv_number(&csv, 1, "change_pct") - 100) < 10);
	assert_string_equal(csv_get(&csv, 2, "verdict"), "faster");
	assert_true(fabs(csv_number(&csv, 2, "p") - 2 / 70.0) < 1e-15);
	free(text);
	text = good();
	check_has(text, "too few runs\n");
	free(text);
}

static void failed_runs_are_left_out(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "b", 8, 100, NULL);
	add_runs(new, "b", 8, 100, NULL);
	add_record(base, "b", 1, "status=\"failed\",summary=null");
	add_record(base, "b", 1, "status=\"failed\"");
	add_record(base, "b", 1, "status=\"interrupted\"");
	add_record(new, "b", 1e6, "status=\"interrupted\"");
	add_runs(base, "all-failed", 8, 100, NULL);
	add_record(new, "all-failed", 1, "status=\"failed\"");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv_number(&csv, 1, "base_runs"), 8);
	assert_int_equal(csv_number(&csv, 1, "base_left_out"), 3);
	assert_int_equal(csv_number(&csv, 1, "new_left_out"), 1);
	assert_true(csv_number(&csv, 1, "p") == 1);
	assert_string_equal(csv_get(&csv, 2, "verdict"), "too few runs");
	assert_int_equal(csv_number(&csv, 2, "new_runs"), 0);
	assert_string_equal(csv_get(&csv, 2, "new_median"), "");
	assert_string_equal(csv_get(&csv, 2, "change_pct"), "");
	free(text);
	text = good();
	check_has(text, "base.jsonl, 16 runs, 3 left out (2 failed, 1\n      interrupted)\n");
	check_has(text, "new.jsonl, 8 runs, 2 left out (1 failed, 1\n      interrupted)\n");
	check_has(text, "8+0 runs, M/s");
	free(text);
}

static void no_outlier_is_removed(void **state)
{
	char *text;
	struct csv csv;
	size_t i;

	for (i = 0; i < 9; i++) {
		add_record(base, "b", 100 + i, NULL);
		add_record(new, "b", i < 4 ? 1e6 + i : 100.5 + i, NULL);
	}
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv_number(&csv, 1, "new_runs"), 9);
	/* The 5th of 9, counted from the smallest: 104.5 to 108.5, then the large ones */
	assert_true(csv_number(&csv, 1, "new_median") == 108.5);
	assert_true(csv_number(&csv, 1, "new_ci95_high") == 1e6 + 2);
	free(text);
}

static void zero_rates(void **state)
{
	char *text;
	struct csv csv;
	size_t i;

	for (i = 0; i < 6; i++) {
		add_record(base, "stopped", 100 + i, NULL);
		add_record(new, "stopped", 0, NULL);
		add_record(base, "started", 0, NULL);
		add_record(new, "started", 100 + i, NULL);
		add_record(base, "never", 0, NULL);
		add_record(new, "never", 0, NULL);
	}
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_string_equal(csv_get(&csv, 1, "verdict"), "slower");
	assert_true(csv_number(&csv, 1, "change_pct") == -100);
	assert_string_equal(csv_get(&csv, 2, "verdict"), "faster");
	assert_string_equal(csv_get(&csv, 2, "change_pct"), "");
	assert_string_equal(csv_get(&csv, 2, "change_ci95_low_pct"), "");
	assert_string_equal(csv_get(&csv, 3, "verdict"), "~");
	assert_true(csv_number(&csv, 3, "change_pct") == 0);
	assert_string_equal(csv_get(&csv, 3, "p_method"), "exact_ties");
	free(text);
	text = good();
	check_has(text, "-100%");
	check_has(text, "\nstarted                     0         102.5            -  0.0022\n"
			"  6+6 runs, M/s          0..0  100.0..105.0            -  faster\n");
	check_has(text, "0.00%  1.0000\n");
	check_has_not(text, "inf");
	check_has_not(text, "nan");
	free(text);
	/* More by any percentage */
	assert_false(is_slower(1e9));
	for (i = 0; i < 6; i++) {
		add_record(base, "false", 0, "summary.unit=\"%\"");
		add_record(new, "false", 1 + i, "summary.unit=\"%\"");
	}
	assert_true(is_slower(1e9));
}

static void many_runs_are_approximated(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "b", 60, 100, NULL);
	add_runs(new, "b", 60, 150, NULL);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_string_equal(csv_get(&csv, 1, "p_method"), "normal");
	free(text);
	text = good();
	check_has(text, "<0.0001");
	check_has(text, "exact below 50 runs");
	free(text);
}

/* ---- rows */

static void order_does_not_matter(void **state)
{
	char *text;
	struct csv csv;
	size_t i;

	for (i = 0; i < 8; i++) {
		add_record(base, "a", 100 + i, NULL);
		add_record(base, "b", 10 + i, NULL);
		add_record(new, "b", 17 - i, NULL);
		add_record(new, "a", 107 - i, NULL);
	}
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 2);
	assert_string_equal(csv_get(&csv, 1, "row"), "a");
	assert_true(csv_number(&csv, 1, "change_pct") == 0);
	assert_true(csv_number(&csv, 2, "change_pct") == 0);
	free(text);
}

static void labels_say_what_differs(void **state)
{
	char *text;

	add_runs(base, "rb", 4, 100, "params.rb-b2b=false,config.producers=1");
	add_runs(base, "rb", 4, 100, "params.rb-b2b=false,config.producers=2");
	add_runs(base, "rb", 4, 100, "params.rb-b2b=true,config.producers=1");
	add_runs(new, "rb", 4, 100, "params.rb-b2b=false,config.producers=1");
	add_runs(new, "rb", 4, 100, "params.rb-b2b=false,config.producers=2");
	add_runs(new, "rb", 4, 100, "params.rb-b2b=true,config.producers=1");
	text = good();
	check_has(text, "\nrb rb-b2b=false producers=1 ");
	check_has(text, "\nrb rb-b2b=false producers=2 ");
	check_has(text, "\nrb rb-b2b=true producers=1 ");
	check_has(text, "\nall:  duration_s=10, attach=tp\n");
	free(text);
}

/* What a benchmark always has is in no label, but it is printed. */
static void labels_leave_out_what_the_name_says(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "rb", 4, 100, "config.producers=2,config.attach=\"tp\",params.rb=1");
	add_runs(base, "pb", 4, 100, "config.producers=2,config.attach=\"tp\",params.pb=1");
	add_runs(base, "count", 4, 100, "config.producers=2,config.attach=null");
	add_runs(base, "count", 4, 100, "config.producers=4,config.attach=null");
	assert_int_equal(link(base, new), 0);
	text = good();
	check_has(text, "\nattach: tp (rb, pb), none (count)\n");
	check_has(text, "all:  rb-b2b=false, rb=1, pb=1, duration_s=10\n");
	check_has(text, "\nrb producers=2 ");
	check_has(text, "\npb producers=2 ");
	check_has(text, "\ncount producers=4 ");
	free(text);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_string_equal(csv_get(&csv, 1, "config.attach"), "tp");
	assert_string_equal(csv_get(&csv, 3, "config.attach"), "none");
	free(text);
	/* Held against each other, it is what tells the sides apart. */
	clear(NULL);
	add_runs(base, "rb", 4, 100, "config.attach=\"tp\"");
	add_runs(new, "count", 4, 100, "config.attach=null");
	text = good(.match = "config.producers");
	check_has(text, "\nrb->count attach=tp->none ");
	free(text);
}

/* The same name among the options and in the configuration */
static void labels_are_unambiguous(void **state)
{
	char *text;

	add_runs(base, "rb", 4, 100, "params.producers=7");
	add_runs(base, "rb", 4, 100, "params.producers=8");
	add_runs(new, "rb", 4, 100, "params.producers=7");
	add_runs(new, "rb", 4, 100, "params.producers=8");
	text = good();
	check_has(text, "\nrb params.producers=7 ");
	check_has(text, "config.producers=1");
	free(text);
}

static void rows_on_one_side(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, NULL);
	add_runs(base, "rb", 8, 100, "config.duration_s=5");
	add_record(new, "rb", 100, "config.duration_s=20");
	text = good();
	check_has(text, "\nOnly in base:\n  rb duration_s=5 (8 runs)\n");
	check_has(text, "\nOnly in new:\n  rb duration_s=20 (1 run)\n");
	check_has(text, "(see --match):\n  duration_s: 5 -> 20\n");
	free(text);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 3);
	assert_string_equal(csv_get(&csv, 2, "verdict"), "one side only");
	assert_int_equal(csv_number(&csv, 2, "base_runs"), 8);
	assert_int_equal(csv_number(&csv, 2, "new_runs"), 0);
	assert_string_equal(csv_get(&csv, 2, "config.duration_s"), "5");
	free(text);
}

static void nothing_in_common(void **state)
{
	char *text;

	add_runs(base, "rb", 8, 100, "config.attach=\"tp\"");
	add_runs(new, "rb", 8, 100, "config.attach=\"fentry\"");
	text = nothing();
	check_has(text, "\nNothing to compare: no row is on both sides.\n");
	check_has(text, "\n  attach: tp -> fentry\n");
	check_has_not(text, "Mann");
	assert_string_equal(err, "nothing to compare: no row of base is in new (attach: tp -> "
				 "fentry; see --match)");
	free(text);
	/* An option that one of the two versions did not have yet */
	clear(NULL);
	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, "params.rb-new=1");
	text = nothing();
	check_has(text, "\n  rb-new: absent -> 1\n");
	free(text);
	/* Other benchmarks have other options: that goes without saying. */
	clear(NULL);
	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "bloom", 8, 100, "params={\"nr-hashes\":3}");
	text = nothing();
	check_has(text, "\n  bench: rb -> bloom\n");
	check_has_not(text, "nr-hashes: ");
	free(text);
	/* No more than fits on a line, and harmless */
	clear(NULL);
	add_runs(base, "rb", 8, 100, "config.a=1,config.b=\"\\u001b[2J\"");
	add_runs(new, "rb", 8, 100,
		 "config.a=\"a-value-that-is-longer-than-any-message-should-be\",config.b=2,"
		 "config.c=\"a-value-that-is-longer-than-any-message-should-be\",config.d=4");
	free(nothing());
	check_has(err, "(a: 1 -> a-value-that-is-longer-than-any-message-should-be; ...");
	check_has(err, "d: absent -> 4; see --match)");
	check_has_not(err, "\33");
	assert_true(strlen(err) < 200);
	free(nothing(.format = COMPARE_CSV));
}

static void units_differ(void **state)
{
	char *text;
	struct csv csv;

	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, NULL);
	add_runs(base, "ops", 8, 100, NULL);
	add_runs(new, "ops", 8, 100, "summary.unit=\"M ops/s\"");
	text = good();
	check_has(text, "\nNot compared, for their units differ:\n  ops\n");
	free(text);
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_string_equal(csv_get(&csv, 2, "verdict"), "units differ");
	assert_string_equal(csv_get(&csv, 2, "unit"), "");
	assert_string_equal(csv_get(&csv, 2, "change_pct"), "");
	assert_string_equal(csv_get(&csv, 2, "base_median"), "");
	free(text);
	text = nothing(.match = "params");
	check_has(text, "\nNothing to compare.\n");
	assert_string_equal(err, "nothing to compare: in no row do all runs have one figure in one "
				 "unit: try --figure or --match");
	free(text);
}

/* ---- --match */

static void match_holds_benchmarks_against_each_other(void **state)
{
	char *text;

	add_runs(base, "rb-custom", 8, 100, NULL);
	add_runs(new, "rb-libbpf", 8, 130, NULL);
	text = nothing();
	check_has(text, "no row is on both sides");
	free(text);
	text = good(.match = "params,config");
	check_has(text, "\nrb-custom->rb-libbpf");
	check_has(text, "+30.0%");
	free(text);
	text = good(.match = "params");
	check_has(text, "\nrb-custom->rb-libbpf");
	free(text);
}

static void match_holds_options_against_each_other(void **state)
{
	char *text;

	add_runs(base, "rb", 8, 100, "params.rb-b2b=false,config.producers=1");
	add_runs(new, "rb", 8, 110, "params.rb-b2b=true,config.producers=1");
	add_runs(base, "rb", 8, 100, "params.rb-b2b=false,config.producers=2");
	add_runs(new, "rb", 8, 120, "params.rb-b2b=true,config.producers=2");
	text = good(.match = "bench,config");
	check_has(text, "\nrb rb-b2b=false->true producers=1\n");
	check_has(text, "\nrb rb-b2b=false->true producers=2\n");
	check_has(text, "+10.0%");
	check_has(text, "+20.0%");
	free(text);
	text = good(.match = "bench,config.producers");
	check_has(text, "\nrb rb-b2b=false->true producers=2\n");
	check_has(text, "+10.0%");
	check_has_not(text, "not of one kind");
	free(text);
	/* Everything in one row, and the reader can see that. */
	text = good(.match = "bench");
	check_has(text, "\nrb rb-b2b=false->true producers=1,2\n");
	check_has(text, "\n1 row is of runs that are not of one kind: ");
	check_has(text, "16+16 runs, M/s");
	free(text);
}

static void match_by_machine(void **state)
{
	char *text;

	add_runs(base, "rb", 8, 100, "env.host=\"a\"");
	add_runs(new, "rb", 8, 110, "env.host=\"a\"");
	add_runs(base, "rb", 8, 200, "env.host=\"b\"");
	add_runs(new, "rb", 8, 240, "env.host=\"b\"");
	text = good(.match = "bench,params,config,env.host");
	check_has(text, "\nrb host=a");
	check_has(text, "\nrb host=b");
	check_has(text, "+10.0%");
	check_has(text, "+20.0%");
	free(text);
}

static void match_with_absent_fields(void **state)
{
	char *text;

	/* Two records without it match; one without and one with null do not. */
	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 300, "params.x=null");
	text = good(.match = "bench,params.x");
	check_has(text, "Only in new:\n  rb x=none (8 runs)\n");
	check_has(text, "8+8 runs, M/s");
	free(text);
}

static void match_refuses(void **state)
{
	static const char *const wrong[] = {
		"",
		"bench,",
		",bench",
		"foo",
		"env",
		"params.",
		"config,params,foo.x",
		"Bench",
		"bench.x",
		"summary.mean",
		"params config",
	};
	char want[64], *word;
	size_t i;

	/* Before any file is looked at */
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		bad(-EINVAL, .match = wrong[i]);
		check_has(err, "': expected a comma list of bench, params, config");
	}
	bad(-EINVAL, .match = "params,foo.x");
	word = "foo.x";
	snprintf(want, sizeof(want), "--match: invalid value '%s': expected ", word);
	check_has(err, want);

	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, NULL);
	bad(-EINVAL, .match = "bench,config.producer");
	assert_string_equal(err, "--match: no record has a field 'config.producer'");
	free(good(.match = "bench,bench,config.producers,params.rb-b2b"));
}

/* ---- options that one version has and another has not */

/* Schema 1 has no defaults; schema 2 says itself whether a value is one. */
static void lacking_params_at_their_default(void **state)
{
	const char *const with = "params.x=5,defaults.x=5";
	char *text;
	int swap;

	for (swap = 0; swap < 2; swap++) {
		clear(NULL);
		add_runs(swap ? new : base, "old", 8, 100, NULL);
		add_runs_2(swap ? base : new, "old", 8, 100, with);
		add_runs_2(swap ? new : base, "rb", 8, 100, NULL);
		add_runs_2(swap ? base : new, "rb", 8, 100, with);
		text = good();
		check_has(text, "\nold              ");
		check_has(text, "\nrb               ");
		check_has(
			text,
			"\nall:  rb-b2b=false, producers=1, duration_s=10, attach=tp\n"
			"note: ignored, since some runs lack it and others have its default: x=5\n");
		check_has_not(text, "Only in");
		free(text);
	}
	/* As a whole section of --match too, but not where it is asked for singly */
	free(good(.match = "params"));
	free(nothing(.match = "bench,params.x"));
	/* Where it is not matched by, it is a difference like any other. */
	text = good(.match = "config");
	check_has(text, "x=5->absent");
	check_has_not(text, "ignored");
	free(text);
}

static void lacking_params_at_other_values(void **state)
{
	char *text;

	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 100, "params.x=6,defaults.x=5");
	text = nothing();
	check_has(text, "\n  x: absent -> 6\n");
	check_has_not(text, "ignored");
	free(text);
	clear(NULL);
	add_runs_2(base, "rb", 8, 100, "params.x=6,defaults.x=5");
	add_runs_2(new, "rb", 8, 100, NULL);
	free(nothing());
	/* No default is known. */
	clear(NULL);
	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 100, "params.x=5");
	free(nothing());
	clear(NULL);
	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 100, "params.x=5");
	free(nothing());
	/* Both have it, so that defaults do not matter. */
	clear(NULL);
	add_runs_2(base, "rb", 8, 100, "params.x=5,defaults.x=5");
	add_runs_2(new, "rb", 8, 100, "params.x=6,defaults.x=6");
	text = nothing();
	check_has(text, "\n  x: 5 -> 6\n");
	free(text);
	clear(NULL);
	add_runs_2(base, "rb", 8, 100, "params.x=5,defaults.x=5");
	add_runs_2(new, "rb", 8, 100, "params.x=5,defaults.x=6");
	check_has(text = good(), "all:  rb-b2b=false, x=5, ");
	free(text);
}

/* The new version was run with its default and with another value. */
static void lacking_params_that_vary(void **state)
{
	struct csv csv;
	char *text;

	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 300, "params.x=6,defaults.x=5");
	add_runs_2(new, "rb", 8, 125, "params.x=5,defaults.x=5");
	/* The same option with another default is not base's "rb". */
	add_runs_2(new, "rb", 8, 500, "params.x=5,defaults.x=6");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 3);
	assert_string_equal(csv_get(&csv, 1, "row"), "rb");
	assert_true(fabs(csv_number(&csv, 1, "change_pct") - 25) < 1e-9);
	assert_string_equal(csv_get(&csv, 2, "row"), "rb x=6");
	assert_string_equal(csv_get(&csv, 2, "verdict"), "one side only");
	assert_string_equal(csv_get(&csv, 3, "row"), "rb x=5");
	assert_string_equal(csv_get(&csv, 3, "verdict"), "one side only");
	free(text);
	text = good();
	check_has(text,
		  "\nnote: ignored, since some runs lack it and others have its default: x=5\n");
	free(text);
}

/* ---- figures */

static void a_1_against_a_2(void **state)
{
	char *text;

	add_runs(base, "rb", 8, 100, "summary.drops_mean=2,summary.report=\"hits_drops\"");
	add_runs_2(new, "rb", 8, 125, NULL);
	text = good();
	check_has(text, "\nrb                      100.0         125.0         +25.0%  0.0002\n"
			"  8+8 runs, M/s  96.50..103.5  120.6..129.4  +21.3..+28.8%  faster\n");
	free(text);
	text = good(.figure = "drops");
	check_has(text, "\nrb drops                2.000         1.250         -37.5%  0.0002\n");
	check_has(text, "  better\n");
	free(text);
}

static void figures_and_directions(void **state)
{
	static const struct {
		const char *row, *unit, *up, *down;
	} want[] = {
		/* The default one first, the others in the order of the record */
		{ "rb hits", "M/s", "faster", "slower" },
		{ "rb drops", "M/s", "worse", "better" },
		{ "rb latency", "ns/op", "slower", "faster" },
		{ "rb mem", "KiB", "worse", "better" },
		{ "rb level", "x", "higher", "lower" },
		{ "rb share", "%", "better", "worse" },
	};
	char *text;
	struct csv csv;
	int up;
	size_t i;

	for (up = 0; up < 2; up++) {
		clear(NULL);
		add_runs_2(base, "rb", 8, 100, NULL);
		add_runs_2(new, "rb", 8, up ? 125 : 80, NULL);
		text = good(.figure = "all", .format = COMPARE_CSV);
		csv_parse(&csv, text);
		assert_int_equal(csv.rows, 1 + ARRAY_SIZE(want));
		for (i = 0; i < ARRAY_SIZE(want); i++) {
			assert_string_equal(csv_get(&csv, 1 + i, "row"), want[i].row);
			assert_string_equal(csv_get(&csv, 1 + i, "figure"), want[i].row + 3);
			assert_string_equal(csv_get(&csv, 1 + i, "unit"), want[i].unit);
			assert_string_equal(csv_get(&csv, 1 + i, "verdict"),
					    up ? want[i].up : want[i].down);
		}
		free(text);
		text = good(.figure = "latency", .fail_on_slower = true, .fail_on_slower_pct = 24);
		check_has(text, "\nrb latency ");
		assert_int_equal(slower, up);
		free(text);
	}
	/* By default no row says which figure it is. */
	text = good();
	check_has(text, "\nrb               ");
	check_has_not(text, "hits");
	free(text);
}

static void figures_that_runs_lack(void **state)
{
	char *text;
	struct csv csv;

	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 100, "figures.mem=-");
	add_runs(base, "ops", 8, 100, NULL);
	add_runs(new, "ops", 8, 100, NULL);
	add_runs(base, "failed", 8, 100, "status=\"failed\"");
	add_runs(new, "failed", 8, 100, "status=\"failed\"");
	text = good(.figure = "mem");
	check_has(text, "\nNot compared, since runs lack the figure:\n"
			"  rb mem (in new)\n  ops mem (in base, new)\n");
	check_has(text, "\nfailed mem ");
	free(text);
	text = good(.figure = "all", .format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 6 + 1 + 1);
	assert_string_equal(csv_get(&csv, 4, "row"), "rb mem");
	assert_string_equal(csv_get(&csv, 4, "verdict"), "no such figure");
	assert_string_equal(csv_get(&csv, 7, "row"), "ops hits");
	assert_string_equal(csv_get(&csv, 8, "row"), "failed");
	free(text);
	/* An unknown mean is no 0. */
	add_runs_2(base, "rb", 1, 100, "figures.share=-,summary.mean=null");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv_number(&csv, 1, "base_runs"), 8);
	assert_int_equal(csv_number(&csv, 1, "base_left_out"), 1);
	free(text);
}

static void figures_that_no_run_has(void **state)
{
	add_runs(base, "rb", 4, 100, NULL);
	add_runs_2(new, "rb", 4, 100, NULL);
	bad(-EINVAL, .figure = "lateny");
	assert_string_equal(err,
			    "--figure: no record has a figure 'lateny' (did you mean 'latency'?): "
			    "expected all, hits, drops, latency, mem, level, share");
	bad(-EINVAL, .figure = "\33x");
	assert_string_equal(err,
			    "--figure: no record has a figure '?x': expected all, hits, drops, "
			    "latency, mem, level, share");
	clear(NULL);
	add_runs(base, "rb", 4, 100, "status=\"failed\"");
	add_runs(new, "rb", 4, 100, "status=\"failed\"");
	bad(-EINVAL, .figure = "hits");
	assert_string_equal(err, "--figure: no record has a figure 'hits'");
}

/* Default figures of other names but in the same unit are compared, and the label says so. */
static void default_figures_that_differ(void **state)
{
	char *text;

	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 100, "summary.figure=\"drops\"");
	text = good();
	check_has(text, "\nrb figure=hits->drops ");
	free(text);
}

/* ---- more than two files */

static void add_three_files(void)
{
	nr_paths = 3;
	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 125, "env.host=\"b\"");
	add_runs_2(newer, "rb", 8, 80, "params.x=5,defaults.x=5");
	add_runs(base, "pb", 8, 100, NULL);
	add_runs(newer, "pb", 3, 50, NULL);
	add_runs(new, "bloom", 8, 100, NULL);
	add_runs(newer, "bloom", 1, 100, NULL);
	add_runs(base, "ops", 8, 100, NULL);
	add_runs(new, "ops", 8, 100, NULL);
	add_runs(newer, "ops", 8, 100, "summary.unit=\"M ops/s\"");
	add_runs(base, "count", 8, 100, NULL);
}

static void three_files(void **state)
{
	char *text;

	add_three_files();
	text = good(.fail_on_slower = true, .fail_on_slower_pct = 19);
	assert_true(slower);
	check_has(text,
		  "\nnote: ignored, since some runs lack it and others have its default: x=5\n");
	check_has(text, "\nEnvironments differ:\n  host:\n    base, newer: vm\n"
			"    new: b (8 runs), vm (16 runs)\n");
	check_has(text, "\n"
			"                            base            new                newer\n"
			"rb                         100.0          125.0                80.00\n"
			"  8 runs each, M/s  96.50..103.5  +25.0% faster        -20.0% slower\n"
			"pb                         100.0              -                50.00\n"
			"  8+0+3 runs, M/s   96.50..103.5                 -50.0% too few runs\n"
			"ops                        100.0          100.0                    -\n"
			"  8 runs each, M/s  96.50..103.5        0.00% ~         units differ\n\n");
	check_has(text, "\nNot compared, for their units differ:\n  ops\n");
	check_has(text, "\nOnly in base:\n  count (8 runs)\n");
	check_has(text, "\nNot in base:\n  bloom (new: 8 runs, newer: 1 run)\n");
	check_has(text, "\nFor a verdict among 3 tests p has to be below 0.0333,");
	free(text);
	text = good(.format = COMPARE_MARKDOWN);
	check_has(text, "\n- host: base, newer: vm; new: b (8 runs), vm (16 runs)\n");
	check_has(text, "\n|  | unit | runs | base | new | newer |\n");
	check_has(text, "\n| rb | M/s | 8 each | 100.0 (96.50..103.5) | 125.0 (+25.0% faster) | "
			"80.00 (-20.0% slower) |\n");
	check_has(text, "\n| pb | M/s | 8+0+3 | 100.0 (96.50..103.5) | - | "
			"50.00 (-50.0% too few runs) |\n");
	free(text);
}

/* A line for each row and each file but the first, if one of the two has the row. */
static void three_files_as_csv(void **state)
{
	static const struct {
		const char *row, *file, *verdict;
	} want[] = {
		{ "rb", new, "faster" },
		{ "rb", newer, "slower" },
		{ "pb", new, "one side only" },
		{ "pb", newer, "too few runs" },
		{ "ops", new, "~" },
		{ "ops", newer, "units differ" },
		{ "count", new, "one side only" },
		{ "count", newer, "one side only" },
		{ "bloom", new, "one side only" },
		{ "bloom", newer, "one side only" },
	};
	struct csv csv;
	char *text;
	size_t i;

	add_three_files();
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + ARRAY_SIZE(want));
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_string_equal(csv_get(&csv, 1 + i, "row"), want[i].row);
		assert_string_equal(csv_get(&csv, 1 + i, "file"), want[i].file);
		assert_string_equal(csv_get(&csv, 1 + i, "verdict"), want[i].verdict);
	}
	/* Three tests: the two with the least p have 3 / 2 of it. */
	assert_true(fabs(csv_number(&csv, 2, "p_adjusted") - 3 / 12870.0) < 1e-15);
	free(text);
	/* One line for each row that both are in, as if they were the only files */
	nr_paths = 2;
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_string_equal(csv_get(&csv, 1, "file"), new);
	assert_string_equal(csv_get(&csv, 1, "figure"), "hits");
	free(text);
}

/* What base lacks, two others have at their defaults, which need not be the same. */
static void lacking_params_of_three_files(void **state)
{
	struct csv csv;
	char *text;

	nr_paths = 3;
	add_runs_2(base, "rb", 8, 100, NULL);
	add_runs_2(new, "rb", 8, 125, "params.x=5,defaults.x=5");
	add_runs_2(newer, "rb", 8, 80, "params.x=6,defaults.x=6,params.y=1,defaults.y=1");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 1 + 2);
	assert_string_equal(csv_get(&csv, 1, "verdict"), "faster");
	assert_string_equal(csv_get(&csv, 2, "verdict"), "slower");
	free(text);
	text = good();
	check_has(text, "lack it and others have its default: x=5,\n      x=6, y=1\n");
	free(text);
	/* Only the third file lacks it. */
	clear(NULL);
	nr_paths = 3;
	add_runs_2(base, "rb", 8, 100, "params.x=5,defaults.x=5");
	add_runs_2(new, "rb", 8, 125, "params.x=5,defaults.x=5");
	add_runs_2(newer, "rb", 8, 80, NULL);
	text = good(.fail_on_slower = true);
	assert_true(slower);
	free(text);
}

/* As many as fit, and the others in a table below; names that are not distinct become numbers. */
static void many_files(void **state)
{
	char *text;

	nr_paths = 10;
	add_runs(base, "rb", 8, 100, NULL);
	add_runs(new, "rb", 8, 125, NULL);
	add_runs(newer, "rb", 8, 80, NULL);
	text = good();
	check_width(text);
	check_has(text, "\nfile 10: ");
	check_has(text, "  base         file 2         file 3   file 4         file 5\n"
			"rb\n  8 runs each, M/s\n");
	check_has(text, "  base         file 6   file 7         file 8         file 9\n");
	check_has(text, "  base  file 10\n");
	free(text);
}

/* ---- env */

static void env_differences(void **state)
{
	char *text;

	add_runs(base, "rb", 4, 100, "env.kernel=\"6.18.44\",env.time=\"then\",env.one=1");
	add_runs(new, "rb", 3, 100, "env.kernel=\"6.19\",env.time=\"now\",env.two=2");
	add_runs(new, "rb", 1, 100, "env.kernel=\"6.18.44\",env.time=\"later\",env.two=2");
	text = good();
	check_has(text, "\nEnvironments differ (base -> new):\n");
	check_has(text, "\n  kernel: 6.18.44 -> 6.19 (3 runs), 6.18.44 (1 run)\n");
	check_has(text, "\n  one: 1 -> absent\n");
	check_has(text, "\n  two: absent -> 2\n");
	check_has_not(text, "time");
	check_has_not(text, "host");
	free(text);
}

/* The same mix on both sides is reported as well: its runs are not alike. */
static void env_that_is_mixed(void **state)
{
	char *text;

	add_runs(base, "rb", 4, 100, "env.host=\"a\"");
	add_runs(base, "rb", 4, 100, "env.host=\"b\"");
	add_runs(new, "rb", 4, 100, "env.host=\"b\"");
	add_runs(new, "rb", 4, 100, "env.host=\"a\"");
	text = good();
	check_has(text, "\n  host: a (4 runs), b (4 runs) -> b (4 runs), a (4 runs)\n");
	free(text);
}

static void env_long_values(void **state)
{
	const char *common = "a: Mitigation: something; b: Mitigation: something else; c: ";
	char edit[400], *text;

	snprintf(edit, sizeof(edit), "env.mitigations=\"%sRetpolines; d: and so on and on\"",
		 common);
	add_runs(base, "rb", 4, 100, edit);
	snprintf(edit, sizeof(edit), "env.mitigations=\"%sIBRS; d: and so on and on\"", common);
	add_runs(new, "rb", 4, 100, edit);
	text = good();
	check_has(text, "\n  mitigations: ... Retpolines; ... -> ... IBRS; ...\n");
	check_has_not(text, "something");
	free(text);
}

/* ---- how it looks */

static void make_wide_records(void)
{
	static const double scales[] = { 1e-300, 1e-7, 0.00123, 0.1, 1, 12345, 1e7, 1e300 };
	char edit[1200], longest[300];
	size_t i;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	for (i = 0; i < ARRAY_SIZE(scales); i++) {
		snprintf(edit, sizeof(edit),
			 "params.rb-target=\"/a/very/long/path/to/lib\u00b1\u00fc/%.*s\","
			 "params.%.40s=%zu,env.cpu-%zu=\"%s\",env.scale=%zu",
			 (int)(40 * i), longest, longest, i, i, longest, i);
		add_runs(base, "a-benchmark-with-a-name-that-is-rather-long-you-see", 7, scales[i],
			 edit);
		add_runs(new, "a-benchmark-with-a-name-that-is-rather-long-you-see", 7,
			 scales[i] * (i % 2 ? 1e5 : 0.9), edit);
		add_runs(i % 2 ? base : new, longest, 300, scales[i], edit);
	}
}

static void never_wider_than_75_columns(void **state)
{
	char *text;

	make_wide_records();
	text = good();
	check_width(text);
	check_has(text, "7+7 runs, M/s");
	free(text);
	text = good(.match = "bench");
	check_width(text);
	free(text);
	text = good(.match = "config");
	check_width(text);
	check_has(text, " values)");
	free(text);
	assert_int_equal(link(base, newer), 0);
	nr_paths = 4;
	text = good();
	check_width(text);
	free(text);
	/* And as it mostly is */
	clear(NULL);
	add_runs(base, "rb-custom", 8, 100, "params.rb-b2b=true");
	add_runs(new, "rb-custom", 8, 100, "params.rb-b2b=true");
	text = good();
	check_width(text);
	/* Name and numbers side by side, where there is room */
	check_has(text, "\nrb-custom               100.0 ");
	free(text);
}

static void control_characters_do_not_get_out(void **state)
{
	static const int formats[] = { COMPARE_TEXT, COMPARE_MARKDOWN };
	char *text, *c;
	size_t i;

	add_runs(base, "rb", 4, 100, "params.x=\"\\u001b[31m\\u0007\",env.y=\"\\n\\u001b\"");
	add_runs(new, "rb", 4, 100, "params.x=\"\\u001b[31m\\u0007\",env.y=\"\\r\"");
	add_runs(new, "rb", 4, 100, "params.x=\"\\u009b\"");
	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		text = good(.format = formats[i]);
		for (c = text; *c; c++)
			if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
				fail_msg("byte %#x in:\n%s", *c, text);
		free(text);
	}
}

/* Cells of a Markdown table's line: those bars that no backslash is before. */
static size_t count_cells(const char *line)
{
	size_t n = 0;

	for (; *line && *line != '\n'; line++) {
		if (*line == '\\' && line[1])
			line++;
		else
			n += *line == '|';
	}
	return n - 1;
}

static void markdown_reads_back(void **state)
{
	size_t rows = 0, cells = 0;
	char *text, *line, *rest;

	add_runs(base, "rb", 8, 100, "params.x=\"a|b\\\\\"");
	add_runs(new, "rb", 8, 110, "params.x=\"a|b\\\\\"");
	add_runs(base, "rb", 3, 1, "params.x=\"`|`\"");
	add_runs(new, "rb", 3, 1, "params.x=\"`|`\"");
	text = good(.format = COMPARE_MARKDOWN);
	check_has(text, "| rb x=a\\|b\\\\ | M/s | 8+8 | 100.0 (96.50..103.5) | 110.0 (");
	check_has(text, " | +10.0% (");
	check_has(text, " | faster |\n");
	check_has(text, " | too few runs |\n");
	for (rest = text; (line = strsep(&rest, "\n"));) {
		if (*line != '|')
			continue;
		if (!rows++)
			cells = count_cells(line);
		assert_int_equal(count_cells(line), cells);
	}
	assert_int_equal(rows, 2 + 2);
	assert_int_equal(cells, 8);
	free(text);
}

static void csv_reads_back(void **state)
{
	const double mean = 100.0 / 3;
	char *text;
	struct csv csv;

	add_runs(base, "rb", 7, mean, "params.x=\"a;\\\"b\\\"\\n\"");
	add_runs(new, "rb", 7, mean, "params.x=\"a;\\\"b\\\"\\n\"");
	add_runs(base, "rb", 7, mean, "params.x=1.5");
	add_runs(new, "rb", 7, mean, "params.x=1.5");
	text = good(.format = COMPARE_CSV);
	csv_parse(&csv, text);
	assert_int_equal(csv.rows, 3);
	assert_string_equal(csv_get(&csv, 1, "params.x"), "a;\"b\"\n");
	assert_string_equal(csv_get(&csv, 1, "row"), "rb x=a;\"b\"\n");
	assert_string_equal(csv_get(&csv, 2, "params.x"), "1.5");
	/* All that the record has, 15 digits */
	assert_true(fabs(csv_number(&csv, 1, "base_median") / mean - 1) < 5e-15);
	free(text);
}

/* ---- many rows */

/* Rows number @from to @to - 1, of @n runs a side, in which nothing has changed. */
static void add_same_rows(int from, int to, size_t n)
{
	char edit[32];

	for (int i = from; i < to; i++) {
		snprintf(edit, sizeof(edit), "config.producers=%d", i + 1);
		add_runs(base, "rb", n, 100, edit);
		add_runs(new, "rb", n, 100, edit);
	}
}

static void verdicts_take_more_among_many_rows(void **state)
{
	char *text;

	/* One run of new is below two of base: p = 8 / 12870. */
	for (int i = 0; i < 8; i++) {
		add_record(base, "rb", 100 + i, NULL);
		add_record(new, "rb", 108 + i - 2.5 * (i == 0), NULL);
	}
	text = good();
	check_has(text, "0.0006\n");
	check_has(text, "faster\n");
	check_has(text, "~: no difference shown (p >= 0.05).\n");
	check_has_not(text, "among");
	free(text);
	add_same_rows(1, 60, 8);
	text = good();
	check_has(text, "faster\n"); /* 0.0006 < 0.05 / 60 */
	check_has(text, "~: no difference shown.\n");
	check_has(text, "For a verdict among 60 rows p has to be below 0.000833, so that of");
	check_has_not(text, "of them");
	free(text);
	add_same_rows(60, 100, 6);
	text = good();
	check_has(text, "0.0006\n"); /* but not below 0.05 / 100 */
	check_has_not(text, "faster\n");
	check_has(text, "For a verdict among 100 rows p has to be below 0.0005, so that of the");
	check_has(text,
		  "40 of them could show no difference if it were the only one: that takes 8\n"
		  "runs on each side.\n");
	free(text);
}

/* What one row alone cannot show with four runs a side, two together can. */
static void changes_of_many_rows_support_each_other(void **state)
{
	char *text;

	add_runs(base, "a", 4, 100, NULL);
	add_runs(new, "a", 4, 80, NULL);
	add_runs(base, "b", 4, 100, NULL);
	add_runs(new, "b", 4, 100, NULL);
	text = good();
	check_has(text, "0.0286\n");
	check_has_not(text, "slower\n");
	check_has(text, "p has to be below 0.025,");
	check_has(text,
		  "2 of them could show no difference if it were the only one: that takes 5\n");
	free(text);
	add_runs(base, "c", 4, 100, NULL);
	add_runs(new, "c", 4, 80, NULL);
	add_runs(base, "d", 4, 100, NULL);
	add_runs(new, "d", 4, 120, NULL);
	text = good();
	check_has(text, "slower\n"); /* 0.0286 < 3 / 4 of 0.05 */
	check_has(text, "faster\n");
	check_has(text, "p has to be below 0.0375,");
	free(text);
}

/* A row without a p is none that a verdict has to take into account. */
static void untested_rows_do_not_count(void **state)
{
	char edit[32], *text;

	add_runs(base, "a", 4, 100, NULL);
	add_runs(new, "a", 4, 80, NULL);
	for (int i = 1; i < 50; i++) {
		snprintf(edit, sizeof(edit), "config.producers=%d", i + 1);
		add_runs(base, "a", 3, 100, edit);
		add_runs(new, "a", 3, 80, edit);
	}
	text = good();
	check_has(text, "slower\n");
	check_has(text, "~: no difference shown (p >= 0.05).\n");
	free(text);
}

/* ---- --fail-on-slower */

static void fail_on_slower(void **state)
{
	add_runs(base, "a", 8, 100, NULL);
	add_runs(new, "a", 8, 100, NULL);
	add_runs(base, "up", 8, 100, NULL);
	add_runs(new, "up", 8, 200, NULL);
	assert_false(is_slower(0));
	add_runs(base, "down", 8, 100, NULL);
	add_runs(new, "down", 8, 80, NULL);
	assert_true(is_slower(0));
	assert_true(is_slower(5));
	assert_true(is_slower(19.99));
	assert_false(is_slower(20.01));
	free(good());
	assert_false(slower);
}

/* Much slower, but not shown to be so */
static void fail_on_slower_takes_evidence(void **state)
{
	add_runs(base, "a", 8, 100, NULL);
	add_runs(new, "a", 8, 100, NULL);
	assert_false(is_slower(0));
	/* A common row that cannot be judged makes the answer unknown, */
	add_runs(base, "few", 3, 100, NULL);
	add_runs(new, "few", 3, 10, NULL);
	free(nothing(.fail_on_slower = true));
	/* but for one that is shown to be slower. */
	add_runs(base, "b", 8, 100, NULL);
	add_runs(new, "b", 8, 50, NULL);
	assert_true(is_slower(0));
}

/* Adds @n runs, a minute apart, the first at minute @first. */
static void add_timed(const char *path, const char *bench, size_t n, double mean, size_t first)
{
	char edit[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(edit, sizeof(edit), "env.time=\"2026-12-01T10:%02zu:00Z\"", first + i);
		append(path, make_record(bench, mean_of_run(i, n, mean), edit));
	}
}

/* One block a side: the machine may have drifted between them. */
static void runs_one_side_after_the_other(void **state)
{
	char *text;

	add_timed(base, "a", 8, 100, 0);
	add_timed(new, "a", 8, 80, 8);
	text = good(.match = NULL);
	check_has(text, "slower?\n");
	check_has(text, "measure by turns");
	free(text);
	free(nothing(.fail_on_slower = true));
	assert_non_null(strstr(err, "--assume-steady"));
	free(good(.fail_on_slower = true, .assume_steady = true));
	assert_true(slower);
}

/* Four blocks a side by turns: the blocks are what is tested. */
static void runs_in_blocks(void **state)
{
	char *text;
	size_t i;

	for (i = 0; i < 4; i++) {
		add_timed(base, "a", 4, 100, 8 * i);
		add_timed(new, "a", 4, 80, 8 * i + 4);
	}
	text = good(.match = NULL);
	check_has(text, "slower\n");
	check_has(text, "0.0286"); /* of 4 against 4, not of 16 against 16 */
	check_has(text, "p is of the means of the blocks");
	free(text);
}

/* Where the clock counts instructions, one run a side is enough. */
static void instructions_are_exact(void **state)
{
	static const char *const exact =
		"env.clock=\"instructions\",summary.ci95_low=99.99,summary.ci95_high=100.01";
	char *text;

	append(base, make_record("a", 100, exact));
	append(new, make_record("a", 99, exact));
	text = good(.match = NULL);
	check_has(text, "insns/op");
	check_has(text, "10.00");
	check_has(text, "slower\n");
	check_has(text, "No test is needed");
	free(text);
	clear(NULL);
	append(base, make_record("a", 100, exact));
	append(new, make_record("a", 100.001, exact));
	text = good(.match = NULL);
	check_has(text, "~\n");
	free(text);
	clear(NULL);
	/* Never in one row with records of time, whatever the key, but for any-clock */
	append(base, make_record("a", 100, exact));
	append(new, make_record("a", 100, NULL));
	free(nothing(.match = "bench"));
	assert_non_null(strstr(err, "no row of base is in new"));
	free(nothing(.match = "bench,any-clock"));
	assert_non_null(strstr(err, "in one unit"));
}

/* Where lower is better, what rises is worse. */
static void fail_on_slower_by_direction(void **state)
{
	add_runs(base, "false", 8, 2, "summary.unit=\"%\"");
	add_runs(new, "false", 8, 1, "summary.unit=\"%\"");
	assert_false(is_slower(0));
	clear(NULL);
	add_runs(base, "false", 8, 2, "summary.unit=\"%\"");
	add_runs(new, "false", 8, 3, "summary.unit=\"%\"");
	assert_true(is_slower(49));
	assert_false(is_slower(51));
}

static void fail_on_slower_must_be_able_to(void **state)
{
	char *text;

	add_runs_2(base, "few", 3, 100, NULL);
	add_runs_2(new, "few", 3, 10, NULL);
	add_runs_2(base, "only-here", 8, 2, NULL);
	text = nothing(.fail_on_slower = true);
	assert_string_equal(err,
			    "--fail-on-slower: a common row cannot be judged: a verdict requires "
			    "4 runs on each side, with one figure in one unit");
	/* The table is there all the same. */
	check_has(text, "too few runs");
	free(text);
	/* No direction is the bad one. */
	add_runs_2(base, "few", 3, 100, NULL);
	add_runs_2(new, "few", 3, 10, NULL);
	text = nothing(.fail_on_slower = true, .figure = "level");
	check_has(text, "lower\n");
	free(text);
}

/* ---- files */

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
}

static void bad_files_are_named(void **state)
{
	char want[256];

	add_runs(base, "rb", 4, 100, NULL);
	bad(-ENOENT, .match = NULL);
	snprintf(want, sizeof(want), "%s: cannot open it: No such file or directory", new);
	assert_string_equal(err, want);

	add_runs(new, "rb", 2, 100, NULL);
	write_text(base, "");
	bad(-ENODATA, .match = NULL);
	snprintf(want, sizeof(want), "%s: there is no record in it", base);
	assert_string_equal(err, want);

	clear(NULL);
	add_runs(base, "rb", 4, 100, NULL);
	add_runs(new, "rb", 2, 100, NULL);
	add_record(new, "rb", 1, "schema=3");
	bad(-EBADMSG, .match = NULL);
	snprintf(want, sizeof(want),
		 "%s:3: a record of schema 3, but this bench reads schemas 1 and 2", new);
	assert_string_equal(err, want);
}

static void output_that_fails(void **state)
{
	struct compare_opts opts = {};
	const char *const paths[] = { base, new };
	FILE *full = fopen("/dev/full", "w");

	add_runs(base, "rb", 4, 100, NULL);
	add_runs(new, "rb", 4, 100, NULL);
	assert_int_equal(compare_files(paths, 2, &opts, full, NULL, err, sizeof(err)), -ENOSPC);
	assert_string_equal(err, "cannot write the comparison: No space left on device");
	fclose(full);
}

/* ---- simulation: files of many rows, each run with 3 % noise */

static double noise(unsigned short seed[3])
{
	return 1 + 0.03 * qnorm(erand48(seed), 0, 1, 1, 0);
}

struct simulated {
	double below; /* part of the rows without a change that have a p below 0.05, each by itself */
	double alarmed; /* part of the files that give such a row a verdict */
	double found; /* part of the rows with a change that have the right verdict */
	double wrong; /* part of the verdicts that are for rows without a change; NaN: none */
};

/*
 * @files of @rows, each of @min_runs to 8 runs a side; in those with an odd number there is
 * @change.
 */
static struct simulated simulate(unsigned short seed[3], size_t files, size_t rows, double change,
				 size_t min_runs)
{
	size_t below = 0, alarmed = 0, found = 0, wrong = 0, same_rows = 0, f, r, i;
	const char *right = change > 0 ? "faster" : "slower";
	struct csv csv;
	char edit[64], *text;

	for (f = 0; f < files; f++) {
		size_t wrong_before = wrong;

		clear(NULL);
		for (r = 0; r < rows; r++) {
			snprintf(edit, sizeof(edit), "config.producers=%zu", r);
			for (i = 0; i < min_runs + r % (9 - min_runs); i++) {
				add_record(base, "rb", 100 * noise(seed), edit);
				add_record(new, "rb", 100 * (1 + r % 2 * change) * noise(seed),
					   edit);
			}
		}
		text = good(.format = COMPARE_CSV);
		csv_parse(&csv, text);
		assert_int_equal(csv.rows, 1 + rows);
		for (r = 0; r < rows; r++) {
			const char *verdict = csv_get(&csv, 1 + r, "verdict");

			if (change && r % 2) {
				found += !strcmp(verdict, right);
				continue;
			}
			same_rows++;
			below += strtod(csv_get(&csv, 1 + r, "p"), NULL) < 0.05;
			wrong += !!strcmp(verdict, "~");
		}
		alarmed += wrong > wrong_before;
		free(text);
	}
	return (struct simulated){
		.below = (double)below / same_rows,
		.alarmed = (double)alarmed / files,
		.found = (double)found / (files * (rows / 2)),
		.wrong = (double)wrong / (wrong + found),
	};
}

static void simulated_same(void **state)
{
	unsigned short seed[3] = { 1, 1, 1 };
	struct simulated few = simulate(seed, 25, 60, 0, 4), sweep = simulate(seed, 400, 12, 0, 8);

	print_message("# A/A, 3 %% noise: p < 0.05 in %.1f %% of 1500 rows of 4 to 8 runs a side, "
		      "and in %.1f %% of 4800 of 8; a verdict in %.1f %% of 400 files of 12 rows\n",
		      100 * few.below, 100 * sweep.below, 100 * sweep.alarmed);
	/* test_utest.c has the rates for each number of runs: 2.9 to 5.0 %, 3.6 % on average */
	assert_true(few.below <= 0.05 && few.below > 0.02);
	/* 5 %, within three times the simulation's own error; without adjustment it is 46 %. */
	assert_true(fabs(sweep.below - 0.05) < 3 * sqrt(0.05 * 0.95 / 4800));
	assert_true(sweep.alarmed < 0.05 + 3 * sqrt(0.05 * 0.95 / 400));
	assert_true(sweep.alarmed > 0);
}

static void simulated_changes(void **state)
{
	unsigned short seed[3] = { 2, 2, 2 };
	struct simulated up = simulate(seed, 50, 30, 0.1, 8),
			 down = simulate(seed, 50, 30, -0.1, 8);

	print_message(
		"# half of 30 rows changed, 50 files, 8 runs a side, 3 %% noise: +10 %% found in "
		"%.1f %%, -10 %% in %.1f %%; wrong verdicts %.1f and %.1f %%\n",
		100 * up.found, 100 * down.found, 100 * up.wrong, 100 * down.wrong);
	assert_true(up.found > 0.99);
	assert_true(down.found > 0.99);
	assert_true(up.wrong < 0.05);
	assert_true(down.wrong < 0.05);
}

#define test_of(f) cmocka_unit_test_setup_teardown(f, clear, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test_of(with_itself),
		test_of(verdicts),
		test_of(medians_and_intervals),
		test_of(too_few_runs),
		test_of(failed_runs_are_left_out),
		test_of(no_outlier_is_removed),
		test_of(zero_rates),
		test_of(many_runs_are_approximated),
		test_of(order_does_not_matter),
		test_of(labels_say_what_differs),
		test_of(labels_leave_out_what_the_name_says),
		test_of(labels_are_unambiguous),
		test_of(rows_on_one_side),
		test_of(nothing_in_common),
		test_of(units_differ),
		test_of(match_holds_benchmarks_against_each_other),
		test_of(match_holds_options_against_each_other),
		test_of(match_by_machine),
		test_of(match_with_absent_fields),
		test_of(match_refuses),
		test_of(lacking_params_at_their_default),
		test_of(lacking_params_at_other_values),
		test_of(lacking_params_that_vary),
		test_of(a_1_against_a_2),
		test_of(figures_and_directions),
		test_of(figures_that_runs_lack),
		test_of(figures_that_no_run_has),
		test_of(default_figures_that_differ),
		test_of(three_files),
		test_of(three_files_as_csv),
		test_of(lacking_params_of_three_files),
		test_of(many_files),
		test_of(env_differences),
		test_of(env_that_is_mixed),
		test_of(env_long_values),
		test_of(never_wider_than_75_columns),
		test_of(control_characters_do_not_get_out),
		test_of(markdown_reads_back),
		test_of(csv_reads_back),
		test_of(verdicts_take_more_among_many_rows),
		test_of(changes_of_many_rows_support_each_other),
		test_of(untested_rows_do_not_count),
		test_of(fail_on_slower),
		test_of(fail_on_slower_takes_evidence),
		test_of(runs_one_side_after_the_other),
		test_of(runs_in_blocks),
		test_of(instructions_are_exact),
		test_of(fail_on_slower_by_direction),
		test_of(fail_on_slower_must_be_able_to),
		test_of(bad_files_are_named),
		test_of(output_that_fails),
		test_of(simulated_same),
		test_of(simulated_changes),
	};

	return cmocka_run_group_tests_name("compare", tests, make_dir, remove_dir);
}

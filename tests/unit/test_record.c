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
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/record.h"
#include "lib/util.h"
#include "lib/util.h"

#define GOOD                                                                    \
	"{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":{},\"env\":{}," \
	"\"summary\":{\"unit\":\"M/s\",\"mean\":1.5},\"status\":\"ok\"}"

/* Schema 2; @summary: members of "summary" besides its unit. */
#define RECORD_2(summary, figures)                                            \
	"{\"schema\":2,\"bench\":\"b\",\"params\":{\"a\":1,\"b\":2},"         \
	"\"defaults\":{\"a\":1,\"b\":1},\"config\":{},\"env\":{},"            \
	"\"figures\":" figures ",\"summary\":{\"unit\":\"M/s\"," summary "}," \
	"\"status\":\"ok\"}"
#define FIGURE(name, unit, kind, better, mean)                                           \
	"\"" name "\":{\"unit\":\"" unit "\",\"kind\":\"" kind "\",\"better\":\"" better \
	"\",\"mean\":" mean "}"

static char dir[] = "/tmp/test_record.XXXXXX";
static char path[sizeof(dir) + 16];

static int make_dir(void **state)
{
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/x.jsonl", dir);
	return 0;
}

static int remove_dir(void **state)
{
	unlink(path);
	return rmdir(dir);
}

static void write_file(const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static size_t read_good(void)
{
	char err[256] = "";
	struct records r = {};
	size_t cnt;
	int ret;

	ret = records_read(path, &r, err, sizeof(err));
	if (ret)
		fail_msg("%s", err);
	cnt = r.cnt;
	records_free(&r);
	assert_true(!r.cnt && !r.records);
	return cnt;
}

/* The message for what is in the file, less the path at its start. */
static const char *read_bad(int want)
{
	static char err[1024];
	struct records r = { .cnt = 77 };

	memset(err, 'x', sizeof(err));
	assert_int_equal(records_read(path, &r, err, sizeof(err)), want);
	/* Nothing to free then, and *out is left alone. */
	assert_int_equal(r.cnt, 77);
	assert_null(strchr(err, '\n'));
	if (strncmp(err, path, strlen(path)))
		fail_msg("does not begin with the path: %s", err);
	return err + strlen(path);
}

#define write_text(s) write_file(s, strlen(s))

/* ---- reading */

static void reads_in_order(void **state)
{
	struct records r;
	char err[256];

	write_text(GOOD "\n" GOOD "\n"
			"{\"schema\":1,\"bench\":\"last\",\"params\":{\"a\":1},\"config\":{},"
			"\"env\":{},\"summary\":null,\"status\":\"failed\"}\n");
	assert_int_equal(records_read(path, &r, err, sizeof(err)), 0);
	assert_int_equal(r.cnt, 3);
	assert_string_equal(json_string_value(json_object_get(r.records[0], "bench")), "b");
	assert_string_equal(json_string_value(json_object_get(r.records[2], "bench")), "last");
	records_free(&r);
}

static void forgives_what_editors_do(void **state)
{
	write_text(GOOD);
	assert_int_equal(read_good(), 1);
	write_text("\n\n" GOOD "\r\n \t\r\n" GOOD "\n\n\n");
	assert_int_equal(read_good(), 2);
	write_text("  " GOOD "  ");
	assert_int_equal(read_good(), 1);
}

/* Only runs with status ok need a result. */
static void failed_runs_need_no_summary(void **state)
{
	write_text("{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":{},\"env\":{},"
		   "\"status\":\"interrupted\"}\n");
	assert_int_equal(read_good(), 1);
}

static void more_records_than_room_at_first(void **state)
{
	char *text = test_malloc(1000 * sizeof(GOOD) + 1);
	size_t len = 0;

	for (int i = 0; i < 1000; i++)
		len += sprintf(text + len, GOOD "\n");
	write_file(text, len);
	assert_int_equal(read_good(), 1000);
	test_free(text);
}

static void empty_files(void **state)
{
	write_text("");
	assert_string_equal(read_bad(-ENODATA), ": there is no record in it");
	write_text("\n \n\t\n");
	assert_string_equal(read_bad(-ENODATA), ": there is no record in it");
}

static void truncated_files(void **state)
{
	size_t len;

	/* Wherever it was cut within its second line */
	for (len = strlen(GOOD) + 2; len < 2 * strlen(GOOD) + 1; len++) {
		write_file(GOOD "\n" GOOD, len);
		assert_string_equal(read_bad(-EBADMSG),
				    ":2: the file ends in the middle of a record");
	}
	/* The same in the middle of the file */
	write_text(GOOD "\n{\"schema\":1,\"ben\n" GOOD "\n");
	if (strncmp(read_bad(-EBADMSG), ":2: not JSON (column ", 21))
		fail_msg("%s", read_bad(-EBADMSG));
	/* Two records in one line, as after a lost line break */
	write_text(GOOD GOOD "\n");
	if (strncmp(read_bad(-EBADMSG), ":1: not JSON (column ", 21))
		fail_msg("%s", read_bad(-EBADMSG));
}

static void foreign_files(void **state)
{
	static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x8\2";
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "nr\trate\n1\t2.5\n", ":1: not JSON (" },
		{ GOOD "\nSummary: hits  150.488\n", ":2: not JSON (" },
		{ "{\"a\":1}\n", ":1: JSON, but no record of bench (it has no \"schema\")" },
		{ GOOD "\n[1,2]\n", ":2: JSON, but no record of bench (it has no \"schema\")" },
		{ "\n\n[]\n", ":3: JSON, but no record of bench (it has no \"schema\")" },
		{ "null\n", ":1: not JSON (" }, /* jansson: no array or object */
		{ "{\"schema\":3}\n",
		  ":1: a record of schema 3, but this bench reads schemas 1 and 2" },
		{ "{\"schema\":0}\n",
		  ":1: a record of schema 0, but this bench reads schemas 1 and 2" },
		{ "{\"schema\":\"1\"}\n",
		  ":1: no record of bench: its \"schema\" is no whole number" },
		{ "{\"schema\":1}\n", ":1: a record without a benchmark's name (\"bench\")" },
		{ "{\"schema\":1,\"bench\":\"\"}\n",
		  ":1: a record without a benchmark's name (\"bench\")" },
		{ "{\"schema\":1,\"bench\":\"b\"}\n", ":1: a record without \"params\"" },
		{ "{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":[]}\n",
		  ":1: a record without \"config\"" },
		{ "{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":{}}\n",
		  ":1: a record without \"env\"" },
		{ "{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":{},\"env\":{}}\n",
		  ":1: a record whose \"status\" is none of \"ok\", \"interrupted\", \"paused\" and \"failed\"" },
		{ "{\"schema\":1,\"schema\":1}\n", ":1: not JSON (" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		write_text(cases[i].text);
		if (strncmp(read_bad(-EBADMSG), cases[i].want, strlen(cases[i].want)))
			fail_msg("got '%s', want '%s'", read_bad(-EBADMSG), cases[i].want);
	}
	write_file(png, sizeof(png));
	if (strncmp(read_bad(-EBADMSG), ":1: not JSON (", 14))
		fail_msg("%s", read_bad(-EBADMSG));
}

/* What comes after "summary": of a record that is complete but for that. */
static const char *read_summary(const char *summary)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 GOOD "\n{\"schema\":1,\"bench\":\"b\",\"params\":{},\"config\":{},\"env\":{},"
		      "%s\"status\":\"ok\"}\n",
		 summary);
	write_text(text);
	return read_bad(-EBADMSG);
}

static void bad_summaries(void **state)
{
	assert_string_equal(read_summary(""),
			    ":2: a record with no \"summary\" though its status is \"ok\"");
	assert_string_equal(read_summary("\"summary\":null,"),
			    ":2: a record with no \"summary\" though its status is \"ok\"");
	assert_string_equal(read_summary("\"summary\":{\"unit\":\"M/s\"},"),
			    ":2: a record with no number \"mean\" in \"summary\"");
	assert_string_equal(read_summary("\"summary\":{\"unit\":\"M/s\",\"mean\":\"1\"},"),
			    ":2: a record with no number \"mean\" in \"summary\"");
	assert_string_equal(read_summary("\"summary\":{\"unit\":\"M/s\",\"mean\":-0.1},"),
			    ":2: a record with a negative \"mean\" in \"summary\"");
	assert_string_equal(read_summary("\"summary\":{\"mean\":1},"),
			    ":2: a record with no \"unit\" in \"summary\"");
	/* No numbers of JSON: NaN, and what is too large for a double or an integer */
	assert_non_null(strstr(read_summary("\"summary\":{\"unit\":\"M/s\",\"mean\":NaN},"),
			       ":2: not JSON ("));
	assert_non_null(strstr(read_summary("\"summary\":{\"unit\":\"M/s\",\"mean\":1e999},"),
			       ":2: not JSON ("));
	assert_non_null(strstr(
		read_summary("\"summary\":{\"unit\":\"M/s\",\"mean\":99999999999999999999},"),
		":2: not JSON ("));
}

static void bad_figures(void **state)
{
#define SUM			    "\"figure\":\"x\",\"mean\":1"
#define X(unit, kind, better, mean) RECORD_2(SUM, "{" FIGURE("x", unit, kind, better, mean) "}")
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ RECORD_2(SUM, "[]"), "without \"figures\" though its status is \"ok\"" },
		{ RECORD_2(SUM, "{}"), "whose \"summary\" names none of its figures" },
		{ RECORD_2("\"mean\":1", "{" FIGURE("x", "B", "gauge", "none", "1") "}"),
		  "whose \"summary\" names none of its figures" },
		{ RECORD_2("\"figure\":\"x\"", "{" FIGURE("x", "B", "gauge", "none", "1") "}"),
		  "with no number \"mean\" in \"summary\"" },
		{ RECORD_2(SUM, "{\"x\":1}"), "whose figure \"x\" is no object" },
		{ RECORD_2(SUM, "{" FIGURE("x", "B", "gauge", "none", "1") ",\"\":{}}"),
		  "whose figure \"\" has no name" },
		{ X("", "gauge", "none", "1"), "whose figure \"x\" has no \"unit\"" },
		{ X("B", "speed", "none", "1"),
		  "whose figure \"x\" has a \"kind\" other than \"rate\", \"gauge\", \"ratio\" or "
		  "\"time\"" },
		{ X("B", "gauge", "neither", "1"),
		  "whose figure \"x\" has a \"better\" other than \"higher\", \"lower\" or "
		  "\"none\"" },
		{ X("B", "gauge", "none", "\"1\""),
		  "whose figure \"x\" has a \"mean\" that is no number" },
		{ X("B", "gauge", "none", "-1"), "whose figure \"x\" has a negative \"mean\"" },
		{ RECORD_2(SUM,
			   "{" FIGURE("x", "B", "gauge", "none", "1") ","
								      "\"\\u001b[31m\\u20ac\":{}}"),
		  "whose figure \"?[31m\u20ac\" has no \"unit\"" },
	};
	char want[160];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(want, sizeof(want), ":1: a record %s", cases[i].want);
		write_text(cases[i].text);
		assert_string_equal(read_bad(-EBADMSG), want);
	}
}

/* ---- figures */

static struct records good;

static const json_t *read_one(const char *text)
{
	char err[256];

	write_file(text, strlen(text));
	if (records_read(path, &good, err, sizeof(err)))
		fail_msg("%s", err);
	return good.records[0];
}

static void check_figure(const json_t *record, size_t i, struct record_figure want)
{
	struct record_figure f, named;

	assert_true(record_figure(record, i, &f));
	assert_string_equal(f.name, want.name);
	assert_string_equal(f.unit, want.unit);
	assert_int_equal(f.kind, want.kind);
	assert_int_equal(f.better, want.better);
	assert_true(f.mean == want.mean || (isnan(f.mean) && isnan(want.mean)));
	assert_true(record_figure_named(record, want.name, &named));
	assert_memory_equal(&named, &f, sizeof(f));
	assert_int_equal(record_figure_named(record, NULL, &named) && !strcmp(named.name, f.name),
			 !i);
}

static void check_no_figure(const json_t *record, size_t i)
{
	struct record_figure f;

	assert_false(record_figure(record, i, &f));
	assert_false(record_figure(record, i + 1, &f));
	assert_false(record_figure_named(record, "none", &f));
	records_free(&good);
}

#define OLD(summary)                                                                   \
	"{\"schema\":1,\"bench\":\"b\",\"params\":{\"a\":1},\"config\":{},\"env\":{}," \
	"\"summary\":{" summary "},\"status\":\"ok\"}"

static void figures_of_schema_1(void **state)
{
	const json_t *r;

	r = read_one(OLD("\"report\":\"hits_drops\",\"unit\":\"M/s\",\"mean\":5,"
			 "\"drops_mean\":0,\"latency_ns\":null,\"false_hits_pct\":null"));
	check_figure(r, 0,
		     (struct record_figure){ "hits", "M/s", RECORD_RATE, RECORD_HIGHER, 5, NAN });
	check_figure(r, 1,
		     (struct record_figure){ "drops", "M/s", RECORD_RATE, RECORD_LOWER, 0, NAN });
	check_no_figure(r, 2);
	r = read_one(OLD("\"report\":\"ops\",\"unit\":\"M ops/s\",\"mean\":5,"
			 "\"drops_mean\":0,\"latency_ns\":null"));
	check_figure(r, 0,
		     (struct record_figure){ "ops", "M ops/s", RECORD_RATE, RECORD_HIGHER, 5,
					     NAN });
	check_figure(r, 1,
		     (struct record_figure){ "latency", "ns/op", RECORD_TIME, RECORD_LOWER, NAN,
					     NAN });
	check_no_figure(r, 2);
	r = read_one(OLD("\"report\":\"false_hits\",\"unit\":\"%\",\"mean\":5,"
			 "\"drops_mean\":0"));
	check_figure(r, 0,
		     (struct record_figure){ "false_positives", "%", RECORD_RATIO, RECORD_LOWER, 5,
					     NAN });
	check_no_figure(r, 1);
	/* What scripts/claims.sh makes of a rate: its deviation in percent */
	r = read_one(OLD("\"report\":\"ops\",\"unit\":\"%\",\"mean\":5,\"drops_mean\":0"));
	check_figure(r, 0,
		     (struct record_figure){ "false_positives", "%", RECORD_RATIO, RECORD_LOWER, 5,
					     NAN });
	check_no_figure(r, 1);
	/* The first summaries had no report. */
	r = read_one(OLD("\"unit\":\"M ops/s\",\"mean\":5"));
	check_figure(r, 0,
		     (struct record_figure){ "ops", "M ops/s", RECORD_RATE, RECORD_HIGHER, 5,
					     NAN });
	check_no_figure(r, 1);
}

/* Each way to write a rate or a time of an operation; what is neither stays as it is. */
static void figures_in_instructions(void **state)
{
	static const struct {
		const char *unit, *kind, *better;
		double mean;
		const char *want;
		double cost;
		enum record_kind want_kind;
		enum record_better want_better;
	} rows[] = {
		{ "M/s", "rate", "higher", 5, "insns/op", 200, RECORD_TIME, RECORD_LOWER },
		{ "M/s", "rate", "lower", 5, "insns/op", 200, RECORD_TIME, RECORD_NEITHER },
		{ "M/s", "rate", "lower", 0, "insns/op", NAN, RECORD_TIME, RECORD_NEITHER },
		{ "M ops/s", "rate", "higher", 4, "insns/op", 250, RECORD_TIME, RECORD_LOWER },
		{ "k/s", "rate", "higher", 20, "insns/op", 50000, RECORD_TIME, RECORD_LOWER },
		{ "K ops/s", "rate", "higher", 0.5, "insns/op", 2e6, RECORD_TIME, RECORD_LOWER },
		{ "ns/op", "time", "lower", 7.5, "insns/op", 7.5, RECORD_TIME, RECORD_LOWER },
		{ "us/op", "time", "lower", 7.5, "insns/op", 7500, RECORD_TIME, RECORD_LOWER },
		{ "ms/op", "time", "lower", 7.5, "insns/op", 7.5e6, RECORD_TIME, RECORD_LOWER },
		{ "us", "time", "lower", 7.5, "us", 7.5, RECORD_TIME, RECORD_LOWER },
		{ "%", "ratio", "lower", 3, "%", 3, RECORD_RATIO, RECORD_LOWER },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *r = json_pack(
			"{s:i, s:{s:s}, s:{s:s, s:s, s:f}, s:{s:{s:s, s:s, s:s, s:f}}}", "schema",
			2, "env", "clock", "instructions", "summary", "figure", "x", "unit",
			rows[i].unit, "mean", rows[i].mean, "figures", "x", "unit", rows[i].unit,
			"kind", rows[i].kind, "better", rows[i].better, "mean", rows[i].mean);

		assert_non_null(r);
		check_figure(r, 0,
			     (struct record_figure){ "x", rows[i].want, rows[i].want_kind,
						     rows[i].want_better, rows[i].cost, NAN });
		json_decref(r);
	}
}

/* The default one is not the first of the object; unknown means; members that are not known */
static void figures_of_schema_2(void **state)
{
	const json_t *r;

	r = read_one(RECORD_2(
		"\"figure\":\"hits\",\"mean\":7,\"new\":1",
		"{" FIGURE("mem", "KiB", "gauge", "lower", "12.5") "," FIGURE(
			"hits", "M/s", "rate", "higher",
			"7") "," FIGURE("share", "%", "ratio", "none",
					"null") ","
						"\"wait\":{\"unit\":\"ns\",\"kind\":\"time\",\"better\":\"lower\",\"new\":{}}}"));
	check_figure(r, 0,
		     (struct record_figure){ "hits", "M/s", RECORD_RATE, RECORD_HIGHER, 7, NAN });
	check_figure(r, 1,
		     (struct record_figure){ "mem", "KiB", RECORD_GAUGE, RECORD_LOWER, 12.5, NAN });
	check_figure(r, 2,
		     (struct record_figure){ "share", "%", RECORD_RATIO, RECORD_NEITHER, NAN,
					     NAN });
	check_figure(r, 3,
		     (struct record_figure){ "wait", "ns", RECORD_TIME, RECORD_LOWER, NAN, NAN });
	check_no_figure(r, 4);
	r = read_one(RECORD_2("\"figure\":\"x\",\"mean\":null",
			      "{" FIGURE("x", "M/s", "rate", "higher", "null") "}"));
	check_figure(r, 0,
		     (struct record_figure){ "x", "M/s", RECORD_RATE, RECORD_HIGHER, NAN, NAN });
	check_no_figure(r, 1);
}

static void defaults(void **state)
{
	const json_t *r, *params;

	r = read_one(RECORD_2("\"figure\":\"x\",\"mean\":1",
			      "{" FIGURE("x", "M/s", "rate", "higher", "1") "}"));
	params = json_object_get(r, "params");
	assert_true(record_is_default(r, "a", json_object_get(params, "a")));
	assert_false(record_is_default(r, "b", json_object_get(params, "b")));
	assert_false(record_is_default(r, "c", json_object_get(params, "a")));
	records_free(&good);
	r = read_one(OLD("\"unit\":\"M/s\",\"mean\":5"));
	params = json_object_get(r, "params");
	assert_false(record_is_default(r, "a", json_object_get(params, "a")));
	records_free(&good);
}

static void messages_are_printable(void **state)
{
	const char *err;

	write_text("{\"\x1b[31m\xff");
	for (err = read_bad(-EBADMSG); *err; err++)
		if (*err < ' ' || *err > '~')
			fail_msg("byte %#x", (unsigned char)*err);
}

static void long_lines(void **state)
{
	const size_t len = 10 << 20;
	char *text = test_malloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\n';
	write_file(text, len + 1);
	if (strncmp(read_bad(-EBADMSG), ":1: not JSON (column ", 21))
		fail_msg("%s", read_bad(-EBADMSG));
	/* A good record in as long a line */
	memset(text, ' ', len);
	memcpy(text + len - strlen(GOOD), GOOD, strlen(GOOD));
	write_file(text, len + 1);
	assert_int_equal(read_good(), 1);
	test_free(text);
}

static void no_such_file(void **state)
{
	struct records r;
	char err[256];

	assert_int_equal(records_read("/nonexistent/x", &r, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexistent/x: cannot open it: No such file or directory");
	assert_int_equal(records_read("/tmp", &r, err, sizeof(err)), -EISDIR);
	assert_string_equal(err, "/tmp: cannot read it: Is a directory");
}

static void short_message_buffer(void **state)
{
	struct records r;
	char err[8];

	assert_int_equal(records_read("/nonexistent/x", &r, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "/nonexi");
}

/* ---- writing */

static int open_file(int flags)
{
	int fd = open(path, flags | O_APPEND | O_CREAT, 0600);

	assert_true(fd >= 0);
	return fd;
}

static char *file_text(void)
{
	static char text[4096];
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void appends_one_line(void **state)
{
	json_t *record = json_pack("{s:s, s:f, s:f, s:n}", "z", "a\nb \xc2\xb1", "mean", 150.488,
				   "third", 1 / 3.0, "a");
	int fd;

	unlink(path);
	fd = open_file(O_WRONLY);
	assert_int_equal(record_append(fd, record), 0);
	assert_int_equal(record_append(fd, record), 0);
	close(fd);
	json_decref(record);
#define LINE "{\"z\":\"a\\nb \xc2\xb1\",\"mean\":150.488,\"third\":0.333333333333333,\"a\":null}\n"
	assert_string_equal(file_text(), LINE LINE);
}

/* What is read and appended again is the same text: no digit creeps in. */
static void numbers_survive(void **state)
{
	char first[4096];
	json_t *record;
	double v = 0.1;
	int fd, i;

	unlink(path);
	fd = open_file(O_WRONLY);
	record = json_array();
	for (i = 0; i < 100; i++, v *= 1.7320508)
		json_array_append_new(record, json_real(v));
	json_array_append_new(record, json_integer(INT64_MAX));
	assert_int_equal(record_append(fd, record), 0);
	json_decref(record);
	strcpy(first, file_text());

	record = json_loads(first, 0, NULL);
	assert_non_null(record);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(record_append(fd, record), 0);
	json_decref(record);
	close(fd);
	assert_string_equal(file_text(), first);
}

static void begins_a_line_of_its_own(void **state)
{
	json_t *record = json_loads(GOOD, 0, NULL);
	int fd;

	write_text(GOOD);
	fd = open_file(O_RDWR);
	assert_int_equal(record_append(fd, record), 0);
	assert_int_equal(record_append(fd, record), 0);
	close(fd);
	json_decref(record);
	assert_string_equal(file_text(), GOOD "\n" GOOD "\n" GOOD "\n");
}

static void failures_are_told(void **state)
{
	json_t *record = json_loads(GOOD, 0, NULL);
	int fd, pipe_fds[2];

	write_text(GOOD "\n");
	fd = open(path, O_RDONLY);
	assert_int_equal(record_append(fd, record), -EBADF);
	close(fd);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(record_append(fd, record), -ENOSPC);
	close(fd);
	/* Standard output may be a pipe. */
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(record_append(pipe_fds[1], record), 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_int_equal(record_append(STDOUT_FILENO, json_true()), -EINVAL);
	json_decref(record);
}

/* A full disk: some of the record is written. In a child, for the limit. */
static void short_write(void **state)
{
	json_t *record = json_loads(GOOD, 0, NULL);
	struct rlimit limit = { 64, RLIM_INFINITY };
	int fd, status;
	pid_t pid;

	unlink(path);
	fd = open_file(O_RDWR);
	pid = fork();
	if (!pid) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(record_append(fd, record) == -EFBIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* No torn line is left behind. */
	assert_string_equal(file_text(), "");
	assert_int_equal(record_append(fd, record), 0);
	assert_string_equal(file_text(), GOOD "\n");
	close(fd);
	json_decref(record);
}

/* What a writer that was killed has left. */
static void torn_lines_are_cut_off(void **state)
{
	static const struct {
		const char *before, *after;
		int ret;
	} cases[] = {
		{ "", "", 0 },
		{ GOOD "\n", GOOD "\n", 0 },
		{ GOOD "\n" GOOD, GOOD "\n" GOOD, 0 }, /* an editor's */
		{ GOOD "\n{\"schema\":2,\"ben", GOOD "\n", 0 },
		{ "{\"schema\":2,\"ben", "", 0 },
		{ "my notes", "my notes", -EBADMSG },
	};
	bool cut;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		write_text(cases[i].before);
		fd = open_file(O_RDWR);
		assert_int_equal(record_cut_torn(fd, &cut), cases[i].ret);
		assert_int_equal(cut, strcmp(cases[i].before, cases[i].after) != 0);
		close(fd);
		assert_string_equal(file_text(), cases[i].after);
	}
}

static void on_alarm(int sig)
{
}

/* What fits into the pipe is written when a signal comes, while nobody reads; then the rest is. */
static void signals_while_a_pipe_is_full(void **state)
{
	const struct sigaction alarm = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = {};
	const struct timespec a_while = { .tv_nsec = 200 * 1000 * 1000 };
	json_t *record = json_loads(GOOD, 0, NULL), *back;
	struct sigaction before;
	int pipe_fds[2], status;
	char *pad;
	pid_t pid;

	pad = test_malloc(300001);
	memset(pad, 'x', 300000);
	pad[300000] = '\0';
	json_object_set_new(record, "pad", json_string(pad));
	test_free(pad);
	assert_int_equal(pipe(pipe_fds), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(pipe_fds[1]);
		nanosleep(&a_while, NULL);
		back = json_loadfd(pipe_fds[0], JSON_DISABLE_EOF_CHECK, NULL);
		_exit(json_equal(back, record) ? 0 : 1);
	}
	close(pipe_fds[0]);
	sigaction(SIGALRM, &alarm, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(record_append(pipe_fds[1], record), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close(pipe_fds[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	json_decref(record);
}

#define WRITERS 8
#define LINES	200

static void writers_do_not_mix(void **state)
{
	size_t seen[WRITERS] = {}, i;
	char err[256], *pad;
	struct records r;
	int w, status, fd;
	json_t *record;

	unlink(path);
	fflush(stdout);
	pad = test_malloc(20001);
	for (w = 0; w < WRITERS; w++) {
		if (fork())
			continue;
		fd = open_file(O_RDWR);
		record = json_loads(GOOD, 0, NULL);
		/* Over a page, as real records are, and of different lengths */
		memset(pad, 'a' + w, 20000);
		pad[5000 + 2000 * w] = '\0';
		json_object_set_new(record, "pad", json_string(pad));
		json_object_set_new(record, "writer", json_integer(w));
		status = 0;
		for (i = 0; i < LINES && !status; i++)
			status = record_append(fd, record);
		_exit(!!status);
	}
	for (w = 0; w < WRITERS; w++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	if (records_read(path, &r, err, sizeof(err)))
		fail_msg("%s", err);
	assert_int_equal(r.cnt, WRITERS * LINES);
	for (i = 0; i < r.cnt; i++) {
		const char *text = json_string_value(json_object_get(r.records[i], "pad"));

		w = json_integer_value(json_object_get(r.records[i], "writer"));
		assert_in_range(w, 0, WRITERS - 1);
		assert_int_equal(strlen(text), 5000 + 2000 * w);
		memset(pad, 'a' + w, 20000);
		assert_int_equal(strspn(text, (char[]){ 'a' + w, 0 }), strlen(text));
		seen[w]++;
	}
	for (w = 0; w < WRITERS; w++)
		assert_int_equal(seen[w], LINES);
	records_free(&r);
	test_free(pad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_in_order),
		cmocka_unit_test(forgives_what_editors_do),
		cmocka_unit_test(failed_runs_need_no_summary),
		cmocka_unit_test(more_records_than_room_at_first),
		cmocka_unit_test(empty_files),
		cmocka_unit_test(truncated_files),
		cmocka_unit_test(foreign_files),
		cmocka_unit_test(bad_summaries),
		cmocka_unit_test(bad_figures),
		cmocka_unit_test(figures_of_schema_1),
		cmocka_unit_test(figures_in_instructions),
		cmocka_unit_test(figures_of_schema_2),
		cmocka_unit_test(defaults),
		cmocka_unit_test(messages_are_printable),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(no_such_file),
		cmocka_unit_test(short_message_buffer),
		cmocka_unit_test(appends_one_line),
		cmocka_unit_test(numbers_survive),
		cmocka_unit_test(begins_a_line_of_its_own),
		cmocka_unit_test(failures_are_told),
		cmocka_unit_test(short_write),
		cmocka_unit_test(torn_lines_are_cut_off),
		cmocka_unit_test(signals_while_a_pipe_is_full),
		cmocka_unit_test(writers_do_not_mix),
	};

	return cmocka_run_group_tests_name("record", tests, make_dir, remove_dir);
}

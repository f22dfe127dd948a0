// SPDX-License-Identifier: GPL-2.0
#include "lib/record.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/text.h"
#include "lib/util.h"

/* Objects that every record has, and that may be looked into without a further check. */
static const char *const sections[] = { "params", "config", "env" };

static const char *const statuses[] = { "ok", "interrupted", "paused", "failed" };

/* A file that is no record at all may hold anything: none of it may reach a terminal. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

/* ---- figures */

static const char *const kinds[] = {
	[RECORD_RATE] = "rate",
	[RECORD_GAUGE] = "gauge",
	[RECORD_RATIO] = "ratio",
	[RECORD_TIME] = "time",
};

static const char *const betters[] = {
	[RECORD_HIGHER] = "higher",
	[RECORD_LOWER] = "lower",
	[RECORD_NEITHER] = "none",
};

/* The place of @value in @words; -1: it is none of them. */
static int find_word(const json_t *value, const char *const *words, size_t nr)
{
	const char *s = json_string_value(value);
	size_t i;

	for (i = 0; s && i < nr; i++)
		if (!strcmp(s, words[i]))
			return i;
	return -1;
}

/* What a member of the summary of schema 1 stands for. */
struct old_figure {
	const char *member;
	struct record_figure figure; /* unit NULL: the summary's own */
};

static const struct old_report {
	const char *name;
	struct old_figure figures[2];
} old_reports[] = {
	{ "hits_drops",
	  { { "mean", { "hits", NULL, RECORD_RATE, RECORD_HIGHER, NAN, NAN } },
	    { "drops_mean", { "drops", "M/s", RECORD_RATE, RECORD_LOWER, NAN, NAN } } } },
	{ "ops",
	  { { "mean", { "ops", NULL, RECORD_RATE, RECORD_HIGHER, NAN, NAN } },
	    { "latency_ns", { "latency", "ns/op", RECORD_TIME, RECORD_LOWER, NAN, NAN } } } },
	{ "false_hits",
	  { { "mean", { "false_positives", NULL, RECORD_RATIO, RECORD_LOWER, NAN, NAN } } } },
};

/* By the unit first: who writes percentages into a record by hand leaves the rest as it is. */
static const struct old_report *find_old_report(const json_t *summary)
{
	const char *report = json_string_value(json_object_get(summary, "report"));
	const char *unit = json_string_value(json_object_get(summary, "unit"));
	size_t i;

	if (unit && !strcmp(unit, "%"))
		return &old_reports[2];
	for (i = 0; report && i < ARRAY_SIZE(old_reports); i++)
		if (!strcmp(report, old_reports[i].name))
			return &old_reports[i];
	return &old_reports[unit && !strcmp(unit, "M ops/s")];
}

/* A mean below 0 is none: what is compared are ratios. */
static double mean_of(const json_t *mean)
{
	return json_is_number(mean) && json_number_value(mean) >= 0 ? json_number_value(mean) : NAN;
}

static double spread_of(const json_t *stats)
{
	double low = mean_of(json_object_get(stats, "ci95_low"));
	double high = mean_of(json_object_get(stats, "ci95_high"));

	return (high - low) / 2 / mean_of(json_object_get(stats, "mean"));
}

static bool old_figure(const json_t *summary, size_t i, struct record_figure *out)
{
	const struct old_report *report = find_old_report(summary);
	const struct old_figure *old;
	const json_t *mean;

	if (i >= ARRAY_SIZE(report->figures) || !report->figures[i].member)
		return false;
	old = &report->figures[i];
	mean = json_object_get(summary, old->member);
	if (!mean)
		return false;
	*out = old->figure;
	if (!out->unit)
		out->unit = json_string_value(json_object_get(summary, "unit"));
	out->mean = mean_of(mean);
	out->spread = i ? NAN : spread_of(summary);
	return out->unit;
}

static bool figure_of(const json_t *summary, const char *name, const json_t *value,
		      struct record_figure *out)
{
	const char *first = json_string_value(json_object_get(summary, "figure"));
	const json_t *from = first && !strcmp(name, first) ? summary : value;
	int kind = find_word(json_object_get(value, "kind"), kinds, ARRAY_SIZE(kinds));
	int better = find_word(json_object_get(value, "better"), betters, ARRAY_SIZE(betters));

	*out = (struct record_figure){
		.name = name,
		.unit = json_string_value(json_object_get(from, "unit")),
		.kind = kind,
		.better = better,
		.mean = mean_of(json_object_get(from, "mean")),
		.spread = spread_of(from),
	};
	return out->unit && kind >= 0 && better >= 0;
}

bool record_is_ok(const json_t *record)
{
	const char *status = json_string_value(json_object_get(record, "status"));

	return status && !strcmp(status, "ok");
}

static bool find_figure(const json_t *record, size_t i, struct record_figure *out)
{
	const json_t *summary = json_object_get(record, "summary");
	const json_t *figures = json_object_get(record, "figures");
	const char *first = json_string_value(json_object_get(summary, "figure")), *name;
	json_t *value;

	if (json_integer_value(json_object_get(record, "schema")) == 1)
		return old_figure(summary, i, out);
	if (!i)
		return first && figure_of(summary, first, json_object_get(figures, first), out);
	json_object_foreach((json_t *)figures, name, value)
		if ((!first || strcmp(name, first)) && !--i)
			return figure_of(summary, name, value, out);
	return false;
}

const char *record_clock(const json_t *record)
{
	const char *clock =
		json_string_value(json_object_get(json_object_get(record, "env"), "clock"));

	return clock ? clock : "time";
}

bool record_counts_instructions(const json_t *record)
{
	return !strcmp(record_clock(record), "instructions");
}

/* A nanosecond is an instruction: what is a rate else is a cost here, which repeats exactly. */
static void make_cost(struct record_figure *f)
{
	/* @ns: per operation, of a figure of 1 in this unit */
	static const struct {
		enum record_kind kind;
		const char *unit;
		double ns;
	} costs[] = {
		{ RECORD_TIME, "ns/op", 1 },	 { RECORD_TIME, "us/op", 1e3 },
		{ RECORD_TIME, "ms/op", 1e6 },	 { RECORD_RATE, "M/s", 1e3 },
		{ RECORD_RATE, "M ops/s", 1e3 }, { RECORD_RATE, "k/s", 1e6 },
		{ RECORD_RATE, "K ops/s", 1e6 },
	};
	size_t i = 0;

	while (i < ARRAY_SIZE(costs) &&
	       (f->kind != costs[i].kind || strcmp(f->unit, costs[i].unit)))
		i++;
	if (i == ARRAY_SIZE(costs))
		return;
	f->unit = "insns/op";
	if (f->kind == RECORD_TIME) {
		f->mean *= costs[i].ns;
		return;
	}
	f->kind = RECORD_TIME;
	f->better = f->better == RECORD_HIGHER ? RECORD_LOWER : RECORD_NEITHER;
	f->mean = f->mean > 0 ? costs[i].ns / f->mean : NAN;
}

bool record_figure(const json_t *record, size_t i, struct record_figure *out)
{
	bool found = find_figure(record, i, out);

	if (found && record_counts_instructions(record))
		make_cost(out);
	return found;
}

bool record_figure_named(const json_t *record, const char *name, struct record_figure *out)
{
	size_t i;

	for (i = 0; record_figure(record, i, out); i++)
		if (!name || !strcmp(name, out->name))
			return true;
	return false;
}

bool record_is_default(const json_t *record, const char *name, const json_t *value)
{
	const json_t *def = json_object_get(json_object_get(record, "defaults"), name);

	return def && json_equal(def, value);
}

/* ---- what cannot be used */

static bool has_unit(const json_t *object)
{
	const char *unit = json_string_value(json_object_get(object, "unit"));

	return unit && *unit;
}

static bool is_negative(const json_t *mean)
{
	return json_is_number(mean) && json_number_value(mean) < 0;
}

/* What keeps @summary from being one with a result that can be compared; NULL: nothing. */
static const char *summary_fault(const json_t *summary, bool may_be_unknown)
{
	const json_t *mean = json_object_get(summary, "mean");

	if (!json_is_object(summary))
		return "no \"summary\" though its status is \"ok\"";
	if (!json_is_number(mean) && !(may_be_unknown && json_is_null(mean)))
		return "no number \"mean\" in \"summary\"";
	if (is_negative(mean))
		return "a negative \"mean\" in \"summary\"";
	if (!has_unit(summary))
		return "no \"unit\" in \"summary\"";
	return NULL;
}

static const char *figure_fault(const json_t *figure)
{
	const json_t *mean = json_object_get(figure, "mean");

	if (!json_is_object(figure))
		return "is no object";
	if (!has_unit(figure))
		return "has no \"unit\"";
	if (find_word(json_object_get(figure, "kind"), kinds, ARRAY_SIZE(kinds)) < 0)
		return "has a \"kind\" other than \"rate\", \"gauge\", \"ratio\" or \"time\"";
	if (find_word(json_object_get(figure, "better"), betters, ARRAY_SIZE(betters)) < 0)
		return "has a \"better\" other than \"higher\", \"lower\" or \"none\"";
	if (mean && !json_is_null(mean) && !json_is_number(mean))
		return "has a \"mean\" that is no number";
	if (is_negative(mean))
		return "has a negative \"mean\"";
	return NULL;
}

static void find_figures_fault(const json_t *record, char *fault, size_t size)
{
	const char *first =
		json_string_value(json_object_get(json_object_get(record, "summary"), "figure"));
	const json_t *figures = json_object_get(record, "figures");
	const char *name, *text;
	json_t *value;
	char *shown;

	if (!json_is_object(figures)) {
		snprintf(fault, size, "a record without \"figures\" though its status is \"ok\"");
		return;
	}
	if (!first || !json_object_get(figures, first)) {
		snprintf(fault, size, "a record whose \"summary\" names none of its figures");
		return;
	}
	json_object_foreach((json_t *)figures, name, value) {
		text = *name ? figure_fault(value) : "has no name";
		if (!text)
			continue;
		shown = text_shortened(name, 40);
		snprintf(fault, size, "a record whose figure \"%s\" %s", shown ? shown : "?", text);
		free(shown);
		return;
	}
}

static void find_result_fault(const json_t *record, char *fault, size_t size)
{
	bool old = json_integer_value(json_object_get(record, "schema")) == 1;
	const char *summary = summary_fault(json_object_get(record, "summary"), !old);

	if (summary)
		snprintf(fault, size, "a record with %s", summary);
	else if (!old)
		find_figures_fault(record, fault, size);
}

/* Why @record cannot be used, in words for the user; "": it can. */
static void find_fault(const json_t *record, char *fault, size_t size)
{
	const json_t *schema = json_object_get(record, "schema");
	const char *bench = json_string_value(json_object_get(record, "bench"));
	size_t i;

	fault[0] = '\0';
	if (!json_is_object(record) || !schema) {
		snprintf(fault, size, "JSON, but no record of bench (it has no \"schema\")");
		return;
	}
	if (!json_is_integer(schema)) {
		snprintf(fault, size, "no record of bench: its \"schema\" is no whole number");
		return;
	}
	if (json_integer_value(schema) < 1 || json_integer_value(schema) > RECORD_SCHEMA) {
		snprintf(fault, size,
			 "a record of schema %" JSON_INTEGER_FORMAT
			 ", but this bench reads schemas 1 and %d",
			 json_integer_value(schema), RECORD_SCHEMA);
		return;
	}
	if (!bench || !*bench) {
		snprintf(fault, size, "a record without a benchmark's name (\"bench\")");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!json_is_object(json_object_get(record, sections[i]))) {
			snprintf(fault, size, "a record without \"%s\"", sections[i]);
			return;
		}
	}
	if (find_word(json_object_get(record, "status"), statuses, ARRAY_SIZE(statuses)) < 0)
		snprintf(
			fault, size,
			"a record whose \"status\" is none of \"ok\", \"interrupted\", \"paused\" and \"failed\"");
	else if (record_is_ok(record))
		find_result_fault(record, fault, size);
}

/* ---- reading */

static bool is_blank(const char *line, size_t len)
{
	return strspn(line, " \t\r\n") == len;
}

/* Was the file cut short, by a full disk, say? Its last line begins as a record, but has no end. */
static bool is_cut_short(const char *line, size_t len, bool last)
{
	return last && line[len - 1] != '\n' && line[0] == '{' && (len == 1 || line[1] == '"');
}

/*
 * One line to one record; NULL with the reason in @fault. What jansson says of a line that is no
 * JSON names a position within that line; the line number is ours to say.
 */
static json_t *parse_line(const char *line, size_t len, bool last, char *fault, size_t size)
{
	json_error_t error;
	json_t *record;

	record = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
	if (!record) {
		make_printable(error.text);
		if (is_cut_short(line, len, last))
			snprintf(fault, size, "the file ends in the middle of a record");
		else
			snprintf(fault, size, "not JSON (column %d: %s)", error.column, error.text);
		return NULL;
	}
	find_fault(record, fault, size);
	if (fault[0]) {
		json_decref(record);
		return NULL;
	}
	return record;
}

static int add_record(struct records *r, size_t *room, json_t *record)
{
	json_t **grown;

	if (r->cnt == *room) {
		*room = *room ? 2 * *room : 64;
		grown = realloc(r->records, *room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->records = grown;
	}
	r->records[r->cnt++] = record;
	return 0;
}

int records_read(const char *path, struct records *out, char *err, size_t err_size)
{
	size_t room = 0, line_room = 0, nr = 0;
	struct records r = {};
	char *line = NULL, fault[320];
	json_t *record;
	ssize_t len;
	int ret = 0, c;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return text_fail(err, err_size, -errno, "%s: cannot open it: %s", path,
				 strerror(errno));
	while (!ret) {
		errno = 0;
		len = getline(&line, &line_room, f);
		if (len < 0)
			break;
		nr++;
		if (is_blank(line, len))
			continue;
		c = getc(f);
		if (c != EOF)
			ungetc(c, f);
		record = parse_line(line, len, c == EOF, fault, sizeof(fault));
		if (!record) {
			ret = text_fail(err, err_size, -EBADMSG, "%s:%zu: %s", path, nr, fault);
			break;
		}
		ret = add_record(&r, &room, record);
		if (ret) {
			json_decref(record);
			text_fail(err, err_size, ret, "%s:%zu: %s", path, nr, strerror(-ret));
		}
	}
	/* getline() ends as well where it lacks memory, and then without ferror(). */
	if (!ret && (ferror(f) || !feof(f))) {
		ret = errno ? -errno : -EIO;
		text_fail(err, err_size, ret, "%s: cannot read it: %s", path, strerror(-ret));
	}
	if (!ret && !r.cnt)
		ret = text_fail(err, err_size, -ENODATA, "%s: there is no record in it", path);
	free(line);
	fclose(f);
	if (ret)
		records_free(&r);
	else
		*out = r;
	return ret;
}

void records_free(struct records *r)
{
	size_t i;

	for (i = 0; i < r->cnt; i++)
		json_decref(r->records[i]);
	free(r->records);
	memset(r, 0, sizeof(*r));
}

/* ---- writing */

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/*
 * Does the file end in the middle of a line? An editor may have left it so, and our record would
 * become part of that line. Known only where @fd may be read from. Another writer may be at work:
 * then the answer is wrong, and an empty line comes in between, which readers skip.
 */
static bool ends_within_line(int fd)
{
	struct stat st;
	char last;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 &&
	       pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n';
}

/*
 * A part of a record was written: takes its @done bytes back, so that no torn line stays. Where
 * another writer has appended since, ends the line at least. Returns why there was no room, as
 * -errno.
 */
static int take_back(int fd, const char *rest, size_t len, size_t done)
{
	off_t end = lseek(fd, 0, SEEK_CUR);
	struct stat st;
	int err;

	/* A short write does not say why it was: the next one does. */
	err = write(fd, rest, len) < 0 ? -errno : -EIO;
	if (end < 0 || fstat(fd, &st) || st.st_size != end || ftruncate(fd, end - done)) {
		if (write(fd, "\n", 1) < 0)
			return err;
	}
	return err;
}

int record_cut_torn(int fd, bool *cut)
{
	struct stat st;
	char *text, *lf;
	json_t *record;
	size_t begin;
	int err = 0;

	*cut = false;
	if (!ends_within_line(fd) || fstat(fd, &st))
		return 0;
	text = malloc(st.st_size);
	if (!text)
		return -ENOMEM;
	if (pread(fd, text, st.st_size, 0) != st.st_size) {
		free(text);
		return -EIO;
	}
	lf = memrchr(text, '\n', st.st_size);
	begin = lf ? lf + 1 - text : 0;
	record = json_loadb(text + begin, st.st_size - begin, 0, NULL);
	if (!record && is_cut_short(text + begin, st.st_size - begin, true)) {
		*cut = true;
		err = ftruncate(fd, begin) ? -errno : 0;
	} else if (!record) {
		err = -EBADMSG;
	}
	json_decref(record);
	free(text);
	return err;
}

int record_append(int fd, const json_t *record)
{
	/*
	 * 15 digits survive the way to a double and back, and a reader sees 150.488; with the 17
	 * that keep every bit it would be 150.48799999999999. No count of time is that exact.
	 */
	const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
	size_t len, start, done = 0;
	char *text;
	ssize_t n;
	int ret;

	len = json_dumpb(record, NULL, 0, flags);
	if (!len)
		return -EINVAL;
	text = malloc(len + 2);
	if (!text)
		return -ENOMEM;
	start = ends_within_line(fd);
	if (start)
		text[0] = '\n';
	if (json_dumpb(record, text + start, len, flags) != len) {
		free(text);
		return -EINVAL;
	}
	len += start;
	text[len++] = '\n';
	do {
		n = write(fd, text + done, len - done);
		done += n > 0 ? n : 0;
		/*
		 * A signal ends the wait for a full pipe, after a part; a file has no room for
		 * more.
		 */
	} while ((n < 0 && errno == EINTR) || (n > 0 && done < len && !is_file(fd)));
	ret = n < 0 ? -errno : 0;
	if (done && done < len)
		ret = take_back(fd, text + done, len - done, done);
	free(text);
	return ret;
}

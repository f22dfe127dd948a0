// SPDX-License-Identifier: GPL-2.0
#include "lib/record.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Objects that every record has, and that may be looked into without a further check. */
static const char *const sections[] = { "params", "config", "env" };

static const char *const statuses[] = { "ok", "interrupted", "failed" };

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static int __attribute__((format(printf, 4, 5)))
say(char *err, size_t err_size, int ret, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(err, err_size, fmt, va);
	va_end(va);
	return ret;
}

/* A file that is no record at all may hold anything: none of it may reach a terminal. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

static bool is_status(const char *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++)
		if (s && !strcmp(s, statuses[i]))
			return true;
	return false;
}

/* What keeps @summary from being one with a result that can be compared; NULL: nothing. */
static const char *summary_fault(const json_t *summary)
{
	const json_t *mean = json_object_get(summary, "mean");
	const char *unit = json_string_value(json_object_get(summary, "unit"));

	if (!json_is_object(summary))
		return "no \"summary\" though its status is \"ok\"";
	if (!json_is_number(mean))
		return "no number \"mean\" in \"summary\"";
	if (json_number_value(mean) < 0)
		return "a negative \"mean\" in \"summary\"";
	if (!unit || !*unit)
		return "no \"unit\" in \"summary\"";
	return NULL;
}

/* Why @record cannot be used, in words for the user; "": it can. */
static void find_fault(const json_t *record, char *fault, size_t size)
{
	const json_t *schema = json_object_get(record, "schema");
	const char *bench = json_string_value(json_object_get(record, "bench"));
	const char *status = json_string_value(json_object_get(record, "status"));
	const char *summary;
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
	if (json_integer_value(schema) != RECORD_SCHEMA) {
		snprintf(fault, size,
			 "a record of schema %" JSON_INTEGER_FORMAT
			 ", but this bench reads schema %d only",
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
	if (!is_status(status)) {
		snprintf(fault, size,
			 "a record whose \"status\" is not \"ok\", \"interrupted\" or \"failed\"");
		return;
	}
	if (strcmp(status, "ok"))
		return;
	summary = summary_fault(json_object_get(record, "summary"));
	if (summary)
		snprintf(fault, size, "a record with %s", summary);
}

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
		return say(err, err_size, -errno, "%s: cannot open it: %s", path, strerror(errno));
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
			ret = say(err, err_size, -EBADMSG, "%s:%zu: %s", path, nr, fault);
			break;
		}
		ret = add_record(&r, &room, record);
		if (ret) {
			json_decref(record);
			say(err, err_size, ret, "%s:%zu: %s", path, nr, strerror(-ret));
		}
	}
	/* getline() ends as well where it lacks memory, and then without ferror(). */
	if (!ret && (ferror(f) || !feof(f))) {
		ret = errno ? -errno : -EIO;
		say(err, err_size, ret, "%s: cannot read it: %s", path, strerror(-ret));
	}
	if (!ret && !r.cnt)
		ret = say(err, err_size, -ENODATA, "%s: there is no record in it", path);
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
		/* A signal ends the wait for a full pipe, after a part; a file has no room for more. */
	} while ((n < 0 && errno == EINTR) || (n > 0 && done < len && !is_file(fd)));
	ret = n < 0 ? -errno : 0;
	if (n >= 0 && done < len) {
		/*
		 * The rest is lost, but the next record shall not become part of this line. A short
		 * write does not say why it was: on a full disk this one does.
		 */
		n = write(fd, "\n", 1);
		ret = n < 0 ? -errno : -EIO;
	}
	free(text);
	return ret;
}

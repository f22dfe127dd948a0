// SPDX-License-Identifier: GPL-2.0
/* The reader of records: any bytes as a file of `bench -C`. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/record.h"
#include "lib/util.h"

/* The message is one line for the user, and begins with the name of the file. */
static void check_refusal(int ret, const char *path, const char *err)
{
	fuzz_check(ret == -EBADMSG || ret == -ENODATA, "records_read() returns %d: %s", ret, err);
	fuzz_check(!strncmp(err, path, strlen(path)) && err[strlen(path)] == ':',
		   "no file named in: %s", err);
	fuzz_check(!strchr(err, '\n'), "several lines: %s", err);
	fuzz_check_text("refusal", err, 0);
}

/* What all who use records take for granted: see record.schema.json. */
static void check_record(const json_t *record)
{
	static const char *const sections[] = { "params", "config", "env" };
	const char *bench = json_string_value(json_object_get(record, "bench"));
	const char *status = json_string_value(json_object_get(record, "status"));
	const json_int_t schema = json_integer_value(json_object_get(record, "schema"));
	struct record_figure f, named;
	size_t i;

	fuzz_check(schema >= 1 && schema <= RECORD_SCHEMA, "a record of another schema");
	fuzz_check(bench && *bench, "a record of no benchmark");
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		fuzz_check(json_is_object(json_object_get(record, sections[i])),
			   "a record without %s", sections[i]);
	fuzz_check(status, "a record without a status");
	if (!strcmp(status, "failed") || !strcmp(status, "interrupted"))
		return;
	fuzz_check(!strcmp(status, "ok"), "a record with status %s", status);
	for (i = 0; record_figure(record, i, &f); i++) {
		fuzz_check(*f.name && *f.unit, "a figure without a name or a unit");
		fuzz_check(f.mean >= 0 || (isnan(f.mean) && (i || schema > 1)), "a mean of %g",
			   f.mean);
		fuzz_check(record_figure_named(record, f.name, &named) && named.unit == f.unit,
			   "no figure %s", f.name);
	}
	fuzz_check(i, "a record without a figure");
	fuzz_check(schema == 1 || i == json_object_size(json_object_get(record, "figures")),
		   "%zu figures", i);
}

/* The file that `bench -o` would write, as text to be freed. */
static char *written(const struct records *r)
{
	int fd = open(fuzz_file(1, "", 0), O_RDWR | O_APPEND);
	size_t i, lines = 0;
	char *text, *c;
	off_t size;

	fuzz_check(fd >= 0, "cannot open a file in memory");
	for (i = 0; i < r->cnt; i++)
		fuzz_check(!record_append(fd, r->records[i]), "record %zu cannot be written", i);
	size = lseek(fd, 0, SEEK_END);
	text = malloc(size + 1);
	fuzz_check(text && pread(fd, text, size, 0) == size, "cannot read a file in memory");
	text[size] = '\0';
	close(fd);
	for (c = text; *c; c++)
		lines += *c == '\n';
	fuzz_check(lines == r->cnt && c[-1] == '\n', "%zu records became %zu lines: %s", r->cnt,
		   lines, text);
	return text;
}

/* With 15 digits, as they are written, the largest numbers may become infinite. */
static bool is_overflow(const char *err)
{
	return strstr(err, "overflow");
}

/* What was read can be written, read again, and is written as the same text then. */
static void check_written(const struct records *r)
{
	char *text = written(r), *again, err[512];
	struct records reread;
	int ret;

	ret = records_read(fuzz_file(1, text, strlen(text)), &reread, err, sizeof(err));
	if (ret) {
		fuzz_check(is_overflow(err), "a record that was written cannot be read: %s", err);
	} else {
		again = written(&reread);
		fuzz_check(!strcmp(text, again), "was written as\n%sthen as\n%s", text, again);
		free(again);
		records_free(&reread);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(0, data, size);
	struct records r;
	char err[512];
	size_t i;
	int ret;

	memset(err, 'x', sizeof(err));
	ret = records_read(path, &r, err, sizeof(err));
	if (ret) {
		check_refusal(ret, path, err);
		return 0;
	}
	fuzz_check(r.cnt, "success, and no record");
	for (i = 0; i < r.cnt; i++)
		check_record(r.records[i]);
	check_written(&r);
	records_free(&r);
	return 0;
}

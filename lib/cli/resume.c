// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "lib/cli/resume.h"

/* Options may be cut short as long as they are no other's beginning. */
static bool is_resume(const char *word)
{
	return strlen(word) >= strlen("--re") && !strncmp("--resume", word, strlen(word));
}

/* The next word from *@i on that counts; NULL: there is none. */
static const char *next_word(const json_t *argv, size_t *i)
{
	const char *word;

	while (*i < json_array_size(argv)) {
		word = json_string_value(json_array_get(argv, (*i)++));
		if (!word || !is_resume(word))
			return word ? word : "";
	}
	return NULL;
}

/* The program itself may have another name, or be called from elsewhere. */
static bool is_same_command(const json_t *recorded, char *const *argv)
{
	const char *word;
	size_t i = 1;

	for (argv++; *argv; argv++) {
		if (is_resume(*argv))
			continue;
		word = next_word(recorded, &i);
		/* What is no UTF-8 is recorded as "?". */
		if (!word || (strcmp(word, *argv) && strcmp(word, "?")))
			return false;
	}
	return !next_word(recorded, &i);
}

/* Is @record one of this command, on this kernel? 0, or -EINVAL with the reason. */
static int check_record(const char *path, const json_t *record, char *const *argv,
			struct bench_err *err)
{
	const char *release = json_string_value(
		json_object_get(json_object_get(record, "env"), "kernel_release"));
	struct utsname here;

	if (json_integer_value(json_object_get(record, "schema")) != RECORD_SCHEMA)
		return bench_refused(err, "--resume: '%s' was written by another version of bench",
				     path);
	if (!is_same_command(json_object_get(record, "argv"), argv))
		return bench_refused(
			err, "--resume: '%s' was written by a command with other arguments", path);
	uname(&here);
	if (!release || strcmp(release, here.release))
		return bench_refused(err, "--resume: '%s' is of Linux %s, and this is %s", path,
				     release ? release : "unknown", here.release);
	return 0;
}

int resume_read(const char *path, int fd, char *const *argv, struct records *out,
		struct bench_err *err)
{
	struct stat st;
	char text[512];
	size_t i;
	int ret;

	*out = (struct records){};
	if (!strcmp(path, "-"))
		return bench_refused(err, "--resume: requires -o FILE, not standard output");
	if (stat(path, &st))
		return bench_failed(err, errno, "--resume: cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return bench_refused(
			err, "--resume: '%s' is no file: there is nothing to go on from", path);
	/* A lost connection may have left it running. */
	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return bench_failed(err, 0, "--resume: another bench is writing to '%s'", path);
	ret = records_read(path, out, text, sizeof(text));
	if (ret == -ENODATA)
		return 0;
	if (ret)
		return bench_refused(err, "--resume: %s", text);
	for (i = 0; i < out->cnt && !ret; i++)
		ret = check_record(path, out->records[i], argv, err);
	if (ret)
		records_free(out);
	return ret;
}

static uint64_t member(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

/* The samples of @record as one; false: no memory, or there are none. */
static bool merge(const json_t *record, const struct report *report, struct sample *out)
{
	const json_t *all = json_object_get(record, "samples");
	size_t n = json_array_size(all), i, k;
	struct sample *samples;

	samples = calloc(n + 1, sizeof(*samples));
	for (i = 0; samples && i < n; i++) {
		const json_t *o = json_array_get(all, i);

		samples[i].t_ns = member(o, "t_ns");
		samples[i].dt_ns = member(o, "dt_ns");
		for (k = 0; k < report->nr_figures; k++)
			if (figure_is_raw(&report->figures[k]))
				samples[i].raw.v[k] = member(o, report->figures[k].name);
	}
	if (samples && n)
		*out = samples_merge(report, samples, n);
	free(samples);
	return samples && n;
}

size_t resume_runs(const struct records *done, const struct bench *bench, struct sample *runs,
		   size_t max, bool *failed)
{
	size_t i, nr = 0;

	*failed = false;
	for (i = 0; i < done->cnt && nr < max; i++) {
		const json_t *record = done->records[i];
		const char *status = json_string_value(json_object_get(record, "status"));

		if (strcmp(json_string_value(json_object_get(record, "bench")), bench->name))
			continue;
		if (!strcmp(status, "failed"))
			*failed = true;
		/* One that was cut short is to be done again. */
		else if (strcmp(status, "interrupted") && merge(record, bench->report, &runs[nr]))
			nr++;
	}
	return nr;
}

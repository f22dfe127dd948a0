// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strsep() */
#endif
#include "lib/sysfile.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "lib/num.h"
#include "lib/util.h"

#define BLANKS " \t\r\n"

/*
 * Containers (lxcfs) put files of their own in the place of the kernel's, which tell of what they
 * may use and not of what there is: then it is better to know nothing.
 */
static bool is_made_up(const char *path, FILE *f)
{
	static const struct {
		const char *path;
		long magic;
	} genuine[] = {
		{ "/sys/devices/", SYSFS_MAGIC },
		{ "/proc/stat", PROC_SUPER_MAGIC },
	};
	struct statfs fs;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(genuine); i++)
		if (!strncmp(path, genuine[i].path, strlen(genuine[i].path)))
			return !fstatfs(fileno(f), &fs) && fs.f_type != genuine[i].magic;
	return false;
}

static FILE *open_below(const char *root, const char *fmt, va_list ap)
{
	char path[PATH_MAX];
	int len, more;
	FILE *f;

	len = snprintf(path, sizeof(path), "%s", root);
	more = len < (int)sizeof(path) ? vsnprintf(path + len, sizeof(path) - len, fmt, ap) : 0;
	if (len < 0 || more < 0 || len + more >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	f = fopen(path, "re");
	if (f && !*root && is_made_up(path, f)) {
		fclose(f);
		f = NULL;
		errno = ENOENT;
	}
	return f;
}

FILE *sysfile_open(const char *root, const char *fmt, ...)
{
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	f = open_below(root, fmt, ap);
	va_end(ap);
	return f;
}

/* Without blanks at the ends, in place */
static char *trimmed(char *s)
{
	size_t len;

	s += strspn(s, BLANKS);
	for (len = strlen(s); len && strchr(BLANKS, s[len - 1]); len--)
		;
	s[len] = '\0';
	return s;
}

static int first_line(const char *root, char *buf, size_t size, const char *fmt, va_list ap)
{
	char *line = NULL, *text;
	size_t cap = 0;
	int err = 0;
	FILE *f;

	f = open_below(root, fmt, ap);
	if (!f)
		return -errno;
	errno = 0;
	if (getline(&line, &cap, f) < 0) {
		err = errno ? -errno : -ENODATA;
	} else {
		text = trimmed(line);
		if (!*text)
			err = -ENODATA;
		else if (strlen(text) >= size)
			err = -EOVERFLOW;
		else
			strcpy(buf, text);
	}
	free(line);
	fclose(f);
	return err;
}

int sysfile_line(const char *root, char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = first_line(root, buf, size, fmt, ap);
	va_end(ap);
	return err;
}

int sysfile_number(const char *root, long long *value, const char *fmt, ...)
{
	char line[256], *text = line;
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = first_line(root, line, sizeof(line), fmt, ap);
	va_end(ap);
	return err ? err : sysfile_next(&text, LLONG_MIN, LLONG_MAX, value);
}

int sysfile_next(char **text, long long min, long long max, long long *value)
{
	char *word;

	do {
		word = strsep(text, BLANKS);
	} while (word && !*word);
	return num_parse(word, min, max, value);
}

char *sysfile_value(char *line, const char *key, char sep)
{
	size_t len = strlen(key);

	if (strncmp(line, key, len))
		return NULL;
	line += len;
	if (sep != ' ')
		line += strspn(line, " \t");
	return *line == sep ? trimmed(line + 1) : NULL;
}

int sysfile_key(const char *root, const char *file, const char *key, char sep, char *buf,
		size_t size)
{
	char *line = NULL, *value;
	int err = -ENODATA;
	size_t cap = 0;
	FILE *f;

	f = sysfile_open(root, "%s", file);
	if (!f)
		return -errno;
	while (err && getline(&line, &cap, f) >= 0) {
		value = sysfile_value(line, key, sep);
		if (value && *value) {
			snprintf(buf, size, "%s", value);
			err = 0;
		}
	}
	free(line);
	fclose(f);
	return err;
}

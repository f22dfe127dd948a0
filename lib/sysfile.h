/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of /proc and /sys: lines, and numbers in them. Each is looked up below the directory @root
 * ("" is the running machine), so that tests can lay out a machine. A path too long for the system
 * is an error, never cut.
 */
#ifndef LIB_SYSFILE_H
#define LIB_SYSFILE_H

#include <stddef.h>
#include <stdio.h>

#define SYSFILE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Open a file to be read line by line and closed by fclose(). Returns NULL with errno set. */
FILE *sysfile_open(const char *root, const char *fmt, ...) SYSFILE_PRINTF(2, 3);

/*
 * Read the first line of a file into @buf, without blanks at its ends. Returns 0 or -errno:
 * -ENODATA if the line is empty, -EOVERFLOW if it does not fit (half a CPU list is a wrong list).
 */
int sysfile_line(const char *root, char *buf, size_t size, const char *fmt, ...)
	SYSFILE_PRINTF(4, 5);

/*
 * Read the decimal number that a file starts with. Returns 0; -errno, with *@value unchanged:
 * -EINVAL if it starts with another word.
 */
int sysfile_number(const char *root, long long *value, const char *fmt, ...) SYSFILE_PRINTF(3, 4);

/*
 * Take the next number off a text of blanks and numbers, which is changed. Returns 0, or the error
 * of num_parse() if the next word is no number from @min to @max.
 */
int sysfile_next(char **text, long long min, long long max, long long *value);

/*
 * The value in a line 'key <blanks> sep <blanks> value <blanks>', which is changed; it may be
 * empty. NULL if the line has another key.
 */
char *sysfile_value(char *line, const char *key, char sep);

/*
 * Read the first value of @key that is not empty, in a file of such lines, cut to @size. Returns 0
 * or -errno: -ENODATA if there is none.
 */
int sysfile_key(const char *root, const char *file, const char *key, char sep, char *buf,
		size_t size);

#endif /* LIB_SYSFILE_H */

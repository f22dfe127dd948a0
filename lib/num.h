/* SPDX-License-Identifier: GPL-2.0 */
/* Strict parsing of the numbers that a user types. */
#ifndef LIB_NUM_H
#define LIB_NUM_H

/*
 * Parse a whole decimal number: digits only, with a leading '-' where min is
 * negative; no blanks, no '+', nothing after it. Leading zeros are plain
 * decimal, not octal.
 *
 * Returns 0 and sets *out; -EINVAL if s is not such a number, -ERANGE if it is
 * one but outside min..max (both included). *out is left alone on error.
 */
int num_parse(const char *s, long long min, long long max, long long *out);

/* The same for bytes: K, M or G (KiB, MiB, GiB; in either case) may follow the digits. */
int num_parse_size(const char *s, long long min, long long max, long long *out);

#endif /* LIB_NUM_H */

// SPDX-License-Identifier: GPL-2.0
#include "lib/num.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/*
 * Not strtoll(): it skips blanks, takes '+', and its error reporting needs
 * three checks that are easily forgotten.
 */
int num_parse(const char *s, long long min, long long max, long long *out)
{
	bool neg = false, overflow = false;
	long long v = 0;

	if (!s)
		return -EINVAL;
	if (*s == '-' && min < 0) {
		neg = true;
		s++;
	}
	if (!*s)
		return -EINVAL;

	/* On overflow read on: '99999999999999999999x' is no number at all */
	for (; *s; s++) {
		int digit = *s - '0';

		if (digit < 0 || digit > 9)
			return -EINVAL;
		if (overflow)
			continue;
		/* Collect with the final sign: LLONG_MIN has no positive twin */
		overflow = __builtin_mul_overflow(v, 10, &v) ||
			   __builtin_add_overflow(v, neg ? -digit : digit, &v);
	}
	if (overflow || v < min || v > max)
		return -ERANGE;

	*out = v;
	return 0;
}

int num_parse_size(const char *s, long long min, long long max, long long *out)
{
	static const char suffixes[] = "KMG";
	size_t len = s ? strlen(s) : 0;
	char digits[32];
	const char *p;
	long long v;
	int err;

	p = len ? strchr(suffixes, toupper((unsigned char)s[len - 1])) : NULL;
	if (!p || len > sizeof(digits))
		return num_parse(s, min, max, out);
	memcpy(digits, s, len - 1);
	digits[len - 1] = '\0';
	err = num_parse(digits, 0, LLONG_MAX, &v);
	if (err)
		return err;
	if (__builtin_mul_overflow(v, 1024LL << 10 * (p - suffixes), &v) || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

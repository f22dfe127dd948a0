// SPDX-License-Identifier: GPL-2.0
#include "lib/num.h"

#include <errno.h>
#include <stdbool.h>

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

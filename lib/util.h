/* SPDX-License-Identifier: GPL-2.0 */
/* What every file may need and no library has. */
#ifndef LIB_UTIL_H
#define LIB_UTIL_H

#include <stdint.h>
#include <time.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* CLOCK_MONOTONIC, in nanoseconds. */
static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif /* LIB_UTIL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What a result means, and how it is printed: one table of functions for each kind of result. */
#ifndef LIB_REPORT_H
#define LIB_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/sample.h"

struct report {
	const char *name; /* as recorded */
	const char *unit; /* of the mean in the summary */

	/* One line for sample @s, number @iter, that was to last @interval_ns. */
	void (*progress)(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
			 int producers);
	/* One line for @n >= 1 samples. Returns 0 or -errno (samples that make no rate). */
	int (*summary)(FILE *out, const struct sample *samples, size_t n, int producers);
};

extern const struct report report_hits_drops; /* records consumed, records refused */
extern const struct report report_ops; /* operations; latency of one */
extern const struct report report_false_hits; /* false positives among lookups */

#endif /* LIB_REPORT_H */

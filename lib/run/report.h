/* SPDX-License-Identifier: GPL-2.0 */
/* What a result means, and how it is printed: one table of functions for each kind of result. */
#ifndef LIB_RUN_REPORT_H
#define LIB_RUN_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/run/sample.h"

/* What samples come to. Rates in million a second; NAN: means nothing for this kind of result. */
struct report_summary {
	size_t n; /* samples, or runs */
	double mean, stddev; /* in the report's unit */
	double drops_mean, drops_stddev;
	double total_mean, total_stddev;
	double latency_ns; /* of one operation, as one producer sees it */
	uint64_t false_hits, lookups;
};

struct report {
	const char *name; /* as recorded */
	const char *unit; /* of the mean in the summary */

	/* One line for sample @s, number @iter, that was to last @interval_ns. */
	void (*progress)(FILE *out, int iter, uint64_t interval_ns, const struct sample *s,
			 int producers);

	/*
	 * The mean is sum(count) / sum(weight) over all samples, in the report's unit: hits over
	 * time, for one, or false hits over lookups.
	 */
	void (*observe)(const struct sample *s, double *count, double *weight);

	/*
	 * Sums up @n samples. Returns 0, or -errno: -ENODATA where they make no figure, such as the
	 * latency of an operation that never happened.
	 */
	int (*sum_up)(const struct sample *samples, size_t n, int producers,
		      struct report_summary *sum);

	/* The Summary line. */
	void (*summary)(FILE *out, const struct report_summary *sum, int producers);
};

extern const struct report report_hits_drops; /* records consumed, records refused */
extern const struct report report_ops; /* operations; latency of one */
extern const struct report report_false_hits; /* false positives among lookups */

#endif /* LIB_RUN_REPORT_H */

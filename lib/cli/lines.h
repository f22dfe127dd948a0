/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of figures, as scripts parse them; and the two kinds of result that many benchmarks share.
 */
#ifndef LIB_CLI_LINES_H
#define LIB_CLI_LINES_H

#include <stdio.h>

#include "lib/run/figures.h"

/* Records or calls that succeed, and those that the kernel refuses: write rows HITS and DROPS. */
extern const struct report report_hits_drops;
enum { HITS, DROPS, TOTAL, NR_HITS_DROPS };

/* The same three rows for a table that has more behind them, and the lines that go with them. */
#define HITS_DROPS_FIGURES \
	[HITS] = {                                                                            \
		.name = "hits",                                                               \
		.unit = "M/s",                                                                \
		.scale = 1e6,                                                                 \
		.better = BETTER_HIGHER,                                                      \
		.help = "what the description calls a hit, in millions per second",           \
	},                                                                                    \
	[DROPS] = {                                                                           \
		.name = "drops",                                                              \
		.unit = "M/s",                                                                \
		.scale = 1e6,                                                                 \
		.better = BETTER_LOWER,                                                       \
		.help = "attempts that the kernel refused",                                   \
	},                                                                                    \
	[TOTAL] = {                                                                           \
		.name = "total",                                                              \
		.unit = "M/s",                                                                \
		.scale = 1e6,                                                                 \
		.kind = FIGURE_SUM,                                                           \
		.of = HITS,                                                                   \
		.per = DROPS,                                                                 \
		.better = BETTER_HIGHER,                                                      \
		.help = "attempts: hits and drops together",                                  \
	}

void lines_hits_drops_progress(FILE *out, const struct report *report, const double *values,
			       const struct sample *s, int producers);
void lines_hits_drops_summary(FILE *out, const struct report *report,
			      const struct figure_stats *stats, const struct sample *total,
			      int producers);

/* Operations, and the time of one: write row OPS. */
extern const struct report report_ops;
enum { OPS };

/* The line of sample number @iter, which was to last @interval_ns. */
void lines_progress(FILE *out, const struct report *report, int iter, uint64_t interval_ns,
		    const struct sample *s, int producers);

/*
 * The Summary line over @n samples, or runs. @params: the options of the family. Returns 0;
 * -ENODATA where they make no figure, with nothing printed; or another -errno.
 */
int lines_summary(FILE *out, const struct report *report, const void *params,
		  const struct sample *samples, size_t n, int producers);

/* The same without the line. */
int lines_check(const struct report *report, const struct sample *samples, size_t n, int producers);

#endif /* LIB_CLI_LINES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line. The benchmarks are found first; then the options of the core and of their own
 * families are parsed, strictly. Options that only other families have are accepted with a note,
 * since scripts pass one set of options to all benchmarks.
 */
#ifndef LIB_CLI_ARGS_H
#define LIB_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/run/benchmark.h"
#include "lib/run/job.h"

/* A benchmark that was asked for. */
struct chosen {
	const struct bench_family *family;
	struct bench_config cfg; /* with the consumers that it needs */
	struct bench_job job; /* its cfg is @cfg, its params are the family's in struct args */
	bool outright; /* by name, not by a pattern */
	bool skipped; /* it cannot run here, or with these options */
	char why[512]; /* it is skipped, where that is yet to be told; "": nothing is */
};

/* Owned by the caller; freed by args_free(). */
struct args {
	struct bench_config cfg;
	long long runs;
	const char *output; /* file for records; "-": standard output; NULL: none */
	bool resume; /* what the file has need not be done again */

	bool help, usage, version;
	bool list;
	bool show_env;
	bool show_tables;
	bool all;

	const char *compare; /* the first file; NULL: nothing is to be compared */
	const char *match;
	const char *figure;
	bool markdown;
	bool csv;
	double fail_on_slower_pct; /* negative: not asked for */
	bool assume_steady;

	const char **words; /* what is no option: benchmarks, patterns; with -C the other files */
	size_t nr_words;

	struct chosen *chosen;
	size_t nr_chosen;
	void **params; /* of each family, in the order of bench_families */
};

/*
 * Fills @args from the command line, or writes what is wrong with it. Returns an enum bench_exit.
 * Leaves argv alone. bench_families_check() must have passed.
 */
int args_parse(int argc, char *const *argv, struct args *args);
void args_free(struct args *args);

/* The options of @family as parsed, or their defaults. */
void *args_params(const struct args *args, const struct bench_family *family);

extern const struct opt args_core_opts[];
extern const size_t args_nr_core_opts;

#endif /* LIB_CLI_ARGS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The contract between the core and the benchmarks (benchs/): what a benchmark includes.
 *
 * A benchmark is a table of functions, struct bench, and a table of figures, struct report. Its
 * family registers it by BENCH_FAMILY(), together with the options of the family; nothing else in
 * the tree has to be edited. The core parses, checks, probes, sets up, starts and stops threads,
 * samples, sums up, reports, records and tears down. A benchmark never prints but through its
 * report, never exits, and never calls the core but through the services.
 *
 * benchs/bench_bpf_loop.c is the one to start from.
 */
#ifndef BENCH_H
#define BENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/cli/lines.h"
#include "lib/run/benchmark.h"
#include "lib/run/services.h"
#include "lib/util.h"

#endif /* BENCH_H */

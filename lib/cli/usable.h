/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of the chosen ones can run. What was named outright has to, and is an error where it
 * cannot; what a pattern matched is skipped.
 */
#ifndef LIB_CLI_USABLE_H
#define LIB_CLI_USABLE_H

#include "lib/cli/args.h"

/*
 * With these options? Loads nothing: usage errors come before anything is loaded. Returns an enum
 * bench_exit.
 */
int usable_check(struct args *args);

/* On this machine? Returns an enum bench_exit. */
int usable_probe(struct args *args);

/* @c cannot run, for the reason in @err, which usable_report() is to print. */
void usable_skip(struct chosen *c, const struct bench_err *err);

/* Of all benchmarks (--all), those that cannot run, each with its reason. */
void usable_report(const struct args *args);

#endif /* LIB_CLI_USABLE_H */

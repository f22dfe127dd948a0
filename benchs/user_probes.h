/* SPDX-License-Identifier: GPL-2.0 */
/* Where a probe on a function of ours goes, and what the kernel makes of the instruction there. */
#ifndef BENCHS_USER_PROBES_H
#define BENCHS_USER_PROBES_H

#include "lib/bpf/hook.h"
#include "lib/bpf/uprobe_target.h"

struct bench_run;

/*
 * Sets where in our executable @hook attaches for @target; for a USDT probe that has to be where
 * its note tells tracers. Returns 0, or -errno after bench_unavailable() or bench_failed().
 */
int user_probe_find(struct bench_run *run, enum uprobe_target target, struct hook *hook);

/*
 * Notes for the user what @hook, attached and hit once, has made of the instruction, where the
 * names of the benchmarks do not tell. Returns 0, or -errno after bench_failed().
 */
int user_probe_note(struct bench_run *run, enum uprobe_target target, const struct hook *hook);

#endif /* BENCHS_USER_PROBES_H */

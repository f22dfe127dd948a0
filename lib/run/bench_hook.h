/* SPDX-License-Identifier: GPL-2.0 */
/* lib/bpf/hook.h for benchmarks: the reason of a failure goes to run->err. */
#ifndef LIB_RUN_BENCH_HOOK_H
#define LIB_RUN_BENCH_HOOK_H

#include "bench.h"
#include "lib/bpf/hook.h"

/* hook_prepare(), and loads @skel, the opened skeleton that @hook's program is in. */
int bench_hook_load(struct bench_run *run, struct hook *hook, struct bpf_object_skeleton *skel);

/* hook_attach() */
int bench_hook_attach(struct bench_run *run, struct hook *hook);

/*
 * For conserve(): detaches @hook, for until then others may make its program run, and fills in
 * what is to be held against the kernel's run count. @slots: those that the program counts in.
 */
void bench_hook_conserve(struct bench_run *run, struct hook *hook, const struct cpu_slot *slots,
			 struct bench_conservation *c);

#endif /* LIB_RUN_BENCH_HOOK_H */

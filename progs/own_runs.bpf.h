/* SPDX-License-Identifier: GPL-2.0 */
/* BPF side of own_runs.h: counts the runs of a program, ours and those of others apart. */
#ifndef PROGS_OWN_RUNS_BPF_H
#define PROGS_OWN_RUNS_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "cpu_slots.bpf.h"
#include "own_runs.h"

const volatile struct own_runs own_runs = {};

static __always_inline struct cpu_slot *this_slot(void)
{
	return &cpu_slots[bpf_get_smp_processor_id() & (CPU_SLOTS - 1)];
}

/*
 * Once for each run: what the kernel's run count says is then SLOT_HITS + SLOT_OTHERS. Returns
 * whether the run is one of ours. The verifier drops the branches that the value of own_runs.filter
 * rules out.
 */
static __always_inline bool count_run(void)
{
	struct cpu_slot *slot = this_slot();
	__u64 *count = &slot->v[SLOT_HITS];

	if (own_runs.filter == OWN_RUNS_BATCH && !slot->v[SLOT_IN_BATCH])
		count = &slot->v[SLOT_OTHERS];
	else if (own_runs.filter == OWN_RUNS_TGID &&
		 bpf_get_current_pid_tgid() >> 32 != own_runs.tgid)
		count = &slot->v[SLOT_OTHERS];
	__sync_fetch_and_add(count, 1);
	return count == &slot->v[SLOT_HITS];
}

/* A run that is known to be none of ours. */
static __always_inline void count_other_run(void)
{
	__sync_fetch_and_add(&this_slot()->v[SLOT_OTHERS], 1);
}

/*
 * Around a batch, in a program run by BPF_PROG_TEST_RUN. The kernel runs it with preemption off, so
 * what runs on this CPU until own_batch_end() is ours (or an interrupt's). A count, not a flag,
 * since CPUs share slots on a machine that has more CPUs than slots.
 */
static __always_inline struct cpu_slot *own_batch_begin(void)
{
	struct cpu_slot *slot = this_slot();

	__sync_fetch_and_add(&slot->v[SLOT_IN_BATCH], 1);
	return slot;
}

static __always_inline void own_batch_end(struct cpu_slot *slot)
{
	__sync_fetch_and_add(&slot->v[SLOT_IN_BATCH], -1);
}

#endif /* PROGS_OWN_RUNS_BPF_H */

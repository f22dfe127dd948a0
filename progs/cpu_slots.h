/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that BPF programs keep, one slot for each CPU, shared with user space through .bss.
 *
 * A program of another thread may preempt ours on the same CPU between load and store, so slots are
 * added to atomically; with one slot per CPU that is an uncontended operation. It also keeps the
 * sums exact on a machine with more CPUs than slots, where CPUs share them.
 */
#ifndef PROGS_CPU_SLOTS_H
#define PROGS_CPU_SLOTS_H

#include <linux/types.h>

#define CPU_SLOTS 1024 /* a power of two */

enum cpu_slot_field {
	SLOT_HITS, /* runs of the program, or operations */
	SLOT_ATTEMPTS, /* records that it tried to put into the buffer */
	SLOT_SUBMITTED, /* of these, taken by the kernel */
	SLOT_DROPS, /* and refused */
	SLOT_FALSE_HITS,
	SLOT_OTHERS, /* runs that were not made by the benchmark */
	SLOT_IN_BATCH, /* no count: not 0 while a batch of ours is under way */
	SLOT_NR_FIELDS = 8,
};

struct cpu_slot {
	__u64 v[SLOT_NR_FIELDS];
} __attribute__((aligned(128)));

#endif /* PROGS_CPU_SLOTS_H */

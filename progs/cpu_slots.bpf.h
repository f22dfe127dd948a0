/* SPDX-License-Identifier: GPL-2.0 */
/* BPF side of cpu_slots.h: defines the slots of the program that includes it. */
#ifndef PROGS_CPU_SLOTS_BPF_H
#define PROGS_CPU_SLOTS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "cpu_slots.h"

struct cpu_slot cpu_slots[CPU_SLOTS];

/* Adds @n to @field of the current CPU's slot. */
static __always_inline void slot_add(enum cpu_slot_field field, __u64 n)
{
	__u32 cpu = bpf_get_smp_processor_id();

	__sync_fetch_and_add(&cpu_slots[cpu & (CPU_SLOTS - 1)].v[field], n);
}

#endif /* PROGS_CPU_SLOTS_BPF_H */

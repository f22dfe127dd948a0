/* SPDX-License-Identifier: GPL-2.0 */
/* Payloads of records that have the time as their first word. */
#ifndef PROGS_STAMPED_BPF_H
#define PROGS_STAMPED_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/*
 * One for each CPU, as long as a record; user space sizes it where stamps are asked for, and else
 * leaves it out.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
	__uint(max_entries, 1);
} stamped_payloads SEC(".maps");

/*
 * The current CPU's, where programs stay. Another program may preempt ours between a stamp and the
 * copy; then the stamp is that one's, which is later and so nearer to the copy.
 */
static __always_inline void *stamped_payload(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&stamped_payloads, &cpu);
}

#endif /* PROGS_STAMPED_BPF_H */

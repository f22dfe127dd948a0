// SPDX-License-Identifier: GPL-2.0
/* Puts a batch of records into the perf buffer of the CPU at each getpgid(2) of the benchmark. */
#include "attach.bpf.h"
#include "cpu_slots.bpf.h"
#include "ringbufs.h"
#include "stamped.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} perfbuf SEC(".maps"); /* libbpf makes it as large as there are CPUs */

const volatile __u32 batch_cnt = 0;
const volatile __u32 record_size = 8;

char payload[RB_MAX_RECORD_SIZE];

static __always_inline int put_batch(void *ctx)
{
	__u64 submitted = 0;
	__u32 i;

	for (i = 0; i < batch_cnt; i++)
		if (!bpf_perf_event_output(ctx, &perfbuf, BPF_F_CURRENT_CPU, payload, record_size))
			submitted++;
	slot_add(SLOT_ATTEMPTS, batch_cnt);
	slot_add(SLOT_SUBMITTED, submitted);
	slot_add(SLOT_DROPS, batch_cnt - submitted);
	return 0;
}

SYSCALL_PROGS(put_batch)

/* ---- the same, with records that begin with the time of their submit */

static __always_inline int put_stamped(void *ctx)
{
	__u64 *record = stamped_payload(), submitted = 0;
	__u32 i;

	for (i = 0; record && i < batch_cnt; i++) {
		*record = bpf_ktime_get_ns();
		if (!bpf_perf_event_output(ctx, &perfbuf, BPF_F_CURRENT_CPU, record, record_size))
			submitted++;
	}
	slot_add(SLOT_ATTEMPTS, batch_cnt);
	slot_add(SLOT_SUBMITTED, submitted);
	slot_add(SLOT_DROPS, batch_cnt - submitted);
	return 0;
}

SYSCALL_PROGS_NAMED(stamped, put_stamped)

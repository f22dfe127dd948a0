// SPDX-License-Identifier: GPL-2.0
/* Puts a batch of records into a BPF ring buffer each time the benchmark calls getpgid(2). */
#include "attach.bpf.h"
#include "cpu_slots.bpf.h"
#include "ringbufs.h"
#include "stamped.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 512 * 1024);
} ringbuf SEC(".maps");

/* Constants for the verifier: what is not asked for costs nothing. */
const volatile __u32 batch_cnt = 0;
const volatile __u32 record_size = 8;
const volatile _Bool use_output = 0;
const volatile enum rb_wakeup wakeup = RB_WAKEUP_ADAPTIVE;
const volatile __u64 wakeup_bytes = 0; /* RB_WAKEUP_SAMPLED: unread data at which to wake */

/* What bpf_ringbuf_output() copies. */
char payload[RB_MAX_RECORD_SIZE];

/* @own: bytes of the record at hand that the ring does not count as unread yet. */
static __always_inline __u64 wakeup_flags(__u64 own)
{
	switch (wakeup) {
	case RB_WAKEUP_SAMPLED:
		return bpf_ringbuf_query(&ringbuf, BPF_RB_AVAIL_DATA) + own >= wakeup_bytes ?
			       BPF_RB_FORCE_WAKEUP :
			       BPF_RB_NO_WAKEUP;
	case RB_WAKEUP_ALWAYS:
		return BPF_RB_FORCE_WAKEUP;
	case RB_WAKEUP_NEVER:
		return BPF_RB_NO_WAKEUP;
	default:
		return 0;
	}
}

static __always_inline int put_batch(void *ctx)
{
	const __u64 own = (record_size + RB_HEADER_SIZE + 7) & ~7ULL;
	__u64 submitted = 0;
	__u64 *record;
	__u32 i;

	for (i = 0; i < batch_cnt; i++) {
		if (use_output) {
			if (!bpf_ringbuf_output(&ringbuf, payload, record_size, wakeup_flags(own)))
				submitted++;
			continue;
		}
		record = bpf_ringbuf_reserve(&ringbuf, record_size, 0);
		if (!record)
			continue;
		/* Only the first word: the buffer is measured, not the filling of records. */
		*record = i;
		bpf_ringbuf_submit(record, wakeup_flags(0));
		submitted++;
	}
	/* Counted once per batch, so that counting costs nothing per record. */
	slot_add(SLOT_ATTEMPTS, batch_cnt);
	slot_add(SLOT_SUBMITTED, submitted);
	slot_add(SLOT_DROPS, batch_cnt - submitted);
	return 0;
}

SYSCALL_PROGS(put_batch)

/* ---- the same, with records that begin with the time of their submit */

static __always_inline __u64 output_stamped(void)
{
	const __u64 own = (record_size + RB_HEADER_SIZE + 7) & ~7ULL;
	__u64 *record = stamped_payload(), submitted = 0;
	__u32 i;

	for (i = 0; record && i < batch_cnt; i++) {
		*record = bpf_ktime_get_ns();
		if (!bpf_ringbuf_output(&ringbuf, record, record_size, wakeup_flags(own)))
			submitted++;
	}
	return submitted;
}

static __always_inline __u64 reserve_stamped(void)
{
	__u64 *record, submitted = 0, flags;
	__u32 i;

	for (i = 0; i < batch_cnt; i++) {
		record = bpf_ringbuf_reserve(&ringbuf, record_size, 0);
		if (!record)
			continue;
		flags = wakeup_flags(0);
		*record = bpf_ktime_get_ns();
		bpf_ringbuf_submit(record, flags);
		submitted++;
	}
	return submitted;
}

static __always_inline int put_stamped(void *ctx)
{
	__u64 submitted = use_output ? output_stamped() : reserve_stamped();

	slot_add(SLOT_ATTEMPTS, batch_cnt);
	slot_add(SLOT_SUBMITTED, submitted);
	slot_add(SLOT_DROPS, batch_cnt - submitted);
	return 0;
}

SYSCALL_PROGS_NAMED(stamped, put_stamped)

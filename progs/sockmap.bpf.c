// SPDX-License-Identifier: GPL-2.0
/*
 * Programs on the sockets of a sockmap. Each counts the bytes it is asked about, and has the kernel
 * pass them on, or put them on a queue of the one socket in another sockmap.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "cpu_slots.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * The socket with programs, and the one without. In one map the programs would run on what the
 * other socket receives as well.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} source SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} target SEC(".maps");

/* From user space. */
const volatile bool redirects; /* to @target; else what comes is passed */
const volatile __u32 redirect_flags; /* BPF_F_INGRESS, or 0 */
const volatile __u32 record_size; /* bytes */

static __always_inline void count(__u32 bytes)
{
	slot_add(SLOT_HITS, 1);
	slot_add(SLOT_SUBMITTED, bytes);
}

/* Where the stream is cut into records, to be judged one by one. */
SEC("?sk_skb/stream_parser")
int parser(struct __sk_buff *skb)
{
	return record_size;
}

SEC("?sk_skb/stream_verdict")
int rx_verdict(struct __sk_buff *skb)
{
	/* Of a parsed stream, @skb is all that came with the record. */
	count(record_size ? record_size : skb->len);
	return redirects ? bpf_sk_redirect_map(skb, &target, 0, redirect_flags) : SK_PASS;
}

SEC("?sk_msg")
int tx_verdict(struct sk_msg_md *msg)
{
	count(msg->size);
	return redirects ? bpf_msg_redirect_map(msg, &target, 0, redirect_flags) : SK_PASS;
}

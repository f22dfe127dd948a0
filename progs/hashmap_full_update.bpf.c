// SPDX-License-Identifier: GPL-2.0
/*
 * Tries to insert a key into a hash map that is full. Run by BPF_PROG_TEST_RUN, see
 * hashmaps.h, with that key as the argument; returns how many attempts the kernel did not refuse
 * for that reason (E2BIG).
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "hashmap_full_update.h"
#include "hashmaps.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_chunks = 1;

/* What the map answered instead. */
__s64 other_return;

/* Type and flags are user space's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, FULL_UPDATE_ENTRIES);
} hash SEC(".maps");

/* Neither static nor inlined: the verifier looks at it once, by itself. */
__attribute__((noinline)) int update_chunk(__u32 key)
{
	int i, err, others = 0;
	__u64 value = 0;

	for (i = 0; i < FULL_UPDATE_CHUNK; i++) {
		err = bpf_map_update_elem(&hash, &key, &value, BPF_ANY);
		if (err != -E2BIG) {
			other_return = err;
			others++;
		}
	}
	return others;
}

SEC("socket")
int hashmap_full_update(struct __sk_buff *skb)
{
	__u32 key = skb->cb[HASHMAP_ARG_0], i;
	int others = 0;

	for (i = 0; i < nr_chunks; i++)
		others += update_chunk(key);
	return others;
}

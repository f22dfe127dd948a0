// SPDX-License-Identifier: GPL-2.0
/*
 * Tries to insert keys into a hash map that is full. Run by BPF_PROG_TEST_RUN, see hashmaps.h, with
 * the first of them as the argument; returns how many attempts the kernel did not refuse for that
 * reason (E2BIG).
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "hashmap_full_update.h"
#include "hashmaps.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_chunks = 1;
const volatile bool walk; /* from key to key; else there is one only */

/* What the map answered instead. */
__s64 other_return;

/* Type and flags are user space's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, FULL_UPDATE_ENTRIES);
} hash SEC(".maps");

static __always_inline int attempt(__u32 key, __u32 step)
{
	int i, err, others = 0;
	__u64 value = 0;

	for (i = 0; i < FULL_UPDATE_CHUNK; i++, key += step) {
		err = bpf_map_update_elem(&hash, &key, &value, BPF_ANY);
		if (err != -E2BIG) {
			other_return = err;
			others++;
		}
	}
	return others;
}

/* Neither static nor inlined: the verifier looks at each once, by itself. */
__attribute__((noinline)) int update_chunk(__u32 key)
{
	return attempt(key, 0);
}

__attribute__((noinline)) int walk_chunk(__u32 key)
{
	return attempt(key, 1);
}

SEC("socket")
int hashmap_full_update(struct __sk_buff *skb)
{
	__u32 key = skb->cb[HASHMAP_ARG_0], i;
	int others = 0;

	for (i = 0; i < nr_chunks; i++)
		others += walk ? walk_chunk(key + i * FULL_UPDATE_CHUNK) : update_chunk(key);
	return others;
}

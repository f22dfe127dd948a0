// SPDX-License-Identifier: GPL-2.0
/*
 * Looks up the keys of a hash map in a row, from one on, and after the last the first again. Run by
 * BPF_PROG_TEST_RUN, see hashmaps.h; the arguments are the number of the first key, and that of the
 * producer. Returns how many keys were not found, or a negative errno.
 *
 * Loops are in functions that are neither static nor inlined: the verifier looks at such a function
 * once, by itself, and not again at each call.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "hashmap_lookup.h"
#include "hashmaps.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_entries = 1;
const volatile __u32 nr_lookups = 1; /* in one run */

/* Type, flags and sizes are user space's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, 1);
} hash SEC(".maps");

/*
 * The key that a producer looks up: in its first bytes the number, the lowest one first; user space
 * fills the rest, which is the same in all keys.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, LOOKUP_MAX_KEY_SIZE);
	__uint(max_entries, 1);
} keys SEC(".maps");

static __always_inline __u32 little_endian(__u32 n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap32(n);
#else
	return n;
#endif
}

__attribute__((noinline)) int lookup_chunk(__u32 index, __u32 nr, __u32 producer)
{
	__u32 *key = bpf_map_lookup_elem(&keys, &producer), i;
	int misses = 0;

	if (!key)
		return -EFAULT;
	for (i = 0; i < LOOKUP_CHUNK; i++) {
		if (i >= nr)
			break;
		*key = little_endian(index);
		if (!bpf_map_lookup_elem(&hash, key))
			misses++;
		if (++index == nr_entries)
			index = 0;
	}
	return misses;
}

SEC("socket")
int hashmap_lookup(struct __sk_buff *skb)
{
	__u32 index = skb->cb[HASHMAP_ARG_0], producer = skb->cb[HASHMAP_ARG_1];
	__u32 done, misses = 0;
	int ret;

	for (done = 0; done < nr_lookups; done += LOOKUP_CHUNK) {
		ret = lookup_chunk(index, nr_lookups - done, producer);
		if (ret < 0)
			return ret;
		misses += ret;
		index = (index + LOOKUP_CHUNK) % nr_entries;
	}
	return misses;
}

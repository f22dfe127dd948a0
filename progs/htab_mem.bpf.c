// SPDX-License-Identifier: GPL-2.0
/*
 * Updates and deletes of a hash map. Run by BPF_PROG_TEST_RUN, see hashmaps.h; return what failed,
 * see HTAB_MEM_RESULT().
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "hashmaps.h"
#include "htab_mem.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_batches = 1; /* in one run */
const volatile char value[HTAB_MEM_MAX_VALUE_SIZE] = {};

/* Type, flags and sizes are user space's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, 1);
} htab SEC(".maps");

/* These are neither static nor inlined: the verifier looks at each once, by itself. */
__attribute__((noinline)) int update_batch(__u32 key, __u32 step, __u64 flags)
{
	int i, failed = 0;

	for (i = 0; i < HTAB_MEM_BATCH; i++) {
		if (bpf_map_update_elem(&htab, &key, (const void *)value, flags))
			failed++;
		key += step;
	}
	return failed;
}

__attribute__((noinline)) int delete_batch(__u32 key, __u32 step)
{
	int i, failed = 0;

	for (i = 0; i < HTAB_MEM_BATCH; i++) {
		if (bpf_map_delete_elem(&htab, &key))
			failed++;
		key += step;
	}
	return failed;
}

/* The first key, and the distance to the next one. */
#define FIRST(skb) ((skb)->cb[HASHMAP_ARG_0])
#define STEP(skb)  ((skb)->cb[HASHMAP_ARG_1])

SEC("?socket")
int overwrite(struct __sk_buff *skb)
{
	__u32 failed = 0, i;

	for (i = 0; i < nr_batches; i++)
		failed += update_batch(FIRST(skb), STEP(skb), BPF_ANY);
	return HTAB_MEM_RESULT(failed, 0);
}

SEC("?socket")
int add_del(struct __sk_buff *skb)
{
	__u32 updates = 0, deletes = 0, i;

	for (i = 0; i < nr_batches; i++) {
		updates += update_batch(FIRST(skb), STEP(skb), BPF_NOEXIST);
		deletes += delete_batch(FIRST(skb), STEP(skb));
	}
	return HTAB_MEM_RESULT(updates, deletes);
}

SEC("?socket")
int add(struct __sk_buff *skb)
{
	return HTAB_MEM_RESULT(update_batch(FIRST(skb), STEP(skb), BPF_NOEXIST), 0);
}

SEC("?socket")
int del(struct __sk_buff *skb)
{
	return HTAB_MEM_RESULT(0, delete_batch(FIRST(skb), STEP(skb)));
}

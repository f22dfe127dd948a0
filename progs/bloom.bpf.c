// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that fill a bloom filter, a hash map and an array, and those that are measured on them.
 *
 * All are run by BPF_PROG_TEST_RUN, with struct bloom_args as the arguments. They return how many
 * lookups found the filter wrong (0 where that is not asked), or a negative errno.
 *
 * The loops are in functions that are neither static nor inlined: the verifier looks at such a
 * function once, by itself, and not again at each call.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "bloom.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct bloom_config config = {};

/*
 * Sizes are user space's. The seed of the hash functions is 0 and not the kernel's choice, so that
 * what the filter gets wrong depends on our own seed alone.
 */
struct {
	__uint(type, BPF_MAP_TYPE_BLOOM_FILTER);
	__uint(map_flags, BPF_F_ZERO_SEED);
	__uint(value_size, 8);
	__uint(max_entries, 1);
	__uint(map_extra, 1);
} filter SEC(".maps");

/*
 * A set: what it holds for a key is never looked at. No BPF_F_ZERO_SEED here, for which the kernel
 * wants CAP_SYS_ADMIN: what lookups find does not depend on the seed of a hash map.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(key_size, 8);
	__uint(value_size, 1);
	__uint(max_entries, 1);
} hash SEC(".maps");

/*
 * What the measured programs ask for, in the order in which they do. The values are stored, as in
 * the kernel selftests' bench, and not made anew for each operation: that would take nearly as long
 * as a hash function does, while reading them in a row hardly shows.
 *
 * The first BLOOM_CHUNK - 1 values come again at the end, so that a chunk may start anywhere and
 * has no end to look out for.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, 1);
} stored SEC(".maps");

/*
 * The value that a producer looks up, where it is made anew. On the stack Linux 7.1 and newer
 * refuse it: their verifier takes peek for something that only writes there, as it does on a queue,
 * and forgets what has been written before ("slot poisoned by dead code elimination").
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, BLOOM_MAX_VALUE_SIZE);
	__uint(max_entries, 1);
} made SEC(".maps");

/* ---- filling */

#define LOOK_AHEAD 32

__attribute__((noinline)) int insert_one(__u32 n)
{
	__u64 value[BLOOM_MAX_WORDS];
	char present = 1;
	int err = 0;

	bloom_value(&config.values, n, value);
	if (config.has_filter)
		err = bpf_map_push_elem(&filter, value, BPF_ANY);
	/* BPF_NOEXIST: would find two equal values. */
	if (!err && config.has_hash)
		err = bpf_map_update_elem(&hash, value, &present, BPF_NOEXIST);
	return err;
}

/*
 * Looks up what is inserted next. An update of the hash map locks a bucket, and so waits for the
 * memory alone; these lookups wait for it together. With them, filling takes half the time.
 */
__attribute__((noinline)) int look_ahead(__u32 first)
{
	__u64 value[BLOOM_MAX_WORDS];
	int present = 0;
	__u32 i;

	/*
	 * Asked here and not by the caller, for before Linux 6.8 uncalled functions count as well.
	 */
	if (!config.has_hash)
		return 0;
	for (i = 0; i < LOOK_AHEAD; i++) {
		bloom_value(&config.values, first + i, value);
		if (bpf_map_lookup_elem(&hash, value))
			present++;
	}
	return present;
}

SEC("?raw_tp")
int bloom_insert(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 first = ctx->args[0];
	__u32 i;
	int err;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		if (first + i >= config.nr_entries)
			break;
		if (i % LOOK_AHEAD == 0)
			look_ahead(first + i);
		err = insert_one(first + i);
		if (err)
			return err;
	}
	return 0;
}

__attribute__((noinline)) int store_one(__u32 index)
{
	__u64 value[BLOOM_MAX_WORDS];

	bloom_value(&config.values, config.first_stored + index % config.nr_stored, value);
	return bpf_map_update_elem(&stored, &index, value, BPF_ANY);
}

SEC("?raw_tp")
int bloom_store(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 first = ctx->args[0];
	__u32 i;
	int err;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		if (first + i >= (__u64)config.nr_stored + BLOOM_CHUNK - 1)
			break;
		err = store_one(first + i);
		if (err)
			return err;
	}
	return 0;
}

/* ---- measured */

/* BLOOM_CHUNK operations from @index on, nr_chunks times. */
#define RUN_CHUNKS(ctx, chunk)                                            \
	({                                                                \
		__u32 index = (ctx)->args[0], i;                          \
		int total = 0, ret;                                       \
                                                                          \
		for (i = 0; i < config.nr_chunks; i++) {                  \
			ret = chunk(index);                               \
			if (ret < 0)                                      \
				return ret;                               \
			total += ret;                                     \
			index = (index + BLOOM_CHUNK) % config.nr_stored; \
		}                                                         \
		total;                                                    \
	})

__attribute__((noinline)) int lookup_chunk(__u32 first)
{
	__u32 i, index;
	void *value;
	int err;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		index = first + i;
		value = bpf_map_lookup_elem(&stored, &index);
		if (!value)
			return -EFAULT;
		err = bpf_map_peek_elem(&filter, value);
		if (err)
			return err;
	}
	return 0;
}

SEC("?raw_tp")
int bloom_lookup(struct bpf_raw_tracepoint_args *ctx)
{
	return RUN_CHUNKS(ctx, lookup_chunk);
}

__attribute__((noinline)) int update_chunk(__u32 first)
{
	__u32 i, index;
	void *value;
	int err;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		index = first + i;
		value = bpf_map_lookup_elem(&stored, &index);
		if (!value)
			return -EFAULT;
		err = bpf_map_push_elem(&filter, value, BPF_ANY);
		if (err)
			return err;
	}
	return 0;
}

SEC("?raw_tp")
int bloom_update(struct bpf_raw_tracepoint_args *ctx)
{
	return RUN_CHUNKS(ctx, update_chunk);
}

/* No value that is looked up is an entry, so the hash map's answer is always no. */
__attribute__((noinline)) int without_bloom_chunk(__u32 first)
{
	__u32 i, index;
	void *value;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		index = first + i;
		value = bpf_map_lookup_elem(&stored, &index);
		if (!value)
			return -EFAULT;
		if (bpf_map_lookup_elem(&hash, value))
			return -EEXIST;
	}
	return 0;
}

SEC("?raw_tp")
int hashmap_without_bloom(struct bpf_raw_tracepoint_args *ctx)
{
	return RUN_CHUNKS(ctx, without_bloom_chunk);
}

__attribute__((noinline)) int with_bloom_chunk(__u32 first)
{
	__u32 i, index;
	int wrong = 0;
	void *value;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		index = first + i;
		value = bpf_map_lookup_elem(&stored, &index);
		if (!value)
			return -EFAULT;
		if (bpf_map_peek_elem(&filter, value))
			continue;
		if (bpf_map_lookup_elem(&hash, value))
			return -EEXIST;
		wrong++;
	}
	return wrong;
}

SEC("?raw_tp")
int hashmap_with_bloom(struct bpf_raw_tracepoint_args *ctx)
{
	return RUN_CHUNKS(ctx, with_bloom_chunk);
}

/*
 * Here the values are made as they are needed. No rate is measured, but how often the filter is
 * wrong on average over all absent values: so they must not be the same few again and again.
 */
__attribute__((noinline)) int false_positive_one(__u64 n, __u32 producer)
{
	__u64 *value = bpf_map_lookup_elem(&made, &producer);

	if (!value)
		return -EFAULT;
	bloom_value(&config.values, config.nr_entries + n % config.nr_absent, value);
	if (bpf_map_peek_elem(&filter, value))
		return 0;
	/* Cannot be, since values of different numbers differ; --verify looks all the same. */
	if (config.has_hash && bpf_map_lookup_elem(&hash, value))
		return -EEXIST;
	return 1;
}

__attribute__((noinline)) int false_positive_chunk(__u64 first, __u32 producer)
{
	int wrong = 0, ret;
	__u32 i;

	for (i = 0; i < BLOOM_CHUNK; i++) {
		ret = false_positive_one(first + i, producer);
		if (ret < 0)
			return ret;
		wrong += ret;
	}
	return wrong;
}

SEC("?raw_tp")
int bloom_false_positive(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 first = ctx->args[0];
	__u32 producer = ctx->args[1];
	int total = 0, ret;
	__u32 i;

	for (i = 0; i < config.nr_chunks; i++) {
		ret = false_positive_chunk(first + (__u64)i * BLOOM_CHUNK, producer);
		if (ret < 0)
			return ret;
		total += ret;
	}
	return total;
}

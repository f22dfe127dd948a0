// SPDX-License-Identifier: GPL-2.0
/*
 * Gets of task local storage, or lookups in hash maps, over many maps in turn.
 *
 * All are run by BPF_PROG_TEST_RUN. They return 0 or a negative errno: -ENOMEM where there is no
 * storage, or -ENOENT no key.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "local_storage.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct local_storage_config config = { .nr_maps = 1, .nr_keys = 1 };

struct local_storage_counts counts[LOCAL_STORAGE_CPUS];

/*
 * 0, but the verifier does not know. It would distinguish an index that is known from all others,
 * and so follow each path through a chunk by itself.
 */
__u32 zero;

struct task_struct;

struct storage {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, int);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct storage);
} storages SEC(".maps");

/* Those that user space puts in have more entries; for a map in a map that makes no difference. */
struct hash {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct hash);
} hashes SEC(".maps");

/* ---- set-up */

/*
 * Keys that are looked up before they are inserted. An update locks a bucket, and so waits for the
 * memory alone; lookups of several keys wait for it together.
 */
#define LOOK_AHEAD 32

SEC("?raw_tp")
int hash_fill(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 map = ctx->args[0], first = ctx->args[1], i, k, key;
	void *hash;
	int err;

	hash = bpf_map_lookup_elem(&hashes, &map);
	if (!hash)
		return -EFAULT;
	for (i = 0; i < LOCAL_STORAGE_FILL; i += LOOK_AHEAD) {
		for (k = 0; k < LOOK_AHEAD; k++) {
			key = first + i + k;
			if (bpf_map_lookup_elem(hash, &key))
				return -EEXIST;
		}
		for (k = 0; k < LOOK_AHEAD; k++) {
			key = first + i + k;
			err = bpf_map_update_elem(hash, &key, &key, BPF_NOEXIST);
			if (err)
				return err;
		}
	}
	return 0;
}

/* As far as it matters here. */
struct bpf_local_storage_map {
	__u16 cache_idx;
} __attribute__((preserve_access_index));

/* The slot of a task's storage cache that the map has; -ENOENT: the kernel has no such field. */
SEC("?raw_tp")
int storage_slot(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_local_storage_map *map;
	__u32 index = ctx->args[0];

	map = bpf_map_lookup_elem(&storages, &index);
	if (!map || !bpf_core_field_exists(map->cache_idx))
		return -ENOENT;
	return map->cache_idx;
}

/* ---- measured */

/*
 * What a chunk made: gets, and important ones 16 bits higher, so that nothing has to be written to
 * memory for each of them.
 */
#define ONE_GET	      1
#define ONE_IMPORTANT (1 | 1 << 16)

/* n is a multiple of 3 where it, times the inverse of 3 modulo 2^32, is at most a third of that. */
static __always_inline int is_third(__u32 n)
{
	return n * 0xaaaaaaabU <= 0x55555555U;
}

static __always_inline __u32 next_map(__u32 index)
{
	index++;
	return index < config.nr_maps ? index : zero;
}

static __always_inline int get_storage(__u32 index, struct task_struct *task)
{
	void *map = bpf_map_lookup_elem(&storages, &index);

	if (!map)
		return -EFAULT;
	if (config.empty)
		return 0;
	if (!bpf_task_storage_get(map, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return -ENOMEM;
	return 0;
}

/* Not inlined: the verifier looks at it once, and not again at each call. */
__attribute__((noinline)) int storage_chunk(__u32 index, __u32 turns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int made = 0, err;
	__u32 i;

	for (i = 0; i < LOCAL_STORAGE_CHUNK; i++) {
		if (i >= turns)
			break;
		err = get_storage(index, task);
		if (err)
			return err;
		made += index ? ONE_GET : ONE_IMPORTANT;
		if (config.interleave && is_third(index)) {
			err = get_storage(zero, task);
			if (err)
				return err;
			made += ONE_IMPORTANT;
		}
		index = next_map(index);
	}
	return made;
}

__attribute__((noinline)) int hash_chunk(__u32 index, __u32 turns, __u32 random)
{
	__u32 i, key;
	int made = 0;
	void *map;

	for (i = 0; i < LOCAL_STORAGE_CHUNK; i++) {
		if (i >= turns)
			break;
		map = bpf_map_lookup_elem(&hashes, &index);
		if (!map)
			return -EFAULT;
		/* Numerical Recipes' generator; its upper bits are good enough. */
		random = random * 1664525 + 1013904223;
		key = (__u64)random * config.nr_keys >> 32;
		/* With --empty the key is made all the same. */
		asm volatile("" : "+r"(key));
		if (!config.empty && !bpf_map_lookup_elem(map, &key))
			return -ENOENT;
		made += index ? ONE_GET : ONE_IMPORTANT;
		index = next_map(index);
	}
	return made;
}

static __always_inline void count(__u64 rounds, __u64 gets, __u64 important)
{
	struct local_storage_counts *c =
		&counts[bpf_get_smp_processor_id() & (LOCAL_STORAGE_CPUS - 1)];

	__sync_fetch_and_add(&c->gets, gets);
	__sync_fetch_and_add(&c->important, important);
	__sync_fetch_and_add(&c->rounds, rounds);
}

/* Calls @chunk for @n turns from @index on, and adds up what it made; returns on an error. */
#define RUN_CHUNK(chunk, n, ...)                          \
	({                                                \
		int ret = chunk(index, n, ##__VA_ARGS__); \
                                                          \
		if (ret < 0)                              \
			return ret;                       \
		gets += ret & 0xffff;                     \
		important += ret >> 16;                   \
		index = (index + (n)) % config.nr_maps;   \
	})

/* Whole chunks, and what is left. */
#define RUN_CHUNKS(ctx, chunk, ...)                                                         \
	({                                                                                  \
		__u32 index = (ctx)->args[0], turns = (ctx)->args[1], i;                    \
		__u64 gets = 0, important = 0;                                              \
                                                                                            \
		for (i = 0; i < LOCAL_STORAGE_MAX_CHUNKS; i++) {                            \
			if (i >= turns / LOCAL_STORAGE_CHUNK)                               \
				break;                                                      \
			RUN_CHUNK(chunk, LOCAL_STORAGE_CHUNK, ##__VA_ARGS__);               \
		}                                                                           \
		RUN_CHUNK(chunk, turns % LOCAL_STORAGE_CHUNK, ##__VA_ARGS__);               \
		count(((ctx)->args[0] + (ctx)->args[1]) / config.nr_maps, gets, important); \
		0;                                                                          \
	})

SEC("?raw_tp")
int storage_get(struct bpf_raw_tracepoint_args *ctx)
{
	return RUN_CHUNKS(ctx, storage_chunk);
}

SEC("?raw_tp")
int hash_lookup(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 random = ctx->args[2];

	return RUN_CHUNKS(ctx, hash_chunk, random + i * 0x9e3779b9U);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Updates and deletes of a hash map. Run by BPF_PROG_TEST_RUN, with struct htab_mem_args as the
 * arguments; return what failed, see HTAB_MEM_RESULT().
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

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

static __always_inline int do_overwrite(__u32 first, __u32 step)
{
	__u32 failed = 0, i;

	for (i = 0; i < nr_batches; i++)
		failed += update_batch(first, step, BPF_ANY);
	return HTAB_MEM_RESULT(failed, 0);
}

static __always_inline int do_add_del(__u32 first, __u32 step)
{
	__u32 updates = 0, deletes = 0, i;

	for (i = 0; i < nr_batches; i++) {
		updates += update_batch(first, step, BPF_NOEXIST);
		deletes += delete_batch(first, step);
	}
	return HTAB_MEM_RESULT(updates, deletes);
}

static __always_inline int do_add(__u32 first, __u32 step)
{
	return HTAB_MEM_RESULT(update_batch(first, step, BPF_NOEXIST), 0);
}

static __always_inline int do_del(__u32 first, __u32 step)
{
	return HTAB_MEM_RESULT(0, delete_batch(first, step));
}

/* The kernel lets no program for tracing use a resizable hash map: syscall programs do. */
#define HTAB_MEM_PROGS(name)                                  \
	SEC("?raw_tp")                                        \
	int htab_##name(struct bpf_raw_tracepoint_args *ctx)  \
	{                                                     \
		return do_##name(ctx->args[0], ctx->args[1]); \
	}                                                     \
                                                              \
	SEC("?syscall")                                       \
	int rhtab_##name(struct htab_mem_args *args)          \
	{                                                     \
		return do_##name(args->first, args->step);    \
	}

HTAB_MEM_PROGS(overwrite)
HTAB_MEM_PROGS(add_del)
HTAB_MEM_PROGS(add)
HTAB_MEM_PROGS(del)

// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that count their runs, one for each way to attach a program, and each once more with a
 * stack trace in every run (NAME_stack); and those that make them run, in batches from inside the
 * kernel (one more is in trigger_kfunc.bpf.c). One of the former and at most one of the latter is
 * loaded.
 */
#include "own_runs.bpf.h"
#include "trigger.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 batch_iters = 1;
const volatile __u32 syscall_nr;
const volatile int fmodret_value;

/* One on each CPU, and each written over the one before. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(value_size, STACK_ENTRIES * sizeof(__u64));
} stacks SEC(".maps");

static __always_inline void take_stack(void *ctx)
{
	struct cpu_slot *slot = this_slot();
	__u32 key = 0;
	void *stack = bpf_map_lookup_elem(&stacks, &key);

	if (stack && bpf_get_stack(ctx, stack, STACK_ENTRIES * sizeof(__u64), 0) > 0)
		__sync_fetch_and_add(&slot->v[SLOT_SUBMITTED], 1);
	else
		__sync_fetch_and_add(&slot->v[SLOT_DROPS], 1);
}

/* Two programs and not a flag in one: for a flag all would have to keep ctx. */
#define COUNTING_PROG(section, name, ret) \
	SEC("?" section)                  \
	int name(void *ctx)               \
	{                                 \
		count_run();              \
		return ret;               \
	}                                 \
	SEC("?" section)                  \
	int name##_stack(void *ctx)       \
	{                                 \
		if (count_run())          \
			take_stack(ctx);  \
		return ret;               \
	}

COUNTING_PROG("tracepoint", trig_tp, 0)
COUNTING_PROG("raw_tracepoint", trig_rawtp, 0)
/* Kprobes and uprobes, at entry or return, single or multi: to a program they are all the same. */
COUNTING_PROG("kprobe", trig_probe, 0)
COUNTING_PROG("fentry", trig_fentry, 0)
COUNTING_PROG("fentry.s", trig_fentry_sleep, 0)
COUNTING_PROG("fexit", trig_fexit, 0)
COUNTING_PROG("fmod_ret", trig_fmodret, fmodret_value)

/* sys_enter is the tracepoint of all system calls. */
SEC("?raw_tracepoint")
int trig_rawtp_syscall(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] == syscall_nr)
		count_run();
	else
		count_other_run();
	return 0;
}

SEC("?raw_tracepoint")
int trig_rawtp_syscall_stack(struct bpf_raw_tracepoint_args *ctx)
{
	if (ctx->args[1] != syscall_nr)
		count_other_run();
	else if (count_run())
		take_stack(ctx);
	return 0;
}

/* For all functions of the kernel. */
SEC("?kprobe")
int trig_empty(void *ctx)
{
	return 0;
}

/* bpf_get_numa_node_id() is as short as a helper can be, and no JIT inlines it. */
SEC("?raw_tracepoint")
int batch_helper(void *ctx)
{
	struct cpu_slot *slot = own_batch_begin();
	__u32 i;

	for (i = 0; i < batch_iters; i++)
		bpf_get_numa_node_id();
	own_batch_end(slot);
	return 0;
}

/* The same loop, counting as the programs above do, with nothing to trigger. */
SEC("?raw_tracepoint")
int batch_count(void *ctx)
{
	__u32 i;

	for (i = 0; i < batch_iters; i++)
		count_run();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that count their runs, one for each way to attach a program; and those that
 * make them run, in batches from inside the kernel (one more is in trigger_kfunc.bpf.c). One of the
 * former and at most one of the latter is loaded.
 */
#include "own_runs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 batch_iters = 1;
const volatile __u32 syscall_nr;
const volatile int fmodret_value;

SEC("?tracepoint")
int trig_tp(void *ctx)
{
	count_run();
	return 0;
}

SEC("?raw_tracepoint")
int trig_rawtp(void *ctx)
{
	count_run();
	return 0;
}

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

/* Kprobes and uprobes, at entry or return, single or multi: to a program they are all the same. */
SEC("?kprobe")
int trig_probe(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fentry")
int trig_fentry(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fentry.s")
int trig_fentry_sleep(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fexit")
int trig_fexit(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fmod_ret")
int trig_fmodret(void *ctx)
{
	count_run();
	return fmodret_value;
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

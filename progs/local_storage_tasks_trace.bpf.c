// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and deletes task storage at each getpgid(2) of the benchmark, and measures the grace
 * periods of RCU Tasks Trace that the kernel waits for before it frees what was deleted.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "own_runs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Of grace periods; one thread of the kernel makes them all. */
__u64 start_ns; /* of the one under way; 0: there is none */
__u64 nr_started, nr_ended, nr_others; /* others: ended, but the start was not seen */
__u64 total_ns; /* of those that ended */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, int);
} tasks SEC(".maps");

/* As far as it matters here. */
struct task_struct {
	int tgid;
	struct task_struct *real_parent;
} __attribute__((preserve_access_index));

SEC("?fentry")
int create_and_delete(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (task->tgid != (int)own_runs.tgid && task->real_parent->tgid != (int)own_runs.tgid) {
		count_other_run();
		return 0;
	}
	if (bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) &&
	    !bpf_task_storage_delete(&tasks, task))
		slot_add(SLOT_HITS, 1);
	else
		slot_add(SLOT_DROPS, 1);
	return 0;
}

SEC("?fentry")
int grace_period_starts(void *ctx)
{
	nr_started++;
	start_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("?fentry")
int grace_period_ends(void *ctx)
{
	if (start_ns) {
		total_ns += bpf_ktime_get_ns() - start_ns;
		nr_ended++;
		start_ns = 0;
	} else {
		nr_others++;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * How long the kernel takes to free a map. A worker thread does it, some time after the last
 * descriptor was closed. The programs see all work of all workers, and maps of other processes.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct work_struct {
	void *func;
} __attribute__((preserve_access_index));

/* As far as it matters here. */
struct bpf_map {
	struct work_struct work;
	char name[BPF_OBJ_NAME_LEN];
} __attribute__((preserve_access_index));

/*
 * What the worker calls for a map. Not there where the user may not see the kernel's symbols; then
 * the map's name alone decides.
 */
extern const void bpf_map_free_deferred __ksym __weak;

/*
 * Name of the map to be timed, in two words; 0: none. A map has nothing else here by which to know
 * it: its id is gone by now. User space chooses a random name for each map.
 */
__u64 wanted[BPF_OBJ_NAME_LEN / sizeof(__u64)];

/* The work under way, and who does it. */
static __u64 work_started, started_ns;
static __u32 started_by;

__u64 freed; /* maps */
__u64 section_ns; /* time that it took for the last of them; valid once freed has gone up */

/*
 * By no type that the kernel knows: a work item may be part of anything. Memory that is not there
 * reads as zeros.
 */
static __always_inline int is_wanted(__u64 work)
{
	struct work_struct *w = (void *)work;
	struct bpf_map *map = (void *)(work - bpf_core_field_offset(struct bpf_map, work));
	__u64 name[BPF_OBJ_NAME_LEN / sizeof(__u64)] = {};

	if (&bpf_map_free_deferred && BPF_CORE_READ(w, func) != &bpf_map_free_deferred)
		return 0;
	BPF_CORE_READ_INTO(&name, map, name);
	return name[0] == wanted[0] && name[1] == wanted[1];
}

SEC("raw_tp/workqueue_execute_start")
int work_start(struct bpf_raw_tracepoint_args *ctx)
{
	if (!wanted[0] || !is_wanted(ctx->args[0]))
		return 0;
	work_started = ctx->args[0];
	started_by = bpf_get_current_pid_tgid();
	started_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/workqueue_execute_end")
int work_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	/* The map, which the work item was part of, is gone by now. */
	if (!work_started || ctx->args[0] != work_started ||
	    (__u32)bpf_get_current_pid_tgid() != started_by)
		return 0;
	work_started = 0;
	section_ns = now - started_ns;
	__sync_fetch_and_add(&freed, 1);
	return 0;
}

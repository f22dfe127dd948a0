// SPDX-License-Identifier: GPL-2.0
/* Creates local storage of 64 bytes for each new socket, or thread, of the benchmark. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "own_runs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Not 0 once the producers run. Until then what our process creates is only seen: its own threads,
 * and what shows that the program runs at all.
 */
__u32 started;
__u32 seen;

struct storage {
	char data[64];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct storage);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct storage);
} tasks SEC(".maps");

/* As far as it matters here. */
struct sock;
struct task_struct;
struct socket {
	struct sock *sk;
} __attribute__((preserve_access_index));

/* Is what is created by this process, now, to get storage? Each run is counted once. */
static __always_inline int wants_storage(void)
{
	if (bpf_get_current_pid_tgid() >> 32 == own_runs.tgid) {
		if (started)
			return 1;
		seen = 1;
	}
	count_other_run();
	return 0;
}

static __always_inline void count_storage(const void *storage)
{
	slot_add(storage ? SLOT_HITS : SLOT_DROPS, 1);
}

SEC("?lsm.s/socket_post_create")
int BPF_PROG(socket_lsm, struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (sk && wants_storage())
		count_storage(
			bpf_sk_storage_get(&sockets, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE));
	return 0;
}

SEC("?cgroup/sock_create")
int socket_cgroup(struct bpf_sock *sk)
{
	if (wants_storage())
		count_storage(
			bpf_sk_storage_get(&sockets, sk, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE));
	return 1;
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	if (wants_storage())
		count_storage(
			bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE));
	return 0;
}

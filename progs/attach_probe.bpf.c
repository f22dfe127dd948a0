// SPDX-License-Identifier: GPL-2.0
/* Programs that show which kind of attachment works on a kernel, and what the kernel calls us. */
#include "attach.bpf.h"

char LICENSE[] SEC("license") = "GPL";

__u64 runs;

static __always_inline int count_run(void *ctx)
{
	__sync_fetch_and_add(&runs, 1);
	return 0;
}

SYSCALL_PROGS(count_run)

__u32 seen_tgid;

/* Run once by BPF_PROG_TEST_RUN, that is by the thread that asks. */
SEC("?raw_tracepoint/who_am_i")
int who_am_i(void *ctx)
{
	seen_tgid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Empty programs that show which kind of attachment a kernel takes, and what it calls us. */
#include "attach.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline int nothing(void *ctx)
{
	return 0;
}

SYSCALL_PROGS(getpgid, nothing)

__u32 seen_tgid;

/* Run once by BPF_PROG_TEST_RUN, that is by the thread that asks. */
SEC("?raw_tracepoint/who_am_i")
int who_am_i(void *ctx)
{
	seen_tgid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a program of trigger.bpf.c run by a function of the kernel's test infrastructure. In an
 * object of its own: to find out that a kernel has no such function, libbpf looks into all modules'
 * BTF, for which the kernel wants CAP_SYS_ADMIN.
 */
#include "own_runs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 batch_iters = 1;

/*
 * Programs may modify its return value, and there is a tracepoint in it (bpf_trigger_tp). Linux
 * 6.10.
 */
extern int bpf_modify_return_test_tp(int nonce) __ksym;

SEC("raw_tracepoint")
int batch_kfunc(void *ctx)
{
	struct cpu_slot *slot = own_batch_begin();
	__u32 i;

	for (i = 0; i < batch_iters; i++)
		bpf_modify_return_test_tp(0);
	own_batch_end(slot);
	return 0;
}

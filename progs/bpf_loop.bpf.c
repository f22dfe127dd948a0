// SPDX-License-Identifier: GPL-2.0
/* Calls of bpf_loop() over a callback that does nothing. */
#include <stdbool.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* User space chooses them so that one run stays short. */
const volatile __u32 nr_loops = 1; /* of each call */
const volatile __u32 nr_calls = 1;

/* A call did not make all its callbacks, but returned this. */
bool failed;
__s64 failed_return;

static int nothing(__u32 index, void *ctx)
{
	return 0;
}

static int call(__u32 index, void *ctx)
{
	__s64 ret = bpf_loop(nr_loops, nothing, NULL, 0);

	if (ret == nr_loops)
		return 0;
	failed_return = ret;
	failed = true;
	return 1;
}

/*
 * Run by BPF_PROG_TEST_RUN. The calls are repeated by bpf_loop() too: the verifier follows each
 * turn of a plain loop with a callback in it, and gives up long before it has come to a thousand.
 */
SEC("raw_tracepoint")
int call_bpf_loop(void *ctx)
{
	__s64 ret = bpf_loop(nr_calls, call, NULL, 0);

	if (ret != nr_calls && !failed) {
		failed_return = ret;
		failed = true;
	}
	return failed;
}

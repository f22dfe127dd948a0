// SPDX-License-Identifier: GPL-2.0
/* Loops by the kernel's numeric iterator (bpf_for() of libbpf), with nothing in them. */
#include <stdbool.h>

/* Headers of Linux 6.4 and newer define this struct, older ones do not: the definition is ours. */
#define bpf_iter_num bpf_iter_num_uapi
#include <linux/bpf.h>
#undef bpf_iter_num

struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));

#include <bpf/bpf_helpers.h>

#include "cpu_slots.bpf.h"

char LICENSE[] SEC("license") = "GPL";

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __weak __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __weak __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __weak __ksym;

/* User space chooses them so that one run stays short. */
const volatile __u32 nr_loops = 1; /* turns of each loop */
const volatile __u32 nr_calls = 1;

/*
 * Count the turns, to be held against what user space counts. Where this is false, the verifier
 * drops the code: the loop that is measured has an empty body.
 */
const volatile bool count_turns;

/* A loop could not be set up, for this reason. */
bool failed;
__s64 failed_return;

static int loop(__u32 index, void *ctx)
{
	struct bpf_iter_num it;
	int err;

	err = bpf_iter_num_new(&it, 0, nr_loops);
	while (bpf_iter_num_next(&it))
		if (count_turns)
			slot_add(SLOT_HITS, 1);
	bpf_iter_num_destroy(&it);
	if (!err)
		return 0;
	failed_return = err;
	failed = true;
	return 1;
}

/* Run by BPF_PROG_TEST_RUN. */
SEC("raw_tracepoint")
int call_bpf_for(void *ctx)
{
	__s64 ret = bpf_loop(nr_calls, loop, NULL, 0);

	if (ret != nr_calls && !failed) {
		failed_return = ret;
		failed = true;
	}
	return failed;
}

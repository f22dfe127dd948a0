// SPDX-License-Identifier: GPL-2.0
/*
 * One program twice: with a frame for which the kernel takes a private stack, and with one for
 * which it does not; and the program that makes it run.
 */
#include "cpu_slots.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_batch_iters = 1;
const volatile __u32 run_id;

/* Fires the tracepoint bpf_trigger_tp with its argument. Linux 6.10. */
extern int bpf_modify_return_test_tp(int nonce) __ksym __weak;

static __noinline int nothing(void)
{
	asm volatile(""); /* else the compiler sees that there is no need to call it */
	return 0;
}

static __noinline int run_by_others(void)
{
	slot_add(SLOT_OTHERS, 1);
	return 0;
}

/*
 * The kernel goes by the lowest byte of the frame that is used: so the first word is, through a
 * pointer that the compiler cannot follow, or it would make the frame smaller. The verifier gives
 * a private stack from 64 bytes on (BPF_PRIV_STACK_MIN_SIZE), the frame rounded up to 16.
 */
#define MEASURED_PROG(name, frame_size)                      \
	SEC("?raw_tracepoint")                               \
	int name(struct bpf_raw_tracepoint_args *ctx)        \
	{                                                    \
		__u64 frame[frame_size / sizeof(__u64)];     \
                                                             \
		frame[0] = ctx->args[0];                     \
		asm volatile("" : : "r"(frame) : "memory");  \
		/* The tracepoint is there for everybody. */ \
		if (frame[0] != run_id)                      \
			return run_by_others();              \
		nothing();                                   \
		nothing();                                   \
		nothing();                                   \
		slot_add(SLOT_HITS, 1);                      \
		return 0;                                    \
	}

MEASURED_PROG(small_frame, 48)
MEASURED_PROG(large_frame, 64)

static int trigger_once(__u32 index, void *ctx)
{
	bpf_modify_return_test_tp(run_id);
	return 0;
}

/* Run by BPF_PROG_TEST_RUN. Returns 0, or 1 where it could not trigger as often as it should. */
SEC("raw_tracepoint")
int trigger(void *ctx)
{
	return bpf_loop(nr_batch_iters, trigger_once, NULL, 0) != nr_batch_iters;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Comparisons of two strings that differ in their last character, by a loop in the program and by
 * the helper. Both are run by BPF_PROG_TEST_RUN, and return the number of comparisons that came out
 * as they should: the first string is the lesser one.
 *
 * The loops are in functions that are neither static nor inlined: the verifier looks at such a
 * function once, by itself, and not again at each call.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "strncmp.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 cmp_str_len = 1;
const volatile __u32 nr_chunks = 1;

/*
 * bpf_strncmp() wants the second string to be constant to the verifier. It is volatile, for a
 * compiler that sees its initial value would compare with that.
 */
const volatile char target[STRNCMP_SIZE] = {};

/* Only read here. */
unsigned char str[STRNCMP_SIZE];

__attribute__((noinline)) int compare_by_loop(void)
{
	__u32 i, size = cmp_str_len + 1;
	int diff = 0;

	for (i = 0; i < size; i++) {
		unsigned char c = target[i];

		diff = str[i] - c;
		/* Of the constant string: the verifier knows it, and has one path less. */
		if (diff || !c)
			break;
	}
	return diff;
}

/* Without a branch, for the verifier would follow both ways of each comparison. */
static __always_inline __u32 is_negative(int n)
{
	return (__u32)n >> 31;
}

__attribute__((noinline)) int loop_chunk(void)
{
	__u32 below = 0, i;

	for (i = 0; i < STRNCMP_CHUNK; i++)
		below += is_negative(compare_by_loop());
	return below;
}

__attribute__((noinline)) int helper_chunk(void)
{
	__u32 below = 0, i;

	for (i = 0; i < STRNCMP_CHUNK; i++)
		below += is_negative(
			bpf_strncmp((const char *)str, cmp_str_len + 1, (const char *)target));
	return below;
}

#define RUN_CHUNKS(chunk)                       \
	({                                      \
		__u32 total = 0, n;             \
                                                \
		for (n = 0; n < nr_chunks; n++) \
			total += chunk();       \
		total;                          \
	})

SEC("?raw_tp")
int strncmp_no_helper(void *ctx)
{
	return RUN_CHUNKS(loop_chunk);
}

SEC("?raw_tp")
int strncmp_helper(void *ctx)
{
	return RUN_CHUNKS(helper_chunk);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on an LPM trie, in loops. All programs are run by BPF_PROG_TEST_RUN, with struct
 * lpm_args as the arguments. They return 0, or the negative errno of the operation that ended the
 * loop.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <bpf/bpf_helpers.h>

#include "lpm_trie.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct lpm_config config = {};

/* User space sets max_entries. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct lpm_key);
	__type(value, __u32);
	__uint(max_entries, 1);
} trie SEC(".maps");

/* Time that the last run of lpm_insert or lpm_delete spent in its loop. They have one user. */
__u64 section_ns;

struct walk {
	__u64 random;
	__u32 at, first, len;
	int err;
};

static __always_inline __u32 next_number(struct walk *walk)
{
	__u32 n = walk->first + walk->at;

	if (++walk->at == walk->len)
		walk->at = 0;
	return n;
}

/*
 * The next one, or a random one where the user wants that. Knuth's 64-bit linear congruential
 * generator (MMIX); its upper half is good enough for keys.
 */
static __always_inline __u32 pick_number(struct walk *walk)
{
	if (!config.random)
		return next_number(walk);
	walk->random = walk->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return walk->first + ((walk->random >> 32) * walk->len >> 32);
}

static int do_nothing(__u32 index, struct walk *walk)
{
	return 0;
}

static int make_key(__u32 index, struct walk *walk)
{
	struct lpm_key key = lpm_key(&config.keys, pick_number(walk));

	asm volatile("" : : "r"(&key) : "memory"); /* else the compiler leaves the key out */
	return 0;
}

static int look_up(__u32 index, struct walk *walk)
{
	struct lpm_key key = lpm_key(&config.keys, pick_number(walk));

	if (bpf_map_lookup_elem(&trie, &key))
		return 0;
	walk->err = -ENOENT;
	return 1;
}

/* Is it the value of this very key? */
static int check(__u32 index, struct walk *walk)
{
	__u32 n = next_number(walk), *value;
	struct lpm_key key = lpm_key(&config.keys, n);

	value = bpf_map_lookup_elem(&trie, &key);
	if (value && *value == n)
		return 0;
	walk->err = value ? -ESTALE : -ENOENT;
	return 1;
}

static __always_inline int put(struct walk *walk, __u32 n, __u64 flags)
{
	struct lpm_key key = lpm_key(&config.keys, n);

	walk->err = bpf_map_update_elem(&trie, &key, &n, flags);
	return walk->err != 0;
}

static int insert(__u32 index, struct walk *walk)
{
	return put(walk, next_number(walk), BPF_NOEXIST);
}

static int update(__u32 index, struct walk *walk)
{
	return put(walk, pick_number(walk), BPF_EXIST);
}

static int delete (__u32 index, struct walk *walk)
{
	struct lpm_key key = lpm_key(&config.keys, next_number(walk));

	walk->err = bpf_map_delete_elem(&trie, &key);
	return walk->err != 0;
}

#define WALK(name, turn, timed)                                              \
	SEC("?raw_tp")                                                       \
	int name(struct lpm_args *args)                                      \
	{                                                                    \
		struct walk walk = {                                         \
			.random = args->seed,                                \
			.at = args->at,                                      \
			.first = args->first,                                \
			.len = args->len,                                    \
		};                                                           \
		__u64 start = timed ? bpf_ktime_get_ns() : 0;                \
		long turns = bpf_loop(args->nr, turn, &walk, 0);             \
                                                                             \
		if (timed)                                                   \
			section_ns = bpf_ktime_get_ns() - start;             \
		/* An error of bpf_loop() itself, such as too many turns. */ \
		return turns < 0 ? (int)turns : walk.err;                    \
	}

WALK(lpm_noop, do_nothing, 0)
WALK(lpm_baseline, make_key, 0)
WALK(lpm_lookup, look_up, 0)
WALK(lpm_check, check, 0)
WALK(lpm_update, update, 0)
WALK(lpm_insert, insert, 1)
WALK(lpm_delete, delete, 1)

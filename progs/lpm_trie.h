/* SPDX-License-Identifier: GPL-2.0 */
/* The keys of the LPM trie benchmarks, made from numbers by BPF programs and by user space. */
#ifndef PROGS_LPM_TRIE_H
#define PROGS_LPM_TRIE_H

#include <linux/types.h>

/* struct bpf_lpm_trie_key of the UAPI, with the data's size. */
struct lpm_key {
	__u32 prefixlen;
	__u32 data;
};

/*
 * Which keys there are. All have the same prefix length, and those of numbers 0 to N - 1 leave no
 * gaps in the trie. The lowest byte of a number comes first, and so decides highest up in the trie:
 * neighboring numbers are far apart there, and a walk in order of the numbers shows the caches few
 * of the nodes again.
 */
struct lpm_keys {
	__u32 prefixlen;
	__u32 whole_bytes; /* mask of the number's bits that fill bytes of the prefix */
	__u32 shift; /* of the other bits: to the upper end of the prefix's last byte */
};

/* The arguments of one run of a program. */
struct lpm_args {
	__u64 nr; /* operations */
	__u64 at; /* where to begin in the range; the walk goes on at 0 after its end */
	__u64 first, len; /* the range: numbers first to first + len - 1 */
	__u64 seed; /* for random numbers of that range instead of a walk */
};

/* The programs' configuration, from user space; constants to the verifier. */
struct lpm_config {
	struct lpm_keys keys;
	__u32 random;
};

static inline void lpm_keys_init(struct lpm_keys *keys, __u32 prefixlen)
{
	keys->prefixlen = prefixlen;
	keys->whole_bytes = prefixlen / 8 < 4 ? (1U << prefixlen / 8 * 8) - 1 : ~0U;
	keys->shift = prefixlen % 8 ? 8 - prefixlen % 8 : 0;
}

/* Key number @n; different ones for all n below 2^prefixlen. */
static inline __attribute__((always_inline)) struct lpm_key
lpm_key(const volatile struct lpm_keys *keys, __u32 n)
{
	__u32 mask = keys->whole_bytes;
	__u32 data = (n & mask) | (n & ~mask) << keys->shift;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	data = __builtin_bswap32(data);
#endif
	return (struct lpm_key){ .prefixlen = keys->prefixlen, .data = data };
}

#endif /* PROGS_LPM_TRIE_H */

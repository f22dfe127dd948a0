/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs of the crypto benchmarks and user space share. */
#ifndef PROGS_CRYPTO_H
#define PROGS_CRYPTO_H

#include <linux/types.h>

#define CRYPTO_MAX_LEN 256

/* The kernel's, whose size it checks. */
struct bpf_crypto_params {
	char type[14];
	__u8 reserved[2];
	char algo[128];
	__u8 key[256];
	__u32 key_len;
	__u32 authsize;
};

#endif /* PROGS_CRYPTO_H */

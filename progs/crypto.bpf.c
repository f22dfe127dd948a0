// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_crypto_encrypt() and bpf_crypto_decrypt() (Linux 6.10) of the first bytes of a packet. Only
 * programs that see packets may call them, and only syscall programs may make what they need.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "cpu_slots.bpf.h"
#include "crypto.h"

char LICENSE[] SEC("license") = "GPL";

/* With a body, or libbpf takes it for something else than the kernel's. */
struct bpf_crypto_ctx {
	int unused;
};

extern struct bpf_crypto_ctx *bpf_crypto_ctx_create(const struct bpf_crypto_params *params,
						    __u32 params__sz, int *err) __ksym __weak;
extern void bpf_crypto_ctx_release(struct bpf_crypto_ctx *ctx) __ksym __weak;
extern int bpf_crypto_encrypt(struct bpf_crypto_ctx *ctx, const struct bpf_dynptr *src,
			      const struct bpf_dynptr *dst,
			      const struct bpf_dynptr *iv) __ksym __weak;
extern int bpf_crypto_decrypt(struct bpf_crypto_ctx *ctx, const struct bpf_dynptr *src,
			      const struct bpf_dynptr *dst,
			      const struct bpf_dynptr *iv) __ksym __weak;
extern int bpf_dynptr_from_skb(struct __sk_buff *skb, __u64 flags,
			       struct bpf_dynptr *ptr) __ksym __weak;
extern int bpf_dynptr_adjust(const struct bpf_dynptr *ptr, __u32 start, __u32 end) __ksym __weak;

/* clang 14 drops the tag of a pointer to a struct; by another name for the struct it keeps it. */
typedef struct bpf_crypto_ctx crypto_ctx;

struct held {
	crypto_ctx __kptr *ctx;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct held);
	__uint(max_entries, 1);
} held SEC(".maps");

/* Where the result goes. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__uint(value_size, CRYPTO_MAX_LEN);
	__uint(max_entries, 1);
} results SEC(".maps");

/* From user space. The kernel wants to be able to write to what it is given. */
struct bpf_crypto_params params;

__u32 len; /* bytes to work on; a packet has no fewer */
int status; /* of crypto_create, or of the last call that failed; else 0 */
__u32 last_cpu; /* that crypto_create or a call with @remember_cpu ran on */
__u32 remember_cpu;

SEC("?syscall")
int crypto_create(void *unused)
{
	struct bpf_crypto_ctx *ctx;
	struct held *h;
	__u32 zero = 0;
	int err = 0;

	ctx = bpf_crypto_ctx_create(&params, sizeof(params), &err);
	if (!ctx) {
		status = err;
		return 0;
	}
	h = bpf_map_lookup_elem(&held, &zero);
	if (h)
		ctx = bpf_kptr_xchg(&h->ctx, ctx);
	else
		status = -ENOENT;
	if (ctx)
		bpf_crypto_ctx_release(ctx);
	return 0;
}

static __always_inline int crypt(struct __sk_buff *skb, bool encrypt)
{
	struct bpf_dynptr src, dst, iv;
	struct bpf_crypto_ctx *ctx;
	__u32 zero = 0, n = len;
	struct held *h;
	void *result;
	int err;

	h = bpf_map_lookup_elem(&held, &zero);
	result = bpf_map_lookup_elem(&results, &zero);
	if (!h || !result || n > CRYPTO_MAX_LEN)
		return -EINVAL;
	ctx = h->ctx;
	if (!ctx)
		return -EINVAL;
	err = bpf_dynptr_from_skb(skb, 0, &src);
	/* A packet is at least as long as an Ethernet header. */
	if (!err && skb->len > n)
		err = bpf_dynptr_adjust(&src, 0, n);
	if (err)
		return err;
	bpf_dynptr_from_mem(result, n, 0, &dst);
	/* There is none. Linux 6.10 wants an empty one; newer kernels would take NULL as well. */
	bpf_dynptr_from_mem(result, 0, 0, &iv);
	return encrypt ? bpf_crypto_encrypt(ctx, &src, &dst, &iv) :
			 bpf_crypto_decrypt(ctx, &src, &dst, &iv);
}

static __always_inline int count(int err)
{
	if (remember_cpu)
		last_cpu = bpf_get_smp_processor_id();
	if (!err) {
		slot_add(SLOT_HITS, 1);
		return TC_ACT_OK;
	}
	status = err;
	slot_add(SLOT_DROPS, 1);
	return TC_ACT_SHOT;
}

SEC("?tc")
int crypto_encrypt(struct __sk_buff *skb)
{
	return count(crypt(skb, true));
}

SEC("?tc")
int crypto_decrypt(struct __sk_buff *skb)
{
	return count(crypt(skb, false));
}

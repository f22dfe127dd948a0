/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What user space knows of the load balancer in xdp_lb.bpf.c: its tables, what it does to packets.
 */
#ifndef PROGS_XDP_LB_H
#define PROGS_XDP_LB_H

#include <linux/types.h>

#define LB_MAX_VIPS   64
#define LB_RING_SIZE  65537 /* a prime: places on the ring of a VIP */
#define LB_MAX_RINGS  16
#define LB_MAX_REALS  512
#define LB_LRU_SIZE   100000 /* connections of a CPU */
#define LB_UDP_EXPIRY 30000000000ULL /* ns after which a UDP connection may go elsewhere */

/* The router that packets go to, and the interface that they come from. */
#define LB_ROUTER_MACS                             \
	{                                          \
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2 \
	}
#define LB_OUTER_PREFIX6 0x01000000 /* 100::/32, which is discarded anywhere (RFC 6666) */

/* IPv4 addresses are the first word, in network byte order as everything here. */
struct lb_vip_key {
	__u32 addr[4];
	__u16 port;
	__u8 proto;
	__u8 v6;
};

enum { LB_VIP_NO_LRU = 1 };

struct lb_vip {
	__u32 number; /* of its ring */
	__u32 flags;
};

struct lb_real {
	__u32 addr[4];
	__u32 v6; /* packets go there in IPv6 */
};

struct lb_flow {
	__u32 src[4];
	__u32 dst[4];
	__u16 src_port, dst_port;
	__u8 proto;
	__u8 pad[3];
};

struct lb_connection {
	__u32 real;
	__u32 pad;
	__u64 used; /* when a UDP packet was last seen, ns */
};

/* Of each CPU. */
struct lb_stats {
	__u64 actions[4]; /* XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX */
	__u64 lookups; /* of connections */
	__u64 misses; /* of these: not found, or expired */
	__u64 bytes; /* of packets passed on */
};

/* What a turn does to the packet before the load balancer gets it, and after. */
struct lb_config {
	__u32 src_offset; /* of the word of the source address that is drawn */
	__u32 src_bits; /* of it that are random; 0: it stays */
	__u32 salted; /* the bits above them are the batch's */
	__u32 encap; /* bytes that the encapsulation puts in front */
	__u32 eth[3]; /* the packet's Ethernet header, which the encapsulation overwrites */
	__u16 eth_proto;
};

static inline __u32 lb_mix(__u32 x)
{
	/* The finalizer of MurmurHash3 (Austin Appleby, public domain) */
	x ^= x >> 16;
	x *= 0x85ebca6b;
	x ^= x >> 13;
	x *= 0xc2b2ae35;
	return x ^ x >> 16;
}

static inline __u32 lb_hash_flow(const struct lb_flow *flow)
{
	__u32 h = lb_mix((__u32)flow->src_port << 16 | flow->dst_port);

	h = lb_mix(h ^ flow->src[0]);
	h = lb_mix(h ^ flow->src[1]);
	h = lb_mix(h ^ flow->src[2]);
	return lb_mix(h ^ flow->src[3]);
}

/* The source of the outer IPv4 header, 172.16.0.0/16, so that routers spread the flows. */
static inline __u32 lb_outer_src(const struct lb_flow *flow)
{
	const __u32 low = (flow->src[0] ^ flow->src_port) & 0xffff;

	return 0x10ac | low << 16;
}

#endif /* PROGS_XDP_LB_H */

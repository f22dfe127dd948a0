// SPDX-License-Identifier: GPL-2.0
/*
 * A layer-4 load balancer, as large ones are built: a packet to one of its addresses (VIPs) goes to
 * the server that its connection has been given, in a packet of its own (IP in IP). Connections are
 * kept in an LRU of each CPU; a new one gets its server by a ring of hashes.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "timing.bpf.h"
#include "xdp_lb.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct lb_config config = {};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct lb_vip_key);
	__type(value, struct lb_vip);
	__uint(max_entries, LB_MAX_VIPS);
} vips SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, LB_MAX_RINGS *LB_RING_SIZE);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct lb_real);
	__uint(max_entries, LB_MAX_REALS);
} reals SEC(".maps");

struct lru {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(key_size, sizeof(struct lb_flow));
	__uint(value_size, sizeof(struct lb_connection));
	__uint(max_entries, LB_LRU_SIZE);
};

/* By CPU; user space makes those of the CPUs that are there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, 1);
	__array(values, struct lru);
} lrus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct lb_stats);
	__uint(max_entries, 1);
} stats SEC(".maps");

/* What is known of the packet. */
struct packet {
	struct lb_flow flow;
	__u32 length; /* from the IP header on */
	__u8 v6;
	__u8 syn;
	__u8 rst;
};

/* ---- parsing: 0, or the action that ends it */

#define GO_ON (-1)

static __always_inline int parse_ports(void *l4, void *end, struct packet *p)
{
	struct udphdr *udp = l4;
	struct tcphdr *tcp = l4;

	if (p->flow.proto == IPPROTO_TCP) {
		if ((void *)(tcp + 1) > end)
			return XDP_DROP;
		p->syn = tcp->syn;
		p->rst = tcp->rst;
	} else if (p->flow.proto == IPPROTO_UDP) {
		if ((void *)(udp + 1) > end)
			return XDP_DROP;
	} else {
		return XDP_PASS;
	}
	p->flow.src_port = udp->source;
	p->flow.dst_port = udp->dest;
	return GO_ON;
}

#define IP_MF_OR_OFFSET 0x3fff

static __always_inline int parse_v4(struct iphdr *ip, void *end, struct packet *p)
{
	if ((void *)(ip + 1) > end || ip->ihl != 5 || ip->frag_off & bpf_htons(IP_MF_OR_OFFSET))
		return XDP_DROP;
	p->flow.proto = ip->protocol;
	p->flow.src[0] = ip->saddr;
	p->flow.dst[0] = ip->daddr;
	p->length = bpf_ntohs(ip->tot_len);
	return parse_ports(ip + 1, end, p);
}

static __always_inline int parse_v6(struct ipv6hdr *ip, void *end, struct packet *p)
{
	if ((void *)(ip + 1) > end || ip->nexthdr == IPPROTO_FRAGMENT)
		return XDP_DROP;
	p->v6 = 1;
	p->flow.proto = ip->nexthdr;
	__builtin_memcpy(p->flow.src, &ip->saddr, sizeof(p->flow.src));
	__builtin_memcpy(p->flow.dst, &ip->daddr, sizeof(p->flow.dst));
	p->length = bpf_ntohs(ip->payload_len) + sizeof(*ip);
	return parse_ports(ip + 1, end, p);
}

static __always_inline int parse(struct xdp_md *ctx, struct packet *p)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;

	if ((void *)(eth + 1) > end)
		return XDP_DROP;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		return parse_v4((void *)(eth + 1), end, p);
	if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		return parse_v6((void *)(eth + 1), end, p);
	return XDP_PASS;
}

/* ---- where to */

static __always_inline struct lb_real *real_of_ring(const struct lb_vip *vip,
						    const struct lb_flow *flow, __u32 *number)
{
	__u32 place = vip->number * LB_RING_SIZE + lb_hash_flow(flow) % LB_RING_SIZE;
	__u32 *real = bpf_map_lookup_elem(&rings, &place);

	if (!real)
		return NULL;
	*number = *real;
	return bpf_map_lookup_elem(&reals, number);
}

static __always_inline struct lb_real *real_of_connection(void *lru, struct packet *p,
							  struct lb_stats *st)
{
	struct lb_connection *c;
	__u64 now;

	st->lookups++;
	c = bpf_map_lookup_elem(lru, &p->flow);
	if (c && p->flow.proto == IPPROTO_UDP) {
		now = bpf_ktime_get_ns();
		if (now - c->used > LB_UDP_EXPIRY)
			c = NULL;
		else
			c->used = now;
	}
	if (c)
		return bpf_map_lookup_elem(&reals, &c->real);
	st->misses++;
	return NULL;
}

static __always_inline struct lb_real *choose_real(const struct lb_vip *vip, struct packet *p,
						   struct lb_stats *st)
{
	struct lb_connection c = {};
	struct lb_real *real;
	__u32 cpu, number;
	void *lru;

	if (vip->flags & LB_VIP_NO_LRU)
		return real_of_ring(vip, &p->flow, &number);
	cpu = bpf_get_smp_processor_id();
	lru = bpf_map_lookup_elem(&lrus, &cpu);
	if (!lru)
		return NULL;
	/* A SYN begins a new connection, and a RST is none to be remembered. */
	if (!p->syn) {
		real = real_of_connection(lru, p, st);
		if (real)
			return real;
	}
	real = real_of_ring(vip, &p->flow, &number);
	if (!real || p->rst)
		return real;
	c.real = number;
	if (p->flow.proto == IPPROTO_UDP)
		c.used = bpf_ktime_get_ns();
	bpf_map_update_elem(lru, &p->flow, &c, BPF_ANY);
	return real;
}

/* ---- encapsulation */

static __always_inline __u16 ip_checksum(const struct iphdr *ip)
{
	const __u16 *words = (const void *)ip;
	__u32 sum = 0, i;

#pragma clang loop unroll(full)
	for (i = 0; i < sizeof(*ip) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static __always_inline void new_eth(struct ethhdr *eth, __u16 proto)
{
	static const __u8 macs[2 * ETH_ALEN] = LB_ROUTER_MACS;

	__builtin_memcpy(eth, macs, sizeof(macs));
	eth->h_proto = bpf_htons(proto);
}

/* Room for an outer header of @size bytes behind a new Ethernet header; NULL: there is none. */
static __always_inline void *push_outer(struct xdp_md *ctx, __u32 size, __u16 proto)
{
	struct ethhdr *eth;
	void *outer;

	if (bpf_xdp_adjust_head(ctx, -(int)size))
		return NULL;
	eth = (void *)(long)ctx->data;
	outer = eth + 1;
	if (outer + size > (void *)(long)ctx->data_end)
		return NULL;
	new_eth(eth, proto);
	return outer;
}

static __always_inline int encapsulate_v4(struct xdp_md *ctx, struct packet *p,
					  const struct lb_real *real)
{
	struct iphdr *ip = push_outer(ctx, sizeof(*ip), ETH_P_IP);

	if (!ip)
		return XDP_DROP;
	__builtin_memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->tot_len = bpf_htons(p->length + sizeof(*ip));
	ip->ttl = 64;
	ip->protocol = IPPROTO_IPIP;
	ip->saddr = lb_outer_src(&p->flow);
	ip->daddr = real->addr[0];
	ip->check = ip_checksum(ip);
	return XDP_TX;
}

static __always_inline int encapsulate_v6(struct xdp_md *ctx, struct packet *p,
					  const struct lb_real *real)
{
	struct ipv6hdr *ip = push_outer(ctx, sizeof(*ip), ETH_P_IPV6);

	if (!ip)
		return XDP_DROP;
	__builtin_memset(ip, 0, sizeof(*ip));
	ip->version = 6;
	ip->payload_len = bpf_htons(p->length);
	ip->nexthdr = p->v6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
	ip->hop_limit = 64;
	ip->saddr.s6_addr32[0] = bpf_htonl(LB_OUTER_PREFIX6);
	ip->saddr.s6_addr32[3] = lb_outer_src(&p->flow);
	__builtin_memcpy(&ip->daddr, real->addr, sizeof(ip->daddr));
	return XDP_TX;
}

/* ---- the whole */

static __always_inline int balance(struct xdp_md *ctx, struct lb_stats *st)
{
	struct lb_vip_key key = {};
	struct packet p = {};
	struct lb_real *real;
	struct lb_vip *vip;
	int action;

	action = parse(ctx, &p);
	if (action != GO_ON)
		return action;
	__builtin_memcpy(key.addr, p.flow.dst, sizeof(key.addr));
	key.port = p.flow.dst_port;
	key.proto = p.flow.proto;
	key.v6 = p.v6;
	vip = bpf_map_lookup_elem(&vips, &key);
	if (!vip)
		return XDP_PASS;
	real = choose_real(vip, &p, st);
	if (!real)
		return XDP_DROP;
	st->bytes += p.length;
	return real->v6 ? encapsulate_v6(ctx, &p, real) : encapsulate_v4(ctx, &p, real);
}

/* Not static, so that the verifier looks at it once and not in each turn of a loop. */
__attribute__((noinline)) int lb_packet(struct xdp_md *ctx)
{
	struct lb_stats *st;
	__u32 zero = 0;
	int action;

	st = bpf_map_lookup_elem(&stats, &zero);
	if (!st)
		return XDP_ABORTED;
	action = balance(ctx, st);
	st->actions[action & 3]++;
	return action;
}

/* One packet, to be looked at. */
SEC("?xdp")
int lb_once(struct xdp_md *ctx)
{
	return lb_packet(ctx);
}

/* Makes the packet of a turn. */
static __always_inline void draw(struct xdp_md *ctx, __u64 turn, const struct timing_args *args)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 src, *at = data + config.src_offset, *eth = data;

	if (data + sizeof(struct ethhdr) > end || (void *)(at + 1) > end)
		return;
	/* Word by word, for memcpy() would take it for the constant that it is before the load. */
	eth[0] = config.eth[0];
	eth[1] = config.eth[1];
	eth[2] = config.eth[2];
	((struct ethhdr *)data)->h_proto = config.eth_proto;
	if (!config.src_bits)
		return;
	src = lb_mix(lb_mix(turn) ^ args->producer) & ((1U << config.src_bits) - 1);
	if (config.salted)
		src |= args->salt << config.src_bits;
	*at = src;
}

TIMED_XDP(lb)
{
	draw(ctx, turn, args);
	if (lb_packet(ctx) == XDP_TX && config.encap)
		bpf_xdp_adjust_head(ctx, config.encap);
}

TIMED_XDP(lb_nothing)
{
	draw(ctx, turn, args);
}

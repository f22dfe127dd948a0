// SPDX-License-Identifier: GPL-2.0
/*
 * xdp-lb: a packet through a layer-4 load balancer (progs/xdp_lb.bpf.c), by scenarios: what the
 * packet is, and whether its connection is known.
 *
 * Each scenario is one row of a table. Before anything is measured, one packet is looked at: what
 * became of it, to the byte. While it is measured, the program counts what became of all others,
 * and how many connections it looked for in vain.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/hashmaps.h"
#include "lib/run/timing.h"
#include "progs/timing.h"
#include "progs/xdp_lb.h"
#include "xdp_lb.skel.h"

/* ---- scenarios */

enum packet_kind {
	PACKET_PLAIN,
	PACKET_ICMP,
	PACKET_ARP,
	PACKET_FRAGMENT,
	PACKET_OPTIONS,
};

enum lru_use {
	LRU_NONE, /* it is not asked */
	LRU_HIT, /* the connection is put there before */
	LRU_LEARNS, /* what is not there gets there */
	LRU_FORGETS, /* it does not */
};

struct scenario {
	const char *name, *help;
	bool v6; /* the packet */
	bool to_v6; /* the encapsulation */
	uint8_t proto;
	enum packet_kind kind;
	bool syn, rst;
	bool no_vip; /* its address is none of the load balancer's */
	bool bypass; /* that of the VIP that has no LRU */
	unsigned int src_bits; /* of the source address that are random */
	unsigned int batch; /* turns of each, with connections of its own; 0: as time has it */
	enum xdp_action action;
	enum lru_use lru;
	double min_miss_pct, max_miss_pct; /* of lookups, while it is measured; 0, 0: none at all */
};

#define V4	   .v6 = false
#define V6	   .v6 = true, .to_v6 = true
#define TCP	   .proto = IPPROTO_TCP
#define UDP	   .proto = IPPROTO_UDP
#define TX	   .action = XDP_TX
#define HIT	   TX, .lru = LRU_HIT
#define BYPASS	   TX, .lru = LRU_NONE, .bypass = true
#define PASS	   .action = XDP_PASS
#define DROP	   .action = XDP_DROP
#define DIVERSE(n) .src_bits = (n)

/* Of so many packets of 4096 sources, 50.1 % are the first of theirs. */
#define WARMUP_BATCH 6500

static const struct scenario scenarios[] = {
	/* one connection */
	{ "tcp-v4-lru-hit", "IPv4 TCP, known connection", V4, TCP, HIT },
	{ "tcp-v4-ch", "IPv4 TCP, by the ring of hashes alone", V4, TCP, BYPASS },
	{ "tcp-v6-lru-hit", "IPv6 TCP, known connection", V6, TCP, HIT },
	{ "tcp-v6-ch", "IPv6 TCP, by the ring of hashes alone", V6, TCP, BYPASS },
	{ "udp-v4-lru-hit", "IPv4 UDP, known connection", V4, UDP, HIT },
	{ "udp-v6-lru-hit", "IPv6 UDP, known connection", V6, UDP, HIT },
	{ "tcp-v4v6-lru-hit", "IPv4 TCP in IPv6, known connection", V4, .to_v6 = true, TCP, HIT },
	/* many connections, that the LRU holds after a while */
	{ "tcp-v4-lru-diverse", "IPv4 TCP, 4096 sources", V4, TCP, TX, DIVERSE(12),
	  .lru = LRU_LEARNS, .max_miss_pct = 50 },
	{ "tcp-v4-ch-diverse", "IPv4 TCP, 4096 sources, by the ring of hashes alone", V4, TCP,
	  BYPASS, DIVERSE(12) },
	{ "tcp-v6-lru-diverse", "IPv6 TCP, 4096 sources", V6, TCP, TX, DIVERSE(12),
	  .lru = LRU_LEARNS, .max_miss_pct = 50 },
	{ "tcp-v6-ch-diverse", "IPv6 TCP, 4096 sources, by the ring of hashes alone", V6, TCP,
	  BYPASS, DIVERSE(12) },
	{ "udp-v4-lru-diverse", "IPv4 UDP, 4096 sources", V4, UDP, TX, DIVERSE(12),
	  .lru = LRU_LEARNS, .max_miss_pct = 50 },
	/* flags */
	{ "tcp-v4-syn", "IPv4 TCP SYN, each of another connection, which is put into the LRU", V4,
	  TCP, TX, .syn = true, DIVERSE(24), .lru = LRU_NONE },
	{ "tcp-v4-rst-miss", "IPv4 TCP RST of an unknown connection, which stays unknown", V4, TCP,
	  TX, .rst = true, .lru = LRU_FORGETS, .min_miss_pct = 100, .max_miss_pct = 100 },
	/* more connections than the LRU holds, or new ones */
	{ "tcp-v4-lru-miss", "IPv4 TCP, 16777216 sources", V4, TCP, TX, DIVERSE(24),
	  .lru = LRU_LEARNS, .min_miss_pct = 99, .max_miss_pct = 100 },
	{ "udp-v4-lru-miss", "IPv4 UDP, 16777216 sources", V4, UDP, TX, DIVERSE(24),
	  .lru = LRU_LEARNS, .min_miss_pct = 99, .max_miss_pct = 100 },
	{ "tcp-v4-lru-warmup", "IPv4 TCP, 6500 packets of 4096 new sources in each batch", V4, TCP,
	  TX, DIVERSE(12), .batch = WARMUP_BATCH, .lru = LRU_LEARNS, .min_miss_pct = 49,
	  .max_miss_pct = 51.5 },
	/* no packet for the load balancer, or none that it takes */
	{ "pass-v4-no-vip", "IPv4 TCP to another address", V4, TCP, PASS, .no_vip = true },
	{ "pass-v6-no-vip", "IPv6 TCP to another address", V6, TCP, PASS, .no_vip = true },
	{ "pass-v4-icmp", "ICMP", V4, .proto = IPPROTO_ICMP, PASS, .kind = PACKET_ICMP },
	{ "pass-non-ip", "ARP", V4, TCP, PASS, .kind = PACKET_ARP },
	{ "drop-v4-frag", "IPv4 fragment", V4, TCP, DROP, .kind = PACKET_FRAGMENT },
	{ "drop-v4-options", "IPv4 with options", V4, TCP, DROP, .kind = PACKET_OPTIONS },
	{ "drop-v6-frag", "IPv6 fragment", V6, TCP, DROP, .kind = PACKET_FRAGMENT },
};

#define NR_SCENARIOS ARRAY_SIZE(scenarios)

/* The scenarios' names, for the option: filled in before main(), ended by NULL. */
static const char *scenario_names[NR_SCENARIOS + 1];

static void __attribute__((constructor)) name_scenarios(void)
{
	size_t i;

	for (i = 0; i < NR_SCENARIOS; i++)
		scenario_names[i] = scenarios[i].name;
}

struct xdp_lb_params {
	int scenario;
	bool list;
	bool machine_readable;
};

static const struct opt xdp_lb_opts[] = {
	{ .name = "scenario",
	  .arg = "NAME",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct xdp_lb_params, scenario),
	  .choices = scenario_names,
	  .allowed = "one of those that --list-scenarios prints",
	  .help = "What the packets are, and whether their connections are known" },
	{ .name = "list-scenarios",
	  .type = OPT_FLAG,
	  .at = offsetof(struct xdp_lb_params, list),
	  .is_subject = true,
	  .help = "Print the scenarios, and exit" },
	{ .name = "machine-readable",
	  .type = OPT_FLAG,
	  .at = offsetof(struct xdp_lb_params, machine_readable),
	  .is_subject = true,
	  .is_quiet = true,
	  .help = "Print one line that begins with RESULT, and nothing else" },
};

static const struct scenario *scenario_of(const struct bench_run *run)
{
	const struct xdp_lb_params *params = run->params;

	return &scenarios[params->scenario];
}

static bool xdp_lb_print(const struct bench_run *run, FILE *out)
{
	const struct xdp_lb_params *params = run->params;
	size_t i;

	if (!params->list)
		return false;
	for (i = 0; i < NR_SCENARIOS; i++)
		fprintf(out, "%-20s %s\n", scenarios[i].name, scenarios[i].help);
	return true;
}

/* ---- packets */

#define VIP_PORT    443
#define CLIENT_PORT 31337
#define BYPASS_VIP  2

/* Of the VIPs: 1 is the usual one, 2 that without an LRU, 3 one whose servers have IPv6 alone. */
static uint32_t vip_v4(unsigned int number)
{
	return htonl(0xc6336400 + number); /* 198.51.100.0/24 */
}

static void vip_v6(unsigned int number, uint32_t *addr)
{
	const uint32_t v[4] = { htonl(0x20010db8), 0, 0, htonl(number) };

	memcpy(addr, v, sizeof(v));
}

static unsigned int vip_number(const struct scenario *sc)
{
	if (sc->no_vip)
		return 99;
	if (sc->bypass)
		return BYPASS_VIP;
	return sc->to_v6 && !sc->v6 ? 3 : 1;
}

struct packet {
	unsigned char data[256];
	size_t size;
};

static void put(struct packet *p, const void *data, size_t size)
{
	memcpy(p->data + p->size, data, size);
	p->size += size;
}

static void put_eth(struct packet *p, uint16_t proto)
{
	static const unsigned char macs[] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3 };

	proto = htons(proto);
	put(p, macs, sizeof(macs));
	put(p, &proto, sizeof(proto));
}

static void put_l4(struct packet *p, const struct scenario *sc)
{
	static const char payload[16];
	struct tcphdr tcp = {
		.source = htons(CLIENT_PORT),
		.dest = htons(VIP_PORT),
		.doff = 5,
		.syn = sc->syn,
		.rst = sc->rst,
		.ack = !sc->syn,
	};
	struct udphdr udp = {
		.source = htons(CLIENT_PORT),
		.dest = htons(VIP_PORT),
		.len = htons(sizeof(udp) + sizeof(payload)),
	};

	if (sc->proto == IPPROTO_UDP)
		put(p, &udp, sizeof(udp));
	else
		put(p, &tcp, sizeof(tcp));
	put(p, payload, sizeof(payload));
}

static struct lb_flow flow_of(const struct scenario *sc)
{
	struct lb_flow f = {
		.src_port = htons(CLIENT_PORT),
		.dst_port = htons(VIP_PORT),
		.proto = sc->proto,
	};

	if (sc->v6) {
		f.src[0] = htonl(0x20010db8);
		f.src[1] = htonl(1);
		f.src[3] = htonl(1);
		vip_v6(vip_number(sc), f.dst);
	} else {
		f.src[0] = htonl(0xc0000201); /* 192.0.2.1 */
		f.dst[0] = vip_v4(vip_number(sc));
	}
	return f;
}

static void put_v4(struct packet *p, const struct scenario *sc, size_t l4_size)
{
	const struct lb_flow f = flow_of(sc);
	struct iphdr ip = {
		.version = 4,
		.ihl = 5 + (sc->kind == PACKET_OPTIONS),
		.tot_len = htons(sizeof(ip) + 4 * (sc->kind == PACKET_OPTIONS) + l4_size),
		.frag_off = htons(sc->kind == PACKET_FRAGMENT ? 0x2000 : 0x4000),
		.ttl = 61,
		.protocol = sc->proto,
		.saddr = f.src[0],
		.daddr = f.dst[0],
	};

	put(p, &ip, sizeof(ip));
	if (sc->kind == PACKET_OPTIONS)
		put(p, "\1\1\1", 4);
}

static void put_v6(struct packet *p, const struct scenario *sc, size_t l4_size)
{
	const struct lb_flow f = flow_of(sc);
	struct ipv6hdr ip = {
		.version = 6,
		.payload_len = htons(l4_size),
		.nexthdr = sc->kind == PACKET_FRAGMENT ? IPPROTO_FRAGMENT : sc->proto,
		.hop_limit = 61,
	};

	memcpy(&ip.saddr, f.src, sizeof(f.src));
	memcpy(&ip.daddr, f.dst, sizeof(f.dst));
	put(p, &ip, sizeof(ip));
}

static struct packet make_packet(const struct scenario *sc)
{
	struct packet l4 = {}, p = {};

	put_l4(&l4, sc);
	put_eth(&p, sc->kind == PACKET_ARP ? ETH_P_ARP : sc->v6 ? ETH_P_IPV6 : ETH_P_IP);
	if (sc->v6)
		put_v6(&p, sc, l4.size);
	else
		put_v4(&p, sc, l4.size);
	put(&p, l4.data, l4.size);
	return p;
}

/* ---- tables: servers 0 to 255 have IPv4 addresses, 256 to 511 IPv6 ones */

#define NR_REALS_V4 256

static struct lb_real real_number(unsigned int number)
{
	struct lb_real r = { .v6 = number >= NR_REALS_V4 };

	if (r.v6) {
		r.addr[0] = htonl(0xfd000000);
		r.addr[3] = htonl(number);
	} else {
		r.addr[0] = htonl(0x0a000000 + number + 1);
	}
	return r;
}

/* Rings 0 and 2: servers with IPv4; 1 and 3: with IPv6. */
static unsigned int ring_of(const struct scenario *sc)
{
	return (sc->to_v6 ? 1 : 0) + (sc->bypass ? 2 : 0);
}

/* Each server about as often as any other, all over the ring. */
static unsigned int real_at(unsigned int ring, unsigned int place)
{
	return lb_mix(ring << 20 ^ place) % NR_REALS_V4 + (ring & 1 ? NR_REALS_V4 : 0);
}

static unsigned int real_of(const struct scenario *sc, const struct lb_flow *flow)
{
	return real_at(ring_of(sc), lb_hash_flow(flow) % LB_RING_SIZE);
}

static uint16_t checksum(const void *data, size_t size)
{
	const uint16_t *words = data;
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < size / 2; i++)
		sum += words[i];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* What becomes of the packet. */
static struct packet expected_packet(const struct scenario *sc, const struct packet *in)
{
	static const unsigned char macs[] = LB_ROUTER_MACS;
	const uint16_t eth_proto = htons(sc->to_v6 ? ETH_P_IPV6 : ETH_P_IP);
	const size_t inner = in->size - sizeof(struct ethhdr);
	const struct lb_flow flow = flow_of(sc);
	const struct lb_real real = real_number(real_of(sc, &flow));
	struct ipv6hdr ip6 = {
		.version = 6,
		.payload_len = htons(inner),
		.nexthdr = sc->v6 ? IPPROTO_IPV6 : IPPROTO_IPIP,
		.hop_limit = 64,
	};
	struct iphdr ip4 = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(ip4) + inner),
		.ttl = 64,
		.protocol = IPPROTO_IPIP,
		.saddr = lb_outer_src(&flow),
		.daddr = real.addr[0],
	};
	struct packet out = {};

	if (sc->action != XDP_TX)
		return *in;
	put(&out, macs, sizeof(macs));
	put(&out, &eth_proto, sizeof(eth_proto));
	if (sc->to_v6) {
		ip6.saddr.s6_addr32[0] = htonl(LB_OUTER_PREFIX6);
		ip6.saddr.s6_addr32[3] = lb_outer_src(&flow);
		memcpy(&ip6.daddr, real.addr, sizeof(real.addr));
		put(&out, &ip6, sizeof(ip6));
	} else {
		ip4.check = checksum(&ip4, sizeof(ip4));
		put(&out, &ip4, sizeof(ip4));
	}
	put(&out, in->data + sizeof(struct ethhdr), inner);
	return out;
}

/* ---- set-up */

/* Of one producer: its packet, with the program's arguments in front. */
struct feeder {
	struct {
		struct timing_args args;
		unsigned char data[256];
	} in;
	uint64_t batches;
	uint64_t runs; /* of the measured program */
} __attribute__((aligned(BENCH_CACHELINE)));

struct xdp_lb_ctx {
	const struct scenario *sc;
	struct xdp_lb_bpf *skel;
	struct timing_prog prog;
	struct timing *timing;
	struct packet packet;
	struct feeder *feeders;
	struct lb_stats *per_cpu; /* room for a lookup */
	int nr_cpus; /* that it has values of */
	struct cpuset online;
	uint64_t once; /* packets that were looked at before */
};

static struct lb_stats read_stats(const struct xdp_lb_ctx *ctx)
{
	struct lb_stats sum = {};
	uint32_t zero = 0;
	size_t k;
	int i;

	if (bpf_map_lookup_elem(bpf_map__fd(ctx->skel->maps.stats), &zero, ctx->per_cpu))
		return sum;
	for (i = 0; i < ctx->nr_cpus; i++) {
		for (k = 0; k < ARRAY_SIZE(sum.actions); k++)
			sum.actions[k] += ctx->per_cpu[i].actions[k];
		sum.lookups += ctx->per_cpu[i].lookups;
		sum.misses += ctx->per_cpu[i].misses;
		sum.bytes += ctx->per_cpu[i].bytes;
	}
	return sum;
}

static int fill_vips(const struct xdp_lb_ctx *ctx)
{
	const int fd = bpf_map__fd(ctx->skel->maps.vips);
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP };
	struct lb_vip_key key;
	struct lb_vip vip;
	unsigned int nr, v6, i;
	int err = 0;

	for (nr = 1; nr <= 3; nr++) {
		for (v6 = 0; v6 < 2; v6++) {
			for (i = 0; i < ARRAY_SIZE(protos) && !err; i++) {
				key = (struct lb_vip_key){
					.port = htons(VIP_PORT),
					.proto = protos[i],
					.v6 = v6,
				};
				if (v6)
					vip_v6(nr, key.addr);
				else
					key.addr[0] = vip_v4(nr);
				vip = (struct lb_vip){
					.number = (v6 || nr == 3) + (nr == BYPASS_VIP ? 2 : 0),
					.flags = nr == BYPASS_VIP ? LB_VIP_NO_LRU : 0,
				};
				err = bpf_map_update_elem(fd, &key, &vip, BPF_ANY);
			}
		}
	}
	return err;
}

static int fill_rings(const struct xdp_lb_ctx *ctx)
{
	const uint32_t nr = 4 * LB_RING_SIZE;
	uint32_t *keys = calloc(nr, sizeof(*keys)), *values = calloc(nr, sizeof(*values)), i;
	uint32_t count = nr;
	int err = -ENOMEM;

	for (i = 0; keys && values && i < nr; i++) {
		keys[i] = i;
		values[i] = real_at(i / LB_RING_SIZE, i % LB_RING_SIZE);
	}
	if (keys && values)
		err = bpf_map_update_batch(bpf_map__fd(ctx->skel->maps.rings), keys, values, &count,
					   NULL);
	free(keys);
	free(values);
	return err;
}

static int fill_reals(const struct xdp_lb_ctx *ctx)
{
	struct lb_real real;
	uint32_t i;
	int err = 0;

	for (i = 0; i < LB_MAX_REALS && !err; i++) {
		real = real_number(i);
		err = bpf_map_update_elem(bpf_map__fd(ctx->skel->maps.reals), &i, &real, BPF_ANY);
	}
	return err;
}

/* An LRU for each CPU that there is, with the connection in it where it is to be known. */
static int make_lrus(const struct xdp_lb_ctx *ctx)
{
	const struct lb_flow flow = flow_of(ctx->sc);
	const struct lb_connection c = {
		.real = real_of(ctx->sc, &flow),
		.used = now_ns(),
	};
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		    .map_flags = bpf_map__map_flags(ctx->skel->maps.vips));
	int err = 0, fd, i;

	for (i = 0; i < ctx->online.cnt && !err; i++) {
		fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "lru", sizeof(flow), sizeof(c),
				    LB_LRU_SIZE, &opts);
		if (fd < 0) {
			err = fd;
			break;
		}
		if (ctx->sc->lru == LRU_HIT)
			err = bpf_map_update_elem(fd, &flow, &c, BPF_ANY);
		if (!err)
			err = bpf_map_update_elem(bpf_map__fd(ctx->skel->maps.lrus),
						  &ctx->online.cpus[i], &fd, BPF_ANY);
		close(fd);
	}
	return err;
}

/* One packet: what the load balancer does with it, and what it counts. */
static int look_at_one(struct bench_run *run, struct xdp_lb_ctx *ctx)
{
	const struct packet expected = expected_packet(ctx->sc, &ctx->packet);
	struct lb_stats before = read_stats(ctx), after;
	unsigned char out[sizeof(expected.data)];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = ctx->packet.data,
		    .data_size_in = ctx->packet.size, .data_out = out,
		    .data_size_out = sizeof(out));
	uint64_t lookups, misses;
	int err;

	err = bpf_prog_test_run_opts(bpf_program__fd(ctx->skel->progs.lb_once), &opts);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot run the program");
	ctx->once++;
	after = read_stats(ctx);
	lookups = after.lookups - before.lookups;
	misses = after.misses - before.misses;
	if (opts.retval != ctx->sc->action)
		return bench_failed(&run->err, 0, "%s: the load balancer returns %u, not %u",
				    ctx->sc->name, opts.retval, ctx->sc->action);
	if (opts.data_size_out != expected.size || memcmp(out, expected.data, expected.size))
		return bench_failed(&run->err, 0, "%s: not the packet that it should become",
				    ctx->sc->name);
	if (after.actions[ctx->sc->action] - before.actions[ctx->sc->action] != 1 ||
	    lookups != (ctx->sc->lru != LRU_NONE) ||
	    misses != (ctx->sc->lru == LRU_LEARNS || ctx->sc->lru == LRU_FORGETS))
		return bench_failed(&run->err, 0,
				    "%s: the load balancer counts %" PRIu64 " lookups and %" PRIu64
				    " misses of one packet",
				    ctx->sc->name, lookups, misses);
	return 0;
}

static void configure(struct xdp_lb_ctx *ctx)
{
	const struct scenario *sc = ctx->sc;
	struct lb_config config = {
		.src_bits = sc->src_bits,
		.salted = sc->batch > 0,
		.encap = sc->action != XDP_TX ? 0 :
			 sc->to_v6	      ? sizeof(struct ipv6hdr) :
						sizeof(struct iphdr),
		.src_offset =
			sizeof(struct ethhdr) + (sc->v6 ? offsetof(struct ipv6hdr, saddr) + 12 :
							  offsetof(struct iphdr, saddr)),
	};

	memcpy(config.eth, ctx->packet.data, sizeof(config.eth));
	memcpy(&config.eth_proto, ctx->packet.data + sizeof(config.eth), sizeof(config.eth_proto));
	memcpy((void *)&ctx->skel->rodata->config, &config, sizeof(config));
}

/* As the kernel has it: an element, its key and value, and the bucket. */
#define LRU_BYTES (LB_LRU_SIZE * (80 + sizeof(struct lb_flow) + sizeof(struct lb_connection) + 16))

static int check_memory(struct bench_run *run, int nr_cpus)
{
	const uint64_t need = nr_cpus * LRU_BYTES + 4 * LB_MAX_RINGS * LB_RING_SIZE * 2;
	enum meminfo_limit limit;
	uint64_t have = bench_memory_available(need, &limit);

	if (need <= have)
		return 0;
	return bench_unavailable(&run->err,
				 "the connections of %d CPUs need %.1f MiB, and %.1f MiB are left",
				 nr_cpus, need / 1048576.0, have / 1048576.0);
}

static int xdp_lb_batch(struct bench_thread *t, bool nothing, uint64_t turns,
			struct timing_batch *out)
{
	struct xdp_lb_ctx *ctx = t->run->priv;
	struct feeder *f = &ctx->feeders[t->idx];
	struct xdp_md md = {
		.data = sizeof(f->in.args),
		.data_end = sizeof(f->in.args) + ctx->packet.size,
	};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = &f->in, .data_size_in = md.data_end,
		    .ctx_in = &md, .ctx_size_in = sizeof(md));

	f->runs += !nothing;
	/* Of no other batch, and of no other producer. */
	f->in.args.salt = f->batches++ * t->run->cfg->producers + t->idx;
	return timing_prog_batch(&ctx->prog, t, nothing, turns, &opts, &f->in.args, out);
}

static int make_feeders(struct bench_run *run, struct xdp_lb_ctx *ctx)
{
	size_t nr = run->cfg->producers, i;

	ctx->nr_cpus = cpuset_limit();
	ctx->per_cpu = calloc(ctx->nr_cpus, sizeof(*ctx->per_cpu));
	ctx->feeders = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*ctx->feeders));
	if (!ctx->per_cpu || !ctx->feeders)
		return bench_failed(&run->err, ENOMEM, "cannot set up xdp-lb");
	memset(ctx->feeders, 0, nr * sizeof(*ctx->feeders));
	for (i = 0; i < nr; i++)
		memcpy(ctx->feeders[i].in.data, ctx->packet.data, ctx->packet.size);
	return 0;
}

static int fill_tables(struct bench_run *run, struct xdp_lb_ctx *ctx)
{
	int err;

	err = fill_vips(ctx);
	if (!err)
		err = fill_rings(ctx);
	if (!err)
		err = fill_reals(ctx);
	if (!err)
		err = make_lrus(ctx);
	return err ? bench_bpf_error(&run->err, err, "cannot fill the tables of xdp-lb") : 0;
}

static int xdp_lb_setup(struct bench_run *run)
{
	struct xdp_lb_ctx *ctx;
	uint32_t flags;
	int err;

	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->sc = scenario_of(run);
	ctx->packet = make_packet(ctx->sc);
	ctx->timing = timing_new(run, xdp_lb_batch, "packets", 1 << 23, TIMING_BATCH_NS);
	if (!ctx->timing)
		return -ENOMEM;
	if (ctx->sc->batch)
		timing_fix_turns(ctx->timing, ctx->sc->batch);
	err = cpuset_online(&ctx->online);
	if (err)
		return bench_failed(&run->err, err, "cannot find out which CPUs are online");
	err = check_memory(run, ctx->online.cnt);
	if (!err)
		err = make_feeders(run, ctx);
	if (err)
		return err;
	ctx->skel = xdp_lb_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	configure(ctx);
	bpf_program__set_autoload(ctx->skel->progs.lb_once, true);
	bpf_map__set_max_entries(ctx->skel->maps.lrus, cpuset_limit());
	flags = hashmap_no_seed();
	bpf_map__set_map_flags(ctx->skel->maps.vips, flags);
	bpf_map__set_map_flags(bpf_map__inner_map(ctx->skel->maps.lrus), flags);
	hashmap_note_seed(run, flags);
	err = timing_prog_prepare(run, ctx->skel->obj, "lb", "lb_nothing", &ctx->prog);
	if (!err)
		err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		err = fill_tables(run, ctx);
	if (!err)
		err = look_at_one(run, ctx);
	return err ? err : timing_prog_start(run, &ctx->prog);
}

static void xdp_lb_teardown(struct bench_run *run)
{
	struct xdp_lb_ctx *ctx = run->priv;

	if (!ctx)
		return;
	timing_prog_end(&ctx->prog);
	xdp_lb_bpf__destroy(ctx->skel);
	timing_free(ctx->timing);
	free(ctx->feeders);
	free(ctx->per_cpu);
	cpuset_free(&ctx->online);
	free(ctx);
}

static int xdp_lb_producer(struct bench_thread *t)
{
	struct xdp_lb_ctx *ctx = t->run->priv;

	return timing_producer(ctx->timing, t);
}

/* ---- figures */

enum { LB_LOOKUPS = TIMING_NR, LB_MISSES, LB_MISSED };

static const struct figure xdp_lb_figures[] = {
	TIMING_FIGURES,
	[LB_LOOKUPS] = {
		.name = "lookups",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "connections that were looked for in the LRU",
	},
	[LB_MISSES] = {
		.name = "misses",
		.unit = "M/s",
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "those that were not there",
	},
	[LB_MISSED] = {
		.name = "missed",
		.unit = "%",
		.kind = FIGURE_RATIO,
		.of = LB_MISSES,
		.per = LB_LOOKUPS,
		.scale = 0.01,
		.better = BETTER_NONE,
		.help = "share of the lookups that missed",
	},
};

static void xdp_lb_progress(FILE *out, const struct report *report, const double *values,
			    const struct sample *s, int producers)
{
	fprintf(out, "median %8.3lf ns/op, mean %8.3lf ns/op, p99 of batches %8.3lf ns/op, ",
		values[TIMING_MEDIAN], values[TIMING_MEAN], values[TIMING_P99]);
	if (s->raw.v[LB_LOOKUPS])
		fprintf(out, "LRU misses %6.2lf %%\n", values[LB_MISSED]);
	else
		fprintf(out, "no LRU\n");
}

static void xdp_lb_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			   const struct sample *total, int producers)
{
	fprintf(out,
		"Summary: median %8.3lf \u00B1 %5.3lf ns/op, mean %8.3lf \u00B1 %5.3lf ns/op, "
		"p99 of batches %8.3lf ns/op, empty %8.3lf ns/op, ",
		stats[TIMING_MEDIAN].mean, stats[TIMING_MEDIAN].stddev, stats[TIMING_MEAN].mean,
		stats[TIMING_MEAN].stddev, stats[TIMING_P99].mean, stats[TIMING_NOTHING].mean);
	if (total->raw.v[LB_LOOKUPS])
		fprintf(out, "LRU misses %6.2lf %%\n", stats[LB_MISSED].mean);
	else
		fprintf(out, "no LRU\n");
}

/* As the kernel selftests' bench prints it, for scripts. */
static bool xdp_lb_result(FILE *out, const struct report *report, const void *p,
			  const struct figure_stats *stats)
{
	const struct xdp_lb_params *params = p;
	const struct figure_stats *median = &stats[TIMING_MEDIAN];

	if (!params->machine_readable)
		return false;
	fprintf(out,
		"RESULT scenario=%s samples=%zu median=%.2f stddev=%.2f cv=%.2f min=%.2f "
		"p99=%.2f max=%.2f\n",
		scenarios[params->scenario].name, median->n, median->mean, median->stddev,
		100 * median->stddev / stats[TIMING_MEAN].mean, stats[TIMING_MIN].mean,
		stats[TIMING_P99].mean, stats[TIMING_MAX].mean);
	return true;
}

static const struct report xdp_lb_report = {
	.name = "xdp_lb",
	.figures = xdp_lb_figures,
	.nr_figures = ARRAY_SIZE(xdp_lb_figures),
	.progress = xdp_lb_progress,
	.summary = xdp_lb_summary,
	.summary_by_params = xdp_lb_result,
};

static void xdp_lb_measure(struct bench_run *run, struct values *v)
{
	struct xdp_lb_ctx *ctx = run->priv;
	const struct lb_stats st = read_stats(ctx);

	timing_measure(ctx->timing, v);
	v->v[LB_LOOKUPS] = st.lookups;
	v->v[LB_MISSES] = st.misses;
}

static int xdp_lb_batches(struct bench_run *run, struct batches *b)
{
	struct xdp_lb_ctx *ctx = run->priv;

	return timing_batches(ctx->timing, b);
}

static void judge_misses(struct bench_run *run, const struct scenario *sc,
			 const struct lb_stats *st)
{
	const double pct = st->lookups ? 100.0 * st->misses / st->lookups : 0;

	if (st->lookups && (pct < sc->min_miss_pct || pct > sc->max_miss_pct))
		bench_warn(run, "%.2f %% of the lookups missed, not %g to %g %%, from the start on",
			   pct, sc->min_miss_pct, sc->max_miss_pct);
}

static void xdp_lb_conserve(struct bench_run *run, struct bench_conservation *c)
{
	static const char *const identities[] = {
		[XDP_DROP] = "packets + once = dropped",
		[XDP_PASS] = "packets + once = passed",
		[XDP_TX] = "packets + once = sent",
	};
	struct xdp_lb_ctx *ctx = run->priv;
	const struct lb_stats st = read_stats(ctx);
	struct timing_sums sums;
	long long i;

	timing_sum_up(ctx->timing, &sums);
	timing_judge(ctx->timing, &sums);
	judge_misses(run, ctx->sc, &st);
	timing_conserve(&ctx->prog, &sums, c);
	bench_count(c, "packets", sums.measured + sums.beside);
	bench_count(c, "once", ctx->once);
	bench_count(c, "sent", st.actions[XDP_TX]);
	bench_count(c, "passed", st.actions[XDP_PASS]);
	bench_count(c, "dropped", st.actions[XDP_DROP]);
	bench_count(c, "hits", st.lookups - st.misses);
	bench_count(c, "misses", st.misses);
	bench_identity(c, identities[ctx->sc->action]);
	/* Where no lookup may miss, none does. */
	if (ctx->sc->lru == LRU_HIT)
		bench_identity(c, "hits = sent");
	c->prog_fd = bpf_program__fd(ctx->prog.prog);
	for (i = 0; i < run->cfg->producers; i++)
		c->runs += ctx->feeders[i].runs;
}

static const struct bench xdp_lb = {
	.name = "xdp-lb",
	.desc = "packets through a layer-4 load balancer in XDP, by --scenario",
	.needs = "Linux 5.18 or newer",
	.report = &xdp_lb_report,
	.print = xdp_lb_print,
	.setup = xdp_lb_setup,
	.teardown = xdp_lb_teardown,
	.producer = xdp_lb_producer,
	.measure = xdp_lb_measure,
	.batches = xdp_lb_batches,
	.conserve = xdp_lb_conserve,
};

static const struct bench *const xdp_lb_benchs[] = { &xdp_lb };

static struct bench_family xdp_lb_family = {
	.title = "XDP load balancer",
	.about = "what a packet costs in a load balancer, by what it is and what is known of it",
	.opts = xdp_lb_opts,
	.nr_opts = ARRAY_SIZE(xdp_lb_opts),
	.params_size = sizeof(struct xdp_lb_params),
	.benchs = xdp_lb_benchs,
	.nr_benchs = ARRAY_SIZE(xdp_lb_benchs),
};

BENCH_FAMILY(xdp_lb_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * BPF ring buffer and perf buffer: how many records a second go from a BPF program to a consumer in
 * user space. Producers call getpgid(2); the program that hangs on it (progs/ringbuf.bpf.c,
 * progs/perfbuf.bpf.c) puts a batch of records into the buffer.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/num.h"
#include "lib/bpf/ringbuf.h"
#include "progs/ringbufs.h"
#include "perfbuf.skel.h"
#include "ringbuf.skel.h"

#ifndef BPF_F_RB_OVERWRITE
#define BPF_F_RB_OVERWRITE (1U << 19) /* Linux 6.19 */
#endif

/*
 * The verifier walks through the whole loop and remembers each branch that it left for later, 8192
 * at the most; there are two in a turn of the loop.
 */
#define MAX_BATCH 4000

enum consume_how {
	CONSUME_EPOLL, /* sleep until woken; level-triggered */
	CONSUME_EPOLLET, /* the same, edge-triggered */
	CONSUME_BUSY, /* never sleep */
	CONSUME_TIMER, /* sleep a fixed time */
};

struct consume {
	enum consume_how how;
	long long timer_ms;
};

#define MAX_TIMER_MS 10000

static const char *const consume_names[] = {
	[CONSUME_EPOLL] = "epoll",
	[CONSUME_EPOLLET] = "epollet",
	[CONSUME_BUSY] = "busy",
};

static const char *const wakeup_names[] = {
	[RB_WAKEUP_ADAPTIVE] = "adaptive",
	[RB_WAKEUP_SAMPLED] = "sampled",
	[RB_WAKEUP_ALWAYS] = "always",
	[RB_WAKEUP_NEVER] = "never",
	NULL,
};

static struct {
	bool b2b;
	bool use_output;
	bool sampled;
	bool overwrite;
	bool bench_producer;
	long long batch_cnt;
	long long sample_rate;
	long long rb_size;
	long long pb_pages;
	long long record_size;
	int wakeup; /* enum rb_wakeup as typed; see effective_wakeup() */
	struct consume consume;
} args;

static int parse_consume(const char *arg, void *dest)
{
	struct consume c = {};
	size_t i;

	if (!strncmp(arg, "timer:", 6)) {
		c.how = CONSUME_TIMER;
		if (num_parse(arg + 6, 1, MAX_TIMER_MS, &c.timer_ms))
			return -EINVAL;
		*(struct consume *)dest = c;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(consume_names); i++) {
		if (!strcmp(arg, consume_names[i])) {
			c.how = i;
			*(struct consume *)dest = c;
			return 0;
		}
	}
	return -EINVAL;
}

static void reset_consume(void *dest)
{
	*(struct consume *)dest = (struct consume){ .how = CONSUME_EPOLL };
}

static int format_consume(const void *dest, char *buf, size_t size)
{
	const struct consume *c = dest;

	if (c->how == CONSUME_TIMER)
		snprintf(buf, size, "timer:%lld", c->timer_ms);
	else
		snprintf(buf, size, "%s", consume_names[c->how]);
	return 0;
}

static const struct opt ringbufs_opts[] = {
	{ .name = "rb-b2b",
	  .type = OPT_FLAG,
	  .dest = &args.b2b,
	  .help = "Back-to-back: the consumer itself triggers the next batch" },
	{ .name = "rb-use-output",
	  .type = OPT_FLAG,
	  .dest = &args.use_output,
	  .help = "bpf_ringbuf_output() instead of reserve and submit" },
	{ .name = "rb-batch-cnt",
	  .arg = "CNT",
	  .type = OPT_NUM,
	  .dest = &args.batch_cnt,
	  .def = 500,
	  .min = 1,
	  .max = MAX_BATCH,
	  .help = "Records a trigger" },
	{ .name = "rb-sampled",
	  .type = OPT_FLAG,
	  .dest = &args.sampled,
	  .help = "Wake the consumer once in so many records, see --rb-sample-rate" },
	{ .name = "rb-sample-rate",
	  .arg = "RATE",
	  .type = OPT_NUM,
	  .dest = &args.sample_rate,
	  .def = 500,
	  .min = 1,
	  .max = 1 << 26,
	  .help = "Records a wake-up, where sampled" },
	{ .name = "rb-size",
	  .arg = "BYTES",
	  .type = OPT_NUM,
	  .dest = &args.rb_size,
	  .def = 512 * 1024,
	  .min = 4096,
	  .max = 1 << 30,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "Size of the ring buffer" },
	{ .name = "pb-pages",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .dest = &args.pb_pages,
	  .def = 128,
	  .min = 1,
	  .max = 1 << 18,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "Pages of the perf buffer of each CPU" },
	{ .name = "rb-record-size",
	  .arg = "BYTES",
	  .type = OPT_NUM,
	  .dest = &args.record_size,
	  .def = 8,
	  .min = 8,
	  .max = RB_MAX_RECORD_SIZE,
	  .help = "Size of a record" },
	{ .name = "rb-wakeup",
	  .arg = "POLICY",
	  .type = OPT_CHOICE,
	  .dest = &args.wakeup,
	  .def = RB_WAKEUP_ADAPTIVE,
	  .choices = wakeup_names,
	  .help = "When the consumer is woken" },
	{ .name = "rb-consume",
	  .arg = "HOW",
	  .type = OPT_CUSTOM,
	  .dest = &args.consume,
	  .parse = parse_consume,
	  .reset = reset_consume,
	  .format = format_consume,
	  .allowed = "epoll, epollet, busy, or timer:MS with MS from 1 to 10000",
	  .help = "How the consumer waits for records" },
	{ .name = "rb-overwrite",
	  .type = OPT_FLAG,
	  .dest = &args.overwrite,
	  .help = "Ring buffer that overwrites its oldest records; needs --rb-bench-producer" },
	{ .name = "rb-bench-producer",
	  .type = OPT_FLAG,
	  .dest = &args.bench_producer,
	  .help = "Measure the producers alone: no consumer, hits are records submitted" },
};

/* ---- checks */

/* --rb-sampled is an older way to say --rb-wakeup sampled. */
static enum rb_wakeup effective_wakeup(void)
{
	return args.sampled ? RB_WAKEUP_SAMPLED : (enum rb_wakeup)args.wakeup;
}

static int ringbufs_consumers(void)
{
	return args.bench_producer ? 0 : 1;
}

/* Does the consumer sleep until the kernel wakes it? Then it must not sleep for ever. */
static bool sleeps_until_woken(void)
{
	return args.consume.how == CONSUME_EPOLL || args.consume.how == CONSUME_EPOLLET;
}

/* Bytes that a record takes in the ring buffer. */
static long long rb_record_bytes(void)
{
	return (args.record_size + RB_HEADER_SIZE + 7) / 8 * 8;
}

/* The same in the perf buffer: header, 32-bit size, data, rounded up to 8. */
static long long pb_record_bytes(void)
{
	return ((long long)sizeof(struct perf_event_header) + 4 + args.record_size + 7) / 8 * 8;
}

static int check_common(const struct bench_config *cfg, struct bench_err *err)
{
	if (args.b2b && cfg->producers > 1)
		return bench_refused(err,
				     "--rb-b2b: takes one producer only, not -p %lld: the "
				     "consumer itself triggers the batches",
				     cfg->producers);
	if (args.sampled && args.wakeup != RB_WAKEUP_ADAPTIVE && args.wakeup != RB_WAKEUP_SAMPLED)
		return bench_refused(err, "--rb-wakeup: '%s' contradicts --rb-sampled",
				     wakeup_names[args.wakeup]);
	return 0;
}

static int rb_check(const struct bench_config *cfg, struct bench_err *err)
{
	enum rb_wakeup wakeup = effective_wakeup();
	/* The kernel leaves at least one byte of the ring free. */
	long long capacity = (args.rb_size - 1) / rb_record_bytes();
	int ret;

	ret = check_common(cfg, err);
	if (ret)
		return ret;
	if (args.rb_size < sysconf(_SC_PAGESIZE))
		return bench_refused(err,
				     "--rb-size: '%lld' is not allowed: a page has %ld bytes here",
				     args.rb_size, sysconf(_SC_PAGESIZE));
	if (!capacity)
		return bench_refused(err,
				     "--rb-record-size: '%lld' is not allowed: a record of %lld "
				     "bytes does not fit into a ring buffer of %lld (--rb-size)",
				     args.record_size, rb_record_bytes(), args.rb_size);
	ret = bench_check_memory(err, "rb-size", args.rb_size, "the pages of the ring buffer",
				 args.rb_size);
	if (ret)
		return ret;
	if (args.overwrite && !args.bench_producer)
		return bench_refused(err, "--rb-overwrite: works with --rb-bench-producer only");
	if (args.bench_producer && args.b2b)
		return bench_refused(
			err, "--rb-b2b: means a consumer, but --rb-bench-producer has none");
	if (args.bench_producer || !sleeps_until_woken())
		return 0; /* nobody is to be woken */
	if (wakeup == RB_WAKEUP_SAMPLED && args.sample_rate > capacity)
		return bench_refused(err,
				     "--rb-sample-rate: '%lld' is not allowed: the consumer would "
				     "never be woken, the ring buffer is full with %lld records",
				     args.sample_rate, capacity);
	if (wakeup == RB_WAKEUP_SAMPLED && args.b2b && args.sample_rate > args.batch_cnt)
		return bench_refused(
			err,
			"--rb-sample-rate: '%lld' is not allowed: above --rb-batch-cnt "
			"(%lld) the consumer would wait for ever back-to-back",
			args.sample_rate, args.batch_cnt);
	if (wakeup == RB_WAKEUP_NEVER)
		return bench_refused(
			err, "--rb-wakeup: 'never' is not allowed: the consumer would sleep "
			     "for ever, use --rb-consume busy or timer:MS with it");
	return 0;
}

/*
 * Pages of perf buffers are charged to no cgroup: the machine's memory is what counts. Where that
 * runs out the kernel kills some process, hardly ours, which is small.
 */
static int pb_check_memory(struct bench_err *err)
{
	uint64_t have = meminfo_machine(), need;
	struct cpuset online = {};

	if (cpuset_online(&online))
		return bench_failed(err, 0, "cannot tell which CPUs are online");
	need = (uint64_t)online.cnt * (args.pb_pages + 1) * sysconf(_SC_PAGESIZE);
	cpuset_free(&online);
	if (need <= have)
		return 0;
	return bench_refuse_memory(err, "pb-pages", args.pb_pages,
				   "the pages of the perf buffers of all CPUs", need, have,
				   MEMINFO_MACHINE);
}

static int pb_check(const struct bench_config *cfg, struct bench_err *err)
{
	enum rb_wakeup wakeup = effective_wakeup();
	int ret;

	ret = check_common(cfg, err);
	if (ret)
		return ret;
	if (args.bench_producer || args.overwrite)
		return bench_refused(err, "--%s: is for ring buffers (rb-libbpf, rb-custom) only",
				     args.overwrite ? "rb-overwrite" : "rb-bench-producer");
	if (wakeup != RB_WAKEUP_ADAPTIVE && wakeup != RB_WAKEUP_SAMPLED)
		return bench_refused(err,
				     "--rb-wakeup: '%s' is not allowed: a perf buffer wakes its "
				     "consumer for each record (adaptive), or sampled",
				     wakeup_names[wakeup]);
	/* struct perf_event_header counts in 16 bits. */
	if (pb_record_bytes() > UINT16_MAX)
		return bench_refused(err,
				     "--rb-record-size: '%lld' is not allowed: a perf buffer takes "
				     "8 to %d",
				     args.record_size,
				     UINT16_MAX / 8 * 8 - (int)sizeof(struct perf_event_header) -
					     4);
	if (pb_record_bytes() >= args.pb_pages * sysconf(_SC_PAGESIZE))
		return bench_refused(err,
				     "--rb-record-size: '%lld' is not allowed: a record of %lld "
				     "bytes does not fit into %lld pages (--pb-pages)",
				     args.record_size, pb_record_bytes(), args.pb_pages);
	if (wakeup == RB_WAKEUP_SAMPLED && sleeps_until_woken() &&
	    args.sample_rate > args.batch_cnt)
		return bench_refused(
			err,
			"--rb-sample-rate: '%lld' is not allowed: above --rb-batch-cnt "
			"(%lld) the consumer of a perf buffer would wait for ever",
			args.sample_rate, args.batch_cnt);
	return pb_check_memory(err);
}

/* ---- probes */

static struct perf_event_attr pb_attr(void)
{
	long long rate = effective_wakeup() == RB_WAKEUP_SAMPLED ? args.sample_rate : 1;

	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = rate,
		.wakeup_events = rate,
	};
}

/* May this user have the perf events that a perf buffer is made of? */
static int probe_perf_event(struct bench_err *err)
{
	struct perf_event_attr attr = pb_attr();
	struct cpuset online = {};
	int fd, ret;

	ret = cpuset_online(&online);
	if (ret)
		return bench_failed(err, ret, "cannot tell which CPUs are online");
	fd = syscall(__NR_perf_event_open, &attr, -1, online.cpus[0], -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		ret = bench_step_error(err, WHY_PERF, errno, "cannot open a perf event");
	else
		close(fd);
	cpuset_free(&online);
	return ret;
}

static int rb_probe(const struct bench_config *cfg, struct bench_err *err)
{
	int page = sysconf(_SC_PAGESIZE), ret;

	ret = bench_probe_map(err, "BPF ring buffer (BPF_MAP_TYPE_RINGBUF)", "Linux 5.8",
			      BPF_MAP_TYPE_RINGBUF, 0, 0, page, 0);
	if (!ret && args.overwrite)
		ret = bench_probe_map(err, "BPF ring buffer that overwrites (BPF_F_RB_OVERWRITE)",
				      "Linux 6.19", BPF_MAP_TYPE_RINGBUF, 0, 0, page,
				      BPF_F_RB_OVERWRITE);
	return ret ? ret : bench_syscall_probe(cfg, "getpgid", err);
}

static int pb_probe(const struct bench_config *cfg, struct bench_err *err)
{
	int ret;

	/* libbpf makes the map as large as there are CPUs. */
	if (libbpf_num_possible_cpus() < 0)
		return bench_unavailable(err,
					 "sysfs is not mounted, where the kernel tells its CPUs: "
					 "mount -t sysfs sysfs /sys");
	ret = bench_probe_map(err, "perf event array (BPF_MAP_TYPE_PERF_EVENT_ARRAY)", "Linux 4.3",
			      BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1, 0);
	if (!ret)
		ret = probe_perf_event(err);
	return ret ? ret : bench_syscall_probe(cfg, "getpgid", err);
}

/* ---- what all four have in common */

struct ringbufs_ctx {
	struct ringbuf_bpf *rb_skel; /* one of the two */
	struct perfbuf_bpf *pb_skel;
	struct bench_counter *consumed;
	int epoll_fd; /* -1: this benchmark does not wait by an epoll of its own */

	struct ring_buffer *libbpf_rb; /* what each benchmark consumes by: one of them */
	struct perf_buffer *libbpf_pb;
	struct ringbuf ringbuf;
	struct perfbuf *perfbufs;
	size_t nr_perfbufs;
};

static void trigger_batch(void)
{
	syscall(__NR_getpgid, 0);
}

static int ringbufs_producer(struct bench_thread *t)
{
	/* Back-to-back, the consumer does it all. */
	while (!args.b2b && !bench_stopping(t))
		trigger_batch();
	return 0;
}

static const struct cpu_slot *slots_of(const struct ringbufs_ctx *ctx)
{
	return ctx->rb_skel ? ctx->rb_skel->bss->cpu_slots : ctx->pb_skel->bss->cpu_slots;
}

static void ringbufs_measure(struct bench_run *run, struct bench_res *res)
{
	struct ringbufs_ctx *ctx = run->priv;

	if (args.bench_producer)
		res->hits = bench_slots_sum(slots_of(ctx), SLOT_SUBMITTED);
	else
		res->hits = bench_counter_read(ctx->consumed);
	res->drops = bench_slots_sum(slots_of(ctx), SLOT_DROPS);
}

static void ringbufs_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct ringbufs_ctx *ctx = run->priv;

	c->has_records = true;
	c->has_consumed = !args.bench_producer;
	c->attempts = bench_slots_sum(slots_of(ctx), SLOT_ATTEMPTS);
	c->submitted = bench_slots_sum(slots_of(ctx), SLOT_SUBMITTED);
	c->drops = bench_slots_sum(slots_of(ctx), SLOT_DROPS);
	c->consumed = bench_counter_read(ctx->consumed);
}

static struct ringbufs_ctx *ctx_alloc(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = calloc(1, sizeof(*ctx));

	run->priv = ctx;
	if (!ctx) {
		bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
		return NULL;
	}
	ctx->epoll_fd = -1;
	ctx->consumed = bench_counters_alloc(1);
	if (!ctx->consumed) {
		bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
		return NULL;
	}
	return ctx;
}

static void ringbufs_teardown(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = run->priv;
	size_t i;

	if (!ctx)
		return;
	ring_buffer__free(ctx->libbpf_rb);
	perf_buffer__free(ctx->libbpf_pb);
	ringbuf_unmap(&ctx->ringbuf);
	for (i = 0; i < ctx->nr_perfbufs; i++)
		perfbuf_close(&ctx->perfbufs[i]);
	free(ctx->perfbufs);
	if (ctx->epoll_fd >= 0)
		close(ctx->epoll_fd);
	ringbuf_bpf__destroy(ctx->rb_skel);
	perfbuf_bpf__destroy(ctx->pb_skel);
	free(ctx->consumed);
	free(ctx);
}

/* ---- waiting */

static int epoll_setup(struct bench_run *run, struct ringbufs_ctx *ctx)
{
	ctx->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return ctx->epoll_fd < 0 ?
		       bench_failed(&run->err, errno, "cannot create an epoll instance") :
		       0;
}

/* @idx comes back with the event. */
static int epoll_add(struct bench_run *run, struct ringbufs_ctx *ctx, int fd, unsigned int idx)
{
	struct epoll_event ev = {
		.events = EPOLLIN | (args.consume.how == CONSUME_EPOLLET ? EPOLLET : 0),
		.data.u32 = idx,
	};

	if (epoll_ctl(ctx->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return bench_failed(&run->err, errno, "cannot wait for the buffer by epoll");
	return 0;
}

#define MAX_EVENTS 64

/*
 * Waits until there may be records, in the way that was asked for. Returns the number of @events
 * filled in, where it waited by epoll; 0 where nothing is known, which says that any buffer may have
 * records or that the thread is to stop; -errno after bench_failed().
 */
static int wait_for_records(struct bench_thread *t, struct epoll_event *events)
{
	struct ringbufs_ctx *ctx = t->run->priv;
	struct timespec ts;
	int n;

	switch (args.consume.how) {
	case CONSUME_EPOLL:
	case CONSUME_EPOLLET:
		n = epoll_wait(ctx->epoll_fd, events, MAX_EVENTS, -1);
		if (n < 0 && errno != EINTR)
			return bench_failed(&t->run->err, errno, "waiting for records by epoll");
		return n < 0 ? 0 : n;
	case CONSUME_TIMER:
		ts.tv_sec = args.consume.timer_ms / 1000;
		ts.tv_nsec = args.consume.timer_ms % 1000 * 1000000;
		nanosleep(&ts, NULL);
		return 0;
	case CONSUME_BUSY:
		return 0;
	}
	return 0;
}

/* ---- ring buffer */

static int rb_setup_prog(struct bench_run *run, struct ringbufs_ctx *ctx)
{
	struct ringbuf_bpf *skel;
	int err;

	skel = ctx->rb_skel = ringbuf_bpf__open();
	if (!skel)
		return bench_bpf_error(&run->err, errno, "cannot open the ring buffer's programs");
	skel->rodata->batch_cnt = args.batch_cnt;
	skel->rodata->record_size = args.record_size;
	skel->rodata->use_output = args.use_output;
	skel->rodata->wakeup = effective_wakeup();
	skel->rodata->wakeup_bytes = args.sample_rate * rb_record_bytes();
	bpf_map__set_max_entries(skel->maps.ringbuf, args.rb_size);
	if (args.overwrite)
		bpf_map__set_map_flags(skel->maps.ringbuf, BPF_F_RB_OVERWRITE);
	err = bench_syscall_prepare(run, skel->obj, "getpgid");
	if (!err)
		err = bench_load(run, skel->skeleton);
	return err;
}

static int rb_libbpf_record(void *ctx, void *data, size_t size)
{
	bench_counter_add(ctx, 1);
	return 0;
}

static int rb_libbpf_setup(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = ctx_alloc(run);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = rb_setup_prog(run, ctx);
	if (err)
		return err;
	if (!args.bench_producer) {
		int fd = bpf_map__fd(ctx->rb_skel->maps.ringbuf);

		ctx->libbpf_rb = ring_buffer__new(fd, rb_libbpf_record, ctx->consumed, NULL);
		if (!ctx->libbpf_rb)
			return bench_bpf_error(&run->err, errno, "cannot map the ring buffer");
		/* libbpf's own epoll instance is level-triggered. */
		if (args.consume.how == CONSUME_EPOLLET) {
			err = epoll_setup(run, ctx);
			if (!err)
				err = epoll_add(run, ctx, fd, 0);
			if (err)
				return err;
		}
	}
	return bench_syscall_attach(run, ctx->rb_skel->obj, "getpgid");
}

/* Everything that is there, and what comes while it is at it. */
static int rb_libbpf_drain(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = run->priv;
	int n;

	do {
		n = ring_buffer__consume(ctx->libbpf_rb);
		/* As in ringbuf_consume(): libbpf has no full barrier before its last look. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (n > 0);
	return n < 0 ? bench_failed(&run->err, n, "consuming records by libbpf") : 0;
}

static int rb_libbpf_consumer(struct bench_thread *t)
{
	struct ringbufs_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	while (!bench_stopping(t)) {
		if (args.b2b)
			trigger_batch();
		if (args.consume.how == CONSUME_EPOLL) {
			n = ring_buffer__poll(ctx->libbpf_rb, -1);
			if (n < 0 && n != -EINTR)
				return bench_failed(&t->run->err, n, "ring_buffer__poll()");
			continue;
		}
		n = wait_for_records(t, events);
		if (n >= 0)
			n = rb_libbpf_drain(t->run);
		if (n < 0)
			return n;
	}
	return rb_libbpf_drain(t->run);
}

static int rb_custom_setup(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = ctx_alloc(run);
	int err, fd;

	if (!ctx)
		return -ENOMEM;
	err = rb_setup_prog(run, ctx);
	if (err)
		return err;
	fd = bpf_map__fd(ctx->rb_skel->maps.ringbuf);
	err = ringbuf_map(&ctx->ringbuf, fd, args.rb_size);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot map the ring buffer");
	err = epoll_setup(run, ctx);
	if (!err)
		err = epoll_add(run, ctx, fd, 0);
	return err ? err : bench_syscall_attach(run, ctx->rb_skel->obj, "getpgid");
}

static void rb_custom_drain(struct ringbufs_ctx *ctx)
{
	uint64_t n;

	while ((n = ringbuf_consume(&ctx->ringbuf)))
		bench_counter_add(ctx->consumed, n);
}

static int rb_custom_consumer(struct bench_thread *t)
{
	struct ringbufs_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	while (!bench_stopping(t)) {
		if (args.b2b)
			trigger_batch();
		n = wait_for_records(t, events);
		if (n < 0)
			return n;
		rb_custom_drain(ctx);
	}
	rb_custom_drain(ctx);
	return 0;
}

/* ---- perf buffer */

static int pb_setup_prog(struct bench_run *run, struct ringbufs_ctx *ctx)
{
	struct perfbuf_bpf *skel;
	int err;

	skel = ctx->pb_skel = perfbuf_bpf__open();
	if (!skel)
		return bench_bpf_error(&run->err, errno, "cannot open the perf buffer's programs");
	skel->rodata->batch_cnt = args.batch_cnt;
	skel->rodata->record_size = args.record_size;
	err = bench_syscall_prepare(run, skel->obj, "getpgid");
	if (!err)
		err = bench_load(run, skel->skeleton);
	return err;
}

/* Why perf buffers cannot be opened or mapped, although one event can be opened. */
static int pb_map_error(struct bench_run *run, int err)
{
	int ret;

	ret = probe_perf_event(&run->err);
	if (ret)
		return ret;
	if (err == -EPERM)
		return bench_failed(
			&run->err, err,
			"cannot map a perf buffer of %lld pages a CPU: more than sysctl "
			"kernel.perf_event_mlock_kb and ulimit -l allow without "
			"CAP_IPC_LOCK: take fewer (--pb-pages), or raise one of them",
			args.pb_pages);
	return bench_step_error(&run->err, WHY_PERF, err, "cannot open or map the perf buffers");
}

static enum bpf_perf_event_ret pb_libbpf_record(void *ctx, int cpu,
						struct perf_event_header *header)
{
	if (header->type == PERF_RECORD_SAMPLE)
		bench_counter_add(ctx, 1);
	return LIBBPF_PERF_EVENT_CONT;
}

static int pb_libbpf_setup(struct bench_run *run)
{
	struct perf_event_attr attr = pb_attr();
	struct ringbufs_ctx *ctx = ctx_alloc(run);
	size_t i;
	int err;

	if (!ctx)
		return -ENOMEM;
	err = pb_setup_prog(run, ctx);
	if (err)
		return err;
	ctx->libbpf_pb = perf_buffer__new_raw(bpf_map__fd(ctx->pb_skel->maps.perfbuf),
					      args.pb_pages, &attr, pb_libbpf_record, ctx->consumed,
					      NULL);
	if (!ctx->libbpf_pb)
		return pb_map_error(run, -errno);
	if (args.consume.how == CONSUME_EPOLLET) {
		err = epoll_setup(run, ctx);
		for (i = 0; !err && i < perf_buffer__buffer_cnt(ctx->libbpf_pb); i++)
			err = epoll_add(run, ctx, perf_buffer__buffer_fd(ctx->libbpf_pb, i), i);
		if (err)
			return err;
	}
	return bench_syscall_attach(run, ctx->pb_skel->obj, "getpgid");
}

static int pb_libbpf_consumer(struct bench_thread *t)
{
	struct ringbufs_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	while (!bench_stopping(t)) {
		if (args.b2b)
			trigger_batch();
		if (args.consume.how == CONSUME_EPOLL) {
			n = perf_buffer__poll(ctx->libbpf_pb, -1);
		} else {
			n = wait_for_records(t, events);
			if (n < 0)
				return n;
			n = perf_buffer__consume(ctx->libbpf_pb);
		}
		if (n < 0 && n != -EINTR)
			return bench_failed(&t->run->err, n, "consuming records by libbpf");
	}
	n = perf_buffer__consume(ctx->libbpf_pb);
	return n < 0 ? bench_failed(&t->run->err, n, "consuming records by libbpf") : 0;
}

static int pb_custom_open_cpu(struct bench_run *run, struct ringbufs_ctx *ctx, int cpu)
{
	struct perf_event_attr attr = pb_attr();
	struct perfbuf *p = &ctx->perfbufs[ctx->nr_perfbufs];
	int err;

	err = perfbuf_open(p, &attr, cpu, args.pb_pages);
	if (err)
		return pb_map_error(run, err);
	ctx->nr_perfbufs++;
	err = bpf_map_update_elem(bpf_map__fd(ctx->pb_skel->maps.perfbuf), &cpu, &p->fd, BPF_ANY);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot give CPU %d its perf buffer", cpu);
	return epoll_add(run, ctx, p->fd, ctx->nr_perfbufs - 1);
}

static int pb_custom_setup(struct bench_run *run)
{
	struct ringbufs_ctx *ctx = ctx_alloc(run);
	struct cpuset online = {};
	int err, i;

	if (!ctx)
		return -ENOMEM;
	err = pb_setup_prog(run, ctx);
	if (!err)
		err = epoll_setup(run, ctx);
	if (err)
		return err;
	err = cpuset_online(&online);
	if (err)
		return bench_failed(&run->err, err, "cannot tell which CPUs are online");
	ctx->perfbufs = calloc(online.cnt, sizeof(*ctx->perfbufs));
	if (!ctx->perfbufs)
		err = bench_failed(&run->err, ENOMEM, "cannot set up %d perf buffers", online.cnt);
	for (i = 0; !err && i < online.cnt; i++)
		err = pb_custom_open_cpu(run, ctx, online.cpus[i]);
	cpuset_free(&online);
	return err ? err : bench_syscall_attach(run, ctx->pb_skel->obj, "getpgid");
}

static void pb_custom_consume_all(struct ringbufs_ctx *ctx)
{
	size_t i;

	for (i = 0; i < ctx->nr_perfbufs; i++)
		bench_counter_add(ctx->consumed, perfbuf_consume(&ctx->perfbufs[i]));
}

static int pb_custom_consumer(struct bench_thread *t)
{
	struct ringbufs_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n, i;

	while (!bench_stopping(t)) {
		if (args.b2b)
			trigger_batch();
		n = wait_for_records(t, events);
		if (n < 0)
			return n;
		if (!n)
			pb_custom_consume_all(ctx);
		for (i = 0; i < n; i++)
			bench_counter_add(ctx->consumed,
					  perfbuf_consume(&ctx->perfbufs[events[i].data.u32]));
	}
	pb_custom_consume_all(ctx);
	return 0;
}

/* ---- the benchmarks */

/* clang-format off */
#define RINGBUFS_COMMON				\
	.report = &report_hits_drops,		\
	.consumers = ringbufs_consumers,	\
	.teardown = ringbufs_teardown,		\
	.producer = ringbufs_producer,		\
	.measure = ringbufs_measure,		\
	.conserve = ringbufs_conserve
/* clang-format on */

static const struct bench rb_libbpf = {
	.name = "rb-libbpf",
	.desc = "records through a BPF ring buffer, consumed by libbpf's ring_buffer__poll()",
	RINGBUFS_COMMON,
	.check = rb_check,
	.probe = rb_probe,
	.setup = rb_libbpf_setup,
	.consumer = rb_libbpf_consumer,
};

static const struct bench rb_custom = {
	.name = "rb-custom",
	.desc = "records through a BPF ring buffer, consumed by a loop of our own",
	RINGBUFS_COMMON,
	.check = rb_check,
	.probe = rb_probe,
	.setup = rb_custom_setup,
	.consumer = rb_custom_consumer,
};

static const struct bench pb_libbpf = {
	.name = "pb-libbpf",
	.desc = "records through perf buffers, consumed by libbpf's perf_buffer__poll()",
	RINGBUFS_COMMON,
	.check = pb_check,
	.probe = pb_probe,
	.setup = pb_libbpf_setup,
	.consumer = pb_libbpf_consumer,
};

static const struct bench pb_custom = {
	.name = "pb-custom",
	.desc = "records through perf buffers, consumed by a loop of our own",
	RINGBUFS_COMMON,
	.check = pb_check,
	.probe = pb_probe,
	.setup = pb_custom_setup,
	.consumer = pb_custom_consumer,
};

static const struct bench *const ringbufs_benchs[] = {
	&rb_libbpf,
	&rb_custom,
	&pb_libbpf,
	&pb_custom,
};

static struct bench_family ringbufs_family = {
	.title = "Ring buffer and perf buffer",
	.opts = ringbufs_opts,
	.nr_opts = ARRAY_SIZE(ringbufs_opts),
	.benchs = ringbufs_benchs,
	.nr_benchs = ARRAY_SIZE(ringbufs_benchs),
};

BENCH_FAMILY(ringbufs_family);

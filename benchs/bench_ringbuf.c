// SPDX-License-Identifier: GPL-2.0
/* rb-libbpf, rb-custom: records through a BPF ring buffer. */
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "benchs/buffers.h"
#include "lib/bpf/ringbuf.h"
#include "ringbuf.skel.h"

#ifndef BPF_F_RB_OVERWRITE
#define BPF_F_RB_OVERWRITE (1U << 19) /* Linux 6.19 */
#endif

struct ring_ctx {
	struct buffers b; /* first */
	struct ringbuf_bpf *skel;
	struct ring_buffer *libbpf_rb; /* what the benchmark consumes by: one of the two */
	struct ringbuf ringbuf;
};

/* ---- checks and probe */

/* Bytes that a record takes in the ring buffer. */
static long long rb_record_bytes(const struct buffer_params *params)
{
	return (params->record_size + RB_HEADER_SIZE + 7) / 8 * 8;
}

static int rb_check(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	enum rb_wakeup wakeup = buffers_wakeup(params);
	/* The kernel leaves at least one byte of the ring free. */
	long long capacity = (params->rb_size - 1) / rb_record_bytes(params);
	int ret;

	ret = buffers_check(run);
	if (ret)
		return ret;
	if (params->rb_size < sysconf(_SC_PAGESIZE))
		return bench_refused(&run->err,
				     "--rb-size: invalid value '%lld': a page has %ld bytes here",
				     params->rb_size, sysconf(_SC_PAGESIZE));
	if (!capacity)
		return bench_refused(&run->err,
				     "--rb-record-size: invalid value '%lld': a record of %lld "
				     "bytes does not fit into a ring buffer of %lld (--rb-size)",
				     params->record_size, rb_record_bytes(params), params->rb_size);
	ret = bench_check_memory(&run->err, "rb-size", params->rb_size,
				 "the pages of the ring buffer", params->rb_size);
	if (ret)
		return ret;
	if (params->overwrite && !params->bench_producer)
		return bench_refused(&run->err,
				     "--rb-overwrite: works with --rb-bench-producer only");
	if (params->bench_producer && params->b2b)
		return bench_refused(
			&run->err, "--rb-b2b: means a consumer, but --rb-bench-producer has none");
	if (params->bench_producer || !buffers_sleep_until_woken(params))
		return 0; /* there is no sleeper to wake */
	if (wakeup == RB_WAKEUP_SAMPLED && params->sample_rate > capacity)
		return bench_refused(&run->err,
				     "--rb-sample-rate: invalid value '%lld': the consumer would "
				     "never be woken, the ring buffer is full with %lld records",
				     params->sample_rate, capacity);
	if (wakeup == RB_WAKEUP_SAMPLED && params->b2b && params->sample_rate > params->batch_cnt)
		return bench_refused(&run->err,
				     "--rb-sample-rate: invalid value '%lld': above --rb-batch-cnt "
				     "(%lld) the consumer would wait for ever back-to-back",
				     params->sample_rate, params->batch_cnt);
	if (wakeup == RB_WAKEUP_NEVER)
		return bench_refused(&run->err,
				     "--rb-wakeup: invalid value 'never': the consumer would sleep "
				     "for ever, use --rb-consume busy or timer:MS with it");
	return 0;
}

static int rb_probe(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	int page = sysconf(_SC_PAGESIZE), ret;

	ret = bench_probe_map(&run->err, "BPF ring buffer (BPF_MAP_TYPE_RINGBUF)", "Linux 5.8",
			      BPF_MAP_TYPE_RINGBUF, 0, 0, page, 0);
	if (!ret && params->overwrite)
		ret = bench_probe_map(&run->err,
				      "BPF ring buffer that overwrites (BPF_F_RB_OVERWRITE)",
				      "Linux 6.19", BPF_MAP_TYPE_RINGBUF, 0, 0, page,
				      BPF_F_RB_OVERWRITE);
	return ret ? ret : bench_attach_probe(run);
}

/* ---- set-up */

static void rb_teardown(struct bench_run *run)
{
	struct ring_ctx *ctx = run->priv;

	if (ctx) {
		ring_buffer__free(ctx->libbpf_rb);
		ringbuf_unmap(&ctx->ringbuf);
		ringbuf_bpf__destroy(ctx->skel);
	}
	buffers_free(run);
}

/* State with the program loaded, not yet attached; NULL after an error was written. */
static struct ring_ctx *set_up_prog(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	struct ring_ctx *ctx = buffers_alloc(run, sizeof(*ctx));
	struct ringbuf_bpf *skel;

	if (!ctx)
		return NULL;
	skel = ctx->skel = ringbuf_bpf__open();
	if (!skel) {
		bench_open_error(run);
		return NULL;
	}
	skel->rodata->batch_cnt = params->batch_cnt;
	skel->rodata->record_size = params->record_size;
	skel->rodata->use_output = params->use_output;
	skel->rodata->wakeup = buffers_wakeup(params);
	skel->rodata->wakeup_bytes = params->sample_rate * rb_record_bytes(params);
	bpf_map__set_max_entries(skel->maps.ringbuf, params->rb_size);
	if (params->overwrite)
		bpf_map__set_map_flags(skel->maps.ringbuf, BPF_F_RB_OVERWRITE);
	if (buffers_attach_prepare(run, skel->obj) || bench_load(run, skel->skeleton))
		return NULL;
	ctx->b.slots = skel->bss->cpu_slots; /* mapped anew by the load */
	return ctx;
}

static int rb_libbpf_record(void *ctx, void *data, size_t size)
{
	bench_counter_add(ctx, 1);
	return 0;
}

static int rb_libbpf_stamped(void *ctx, void *data, size_t size)
{
	buffers_consumed_stamped(ctx, *(const uint64_t *)data);
	return 0;
}

static int rb_libbpf_setup(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	struct ring_ctx *ctx = set_up_prog(run);
	int err;

	if (!ctx)
		return -EIO;
	if (!params->bench_producer) {
		int fd = bpf_map__fd(ctx->skel->maps.ringbuf);

		if (params->latency)
			ctx->libbpf_rb =
				ring_buffer__new(fd, rb_libbpf_stamped, ctx->b.latency, NULL);
		else
			ctx->libbpf_rb =
				ring_buffer__new(fd, rb_libbpf_record, ctx->b.consumed, NULL);
		if (!ctx->libbpf_rb)
			return bench_bpf_error(&run->err, errno, "cannot map the ring buffer");
		/* libbpf's own epoll instance is level-triggered. */
		if (params->consume.how == CONSUME_EPOLLET) {
			err = buffers_epoll_setup(run);
			if (!err)
				err = buffers_epoll_add(run, fd, 0);
			if (err)
				return err;
		}
	}
	return bench_attach(run, ctx->skel->obj);
}

/* Everything that is there, and what comes while it is at it. */
static int rb_libbpf_drain(struct bench_run *run)
{
	struct ring_ctx *ctx = run->priv;
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
	const struct buffer_params *params = t->run->params;
	struct ring_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	buffers_consumer_starts(t);
	while (!bench_stopping(t)) {
		if (params->b2b)
			attach_trigger();
		if (params->consume.how == CONSUME_EPOLL) {
			n = ring_buffer__poll(ctx->libbpf_rb, -1);
			if (n < 0 && n != -EINTR)
				return bench_failed(&t->run->err, n, "ring_buffer__poll()");
			continue;
		}
		n = buffers_wait(t, events);
		if (n >= 0)
			n = rb_libbpf_drain(t->run);
		if (n < 0)
			return n;
	}
	return rb_libbpf_drain(t->run);
}

static int rb_custom_setup(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	struct ring_ctx *ctx = set_up_prog(run);
	int err, fd;

	if (!ctx)
		return -EIO;
	fd = bpf_map__fd(ctx->skel->maps.ringbuf);
	err = ringbuf_map(&ctx->ringbuf, fd, params->rb_size);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot map the ring buffer");
	err = buffers_epoll_setup(run);
	if (!err)
		err = buffers_epoll_add(run, fd, 0);
	return err ? err : bench_attach(run, ctx->skel->obj);
}

/* @latency is a constant: two loops, and what is not asked for is in neither. */
static __always_inline void rb_custom_drain(struct ring_ctx *ctx, bool latency)
{
	uint64_t n;

	if (latency) {
		while (ringbuf_consume_each(&ctx->ringbuf, buffers_consumed_stamped,
					    ctx->b.latency))
			;
		return;
	}
	while ((n = ringbuf_consume(&ctx->ringbuf)))
		bench_counter_add(ctx->b.consumed, n);
}

static __always_inline int rb_custom_consume(struct bench_thread *t, bool latency)
{
	const struct buffer_params *params = t->run->params;
	struct ring_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	buffers_consumer_starts(t);
	while (!bench_stopping(t)) {
		if (params->b2b)
			attach_trigger();
		n = buffers_wait(t, events);
		if (n < 0)
			return n;
		rb_custom_drain(ctx, latency);
	}
	rb_custom_drain(ctx, latency);
	return 0;
}

static int rb_custom_consumer(struct bench_thread *t)
{
	const struct buffer_params *params = t->run->params;

	return params->latency ? rb_custom_consume(t, true) : rb_custom_consume(t, false);
}

/* ---- the benchmarks */

#define RB_BENCH(var, name_, desc_, setup_, consumer_)              \
	const struct bench var = {                                  \
		.name = name_,                                      \
		.desc = desc_,                                      \
		.needs = "Linux 5.8 or newer",                      \
		.when_dropping = "--rb-b2b measures without drops", \
		.report = &buffers_report,                          \
		.consumers = buffers_consumers,                     \
		.check = rb_check,                                  \
		.probe = rb_probe,                                  \
		.setup = setup_,                                    \
		.teardown = rb_teardown,                            \
		.producer = buffers_producer,                       \
		.consumer = consumer_,                              \
		.measure = buffers_measure,                         \
		.batches = buffers_batches,                         \
		.conserve = buffers_conserve,                       \
	}

RB_BENCH(rb_libbpf, "rb-libbpf",
	 "records through a BPF ring buffer, consumed by libbpf's ring_buffer__poll()",
	 rb_libbpf_setup, rb_libbpf_consumer);
RB_BENCH(rb_custom, "rb-custom", "records through a BPF ring buffer, consumed by its own loop",
	 rb_custom_setup, rb_custom_consumer);

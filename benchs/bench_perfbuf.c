// SPDX-License-Identifier: GPL-2.0
/* pb-libbpf, pb-custom: records through a perf buffer for each CPU. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "benchs/buffers.h"
#include "lib/bpf/ringbuf.h"
#include "perfbuf.skel.h"

struct perf_ctx {
	struct buffers b; /* first */
	struct perfbuf_bpf *skel;
	struct cpuset cpus; /* that have a buffer */
	struct perf_buffer *libbpf_pb; /* what the benchmark consumes by: this, or the following */
	struct perfbuf *perfbufs;
	size_t nr_perfbufs;
};

/* ---- checks and probe */

/* Bytes that a record takes in the perf buffer: header, 32-bit size, data, rounded up to 8. */
static long long pb_record_bytes(const struct buffer_params *params)
{
	return ((long long)sizeof(struct perf_event_header) + 4 + params->record_size + 7) / 8 * 8;
}

/*
 * Pages of perf buffers are charged to no cgroup: the machine's memory is what counts. Where that
 * runs out the kernel kills some process, hardly ours, which is small.
 */
static int pb_check_memory(struct bench_run *run, int nr_cpus)
{
	const struct buffer_params *params = run->params;
	uint64_t have = meminfo_machine(), need;

	need = (uint64_t)nr_cpus * (params->pb_pages + 1) * sysconf(_SC_PAGESIZE);
	if (need <= have)
		return 0;
	return bench_refuse_memory(&run->err, "pb-pages", params->pb_pages,
				   "the pages of the perf buffers of all CPUs", need, have,
				   MEMINFO_MACHINE);
}

static int pb_check(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	enum rb_wakeup wakeup = buffers_wakeup(params);
	struct cpuset online;
	int ret;

	ret = buffers_check(run);
	if (ret)
		return ret;
	if (params->bench_producer || params->overwrite)
		return bench_refused(&run->err,
				     "--%s: is for ring buffers (rb-libbpf, rb-custom) only",
				     params->overwrite ? "rb-overwrite" : "rb-bench-producer");
	if (wakeup != RB_WAKEUP_ADAPTIVE && wakeup != RB_WAKEUP_SAMPLED)
		return bench_refused(&run->err,
				     "--rb-wakeup: invalid value '%s': a perf buffer wakes its "
				     "consumer for each record (adaptive), or sampled",
				     buffers_wakeup_name(wakeup));
	/* struct perf_event_header counts in 16 bits. */
	if (pb_record_bytes(params) > UINT16_MAX)
		return bench_refused(&run->err,
				     "--rb-record-size: invalid value '%lld': a perf buffer takes "
				     "8 to %d",
				     params->record_size,
				     UINT16_MAX / 8 * 8 - (int)sizeof(struct perf_event_header) -
					     4);
	if (pb_record_bytes(params) >= params->pb_pages * sysconf(_SC_PAGESIZE))
		return bench_refused(&run->err,
				     "--rb-record-size: invalid value '%lld': a record of %lld "
				     "bytes does not fit into %lld pages (--pb-pages)",
				     params->record_size, pb_record_bytes(params),
				     params->pb_pages);
	if (wakeup == RB_WAKEUP_SAMPLED && buffers_sleep_until_woken(params) &&
	    params->sample_rate > params->batch_cnt)
		return bench_refused(&run->err,
				     "--rb-sample-rate: invalid value '%lld': above --rb-batch-cnt "
				     "(%lld) the consumer of a perf buffer would wait for ever",
				     params->sample_rate, params->batch_cnt);
	if (cpuset_online(&online))
		return bench_failed(&run->err, 0, "cannot find out which CPUs are online");
	ret = pb_check_memory(run, online.cnt);
	cpuset_free(&online);
	return ret;
}

static struct perf_event_attr pb_attr(const struct buffer_params *params)
{
	long long rate = buffers_wakeup(params) == RB_WAKEUP_SAMPLED ? params->sample_rate : 1;

	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = rate,
		.wakeup_events = rate,
	};
}

/*
 * The CPUs that programs can run on, as the kernel lists them: by opening an event on each. A file
 * that a container made up, or the mask of this process, would miss some, whose records were then
 * dropped. @cpus is to be freed by cpuset_free().
 */
static int find_cpus(struct bench_run *run, struct cpuset *cpus)
{
	struct perf_event_attr attr = pb_attr(run->params);
	int cpu, fd, *grown;

	*cpus = (struct cpuset){};
	for (cpu = 0;; cpu++) {
		fd = syscall(__NR_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == ENODEV)
			continue; /* offline */
		if (fd < 0 && errno == EINVAL && cpus->cnt)
			return 0; /* beyond the last one */
		if (fd < 0)
			return bench_step_error(&run->err, WHY_PERF, errno,
						"cannot open a perf event");
		close(fd);
		grown = realloc(cpus->cpus, (cpus->cnt + 1) * sizeof(*grown));
		if (!grown)
			return bench_failed(&run->err, ENOMEM, "cannot list the CPUs");
		cpus->cpus = grown;
		cpus->cpus[cpus->cnt++] = cpu;
	}
}

/* May this user have the perf events that a perf buffer is made of? */
static int probe_perf_event(struct bench_run *run)
{
	struct cpuset cpus;
	int err = find_cpus(run, &cpus);

	cpuset_free(&cpus);
	return err;
}

static int pb_probe(struct bench_run *run)
{
	int ret;

	/* libbpf reads it, also where it gets the CPUs to open buffers for. */
	if (access("/sys/devices/system/cpu/online", F_OK))
		return bench_unavailable(&run->err,
					 "sysfs is not mounted, where the kernel lists its CPUs: "
					 "mount -t sysfs sysfs /sys");
	ret = bench_probe_map(&run->err, "perf event array (BPF_MAP_TYPE_PERF_EVENT_ARRAY)",
			      "Linux 4.3", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4, 1, 0);
	if (!ret)
		ret = probe_perf_event(run);
	return ret ? ret : bench_attach_probe(run);
}

/* ---- set-up */

static void pb_teardown(struct bench_run *run)
{
	struct perf_ctx *ctx = run->priv;
	size_t i;

	if (ctx) {
		perf_buffer__free(ctx->libbpf_pb);
		for (i = 0; i < ctx->nr_perfbufs; i++)
			perfbuf_close(&ctx->perfbufs[i]);
		free(ctx->perfbufs);
		perfbuf_bpf__destroy(ctx->skel);
		cpuset_free(&ctx->cpus);
	}
	buffers_free(run);
}

/* State with the program loaded, not yet attached; NULL after an error was written. */
static struct perf_ctx *set_up_prog(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	struct perf_ctx *ctx = buffers_alloc(run, sizeof(*ctx));
	struct perfbuf_bpf *skel;

	if (!ctx)
		return NULL;
	skel = ctx->skel = perfbuf_bpf__open();
	if (!skel) {
		bench_open_error(run);
		return NULL;
	}
	skel->rodata->batch_cnt = params->batch_cnt;
	skel->rodata->record_size = params->record_size;
	/* Where files and masks told of fewer CPUs, there may be too little memory after all. */
	if (find_cpus(run, &ctx->cpus) || pb_check_memory(run, ctx->cpus.cnt))
		return NULL;
	bpf_map__set_max_entries(skel->maps.perfbuf, ctx->cpus.cpus[ctx->cpus.cnt - 1] + 1);
	if (buffers_attach_prepare(run, skel->obj) || bench_load(run, skel->skeleton))
		return NULL;
	ctx->b.slots = skel->bss->cpu_slots;
	return ctx;
}

/* Why perf buffers cannot be opened or mapped, although one event can be opened. */
static int pb_map_error(struct bench_run *run, int err)
{
	const struct buffer_params *params = run->params;
	int ret;

	ret = probe_perf_event(run);
	if (ret)
		return ret;
	if (err == -EPERM)
		return bench_failed(
			&run->err, err,
			"cannot map a perf buffer of %lld pages per CPU: more than sysctl "
			"kernel.perf_event_mlock_kb and ulimit -l allow without "
			"CAP_IPC_LOCK: choose fewer (--pb-pages), or raise one of them",
			params->pb_pages);
	return bench_step_error(&run->err, WHY_PERF, err, "cannot open or map the perf buffers");
}

static enum bpf_perf_event_ret pb_libbpf_record(void *ctx, int cpu,
						struct perf_event_header *header)
{
	if (header->type == PERF_RECORD_SAMPLE)
		bench_counter_add(ctx, 1);
	return LIBBPF_PERF_EVENT_CONT;
}

static enum bpf_perf_event_ret pb_libbpf_stamped(void *ctx, int cpu,
						 struct perf_event_header *header)
{
	uint64_t stamp;

	if (header->type == PERF_RECORD_SAMPLE) {
		memcpy(&stamp, (const char *)header + PERFBUF_DATA_AT, sizeof(stamp));
		buffers_consumed_stamped(ctx, stamp);
	}
	return LIBBPF_PERF_EVENT_CONT;
}

static int pb_libbpf_setup(struct bench_run *run)
{
	const struct buffer_params *params = run->params;
	struct perf_event_attr attr = pb_attr(params);
	struct perf_ctx *ctx = set_up_prog(run);
	LIBBPF_OPTS(perf_buffer_raw_opts, opts);
	size_t i;
	int err;

	if (!ctx)
		return -EIO;
	opts.cpu_cnt = ctx->cpus.cnt;
	opts.cpus = opts.map_keys = ctx->cpus.cpus;
	ctx->libbpf_pb = perf_buffer__new_raw(
		bpf_map__fd(ctx->skel->maps.perfbuf), params->pb_pages, &attr,
		params->latency ? pb_libbpf_stamped : pb_libbpf_record,
		params->latency ? (void *)ctx->b.latency : ctx->b.consumed, &opts);
	if (!ctx->libbpf_pb)
		return pb_map_error(run, -errno);
	if (params->consume.how == CONSUME_EPOLLET) {
		err = buffers_epoll_setup(run);
		for (i = 0; !err && i < perf_buffer__buffer_cnt(ctx->libbpf_pb); i++)
			err = buffers_epoll_add(run, perf_buffer__buffer_fd(ctx->libbpf_pb, i), i);
		if (err)
			return err;
	}
	return bench_attach(run, ctx->skel->obj);
}

static int pb_libbpf_consumer(struct bench_thread *t)
{
	const struct buffer_params *params = t->run->params;
	struct perf_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n;

	buffers_consumer_starts(t);
	while (!bench_stopping(t)) {
		if (params->b2b)
			attach_trigger();
		if (params->consume.how == CONSUME_EPOLL) {
			n = perf_buffer__poll(ctx->libbpf_pb, -1);
		} else {
			n = buffers_wait(t, events);
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

static int pb_custom_open_cpu(struct bench_run *run, struct perf_ctx *ctx, int cpu)
{
	const struct buffer_params *params = run->params;
	struct perf_event_attr attr = pb_attr(params);
	struct perfbuf *p = &ctx->perfbufs[ctx->nr_perfbufs];
	int err;

	err = perfbuf_open(p, &attr, cpu, params->pb_pages);
	if (err)
		return pb_map_error(run, err);
	ctx->nr_perfbufs++;
	err = bpf_map_update_elem(bpf_map__fd(ctx->skel->maps.perfbuf), &cpu, &p->fd, BPF_ANY);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot give CPU %d its perf buffer", cpu);
	return buffers_epoll_add(run, p->fd, ctx->nr_perfbufs - 1);
}

static int pb_custom_setup(struct bench_run *run)
{
	struct perf_ctx *ctx = set_up_prog(run);
	int err, i;

	if (!ctx)
		return -EIO;
	err = buffers_epoll_setup(run);
	if (err)
		return err;
	ctx->perfbufs = calloc(ctx->cpus.cnt, sizeof(*ctx->perfbufs));
	if (!ctx->perfbufs)
		err = bench_failed(&run->err, ENOMEM, "cannot set up %d perf buffers",
				   ctx->cpus.cnt);
	for (i = 0; !err && i < ctx->cpus.cnt; i++)
		err = pb_custom_open_cpu(run, ctx, ctx->cpus.cpus[i]);
	return err ? err : bench_attach(run, ctx->skel->obj);
}

/* @latency is a constant: two loops, and what is not asked for is in neither. */
static __always_inline void pb_custom_drain(struct perf_ctx *ctx, size_t i, bool latency)
{
	struct perfbuf *p = &ctx->perfbufs[i];

	if (latency)
		perfbuf_consume_each(p, buffers_consumed_stamped, ctx->b.latency);
	else
		bench_counter_add(ctx->b.consumed, perfbuf_consume(p));
}

static __always_inline void pb_custom_drain_all(struct perf_ctx *ctx, bool latency)
{
	size_t i;

	for (i = 0; i < ctx->nr_perfbufs; i++)
		pb_custom_drain(ctx, i, latency);
}

static __always_inline int pb_custom_consume(struct bench_thread *t, bool latency)
{
	const struct buffer_params *params = t->run->params;
	struct perf_ctx *ctx = t->run->priv;
	struct epoll_event events[MAX_EVENTS];
	int n, i;

	buffers_consumer_starts(t);
	while (!bench_stopping(t)) {
		if (params->b2b)
			attach_trigger();
		n = buffers_wait(t, events);
		if (n < 0)
			return n;
		if (!n)
			pb_custom_drain_all(ctx, latency);
		for (i = 0; i < n; i++)
			pb_custom_drain(ctx, events[i].data.u32, latency);
	}
	pb_custom_drain_all(ctx, latency);
	return 0;
}

static int pb_custom_consumer(struct bench_thread *t)
{
	const struct buffer_params *params = t->run->params;

	return params->latency ? pb_custom_consume(t, true) : pb_custom_consume(t, false);
}

/* ---- the benchmarks */

#define PB_BENCH(var, name_, desc_, setup_, consumer_)              \
	const struct bench var = {                                  \
		.name = name_,                                      \
		.desc = desc_,                                      \
		.when_dropping = "--rb-b2b measures without drops", \
		.report = &buffers_report,                          \
		.consumers = buffers_consumers,                     \
		.check = pb_check,                                  \
		.probe = pb_probe,                                  \
		.setup = setup_,                                    \
		.teardown = pb_teardown,                            \
		.producer = buffers_producer,                       \
		.consumer = consumer_,                              \
		.measure = buffers_measure,                         \
		.batches = buffers_batches,                         \
		.conserve = buffers_conserve,                       \
	}

PB_BENCH(pb_libbpf, "pb-libbpf",
	 "records through perf buffers, consumed by libbpf's perf_buffer__poll()", pb_libbpf_setup,
	 pb_libbpf_consumer);
PB_BENCH(pb_custom, "pb-custom", "records through perf buffers, consumed by its own loop",
	 pb_custom_setup, pb_custom_consumer);

// SPDX-License-Identifier: GPL-2.0
/*
 * BPF ring buffer and perf buffer: how many records per second go from a BPF program to a consumer
 * in user space. Producers call getpgid(2); the program attached to it (progs/ringbuf.bpf.c,
 * progs/perfbuf.bpf.c) puts a batch of records into the buffer. Here is what the two kinds of
 * buffer share: options, producers, waiting, counts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "benchs/buffers.h"
#include "lib/num.h"
#include "lib/run/noise.h"
#include "lib/util.h"

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

static const struct opt buffer_opts[] = {
	{ .name = "rb-b2b",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, b2b),
	  .help = "Back-to-back: the consumer itself triggers the next batch" },
	{ .name = "rb-use-output",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, use_output),
	  .help = "bpf_ringbuf_output() instead of reserve and submit" },
	{ .name = "rb-batch-cnt",
	  .arg = "CNT",
	  .type = OPT_NUM,
	  .at = offsetof(struct buffer_params, batch_cnt),
	  .def = 500,
	  .min = 1,
	  .max = MAX_BATCH,
	  .sizes_program = true,
	  .help = "Records per trigger" },
	{ .name = "rb-sampled",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, sampled),
	  .help = "Wake the consumer once in so many records, see --rb-sample-rate" },
	{ .name = "rb-sample-rate",
	  .arg = "RATE",
	  .type = OPT_NUM,
	  .at = offsetof(struct buffer_params, sample_rate),
	  .def = 500,
	  .min = 1,
	  .max = 1 << 26,
	  .help = "Records per wake-up, where sampled" },
	{ .name = "rb-size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct buffer_params, rb_size),
	  .def = 512 * 1024,
	  .min = 4096,
	  .max = 1 << 30,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "Size of the ring buffer" },
	{ .name = "pb-pages",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct buffer_params, pb_pages),
	  .def = 128,
	  .min = 1,
	  .max = 1 << 18,
	  .allowed = "a power of two",
	  .parse = opt_power_of_two,
	  .help = "Pages of the perf buffer of each CPU" },
	{ .name = "rb-record-size",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct buffer_params, record_size),
	  .def = 8,
	  .min = 8,
	  .max = RB_MAX_RECORD_SIZE,
	  .help = "Size of a record" },
	{ .name = "rb-wakeup",
	  .arg = "POLICY",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct buffer_params, wakeup),
	  .def = RB_WAKEUP_ADAPTIVE,
	  .choices = wakeup_names,
	  .help = "When the consumer is woken" },
	{ .name = "rb-consume",
	  .arg = "HOW",
	  .type = OPT_CUSTOM,
	  .at = offsetof(struct buffer_params, consume),
	  .parse = parse_consume,
	  .reset = reset_consume,
	  .format = format_consume,
	  .allowed = "epoll, epollet, busy, or timer:MS with MS from 1 to 10000",
	  .help = "How the consumer waits for records" },
	{ .name = "rb-overwrite",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, overwrite),
	  .help = "Ring buffer that overwrites its oldest records; needs --rb-bench-producer" },
	{ .name = "rb-bench-producer",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, bench_producer),
	  .help = "Measure the producers alone: no consumer, hits are records submitted" },
	{ .name = "rb-latency",
	  .type = OPT_FLAG,
	  .at = offsetof(struct buffer_params, latency),
	  .help = "Time from submit to consumption: records begin with a time stamp" },
};

/* ---- what the options mean */

enum rb_wakeup buffers_wakeup(const struct buffer_params *params)
{
	return params->sampled ? RB_WAKEUP_SAMPLED : (enum rb_wakeup)params->wakeup;
}

bool buffers_sleep_until_woken(const struct buffer_params *params)
{
	return params->consume.how == CONSUME_EPOLL || params->consume.how == CONSUME_EPOLLET;
}

const char *buffers_wakeup_name(enum rb_wakeup wakeup)
{
	return wakeup_names[wakeup];
}

int buffers_check(struct bench_run *run)
{
	const struct buffer_params *params = run->params;

	if (params->b2b && run->cfg->producers > 1)
		return bench_refused(&run->err,
				     "--rb-b2b: takes one producer only, not -p %lld: the "
				     "consumer itself triggers the batches",
				     run->cfg->producers);
	if (params->sampled && params->wakeup != RB_WAKEUP_ADAPTIVE &&
	    params->wakeup != RB_WAKEUP_SAMPLED)
		return bench_refused(&run->err, "--rb-wakeup: '%s' contradicts --rb-sampled",
				     wakeup_names[params->wakeup]);
	if (params->latency && params->bench_producer)
		return bench_refused(&run->err, "--rb-latency: is that of the consumer, but "
						"--rb-bench-producer has none");
	return 0;
}

int buffers_consumers(const struct bench_run *run)
{
	const struct buffer_params *params = run->params;

	return params->bench_producer ? 0 : 1;
}

/* ---- state */

void *buffers_alloc(struct bench_run *run, size_t size)
{
	const struct buffer_params *params = run->params;
	struct buffers *b = bench_priv_alloc(run, size);

	if (!b)
		return NULL;
	b->epoll_fd = -1;
	b->consumed = bench_counters_alloc(1);
	if (params->latency) {
		b->latency = calloc(1, sizeof(*b->latency));
		if (b->latency)
			b->latency->consumed = b->consumed;
	}
	if (b->consumed && (b->latency || !params->latency))
		return b;
	bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	return NULL;
}

void buffers_free(struct bench_run *run)
{
	struct buffers *b = run->priv;

	if (!b)
		return;
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	free(b->consumed);
	free(b->latency);
	free(b);
}

/* ---- producers and counts */

enum { WAKEUPS = NR_HITS_DROPS, WAKEUPS_PER_RECORD, LATENCY_MEDIAN, LATENCY_P99 };

static const struct figure buffer_figures[] = {
	HITS_DROPS_FIGURES,
	[WAKEUPS] = {
		.name = "wakeups",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_NONE,
		.help = "times that the consumer slept and was woken, in thousands per second",
	},
	[WAKEUPS_PER_RECORD] = {
		.name = "wakeups_per_1000",
		.unit = "per 1000 records",
		.scale = 1e-3,
		.kind = FIGURE_RATIO,
		.of = WAKEUPS,
		.per = HITS,
		.better = BETTER_NONE,
		.help = "the same, per thousand records consumed",
	},
	[LATENCY_MEDIAN] = {
		.name = "latency_median",
		.unit = "us",
		.scale = 1e6,
		.kind = FIGURE_QUANTILE,
		.quantile = 0.5,
		.better = BETTER_LOWER,
		.help = "from the submit of a record to its consumption; with --rb-latency",
	},
	[LATENCY_P99] = {
		.name = "latency_p99",
		.unit = "us",
		.scale = 1e6,
		.kind = FIGURE_QUANTILE,
		.quantile = 0.99,
		.better = BETTER_LOWER,
		.help = "the same: of 100 records, 99 took no longer",
	},
};

const struct report buffers_report = {
	.name = "buffers",
	.figures = buffer_figures,
	.nr_figures = ARRAY_SIZE(buffer_figures),
	.progress = lines_hits_drops_progress,
	.summary = lines_hits_drops_summary,
};

void buffers_consumer_starts(struct bench_thread *t)
{
	struct buffers *b = t->run->priv;

	__atomic_store_n(&b->consumer, t->tid, __ATOMIC_RELAXED);
}

/* The kernel's count: a return from epoll_wait() does not tell whether the consumer had slept. */
static uint64_t count_wakeups(const struct buffers *b)
{
	pid_t consumer = __atomic_load_n(&b->consumer, __ATOMIC_RELAXED);
	long long wakeups = consumer ? noise_wakeups(consumer) : 0;

	return wakeups > 0 ? wakeups : 0;
}

/* Room for a record of each CPU; without stamps no map at all. */
static int size_stamped(const struct buffer_params *params, struct bpf_map *payloads)
{
	int cpus = cpuset_limit(), err;

	if (!params->latency)
		return bpf_map__set_autocreate(payloads, false);
	if (cpus <= 0)
		return -ENODATA;
	err = bpf_map__set_value_size(payloads, (params->record_size + 7) / 8 * 8);
	return err ? err : bpf_map__set_max_entries(payloads, cpus);
}

int buffers_attach_prepare(struct bench_run *run, struct bpf_object *obj)
{
	const struct buffer_params *params = run->params;
	int err;

	err = size_stamped(params, bpf_object__find_map_by_name(obj, "stamped_payloads"));
	if (err)
		return bench_failed(&run->err, err, "cannot size the map of stamped records");
	return bench_attach_prepare_set(run, obj, params->latency ? "stamped" : ATTACH_SYSCALL);
}

void buffers_consumed_stamped(void *ctx, uint64_t stamp)
{
	struct latency *latency = ctx;
	uint64_t now = now_ns();

	bench_counter_add(latency->consumed, 1);
	/* The kernel's fast clock may be some ns ahead of ours while the clock is adjusted. */
	histogram_add(&latency->ns, now > stamp ? now - stamp : 0);
}

int buffers_batches(struct bench_run *run, struct batches *b)
{
	const struct buffers *bufs = run->priv;
	struct latency *latency = bufs->latency;
	uint64_t count, *seen;
	size_t i;
	int err = 0;

	for (i = 0; latency && i < HISTOGRAM_BUCKETS && !err; i++) {
		count = histogram_count(&latency->ns, i);
		seen = &latency->seen.count[i];
		if (count > *seen)
			err = batches_add_many(b, 1000 * histogram_value(i), count - *seen);
		*seen = count;
	}
	return err;
}

int buffers_producer(struct bench_thread *t)
{
	const struct buffer_params *params = t->run->params;
	const bool b2b = params->b2b;

	/* Back-to-back, the consumer does it all. */
	while (!b2b && !bench_stopping(t))
		attach_trigger();
	return 0;
}

void buffers_measure(struct bench_run *run, struct values *v)
{
	const struct buffer_params *params = run->params;
	const struct buffers *b = run->priv;

	if (params->bench_producer)
		v->v[HITS] = bench_slots_sum(b->slots, SLOT_SUBMITTED);
	else
		v->v[HITS] = bench_counter_read(b->consumed);
	v->v[DROPS] = bench_slots_sum(b->slots, SLOT_DROPS);
	v->v[WAKEUPS] = count_wakeups(b);
}

void buffers_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct buffer_params *params = run->params;
	const struct buffers *b = run->priv;

	bench_count(c, "attempts", bench_slots_sum(b->slots, SLOT_ATTEMPTS));
	bench_count(c, "submitted", bench_slots_sum(b->slots, SLOT_SUBMITTED));
	bench_count(c, "drops", bench_slots_sum(b->slots, SLOT_DROPS));
	bench_identity(c, "attempts = submitted + drops");
	if (params->bench_producer) {
		if (!params->overwrite && bench_count_value(c, "drops"))
			bench_warn(run,
				   "nobody consumes, and the ring buffer was full after %" PRIu64
				   " records: --rb-overwrite, or a larger --rb-size",
				   bench_count_value(c, "submitted"));
		return;
	}
	bench_count(c, "consumed", bench_counter_read(b->consumed));
	bench_identity(c, "submitted = consumed");
	if (b->latency) {
		bench_count(c, "timed", histogram_total(&b->latency->ns));
		bench_identity(c, "consumed = timed");
	}
}

/* ---- waiting */

int buffers_epoll_setup(struct bench_run *run)
{
	struct buffers *b = run->priv;

	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return b->epoll_fd < 0 ? bench_failed(&run->err, errno, "cannot create an epoll instance") :
				 0;
}

int buffers_epoll_add(struct bench_run *run, int fd, unsigned int idx)
{
	const struct buffer_params *params = run->params;
	const struct buffers *b = run->priv;
	struct epoll_event ev = {
		.events = EPOLLIN | (params->consume.how == CONSUME_EPOLLET ? EPOLLET : 0),
		.data.u32 = idx,
	};

	if (epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return bench_failed(&run->err, errno, "cannot wait for the buffer by epoll");
	return 0;
}

int buffers_wait(struct bench_thread *t, struct epoll_event *events)
{
	const struct buffer_params *params = t->run->params;
	const struct buffers *b = t->run->priv;
	struct timespec ts;
	int n;

	switch (params->consume.how) {
	case CONSUME_EPOLL:
	case CONSUME_EPOLLET:
		n = epoll_wait(b->epoll_fd, events, MAX_EVENTS, -1);
		if (n < 0 && errno != EINTR)
			return bench_failed(&t->run->err, errno, "waiting for records by epoll");
		return n < 0 ? 0 : n;
	case CONSUME_TIMER:
		ts.tv_sec = params->consume.timer_ms / 1000;
		ts.tv_nsec = params->consume.timer_ms % 1000 * 1000000;
		nanosleep(&ts, NULL);
		return 0;
	case CONSUME_BUSY:
		return 0;
	}
	return 0;
}

/* ---- the family */

static const struct bench *const buffer_benchs[] = {
	&rb_libbpf,
	&rb_custom,
	&pb_libbpf,
	&pb_custom,
};

static struct bench_family buffer_family = {
	.title = "Ring buffer and perf buffer",
	.about = "records per second from a BPF program to a consumer in user space",
	.opts = buffer_opts,
	.nr_opts = ARRAY_SIZE(buffer_opts),
	.params_size = sizeof(struct buffer_params),
	.benchs = buffer_benchs,
	.nr_benchs = ARRAY_SIZE(buffer_benchs),
};

BENCH_FAMILY(buffer_family);

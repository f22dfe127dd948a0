// SPDX-License-Identifier: GPL-2.0
/*
 * What the runner itself costs (make bench-self). Not a test: it asserts nothing, it prints
 * figures that should stay small, so that what `bench` measures is the kernel.
 *
 *  - a consumer's time outside the kernel, in ns per record
 *  - the jitter of the sampling interval
 *  - the time that a run takes until its threads start
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/attach.h"
#include "lib/bpf/bpflog.h"
#include "lib/bpf/ringbuf.h"
#include "lib/stats.h"
#include "lib/util.h"
#include "progs/cpu_slots.h"
#include "progs/ringbufs.h"
#include "ringbuf.skel.h"

#define RING_SIZE (512 * 1024)
#define BATCH	  500
#define DRAINS	  20000 /* measured, each of a batch or so */

struct setup {
	struct ringbuf_bpf *skel;
	struct bpf_link *link;
	struct ringbuf ring; /* one of the two consumers */
	struct ring_buffer *libbpf;
	int epoll_fd;
	uint64_t records; /* libbpf's callback counts here */
	bool stop;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "bench-self: %s: %s\n", what, strerror(abs(err)));
	exit(1);
}

static int on_record(void *ctx, void *data, size_t size)
{
	uint64_t *records = ctx;

	__atomic_store_n(records, *records + 1, __ATOMIC_RELAXED);
	return 0;
}

static void set_up(struct setup *s, bool libbpf, bool sampled)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct attach_choice choice;
	int err;

	memset(s, 0, sizeof(*s));
	attach_pick(ATTACH_AUTO, attach_tgid(), &choice);
	if (choice.kind < 0)
		die(choice.reasons, choice.kind);
	s->skel = ringbuf_bpf__open();
	if (!s->skel)
		die("cannot open the program", errno);
	s->skel->rodata->batch_cnt = BATCH;
	s->skel->rodata->wakeup = sampled ? RB_WAKEUP_SAMPLED : RB_WAKEUP_ADAPTIVE;
	s->skel->rodata->wakeup_bytes = BATCH * 16;
	bpf_map__set_max_entries(s->skel->maps.ringbuf, RING_SIZE);
	err = attach_prepare(s->skel->obj, ATTACH_SYSCALL, choice.kind, attach_tgid());
	if (!err)
		err = ringbuf_bpf__load(s->skel);
	if (err)
		die("cannot load the program", err);
	if (libbpf) {
		s->libbpf = ring_buffer__new(bpf_map__fd(s->skel->maps.ringbuf), on_record,
					     &s->records, NULL);
		if (!s->libbpf)
			die("cannot map the ring buffer", errno);
	} else {
		err = ringbuf_map(&s->ring, bpf_map__fd(s->skel->maps.ringbuf), RING_SIZE);
		if (err)
			die("cannot map the ring buffer", err);
	}
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0 ||
	    epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, bpf_map__fd(s->skel->maps.ringbuf), &ev))
		die("cannot wait for records", errno);
	s->link = attach_object(s->skel->obj, choice.kind);
	if (!s->link)
		die("cannot attach the program", errno);
}

static void tear_down(struct setup *s)
{
	bpf_link__destroy(s->link);
	ring_buffer__free(s->libbpf);
	ringbuf_unmap(&s->ring);
	close(s->epoll_fd);
	ringbuf_bpf__destroy(s->skel);
}

/* One drain as the benchmark does it; returns the number of records. */
static uint64_t drain(struct setup *s)
{
	uint64_t n, sum = 0;
	int ret;

	if (s->libbpf) {
		ret = ring_buffer__consume(s->libbpf);
		return ret < 0 ? 0 : ret;
	}
	while ((n = ringbuf_consume(&s->ring))) {
		sum += n;
		__atomic_store_n(&s->records, s->records + n, __ATOMIC_RELAXED);
	}
	return sum;
}

static void *producer(void *arg)
{
	struct setup *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_RELAXED))
		attach_trigger();
	return NULL;
}

/* Cost of the two clock readings around a drain, which is not the consumer's. */
static double clock_cost_ns(void)
{
	uint64_t start = now_ns();
	int i;

	for (i = 0; i < 100000; i++)
		now_ns();
	return (now_ns() - start) / 100000.0;
}

static void measure_consumer(const char *name, bool libbpf, bool parallel)
{
	static double cost[DRAINS];
	double clock = clock_cost_ns();
	struct epoll_event ev;
	struct setup s;
	pthread_t thread;
	uint64_t start, n, dt;
	int i = 0;

	set_up(&s, libbpf, parallel);
	if (parallel && pthread_create(&thread, NULL, producer, &s))
		die("cannot start a producer", errno);
	while (i < DRAINS) {
		if (parallel)
			epoll_wait(s.epoll_fd, &ev, 1, 100);
		else
			attach_trigger();
		start = now_ns();
		n = drain(&s);
		dt = now_ns() - start;
		if (n >= BATCH) /* a small rest says more about the clock than about records */
			cost[i++] = (dt > clock ? dt - clock : 0) / n;
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELAXED);
	if (parallel)
		pthread_join(thread, NULL);
	tear_down(&s);
	printf("%-44s %8.2f %8.2f %8.2f\n", name, stats_quantile(cost, DRAINS, 0.5),
	       stats_quantile(cost, DRAINS, 0.1), stats_quantile(cost, DRAINS, 0.99));
	fflush(stdout);
}

/*
 * Runs bench; returns seconds until its threads started, and its |interval error|s, us, in @jitter.
 */
static double run_bench(const char *bench, const char *args, double *jitter, size_t max, size_t *nr)
{
	uint64_t start = now_ns(), started = 0;
	char cmd[512], line[512];
	double us;
	int iter;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "%s %s 2>/dev/null", bench, args);
	*nr = 0;
	f = popen(cmd, "r");
	if (!f)
		die(cmd, errno);
	while (fgets(line, sizeof(line), f)) {
		if (!started && strstr(line, " started."))
			started = now_ns();
		if (*nr < max && sscanf(line, "Iter %d (%lfus)", &iter, &us) == 2)
			jitter[(*nr)++] = fabs(us);
	}
	if (pclose(f) || !started)
		die(cmd, ECHILD);
	return (started - start) / 1e9;
}

int main(int argc, char **argv)
{
	static const char *const setups[] = { "count-local", "rb-libbpf", "rb-custom",
					      "pb-custom" };
	const char *bench = argc > 1 ? argv[1] : "./bench";
	static double jitter[1000];
	double t[5];
	char args[128];
	size_t nr, i, k;

	bpflog_start(false);
	printf("%-44s %8s %8s %8s\n", "consumer outside the kernel, ns per record", "p50", "p10",
	       "p99");
	measure_consumer("  rb-custom --rb-b2b", false, false);
	measure_consumer("  rb-custom --rb-sampled", false, true);
	measure_consumer("  rb-libbpf --rb-b2b", true, false);
	measure_consumer("  rb-libbpf --rb-sampled", true, true);

	printf("%-44s %8s %8s\n", "sampling interval, us off", "p50", "p99");
	run_bench(bench, "-w0 -d5 --interval 10 --rb-b2b rb-custom", jitter, 1000, &nr);
	printf("%-44s %8.1f %8.1f\n", "  --interval 10, rb-custom --rb-b2b",
	       stats_quantile(jitter, nr, 0.5), stats_quantile(jitter, nr, 0.99));
	run_bench(bench, "-w0 -d5 --interval 10 -p2 count-local", jitter, 1000, &nr);
	printf("%-44s %8.1f %8.1f\n", "  --interval 10, count-local -p2",
	       stats_quantile(jitter, nr, 0.5), stats_quantile(jitter, nr, 0.99));

	printf("%-44s %8s\n", "from exec to the start of the threads, ms", "p50");
	for (i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
		snprintf(args, sizeof(args), "-w0 -d1 %s", setups[i]);
		for (k = 0; k < 5; k++)
			t[k] = 1000 * run_bench(bench, args, jitter, 1000, &nr);
		printf("  %-42s %8.1f\n", setups[i], stats_quantile(t, 5, 0.5));
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* What the benchmarks of ring buffers and of perf buffers share. */
#ifndef BENCHS_BUFFERS_H
#define BENCHS_BUFFERS_H

#include <sys/epoll.h>

#include "bench.h"
#include "lib/histogram.h"
#include "progs/ringbufs.h"

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

struct buffer_params {
	bool b2b;
	bool use_output;
	bool sampled;
	bool overwrite;
	bool bench_producer;
	bool latency;
	long long batch_cnt;
	long long sample_rate;
	long long rb_size;
	long long pb_pages;
	long long record_size;
	int wakeup; /* enum rb_wakeup as typed; see buffers_wakeup() */
	struct consume consume;
};

/* From the submit of records to their consumption; NULL where it is not asked for. */
struct latency {
	struct bench_counter *consumed;
	struct histogram ns; /* written by the consumer alone */
	struct histogram seen; /* what buffers_batches() has handed over */
};

/* The beginning of each benchmark's state. */
struct buffers {
	const struct cpu_slot *slots; /* in the .bss of the program that puts records in */
	struct bench_counter *consumed;
	struct latency *latency;
	pid_t consumer; /* its thread id; 0: it has not started; atomic */
	int epoll_fd; /* -1: this benchmark does not wait by an epoll of its own */
};

extern const struct bench rb_libbpf, rb_custom, pb_libbpf, pb_custom;

/* ---- options */

/* --rb-sampled is an older way to say --rb-wakeup sampled. */
enum rb_wakeup buffers_wakeup(const struct buffer_params *params);

/* Does the consumer sleep until the kernel wakes it? Then it must not sleep for ever. */
bool buffers_sleep_until_woken(const struct buffer_params *params);

const char *buffers_wakeup_name(enum rb_wakeup wakeup);

/* check() of what does not depend on the kind of buffer. */
int buffers_check(struct bench_run *run);

/* ---- struct bench */

/* @size zeroed bytes as run->priv, which begin with struct buffers. NULL after bench_failed(). */
void *buffers_alloc(struct bench_run *run, size_t size);

/* Frees what is in run->priv, and that, as the last step of a tear-down; copes with NULL. */
void buffers_free(struct bench_run *run);

/* Hits and drops, and how often the consumer had to be woken. */
extern const struct report buffers_report;

/* To be called by the consumer when it starts. */
void buffers_consumer_starts(struct bench_thread *t);

struct bpf_object;

/* bench_attach_prepare() for the programs that these options ask for. */
int buffers_attach_prepare(struct bench_run *run, struct bpf_object *obj);

/* A record was consumed whose first word is @stamp; a record_fn. @ctx: struct latency. */
void buffers_consumed_stamped(void *ctx, uint64_t stamp);

int buffers_batches(struct bench_run *run, struct batches *b);
int buffers_consumers(const struct bench_run *run);
int buffers_producer(struct bench_thread *t);
void buffers_measure(struct bench_run *run, struct values *v);
void buffers_conserve(struct bench_run *run, struct bench_conservation *c);

/* ---- waiting */

int buffers_epoll_setup(struct bench_run *run);

/* @idx comes back with the event. */
int buffers_epoll_add(struct bench_run *run, int fd, unsigned int idx);

#define MAX_EVENTS 64

/*
 * Waits until there may be records, in the way that was asked for. Returns the number of @events
 * filled in, where it waited by epoll; 0 where nothing is known, which says that any buffer may
 * have records or that the thread is to stop; -errno after bench_failed().
 */
int buffers_wait(struct bench_thread *t, struct epoll_event *events);

#endif /* BENCHS_BUFFERS_H */

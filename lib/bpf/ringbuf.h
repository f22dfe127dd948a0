/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consumers of BPF ring buffers and of perf buffers that do no more than has to be done: they walk
 * over the records and publish how far they got. One consumer a buffer.
 */
#ifndef LIB_BPF_RINGBUF_H
#define LIB_BPF_RINGBUF_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* ---- BPF ring buffer (BPF_MAP_TYPE_RINGBUF), layout of kernel/bpf/ringbuf.c */

struct ringbuf {
	unsigned long *consumer_pos; /* a page that only we write */
	const unsigned long *producer_pos; /* a page that only the kernel writes */
	const char *data; /* mapped twice in a row: no record wraps */
	unsigned long mask;
	unsigned long pos; /* our own copy of *consumer_pos */
	uint32_t usual; /* length of the last record, and ... */
	unsigned long stride; /* ... what it took up: the next one is likely the same */
	size_t page_size;
};

/* Maps ring buffer @map_fd of @size bytes. Returns 0 or -errno; to be undone by ringbuf_unmap(). */
int ringbuf_map(struct ringbuf *r, int map_fd, size_t size);
void ringbuf_unmap(struct ringbuf *r);

/*
 * Consumes the records that are there now, up to the first that is still being written, and
 * publishes the position once. Returns their number (without discarded ones). A caller that wants
 * to sleep calls it until it has returned 0: after the position is published, and not before, the
 * kernel knows that we have caught up and that the next record has to wake us.
 */
uint64_t ringbuf_consume(struct ringbuf *r);

/* @word: the first eight bytes of a record. */
typedef void (*record_fn)(void *ctx, uint64_t word);

/* The same, with a look into each record. */
uint64_t ringbuf_consume_each(struct ringbuf *r, record_fn fn, void *ctx);

/* ---- perf buffer: one ring per CPU, fed by bpf_perf_event_output() */

/* Where the record is in a PERF_RECORD_SAMPLE with PERF_SAMPLE_RAW: behind its size, 32 bits. */
#define PERFBUF_DATA_AT (sizeof(uint64_t) + sizeof(uint32_t))

struct perfbuf {
	int fd; /* of the perf event */
	int cpu;
	void *base; /* the control page; data follows it */
	size_t mmap_size;
	size_t page_size;
	uint64_t mask;
	uint64_t tail; /* our own copy of data_tail */
	uint64_t usual; /* header of the last sample, ... */
	uint64_t stride; /* ... and its size */
};

/*
 * Opens the BPF output event @attr on @cpu with a ring of @pages pages (a power of two). Returns 0
 * or -errno; to be undone by perfbuf_close().
 */
int perfbuf_open(struct perfbuf *p, const struct perf_event_attr *attr, int cpu, size_t pages);
void perfbuf_close(struct perfbuf *p);

/* Consumes the samples that are there now; returns their number. */
uint64_t perfbuf_consume(struct perfbuf *p);

/* The same, with a look into each record. */
uint64_t perfbuf_consume_each(struct perfbuf *p, record_fn fn, void *ctx);

#endif /* LIB_BPF_RINGBUF_H */

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/bpf/ringbuf.h"

int ringbuf_map(struct ringbuf *r, int map_fd, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *p;
	int err;

	memset(r, 0, sizeof(*r));
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	r->consumer_pos = p;
	/* The producer's page, and behind it the data, which the kernel itself repeats. */
	p = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, map_fd, page);
	if (p == MAP_FAILED) {
		err = -errno;
		munmap(r->consumer_pos, page);
		memset(r, 0, sizeof(*r));
		return err;
	}
	r->producer_pos = p;
	r->data = (const char *)p + page;
	r->mask = size - 1;
	r->page_size = page;
	r->pos = *r->consumer_pos;
	return 0;
}

void ringbuf_unmap(struct ringbuf *r)
{
	if (!r->consumer_pos)
		return;
	munmap(r->consumer_pos, r->page_size);
	munmap((void *)r->producer_pos, r->page_size + 2 * (r->mask + 1));
	memset(r, 0, sizeof(*r));
}

/* Bytes from one record to the next; @len without flags. */
static unsigned long record_stride(uint32_t len)
{
	return (len + BPF_RINGBUF_HDR_SZ + 7UL) & ~7UL;
}

static inline void ringbuf_publish(struct ringbuf *r, unsigned long pos)
{
	if (pos == r->pos)
		return;
	r->pos = pos;
	__atomic_store_n(r->consumer_pos, pos, __ATOMIC_RELEASE);
	/*
	 * The kernel writes a record and then reads our position; we write our position and then
	 * look for a record. Without a full barrier between the two on our side both could miss
	 * each other, and we would sleep with a record unread.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

uint64_t ringbuf_consume(struct ringbuf *r)
{
	const unsigned long end = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE);
	unsigned long pos = r->pos, stride = r->stride;
	/* At first no record is the usual one: none has all bits set, both flags among them. */
	uint32_t len, usual = stride ? r->usual : UINT32_MAX;
	uint64_t n = 0;

	/* Positions only grow, and on a 32-bit machine they run over after 4 GiB. */
	while ((long)(end - pos) > 0) {
		len = __atomic_load_n((const uint32_t *)(r->data + (pos & r->mask)),
				      __ATOMIC_ACQUIRE);
		/*
		 * Mostly a record is as long as the one before. Then the way to the next one does
		 * not depend on what was just read, and the CPU can read ahead.
		 */
		if (__builtin_expect(len == usual, 1)) {
			pos += stride;
			n++;
			continue;
		}
		if (len & BPF_RINGBUF_BUSY_BIT)
			break; /* what was consumed before it is published all the same */
		if (len & BPF_RINGBUF_DISCARD_BIT) {
			pos += record_stride(len & ~BPF_RINGBUF_DISCARD_BIT);
			continue;
		}
		usual = len;
		stride = record_stride(len);
		pos += stride;
		n++;
	}
	r->usual = usual;
	r->stride = stride;
	ringbuf_publish(r, pos);
	return n;
}

uint64_t ringbuf_consume_each(struct ringbuf *r, record_fn fn, void *ctx)
{
	const unsigned long end = __atomic_load_n(r->producer_pos, __ATOMIC_ACQUIRE);
	unsigned long pos = r->pos;
	const char *record;
	uint64_t n = 0, word;
	uint32_t len;

	while ((long)(end - pos) > 0) {
		record = r->data + (pos & r->mask);
		len = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		if (len & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(len & BPF_RINGBUF_DISCARD_BIT)) {
			memcpy(&word, record + BPF_RINGBUF_HDR_SZ, sizeof(word));
			fn(ctx, word);
			n++;
		}
		pos += record_stride(len & ~BPF_RINGBUF_DISCARD_BIT);
	}
	ringbuf_publish(r, pos);
	return n;
}

int perfbuf_open(struct perfbuf *p, const struct perf_event_attr *attr, int cpu, size_t pages)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->cpu = cpu;
	p->page_size = sysconf(_SC_PAGESIZE);
	p->mask = pages * p->page_size - 1;
	p->mmap_size = (pages + 1) * p->page_size;
	p->fd = syscall(__NR_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	p->base = mmap(NULL, p->mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->base == MAP_FAILED || ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		err = -errno;
		perfbuf_close(p);
		return err;
	}
	return 0;
}

void perfbuf_close(struct perfbuf *p)
{
	if (p->base && p->base != MAP_FAILED)
		munmap(p->base, p->mmap_size);
	if (p->fd > 0)
		close(p->fd);
	memset(p, 0, sizeof(*p));
}

static inline void perfbuf_publish(struct perfbuf *p, uint64_t tail)
{
	struct perf_event_mmap_page *page = p->base;

	if (tail == p->tail)
		return;
	p->tail = tail;
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

uint64_t perfbuf_consume(struct perfbuf *p)
{
	const struct perf_event_mmap_page *page = p->base;
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)p->base + p->page_size;
	uint64_t tail = p->tail, stride = p->stride, usual = p->usual, n = 0, raw;
	struct perf_event_header header;

	/* A record may wrap, but its header cannot: both are multiples of eight bytes. */
	while (tail != head) {
		memcpy(&raw, data + (tail & p->mask), sizeof(raw));
		/* As in ringbuf_consume(): the usual record lets the CPU read ahead. */
		if (__builtin_expect(raw == usual && stride, 1)) {
			tail += stride;
			n++;
			continue;
		}
		memcpy(&header, &raw, sizeof(header));
		if (!header.size)
			break; /* nothing that the kernel writes: do not stay here for ever */
		tail += header.size;
		if (header.type == PERF_RECORD_SAMPLE) {
			usual = raw;
			stride = header.size;
			n++;
		}
	}
	p->usual = usual;
	p->stride = stride;
	perfbuf_publish(p, tail);
	return n;
}

uint64_t perfbuf_consume_each(struct perfbuf *p, record_fn fn, void *ctx)
{
	const struct perf_event_mmap_page *page = p->base;
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)p->base + p->page_size;
	struct perf_event_header header;
	uint64_t tail = p->tail, n = 0, word, at;
	size_t i;

	while (tail != head) {
		memcpy(&header, data + (tail & p->mask), sizeof(header));
		if (!header.size)
			break;
		if (header.type == PERF_RECORD_SAMPLE) {
			/* Behind the size, 32 bits: so a word may wrap in its middle. */
			for (i = 0; i < sizeof(word); i += 4) {
				at = tail + PERFBUF_DATA_AT + i;
				memcpy((char *)&word + i, data + (at & p->mask), 4);
			}
			fn(ctx, word);
			n++;
		}
		tail += header.size;
	}
	perfbuf_publish(p, tail);
	return n;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The consumers against buffers laid out by hand as the kernel would have them, and mapping against
 * the kernel itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/bpf/ringbuf.h"

/* ---- BPF ring buffer */

#define RING 4096

/*
 * A file laid out like a ring buffer map, with all positions at @pos. What the kernel does by
 * mapping twice, ring_put() does by writing twice.
 */
struct fake_ring {
	struct ringbuf r;
	char *mem;
	size_t len;
	unsigned long *consumer, *producer;
	char *data;
};

static struct fake_ring *ring_new(unsigned long pos)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct fake_ring *f = calloc(1, sizeof(*f));
	int fd = memfd_create("ring", MFD_CLOEXEC);

	assert_non_null(f);
	assert_true(fd >= 0);
	f->len = 2 * page + 2 * RING;
	assert_int_equal(ftruncate(fd, f->len), 0);
	f->mem = mmap(NULL, f->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(f->mem, MAP_FAILED);
	f->consumer = (unsigned long *)f->mem;
	f->producer = (unsigned long *)(f->mem + page);
	f->data = f->mem + 2 * page;
	*f->consumer = *f->producer = pos;
	assert_int_equal(ringbuf_map(&f->r, fd, RING), 0);
	close(fd);
	return f;
}

static void ring_free(struct fake_ring *f)
{
	ringbuf_unmap(&f->r);
	munmap(f->mem, f->len);
	free(f);
}

static uint32_t *ring_header(struct fake_ring *f, unsigned long pos, int copy)
{
	return (uint32_t *)(f->data + (pos & (RING - 1)) + copy * RING);
}

static void ring_set_header(struct fake_ring *f, unsigned long pos, uint32_t header)
{
	*ring_header(f, pos, 0) = header;
	*ring_header(f, pos, 1) = header;
}

/* Puts a record of @len bytes, which are all 0xff: nobody has to look at them. Returns where. */
static unsigned long ring_put(struct fake_ring *f, uint32_t len, uint32_t flags)
{
	unsigned long at = *f->producer, i;
	unsigned long size = (len + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;

	for (i = 0; i < size; i++) {
		f->data[(at + i) & (RING - 1)] = -1;
		f->data[((at + i) & (RING - 1)) + RING] = -1;
	}
	ring_set_header(f, at, len | flags);
	*f->producer += size;
	return at;
}

static void ring_records_are_counted(void **state)
{
	struct fake_ring *f = ring_new(0);
	int i;

	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, 0);
	for (i = 0; i < 10; i++)
		ring_put(f, 8, 0);
	assert_int_equal(ringbuf_consume(&f->r), 10);
	assert_int_equal(*f->consumer, 160);
	assert_int_equal(f->r.pos, 160);
	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, 160);
	ring_free(f);
}

/* Header and data together are rounded up to eight bytes. */
static void ring_records_of_all_sizes(void **state)
{
	static const uint32_t len[] = { 0, 1, 7, 8, 9, 15, 16, 17, 1000, 1001 };
	struct fake_ring *f = ring_new(0);
	unsigned long size = 0;
	size_t i;

	for (i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		ring_put(f, len[i], 0);
		size += 8 + (len[i] + 7) / 8 * 8;
	}
	assert_int_equal(*f->producer, size);
	assert_int_equal(ringbuf_consume(&f->r), sizeof(len) / sizeof(len[0]));
	assert_int_equal(*f->consumer, size);
	ring_free(f);
}

static void ring_discarded_records_are_stepped_over(void **state)
{
	struct fake_ring *f = ring_new(0);

	ring_put(f, 8, BPF_RINGBUF_DISCARD_BIT);
	ring_put(f, 16, 0);
	ring_put(f, 100, BPF_RINGBUF_DISCARD_BIT);
	ring_put(f, 8, 0);
	assert_int_equal(ringbuf_consume(&f->r), 2);
	assert_int_equal(*f->consumer, *f->producer);
	/* only discarded ones: no record, but the place is given back */
	ring_put(f, 8, BPF_RINGBUF_DISCARD_BIT);
	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, *f->producer);
	ring_free(f);
}

/*
 * A record that is still being written ends it; what is before it has been consumed, and the kernel
 * knows. Else those records would be counted a second time later.
 */
static void ring_busy_record(void **state)
{
	struct fake_ring *f = ring_new(0);
	unsigned long busy;

	ring_put(f, 8, 0);
	ring_put(f, 8, 0);
	busy = ring_put(f, 8, BPF_RINGBUF_BUSY_BIT);
	ring_put(f, 8, 0);
	assert_int_equal(ringbuf_consume(&f->r), 2);
	assert_int_equal(*f->consumer, busy);
	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, busy);
	ring_set_header(f, busy, 8);
	assert_int_equal(ringbuf_consume(&f->r), 2);
	assert_int_equal(*f->consumer, *f->producer);
	/* thrown away in the end */
	busy = ring_put(f, 8, BPF_RINGBUF_BUSY_BIT);
	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, busy);
	ring_set_header(f, busy, 8 | BPF_RINGBUF_DISCARD_BIT);
	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, *f->producer);
	ring_free(f);
}

/* A record may be empty, also the first one of all. */
static void ring_empty_records(void **state)
{
	struct fake_ring *f = ring_new(0);
	unsigned long busy = ring_put(f, 0, BPF_RINGBUF_BUSY_BIT);

	assert_int_equal(ringbuf_consume(&f->r), 0);
	assert_int_equal(*f->consumer, busy);
	ring_set_header(f, busy, 0);
	ring_put(f, 0, BPF_RINGBUF_DISCARD_BIT);
	ring_put(f, 0, 0);
	assert_int_equal(ringbuf_consume(&f->r), 2);
	assert_int_equal(*f->consumer, 24);
	ring_free(f);
}

/* Many times round, with records across the end. */
static void ring_wraps(void **state)
{
	struct fake_ring *f = ring_new(RING - 24);
	uint64_t put = 0, got = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		while (*f->producer - *f->consumer + 1008 < RING) {
			ring_put(f, put % 2 ? 1000 : 24, 0);
			put++;
		}
		got += ringbuf_consume(&f->r);
		assert_int_equal(got, put);
		assert_int_equal(*f->consumer, *f->producer);
	}
	assert_true(*f->producer > 100 * RING);
	ring_free(f);
}

/*
 * Positions are unsigned long and run over: where that has 32 bits, after 4 GiB of records, which
 * is a matter of seconds.
 */
static void ring_positions_run_over(void **state)
{
	struct fake_ring *f = ring_new(ULONG_MAX - 31);

	ring_put(f, 8, 0);
	ring_put(f, 8, 0);
	ring_put(f, 8, 0);
	assert_int_equal(*f->producer, 16);
	assert_int_equal(ringbuf_consume(&f->r), 3);
	assert_int_equal(*f->consumer, 16);
	ring_free(f);
}

static int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void ring_is_mapped_and_unmapped(void **state)
{
	const size_t size = 2 * sysconf(_SC_PAGESIZE);
	struct ringbuf r;
	int fd, fds;

	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, size, NULL);
	if (fd == -EPERM)
		skip();
	assert_true(fd >= 0);
	fds = open_fds();
	assert_int_equal(ringbuf_map(&r, fd, size), 0);
	assert_int_equal(*r.consumer_pos, 0);
	assert_int_equal(*r.producer_pos, 0);
	/* all of it can be read, twice in a row */
	assert_int_equal(r.data[0], 0);
	assert_int_equal(r.data[2 * size - 1], 0);
	assert_int_equal(ringbuf_consume(&r), 0);
	ringbuf_unmap(&r);
	assert_null(r.consumer_pos);
	ringbuf_unmap(&r); /* does nothing */
	/* too large for this map: half of it mapped is not left over */
	assert_int_equal(ringbuf_map(&r, fd, 4 * size), -EINVAL);
	assert_null(r.consumer_pos);
	ringbuf_unmap(&r);
	assert_int_equal(open_fds(), fds);
	close(fd);
}

static void ring_that_is_none(void **state)
{
	struct ringbuf r;

	memset(&r, 0xff, sizeof(r));
	assert_int_equal(ringbuf_map(&r, -1, RING), -EBADF);
	assert_null(r.consumer_pos);
	ringbuf_unmap(&r);
}

static void see_all_ones(void *ctx, uint64_t word)
{
	assert_true(word == UINT64_MAX);
	++*(int *)ctx;
}

static void ring_words_are_seen(void **state)
{
	struct fake_ring *f = ring_new(0);
	int seen = 0;

	ring_put(f, 8, 0);
	ring_put(f, 100, BPF_RINGBUF_DISCARD_BIT);
	ring_put(f, 13, 0);
	ring_put(f, 8, BPF_RINGBUF_BUSY_BIT);
	assert_int_equal(ringbuf_consume_each(&f->r, see_all_ones, &seen), 2);
	assert_int_equal(seen, 2);
	assert_int_equal(*f->consumer, 16 + 112 + 24);
	assert_int_equal(ringbuf_consume_each(&f->r, see_all_ones, &seen), 0);
	ring_free(f);
}

/* ---- perf buffer */

struct fake_perf {
	struct perfbuf p;
	struct perf_event_mmap_page *page; /* the data follows at page_size */
	uint64_t head;
};

static struct fake_perf *perf_new(uint64_t pos)
{
	struct fake_perf *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->p.fd = -1;
	f->p.page_size = sizeof(struct perf_event_mmap_page);
	f->p.mask = RING - 1;
	f->p.base = f->page = calloc(1, f->p.page_size + RING);
	assert_non_null(f->page);
	f->p.tail = f->head = pos;
	f->page->data_head = f->page->data_tail = pos;
	return f;
}

static void perf_free(struct fake_perf *f)
{
	free(f->page);
	free(f);
}

/* As the kernel does: written, and only then published by perf_publish(). */
static void perf_put(struct fake_perf *f, uint32_t type, uint16_t size)
{
	const struct perf_event_header h = { .type = type, .size = size };
	char *data = (char *)f->page + f->p.page_size;
	size_t i;

	for (i = 0; i < size; i++)
		data[(f->head + i) & (RING - 1)] = i < sizeof(h) ? ((const char *)&h)[i] : -1;
	f->head += size;
}

static void perf_publish(struct fake_perf *f)
{
	f->page->data_head = f->head;
}

static void perf_samples_are_counted(void **state)
{
	struct fake_perf *f = perf_new(0);
	int i;

	assert_int_equal(perfbuf_consume(&f->p), 0);
	for (i = 0; i < 10; i++)
		perf_put(f, PERF_RECORD_SAMPLE, 24);
	assert_int_equal(perfbuf_consume(&f->p), 0); /* not published */
	perf_publish(f);
	assert_int_equal(perfbuf_consume(&f->p), 10);
	assert_int_equal(f->page->data_tail, 240);
	assert_int_equal(perfbuf_consume(&f->p), 0);
	assert_int_equal(f->page->data_tail, 240);
	perf_free(f);
}

/* That the kernel had to drop samples it says in a record of its own, which is none of ours. */
static void perf_other_records_are_stepped_over(void **state)
{
	struct fake_perf *f = perf_new(0);

	perf_put(f, PERF_RECORD_LOST, 24);
	perf_put(f, PERF_RECORD_SAMPLE, 32);
	perf_put(f, PERF_RECORD_THROTTLE, 32);
	perf_put(f, PERF_RECORD_LOST, 24);
	perf_put(f, PERF_RECORD_SAMPLE, 1024);
	perf_publish(f);
	assert_int_equal(perfbuf_consume(&f->p), 2);
	assert_int_equal(f->page->data_tail, f->head);
	perf_put(f, PERF_RECORD_LOST, 24);
	perf_publish(f);
	assert_int_equal(perfbuf_consume(&f->p), 0);
	assert_int_equal(f->page->data_tail, f->head);
	perf_free(f);
}

static void perf_wraps(void **state)
{
	struct fake_perf *f = perf_new(0);
	uint64_t put = 0, got = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		while (f->head - f->page->data_tail + 1016 < RING) {
			perf_put(f, PERF_RECORD_SAMPLE, put % 2 ? 1016 : 24);
			put++;
		}
		perf_publish(f);
		got += perfbuf_consume(&f->p);
		assert_int_equal(got, put);
	}
	assert_true(f->head > 100 * RING);
	perf_free(f);
}

static void perf_positions_run_over(void **state)
{
	struct fake_perf *f = perf_new(UINT64_MAX - 23);

	perf_put(f, PERF_RECORD_SAMPLE, 24);
	perf_put(f, PERF_RECORD_SAMPLE, 24);
	perf_publish(f);
	assert_int_equal(perfbuf_consume(&f->p), 2);
	assert_int_equal(f->page->data_tail, 24);
	perf_free(f);
}

/* The word behind the header and the size, wherever the ring ends. */
static void see_word(void *ctx, uint64_t word)
{
	uint64_t *next = ctx;

	assert_int_equal(word, (*next)++);
}

static void perf_words_are_seen(void **state)
{
	struct fake_perf *f = perf_new(0);
	char *data = (char *)f->page + f->p.page_size;
	uint64_t put = 1ULL << 40, seen = put, at;
	size_t k;
	int i;

	for (i = 0; i < 1000; i++) {
		at = f->head + PERFBUF_DATA_AT;
		perf_put(f, PERF_RECORD_SAMPLE, 24);
		for (k = 0; k < sizeof(put); k++)
			data[(at + k) & (RING - 1)] = ((const char *)&put)[k];
		put++;
		perf_put(f, PERF_RECORD_LOST, 24);
		perf_publish(f);
		assert_int_equal(perfbuf_consume_each(&f->p, see_word, &seen), 1);
		assert_int_equal(f->page->data_tail, f->head);
	}
	assert_int_equal(seen, put);
	perf_free(f);
}

static const struct perf_event_attr bpf_output = {
	.type = PERF_TYPE_SOFTWARE,
	.size = sizeof(struct perf_event_attr),
	.config = PERF_COUNT_SW_BPF_OUTPUT,
	.sample_type = PERF_SAMPLE_RAW,
	.sample_period = 1,
	.wakeup_events = 1,
};

static void perf_is_opened_and_closed(void **state)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *control;
	struct perfbuf p;
	int fds = open_fds(), err;

	err = perfbuf_open(&p, &bpf_output, 0, 4);
	if (err == -EACCES || err == -EPERM)
		skip();
	assert_int_equal(err, 0);
	assert_true(p.fd >= 0);
	assert_int_equal(p.cpu, 0);
	control = p.base;
	/* the kernel's idea of the ring is ours */
	assert_int_equal(control->data_offset, page);
	assert_int_equal(control->data_size, p.mask + 1);
	assert_int_equal(p.mask + 1, 4 * page);
	assert_int_equal(perfbuf_consume(&p), 0);
	assert_int_equal(open_fds(), fds + 1);
	perfbuf_close(&p);
	perfbuf_close(&p); /* does nothing */
	assert_int_equal(open_fds(), fds);
}

static void perf_that_cannot_be_opened(void **state)
{
	struct perfbuf p;
	int fds = open_fds(), err;

	/* such a CPU no machine has */
	memset(&p, 0xff, sizeof(p));
	err = perfbuf_open(&p, &bpf_output, 1 << 20, 4);
	if (err == -EACCES || err == -EPERM)
		skip();
	assert_true(err < 0);
	perfbuf_close(&p);
	/* opened, but what is no power of two cannot be mapped */
	memset(&p, 0xff, sizeof(p));
	assert_int_equal(perfbuf_open(&p, &bpf_output, 0, 3), -EINVAL);
	assert_int_equal(open_fds(), fds);
	perfbuf_close(&p);
	assert_int_equal(open_fds(), fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_records_are_counted),
		cmocka_unit_test(ring_records_of_all_sizes),
		cmocka_unit_test(ring_discarded_records_are_stepped_over),
		cmocka_unit_test(ring_busy_record),
		cmocka_unit_test(ring_wraps),
		cmocka_unit_test(ring_positions_run_over),
		cmocka_unit_test(ring_is_mapped_and_unmapped),
		cmocka_unit_test(ring_that_is_none),
		cmocka_unit_test(perf_samples_are_counted),
		cmocka_unit_test(perf_other_records_are_stepped_over),
		cmocka_unit_test(perf_wraps),
		cmocka_unit_test(perf_positions_run_over),
		cmocka_unit_test(perf_is_opened_and_closed),
		cmocka_unit_test(perf_that_cannot_be_opened),
		cmocka_unit_test(ring_empty_records),
		cmocka_unit_test(ring_words_are_seen),
		cmocka_unit_test(perf_words_are_seen),
	};

	/* a consumer that does not come to an end */
	alarm(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

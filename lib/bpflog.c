// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/bpflog.h"

static struct {
	pthread_mutex_t lock;
	bool verbose;
	size_t len;
	char text[16384]; /* the end of what was said; older text is pushed out at the front */
} log_ = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A verifier log comes as one message of any length: only the end of it tells why it failed. */
static void keep(const char *s, size_t n)
{
	const size_t max = sizeof(log_.text) - 1;

	if (n > max) {
		s += n - max;
		n = max;
	}
	if (log_.len + n > max) {
		size_t drop = log_.len + n - max;

		memmove(log_.text, log_.text + drop, log_.len - drop);
		log_.len -= drop;
	}
	memcpy(log_.text + log_.len, s, n);
	log_.len += n;
	log_.text[log_.len] = '\0';
}

static int print_cb(enum libbpf_print_level level, const char *fmt, va_list args)
{
	va_list again;
	char *s;
	int n;

	if (level == LIBBPF_DEBUG && !log_.verbose)
		return 0;
	va_copy(again, args);
	n = vasprintf(&s, fmt, again);
	va_end(again);
	if (n < 0)
		return 0;
	pthread_mutex_lock(&log_.lock);
	if (log_.verbose)
		fputs(s, stderr);
	if (level != LIBBPF_DEBUG)
		keep(s, n);
	pthread_mutex_unlock(&log_.lock);
	free(s);
	return n;
}

void bpflog_start(bool verbose)
{
	log_.verbose = verbose;
	libbpf_set_print(print_cb);
}

void bpflog_clear(void)
{
	pthread_mutex_lock(&log_.lock);
	log_.len = 0;
	log_.text[0] = '\0';
	pthread_mutex_unlock(&log_.lock);
}

void bpflog_tail(char *buf, size_t size)
{
	const char *from;

	pthread_mutex_lock(&log_.lock);
	from = log_.text;
	if (log_.len >= size) {
		const char *nl;

		from = log_.text + log_.len - (size - 1);
		nl = strchr(from, '\n');
		if (nl && nl[1])
			from = nl + 1;
	}
	snprintf(buf, size, "%s", from);
	pthread_mutex_unlock(&log_.lock);
}

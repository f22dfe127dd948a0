// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "lib/bpf/tracefs.h"
#include "lib/bpf/tracepoint.h"
#include "lib/num.h"

/* From the open file @fd, or passes on the -errno that it is. */
static int read_id(int fd)
{
	char buf[32];
	long long id;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, buf, sizeof(buf) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	if (num_parse(buf, 0, 0x7fffffff, &id))
		return -EBADMSG;
	return id;
}

int tracepoint_id(const char *category, const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "events/%s/%s/id", category, name);
	return read_id(tracefs_open(path));
}

/*
 * A BPF program on a tracepoint runs on all CPUs, whichever CPU its perf event was opened on; but
 * that one has to be online, and CPU 0 need not be. The kernel is asked, not /sys, which may lack
 * the file, or have one that a container made up.
 */
static int open_on_any_cpu(struct perf_event_attr *attr)
{
	int cpu, fd;

	for (cpu = 0;; cpu++) {
		fd = syscall(__NR_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0 || errno != ENODEV)
			return fd;
	}
}

struct bpf_link *tracepoint_attach(const struct bpf_program *prog, const char *category,
				   const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	struct bpf_link *link;
	int id, fd, err;

	id = tracepoint_id(category, name);
	if (id < 0) {
		errno = -id;
		return NULL;
	}
	attr.config = id;
	fd = open_on_any_cpu(&attr);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(prog, fd); /* takes over fd */
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

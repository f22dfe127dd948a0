// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/run/hwcount.h"
#include "lib/util.h"

const char *const hwcount_names[HWCOUNT_MAX + 1] = {
	"instructions", "cycles",	    "cache-misses", "branch-misses",
	"branches",	"cache-references", "bus-cycles",   "ref-cycles",
};

static const uint64_t configs[HWCOUNT_MAX] = {
	PERF_COUNT_HW_INSTRUCTIONS,	   PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_CACHE_MISSES,	   PERF_COUNT_HW_BRANCH_MISSES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_CACHE_REFERENCES,
	PERF_COUNT_HW_BUS_CYCLES,	   PERF_COUNT_HW_REF_CPU_CYCLES,
};

struct reading { /* as the kernel writes it */
	uint64_t count, enabled_ns, running_ns;
};

/* One event of one thread. */
struct hwcounter {
	int fd; /* negative: the machine lacks it, or it was not asked for */
	struct reading start;
};

struct hwcounters {
	unsigned int asked;
	bool began;
	size_t nr;
	struct hwcounter v[]; /* HWCOUNT_MAX of each thread */
};

int hwcount_parse(const char *list, unsigned int *set)
{
	unsigned int found = 0;
	const char *word = list;
	size_t len, i;

	for (;; word += len + 1) {
		len = strcspn(word, ",");
		for (i = 0; i < HWCOUNT_MAX; i++)
			if (strlen(hwcount_names[i]) == len && !memcmp(hwcount_names[i], word, len))
				break;
		if (i == HWCOUNT_MAX)
			return -EINVAL;
		found |= 1U << i;
		if (!word[len])
			break;
	}
	*set = found;
	return 0;
}

/* A file descriptor, or -errno. */
static int open_event(size_t event, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = configs[event],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static bool is_lacking(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV || err == -ENXIO;
}

int hwcount_open(unsigned int asked, const pid_t *tids, size_t nr_tids,
		 struct hwcounters **counters, const char **event)
{
	const size_t nr = nr_tids * HWCOUNT_MAX;
	struct hwcounters *all = calloc(1, sizeof(*all) + nr * sizeof(all->v[0]));
	bool any = false;
	size_t i;

	*event = hwcount_names[0];
	if (!all)
		return -ENOMEM;
	all->asked = asked;
	for (i = 0; i < nr; i++) {
		all->v[i].fd = -1;
		if (!(asked & 1U << i % HWCOUNT_MAX))
			continue;
		all->nr = i + 1;
		all->v[i].fd = open_event(i % HWCOUNT_MAX, tids[i / HWCOUNT_MAX]);
		any = any || all->v[i].fd >= 0;
		if (all->v[i].fd < 0 && !is_lacking(all->v[i].fd)) {
			int err = all->v[i].fd;

			*event = hwcount_names[i % HWCOUNT_MAX];
			hwcount_close(all);
			return err;
		}
	}
	if (!any) {
		hwcount_close(all);
		return -ENODATA;
	}
	*counters = all;
	return 0;
}

static bool read_counter(const struct hwcounter *c, struct reading *reading)
{
	return c->fd >= 0 && read(c->fd, reading, sizeof(*reading)) == sizeof(*reading);
}

void hwcount_begin(struct hwcounters *counters)
{
	size_t i;

	for (i = 0; counters && i < counters->nr; i++)
		read_counter(&counters->v[i], &counters->v[i].start);
	if (counters)
		counters->began = true;
}

void hwcount_end(const struct hwcounters *counters, struct hwcount *hw)
{
	double enabled[HWCOUNT_MAX] = {}, running[HWCOUNT_MAX] = {}, count[HWCOUNT_MAX] = {};
	struct reading end;
	size_t i, event;

	if (!counters)
		return;
	hw->asked = counters->asked;
	for (i = 0; counters->began && i < counters->nr; i++) {
		const struct hwcounter *c = &counters->v[i];

		event = i % HWCOUNT_MAX;
		if (!read_counter(c, &end))
			continue;
		end.count -= c->start.count;
		end.enabled_ns -= c->start.enabled_ns;
		end.running_ns -= c->start.running_ns;
		enabled[event] += end.enabled_ns;
		running[event] += end.running_ns;
		if (end.running_ns)
			count[event] += (double)end.count * end.enabled_ns / end.running_ns;
	}
	for (event = 0; event < HWCOUNT_MAX; event++) {
		hw->count[event] = running[event] > 0 ? count[event] : NAN;
		hw->running_pct[event] =
			enabled[event] > 0 ? 100 * running[event] / enabled[event] : 0;
	}
}

void hwcount_close(struct hwcounters *counters)
{
	size_t i;

	for (i = 0; counters && i < counters->nr; i++)
		if (counters->v[i].fd >= 0)
			close(counters->v[i].fd);
	free(counters);
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/run/hwcount.h"
#include "lib/run/services.h"
#include "lib/run/state.h"
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

/* One event of one thread. */
struct hwcounter {
	int fd; /* -1: the machine lacks it */
	struct reading { /* as the kernel writes it */
		uint64_t count, enabled_ns, running_ns;
	} start;
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

int hwcount_open(struct run_state *state)
{
	const unsigned int asked = state->run.cfg->counters;
	struct hwcounter *c;
	bool any = false;
	size_t i, event;

	state->res->hw.asked = asked;
	if (!asked)
		return 0;
	state->hwcounters = calloc(state->nr_workers * HWCOUNT_MAX, sizeof(*state->hwcounters));
	if (!state->hwcounters)
		return bench_failed(&state->run.err, ENOMEM, "cannot count by hardware");
	for (i = 0; i < state->nr_workers * HWCOUNT_MAX; i++)
		state->hwcounters[i].fd = -1;
	for (i = 0; i < state->nr_workers * HWCOUNT_MAX; i++) {
		event = i % HWCOUNT_MAX;
		c = &state->hwcounters[i];
		if (!(asked & 1U << event))
			continue;
		c->fd = open_event(event, state->workers[i / HWCOUNT_MAX].t.tid);
		if (c->fd >= 0)
			any = true;
		else if (!is_lacking(c->fd))
			return bench_step_error(&state->run.err, WHY_PERF, c->fd,
						"cannot count %s, as --counters wants",
						hwcount_names[event]);
	}
	if (!any)
		return bench_unavailable(&state->run.err,
					 "this machine has no hardware counter of those that "
					 "--counters asks for (most virtual machines have none)");
	return 0;
}

static bool read_counter(const struct hwcounter *c, struct reading *reading)
{
	return c->fd >= 0 && read(c->fd, reading, sizeof(*reading)) == sizeof(*reading);
}

void hwcount_begin(struct run_state *state)
{
	size_t i;

	for (i = 0; state->hwcounters && i < state->nr_workers * HWCOUNT_MAX; i++)
		read_counter(&state->hwcounters[i], &state->hwcounters[i].start);
	state->hwcount_began = true;
}

void hwcount_end(struct run_state *state)
{
	struct hwcount *hw = &state->res->hw;
	size_t i, event;

	for (event = 0; event < HWCOUNT_MAX; event++) {
		double enabled = 0, running = 0;
		struct reading end;

		hw->count[event] = NAN;
		for (i = event; state->hwcounters && state->hwcount_began &&
				i < state->nr_workers * HWCOUNT_MAX;
		     i += HWCOUNT_MAX) {
			const struct hwcounter *c = &state->hwcounters[i];

			if (!read_counter(c, &end))
				continue;
			end.count -= c->start.count;
			end.enabled_ns -= c->start.enabled_ns;
			end.running_ns -= c->start.running_ns;
			enabled += end.enabled_ns;
			running += end.running_ns;
			if (end.running_ns)
				hw->count[event] =
					(isnan(hw->count[event]) ? 0 : hw->count[event]) +
					(double)end.count * end.enabled_ns / end.running_ns;
		}
		hw->running_pct[event] = enabled > 0 ? 100 * running / enabled : 0;
	}
}

void hwcount_close(struct run_state *state)
{
	size_t i;

	for (i = 0; state->hwcounters && i < state->nr_workers * HWCOUNT_MAX; i++)
		if (state->hwcounters[i].fd >= 0)
			close(state->hwcounters[i].fd);
	free(state->hwcounters);
	state->hwcounters = NULL;
}

// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lib/run/noise.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/cpuset.h"
#include "lib/sysctl.h"
#include "lib/sysfile.h"
#include "lib/util.h"

#define LONG_BITS (8 * (int)sizeof(long))

/*
 * The line 'cpu  user nice system idle iowait irq softirq steal guest guest_nice', in ticks. The
 * two guest columns are also in user and nice, and must not be added twice.
 */
static int parse_ticks(char *line, long long *steal, long long *total)
{
	long long ticks, sum = 0;
	int i, err;

	for (i = 0; i < 8; i++) {
		err = sysfile_next(&line, 0, LLONG_MAX / 8, &ticks);
		if (err)
			return err;
		sum += ticks;
	}
	*steal = ticks;
	*total = sum;
	return 0;
}

static int read_ticks(const char *root, long long *steal, long long *total)
{
	int ret = -ENODATA;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	f = sysfile_open(root, "/proc/stat");
	if (!f)
		return -errno;
	while (ret == -ENODATA && getline(&line, &cap, f) >= 0) {
		/* with the blank: 'cpu0' is a single CPU's line */
		if (!strncmp(line, "cpu ", 4))
			ret = parse_ticks(line + 4, steal, total);
	}
	free(line);
	fclose(f);
	return ret;
}

/*
 * The count behind 'key <blanks> : ' in a file of a thread. The last such line counts: 'sched'
 * starts with the thread's name as it is, and a name may have a newline in it.
 * Returns -ENODATA where the file has no such line.
 */
static int read_thread_count(const char *root, pid_t tid, const char *file, const char *key,
			     long long *count)
{
	char *line = NULL, *value;
	int ret = -ENODATA;
	size_t cap = 0;
	FILE *f;

	f = sysfile_open(root, "/proc/self/task/%d/%s", (int)tid, file);
	if (!f)
		return -errno;
	while (getline(&line, &cap, f) >= 0) {
		value = sysfile_value(line, key, ':');
		if (value)
			ret = sysfile_next(&value, 0, LLONG_MAX, count);
	}
	/* A thread can end after its file was opened: then read() fails with ESRCH. */
	if (ferror(f))
		ret = -EIO;
	free(line);
	fclose(f);
	return ret;
}

/* 'schedstat' is 'ns on a CPU, ns waiting for one, times that it ran', with CONFIG_SCHED_INFO. */
static long long read_waited_ns(const char *root, pid_t tid)
{
	long long on_cpu, waited;
	char line[128], *text = line;

	if (sysfile_line(root, line, sizeof(line), "/proc/self/task/%d/schedstat", (int)tid) ||
	    sysfile_next(&text, 0, LLONG_MAX, &on_cpu) ||
	    sysfile_next(&text, 0, LLONG_MAX, &waited))
		return -1;
	return waited;
}

static void read_thread(const char *root, pid_t tid, struct noise_thread *thread)
{
	int err;

	thread->tid = tid;
	thread->invol_switches = -1;
	thread->migrations = -1;
	thread->waited_ns = read_waited_ns(root, tid);

	/* Named after its place in the kernel's structures, which has changed before. */
	err = read_thread_count(root, tid, "sched", "se.nr_migrations", &thread->migrations);
	if (err)
		err = read_thread_count(root, tid, "sched", "nr_migrations", &thread->migrations);
	if (err)
		thread->migrations = -1;
	/*
	 * After the two that not every kernel has: with this one read, the thread was alive, and
	 * what was missing before is missing for good.
	 */
	err = read_thread_count(root, tid, "status", "nonvoluntary_ctxt_switches",
				&thread->invol_switches);
	if (err)
		thread->invol_switches = -1;
}

int noise_read_at(const char *root, struct noise_reading *reading, const pid_t *tids,
		  size_t nr_tids)
{
	size_t i;

	memset(reading, 0, sizeof(*reading));
	if (nr_tids) {
		reading->threads = calloc(nr_tids, sizeof(*reading->threads));
		if (!reading->threads)
			return -ENOMEM;
		reading->nr_threads = nr_tids;
	}
	reading->steal_ticks = -1;
	reading->total_ticks = -1;
	reading->ns = now_ns();
	reading->throttled_ns = cgroup_throttled_ns(root);
	read_ticks(root, &reading->steal_ticks, &reading->total_ticks);
	for (i = 0; i < nr_tids; i++)
		read_thread(root, tids[i], &reading->threads[i]);
	return 0;
}

int noise_read(struct noise_reading *reading, const pid_t *tids, size_t nr_tids)
{
	return noise_read_at("", reading, tids, nr_tids);
}

void noise_reading_free(struct noise_reading *reading)
{
	free(reading->threads);
	memset(reading, 0, sizeof(*reading));
}

static double steal_pct(const struct noise_reading *start, const struct noise_reading *end)
{
	long long steal, total;

	/* No machine has counted nothing: that is a reading which was never taken. */
	if (start->total_ticks <= 0 || end->total_ticks <= 0)
		return -1;
	steal = end->steal_ticks - start->steal_ticks;
	total = end->total_ticks - start->total_ticks;
	/* Idle and iowait are known to go backwards at times, so the sum can as well. */
	if (total <= 0 || steal < 0)
		return -1;
	return steal < total ? 100.0 * steal / total : 100.0;
}

/* The reading of a thread, mostly found in the same place as in the other reading. */
static const struct noise_thread *find_thread(const struct noise_reading *reading, pid_t tid,
					      size_t hint)
{
	size_t i;

	if (hint < reading->nr_threads && reading->threads[hint].tid == tid)
		return &reading->threads[hint];
	for (i = 0; i < reading->nr_threads; i++) {
		if (reading->threads[i].tid == tid)
			return &reading->threads[i];
	}
	return NULL;
}

/* Of the time of all threads that had a CPU to run on. */
static double throttled_pct(const struct noise_reading *start, const struct noise_reading *end)
{
	double time_ns = (double)(end->ns - start->ns), stopped;
	struct cpuset allowed = {};

	if (start->throttled_ns < 0 || end->throttled_ns < start->throttled_ns || time_ns <= 0)
		return -1;
	if (!cpuset_allowed(&allowed) && start->nr_threads)
		time_ns *= start->nr_threads < (size_t)allowed.cnt ? start->nr_threads :
								     (size_t)allowed.cnt;
	cpuset_free(&allowed);
	stopped = end->throttled_ns - start->throttled_ns;
	return stopped < time_ns ? 100 * stopped / time_ns : 100;
}

void noise_diff(const struct noise_reading *start, const struct noise_reading *end,
		struct noise *noise)
{
	double time_ns = (double)(end->ns - start->ns), waited_ns = 0;
	bool know_migrations = true, know_waited = time_ns > 0;
	size_t i;

	memset(noise, 0, sizeof(*noise));
	noise->steal_pct = steal_pct(start, end);
	noise->throttled_pct = throttled_pct(start, end);

	for (i = 0; i < start->nr_threads; i++) {
		const struct noise_thread *a = &start->threads[i];
		const struct noise_thread *b = find_thread(end, a->tid, i);

		/* A count that went back is another thread's, which got an ended one's TID. */
		if (!b || a->invol_switches < 0 || b->invol_switches < a->invol_switches) {
			noise->threads_lost++;
			continue;
		}
		noise->invol_switches += b->invol_switches - a->invol_switches;
		if (a->migrations < 0 || b->migrations < a->migrations)
			know_migrations = false;
		else
			noise->migrations += b->migrations - a->migrations;
		if (a->waited_ns < 0 || b->waited_ns < a->waited_ns)
			know_waited = false;
		else
			waited_ns += b->waited_ns - a->waited_ns;
	}
	if (start->nr_threads && noise->threads_lost == start->nr_threads) {
		noise->invol_switches = -1;
		know_migrations = know_waited = false;
	}
	if (!know_migrations)
		noise->migrations = -1;
	if (!know_waited)
		noise->waited_pct = -1;
	else if (start->nr_threads > noise->threads_lost)
		noise->waited_pct = fmin(100, 100 * waited_ns / time_ns /
						      (start->nr_threads - noise->threads_lost));
}

bool noise_thread_is_pinned(pid_t tid, int cpu)
{
	unsigned long mask[(CPUSET_MAX + 1) / LONG_BITS];
	long len;

	/*
	 * The system call itself: it takes a mask longer than the kernel's, returns that length,
	 * and is all that a look at thousands of threads should cost.
	 */
	len = syscall(SYS_sched_getaffinity, tid, sizeof(mask), mask);
	if (len < 0)
		return true;
	return cpu < 8 * len && mask[cpu / LONG_BITS] >> cpu % LONG_BITS & 1 &&
	       CPU_COUNT_S(len, (cpu_set_t *)mask) == 1;
}

long long noise_wakeups(pid_t tid)
{
	long long count;

	return read_thread_count("", tid, "status", "voluntary_ctxt_switches", &count) ? -1 : count;
}

static int policy_of(pid_t tid)
{
	return sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK;
}

static bool is_real_time(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

bool noise_sched(pid_t tid, char *buf, size_t size)
{
	static const char *const names[] = {
		[SCHED_OTHER] = "SCHED_OTHER",
		[SCHED_FIFO] = "SCHED_FIFO",
		[SCHED_RR] = "SCHED_RR",
		[SCHED_BATCH] = "SCHED_BATCH",
		[SCHED_IDLE] = "SCHED_IDLE",
		[6] = "SCHED_DEADLINE",
		[7] = "SCHED_EXT",
	};
	int policy = policy_of(tid), nice;
	struct sched_param param = {};
	const char *name;

	name = policy >= 0 && policy < (int)ARRAY_SIZE(names) ? names[policy] : NULL;
	if (is_real_time(policy)) {
		sched_getparam(tid, &param);
		snprintf(buf, size, "%s %d", name, param.sched_priority);
		return true;
	}
	nice = getpriority(PRIO_PROCESS, tid);
	if (nice)
		snprintf(buf, size, "%s, nice %d", name ?: "unknown", nice);
	else
		snprintf(buf, size, "%s", name ?: "unknown");
	return !nice && policy == SCHED_OTHER;
}

double noise_rt_limit_pct(pid_t tid)
{
	long long period, runtime;

	/*
	 * Not looked up for others: Linux 7.2 rebuilds the scheduling domains whenever runtime is
	 * read, and so waits for a CPU that goes offline, which may wait for our producer to stop.
	 */
	if (!is_real_time(policy_of(tid)))
		return 100;
	period = sysctl_read("kernel/sched_rt_period_us", 1000000);
	runtime = sysctl_read("kernel/sched_rt_runtime_us", -1);
	if (runtime < 0 || runtime >= period)
		return 100;
	return 100.0 * runtime / period;
}

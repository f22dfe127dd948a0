// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_ALLOC() */
#endif
#include "lib/cpuset.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/sysfile.h"

/*
 * Every set is collected as one flag per possible CPU: sorting and duplicates
 * take care of themselves, and a hostile list ('0-65535,0-65535,...') costs no
 * more memory than a short one.
 */
static int from_flags(const bool *flags, struct cpuset *set)
{
	int cpu, cnt = 0;

	for (cpu = 0; cpu <= CPUSET_MAX; cpu++)
		cnt += flags[cpu];
	if (!cnt)
		return 0;

	set->cpus = malloc(cnt * sizeof(*set->cpus));
	if (!set->cpus)
		return -ENOMEM;
	for (cpu = 0; cpu <= CPUSET_MAX; cpu++) {
		if (flags[cpu])
			set->cpus[set->cnt++] = cpu;
	}
	return 0;
}

/* Read a CPU number at *s and step over it. */
static int parse_cpu(const char **s, int *cpu)
{
	const char *p = *s;
	bool too_big = false;
	int v = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (!too_big)
			v = v * 10 + (*p - '0');
		too_big = too_big || v > CPUSET_MAX;
	}
	*s = p;
	*cpu = v;
	return too_big ? -ERANGE : 0;
}

static int parse_flags(const char *s, bool *flags)
{
	int first, last, err;

	while (true) {
		err = parse_cpu(&s, &first);
		if (err)
			return err;
		last = first;
		if (*s == '-') {
			s++;
			err = parse_cpu(&s, &last);
			if (err)
				return err;
			if (last < first)
				return -EINVAL;
		}
		memset(flags + first, true, (last - first + 1) * sizeof(*flags));

		if (!*s)
			return 0;
		if (*s++ != ',')
			return -EINVAL;
	}
}

int cpuset_parse(const char *s, struct cpuset *set)
{
	bool *flags;
	int err;

	*set = (struct cpuset){ 0 };
	if (!s)
		return -EINVAL;

	flags = calloc(CPUSET_MAX + 1, sizeof(*flags));
	if (!flags)
		return -ENOMEM;
	err = parse_flags(s, flags);
	if (!err)
		err = from_flags(flags, set);
	free(flags);
	return err;
}

static int allowed_flags(bool *flags)
{
	int nr = CPU_SETSIZE, cpu, err;
	cpu_set_t *mask;

	/*
	 * The kernel refuses a mask shorter than its own with EINVAL, and does not
	 * return its length.
	 */
	while (true) {
		mask = CPU_ALLOC(nr);
		if (!mask)
			return -ENOMEM;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(nr), mask))
			break;
		err = -errno;
		CPU_FREE(mask);
		if (err != -EINVAL || nr > CPUSET_MAX)
			return err;
		nr *= 2;
	}
	for (cpu = 0; cpu < nr && cpu <= CPUSET_MAX; cpu++)
		flags[cpu] = CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(nr), mask);
	CPU_FREE(mask);
	return 0;
}

int cpuset_allowed(struct cpuset *set)
{
	bool *flags;
	int err;

	*set = (struct cpuset){ 0 };

	flags = calloc(CPUSET_MAX + 1, sizeof(*flags));
	if (!flags)
		return -ENOMEM;
	err = allowed_flags(flags);
	if (!err)
		err = from_flags(flags, set);
	free(flags);
	return err;
}

/*
 * Lets the calling thread run on @mask, of @size bytes, for a moment: @got, unless NULL, is what
 * the kernel makes of it. Returns 0 or -errno.
 */
static int try_mask(const cpu_set_t *mask, size_t size, struct cpuset *got)
{
	cpu_set_t *before = CPU_ALLOC(CPUSET_MAX + 1);
	int err = before ? 0 : -ENOMEM;

	if (!err && sched_getaffinity(0, size, before))
		err = -errno;
	if (!err) {
		err = sched_setaffinity(0, size, mask) ? -errno : 0;
		if (!err && got)
			err = cpuset_allowed(got);
		sched_setaffinity(0, size, before);
	}
	CPU_FREE(before);
	return err;
}

/* The CPUs that the kernel lets the calling thread run on, if it only asks. */
static int reachable(struct cpuset *set)
{
	const size_t size = CPU_ALLOC_SIZE(CPUSET_MAX + 1);
	cpu_set_t *all = CPU_ALLOC(CPUSET_MAX + 1);
	int err = -ENOMEM;

	if (all) {
		memset(all, 0xff, size);
		err = try_mask(all, size, set);
	}
	CPU_FREE(all);
	return err ? cpuset_allowed(set) : 0;
}

int cpuset_online_at(const char *root, struct cpuset *set)
{
	char list[4096];

	if (!sysfile_line(root, list, sizeof(list), "/sys/devices/system/cpu/online") &&
	    !cpuset_parse(list, set))
		return 0;
	/* sysfs is missing in many containers and in a bare initramfs */
	return reachable(set);
}

int cpuset_online(struct cpuset *set)
{
	return cpuset_online_at("", set);
}

int cpuset_limit(void)
{
	unsigned char mask[(CPUSET_MAX + 1) / 8];
	long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);

	/* The C library hides that the kernel returns the length of its masks. */
	return bytes > 0 ? 8 * bytes : CPUSET_MAX + 1;
}

int cpuset_nr_possible(void)
{
	int nr = cpuset_limit();
	struct cpuset possible;
	char list[4096];

	if (!sysfile_line("", list, sizeof(list), "/sys/devices/system/cpu/possible") &&
	    !cpuset_parse(list, &possible)) {
		nr = possible.cnt < nr ? possible.cnt : nr;
		cpuset_free(&possible);
	}
	return nr;
}

int cpuset_try(int cpu)
{
	const size_t size = CPU_ALLOC_SIZE(CPUSET_MAX + 1);
	cpu_set_t *one = CPU_ALLOC(CPUSET_MAX + 1);
	int err = -ENOMEM;

	if (one) {
		CPU_ZERO_S(size, one);
		CPU_SET_S(cpu, size, one);
		err = try_mask(one, size, NULL);
	}
	CPU_FREE(one);
	return err;
}

/* Those on the core of @cpu; empty where sysfs does not list them. */
static void read_siblings(const char *root, int cpu, struct cpuset *siblings)
{
	char list[256];

	*siblings = (struct cpuset){ 0 };
	if (!sysfile_line(root, list, sizeof(list),
			  "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu))
		cpuset_parse(list, siblings);
}

bool cpuset_share_core(const char *root, int a, int b)
{
	struct cpuset siblings;
	bool shared;

	read_siblings(root, a, &siblings);
	shared = a != b && cpuset_has(&siblings, b);
	cpuset_free(&siblings);
	return shared;
}

/* How many of the CPUs before number @i are on its core. */
static int siblings_before(const char *root, const struct cpuset *set, int i)
{
	struct cpuset siblings;
	int k, nr = 0;

	read_siblings(root, set->cpus[i], &siblings);
	for (k = 0; k < i && siblings.cnt > 1; k++)
		nr += cpuset_has(&siblings, set->cpus[k]);
	cpuset_free(&siblings);
	return nr;
}

void cpuset_spread(const char *root, struct cpuset *set)
{
	int *order = malloc(set->cnt * sizeof(*order)), *rank = malloc(set->cnt * sizeof(*rank));
	int i, round, nr = 0;

	if (!order || !rank) {
		free(order);
		free(rank);
		return;
	}
	for (i = 0; i < set->cnt; i++)
		rank[i] = siblings_before(root, set, i);
	for (round = 0; nr < set->cnt; round++)
		for (i = 0; i < set->cnt; i++)
			if (rank[i] == round)
				order[nr++] = set->cpus[i];
	free(rank);
	free(set->cpus);
	set->cpus = order;
}

bool cpuset_has(const struct cpuset *set, int cpu)
{
	int lo = 0, hi = set->cnt;

	while (lo < hi) {
		int mid = lo + (hi - lo) / 2;

		if (set->cpus[mid] == cpu)
			return true;
		if (set->cpus[mid] < cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

int cpuset_first_missing(const struct cpuset *want, const struct cpuset *have)
{
	int i;

	for (i = 0; i < want->cnt; i++) {
		if (!cpuset_has(have, want->cpus[i]))
			return want->cpus[i];
	}
	return -1;
}

int cpuset_format(const struct cpuset *set, char *buf, size_t size)
{
	size_t len = 0;
	int i, last, n;

	if (!size)
		return -ENOSPC;
	buf[0] = '\0';
	for (i = 0; i < set->cnt; i = last + 1) {
		const char *sep = i ? "," : "";

		last = i;
		while (last + 1 < set->cnt && set->cpus[last + 1] == set->cpus[last] + 1)
			last++;
		if (last == i)
			n = snprintf(buf + len, size - len, "%s%d", sep, set->cpus[i]);
		else
			n = snprintf(buf + len, size - len, "%s%d-%d", sep, set->cpus[i],
				     set->cpus[last]);
		if (n < 0 || (size_t)n >= size - len) {
			/* Half a list would read as another list */
			buf[0] = '\0';
			return -ENOSPC;
		}
		len += n;
	}
	return 0;
}

void cpuset_free(struct cpuset *set)
{
	free(set->cpus);
	*set = (struct cpuset){ 0 };
}

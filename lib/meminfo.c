// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/cgroup.h"
#include "lib/meminfo.h"
#include "lib/sysfile.h"

/* The files of a memory cgroup: version 1 and 2 differ in names only. */
struct memcg_files {
	const char *limit;
	const char *usage;
	const char *cache; /* line of memory.stat, hierarchical */
};

static const struct memcg_files memcg_v1 = {
	.limit = "memory.limit_in_bytes",
	.usage = "memory.usage_in_bytes",
	.cache = "total_cache",
};

static const struct memcg_files memcg_v2 = {
	.limit = "memory.max",
	.usage = "memory.current",
	.cache = "file",
};

/* The number that follows @key. Returns 0 or -errno. */
static int read_key(const char *root, const char *path, const char *key, char sep, long long *value)
{
	char line[64], *text = line;
	int err;

	err = sysfile_key(root, path, key, sep, line, sizeof(line));
	return err ? err : sysfile_next(&text, 0, LLONG_MAX, value);
}

/* What one cgroup leaves; UINT64_MAX where it has no limit. */
static uint64_t memcg_left(const char *root, const struct memcg_files *files, const char *dir)
{
	long long limit, usage, cache;
	char stat[PATH_MAX + 16];

	/* A word ("max") is no limit */
	if (sysfile_number(root, &limit, "%s/%s", dir, files->limit) ||
	    sysfile_number(root, &usage, "%s/%s", dir, files->usage))
		return UINT64_MAX;
	snprintf(stat, sizeof(stat), "%s/memory.stat", dir);
	if (read_key(root, stat, files->cache, ' ', &cache))
		cache = 0;
	usage = usage > cache ? usage - cache : 0;
	return limit > usage ? limit - usage : 0;
}

/* The least that our cgroup and those above it leave. */
static uint64_t cgroup_available(const char *root)
{
	uint64_t least = UINT64_MAX, left;
	char dir[PATH_MAX];
	bool v2;

	if (cgroup_find(root, "memory", dir, sizeof(dir), &v2))
		return least;
	do {
		left = memcg_left(root, v2 ? &memcg_v2 : &memcg_v1, dir);
		if (left < least)
			least = left;
	} while (cgroup_up(dir, v2));
	return least;
}

uint64_t meminfo_machine_at(const char *root)
{
	long long kib;

	if (read_key(root, "/proc/meminfo", "MemAvailable", ':', &kib))
		return UINT64_MAX;
	return (uint64_t)kib * 1024;
}

uint64_t meminfo_machine(void)
{
	return meminfo_machine_at("");
}

uint64_t meminfo_available_at(const char *root, enum meminfo_limit *limit)
{
	uint64_t machine = meminfo_machine_at(root), cgroup = cgroup_available(root);

	if (limit)
		*limit = cgroup < machine ? MEMINFO_CGROUP : MEMINFO_MACHINE;
	return cgroup < machine ? cgroup : machine;
}

uint64_t meminfo_available(enum meminfo_limit *limit)
{
	return meminfo_available_at("", limit);
}

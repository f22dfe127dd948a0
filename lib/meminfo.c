// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/meminfo.h"

/* How a cgroup tells its limits: version 1 and 2 differ in names only. */
struct memcg_files {
	const char *mount;
	const char *limit;
	const char *usage;
	const char *cache; /* line of memory.stat, hierarchical */
};

static const struct memcg_files memcg_v1 = {
	.mount = "/sys/fs/cgroup/memory",
	.limit = "memory.limit_in_bytes",
	.usage = "memory.usage_in_bytes",
	.cache = "total_cache",
};

static const struct memcg_files memcg_v2 = {
	.mount = "/sys/fs/cgroup",
	.limit = "memory.max",
	.usage = "memory.current",
	.cache = "file",
};

static FILE *open_below(const char *root, const char *path)
{
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s%s", root, path) >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return fopen(name, "re");
}

/* The first line of a file, a number. Returns 0 or -errno: also where it is a word ("max"). */
static int read_number(const char *root, const char *path, uint64_t *value)
{
	int ret;
	FILE *f;

	f = open_below(root, path);
	if (!f)
		return -errno;
	ret = fscanf(f, "%" SCNu64, value) == 1 ? 0 : -EINVAL;
	fclose(f);
	return ret;
}

/* The number that follows @key on a line of its own. Returns 0 or -errno. */
static int read_key(const char *root, const char *path, const char *key, uint64_t *value)
{
	char line[256], name[128];
	int ret = -ENOENT;
	FILE *f;

	f = open_below(root, path);
	if (!f)
		return -errno;
	while (ret && fgets(line, sizeof(line), f))
		if (sscanf(line, "%127s %" SCNu64, name, value) == 2 && !strcmp(name, key))
			ret = 0;
	fclose(f);
	return ret;
}

/* What one cgroup leaves; UINT64_MAX where it has no limit. */
static uint64_t memcg_left(const char *root, const struct memcg_files *files, const char *cgroup)
{
	uint64_t limit, usage, cache;
	char path[2 * PATH_MAX];

#define CGROUP_FILE(name) \
	(snprintf(path, sizeof(path), "%s%s/%s", files->mount, cgroup, name), path)

	if (read_number(root, CGROUP_FILE(files->limit), &limit) ||
	    read_number(root, CGROUP_FILE(files->usage), &usage))
		return UINT64_MAX;
	if (read_key(root, CGROUP_FILE("memory.stat"), files->cache, &cache))
		cache = 0;
#undef CGROUP_FILE
	usage = usage > cache ? usage - cache : 0;
	return limit > usage ? limit - usage : 0;
}

/* The least that our cgroup and those above it leave. */
static uint64_t memcg_available(const char *root, const struct memcg_files *files, char *cgroup)
{
	uint64_t least = UINT64_MAX, left;
	char *slash;

	for (;;) {
		left = memcg_left(root, files, cgroup);
		if (left < least)
			least = left;
		slash = strrchr(cgroup, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Is "memory" among the comma-separated names? */
static bool names_memory(const char *names)
{
	size_t len;

	for (;; names += len + 1) {
		len = strcspn(names, ",");
		if (len == strlen("memory") && !strncmp(names, "memory", len))
			return true;
		if (!names[len])
			return false;
	}
}

static uint64_t cgroup_available(const char *root)
{
	uint64_t least = UINT64_MAX, left;
	char line[PATH_MAX], *names, *path;
	FILE *f;

	f = open_below(root, "/proc/self/cgroup");
	if (!f)
		return least;
	/* "4:cpu,memory:/path" in version 1, "0::/path" in version 2. */
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		names++;
		if (!strcmp(path, "/"))
			*path = '\0';
		if (!*names)
			left = memcg_available(root, &memcg_v2, path);
		else if (names_memory(names))
			left = memcg_available(root, &memcg_v1, path);
		else
			continue;
		if (left < least)
			least = left;
	}
	fclose(f);
	return least;
}

uint64_t meminfo_machine_at(const char *root)
{
	uint64_t kib;

	return read_key(root, "/proc/meminfo", "MemAvailable:", &kib) ? UINT64_MAX : kib * 1024;
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

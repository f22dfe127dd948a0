// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/cgroup.h"
#include "lib/sysfile.h"

#define MOUNT "/sys/fs/cgroup"

/* Is @name among the comma-separated @names? */
static bool is_named(const char *names, const char *name)
{
	size_t len;

	for (;; names += len + 1) {
		len = strcspn(names, ",");
		if (len == strlen(name) && !strncmp(names, name, len))
			return true;
		if (!names[len])
			return false;
	}
}

int cgroup_find(const char *root, const char *controller, char *dir, size_t size, bool *v2)
{
	char line[PATH_MAX], *names, *path;
	int err = -ENOENT;
	FILE *f;

	f = sysfile_open(root, "/proc/self/cgroup");
	if (!f)
		return -errno;
	/* "4:cpu,memory:/path" in version 1, "0::/path" in version 2; a machine may have both. */
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
		if (is_named(names, controller)) {
			snprintf(dir, size, MOUNT "/%s%s", controller, path);
			*v2 = false;
			err = 0;
			break;
		}
		if (!*names) {
			snprintf(dir, size, MOUNT "%s", path);
			*v2 = true;
			err = 0;
		}
	}
	fclose(f);
	return err;
}

bool cgroup_up(char *dir, bool v2)
{
	const char *top = dir + strlen(MOUNT);
	char *slash = strrchr(dir, '/');

	/* Version 1 has a directory for the controller below the mount point. */
	if (!v2 && *top)
		top += 1 + strcspn(top + 1, "/");
	if (slash < top || !*top)
		return false;
	*slash = '\0';
	return true;
}

long long cgroup_throttled_ns(const char *root)
{
	long long most = -1, ns;
	char dir[PATH_MAX], stat[PATH_MAX + 16], value[64], *text;
	bool v2;

	if (cgroup_find(root, "cpu", dir, sizeof(dir), &v2))
		return -1;
	do {
		snprintf(stat, sizeof(stat), "%s/cpu.stat", dir);
		text = value;
		if (sysfile_key(root, stat, v2 ? "throttled_usec" : "throttled_time", ' ', value,
				sizeof(value)) ||
		    sysfile_next(&text, 0, LLONG_MAX / 1000, &ns))
			continue;
		ns *= v2 ? 1000 : 1;
		most = ns > most ? ns : most;
	} while (cgroup_up(dir, v2));
	return most;
}

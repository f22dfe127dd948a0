// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "lib/bpf/detached.h"
#include "lib/bpf/tracefs.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

int tracefs_open(const char *path)
{
	char full[PATH_MAX];
	int fd, err;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(full, sizeof(full), "%s/%s", mounts[i], path);
		fd = open(full, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		err = -errno;
		/* The mount that we can read has all that there is. */
		snprintf(full, sizeof(full), "%s/events", mounts[i]);
		if (err == -ENOENT && !access(full, R_OK | X_OK))
			return err;
	}
	return detached_open("tracefs", path);
}

bool tracefs_is_mounted(void)
{
	struct statfs st;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++)
		if (!statfs(mounts[i], &st) && (unsigned long)st.f_type == TRACEFS_MAGIC)
			return true;
	return false;
}

bool tracefs_is_empty(void)
{
	int fd = tracefs_open("events");

	if (fd >= 0)
		close(fd);
	return fd == -ENOENT;
}

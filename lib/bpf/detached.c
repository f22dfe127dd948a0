// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/bpf/detached.h"

/* Since Linux 5.2, the same number on every architecture; old headers lack them. */
#ifndef __NR_fsopen
#define __NR_fsopen   430
#define __NR_fsconfig 431
#define __NR_fsmount  432
#endif
#define FSOPEN_CLOEXEC_	 1
#define FSMOUNT_CLOEXEC_ 1
#define FS_CONFIG_CREATE 6 /* enum fsconfig_command of linux/mount.h */

static int mount_detached(const char *name)
{
	int fs, mnt;

	fs = syscall(__NR_fsopen, name, FSOPEN_CLOEXEC_);
	if (fs < 0)
		return -errno;
	if (syscall(__NR_fsconfig, fs, FS_CONFIG_CREATE, NULL, NULL, 0) < 0)
		mnt = -errno;
	else
		mnt = syscall(__NR_fsmount, fs, FSMOUNT_CLOEXEC_, 0);
	if (mnt == -1)
		mnt = -errno;
	close(fs);
	return mnt;
}

int detached_open(const char *fs, const char *path)
{
	int mnt, fd;

	mnt = mount_detached(fs);
	if (mnt < 0)
		return mnt;
	fd = openat(mnt, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(mnt);
	return fd;
}

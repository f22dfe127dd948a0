/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files of a file system that is mounted nowhere: by a mount that no one else sees, since the
 * user's mount table is not ours to change. For root, from Linux 5.2 on.
 */
#ifndef LIB_BPF_DETACHED_H
#define LIB_BPF_DETACHED_H

/* Opens @path, relative to the root of file system @fs, for reading. A descriptor or -errno. */
int detached_open(const char *fs, const char *path);

#endif /* LIB_BPF_DETACHED_H */

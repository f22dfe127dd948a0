/* SPDX-License-Identifier: GPL-2.0 */
/* Files of tracefs, whether it is mounted or not. */
#ifndef LIB_BPF_TRACEFS_H
#define LIB_BPF_TRACEFS_H

#include <stdbool.h>

/*
 * Opens @path, relative to its root, for reading: where it is mounted and may be read, else by a
 * private mount (lib/bpf/detached.h). A descriptor or -errno.
 */
int tracefs_open(const char *path);

/* Is it where it belongs? */
bool tracefs_is_mounted(void);

/* Are there no events at all in it? For one that has got ENOENT for an event. */
bool tracefs_is_empty(void);

#endif /* LIB_BPF_TRACEFS_H */

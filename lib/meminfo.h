/* SPDX-License-Identifier: GPL-2.0 */
/* How much memory this process can still get. */
#ifndef LIB_MEMINFO_H
#define LIB_MEMINFO_H

#include <stdint.h>

enum meminfo_limit {
	MEMINFO_MACHINE, /* MemAvailable of /proc/meminfo */
	MEMINFO_CGROUP, /* the limit of our memory cgroup, or of one above it */
};

/*
 * Bytes that can still be had without pushing others out, by the narrower of both limits; which
 * one that is goes to @limit (may be NULL). A cgroup's page cache counts as free. UINT64_MAX if
 * neither is known; only cgroup hierarchies mounted below /sys/fs/cgroup are searched.
 */
uint64_t meminfo_available(enum meminfo_limit *limit);

/* The machine's own, for what the kernel allocates without charging it to a cgroup. */
uint64_t meminfo_machine(void);

/* The same with all files looked up below the directory @root (for tests). */
uint64_t meminfo_available_at(const char *root, enum meminfo_limit *limit);
uint64_t meminfo_machine_at(const char *root);

#endif /* LIB_MEMINFO_H */

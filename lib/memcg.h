/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A memory cgroup of its own for something that the kernel allocates: how much that is.
 *
 * The kernel charges a BPF map, and what it allocates for it later on, to the cgroup of the process
 * that created it. So it is a short-lived process that goes there, and not we: nothing else is
 * charged to it.
 */
#ifndef LIB_MEMCG_H
#define LIB_MEMCG_H

#include <stdint.h>

struct memcg;

/*
 * Makes one below our own cgroup (version 1), or below the nearest one upwards that gives its
 * children the memory controller (version 2). It is removed by memcg_destroy(), and also when this
 * process ends in any way: a child process waits for that. Returns 0; -ENOENT: there is no memory
 * controller; or another -errno.
 */
int memcg_create(struct memcg **memcg);

/*
 * Calls @fn in a process that is in the cgroup and shares our memory and descriptors; this one
 * waits. What @fn returned goes to @ret. Returns 0 or -errno.
 */
int memcg_call(struct memcg *memcg, int (*fn)(void *arg), void *arg, int *ret);

/* Bytes charged to it now, and the highest so far. Return 0 or -errno; -ENOENT: not kept here. */
int memcg_usage(const struct memcg *memcg, uint64_t *bytes);
int memcg_peak(const struct memcg *memcg, uint64_t *bytes);

/* @memcg may be NULL. */
void memcg_destroy(struct memcg *memcg);

#endif /* LIB_MEMCG_H */

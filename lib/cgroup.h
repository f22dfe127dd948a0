/* SPDX-License-Identifier: GPL-2.0 */
/* Where this process is in the hierarchies of cgroups, mounted below /sys/fs/cgroup. */
#ifndef LIB_CGROUP_H
#define LIB_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Directory of the cgroup that @controller ("memory", "cpu") accounts this process to, below @root
 * ("" is the running machine): "/sys/fs/cgroup/memory/a/b", or with version 2 "/sys/fs/cgroup/a/b".
 * @v2 tells which. Returns 0 or -errno: -ENOENT where neither version has it.
 */
int cgroup_find(const char *root, const char *controller, char *dir, size_t size, bool *v2);

/* Makes @dir the cgroup above; false: it was the topmost. */
bool cgroup_up(char *dir, bool v2);

/*
 * Time that the runqueues of our cgroup, or of one above it, were stopped by a CPU quota, ns since
 * the cgroup was made, summed over CPUs: the largest of them. -1: no cgroup counts it.
 */
long long cgroup_throttled_ns(const char *root);

#endif /* LIB_CGROUP_H */

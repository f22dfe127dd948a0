/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of CPUs: as the user writes them, and as the kernel has them. */
#ifndef LIB_CPUSET_H
#define LIB_CPUSET_H

#include <stdbool.h>
#include <stddef.h>

/* Highest CPU number accepted: far above any kernel's NR_CPUS, and keeps a typo cheap */
#define CPUSET_MAX 65535

/*
 * CPU numbers in ascending order, each once. The set owns the array; { 0 } is
 * the empty set. The functions that fill a set overwrite it without freeing
 * what was there, and leave the empty set on error.
 */
struct cpuset {
	int *cpus;
	int cnt;
};

/*
 * Parse a list of CPUs and ranges such as '1,2-10,15'; order and repetition do
 * not matter. Returns 0; -EINVAL on a malformed list (empty, empty item, junk,
 * range that runs backwards), -ERANGE on a number above CPUSET_MAX, -ENOMEM.
 */
int cpuset_parse(const char *s, struct cpuset *set);

/*
 * The CPUs that the calling thread may run on now: its affinity mask without
 * the CPUs that are offline. Returns 0 or -errno.
 */
int cpuset_allowed(struct cpuset *set);

/*
 * The CPUs that are online; those that the calling thread could run on if sysfs does not list them.
 * Returns 0 or -errno.
 */
int cpuset_online(struct cpuset *set);

/*
 * Lets the calling thread run on @cpu and nowhere else, and then again where it could before: may
 * it? This asks the kernel, since masks and files tell only of defaults. Returns 0 or -errno.
 */
int cpuset_try(int cpu);

/*
 * No CPU of this kernel has this number or a higher one; the kernel's word, not that of /sys. The
 * length of what it copies for all possible CPUs.
 */
int cpuset_limit(void);

/*
 * How many CPUs the kernel may ever have, for estimates; cpuset_limit() if sysfs does not tell. No
 * length of anything that the kernel writes: libbpf_num_possible_cpus() believes any file.
 */
int cpuset_nr_possible(void);

/*
 * Do both run on one core (SMT)? Where sysfs does not tell: no. @root: "" or, for tests, a folder.
 */
bool cpuset_share_core(const char *root, int a, int b);

/*
 * Changes the order of the CPUs, which is ascending else: the first CPU of each core, then the
 * second of each. Without SMT it stays what it is.
 */
void cpuset_spread(const char *root, struct cpuset *set);
/* The same, with sysfs looked up below the directory @root ("" is the running machine). */
int cpuset_online_at(const char *root, struct cpuset *set);

/* Whether cpu is in the set. */
bool cpuset_has(const struct cpuset *set, int cpu);

/* The lowest CPU of want that have lacks, -1 if there is none. */
int cpuset_first_missing(const struct cpuset *want, const struct cpuset *have);

/*
 * Write the set in the syntax of cpuset_parse(), shortest form, into buf of
 * size bytes; the empty set gives "". Returns 0, or -ENOSPC if it does not fit,
 * with buf then holding the empty string (if size is not 0).
 */
int cpuset_format(const struct cpuset *set, char *buf, size_t size);

/* Free what the set owns and leave the empty set. */
void cpuset_free(struct cpuset *set);

#endif /* LIB_CPUSET_H */

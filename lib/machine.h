/* SPDX-License-Identifier: GPL-2.0 */
/* Facts about the machine, for whoever reads a record later. */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

#include <stddef.h>

/* How many facts there are: an array of this size holds them all. */
#define MACHINE_NR_FACTS 16

/*
 * One fact about the machine. The key is a string constant. The value is never empty, one line of
 * printable ASCII (other bytes are shown as '?'), and "unknown" if the kernel does not show it.
 */
struct machine_fact {
	const char *key;
	char value[512];
};

/*
 * Fill facts[] with at most max facts about the running machine, always in the same order: time,
 * host, kernel_release, kernel_version, machine, cpu_model, cpus_online, cpus_allowed, smt,
 * governor, freq_min_khz, freq_max_khz, mitigations, virtualization, jit, debug.
 * Returns how many were filled, min(max, MACHINE_NR_FACTS); it cannot fail.
 */
size_t machine_facts(struct machine_fact *facts, size_t max);

/*
 * The same, with every file looked up below the directory root ("" is the running machine), so that
 * tests can lay out a machine of their own. What comes from system calls, namely time, host,
 * kernel_release, kernel_version, machine and cpus_allowed, is the running machine's all the same.
 */
size_t machine_facts_at(const char *root, struct machine_fact *facts, size_t max);

/* The one fact called key, which has to be one of those, without the cost of the others. */
void machine_fact(const char *key, struct machine_fact *fact);

#endif /* LIB_MACHINE_H */

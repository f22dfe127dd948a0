/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs of local-storage-cache-* and user space share. */
#ifndef PROGS_LOCAL_STORAGE_H
#define PROGS_LOCAL_STORAGE_H

#include <linux/types.h>

#define LOCAL_STORAGE_MAX_MAPS 1000

/* Entries of each hash map of the control. */
#define LOCAL_STORAGE_HASH_ENTRIES 4194304

/* Turns that the verifier is shown in one piece, and how many of these pieces a run has at most. */
#define LOCAL_STORAGE_CHUNK	 128
#define LOCAL_STORAGE_MAX_CHUNKS 256

/* Keys that one run of the filling program puts into one hash map. */
#define LOCAL_STORAGE_FILL 1024

/* The arguments of one run of a measured program. */
struct local_storage_args {
	__u64 first; /* map to begin with */
	__u64 turns; /* whole rounds from map 0 on, or a part of one */
	__u64 seed; /* of the keys that are looked up */
};

/* The arguments of one run of the filling program. */
struct local_storage_fill_args {
	__u64 map;
	__u64 first; /* key */
};

/* The programs' configuration, from user space; constants to the verifier. */
struct local_storage_config {
	__u32 nr_maps;
	__u32 nr_keys;
	__u32 interleave; /* map 0 is read once more after each third map */
	__u32 empty; /* all but the measured operation is done */
};

/*
 * Gets that a round makes: one of each map, and the interleaved ones of map 0. Important ones are
 * those of map 0.
 */
static inline __u64 local_storage_important(const struct local_storage_config *cfg)
{
	return 1 + (cfg->interleave ? (cfg->nr_maps + 2) / 3 : 0);
}

static inline __u64 local_storage_gets(const struct local_storage_config *cfg)
{
	return cfg->nr_maps - 1 + local_storage_important(cfg);
}

#define LOCAL_STORAGE_CPUS 1024 /* a power of two; CPUs beyond share */

/* Of one CPU; added to once a run, atomically since CPUs may share. */
struct local_storage_counts {
	__u64 rounds; /* that came to their end */
	__u64 gets;
	__u64 important;
} __attribute__((aligned(128)));

#endif /* PROGS_LOCAL_STORAGE_H */

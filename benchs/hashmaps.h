/* SPDX-License-Identifier: GPL-2.0 */
/* What the benchmarks of hash maps share: the two map types, their size in memory, filling. */
#ifndef BENCHS_HASHMAPS_H
#define BENCHS_HASHMAPS_H

#include <stdbool.h>
#include <stdint.h>

struct bench_run;

#define HASHMAP_MAX_ENTRIES (1ULL << 27) /* 16 bytes a bucket, and the kernel's size has 32 bits */

struct hashmap_spec {
	bool resizable; /* BPF_MAP_TYPE_RHASH, else BPF_MAP_TYPE_HASH */
	uint32_t key_size, value_size, max_entries;
	uint32_t flags;
};

/*
 * Finds out by trying whether this kernel can create such a map and run programs on it. Its type
 * goes to @type (bpf_map__set_type()). Returns 0, or -errno after bench_unavailable() and its like.
 */
int hashmap_probe(struct bench_run *run, const struct hashmap_spec *spec, int *type);

/*
 * Runs a program on a map once on this CPU, with these arguments (progs/hashmaps.h). What it
 * returned goes to @ret. Returns 0 or -errno.
 */
int hashmap_run(int prog_fd, uint32_t arg_0, uint32_t arg_1, uint32_t *ret);

/*
 * Flags for a map in which one key is looked for again and again: how many others share its bucket,
 * and are compared, is for the seed to say, chance that a run has as a whole. To do without takes
 * CAP_SYS_ADMIN; with the flags of a map that has a seed, the other one says so.
 */
uint32_t hashmap_no_seed(void);
void hashmap_note_seed(struct bench_run *run, uint32_t flags);

/* About the bytes that such a map has with @nr entries (preallocated: with any number). */
uint64_t hashmap_bytes(const struct hashmap_spec *spec, uint64_t nr);

/* The number of entries that a map has now, or -errno. Keys of up to 1024 bytes. */
int64_t hashmap_count(int map_fd);

#endif /* BENCHS_HASHMAPS_H */

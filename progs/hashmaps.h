/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How programs on hash maps are run, by BPF_PROG_TEST_RUN. They are socket filters: no program for
 * tracing may use a resizable hash map, and before Linux 6.1 the kernel warns in its log about one
 * that uses a hash map without preallocation. Their arguments are in the socket buffer.
 */
#ifndef PROGS_HASHMAPS_H
#define PROGS_HASHMAPS_H

/* Indices into __sk_buff::cb. */
#define HASHMAP_ARG_0 0
#define HASHMAP_ARG_1 1

#endif /* PROGS_HASHMAPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What programs that time themselves (progs/timing.bpf.h) share with user space. */
#ifndef PROGS_TIMING_H
#define PROGS_TIMING_H

#include <linux/types.h>

/*
 * One for each producer, in map timing_slots. The program that the producer runs writes it, and the
 * producer reads it after the run, so no two threads write to a cache line.
 */
struct timing_slot {
	__u64 turns; /* of the last batch: those that were really made */
	__u64 ns; /* that they took */
	__u64 all_turns; /* of all batches, and that of nothing */
} __attribute__((aligned(128)));

/* What a program is given: the arguments of a raw_tp program, or the metadata of an XDP packet. */
struct timing_args {
	__u64 turns;
	__u64 producer;
	__u64 salt; /* the benchmark's own: for a batch that is to be unlike all others */
};

#endif /* PROGS_TIMING_H */

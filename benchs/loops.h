/* SPDX-License-Identifier: GPL-2.0 */
/* How bpf-loop and bpf-for cut --nr_loops turns into loops, and put loops into triggers. */
#ifndef BENCHS_LOOPS_H
#define BENCHS_LOOPS_H

#include <stdint.h>

#define NR_LOOPS_MAX (1 << 23) /* the kernel's BPF_MAX_LOOPS */

#define LOOPS_PER_TRIGGER_MAX 1000 /* where that stays short */

/*
 * Turns per trigger, at most. The count goes up when the trigger returns, and a CPU that runs it
 * does nothing else meanwhile (preemption is off): so it has to return soon, whatever --nr_loops
 * is. At 4 to 9 ns a turn this is about 1 ms at most. It is a fixed number and not a measured time,
 * so that all runs do the same.
 */
#define TURNS_PER_TRIGGER_MAX (1 << 17)

/*
 * Turns of one loop: a long one is cut into equal parts. That adds one loop for 65536 turns or
 * more, which does not show in what each of them costs.
 */
static inline uint32_t turns_per_loop(long long nr_loops)
{
	uint32_t parts = (nr_loops + TURNS_PER_TRIGGER_MAX - 1) / TURNS_PER_TRIGGER_MAX;

	return (nr_loops + parts - 1) / parts;
}

static inline uint32_t loops_per_trigger(long long nr_loops)
{
	uint32_t loops = TURNS_PER_TRIGGER_MAX / turns_per_loop(nr_loops);

	return loops < LOOPS_PER_TRIGGER_MAX ? loops : LOOPS_PER_TRIGGER_MAX;
}

#endif /* BENCHS_LOOPS_H */

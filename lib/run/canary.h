/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How fast the machine itself is at the moment, in 10 ms: a shared one has several speeds, and a
 * wake-up of another CPU costs what its hypervisor makes of it. Measured before and after each run,
 * so that a reader of two records can tell a change of the kernel from one of the machine.
 */
#ifndef LIB_RUN_CANARY_H
#define LIB_RUN_CANARY_H

struct canary {
	double loop_ns; /* a turn of a fixed loop in user space */
	double syscall_ns; /* getppid(2) */
	double trigger_ns; /* getpgid(2), which runs many benchmarks' programs; here without them */
	/*
	 * From a write to an eventfd to its reader on another CPU; NAN: there is none, or it was
	 * too busy to answer.
	 */
	double wakeup_us;
};

void canary_measure(struct canary *canary);

#endif /* LIB_RUN_CANARY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the measured time begins and ends, for whoever watches the process from outside: a
 * debugger, a uprobe, the emulator of scripts/insns.sh. They do nothing.
 */
#ifndef LIB_RUN_MARKS_H
#define LIB_RUN_MARKS_H

void bench_measure_begin(void);
void bench_measure_end(void);

/* Around what a producer does in the measured time that is not part of the figures. */
void bench_measure_pause(void);
void bench_measure_resume(void);

#endif /* LIB_RUN_MARKS_H */

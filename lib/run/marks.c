// SPDX-License-Identifier: GPL-2.0
#include "lib/run/marks.h"

/*
 * The asm keeps the compiler from taking a function without effect for one that need not be called,
 * and the linker from folding two functions of the same code into one.
 */
__attribute__((noinline, noclone)) void bench_measure_begin(void)
{
	asm volatile("" : : "r"(1) : "memory");
}

__attribute__((noinline, noclone)) void bench_measure_end(void)
{
	asm volatile("" : : "r"(2) : "memory");
}

// SPDX-License-Identifier: GPL-2.0
#include "lib/run/marks.h"

/* clang makes no clones. */
#ifdef __clang__
#define ONCE __attribute__((noinline))
#else
#define ONCE __attribute__((noinline, noclone))
#endif

/*
 * The asm keeps the compiler from taking a function without effect for one that need not be called,
 * and the linker from folding functions of the same code into one.
 */
ONCE void bench_measure_begin(void)
{
	asm volatile("" : : "r"(1) : "memory");
}

ONCE void bench_measure_end(void)
{
	asm volatile("" : : "r"(2) : "memory");
}

ONCE void bench_measure_pause(void)
{
	asm volatile("" : : "r"(3) : "memory");
}

ONCE void bench_measure_resume(void)
{
	asm volatile("" : : "r"(4) : "memory");
}

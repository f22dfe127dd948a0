/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_COMPARE_PRINT_NOISE_H
#define LIB_COMPARE_PRINT_NOISE_H

#include "lib/compare/comparison.h"
#include "lib/compare/prose.h"

/*
 * Where the runs of the files were disturbed differently, or the machine itself was faster for
 * some.
 */
void print_noise(struct prose *p, const struct comparison *c);

#endif /* LIB_COMPARE_PRINT_NOISE_H */

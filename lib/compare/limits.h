/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_COMPARE_LIMITS_H
#define LIB_COMPARE_LIMITS_H

/* A U test of two samples cannot reach p < 0.05 with fewer runs on each side. */
#define COMPARE_MIN_RUNS 4

/* What p, adjusted for the number of tests, has to be below for a difference to count as shown. */
#define COMPARE_ALPHA 0.05

/* As many columns as can be quoted in a mail and still be below 80. */
#define COMPARE_WIDTH 75

#endif /* LIB_COMPARE_LIMITS_H */

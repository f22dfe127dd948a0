/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that compare strings and user space share. */
#ifndef PROGS_STRNCMP_H
#define PROGS_STRNCMP_H

#define STRNCMP_MAX_LEN 4095
#define STRNCMP_SIZE	(STRNCMP_MAX_LEN + 1)
#define STRNCMP_CHUNK	64 /* comparisons; a run makes so many, a number of times */

#endif /* PROGS_STRNCMP_H */

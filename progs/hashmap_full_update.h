/* SPDX-License-Identifier: GPL-2.0 */
/* What the program that updates a full hash map and user space share. */
#ifndef PROGS_HASHMAP_FULL_UPDATE_H
#define PROGS_HASHMAP_FULL_UPDATE_H

#define FULL_UPDATE_ENTRIES 1000
#define FULL_UPDATE_CHUNK   64 /* attempts; a run makes so many, a number of times */

#endif /* PROGS_HASHMAP_FULL_UPDATE_H */

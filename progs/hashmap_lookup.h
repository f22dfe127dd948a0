/* SPDX-License-Identifier: GPL-2.0 */
/* What the program that looks up keys of a hash map and user space share. */
#ifndef PROGS_HASHMAP_LOOKUP_H
#define PROGS_HASHMAP_LOOKUP_H

#define LOOKUP_MAX_KEY_SIZE 1024
#define LOOKUP_CHUNK	    64 /* lookups that one function makes, at most */

#endif /* PROGS_HASHMAP_LOOKUP_H */

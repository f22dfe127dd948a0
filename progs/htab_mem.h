/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that add to and delete from a hash map and user space share. */
#ifndef PROGS_HTAB_MEM_H
#define PROGS_HTAB_MEM_H

#define HTAB_MEM_BATCH		64 /* keys, and operations of one batch */
#define HTAB_MEM_MAX_VALUE_SIZE 4096

/* What a program returns: failed updates, and failed deletes, each below 65536. */
#define HTAB_MEM_RESULT(updates, deletes) ((updates) | (deletes) << 16)
#define HTAB_MEM_UPDATES(result)	  ((result)&0xffff)
#define HTAB_MEM_DELETES(result)	  ((result) >> 16)

#endif /* PROGS_HTAB_MEM_H */

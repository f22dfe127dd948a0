/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the programs that put records into a buffer and those who consume them. */
#ifndef PROGS_RINGBUFS_H
#define PROGS_RINGBUFS_H

/* When the consumer of a BPF ring buffer is woken. */
enum rb_wakeup {
	RB_WAKEUP_ADAPTIVE, /* when it had caught up: the kernel's own choice */
	RB_WAKEUP_SAMPLED, /* when so much data is unread */
	RB_WAKEUP_ALWAYS, /* for each record */
	RB_WAKEUP_NEVER,
};

#define RB_MAX_RECORD_SIZE (64 * 1024)
#define RB_HEADER_SIZE	   8 /* BPF_RINGBUF_HDR_SZ, in front of each record; both are 8-aligned */

#endif /* PROGS_RINGBUFS_H */

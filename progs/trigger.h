/* SPDX-License-Identifier: GPL-2.0 */
/* What the BPF programs of trig-* and user space share. */
#ifndef PROGS_TRIGGER_H
#define PROGS_TRIGGER_H

#define STACK_ENTRIES 128 /* of a stack trace, with --stacktrace */

#endif /* PROGS_TRIGGER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps what libbpf says, to be shown when something fails. libbpf has one print callback for the
 * whole process, without a context, so this library has to have state of its own.
 */
#ifndef LIB_BPFLOG_H
#define LIB_BPFLOG_H

#include <stdbool.h>
#include <stddef.h>

/* Takes over libbpf's messages. @verbose: they also go to standard error as they come. */
void bpflog_start(bool verbose);

/* Forgets what has been kept so far: call before a step whose failure is to be explained. */
void bpflog_clear(void);

/* Copies the last messages, whole lines, as many as fit in @size; "" where there are none. */
void bpflog_tail(char *buf, size_t size);

#endif /* LIB_BPFLOG_H */

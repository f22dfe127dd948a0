/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeps what libbpf says, to be shown when something fails. libbpf has one print callback for the
 * whole process, without a context, so this library has to have state of its own.
 */
#ifndef LIB_BPF_BPFLOG_H
#define LIB_BPF_BPFLOG_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_object;

/* Takes over libbpf's messages. @verbose: they also go to standard error as they come. */
void bpflog_start(bool verbose);

/* Forgets what has been kept so far: call before a step whose failure is to be explained. */
void bpflog_clear(void);

/*
 * Copies the last messages, at most @lines whole lines that fit in @size; "" where there are none.
 */
void bpflog_tail(char *buf, size_t size, int lines);

/* What it was that a load failed for. */
enum bpflog_lack {
	BPFLOG_NONE, /* not known */
	BPFLOG_FEATURE, /* the kernel is too old: what the program needs tells the version */
	BPFLOG_TOO_LARGE, /* for the verifier */
	BPFLOG_OTHER, /* the text says all */
};

/*
 * What the kernel lacks that the load of @obj has just failed for, by the words that were kept and
 * by trying: "this kernel has no bpf_loop() for programs of this type". BPFLOG_NONE: nothing was
 * found, and @buf is "".
 */
enum bpflog_lack bpflog_explain(const struct bpf_object *obj, int err, char *buf, size_t size);

/* The part of it that goes by the words in @log alone. */
enum bpflog_lack bpflog_explain_text(const char *log, char *buf, size_t size);

/*
 * Is there a log of the verifier among it? Then it was no right that was missing, but the program.
 */
bool bpflog_verifier_spoke(void);

/*
 * Name of the map that could not be created, as the kept words have it: then @buf is "ringbuf", and
 * true is returned.
 */
bool bpflog_failed_map(char *buf, size_t size);

#endif /* LIB_BPF_BPFLOG_H */

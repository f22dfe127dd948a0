/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints by their numbers, without the need for a mounted tracefs. */
#ifndef LIB_BPF_TRACEPOINT_H
#define LIB_BPF_TRACEPOINT_H

struct bpf_link;
struct bpf_program;

/*
 * Number of tracepoint @category/@name, as tracefs has it (lib/bpf/tracefs.h). Returns it or
 * -errno.
 */
int tracepoint_id(const char *category, const char *name);

/*
 * Like bpf_program__attach_tracepoint(). NULL with errno set on failure; the link is the caller's.
 */
struct bpf_link *tracepoint_attach(const struct bpf_program *prog, const char *category,
				   const char *name);

#endif /* LIB_BPF_TRACEPOINT_H */

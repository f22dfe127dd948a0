/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hanging a BPF program on a system call, by whichever kind of attachment this kernel takes.
 * The programs are those that SYSCALL_PROGS() of progs/attach.bpf.h makes.
 */
#ifndef LIB_BPF_ATTACH_H
#define LIB_BPF_ATTACH_H

#include <stddef.h>
#include <sys/types.h>

#include "progs/attach.h"

struct bpf_link;
struct bpf_object;
struct bpf_program;

enum attach_kind {
	ATTACH_AUTO, /* the first of the following that works */
	ATTACH_FENTRY,
	ATTACH_KPROBE,
	ATTACH_TP,
	ATTACH_RAWTP,
	ATTACH_NR_KINDS,
};

/* "auto", "fentry", ...; NULL-terminated. */
extern const char *const attach_kind_names[];

/*
 * Which kind works for @syscall here: tries to load and attach a small program by @wanted, or for
 * ATTACH_AUTO by each kind in turn, and whether a call by thread group @tgid, which is ours, makes
 * it run. Returns the kind, or the -errno of the (first) failure. @note gets what did not work, why,
 * and what it takes: "fentry: this kernel has no BTF: it takes ...; kprobe: ...", or "".
 */
int attach_pick(const char *syscall, enum attach_kind wanted, pid_t tgid, char *note, size_t size);

/*
 * Name of the kernel function behind a system call, as fentry and kprobes want it: looked up in the
 * kernel's BTF, since its prefix depends on architecture and version. Returns 0, -ENOENT where there
 * is none, or another -errno where the kernel has no BTF.
 */
int attach_syscall_function(const char *syscall, char *buf, size_t size);

/*
 * Before the load: lets only the entry of @kind be loaded, names its target, and has it count the
 * calls of thread group @tgid (see attach_tgid()). Returns 0 or -errno.
 */
int attach_prepare(struct bpf_object *obj, const char *syscall, enum attach_kind kind, pid_t tgid);

/* After the load. NULL with errno set on failure; the link is the caller's. */
struct bpf_link *attach_syscall(const struct bpf_object *obj, const char *syscall,
				enum attach_kind kind);

/* Number of tracepoint @category/@name, as tracefs has it (lib/bpf/tracefs.h). Returns it or -errno. */
int attach_tracepoint_id(const char *category, const char *name);

/* Like bpf_program__attach_tracepoint(), without the need for a mounted tracefs. */
struct bpf_link *attach_tracepoint(const struct bpf_program *prog, const char *category,
				   const char *name);

/* Our thread group id as BPF programs see it; getpid() where it cannot be found out. */
pid_t attach_tgid(void);

#endif /* LIB_BPF_ATTACH_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaches a BPF program to getpgid(2), by whichever kind of attachment this kernel takes. The
 * programs are those that SYSCALL_PROGS() of progs/attach.bpf.h makes.
 */
#ifndef LIB_BPF_ATTACH_H
#define LIB_BPF_ATTACH_H

#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "progs/attach.h"

/* The system call that the programs are attached to. */
#define ATTACH_SYSCALL "getpgid"

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

/* What attach_pick() found. */
struct attach_choice {
	int kind; /* enum attach_kind, or the -errno of the first failure */
	char brief[192]; /* what did not work: "fentry: EPERM, kprobe: not built in"; "": all did */
	char reasons[1024]; /* the same in full, with what each requires */
};

/*
 * Which kind works here: tries to load and attach a small program by @wanted, or for ATTACH_AUTO by
 * each kind in turn, and whether a call by thread group @tgid, which is ours, makes it run.
 */
void attach_pick(enum attach_kind wanted, pid_t tgid, struct attach_choice *choice);

/* Makes the attached programs run once. */
static inline void attach_trigger(void)
{
	syscall(__NR_getpgid, 0);
}

/*
 * Name of the kernel function behind a system call, as fentry and kprobes want it: looked up in the
 * kernel's BTF, since its prefix depends on architecture and version. Returns 0, -ENOENT where
 * there is none, or another -errno where the kernel has no BTF.
 */
int attach_syscall_function(const char *syscall, char *buf, size_t size);

/*
 * Before the load: lets only the entry of @kind of the programs named @set (ATTACH_SYSCALL: those
 * of SYSCALL_PROGS()) be loaded, names its target, and has it count the calls of thread group @tgid
 * (see attach_tgid()). Returns 0 or -errno.
 */
int attach_prepare(struct bpf_object *obj, const char *set, enum attach_kind kind, pid_t tgid);

/* After the load. NULL with errno set on failure; the link is the caller's. */
struct bpf_link *attach_object(const struct bpf_object *obj, enum attach_kind kind);

/* Our thread group id as BPF programs see it; getpid() where it cannot be found out. */
pid_t attach_tgid(void);

#endif /* LIB_BPF_ATTACH_H */

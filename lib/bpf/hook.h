/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hanging a program on one given thing by one given kind of attachment, and saying in words why
 * that does not work. (lib/bpf/attach.h is for programs that do not care which kind it is.)
 */
#ifndef LIB_BPF_HOOK_H
#define LIB_BPF_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/bpf/why.h"

struct bpf_link;
struct bpf_program;

enum hook_kind {
	HOOK_TP,
	HOOK_RAWTP,
	HOOK_KPROBE,
	HOOK_KRETPROBE,
	HOOK_KPROBE_MULTI,
	HOOK_KRETPROBE_MULTI,
	HOOK_FENTRY,
	HOOK_FENTRY_SLEEP,
	HOOK_FEXIT,
	HOOK_FMODRET,
	HOOK_UPROBE,
	HOOK_URETPROBE,
	HOOK_UPROBE_MULTI,
	HOOK_URETPROBE_MULTI,
};

struct hook {
	enum hook_kind kind;
	struct bpf_program *prog; /* the caller's, of the type that goes with @kind */
	const char *target; /* kernel function, "category/name" of a tracepoint, raw tracepoint */
	const char *const *targets; /* multi-kprobes: kernel functions, in place of @target */
	size_t nr_targets;
	uint64_t offset; /* uprobes: in our executable's file */
	const char *insn; /* uprobes: what is there, in words; or NULL */
	bool anybody; /* uprobes: in all processes run from that file, not in ours only */

	struct bpf_link *link; /* owned, from hook_attach() to hook_detach() */
	int fd; /* likewise, of an attachment that libbpf has no link for; 0: none */
};

/* Is it one of the kinds that attach to a function of user space? */
bool hook_is_uprobe(enum hook_kind kind);

/*
 * Would a program of this kind be attached, and not run? Then it is better not tried: kernels take
 * harm (6.1 loses ftrace for good, with a warning in its log) when it is attached and detached
 * twice.
 */
bool hook_is_switched_off(enum hook_kind kind);

/*
 * Between open and load: lets the program be loaded, and for its target. Returns 0 or -errno;
 * -ENODATA: it is switched off.
 */
int hook_prepare(struct hook *hook);

/* After the load. Returns 0 or -errno. */
int hook_attach(struct hook *hook);

/* Copes with a hook that is not attached. */
void hook_detach(struct hook *hook);

/*
 * Waits until no program that was running when it was called runs any more, so that the counts of a
 * detached one are final. (Sleepable programs are not waited for.)
 */
void hook_quiesce(void);

/*
 * What @hook lacks here, and what it takes, where that has to do with its kind: after a failure of
 * hook_attach() (@loaded) with errno @err, or of hook_prepare() or the load. Returns whether
 * anything was written to @buf; else why_advice() may know more, for what hook_step() says.
 */
bool hook_explain(const struct hook *hook, bool loaded, int err, char *buf, size_t size);

/* The same in two or three words: "not built in", "EPERM". */
void hook_brief(const struct hook *hook, bool loaded, int err, char *buf, size_t size);

/* What was it that failed? */
enum why_step hook_step(const struct hook *hook, bool loaded);

/*
 * Why a program of this kind that is attached does not run: ": REASON", or "" where it is not
 * known.
 */
const char *hook_why_not_run(enum hook_kind kind);

/*
 * Has this kernel BTF? Without it a program can neither call its functions nor be attached to them.
 */
bool hook_has_btf(void);

/* Has this kernel such a function? As its BTF says. */
bool hook_function_exists(const char *function);

#endif /* LIB_BPF_HOOK_H */

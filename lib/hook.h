/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hanging a program on one given thing by one given kind of attachment, and saying in words why
 * that does not work. (lib/attach.h is for programs that do not care which kind it is.)
 */
#ifndef LIB_HOOK_H
#define LIB_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	uint64_t offset; /* uprobes: in our executable's file */
	bool anybody; /* uprobes: in all processes run from that file, not in ours only */

	struct bpf_link *link; /* owned, from hook_attach() to hook_detach() */
	int fd; /* likewise, of an attachment that libbpf has no link for; 0: none */
};

/* Is it one of the kinds that hang on a function of user space? */
bool hook_is_uprobe(enum hook_kind kind);

/* Between open and load: lets the program be loaded, and for its target. Returns 0 or -errno. */
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
 * Why @hook does not work here, where more is known than what errno @err says: after a failure of
 * hook_attach() (@loaded), or of hook_prepare() or the load. Returns whether anything was written
 * to @buf. A want of capabilities is not told here.
 */
bool hook_explain(const struct hook *hook, bool loaded, int err, char *buf, size_t size);

#define HOOK_NO_BTF "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), or sysfs is not mounted"

/* Has this kernel BTF? Without it a program can neither call nor be hung on its functions. */
bool hook_has_btf(void);

/* Has this kernel such a function? As its BTF says. */
bool hook_function_exists(const char *function);

#endif /* LIB_HOOK_H */

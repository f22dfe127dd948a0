// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/caps.h"
#include "lib/bpf/hook.h"
#include "lib/sysctl.h"
#include "lib/bpf/tracefs.h"
#include "lib/bpf/tracepoint.h"
#include "lib/bpf/why.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own; not meant to be seen by user space, but it is */
#endif

/*
 * Follows the magic link to the very file we were run from, also when its name is gone or means
 * another file by now.
 */
#define OWN_EXECUTABLE "/proc/self/exe"

/* Multi-uprobes, Linux 6.6: linux/bpf.h and libbpf of that time or later have them. */
#define TRACE_UPROBE_MULTI  48 /* enum bpf_attach_type */
#define UPROBE_MULTI_RETURN 1

/* What union bpf_attr is for BPF_LINK_CREATE with attach_type BPF_TRACE_UPROBE_MULTI. */
struct link_create_uprobe_multi {
	__u32 prog_fd;
	__u32 target_fd;
	__u32 attach_type;
	__u32 link_flags;
	__aligned_u64 path;
	__aligned_u64 offsets;
	__aligned_u64 ref_ctr_offsets;
	__aligned_u64 cookies;
	__u32 cnt;
	__u32 flags;
	__u32 pid; /* 0: all processes */
	__u32 pad;
};

bool hook_is_uprobe(enum hook_kind kind)
{
	return kind >= HOOK_UPROBE;
}

#define FTRACE_IS_OFF "sysctl kernel.ftrace_enabled is 0: set it to 1"

static bool is_trampoline(enum hook_kind kind)
{
	return kind >= HOOK_FENTRY && kind <= HOOK_FMODRET;
}

static bool ftrace_is_off(void)
{
	return sysctl_read("kernel/ftrace_enabled", 1) == 0;
}

bool hook_is_switched_off(enum hook_kind kind)
{
	return is_trampoline(kind) && ftrace_is_off();
}

const char *hook_why_not_run(enum hook_kind kind)
{
	bool by_ftrace = is_trampoline(kind) ||
			 (kind >= HOOK_KPROBE && kind <= HOOK_KRETPROBE_MULTI);

	return by_ftrace && ftrace_is_off() ? ": " FTRACE_IS_OFF : "";
}

int hook_prepare(struct hook *hook)
{
	if (hook_is_switched_off(hook->kind))
		return -ENODATA;
	bpf_program__set_autoload(hook->prog, true);
	switch (hook->kind) {
	case HOOK_FENTRY:
	case HOOK_FENTRY_SLEEP:
	case HOOK_FEXIT:
	case HOOK_FMODRET:
		return bpf_program__set_attach_target(hook->prog, 0, hook->target);
	case HOOK_KPROBE_MULTI:
	case HOOK_KRETPROBE_MULTI:
		return bpf_program__set_expected_attach_type(hook->prog, BPF_TRACE_KPROBE_MULTI);
	case HOOK_UPROBE_MULTI:
	case HOOK_URETPROBE_MULTI:
		return bpf_program__set_expected_attach_type(hook->prog, TRACE_UPROBE_MULTI);
	default:
		return 0;
	}
}

static struct bpf_link *attach_tp(const struct hook *hook)
{
	char category[64];
	const char *name = strchr(hook->target, '/');

	if (!name || (size_t)(name - hook->target) >= sizeof(category)) {
		errno = EINVAL;
		return NULL;
	}
	snprintf(category, sizeof(category), "%.*s", (int)(name - hook->target), hook->target);
	return tracepoint_attach(hook->prog, category, name + 1);
}

static struct bpf_link *attach_kprobe_multi(const struct hook *hook)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = (const char **)&hook->target, .cnt = 1,
		    .retprobe = hook->kind == HOOK_KRETPROBE_MULTI);

	if (hook->targets) {
		opts.syms = (const char **)hook->targets;
		opts.cnt = hook->nr_targets;
	}

	return bpf_program__attach_kprobe_multi_opts(hook->prog, NULL, &opts);
}

/*
 * The breakpoint goes into our memory alone, and our threads all share that: other processes run
 * from the same file, another bench above all, neither hit it nor are slowed down by it.
 */
static struct bpf_link *attach_uprobe(const struct hook *hook)
{
	return bpf_program__attach_uprobe(hook->prog, hook->kind == HOOK_URETPROBE,
					  hook->anybody ? -1 : getpid(), OWN_EXECUTABLE,
					  hook->offset);
}

/* Returns a descriptor or -errno. */
static int attach_uprobe_multi(const struct hook *hook)
{
	unsigned long offset = hook->offset;
	struct link_create_uprobe_multi attr = {
		.prog_fd = bpf_program__fd(hook->prog),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)OWN_EXECUTABLE,
		.offsets = (uintptr_t)&offset,
		.cnt = 1,
		.flags = hook->kind == HOOK_URETPROBE_MULTI ? UPROBE_MULTI_RETURN : 0,
		.pid = hook->anybody ? 0 : getpid(),
	};
	int fd = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

int hook_attach(struct hook *hook)
{
	int fd;

	switch (hook->kind) {
	case HOOK_TP:
		hook->link = attach_tp(hook);
		break;
	case HOOK_RAWTP:
		hook->link = bpf_program__attach_raw_tracepoint(hook->prog, hook->target);
		break;
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
		hook->link = bpf_program__attach_kprobe(hook->prog, hook->kind == HOOK_KRETPROBE,
							hook->target);
		break;
	case HOOK_KPROBE_MULTI:
	case HOOK_KRETPROBE_MULTI:
		hook->link = attach_kprobe_multi(hook);
		break;
	case HOOK_FENTRY:
	case HOOK_FENTRY_SLEEP:
	case HOOK_FEXIT:
	case HOOK_FMODRET:
		hook->link = bpf_program__attach_trace(hook->prog);
		break;
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
		hook->link = attach_uprobe(hook);
		break;
	case HOOK_UPROBE_MULTI:
	case HOOK_URETPROBE_MULTI:
		fd = attach_uprobe_multi(hook);
		if (fd < 0)
			return fd;
		hook->fd = fd;
		return 0;
	}
	return hook->link ? 0 : -errno;
}

void hook_detach(struct hook *hook)
{
	bpf_link__destroy(hook->link);
	hook->link = NULL;
	if (hook->fd > 0)
		close(hook->fd);
	hook->fd = 0;
}

void hook_quiesce(void)
{
	/* MEMBARRIER_CMD_GLOBAL is, in the kernel, a wait for an RCU grace period. */
	syscall(__NR_membarrier, 1, 0, 0);
}

/* ---- reasons */

bool hook_has_btf(void)
{
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

static bool has_sysfs(void)
{
	return !access("/sys/bus/event_source/devices", F_OK);
}

/* Whether the kernel has this kind of perf event. */
static bool has_pmu(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", name);
	return !access(path, F_OK);
}

static bool no_right(int err)
{
	return err == EPERM || err == EACCES;
}

/* -ENOTSUPP is what a kernel or an architecture without the thing mostly says. */
static bool not_supported(int err)
{
	return err == ENOTSUPP || err == EOPNOTSUPP;
}

/* Kinds that libbpf attaches by a perf event. */
static bool by_perf_event(enum hook_kind kind)
{
	return kind == HOOK_TP || kind == HOOK_KPROBE || kind == HOOK_KRETPROBE ||
	       kind == HOOK_UPROBE || kind == HOOK_URETPROBE;
}

static const char *kind_name(enum hook_kind kind)
{
	static const char *const names[] = {
		[HOOK_TP] = "tracepoint",
		[HOOK_RAWTP] = "raw tracepoint",
		[HOOK_KPROBE] = "kprobe",
		[HOOK_KRETPROBE] = "kretprobe",
		[HOOK_KPROBE_MULTI] = "multi-kprobe",
		[HOOK_KRETPROBE_MULTI] = "multi-kretprobe",
		[HOOK_FENTRY] = "fentry",
		[HOOK_FENTRY_SLEEP] = "sleepable fentry",
		[HOOK_FEXIT] = "fexit",
		[HOOK_FMODRET] = "fmod_ret",
		[HOOK_UPROBE] = "uprobe",
		[HOOK_URETPROBE] = "uretprobe",
		[HOOK_UPROBE_MULTI] = "multi-uprobe",
		[HOOK_URETPROBE_MULTI] = "multi-uretprobe",
	};

	return names[kind];
}

enum why_step hook_step(const struct hook *hook, bool loaded)
{
	return loaded && by_perf_event(hook->kind) ? WHY_PERF : WHY_BPF;
}

static int explain_trampoline(const struct hook *hook, int err, char *buf, size_t size)
{
	const char *kind = kind_name(hook->kind);
	char words[512];

	if (err == ENODATA)
		return snprintf(buf, size, "%s programs are switched off: " FTRACE_IS_OFF, kind);
	if (no_right(err)) {
		why_words(WHY_BPF, err, words, sizeof(words));
		return snprintf(buf, size, "%s programs are refused by this kernel: %s", kind,
				words);
	}
	if (not_supported(err))
		return snprintf(
			buf, size,
			"this kernel has no BPF trampolines, which %s programs need: "
			"requires CONFIG_DYNAMIC_FTRACE and Linux 5.5 (arm64: 6.4) or newer",
			kind);
	if (err == ENOENT || err == ESRCH)
		return snprintf(buf, size, "this kernel has no function %s() to attach to",
				hook->target);
	if (err == EINVAL && hook->kind == HOOK_FENTRY_SLEEP)
		return snprintf(buf, size,
				"%s() is not on this kernel's list of functions for sleepable "
				"programs: requires CONFIG_FUNCTION_ERROR_INJECTION, or Linux "
				"7.1 or newer",
				hook->target);
	if (err == EINVAL && hook->kind == HOOK_FMODRET)
		return snprintf(buf, size,
				"this kernel does not let programs modify the return value of "
				"%s()",
				hook->target);
	if (err == EBUSY)
		return snprintf(buf, size,
				"another tracer or a live patch has taken %s(): stop that first",
				hook->target);
	return 0;
}

/* Is it the number of the tracepoint that cannot be had, or what is done with it? */
static int explain_tracepoint(const struct hook *hook, char *buf, size_t size)
{
	const char *name = strchr(hook->target, '/');
	char category[64], words[512], lockdown[32];
	int id;

	snprintf(category, sizeof(category), "%.*s", name ? (int)(name - hook->target) : 0,
		 hook->target);
	id = tracepoint_id(category, name ? name + 1 : hook->target);
	if (id >= 0)
		return 0;
	if (id == -ENOENT && tracefs_is_empty()) {
		caps_lockdown(lockdown, sizeof(lockdown));
		/* A kernel that comes up like that puts nothing into tracefs. */
		if (!strcmp(lockdown, "confidentiality"))
			return snprintf(buf, size,
					"tracepoint %s cannot be looked up: " WHY_LOCKED_DOWN,
					hook->target);
		id = -ENODEV;
	}
	if (id == -ENOENT && !strcmp(category, "syscalls"))
		return snprintf(buf, size,
				"this kernel has no tracepoint %s: requires CONFIG_FTRACE_SYSCALLS",
				hook->target);
	if (id == -ENOENT)
		return snprintf(buf, size,
				"this kernel has no tracepoint %s: requires a newer kernel",
				hook->target);
	if (id == -ENODEV)
		return snprintf(buf, size,
				"this kernel has no tracepoints: requires CONFIG_TRACING");
	why_words(WHY_TRACEFS, id, words, sizeof(words));
	return snprintf(buf, size, "tracepoint %s cannot be looked up: %s", hook->target, words);
}

/* The kernel looks at the instruction when it puts a breakpoint there. */
static int explain_uprobe_insn(const struct hook *hook, char *buf, size_t size)
{
	return snprintf(buf, size, "this kernel refuses a %s on %s", kind_name(hook->kind),
			hook->insn ?: "such an instruction");
}

static int explain_uprobe(const struct hook *hook, int err, char *buf, size_t size)
{
	if (!has_pmu("uprobe"))
		return snprintf(buf, size,
				"uprobes are not built into this kernel: requires "
				"CONFIG_UPROBE_EVENTS");
	if (err == ENOTSUPP)
		return explain_uprobe_insn(hook, buf, size);
	/* Linux 6.16, and older ones with later fixes; multi-uprobes do not want it. */
	if (!no_right(err) || caps_sys_admin())
		return 0;
	return snprintf(buf, size, "this kernel wants CAP_SYS_ADMIN for a %s: run it as root",
			kind_name(hook->kind));
}

static int explain_attach(const struct hook *hook, int err, char *buf, size_t size)
{
	const char *kind = kind_name(hook->kind);

	/* Perf events of this kind have a number that is to be read there. */
	if (by_perf_event(hook->kind) && hook->kind != HOOK_TP && !has_sysfs())
		return snprintf(buf, size,
				"sysfs is not mounted, which a %s needs: mount -t sysfs sysfs "
				"/sys",
				kind);

	switch (hook->kind) {
	case HOOK_TP:
		return explain_tracepoint(hook, buf, size);
	case HOOK_RAWTP:
		if (err == ENOENT)
			return snprintf(
				buf, size,
				"this kernel has no raw tracepoint %s: requires a newer kernel",
				hook->target);
		break;
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
		if (!has_pmu("kprobe"))
			return snprintf(buf, size,
					"kprobes are not built into this kernel: requires "
					"CONFIG_KPROBES and CONFIG_KPROBE_EVENTS");
		if (err == ENOENT || err == EINVAL)
			return snprintf(buf, size, "this kernel cannot have a %s on %s()", kind,
					hook->target);
		break;
	case HOOK_KPROBE_MULTI:
	case HOOK_KRETPROBE_MULTI:
		if (not_supported(err))
			return snprintf(buf, size,
					"this kernel has no fprobe, which a %s is: requires "
					"CONFIG_FPROBE",
					kind);
		if (err == EINVAL)
			return snprintf(buf, size,
					"this kernel has no %ss: requires Linux 5.18 or newer",
					kind);
		if ((err == ENOENT || err == ESRCH) && hook->targets)
			return snprintf(buf, size,
					"this kernel does not find all of %zu functions for a %s",
					hook->nr_targets, kind);
		if (err == ENOENT || err == ESRCH)
			return snprintf(buf, size, "this kernel cannot have a %s on %s()", kind,
					hook->target);
		break;
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
		return explain_uprobe(hook, err, buf, size);
	case HOOK_UPROBE_MULTI:
	case HOOK_URETPROBE_MULTI:
		if (err == ENOTSUPP)
			return explain_uprobe_insn(hook, buf, size);
		if (not_supported(err))
			return snprintf(buf, size,
					"uprobes are not built into this kernel: requires "
					"CONFIG_UPROBES");
		if (err == EINVAL)
			return snprintf(buf, size,
					"this kernel has no %ss: requires Linux 6.6 or newer",
					kind);
		break;
	default:
		break;
	}
	return 0;
}

bool hook_explain(const struct hook *hook, bool loaded, int err, char *buf, size_t size)
{
	struct why_facts facts;

	buf[0] = '\0';
	err = err < 0 ? -err : err;
	if (no_right(err)) {
		why_look(hook_step(hook, loaded), err, &facts);
		if (facts.caps[0] || facts.user_namespace || facts.filtered || facts.memlock_counts)
			return false;
	}
	/* As libbpf says it, of any program in an object that names a kernel function. */
	if (!loaded && (err == ESRCH || err == ENOENT) && !hook_has_btf())
		return snprintf(buf, size, "%s", why_no_btf()) > 0;
	if (is_trampoline(hook->kind))
		return explain_trampoline(hook, err, buf, size) > 0;
	if (loaded)
		return explain_attach(hook, err, buf, size) > 0;
	return false;
}

void hook_brief(const struct hook *hook, bool loaded, int err, char *buf, size_t size)
{
	const char *pmu = NULL, *words = NULL;

	err = err < 0 ? -err : err;
	switch (hook->kind) {
	case HOOK_KPROBE:
	case HOOK_KRETPROBE:
		pmu = "kprobe";
		break;
	case HOOK_UPROBE:
	case HOOK_URETPROBE:
		pmu = "uprobe";
		break;
	default:
		break;
	}
	if (err == ENODATA)
		words = "switched off";
	else if (!loaded && (err == ESRCH || err == ENOENT) && !hook_has_btf())
		words = "no BTF";
	else if (loaded && pmu && has_sysfs() && !has_pmu(pmu))
		words = "not built in";
	snprintf(buf, size, "%s", words ? words : why_errno_name(err));
}

/* ---- kernel functions */

bool hook_function_exists(const char *function)
{
	return libbpf_find_vmlinux_btf_id(function, BPF_TRACE_FENTRY) > 0;
}

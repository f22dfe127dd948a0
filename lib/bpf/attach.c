// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/attach.h"
#include "lib/bpf/bpflog.h"
#include "lib/bpf/hook.h"
#include "lib/bpf/tracepoint.h"
#include "lib/bpf/why.h"
#include "lib/util.h"
#include "attach_probe.skel.h"

/* clang-format off */
const char *const attach_kind_names[] = {
	[ATTACH_AUTO] = "auto",
	[ATTACH_FENTRY] = "fentry",
	[ATTACH_KPROBE] = "kprobe",
	[ATTACH_TP] = "tp",
	[ATTACH_RAWTP] = "rawtp",
	[ATTACH_NR_KINDS] = NULL,
};
/* clang-format on */

static const enum hook_kind hook_kinds[] = {
	[ATTACH_FENTRY] = HOOK_FENTRY,
	[ATTACH_KPROBE] = HOOK_KPROBE,
	[ATTACH_TP] = HOOK_TP,
	[ATTACH_RAWTP] = HOOK_RAWTP,
};

/* The entries of SYSCALL_PROGS() are named by the kinds. */
static struct bpf_program *find_entry(const struct bpf_object *obj, const char *set,
				      enum attach_kind kind)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", set, attach_kind_names[kind]);
	return bpf_object__find_program_by_name(obj, name);
}

int attach_syscall_function(const char *syscall, char *buf, size_t size)
{
	static const char *const prefixes[] = {
#if defined(__x86_64__)
		"__x64_",
#elif defined(__i386__)
		"__ia32_",
#elif defined(__aarch64__)
		"__arm64_",
#elif defined(__s390x__)
		"__s390x_",
#elif defined(__riscv)
		"__riscv_",
#elif defined(__powerpc__)
		"__powerpc_", /* not in all versions */
#endif
		"__se_",
		"",
	};
	int id = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++) {
		snprintf(buf, size, "%ssys_%s", prefixes[i], syscall);
		id = libbpf_find_vmlinux_btf_id(buf, BPF_TRACE_FENTRY);
		if (id > 0)
			return 0;
	}
	return id < 0 ? id : -ENOENT;
}

int attach_prepare(struct bpf_object *obj, const char *set, enum attach_kind kind, pid_t tgid)
{
	struct attach_target target = { .tgid = tgid, .syscall_nr = __NR_getpgid };
	struct bpf_program *prog;
	char func[96];
	int k, err;

	if (hook_is_switched_off(hook_kinds[kind]))
		return -ENODATA;
	for (k = ATTACH_FENTRY; k < ATTACH_NR_KINDS; k++) {
		prog = find_entry(obj, set, k);
		if (!prog)
			return -ENOENT;
		bpf_program__set_autoload(prog, k == (int)kind);
	}
	prog = find_entry(obj, set, kind);
	if (kind == ATTACH_FENTRY) {
		err = attach_syscall_function(ATTACH_SYSCALL, func, sizeof(func));
		if (!err)
			err = bpf_program__set_attach_target(prog, 0, func);
		if (err)
			return err;
	}
	return bpf_map__set_initial_value(bpf_object__find_map_by_name(obj, ".rodata.attach"),
					  &target, sizeof(target));
}

/* The one that attach_prepare() has chosen. */
static struct bpf_program *find_loaded(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj)
		if (bpf_program__autoload(prog))
			return prog;
	return NULL;
}

struct bpf_link *attach_object(const struct bpf_object *obj, enum attach_kind kind)
{
	struct bpf_program *prog = find_loaded(obj);
	char name[96];

	if (!prog) {
		errno = ENOENT;
		return NULL;
	}
	switch (kind) {
	case ATTACH_FENTRY:
		return bpf_program__attach_trace(prog);
	case ATTACH_KPROBE:
		/*
		 * libbpf finds the name out by trying a kprobe, and where that is refused takes a
		 * wrong one, whose ENOENT would hide the reason.
		 */
		if (!attach_syscall_function(ATTACH_SYSCALL, name, sizeof(name)))
			return bpf_program__attach_kprobe(prog, false, name);
		return bpf_program__attach_ksyscall(prog, ATTACH_SYSCALL, NULL);
	case ATTACH_TP:
		return tracepoint_attach(prog, "syscalls", "sys_enter_" ATTACH_SYSCALL);
	case ATTACH_RAWTP:
		return bpf_program__attach_raw_tracepoint(prog, "sys_enter");
	default:
		errno = EINVAL;
		return NULL;
	}
}

/* What a kind of program was found to be. */
struct reason {
	char brief[48]; /* "EPERM", "not built in" */
	char text[512]; /* the same in full, and what it requires */
};

/* Why an attachment by @kind failed with @err. */
static void explain_kind(enum attach_kind kind, const struct bpf_object *obj, bool loaded, int err,
			 struct reason *why)
{
	struct hook hook = {
		.kind = hook_kinds[kind],
		.target = kind == ATTACH_TP ? "syscalls/sys_enter_" ATTACH_SYSCALL :
					      "sys_" ATTACH_SYSCALL,
	};

	hook_brief(&hook, loaded, err, why->brief, sizeof(why->brief));
	if (!loaded && bpflog_explain(obj, err, why->text, sizeof(why->text)))
		return;
	if (hook_explain(&hook, loaded, err, why->text, sizeof(why->text)))
		return;
	why_words(hook_step(&hook, loaded), err, why->text, sizeof(why->text));
}

/* 0 where the kernel takes this kind, else -errno with the reason in @why. */
static int try_kind(enum attach_kind kind, pid_t tgid, struct reason *why)
{
	struct attach_probe_bpf *skel;
	struct bpf_link *link;
	bool loaded = false;
	int err;

	bpflog_clear();
	skel = attach_probe_bpf__open();
	if (!skel) {
		err = -errno;
		snprintf(why->brief, sizeof(why->brief), "%s", why_errno_name(err));
		snprintf(why->text, sizeof(why->text), "%s", why_errno(err));
		return err;
	}
	err = attach_prepare(skel->obj, ATTACH_SYSCALL, kind, tgid);
	if (!err)
		err = attach_probe_bpf__load(skel);
	if (!err) {
		loaded = true;
		link = attach_object(skel->obj, kind);
		if (link) {
			/* It may be attached and never run: with kernel.ftrace_enabled=0, say. */
			attach_trigger();
			if (!__atomic_load_n(&skel->bss->runs, __ATOMIC_RELAXED))
				err = -ENODATA;
			bpf_link__destroy(link);
		} else {
			err = -errno;
		}
	}
	if (loaded && err == -ENODATA) {
		snprintf(why->brief, sizeof(why->brief), "does not run");
		snprintf(why->text, sizeof(why->text),
			 "the program is attached, but does not run%s",
			 hook_why_not_run(hook_kinds[kind]));
	} else if (err) {
		explain_kind(kind, skel->obj, loaded, err, why);
	}
	attach_probe_bpf__destroy(skel);
	return err;
}

/* Adds "KIND: REASON" to a list. */
static void add_reason(char *list, size_t size, const char *sep, enum attach_kind kind,
		       const char *reason)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s: %s", used ? sep : "", attach_kind_names[kind],
		 reason);
}

void attach_pick(enum attach_kind wanted, pid_t tgid, struct attach_choice *choice)
{
	enum attach_kind kind, first = wanted, last = wanted;
	struct reason why, first_why = {};
	bool all_alike = true;
	int err;

	if (wanted == ATTACH_AUTO) {
		first = ATTACH_FENTRY;
		last = ATTACH_RAWTP;
	}
	memset(choice, 0, sizeof(*choice));
	for (kind = first; kind <= last; kind++) {
		err = try_kind(kind, tgid, &why);
		if (!err) {
			choice->kind = kind;
			return;
		}
		if (kind == first) {
			choice->kind = err;
			first_why = why;
		}
		all_alike = all_alike && !strcmp(why.text, first_why.text);
		add_reason(choice->brief, sizeof(choice->brief), ", ", kind, why.brief);
		add_reason(choice->reasons, sizeof(choice->reasons), "; ", kind, why.text);
	}
	if (wanted == ATTACH_AUTO && all_alike)
		snprintf(choice->reasons, sizeof(choice->reasons), "fentry, kprobe, tp, rawtp: %s",
			 first_why.text);
}

pid_t attach_tgid(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct attach_probe_bpf *skel;
	pid_t tgid = 0;

	skel = attach_probe_bpf__open();
	if (!skel)
		return getpid();
	bpf_program__set_autoload(skel->progs.who_am_i, true);
	if (!attach_probe_bpf__load(skel) &&
	    !bpf_prog_test_run_opts(bpf_program__fd(skel->progs.who_am_i), &opts))
		tgid = skel->bss->seen_tgid;
	attach_probe_bpf__destroy(skel);
	return tgid ? tgid : getpid();
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
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
#include "lib/num.h"
#include "lib/bpf/tracefs.h"
#include "lib/bpf/why.h"
#include "attach_probe.skel.h"

const char *const attach_kind_names[] = {
	[ATTACH_AUTO] = "auto", [ATTACH_FENTRY] = "fentry", [ATTACH_KPROBE] = "kprobe",
	[ATTACH_TP] = "tp",	[ATTACH_RAWTP] = "rawtp",   [ATTACH_NR_KINDS] = NULL,
};

static const enum hook_kind hook_kinds[] = {
	[ATTACH_FENTRY] = HOOK_FENTRY,
	[ATTACH_KPROBE] = HOOK_KPROBE,
	[ATTACH_TP] = HOOK_TP,
	[ATTACH_RAWTP] = HOOK_RAWTP,
};

/* System calls that a program can be hung on; rawtp has to tell them apart by number. */
static const struct {
	const char *name;
	unsigned int nr;
} syscalls[] = {
	{ "getpgid", __NR_getpgid },
};

/* From the open file @fd, or passes on the -errno that it is. */
static int read_id(int fd)
{
	char buf[32];
	long long id;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read(fd, buf, sizeof(buf) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	if (num_parse(buf, 0, 0x7fffffff, &id))
		return -EBADMSG;
	return id;
}

int attach_tracepoint_id(const char *category, const char *name)
{
	char path[192];

	snprintf(path, sizeof(path), "events/%s/%s/id", category, name);
	return read_id(tracefs_open(path));
}

/*
 * The first CPU that is online. A BPF program on a tracepoint runs on all CPUs, whichever CPU its
 * perf event was opened on; but that one has to be online, and CPU 0 need not be.
 */
static int first_online_cpu(void)
{
	char buf[64] = "";
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");

	if (f) {
		if (!fgets(buf, sizeof(buf), f))
			buf[0] = '\0';
		fclose(f);
	}
	return atoi(buf); /* "0-7", "1,3": the number in front; 0 where nothing can be read */
}

struct bpf_link *attach_tracepoint(const struct bpf_program *prog, const char *category,
				   const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
	};
	struct bpf_link *link;
	int id, fd, err;

	id = attach_tracepoint_id(category, name);
	if (id < 0) {
		errno = -id;
		return NULL;
	}
	attr.config = id;
	fd = syscall(__NR_perf_event_open, &attr, -1, first_online_cpu(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event(prog, fd); /* takes over fd */
	if (!link) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

static struct bpf_program *find_entry(const struct bpf_object *obj, const char *syscall,
				      enum attach_kind kind)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", syscall, attach_kind_names[kind]);
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

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(buf, size, "%ssys_%s", prefixes[i], syscall);
		id = libbpf_find_vmlinux_btf_id(buf, BPF_TRACE_FENTRY);
		if (id > 0)
			return 0;
	}
	return id < 0 ? id : -ENOENT;
}

int attach_prepare(struct bpf_object *obj, const char *syscall, enum attach_kind kind, pid_t tgid)
{
	struct attach_target target = { .tgid = tgid };
	struct bpf_program *prog;
	char func[96];
	int k, err;
	size_t i;

	for (i = 0; i < sizeof(syscalls) / sizeof(syscalls[0]); i++)
		if (!strcmp(syscalls[i].name, syscall))
			break;
	if (i == sizeof(syscalls) / sizeof(syscalls[0]))
		return -ENOENT;
	target.syscall_nr = syscalls[i].nr;
	if (hook_is_switched_off(hook_kinds[kind]))
		return -ENODATA;

	for (k = ATTACH_FENTRY; k < ATTACH_NR_KINDS; k++) {
		prog = find_entry(obj, syscall, k);
		if (!prog)
			return -ENOENT;
		bpf_program__set_autoload(prog, k == (int)kind);
	}
	prog = find_entry(obj, syscall, kind);
	if (kind == ATTACH_FENTRY) {
		err = attach_syscall_function(syscall, func, sizeof(func));
		if (!err)
			err = bpf_program__set_attach_target(prog, 0, func);
		if (err)
			return err;
	}
	return bpf_map__set_initial_value(bpf_object__find_map_by_name(obj, ".rodata.attach"),
					  &target, sizeof(target));
}

struct bpf_link *attach_syscall(const struct bpf_object *obj, const char *syscall,
				enum attach_kind kind)
{
	struct bpf_program *prog = find_entry(obj, syscall, kind);
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
		if (!attach_syscall_function(syscall, name, sizeof(name)))
			return bpf_program__attach_kprobe(prog, false, name);
		return bpf_program__attach_ksyscall(prog, syscall, NULL);
	case ATTACH_TP:
		snprintf(name, sizeof(name), "sys_enter_%s", syscall);
		return attach_tracepoint(prog, "syscalls", name);
	case ATTACH_RAWTP:
		return bpf_program__attach_raw_tracepoint(prog, "sys_enter");
	default:
		errno = EINVAL;
		return NULL;
	}
}

/* Why an attachment by @kind failed with @err. */
static void explain_kind(enum attach_kind kind, const struct bpf_object *obj, const char *syscall,
			 bool loaded, int err, char *buf, size_t size)
{
	char target[96];
	struct hook hook = { .kind = hook_kinds[kind], .target = target };

	if (kind == ATTACH_TP)
		snprintf(target, sizeof(target), "syscalls/sys_enter_%s", syscall);
	else
		snprintf(target, sizeof(target), "sys_%s", syscall);
	if (!loaded && bpflog_explain(obj, err, buf, size))
		return;
	if (hook_explain(&hook, loaded, err, buf, size))
		return;
	why_words(hook_step(&hook, loaded), err, buf, size);
}

/* 0 where the kernel takes this kind, else why not, as -errno and in words in @why. */
static int try_kind(enum attach_kind kind, pid_t tgid, char *why, size_t size)
{
	struct attach_probe_bpf *skel;
	struct bpf_link *link;
	bool loaded = false;
	int err;

	bpflog_clear();
	skel = attach_probe_bpf__open();
	if (!skel) {
		err = -errno;
		snprintf(why, size, "%s", why_errno(err));
		return err;
	}
	err = attach_prepare(skel->obj, "getpgid", kind, tgid);
	if (!err)
		err = attach_probe_bpf__load(skel);
	if (!err) {
		loaded = true;
		link = attach_syscall(skel->obj, "getpgid", kind);
		if (link) {
			/* It may be attached and never run: with kernel.ftrace_enabled=0, say. */
			syscall(__NR_getpgid, 0);
			if (!__atomic_load_n(&skel->bss->runs, __ATOMIC_RELAXED))
				err = -ENODATA;
			bpf_link__destroy(link);
		} else {
			err = -errno;
		}
	}
	if (loaded && err == -ENODATA)
		snprintf(why, size, "the program is attached, but does not run: %s",
			 hook_why_not_run(hook_kinds[kind]));
	else if (err)
		explain_kind(kind, skel->obj, "getpgid", loaded, err, why, size);
	attach_probe_bpf__destroy(skel);
	return err;
}

int attach_pick(const char *syscall, enum attach_kind wanted, pid_t tgid, char *note, size_t size)
{
	enum attach_kind kind, first = wanted, last = wanted;
	char why[512], first_why[512] = "";
	int err, first_err = 0;
	bool all_alike = true;
	size_t used = 0;

	(void)syscall; /* what goes for one system call goes for all */
	if (wanted == ATTACH_AUTO) {
		first = ATTACH_FENTRY;
		last = ATTACH_RAWTP;
	}
	note[0] = '\0';
	for (kind = first; kind <= last; kind++) {
		err = try_kind(kind, tgid, why, sizeof(why));
		if (!err)
			return kind;
		if (!first_err) {
			first_err = err;
			memcpy(first_why, why, sizeof(first_why));
		}
		all_alike = all_alike && !strcmp(why, first_why);
		if (used < size)
			used += snprintf(note + used, size - used, "%s%s: %s", used ? "; " : "",
					 attach_kind_names[kind], why);
	}
	if (wanted == ATTACH_AUTO && all_alike)
		snprintf(note, size, "fentry, kprobe, tp, rawtp: %s", first_why);
	return first_err;
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

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/caps.h"
#include "lib/meminfo.h"
#include "lib/sysctl.h"
#include "lib/bpf/tracefs.h"
#include "lib/bpf/why.h"

#ifndef __NR_fsopen
#define __NR_fsopen 430
#endif

/* ---- looking */

/*
 * Does something else than the kernel answer the system call? Asked for what there is not, the
 * kernel says EINVAL, before it looks at any right of the caller (of fsopen(2): after it has seen
 * CAP_SYS_ADMIN).
 */
static bool is_filtered(enum why_step step, bool sys_admin)
{
	long ret;

	switch (step) {
	case WHY_BPF:
	case WHY_STATS:
		ret = syscall(__NR_bpf, INT_MAX, NULL, 0);
		break;
	case WHY_PERF:
		ret = syscall(__NR_perf_event_open, NULL, -1, -1, -1, ~0UL);
		break;
	case WHY_TRACEFS:
		if (!sys_admin)
			return false;
		ret = syscall(__NR_fsopen, NULL, ~0U);
		break;
	default:
		return false;
	}
	return ret >= 0 || (errno != EINVAL && errno != EFAULT);
}

static uint64_t limit(int resource)
{
	struct rlimit rlim;

	if (getrlimit(resource, &rlim) || rlim.rlim_cur == RLIM_INFINITY)
		return WHY_NO_LIMIT;
	return rlim.rlim_cur;
}

/*
 * The helper bpf_ktime_get_coarse_ns() came with the kernel that began to charge memory cgroups
 * instead. Where the limit leaves no room for even so small a program, only the version tells.
 */
static bool memlock_counts(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = 160 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd, major = 0, minor = 0;
	struct utsname u;

	fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", insns,
			   sizeof(insns) / sizeof(insns[0]), NULL);
	if (fd >= 0) {
		close(fd);
		return false;
	}
	if (fd == -EINVAL)
		return true;
	return !uname(&u) && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 11));
}

static bool no_right(int err)
{
	return err == EPERM || err == EACCES;
}

void why_look(enum why_step step, int err, struct why_facts *facts)
{
	enum meminfo_limit memory = MEMINFO_MACHINE;

	err = err < 0 ? -err : err;
	*facts = (struct why_facts){
		.root = !geteuid(),
		.gid = getegid(),
		.sys_admin = caps_sys_admin(),
		.memlock = limit(RLIMIT_MEMLOCK),
		.address_space = limit(RLIMIT_AS),
		.files = limit(RLIMIT_NOFILE),
		.processes = limit(RLIMIT_NPROC),
	};
	if (err == ENOMEM) {
		meminfo_available(&memory);
		facts->cgroup_memory = memory == MEMINFO_CGROUP;
	}
	if (step == WHY_THREAD || step == WHY_OTHER || (!no_right(err) && err != ENOSYS))
		return;
	facts->user_namespace = caps_in_user_namespace();
	facts->seccomp = caps_has_seccomp();
	facts->filtered = is_filtered(step, facts->sys_admin);
	facts->tracefs_mounted = tracefs_is_mounted();
	if (step == WHY_BPF || step == WHY_PERF)
		caps_missing(facts->caps, sizeof(facts->caps));
	else if (!facts->sys_admin)
		snprintf(facts->caps, sizeof(facts->caps), "CAP_SYS_ADMIN");
	/* What takes calls of its own is looked at only where nothing else explains it. */
	if (!no_right(err) || facts->filtered || facts->caps[0])
		return;
	facts->perf_paranoid = sysctl_read("kernel/perf_event_paranoid", 0);
	facts->memlock_counts = step == WHY_BPF && memlock_counts();
	caps_lockdown(facts->lockdown, sizeof(facts->lockdown));
	caps_security_modules(facts->modules, sizeof(facts->modules));
}

/* ---- deciding */

static const char *call_name(enum why_step step)
{
	switch (step) {
	case WHY_PERF:
		return "perf_event_open(2)";
	case WHY_TRACEFS:
		return "fsopen(2)";
	default:
		return "bpf(2)";
	}
}

/* What gives the right back that a container or a service has taken away. */
#define ALLOW_CALLS                                                                   \
	"run it outside of the container or service that set it, or have bpf(2) and " \
	"perf_event_open(2) allowed there"

static void explain_caps(enum why_step step, const struct why_facts *f, char *buf, size_t size)
{
	if (step == WHY_STATS)
		snprintf(buf, size, "%s missing: run it as root%s, or without --verify", f->caps,
			 f->root ? " with all capabilities" : " (sudo)");
	else if (f->root && strstr(f->caps, "CAP_SYS_ADMIN"))
		snprintf(buf, size,
			 "%s missing, though this is root: run it outside of the container or "
			 "service that took it away",
			 f->caps);
	else if (f->root)
		snprintf(buf, size,
			 "%s missing, though this is root: run it outside of the container or "
			 "service that took them away, or give them back there (Docker: --cap-add "
			 "BPF --cap-add PERFMON)",
			 f->caps);
	else if (strstr(f->caps, "CAP_SYS_ADMIN"))
		snprintf(buf, size, "%s missing: run it as root (sudo)", f->caps);
	else
		snprintf(buf, size,
			 "%s missing: run it as root (sudo), or give it the capabilities "
			 "cap_bpf,cap_perfmon (setcap)",
			 f->caps);
}

static void explain_tracefs(int err, const struct why_facts *f, char *buf, size_t size)
{
	/* Others than the group read nothing there since Linux 5.17. */
	if (f->tracefs_mounted)
		snprintf(buf, size,
			 "tracefs is not for this user to read: run it as root, or mount -o "
			 "remount,mode=750,gid=%u /sys/kernel/tracing",
			 f->gid);
	else
		snprintf(
			buf, size,
			"tracefs is not mounted, and %s: mount -t tracefs -o mode=750,gid=%u tracefs "
			"/sys/kernel/tracing",
			f->filtered && f->seccomp ? "a seccomp filter forbids a private mount" :
			f->caps[0]		  ? "this user may not mount it" :
			err == ENOSYS ? "this kernel has no fsopen(2) to do without (Linux 5.2)" :
					"a private mount is refused",
			f->gid);
}

/* No capability is missing, and the system call gets to the kernel. */
static void explain_policy(enum why_step step, const struct why_facts *f, char *buf, size_t size)
{
	bool locked = f->lockdown[0] != '\0';

	if (step == WHY_PERF && f->perf_paranoid > 2 && !f->sys_admin)
		snprintf(buf, size,
			 "sysctl kernel.perf_event_paranoid is %d, which leaves perf events to "
			 "CAP_SYS_ADMIN: run it as root, or set it to 2",
			 f->perf_paranoid);
	else if (f->memlock_counts && f->memlock != WHY_NO_LIMIT)
		snprintf(buf, size,
			 "maps and programs count as locked memory before Linux 5.11, of which "
			 "%" PRIu64 " KiB are allowed: ulimit -l unlimited",
			 f->memlock / 1024);
	else if (!strcmp(f->lockdown, "confidentiality"))
		snprintf(buf, size, WHY_LOCKED_DOWN);
	else if (f->seccomp)
		snprintf(buf, size,
			 "a seccomp filter is active, which may forbid it: " ALLOW_CALLS);
	else if (locked || f->modules[0])
		snprintf(buf, size,
			 "a security policy of this machine forbids it (%s%s%s%s%s): allow it "
			 "there",
			 locked ? "lockdown: " : "", f->lockdown,
			 locked && f->modules[0] ? ", " : "", f->modules[0] ? "modules: " : "",
			 f->modules);
}

static void explain_right(enum why_step step, int err, const struct why_facts *f, char *buf,
			  size_t size)
{
	if (f->user_namespace && step != WHY_TRACEFS)
		snprintf(
			buf, size,
			"this process is in a user namespace, whose capabilities do not count for "
			"BPF: run it outside, as root of the machine (not in a rootless container)");
	else if (step == WHY_TRACEFS)
		explain_tracefs(err, f, buf, size);
	else if (f->caps[0])
		explain_caps(step, f, buf, size);
	else if (f->filtered && f->seccomp)
		snprintf(buf, size, "a seccomp filter forbids %s: " ALLOW_CALLS, call_name(step));
	else if (f->filtered)
		snprintf(buf, size, "a security module forbids %s (%s): allow it there",
			 call_name(step), f->modules[0] ? f->modules : "which one is not known");
	else
		explain_policy(step, f, buf, size);
}

static void explain_no_call(enum why_step step, const struct why_facts *f, char *buf, size_t size)
{
	if (step == WHY_TRACEFS)
		explain_tracefs(ENOSYS, f, buf, size);
	else if (f->seccomp)
		snprintf(
			buf, size,
			"a seccomp filter forbids %s, or this kernel is built without it (%s): " ALLOW_CALLS,
			call_name(step),
			step == WHY_PERF ? "CONFIG_PERF_EVENTS" : "CONFIG_BPF_SYSCALL");
	else
		snprintf(buf, size, "this kernel is built without %s: requires %s", call_name(step),
			 step == WHY_PERF ? "CONFIG_PERF_EVENTS" : "CONFIG_BPF_SYSCALL");
}

static void explain_memory(const struct why_facts *f, char *buf, size_t size)
{
	if (f->address_space != WHY_NO_LIMIT)
		snprintf(buf, size,
			 "too little memory, or address space: ulimit -v is %" PRIu64
			 " KiB, raise it",
			 f->address_space / 1024);
	else if (f->cgroup_memory)
		snprintf(
			buf, size,
			"the memory limit of the cgroup is too low: raise it, or choose smaller sizes");
	else
		snprintf(buf, size, "too little memory: choose smaller sizes, or free some");
}

/* glibc makes it EAGAIN as well where there is no memory for the stack. */
static void explain_threads(const struct why_facts *f, char *buf, size_t size)
{
	char nproc[64] = "";

	if (f->address_space != WHY_NO_LIMIT) {
		snprintf(buf, size,
			 "no room for its stack: ulimit -v is %" PRIu64 " KiB, raise it or take "
			 "fewer threads",
			 f->address_space / 1024);
		return;
	}
	if (f->processes != WHY_NO_LIMIT)
		snprintf(nproc, sizeof(nproc), "ulimit -u (%" PRIu64 "), ", f->processes);
	snprintf(buf, size,
		 "a limit on threads is reached: raise %spids.max of the cgroup or sysctl "
		 "kernel.threads-max, or take fewer threads",
		 nproc);
}

bool why_explain(enum why_step step, int err, const struct why_facts *facts, char *buf, size_t size)
{
	const bool is_bpf = step != WHY_THREAD && step != WHY_OTHER;

	err = err < 0 ? -err : err;
	buf[0] = '\0';
	switch (err) {
	case EPERM:
	case EACCES:
		if (is_bpf)
			explain_right(step, err, facts, buf, size);
		return buf[0] || (is_bpf && err == EPERM);
	case ENOSYS:
		if (is_bpf)
			explain_no_call(step, facts, buf, size);
		return is_bpf;
	case ENOMEM:
		explain_memory(facts, buf, size);
		return false;
	case EAGAIN:
		if (step == WHY_THREAD)
			explain_threads(facts, buf, size);
		return false;
	case EINVAL:
		if (step == WHY_THREAD)
			snprintf(buf, size, "is that CPU online, and for this process to use?");
		return false;
	case EMFILE:
		snprintf(buf, size, "raise ulimit -n, which is %" PRIu64, facts->files);
		return false;
	case ENFILE:
		snprintf(buf, size, "raise sysctl fs.file-max");
		return false;
	default:
		return false;
	}
}

bool why_advice(enum why_step step, int err, char *buf, size_t size)
{
	struct why_facts facts;

	why_look(step, err, &facts);
	return why_explain(step, err, &facts, buf, size);
}

void why_words(enum why_step step, int err, char *buf, size_t size)
{
	char advice[384];

	why_advice(step, err, advice, sizeof(advice));
	snprintf(buf, size, "%s%s%s", why_errno(err), advice[0] ? ": " : "", advice);
}

/* ---- what a kernel lacks */

const char *why_no_btf(void)
{
	if (access("/sys/kernel", F_OK))
		return "sysfs is not mounted, where the kernel has its BTF: mount -t sysfs sysfs "
		       "/sys";
	return "this kernel has no BTF: requires CONFIG_DEBUG_INFO_BTF";
}

const char *why_no_jit(void)
{
	/* In a network namespace of its own there is no such file. */
	if (sysctl_read("net/core/bpf_jit_enable", -1) == 0)
		return "the program needs the BPF JIT, which is off: sysctl "
		       "net.core.bpf_jit_enable=1";
	return "the program needs the BPF JIT, which this kernel lacks or has disabled: requires "
	       "CONFIG_BPF_JIT and, on the host, sysctl net.core.bpf_jit_enable=1";
}

/* ---- errno */

const char *why_errno(int err)
{
	/* include/linux/errno.h: "should never be seen by user programs", but they are */
	static const struct {
		int err;
		const char *words;
	} internal[] = {
		{ 512, "Interrupted (ERESTARTSYS)" },
		{ 513, "Interrupted (ERESTARTNOINTR)" },
		{ 514, "Interrupted (ERESTARTNOHAND)" },
		{ 515, "Operation not known (ENOIOCTLCMD)" },
		{ 516, "Interrupted (ERESTART_RESTARTBLOCK)" },
		{ 517, "Not ready yet (EPROBE_DEFER)" },
		{ 519, "Parameter not supported (ENOPARAM)" },
		{ 524, "Operation not supported (ENOTSUPP)" },
		{ 525, "Buffer too small (ETOOSMALL)" },
		{ 527, "Type not supported (EBADTYPE)" },
	};
	static __thread char buf[128];
	size_t i;

	err = err < 0 ? -err : err;
	for (i = 0; i < sizeof(internal) / sizeof(internal[0]); i++)
		if (internal[i].err == err)
			return internal[i].words;
	if (err >= 512 && err < 4000)
		snprintf(buf, sizeof(buf), "An error of the kernel's own (%d)", err);
	else if (err >= 4000)
		libbpf_strerror(err, buf, sizeof(buf));
	else
		return strerror(err);
	return buf;
}

const char *why_errno_name(int err)
{
	static __thread char buf[32];
	const char *name = NULL;

	err = err < 0 ? -err : err;
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 32)
	name = err == 524 ? "ENOTSUPP" : strerrorname_np(err);
#endif
	if (name)
		return name;
	snprintf(buf, sizeof(buf), "errno %d", err);
	return buf;
}

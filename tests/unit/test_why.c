// SPDX-License-Identifier: GPL-2.0
/*
 * What users read about a refusal: for each thing that can be missing, what that is and what to
 * do. What cannot be had here (old kernels, other machines' policies) is given as facts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/bpf/why.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* A process that may do anything, on a kernel that has everything. */
static struct why_facts nothing_missing(void)
{
	return (struct why_facts){
		.root = true,
		.gid = 100,
		.sys_admin = true,
		.tracefs_mounted = true,
		.memlock = WHY_NO_LIMIT,
		.address_space = WHY_NO_LIMIT,
		.files = 1024,
		.processes = WHY_NO_LIMIT,
	};
}

static void assert_says(enum why_step step, int err, const struct why_facts *facts,
			bool unavailable, const char *text)
{
	char buf[512];

	assert_int_equal(why_explain(step, err, facts, buf, sizeof(buf)), unavailable);
	assert_string_equal(buf, text);
	assert_int_equal(why_explain(step, -err, facts, buf, sizeof(buf)), unavailable);
	assert_string_equal(buf, text);
}

static void capabilities(void **state)
{
	struct why_facts f = nothing_missing();

	f.root = f.sys_admin = false;
	strcpy(f.caps, "CAP_PERFMON");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "CAP_PERFMON missing: run it as root (sudo), or give it the capabilities "
		    "cap_bpf,cap_perfmon (setcap)");
	assert_says(WHY_PERF, EACCES, &f, true,
		    "CAP_PERFMON missing: run it as root (sudo), or give it the capabilities "
		    "cap_bpf,cap_perfmon (setcap)");
	strcpy(f.caps, "CAP_SYS_ADMIN");
	assert_says(WHY_BPF, EPERM, &f, true, "CAP_SYS_ADMIN missing: run it as root (sudo)");
	assert_says(WHY_STATS, EPERM, &f, true,
		    "CAP_SYS_ADMIN missing: run it as root (sudo), or without --verify");
	/* sudo is no advice for root */
	f.root = true;
	assert_says(WHY_STATS, EPERM, &f, true,
		    "CAP_SYS_ADMIN missing: run it as root with all capabilities, or without "
		    "--verify");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "CAP_SYS_ADMIN missing, though this is root: run it outside of the container "
		    "or service that took it away");
	strcpy(f.caps, "CAP_BPF and CAP_PERFMON");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "CAP_BPF and CAP_PERFMON missing, though this is root: run it outside of the "
		    "container or service that took them away, or give them back there (Docker: "
		    "--cap-add BPF --cap-add PERFMON)");
}

static void namespaces(void **state)
{
	struct why_facts f = nothing_missing();

	f.user_namespace = true;
	/* There, capabilities are no help, nor is it the filter that most containers have. */
	strcpy(f.caps, "CAP_BPF");
	f.seccomp = true;
	assert_says(WHY_BPF, EPERM, &f, true,
		    "this process is in a user namespace, whose capabilities do not count for BPF: "
		    "run it outside, as root of the machine (not in a rootless container)");
}

#define OUTSIDE                                                                       \
	"run it outside of the container or service that set it, or have bpf(2) and " \
	"perf_event_open(2) allowed there"

static void seccomp(void **state)
{
	struct why_facts f = nothing_missing();

	f.seccomp = true;
	assert_says(WHY_BPF, EPERM, &f, true,
		    "a seccomp filter is active, which may forbid it: " OUTSIDE);
	f.filtered = true;
	assert_says(WHY_BPF, EPERM, &f, true, "a seccomp filter forbids bpf(2): " OUTSIDE);
	assert_says(WHY_STATS, EPERM, &f, true, "a seccomp filter forbids bpf(2): " OUTSIDE);
	assert_says(WHY_PERF, EACCES, &f, true,
		    "a seccomp filter forbids perf_event_open(2): " OUTSIDE);
	assert_says(WHY_BPF, ENOSYS, &f, true,
		    "a seccomp filter forbids bpf(2), or this kernel is built without it "
		    "(CONFIG_BPF_SYSCALL): " OUTSIDE);
	assert_says(WHY_PERF, ENOSYS, &f, true,
		    "a seccomp filter forbids perf_event_open(2), or this kernel is built without "
		    "it (CONFIG_PERF_EVENTS): " OUTSIDE);
	f.seccomp = false;
	strcpy(f.modules, "capability,bpf");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "a security module forbids bpf(2) (capability,bpf): allow it there");
}

static void no_such_call(void **state)
{
	struct why_facts f = nothing_missing();

	assert_says(WHY_BPF, ENOSYS, &f, true,
		    "this kernel is built without bpf(2): requires CONFIG_BPF_SYSCALL");
	assert_says(WHY_PERF, ENOSYS, &f, true,
		    "this kernel is built without perf_event_open(2): requires "
		    "CONFIG_PERF_EVENTS");
}

/* As on Debian and Ubuntu, where the sysctl knows more than the kernel's own 2. */
static void paranoid_perf(void **state)
{
	struct why_facts f = nothing_missing();

	f.root = f.sys_admin = false;
	f.perf_paranoid = 3;
	assert_says(WHY_PERF, EACCES, &f, true,
		    "sysctl kernel.perf_event_paranoid is 3, which leaves perf events to "
		    "CAP_SYS_ADMIN: run it as root, or set it to 2");
	f.perf_paranoid = 2; /* does not concern who has CAP_PERFMON */
	assert_says(WHY_PERF, EACCES, &f, false, "");
	f.perf_paranoid = 4;
	f.sys_admin = true;
	assert_says(WHY_PERF, EACCES, &f, false, "");
	assert_says(WHY_BPF, EPERM, &f, true, "");
}

static void locked_memory_of_old_kernels(void **state)
{
	struct why_facts f = nothing_missing();

	f.memlock_counts = true;
	f.memlock = 64 * 1024;
	assert_says(WHY_BPF, EPERM, &f, true,
		    "maps and programs count as locked memory before Linux 5.11, of which 64 KiB "
		    "are allowed: ulimit -l unlimited");
	f.memlock_counts = false;
	assert_says(WHY_BPF, EPERM, &f, true, "");
	f.memlock_counts = true;
	f.memlock = WHY_NO_LIMIT;
	assert_says(WHY_BPF, EPERM, &f, true, "");
}

static void lockdown_and_modules(void **state)
{
	struct why_facts f = nothing_missing();

	strcpy(f.modules, "lockdown,capability,bpf");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "a security policy of this machine forbids it (modules: "
		    "lockdown,capability,bpf): allow it there");
	strcpy(f.lockdown, "integrity");
	assert_says(WHY_BPF, EPERM, &f, true,
		    "a security policy of this machine forbids it (lockdown: integrity, modules: "
		    "lockdown,capability,bpf): allow it there");
	f.modules[0] = '\0';
	assert_says(WHY_BPF, EPERM, &f, true,
		    "a security policy of this machine forbids it (lockdown: integrity): allow it "
		    "there");
	strcpy(f.lockdown, "confidentiality");
	assert_says(WHY_PERF, EPERM, &f, true,
		    "the kernel is locked down (confidentiality): boot it with lockdown=integrity "
		    "at most");
}

static void tracefs(void **state)
{
	struct why_facts f = nothing_missing();

	assert_says(WHY_TRACEFS, EACCES, &f, true,
		    "tracefs is not for this user to read: run it as root, or mount -o "
		    "remount,mode=750,gid=100 /sys/kernel/tracing");
	f.tracefs_mounted = false;
#define MOUNT_IT ": mount -t tracefs -o mode=750,gid=100 tracefs /sys/kernel/tracing"
	assert_says(WHY_TRACEFS, ENOSYS, &f, true,
		    "tracefs is not mounted, and this kernel has no fsopen(2) to do without (Linux "
		    "5.2)" MOUNT_IT);
	assert_says(WHY_TRACEFS, EPERM, &f, true,
		    "tracefs is not mounted, and a private mount is refused" MOUNT_IT);
	f.seccomp = f.filtered = true;
	assert_says(WHY_TRACEFS, EPERM, &f, true,
		    "tracefs is not mounted, and a seccomp filter forbids a private "
		    "mount" MOUNT_IT);
	f.seccomp = f.filtered = false;
	f.root = f.sys_admin = false;
	strcpy(f.caps, "CAP_SYS_ADMIN");
	assert_says(WHY_TRACEFS, EPERM, &f, true,
		    "tracefs is not mounted, and this user may not mount it" MOUNT_IT);
}

static void limits(void **state)
{
	struct why_facts f = nothing_missing();
	enum why_step step;

	for (step = WHY_BPF; step <= WHY_OTHER; step++) {
		assert_says(step, EMFILE, &f, false, "raise ulimit -n, which is 1024");
		assert_says(step, ENFILE, &f, false, "raise sysctl fs.file-max");
		assert_says(step, ENOMEM, &f, false,
			    "too little memory: choose smaller sizes, or free some");
	}
	f.cgroup_memory = true;
	assert_says(WHY_BPF, ENOMEM, &f, false,
		    "the memory limit of the cgroup is too low: raise it, or choose smaller sizes");
	f.address_space = 100 << 20;
	assert_says(WHY_BPF, ENOMEM, &f, false,
		    "too little memory, or address space: ulimit -v is 102400 KiB, raise it");
	assert_says(WHY_THREAD, EAGAIN, &f, false,
		    "no room for its stack: ulimit -v is 102400 KiB, raise it or take fewer "
		    "threads");
	f.address_space = WHY_NO_LIMIT;
	assert_says(WHY_THREAD, EAGAIN, &f, false,
		    "a limit on threads is reached: raise pids.max of the cgroup or sysctl "
		    "kernel.threads-max, or take fewer threads");
	f.processes = 50;
	assert_says(
		WHY_THREAD, EAGAIN, &f, false,
		"a limit on threads is reached: raise ulimit -u (50), pids.max of the cgroup or "
		"sysctl kernel.threads-max, or take fewer threads");
	assert_says(WHY_OTHER, EAGAIN, &f, false, "");
	assert_says(WHY_THREAD, EINVAL, &f, false,
		    "is that CPU online, and for this process to use?");
}

/* What has nothing to do with rights is a failure, with errno's own words. */
static void plain_failures(void **state)
{
	static const int errs[] = { 0, EINVAL, EIO, ENOENT, EBUSY, E2BIG, 524 };
	struct why_facts f = nothing_missing();
	size_t i;

	f.seccomp = f.user_namespace = true;
	strcpy(f.lockdown, "confidentiality");
	for (i = 0; i < ARRAY_SIZE(errs); i++)
		assert_says(WHY_BPF, errs[i], &f, false, "");
	/* A file that may not be opened is no matter of BPF. */
	assert_says(WHY_OTHER, EACCES, &f, false, "");
	assert_says(WHY_OTHER, EPERM, &f, false, "");
	assert_says(WHY_OTHER, ENOSYS, &f, false, "");
	assert_says(WHY_THREAD, EPERM, &f, false, "");
}

static void small_buffers_are_kept_to(void **state)
{
	struct why_facts f = nothing_missing();
	char buf[16];

	f.user_namespace = true;
	memset(buf, 'x', sizeof(buf));
	assert_true(why_explain(WHY_BPF, EPERM, &f, buf, 4));
	assert_string_equal(buf, "thi");
	assert_int_equal(buf[4], 'x');
}

/* Looking does not change anything, and finds what is for all to see. */
static void looking(void **state)
{
	struct why_facts f;
	int step;

	for (step = WHY_BPF; step <= WHY_OTHER; step++) {
		why_look(step, -EPERM, &f);
		assert_true(f.files > 0);
		why_look(step, ENOMEM, &f);
		assert_false(f.filtered);
		assert_string_equal(f.caps, "");
	}
}

static void errno_in_words(void **state)
{
	int err;

	assert_string_equal(why_errno(EPERM), "Operation not permitted");
	assert_string_equal(why_errno(-ENOENT), "No such file or directory");
	assert_string_equal(why_errno(-524), "Operation not supported (ENOTSUPP)");
	assert_string_equal(why_errno(531), "An error of the kernel's own (531)");
	/* 4000 and up are libbpf's */
	assert_null(strstr(why_errno(4003), "nknown"));
	for (err = 512; err < 600; err++)
		assert_null(strstr(why_errno(err), "Unknown error"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capabilities),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(seccomp),
		cmocka_unit_test(no_such_call),
		cmocka_unit_test(paranoid_perf),
		cmocka_unit_test(locked_memory_of_old_kernels),
		cmocka_unit_test(lockdown_and_modules),
		cmocka_unit_test(tracefs),
		cmocka_unit_test(limits),
		cmocka_unit_test(plain_failures),
		cmocka_unit_test(small_buffers_are_kept_to),
		cmocka_unit_test(looking),
		cmocka_unit_test(errno_in_words),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}

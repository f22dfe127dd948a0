// SPDX-License-Identifier: GPL-2.0
/* What is said to be missing is what was taken away, in a child process each. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/bpf/caps.h"

#define BIT(cap) (1ULL << (cap))

/* Leaves the process with @keep only. */
static int keep_caps(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = keep, .permitted = keep },
		{ .effective = keep >> 32, .permitted = keep >> 32 },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/*
 * What @ask says in a child that @prepare(@arg) was done in; "?" where that could not be done. The
 * string is static.
 */
static const char *in_child(int (*prepare)(uint64_t arg), uint64_t arg,
			    void (*ask)(char *buf, size_t size))
{
	static char answer[512];
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char buf[sizeof(answer)] = "?";

		if (!prepare(arg))
			ask(buf, sizeof(buf));
		n = write(fds[1], buf, strlen(buf));
		_exit(n < 0);
	}
	close(fds[1]);
	n = read(fds[0], answer, sizeof(answer) - 1);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	answer[n < 0 ? 0 : n] = '\0';
	return answer;
}

static void ask_missing(char *buf, size_t size)
{
	if (caps_missing(buf, size))
		snprintf(buf, size, "?");
}

static int has_caps(void)
{
	return strcmp(in_child(keep_caps, BIT(CAP_SYS_ADMIN) | BIT(CAP_BPF) | BIT(CAP_PERFMON),
			       ask_missing),
		      "?");
}

static void missing_ones_are_named(void **state)
{
	assert_string_equal(in_child(keep_caps, 0, ask_missing), "CAP_BPF and CAP_PERFMON");
	if (!has_caps())
		skip();
	assert_string_equal(in_child(keep_caps, BIT(CAP_BPF), ask_missing), "CAP_PERFMON");
	assert_string_equal(in_child(keep_caps, BIT(CAP_PERFMON), ask_missing), "CAP_BPF");
	assert_string_equal(in_child(keep_caps, BIT(CAP_BPF) | BIT(CAP_PERFMON), ask_missing), "");
	/* stands for both */
	assert_string_equal(in_child(keep_caps, BIT(CAP_SYS_ADMIN), ask_missing), "");
	/* no other one does */
	assert_string_equal(in_child(keep_caps,
				     BIT(CAP_NET_ADMIN) | BIT(CAP_SYS_PTRACE) |
					     BIT(CAP_DAC_OVERRIDE),
				     ask_missing),
			    "CAP_BPF and CAP_PERFMON");
}

/* @mapped: as 'unshare -Ur' makes it; else nobody is anybody in it. */
static int user_namespace(uint64_t mapped)
{
	char map[64];
	FILE *f;
	int n;

	n = snprintf(map, sizeof(map), "0 %d 1\n", (int)geteuid());
	if (unshare(CLONE_NEWUSER))
		return -errno;
	if (!mapped)
		return 0;
	f = fopen("/proc/self/uid_map", "w");
	if (!f)
		return -errno;
	n -= fprintf(f, "%s", map);
	return fclose(f) || n ? -EIO : 0;
}

static void ask_user_namespace(char *buf, size_t size)
{
	snprintf(buf, size, "%s", caps_in_user_namespace() ? "yes" : "no");
}

/* There it has all capabilities, and still cannot use them. */
static void assert_namespace_is_seen(bool mapped)
{
	const char *s = in_child(user_namespace, mapped, ask_user_namespace);

	if (!strcmp(s, "?")) /* user namespaces can be switched off */
		skip();
	assert_string_equal(s, "yes");
	assert_string_equal(in_child(user_namespace, mapped, ask_missing), "");
}

static void user_namespace_is_seen(void **state)
{
	assert_namespace_is_seen(true);
}

static void unmapped_user_namespace_is_seen(void **state)
{
	assert_namespace_is_seen(false);
}

/* One that forbids nothing: enough for a hint. */
static int seccomp_filter(uint64_t arg)
{
	struct sock_filter insns[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog prog = { .len = 1, .filter = insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

static void ask_seccomp(char *buf, size_t size)
{
	snprintf(buf, size, "%s", caps_has_seccomp() ? "yes" : "no");
}

static void seccomp_filter_is_seen(void **state)
{
	if (caps_has_seccomp())
		skip();
	assert_string_equal(in_child(seccomp_filter, 0, ask_seccomp), "yes");
}

static void ask_sys_admin(char *buf, size_t size)
{
	snprintf(buf, size, "%s", caps_sys_admin() ? "yes" : "no");
}

static void sys_admin_is_seen(void **state)
{
	assert_string_equal(in_child(keep_caps, 0, ask_sys_admin), "no");
	if (!has_caps())
		skip();
	assert_string_equal(in_child(keep_caps, BIT(CAP_BPF), ask_sys_admin), "no");
	assert_string_equal(in_child(keep_caps, BIT(CAP_SYS_ADMIN), ask_sys_admin), "yes");
}

static void small_buffers_are_kept_to(void **state)
{
	char buf[16];

	memset(buf, 'x', sizeof(buf));
	assert_int_equal(caps_missing(buf, 4), 0);
	assert_true(strlen(buf) < 4);
	assert_int_equal(buf[4], 'x');
	memset(buf, 'x', sizeof(buf));
	caps_lockdown(buf, 4);
	assert_true(strlen(buf) < 4);
	assert_int_equal(buf[4], 'x');
	memset(buf, 'x', sizeof(buf));
	caps_security_modules(buf, 4);
	assert_true(strlen(buf) < 4);
	assert_int_equal(buf[4], 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_ones_are_named),
		cmocka_unit_test(user_namespace_is_seen),
		cmocka_unit_test(unmapped_user_namespace_is_seen),
		cmocka_unit_test(seccomp_filter_is_seen),
		cmocka_unit_test(sys_admin_is_seen),
		cmocka_unit_test(small_buffers_are_kept_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The reasons that users see in `bench -l -v`: those of other kernels than the one that the tests
 * run on can only be had by giving the errno that such a kernel returns.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/bpf/caps.h"
#include "lib/bpf/attach.h"
#include "lib/bpf/hook.h"

#define LOAD   false
#define ATTACH true

struct reason {
	enum hook_kind kind;
	bool loaded;
	int err;
	const char *text; /* "": nothing is known */
};

static const struct reason reasons[] = {
	{ HOOK_TP, ATTACH, ENOENT, "this kernel has no tracepoint a/b: requires a newer kernel" },
	{ HOOK_RAWTP, ATTACH, ENOENT,
	  "this kernel has no raw tracepoint a/b: requires a newer kernel" },
	{ HOOK_KPROBE_MULTI, ATTACH, EOPNOTSUPP,
	  "this kernel has no fprobe, which a multi-kprobe is: requires CONFIG_FPROBE" },
	{ HOOK_KRETPROBE_MULTI, ATTACH, EINVAL,
	  "this kernel has no multi-kretprobes: requires Linux 5.18 or newer" },
	{ HOOK_KPROBE_MULTI, ATTACH, ESRCH, "this kernel cannot have a multi-kprobe on a/b()" },
	{ HOOK_UPROBE_MULTI, ATTACH, EINVAL,
	  "this kernel has no multi-uprobes: requires Linux 6.6 or newer" },
	{ HOOK_URETPROBE_MULTI, ATTACH, EOPNOTSUPP,
	  "uprobes are not built into this kernel: requires CONFIG_UPROBES" },
	{ HOOK_FENTRY, LOAD, EPERM, "fentry programs are refused by this kernel: *" },
	{ HOOK_FEXIT, ATTACH, 524,
	  "this kernel has no BPF trampolines, which fexit programs need: requires "
	  "CONFIG_DYNAMIC_FTRACE and Linux 5.5 (arm64: 6.4) or newer" },
	{ HOOK_FENTRY, LOAD, ESRCH, "this kernel has no function a/b() to attach to" },
	{ HOOK_FEXIT, ATTACH, EBUSY,
	  "another tracer or a live patch has taken a/b(): stop that first" },
	{ HOOK_FENTRY_SLEEP, LOAD, EINVAL,
	  "a/b() is not on this kernel's list of functions for sleepable programs: requires "
	  "CONFIG_FUNCTION_ERROR_INJECTION, or Linux 7.1 or newer" },
	{ HOOK_FMODRET, LOAD, EINVAL,
	  "this kernel does not let programs modify the return value of a/b()" },
	{ HOOK_FENTRY, LOAD, EINVAL, "" },
	{ HOOK_KPROBE, LOAD, EINVAL, "" },
	{ HOOK_RAWTP, ATTACH, ENOMEM, "" },
};

static void test_reasons(void **state)
{
	char buf[768];
	size_t i;

	/* These two come before all others, and are tested in tests/explain.bats. */
	caps_missing(buf, sizeof(buf));
	if (buf[0] || !hook_has_btf())
		skip();
	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		struct hook hook = { .kind = reasons[i].kind, .target = "a/b" };
		const char *star = strchr(reasons[i].text, '*');
		bool known;

		known = hook_explain(&hook, reasons[i].loaded, -reasons[i].err, buf, sizeof(buf));
		if (star)
			assert_memory_equal(buf, reasons[i].text, star - reasons[i].text);
		else
			assert_string_equal(buf, reasons[i].text);
		assert_int_equal(known, reasons[i].text[0] != '\0');
	}
}

static void assert_brief(enum hook_kind kind, bool loaded, int err, const char *text)
{
	const struct hook hook = { .kind = kind, .target = "a/b" };
	char buf[48];

	hook_brief(&hook, loaded, err, buf, sizeof(buf));
	assert_string_equal(buf, text);
}

static void test_reasons_in_brief(void **state)
{
	assert_brief(HOOK_FENTRY, LOAD, -EPERM, "EPERM");
	assert_brief(HOOK_FENTRY, LOAD, EPERM, "EPERM");
	assert_brief(HOOK_RAWTP, ATTACH, -EINVAL, "EINVAL");
	assert_brief(HOOK_KPROBE, LOAD, -EACCES, "EACCES");
	assert_brief(HOOK_FENTRY, LOAD, -ENODATA, "switched off");
	if (hook_has_btf())
		assert_brief(HOOK_FENTRY, LOAD, -ESRCH, "ESRCH");
	else
		assert_brief(HOOK_FENTRY, LOAD, -ESRCH, "no BTF");
	/* which a kernel without BTF has as well for what is attached */
	assert_brief(HOOK_TP, ATTACH, -ENOENT, "ENOENT");
	if (access("/sys/bus/event_source/devices/kprobe", F_OK))
		assert_brief(HOOK_KPROBE, ATTACH, -ENOENT, "not built in");
	else
		assert_brief(HOOK_KPROBE, ATTACH, -ENOENT, "ENOENT");
}

static void test_functions(void **state)
{
	char name[64];

	if (!hook_has_btf())
		skip();
	assert_true(hook_function_exists("bpf_get_numa_node_id"));
	assert_false(hook_function_exists("no_such_function"));
	assert_int_equal(attach_syscall_function("getpgid", name, sizeof(name)), 0);
	assert_non_null(strstr(name, "sys_getpgid"));
	assert_true(hook_function_exists(name));
}

static void test_detach_what_is_not_attached(void **state)
{
	struct hook hook = {};

	hook_detach(&hook);
	/* Standard input was not taken for an attachment. */
	assert_true(fcntl(0, F_GETFD) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_reasons_in_brief),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_detach_what_is_not_attached),
	};

	return cmocka_run_group_tests_name("hook", tests, NULL, NULL);
}

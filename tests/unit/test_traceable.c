// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "lib/bpf/traceable.h"

#define TRACING "/sys/kernel/tracing"

/* A private tracefs, in a new mount namespace; false: that takes rights we lack. */
static bool fake_tracefs(const char *functions)
{
	FILE *f;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", TRACING, "tmpfs", 0, NULL))
		return false;
	assert_int_equal(mkdir(TRACING "/events", 0755), 0);
	if (!functions)
		return true;
	f = fopen(TRACING "/available_filter_functions", "w");
	assert_non_null(f);
	fputs(functions, f);
	assert_int_equal(fclose(f), 0);
	return true;
}

static void test_which(void **state)
{
	static const char *const expected[] = { "b_twice", "ccc", "ksys_rcu_read", "vfs_read" };
	struct traceable t;
	size_t i;

	if (!fake_tracefs("vfs_read\nccc\nb_twice\n"
			  "rcu_core\n__rcu_read_lock\n__rcu_read_unlock\n"
			  "migrate_disable\nmigrate_enable\npreempt_count_add\n"
			  "preempt_count_sub\nrcu_read_unlock_strict\n"
			  "bpf_dispatcher_xdp_func\narch_cpu_idle\ndefault_idle\n"
			  "b_twice\n__ftrace_invalid_address___12\n"
			  "bpf_get_numa_node_id\nksys_rcu_read\n"
			  "e1000_open [e1000]\n"))
		skip();
	assert_int_equal(traceable_read(&t, "bpf_get_numa_node_id"), 0);
	assert_int_equal(t.nr, sizeof(expected) / sizeof(expected[0]));
	for (i = 0; i < t.nr; i++)
		assert_string_equal(t.names[i], expected[i]);
	traceable_free(&t);
	assert_int_equal(t.nr, 0);
}

static void test_none(void **state)
{
	struct traceable t;

	if (!fake_tracefs(NULL))
		skip();
	assert_int_equal(traceable_read(&t, ""), -ENOENT);
	assert_int_equal(t.nr, 0);
	traceable_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

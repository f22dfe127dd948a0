// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lib/sysctl.h"

static void a_number_is_read(void **state)
{
	/* The least the kernel takes for it is 301. */
	assert_true(sysctl_read("kernel/pid_max", -1) > 300);
}

static void anything_else_is_otherwise(void **state)
{
	assert_int_equal(sysctl_read("kernel/no_such_sysctl", -7), -7);
	assert_int_equal(sysctl_read("kernel", -7), -7);
	assert_int_equal(sysctl_read("kernel/ostype", -7), -7); /* a word */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_read),
		cmocka_unit_test(anything_else_is_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

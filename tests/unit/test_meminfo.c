// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/meminfo.h"

#define MIB (1ULL << 20)

/* A machine that is made up below a directory of its own. */
static char root[] = "/tmp/test_meminfo.XXXXXX";

static void put(const char *path, const char *text)
{
	char name[PATH_MAX], *slash;
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0755) && errno != EEXIST)
			fail_msg("mkdir %s: %s", name, strerror(errno));
		*slash = '/';
	}
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	memcpy(root, "/tmp/test_meminfo.XXXXXX", sizeof(root));
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char cmd[PATH_MAX];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", root);
	return system(cmd);
}

static void check(uint64_t want, enum meminfo_limit want_limit)
{
	enum meminfo_limit limit;

	assert_int_equal(meminfo_available_at(root, &limit), want);
	assert_int_equal(limit, want_limit);
}

static void nothing_known(void **state)
{
	check(UINT64_MAX, MEMINFO_MACHINE);
	assert_int_equal(meminfo_available_at(root, NULL), UINT64_MAX);
}

static void put_machine(const char *available_kib)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "MemTotal:       24684184 kB\nMemFree:         1000000 kB\nMemAvailable: %s kB\n",
		 available_kib);
	put("/proc/meminfo", text);
}

static void machine_alone(void **state)
{
	put_machine("2048");
	check(2 * MIB, MEMINFO_MACHINE);
	put("/proc/self/cgroup", "0::/\n");
	check(2 * MIB, MEMINFO_MACHINE);
}

static void limit_of_version_2(void **state)
{
	put_machine("1048576");
	put("/proc/self/cgroup", "0::/a/b\n");
	put("/sys/fs/cgroup/a/b/memory.max", "max\n");
	put("/sys/fs/cgroup/a/b/memory.current", "52428800\n");
	check(1024 * MIB, MEMINFO_MACHINE);
	/* The limit of the one above holds for us, too. Its page cache can go. */
	put("/sys/fs/cgroup/a/memory.max", "104857600\n");
	put("/sys/fs/cgroup/a/memory.current", "62914560\n");
	check(40 * MIB, MEMINFO_CGROUP);
	put("/sys/fs/cgroup/a/memory.stat", "anon 1\nfile_mapped 3\nfile 10485760\nkernel 4\n");
	check(50 * MIB, MEMINFO_CGROUP);
	put("/sys/fs/cgroup/a/b/memory.max", "53477376\n");
	check(1 * MIB, MEMINFO_CGROUP);
	/* A limit that was lowered below what is in use. */
	put("/sys/fs/cgroup/a/b/memory.max", "1048576\n");
	check(0, MEMINFO_CGROUP);
}

static void limit_of_version_1(void **state)
{
	put_machine("1048576");
	put("/proc/self/cgroup", "5:devices:/x\n4:cpu,memory:/a\n3:memory_other:/no\n0::/\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
	check(1024 * MIB, MEMINFO_MACHINE);
	put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "104857600\n");
	put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "10485760\n");
	put("/sys/fs/cgroup/memory/a/memory.stat", "cache 7\ntotal_cache 5242880\n");
	check(95 * MIB, MEMINFO_CGROUP);
	assert_true(meminfo_machine_at(root) == 1024 * MIB);
}

/* What this machine says is between nothing and all of its memory. */
static void this_machine(void **state)
{
	uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	uint64_t available = meminfo_available(NULL);

	assert_true(available > 0 && available <= total);
	assert_true(meminfo_machine() > 0 && meminfo_machine() <= total);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(machine_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limit_of_version_2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(limit_of_version_1, set_up, tear_down),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

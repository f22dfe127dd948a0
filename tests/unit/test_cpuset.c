// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_ALLOC() */
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cpuset.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define ONLINE_PATH "/sys/devices/system/cpu/online"

/*
 * Machines that the tests do not run on. The two functions below take the place
 * of the C library's for the whole program: with the fakes unset they do what
 * those do.
 */
static int fake_nr_cpus; /* the kernel's nr_cpu_ids; 0: ask the kernel */
static int fake_first_allowed;
static const char *fake_online; /* file to read in place of ONLINE_PATH */

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	long len;

	memset(mask, 0, size);
	if (!fake_nr_cpus) {
		len = syscall(SYS_sched_getaffinity, pid, size, mask);
		return len < 0 ? -1 : 0;
	}
	if (size * 8 < (size_t)fake_nr_cpus) {
		errno = EINVAL;
		return -1;
	}
	for (int cpu = fake_first_allowed; cpu < fake_nr_cpus; cpu++)
		CPU_SET_S(cpu, size, mask);
	return 0;
}

FILE *fopen(const char *path, const char *mode)
{
	int fd;

	if (fake_online && !strcmp(path, ONLINE_PATH))
		path = fake_online;
	if (mode[0] != 'r') {
		errno = ENOTSUP;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopen(fd, "r");
}

static int reset_fakes(void **state)
{
	fake_nr_cpus = 0;
	fake_first_allowed = 0;
	fake_online = NULL;
	return 0;
}

static void assert_set(const struct cpuset *set, const int *cpus, int cnt)
{
	assert_int_equal(set->cnt, cnt);
	for (int i = 0; i < cnt; i++)
		assert_int_equal(set->cpus[i], cpus[i]);
}

static void assert_parses(const char *s, const int *cpus, int cnt)
{
	struct cpuset set = { 0 };

	if (cpuset_parse(s, &set))
		fail_msg("'%s' was refused", s);
	assert_set(&set, cpus, cnt);
	cpuset_free(&set);
	assert_null(set.cpus);
	assert_int_equal(set.cnt, 0);
}

#define CPUS(...) ((const int[]){ __VA_ARGS__ }), ARRAY_SIZE(((const int[]){ __VA_ARGS__ }))

static void parse_lists_and_ranges(void **state)
{
	assert_parses("0", CPUS(0));
	assert_parses("7", CPUS(7));
	assert_parses("007", CPUS(7));
	assert_parses("0-3", CPUS(0, 1, 2, 3));
	assert_parses("4-4", CPUS(4));
	assert_parses("0,2,4", CPUS(0, 2, 4));
	assert_parses("1,2-10,15", CPUS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15));
	assert_parses("1023,1024,4096", CPUS(1023, 1024, 4096));
	assert_parses("65535", CPUS(CPUSET_MAX));
	assert_parses("65534-65535", CPUS(CPUSET_MAX - 1, CPUSET_MAX));
}

static void parse_sorts_and_merges(void **state)
{
	assert_parses("3,1,2", CPUS(1, 2, 3));
	assert_parses("5,5,5", CPUS(5));
	assert_parses("2-5,4-6,3", CPUS(2, 3, 4, 5, 6));
	assert_parses("10,0-1,10", CPUS(0, 1, 10));
}

static void parse_all_cpus(void **state)
{
	struct cpuset set;

	assert_int_equal(cpuset_parse("0-65535,0-65535", &set), 0);
	assert_int_equal(set.cnt, CPUSET_MAX + 1);
	for (int i = 0; i < set.cnt; i++)
		assert_int_equal(set.cpus[i], i);
	cpuset_free(&set);
}

static void parse_refuses(void **state)
{
	static const struct {
		const char *s;
		int err;
	} cases[] = {
		{ NULL, -EINVAL },
		{ "", -EINVAL },
		{ ",", -EINVAL },
		{ "1,", -EINVAL },
		{ ",1", -EINVAL },
		{ "1,,2", -EINVAL },
		{ "5-2", -EINVAL },
		{ "1,5-2", -EINVAL },
		{ "-", -EINVAL },
		{ "-1", -EINVAL },
		{ "1-", -EINVAL },
		{ "1-,2", -EINVAL },
		{ "1--2", -EINVAL },
		{ "1-2-3", -EINVAL },
		{ "x", -EINVAL },
		{ "1x", -EINVAL },
		{ "1-2x", -EINVAL },
		{ "1;2", -EINVAL },
		{ " 1", -EINVAL },
		{ "1 ", -EINVAL },
		{ "1, 2", -EINVAL },
		{ "1\n", -EINVAL },
		{ "+1", -EINVAL },
		{ "0x1", -EINVAL },
		{ "1.5", -EINVAL },
		{ "0-7:1/2", -EINVAL },
		{ "65536", -ERANGE },
		{ "0-65536", -ERANGE },
		{ "65536-65537", -ERANGE },
		{ "1,99999999", -ERANGE },
		/* 2^32 and 2^64 + 1, which a wrapping parser reads as 0 and 1 */
		{ "4294967296", -ERANGE },
		{ "18446744073709551617", -ERANGE },
	};
	int dummy;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cpuset set = { .cpus = &dummy, .cnt = 1 };
		int err = cpuset_parse(cases[i].s, &set);

		if (err != cases[i].err || set.cpus || set.cnt)
			fail_msg("'%s': got %d and %d CPUs, want %d and none",
				 cases[i].s ? cases[i].s : "NULL", err, set.cnt, cases[i].err);
	}
}

static void has(void **state)
{
	struct cpuset set, empty = { 0 };

	assert_int_equal(cpuset_parse("1,3-5,9,2000", &set), 0);
	for (int cpu = -1; cpu < 2100; cpu++) {
		bool want = cpu == 1 || (cpu >= 3 && cpu <= 5) || cpu == 9 || cpu == 2000;

		if (cpuset_has(&set, cpu) != want)
			fail_msg("CPU %d: want %d", cpu, want);
		assert_false(cpuset_has(&empty, cpu));
	}
	cpuset_free(&set);
}

static int first_missing(const char *want_s, const char *have_s)
{
	struct cpuset want = { 0 }, have = { 0 };
	int cpu;

	if (*want_s)
		assert_int_equal(cpuset_parse(want_s, &want), 0);
	if (*have_s)
		assert_int_equal(cpuset_parse(have_s, &have), 0);
	cpu = cpuset_first_missing(&want, &have);
	cpuset_free(&want);
	cpuset_free(&have);
	return cpu;
}

static void missing(void **state)
{
	assert_int_equal(first_missing("0-3", "0-3"), -1);
	assert_int_equal(first_missing("1,3", "0-3"), -1);
	assert_int_equal(first_missing("0-3", "1-3"), 0);
	assert_int_equal(first_missing("0-4", "0-3"), 4);
	assert_int_equal(first_missing("9,5,7", "0-4,6-8"), 5);
	assert_int_equal(first_missing("", "0-3"), -1);
	assert_int_equal(first_missing("2", ""), 2);
	assert_int_equal(first_missing("", ""), -1);
}

static void assert_formats(const char *in, const char *out)
{
	struct cpuset set = { 0 };
	char buf[64];

	if (*in)
		assert_int_equal(cpuset_parse(in, &set), 0);
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(cpuset_format(&set, buf, sizeof(buf)), 0);
	assert_string_equal(buf, out);

	/* One byte less than text and its end need must not do, and not overrun */
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(cpuset_format(&set, buf, strlen(out)), -ENOSPC);
	if (*out)
		assert_string_equal(buf, "");
	assert_int_equal(buf[strlen(out)], 'x');

	assert_int_equal(cpuset_format(&set, buf, strlen(out) + 1), 0);
	assert_string_equal(buf, out);
	cpuset_free(&set);
}

static void format(void **state)
{
	assert_formats("", "");
	assert_formats("0", "0");
	assert_formats("65535", "65535");
	assert_formats("0,1", "0-1");
	assert_formats("0,2", "0,2");
	assert_formats("1,2-10,15", "1-10,15");
	assert_formats("15,2-10,1,12,13", "1-10,12-13,15");
	assert_formats("0-1023,1025-4095", "0-1023,1025-4095");
}

/* The longest text there is: every other CPU of all */
static void format_is_read_back(void **state)
{
	struct cpuset set = { .cnt = (CPUSET_MAX + 1) / 2 }, back;
	size_t size = 6 * set.cnt;
	char *buf = malloc(size);

	set.cpus = malloc(set.cnt * sizeof(*set.cpus));
	assert_non_null(buf);
	assert_non_null(set.cpus);
	for (int i = 0; i < set.cnt; i++)
		set.cpus[i] = 2 * i + 1;

	assert_int_equal(cpuset_format(&set, buf, size), 0);
	assert_int_equal(cpuset_parse(buf, &back), 0);
	assert_set(&back, set.cpus, set.cnt);
	cpuset_free(&back);
	cpuset_free(&set);
	free(buf);
}

/* What is allowed is what sched_setaffinity() says, at the time of the call */
static void allowed_follows_affinity(void **state)
{
	struct cpuset before, one, after;
	cpu_set_t saved, mask;

	if (sched_getaffinity(0, sizeof(saved), &saved))
		skip(); /* more CPUs here than a plain cpu_set_t holds */
	assert_int_equal(cpuset_allowed(&before), 0);
	assert_int_equal(before.cnt, CPU_COUNT(&saved));
	for (int i = 0; i < before.cnt; i++)
		assert_true(CPU_ISSET(before.cpus[i], &saved));

	CPU_ZERO(&mask);
	CPU_SET(before.cpus[before.cnt - 1], &mask);
	assert_int_equal(sched_setaffinity(0, sizeof(mask), &mask), 0);
	assert_int_equal(cpuset_allowed(&one), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(saved), &saved), 0);
	assert_set(&one, &before.cpus[before.cnt - 1], 1);

	assert_int_equal(cpuset_allowed(&after), 0);
	assert_set(&after, before.cpus, before.cnt);
	cpuset_free(&before);
	cpuset_free(&one);
	cpuset_free(&after);
}

/* A plain cpu_set_t ends at 1024 CPUs, and the kernel refuses it beyond */
static void allowed_on_large_machines(void **state)
{
	static const int sizes[] = { 1, 64, 1023, 1024, 1025, 4096, 8192, CPUSET_MAX + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct cpuset set;

		fake_nr_cpus = sizes[i];
		fake_first_allowed = sizes[i] / 2;
		assert_int_equal(cpuset_allowed(&set), 0);
		assert_int_equal(set.cnt, sizes[i] - sizes[i] / 2);
		assert_int_equal(set.cpus[0], sizes[i] / 2);
		assert_int_equal(set.cpus[set.cnt - 1], sizes[i] - 1);
		cpuset_free(&set);
	}
}

/* Growing the mask must end somewhere */
static void allowed_gives_up(void **state)
{
	struct cpuset set;

	fake_nr_cpus = 1 << 24;
	assert_int_equal(cpuset_allowed(&set), -EINVAL);
	assert_null(set.cpus);
	assert_int_equal(set.cnt, 0);
}

static void online_on_this_machine(void **state)
{
	struct cpuset online, allowed;

	assert_int_equal(cpuset_online(&online), 0);
	assert_int_equal(cpuset_allowed(&allowed), 0);
	assert_int_equal(online.cnt, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(cpuset_first_missing(&allowed, &online), -1);
	cpuset_free(&online);
	cpuset_free(&allowed);
}

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void online_from_sysfs(void **state)
{
	char root[] = "/tmp/test_cpuset.XXXXXX", command[256];
	struct cpuset set;
	int err;

	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p ./%s && rmdir ./%s && echo 0,2-4,1500 >./%s", root, ONLINE_PATH,
		 ONLINE_PATH, ONLINE_PATH);
	assert_int_equal(system(command), 0);
	err = cpuset_online_at(root, &set);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	assert_int_equal(err, 0);
	assert_set(&set, CPUS(0, 2, 3, 4, 1500));
	cpuset_free(&set);
}

/* A file of a container in the place of the kernel's */
static void online_made_up(void **state)
{
	char path[] = "/tmp/test_cpuset.XXXXXX";
	struct cpuset set;

	fake_nr_cpus = 5;
	fake_first_allowed = 3;
	write_file(path, "0,2-4,1500\n");
	fake_online = path;
	assert_int_equal(cpuset_online(&set), 0);
	unlink(path);
	assert_set(&set, CPUS(3, 4));
	cpuset_free(&set);
}

static void online_without_sysfs(void **state)
{
	static const char *const text[] = { "", "\n", "garbage\n", "0-1,\n" };
	struct cpuset set;

	fake_nr_cpus = 5;
	fake_first_allowed = 3;

	fake_online = "/nonexistent/online";
	assert_int_equal(cpuset_online(&set), 0);
	assert_set(&set, CPUS(3, 4));
	cpuset_free(&set);

	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		char path[] = "/tmp/test_cpuset.XXXXXX";
		int err;

		write_file(path, text[i]);
		fake_online = path;
		err = cpuset_online(&set);
		unlink(path);
		assert_int_equal(err, 0);
		assert_set(&set, CPUS(3, 4));
		cpuset_free(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_lists_and_ranges),
		cmocka_unit_test(parse_sorts_and_merges),
		cmocka_unit_test(parse_all_cpus),
		cmocka_unit_test(parse_refuses),
		cmocka_unit_test(has),
		cmocka_unit_test(missing),
		cmocka_unit_test(format),
		cmocka_unit_test(format_is_read_back),
		cmocka_unit_test(allowed_follows_affinity),
		cmocka_unit_test_teardown(allowed_on_large_machines, reset_fakes),
		cmocka_unit_test_teardown(allowed_gives_up, reset_fakes),
		cmocka_unit_test(online_on_this_machine),
		cmocka_unit_test_teardown(online_from_sysfs, reset_fakes),
		cmocka_unit_test_teardown(online_made_up, reset_fakes),
		cmocka_unit_test_teardown(online_without_sysfs, reset_fakes),
	};

	return cmocka_run_group_tests_name("cpuset", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw(), sched_setaffinity(), RUSAGE_THREAD */
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpuset.h"
#include "lib/run/noise.h"

/* The machine that a test lays out, file by file */
static char root[PATH_MAX / 2];

static int make_root(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/test_noise.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int remove_root(void **state)
{
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
	size_t len = strlen(text);
	char full[PATH_MAX], *slash;
	int fd;

	assert_true(snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full));
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(full, 0777))
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(close(fd), 0);
}

static void put_thread(int tid, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, file);
	put(path, text);
}

/* A thread as the kernel shows it; a negative count leaves its line out. */
static void put_counts(int tid, long long invol, long long migrations)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "Name:\tworker\nState:\tR (running)\nvoluntary_ctxt_switches:\t77777\n");
	if (invol >= 0)
		sprintf(text + strlen(text), "nonvoluntary_ctxt_switches:\t%lld\n", invol);
	put_thread(tid, "status", text);

	snprintf(text, sizeof(text),
		 "worker (%d, #threads: 1)\n------------------------\n"
		 "se.exec_start                                :        486593.781601\n",
		 tid);
	if (migrations >= 0)
		sprintf(text + strlen(text), "se.nr_migrations         :      %lld\n", migrations);
	strcat(text, "nr_switches                                  :                    1\n"
		     "numa_pages_migrated                          :                 4711\n");
	put_thread(tid, "sched", text);
}

static void remove_thread(int tid)
{
	static const char *const files[] = { "status", "sched", "" };
	char path[PATH_MAX];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/proc/self/task/%d/%s", root, tid, files[i]);
		assert_int_equal(remove(path), 0);
	}
}

static void read_fake(struct noise_reading *reading, const pid_t *tids, size_t nr)
{
	memset(reading, 0xff, sizeof(*reading));
	assert_int_equal(noise_read_at(root, reading, tids, nr), 0);
	assert_int_equal(reading->nr_threads, nr);
}

/* Steal between two states of /proc/stat */
static double steal_between(const char *before, const char *after)
{
	struct noise_reading start, end;
	struct noise noise;

	put("/proc/stat", before);
	read_fake(&start, NULL, 0);
	put("/proc/stat", after);
	read_fake(&end, NULL, 0);
	memset(&noise, 0xff, sizeof(noise));
	noise_diff(&start, &end, &noise);
	assert_int_equal(noise.invol_switches, 0);
	assert_int_equal(noise.migrations, 0);
	assert_int_equal(noise.threads_lost, 0);
	noise_reading_free(&start);
	noise_reading_free(&end);
	return noise.steal_pct;
}

static void assert_steal(const char *before, const char *after, double want)
{
	assert_float_equal(steal_between(before, after), want, 1e-9);
}

static void steal_is_a_part_of_all_ticks(void **state)
{
	/* each column moves by another amount: 1 + 2 + 4 + ... + 128 = 255 */
	assert_steal("cpu  1 0 0 0 0 0 0 0 0 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n",
		     "cpu  2 2 4 8 16 32 64 128 0 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n",
		     100.0 * 128 / 255);
	assert_steal("cpu  1 2 4 8 16 32 64 128 0 0\n", "cpu  10 2 4 8 16 32 64 129 0 0\n", 10);
	assert_steal("cpu  5 0 0 0 0 0 0 3 0 0\n", "cpu  9 0 0 0 0 0 0 3 0 0\n", 0);
	assert_steal("cpu  5 0 0 0 0 0 0 3 0 0\n", "cpu  5 0 0 0 0 0 0 4 0 0\n", 100);
}

/* Time in a guest is in user time already. */
static void guest_time_is_not_counted_twice(void **state)
{
	assert_steal("cpu  1 0 0 0 0 0 0 0 0 0\n", "cpu  51 40 0 0 0 0 0 10 50 40\n", 10);
	/* before there were guest columns */
	assert_steal("cpu  1 0 0 0 0 0 0 0\n", "cpu  91 0 0 0 0 0 0 10", 10);
}

static void no_tick_no_steal(void **state)
{
	assert_steal("cpu  1 2 3 4 5 6 7 8 0 0\n", "cpu  1 2 3 4 5 6 7 8 0 0\n", -1);
}

static void counters_that_go_back(void **state)
{
	assert_steal("cpu  1 2 3 9 5 6 7 8 0 0\n", "cpu  1 2 3 4 5 6 7 8 0 0\n", -1);
	assert_steal("cpu  1 2 3 4 5 6 7 8 0 0\n", "cpu  9 2 3 4 5 6 7 7 0 0\n", -1);
	/* idle lost more than steal gained: never more than all */
	assert_steal("cpu  1 2 3 9 5 6 7 8 0 0\n", "cpu  1 2 3 4 5 6 7 18 0 0\n", 100);
}

static void no_sense_in_proc_stat(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"cpu",
		"cpu ",
		"cpu  \n",
		"cpu0 1 2 3 4 5 6 7 8 0 0\n",
		"cpu  1 2 3 4 5 6 7\n",
		"cpu  1 2 3 4 5 6 7 x 0 0\n",
		"cpu  1 2 3 4 5 6 7 -8 0 0\n",
		"cpu  1 2 3 4 5 6 7 8x 0 0\n",
		"cpu  99999999999999999999 2 3 4 5 6 7 8 0 0\n",
		/* each fits, the sum does not */
		"cpu  9000000000000000000 9000000000000000000 3 4 5 6 7 8 0 0\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_steal(bad[i], "cpu  9 9 9 9 9 9 9 9 0 0\n", -1);
		assert_steal("cpu  1 0 0 0 0 0 0 0 0 0\n", bad[i], -1);
	}
}

static void no_proc_stat(void **state)
{
	struct noise_reading start, end, never = { 0 };
	struct noise noise;

	read_fake(&start, NULL, 0);
	read_fake(&end, NULL, 0);
	noise_diff(&start, &end, &noise);
	assert_true(noise.steal_pct == -1);
	noise_reading_free(&end);

	/* nor where one side was not read at all: not all that was stolen since the boot */
	put("/proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\n");
	read_fake(&end, NULL, 0);
	noise_diff(&never, &end, &noise);
	assert_true(noise.steal_pct == -1);
	noise_reading_free(&start);
	noise_reading_free(&end);
}

static void proc_stat_with_huge_line(void **state)
{
	char *text = malloc(500001);

	assert_non_null(text);
	memset(text, '7', 500000);
	memcpy(text, "intr 1 ", 7);
	strcpy(text + 400000, "\ncpu  4 0 0 0 0 0 0 1 0 0");
	assert_steal("cpu  1 0 0 0 0 0 0 0 0 0\n", text, 25);
	free(text);
}

/* The difference over three fake threads, changed in between by a function of the test */
static void diff_fake(const pid_t *tids, size_t nr, void (*change)(void), struct noise *noise)
{
	struct noise_reading start, end;

	read_fake(&start, tids, nr);
	change();
	read_fake(&end, tids, nr);
	memset(noise, 0xff, sizeof(*noise));
	noise_diff(&start, &end, noise);
	noise_reading_free(&start);
	noise_reading_free(&end);
	assert_null(start.threads);
	noise_reading_free(&start);
}

static const pid_t tids[] = { 11, 22, 33 };

static void put_three(void)
{
	put_counts(11, 100, 10);
	put_counts(22, 200, 20);
	put_counts(33, 300, 30);
}

static void waiting_is_a_part_of_the_threads_time(void **state)
{
	static const struct {
		const char *before[2], *after[2];
		double want; /* with 1 s between the readings */
	} rows[] = {
		{ { "7 100 1\n", "9 0 2\n" }, { "7 250000100 3\n", "9 500000000 9\n" }, 37.5 },
		{ { "0 0 0", "0 0 0" }, { "5 0 1", "5 0 1" }, 0 },
		{ { "0 0 0", "0 0 0" }, { "0 3000000000 1", "0 3000000000 1" }, 100 },
		/* Half of a sum would look like a low figure. */
		{ { "0 0 0", "" }, { "0 500000000 1", "" }, -1 },
		{ { "0 0 0", "0 9 0" }, { "0 500000000 1", "0 8 0" }, -1 },
		{ { "0 x 0", "0 0 0" }, { "0 500000000 1", "0 1 0" }, -1 },
		{ { "0", "0 0 0" }, { "0", "0 1 0" }, -1 },
	};

	put_three();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct noise_reading start, end;
		struct noise noise;

		put_thread(11, "schedstat", rows[i].before[0]);
		put_thread(22, "schedstat", rows[i].before[1]);
		read_fake(&start, tids, 2);
		put_thread(11, "schedstat", rows[i].after[0]);
		put_thread(22, "schedstat", rows[i].after[1]);
		read_fake(&end, tids, 2);
		end.ns = start.ns + 1000000000;
		noise_diff(&start, &end, &noise);
		assert_float_equal(noise.waited_pct, rows[i].want, 1e-9);
		noise_reading_free(&start);
		noise_reading_free(&end);
	}
}

static void three_go_on(void)
{
	put_counts(11, 101, 20);
	put_counts(22, 203, 50);
	put_counts(33, 305, 37);
}

static void threads_are_summed(void **state)
{
	struct noise noise;

	put_three();
	diff_fake(tids, 3, three_go_on, &noise);
	assert_int_equal(noise.invol_switches, 1 + 3 + 5);
	assert_int_equal(noise.migrations, 10 + 30 + 7);
	assert_int_equal(noise.threads_lost, 0);
}

static void one_ends(void)
{
	three_go_on();
	remove_thread(22);
}

static void ended_thread_is_left_out(void **state)
{
	struct noise noise;

	put_three();
	diff_fake(tids, 3, one_ends, &noise);
	assert_int_equal(noise.invol_switches, 1 + 5);
	assert_int_equal(noise.migrations, 10 + 7);
	assert_int_equal(noise.threads_lost, 1);
}

static void thread_not_there_at_start(void **state)
{
	struct noise noise;

	put_three();
	remove_thread(11);
	diff_fake(tids, 3, three_go_on, &noise);
	assert_int_equal(noise.invol_switches, 3 + 5);
	assert_int_equal(noise.migrations, 30 + 7);
	assert_int_equal(noise.threads_lost, 1);
}

static void all_end(void)
{
	remove_thread(11);
	remove_thread(22);
	remove_thread(33);
}

static void all_threads_ended(void **state)
{
	struct noise noise;

	put_three();
	diff_fake(tids, 3, all_end, &noise);
	assert_int_equal(noise.invol_switches, -1);
	assert_int_equal(noise.migrations, -1);
	assert_int_equal(noise.threads_lost, 3);
}

static void tid_of_another(void)
{
	three_go_on();
	put_counts(22, 199, 99);
}

/* Its counts are smaller than what was there before: not the same thread. */
static void tid_used_again(void **state)
{
	struct noise noise;

	put_three();
	diff_fake(tids, 3, tid_of_another, &noise);
	assert_int_equal(noise.invol_switches, 1 + 5);
	assert_int_equal(noise.migrations, 10 + 7);
	assert_int_equal(noise.threads_lost, 1);
}

static void one_without_migrations(void)
{
	three_go_on();
	put_counts(33, 305, -1);
}

/* Half of a sum would look like a low figure. */
static void migrations_unknown_for_one(void **state)
{
	struct noise noise;

	put_three();
	diff_fake(tids, 3, one_without_migrations, &noise);
	assert_int_equal(noise.invol_switches, 1 + 3 + 5);
	assert_int_equal(noise.migrations, -1);
	assert_int_equal(noise.threads_lost, 0);
}

static void threads_without_sched(void)
{
	put_thread(11, "status", "nonvoluntary_ctxt_switches:\t9");
}

/* A kernel without CONFIG_SCHED_DEBUG has no such file. */
static void no_sched_file(void **state)
{
	struct noise noise;

	put_thread(11, "status", "nonvoluntary_ctxt_switches:\t2\n");
	diff_fake(tids, 1, threads_without_sched, &noise);
	assert_int_equal(noise.invol_switches, 7);
	assert_int_equal(noise.migrations, -1);
	assert_int_equal(noise.threads_lost, 0);
}

static void lists_in_different_order(void **state)
{
	static const pid_t other[] = { 33, 44, 11 };
	struct noise_reading start, end;
	struct noise noise;

	put_three();
	read_fake(&start, tids, 3);
	three_go_on();
	put_counts(44, 1000, 1000);
	read_fake(&end, other, 3);
	noise_diff(&start, &end, &noise);
	assert_int_equal(noise.invol_switches, 1 + 5);
	assert_int_equal(noise.migrations, 10 + 7);
	assert_int_equal(noise.threads_lost, 1);
	noise_reading_free(&start);
	noise_reading_free(&end);
}

/* One thread's counts as read from a status and a sched file */
static void assert_counts(const char *status, const char *sched, long long invol,
			  long long migrations)
{
	struct noise_reading reading;

	put_thread(11, "status", status);
	put_thread(11, "sched", sched);
	read_fake(&reading, tids, 1);
	assert_int_equal(reading.threads[0].tid, 11);
	assert_int_equal(reading.threads[0].invol_switches, invol);
	assert_int_equal(reading.threads[0].migrations, migrations);
	noise_reading_free(&reading);
}

static void odd_files_of_a_thread(void **state)
{
	char *text;

	assert_counts("nonvoluntary_ctxt_switches:\t5", "se.nr_migrations : 6", 5, 6);
	assert_counts("nonvoluntary_ctxt_switches:5\n", "nr_migrations:6\n", 5, 6);
	assert_counts("", "", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches", "se.nr_migrations", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches:", "se.nr_migrations:\n", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches:\tx\n", "se.nr_migrations : 1.5\n", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches:\t-5\n", "se.nr_migrations : -6\n", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches:\t99999999999999999999\n",
		      "se.nr_migrations : 99999999999999999999\n", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches 5 6\n", "se.nr_migrations 5 6\n", -1, -1);
	assert_counts("nonvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\tx\n",
		      "se.nr_migrations : 6\nse.nr_migrations : x\n", -1, -1);
	assert_counts("voluntary_ctxt_switches:\t1\n",
		      "nr_migrations_cold : 1\nx.nr_migrations : 2\nnuma_pages_migrated : 3\n", -1,
		      -1);
	/* 'sched' begins with the thread's name as it is, of up to 15 bytes of any kind */
	assert_counts("nonvoluntary_ctxt_switches:\t5\n",
		      "x\nnr_migrations: (11, #threads: 1)\n---\nnr_migrations : 6\n", 5, 6);

	text = malloc(300000);
	assert_non_null(text);
	memset(text, '1', 299999);
	memcpy(text, "Groups:\t", 8);
	strcpy(text + 299900, "\nnonvoluntary_ctxt_switches:\t8\nse.nr_migrations : 9");
	assert_counts(text, text, 8, 9);
	free(text);
}

static void root_too_long(void **state)
{
	struct noise_reading reading;
	char *path = malloc(PATH_MAX + 101);

	assert_non_null(path);
	memset(path, '/', PATH_MAX + 100);
	path[PATH_MAX + 100] = '\0';
	assert_int_equal(noise_read_at(path, &reading, tids, 1), 0);
	assert_int_equal(reading.total_ticks, -1);
	assert_int_equal(reading.threads[0].invol_switches, -1);
	noise_reading_free(&reading);
	path[PATH_MAX - 10] = '\0';
	assert_int_equal(noise_read_at(path, &reading, tids, 1), 0);
	assert_int_equal(reading.total_ticks, -1);
	assert_int_equal(reading.threads[0].invol_switches, -1);
	noise_reading_free(&reading);
	free(path);
}

/* Sanitizers end a program that asks for too much, unless told otherwise. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void too_many_threads_for_memory(void **state)
{
	struct noise_reading reading;

	assert_int_equal(noise_read(&reading, tids, SIZE_MAX / 2), -ENOMEM);
	assert_null(reading.threads);
	assert_int_equal(reading.nr_threads, 0);
}

static pid_t this_thread(void)
{
	return syscall(SYS_gettid);
}

static long involuntary_switches(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nivcsw;
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Send this thread to and fro between two CPUs: it is seen where it may run, and each way. */
static void this_thread_sent_about(void **state)
{
	struct noise_reading start, end;
	pid_t tid = this_thread();
	int cpus[2], nr = 0;
	struct noise noise;
	cpu_set_t before;

	if (sched_getaffinity(0, sizeof(before), &before))
		skip(); /* more CPUs than a plain cpu_set_t takes */
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++) {
		if (CPU_ISSET(cpu, &before))
			cpus[nr++] = cpu;
	}
	if (nr < 2)
		skip();

	/* it may run on two */
	assert_false(noise_thread_is_pinned(tid, cpus[0]));
	pin_to(cpus[0]);
	assert_true(noise_thread_is_pinned(tid, cpus[0]));
	assert_int_equal(noise_read(&start, &tid, 1), 0);
	for (int i = 0; i < 10; i++) {
		pin_to(cpus[1]);
		assert_true(noise_thread_is_pinned(tid, cpus[1]));
		assert_false(noise_thread_is_pinned(tid, cpus[0]));
		pin_to(cpus[0]);
		assert_false(noise_thread_is_pinned(tid, cpus[1]));
	}
	assert_false(noise_thread_is_pinned(tid, CPUSET_MAX));
	assert_int_equal(noise_read(&end, &tid, 1), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);

	noise_diff(&start, &end, &noise);
	assert_int_equal(noise.threads_lost, 0);
	if (!access("/proc/self/sched", R_OK))
		assert_int_equal(noise.migrations, 20);
	else
		assert_int_equal(noise.migrations, -1);
	noise_reading_free(&start);
	noise_reading_free(&end);
}

static void *spin(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* Let two threads want one CPU, and hold the count against what getrusage() says. */
static void this_thread_pushed_aside(void **state)
{
	long outer_start, inner_start, inner_end, outer_end;
	time_t limit = time(NULL) + 10;
	struct noise_reading start, end;
	pid_t tid = this_thread();
	struct noise noise;
	cpu_set_t before;
	bool stop = false;
	pthread_t rival;

	if (sched_getaffinity(0, sizeof(before), &before))
		skip(); /* more CPUs than a plain cpu_set_t takes */
	pin_to(sched_getcpu());
	/* it takes over the affinity */
	assert_int_equal(pthread_create(&rival, NULL, spin, &stop), 0);

	outer_start = involuntary_switches();
	assert_int_equal(noise_read(&start, &tid, 1), 0);
	inner_start = involuntary_switches();
	do {
		inner_end = involuntary_switches();
	} while (inner_end < inner_start + 3 && time(NULL) < limit);
	assert_int_equal(noise_read(&end, &tid, 1), 0);
	outer_end = involuntary_switches();

	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(rival, NULL), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);

	noise_diff(&start, &end, &noise);
	assert_int_equal(noise.threads_lost, 0);
	assert_true(inner_end - inner_start >= 3);
	assert_in_range(noise.invol_switches, inner_end - inner_start, outer_end - outer_start);
	noise_reading_free(&start);
	noise_reading_free(&end);
}

/* Busy until the kernel has counted ticks, which it does a hundred times a second. */
static void this_machine_steal(void **state)
{
	struct noise_reading start, end;
	time_t limit = time(NULL) + 10;
	struct noise noise;

	assert_int_equal(noise_read(&start, NULL, 0), 0);
	assert_true(start.total_ticks > 0);
	do {
		assert_int_equal(noise_read(&end, NULL, 0), 0);
	} while (end.total_ticks <= start.total_ticks && time(NULL) < limit);
	noise_diff(&start, &end, &noise);
	assert_true(noise.steal_pct >= 0 && noise.steal_pct <= 100);
}

static void *tell_tid(void *arg)
{
	*(pid_t *)arg = this_thread();
	return NULL;
}

static void thread_that_has_ended(void **state)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	time_t limit = time(NULL) + 10;
	struct noise_reading reading;
	pthread_t thread;
	char task[64];
	pid_t both[2];

	assert_int_equal(pthread_create(&thread, NULL, tell_tid, &both[0]), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* The kernel wakes the joiner before it takes the thread off /proc. */
	snprintf(task, sizeof(task), "/proc/self/task/%d", both[0]);
	while (!access(task, F_OK) && time(NULL) < limit)
		nanosleep(&pause, NULL);
	assert_true(noise_thread_is_pinned(both[0], 0));

	both[1] = this_thread();
	assert_int_equal(noise_read(&reading, both, 2), 0);
	assert_int_equal(reading.threads[0].invol_switches, -1);
	assert_int_equal(reading.threads[0].migrations, -1);
	assert_true(reading.threads[1].invol_switches >= 0);
	noise_reading_free(&reading);
}

#define ROOTED(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOTED(steal_is_a_part_of_all_ticks),
		ROOTED(guest_time_is_not_counted_twice),
		ROOTED(no_tick_no_steal),
		ROOTED(counters_that_go_back),
		ROOTED(no_sense_in_proc_stat),
		ROOTED(no_proc_stat),
		ROOTED(proc_stat_with_huge_line),
		ROOTED(threads_are_summed),
		ROOTED(waiting_is_a_part_of_the_threads_time),
		ROOTED(ended_thread_is_left_out),
		ROOTED(thread_not_there_at_start),
		ROOTED(all_threads_ended),
		ROOTED(tid_used_again),
		ROOTED(migrations_unknown_for_one),
		ROOTED(no_sched_file),
		ROOTED(lists_in_different_order),
		ROOTED(odd_files_of_a_thread),
		cmocka_unit_test(root_too_long),
		cmocka_unit_test(too_many_threads_for_memory),
		cmocka_unit_test(this_thread_sent_about),
		cmocka_unit_test(this_thread_pushed_aside),
		cmocka_unit_test(this_machine_steal),
		cmocka_unit_test(thread_that_has_ended),
	};

	return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include "lib/run/canary.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/bpf/attach.h"
#include "lib/cpuset.h"
#include "lib/stats.h"
#include "lib/util.h"

/*
 * Each is the median of so many measurements, one that was preempted does not count, or of those
 * that fit into the time, but some: on a busy machine a wake-up takes milliseconds.
 */
#define MEASUREMENTS 45
#define LEAST	     5
#define BUDGET_MS    3
#define LOOP_TURNS   20000
#define SYSCALLS     25

/* A chain of multiplications: no compiler and no CPU can shorten it. */
static void loop(void *arg)
{
	unsigned long x = 1;
	int i;

	for (i = 0; i < LOOP_TURNS; i++) {
		x = x * 6364136223846793005UL + 1;
		asm volatile("" : "+r"(x));
	}
}

static void call_kernel(void *arg)
{
	int i;

	for (i = 0; i < SYSCALLS; i++)
		syscall(SYS_getppid);
}

static void call_trigger(void *arg)
{
	int i;

	for (i = 0; i < SYSCALLS; i++)
		attach_trigger();
}

struct pair {
	int there, back; /* eventfds */
	int cpu; /* of the second thread */
};

static void *answer(void *arg)
{
	struct pair *pair = arg;
	cpu_set_t set;
	eventfd_t v;

	CPU_ZERO(&set);
	CPU_SET(pair->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!eventfd_read(pair->there, &v) && v == 1)
		eventfd_write(pair->back, 1);
	return NULL;
}

/* There and back; whether that was within the time. */
static bool wake(const struct pair *pair)
{
	struct pollfd back = { .fd = pair->back, .events = POLLIN };
	eventfd_t v;

	return !eventfd_write(pair->there, 1) && poll(&back, 1, BUDGET_MS) == 1 &&
	       !eventfd_read(pair->back, &v);
}

static void wake_once(void *arg)
{
	wake(arg);
}

static double median_ns(void (*fn)(void *arg), void *arg, int operations)
{
	uint64_t begin = now_ns(), start = begin, end;
	double ns[MEASUREMENTS];
	int n = 0;

	while (n < MEASUREMENTS && (n < LEAST || start - begin < BUDGET_MS * 1000 * 1000)) {
		fn(arg);
		end = now_ns();
		ns[n++] = (double)(end - start) / operations;
		start = end;
	}
	return stats_quantile(ns, n, 0.5);
}

/* A CPU other than the one that we run on; -1: there is none. */
static int other_cpu(void)
{
	struct cpuset allowed = {};
	int here = sched_getcpu(), cpu = -1, i;

	if (cpuset_allowed(&allowed))
		return -1;
	for (i = 0; i < allowed.cnt && cpu < 0; i++)
		if (allowed.cpus[i] != here && allowed.cpus[i] < CPU_SETSIZE)
			cpu = allowed.cpus[i];
	cpuset_free(&allowed);
	return cpu;
}

static double wakeup_us(void)
{
	struct pair pair = { .cpu = other_cpu() };
	double us = NAN;
	pthread_t thread;

	if (pair.cpu < 0)
		return NAN;
	pair.there = eventfd(0, EFD_CLOEXEC);
	pair.back = eventfd(0, EFD_CLOEXEC);
	if (pair.there >= 0 && pair.back >= 0 && !pthread_create(&thread, NULL, answer, &pair)) {
		/* The first one is the start of the thread. */
		if (wake(&pair))
			us = median_ns(wake_once, &pair, 2) / 1000;
		eventfd_write(pair.there, 2);
		pthread_join(thread, NULL);
	}
	if (pair.there >= 0)
		close(pair.there);
	if (pair.back >= 0)
		close(pair.back);
	return us;
}

void canary_measure(struct canary *canary)
{
	canary->loop_ns = median_ns(loop, NULL, LOOP_TURNS);
	canary->syscall_ns = median_ns(call_kernel, NULL, SYSCALLS);
	canary->trigger_ns = median_ns(call_trigger, NULL, SYSCALLS);
	canary->wakeup_us = wakeup_us();
}

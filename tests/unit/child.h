/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of a test in a process of their own, which may end by a signal. It is this program anew,
 * not a fork alone: the thread that receives signals would not be there, and the thread sanitizer
 * knows no threads after a fork. What a child checks it reports by its exit status: cmocka's
 * asserts have no test to fail there.
 */
#ifndef TESTS_UNIT_CHILD_H
#define TESTS_UNIT_CHILD_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/util.h"

/* Nothing here takes so long but by a hang; shorter than the core's own time limit for threads. */
#define HANG_S 20

struct child {
	const char *name;
	void (*fn)(void);
};

/* clang-format off */
#define CHILD(fn) { #fn, fn }
/* clang-format on */

/* Sleeps to the end, whatever signals come. */
static inline void sleep_ms(long ms)
{
	struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* First in main(): where the process is to be such a child, it ends here. */
static inline void child_main(int argc, char **argv, const struct child *children, size_t nr)
{
	size_t i;

	if (argc != 3 || strcmp(argv[1], "--child"))
		return;
	for (i = 0; i < nr; i++) {
		if (!strcmp(children[i].name, argv[2])) {
			children[i].fn();
			exit(0);
		}
	}
	fprintf(stderr, "no child '%s'\n", argv[2]);
	exit(99);
}

/* What waitpid() says of @pid; -1: it had to be ended. */
static inline int child_wait(pid_t pid)
{
	uint64_t until = now_ns() + HANG_S * 1000000000ULL;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ns() > until) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		sleep_ms(5);
	}
	return status;
}

/* Runs the child @name, which begins with @ignored (0: none) ignored and no signal blocked. */
static inline int in_child_ignoring(const char *name, int ignored)
{
	const struct rlimit no_core = {};
	sigset_t none;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (ignored)
			signal(ignored, SIG_IGN);
		setrlimit(RLIMIT_CORE, &no_core);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execl("/proc/self/exe", program_invocation_name, "--child", name, NULL);
		_exit(98);
	}
	return pid < 0 ? -1 : child_wait(pid);
}

#define in_child(fn) in_child_ignoring(#fn, 0)

static inline bool died_of(int status, int sig)
{
	return status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

#endif /* TESTS_UNIT_CHILD_H */

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/cgroup.h"
#include "lib/memcg.h"
#include "lib/sysfile.h"
#include "lib/util.h"

#define STACK_SIZE (64 * 1024)

struct memcg {
	char path[2 * PATH_MAX];
	int usage_fd, peak_fd; /* -1: none */
	int alive_fd; /* while it is open, we live; -1: no keeper yet */
	int ended_fd; /* the keeper's end of it */
	pid_t keeper;
	void *stack;
};

/* ---- where to make it */

/* Does the cgroup in @dir (version 2) give its children the memory controller? */
static bool passes_memory_on(const char *dir)
{
	char line[512], *rest = line, *word;

	if (sysfile_line("", line, sizeof(line), "%s/cgroup.subtree_control", dir))
		return false;
	while ((word = strsep(&rest, " ")))
		if (!strcmp(word, "memory"))
			return true;
	return false;
}

/* Our own cgroup (version 1), or the nearest one upwards that may have children with memory. */
static bool find_parent(char *dir, size_t size)
{
	bool v2;

	if (cgroup_find("", "memory", dir, size, &v2))
		return false;
	while (v2 ? !passes_memory_on(dir) : access(dir, X_OK)) {
		/* In a container /proc may name what is not to be seen there. */
		if (!cgroup_up(dir, v2))
			return false;
	}
	return true;
}

/* ---- the process that removes it after us */

static int keep(void *arg)
{
	const struct timespec while_busy = { .tv_nsec = 10 * 1000 * 1000 };
	const struct memcg *memcg = arg;
	sigset_t all;
	char c;
	int i;

	/* Neither the terminal's signals nor those to our process group are for it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "bench-cgroup");
	/* Of all that was open, it holds on to nothing else: not even to standard output. */
	dup2(memcg->ended_fd, STDIN_FILENO);
	close_range(STDIN_FILENO + 1, ~0U, 0);
	while (read(STDIN_FILENO, &c, 1) < 0 && errno == EINTR)
		;
	for (i = 0; i < 500 && rmdir(memcg->path) && errno == EBUSY; i++)
		nanosleep(&while_busy, NULL);
	return 0;
}

static void *stack_top(const struct memcg *memcg)
{
	return (char *)memcg->stack + STACK_SIZE;
}

static int start_keeper(struct memcg *memcg)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	memcg->ended_fd = fds[0];
	memcg->alive_fd = fds[1];
	/* As fork(), but it ends where keep() returns, with nothing of ours run on its way out. */
	memcg->keeper = clone(keep, stack_top(memcg), SIGCHLD, memcg);
	if (memcg->keeper < 0)
		return -errno;
	close(memcg->ended_fd);
	memcg->ended_fd = -1;
	return 0;
}

/* ---- life */

static int open_file(const struct memcg *memcg, const char *name)
{
	char path[2 * PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", memcg->path, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int make(struct memcg *memcg)
{
	size_t len;
	int err;

	if (!find_parent(memcg->path, PATH_MAX))
		return -ENOENT;
	len = strlen(memcg->path);
	snprintf(memcg->path + len, sizeof(memcg->path) - len, "/bench.%d.%llx", getpid(),
		 (unsigned long long)now_ns());
	err = start_keeper(memcg);
	if (err)
		return err;
	if (mkdir(memcg->path, 0755))
		return -errno;
	memcg->usage_fd = open_file(memcg, "memory.current");
	if (memcg->usage_fd >= 0) {
		memcg->peak_fd = open_file(memcg, "memory.peak");
		return 0;
	}
	memcg->usage_fd = open_file(memcg, "memory.usage_in_bytes");
	memcg->peak_fd = open_file(memcg, "memory.max_usage_in_bytes");
	return memcg->usage_fd < 0 ? -errno : 0;
}

int memcg_create(struct memcg **memcg)
{
	struct memcg *m = calloc(1, sizeof(*m));
	int err;

	*memcg = NULL;
	if (!m)
		return -ENOMEM;
	m->usage_fd = m->peak_fd = m->alive_fd = m->ended_fd = -1;
	m->stack = malloc(STACK_SIZE);
	err = m->stack ? make(m) : -ENOMEM;
	if (err)
		memcg_destroy(m);
	else
		*memcg = m;
	return err;
}

static void close_one(int fd)
{
	if (fd >= 0)
		close(fd);
}

void memcg_destroy(struct memcg *memcg)
{
	if (!memcg)
		return;
	close_one(memcg->usage_fd);
	close_one(memcg->peak_fd);
	close_one(memcg->ended_fd);
	close_one(memcg->alive_fd);
	while (memcg->keeper > 0 && waitpid(memcg->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	free(memcg->stack);
	free(memcg);
}

/* ---- use */

struct call {
	const struct memcg *memcg;
	int (*fn)(void *arg);
	void *arg;
	int err, ret;
};

static int call_inside(void *arg)
{
	struct call *call = arg;
	char path[2 * PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", call->memcg->path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		call->err = -errno;
	close_one(fd);
	if (!call->err)
		call->ret = call->fn(call->arg);
	return 0;
}

int memcg_call(struct memcg *memcg, int (*fn)(void *arg), void *arg, int *ret)
{
	struct call call = { .memcg = memcg, .fn = fn, .arg = arg };
	pid_t pid;

	pid = clone(call_inside, stack_top(memcg), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD,
		    &call);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*ret = call.ret;
	return call.err;
}

static int read_bytes(int fd, uint64_t *bytes)
{
	char text[32];
	ssize_t n;

	if (fd < 0)
		return -ENOENT;
	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*bytes = strtoull(text, NULL, 10);
	return 0;
}

int memcg_usage(const struct memcg *memcg, uint64_t *bytes)
{
	return read_bytes(memcg->usage_fd, bytes);
}

int memcg_peak(const struct memcg *memcg, uint64_t *bytes)
{
	return read_bytes(memcg->peak_fd, bytes);
}

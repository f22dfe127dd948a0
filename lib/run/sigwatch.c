// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/run/sigwatch.h"

void sigwatch_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

bool sigwatch_pending(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM));
}

const char *sigwatch_name(int sig)
{
	return sig == SIGINT ? "SIGINT" : "SIGTERM";
}

static void *watch(void *arg)
{
	struct sigwatch *w = arg;
	struct pollfd fds[] = {
		{ .fd = w->stop_fd, .events = POLLIN },
		{ .fd = w->signal_fd, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	/* A stop comes first: the signal is then for whoever looks next. */
	if (!fds[0].revents && read(w->signal_fd, &info, sizeof(info)) == sizeof(info))
		w->fn(w->ctx, info.ssi_signo);
	return NULL;
}

int sigwatch_start(struct sigwatch *w, void (*fn)(void *ctx, int sig), void *ctx)
{
	sigset_t set;
	int err;

	memset(w, 0, sizeof(*w));
	w->fn = fn;
	w->ctx = ctx;
	sigwatch_signals(&set);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (w->signal_fd < 0)
		return -errno;
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (w->stop_fd < 0) {
		err = -errno;
		close(w->signal_fd);
		return err;
	}
	err = -pthread_create(&w->thread, NULL, watch, w);
	if (err) {
		close(w->signal_fd);
		close(w->stop_fd);
		return err;
	}
	w->watching = true;
	return 0;
}

void sigwatch_stop(struct sigwatch *w)
{
	if (!w->watching)
		return;
	w->watching = false;
	eventfd_write(w->stop_fd, 1);
	pthread_join(w->thread, NULL);
	close(w->signal_fd);
	close(w->stop_fd);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* SIGINT and SIGTERM, which say stop; and waiting for them beside a thread that cannot. */
#ifndef LIB_RUN_SIGWATCH_H
#define LIB_RUN_SIGWATCH_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* The set of the two. */
void sigwatch_signals(sigset_t *set);

/* Is one of them pending, for the calling thread, which has them blocked? It stays so. */
bool sigwatch_pending(void);

/* The name of one of them. */
const char *sigwatch_name(int sig);

struct sigwatch {
	void (*fn)(void *ctx, int sig);
	void *ctx;
	pthread_t thread;
	int signal_fd, stop_fd;
	bool watching;
};

/*
 * From now to sigwatch_stop(), @fn is called with @ctx, in a thread of its own, when SIGINT or
 * SIGTERM is pending for the process. Every thread has to have both blocked, since none is taken
 * from the kernel before @fn is to be called: what comes at the end stays pending. Returns 0 or
 * -errno.
 */
int sigwatch_start(struct sigwatch *w, void (*fn)(void *ctx, int sig), void *ctx);

/* When this returns, @fn is not running and will not be called. For one never started too. */
void sigwatch_stop(struct sigwatch *w);

#endif /* LIB_RUN_SIGWATCH_H */

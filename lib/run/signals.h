/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one place that receives signals which say stop: all that would end the process and that come
 * from outside. That is SIGINT, SIGTERM, SIGHUP (unless it was ignored when the process began, as
 * nohup has it) and so on, and the real-time ones. All threads have them blocked, and a thread of
 * this file waits for them as long as the process lives: the main one may be in a system call that
 * cannot be interrupted, such as the load of a program. SIGPIPE comes to the thread that writes.
 */
#ifndef LIB_RUN_SIGNALS_H
#define LIB_RUN_SIGNALS_H

#include <stdbool.h>

/* To be called by the main thread before there are others. Returns 0 or -errno. */
int signals_start(void);

/*
 * What a signal does from now on. When one of these returns, no signal is still being handled in
 * the former way.
 */

/*
 * It ends the process: nothing is lost, since all that is held of the kernel is held by descriptor.
 */
void signals_end_process(void);

/*
 * @fn is called with @ctx, in another thread; the process then exits with 128 + its number. A
 * second one ends the process, whatever @fn is at.
 */
void signals_tell_and_exit(void (*fn)(void *ctx, int sig), void *ctx);

/*
 * The first one is kept for signals_caught(), and wakes the main thread by SIGALRM, which is
 * blocked. At a second one the user does not want to wait for an orderly end: it ends the process.
 */
void signals_catch(void);

/* The signal that was caught; 0: none was. */
int signals_caught(void);

/* Forgets it, for a main thread that goes on after it. */
void signals_forget(void);

/* How often the process has been stopped and continued so far (SIGCONT). */
unsigned int signals_continued(void);

/* "SIGINT" */
const char *signals_name(int sig);

/* The thread that receives signals must not wait for others where the caller does not. */
void signals_set_realtime(bool on);

#endif /* LIB_RUN_SIGNALS_H */

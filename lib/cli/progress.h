/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A line on the terminal during long steps: what goes on, how far it is, how long it will still
 * take. Only where standard error is a terminal with cursor control, and only after a second; no
 * script or log ever sees it.
 */
#ifndef LIB_CLI_PROGRESS_H
#define LIB_CLI_PROGRESS_H

/*
 * From now to progress_end(), @what goes on ("setting up rb-custom"). A thread shows it, since the
 * caller may be in a system call for long. One at a time.
 */
void progress_begin(const char *what);

/* The same at once, for what goes on all the time with short breaks, until @end_ns (now_ns()). */
void progress_go_on(const char *what, unsigned long long end_ns);

/* The part that is done, 0 to 1, of @what (NULL: as before). From it follows the time left. */
void progress_set(const char *what, double fraction);

/* It will be done at @end_ns (now_ns()). */
void progress_set_end(unsigned long long end_ns);

/* Takes the line off the terminal. */
void progress_end(void);

/* The same from any thread: what the line belongs to will not go on. */
void progress_stop(void);

#endif /* LIB_CLI_PROGRESS_H */

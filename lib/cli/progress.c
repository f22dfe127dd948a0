// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/cli/progress.h"
#include "lib/text.h"
#include "lib/util.h"

#define SECOND_NS   1000000000ULL
#define INTERVAL_NS (SECOND_NS / 5)
#define CLEAR_LINE  "\r\033[K"

/* One terminal, one line. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t end; /* CLOCK_MONOTONIC */
	pthread_t thread;
	bool running, ending, shown;
	char what[128];
	double fraction; /* negative: not known */
	uint64_t start_ns, step_ns; /* of all of it, and of @what */
	uint64_t show_ns; /* not before */
	uint64_t end_ns; /* 0: not known */
} line = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_capable_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
}

static size_t terminal_width(void)
{
	struct winsize size;

	return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 20 ? size.ws_col - 1 : 79;
}

/* Seconds left, negative: not known. */
static double seconds_left(uint64_t now)
{
	double passed = (now - line.step_ns) / 1e9;

	if (line.end_ns)
		return now < line.end_ns ? (line.end_ns - now) / 1e9 : 0;
	return line.fraction > 0.01 ? passed / line.fraction - passed : -1;
}

static void show(uint64_t now)
{
	double left = seconds_left(now);
	char text[256], *shown;
	int n;

	n = snprintf(text, sizeof(text), "%s", line.what);
	if (line.fraction >= 0)
		n += snprintf(text + n, sizeof(text) - n, ": %.0f %%", 100 * line.fraction);
	if (left >= 90)
		snprintf(text + n, sizeof(text) - n, ", %.0f min left", left / 60);
	else if (left >= 0)
		snprintf(text + n, sizeof(text) - n, ", %.0f s left", left);
	else
		snprintf(text + n, sizeof(text) - n, ", %.0f s", (now - line.start_ns) / 1e9);
	shown = text_shortened(text, terminal_width());
	fprintf(stderr, CLEAR_LINE "%s", shown ? shown : "");
	free(shown);
	line.shown = true;
}

static void *show_until_end(void *arg)
{
	struct timespec until;
	uint64_t next;

	pthread_mutex_lock(&line.lock);
	next = line.show_ns;
	while (!line.ending) {
		until = (struct timespec){ .tv_sec = next / SECOND_NS,
					   .tv_nsec = next % SECOND_NS };
		pthread_cond_timedwait(&line.end, &line.lock, &until);
		if (!line.ending && now_ns() >= next) {
			show(now_ns());
			next = now_ns() + INTERVAL_NS;
		}
	}
	if (line.shown)
		fputs(CLEAR_LINE, stderr);
	line.shown = false;
	pthread_mutex_unlock(&line.lock);
	return NULL;
}

static void begin(const char *what, uint64_t wait_ns, uint64_t end_ns)
{
	pthread_condattr_t attr;

	if (line.running || !is_capable_terminal())
		return;
	snprintf(line.what, sizeof(line.what), "%s", what);
	line.fraction = -1;
	line.end_ns = end_ns;
	line.start_ns = line.step_ns = now_ns();
	line.show_ns = line.start_ns + wait_ns;
	line.ending = line.shown = false;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&line.end, &attr);
	pthread_condattr_destroy(&attr);
	line.running = !pthread_create(&line.thread, NULL, show_until_end, NULL);
}

void progress_begin(const char *what)
{
	begin(what, SECOND_NS, 0);
}

void progress_go_on(const char *what, unsigned long long end_ns)
{
	begin(what, 0, end_ns);
}

void progress_set(const char *what, double fraction)
{
	pthread_mutex_lock(&line.lock);
	if (what && strcmp(what, line.what)) {
		snprintf(line.what, sizeof(line.what), "%s", what);
		line.step_ns = now_ns();
	}
	line.fraction = fraction;
	pthread_mutex_unlock(&line.lock);
}

void progress_set_end(unsigned long long end_ns)
{
	pthread_mutex_lock(&line.lock);
	line.end_ns = end_ns;
	pthread_mutex_unlock(&line.lock);
}

void progress_end(void)
{
	if (!line.running)
		return;
	pthread_mutex_lock(&line.lock);
	line.ending = true;
	pthread_cond_signal(&line.end);
	pthread_mutex_unlock(&line.lock);
	pthread_join(line.thread, NULL);
	pthread_cond_destroy(&line.end);
	line.running = false;
}

void progress_stop(void)
{
	pthread_mutex_lock(&line.lock);
	if (line.shown)
		fputs(CLEAR_LINE, stderr);
	line.shown = false;
	line.ending = true;
	pthread_mutex_unlock(&line.lock);
}

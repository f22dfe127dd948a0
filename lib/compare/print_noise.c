// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/print_noise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/stats.h"
#include "lib/util.h"

/* A number of a record's noise, and how much of a difference is worth a line. */
static const struct disturbance {
	const char *section, *member; /* @section: below "noise"; NULL: in it */
	const char *name, *unit;
	double least; /* the larger median must be above it, */
	double ratio; /* and above the other one by this factor */
} disturbances[] = {
	{ NULL, "steal_pct", "steal time", "%", 1, 2 },
	{ NULL, "throttled_pct", "stopped by a CPU quota", "%", 1, 2 },
	{ NULL, "waited_pct", "waiting for a CPU", "%", 2, 2 },
	{ NULL, "invol_switches", "involuntary context switches per run", "", 100, 5 },
	{ NULL, "beside", "BPF programs of others on the same hook", "", 0, 1 },
	{ "speed_before", "loop_ns", "a loop in user space", "ns per turn", 0, 1.2 },
	{ "speed_before", "syscall_ns", "a system call", "ns", 0, 1.3 },
	{ "speed_before", "trigger_ns", "getpgid(2), without a program of ours", "ns", 0, 1.3 },
	{ "speed_before", "wakeup_us", "a wake-up of another CPU", "us", 0, 2 },
};

/* Median over the runs of a file; NAN: no run knows it. */
static double median_of(const struct file *f, const struct disturbance *d)
{
	double *v = calloc(f->records.cnt + 1, sizeof(*v)), median;
	size_t n = 0, i;

	for (i = 0; v && i < f->records.cnt; i++) {
		const json_t *noise = json_object_get(f->records.records[i], "noise"), *value;

		if (d->section)
			noise = json_object_get(noise, d->section);
		value = json_object_get(noise, d->member);
		if (record_is_ok(f->records.records[i]) && json_is_number(value))
			v[n++] = json_number_value(value);
	}
	median = n ? stats_quantile(v, n, 0.5) : NAN;
	free(v);
	return median;
}

static bool is_notable(const struct disturbance *d, double a, double b)
{
	double high = fmax(a, b), low = fmin(a, b);

	return !isnan(a) && !isnan(b) && high > d->least && high > low * d->ratio;
}

void print_noise(struct prose *p, const struct comparison *c)
{
	bool any = false;
	size_t i, s;

	for (i = 0; i < ARRAY_SIZE(disturbances); i++) {
		const struct disturbance *d = &disturbances[i];
		double base = median_of(&c->files[BASE], d), other;

		for (s = 1; s < c->nr_files; s++) {
			other = median_of(&c->files[s], d);
			if (!is_notable(d, base, other))
				continue;
			if (!any)
				prose_say(
					p, prose_paragraph,
					"The machine was not the same for both (medians over runs, base -> %s):",
					c->nr_files > 2 ? "the file" : "new");
			any = true;
			prose_say(p, prose_item, "%s%s%s: %.3g -> %.3g%s%s",
				  c->nr_files > 2 ? c->files[s].name : "",
				  c->nr_files > 2 ? ": " : "", d->name, base, other,
				  *d->unit ? " " : "", d->unit);
		}
	}
	if (any)
		prose_gap(p, true);
}

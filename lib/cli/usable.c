// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "lib/cli/check.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"
#include "lib/cli/usable.h"
#include "lib/run/run.h"

void usable_skip(struct chosen *c, const struct bench_err *err)
{
	c->skipped = true;
	snprintf(c->why, sizeof(c->why), "%.*s", (int)sizeof(c->why) - 1, err->text);
}

/* Skipped, which is reported at once; of all benchmarks, at the end. */
static void skip(const struct args *args, struct chosen *c, const struct bench_err *err)
{
	c->skipped = true;
	if (args->all) {
		usable_skip(c, err);
		return;
	}
	progress_end();
	note("skipped %s: %s", c->job.bench->name, err->text);
}

int usable_check(struct args *args)
{
	struct bench_err first = {}, err;
	size_t i, usable = 0;

	for (i = 0; i < args->nr_chosen; i++) {
		struct chosen *c = &args->chosen[i];

		err = (struct bench_err){};
		if (!check_chosen(c, &err)) {
			usable++;
			continue;
		}
		if (c->outright)
			return complain_err(c->job.bench, &err);
		skip(args, c, &err);
		if (!first.code)
			first = err;
	}
	return usable ? BENCH_EXIT_OK : first.code;
}

int usable_probe(struct args *args)
{
	int code = BENCH_EXIT_OK, ret;
	struct bench_err err;
	size_t i, usable = 0;

	progress_begin("looking what runs here");
	for (i = 0; i < args->nr_chosen; i++) {
		struct chosen *c = &args->chosen[i];

		progress_set(NULL, (double)i / args->nr_chosen);
		err = (struct bench_err){};
		if (c->skipped || !bench_probe(&c->job, &err)) {
			usable += !c->skipped;
			continue;
		}
		if (!c->outright) {
			skip(args, c, &err);
			continue;
		}
		c->skipped = true;
		progress_end();
		ret = complain_err(c->job.bench, &err);
		if (code != BENCH_EXIT_FAILED)
			code = ret;
	}
	progress_end();
	return usable || code ? code : BENCH_EXIT_UNAVAILABLE;
}

void usable_report(const struct args *args)
{
	size_t i;

	for (i = 0; i < args->nr_chosen; i++)
		if (args->chosen[i].why[0])
			note("skipped %s: %s", args->chosen[i].job.bench->name,
			     args->chosen[i].why);
}

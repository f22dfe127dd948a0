// SPDX-License-Identifier: GPL-2.0
/* Counts from start to end, held against each other and against the kernel's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "lib/run/services.h"
#include "lib/run/state.h"

void bench_count(struct bench_conservation *c, const char *name, uint64_t value)
{
	if (c->nr_counts < BENCH_MAX_COUNTS)
		c->counts[c->nr_counts++] = (struct bench_count){ name, value };
}

void bench_identity(struct bench_conservation *c, const char *identity)
{
	if (c->nr_identities < BENCH_MAX_COUNTS)
		c->identities[c->nr_identities++] = identity;
}

uint64_t bench_count_value(const struct bench_conservation *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->nr_counts; i++)
		if (!strcmp(c->counts[i].name, name))
			return c->counts[i].value;
	return 0;
}

static bool add_count(const struct bench_conservation *c, const char *name, uint64_t *sum)
{
	size_t i;

	for (i = 0; i < c->nr_counts; i++) {
		if (!strcmp(c->counts[i].name, name)) {
			*sum += c->counts[i].value;
			return true;
		}
	}
	return false;
}

/* Sum of the counts that are named in @names: "submitted + drops". False where one is no count. */
static bool sum_named(const struct bench_conservation *c, const char *names, size_t len,
		      uint64_t *sum)
{
	char *copy = strndup(names, len), *rest = copy, *name;
	bool known = copy;

	*sum = 0;
	while ((name = strsep(&rest, " +")))
		known = known && (!*name || add_count(c, name, sum));
	free(copy);
	return known;
}

static int check_identity(struct bench_run *run, struct bench_conservation *c, const char *identity)
{
	const char *right = strstr(identity, " = ");
	uint64_t left_sum, right_sum;

	/* A count that is misspelt must not pass for 0. */
	if (!right || !sum_named(c, identity, right - identity, &left_sum) ||
	    !sum_named(c, right + strlen(" = "), strlen(right) - strlen(" = "), &right_sum))
		return bench_failed(&run->err, 0, "%s: '%s' does not name its counts",
				    run->bench->name, identity);
	if (left_sum == right_sum)
		return 0;
	c->violated = true;
	return bench_failed(&run->err, 0,
			    "%s miscounts: %s does not hold: %" PRIu64 " is not %" PRIu64,
			    run->bench->name, identity, left_sum, right_sum);
}

static int check_run_count(struct bench_run *run, struct bench_conservation *c)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int err;

	err = bpf_obj_get_info_by_fd(c->prog_fd, &info, &size);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot ask for the kernel's run count");
	c->kernel_runs = info.run_cnt;
	if (c->runs != c->kernel_runs)
		return bench_failed(&run->err, 0,
				    "%s miscounts: %" PRIu64
				    " runs counted, but the kernel says %" PRIu64,
				    run->bench->name, c->runs, c->kernel_runs);
	return 0;
}

int conservation_check(struct run_state *state)
{
	struct bench_conservation *c = &state->res->conservation;
	struct bench_run *run = &state->run;
	int err = 0;
	size_t i;

	if (run->bench->conserve)
		run->bench->conserve(run, c);
	for (i = 0; !err && i < c->nr_identities; i++)
		err = check_identity(run, c, c->identities[i]);
	/*
	 * Attached, but never run (kernel.ftrace_enabled=0 does that): a rate of 0 would be wrong.
	 */
	if (!err && c->nr_counts && !c->counts[0].value && !state->res->signal)
		err = bench_failed(&run->err, 0,
				   "the BPF program of %s never ran, although it is attached (%s)",
				   run->bench->name, run->trigger.name);
	if (!err && c->prog_fd > 0 && run->cfg->verify)
		err = check_run_count(run, c);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/bench_hook.h"

static int explain(struct bench_run *run, const struct hook *hook, bool loaded, int err)
{
	char why[512];

	if (hook_explain(hook, loaded, err, why, sizeof(why)))
		return bench_unavailable(&run->err, "%s", why);
	if (!loaded)
		return bench_bpf_error(&run->err, err, "cannot load the program of %s",
				       run->bench->name);
	return bench_bpf_error(&run->err, err, "cannot attach the program of %s", run->bench->name);
}

int bench_hook_load(struct bench_run *run, struct hook *hook, struct bpf_object_skeleton *skel)
{
	struct bench_run tmp = { .bench = run->bench, .cfg = run->cfg };
	int err;

	err = hook_prepare(hook);
	if (err)
		return explain(run, hook, false, err);
	err = bench_load(&tmp, skel);
	if (!err)
		return 0;
	err = explain(run, hook, false, err);
	/* Where it is clear what is missing, the verifier's words would only distract. */
	if (run->err.code == BENCH_EXIT_FAILED)
		memcpy(run->err.detail, tmp.err.detail, sizeof(run->err.detail));
	return err;
}

int bench_hook_attach(struct bench_run *run, struct hook *hook)
{
	int err;

	err = hook_attach(hook);
	return err ? explain(run, hook, true, err) : 0;
}

void bench_hook_conserve(struct bench_run *run, struct hook *hook, const struct cpu_slot *slots,
			 struct bench_conservation *c)
{
	hook_detach(hook);
	if (run->cfg->verify)
		hook_quiesce();
	c->prog_fd = bpf_program__fd(hook->prog);
	c->runs = bench_slots_sum(slots, SLOT_HITS) + bench_slots_sum(slots, SLOT_OTHERS);
}

// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/run/bench_hook.h"
#include "lib/bpf/bpflog.h"

static int explain(struct bench_run *run, const struct hook *hook, bool loaded, int err)
{
	char why[768];

	if (hook_explain(hook, loaded, err, why, sizeof(why)))
		return bench_unavailable(&run->err, "%s", why);
	return bench_step_error(&run->err, hook_step(hook, loaded), err,
				"cannot %s the program of %s", loaded ? "attach" : "load",
				run->bench->name);
}

int bench_hook_load(struct bench_run *run, struct hook *hook, struct bpf_object_skeleton *skel)
{
	struct bench_run tmp = { .bench = run->bench, .cfg = run->cfg };
	char why[768];
	int err;

	bpflog_clear();
	err = hook_prepare(hook);
	if (err)
		return explain(run, hook, false, err);
	err = bench_load(&tmp, skel);
	if (!err)
		return 0;
	/* What is missing, told by the kernel's words; or by the kind; or what a load says at all. */
	if (!bpflog_explain(*skel->obj, err, why, sizeof(why)) &&
	    hook_explain(hook, false, err, why, sizeof(why)))
		return bench_unavailable(&run->err, "%s", why);
	return bench_take_error(&run->err, &tmp.err, err);
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

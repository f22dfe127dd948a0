// SPDX-License-Identifier: GPL-2.0
/* BPF programs that time themselves: user space's side of progs/timing.bpf.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/run/timing.h"
#include "lib/util.h"
#include "progs/timing.h"

/* r0 = 0; may_goto +1; r0 = 0; exit. Linux 6.12 refuses an offset of 0. */
static const struct bpf_insn may_goto[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | 0xe0, .off = 1 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static bool kernel_has_may_goto(void)
{
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", may_goto,
			       ARRAY_SIZE(may_goto), NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static struct bpf_program *let_load(struct bpf_object *obj, const char *name, const char *loop)
{
	struct bpf_program *prog;
	char full[128];

	snprintf(full, sizeof(full), "%s_%s", name, loop);
	prog = bpf_object__find_program_by_name(obj, full);
	if (prog)
		bpf_program__set_autoload(prog, true);
	return prog;
}

int timing_prog_prepare(struct bench_run *run, struct bpf_object *obj, const char *name,
			const char *nothing, struct timing_prog *p)
{
	const char *loop;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (err)
		return err;
	loop = kernel_has_may_goto() ? "may_goto" : "bpf_loop";
	p->prog = let_load(obj, name, loop);
	p->nothing = let_load(obj, nothing, loop);
	p->map = bpf_object__find_map_by_name(obj, "timing_slots");
	if (!p->prog || !p->nothing || !p->map)
		return bench_failed(&run->err, 0, "there is no program %s_%s", name, loop);
	p->nr_slots = run->cfg->producers;
	err = bpf_map__set_max_entries(p->map, p->nr_slots);
	if (err)
		return bench_failed(&run->err, err, "cannot make %zu slots", p->nr_slots);
	run->trigger.verb = "driven by";
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	if (!strcmp(loop, "bpf_loop")) {
		snprintf(run->trigger.fallback, sizeof(run->trigger.fallback),
			 "loops by bpf_loop(), for may_goto requires Linux 6.9 or newer");
		snprintf(run->trigger.reasons, sizeof(run->trigger.reasons), "%s",
			 run->trigger.fallback);
	}
	bench_fact(run, "loop", "%s", loop);
	return 0;
}

int timing_prog_start(struct bench_run *run, struct timing_prog *p)
{
	void *slots;

	slots = mmap(NULL, p->nr_slots * sizeof(*p->slots), PROT_READ, MAP_SHARED,
		     bpf_map__fd(p->map), 0);
	if (slots == MAP_FAILED)
		return bench_bpf_error(&run->err, errno, "cannot map the times of %s",
				       run->bench->name);
	p->slots = slots;
	return 0;
}

void timing_prog_end(struct timing_prog *p)
{
	if (p->slots)
		munmap(p->slots, p->nr_slots * sizeof(*p->slots));
	p->slots = NULL;
}

int timing_prog_batch(struct timing_prog *p, struct bench_thread *t, bool nothing, uint64_t turns,
		      struct bpf_test_run_opts *opts, struct timing_args *args,
		      struct timing_batch *out)
{
	const struct timing_slot *slot = &p->slots[t->idx];
	uint64_t before = slot->all_turns;
	int err;

	args->turns = turns;
	args->producer = t->idx;
	err = bpf_prog_test_run_opts(bpf_program__fd(nothing ? p->nothing : p->prog), opts);
	if (err)
		return bench_bpf_error(&t->run->err, err, "cannot run the program");
	/* This thread has waited for the program: no one else writes its slot. */
	out->turns = __atomic_load_n(&slot->turns, __ATOMIC_RELAXED);
	out->ns = __atomic_load_n(&slot->ns, __ATOMIC_RELAXED);
	if (!out->turns || slot->all_turns - before != out->turns)
		return bench_failed(&t->run->err, 0, "the program made no turn of %llu",
				    (unsigned long long)turns);
	return 0;
}

void timing_conserve(const struct timing_prog *p, const struct timing_sums *sums,
		     struct bench_conservation *c)
{
	uint64_t turns = 0;
	size_t i;

	for (i = 0; i < p->nr_slots; i++)
		turns += __atomic_load_n(&p->slots[i].all_turns, __ATOMIC_RELAXED);
	bench_count(c, "turns", turns);
	bench_count(c, "measured", sums->measured);
	bench_count(c, "beside", sums->beside);
	bench_count(c, "nothing", sums->nothing);
	bench_count(c, "batches", sums->batches);
	bench_identity(c, "turns = measured + beside + nothing");
}

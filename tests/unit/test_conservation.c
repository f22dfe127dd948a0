// SPDX-License-Identifier: GPL-2.0
/* What was counted from start to end, held against itself and against the kernel. */
#include "tests/unit/fake.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

struct counted {
	uint64_t attempts, submitted, drops, consumed;
};

static struct bench_conservation counts(struct counted n)
{
	struct bench_conservation c = {};

	bench_count(&c, "attempts", n.attempts);
	bench_count(&c, "submitted", n.submitted);
	bench_count(&c, "drops", n.drops);
	bench_count(&c, "consumed", n.consumed);
	bench_identity(&c, "attempts = submitted + drops");
	bench_identity(&c, "submitted = consumed");
	return c;
}

static void assert_conserved(struct bench_conservation c)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	clear(NULL);
	plan.conservation = c;
	run_short(&fake, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(seen.conserves, 1);
	assert_false(o.res.conservation.violated);
	assert_memory_equal(o.res.conservation.counts, c.counts, sizeof(c.counts));
	assert_int_equal(o.res.conservation.nr_counts, c.nr_counts);
	bench_result_free(&o.res);
}

static void assert_not_conserved(struct bench_conservation c, const char *text)
{
	struct bench_config cfg = config(1, 1);
	struct outcome o;

	clear(NULL);
	plan.conservation = c;
	run_short(&fake, &cfg, 1, &o);
	assert_failed(&o, text);
	assert_string_equal(o.err.text, text);
	assert_true(o.res.conservation.violated);
	assert_int_equal(o.res.conservation.nr_counts, c.nr_counts); /* for the record */
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(o.res.nr_samples, 1);
	bench_result_free(&o.res);
}

static void conserved(void **state)
{
	struct bench_conservation c = {};

	assert_conserved(counts((struct counted){ 12, 9, 3, 9 }));
	assert_conserved(counts((struct counted){ 1, 1, 0, 1 }));
	/* what is only counted is held against nothing; and some count nothing */
	assert_conserved(c);
	bench_count(&c, "this", 1);
	bench_count(&c, "that", 2);
	assert_conserved(c);
	/* sums on either side, and a name that is the beginning of another */
	bench_count(&c, "thi", 4);
	bench_count(&c, "all", 5);
	bench_identity(&c, "thi + this = all");
	bench_identity(&c, "this + that + that = all");
	assert_conserved(c);
}

static void one_too_few_or_too_many(void **state)
{
	const uint64_t huge = 1ULL << 60;

	assert_not_conserved(counts((struct counted){ 12, 9, 3, 8 }),
			     "fake miscounts: submitted = consumed does not hold: 9 is not 8");
	assert_not_conserved(counts((struct counted){ 12, 9, 3, 10 }),
			     "fake miscounts: submitted = consumed does not hold: 9 is not 10");
	/* the first that does not hold */
	assert_not_conserved(
		counts((struct counted){ 12, 9, 2, 8 }),
		"fake miscounts: attempts = submitted + drops does not hold: 12 is not 11");
	assert_not_conserved(
		counts((struct counted){ 12, 9, 4, 9 }),
		"fake miscounts: attempts = submitted + drops does not hold: 12 is not 13");
	/* a difference of one is seen in any number */
	assert_not_conserved(counts((struct counted){ huge, huge, 0, huge + 1 }),
			     "fake miscounts: submitted = consumed does not hold: "
			     "1152921504606846976 is not 1152921504606846977");
}

/* A misspelt name must not pass for a count of 0. */
static void identities_name_what_there_is(void **state)
{
	static const char *const wrong[] = { "in = out + drosp", "ni = out", "in", "in=out" };
	struct bench_config cfg = config(1, 1);
	struct outcome o;
	char text[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		clear(NULL);
		bench_count(&plan.conservation, "in", 1);
		bench_count(&plan.conservation, "out", 1);
		bench_count(&plan.conservation, "drops", 0);
		bench_identity(&plan.conservation, wrong[i]);
		run_short(&fake, &cfg, 1, &o);
		snprintf(text, sizeof(text), "fake: '%s' does not name its counts", wrong[i]);
		assert_failed(&o, text);
		bench_result_free(&o.res);
	}
}

static void counts_by_name(void **state)
{
	struct bench_conservation c = {};
	int i;

	assert_int_equal(bench_count_value(&c, "a"), 0);
	bench_count(&c, "a", 5);
	bench_count(&c, "b", UINT64_MAX);
	assert_int_equal(bench_count_value(&c, "a"), 5);
	assert_int_equal(bench_count_value(&c, "b"), UINT64_MAX);
	assert_int_equal(bench_count_value(&c, ""), 0);
	/* more than there is room for */
	for (i = 0; i < 2 * BENCH_MAX_COUNTS; i++) {
		bench_count(&c, "more", 1);
		bench_identity(&c, "a = a");
	}
	assert_int_equal(c.nr_counts, BENCH_MAX_COUNTS);
	assert_int_equal(c.nr_identities, BENCH_MAX_COUNTS);
	assert_false(c.violated);
	assert_int_equal(c.prog_fd, 0);
}

static int attached_setup(struct bench_run *run)
{
	strcpy(run->trigger.name, "kprobe");
	return fake_setup(run);
}

/*
 * Attached, but never run: the first count tells. After a signal it may just not have come to it.
 */
static void programs_that_never_run(void **state)
{
	struct bench_config cfg = config(1, 1);
	struct bench bench = fake;
	struct outcome o;

	bench.setup = attached_setup;
	plan.conservation = counts((struct counted){});
	cfg.interval_ms = 1000;
	run(&bench, &cfg, &o);
	assert_failed(&o, "the BPF program of fake never ran, although it is attached (kprobe)");
	bench_result_free(&o.res);
	assert_conserved(counts((struct counted){}));
}

/* ---- a program that the kernel counts the runs of */

static int counted_fd = -1;

/* Runs it 100 times and not once more. */
static int counted_producer(struct bench_thread *t)
{
	int i, err = 0;

	producer_begins(t);
	for (i = 0; !err && i < 100; i++)
		err = bench_prog_run(counted_fd, NULL);
	ADD(seen.producers_done, 1);
	return err ? bench_failed(&t->run->err, err, "cannot run the program") : 0;
}

static void run_counts_are_held_against_the_kernels(void **state)
{
	/* r0 = 0; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bench bench = fake;
	struct bench_config cfg = config(1, 0);
	struct outcome o;
	int fds;

	bench.producer = counted_producer;
	counted_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", insns,
				   ARRAY_SIZE(insns), NULL);
	if (counted_fd == -EPERM)
		skip();
	assert_true(counted_fd >= 0);
	fds = entries_of("/proc/self/fd");
	cfg.verify = true;
	cfg.interval_ms = 100; /* the hundred runs are done by then, or else by the end */
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 100 };
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	assert_int_equal(o.res.conservation.kernel_runs, 100);
	bench_result_free(&o.res);

	/* the count goes on, and we are wrong by one */
	clear(NULL);
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 201 };
	run_short(&bench, &cfg, 1, &o);
	assert_failed(&o, "fake miscounts: 201 runs counted, but the kernel says 200");
	bench_result_free(&o.res);

	/* nobody asked: the kernel does not count, and nothing is compared */
	clear(NULL);
	cfg.verify = false;
	plan.conservation = (struct bench_conservation){ .prog_fd = counted_fd, .runs = 1 };
	run_short(&bench, &cfg, 1, &o);
	assert_fine(&o);
	bench_result_free(&o.res);
	/* else the kernel would go on counting, for all programs there are */
	assert_int_equal(entries_of("/proc/self/fd"), fds);
	close(counted_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(conserved),
		TEST(one_too_few_or_too_many),
		TEST(identities_name_what_there_is),
		TEST(counts_by_name),
		TEST(programs_that_never_run),
		TEST(run_counts_are_held_against_the_kernels),
	};

	if (signals_start())
		return 1;
	return cmocka_run_group_tests_name("conservation", tests, NULL, NULL);
}

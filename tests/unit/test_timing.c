// SPDX-License-Identifier: GPL-2.0
/* Batches and what comes of them, with an operation whose time is known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "lib/run/timing.h"

static const struct figure figures[] = { TIMING_FIGURES };
static const struct report report = {
	.name = "timing",
	.figures = figures,
	.nr_figures = TIMING_NR,
};

/* An operation, and a run of it by one producer. */
static struct {
	double fixed_ns, turn_ns, nothing_ns; /* of a batch; of a turn */
	uint64_t most; /* turns that a batch makes */
	int batches; /* that are left */
	uint64_t last_turns; /* that a batch was to make, but those of double length */
	struct bench_run run;
} fake;

static int fake_batch(struct bench_thread *t, bool nothing, uint64_t turns,
		      struct timing_batch *out)
{
	out->turns = turns < fake.most ? turns : fake.most;
	out->ns = fake.fixed_ns + out->turns * (nothing ? fake.nothing_ns : fake.turn_ns);
	if (!nothing && turns != 2 * fake.last_turns)
		fake.last_turns = turns;
	if (!fake.batches--)
		t->run->stop[BENCH_PRODUCER] = true;
	return 0;
}

/* Makes @nr batches and returns what they come to. */
static struct sample measure(struct timing *timing, int nr)
{
	struct bench_thread t = { .run = &fake.run };
	struct sample s = { .dt_ns = 1000000000 };

	fake.batches = nr;
	fake.run.stop[BENCH_PRODUCER] = false;
	assert_int_equal(timing_producer(timing, &t), 0);
	timing_measure(timing, &s.raw);
	assert_int_equal(timing_batches(timing, &s.batches), 0);
	batches_sort(&s.batches);
	sample_set_quantiles(&report, &s);
	return s;
}

static struct timing *begin(double fixed_ns, double turn_ns)
{
	static const struct bench_config cfg = { .producers = 1 };
	static const struct bench bench = { .name = "fake", .report = &report };

	memset(&fake, 0, sizeof(fake));
	fake.fixed_ns = fixed_ns;
	fake.turn_ns = turn_ns;
	fake.nothing_ns = 0.125;
	fake.most = UINT64_MAX;
	fake.run.cfg = &cfg;
	fake.run.bench = &bench;
	return timing_new(&fake.run, fake_batch, "turns", 1 << 23, TIMING_BATCH_NS);
}

static void judge(struct timing *timing)
{
	struct timing_sums sums;

	timing_sum_up(timing, &sums);
	timing_judge(timing, &sums);
}

static void assert_value(struct sample *s, size_t row, double want)
{
	const double got = figure_value(&report, row, s, 1);

	if (!(fabs(got - want) <= 1e-3 * want))
		fail_msg("%s is %g, not %g", figures[row].name, got, want);
}

/* In whole nanoseconds such a turn would take no time at all. */
static void batches_of_less_than_a_nanosecond_a_turn(void **state)
{
	struct timing *timing = begin(0, 0.25);
	struct sample s = measure(timing, 200);
	struct timing_sums sums;

	assert_int_equal(fake.last_turns, TIMING_BATCH_NS * 4);
	assert_value(&s, TIMING_MEDIAN, 0.25);
	assert_value(&s, TIMING_MEAN, 0.25);
	assert_value(&s, TIMING_MAX, 0.25);
	assert_value(&s, TIMING_NOTHING, 0.125);
	assert_value(&s, TIMING_TURNS, 4000);
	timing_sum_up(timing, &sums);
	assert_int_equal(sums.batches, s.batches.nr);
	assert_int_equal(sums.measured, sums.batches * TIMING_BATCH_NS * 4);
	/* one of nothing and one of double length in 16 */
	assert_in_range(sums.batches, 160, 190);
	batches_free(&s.batches);
	timing_free(timing);
}

static void a_turn_longer_than_a_batch(void **state)
{
	struct timing *timing = begin(0, 7e6);
	struct sample s = measure(timing, 50);

	assert_int_equal(fake.last_turns, 1);
	assert_value(&s, TIMING_MEDIAN, 7e6);
	batches_free(&s.batches);
	timing_free(timing);
}

static void twice_as_many_have_to_take_twice_as_long(void **state)
{
	/* The part of a batch that does not grow, ns, and whether that is worth a warning */
	static const struct {
		double fixed_ns;
		bool warns;
	} cases[] = { { 0, false },
		      { 0.08 * TIMING_BATCH_NS, false },
		      { 0.2 * TIMING_BATCH_NS, true } };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct timing *timing = begin(cases[i].fixed_ns, 10);
		struct sample s = measure(timing, 1000);

		judge(timing);
		assert_int_equal(fake.run.notes.nr, cases[i].warns);
		if (cases[i].warns) {
			assert_true(fake.run.notes.v[0].warning);
			assert_ptr_equal(strstr(fake.run.notes.v[0].text,
						"twice as many turns take 1."),
					 fake.run.notes.v[0].text);
		}
		batches_free(&s.batches);
		timing_free(timing);
	}
}

/* As the kernel does with loops that run for too long. */
static void a_batch_that_ends_early_counts_with_what_it_made(void **state)
{
	struct timing *timing = begin(0, 10);
	struct sample s;

	fake.most = 1000;
	s = measure(timing, 100);
	assert_value(&s, TIMING_MEDIAN, 10);
	judge(timing);
	assert_int_equal(fake.run.notes.nr, 1);
	assert_non_null(strstr(fake.run.notes.v[0].text, "batches ended early"));
	batches_free(&s.batches);
	timing_free(timing);
}

static int slower_with_time(struct bench_thread *t, bool nothing, uint64_t turns,
			    struct timing_batch *out)
{
	if (fake.batches == 100)
		fake.turn_ns *= 100;
	return fake_batch(t, nothing, turns, out);
}

/* A map has filled, say: batches shall not take a hundred times as long from then on. */
static void the_length_of_batches_follows_the_time_of_turns(void **state)
{
	struct timing *timing = begin(0, 10);
	struct sample s;

	timing_free(timing);
	timing = timing_new(&fake.run, slower_with_time, "turns", 1 << 23, TIMING_BATCH_NS);
	s = measure(timing, 200);
	assert_int_equal(fake.last_turns, TIMING_BATCH_NS / 1000);
	batches_free(&s.batches);
	timing_free(timing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_of_less_than_a_nanosecond_a_turn),
		cmocka_unit_test(a_turn_longer_than_a_batch),
		cmocka_unit_test(twice_as_many_have_to_take_twice_as_long),
		cmocka_unit_test(a_batch_that_ends_early_counts_with_what_it_made),
		cmocka_unit_test(the_length_of_batches_follows_the_time_of_turns),
	};

	return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Which CPU a thread is pinned to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lib/run/run.h"

/* CPU numbers up to -1. */
static struct cpuset set_of(int *cpus)
{
	struct cpuset set = { .cpus = cpus };

	while (cpus[set.cnt] >= 0)
		set.cnt++;
	return set;
}

#define SET(...) set_of((int[]){ __VA_ARGS__, -1 })

static const struct cpuset no_cpus;

/* Where the first threads of @role go, up to -2. */
static void assert_cpus(const struct bench_config *cfg, const struct cpuset *allowed,
			enum bench_role role, const int *expected)
{
	int i, cpu;

	for (i = 0; expected[i] != -2; i++) {
		cpu = bench_run_cpu(cfg, allowed, role, i);
		if (cpu != expected[i])
			fail_msg("%s %d goes to CPU %d, not %d",
				 role == BENCH_CONSUMER ? "consumer" : "producer", i, cpu,
				 expected[i]);
	}
}

static void assert_placement(struct cpuset allowed, struct cpuset cons, struct cpuset prod,
			     int consumers, const int *cons_at, const int *prod_at)
{
	const struct bench_config cfg = {
		.producers = 8,
		.consumers = consumers,
		.affinity = true,
		.cons_cpus = cons,
		.prod_cpus = prod,
	};

	assert_cpus(&cfg, &allowed, BENCH_CONSUMER, cons_at);
	assert_cpus(&cfg, &allowed, BENCH_PRODUCER, prod_at);
}

#define AT(...) ((const int[]){ __VA_ARGS__, -2 })
#define NOWHERE ((const int[]){ -2 })

static void no_affinity_no_place(void **state)
{
	const struct bench_config cfg = { .producers = 4, .consumers = 1 };
	struct cpuset allowed = SET(0, 1, 2, 3);

	assert_cpus(&cfg, &allowed, BENCH_CONSUMER, AT(-1));
	assert_cpus(&cfg, &allowed, BENCH_PRODUCER, AT(-1, -1, -1, -1));
}

static void consumers_first_then_producers(void **state)
{
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 1, AT(0), AT(1, 2, 3, 0, 1, 2));
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 2, AT(0, 1), AT(2, 3, 0, 1));
	assert_placement(SET(0, 1, 2, 3), no_cpus, no_cpus, 0, NOWHERE, AT(0, 1, 2, 3, 0));
	assert_placement(SET(0, 1), no_cpus, no_cpus, 1, AT(0), AT(1, 0, 1, 0, 1));
	/* more consumers than CPUs */
	assert_placement(SET(0, 1), no_cpus, no_cpus, 3, AT(0, 1, 0), AT(1, 0, 1));
}

static void only_cpus_that_are_allowed(void **state)
{
	assert_placement(SET(1, 3, 6), no_cpus, no_cpus, 1, AT(1), AT(3, 6, 1, 3));
	assert_placement(SET(5), no_cpus, no_cpus, 1, AT(5), AT(5, 5, 5));
}

static void sets_are_gone_through_in_order(void **state)
{
	assert_placement(SET(0, 1, 2, 3), SET(3), SET(0, 2), 1, AT(3), AT(0, 2, 0, 2, 0));
	assert_placement(SET(0, 1, 2, 3), SET(1, 2), SET(0), 3, AT(1, 2, 1), AT(0, 0, 0));
	/* the consumer goes from the first CPU up also where the producers have it */
	assert_placement(SET(0, 1, 2, 3), no_cpus, SET(0), 1, AT(0), AT(0, 0));
}

static void producers_go_on_behind_placed_consumers(void **state)
{
	assert_placement(SET(0, 1, 2, 3), SET(2), no_cpus, 1, AT(2), AT(3, 0, 1, 2, 3));
	assert_placement(SET(0, 1, 2, 3), SET(3), no_cpus, 1, AT(3), AT(0, 1, 2, 3, 0));
	/* behind the last one in use, not the last one of the set */
	assert_placement(SET(0, 1, 2, 3), SET(0, 2), no_cpus, 1, AT(0), AT(1, 2, 3, 0));
	assert_placement(SET(0, 1, 2, 3), SET(0, 2), no_cpus, 2, AT(0, 2), AT(3, 0, 1));
	assert_placement(SET(0, 1, 2, 3), SET(0, 1), no_cpus, 3, AT(0, 1, 0), AT(2, 3, 0));
	assert_placement(SET(1, 3, 6), SET(3), no_cpus, 1, AT(3), AT(6, 1, 3));
	/* no consumer, so nothing to be behind */
	assert_placement(SET(0, 1, 2, 3), SET(2), no_cpus, 0, NOWHERE, AT(0, 1, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_affinity_no_place),
		cmocka_unit_test(consumers_first_then_producers),
		cmocka_unit_test(only_cpus_that_are_allowed),
		cmocka_unit_test(sets_are_gone_through_in_order),
		cmocka_unit_test(producers_go_on_behind_placed_consumers),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}

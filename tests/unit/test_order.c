// SPDX-License-Identifier: GPL-2.0
/* In which order runs were made, by the times of their records. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/order.h"

static void times_are_parsed(void **state)
{
	assert_true(order_parse_time("1970-01-01T00:00:10Z") == 10);
	assert_true(order_parse_time("1970-01-01T01:00:10+01:00") == 10);
	assert_true(order_parse_time("1969-12-31T19:00:10-05:00") == 10);
	assert_true(fabs(order_parse_time("1970-01-01T00:00:10.25Z") - 10.25) < 1e-9);
	assert_true(order_parse_time("2026-12-01T00:00:00Z") == 1796083200);
	assert_true(isnan(order_parse_time(NULL)));
	assert_true(isnan(order_parse_time("yesterday")));
	assert_true(isnan(order_parse_time("2026-12-01T00:00:00")));
	assert_true(isnan(order_parse_time("2026-12-01T00:00:00+1")));
}

/*
 * @sequence has a letter for each run, a second apart: b of base, n of new, and - for nothing. The
 * mean of a run is its place.
 */
static int order_of(const char *sequence, struct blocks *base_blocks, struct blocks *new_blocks)
{
	struct timed_run base[64], new[64];
	size_t nr_base = 0, nr_new = 0, i;

	for (i = 0; sequence[i]; i++) {
		if (sequence[i] == 'b')
			base[nr_base++] = (struct timed_run){ i, i };
		else if (sequence[i] == 'n')
			new[nr_new++] = (struct timed_run){ i, i };
	}
	return order_find(base, nr_base, new, nr_new, base_blocks, new_blocks);
}

static void assert_order(const char *sequence, enum order order)
{
	struct blocks base, new;

	assert_int_equal(order_of(sequence, &base, &new), order);
	free(base.means);
	free(new.means);
}

static void turns(void **state)
{
	assert_order("bnbnbnbn", ORDER_TURNS);
	assert_order("bnnbbnnbbnnb", ORDER_TURNS);
	/* A few runs by turns are not apart, whatever they are enough for. */
	assert_order("bnnb", ORDER_TURNS);
}

static void apart(void **state)
{
	assert_order("bbbbbbnnnnnn", ORDER_APART);
	assert_order("nnnnbbbb", ORDER_APART);
	assert_order("bn", ORDER_APART);
	/* Two blocks of base around one of new do not say what drifts, nor do three a side. */
	assert_order("bbbbnnnnbbbb", ORDER_APART);
	assert_order("bbbnnnbbbnnnbbbnnn", ORDER_APART);
}

static void blocks(void **state)
{
	struct blocks base, new;

	assert_int_equal(order_of("bbbnnnbbbnnn-bbbnnnbbbnnn", &base, &new), ORDER_BLOCKS);
	assert_int_equal(base.nr, 4);
	assert_int_equal(new.nr, 4);
	assert_true(base.means[0] == 1 && base.means[3] == 20);
	assert_true(new.means[0] == 4 && new.means[3] == 23);
	free(base.means);
	free(new.means);
}

static void times_that_say_nothing(void **state)
{
	struct timed_run base[4] = { { NAN, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } }, new[4] = {};
	struct blocks base_blocks, new_blocks;

	/* One is not known */
	assert_int_equal(order_find(base, 4, new, 4, &base_blocks, &new_blocks), ORDER_TURNS);
	free(base_blocks.means);
	free(new_blocks.means);
	/* All within one second */
	assert_int_equal(order_find(new, 4, new, 4, &base_blocks, &new_blocks), ORDER_TURNS);
	free(base_blocks.means);
	free(new_blocks.means);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_parsed),
		cmocka_unit_test(turns),
		cmocka_unit_test(apart),
		cmocka_unit_test(blocks),
		cmocka_unit_test(times_that_say_nothing),
	};

	return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}

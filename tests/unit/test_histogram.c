// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "lib/histogram.h"

/* Each value has a bucket, whose value is near it, and order is kept. */
static void buckets_are_narrow(void **state)
{
	size_t last = 0, bucket;
	uint64_t v;
	int i;

	for (v = 0; v < 1000000; v++) {
		bucket = histogram_bucket(v);
		assert_true(bucket == last || bucket == last + 1);
		assert_true(fabs(histogram_value(bucket) - v) <= v / 100.0);
		last = bucket;
	}
	for (i = 20; i < 64; i++) {
		v = 1ULL << i;
		assert_true(histogram_bucket(v) == histogram_bucket(v - 1) + 1);
		assert_true(fabs(histogram_value(histogram_bucket(v)) - (double)v) <= v / 100.0);
		assert_true(fabs(histogram_value(histogram_bucket(v - 1)) - (double)v) <=
			    v / 100.0);
	}
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void what_is_added_is_counted(void **state)
{
	static struct histogram h;

	histogram_add(&h, 5);
	histogram_add(&h, 1 << 20);
	histogram_add(&h, (1 << 20) + 1);
	assert_int_equal(histogram_count(&h, 5), 1);
	assert_int_equal(histogram_count(&h, histogram_bucket(1 << 20)), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_narrow),
		cmocka_unit_test(what_is_added_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

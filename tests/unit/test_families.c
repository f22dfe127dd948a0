// SPDX-License-Identifier: GPL-2.0
/* Families of benchmarks as they register themselves, and what may be wrong with them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/cli/lines.h"
#include "lib/run/benchmark.h"
#include "lib/util.h"

/* ---- parts that are never called */

static int setup(struct bench_run *run)
{
	return 0;
}

static void teardown(struct bench_run *run)
{
}

static int work(struct bench_thread *t)
{
	return 0;
}

static void measure(struct bench_run *run, struct values *v)
{
}

static int one(const struct bench_run *run)
{
	return 1;
}

/* ---- two families with nothing wrong, made anew for each test, which then puts in what is */

struct params {
	long long num;
	bool flag;
};

static struct opt apple_opts[2], pear_opts[2];
static struct bench apples[2], pears[1];
static const struct bench *const apple_list[] = { &apples[0], &apples[1] };
static const struct bench *const pear_list[] = { &pears[0] };
static const char *aliases[] = { NULL, NULL, NULL };
static struct bench_family apple, pear;

static const struct opt core[] = {
	{ .name = "duration", .key = 'd', .arg = "SEC", .type = OPT_NUM },
	{ .name = "verbose", .alias = "chatty", .key = 'v', .type = OPT_FLAG },
};

static struct bench good_bench(const char *name)
{
	return (struct bench){
		.name = name,
		.desc = "does nothing",
		.report = &report_ops,
		.setup = setup,
		.teardown = teardown,
		.producer = work,
		.measure = measure,
	};
}

static struct opt num_opt(const char *name, long long def)
{
	return (struct opt){
		.name = name,
		.arg = "NUM",
		.type = OPT_NUM,
		.at = offsetof(struct params, num),
		.def = def,
		.min = 0,
		.max = 1000,
		.help = "A number",
	};
}

static struct opt flag_opt(const char *name)
{
	return (struct opt){
		.name = name,
		.type = OPT_FLAG,
		.at = offsetof(struct params, flag),
		.help = "A flag",
	};
}

static struct bench_family good_family(const char *title, const struct opt *opts,
				       const struct bench *const *benchs, size_t nr_benchs)
{
	return (struct bench_family){
		.title = title,
		.about = "what fruit costs",
		.opts = opts,
		.nr_opts = 2,
		.params_size = sizeof(struct params),
		.benchs = benchs,
		.nr_benchs = nr_benchs,
	};
}

static int make_families(void **state)
{
	apple_opts[0] = num_opt("size", 5);
	apple_opts[1] = flag_opt("red");
	/* of one name, with another meaning and default */
	pear_opts[0] = num_opt("size", 50);
	pear_opts[1] = flag_opt("green");
	apples[0] = good_bench("apple-eat");
	apples[1] = good_bench("apple-peel");
	pears[0] = good_bench("pear-eat");
	memset(aliases, 0, sizeof(aliases));
	apple = good_family("Apple", apple_opts, apple_list, 2);
	pear = good_family("Pear", pear_opts, pear_list, 1);
	bench_families = NULL;
	bench_register_family(&pear);
	bench_register_family(&apple);
	return 0;
}

static void assert_fault(const char *text)
{
	char err[256] = "";

	assert_int_equal(bench_families_check(core, ARRAY_SIZE(core), err, sizeof(err)),
			 *text ? -EINVAL : 0);
	assert_string_equal(err, text);
	make_families(NULL);
}

/* ---- */

static void nothing_is_wrong(void **state)
{
	assert_fault("");
	apple.opts = NULL;
	apple.nr_opts = 0;
	assert_fault("");
	bench_families = NULL;
	assert_fault("");
}

static void families_are_in_order(void **state)
{
	struct bench_family nut = good_family("Nut", NULL, NULL, 0);

	assert_ptr_equal(bench_families, &apple);
	assert_ptr_equal(apple.next, &pear);
	assert_null(pear.next);
	bench_register_family(&nut);
	assert_ptr_equal(apple.next, &nut);
	assert_ptr_equal(nut.next, &pear);
}

static void benchmarks_answer_to_names(void **state)
{
	assert_true(bench_answers_to(&apples[0], "apple-eat"));
	assert_false(bench_answers_to(&apples[0], "apple-ea"));
	assert_false(bench_answers_to(&apples[0], ""));
	aliases[0] = "bite";
	aliases[1] = "devour";
	apples[0].aliases = aliases;
	assert_true(bench_answers_to(&apples[0], "apple-eat"));
	assert_true(bench_answers_to(&apples[0], "devour"));
	assert_false(bench_answers_to(&apples[0], "eat"));
}

static void faults_of_families(void **state)
{
	apple.title = NULL;
	assert_fault("a family has no title");
	pear.about = NULL;
	assert_fault("family 'Pear' has no description, or no benchmarks");
	pear.nr_benchs = 0;
	assert_fault("family 'Pear' has no description, or no benchmarks");
	pear.params_size = offsetof(struct params, flag);
	assert_fault("family 'Pear': option 'green' lies outside of the struct for its value");
	apple_opts[1].name = "size";
	assert_fault("family 'Apple': option 'size' is there twice");
	/* letters and names of the core, in either spelling, by either spelling */
	pear_opts[0].key = 'd';
	assert_fault("family 'Pear': letter 'd' of option 'size' is that of option 'duration'");
	pear_opts[0].name = "duration";
	assert_fault("family 'Pear': option 'duration' is one of the core's");
	pear_opts[1].name = "chatty";
	assert_fault("family 'Pear': option 'chatty' is one of the core's");
	pear_opts[1].alias = "verbose";
	assert_fault("family 'Pear': option 'green' is one of the core's");
}

/* Of one option, by its name, in whichever families have it. */
static void letters_of_families(void **state)
{
	apple_opts[0].key = 's';
	assert_fault("");
	apple_opts[0].key = 's';
	pear_opts[0].key = 's';
	assert_fault("");
	apple_opts[0].key = 's';
	pear_opts[1].key = 's';
	assert_fault("family 'Pear': letter 's' of option 'green' is that of option 'size'");
	apple_opts[1].key = 'v';
	assert_fault("family 'Apple': letter 'v' of option 'red' is that of option 'verbose'");
}

static void options_with_and_without_an_argument(void **state)
{
	pear_opts[0] = flag_opt("size");
	assert_fault("option 'size' takes an argument in one of 'Apple' and 'Pear' and none in the "
		     "other");
	pear_opts[1] = num_opt("red", 1);
	assert_fault("option 'red' takes an argument in one of 'Apple' and 'Pear' and none in the "
		     "other");
	pear_opts[1].alias = "size";
	assert_fault("family 'Pear': option 'green' is there twice");
	pear_opts[0].name = "weight";
	pear_opts[1].alias = "size";
	assert_fault("option 'size' takes an argument in one of 'Apple' and 'Pear' and none in the "
		     "other");
	apple_opts[0].alias = "green";
	assert_fault(
		"option 'green' takes an argument in one of 'Apple' and 'Pear' and none in the "
		"other");
}

static void faults_of_benchmarks(void **state)
{
	static const struct figure no_unit[] = { { .name = "x", .help = "h" } };
	static const struct report bad = { .name = "bad", .figures = no_unit, .nr_figures = 1 };
	static const char lacks[] =
		"benchmark 'pear-eat' lacks one of setup, teardown, producer and measure";

	apples[1].name = NULL;
	assert_fault("family 'Apple': a benchmark has no name");
	apples[1].desc = NULL;
	assert_fault("benchmark 'apple-peel' has no description");
	pears[0].report = NULL;
	assert_fault("benchmark 'pear-eat': it has no figures, or more than 12");
	pears[0].report = &bad;
	assert_fault("benchmark 'pear-eat': figure 'x' has no unit, or no help");
	pears[0].setup = NULL;
	assert_fault(lacks);
	pears[0].teardown = NULL;
	assert_fault(lacks);
	pears[0].producer = NULL;
	assert_fault(lacks);
	pears[0].measure = NULL;
	assert_fault(lacks);
	pears[0].consumers = one;
	assert_fault("benchmark 'pear-eat' has consumers, but no function for them");
	pears[0].consumers = one;
	pears[0].consumer = work;
	assert_fault("");
}

static void names_that_are_there_twice(void **state)
{
	apples[1].name = "apple-eat";
	assert_fault("two benchmarks answer to 'apple-eat'");
	pears[0].name = "apple-peel";
	assert_fault("two benchmarks answer to 'apple-peel'");
	aliases[0] = "bite";
	aliases[1] = "apple-eat";
	pears[0].aliases = aliases;
	assert_fault("two benchmarks answer to 'apple-eat'");
	aliases[0] = "pear-eat";
	apples[0].aliases = aliases;
	assert_fault("two benchmarks answer to 'pear-eat'");
	aliases[0] = "bite";
	apples[0].aliases = aliases;
	pears[0].aliases = aliases;
	assert_fault("two benchmarks answer to 'bite'");
	aliases[0] = "bite";
	apples[0].aliases = aliases;
	assert_fault("");
}

#define TEST(name) cmocka_unit_test_setup(name, make_families)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_wrong),		  TEST(families_are_in_order),
		TEST(benchmarks_answer_to_names), TEST(faults_of_families),
		TEST(letters_of_families),	  TEST(options_with_and_without_an_argument),
		TEST(faults_of_benchmarks),	  TEST(names_that_are_there_twice),
	};

	return cmocka_run_group_tests_name("families", tests, NULL, NULL);
}

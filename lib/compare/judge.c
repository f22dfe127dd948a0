// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/judge.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/limits.h"
#include "lib/compare/utest.h"
#include "lib/stats.h"
#include "lib/text.h"

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- the runs of a side */

/* What several figures have in common, as where --match puts two benchmarks into one row. */
static void merge_figure(struct row_side *side, const struct record_figure *f)
{
	if (!side->figure.unit) {
		side->figure = *f;
		return;
	}
	side->units_differ = side->units_differ || strcmp(side->figure.unit, f->unit);
	if (side->figure.kind != f->kind)
		side->figure.kind = RECORD_GAUGE;
	if (side->figure.better != f->better)
		side->figure.better = RECORD_NEITHER;
}

static double time_of(const json_t *record)
{
	const json_t *time = json_object_get(json_object_get(record, "env"), "time");

	return order_parse_time(json_string_value(time));
}

static int collect_runs(struct row_side *side, const char *figure)
{
	bool instructions = true;
	double spread = NAN; /* of the samples of the last run */
	size_t nr_ok = 0, i;

	side->median = NAN;
	side->median_ci = (struct interval){ NAN, NAN };
	side->change_pct = NAN;
	side->change_ci = (struct interval){ NAN, NAN };
	side->test = (struct utest){ .u = NAN, .p = NAN };
	side->p_adjusted = NAN;
	side->means = calloc(side->nr_records + 1, sizeof(*side->means));
	side->runs = calloc(side->nr_records + 1, sizeof(*side->runs));
	if (!side->means || !side->runs)
		return -ENOMEM;
	for (i = 0; i < side->nr_records; i++) {
		const json_t *record = side->records[i];
		struct record_figure f;

		if (!record_is_ok(record))
			continue;
		nr_ok++;
		if (!record_figure_named(record, figure, &f))
			continue;
		merge_figure(side, &f);
		if (isnan(f.mean))
			continue;
		instructions = instructions && record_counts_instructions(record);
		spread = f.spread;
		side->runs[side->nr_runs] = (struct timed_run){ time_of(record), f.mean };
		side->means[side->nr_runs++] = f.mean;
	}
	side->nr_left_out = side->nr_records - side->nr_runs;
	side->lacks_figure = nr_ok && !side->figure.unit;
	qsort(side->means, side->nr_runs, sizeof(*side->means), cmp_double);
	side->spread = NAN;
	if (instructions && side->nr_runs > 1)
		side->spread = side->means[side->nr_runs - 1] / side->means[0] - 1;
	else if (instructions && side->nr_runs)
		side->spread = spread;
	if (side->units_differ)
		return 0;
	side->median = stats_quantile(side->means, side->nr_runs, 0.5);
	stats_median_ci(side->means, side->nr_runs, STATS_CONFIDENCE, &side->median_ci.low,
			&side->median_ci.high);
	return 0;
}

/* ---- a side against base */

/*
 * More of them is faster, or less of what each takes. (That drops are a rate makes them no speed.)
 */
static bool is_speed(const struct row_side *base, const struct row_side *new)
{
	return base->figure.kind == new->figure.kind &&
	       ((new->figure.kind == RECORD_RATE &&new->better == RECORD_HIGHER) ||
		(new->figure.kind == RECORD_TIME &&new->better == RECORD_LOWER));
}

static enum verdict word_of(const struct row_side *base, const struct row_side *new, bool up)
{
	bool good = up == (new->better == RECORD_HIGHER);

	if (new->better == RECORD_NEITHER)
		return up ? VERDICT_HIGHER : VERDICT_LOWER;
	if (is_speed(base, new))
		return good ? VERDICT_FASTER : VERDICT_SLOWER;
	return good ? VERDICT_BETTER : VERDICT_WORSE;
}

static enum verdict verdict_of(const struct row_side *base, const struct row_side *new)
{
	double pairs = new->nr_blocks[0] ? (double)new->nr_blocks[0] * new->nr_blocks[1] :
					   (double)base->nr_runs *new->nr_runs;

	if (!(new->p_adjusted < COMPARE_ALPHA))
		return VERDICT_SAME;
	return word_of(base, new, new->test.u > pairs / 2);
}

static double *logarithms(const struct row_side *side)
{
	double *logs;
	size_t i;

	logs = calloc(side->nr_runs, sizeof(*logs));
	for (i = 0; logs && i < side->nr_runs; i++)
		logs[i] = log(side->means[i]); /* -inf for 0 */
	return logs;
}

static int find_change(const struct row_side *base, struct row_side *new)
{
	double *base_logs = logarithms(base), *new_logs = logarithms(new);
	struct utest_shift shift = {};
	int err = -ENOMEM;

	if (base_logs && new_logs)
		err = utest_shift(base_logs, base->nr_runs, new_logs, new->nr_runs,
				  STATS_CONFIDENCE, &shift);
	if (!err) {
		new->change_pct = 100 * expm1(shift.estimate);
		if (new->verdict != VERDICT_TOO_FEW && shift.has_interval) {
			new->change_ci.low = 100 * expm1(shift.low);
			new->change_ci.high = 100 * expm1(shift.high);
		}
	}
	free(base_logs);
	free(new_logs);
	return err;
}

static bool have_other_units(const struct row_side *base, const struct row_side *new)
{
	if (base->units_differ || new->units_differ)
		return true;
	return base->figure.unit && new->figure.unit &&strcmp(base->figure.unit, new->figure.unit);
}

/* A block of runs has a mean of its own: where there are blocks enough, they are what is tested. */
static int test_in_order(const struct row_side *base, struct row_side *new)
{
	struct blocks base_blocks, new_blocks;
	int order, err;

	order = order_find(base->runs, base->nr_runs, new->runs, new->nr_runs, &base_blocks,
			   &new_blocks);
	if (order == ORDER_BLOCKS) {
		new->nr_blocks[0] = base_blocks.nr;
		new->nr_blocks[1] = new_blocks.nr;
		qsort(base_blocks.means, base_blocks.nr, sizeof(double), cmp_double);
		qsort(new_blocks.means, new_blocks.nr, sizeof(double), cmp_double);
		err = utest(base_blocks.means, base_blocks.nr, new_blocks.means, new_blocks.nr,
			    &new->test);
	} else if (order >= 0) {
		new->apart = order == ORDER_APART;
		err = utest(base->means, base->nr_runs, new->means, new->nr_runs, &new->test);
	} else {
		err = order;
	}
	free(base_blocks.means);
	free(new_blocks.means);
	return err;
}

/* Neither is less exact than the timer ticks that fall into a sample or do not. */
#define EXACT_AT_BEST 1e-4

/*
 * What repeats needs no test: how well it does was seen from runs, or from samples of the only one.
 */
static void judge_exact(const struct row_side *base, struct row_side *new)
{
	double limit = fmax(base->spread, EXACT_AT_BEST) + fmax(new->spread, EXACT_AT_BEST);
	bool up = new->change_pct > 0;

	new->is_exact = true;
	new->exact_pct = 100 * limit;
	if (fabs(new->change_pct) <= new->exact_pct)
		new->verdict = VERDICT_SAME;
	else
		new->verdict = word_of(base, new, up);
}

static int test_side(const struct row_side *base, struct row_side *new)
{
	int err = 0;

	new->better = base->figure.better == new->figure.better ? new->figure.better :
								  RECORD_NEITHER;
	if (have_other_units(base, new)) {
		new->verdict = VERDICT_UNITS;
		return 0;
	}
	if (!base->nr_records || !new->nr_records) {
		new->verdict = VERDICT_ONE_SIDED;
		return 0;
	}
	if (base->lacks_figure || new->lacks_figure) {
		new->verdict = VERDICT_NO_FIGURE;
		return 0;
	}
	if (base->nr_runs < COMPARE_MIN_RUNS || new->nr_runs < COMPARE_MIN_RUNS)
		new->verdict = VERDICT_TOO_FEW;
	if (base->nr_runs && new->nr_runs)
		err = find_change(base, new);
	if (!err && !isnan(base->spread) && !isnan(new->spread)) {
		judge_exact(base, new);
		return 0;
	}
	if (err || new->verdict == VERDICT_TOO_FEW)
		return err;
	return test_in_order(base, new);
}

static int test_row(struct row *row, char *err, size_t err_size)
{
	const struct row_side *base = &row->sides[BASE];
	size_t s;
	int ret;

	for (s = 0; s < row->nr_sides; s++) {
		ret = collect_runs(&row->sides[s], row->figure);
		if (ret)
			return ret;
		if (!row->unit)
			row->unit = row->sides[s].figure.unit;
	}
	for (s = 1; s < row->nr_sides; s++) {
		ret = test_side(base, &row->sides[s]);
		if (ret == -E2BIG)
			text_fail(err, err_size, ret, "'%s' has too many runs: %zu and %zu",
				  row->label, base->nr_runs, row->sides[s].nr_runs);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- verdicts */

/* A test that has been made. */
struct tested {
	const struct row_side *base;
	struct row_side *new;
};

static int cmp_tested_by_p(const void *a, const void *b)
{
	const struct tested *x = a, *y = b;

	return cmp_double(&x->new->test.p, &y->new->test.p);
}

static size_t find_tested(struct comparison *c, struct tested *tested)
{
	size_t n = 0, i, s;

	for (i = 0; i < c->nr_rows; i++) {
		struct row_side *sides = c->rows[i].sides;

		for (s = 1; s < c->nr_files; s++)
			if (!isnan(sides[s].test.p))
				tested[n++] = (struct tested){ &sides[BASE], &sides[s] };
	}
	return n;
}

/*
 * All tests together: of many in which nothing has changed, one in twenty would have a p below
 * 0.05, and a reader of the table would believe it.
 */
static int find_verdicts(struct comparison *c)
{
	struct tested *tested = calloc(c->nr_rows * c->nr_files + 1, sizeof(*tested));
	double *p = calloc(c->nr_rows * c->nr_files + 1, sizeof(*p));
	size_t shown = 0, n, i;

	if (!tested || !p) {
		free(tested);
		free(p);
		return -ENOMEM;
	}
	n = find_tested(c, tested);
	qsort(tested, n, sizeof(*tested), cmp_tested_by_p);
	for (i = 0; i < n; i++)
		p[i] = tested[i].new->test.p;
	stats_adjust_p(p, n);
	for (i = 0; i < n; i++) {
		tested[i].new->p_adjusted = p[i];
		tested[i].new->verdict = verdict_of(tested[i].base, tested[i].new);
		shown += tested[i].new->verdict != VERDICT_SAME;
	}
	c->nr_tested = n;
	c->p_limit = n ? COMPARE_ALPHA * (shown ? shown : 1) / n : NAN;
	free(tested);
	free(p);
	return 0;
}

int judge_rows(struct comparison *c, char *err, size_t err_size)
{
	size_t i;
	int ret;

	for (i = 0; i < c->nr_rows; i++) {
		ret = test_row(&c->rows[i], err, err_size);
		if (ret)
			return ret;
	}
	return find_verdicts(c);
}

enum judgement judge_slower(const struct comparison *c, double pct, bool assume_steady)
{
	bool unjudged = false, judged = false, drift = false;
	size_t i, s;

	for (i = 0; i < c->nr_rows; i++) {
		for (s = 1; s < c->nr_files; s++) {
			const struct row_side *side = &c->rows[i].sides[s];
			double worse = side->better == RECORD_LOWER ? side->change_pct :
								      -side->change_pct;

			if (side->verdict == VERDICT_ONE_SIDED || side->better == RECORD_NEITHER)
				continue;
			judged = judged || side->is_exact || !isnan(side->test.p);
			unjudged = unjudged || !(side->is_exact || !isnan(side->test.p));
			if ((side->verdict != VERDICT_SLOWER && side->verdict != VERDICT_WORSE) ||
			    !(worse > pct))
				continue;
			if (!side->apart || assume_steady)
				return JUDGED_SLOWER;
			drift = true;
		}
	}
	if (drift)
		return JUDGED_BY_DRIFT;
	return unjudged || !judged ? NOT_JUDGED : JUDGED_FINE;
}

const char *judge_verdict_word(const struct row_side *side)
{
	static const char *const words[] = {
		[VERDICT_SAME] = "~",
		[VERDICT_FASTER] = "faster",
		[VERDICT_SLOWER] = "slower",
		[VERDICT_BETTER] = "better",
		[VERDICT_WORSE] = "worse",
		[VERDICT_HIGHER] = "higher",
		[VERDICT_LOWER] = "lower",
		[VERDICT_TOO_FEW] = "too few runs",
		[VERDICT_UNITS] = "units differ",
		[VERDICT_NO_FIGURE] = "no such figure",
		[VERDICT_ONE_SIDED] = "one side only",
	};

	static const char *const doubtful[] = {
		[VERDICT_FASTER] = "faster?", [VERDICT_SLOWER] = "slower?",
		[VERDICT_BETTER] = "better?", [VERDICT_WORSE] = "worse?",
		[VERDICT_HIGHER] = "higher?", [VERDICT_LOWER] = "lower?",
	};

	return side->apart && side->verdict >= VERDICT_FASTER && side->verdict <= VERDICT_LOWER ?
		       doubtful[side->verdict] :
		       words[side->verdict];
}

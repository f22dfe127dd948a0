// SPDX-License-Identifier: GPL-2.0
/* The families of benchmarks, as they register themselves. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "lib/run/benchmark.h"

struct bench_family *bench_families;

void bench_register_family(struct bench_family *family)
{
	struct bench_family **p = &bench_families;

	/* In alphabetical order, whatever order the linker had them in. */
	while (*p && strcmp((*p)->title ?: "", family->title ?: "") < 0)
		p = &(*p)->next;
	family->next = *p;
	*p = family;
}

bool bench_answers_to(const struct bench *bench, const char *name)
{
	size_t i;

	if (!strcmp(bench->name, name))
		return true;
	for (i = 0; bench->aliases && bench->aliases[i]; i++)
		if (!strcmp(bench->aliases[i], name))
			return true;
	return false;
}

/* ---- checks, for whoever writes a benchmark */

struct complaint {
	char *text;
	size_t size;
};

static int __attribute__((format(printf, 2, 3)))
fault(const struct complaint *c, const char *fmt, ...)
{
	va_list va;

	va_start(va, fmt);
	vsnprintf(c->text, c->size, fmt, va);
	va_end(va);
	return -EINVAL;
}

/* The first benchmark before @bench, in the order of families, that answers to @name; or NULL. */
static const struct bench *earlier_bench(const struct bench *bench, const char *name)
{
	const struct bench_family *f;
	size_t i;

	for (f = bench_families; f; f = f->next) {
		for (i = 0; i < f->nr_benchs; i++) {
			if (f->benchs[i] == bench)
				return NULL;
			if (bench_answers_to(f->benchs[i], name))
				return f->benchs[i];
		}
	}
	return NULL;
}

static int check_bench(const struct bench *b, const struct complaint *c)
{
	char why[128];
	size_t i;

	if (!b->desc)
		return fault(c, "benchmark '%s' has no description", b->name);
	if (report_check(b->report, why, sizeof(why)))
		return fault(c, "benchmark '%s': %s", b->name, why);
	if (!b->setup || !b->teardown || !b->producer || !b->measure)
		return fault(c, "benchmark '%s' lacks one of setup, teardown, producer and measure",
			     b->name);
	if (report_wants_batches(b->report) != !!b->batches)
		return fault(c,
			     "benchmark '%s' has quantiles without batches, or the other way round",
			     b->name);
	if (b->consumers && !b->consumer)
		return fault(c, "benchmark '%s' has consumers, but no function for them", b->name);
	if (earlier_bench(b, b->name))
		return fault(c, "two benchmarks answer to '%s'", b->name);
	for (i = 0; b->aliases && b->aliases[i]; i++)
		if (earlier_bench(b, b->aliases[i]))
			return fault(c, "two benchmarks answer to '%s'", b->aliases[i]);
	return 0;
}

/* The benchmark is found before the options have a meaning: so all agree on who has an argument. */
static int check_against(const struct bench_family *family, const struct opt *opt,
			 const struct complaint *c)
{
	const char *const names[] = { opt->name, opt->alias };
	const struct bench_family *f;
	const struct opt *other;
	size_t i;

	for (i = 0; i < 2 && names[i]; i++) {
		for (f = bench_families; f != family; f = f->next) {
			other = opttab_find(f->opts, f->nr_opts, names[i]);
			if (other && !other->arg != !opt->arg)
				return fault(c,
					     "option '%s' takes an argument in one of '%s' and "
					     "'%s' and none in the other",
					     names[i], f->title, family->title);
		}
	}
	return 0;
}

static const struct opt *other_with_letter(const struct opt *opts, size_t nr, const struct opt *opt)
{
	size_t i;

	for (i = 0; opt->key && i < nr; i++)
		if (opts[i].key == opt->key && strcmp(opts[i].name, opt->name))
			return &opts[i];
	return NULL;
}

/* Likewise all agree on the option that a letter stands for. */
static int check_letter(const struct bench_family *family, const struct opt *opt,
			const struct opt *core, size_t nr_core, const struct complaint *c)
{
	const struct opt *other = other_with_letter(core, nr_core, opt);
	const struct bench_family *f;

	for (f = bench_families; f != family && !other; f = f->next)
		other = other_with_letter(f->opts, f->nr_opts, opt);
	if (!other)
		return 0;
	return fault(c, "family '%s': letter '%c' of option '%s' is that of option '%s'",
		     family->title, opt->key, opt->name, other->name);
}

static int check_family(const struct bench_family *f, const struct opt *core, size_t nr_core,
			const struct complaint *c)
{
	char why[256];
	size_t i;
	int err;

	if (opttab_check(f->opts, f->nr_opts, f->params_size, why, sizeof(why)))
		return fault(c, "family '%s': %s", f->title, why);
	for (i = 0; i < f->nr_opts; i++) {
		const struct opt *opt = &f->opts[i];

		if (opttab_find(core, nr_core, opt->name) ||
		    (opt->alias && opttab_find(core, nr_core, opt->alias)))
			return fault(c, "family '%s': option '%s' is one of the core's", f->title,
				     opt->name);
		err = check_against(f, opt, c);
		if (!err)
			err = check_letter(f, opt, core, nr_core, c);
		if (err)
			return err;
	}
	if (!f->about || !f->nr_benchs)
		return fault(c, "family '%s' has no description, or no benchmarks", f->title);
	for (i = 0; i < f->nr_benchs; i++) {
		err = f->benchs[i]->name ?
			      check_bench(f->benchs[i], c) :
			      fault(c, "family '%s': a benchmark has no name", f->title);
		if (err)
			return err;
	}
	return 0;
}

int bench_families_check(const struct opt *core, size_t nr_core, char *err, size_t err_size)
{
	const struct complaint c = { err, err_size };
	const struct bench_family *f;
	int ret = 0;

	for (f = bench_families; f && !ret; f = f->next)
		ret = f->title ? check_family(f, core, nr_core, &c) :
				 fault(&c, "a family has no title");
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/run/run_record.h"
#include "lib/machine.h"
#include "lib/record.h"

/* JSON has no NaN: what is unknown is null. */
static json_t *number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* -1 is this project's mark for a count that the kernel does not report. */
static json_t *count_or_null(long long v)
{
	return v < 0 ? json_null() : json_integer(v);
}

static json_t *string_or_null(const char *s)
{
	return s && *s ? json_string(s) : json_null();
}

static json_t *make_argv(char *const *argv)
{
	json_t *a = json_array();

	for (; a && *argv; argv++) /* an argument that is no UTF-8 has no place in JSON */
		json_array_append_new(a, json_string(*argv) ?: json_string("?"));
	return a;
}

static json_t *opt_value(const struct opt *opt, void *params)
{
	const void *value = opt_dest(opt, params);
	char buf[256];

	switch (opt->type) {
	case OPT_FLAG:
		return json_boolean(*(const bool *)value);
	case OPT_NUM:
	case OPT_SIZE:
		return json_integer(*(const long long *)value);
	default:
		return opt_format(opt, params, buf, sizeof(buf)) ? json_null() : json_string(buf);
	}
}

static json_t *make_params(const struct bench_family *family, void *params)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < family->nr_opts; i++)
		if (!family->opts[i].is_subject)
			json_object_set_new(o, family->opts[i].name,
					    opt_value(&family->opts[i], params));
	return o;
}

static json_t *make_defaults(const struct bench_family *family)
{
	void *params = calloc(1, family->params_size + 1);
	json_t *o;

	if (!params)
		return NULL;
	opttab_reset(family->opts, family->nr_opts, params);
	o = make_params(family, params);
	free(params);
	return o;
}

/* The CPUs that the threads of @role were pinned to: "0,2-3"; null: not pinned. */
static json_t *role_cpus(const struct bench_config *cfg, const struct bench_result *res,
			 enum bench_role role)
{
	long long nr = role == BENCH_CONSUMER ? cfg->consumers : cfg->producers, i;
	struct cpuset set = {};
	json_t *ret = NULL;
	char *list, *p;
	char buf[4096];

	if (!cfg->affinity || !nr || !res->allowed.cnt)
		return json_null();
	/* One after the other, and cpuset_parse() puts them in order and in ranges. */
	list = malloc(nr * 8 + 1);
	for (i = 0, p = list; list && i < nr; i++)
		p += sprintf(p, "%s%d", i ? "," : "", bench_run_cpu(cfg, &res->allowed, role, i));
	if (list && !cpuset_parse(list, &set) && !cpuset_format(&set, buf, sizeof(buf)))
		ret = json_string(buf);
	free(list);
	cpuset_free(&set);
	return ret ? ret : json_null();
}

static json_t *make_config(const struct bench_config *cfg, const struct bench_result *res)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "producers",
			 (json_int_t)cfg->producers, "consumers", (json_int_t)cfg->consumers,
			 "warmup_s", (json_int_t)cfg->warmup_s, "duration_s",
			 (json_int_t)cfg->duration_s, "interval_ms", (json_int_t)cfg->interval_ms,
			 "prod_cpus", role_cpus(cfg, res, BENCH_PRODUCER), "cons_cpus",
			 role_cpus(cfg, res, BENCH_CONSUMER), "attach",
			 string_or_null(res->trigger.name));
}

static json_t *make_notes(const struct bench_notes *notes)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < notes->nr; i++)
		json_array_append_new(a, json_string(notes->v[i].text));
	return a;
}

static json_t *make_env(const struct bench_result *res)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	json_t *o = json_object(), *v;
	size_t nr, i;

	nr = machine_facts(facts, MACHINE_NR_FACTS);
	for (i = 0; o && i < nr; i++) {
		v = !strncmp(facts[i].key, "cpus_", 5) && strcmp(facts[i].value, "unknown") ?
			    json_integer(atoll(facts[i].value)) :
			    json_string(facts[i].value);
		json_object_set_new(o, facts[i].key, v);
	}
	/* What is no UTF-8 has no place in JSON. */
	for (i = 0; o && i < res->facts.nr; i++)
		json_object_set_new(o, res->facts.v[i].name,
				    json_string(res->facts.v[i].text) ?: json_string("?"));
	if (o) {
		json_object_set_new(o, "clock",
				    json_string(bench_counts_instructions() ? "instructions" :
									      "time"));
		json_object_set_new(o, "bpf_stats",
				    json_string(res->stats_by_others ? "on" : "off"));
		json_object_set_new(o, "sched", json_string(*res->sched ? res->sched : "unknown"));
		json_object_set_new(o, "libbpf", json_string(libbpf_version_string()));
		json_object_set_new(o, "bench", json_string(BENCH_VERSION));
	}
	return o;
}

static json_t *pct_or_null(double pct)
{
	return pct < 0 ? json_null() : json_real(pct);
}

static json_t *make_speed(const struct canary *c)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "loop_ns", number_or_null(c->loop_ns),
			 "syscall_ns", number_or_null(c->syscall_ns), "trigger_ns",
			 number_or_null(c->trigger_ns), "wakeup_us", number_or_null(c->wakeup_us));
}

static json_t *make_noise(const struct bench_result *res)
{
	if (!res->have_noise)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:f, s:f, s:o, s:o, s:b, s:o, s:o, s:o}", "steal_pct",
			 pct_or_null(res->noise.steal_pct), "throttled_pct",
			 pct_or_null(res->noise.throttled_pct), "waited_pct",
			 pct_or_null(res->noise.waited_pct), "rt_limit_pct", res->rt_limit_pct,
			 "paused_s", res->paused_ns / 1e9, "invol_switches",
			 count_or_null(res->noise.invol_switches), "migrations",
			 count_or_null(res->noise.migrations), "strayed", res->strayed_tid != 0,
			 "beside", count_or_null(res->beside), "speed_before",
			 make_speed(&res->before), "speed_after", make_speed(&res->after));
}

static json_t *make_counters(const struct report *report, const struct bench_result *res)
{
	const char *name;
	double operations;
	json_t *o;
	size_t i;

	if (!res->hw.asked)
		return json_null();
	operations = bench_operations(report, res, &name);
	o = json_object();
	for (i = 0; i < HWCOUNT_MAX; i++)
		if (res->hw.asked & 1U << i)
			json_object_set_new(
				o, hwcount_names[i],
				isnan(res->hw.count[i]) ?
					json_null() :
					json_pack("{s:f, s:o, s:f}", "count", res->hw.count[i],
						  "per_operation",
						  number_or_null(res->hw.count[i] / operations),
						  "running_pct", res->hw.running_pct[i]));
	return o;
}

static json_t *make_samples(const struct report *report, const struct bench_result *res)
{
	json_t *a = json_array(), *o;
	size_t i, k;

	for (i = res->nr_warmup; a && i < res->nr_samples; i++) {
		const struct sample *s = &res->samples[i];

		o = json_pack("{s:I, s:I}", "t_ns", (json_int_t)s->t_ns, "dt_ns",
			      (json_int_t)s->dt_ns);
		for (k = 0; k < report->nr_figures; k++)
			if (figure_is_raw(&report->figures[k]))
				json_object_set_new(o, report->figures[k].name,
						    json_integer(s->raw.v[k]));
		json_array_append_new(a, o);
	}
	return a;
}

/* What the measured samples come to in each figure. */
struct all_stats {
	struct figure_stats by_row[FIGURES_MAX];
	bool any; /* the first one is known */
};

static int sum_up(const struct report *report, const struct bench_config *cfg,
		  const struct bench_result *res, struct all_stats *all)
{
	size_t i;
	int err;

	for (i = 0; i < report->nr_figures; i++) {
		err = figure_sum_up(report, i, res->samples + res->nr_warmup,
				    res->nr_samples - res->nr_warmup, cfg->producers,
				    &all->by_row[i]);
		if (err && err != -ENODATA)
			return err;
		all->any = all->any || (!i && !err);
	}
	return 0;
}

static json_t *make_stats(const struct figure_stats *stats)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I}", "mean", number_or_null(stats->mean),
			 "stddev", number_or_null(stats->stddev), "median",
			 number_or_null(stats->median), "ci95_low", number_or_null(stats->ci_low),
			 "ci95_high", number_or_null(stats->ci_high), "n", (json_int_t)stats->n);
}

static json_t *make_figures(const struct report *report, const struct all_stats *all)
{
	json_t *figures = json_object(), *o;
	size_t i;

	for (i = 0; all->any && i < report->nr_figures; i++) {
		const struct figure *f = &report->figures[i];

		o = json_pack("{s:s, s:s, s:s}", "unit", f->unit, "kind", figure_kind_name(f->kind),
			      "better", figure_better_name(f->better));
		json_object_update_new(o, make_stats(&all->by_row[i]));
		if (f->kind == FIGURE_GAUGE)
			json_object_set_new(o, "max", number_or_null(all->by_row[i].max));
		json_object_set_new(figures, f->name, o);
	}
	return figures;
}

/* The first figure again: what readers look at that want one number. */
static json_t *make_summary(const struct report *report, const struct all_stats *all)
{
	json_t *o;

	if (!all->any)
		return json_null();
	o = json_pack("{s:s, s:s, s:s}", "figure", report->figures[0].name, "report", report->name,
		      "unit", report->figures[0].unit);
	json_object_update_new(o, make_stats(&all->by_row[0]));
	return o;
}

static json_t *make_conservation(const struct bench_result *res)
{
	const struct bench_conservation *c = &res->conservation;
	json_t *o, *identities;
	size_t i;

	if (!c->nr_counts)
		return json_null();
	o = json_object();
	identities = json_array();
	for (i = 0; i < c->nr_counts; i++)
		json_object_set_new(o, c->counts[i].name, json_integer(c->counts[i].value));
	for (i = 0; i < c->nr_identities; i++)
		json_array_append_new(identities, json_string(c->identities[i]));
	json_object_set_new(o, "identities", identities);
	json_object_set_new(o, "ok", json_boolean(!c->violated));
	return o;
}

json_t *bench_record_make(const struct bench_job *job, const struct bench_family *family,
			  const struct bench_result *res, bool failed, char *const *argv)
{
	const char *status = failed			  ? "failed" :
			     res->signal		  ? "interrupted" :
			     res->paused_ns || res->stops ? "paused" :
							    "ok";
	const struct report *report = job->bench->report;
	struct all_stats all = {};

	if (sum_up(report, job->cfg, res, &all))
		return NULL;
	/* A NULL among them makes json_pack() fail, and takes the others with it. */
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
			 "s:s}",
			 "schema", RECORD_SCHEMA, "bench", job->bench->name, "argv",
			 make_argv(argv), "params", make_params(family, (void *)job->params),
			 "defaults", make_defaults(family), "config", make_config(job->cfg, res),
			 "env", make_env(res), "notes", make_notes(&res->notes), "noise",
			 make_noise(res), "counters", make_counters(report, res), "samples",
			 make_samples(report, res), "figures", make_figures(report, &all),
			 "summary", make_summary(report, &all), "conservation",
			 make_conservation(res), "status", status);
}

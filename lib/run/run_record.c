// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "lib/run/run_record.h"
#include "lib/machine.h"
#include "lib/record.h"
#include "lib/stats.h"

#define CONFIDENCE 0.95

/* JSON has no NaN: what is unknown is null. */
static json_t *number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* -1 is this project's mark for a count that the kernel does not tell. */
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

static json_t *opt_value(const struct opt *opt)
{
	char buf[256];

	switch (opt->type) {
	case OPT_FLAG:
		return json_boolean(*(bool *)opt->dest);
	case OPT_NUM:
		return json_integer(*(long long *)opt->dest);
	default:
		return opt_format(opt, buf, sizeof(buf)) ? json_null() : json_string(buf);
	}
}

static json_t *make_params(const struct bench_family *family)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < family->nr_opts; i++)
		json_object_set_new(o, family->opts[i].name, opt_value(&family->opts[i]));
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
	const char *attach = NULL;

	if (res->trigger[0])
		attach = res->trigger;
	else if (res->attach != ATTACH_AUTO)
		attach = attach_kind_names[res->attach];
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "producers",
			 (json_int_t)cfg->producers, "consumers", (json_int_t)cfg->consumers,
			 "warmup_s", (json_int_t)cfg->warmup_s, "duration_s",
			 (json_int_t)cfg->duration_s, "interval_ms", (json_int_t)cfg->interval_ms,
			 "prod_cpus", role_cpus(cfg, res, BENCH_PRODUCER), "cons_cpus",
			 role_cpus(cfg, res, BENCH_CONSUMER), "attach", string_or_null(attach));
}

static json_t *make_env(void)
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
	if (o) {
		json_object_set_new(o, "libbpf", json_string(libbpf_version_string()));
		json_object_set_new(o, "bench", json_string(BENCH_VERSION));
	}
	return o;
}

static json_t *make_noise(const struct bench_result *res)
{
	if (!res->have_noise)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:b}", "steal_pct",
			 res->noise.steal_pct < 0 ? json_null() : json_real(res->noise.steal_pct),
			 "invol_switches", count_or_null(res->noise.invol_switches), "migrations",
			 count_or_null(res->noise.migrations), "strayed", res->strayed_tid != 0);
}

static json_t *make_samples(const struct bench_result *res)
{
	json_t *a = json_array();
	size_t i;

	for (i = res->nr_warmup; a && i < res->nr_samples; i++) {
		const struct sample *s = &res->samples[i];

		json_array_append_new(
			a, json_pack("{s:I, s:I, s:I, s:I, s:I}", "t_ns", (json_int_t)s->t_ns,
				     "dt_ns", (json_int_t)s->dt_ns, "hits", (json_int_t)s->res.hits,
				     "drops", (json_int_t)s->res.drops, "false_hits",
				     (json_int_t)s->res.false_hits));
	}
	return a;
}

static json_t *make_summary(const struct bench *bench, const struct bench_config *cfg,
			    const struct bench_result *res)
{
	const struct report *report = bench->report;
	size_t n = res->nr_samples - res->nr_warmup, i, used = 0;
	const struct sample *samples = res->samples + res->nr_warmup;
	double mean, half = NAN, median = NAN, *v;
	struct report_summary sum;

	if (!n || report->sum_up(samples, n, cfg->producers, &sum))
		return json_null();
	v = calloc(3 * n, sizeof(*v));
	if (!v)
		return NULL;
	for (i = 0; i < n; i++) {
		report->observe(&samples[i], &v[used], &v[n + used]);
		if (v[n + used] > 0) {
			v[2 * n + used] = v[used] / v[n + used];
			used++;
		}
	}
	if (stats_mean_ci(v, v + n, used, CONFIDENCE, &mean, &half))
		half = NAN;
	median = stats_quantile(v + 2 * n, used, 0.5);
	free(v);
	return json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "report",
		report->name, "unit", report->unit, "mean", number_or_null(sum.mean), "stddev",
		number_or_null(sum.stddev), "median", number_or_null(median), "ci95_low",
		number_or_null(sum.mean - half), "ci95_high", number_or_null(sum.mean + half), "n",
		(json_int_t)sum.n, "drops_mean", number_or_null(sum.drops_mean), "drops_stddev",
		number_or_null(sum.drops_stddev), "latency_ns", number_or_null(sum.latency_ns),
		"false_hits_pct",
		sum.lookups ? json_real(100.0 * sum.false_hits / sum.lookups) : json_null());
}

static json_t *make_conservation(const struct bench_result *res)
{
	const struct bench_conservation *c = &res->conservation;

	if (!c->has_records)
		return json_null();
	return json_pack("{s:I, s:I, s:o, s:I, s:b}", "attempts", (json_int_t)c->attempts,
			 "submitted", (json_int_t)c->submitted, "consumed",
			 c->has_consumed ? json_integer(c->consumed) : json_null(), "drops",
			 (json_int_t)c->drops, "ok",
			 c->attempts == c->submitted + c->drops &&
				 (!c->has_consumed || c->consumed == c->submitted));
}

json_t *bench_record_make(const struct bench *bench, const struct bench_family *family,
			  const struct bench_config *cfg, const struct bench_result *res,
			  bool failed, char *const *argv)
{
	const char *status = failed ? "failed" : res->signal ? "interrupted" : "ok";

	/* A NULL among them makes json_pack() fail, and takes the others with it. */
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "schema",
			 RECORD_SCHEMA, "bench", bench->name, "argv", make_argv(argv), "params",
			 make_params(family), "config", make_config(cfg, res), "env", make_env(),
			 "noise", make_noise(res), "samples", make_samples(res), "summary",
			 make_summary(bench, cfg, res), "conservation", make_conservation(res),
			 "status", status);
}

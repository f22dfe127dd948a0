// SPDX-License-Identifier: GPL-2.0
#include "lib/cli/check.h"
#include "lib/cli/message.h"
#include "lib/run/run.h"

static int check_cpus(const char *opt, const struct cpuset *asked, struct bench_err *err)
{
	struct cpuset allowed = {};
	char have[256] = "";
	int i, ret = 0;

	for (i = 0; i < asked->cnt && !ret; i++) {
		ret = cpuset_try(asked->cpus[i]);
		if (!ret)
			continue;
		if (!cpuset_allowed(&allowed))
			cpuset_format(&allowed, have, sizeof(have));
		ret = bench_refused(err,
				    "--%s: CPU %d is not online, or not for this process: "
				    "expected some of %s",
				    opt, asked->cpus[i], have);
		cpuset_free(&allowed);
	}
	return ret;
}

static int check_consumers(const struct bench_job *job, struct bench_config *cfg,
			   struct bench_err *err)
{
	const struct bench *bench = job->bench;
	const int need = bench_consumers(job);

	if (bench->any_consumers && cfg->consumers > 1 && cfg->consumers > need) {
		if (need && !cfg->quiet)
			note("%s has %d consumer%s: -c %lld has no effect", bench->name, need,
			     need == 1 ? "" : "s", cfg->consumers);
		else if (!cfg->quiet)
			note("%s has no consumers: -c %lld has no effect", bench->name,
			     cfg->consumers);
	} else if (!need && cfg->consumers > 1) {
		return bench_refused(err,
				     "-c, --consumers: invalid value '%lld': %s has no consumer: "
				     "expected 0 or 1",
				     cfg->consumers, bench->name);
	} else if (need && cfg->consumers >= 0 && cfg->consumers != need) {
		return bench_refused(err, "-c, --consumers: invalid value '%lld': %s has %d",
				     cfg->consumers, bench->name, need);
	}
	cfg->consumers = need;
	return 0;
}

/* All samples are kept, and recorded. */
#define MAX_SAMPLES 1000000

int check_chosen(struct chosen *c, struct bench_err *err)
{
	struct bench_config *cfg = &c->cfg;
	long long samples = (cfg->warmup_s + cfg->duration_s) * 1000 / cfg->interval_ms;
	int ret;

	if (samples > MAX_SAMPLES)
		return bench_refused(err,
				     "--interval: invalid value '%lld': that makes %lld samples, "
				     "%.0f MiB: expected %lld or more with -d %lld -w %lld",
				     cfg->interval_ms, samples,
				     samples * sizeof(struct sample) / 1048576.0,
				     (cfg->warmup_s + cfg->duration_s) * 1000 / MAX_SAMPLES + 1,
				     cfg->duration_s, cfg->warmup_s);

	if (cfg->interval_ms > cfg->duration_s * 1000)
		return bench_refused(err,
				     "--interval: invalid value '%lld': longer than the measured "
				     "time, %lld s",
				     cfg->interval_ms, cfg->duration_s);
	if (cfg->prod_cpus.cnt || cfg->cons_cpus.cnt)
		cfg->affinity = true;
	ret = check_cpus("prod-affinity", &cfg->prod_cpus, err);
	if (!ret)
		ret = check_cpus("cons-affinity", &cfg->cons_cpus, err);
	if (!ret)
		ret = check_consumers(&c->job, cfg, err);
	return ret ? ret : bench_check(&c->job, err);
}

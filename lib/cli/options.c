// SPDX-License-Identifier: GPL-2.0
/* The core's options. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bpf/attach.h"
#include "lib/cli/args.h"
#include "lib/run/hwcount.h"
#include "lib/util.h"

static int parse_cpuset(const char *arg, void *dest)
{
	struct cpuset set;
	int err;

	err = cpuset_parse(arg, &set);
	if (err)
		return err;
	cpuset_free(dest);
	*(struct cpuset *)dest = set;
	return 0;
}

static void reset_cpuset(void *dest)
{
	cpuset_free(dest);
}

static int format_cpuset(const void *dest, char *buf, size_t size)
{
	return cpuset_format(dest, buf, size);
}

/* A percentage may have a fraction: that is the one number here that need not be whole. */
static int parse_pct(const char *arg, void *dest)
{
	char *end;
	double v;

	if (arg[strspn(arg, "0123456789.")] || !*arg)
		return -EINVAL;
	v = strtod(arg, &end);
	if (*end || v > 100)
		return -EINVAL;
	*(double *)dest = v;
	return 0;
}

static int parse_precision(const char *arg, void *dest)
{
	double v;

	if (parse_pct(arg, &v) || v < 0.01 || v > 50)
		return -EINVAL;
	*(double *)dest = v;
	return 0;
}

static void reset_precision(void *dest)
{
	*(double *)dest = 0;
}

static int parse_counters(const char *arg, void *dest)
{
	return hwcount_parse(arg, dest);
}

static void reset_counters(void *dest)
{
	*(unsigned int *)dest = 0;
}

static int format_counters(const void *dest, char *buf, size_t size)
{
	unsigned int set = *(const unsigned int *)dest;
	size_t used = 0, i;

	snprintf(buf, size, "off");
	for (i = 0; i < HWCOUNT_MAX && used < size; i++)
		if (set & 1U << i)
			used += snprintf(buf + used, size - used, "%s%s", used ? "," : "",
					 hwcount_names[i]);
	return used < size ? 0 : -ENOSPC;
}

static void reset_slower(void *dest)
{
	*(double *)dest = -1;
}

static int format_precision(const void *dest, char *buf, size_t size)
{
	double v = *(const double *)dest;

	snprintf(buf, size, v > 0 ? "%g" : "off", v);
	return 0;
}

static int format_slower(const void *dest, char *buf, size_t size)
{
	double v = *(const double *)dest;

	snprintf(buf, size, v >= 0 ? "%g" : "off", v);
	return 0;
}

#define DAY_S (24 * 60 * 60)

#define AT(member)     .at = offsetof(struct args, member)
#define STRING(member) AT(member), OPT_STRING
#define CPUS(member)                                                            \
	AT(member), .arg = "CPUSET", .type = OPT_CUSTOM, .parse = parse_cpuset, \
		    .reset = reset_cpuset, .format = format_cpuset,             \
		    .allowed = "CPUs such as 1,2-10,15"

const struct opt args_core_opts[] = {
	{ .name = "list",
	  .key = 'l',
	  .type = OPT_FLAG,
	  AT(list),
	  .help = "List the benchmarks, or those that match; with -v what each does and whether it "
		  "runs here" },
	{ .name = "all",
	  .type = OPT_FLAG,
	  AT(all),
	  .help = "Run every benchmark that runs here; -w0 -d1 -r8 where these are not given, and only "
		  "the summaries over the runs without -v" },
	{ .name = "duration",
	  .key = 'd',
	  .arg = "SEC",
	  .type = OPT_NUM,
	  AT(cfg.duration_s),
	  .def = 5,
	  .min = 1,
	  .max = DAY_S,
	  .help = "Measured time, seconds" },
	{ .name = "warmup",
	  .key = 'w',
	  .arg = "SEC",
	  .type = OPT_NUM,
	  AT(cfg.warmup_s),
	  .def = 1,
	  .min = 0,
	  .max = DAY_S,
	  .help = "Time thrown away before, seconds" },
	{ .name = "producers",
	  .key = 'p',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  AT(cfg.producers),
	  .def = 1,
	  .min = 1,
	  .max = BENCH_MAX_THREADS,
	  .help = "Producer threads" },
	{ .name = "consumers",
	  .key = 'c',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  AT(cfg.consumers),
	  .def = -1,
	  .def_text = "what the benchmark needs",
	  .min = 0,
	  .max = BENCH_MAX_THREADS,
	  .help = "Consumer threads" },
	{ .name = "affinity",
	  .key = 'a',
	  .type = OPT_FLAG,
	  AT(cfg.affinity),
	  .help = "Pin the threads: consumers from the first CPU up, then producers" },
	{ .name = "prod-affinity",
	  CPUS(cfg.prod_cpus),
	  .help = "CPUs for the producers; implies -a" },
	{ .name = "cons-affinity",
	  CPUS(cfg.cons_cpus),
	  .help = "CPUs for the consumers; implies -a" },
	{ .name = "verbose",
	  .key = 'v',
	  .type = OPT_FLAG,
	  AT(cfg.verbose),
	  .help = "Show what libbpf does" },
	{ .name = "quiet", .key = 'q', .type = OPT_FLAG, AT(cfg.quiet), .help = "Only the summary" },
	{ .name = "interval",
	  .arg = "MS",
	  .type = OPT_NUM,
	  AT(cfg.interval_ms),
	  .def = 1000,
	  .min = 1,
	  .max = 1000LL * DAY_S,
	  .help = "Sampling interval, milliseconds" },
	{ .name = "runs",
	  .key = 'r',
	  .arg = "NUM",
	  .type = OPT_NUM,
	  AT(runs),
	  .def = 1,
	  .min = 1,
	  .max = 100000,
	  .help = "Whole runs, each with fresh maps, programs and threads; then a summary over them. "
		  "Several benchmarks take turns" },
	{ .name = "attach",
	  .arg = "KIND",
	  .type = OPT_CHOICE,
	  AT(cfg.attach),
	  .def = ATTACH_AUTO,
	  .choices = attach_kind_names,
	  .help = "How programs are attached to a system call" },
	{ .name = "verify",
	  .type = OPT_FLAG,
	  AT(cfg.verify),
	  .help = "Check that the kernel's own run count equals what was counted; slows BPF down" },
	{ .name = "counters",
	  .arg = "LIST",
	  .implied = HWCOUNT_DEFAULT,
	  .type = OPT_CUSTOM,
	  AT(cfg.counters),
	  .parse = parse_counters,
	  .reset = reset_counters,
	  .format = format_counters,
	  .allowed = "a comma list of instructions, cycles, cache-misses, branch-misses, branches, "
		     "cache-references, bus-cycles, ref-cycles",
	  .help = "Count by hardware, per operation, in the threads and the kernel; without a list "
		  "the first four" },
	{ .name = "precision",
	  .arg = "PCT",
	  .type = OPT_CUSTOM,
	  AT(cfg.precision_pct),
	  .parse = parse_precision,
	  .reset = reset_precision,
	  .format = format_precision,
	  .allowed = "a percentage from 0.01 to 50",
	  .help = "Stop as soon as the 95 % interval of the mean is within so much of it; -d is then "
		  "the longest that it may take" },
	{ .name = "output",
	  .key = 'o',
	  .arg = "FILE",
	  STRING(output),
	  .allowed = "the name of a file, or - for standard output",
	  .help = "Append a record of each run, one JSON object per line" },
	{ .name = "resume",
	  .type = OPT_FLAG,
	  AT(resume),
	  .help = "Go on where the file of -o ends, which the same command has written on the same "
		  "kernel" },
	{ .name = "compare",
	  .key = 'C',
	  .arg = "BASE",
	  STRING(compare),
	  .allowed = "the name of a file",
	  .help = "Compare files of records: -C BASE NEW..." },
	{ .name = "match",
	  .arg = "FIELDS",
	  STRING(match),
	  .allowed = "a comma list such as bench,params,config.producers",
	  .help = "With -C: what has to be the same for two runs to be compared" },
	{ .name = "figure",
	  .arg = "NAME",
	  STRING(figure),
	  .allowed = "the name of a figure, or 'all'",
	  .help = "With -C: the figure that is compared, in place of the first of each benchmark" },
	{ .name = "markdown",
	  .type = OPT_FLAG,
	  AT(markdown),
	  .help = "With -C: the table as Markdown" },
	{ .name = "csv", .type = OPT_FLAG, AT(csv), .help = "With -C: the table as CSV" },
	{ .name = "fail-on-slower",
	  .arg = "PCT",
	  .type = OPT_CUSTOM,
	  AT(fail_on_slower_pct),
	  .parse = parse_pct,
	  .reset = reset_slower,
	  .format = format_slower,
	  .allowed = "a percentage from 0 to 100",
	  .help = "With -C: exit with 1 where a row is slower by more than that, 125 where a common "
		  "row cannot be judged" },
	{ .name = "assume-steady",
	  .type = OPT_FLAG,
	  AT(assume_steady),
	  .help = "With --fail-on-slower: 'slower?' counts, too, where the machine is known not to "
		  "drift" },
	{ .name = "show-env",
	  .type = OPT_FLAG,
	  AT(show_env),
	  .help = "Print what is known about this machine, and exit" },
	{ .name = "show-tables",
	  .type = OPT_FLAG,
	  AT(show_tables),
	  .help = "Print all benchmarks, options and figures as JSON, and exit" },
	{ .name = "help",
	  .key = 'h',
	  .type = OPT_FLAG,
	  AT(help),
	  .help = "Print this text, or with "
		  "the name of a benchmark "
		  "what it takes" },
	{ .name = "usage", .type = OPT_FLAG, AT(usage), .help = "Print a short usage message" },
	{ .name = "version",
	  .key = 'V',
	  .type = OPT_FLAG,
	  AT(version),
	  .help = "Print the version" },
};

const size_t args_nr_core_opts = ARRAY_SIZE(args_core_opts);

// SPDX-License-Identifier: GPL-2.0
#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cli/help.h"
#include "lib/text.h"

static const char doc[] =
	"Measures what BPF costs: ring buffers, maps, helpers, ways to attach.\v"
	"BENCHMARK is a name or a pattern such as 'trig-*'; there may be several, which then take "
	"turns.\n"
	"\n"
	"EXAMPLES\n"
	"  # what is there, and what this kernel can run\n"
	"  bench -l -v\n"
	"  # what one of them takes and measures\n"
	"  bench rb-custom --help\n"
	"  # ring buffer, threads pinned, 3 s of warm-up, 10 s measured\n"
	"  sudo bench -a -w3 -d10 rb-custom\n"
	"  # the same with four producers that compete\n"
	"  sudo bench -a -w3 -d10 -p4 rb-custom\n"
	"  # ten runs on each of two kernels, and what came of it\n"
	"  sudo bench -a -r10 -o base.jsonl rb-custom\n"
	"  sudo bench -a -r10 -o new.jsonl rb-custom\n"
	"  bench -C base.jsonl new.jsonl\n"
	"\n"
	"EXIT CODES\n"
	"  0 done, 1 failed, 4 this kernel or user cannot run it, 64 usage, 128 + N ended by signal N\n";

/* A table of options as argp prints it. Owned by the caller; freed by group_free(). */
struct group {
	struct argp argp;
	struct argp_option *options;
	char **texts;
	size_t nr;
};

static void group_free(struct group *g)
{
	size_t i;

	for (i = 0; g->texts && i < g->nr; i++)
		free(g->texts[i]);
	free(g->texts);
	free(g->options);
}

static int group_init(struct group *g, const struct opt *opts, size_t nr, size_t params_size)
{
	void *defaults = calloc(1, params_size + 1);
	size_t i;

	memset(g, 0, sizeof(*g));
	g->nr = nr;
	g->options = calloc(nr + 1, sizeof(*g->options));
	g->texts = calloc(nr + 1, sizeof(*g->texts));
	if (!defaults || !g->options || !g->texts) {
		free(defaults);
		return -ENOMEM;
	}
	opttab_reset(opts, nr, defaults);
	for (i = 0; i < nr; i++) {
		g->texts[i] = opt_help(&opts[i], defaults);
		g->options[i] = (struct argp_option){
			.name = opts[i].name,
			.key = opts[i].key ? opts[i].key : 0x1000 + (int)i,
			.arg = opts[i].arg,
			.flags = opts[i].implied ? OPTION_ARG_OPTIONAL : 0,
			.doc = g->texts[i],
		};
		if (!g->texts[i]) {
			free(defaults);
			return -ENOMEM;
		}
	}
	free(defaults);
	/* glibc's argp loses a block of no bytes in --help where it gets a table of no options. */
	g->argp.options = nr ? g->options : NULL;
	return 0;
}

/* All families, or the one @only, below the core where @with_core. */
static int print_options(FILE *out, const struct bench_family *only, bool with_core,
			 const char *args_doc, const char *text, unsigned int flags)
{
	const struct bench_family *f;
	struct argp_child *children;
	struct group *groups;
	size_t nr = 1, i;
	int err = 0;
	struct argp argp = { .args_doc = args_doc, .doc = text };

	for (f = bench_families; f; f = f->next)
		nr++;
	groups = calloc(nr, sizeof(*groups));
	children = calloc(nr + 1, sizeof(*children));
	if (!groups || !children) {
		free(groups);
		free(children);
		return -ENOMEM;
	}
	nr = 0;
	if (with_core)
		err = group_init(&groups[nr++], args_core_opts, args_nr_core_opts,
				 sizeof(struct args));
	for (f = bench_families; f && !err; f = f->next) {
		if (!f->nr_opts || (only && f != only))
			continue;
		err = group_init(&groups[nr], f->opts, f->nr_opts, f->params_size);
		children[nr++].header = f->title;
	}
	for (i = 0; i < nr; i++) {
		children[i].argp = &groups[i].argp;
		children[i].group = i;
	}
	argp.children = children;
	if (!err)
		argp_help(&argp, out, flags, "bench");
	for (i = 0; i < nr; i++)
		group_free(&groups[i]);
	free(groups);
	free(children);
	return err;
}

static int print_core_names(FILE *out)
{
	char *names = NULL;
	size_t size, i;
	FILE *f = open_memstream(&names, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fputs("Options of all benchmarks ('bench --help' explains them):", f);
	for (i = 0; i < args_nr_core_opts; i++) {
		const struct opt *opt = &args_core_opts[i];

		if (opt->key)
			fprintf(f, " -%c%s%s", opt->key, opt->arg ? "\u00A0" : "",
				opt->arg ? opt->arg : "");
		else
			fprintf(f, " --%s%s%s%s", opt->name,
				opt->implied ? "[=" :
				opt->arg     ? "=" :
					       "",
				opt->arg ? opt->arg : "", opt->implied ? "]" : "");
	}
	err = fclose(f) ? -ENOMEM : text_wrap(out, "", "  ", names, 79);
	free(names);
	return err;
}

static const char *better_words(enum figure_better better)
{
	return better == BETTER_HIGHER ? ", higher is better" :
	       better == BETTER_LOWER  ? ", lower is better" :
					 "";
}

static int print_bench(const struct bench *bench, FILE *out)
{
	size_t i;
	int err = 0;

	fprintf(out, "%s", bench->name);
	for (i = 0; bench->aliases && bench->aliases[i]; i++)
		fprintf(out, "%s%s", i ? ", " : " (also ", bench->aliases[i]);
	fprintf(out, "%s\n", i ? ")" : "");
	err = text_wrap(out, "  ", "  ", bench->desc, 79);
	if (!err && bench->needs)
		fprintf(out, "  requires %s\n", bench->needs);
	for (i = 0; i < bench->report->nr_figures; i++) {
		const struct figure *f = &bench->report->figures[i];

		fprintf(out, "  %-18s %-8s %s%s\n", f->name, f->unit, f->help,
			better_words(f->better));
	}
	return err;
}

static int print_family(const struct args *args, const struct bench_family *family, FILE *out)
{
	size_t i;
	int err = 0;

	for (i = 0; i < args->nr_chosen && !err; i++) {
		if (args->chosen[i].family != family)
			continue;
		err = print_bench(args->chosen[i].job.bench, out);
		fputc('\n', out);
	}
	if (!err && family->nr_opts) {
		err = print_options(out, family, false, NULL, NULL, ARGP_HELP_LONG);
		fputc('\n', out);
	}
	return err;
}

int help_print(const struct args *args, FILE *out)
{
	const struct bench_family *f;
	size_t i;
	int err = 0;

	if (!args->nr_chosen)
		return print_options(out, NULL, true, "BENCHMARK...", doc,
				     ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
	for (f = bench_families; f && !err; f = f->next) {
		for (i = 0; i < args->nr_chosen && args->chosen[i].family != f; i++)
			;
		if (i < args->nr_chosen)
			err = print_family(args, f, out);
	}
	return err ? err : print_core_names(out);
}

int help_usage(FILE *out)
{
	return print_options(out, NULL, true, "BENCHMARK...", NULL, ARGP_HELP_USAGE);
}

/* ---- the tables as JSON */

static json_t *string_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *opt_json(const struct opt *opt, const void *defaults)
{
	static const char *const types[] = {
		[OPT_FLAG] = "flag",	 [OPT_NUM] = "number",	 [OPT_SIZE] = "size",
		[OPT_CHOICE] = "choice", [OPT_CUSTOM] = "other",
	};
	char def[256] = "", key[2] = { opt->key };
	json_t *o, *choices = json_array();
	size_t i;

	opt_format(opt, defaults, def, sizeof(def));
	o = json_pack("{s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:b}", "name", opt->name, "alias",
		      string_or_null(opt->alias), "letter", string_or_null(opt->key ? key : NULL),
		      "arg", string_or_null(opt->implied ? NULL : opt->arg), "type",
		      types[opt->type], "default", json_string(opt->def_text ? opt->def_text : def),
		      "help", opt->help, "subject", opt->is_subject);
	for (i = 0; opt->type == OPT_CHOICE && opt->choices[i]; i++)
		json_array_append_new(choices, json_string(opt->choices[i]));
	if (opt->type == OPT_CHOICE)
		json_object_set(o, "choices", choices);
	json_decref(choices);
	if (opt->type == OPT_NUM || opt->type == OPT_SIZE) {
		json_object_set_new(o, "min", json_integer(opt->min));
		json_object_set_new(o, "max", json_integer(opt->max));
		/* For readers whose numbers are doubles. */
		json_object_set_new(o, "range", json_sprintf("%lld to %lld", opt->min, opt->max));
	}
	if (opt->allowed)
		json_object_set_new(o, "expected", json_string(opt->allowed));
	return o;
}

static json_t *opts_json(const struct opt *opts, size_t nr, size_t params_size)
{
	void *defaults = calloc(1, params_size + 1);
	json_t *a = json_array();
	size_t i;

	if (defaults)
		opttab_reset(opts, nr, defaults);
	for (i = 0; defaults && i < nr; i++)
		json_array_append_new(a, opt_json(&opts[i], defaults));
	free(defaults);
	return a;
}

/* Of the figure whose raw value, in ns, is the time that @f is divided by; NULL: it is all time. */
static const char *section_of(const struct report *report, const struct figure *f)
{
	size_t i;

	for (i = 0; f->in_section && i < report->nr_figures; i++)
		if (report->figures[i].kind == FIGURE_SECTION)
			return report->figures[i].name;
	return NULL;
}

static json_t *figures_json(const struct report *report)
{
	json_t *a = json_array();
	size_t i;

	for (i = 0; i < report->nr_figures; i++) {
		const struct figure *f = &report->figures[i];

		json_array_append_new(
			a,
			json_pack("{s:s, s:s, s:s, s:s, s:b, s:o, s:s}", "name", f->name, "unit",
				  f->unit, "kind", figure_kind_name(f->kind), "better",
				  figure_better_name(f->better), "raw", figure_is_raw(f), "section",
				  string_or_null(section_of(report, f)), "help", f->help));
	}
	return a;
}

static json_t *bench_json(const struct bench *b)
{
	json_t *aliases = json_array();
	size_t i;

	for (i = 0; b->aliases && b->aliases[i]; i++)
		json_array_append_new(aliases, json_string(b->aliases[i]));
	return json_pack("{s:s, s:o, s:s, s:o, s:b, s:b, s:b, s:s, s:o}", "name", b->name,
			 "aliases", aliases, "desc", b->desc, "requires", string_or_null(b->needs),
			 "bpf", !b->no_bpf, "consumer", b->consumer != NULL, "conserves",
			 b->conserve != NULL, "report", b->report->name, "figures",
			 figures_json(b->report));
}

static json_t *family_json(const struct bench_family *f)
{
	json_t *benchs = json_array();
	size_t i;

	for (i = 0; i < f->nr_benchs; i++)
		json_array_append_new(benchs, bench_json(f->benchs[i]));
	return json_pack("{s:s, s:s, s:o, s:o}", "title", f->title, "about", f->about, "options",
			 opts_json(f->opts, f->nr_opts, f->params_size), "benchmarks", benchs);
}

int help_tables(FILE *out)
{
	const struct bench_family *f;
	json_t *families = json_array(), *all;
	int err;

	for (f = bench_families; f; f = f->next)
		json_array_append_new(families, family_json(f));
	all = json_pack("{s:o, s:o}", "options",
			opts_json(args_core_opts, args_nr_core_opts, sizeof(struct args)),
			"families", families);
	if (!all)
		return -ENOMEM;
	err = json_dumpf(all, out, JSON_INDENT(2)) ? -EIO : 0;
	fputc('\n', out);
	json_decref(all);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/num.h"
#include "lib/opttab.h"
#include "lib/text.h"

/* argp keys of options without a letter; argp takes keys above 255 for long-only options. */
#define LONG_KEY(i) (0x1000 + (int)(i))

static void opt_reset(const struct opt *opt)
{
	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)opt->dest = false;
		break;
	case OPT_NUM:
		*(long long *)opt->dest = opt->def;
		break;
	case OPT_CHOICE:
		*(int *)opt->dest = opt->def;
		break;
	case OPT_CUSTOM:
		opt->reset(opt->dest);
		break;
	}
}

int opt_format(const struct opt *opt, char *buf, size_t size)
{
	int n;

	switch (opt->type) {
	case OPT_FLAG:
		n = snprintf(buf, size, "%s", *(bool *)opt->dest ? "true" : "false");
		break;
	case OPT_NUM:
		n = snprintf(buf, size, "%lld", *(long long *)opt->dest);
		break;
	case OPT_CHOICE:
		n = snprintf(buf, size, "%s", opt->choices[*(int *)opt->dest]);
		break;
	default:
		return opt->format(opt->dest, buf, size);
	}
	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

int opt_power_of_two(const char *arg, void *dest)
{
	long long v = *(long long *)dest;

	return v > 0 && !(v & (v - 1)) ? 0 : -EINVAL;
}

/* What the option takes, in words, for the refusal and for --help. */
static void opt_allowed(const struct opt *opt, char *buf, size_t size)
{
	size_t used = 0;
	int i;

	buf[0] = '\0';
	if (opt->type == OPT_CHOICE) {
		for (i = 0; opt->choices[i] && used < size; i++)
			used += snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
					 opt->choices[i]);
	} else if (opt->type == OPT_NUM) {
		snprintf(buf, size, "%s from %lld to %lld",
			 opt->allowed ? opt->allowed : "a whole number", opt->min, opt->max);
	} else if (opt->allowed) {
		snprintf(buf, size, "%s", opt->allowed);
	}
}

static int opt_parse(const struct opt *opt, const char *arg)
{
	long long v, before;
	int i, err;

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)opt->dest = true;
		return 0;
	case OPT_NUM:
		err = num_parse(arg, opt->min, opt->max, &v);
		if (err)
			return err;
		before = *(long long *)opt->dest;
		*(long long *)opt->dest = v;
		err = opt->parse ? opt->parse(arg, opt->dest) : 0;
		if (err)
			*(long long *)opt->dest = before;
		return err;
	case OPT_CHOICE:
		for (i = 0; opt->choices[i]; i++) {
			if (!strcmp(opt->choices[i], arg)) {
				*(int *)opt->dest = i;
				return 0;
			}
		}
		return -EINVAL;
	case OPT_CUSTOM:
		return opt->parse(arg, opt->dest);
	}
	return -EINVAL;
}

static int opttab_find(const struct opttab *tab, int key)
{
	size_t i;

	for (i = 0; i < tab->cnt; i++)
		if (key == LONG_KEY(i) || (tab->opts[i].key && key == tab->opts[i].key))
			return i;
	return -1;
}

/* As much of a value as still leaves room for what is allowed in its place. */
#define MAX_SHOWN 60

static void refuse(struct opttab *tab, const struct opt *opt, const char *arg)
{
	char *shown = text_shortened(arg, MAX_SHOWN), letter[8] = "", allowed[256];

	opt_allowed(opt, allowed, sizeof(allowed));
	if (opt->key)
		snprintf(letter, sizeof(letter), "-%c, ", opt->key);
	snprintf(tab->err, tab->err_size, "%s--%s: '%s' is not allowed: it takes %s", letter,
		 opt->name, shown ? shown : "?", allowed);
	free(shown);
}

static error_t opttab_parser(int key, char *arg, struct argp_state *state)
{
	struct opttab *tab = state->input;
	const struct opt *opt;
	int i, err;

	i = tab ? opttab_find(tab, key) : -1;
	if (i < 0)
		return ARGP_ERR_UNKNOWN;
	opt = &tab->opts[i];
	err = opt_parse(opt, arg);
	if (!err) {
		tab->given[i] = true;
		return 0;
	}
	refuse(tab, opt, arg);
	/* argp_parse() stops and returns it, with nothing printed. */
	return EINVAL;
}

/* "TEXT (500; 1 to 100000)": the default and the range stand in --help because they stand here. */
static char *opt_help(const struct opt *opt)
{
	char def[128] = "", allowed[512] = "", *s;
	const char *sep = "";

	if (opt->def_text)
		snprintf(def, sizeof(def), "%s", opt->def_text);
	else if (opt->type != OPT_FLAG)
		opt_format(opt, def, sizeof(def));
	if (opt->type == OPT_NUM && opt->allowed)
		snprintf(allowed, sizeof(allowed), "%s, %lld to %lld", opt->allowed, opt->min,
			 opt->max);
	else if (opt->type == OPT_NUM)
		snprintf(allowed, sizeof(allowed), "%lld to %lld", opt->min, opt->max);
	else if (opt->type != OPT_FLAG)
		opt_allowed(opt, allowed, sizeof(allowed));
	if (def[0] && allowed[0])
		sep = "; ";
	if (!def[0] && !allowed[0])
		return strdup(opt->help);
	if (asprintf(&s, "%s (%s%s%s%s)", opt->help, def[0] ? "default " : "", def, sep, allowed) <
	    0)
		return NULL;
	return s;
}

int opttab_init(struct opttab *tab, const char *title, const struct opt *opts, size_t cnt,
		char *err, size_t err_size)
{
	struct argp_option *o;
	size_t i;

	memset(tab, 0, sizeof(*tab));
	tab->title = title;
	tab->opts = opts;
	tab->cnt = cnt;
	tab->err = err;
	tab->err_size = err_size;
	/* At most an option and an alias a row, and the end. */
	tab->argp_opts = calloc(2 * cnt + 1, sizeof(*tab->argp_opts));
	tab->help = calloc(cnt, sizeof(*tab->help));
	tab->given = calloc(cnt ? cnt : 1, sizeof(*tab->given));
	if (!tab->argp_opts || (cnt && !tab->help) || !tab->given)
		goto nomem;

	o = tab->argp_opts;
	for (i = 0; i < cnt; i++) {
		opt_reset(&opts[i]);
		tab->help[i] = opt_help(&opts[i]);
		if (!tab->help[i])
			goto nomem;
		o->name = opts[i].name;
		o->key = opts[i].key ? opts[i].key : LONG_KEY(i);
		o->arg = opts[i].arg;
		o->doc = tab->help[i];
		o++;
		if (opts[i].alias) {
			o->name = opts[i].alias;
			o->key = LONG_KEY(i);
			o->arg = opts[i].arg;
			o->flags = OPTION_HIDDEN;
			o++;
		}
	}
	/* glibc's argp loses a block of no bytes in --help where it gets a table of no options. */
	tab->argp.options = cnt ? tab->argp_opts : NULL;
	tab->argp.parser = opttab_parser;
	return 0;
nomem:
	opttab_free(tab);
	return -ENOMEM;
}

void opttab_free(struct opttab *tab)
{
	size_t i;

	for (i = 0; tab->help && i < tab->cnt; i++)
		free(tab->help[i]);
	free(tab->help);
	free(tab->argp_opts);
	free(tab->given);
	memset(tab, 0, sizeof(*tab));
}

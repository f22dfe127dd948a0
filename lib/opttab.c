// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/num.h"
#include "lib/opttab.h"
#include "lib/text.h"

static bool is_number(const struct opt *opt)
{
	return opt->type == OPT_NUM || opt->type == OPT_SIZE;
}

static size_t value_size(const struct opt *opt)
{
	switch (opt->type) {
	case OPT_FLAG:
		return sizeof(bool);
	case OPT_CHOICE:
		return sizeof(int);
	case OPT_CUSTOM:
		return 1; /* not known here */
	default:
		return sizeof(long long);
	}
}

static void opt_reset(const struct opt *opt, void *base)
{
	void *dest = opt_dest(opt, base);

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)dest = false;
		break;
	case OPT_NUM:
	case OPT_SIZE:
		*(long long *)dest = opt->def;
		break;
	case OPT_CHOICE:
		*(int *)dest = opt->def;
		break;
	case OPT_CUSTOM:
		opt->reset(dest);
		break;
	}
}

void opttab_reset(const struct opt *opts, size_t nr, void *base)
{
	size_t i;

	for (i = 0; i < nr; i++)
		opt_reset(&opts[i], base);
}

int opt_format(const struct opt *opt, const void *base, char *buf, size_t size)
{
	const void *src = opt_dest(opt, (void *)base);
	int n;

	switch (opt->type) {
	case OPT_FLAG:
		n = snprintf(buf, size, "%s", *(const bool *)src ? "true" : "false");
		break;
	case OPT_NUM:
	case OPT_SIZE:
		n = snprintf(buf, size, "%lld", *(const long long *)src);
		break;
	case OPT_CHOICE:
		n = snprintf(buf, size, "%s", opt->choices[*(const int *)src]);
		break;
	default:
		return opt->format(src, buf, size);
	}
	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

int opt_power_of_two(const char *arg, void *dest)
{
	long long v = *(long long *)dest;

	return v > 0 && !(v & (v - 1)) ? 0 : -EINVAL;
}

int opt_string_parse(const char *arg, void *dest)
{
	if (!*arg)
		return -EINVAL;
	*(const char **)dest = arg;
	return 0;
}

void opt_string_reset(void *dest)
{
	*(const char **)dest = NULL;
}

int opt_string_format(const void *dest, char *buf, size_t size)
{
	const char *s = *(const char *const *)dest;
	int n = snprintf(buf, size, "%s", s ? s : "");

	return n < 0 || (size_t)n >= size ? -ENOSPC : 0;
}

/* What the option expects, in words, for the refusal and for --help. */
static void opt_expected(const struct opt *opt, char *buf, size_t size)
{
	size_t used = 0;
	int i;

	buf[0] = '\0';
	if (opt->type == OPT_CHOICE && !opt->allowed) {
		for (i = 0; opt->choices[i] && used < size; i++)
			used += snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
					 opt->choices[i]);
	} else if (is_number(opt)) {
		snprintf(buf, size, "%s from %lld to %lld",
			 opt->allowed ? opt->allowed : "a whole number", opt->min, opt->max);
	} else if (opt->allowed) {
		snprintf(buf, size, "%s", opt->allowed);
	}
}

static int parse_number(const struct opt *opt, const char *arg, long long *dest)
{
	long long v, before = *dest;
	int err;

	err = opt->type == OPT_SIZE ? num_parse_size(arg, opt->min, opt->max, &v) :
				      num_parse(arg, opt->min, opt->max, &v);
	if (err)
		return err;
	*dest = v;
	err = opt->parse ? opt->parse(arg, dest) : 0;
	if (err)
		*dest = before;
	return err;
}

static int opt_parse(const struct opt *opt, const char *arg, void *dest)
{
	int i;

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)dest = true;
		return 0;
	case OPT_NUM:
	case OPT_SIZE:
		return parse_number(opt, arg, dest);
	case OPT_CHOICE:
		for (i = 0; opt->choices[i]; i++) {
			if (!strcmp(opt->choices[i], arg)) {
				*(int *)dest = i;
				return 0;
			}
		}
		return -EINVAL;
	case OPT_CUSTOM:
		return opt->parse(arg, dest);
	}
	return -EINVAL;
}

/* As much of a value as still leaves room for what is expected in its place. */
#define MAX_SHOWN 60

int opt_set(const struct opt *opt, const char *arg, void *base, char *err, size_t err_size)
{
	char *shown, letter[8] = "", expected[256];
	const char *nearest;
	size_t nr = 0;

	if (!arg)
		arg = opt->implied;
	if (!opt_parse(opt, arg, opt_dest(opt, base)))
		return 0;
	shown = text_shortened(arg, MAX_SHOWN);
	opt_expected(opt, expected, sizeof(expected));
	while (opt->type == OPT_CHOICE && opt->choices[nr])
		nr++;
	nearest = nr ? text_nearest(arg, opt->choices, nr) : NULL;
	if (opt->key)
		snprintf(letter, sizeof(letter), "-%c, ", opt->key);
	snprintf(err, err_size, "%s--%s: invalid value '%s': expected %s%s%s%s", letter, opt->name,
		 shown ? shown : "?", expected, nearest ? " (did you mean '" : "",
		 nearest ? nearest : "", nearest ? "'?)" : "");
	free(shown);
	return -EINVAL;
}

/* The default and the range stand in --help because they stand here. */
char *opt_help(const struct opt *opt, const void *defaults)
{
	char def[128] = "", allowed[512] = "", *s;
	const char *sep = "";

	if (opt->def_text)
		snprintf(def, sizeof(def), "%s", opt->def_text);
	else if (opt->type != OPT_FLAG)
		opt_format(opt, defaults, def, sizeof(def));
	if (is_number(opt) && opt->allowed)
		snprintf(allowed, sizeof(allowed), "%s, %lld to %lld", opt->allowed, opt->min,
			 opt->max);
	else if (is_number(opt))
		snprintf(allowed, sizeof(allowed), "%lld to %lld", opt->min, opt->max);
	else if (opt->type != OPT_FLAG)
		opt_expected(opt, allowed, sizeof(allowed));
	if (def[0] && allowed[0])
		sep = "; ";
	if (!def[0] && !allowed[0])
		return strdup(opt->help);
	if (asprintf(&s, "%s (%s%s%s%s)", opt->help, def[0] ? "default " : "", def, sep, allowed) <
	    0)
		return NULL;
	return s;
}

static bool is_called(const struct opt *opt, const char *name)
{
	return name && (!strcmp(opt->name, name) || (opt->alias && !strcmp(opt->alias, name)));
}

const struct opt *opttab_find(const struct opt *opts, size_t nr, const char *name)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (is_called(&opts[i], name))
			return &opts[i];
	return NULL;
}

static bool has_choice(const struct opt *opt, long long index)
{
	long long i;

	for (i = 0; opt->choices[i]; i++)
		if (i == index)
			return true;
	return false;
}

static const char *row_fault(const struct opt *opts, size_t i, size_t base_size)
{
	const struct opt *opt = &opts[i];
	size_t k;

	if (!opt->help)
		return "has no help";
	if (!opt->arg != (opt->type == OPT_FLAG))
		return opt->arg ? "is a flag with an argument" : "has no name for its argument";
	if (opt->at + value_size(opt) > base_size)
		return "lies outside of the struct for its value";
	if (is_number(opt) && !opt->def_text && (opt->def < opt->min || opt->def > opt->max))
		return "has a default outside of its range";
	if (opt->type == OPT_CHOICE && !opt->choices)
		return "has no choices";
	if (opt->type == OPT_CHOICE && !has_choice(opt, opt->def))
		return "has a default that is none of its choices";
	if (opt->type == OPT_CUSTOM && (!opt->parse || !opt->reset || !opt->format))
		return "lacks one of parse, reset and format";
	for (k = 0; k < i; k++) {
		if (is_called(&opts[k], opt->name) || is_called(&opts[k], opt->alias))
			return "is there twice";
		if (opt->key && opts[k].key == opt->key)
			return "has another one's letter";
	}
	return NULL;
}

int opttab_check(const struct opt *opts, size_t nr, size_t base_size, char *err, size_t err_size)
{
	const char *fault;
	size_t i;

	for (i = 0; i < nr; i++) {
		fault = opts[i].name ? row_fault(opts, i, base_size) : "has no name";
		if (!fault)
			continue;
		snprintf(err, err_size, "option '%s' %s", opts[i].name ? opts[i].name : "", fault);
		return -EINVAL;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options as data. A row names an option, where its value goes, its default and its range; the argp
 * parser, strict checking, the message on refusal, default and range in --help follow from it.
 */
#ifndef LIB_OPTTAB_H
#define LIB_OPTTAB_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum opt_type {
	OPT_FLAG, /* dest: bool *, set to true */
	OPT_NUM, /* dest: long long *, whole number from min to max */
	OPT_CHOICE, /* dest: int *, index into choices */
	OPT_CUSTOM, /* dest: as the row's functions have it */
};

struct opt {
	const char *name;
	const char *alias; /* another spelling, hidden in --help; or NULL */
	int key; /* short option character, or 0 */
	const char *arg; /* name of the argument in --help; NULL for flags */
	enum opt_type type;
	void *dest; /* static storage; holds the default after opttab_init() */
	long long def, min, max; /* OPT_NUM; def: OPT_CHOICE as well (index) */
	const char *def_text; /* OPT_NUM: the default in words, where def is only a mark */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	const char *help; /* default and range are appended */
	const char *allowed; /* OPT_NUM and OPT_CUSTOM: says in words what is allowed; or NULL */

	/*
	 * OPT_CUSTOM: parse returns 0 or -errno and leaves *dest alone on error; reset puts the
	 * default in; format writes the value as it would be typed. For OPT_NUM a parse function
	 * (may be NULL) checks the number further, such as for a power of two.
	 */
	int (*parse)(const char *arg, void *dest);
	void (*reset)(void *dest);
	int (*format)(const void *dest, char *buf, size_t size);
};

/* A table of options with what argp needs to know of it. Owned by the caller. */
struct opttab {
	const char *title; /* heading in --help; NULL: none */
	const struct opt *opts;
	size_t cnt;

	struct argp argp; /* made by opttab_init(); give it opttab * as its input */
	struct argp_option *argp_opts;
	char **help;
	bool *given; /* given[i]: opts[i] was on the command line */
	char *err; /* where a refusal is written, one line */
	size_t err_size;
};

/*
 * Puts all defaults in and makes tab->argp. Refusals are written to @err; the parser then returns
 * EINVAL and argp_parse() gives it back. Returns 0 or -ENOMEM.
 */
int opttab_init(struct opttab *tab, const char *title, const struct opt *opts, size_t cnt,
		char *err, size_t err_size);
void opttab_free(struct opttab *tab);

/* Value of @opt as it would be typed (flags: "true", "false"), into @buf. Returns 0 or -errno. */
int opt_format(const struct opt *opt, char *buf, size_t size);

/* For OPT_NUM rows: 0 where the number is a power of two, else -EINVAL. */
int opt_power_of_two(const char *arg, void *dest);

#endif /* LIB_OPTTAB_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Options as data. A row names an option, the member of a struct that its value goes to, its
 * default and its range; strict parsing, the message on refusal, default and range in --help, and
 * the value in a record follow from it.
 */
#ifndef LIB_OPTTAB_H
#define LIB_OPTTAB_H

#include <stdbool.h>
#include <stddef.h>

enum opt_type {
	OPT_FLAG, /* bool, set to true */
	OPT_NUM, /* long long, a whole number from min to max */
	OPT_SIZE, /* the same in bytes; K, M, G may follow the number */
	OPT_CHOICE, /* int, index into choices */
	OPT_CUSTOM, /* as the row's functions have it */
};

struct opt {
	const char *name;
	const char *alias; /* another spelling, hidden in --help; or NULL */
	int key; /* short option character, or 0 */
	const char *arg; /* name of the argument in --help; NULL for flags */
	const char *implied; /* the argument where none is given, which then is optional; or NULL */
	enum opt_type type;
	size_t at; /* offset of the value in the struct that the table is for */
	long long def, min, max; /* OPT_NUM, OPT_SIZE; def: OPT_CHOICE as well (index) */
	const char *def_text; /* OPT_NUM: the default in words, where def is only a mark */
	const char *const *choices; /* OPT_CHOICE: NULL-terminated */
	const char *help; /* default and range are appended */
	const char *allowed; /* what is expected, in words; choices: in place of a list; or NULL */
	/*
	 * Names what is measured, such as a file: no parameter of it, so that runs with another
	 * file are runs of the same row. The benchmark records it as a fact.
	 */
	bool is_subject;
	bool is_quiet; /* implies -q */
	bool sizes_program; /* a smaller value makes the BPF program smaller */

	/*
	 * OPT_CUSTOM: parse returns 0 or -errno and leaves *dest alone on error; reset puts the
	 * default in; format writes the value as it would be typed. For OPT_NUM and OPT_SIZE a
	 * parse function (may be NULL) checks the number further, such as for a power of two.
	 */
	int (*parse)(const char *arg, void *dest);
	void (*reset)(void *dest);
	int (*format)(const void *dest, char *buf, size_t size);
};

/* @base, here and below: the struct that the values of the table are in. */
static inline void *opt_dest(const struct opt *opt, void *base)
{
	return (char *)base + opt->at;
}

/* Sets all options to their defaults. */
void opttab_reset(const struct opt *opts, size_t nr, void *base);

/*
 * Sets @opt to @arg (NULL for flags). Returns 0, or -EINVAL with one line for the user in @err:
 * "-d, --duration: invalid value '5x': expected a whole number from 1 to 86400".
 */
int opt_set(const struct opt *opt, const char *arg, void *base, char *err, size_t err_size);

/* Value of @opt as it would be typed (flags: "true", "false"), into @buf. Returns 0 or -errno. */
int opt_format(const struct opt *opt, const void *base, char *buf, size_t size);

/* "TEXT (default 500; 1 to 100000)", to be freed by free(); NULL: no memory. */
char *opt_help(const struct opt *opt, const void *defaults);

/* The row with this name or alias, or NULL. */
const struct opt *opttab_find(const struct opt *opts, size_t nr, const char *name);

/*
 * What is wrong with a table, for whoever writes one: two options of one name, a row without what
 * its type needs. Returns 0, or -EINVAL with the reason in @err.
 */
int opttab_check(const struct opt *opts, size_t nr, size_t base_size, char *err, size_t err_size);

/*
 * What an OPT_CUSTOM row needs for a const char *: NULL, or the argument as typed, which is not "".
 */
#define OPT_STRING                                                                \
	.type = OPT_CUSTOM, .parse = opt_string_parse, .reset = opt_string_reset, \
	.format = opt_string_format
int opt_string_parse(const char *arg, void *dest);
void opt_string_reset(void *dest);
int opt_string_format(const void *dest, char *buf, size_t size);

/* For OPT_NUM and OPT_SIZE rows: 0 where the number is a power of two, else -EINVAL. */
int opt_power_of_two(const char *arg, void *dest);

#endif /* LIB_OPTTAB_H */

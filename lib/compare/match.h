/* SPDX-License-Identifier: GPL-2.0 */
/* What two records must have in common to be runs of one row: the argument of --match. */
#ifndef LIB_COMPARE_MATCH_H
#define LIB_COMPARE_MATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct match_item {
	const char *section; /* NULL: "bench" */
	const char *name; /* NULL: the whole section; else into struct match's copy */
};

struct match {
	char *copy;
	struct match_item *items;
	size_t cnt;
	bool by_params; /* the whole section is among the items */
	bool any_clock; /* records of time and of instructions may be in one row */
};

/*
 * Reads the comma list @arg (NULL: the default). To be freed by match_free() in any case. Returns
 * 0, -ENOMEM, or -EINVAL where it makes no sense; then the message is in @err.
 */
int match_parse(const char *arg, struct match *m, char *err, size_t err_size);
void match_free(struct match *m);

/*
 * A text, to be freed by free(), that two records share where all items are equal, or all but the
 * whole of params: what is left to match_params() then. NULL: no memory.
 */
char *match_key(const struct match *m, const json_t *record, bool but_params);

/*
 * Have @a and @b the same parameters? One that only one of them has does not count where its value
 * is the default, by that record's own account: it is an option that the version which wrote the
 * other record did not have.
 */
bool match_params(const json_t *a, const json_t *b);

#endif /* LIB_COMPARE_MATCH_H */

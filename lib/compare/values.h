/* SPDX-License-Identifier: GPL-2.0 */
/* Values of records as text, and sets of them. */
#ifndef LIB_COMPARE_VALUES_H
#define LIB_COMPARE_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Values and how many records have them: a JSON object of numbers, in order of appearance. */
typedef json_t *value_set;

/* @record's value of @name in @section (NULL: of the record itself); NULL: it has none. */
json_t *value_find(const json_t *record, const char *section, const char *name);

/* A value as text, to be freed by free(); NULL: no memory. */
char *value_text(const json_t *value);

/* One more record with the value @text. Returns 0 or -ENOMEM. */
int value_set_add(value_set set, const char *text);

/*
 * Values of a field among @nr records, to be released by json_decref(); records without the field
 * do not count, and with @but_defaults neither do those with its default. NULL: no memory.
 */
value_set value_set_make(json_t *const *records, size_t nr, const char *section, const char *name,
			 bool but_defaults);

/* Have @a and @b the same values? Their numbers do not matter. */
bool value_set_equal(value_set a, value_set b);

bool value_sets_overlap(value_set a, value_set b);

/*
 * The values of @set and how many records have each, such as "6.19 (3 runs), 6.18 (1 run)";
 * "absent" for none. To be freed by free(); NULL: no memory.
 */
char *value_set_text(value_set set);

#endif /* LIB_COMPARE_VALUES_H */

// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/record.h"

json_t *value_find(const json_t *record, const char *section, const char *name)
{
	return json_object_get(section ? json_object_get(record, section) : record, name);
}

char *value_text(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	if (json_is_null(value))
		return strdup("none");
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
}

int value_set_add(value_set set, const char *text)
{
	json_int_t cnt = json_integer_value(json_object_get(set, text));

	return json_object_set_new_nocheck(set, text, json_integer(cnt + 1)) ? -ENOMEM : 0;
}

value_set value_set_make(json_t *const *records, size_t nr, const char *section, const char *name,
			 bool but_defaults)
{
	value_set set = json_object();
	const json_t *value;
	char *text;
	size_t i;
	int err;

	for (i = 0; set && i < nr; i++) {
		value = value_find(records[i], section, name);
		if (!value || (but_defaults && record_is_default(records[i], name, value)))
			continue;
		text = value_text(value);
		err = text ? value_set_add(set, text) : -ENOMEM;
		free(text);
		if (err) {
			json_decref(set);
			return NULL;
		}
	}
	return set;
}

bool value_set_equal(value_set a, value_set b)
{
	const char *value;
	json_t *cnt;

	json_object_foreach(a, value, cnt)
		if (!json_object_get(b, value))
			return false;
	return json_object_size(a) == json_object_size(b);
}

bool value_sets_overlap(value_set a, value_set b)
{
	const char *value;
	json_t *cnt;

	json_object_foreach(a, value, cnt)
		if (json_object_get(b, value))
			return true;
	return false;
}

/* Values beyond these help nobody. */
#define MAX_VALUES 4

char *value_set_text(value_set set)
{
	size_t nr = 0, size;
	const char *value;
	char *text = NULL;
	json_t *cnt;
	FILE *out;

	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	if (!json_object_size(set))
		fputs("absent", out);
	json_object_foreach(set, value, cnt) {
		if (nr++ == MAX_VALUES) {
			fprintf(out, ", and %zu more", json_object_size(set) - MAX_VALUES);
			break;
		}
		fprintf(out, "%s%s", nr > 1 ? ", " : "", value);
		if (json_object_size(set) > 1)
			fprintf(out, " (%" JSON_INTEGER_FORMAT " run%s)", json_integer_value(cnt),
				json_integer_value(cnt) == 1 ? "" : "s");
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

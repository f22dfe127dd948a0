// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/values.h"
#include "lib/record.h"
#include "lib/text.h"
#include "lib/util.h"

static const char *const sections[] = { "params", "config", "env" };

void match_free(struct match *m)
{
	free(m->copy);
	free(m->items);
}

static int add_item(struct match *m, char *word)
{
	struct match_item item = {}, *grown;
	char *dot = strchr(word, '.');
	size_t len = dot ? (size_t)(dot - word) : strlen(word), i;

	if (!strcmp(word, "bench")) {
		item.name = "bench";
	} else {
		for (i = 0; i < ARRAY_SIZE(sections); i++)
			if (strlen(sections[i]) == len && !strncmp(word, sections[i], len))
				item.section = sections[i];
		/* All of env holds the time, which no two runs have in common. */
		if (!item.section || (dot && !dot[1]) || (!dot && !strcmp(word, "env")))
			return -EINVAL;
		item.name = dot ? dot + 1 : NULL;
	}
	grown = realloc(m->items, (m->cnt + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->items = grown;
	m->items[m->cnt++] = item;
	m->by_params = m->by_params || (!item.name && !strcmp(item.section, "params"));
	return 0;
}

int match_parse(const char *arg, struct match *m, char *err, size_t err_size)
{
	char *rest, *word;
	int ret;

	memset(m, 0, sizeof(*m));
	m->copy = strdup(arg ? arg : "bench,params,config");
	if (!m->copy)
		return text_fail(err, err_size, -ENOMEM, "%s", strerror(ENOMEM));
	rest = m->copy;
	while ((word = strsep(&rest, ","))) {
		if (!strcmp(word, "any-clock")) {
			m->any_clock = true;
			continue;
		}
		ret = add_item(m, word);
		if (ret == -EINVAL)
			return text_fail(err, err_size, ret,
					 "--match: invalid value '%s': expected a comma list of "
					 "bench, params, config, or single fields such as "
					 "config.producers, params.rb-b2b or env.host",
					 word);
		if (ret)
			return text_fail(err, err_size, ret, "%s", strerror(-ret));
	}
	return 0;
}

char *match_key(const struct match *m, const json_t *record, bool but_params)
{
	json_t *key = json_array(), *value;
	char *text = NULL;
	size_t i;

	for (i = 0; i < m->cnt; i++) {
		const struct match_item *item = &m->items[i];

		if (but_params && !item->name && !strcmp(item->section, "params"))
			continue;
		value = item->name ? value_find(record, item->section, item->name) :
				     json_object_get(record, item->section);
		/* A field that is not there is not the same as one that is null. */
		if (json_array_append_new(key, value ? json_incref(value) : json_array()))
			goto out;
	}
	if (!m->any_clock && json_array_append_new(key, json_string(record_clock(record))))
		goto out;
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
out:
	json_decref(key);
	return text;
}

/* Does each parameter of @a have the same value in @b, or its default where @b lacks it? */
static bool has_params_of(const json_t *b, const json_t *a)
{
	json_t *params = json_object_get(a, "params"), *value;
	const json_t *other;
	const char *name;

	json_object_foreach(params, name, value) {
		other = value_find(b, "params", name);
		if (other ? !json_equal(other, value) : !record_is_default(a, name, value))
			return false;
	}
	return true;
}

bool match_params(const json_t *a, const json_t *b)
{
	return has_params_of(b, a) && has_params_of(a, b);
}

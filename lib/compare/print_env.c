// SPDX-License-Identifier: GPL-2.0
#include "lib/compare/print_env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compare/limits.h"
#include "lib/compare/values.h"
#include "lib/text.h"

/* A key of env, and its values in each file. */
struct env_key {
	const char *name;
	value_set *sets;
	char **texts; /* of the sets */
	size_t nr;
};

/* Characters that all texts have in common at their start, up to a blank. */
static size_t common_head(char *const *texts, size_t nr)
{
	size_t head, i;

	for (head = 0; texts[0][head]; head++) {
		for (i = 1; i < nr && texts[i][head] == texts[0][head];)
			i++;
		if (i < nr)
			break;
	}
	while (head && texts[0][head - 1] != ' ')
		head--;
	return head;
}

/* The same at their end, less the @head. */
static size_t common_tail(char *const *texts, size_t nr, size_t head)
{
	const size_t len = strlen(texts[0]);
	size_t tail, other, i;

	for (tail = 0; tail < len - head; tail++) {
		for (i = 1; i < nr; i++) {
			other = strlen(texts[i]);
			if (tail >= other - head ||
			    texts[i][other - tail - 1] != texts[0][len - tail - 1])
				break;
		}
		if (i < nr)
			break;
	}
	while (tail && texts[0][len - tail] != ' ')
		tail--;
	return tail;
}

/*
 * Long texts that differ in a few words, as the mitigations do: what they have in common at either
 * end becomes "...". @texts: replaced.
 */
static int cut_common(char **texts, size_t nr)
{
	size_t head = common_head(texts, nr), tail = common_tail(texts, nr, head), i;
	char *cut;

	for (i = 0; i < nr; i++) {
		if (asprintf(&cut, "%s%.*s%s", head ? "... " : "",
			     (int)(strlen(texts[i]) - head - tail), texts[i] + head,
			     tail ? " ..." : "") < 0)
			return -ENOMEM;
		free(texts[i]);
		texts[i] = cut;
	}
	return 0;
}

/* Are the texts too wide for a line, and single values, of which parts can be left out? */
static bool wants_cut(const struct env_key *key)
{
	size_t width = 0, i;

	for (i = 0; i < key->nr; i++) {
		if (json_object_size(key->sets[i]) != 1)
			return false;
		width += text_width(key->texts[i]);
	}
	return width > COMPARE_WIDTH;
}

static bool fits_on_line(const struct env_key *key)
{
	return strlen(prose_item.first) + text_width(key->name) + strlen(": ") +
		       text_width(key->texts[0]) + strlen(" -> ") + text_width(key->texts[1]) <=
	       COMPARE_WIDTH;
}

/* "base, 6.6: x": the text of file @first, with the names of all files that have it. */
static void put_group(FILE *out, const struct comparison *c, const struct env_key *key,
		      size_t first)
{
	size_t i;

	for (i = first; i < key->nr; i++)
		if (!strcmp(key->texts[i], key->texts[first]))
			fprintf(out, "%s%s", i > first ? ", " : "", c->files[i].name);
	fprintf(out, ": %s", key->texts[first]);
}

static bool is_first(const struct env_key *key, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(key->texts[k], key->texts[i]))
			return false;
	return true;
}

/*
 * One line for each text; in Markdown all in one, since lists in lists look different everywhere.
 */
static void say_by_file(struct prose *p, const struct comparison *c, const struct env_key *key)
{
	char *text = NULL;
	size_t size, i;
	FILE *out;

	if (!p->markdown)
		prose_say(p, prose_item, "%s:", key->name);
	out = open_memstream(&text, &size);
	for (i = 0; out && i < key->nr; i++) {
		if (!is_first(key, i))
			continue;
		if (p->markdown)
			fputs(i ? "; " : "", out);
		put_group(out, c, key, i);
		if (p->markdown)
			continue;
		if (fclose(out))
			p->err = -ENOMEM;
		else
			prose_say(p, prose_subitem, "%s", text);
		free(text);
		text = NULL;
		out = open_memstream(&text, &size);
	}
	if (!out || fclose(out))
		p->err = -ENOMEM;
	else if (p->markdown)
		prose_say(p, prose_item, "%s: %s", key->name, text);
	free(text);
}

static void say_key(struct prose *p, const struct comparison *c, const struct env_key *key)
{
	size_t i;

	if (wants_cut(key) && cut_common(key->texts, key->nr))
		p->err = -ENOMEM;
	if (key->nr > 2) {
		say_by_file(p, c, key);
	} else if (p->markdown || fits_on_line(key)) {
		prose_say(p, prose_item, "%s: %s -> %s", key->name, key->texts[0], key->texts[1]);
	} else {
		prose_say(p, prose_item, "%s:", key->name);
		for (i = 0; i < key->nr; i++)
			prose_say(p, prose_subitem, "%-5s %s", i ? "new:" : "base:", key->texts[i]);
	}
}

static int find_key(const struct comparison *c, struct env_key *key)
{
	size_t s;

	key->nr = c->nr_files;
	key->sets = calloc(key->nr, sizeof(*key->sets));
	key->texts = calloc(key->nr, sizeof(*key->texts));
	for (s = 0; key->sets && key->texts && s < key->nr; s++) {
		key->sets[s] = value_set_make(c->files[s].records.records, c->files[s].records.cnt,
					      "env", key->name, false);
		key->texts[s] = key->sets[s] ? value_set_text(key->sets[s]) : NULL;
		if (!key->texts[s])
			return -ENOMEM;
	}
	return key->sets && key->texts ? 0 : -ENOMEM;
}

static void free_key(struct env_key *key)
{
	size_t s;

	for (s = 0; s < key->nr; s++) {
		json_decref(key->sets ? key->sets[s] : NULL);
		free(key->texts ? key->texts[s] : NULL);
	}
	free(key->sets);
	free(key->texts);
}

/* Also where each file has the same mix: then its runs are not alike. */
static bool differs(const struct env_key *key)
{
	size_t s;

	for (s = 1; s < key->nr; s++)
		if (!value_set_equal(key->sets[0], key->sets[s]))
			return true;
	return json_object_size(key->sets[0]) > 1;
}

/* Keys of env, in order of appearance. */
static value_set env_keys(const struct comparison *c)
{
	value_set keys = json_object();
	const char *key;
	json_t *value;
	size_t s, i;

	for (s = 0; s < c->nr_files; s++)
		for (i = 0; i < c->files[s].records.cnt; i++)
			json_object_foreach(json_object_get(c->files[s].records.records[i], "env"),
					    key, value)
				json_object_set_new_nocheck(keys, key, json_true());
	return keys;
}

void print_env(struct prose *p, const struct comparison *c)
{
	value_set keys = env_keys(c);
	const char *name;
	json_t *value;
	bool any = false;

	json_object_foreach(keys, name, value) {
		struct env_key key = { .name = name };

		if (!strcmp(name, "time"))
			continue;
		if (find_key(c, &key)) {
			p->err = -ENOMEM;
		} else if (differs(&key)) {
			if (!any)
				prose_say(p, prose_paragraph, "Environments differ%s:",
					  c->nr_files > 2 ? "" : " (base -> new)");
			any = true;
			say_key(p, c, &key);
		}
		free_key(&key);
	}
	json_decref(keys);
	if (any)
		prose_gap(p, true);
}

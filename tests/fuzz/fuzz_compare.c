// SPDX-License-Identifier: GPL-2.0
/*
 * The whole of `bench -C BASE NEW...` in its three formats. An input is text: a line with the
 * argument of --match (empty: not given), the records of BASE, a line "--", and the records of NEW;
 * without that line, NEW is BASE.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "lib/compare/compare.h"
#include "lib/util.h"

#define SEPARATOR "--\n"

struct part {
	const uint8_t *data;
	size_t size;
};

struct input {
	char *match; /* owned; NULL: not given */
	struct part side[2];
};

/* Where the line "--" is in @rest; NULL: nowhere. */
static const uint8_t *find_separator(struct part rest)
{
	const uint8_t *at = rest.data, *end = rest.data + rest.size;

	while (at && (size_t)(end - at) >= strlen(SEPARATOR)) {
		if (!memcmp(at, SEPARATOR, strlen(SEPARATOR)))
			return at;
		at = memchr(at, '\n', end - at);
		at = at ? at + 1 : NULL;
	}
	return NULL;
}

static void split(const uint8_t *data, size_t size, struct input *in)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL, *separator;
	size_t head = newline ? (size_t)(newline - data) : size;
	struct part rest = { data + head + !!newline, size - head - !!newline };

	in->match = head ? strndup((const char *)data, head) : NULL;
	in->side[0] = in->side[1] = rest;
	separator = rest.size ? find_separator(rest) : NULL;
	if (separator) {
		in->side[0].size = separator - rest.data;
		in->side[1].data = separator + strlen(SEPARATOR);
		in->side[1].size = rest.size - in->side[0].size - strlen(SEPARATOR);
	}
}

/* ---- what the output has to be */

/* Columns of a line of a table; '|' is escaped within a cell. */
static size_t count_bars(const char *line)
{
	size_t bars = 0;

	for (; *line && *line != '\n'; line++) {
		if (*line == '\\' && line[1])
			line++;
		else
			bars += *line == '|';
	}
	return bars;
}

static void check_markdown(const char *text)
{
	const char *line;
	size_t bars = 0;

	for (line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (*line != '|')
			continue;
		bars = bars ? bars : count_bars(line);
		fuzz_check(count_bars(line) == bars, "%zu columns in a table of %zu: %s",
			   count_bars(line) - 1, bars - 1, line);
	}
}

/* RFC 4180; all lines have as many fields. */
static void check_csv(const char *text)
{
	size_t fields = 1, first = 0;
	bool quoted = false;
	const char *c;

	for (c = text; *c; c++) {
		if (*c == '"') {
			/* "" within quotes ends them and begins them anew. */
			fuzz_check(quoted || c == text || strchr(",\n\"", c[-1]),
				   "a quote within a field: %s", c);
			fuzz_check(!quoted || strchr(",\r\"", c[1]), "something behind a quote: %s",
				   c);
			quoted = !quoted;
		} else if (quoted) {
			continue;
		} else if (*c == ',') {
			fields++;
		} else if (*c == '\r' && c[1] == '\n') {
			first = first ? first : fields;
			fuzz_check(fields == first, "a line of %zu fields, not %zu, before: %s",
				   fields, first, c);
			fields = 1;
			c++;
		} else {
			fuzz_check(*c != '\r' && *c != '\n', "half an end of line before: %s", c);
		}
	}
	fuzz_check(!quoted && first && fields == 1 && c[-1] == '\n', "a line without its end");
}

static void check_output(const char *text, int format)
{
	fuzz_check(fuzz_is_utf8(text), "not UTF-8: %s", text);
	switch (format) {
	case COMPARE_TEXT:
		fuzz_check_text("text", text, COMPARE_WIDTH);
		break;
	case COMPARE_MARKDOWN:
		fuzz_check_text("markdown", text, 0);
		check_markdown(text);
		break;
	case COMPARE_CSV:
		check_csv(text);
		break;
	}
}

/*
 * Fails as users know it: in one line, with nothing printed but where there is nothing to compare.
 */
static void check_failure(int ret, const char *text, const char *err)
{
	fuzz_check(ret == -EINVAL || ret == -EBADMSG || ret == -ENODATA || ret == -ENOMSG ||
			   ret == -E2BIG,
		   "compare_files() returns %d: %s", ret, err);
	fuzz_check(*err && !strchr(err, '\n'), "not one line: '%s'", err);
	fuzz_check(!*text == (ret != -ENOMSG), "%s, and output: %s", err, text);
}

static int compare(const char *const *paths, size_t nr, const struct compare_opts *opts)
{
	bool slower = false;
	char *text = NULL;
	char err[512];
	size_t size;
	FILE *out;
	int ret;

	out = open_memstream(&text, &size);
	fuzz_check(out, "no memory");
	memset(err, 'x', sizeof(err));
	ret = compare_files(paths, nr, opts, out, &slower, err, sizeof(err));
	fuzz_check(!fclose(out), "no memory");
	if (ret)
		check_failure(ret, text, err);
	if (!ret || ret == -ENOMSG)
		check_output(text, opts->format);
	fuzz_check(!slower || (opts->fail_on_slower && !ret), "slower, though nobody asked");
	free(text);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compare_opts opts = {};
	const char *paths[4];
	struct input in;
	int s, ret, again, format;

	split(data, size, &in);
	for (s = 0; s < 2; s++)
		paths[s] = paths[s + 2] = fuzz_file(s, in.side[s].data, in.side[s].size);
	opts.match = in.match;
	ret = compare(paths, 2, &opts);
	opts.format = COMPARE_MARKDOWN;
	again = compare(paths, 2, &opts);
	fuzz_check(again == ret, "%d as text, %d as Markdown", ret, again);
	opts.format = COMPARE_CSV;
	opts.fail_on_slower = true;
	opts.fail_on_slower_pct = 5;
	again = compare(paths, 2, &opts);
	fuzz_check(again == ret || (!ret && again == -ENOMSG), "%d as text, %d as CSV", ret, again);
	/*
	 * Each figure, of more files: then there is something to compare, for base is among them.
	 */
	opts = (struct compare_opts){ .match = in.match, .figure = "all" };
	for (format = COMPARE_TEXT; format <= COMPARE_CSV; format++) {
		opts.format = format;
		again = compare(paths, 4, &opts);
		fuzz_check(again == ret || again == -ENOMSG || (!again && ret == -ENOMSG) ||
				   again == -E2BIG,
			   "%d of two files, %d of four", ret, again);
	}
	free(in.match);
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	json_object_seed(1);
	/*
	 * Make the tables that libRmath keeps, which would look like something lost in each input.
	 */
	pwilcox(49 * 49 / 2, 49, 49, 1, 0);
	return 0;
}

/* ---- mutations: records that remain records */

struct doc {
	char *match; /* owned; NULL: not given */
	json_t *side[2]; /* arrays of records */
};

static void doc_free(struct doc *doc)
{
	free(doc->match);
	json_decref(doc->side[0]);
	json_decref(doc->side[1]);
}

/* Lines that are no JSON are lost. */
static json_t *read_lines(struct part part)
{
	const uint8_t *at = part.data, *end = part.data + part.size, *newline;
	json_t *records = json_array();
	size_t len;

	while (at < end) {
		newline = memchr(at, '\n', end - at);
		len = newline ? newline - at : end - at;
		json_array_append_new(records, json_loadb((const char *)at, len, 0, NULL));
		at += len + !!newline;
	}
	return records;
}

static void doc_read(struct doc *doc, const uint8_t *data, size_t size)
{
	struct input in;
	int s;

	split(data, size, &in);
	doc->match = in.match;
	for (s = 0; s < 2; s++)
		doc->side[s] = read_lines(in.side[s]);
}

static char *doc_write(const struct doc *doc, size_t *size)
{
	char *text = NULL;
	json_t *record;
	size_t i;
	FILE *out;
	int s;

	out = open_memstream(&text, size);
	fuzz_check(out, "no memory");
	fprintf(out, "%s\n", doc->match ? doc->match : "");
	for (s = 0; s < 2; s++) {
		if (s)
			fputs(SEPARATOR, out);
		json_array_foreach(doc->side[s], i, record) {
			json_dumpf(record, out, JSON_COMPACT | JSON_ENCODE_ANY);
			fputc('\n', out);
		}
	}
	fuzz_check(!fclose(out), "no memory");
	return text;
}

static const char *pick(struct fuzz_random *r, const char *const *words, size_t nr)
{
	return words[fuzz_below(r, nr)];
}

#define PICK(r, words) pick(r, words, ARRAY_SIZE(words))

static const char *const names[] = {
	"rb-custom",
	"pb-libbpf",
	"producers",
	"attach",
	"host",
	"kernel_release",
	"time",
	"mitigations",
	"mean",
	"unit",
	"a b",
	"x|y,\"z\"",
	"\xc2\x9b[31m",
	"\xe2\x82\xac",
	"",
	"a-name-that-is-much-longer-than-any-that-there-is-so-that-nothing-has-room-for-it",
};

static const char *const values[] = {
	"null",
	"true",
	"false",
	"0",
	"-1",
	"1",
	"1.5",
	"9007199254740993",
	"1e308",
	"4e-324",
	"[]",
	"{}",
	"[1,[2,[3]]]",
	"{\"a\":{\"b\":null}}",
	"\"\"",
	"\"none\"",
	"\"\\u0001\\n\\u009b\\u007f\"",
	"\"Mitigation: a; b; c\"",
	"\"a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m n o p q\"",
};

static const char *const units[] = { "M/s", "M ops/s", "%", "\xc2\xb5s|x", "\1\n\xc2\x9b" };
static const char *const statuses[] = { "ok", "failed", "interrupted" };
static const char *const sections[] = {
	"params", "config", "env", "summary", "defaults", "figures"
};
static const char *const kinds[] = { "rate", "gauge", "ratio", "time" };
static const char *const betters[] = { "higher", "lower", "none" };
static const char *const matches[] = {
	"bench",
	"params",
	"bench,params",
	"params,config",
	"env.host",
	"config.producers",
	"bench,env.kernel_release",
	"params.rb-b2b",
	"config.",
};

/* Few and simple ones, for ties and for verdicts, and some that are at a border. */
static json_t *random_mean(struct fuzz_random *r)
{
	static const double odd[] = { 0, 4e-324, 1e-9, 0.01, 1e7, 1.7e308 };

	if (!fuzz_below(r, 4))
		return json_real(odd[fuzz_below(r, ARRAY_SIZE(odd))]);
	return json_real(fuzz_below(r, 2) ? 1 + fuzz_below(r, 4) :
					    100 + fuzz_below(r, 1000) / 10.0);
}

static void set_mean(struct fuzz_random *r, json_t *record)
{
	json_t *figure;
	const char *name;

	json_object_foreach(json_object_get(record, "figures"), name, figure)
		json_object_set_new(figure, "mean", random_mean(r));
	json_object_set_new(json_object_get(record, "summary"), "mean", random_mean(r));
}

/* Copies of a record on either side, each with a mean of its own. */
static void add_runs(struct fuzz_random *r, struct doc *doc, const json_t *record)
{
	size_t most = fuzz_below(r, 32) ? 6 : 50, nr;
	json_t *copy;

	for (nr = 1 + fuzz_below(r, most); nr; nr--) {
		copy = json_deep_copy(record);
		set_mean(r, copy);
		json_array_append_new(doc->side[fuzz_below(r, 2)], copy);
	}
}

static json_t *random_value(struct fuzz_random *r)
{
	return json_loads(PICK(r, values), JSON_DECODE_ANY, NULL);
}

/* One more figure, or another one under a name; a record of schema 1 becomes one of schema 2. */
static void add_figure(struct fuzz_random *r, json_t *record)
{
	const char *name = PICK(r, names);
	json_t *figure;

	if (!json_object_get(record, "figures"))
		json_object_set_new(record, "figures", json_object());
	figure = json_pack("{s:s, s:s, s:s, s:o}", "unit", PICK(r, units), "kind", PICK(r, kinds),
			   "better", PICK(r, betters), "mean",
			   fuzz_below(r, 4) ? random_mean(r) : json_null());
	json_object_set_new(json_object_get(record, "figures"), name, figure);
	if (json_integer_value(json_object_get(record, "schema")) == 1) {
		json_object_set_new(record, "schema", json_integer(2));
		json_object_set_new(record, "defaults",
				    json_deep_copy(json_object_get(record, "params")));
		json_object_set_new(json_object_get(record, "summary"), "figure",
				    json_string(name));
	}
}

static void mutate_record(struct fuzz_random *r, json_t *record)
{
	json_t *section = json_object_get(record, PICK(r, sections));

	switch (fuzz_below(r, 9)) {
	case 0:
		set_mean(r, record);
		break;
	case 1:
		json_object_set_new(record, "status", json_string(PICK(r, statuses)));
		break;
	case 2:
		json_object_set_new(record, "bench", json_string(PICK(r, names)));
		break;
	case 3:
		json_object_set_new(json_object_get(record, "summary"), "unit",
				    json_string(PICK(r, units)));
		break;
	case 4:
		json_object_del(section, PICK(r, names));
		break;
	case 5:
		json_object_set_new(record, PICK(r, sections), random_value(r));
		break;
	case 6:
		add_figure(r, record);
		break;
	default:
		json_object_set_new(section, PICK(r, names), random_value(r));
		break;
	}
}

static void doc_mutate(struct fuzz_random *r, struct doc *doc)
{
	json_t *side = doc->side[fuzz_below(r, 2)];
	size_t nr = json_array_size(side), i = nr ? fuzz_below(r, nr) : 0, k;
	json_t *record = json_array_get(side, i);

	switch (fuzz_below(r, 6)) {
	case 0:
		add_runs(r, doc, record);
		break;
	case 1:
		json_array_remove(side, i);
		break;
	case 2:
		free(doc->match);
		doc->match = fuzz_below(r, 2) ? strdup(PICK(r, matches)) : NULL;
		break;
	case 3: /* all of a side, as on another machine */
		k = r->state;
		for (i = 0; i < nr; i++) {
			r->state = k;
			mutate_record(r, json_array_get(side, i));
		}
		break;
	default:
		mutate_record(r, record);
		break;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct fuzz_random r = fuzz_random(seed);
	size_t len, times;
	struct doc doc;
	char *text;

	/* The reader has to do with broken records too. */
	if (!fuzz_below(&r, 3))
		return LLVMFuzzerMutate(data, size, max_size);
	doc_read(&doc, data, size);
	for (times = 1 + fuzz_below(&r, 3); times; times--)
		doc_mutate(&r, &doc);
	text = doc_write(&doc, &len);
	doc_free(&doc);
	if (len <= max_size)
		memcpy(data, text, len);
	else
		len = LLVMFuzzerMutate(data, size, max_size);
	free(text);
	return len;
}

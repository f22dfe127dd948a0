/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of runs: JSON Lines, one object per run, as `bench -o` appends them and `bench -C` reads
 * them. What is in one is fixed by record.schema.json at the top of the tree.
 */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What is written, and the newest that can be read: readers take each schema from 1 on. */
#define RECORD_SCHEMA 2

/* Records of one file, in its order. Owned by the caller; freed by records_free(). */
struct records {
	json_t **records;
	size_t cnt;
};

/*
 * Reads all records of @path. Empty lines are skipped. A line that is no JSON, no record, or a
 * record of another schema is an error: returns -errno (-EBADMSG for a bad line) with one line for
 * the user in @err, which names the file and the line number. An empty file is one too (-ENODATA).
 */
int records_read(const char *path, struct records *out, char *err, size_t err_size);
void records_free(struct records *r);

/* Only such runs can be compared. */
bool record_is_ok(const json_t *record);

enum record_kind {
	RECORD_RATE, /* counts over time */
	RECORD_GAUGE, /* an amount at a time, such as memory in use */
	RECORD_RATIO, /* of two counts */
	RECORD_TIME, /* of an operation */
};

enum record_better {
	RECORD_HIGHER,
	RECORD_LOWER,
	RECORD_NEITHER,
};

/* What a run measured: one of its figures. The texts belong to the record. */
struct record_figure {
	const char *name;
	const char *unit;
	enum record_kind kind;
	enum record_better better;
	double mean; /* NaN: unknown */
	double spread; /* half of its 95 % interval over it; NaN: unknown */
};

/*
 * What a second of @record was: "time", or "instructions" where an emulator made each instruction
 * one nanosecond (scripts/insns.sh). Rates of the latter are given as instructions per operation.
 */
const char *record_clock(const json_t *record);
bool record_counts_instructions(const json_t *record);

/*
 * Figure number @i of @record, which records_read() has returned and whose status is ok: 0 is the
 * default one, whose mean and unit are those of "summary". A record of schema 1 has the figures
 * that its kind of report stands for. Returns false if there are not so many.
 */
bool record_figure(const json_t *record, size_t i, struct record_figure *out);

/* The same by name; NULL: the default one. */
bool record_figure_named(const json_t *record, const char *name, struct record_figure *out);

/*
 * Is @value the default of the option @name, by what the record itself says? Those of schema 1 say
 * nothing of defaults.
 */
bool record_is_default(const json_t *record, const char *name, const json_t *value);

/*
 * Appends one record to @fd, opened with O_APPEND, as one line by one write(2), so that lines of
 * several writers do not mix. Returns 0, or -errno with nothing left of it in the file.
 */
int record_append(int fd, const json_t *record);

/*
 * The file @fd, open for reading and writing, is to be appended to: where it ends in the middle of
 * a record, that is cut off (@cut), so that no torn line stays. A last line that only lacks its
 * line break is left alone. Returns 0; -EBADMSG where the last line is no record at all; or another
 * -errno.
 */
int record_cut_torn(int fd, bool *cut);

#endif /* LIB_RECORD_H */

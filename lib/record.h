/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of runs: JSON Lines, one object a run, as `bench -o` appends them and `bench -C` reads
 * them. What is in one is fixed by record.schema.json at the top of the tree.
 */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

#include <jansson.h>
#include <stddef.h>

#define RECORD_SCHEMA 1

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

/*
 * Appends one record to @fd, opened with O_APPEND, as one line by one write(2), so that lines of
 * several writers do not mix. Returns 0 or -errno, also where only a part was written.
 */
int record_append(int fd, const json_t *record);

#endif /* LIB_RECORD_H */

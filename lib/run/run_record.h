/* SPDX-License-Identifier: GPL-2.0 */
/* The record of one run, as `bench -o` writes it; see lib/record.h and record.schema.json. */
#ifndef LIB_RUN_RUN_RECORD_H
#define LIB_RUN_RUN_RECORD_H

#include <jansson.h>

#include "lib/run/run.h"

/*
 * A new object, for json_decref(), or NULL (no memory). @family is the one that the benchmark is
 * of, its options are the record's params. @argv ends with NULL. @failed: the run failed, so that
 * its figures are not to be trusted; a @res->signal makes it interrupted.
 */
json_t *bench_record_make(const struct bench_job *job, const struct bench_family *family,
			  const struct bench_result *res, bool failed, char *const *argv);

#endif /* LIB_RUN_RUN_RECORD_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share. A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput(), and
 * its corpus is corpus/NAME. `make fuzz` links it with libFuzzer; `make check` with replay.c, which
 * feeds it the files of the corpus.
 *
 * A target looks for more than crashes: fuzz_check() holds what it gets against what the functions
 * promise.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* libFuzzer's interface: the target has these, all but the first at its will. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* libFuzzer's own mutations; not there without libFuzzer, where nothing is mutated. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) __attribute__((weak));

/* Says what is wrong and ends the process as a crash would. */
void fuzz_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#define fuzz_check(cond, ...)                   \
	do {                                    \
		if (!(cond))                    \
			fuzz_fail(__VA_ARGS__); \
	} while (0)

#define FUZZ_NR_FILES 2

/* A path under which the input can be read as a file; the last one under that number (0, 1). */
const char *fuzz_file(int nr, const void *data, size_t size);

bool fuzz_is_utf8(const char *text);

/*
 * @text, called @what in complaints, may be shown on a terminal: no control characters but ends of
 * lines, and no line wider than @width (0: any width).
 */
void fuzz_check_text(const char *what, const char *text, size_t width);

/* Numbers for mutators: the same ones for the same @seed. */
struct fuzz_random {
	uint32_t state;
};

struct fuzz_random fuzz_random(unsigned int seed);
/* From 0 to @n - 1; @n is not 0. */
size_t fuzz_below(struct fuzz_random *r, size_t n);

#endif /* TESTS_FUZZ_H */

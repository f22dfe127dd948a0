/* SPDX-License-Identifier: GPL-2.0 */
/* All the kernel functions that can be traced at once. */
#ifndef LIB_BPF_TRACEABLE_H
#define LIB_BPF_TRACEABLE_H

#include <stdbool.h>
#include <stddef.h>

struct traceable {
	char **names; /* sorted, each once */
	size_t nr;
};

/*
 * The functions of the kernel itself (not of modules) that ftrace can trace, but for @except and
 * for those that must not run a program because running one runs them, or because RCU does not
 * watch when they run. Returns 0 or -errno; freed by traceable_free() either way.
 */
int traceable_read(struct traceable *t, const char *except);
void traceable_free(struct traceable *t);

#endif /* LIB_BPF_TRACEABLE_H */

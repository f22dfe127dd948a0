/* SPDX-License-Identifier: GPL-2.0 */
/* A compiled BPF object of the user's: opened, and one program of it chosen. */
#ifndef LIB_BPF_USER_OBJECT_H
#define LIB_BPF_USER_OBJECT_H

#include <stddef.h>

struct bpf_object;
struct bpf_program;

/* Owned by the caller; freed by user_object_close(). */
struct user_object {
	struct bpf_object *obj;
	struct bpf_program *prog; /* the only one that will be loaded */
};

/*
 * Opens @path and chooses the program @name; NULL: the only one there is. Loads nothing. Returns 0,
 * or -errno with one line in @err: "cannot open 'x.o': No such file or directory".
 */
int user_object_open(const char *path, const char *name, struct user_object *uo, char *err,
		     size_t err_size);

/*
 * Before the load: a map that is to be pinned by its name is the pinned one where there is such a
 * pin; else a new one, and nothing is pinned. Which it is of each is in @buf, "" where there is
 * none. Returns 0 or -errno.
 */
int user_object_unpin(const struct user_object *uo, char *buf, size_t size);

void user_object_close(struct user_object *uo);

#endif /* LIB_BPF_USER_OBJECT_H */

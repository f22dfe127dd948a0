// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bpf/traceable.h"
#include "lib/bpf/tracefs.h"
#include "lib/util.h"

/*
 * Around each run of a program the kernel calls functions of its own. A program on those would be
 * kept from running by the check for recursion, which costs time all the same.
 */
static const char *const recursive[] = {
	"__rcu_read_lock", "__rcu_read_unlock", "bpf_dispatcher_xdp_func", "migrate_disable",
	"migrate_enable",  "preempt_count_add", "preempt_count_sub",	   "rcu_read_unlock_strict",
};

/* In these a CPU is idle, or enters or leaves that state. */
static const char *const idle[] = { "arch_cpu_idle", "default_idle" };

static const char *const prefixes[] = {
	"rcu_", /* RCU itself */
	"__ftrace_invalid_address__", /* no function: a place that the linker dropped */
};

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && strcmp(names[i], name); i++)
		;
	return i < nr;
}

static bool is_excluded(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return is_among(name, recursive, ARRAY_SIZE(recursive)) ||
	       is_among(name, idle, ARRAY_SIZE(idle));
}

static int add_name(struct traceable *t, const char *name)
{
	char **names = t->names;

	/* Room for the next power of two of them. */
	if (!(t->nr & (t->nr - 1))) {
		names = realloc(names, (t->nr ? 2 * t->nr : 1) * sizeof(*names));
		if (!names)
			return -ENOMEM;
		t->names = names;
	}
	names[t->nr] = strdup(name);
	if (!names[t->nr])
		return -ENOMEM;
	t->nr++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Static functions may share a name, of which the kernel then takes the first. */
static void sort_names(struct traceable *t)
{
	size_t i, nr = 0;

	if (!t->nr)
		return;
	qsort(t->names, t->nr, sizeof(*t->names), compare_names);
	for (i = 0; i < t->nr; i++) {
		if (nr && !strcmp(t->names[nr - 1], t->names[i]))
			free(t->names[i]);
		else
			t->names[nr++] = t->names[i];
	}
	t->nr = nr;
}

int traceable_read(struct traceable *t, const char *except)
{
	char *line = NULL;
	size_t size = 0;
	int fd, err = 0;
	FILE *f;

	memset(t, 0, sizeof(*t));
	fd = tracefs_open("available_filter_functions");
	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	/* "vfs_read", or "e1000_open [e1000]" */
	while (!err && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strchr(line, '[') && strcmp(line, except) && !is_excluded(line))
			err = add_name(t, line);
	}
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	fclose(f);
	sort_names(t);
	return err;
}

void traceable_free(struct traceable *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free(t->names[i]);
	free(t->names);
	memset(t, 0, sizeof(*t));
}

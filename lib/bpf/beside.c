// SPDX-License-Identifier: GPL-2.0
#include "lib/bpf/beside.h"

#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "lib/sysfile.h"
#include "lib/util.h"

/* Types of links, and of perf events; the headers may be older than the kernel. */
enum {
	LINK_RAW_TRACEPOINT = 1,
	LINK_TRACING = 2,
	LINK_PERF_EVENT = 7,
	LINK_KPROBE_MULTI = 8,
};

enum {
	PERF_UPROBE = 1,
	PERF_URETPROBE = 2,
	PERF_KPROBE = 3,
	PERF_KRETPROBE = 4,
	PERF_TRACEPOINT = 5,
};

/* The start of struct bpf_link_info as of Linux 6.6. */
struct link_info {
	uint32_t type, id, prog_id, pad;
	union {
		struct {
			uint64_t name;
			uint32_t name_len;
		} raw_tracepoint;
		struct {
			uint32_t attach_type, obj_id, btf_id;
		} tracing;
		struct {
			uint64_t addrs;
			uint32_t count;
		} kprobe_multi;
		struct {
			uint32_t type, pad;
			uint64_t name; /* of a function, a file, a tracepoint */
			uint32_t name_len, offset;
			uint64_t addr; /* kprobes */
		} perf_event;
		uint64_t room[16];
	};
};

enum place_kind {
	PLACE_TRACEPOINT, /* @name */
	PLACE_FUNCTION, /* @at: ids of the BTF object and in it */
	PLACE_FILE, /* @name, and @at in it */
};

struct place {
	enum place_kind kind;
	uint64_t at;
	char name[256];
};

/* Where links are. */
struct places {
	struct place *v;
	size_t nr;
	uint64_t *addrs; /* of kprobes; a multi-kprobe may have all functions of the kernel */
	size_t nr_addrs;
};

static void places_free(struct places *places)
{
	free(places->v);
	free(places->addrs);
}

static int add_place(struct places *places, enum place_kind kind, uint64_t at, const char *name)
{
	struct place *grown = realloc(places->v, (places->nr + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	places->v = grown;
	grown[places->nr] = (struct place){ .kind = kind, .at = at };
	snprintf(grown[places->nr].name, sizeof(grown->name), "%s", name);
	places->nr++;
	return 0;
}

static int add_addresses(struct places *places, const uint64_t *addrs, size_t nr)
{
	uint64_t *grown = realloc(places->addrs, (places->nr_addrs + nr + 1) * sizeof(*grown));
	size_t i;

	if (!grown)
		return -ENOMEM;
	places->addrs = grown;
	for (i = 0; i < nr; i++)
		if (addrs[i]) /* else hidden from this user */
			grown[places->nr_addrs++] = addrs[i];
	return 0;
}

static int read_info(int fd, struct link_info *info)
{
	__u32 size = sizeof(*info);

	return bpf_obj_get_info_by_fd(fd, info, &size);
}

/* All its functions. */
static int add_kprobe_multi(struct places *places, int fd, struct link_info *info)
{
	uint32_t nr = info->kprobe_multi.count;
	uint64_t *addrs = calloc(nr + 1, sizeof(*addrs));
	int err = addrs ? 0 : -ENOMEM;

	if (!err) {
		*info = (struct link_info){
			.kprobe_multi = { .addrs = (uintptr_t)addrs, .count = nr },
		};
		err = read_info(fd, info);
	}
	if (!err)
		err = add_addresses(places, addrs, nr);
	free(addrs);
	return err;
}

static int add_perf_event(struct places *places, const struct link_info *info, const char *name)
{
	switch (info->perf_event.type) {
	case PERF_KPROBE:
	case PERF_KRETPROBE:
		return add_addresses(places, &info->perf_event.addr, 1);
	case PERF_UPROBE:
	case PERF_URETPROBE:
		return add_place(places, PLACE_FILE, info->perf_event.offset, name);
	case PERF_TRACEPOINT:
		return add_place(places, PLACE_TRACEPOINT, 0, name);
	default: /* the kernel does not tell, or it is no place in code */
		return 0;
	}
}

/* Adds where link @fd is; nothing for kinds that are no places in code. Returns 0 or -errno. */
static int add_link(struct places *places, int fd)
{
	struct link_info info = {};
	char name[256] = "";
	uint32_t type;
	int err;

	err = read_info(fd, &info);
	if (err)
		return err;
	type = info.type;
	switch (type) {
	case LINK_TRACING:
		return add_place(places, PLACE_FUNCTION,
				 (uint64_t)info.tracing.obj_id << 32 | info.tracing.btf_id, "");
	case LINK_KPROBE_MULTI:
		return add_kprobe_multi(places, fd, &info);
	case LINK_RAW_TRACEPOINT:
		info = (struct link_info){ .raw_tracepoint = { (uintptr_t)name, sizeof(name) } };
		break;
	case LINK_PERF_EVENT:
		info = (struct link_info){
			.perf_event = { .name = (uintptr_t)name, .name_len = sizeof(name) },
		};
		break;
	default:
		return 0;
	}
	err = read_info(fd, &info);
	if (err)
		return err == -ENOSPC || err == -EOPNOTSUPP ? 0 : err;
	return type == LINK_RAW_TRACEPOINT ? add_place(places, PLACE_TRACEPOINT, 0, name) :
					     add_perf_event(places, &info, name);
}

/* Our own links are among our descriptors. @ids: to be freed; -errno: nothing to be freed. */
static int find_own(struct places *places, uint32_t **ids, size_t *nr)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	char path[300], value[32];
	struct dirent *entry;
	uint32_t *grown;
	int err = 0;

	*ids = NULL;
	*nr = 0;
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		if (entry->d_name[0] == '.' ||
		    sysfile_key("", path, "link_id", ':', value, sizeof(value)))
			continue;
		grown = realloc(*ids, (*nr + 1) * sizeof(*grown));
		if (!grown) {
			err = -ENOMEM;
			break;
		}
		*ids = grown;
		grown[(*nr)++] = strtoul(value, NULL, 10);
		err = add_link(places, atoi(entry->d_name));
	}
	closedir(dir);
	if (err) {
		free(*ids);
		*ids = NULL;
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The addresses of @b are sorted. */
static bool share_place(const struct places *a, const struct places *b)
{
	size_t i, k;

	for (i = 0; i < a->nr_addrs; i++)
		if (bsearch(&a->addrs[i], b->addrs, b->nr_addrs, sizeof(*b->addrs), by_value))
			return true;

	for (i = 0; i < a->nr; i++)
		for (k = 0; k < b->nr; k++)
			if (a->v[i].kind == b->v[k].kind && a->v[i].at == b->v[k].at &&
			    !strcmp(a->v[i].name, b->v[k].name))
				return true;
	return false;
}

static void name_program(int link_fd, char *name, size_t size)
{
	struct bpf_prog_info prog = {};
	struct link_info info = {};
	__u32 len = sizeof(prog);
	int fd;

	if (read_info(link_fd, &info))
		return;
	fd = bpf_prog_get_fd_by_id(info.prog_id);
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &prog, &len))
		snprintf(name, size, "%.*s", BPF_OBJ_NAME_LEN, prog.name);
	close(fd);
}

int beside_count(char *name, size_t size)
{
	struct places own = {};
	uint32_t id = 0, *ids;
	size_t nr_ids, i;
	int err, fd, count = 0;

	*name = '\0';
	err = find_own(&own, &ids, &nr_ids);
	if (own.nr_addrs)
		qsort(own.addrs, own.nr_addrs, sizeof(*own.addrs), by_value);
	while (!err && (own.nr || own.nr_addrs) && !(err = bpf_link_get_next_id(id, &id))) {
		struct places other = {};

		for (i = 0; i < nr_ids && ids[i] != id; i++)
			;
		if (i < nr_ids)
			continue;
		fd = bpf_link_get_fd_by_id(id);
		if (fd < 0)
			continue; /* it has gone meanwhile */
		if (!add_link(&other, fd) && share_place(&other, &own)) {
			count++;
			name_program(fd, name, size);
		}
		places_free(&other);
		close(fd);
	}
	free(ids);
	places_free(&own);
	return err && err != -ENOENT ? err : count;
}

// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/bpflog.h"
#include "lib/bpf/user_object.h"
#include "lib/bpf/why.h"
#include "lib/text.h"

/* libbpf's words for a file that cannot be read at all are not the user's. */
static int check_file(const char *path, char *err, size_t err_size)
{
	struct stat st;
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return text_fail(err, err_size, -errno, "cannot open '%s': %s", path,
				 strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		ret = text_fail(err, err_size, -EINVAL, "'%s' is no file", path);
	close(fd);
	return ret;
}

/* The programs' names, as far as they fit. Returns how many there are. */
static size_t list_programs(const struct bpf_object *obj, char *buf, size_t size)
{
	struct bpf_program *prog;
	size_t used = 0, nr = 0;

	buf[0] = '\0';
	bpf_object__for_each_program(prog, obj) {
		if (used < size)
			used += snprintf(buf + used, size - used, "%s%s", nr ? ", " : "",
					 bpf_program__name(prog));
		nr++;
	}
	return nr;
}

static int choose(const char *path, const char *name, struct user_object *uo, char *err,
		  size_t err_size)
{
	struct bpf_program *prog;
	char names[512];
	size_t nr = list_programs(uo->obj, names, sizeof(names));

	if (!nr)
		return text_fail(err, err_size, -EINVAL, "there is no program in '%s'", path);
	if (!name && nr > 1)
		return text_fail(err, err_size, -EINVAL,
				 "there are %zu programs in '%s': choose one by --program: %s", nr,
				 path, names);
	uo->prog = name ? bpf_object__find_program_by_name(uo->obj, name) :
			  bpf_object__next_program(uo->obj, NULL);
	if (!uo->prog)
		return text_fail(err, err_size, -EINVAL, "there is no program '%s' in '%s', but %s",
				 name, path, names);
	if (bpf_program__type(uo->prog) == BPF_PROG_TYPE_UNSPEC)
		return text_fail(err, err_size, -EINVAL,
				 "section '%s' of program '%s' does not name a program type",
				 bpf_program__section_name(uo->prog), bpf_program__name(uo->prog));
	bpf_object__for_each_program(prog, uo->obj)
		bpf_program__set_autoload(prog, prog == uo->prog);
	return 0;
}

/* The last of libbpf's lines without its name in front: what is wrong with the file. */
static void last_words(char *buf, size_t size)
{
	char text[384], *s = text;

	bpflog_tail(text, sizeof(text), 1);
	text[strcspn(text, "\n")] = '\0';
	if (!strncmp(s, "libbpf: ", strlen("libbpf: ")))
		s += strlen("libbpf: ");
	snprintf(buf, size, "%s%s", *s ? ": " : "", s);
}

int user_object_open(const char *path, const char *name, struct user_object *uo, char *err,
		     size_t err_size)
{
	char words[512];
	int ret;

	memset(uo, 0, sizeof(*uo));
	ret = check_file(path, err, err_size);
	if (ret)
		return ret;
	bpflog_clear();
	uo->obj = bpf_object__open_file(path, NULL);
	if (!uo->obj) {
		ret = -errno;
		last_words(words, sizeof(words));
		return text_fail(err, err_size, ret, "'%s' is no BPF object: %s%s", path,
				 why_errno(ret), words);
	}
	ret = choose(path, name, uo, err, err_size);
	if (ret)
		user_object_close(uo);
	return ret;
}

static bool is_pinned(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int user_object_unpin(const struct user_object *uo, char *buf, size_t size)
{
	struct bpf_map *map;
	const char *path;
	size_t used = 0;
	int err;

	buf[0] = '\0';
	bpf_object__for_each_map(map, uo->obj) {
		path = bpf_map__pin_path(map);
		if (!path)
			continue;
		if (used < size)
			used += snprintf(buf + used, size - used,
					 is_pinned(path) ? "%smap '%s' is the pinned one (%s)" :
							   "%smap '%s' is new, and not pinned (%s)",
					 used ? "; " : "", bpf_map__name(map), path);
		if (is_pinned(path))
			continue;
		err = bpf_map__set_pin_path(map, NULL);
		if (err)
			return err;
	}
	return 0;
}

void user_object_close(struct user_object *uo)
{
	bpf_object__close(uo->obj);
	memset(uo, 0, sizeof(*uo));
}

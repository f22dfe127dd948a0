// SPDX-License-Identifier: GPL-2.0
/*
 * jited DIR: write the JITed code of each BPF program in the kernel to DIR/PROGRAM.NUMBER, one file
 * for each of its functions. For a guest, which has no bpftool.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define MAX_FUNCS 64
#define MAX_CODE  (1 << 20)

static int dump(const char *dir, __u32 id)
{
	static unsigned char code[MAX_CODE];
	struct bpf_prog_info info = {};
	__u32 lens[MAX_FUNCS] = {}, size = sizeof(info), i;
	unsigned char *from = code;
	char name[4096];
	int fd, err;
	FILE *f;

	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return fd;
	info.jited_prog_insns = (uintptr_t)code;
	info.jited_prog_len = sizeof(code);
	info.jited_func_lens = (uintptr_t)lens;
	info.nr_jited_func_lens = MAX_FUNCS;
	err = bpf_obj_get_info_by_fd(fd, &info, &size);
	close(fd);
	if (err)
		return err;
	for (i = 0; i < info.nr_jited_func_lens && i < MAX_FUNCS; i++) {
		snprintf(name, sizeof(name), "%s/%s.%u", dir, info.name, i);
		f = fopen(name, "w");
		if (!f || fwrite(from, 1, lens[i], f) != lens[i] || fclose(f))
			return -errno;
		from += lens[i];
	}
	return 0;
}

int main(int argc, char **argv)
{
	__u32 id = 0;

	if (argc != 2) {
		fprintf(stderr, "Usage: jited DIR\n");
		return 64;
	}
	while (!bpf_prog_get_next_id(id, &id)) {
		int err = dump(argv[1], id);

		if (err && err != -ENOENT) {
			fprintf(stderr, "jited: program %u: %s\n", id, strerror(-err));
			return 1;
		}
	}
	return 0;
}

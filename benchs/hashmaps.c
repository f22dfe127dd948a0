// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "benchs/hashmaps.h"
#include "lib/bpf/caps.h"
#include "progs/hashmaps.h"

#define MAX_KEY_SIZE 1024

/* The shortest packet that every kernel takes: more than an Ethernet header. */
#define PACKET_SIZE 64

int hashmap_run(int prog_fd, uint32_t arg_0, uint32_t arg_1, uint32_t *ret)
{
	static const char packet[PACKET_SIZE];
	struct __sk_buff skb = {};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .ctx_in = &skb, .ctx_size_in = sizeof(skb));
	int err;

	skb.cb[HASHMAP_ARG_0] = arg_0;
	skb.cb[HASHMAP_ARG_1] = arg_1;
	err = bpf_prog_test_run_opts(prog_fd, &opts);
	*ret = opts.retval;
	return err;
}

/* r0 = the second argument; exit */
static const struct bpf_insn return_arg_1[] = {
	{ .code = BPF_LDX | BPF_W | BPF_MEM,
	  .dst_reg = BPF_REG_0,
	  .src_reg = BPF_REG_1,
	  .off = offsetof(struct __sk_buff, cb[HASHMAP_ARG_1]) },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int probe_run(struct bench_err *err)
{
	uint32_t answer = 0;
	int fd, ret;

	fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, NULL, "GPL", return_arg_1,
			   ARRAY_SIZE(return_arg_1), NULL);
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot load a socket filter program");
	ret = hashmap_run(fd, 1, 4711, &answer);
	close(fd);
	if (ret == -EPERM)
		return bench_bpf_error(err, ret, "cannot run a socket filter program on request");
	if (ret || answer != 4711)
		return bench_unavailable(err, "this kernel cannot run a socket filter program with "
					      "arguments (BPF_PROG_TEST_RUN): requires Linux 5.2 "
					      "or newer");
	return 0;
}

static int create(int type, const struct hashmap_spec *spec)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = spec->flags);

	return bpf_map_create(type, NULL, spec->key_size, spec->value_size, spec->max_entries,
			      &opts);
}

/*
 * The value of a constant of enum bpf_map_type as this kernel's BTF has it. The headers that this
 * is built with may be older. -ENOENT: it has none of that name.
 */
static int map_type_by_name(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *t = NULL;
	int id, i, ret = -ENOENT;

	if (!btf)
		return -errno;
	id = btf__find_by_name_kind(btf, "bpf_map_type", BTF_KIND_ENUM);
	if (id > 0)
		t = btf__type_by_id(btf, id);
	for (i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			ret = btf_enum(t)[i].val;
	btf__free(btf);
	return ret;
}

#define NO_RHASH                                                                      \
	"this kernel has no resizable hash map (BPF_MAP_TYPE_RHASH): requires Linux " \
	"7.2 or newer"

static int probe_resizable(struct bench_run *run, const struct hashmap_spec *spec, int *type)
{
	int fd, other;

	if (!hook_has_btf())
		return bench_unavailable(&run->err, "%s", why_no_btf());
	*type = map_type_by_name("BPF_MAP_TYPE_RHASH");
	if (*type < 0)
		return bench_unavailable(&run->err, NO_RHASH);
	fd = create(*type, spec);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	/* EINVAL is the answer to an unknown type, and to sizes or flags that it refuses. */
	other = create(BPF_MAP_TYPE_HASH, spec);
	if (other >= 0)
		close(other);
	if (fd == -EINVAL && other >= 0)
		return bench_unavailable(&run->err, NO_RHASH);
	return bench_bpf_error(&run->err, fd, "cannot create a resizable hash map");
}

int hashmap_probe(struct bench_run *run, const struct hashmap_spec *spec, int *type)
{
	int fd, err;

	err = probe_run(&run->err);
	if (err)
		return err;
	if (spec->resizable)
		return probe_resizable(run, spec, type);
	*type = BPF_MAP_TYPE_HASH;
	fd = create(*type, spec);
	if (fd < 0)
		return bench_bpf_error(&run->err, fd, "cannot create a hash map");
	close(fd);
	return 0;
}

uint32_t hashmap_no_seed(void)
{
	return caps_sys_admin() ? BPF_F_ZERO_SEED : 0;
}

void hashmap_note_seed(struct bench_run *run, uint32_t flags)
{
	if (!(flags & BPF_F_ZERO_SEED))
		bench_note(run,
			   "the map's seed is random: figures of two runs differ by some percent");
}

static uint64_t round_up_8(uint64_t n)
{
	return (n + 7) / 8 * 8;
}

uint64_t hashmap_bytes(const struct hashmap_spec *spec, uint64_t nr)
{
	uint64_t buckets = 1;

	if (!(spec->flags & BPF_F_NO_PREALLOC))
		nr = spec->max_entries;
	while (buckets < (spec->resizable ? nr : spec->max_entries))
		buckets *= 2;
	/* struct bucket; struct htab_elem, key, value, and a spare one for each CPU. */
	return 16 * buckets + (nr + cpuset_nr_possible()) * (48 + round_up_8(spec->key_size) +
							     round_up_8(spec->value_size));
}

int64_t hashmap_count(int map_fd)
{
	unsigned char key[MAX_KEY_SIZE], next[MAX_KEY_SIZE];
	int64_t nr = 0;
	int err;

	for (err = bpf_map_get_next_key(map_fd, NULL, next); !err; nr++) {
		memcpy(key, next, sizeof(key));
		err = bpf_map_get_next_key(map_fd, key, next);
	}
	return err == -ENOENT ? nr : err;
}

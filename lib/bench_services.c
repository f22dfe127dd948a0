// SPDX-License-Identifier: GPL-2.0
/* The services that bench.h offers to benchmarks. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bench_run.h"
#include "lib/bpflog.h"
#include "lib/caps.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own; not meant to be seen by user space, but it is */
#endif

/* Threads of a run may fail at the same time; the first one's words are kept. */
static pthread_mutex_t err_lock = PTHREAD_MUTEX_INITIALIZER;

static void err_write(struct bench_err *e, enum bench_exit code, int err, const char *advice,
		      const char *fmt, va_list args)
{
	size_t n = 0;

	pthread_mutex_lock(&err_lock);
	if (!e->code) {
		vsnprintf(e->text, sizeof(e->text), fmt, args);
		n = strlen(e->text);
		if (err)
			n += snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(err));
		if (advice && *advice && n < sizeof(e->text))
			snprintf(e->text + n, sizeof(e->text) - n, ": %s", advice);
		/* Last, for bench.c asks for the code without the lock while threads run. */
		__atomic_store_n(&e->code, code, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&err_lock);
}

int bench_failed(struct bench_err *e, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	err_write(e, BENCH_EXIT_FAILED, abs(err), NULL, fmt, args);
	va_end(args);
	return err ? -abs(err) : -EIO;
}

int bench_unavailable(struct bench_err *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	err_write(e, BENCH_EXIT_UNAVAILABLE, 0, NULL, fmt, args);
	va_end(args);
	return -EOPNOTSUPP;
}

int bench_refused(struct bench_err *e, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	err_write(e, BENCH_EXIT_USAGE, 0, NULL, fmt, args);
	va_end(args);
	return -EINVAL;
}

/* What the user can do about @err; "" where nothing better is known than errno's own words. */
static enum bench_exit explain(int err, char *advice, size_t size)
{
	char caps[64];

	advice[0] = '\0';
	switch (err) {
	case EPERM:
	case EACCES:
		caps_missing(caps, sizeof(caps));
		if (caps[0]) {
			snprintf(advice, size,
				 "%s missing: run it as root (sudo), or give it the "
				 "capabilities cap_bpf,cap_perfmon",
				 caps);
			return BENCH_EXIT_UNAVAILABLE;
		}
		caps_other_limits(advice, size);
		return advice[0] || err == EPERM ? BENCH_EXIT_UNAVAILABLE : BENCH_EXIT_FAILED;
	case ENOSYS:
		snprintf(advice, size, "this kernel is built without bpf(2) (CONFIG_BPF_SYSCALL)");
		return BENCH_EXIT_UNAVAILABLE;
	case ENOMEM:
		snprintf(advice, size,
			 "too little memory, or the memory limit of the cgroup or "
			 "(before Linux 5.11) ulimit -l is too low");
		return BENCH_EXIT_FAILED;
	default:
		return BENCH_EXIT_FAILED;
	}
}

int bench_bpf_error(struct bench_err *e, int err, const char *fmt, ...)
{
	char advice[512];
	enum bench_exit code;
	va_list args;

	err = abs(err);
	code = explain(err, advice, sizeof(advice));
	va_start(args, fmt);
	err_write(e, code, err, advice, fmt, args);
	va_end(args);
	return -err;
}

struct bench_counter *bench_counters_alloc(size_t nr)
{
	struct bench_counter *c;

	c = aligned_alloc(BENCH_CACHELINE, (nr ? nr : 1) * sizeof(*c));
	if (c)
		memset(c, 0, (nr ? nr : 1) * sizeof(*c));
	return c;
}

uint64_t bench_counters_sum(const struct bench_counter *counters, size_t nr)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		sum += bench_counter_read(&counters[i]);
	return sum;
}

uint64_t bench_slots_sum(const struct cpu_slot *slots, enum cpu_slot_field field)
{
	int nr = libbpf_num_possible_cpus();
	uint64_t sum = 0;
	int i;

	if (nr < 1 || nr > CPU_SLOTS)
		nr = CPU_SLOTS;
	for (i = 0; i < nr; i++)
		sum += __atomic_load_n(&slots[i].v[field], __ATOMIC_RELAXED);
	return sum;
}

void bench_progress(struct bench_run *run, const char *what, double fraction)
{
	if (run->watch->progress)
		run->watch->progress(run->watch->ctx, what, fraction);
}

int bench_load(struct bench_run *run, struct bpf_object_skeleton *skel)
{
	int err;

	bpflog_clear();
	err = bpf_object__load_skeleton(skel);
	if (!err)
		return 0;
	if (!run->err.code)
		bpflog_tail(run->err.detail, sizeof(run->err.detail));
	return bench_bpf_error(&run->err, err, "cannot load the BPF programs of %s",
			       run->bench->name);
}

int bench_keep_link(struct bench_run *run, struct bpf_link *link, const char *what)
{
	struct bpf_link **links;
	int err = errno;

	if (!link)
		return bench_bpf_error(&run->err, err, "cannot attach %s", what);
	links = realloc(run->links, (run->nr_links + 1) * sizeof(*links));
	if (!links) {
		bpf_link__destroy(link);
		return bench_failed(&run->err, ENOMEM, "cannot attach %s", what);
	}
	run->links = links;
	run->links[run->nr_links++] = link;
	return 0;
}

/*
 * What the kernel takes does not change while we run, and finding out costs a good part of a second
 * (libbpf reads the kernel's whole BTF each time): so it is found once a process.
 */
static struct {
	bool done;
	int wanted;
	int kind;
	char note[512];
} picked;

static int pick(const struct bench_config *cfg, const char *syscall, char *note, size_t size,
		struct bench_err *err)
{
	char advice[512];

	if (!picked.done || picked.wanted != cfg->attach) {
		picked.kind = attach_pick(syscall, cfg->attach, bench_tgid(), picked.note,
					  sizeof(picked.note));
		picked.wanted = cfg->attach;
		picked.done = true;
	}
	snprintf(note, size, "%s", picked.note);
	if (picked.kind >= 0)
		return picked.kind;
	explain(-picked.kind, advice, sizeof(advice));
	if (cfg->attach == ATTACH_AUTO)
		return bench_unavailable(err, "no way to attach to %s(2) works here (%s)%s%s",
					 syscall, note, advice[0] ? ": " : "", advice);
	return bench_unavailable(err, "cannot attach to %s(2) as asked by --attach (%s)%s%s",
				 syscall, note, advice[0] ? ": " : "", advice);
}

int bench_syscall_probe(const struct bench_config *cfg, const char *syscall, struct bench_err *err)
{
	char note[512];
	int kind;

	kind = pick(cfg, syscall, note, sizeof(note), err);
	return kind < 0 ? kind : 0;
}

int bench_syscall_prepare(struct bench_run *run, struct bpf_object *obj, const char *syscall)
{
	int kind, err;

	kind = pick(run->cfg, syscall, run->attach_note, sizeof(run->attach_note), &run->err);
	if (kind < 0)
		return kind;
	run->attach = kind;
	err = attach_prepare(obj, syscall, kind, bench_tgid());
	if (err)
		return bench_failed(&run->err, err, "cannot prepare a program for %s(2)", syscall);
	return 0;
}

int bench_syscall_attach(struct bench_run *run, struct bpf_object *obj, const char *syscall)
{
	return bench_keep_link(run, attach_syscall(obj, syscall, run->attach), syscall);
}

int bench_probe_map(struct bench_err *err, const char *what, int type, int key_size, int value_size,
		    int max_entries, unsigned int flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd;

	fd = bpf_map_create(type, NULL, key_size, value_size, max_entries, &opts);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	/* An unknown map type or flag; all else (no right, no memory) explains itself. */
	if (fd == -EINVAL)
		return bench_unavailable(err, "this kernel has no %s", what);
	return bench_bpf_error(err, fd, "cannot create a %s", what);
}

int bench_prog_run(int prog_fd, uint32_t *retval)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int err;

	err = bpf_prog_test_run_opts(prog_fd, &opts);
	if (!err && retval)
		*retval = opts.retval;
	return err;
}

int bench_probe_prog_run(struct bench_err *err)
{
	/* r0 = 0; exit */
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd, ret;

	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", insns, ARRAY_SIZE(insns),
			   NULL);
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot load a raw_tp program");
	ret = bench_prog_run(fd, NULL);
	close(fd);
	if (!ret)
		return 0;
	if (ret == -EINVAL || ret == -ENOTSUPP || ret == -EOPNOTSUPP)
		return bench_unavailable(err, "this kernel cannot run a raw_tp program on request "
					      "(BPF_PROG_TEST_RUN, Linux 5.10)");
	return bench_bpf_error(err, ret, "cannot run a raw_tp program on request");
}

bool bench_jit_is_off(void)
{
	FILE *f = fopen("/proc/sys/net/core/bpf_jit_enable", "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c == '0'; /* not so where nobody may read it */
}

pid_t bench_tgid(void)
{
	static pid_t tgid;

	if (!tgid)
		tgid = attach_tgid();
	return tgid;
}

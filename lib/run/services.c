// SPDX-License-Identifier: GPL-2.0
/* The services that bench.h offers to benchmarks. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/bpflog.h"
#include "lib/run/services.h"
#include "lib/sysctl.h"
#include "lib/util.h"

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
			n += snprintf(e->text + n, sizeof(e->text) - n, ": %s", why_errno(err));
		if (advice && *advice && n < sizeof(e->text))
			snprintf(e->text + n, sizeof(e->text) - n, ": %s", advice);
		/* Last, for bench.c asks for the code without the lock while threads run. */
		__atomic_store_n(&e->code, code, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&err_lock);
}

int bench_failed(struct bench_err *e, int err, const char *fmt, ...)
{
	char advice[384];
	va_list args;

	why_advice(WHY_OTHER, err, advice, sizeof(advice));
	va_start(args, fmt);
	err_write(e, BENCH_EXIT_FAILED, abs(err), advice, fmt, args);
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

int bench_step_error(struct bench_err *e, enum why_step step, int err, const char *fmt, ...)
{
	char advice[384];
	bool unavailable;
	va_list args;

	unavailable = why_advice(step, err, advice, sizeof(advice));
	va_start(args, fmt);
	err_write(e, unavailable ? BENCH_EXIT_UNAVAILABLE : BENCH_EXIT_FAILED, abs(err), advice,
		  fmt, args);
	va_end(args);
	return -abs(err);
}

int bench_take_error(struct bench_err *e, const struct bench_err *from, int err)
{
	pthread_mutex_lock(&err_lock);
	if (!e->code) {
		memcpy(e->text, from->text, sizeof(e->text));
		memcpy(e->detail, from->detail, sizeof(e->detail));
		__atomic_store_n(&e->code, from->code, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&err_lock);
	return -abs(err);
}

static void add_note(struct bench_notes *notes, bool warning, const char *fmt, va_list args)
{
	if (notes->nr == BENCH_MAX_NOTES)
		return;
	notes->v[notes->nr].warning = warning;
	vsnprintf(notes->v[notes->nr].text, sizeof(notes->v[notes->nr].text), fmt, args);
	notes->nr++;
}

void bench_note(struct bench_run *run, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_note(&run->notes, false, fmt, args);
	va_end(args);
}

void bench_warn(struct bench_run *run, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_note(&run->notes, true, fmt, args);
	va_end(args);
}

void bench_fact(struct bench_run *run, const char *name, const char *fmt, ...)
{
	struct bench_facts *facts = &run->facts;
	va_list args;

	if (facts->nr == BENCH_MAX_FACTS)
		return;
	facts->v[facts->nr].name = name;
	va_start(args, fmt);
	vsnprintf(facts->v[facts->nr].text, sizeof(facts->v[facts->nr].text), fmt, args);
	va_end(args);
	facts->nr++;
}

void *bench_priv_alloc(struct bench_run *run, size_t size)
{
	run->priv = calloc(1, size);
	if (!run->priv)
		bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	return run->priv;
}

int bench_open_error(struct bench_run *run)
{
	return bench_bpf_error(&run->err, errno, "cannot open the BPF programs of %s",
			       run->bench->name);
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
	int nr = cpuset_limit(), i;
	uint64_t sum = 0;

	if (nr > CPU_SLOTS)
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

/* More than the last of them do not help anyone, and -v shows the whole. */
#define DETAIL_LINES 20

/* The family's options that make the program smaller: " (--rb-batch-cnt)"; "": none. */
static void shrinking_options(const struct bench *bench, char *buf, size_t size)
{
	const struct bench_family *f;
	size_t i, k, used = 0;

	buf[0] = '\0';
	for (f = bench_families; f; f = f->next) {
		for (i = 0; i < f->nr_benchs && f->benchs[i] != bench; i++)
			;
		for (k = 0; i < f->nr_benchs && k < f->nr_opts && used < size; k++)
			if (f->opts[k].sizes_program)
				used += snprintf(buf + used, size - used, "%s--%s",
						 used ? ", " : ": choose a smaller ",
						 f->opts[k].name);
	}
}

/* @subject: what was to be loaded, in words. */
static void load_error(struct bench_run *run, struct bench_err *e, const struct bpf_object *obj,
		       const char *subject, int err)
{
	const struct bench *bench = run->bench;
	char what[512], options[128];

	switch (bpflog_explain(obj, err, what, sizeof(what))) {
	case BPFLOG_FEATURE:
		bench_unavailable(e, "%s%s%s", what, bench->needs ? ": requires " : "",
				  bench->needs ? bench->needs : "");
		return;
	case BPFLOG_TOO_LARGE:
		shrinking_options(bench, options, sizeof(options));
		bench_unavailable(e, "%s%s", what, options);
		return;
	case BPFLOG_OTHER:
		bench_unavailable(e, "%s", what);
		return;
	case BPFLOG_NONE:
		break;
	}
	if (bpflog_failed_map(what, sizeof(what)))
		bench_bpf_error(e, err, "cannot create map '%s' of %s", what, subject);
	else if (bpflog_verifier_spoke())
		bench_failed(e, err, "the verifier of this kernel refuses %s", subject);
	else
		bench_bpf_error(e, err, "cannot load %s", subject);
	/* Where it is clear what is missing, these words would only distract. */
	if (e->code == BENCH_EXIT_FAILED)
		bpflog_tail(e->detail, sizeof(e->detail), DETAIL_LINES);
}

/* The benchmark's own programs. */
static void own_load_error(struct bench_run *run, struct bench_err *e, const struct bpf_object *obj,
			   int err)
{
	char subject[128];

	snprintf(subject, sizeof(subject), "the BPF programs of %s", run->bench->name);
	load_error(run, e, obj, subject, err);
}

int bench_load(struct bench_run *run, struct bpf_object_skeleton *skel)
{
	struct bench_err why = {};
	int err;

	bpflog_clear();
	err = bpf_object__load_skeleton(skel);
	if (!err)
		return 0;
	own_load_error(run, &why, *skel->obj, err);
	return bench_take_error(&run->err, &why, err);
}

int bench_load_object(struct bench_run *run, struct bpf_object *obj, const char *subject)
{
	struct bench_err why = {};
	int err;

	bpflog_clear();
	err = bpf_object__load(obj);
	if (!err)
		return 0;
	load_error(run, &why, obj, subject, err);
	return bench_take_error(&run->err, &why, err);
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
	struct attach_choice choice;
} cached;

static int pick(struct bench_run *run)
{
	const struct attach_choice *choice = &cached.choice;
	struct bench_trigger *trigger = &run->trigger;

	if (!cached.done || cached.wanted != run->cfg->attach) {
		attach_pick(run->cfg->attach, bench_tgid(), &cached.choice);
		cached.wanted = run->cfg->attach;
		cached.done = true;
	}
	if (choice->kind < 0 && run->cfg->attach == ATTACH_AUTO)
		return bench_unavailable(&run->err,
					 "cannot attach to getpgid(2) by any kind of program (%s)",
					 choice->reasons);
	if (choice->kind < 0)
		return bench_unavailable(&run->err,
					 "cannot attach to getpgid(2) as asked by --attach (%s)",
					 choice->reasons);
	run->attach = choice->kind;
	trigger->verb = "attached by";
	snprintf(trigger->name, sizeof(trigger->name), "%s", attach_kind_names[run->attach]);
	snprintf(trigger->fallback, sizeof(trigger->fallback), "%s", choice->brief);
	snprintf(trigger->reasons, sizeof(trigger->reasons), "%s", choice->reasons);
	return 0;
}

int bench_attach_probe(struct bench_run *run)
{
	return pick(run);
}

int bench_attach_prepare(struct bench_run *run, struct bpf_object *obj)
{
	return bench_attach_prepare_set(run, obj, ATTACH_SYSCALL);
}

int bench_attach_prepare_set(struct bench_run *run, struct bpf_object *obj, const char *set)
{
	int err;

	err = pick(run);
	if (err)
		return err;
	err = attach_prepare(obj, set, run->attach, bench_tgid());
	if (err)
		return bench_failed(&run->err, err, "cannot prepare a program for getpgid(2)");
	return 0;
}

int bench_attach(struct bench_run *run, struct bpf_object *obj)
{
	return bench_keep_link(run, attach_object(obj, run->attach), "to getpgid(2)");
}

static int explain_hook(struct bench_run *run, const struct hook *hook, bool loaded, int err)
{
	char why[768];

	if (hook_explain(hook, loaded, err, why, sizeof(why)))
		return bench_unavailable(&run->err, "%s", why);
	return bench_step_error(&run->err, hook_step(hook, loaded), err,
				"cannot %s the program of %s", loaded ? "attach" : "load",
				run->bench->name);
}

int bench_hook_load(struct bench_run *run, struct hook *hook, struct bpf_object_skeleton *skel)
{
	struct bench_err load_err = {};
	char why[768];
	int err;

	bpflog_clear();
	err = hook_prepare(hook);
	if (err)
		return explain_hook(run, hook, false, err);
	err = bpf_object__load_skeleton(skel);
	if (!err)
		return 0;
	own_load_error(run, &load_err, *skel->obj, err);
	/*
	 * What is missing, told by the kernel's words; or by the kind; or what a load says at all.
	 */
	if (!bpflog_explain(*skel->obj, err, why, sizeof(why)) &&
	    hook_explain(hook, false, err, why, sizeof(why)))
		return bench_unavailable(&run->err, "%s", why);
	return bench_take_error(&run->err, &load_err, err);
}

int bench_hook_attach(struct bench_run *run, struct hook *hook)
{
	int err;

	err = hook_attach(hook);
	return err ? explain_hook(run, hook, true, err) : 0;
}

void bench_hook_conserve(struct bench_run *run, struct hook *hook, const struct cpu_slot *slots,
			 struct bench_conservation *c)
{
	hook_detach(hook);
	if (run->cfg->verify)
		hook_quiesce();
	c->prog_fd = bpf_program__fd(hook->prog);
	c->runs = bench_slots_sum(slots, SLOT_HITS) + bench_slots_sum(slots, SLOT_OTHERS);
}

int bench_probe_map(struct bench_err *err, const char *what, const char *since, int type,
		    int key_size, int value_size, int max_entries, unsigned int flags)
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
		return bench_unavailable(err, "this kernel has no %s: requires %s or newer", what,
					 since);
	return bench_bpf_error(err, fd, "cannot create a %s", what);
}

/*
 * The kernel frees a map some time after its last user has gone: gigabytes of them a second or two
 * later. What a run just before this one had may still be on its way.
 */
#define FREE_WAIT_MS 5000

uint64_t bench_memory_available(uint64_t need, enum meminfo_limit *limit)
{
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), have;
	int i;

	for (i = 0;; i++) {
		have = meminfo_available(limit);
		if (have >= need || need > machine || i == FREE_WAIT_MS / 100)
			return have;
		usleep(100 * 1000);
	}
}

int bench_refuse_memory(struct bench_err *err, const char *opt, long long value, const char *what,
			uint64_t need, uint64_t have, enum meminfo_limit limit)
{
	return bench_refused(
		err, "--%s: invalid value '%lld': %s need %.1f MiB, and %.1f MiB are %s", opt,
		value, what, need / 1048576.0, have / 1048576.0,
		limit == MEMINFO_CGROUP ? "left by the memory limit of the cgroup" : "available");
}

int bench_check_memory(struct bench_err *err, const char *opt, long long value, const char *what,
		       uint64_t need)
{
	enum meminfo_limit limit;
	uint64_t have;

	have = bench_memory_available(need, &limit);
	if (need <= have)
		return 0;
	return bench_refuse_memory(err, opt, value, what, need, have, limit);
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

/* r0 = 0; exit */
static const struct bpf_insn return_0[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

int bench_probe_prog_run(struct bench_err *err)
{
	int fd, ret;

	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", return_0,
			   ARRAY_SIZE(return_0), NULL);
	/* There is nothing in it that could be invalid. */
	if (fd == -EINVAL)
		return bench_unavailable(err, WHY_NO_PROG_TYPE, "raw_tracepoint");
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot load a raw_tp program");
	ret = bench_prog_run(fd, NULL);
	close(fd);
	if (!ret)
		return 0;
	if (ret == -EINVAL || ret == -ENOTSUPP || ret == -EOPNOTSUPP)
		return bench_unavailable(err, "this kernel cannot run a raw_tp program on request "
					      "(BPF_PROG_TEST_RUN): requires Linux 5.10 or newer");
	return bench_bpf_error(err, ret, "cannot run a raw_tp program on request");
}

int bench_probe_storage(struct bench_err *err, const char *what, const char *since, int type)
{
	int ret;

	/* Of maps, libbpf does not return why they cannot be created. */
	ret = bench_probe_prog_run(err);
	if (!ret && !libbpf_probe_bpf_map_type(type, NULL))
		ret = bench_unavailable(err, "this kernel has no %s: requires %s or newer", what,
					since);
	return ret;
}

/* Was the loaded program compiled? True where the kernel does not report it. */
static bool is_jited(int prog_fd)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(prog_fd, &info, &size) || info.jited_prog_len;
}

bool bench_jit_is_off(void)
{
	long long enable = sysctl_read("net/core/bpf_jit_enable", -1);
	bool jited = true;
	int fd;

	if (enable >= 0)
		return enable == 0;
	/*
	 * No such file in a network namespace of its own, or without CONFIG_BPF_JIT: look at a
	 * program.
	 */
	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", return_0,
			   ARRAY_SIZE(return_0), NULL);
	if (fd >= 0) {
		jited = is_jited(fd);
		close(fd);
	}
	return !jited;
}

int bench_stats_probe(void)
{
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", return_0,
			     ARRAY_SIZE(return_0), NULL);
}

static uint64_t run_count(int fd)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.run_cnt;
}

bool bench_stats_count(int probe_fd)
{
	uint64_t before = run_count(probe_fd);

	/* The sysctl says nothing of BPF_ENABLE_STATS, which another program may hold. */
	return !bench_prog_run(probe_fd, NULL) && run_count(probe_fd) > before;
}

bool bench_stats_are_on(void)
{
	int fd = bench_stats_probe();
	bool on;

	if (fd < 0)
		return false;
	on = bench_stats_count(fd);
	close(fd);
	return on;
}

pid_t bench_tgid(void)
{
	static pid_t tgid;

	if (!tgid)
		tgid = attach_tgid();
	return tgid;
}

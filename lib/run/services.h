/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Services for benchmarks. Those around BPF say why they fail in @err (or run->err), and
 * distinguish what this user or this kernel lacks (unavailable) from a plain failure, see
 * bench_bpf_error().
 */
#ifndef LIB_RUN_SERVICES_H
#define LIB_RUN_SERVICES_H

#include "lib/bpf/attach.h"
#include "lib/bpf/hook.h"
#include "lib/bpf/why.h"
#include "lib/meminfo.h"
#include "lib/run/benchmark.h"
#include "progs/cpu_slots.h"

struct bpf_map;
struct bpf_object;
struct bpf_object_skeleton;

/* ---- threads and counters */

/* Two cache lines: the adjacent-line prefetcher of x86 couples lines in pairs. */
#define BENCH_CACHELINE 128

/* Shall this thread come to its end? Cheap enough for the innermost loop. */
static inline bool bench_stopping(const struct bench_thread *t)
{
	return __atomic_load_n(&t->run->stop[t->role], __ATOMIC_RELAXED);
}

/* A count with one writer, alone on its cache lines; read by the sampling thread. */
struct bench_counter {
	uint64_t value;
} __attribute__((aligned(BENCH_CACHELINE)));

/* @nr zeroed counters, or NULL (no memory); to be freed by free(). */
struct bench_counter *bench_counters_alloc(size_t nr);
uint64_t bench_counters_sum(const struct bench_counter *counters, size_t nr);

/* By the owner only: no read-modify-write cycle on the bus, a plain load, add and store. */
static inline void bench_counter_add(struct bench_counter *c, uint64_t n)
{
	__atomic_store_n(&c->value, c->value + n, __ATOMIC_RELAXED);
}

static inline uint64_t bench_counter_read(const struct bench_counter *c)
{
	return __atomic_load_n(&c->value, __ATOMIC_RELAXED);
}

/* Sum of @field over all CPUs; @slots are those in a skeleton's .bss. */
uint64_t bench_slots_sum(const struct cpu_slot *slots, enum cpu_slot_field field);

/* ---- set-up */

/* @size zeroed bytes as run->priv, to be freed by @teardown. NULL after bench_failed(). */
void *bench_priv_alloc(struct bench_run *run, size_t size);

/*
 * Shows how far a long set-up is: @what ("filling the hash map"), and the part
 * that is done, 0 to 1. Cheap; shown on a terminal only, and only once a second has passed.
 */
void bench_progress(struct bench_run *run, const char *what, double fraction);

/*
 * For @setup: what the figures of this run depend on and its options do not say. Printed once it is
 * set up ("bench: note: TEXT", "bench: warning: TEXT"), and recorded. For conserve(): what the run
 * has shown of itself; printed after each run. At most BENCH_MAX_NOTES; the rest is dropped.
 */
void bench_note(struct bench_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bench_warn(struct bench_run *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * For @setup: a fact that the record's env has besides those of the machine. It is no part of what
 * makes two runs comparable, and -C lists it where it differs. @name: of static storage.
 */
void bench_fact(struct bench_run *run, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- errors */

/*
 * Writes the line for a failed step of BPF work: "@what: errno in words: what is missing: what to
 * do". Where it is the user's rights or the kernel that do not allow it, it is `unavailable`; the
 * rest is `failed`. Returns -@err. bench_bpf_error() is for what bpf(2) was asked for.
 */
int bench_step_error(struct bench_err *e, enum why_step step, int err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define bench_bpf_error(e, err, ...) bench_step_error(e, WHY_BPF, err, __VA_ARGS__)

/* The same where a skeleton could not be opened, by errno. Returns -errno. */
int bench_open_error(struct bench_run *run);

/* Makes @from the error, unless an earlier one is there. Returns -@err. */
int bench_take_error(struct bench_err *e, const struct bench_err *from, int err);

/* ---- loading and attaching */

/*
 * Loads an opened skeleton. Returns 0 or libbpf's -errno. Where it is not known what the kernel or
 * the user lacks for it, the last words of libbpf and the verifier come with the error.
 */
int bench_load(struct bench_run *run, struct bpf_object_skeleton *skel);

/* The same for an object that is no skeleton. @subject: what it is to the user. */
int bench_load_object(struct bench_run *run, struct bpf_object *obj, const char *subject);

/* Keeps a link until the end of the run; @link may be NULL with errno set (libbpf's failure). */
int bench_keep_link(struct bench_run *run, struct bpf_link *link, const char *what);

/*
 * For a program attached to getpgid(2) that was defined by SYSCALL_PROGS() of progs/attach.bpf.h.
 * bench_attach_prepare() comes between open and load: it finds out which kind of attachment this
 * kernel takes and lets only that entry be loaded; bench_attach() after the load.
 * bench_attach_probe() only answers whether any kind (that the user allows) works. The program runs
 * at each attach_trigger() of lib/bpf/attach.h.
 */
int bench_attach_probe(struct bench_run *run);
int bench_attach_prepare(struct bench_run *run, struct bpf_object *obj);
/* The same for the programs of SYSCALL_PROGS_NAMED(@set, ...). */
int bench_attach_prepare_set(struct bench_run *run, struct bpf_object *obj, const char *set);
int bench_attach(struct bench_run *run, struct bpf_object *obj);

/*
 * For a program that one given kind of attachment is about: hook_prepare(), and loads @skel, the
 * opened skeleton that @hook's program is in; then hook_attach().
 */
int bench_hook_load(struct bench_run *run, struct hook *hook, struct bpf_object_skeleton *skel);
int bench_hook_attach(struct bench_run *run, struct hook *hook);

/* ---- running programs */

/*
 * Runs a loaded raw_tp program once, on the CPU of the calling thread (BPF_PROG_TEST_RUN, Linux
 * 5.10). What the program returned goes to @retval (may be NULL). Returns 0 or -errno.
 */
int bench_prog_run(int prog_fd, uint32_t *retval);

/* Can this kernel do that? Returns 0, or -errno with the reason in @err. */
int bench_probe_prog_run(struct bench_err *err);

/*
 * Can this kernel create such a map? @what names it for the user ("BPF ring buffer"), and @since
 * the version that brought it ("Linux 5.8"). Sizes as for bpf_map_create(). Returns 0, or -errno
 * after bench_unavailable().
 */
int bench_probe_map(struct bench_err *err, const char *what, const char *since, int type,
		    int key_size, int value_size, int max_entries, unsigned int flags);

/*
 * The same for a map of local storage, which cannot be created without BTF. Includes
 * bench_probe_prog_run(), so that what the user lacks is reported as such.
 */
int bench_probe_storage(struct bench_err *err, const char *what, const char *since, int type);

/*
 * Does the kernel interpret programs? Then those with callbacks or calls of its functions do not
 * load.
 */
bool bench_jit_is_off(void);

/*
 * Does the kernel count the runs of programs (BPF statistics)? No where that cannot be found out.
 */
bool bench_stats_are_on(void);

/*
 * The same again and again, with no load of a program each time: a program for it, to be closed, or
 * -errno; and the answer now.
 */
int bench_stats_probe(void);
bool bench_stats_count(int probe_fd);

/* Our thread group id as BPF programs see it: in a pid namespace not the same as getpid(). */
pid_t bench_tgid(void);

/* ---- memory */

/*
 * Bytes of memory that are available, as meminfo_available() says; where they are fewer than @need,
 * waits a while for what maps of a former run still hold.
 */
uint64_t bench_memory_available(uint64_t need, enum meminfo_limit *limit);

/*
 * For check(): are the @need bytes there that @what ("the ring buffers") takes with @value for the
 * option @opt? Returns 0, or -EINVAL after bench_refused(), with both amounts.
 */
int bench_check_memory(struct bench_err *err, const char *opt, long long value, const char *what,
		       uint64_t need);

/* Writes that refusal: @need bytes are more than the @have that @limit leaves. Returns -EINVAL. */
int bench_refuse_memory(struct bench_err *err, const char *opt, long long value, const char *what,
			uint64_t need, uint64_t have, enum meminfo_limit limit);

/* ---- conservation */

/* Adds a count that was taken from start to end. @name: as in records and identities. */
void bench_count(struct bench_conservation *c, const char *name, uint64_t value);

/*
 * Says what must hold among the counts, after they were added: "attempts = submitted + drops". On
 * either side there are names of counts, added up.
 */
void bench_identity(struct bench_conservation *c, const char *identity);

/* The count of this name; 0: there is none. */
uint64_t bench_count_value(const struct bench_conservation *c, const char *name);

/*
 * Detaches @hook, for until then others may make its program run, and fills in what is to be held
 * against the kernel's run count. @slots: those that the program counts in.
 */
void bench_hook_conserve(struct bench_run *run, struct hook *hook, const struct cpu_slot *slots,
			 struct bench_conservation *c);

#endif /* LIB_RUN_SERVICES_H */

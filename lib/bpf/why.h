/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Why the kernel refused a step of BPF work, and what the user can do about it, in words. Looking
 * and deciding are apart, so that the words for kernels that are not at hand can be tested.
 */
#ifndef LIB_BPF_WHY_H
#define LIB_BPF_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was refused. */
enum why_step {
	WHY_BPF, /* bpf(2): a map, a program, a link, a run */
	WHY_PERF, /* perf_event_open(2) */
	WHY_TRACEFS, /* a look into tracefs */
	WHY_STATS, /* bpf(BPF_ENABLE_STATS) */
	WHY_THREAD, /* a thread */
	WHY_OTHER, /* files, memory */
};

#define WHY_NO_LIMIT UINT64_MAX

/* What is known about this process and this kernel. All zero: nothing stands in the way. */
struct why_facts {
	char caps[64]; /* those missing of what the step takes: "CAP_BPF and CAP_PERFMON" */
	bool root; /* by user id */
	unsigned int gid;
	bool sys_admin; /* has CAP_SYS_ADMIN */
	bool user_namespace;
	bool seccomp; /* a filter is active */
	bool filtered; /* even a call that asks for nothing is answered by an error of its own */
	int perf_paranoid; /* sysctl kernel.perf_event_paranoid */
	bool tracefs_mounted;
	char lockdown[32]; /* "integrity", "confidentiality"; "": none */
	char modules[128]; /* active security modules */
	bool memlock_counts; /* BPF memory counts against RLIMIT_MEMLOCK, as before Linux 5.11 */
	uint64_t memlock, address_space; /* limits, bytes; WHY_NO_LIMIT: none */
	uint64_t files, processes; /* limits */
	bool cgroup_memory; /* it is the cgroup that leaves the least memory */
};

/* Finds them out for @step, as far as they matter to errno @err. */
void why_look(enum why_step step, int err, struct why_facts *facts);

/*
 * Writes why @step failed with errno @err, and what to do about it: "CAP_BPF missing: run it as
 * root ...". "" where nothing better is known than errno's own words. Returns whether it is the
 * user's rights or the kernel that make it impossible, so that it is no failure but not available.
 */
bool why_explain(enum why_step step, int err, const struct why_facts *facts, char *buf,
		 size_t size);

/* Both in one. */
bool why_advice(enum why_step step, int err, char *buf, size_t size);

/* Both in words: "Operation not permitted: CAP_BPF missing: ...", or the first alone. */
void why_words(enum why_step step, int err, char *buf, size_t size);

/*
 * Why there is no BTF of the kernel, without which no program calls its functions or is attached to
 * them.
 */
const char *why_no_btf(void);

/* Why this kernel keeps what is in its memory to itself. */
#define WHY_LOCKED_DOWN \
	"the kernel is locked down (confidentiality): boot it with lockdown=integrity at most"

/* printf() format, for the name of a program type. */
#define WHY_NO_PROG_TYPE "this kernel has no BPF programs of type %s: requires CONFIG_BPF_EVENTS"

/* Why programs that only the JIT can run do not load. */
const char *why_no_jit(void);

/*
 * Words for errno @err, also for those that are the kernel's own and that the C library has none
 * for ("Unknown error 524"), and for libbpf's. Good until the thread's next call.
 */
const char *why_errno(int err);

/* "EPERM". Good until the thread's next call. */
const char *why_errno_name(int err);

#endif /* LIB_BPF_WHY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program attached to getpgid(2), written once. lib/bpf/attach.c lets one entry be loaded.
 *
 *	static __always_inline int body(void *ctx) { ... }
 *	SYSCALL_PROGS(body)
 *
 * An object may have another set of them, by SYSCALL_PROGS_NAMED(): what differs between the two
 * then costs neither an instruction.
 */
#ifndef PROGS_ATTACH_BPF_H
#define PROGS_ATTACH_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "attach.h"

/* In a section of its own, so that it is found in any object. */
const volatile struct attach_target attach_target SEC(".rodata.attach") = {};

static __always_inline int attach_is_ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == attach_target.tgid;
}

/*
 * fentry, kprobe and tp are attached to the one system call; rawtp to sys_enter, which sees every
 * system call of the machine. All of them see every process.
 */
#define SYSCALL_PROGS(body) SYSCALL_PROGS_NAMED(getpgid, body)
#define SYSCALL_PROGS_NAMED(set, body)                                             \
	SEC("?fentry")                                                             \
	int set##_fentry(void *ctx)                                                \
	{                                                                          \
		return attach_is_ours() ? body(ctx) : 0;                           \
	}                                                                          \
	SEC("?ksyscall")                                                           \
	int set##_kprobe(void *ctx)                                                \
	{                                                                          \
		return attach_is_ours() ? body(ctx) : 0;                           \
	}                                                                          \
	SEC("?tracepoint")                                                         \
	int set##_tp(void *ctx)                                                    \
	{                                                                          \
		return attach_is_ours() ? body(ctx) : 0;                           \
	}                                                                          \
	SEC("?raw_tracepoint")                                                     \
	int set##_rawtp(struct bpf_raw_tracepoint_args *ctx)                       \
	{                                                                          \
		if (ctx->args[1] != attach_target.syscall_nr || !attach_is_ours()) \
			return 0;                                                  \
		return body(ctx);                                                  \
	}

#endif /* PROGS_ATTACH_BPF_H */

// SPDX-License-Identifier: GPL-2.0
#include "bench.h"
#include "benchs/user_probes.h"
#include "lib/bpf/usdt.h"

/* What the kernel may refuse, in words. */
static const char *insn_name(enum uprobe_target target)
{
	switch (target) {
	case UPROBE_TARGET_NOP10:
	case UPROBE_TARGET_USDT_NOP10:
		return "a nop of 10 bytes: requires Linux 7.3, or a late 7.2";
	default:
		return NULL;
	}
}

/* Where tracers look for the probe has to be where it is called. */
static int check_usdt(struct bench_run *run, enum uprobe_target target, const struct hook *hook)
{
	const char *name = uprobe_target_usdt(target);
	uint64_t offset;
	int err;

	err = usdt_file_offset(UPROBE_USDT_PROVIDER, name, &offset);
	if (err)
		return bench_failed(&run->err, err,
				    "cannot find USDT probe %s:%s in our executable",
				    UPROBE_USDT_PROVIDER, name);
	if (offset + uprobe_target_usdt_skip(target) != hook->offset)
		return bench_failed(&run->err, 0, "USDT probe %s:%s is not where its note says",
				    UPROBE_USDT_PROVIDER, name);
	return 0;
}

int user_probe_find(struct bench_run *run, enum uprobe_target target, struct hook *hook)
{
	uintptr_t addr = uprobe_target_addr(target);
	int err;

	if (!addr)
		return bench_unavailable(&run->err, "its target function is not written for this "
						    "architecture: requires x86-64 or arm64");
	err = uprobe_file_offset(addr, &hook->offset);
	if (err)
		return bench_unavailable(
			&run->err,
			"cannot find the code of this program in /proc/self/maps: mount -t "
			"proc proc /proc");
	hook->insn = insn_name(target);
	return uprobe_target_usdt(target) ? check_usdt(run, target, hook) : 0;
}

static const char *site_name(enum uprobe_site site)
{
	return site == UPROBE_SITE_CALL ? "a call" : "a breakpoint";
}

/* What the kernel makes of another instruction, hit once; NULL: it refuses that. */
static const char *site_of(const struct hook *attached, enum uprobe_target target)
{
	struct hook hook = *attached;
	const char *name = NULL;

	hook.link = NULL;
	hook.fd = 0;
	if (uprobe_file_offset(uprobe_target_addr(target), &hook.offset) || hook_attach(&hook))
		return NULL;
	uprobe_target_call(target);
	name = site_name(uprobe_target_site(target));
	hook_detach(&hook);
	return name;
}

/*
 * There are kernels that turn a uprobe on one of these two into a call, which makes it several
 * times as fast; the names of the benchmarks do not tell which.
 */
static void note_long_nops(struct bench_run *run, enum uprobe_target target,
			   const struct hook *hook)
{
	const bool is_nop5 = target == UPROBE_TARGET_NOP5;
	const char *own = site_name(uprobe_target_site(target));
	const char *other = site_of(hook, is_nop5 ? UPROBE_TARGET_NOP10 : UPROBE_TARGET_NOP5);

	bench_note(run, "on this kernel a uprobe on a nop of %s bytes is %s, on one of %s bytes %s",
		   is_nop5 ? "5" : "10", own, is_nop5 ? "10" : "5", other ?: "refused");
}

/* Read back from our memory: newer and older tracers take different nops of a pair. */
static int note_usdt(struct bench_run *run, enum uprobe_target target, const struct hook *hook)
{
	const enum uprobe_site site = uprobe_target_site(target);

	if (site == UPROBE_SITE_UNTOUCHED)
		return bench_failed(&run->err, 0, "the USDT probe is not where it was to be");
	bench_note(run, "USDT probe %s:%s: %s at 0x%llx of the executable is probed, by %s",
		   UPROBE_USDT_PROVIDER, uprobe_target_usdt(target),
		   target == UPROBE_TARGET_USDT_NOP5  ? "the nop of 5 bytes after the nop" :
		   target == UPROBE_TARGET_USDT_NOP10 ? "the nop of 10 bytes after the nop" :
							"the nop",
		   (unsigned long long)hook->offset, site_name(site));
	return 0;
}

int user_probe_note(struct bench_run *run, enum uprobe_target target, const struct hook *hook)
{
	if (uprobe_target_usdt(target))
		return note_usdt(run, target, hook);
	if (target == UPROBE_TARGET_NOP5 || target == UPROBE_TARGET_NOP10)
		note_long_nops(run, target, hook);
	return 0;
}

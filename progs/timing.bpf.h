/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that time themselves: they read the clock around a batch of turns. What a turn does is
 * the body of TIMED_RAW_TP(), as of a function:
 *
 *	TIMED_RAW_TP(lookup)
 *	{
 *		bpf_map_lookup_elem(&map, &key);
 *	}
 *
 * In it there are @ctx, the program's context; @turn, which goes up by one for each turn that the
 * producer makes; and @args, struct timing_args, of the batch. TIMED_XDP() gets the arguments as
 * the metadata of its packet, and takes them away before the clock starts.
 *
 * The loop around it is made of what the kernel has, see lib/run/timing.h, which is the other side
 * of this: so each becomes two programs, lookup_may_goto and lookup_bpf_loop, one of which is
 * loaded. timing_empty is the same loop with nothing in it.
 */
#ifndef PROGS_TIMING_BPF_H
#define PROGS_TIMING_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "timing.h"

/* As many as there are producers. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct timing_slot);
	__uint(max_entries, 1);
} timing_slots SEC(".maps");

/*
 * Leaves a loop at @label when the kernel thinks that it has run for too long (250 ms, or 2^23
 * turns), and for the verifier at any time: so the loop need not have a bound. The instruction is
 * may_goto (JCOND), which clang has no name for before version 19: opcode and registers; 16 bits of
 * offset, in instructions behind it, and 32 bits of nothing. The offset is part of a .long since
 * the assembler takes a .short of labels for the offset of a jump.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MAY_GOTO_OFFSET(offset) "((" offset ") & 0xffff)"
#else
#define MAY_GOTO_OFFSET(offset) "((" offset ") << 16)"
#endif
#define MAY_GOTO(label)                                                                 \
	asm goto("1: .byte 0xe5, 0; "                                                   \
		 ".long " MAY_GOTO_OFFSET("(%l[" #label "] - 1b - 8) / 8") "; .short 0" \
		 :                                                                      \
		 :                                                                      \
		 :                                                                      \
		 : label)

static __always_inline void timing_store(struct timing_slot *slot, __u64 turns, __u64 ns)
{
	slot->turns = turns;
	slot->ns = ns;
	slot->all_turns += turns;
}

#define TIMED_PROGS(name, section, ctx_type, get_args, ret)                             \
	static __always_inline void name##_turn(ctx_type *ctx, __u64 turn,              \
						const struct timing_args *args);        \
                                                                                        \
	SEC("?" section)                                                                \
	int name##_may_goto(ctx_type *ctx)                                              \
	{                                                                               \
		struct timing_slot *slot;                                               \
		struct timing_args args;                                                \
		__u64 start, turn, end;                                                 \
		__u32 producer;                                                         \
                                                                                        \
		if (get_args(ctx, &args))                                               \
			return ret;                                                     \
		producer = args.producer;                                               \
		slot = bpf_map_lookup_elem(&timing_slots, &producer);                   \
		if (!slot)                                                              \
			return ret;                                                     \
		turn = slot->all_turns;                                                 \
		end = turn + args.turns;                                                \
		start = bpf_ktime_get_ns();                                             \
		for (; turn < end; turn++) {                                            \
			MAY_GOTO(out);                                                  \
			name##_turn(ctx, turn, &args);                                  \
		}                                                                       \
out:                                                                                    \
		timing_store(slot, turn - slot->all_turns, bpf_ktime_get_ns() - start); \
		return ret;                                                             \
	}                                                                               \
                                                                                        \
	struct name##_batch {                                                           \
		ctx_type *ctx;                                                          \
		__u64 first;                                                            \
		struct timing_args args;                                                \
	};                                                                              \
                                                                                        \
	static int name##_callback(__u32 turn, struct name##_batch *batch)              \
	{                                                                               \
		name##_turn(batch->ctx, batch->first + turn, &batch->args);             \
		return 0;                                                               \
	}                                                                               \
                                                                                        \
	SEC("?" section)                                                                \
	int name##_bpf_loop(ctx_type *ctx)                                              \
	{                                                                               \
		struct name##_batch batch = { .ctx = ctx };                             \
		struct timing_slot *slot;                                               \
		__u32 producer;                                                         \
		__s64 turns;                                                            \
		__u64 start;                                                            \
                                                                                        \
		if (get_args(ctx, &batch.args))                                         \
			return ret;                                                     \
		producer = batch.args.producer;                                         \
		slot = bpf_map_lookup_elem(&timing_slots, &producer);                   \
		if (!slot)                                                              \
			return ret;                                                     \
		batch.first = slot->all_turns;                                          \
		start = bpf_ktime_get_ns();                                             \
		turns = bpf_loop(batch.args.turns, name##_callback, &batch, 0);         \
		timing_store(slot, turns > 0 ? turns : 0, bpf_ktime_get_ns() - start);  \
		return ret;                                                             \
	}                                                                               \
                                                                                        \
	static __always_inline void name##_turn(ctx_type *ctx, __u64 turn,              \
						const struct timing_args *args)

static __always_inline int timing_raw_tp_args(struct bpf_raw_tracepoint_args *ctx,
					      struct timing_args *args)
{
	args->turns = ctx->args[0];
	args->producer = ctx->args[1];
	args->salt = ctx->args[2];
	return 0;
}

static __always_inline int timing_xdp_args(struct xdp_md *ctx, struct timing_args *args)
{
	const struct timing_args *meta = (void *)(long)ctx->data_meta;

	if ((void *)(meta + 1) > (void *)(long)ctx->data)
		return -1;
	*args = *meta;
	return bpf_xdp_adjust_meta(ctx, sizeof(*args));
}

#define TIMED_RAW_TP(name) \
	TIMED_PROGS(name, "raw_tp", struct bpf_raw_tracepoint_args, timing_raw_tp_args, 0)
#define TIMED_XDP(name) TIMED_PROGS(name, "xdp", struct xdp_md, timing_xdp_args, XDP_PASS)

TIMED_RAW_TP(timing_empty)
{
}

#endif /* PROGS_TIMING_BPF_H */

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# prog-run: the user's own program, compiled here.

load ../helpers

setup_file() {
	OBJECTS=$BATS_FILE_TMPDIR
	export OBJECTS
	command -v clang >/dev/null || skip 'no clang'
	cat >"$OBJECTS/some.bpf.c" <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>

		char LICENSE[] SEC("license") = "GPL";

		struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 1);
			__type(key, __u32);
			__type(value, __u64);
			__uint(pinning, LIBBPF_PIN_BY_NAME);
		} bench_prog_run_test SEC(".maps");

		SEC("xdp") int pass(struct xdp_md *ctx)
		{
			return XDP_PASS;
		}

		/* 7 and 8 by turns, from call to call */
		SEC("tc") int by_turns(struct __sk_buff *skb)
		{
			static int n;

			return 7 + (n++ & 1);
		}

		/* How long its packet is */
		SEC("tc") int length(struct __sk_buff *skb)
		{
			return skb->len;
		}

		SEC("xdp") int shorten(struct xdp_md *ctx)
		{
			return bpf_xdp_adjust_head(ctx, 1) ? XDP_ABORTED : XDP_PASS;
		}

		SEC("syscall") int context(int *ctx)
		{
			return *ctx + 1;
		}

		SEC("raw_tp") int argument(struct bpf_raw_tracepoint_args *ctx)
		{
			return ctx->args[0] != 0;
		}

		SEC("tc") int map(struct __sk_buff *skb)
		{
			__u32 key = 0;

			return bpf_map_lookup_elem(&bench_prog_run_test, &key) ? 0 : 1;
		}

		SEC("perf_event") int event(void *ctx)
		{
			return 0;
		}

		SEC("xdp") int refused(struct xdp_md *ctx)
		{
			return *(volatile char *)(long)ctx->data;
		}

		SEC("nonsense") int unknown(void *ctx)
		{
			return 0;
		}
	END
	# The same program, once cheap and once dear
	cat >"$OBJECTS/turns.bpf.c" <<-'END'
		#include <linux/bpf.h>
		#include <bpf/bpf_helpers.h>

		char LICENSE[] SEC("license") = "GPL";

		__u64 sum;

		SEC("tc") int add(struct __sk_buff *skb)
		{
			for (int i = 0; i < TURNS; i++)
				__sync_fetch_and_add(&sum, 1);
			return 0;
		}
	END
	compile some.bpf.c some.o
	compile turns.bpf.c v1.o -DTURNS=1
	compile turns.bpf.c v2.o -DTURNS=200
}

compile() {
	clang -O2 -g -target bpf -mcpu=v3 -idirafter "/usr/include/$(uname -m)-linux-gnu" -c \
		"$OBJECTS/$1" -o "$OBJECTS/$2" "${@:3}"
}

prog_run() {
	bench -w0 -d1 "${@:2}" --object "$OBJECTS/some.o" --program "$1" prog-run
}

field() {
	jq -r "$1" "$OUT"
}

@test "what cannot be opened, or does not name one program, is refused before anything is loaded" {
	local some=$OBJECTS/some.o
	refused --object "cannot open '$OBJECTS/none.o'" 'No such file' --object "$OBJECTS/none.o" prog-run
	refused --object "'$OBJECTS' is no file" '' --object "$OBJECTS" prog-run
	refused --object "'$OBJECTS/some.bpf.c' is no BPF object" '' \
		--object "$OBJECTS/some.bpf.c" prog-run
	refused --object "'$BENCH' is no BPF object" '' --object "$BENCH" prog-run
	refused --object "there are 10 programs in '$some'" 'by_turns' --object "$some" prog-run
	refused --object "there is no program 'pas' in '$some'" 'by_turns' \
		--object "$some" --program pas prog-run
	refused --object "section 'nonsense' of program 'unknown'" '' \
		--object "$some" --program unknown prog-run
	refused --program 'no --object' '' --program pass prog-run
	refused --data-in "cannot open '$OBJECTS/none'" '' --data-in "$OBJECTS/none" prog-run
	: >"$OBJECTS/empty"
	refused --ctx-in 'no bytes' '1 to 65536 bytes' --ctx-in "$OBJECTS/empty" prog-run
}

@test "a program that the verifier refuses: the end of its log" {
	prog_run refused
	exits 1
	error_line "bench: prog-run: failed: the verifier of this kernel refuses program 'refused' of '*some.o'*"
	error_line '*invalid access to packet*'
	no_output
}

@test "a type that cannot be run on request is unavailable" {
	prog_run event
	exits 4
	one_error_line 'bench: prog-run: unavailable: this kernel cannot run a program of type perf_event on request*'
}

@test "what the kernel does not repeat cannot be repeated, and a packet may be too short" {
	printf '\1\0\0\0' >"$OBJECTS/four"
	prog_run context --ctx-in "$OBJECTS/four" --repeat 2
	exits 64
	prog_run pass --data-in "$OBJECTS/four"
	exits 1
	error_line '*the kernel does not take this context or packet for a program of type xdp*'
}

# The kernel counts the same runs, those of the set-up included
@test "all runs count: of programs that the kernel repeats, and of others" {
	printf '\1\0\0\0' >"$OBJECTS/four"
	local args
	while read -ra args; do
		prog_run "${args[@]}" -p 3 --verify -o -
		exits 0
		error_line 'bench: note: verified: the kernel counts * runs too'
		[[ $(field '.conservation | .ok and .runs == .measured + .beside + .set_up') == true ]]
	done <<-END
		pass
		by_turns --repeat 1
		context --ctx-in $OBJECTS/four
		argument
	END
}

@test "return values are recorded, and printed where they vary" {
	head -c 100 /dev/zero >"$OBJECTS/hundred"
	prog_run length --data-in "$OBJECTS/hundred" -o -
	exits 0
	[[ $(field .env.retval) == 100 ]]
	no_error_line '*return values*'
	printf '\1\0\0\0' >"$OBJECTS/four"
	prog_run context --ctx-in "$OBJECTS/four" -o -
	[[ $(field .env.retval) == 2 ]]
	prog_run by_turns --repeat 1
	exits 0
	local seven eight
	read -r seven eight < <(sed -nE \
		's/^bench: note: return values of the last run in a call: .*7 \(([0-9]+) times\).*/\1/p' "$ERR" |
		tr '\n' ' ' && sed -nE 's/^bench: note: return values.*8 \(([0-9]+) times\).*/\1/p' "$ERR")
	((seven - eight <= 1 && eight - seven <= 1))
}

@test "a program that changes its packet gets a new one with --repeat 1 alone" {
	prog_run shorten
	exits 0
	error_line 'bench: warning: the program changes its packet*--repeat 1*'
	error_line 'bench: note: return values of the last run in a call: *'
	prog_run shorten --repeat 1
	exits 0
	no_error_line '*changes its packet*'
	no_error_line '*return values*'
	prog_run length
	no_error_line '*changes its packet*'
}

@test "nothing is pinned, and a map that is pinned already is used" {
	local pin=/sys/fs/bpf/bench_prog_run_test
	[[ $(stat -f -c %T /sys/fs/bpf) == bpf_fs && ! -e $pin ]] || skip 'no file system for pins'
	prog_run map
	exits 0
	error_line "bench: note: map 'bench_prog_run_test' is new, and not pinned ($pin)"
	[[ ! -e $pin ]]
	bpftool map create "$pin" type array key 4 value 8 entries 1 name bench_prog_run_test
	prog_run map
	rm "$pin"
	exits 0
	error_line "bench: note: map 'bench_prog_run_test' is the pinned one ($pin)"
}

# 200 atomic additions against one
@test "-C compares two versions of a program, and names both" {
	local version
	cd "$OBJECTS"
	for version in v1 v2; do
		bench -q -w0 -d1 --object "$version.o" \
			-o "$BATS_TEST_TMPDIR/$version.jsonl" prog-run
		exits 0
	done
	bench -C "$BATS_TEST_TMPDIR/v1.jsonl" "$BATS_TEST_TMPDIR/v2.jsonl"
	exits 0
	grep -q '^ *object: v1\.o -> v2\.o$' "$OUT"
	grep -q '^ *prog_tag: [0-9a-f]\{16\} -> ' "$OUT"
	grep -qE '^prog-run +[0-9.]+ +[0-9.]+ +\+[1-9][0-9]{2,}%' "$OUT"
	# Another program is another row
	bench -q -w0 -d1 --object "$OBJECTS/some.o" --program pass \
		-o "$BATS_TEST_TMPDIR/other.jsonl" prog-run
	bench -C "$BATS_TEST_TMPDIR/v1.jsonl" "$BATS_TEST_TMPDIR/other.jsonl"
	run ! grep -qE '^prog-run +[0-9.]+ +[0-9.]+' "$OUT"
}

@test "without --object there is an empty program, and nothing is left of either" {
	bench -w0 -d1 --verify prog-run
	exits 0
	error_line 'bench: note: no --object: an empty raw_tp program is run'
	local held pid
	start -w0 -d5 --object "$OBJECTS/v1.o" prog-run
	await '^Iter   0'
	held=$(held_by "$pid")
	[[ $held == *prog* && $held == *map* ]]
	kill -KILL "$pid"
	finish
	gone "$held"
}

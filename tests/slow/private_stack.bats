#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# no-private-stack, private-stack: that the kernel did what the names say, that the two programs
# differ in nothing else, and that the runs are counted right.

bats_require_minimum_version 1.5.0

BENCH=${BENCH:-./bench}

# Runs each once, with what it says and prints kept for the tests. private-stack may be unavailable
# for these reasons only; then there is nothing to test.
setup_file() {
	local out=$BATS_FILE_TMPDIR
	UNAVAILABLE=
	"$BENCH" -w0 -d1 --show-jit private-stack >"$out/private.stdout" 2>"$out/private.stderr" ||
		UNAVAILABLE=$(sed -n 's/^bench: private-stack: unavailable: //p' "$out/private.stderr")
	[ -n "$UNAVAILABLE" ] ||
		"$BENCH" -w0 -d1 --show-jit no-private-stack >"$out/none.stdout" 2>"$out/none.stderr"
	case $UNAVAILABLE in
	'' | \
		'this kernel gives the program no private stack: requires Linux 6.13 (arm64: 6.17) or newer' | \
		'this kernel has no bpf_modify_return_test_tp(), which triggers the program: requires Linux 6.10 or newer' | \
		'this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer' | \
		'it is not known how to tell a private stack from another in the JITed code of this architecture') ;;
	*)
		cat "$out/private.stderr"
		return 1
		;;
	esac
	grep -E '^ +[0-9a-f]+:  |^[a-z_]+:$' "$out/private.stderr" >"$out/private.code" || :
	grep -E '^ +[0-9a-f]+:  |^[a-z_]+:$' "$out/none.stderr" >"$out/none.code" || :
	export UNAVAILABLE
}

setup() {
	[ -z "$UNAVAILABLE" ] || skip "$UNAVAILABLE"
}

# Takes out of a disassembly (x86-64) what may differ: addresses of maps; the name of the program;
# all that sets up, saves and restores the register of the private stack or makes room for a frame
# on the kernel's; the frame's base register and size. Offsets become numbers of instructions.
# What was taken out goes to file $1.
without_stack() {
	awk -v removed="$1" '
		function flush_func(    i, op) {
			for (i = 0; i < n; i++) {
				op = text[i]
				if (match(op, /^j[a-z]+ +0x[0-9a-f]+$/)) {
					sub(/0x/, "", op)
					split(op, word)
					op = word[1] " insn " at[word[2]]
				}
				print op
			}
			n = 0
			split("", at)
		}
		/^[a-z_]+:$/ {
			flush_func()
			sub(/^(small|large)_frame/, "measured")
			print
			next
		}
		{
			offset = $1
			sub(/:$/, "", offset)
			at[offset] = n
			sub(/^ +[0-9a-f]+:  /, "")
			gsub(/ +/, " ")
			if (/^(push|pop) r9$/ || /^movabs r9, 0x/ || /^mov r9d, 0x/ ||
			    /^add r9, qword ptr gs:/ || /^sub rsp, 0x30$/) {
				print > removed
				next
			}
			gsub(/r9/, "rbp")
			gsub(/-0x40$/, "-0x30")
			gsub(/rbp - 0x40]/, "rbp - 0x30]")
			if (/^movabs /)
				sub(/0x[0-9a-f]+$/, "ADDRESS")
			text[n++] = $0
		}
		END { flush_func() }'
}

# The best sample of benchmark $1 with batches of $2, in M/s
best() {
	"$BENCH" -w0 -d1 --interval 100 "$1" --nr-batch-iters "$2" 2>/dev/null |
		sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s (.*prod).*/\1/p' | sort -g | tail -n1
}

@test "the two programs differ in the stack and in nothing else" {
	[ "$(uname -m)" = x86_64 ] || skip "the test reads x86-64 code only"
	[ "$(</proc/sys/net/core/bpf_jit_harden)" != 2 ] || skip "the JIT blinds constants (bpf_jit_harden)"
	local none=$BATS_FILE_TMPDIR/none.code private=$BATS_FILE_TMPDIR/private.code
	local dir=$BATS_TEST_TMPDIR
	[ "$(head -n1 "$none")" = small_frame: ]
	[ "$(head -n1 "$private")" = large_frame: ]

	# Three calls of a function that does nothing, in each
	[ "$(grep -c -E 'call +nothing$' "$none")" -eq 3 ]
	[ "$(grep -c -E 'call +nothing$' "$private")" -eq 3 ]

	without_stack "$dir/none.removed" <"$none" >"$dir/none.rest"
	without_stack "$dir/private.removed" <"$private" >"$dir/private.rest"
	[ "$(wc -l <"$dir/none.rest")" -gt 25 ]
	diff "$dir/none.rest" "$dir/private.rest"

	# What was taken out: room for 48 bytes in the one; the register of the private stack in the
	# other, set up once, and saved and restored around each of the four calls.
	[ "$(cat "$dir/none.removed")" = 'sub rsp, 0x30' ]
	sed -E 's/0x[0-9a-f]+/N/g' "$dir/private.removed" >"$dir/private.stack"
	{
		grep -q -x 'mov r9d, N' "$dir/private.stack" && echo 'mov r9d, N' || echo 'movabs r9, N'
		echo 'add r9, qword ptr gs:[N]'
		printf '%s\n' 'push r9' 'pop r9' 'push r9' 'pop r9' 'push r9' 'pop r9' 'push r9' 'pop r9'
	} | diff - "$dir/private.stack"
	# and the frame is there
	grep -q -F 'qword ptr [rbp - 0x30]' "$none"
	grep -q -F 'qword ptr [r9 - 0x40]' "$private"
}

# The normalisation must not hide a difference that it should show.
@test "a change in the code is seen by the comparison" {
	[ "$(uname -m)" = x86_64 ] || skip "the test reads x86-64 code only"
	local code=$BATS_FILE_TMPDIR/none.code dir=$BATS_TEST_TMPDIR change
	without_stack /dev/null <"$code" >"$dir/before"
	for change in '0,/call +nothing/{/call +nothing/d}' 's/lock add/add/' 's/(je +0x).*/\10/' \
		'0,/leave/s//nop/'; do
		sed -E "$change" "$code" | without_stack /dev/null >"$dir/after"
		run diff "$dir/before" "$dir/after"
		[ "$status" -eq 1 ]
	done
}

@test "--show-jit prints on standard error, and nothing is printed without it" {
	grep -q -x 'large_frame:' "$BATS_FILE_TMPDIR/private.stderr"
	[ "$(grep -c nothing "$BATS_FILE_TMPDIR/private.stdout")" -eq 0 ]
	[[ $(tail -n1 "$BATS_FILE_TMPDIR/private.stdout") == 'Summary: hits '* ]]
	run --separate-stderr "$BENCH" -w0 -d1 private-stack
	[ "$status" -eq 0 ]
	# shellcheck disable=SC2154 # bats sets it
	[[ $stderr != *large_frame* ]]
}

@test "the kernel counts the same runs, with any batch size and number of producers" {
	local args
	for args in 'no-private-stack -p 5' 'private-stack --nr-batch-iters 1' \
		'private-stack --nr-batch-iters 65536 -p 5'; do
		# shellcheck disable=SC2086
		run --separate-stderr "$BENCH" -w0 -d1 --verify $args
		echo "$args: $stderr"
		[ "$status" -eq 0 ]
		[[ $stderr == *'bench: note: verified: the kernel counts '* ]]
		[[ ${lines[-1]} =~ ^'Summary: hits '.*'drops    0.000' ]]
	done
}

# An entry into the kernel costs tens of times as much as a run.
@test "the rate rises with the batch" {
	local try one many
	for try in 1 2 3; do
		one=$(best private-stack 1)
		many=$(best private-stack 512)
		echo "try $try: $one M/s at 1, $many M/s at 512"
		awk "BEGIN { exit !($many > 3 * $one) }" && return
	done
	false
}

@test "where the kernel hides the JITed code nothing is measured" {
	local bench
	if (($(</proc/sys/kernel/kptr_restrict) == 0 && $(</proc/sys/kernel/perf_event_paranoid) <= 1)); then
		skip "this kernel shows addresses to everybody (kptr_restrict, perf_event_paranoid)"
	fi
	for bench in no-private-stack private-stack; do
		run --separate-stderr setpriv --bounding-set=-all,+bpf,+perfmon "$BENCH" -w0 -d1 "$bench"
		[ "$status" -eq 4 ]
		[ "$stderr" = "bench: $bench: unavailable: the kernel does not show the JITed code, without which one cannot tell what is measured: requires CAP_SYSLOG (root has it) and sysctl kernel.kptr_restrict=1 or 0" ]
		[ -z "$output" ]
	done
}

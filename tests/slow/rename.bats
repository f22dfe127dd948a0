#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
#
# rename-*: each renaming makes the program run once, and those of others are not counted.

bats_require_minimum_version 1.5.0

BENCH=${BENCH:-./bench}
KINDS=(kprobe kretprobe rawtp fentry fexit)

# Is $2 a reason that rename-$1 may have to be unavailable, for root?
known_reason() {
	case $1:$2 in
	kprobe:'kprobes are not built into this kernel: requires CONFIG_KPROBES and CONFIG_KPROBE_EVENTS') ;;
	kretprobe:'kprobes are not built into this kernel: requires CONFIG_KPROBES and CONFIG_KPROBE_EVENTS') ;;
	fentry:'fentry programs are refused by this kernel: Operation not permitted'*) ;;
	fexit:'fexit programs are refused by this kernel: Operation not permitted'*) ;;
	*)
		echo "not a known reason for rename-$1: $2"
		return 1
		;;
	esac
}

# That runs = writes, the core checks after each run; and with --verify that the kernel counts the
# same runs.
verified() {
	local name=${*: -1}
	run --separate-stderr "$BENCH" -w0 -d1 --interval 100 --verify "$@"
	echo "$*: exit $status"
	echo "$stderr"
	if [ "$status" -eq 4 ]; then
		known_reason "${name#rename-}" "${stderr#"bench: $name: unavailable: "}"
		return
	fi
	[ "$status" -eq 0 ]
	[[ $stderr == *'bench: note: verified: the kernel counts '[1-9]*' runs too'* ]]
	[[ ${lines[-1]} =~ ^'Summary: hits '.*'M/prod), drops    0.000 ± 0.000M/s' ]]
}

@test "a renaming is a run of the program: the kernel counts the same, with 1, 2 and 8 producers" {
	local kind p
	for kind in "${KINDS[@]}"; do
		for p in 1 8; do
			verified -p $p "rename-$kind"
			[ "$status" -ne 4 ] || break
		done
	done
}

@test "renamings of another process are not counted" {
	local kind pid
	"$BENCH" -w0 -d60 -q rename-base >/dev/null 2>&1 3>&- &
	pid=$!
	for kind in "${KINDS[@]}"; do
		verified -p 2 "rename-$kind" || break
	done
	kill -KILL "$pid" # still there: it did run meanwhile
	wait "$pid" || [ $? -eq 137 ]
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
}

@test "threads keep their name" {
	local pid comm names
	"$BENCH" -w0 -d30 --interval 100 -p3 rename-base >"$BATS_TEST_TMPDIR/log" 2>/dev/null 3>&- &
	pid=$!
	until grep -q '^Iter' "$BATS_TEST_TMPDIR/log"; do
		sleep 0.1
	done
	read -r comm <"/proc/$pid/comm"
	names=$(cat "/proc/$pid/task/"*/comm)
	kill -INT "$pid"
	wait "$pid" || [ $? -eq 130 ]
	echo "$names"
	[ "$(uniq <<<"$names")" = "$comm" ]
	# Three producers, the main thread and the one that receives signals; the thread sanitizer has one more
	[ "$(wc -l <<<"$names")" -eq 5 ] || [[ -n ${SANITIZED:-} ]]
	[ "$comm" = "$(basename "$BENCH" | cut -c1-15)" ]
	tail -n1 "$BATS_TEST_TMPDIR/log" | grep '^Summary: hits '
}

@test "without /proc there is nothing to write to" {
	[[ -z ${SANITIZED:-} ]] || skip 'sanitizers need /proc'
	run --separate-stderr unshare --mount sh -c "umount -l /proc; exec '$BENCH' -q -w0 -d1 rename-base"
	[ "$status" -eq 4 ]
	[ "$stderr" = 'bench: rename-base: unavailable: there is no /proc/thread-self/comm: mount -t proc proc /proc' ]
	[ -z "$output" ]
}

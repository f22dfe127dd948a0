#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bpf-loop: how many callbacks a trigger makes, and that they are counted right.

bats_require_minimum_version 1.5.0

BENCH=${BENCH:-./bench}

# bpf-loop may be unavailable for these reasons only; then there is nothing to test.
setup_file() {
	local message
	UNAVAILABLE=
	message=$("$BENCH" -q -w0 -d1 bpf-loop 2>&1) || UNAVAILABLE=${message#bench: bpf-loop: unavailable: }
	case $UNAVAILABLE in
	'' | \
		'this kernel has no bpf_loop() for such a program: requires Linux 5.17 or newer' | \
		'this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer') ;;
	*)
		echo "$message"
		return 1
		;;
	esac
	export UNAVAILABLE
}

setup() {
	[ -z "$UNAVAILABLE" ] || skip "$UNAVAILABLE"
}

# Callbacks that all the samples of $output count, and triggers by the kernel's count in $stderr.
# shellcheck disable=SC2154 # bats sets them
hits_a_run() {
	local runs
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' <<<"$stderr")
	[ -n "$runs" ] || return
	sed -n 's/^Iter *[0-9]* (\(.*\)us): hits *\([0-9.]*\)M\/s.*/\1 \2/p' <<<"$output" |
		awk -v runs="$runs" -v interval="$1" '
			{ hits += $2 * (interval + $1) }
			END { printf "%.0f\n", hits / runs }'
}

# The best sample of a run with $1 loops, in M/s
best() {
	"$BENCH" -w0 -d1 --interval 100 bpf-loop --nr_loops "$1" 2>/dev/null |
		sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' | sort -g | tail -n1
}

# A trigger makes 1000 calls, or as many as 131072 callbacks allow; more of them are cut into equal
# parts. The samples hold all but what came after the last one, so at most all, and most of it.
@test "a trigger makes the callbacks that it should, and all of them are counted" {
	local loops expected got
	while read -r loops expected; do
		run --separate-stderr "$BENCH" -w0 -d1 --interval 100 --verify bpf-loop --nr_loops "$loops"
		[ "$status" -eq 0 ]
		got=$(hits_a_run 100000)
		echo "$loops loops: $got callbacks a trigger, expected $expected"
		((got * 1000 <= expected * 1001))
		((got * 2 > expected))
	done <<-END
		1 1000
		1000 131000
		131073 65537
		1000000 125000
		8388608 131072
	END
}

# One callback a call pays for the whole call: about three times what one of a thousand costs.
@test "a callback costs less in a long loop than in a short one" {
	local try short long
	for try in 1 2 3; do
		short=$(best 1)
		long=$(best 1000)
		echo "try $try: $short M/s at 1, $long M/s at 1000"
		awk "BEGIN { exit !($long > 1.3 * $short) }" && return
	done
	false
}

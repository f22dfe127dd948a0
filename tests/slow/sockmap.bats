#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# sockmap: that what counts has arrived, all of it, and that what is not read does not pile up.
#
# shellcheck disable=SC2154 # helpers set status and more

load ../helpers

SWEEPS=$BATS_TEST_DIRNAME/../../benchs
RX='rx-verdict-egress rx-verdict-ingress rx-pass'
TX='tx-verdict-egress tx-verdict-ingress tx-pass'
NORMAL='rx-normal tx-normal'

setup_file() {
	bench -q -w0 -d1 --interval 100 sockmap
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed -n 's/^bench: sockmap: unavailable: //p' "$ERR")
	case $UNAVAILABLE in
	'' | \
		'this kernel has no sockmap: '* | \
		'cannot '*' 127.0.0.1: '*': bring the loopback interface up '*) ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
	RECORD=$BATS_TEST_TMPDIR/record
}

# Runs a mode $1, with further arguments, for one second; the record is in $RECORD
mode() {
	local mode=$1
	shift
	rm -f "$RECORD"
	bench -w0 -d1 --interval 100 -o "$RECORD" "$@" sockmap "--$mode"
}

holds() {
	jq -e "$@" "$RECORD" >/dev/null || fail "not true: $* of $(jq -c .conservation "$RECORD")"
}

@test "all that is sent arrives, in each mode, and the program saw it" {
	local mode
	for mode in $RX $TX $NORMAL; do
		mode "$mode" --verify
		exits 0
		# shellcheck disable=SC2016 # variables of jq
		holds '([.samples[].received] | add) as $n | .conservation |
			.ok and .sent == .received and .received >= $n and $n > 0 and .never_read == 0'
		case $mode in
		rx-normal) holds '.conservation | .forwarded == .sent' ;;
		*-normal) ;;
		# Where the kernel refuses some, what it shows is not what it sends
		tx-*) holds '.conservation | .bpf > 0.5 * .sent' ;;
		*) holds '.conservation | .bpf == .sent' ;;
		esac
		if [[ $mode == *-normal ]]; then
			error_line 'bench: note: --verify: there is no run count *'
			grep -q 'BPF Speed    0.000 MB/s' "$OUT"
		else
			error_line 'bench: note: verified: the kernel counts *'
		fi
	done
}

@test "a parser cuts what arrives into records, and the last one is whole" {
	local runs
	mode rx-verdict-egress --verify --rx-strp 1000
	exits 0
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
	((runs > 0))
	# shellcheck disable=SC2016 # a variable of jq
	holds --argjson runs "$runs" '.conservation | .sent == 1000 * $runs and .received == .sent'
}

@test "nobody reads: the sender is held back, and nothing is lost" {
	local mode
	for mode in rx-verdict-ingress tx-verdict-ingress; do
		mode "$mode" --delay-consumer=-1 --max-unread 1M
		exits 1
		error_line 'bench: sockmap: failed: no hits in the measured time, and * drops'
		# What there is, in all lines together: 1 MiB of it, or what the sockets hold
		calc 'sent < 1.05' sent="$(
			sed -nE 's/.*Send Speed +([0-9.]+) MB.*/\1/p' "$OUT" | awk '{ s += $1 / 10 } END { print s }'
		)"
	done
}

@test "a late reader, and a sender that stops early" {
	rm -f "$RECORD"
	bench -w0 -d2 --interval 200 -o "$RECORD" sockmap --delay-consumer 1
	exits 0
	holds '.samples | (map(.received) | .[0] == 0 and .[2] == 0 and .[-1] > 0) and .[0].held > 0'
	rm -f "$RECORD"
	bench -w0 -d2 --interval 200 -o "$RECORD" sockmap --producer-duration 1
	exits 0
	holds '.samples | map(.sent) | .[0] > 0 and .[-1] == 0 and .[-2] == 0'
}

# The best sample, in bytes per ns
best() {
	mode "$1" >/dev/null
	jq '[.samples[] | .received / .dt_ns] | max' "$RECORD"
}

@test "to the queue of the reader it is shorter than through the other connection" {
	local ingress egress
	ingress=$(best tx-verdict-ingress)
	egress=$(best tx-verdict-egress)
	calc 'ingress > 1.2 * egress' ingress="$ingress" egress="$egress"
}

@test "the published command runs, and its lines are those of the kernel selftests' bench" {
	bench -c 2 -p 1 -a -w0 -d1 sockmap --rx-verdict-ingress
	exits 0
	error_line 'bench: note: sockmap has 1 consumer: -c 2 has no effect'
	local speed='Speed +[0-9]+\.[0-9]{3} MB/s' calls='\( *[0-9]+\.[0-9]{3} calls/s\)'
	grep -qE "^Iter   0 \( *-?[0-9]+\.[0-9]{3}us\): Send $speed $calls, BPF $speed, Rcv $speed $calls\$" "$OUT"
	grep -qE '^Summary: total trans +[0-9]+\.[0-9]{3} MB, received +[0-9.]+ ± [0-9.]+ MB/s, sent ' "$OUT"
	bench -q -c 2 -w0 -d1 sockmap --rx-normal
	exits 0
	no_error_line '*has no effect*'
}

@test "what does not fit together is refused, and nothing is made" {
	refused --tx-pass '' 'cannot be combined with --tx-normal' --tx-pass --tx-normal sockmap
	refused --rx-strp '' 'no BPF program sees' --rx-strp 100 --tx-pass sockmap
	refused --producers "'2'" 'expected 1' -p2 sockmap
	refused --consumers "'1'" 'has 2' -c1 --rx-normal sockmap
	refused --consumers "'0'" 'has 1' -c0 sockmap
}

@test "too few CPUs for the kernel's worker are reported" {
	local cpu
	cpu=$(allowed_cpus)
	cpu=${cpu%% *}
	bench_by taskset -c "$cpu" -- -q -w0 -d1 --interval 100 sockmap
	exits 0
	error_line "bench: warning: 1 CPU for three busy threads: *the kernel's worker*"
	bench_by taskset -c "$cpu" -- -q -w0 -d1 --interval 100 sockmap --tx-pass
	exits 0
	no_error_line '*three busy threads*'
}

@test "rights: CAP_NET_ADMIN for a sockmap, none without BPF; and no loopback interface" {
	local user=(setpriv --reuid 65534 --clear-groups)
	bench_by "${user[@]}" --inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon -- \
		-q -w0 -d1 sockmap
	exits 4
	no_output
	one_error_line 'bench: sockmap: unavailable: *: CAP_NET_ADMIN missing*'
	bench_by "${user[@]}" --inh-caps=-all --bounding-set=-all -- -q -w0 -d1 sockmap --tx-normal
	exits 0
	bench_by unshare -n -- -q -w0 -d1 sockmap
	exits 4
	no_output
	one_error_line 'bench: sockmap: unavailable: cannot connect to 127.0.0.1: *: bring the loopback interface up*'
}

@test "the sweep has a row for each mode" {
	local stub=$BATS_TEST_TMPDIR/stub rows=$BATS_TEST_TMPDIR/rows mode
	cat >"$stub" <<-'END'
		#!/bin/sh
		echo 'Summary: total trans 1136.714 MB, received  567.093 ± 25.590 MB/s, sent  570.958 ± 25.498 MB/s, drops 1552.276 ± 163.536/s, unread    4.065 MB (highest 4.067 MB)'
	END
	chmod +x "$stub"
	SUDO='' "$SWEEPS/run_bench_sockmap.sh" --bench "$stub" >"$rows"
	for mode in $RX $TX $NORMAL 1000; do
		grep -qE "^$mode +567.093 ± 25.590 MB/s \(drops 1552.276/s\)\$" "$rows"
	done
}

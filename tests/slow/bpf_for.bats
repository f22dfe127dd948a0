#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bpf-for: how many turns a trigger makes, by the program's own count and by the kernel's of its runs.

# shellcheck disable=SC2154 # helpers set pid

load ../helpers

setup_file() {
	bench -q -w0 -d1 --interval 100 bpf-for
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: bpf-for: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | 'this kernel has no kfunc bpf_iter_num_new(): requires Linux 6.4 or newer' | \
		'this kernel cannot run a raw_tp program on request '*) ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

# Of the run just made: the turns that the program counted, for each run of it by the kernel's count
turns_per_run() {
	local runs
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
	[[ -n $runs ]] || fail 'not verified against the run count of the kernel'
	jq --argjson runs "$runs" '.conservation.turns / $runs' "$1"
}

# A trigger makes 1000 loops, or as many as 131072 turns allow; longer loops are cut into equal parts
@test "a trigger makes the turns that it should, by the program's own count" {
	local loops expected record=$BATS_TEST_TMPDIR/record
	while read -r loops expected; do
		rm -f "$record"
		bench -w0 -d1 --interval 100 --verify -o "$record" bpf-for --nr_loops "$loops"
		exits 0
		[[ $(turns_per_run "$record") == "$expected" ]] ||
			fail "$loops loops: $(turns_per_run "$record") turns a trigger, not $expected"
		jq -e '.conservation.turns >= ([.samples[].ops] | add)' "$record" >/dev/null
	done <<-END
		1 1000
		1000 131000
		131073 65537
		8388608 131072
	END
}

@test "several producers, more than CPUs: the lines of the selftests' bench" {
	bench -w0 -d1 -p 5 --verify bpf-for
	exits 0
	[[ $(tail -n1 "$OUT") =~ ^'Summary: throughput '.*' M ops/s ('.*'M ops/prod), latency '.*' ns/op'$ ]]
	grep -qE '^Iter +0 \([ 0-9.-]+us\): hits +[0-9.]+M/s \( *[0-9.]+M/prod\)$' "$OUT"
}

# The best sample of a run with $1 turns a loop, in M/s
best() {
	bench -w0 -d1 --interval 100 bpf-for --nr_loops "$1" >/dev/null
	sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' "$OUT" | sort -g | tail -n1
}

# One turn a loop pays for setting the loop up: about five times what one of a thousand costs
@test "a turn costs less in a long loop than in a short one" {
	local try short long
	for try in 1 2 3; do
		short=$(best 1)
		long=$(best 1000)
		echo "try $try: $short M/s at 1, $long M/s at 1000"
		! calc 'long > 1.5 * short' long="$long" short="$short" || return 0
	done
	false
}

# On kernels before 7.3 the calls are there, and a note says what the figure is of
@test "the note on the loop goes with what the program is made of" {
	local calls
	start -w0 -d60 bpf-for
	await started
	calls=$(held_by "$pid" | awk '$1 == "prog" { print $2 }' |
		xargs -n1 bpftool prog dump xlated id | grep -c 'call bpf_iter_num_next' || true)
	kill "$pid"
	finish
	if ((calls)); then
		error_line 'bench: note: each turn calls bpf_iter_num_next(), which Linux 7.3 and newer inline'
	else
		no_error_line '*bpf_iter_num_next*'
	fi
}

teardown() {
	kill_started
}

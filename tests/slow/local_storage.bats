#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Local storage: that gets of map 0 have the share that they should, that the cache of 16 slots
# shows, and that each socket and thread gets one storage. Conservation is the core's to check.

load ../helpers

# Each family may be unavailable for these reasons only; then there is nothing to test.
setup_file() {
	local name
	export UNAVAILABLE=
	for name in local-storage-cache-seq-get 'local-storage-create --storage-type task'; do
		# shellcheck disable=SC2086 # with its option
		bench -q -w0 -d1 $name
		((status != 4)) || UNAVAILABLE+=$(sed 's/^bench: [^ ]*: unavailable: //' "$ERR")
		((status == 4)) || exits 0
	done
	case $UNAVAILABLE in
	'' | *' requires Linux 5.13 or newer'* | \
		*'(BPF_PROG_TEST_RUN): requires Linux 5.10 or newer'*) ;;
	*) return 1 ;;
	esac
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
	RECORD=$BATS_TEST_TMPDIR/record
}

teardown() {
	kill_started
}

# record BENCH-OPTION...: a short run that has to succeed, with its record in $RECORD
record() {
	rm -f "$RECORD"
	bench -w0 -d1 --interval 100 -o "$RECORD" "$@"
	exits 0
}

# Is the jq expression $1 true of the record?
holds() {
	jq -e "$1" "$RECORD" >/dev/null || fail "not true: $1: $(<"$RECORD")"
}

# The best sample of the first figure, for what is compared: others may take CPU time at any moment
best() {
	jq '[.samples[] | .hits / .dt_ns] | max * 1000' "$RECORD"
}

# ---- gets

@test "seq: map 0 gets one of N, exactly, in total and in each sample; the lines are the selftests'" {
	local n rate='[0-9]+\.[0-9]{3}'
	for n in 7 17 1000; do
		record --verify --nr_maps "$n" local-storage-cache-seq-get
		error_line 'bench: note: verified: the kernel counts [1-9]* runs too'
		holds ".conservation | .rounds > 0 and .hits == .rounds * $n and .important_hits == .rounds"
		holds ".samples | length > 5 and all(.hits == $n * .important_hits) and any(.hits > 0)"
	done
	grep -Ex "Iter +0 \( *-?${rate}us\): hits +${rate}M/s important_hits +${rate}M/s" "$OUT"
	tail -n1 "$OUT" | grep -Ex "Summary: hits throughput +$rate ± +$rate M ops/s, hits latency +$rate ns/op, important_hits throughput +$rate ± +$rate M ops/s"
}

@test "int: map 0 gets one more for each third map, exactly, with 1 and 2 producers" {
	local p n third
	while read -r p n third; do
		record --verify -p "$p" --nr_maps "$n" local-storage-cache-int-get
		holds ".conservation | .hits == .rounds * $((n + third)) and
			.important_hits == .rounds * $((1 + third))"
		holds ".samples | all(.hits * $((1 + third)) == .important_hits * $((n + third)))"
	done <<-END
		1 10 4
		2 24 8
		1 1000 334
	END
}

# 16 maps have a slot each; of 32 none keeps its own. Published: 3.3 times, and 98 times at 1000.
@test "the cache of 16 slots shows" {
	local at16 at32 at1000 try
	for try in 1 2 3; do
		record --nr_maps 16 local-storage-cache-seq-get
		at16=$(best)
		record --nr_maps 32 local-storage-cache-seq-get
		at32=$(best)
		record --nr_maps 1000 local-storage-cache-seq-get
		at1000=$(best)
		echo "try $try: $at16 $at32 $at1000"
		calc 'a > 1.5 * b && a > 8 * c' a="$at16" b="$at32" c="$at1000" && return
	done
	false
}

@test "--empty leaves the get out, and nothing else" {
	local full
	record --nr_maps 32 local-storage-cache-int-get
	full=$(best)
	record --verify --empty --nr_maps 32 local-storage-cache-int-get
	calc 'a > 1.5 * b' a="$(best)" b="$full"
	holds '.conservation | .hits == .rounds * 43 and .important_hits == .rounds * 12'
	holds '.params.empty'
}

# ---- hash map

# A key that was not put in would end the run with an error
@test "control: a thousand maps are refused; in one, all keys are there" {
	refused --nr_maps "'1000'" 'need 320000.* MiB' --nr_maps 1000 local-storage-cache-hashmap-control
	record --verify -p2 --hashmap_nr_keys_used 4194304 local-storage-cache-hashmap-control
	holds '.params.nr_maps == 1 and .conservation.hits == .conservation.important_hits'
	# 16 bytes a bucket, 64 an entry
	holds '[.samples[].memory] | min >= 80 * 4194304 or max == 0'
}

# ---- create

@test "create: each socket and each thread gets one storage; those of others none" {
	local type
	for type in socket task; do
		start -w0 -d60 -q --storage-type $type local-storage-create
		record --verify -p2 --storage-type $type --batch-size 5 local-storage-create
		error_line 'bench: note: verified: the kernel counts [1-9]* runs too'
		holds '.conservation | .creates > 0 and .creates == .calls and
			.create_errors == 0 and .failed_calls == 0'
		# shellcheck disable=SC2154 # start() sets it
		kill -0 "$pid" # it did run meanwhile
		kill_started
	done
}

@test "create: the total is that of the samples" {
	local rate='[0-9]+\.[0-9]{3}'
	record --storage-type task local-storage-create
	grep -Ex "Iter +0 \( *-?${rate}us\): creates +${rate}k/s \( *${rate}k/prod\)" "$OUT"
	tail -n1 "$OUT" | grep -Ex "Summary: creates +$rate ± +${rate}k/s \( *${rate}k/prod\), $(
		jq '[.samples[].creates] | add' "$RECORD"
	) total"
}

@test "create: more sockets than files may be open are refused" {
	refused --batch-size "'65536'" 'files that may be open' --batch-size 65536 -p 4096 \
		local-storage-create
}

# ---- tasks-trace

@test "tasks-trace: grace periods are measured, or the message names what the kernel lacks" {
	bench -w0 -d3 --verify --nr_procs 50 local-storage-tasks-trace
	if ((status == 4)); then
		grep -E 'unavailable: (this kernel has no function rcu_tasks_trace_(pregp_step|postgp)\(\)|fentry programs are |this kernel has no BPF trampolines)' "$ERR"
		return
	fi
	exits 0
	grep -E '^Iter [0-9]+	 avg tasks_trace grace period latency	[1-9][0-9]*\.[0-9]{6} ns$' "$OUT"
	grep -E '^SUMMARY tasks_trace grace period latency	avg [0-9.]+ us	stddev [0-9.]+ us$' "$OUT"
}

@test "--quiet may have the argument of the kernel selftests' script" {
	bench --quiet 1 -l local-storage-tasks-trace
	exits 0
	grep -x -- '- local-storage-tasks-trace' "$OUT"
	refused '' "'2'" '' --quiet 2 local-storage-tasks-trace
	bench --quiet 0 -w0 -d1 --interval 300 local-storage-create --storage-type task
	grep '^Iter' "$OUT"
}

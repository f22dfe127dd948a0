#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# LPM trie: what the trie holds before and after, and that all operations count, each once.
#
# shellcheck disable=SC2154 # helpers set status and more

load ../helpers

ENTRIES=1000

# The benchmarks may be unavailable for these reasons only; then there is nothing to test.
setup_file() {
	bench -q -w0 -d1 lpm-trie-lookup
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: lpm-trie-lookup: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | \
		'this kernel has no bpf_loop() for such a program: requires Linux 5.17 or newer' | \
		'this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer') ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
	RECORD=$BATS_TEST_TMPDIR/record
}

teardown() {
	kill_started
}

# What the record says, by a filter of jq
recorded() {
	jq -r "$1" "$RECORD"
}

# Runs of the measured program by the kernel's count
kernel_runs() {
	sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR"
}

# The best sample of the arguments, in M/s
best() {
	bench -w0 -d1 --interval 100 "$@" >/dev/null
	sed -nE 's/^Iter.*hits +([0-9.]+)M\/s.*/\1/p' "$OUT" | sort -g | tail -n1
}

# How many operations a run makes follows from the options alone. The samples hold all but what came
# after the last one; so at most all, and most of it.
@test "a run makes the operations that it should, and the kernel counts the same runs" {
	local per_run args ops runs
	while read -r per_run args; do
		rm -f "$RECORD"
		# shellcheck disable=SC2086 # several arguments
		bench -w0 -d1 --interval 100 --verify -o "$RECORD" $args
		exits 0
		[[ $(tail -n1 "$OUT") =~ ^'Summary: throughput '.*' ± '.*' M ops/s ('.*'M ops/prod), latency '.*' ns/op'$ ]]
		ops=$(recorded '[.samples[].ops] | add') runs=$(kernel_runs)
		calc 'ops <= per_run * runs' ops="$ops" per_run="$per_run" runs="$runs"
		calc 'ops > 0.5 * per_run * runs' ops="$ops" per_run="$per_run" runs="$runs"
	done <<-END
		50000 lpm-trie-baseline -p 3
		3333 lpm-trie-lookup --nr_entries 10000 -p 2
		1250 lpm-trie-update --random -p 2
	END
}

# The set-up looks up each key, and that its value is the key's own; a lookup that finds nothing
# fails the run. Prefixes that end within a byte, and all that there are.
@test "the trie holds all keys, whatever their prefix length; none of them is missed" {
	local len pids=() pid failed=0
	for len in 1 7 8 13 15 32; do
		"$BENCH" -q -w0 -d1 lpm-trie-lookup --prefix_len "$len" \
			--nr_entries $((len < 16 ? 1 << len : 70001)) >"$BATS_TEST_TMPDIR/$len" 2>&1 3>&- 4>&- &
		pids+=($!)
	done
	"$BENCH" -q -w0 -d1 lpm-trie-update --random --seed 7 -p 5 --nr_entries 4 >"$BATS_TEST_TMPDIR/update" 2>&1 3>&- 4>&- &
	pids+=($!)
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	cat "$BATS_TEST_TMPDIR"/*
	((!failed))
}

# A round is complete when all keys are in, or gone: not one operation earlier or later
full_rounds() {
	local rounds
	rm -f "$RECORD"
	bench -w0 -d1 --interval 250 --verify -o "$RECORD" "$1" --nr_entries "$ENTRIES"
	exits 0
	rounds=$(recorded '.conservation.rounds')
	[[ $rounds != null ]] || return 1
	recorded '.conservation'
	((rounds > 1))
	(($(recorded .conservation.refused) == rounds))
	(($(recorded .conservation.ops) / ENTRIES == rounds))
	# Only the operations are timed, not what undoes them
	calc 'share > 0 && share < 95' share="$(recorded .figures.in_section.mean)"
	# Time of one operation is the reciprocal of the rate
	calc 'x > 0.999 && x < 1.001' x="$(recorded '.figures.latency.mean * .figures.ops.mean / 1000')"
}

@test "an insert of one key more than there are fails with EEXIST, and none before" {
	full_rounds lpm-trie-insert || {
		(($(recorded '.conservation.ops') > 0))
		skip 'BPF_NOEXIST has no effect on an LPM trie of this kernel'
	}
}

@test "a delete of one key more than there are fails with ENOENT, and none before" {
	full_rounds lpm-trie-delete
}

@test "noop is faster than baseline, lookup, update; and few entries than many" {
	local try noop baseline one lookup update
	for try in 1 2 3; do
		noop=$(best -a lpm-trie-noop)
		baseline=$(best -a lpm-trie-baseline)
		one=$(best -a lpm-trie-lookup --nr_entries 1)
		lookup=$(best -a lpm-trie-lookup)
		update=$(best -a lpm-trie-update)
		echo "try $try: $noop, $baseline, $one, $lookup, $update M/s"
		calc 'noop > 1.1 * baseline && baseline > 1.5 * one && one > 1.5 * lookup && lookup > 1.2 * update' \
			noop="$noop" baseline="$baseline" one="$one" lookup="$lookup" update="$update" && return
	done
	false
}

@test "what would make operations of another kind is refused" {
	refused --nr_entries "'129'" 'only 128 different prefixes of 7 bits' \
		--nr_entries 129 --prefix_len 7 lpm-trie-lookup
	local name
	for name in lpm-trie-insert lpm-trie-delete lpm-trie-free; do
		refused --random '' 'each key once' --random "$name"
		refused --producers "'2'" 'one producer' -p 2 "$name"
	done
}

# ---- free

# Another one beside it frees maps all the time, and so does whatever else runs
@test "each map that is closed is freed once, and no other map counts" {
	local other
	"$BENCH" -q -w0 -d1 lpm-trie-free --nr_entries 10 >"$BATS_TEST_TMPDIR/other" 2>&1 3>&- 4>&- &
	other=$!
	bench -w0 -d1 --interval 250 -o "$RECORD" lpm-trie-free --nr_entries 3000
	wait "$other"
	exits 0
	[[ $(tail -n1 "$OUT") =~ ^'Summary: throughput '.*' ± '.*' K ops/s ('.*'K ops/prod), latency '.*' ms/op'$ ]]
	recorded .conservation
	(($(recorded .conservation.freed) > 2))
	(($(recorded '.conservation | .closed - .freed') == $(recorded .conservation.unfinished)))
	# All but what came after the last sample
	(($(recorded '[.samples[].ops] | add') <= $(recorded .conservation.freed)))
}

# With many, most samples have none that was freed: they are no samples, and spoil no figure
@test "a trie of more entries takes longer to free, by more than as many times" {
	local try few many
	for try in 1 2 3; do
		rm -f "$RECORD"
		bench -w0 -d1 -o "$RECORD" lpm-trie-free --nr_entries 300
		exits 0
		few=$(recorded .figures.latency.mean)
		rm -f "$RECORD"
		bench -w0 -d1 --interval 10 -o "$RECORD" lpm-trie-free --nr_entries 60000
		exits 0
		many=$(recorded .figures.latency.mean)
		(($(grep -c '^Iter .*nothing ended in it$' "$OUT") > 10))
		run ! grep -iE 'nan|inf' "$OUT"
		(($(recorded .figures.ops.n) == $(recorded '[.samples[] | select(.ops > 0)] | length')))
		calc 'many > 200 * few && many < 5000 * few' few="$few" many="$many" && return
	done
	false
}

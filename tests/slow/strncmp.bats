#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# strncmp-*: that all comparisons are made and come out right, and take time by the length.

load ../helpers

setup_file() {
	bench -q -w0 -d1 --interval 100 strncmp-no-helper
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: strncmp-no-helper: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | 'this kernel cannot run a raw_tp program on request '*) ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

# Those of the two that run here
available() {
	echo no-helper
	bench -q -w0 -d1 --interval 100 strncmp-helper >/dev/null
	if ((status == 4)); then
		grep -q 'this kernel has no bpf_strncmp()' "$ERR"
	else
		exits 0
		echo helper
	fi
}

# A run makes the same number each time, a multiple of 64; shorter than 64 there is none
@test "comparisons made = comparisons that found the lesser string = runs times the batch" {
	local kind length runs record=$BATS_TEST_TMPDIR/record
	for kind in $(available); do
		for length in 1 2 33 4095; do
			rm -f "$record"
			bench -w0 -d1 --interval 100 -p2 --verify -o "$record" "strncmp-$kind" \
				--cmp-str-len "$length" --seed $((length * 7))
			exits 0
			runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
			jq -e --argjson runs "$runs" '.conservation | .hits == .attempts and
				.attempts > 0 and .attempts % ($runs * 64) == 0' "$record" >/dev/null
			jq -e '[.samples[].drops] | add == 0' "$record" >/dev/null
		done
	done
}

# Time of a comparison at length $2, of the best sample: ns
time_of() {
	bench -w0 -d1 --interval 50 "strncmp-$1" --cmp-str-len "$2" >/dev/null
	sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' "$OUT" | sort -g | tail -n1 |
		awk '{ print 1000 / $1 }'
}

# Twice the length costs twice the time, less what a call costs: so 4000 cost 6 to 10 times what 500
# do. Who has only read a part of the strings, or all 4095 bytes of them always, is far off.
@test "the time of a comparison is linear in the length" {
	local kind try short long
	for kind in $(available); do
		for try in 1 2 3; do
			short=$(time_of "$kind" 500)
			long=$(time_of "$kind" 4000)
			echo "$kind, try $try: $short ns at 500, $long ns at 4000"
			! calc 'long > 4 * short && long < 14 * short' long="$long" short="$short" || break
			((try < 3))
		done
	done
}

@test "lines are those of the selftests' bench" {
	bench -w0 -d1 strncmp-no-helper
	exits 0
	[[ $(tail -n1 "$OUT") =~ ^'Summary: hits '.*'M/s ('.*'M/prod), drops    0.000 ± 0.000M/s, total operations '.*'M/s'$ ]]
}

@test "the sweep has published lengths, each for both" {
	local n
	"$BATS_TEST_DIRNAME/../../benchs/run_bench_strncmp.sh" --bench "$BENCH" --dry-run |
		sed -nE 's/.* --cmp-str-len=([0-9]+) strncmp-(no-helper|helper)$/\2 \1/p' >"$BATS_TEST_TMPDIR/dry"
	(($(wc -l <"$BATS_TEST_TMPDIR/dry") == 12))
	for n in 1 8 64 512 2048 4095; do
		(($(grep -c "helper $n\$" "$BATS_TEST_TMPDIR/dry") == 2))
		grep -q $'^x86-64\t'"$n"$'\t' "$BATS_TEST_DIRNAME/../../reference/strncmp.tsv"
	done
}

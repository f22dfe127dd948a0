#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# xdp-lb: that each scenario is what it is called. The program counts what becomes of each packet,
# and a run fails where it is not what the scenario says.

load ../helpers

# Of the record in $OUT
field() {
	jq -r "$1" "$OUT"
}

scenario() {
	bench -q -w0 -d1 --interval 200 -o - xdp-lb --scenario "$@"
	exits 0
}

@test "all scenarios are listed, and the sweep has all of them" {
	bench xdp-lb --list-scenarios
	exits 0
	(($(wc -l <"$OUT") == 24 && $(cut -d' ' -f1 "$OUT" | sort -u | wc -l) == 24))
	diff <(cut -d' ' -f1 "$OUT" | sort) \
		<("$BATS_TEST_DIRNAME/../../benchs/run_bench_xdp_lb.sh" --dry-run --bench "$BENCH" |
			sed -n 's/.*--scenario //p' | sort)
	refused --scenario "'tcp-v4-hit'" '--list-scenarios' xdp-lb --scenario tcp-v4-hit
}

# The first packet is looked at byte by byte, all others are counted: the run fails where one of
# them is not dropped, passed or sent as the scenario has it. Eight at a time.
@test "every packet of every scenario becomes what it should" {
	local name pids=() dir=$BATS_TEST_TMPDIR
	for name in $("$BENCH" xdp-lb --list-scenarios | cut -d' ' -f1); do
		timeout -s KILL "$TIME_LIMIT" "$BENCH" -q -w0 -d1 --verify -o "$dir/$name.jsonl" \
			xdp-lb --scenario "$name" >"$dir/$name.log" 2>&1 </dev/null 3>&- 4>&- &
		pids+=($!)
		# not a bare wait, which would be for bats' own timeout as well
		((${#pids[@]} % 8)) || wait "${pids[@]}"
	done
	cat "$dir"/*.log
	(($(cat "$dir"/*.jsonl | wc -l) == 24))
	(($(jq 'select(.status == "ok" and (.conservation | .ok and .packets > 0
		and .turns == .packets + .nothing)) | 1' "$dir"/*.jsonl | wc -l) == 24))
}

@test "known connections are found, always" {
	local name
	for name in tcp-v4-lru-hit udp-v6-lru-hit tcp-v4v6-lru-hit; do
		scenario "$name" -p 3
		[[ $(field '.conservation | .hits == .sent and .misses == 0') == true ]]
		[[ $(field '.figures.missed.mean') == 0* ]]
	done
}

# (M / n) (1 - (1 - 1 / M)^n) of n = 6500 packets of M = 4096 sources are the first of theirs. The
# share of one batch has a deviation of 0.4, that of hundreds of them one of less than 0.1.
@test "of 6500 packets of 4096 new sources 50.1 % miss" {
	scenario tcp-v4-lru-warmup -p 2
	calc 'pct > 49.6 && pct < 50.6' pct="$(field .figures.missed.mean)"
	(($(field .conservation.measured) % 6500 == 0))
}

@test "of 16777216 sources more than 99 % miss, and a RST is never known" {
	local name
	for name in tcp-v4-lru-miss udp-v4-lru-miss tcp-v4-rst-miss; do
		scenario "$name"
		calc 'pct > 99' pct="$(field .figures.missed.mean)"
	done
}

@test "4096 sources are known after a while, and the ring and SYNs do not ask" {
	# pinned, since each CPU knows its own
	scenario tcp-v4-lru-diverse -a
	[[ $(field '.samples | length > 3 and .[-1].misses < .[-1].lookups / 100') == true ]]
	for name in tcp-v6-ch-diverse tcp-v4-syn; do
		scenario "$name"
		[[ $(field '.conservation | .hits == 0 and .misses == 0') == true ]]
	done
}

# By wide margins on a quiet machine; the best batch counts, for what disturbs takes time
@test "the sooner a packet is done with, the less it costs" {
	local cost=() name
	for _ in 1 2 3; do
		cost=()
		for name in pass-non-ip pass-v4-no-vip tcp-v4-lru-hit tcp-v4-lru-miss; do
			scenario "$name"
			cost+=("$(field .figures.min_of_batches.mean)")
		done
		echo "${cost[@]}"
		! calc '1.2 * ip < vip && 1.2 * vip < hit && 1.2 * hit < miss' ip="${cost[0]}" \
			vip="${cost[1]}" hit="${cost[2]}" miss="${cost[3]}" || return 0
	done
	false
}

@test "--machine-readable prints one line" {
	local n='[0-9]+(\.[0-9]+)?'
	bench -w0 -d1 xdp-lb --scenario tcp-v4-ch --machine-readable
	exits 0
	(($(wc -l <"$OUT") == 1))
	grep -qE "^RESULT scenario=tcp-v4-ch samples=[0-9]+ median=$n stddev=$n cv=$n min=$n p99=$n max=$n\$" "$OUT"
}

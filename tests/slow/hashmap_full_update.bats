#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bpf-hashmap-full-update, bpf-rhashmap-full-update: that a full map refuses all, and stays as it is.

load ../helpers

# A run whose attempts were all refused, of a map that had 1000 entries before and after
refuses_all() {
	local runs record=$BATS_TEST_TMPDIR/record
	rm -f "$record"
	bench -w0 -d1 --interval 100 --verify -o "$record" "$@"
	((status == 0)) || return 0
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
	jq -e --argjson runs "$runs" '.conservation | .attempts == .refused and
		.attempts > 0 and .attempts % ($runs * 64) == 0 and
		.entries_before == 1000 and .entries_after == 1000' "$record" >/dev/null
}

@test "every update is refused for want of room, and the map has 1000 entries before and after" {
	local args
	for args in '' -p4 '-p2 -a'; do
		# shellcheck disable=SC2086 # several arguments
		refuses_all $args bpf-hashmap-full-update
		((status != 4)) || skip 'it does not run here'
		exits 0
	done
	[[ $(tail -n1 "$OUT") =~ ^'Summary: throughput '.*' M ops/s ('.*'M ops/prod), latency '.*' ns/op'$ ]]
}

@test "the resizable map, or why not" {
	refuses_all -p2 bpf-rhashmap-full-update
	if ((status == 4)); then
		one_error_line 'bench: bpf-rhashmap-full-update: unavailable: this kernel *'
	else
		exits 0
	fi
}

@test "the name that the selftests' bench had first" {
	bench -q -w0 -d1 --interval 100 bpf-hashmap-ful-update
	((status != 4)) || skip 'it does not run here'
	exits 0
	"$BENCH" -l | grep -qx -e '- bpf-hashmap-full-update'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bpf-hashmap-lookup, bpf-rhashmap-lookup: that every key is there and found, whatever its size.

load ../helpers

setup_file() {
	bench -q -w0 -d1 --interval 100 bpf-hashmap-lookup
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: bpf-hashmap-lookup: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | 'this kernel cannot run a socket filter program with arguments '*) ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

# A miss ends the run. --verify counts the entries, too.
@test "all keys are found, the map has as many as asked for, and runs make the lookups they should" {
	local name expected args runs record=$BATS_TEST_TMPDIR/record
	while read -r name expected args; do
		rm -f "$record"
		# shellcheck disable=SC2086 # several arguments
		bench -w0 -d1 --interval 100 --verify -o "$record" "$name" $args
		if [[ $name == *rhash* ]] && ((status == 4)); then
			one_error_line '*: this kernel has no resizable hash map (BPF_MAP_TYPE_RHASH): requires Linux 7.2 or newer'
			continue
		fi
		exits 0
		runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
		jq -e --argjson runs "$runs" --argjson expected "$expected" '.conservation |
			.lookups == .found and .lookups == $runs * $expected and
			.entries == .nr_entries' "$record" >/dev/null || {
			jq -c .conservation "$record"
			fail "not $expected lookups a run, or not all entries"
		}
	done <<-END
		bpf-hashmap-lookup 7 --nr_loops 7 --nr_entries 3
		bpf-hashmap-lookup 64 --nr_loops 64 --key_size 1 --max_entries 256 --nr_entries 256 -p3
		bpf-hashmap-lookup 129 --nr_loops 129 --key_size 2 --max_entries 65536 --nr_entries 65536
		bpf-hashmap-lookup 1000 --nr_loops 1000 --key_size 3 --max_entries 1 --nr_entries 1
		bpf-hashmap-lookup 1000 --nr_loops 1000 --key_size 5 --order random --map_flags 0x41
		bpf-hashmap-lookup 100 --nr_loops 100 --key_size 1024 --map_flags 1 -p3
		bpf-rhashmap-lookup 129 --nr_loops 129 --key_size 2 --max_entries 65536 --nr_entries 60000
	END
}

@test "many lookups per trigger are made in equal parts" {
	local runs record=$BATS_TEST_TMPDIR/record
	bench -w0 -d1 --interval 100 --verify -o "$record" bpf-hashmap-lookup --nr_loops 8388608
	exits 0
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
	jq -e --argjson runs "$runs" '.conservation.lookups / $runs |
		. == floor and . > 1000 and . <= 32768' "$record" >/dev/null
}

@test "what does not fit together is refused, and nothing is loaded" {
	refused --nr_entries "'1001'" 'at most the 1000 of --max_entries' --nr_entries 1001 bpf-hashmap-lookup
	refused --nr_entries "'257'" 'only 256 different keys of 1 bytes' \
		--nr_entries 257 --key_size 1 bpf-hashmap-lookup
	refused --map_flags "'2'" 'a sum of 0x1, 0x40 and 0x80' --map_flags 2 bpf-hashmap-lookup
	refused --map_flags "'0x'" 'a sum of' --map_flags 0x bpf-hashmap-lookup
	refused --max_entries "'134217728'" 'MiB are ' --max_entries 134217728 --key_size 1024 bpf-hashmap-lookup
}

@test "the map is not filled by a system call an element" {
	bench_traced -q -w0 -d1 --max_entries 300000 --nr_entries 300000 bpf-hashmap-lookup
	exits 0
	(($(grep -c 'bpf(BPF_MAP_UPDATE_' "$CALLS") < 100))
}

# The best sample of a run, in M/s
best() {
	bench -w0 -d1 --interval 50 bpf-hashmap-lookup --max_entries "$@" >/dev/null
	sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' "$OUT" | sort -g | tail -n1
}

# A million entries of 64 bytes do not fit into a cache; a thousand do
@test "lookups are slower in a large map, and a full one" {
	local try small large
	for try in 1 2 3; do
		small=$(best 1000 --nr_entries 1000)
		large=$(best 1000000 --nr_entries 1000000 --order random)
		echo "try $try: $small M/s of a thousand, $large M/s of a million"
		! calc 'small > 1.5 * large' small="$small" large="$large" || return 0
	done
	false
}

@test "the sweep has the published points" {
	local name
	"$BATS_TEST_DIRNAME/../../benchs/run_bench_bpf_hashmap_lookup.sh" --bench "$BENCH" --dry-run \
		>"$BATS_TEST_TMPDIR/dry"
	for name in hashmap rhashmap; do
		sed -nE "s/.* --max_entries=65536 --nr_entries=([0-9]+) .* bpf-$name-lookup\$/\\1/p" "$BATS_TEST_TMPDIR/dry" |
			diff - <(awk '$1 ~ /^[0-9]+$/ { print $1 }' "$BATS_TEST_DIRNAME/../../reference/hashmap_lookup.tsv")
	done
}

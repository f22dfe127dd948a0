#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A family of benchmarks is new files and nothing else: with BPF, a figure that is a gauge, an option
# named like another family's, and a sweep (tests/fixtures). In a copy of the tree, everything there
# is knows them.
#
# shellcheck disable=SC2154 # bats sets stderr

load ../helpers

setup_file() {
	[[ -z $SANITIZED ]] || skip 'the build is the same under sanitizers'
	export TREE=$BATS_FILE_TMPDIR/tree
	local build=${BUILD:-build} top=$BATS_TEST_DIRNAME/../..
	mkdir -p "$TREE/build"
	tar -C "$top" --exclude-vcs --exclude=./build --exclude='./bench-*' -c . | tar -C "$TREE" -x
	# What has been compiled is not compiled again
	cp -a "$build"/{flags,bpf-flags,bench.o,bench.d,lib,benchs,progs} "$TREE/build/"
	(cd "$TREE" && find . -type f | sort) >"$BATS_FILE_TMPDIR/before"

	cp -p "$top/tests/fixtures/bench_xyz.c" "$top/tests/fixtures/run_bench_xyz.sh" "$TREE/benchs/"
	cp -p "$top/tests/fixtures/xyz.bpf.c" "$TREE/progs/"
	! grep -q -e -Werror "$build/flags" || export WERROR=1
	make_there all
}

# By itself, whatever make runs this
make_there() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u TESTS make -C "$TREE" "$@" \
		>"$BATS_FILE_TMPDIR/make.log" 2>&1 3>&- 4>&- || {
		cat "$BATS_FILE_TMPDIR/make.log"
		return 1
	}
}

setup() {
	BENCH=$TREE/bench
	cd "$BATS_TEST_TMPDIR" || return
}

# It may lack what the program requires, as others do
runs_here() {
	"$BENCH" -l -v xyz-store | grep -qx '    available' || skip 'BPF_PROG_TEST_RUN is not there'
}

@test "new files are compiled, and nothing that was there is touched" {
	[[ $(grep -c '^  \(BPF\|SKEL\) ' "$BATS_FILE_TMPDIR/make.log") == 2 ]]
	grep -q '^  CC .*bench_xyz' "$BATS_FILE_TMPDIR/make.log"
	(cd "$TREE" && find . -type f ! -name 'bench' ! -path './build/*' | sort) |
		diff <(grep -v -e '^\./bench$' -e '^\./build/' "$BATS_FILE_TMPDIR/before") - >new || true
	[[ $(grep '^[<>]' new) == $'> ./benchs/bench_xyz.c\n> ./benchs/run_bench_xyz.sh\n> ./progs/xyz.bpf.c' ]]
}

@test "it is listed, and --help has its option and its figures" {
	bench -l
	[[ $(grep -cx -e '- xyz-store' "$OUT") == 1 ]]
	bench xyz-store --help
	exits 0
	tr -s ' \n' ' ' <"$OUT" >flat
	grep -qF 'Entries of the array that is written to (default 64; 2 to 4096)' flat
	grep -qF 'stores M/s stores to the array' flat
	grep -qF 'memory KiB memory of the array, lower is better' flat
	run ! grep -qF 'Different values put into the maps' flat
	bench --help
	tr -s ' \n' ' ' <"$OUT" >flat
	grep -qF 'Entries of the array that is written to (default 64; 2 to 4096)' flat
	grep -qF 'Different values put into the maps (default 1000; 1 to 4294967295)' flat
}

@test "an option of two families has in each its own default and range" {
	refused '--nr_entries' "'1'" 'from 2 to 4096' --nr_entries 1 xyz-store
	refused '--nr_entries' "'4097'" 'from 2 to 4096' --nr_entries 4097 xyz-store
	refused '--nr_entries' "'0'" 'from 1 to 4294967295' --nr_entries 0 bloom-lookup
	# a value that only the other one takes
	refused '--nr_entries' "'1'" 'from 2 to 4096' --nr_entries 1 bloom-lookup xyz-store
	runs_here
	bench -q -w0 -d1 --interval 250 -o records xyz-store bloom-lookup
	jq -es '.[0].params == {nr_entries: 64} and .[0].defaults == {nr_entries: 64}' records
	((status == 4)) || jq -es '.[1].params.nr_entries == 1000' records
	rm records
	bench -q -w0 -d1 --interval 250 --nr_entries 4096 -o records xyz-store bloom-lookup
	jq -es 'all(.[]; .params.nr_entries == 4096)' records
}

@test "a run: figures of its own in lines, summary and record" {
	runs_here
	bench -w0 -d1 --interval 250 --nr_entries 256 -o record xyz-store
	exits 0
	[[ $(tail -n1 "$OUT") =~ ^Summary:\ stores\ +[0-9.]+\ ±\ +[0-9.]+M/s,\ memory\ +2\.000\ ±\ +0\.000KiB ]]
	jq -e '.summary.figure == "stores" and .figures.memory.mean == 2 and .figures.memory.max == 2 and
		.figures.memory.kind == "gauge" and .figures.memory.better == "lower" and
		all(.samples[]; .memory == 2048) and .conservation.ok and
		.conservation.runs == .conservation.stores' record
}

@test "documents and the schema take it in, and the schema accepts its records" {
	runs_here
	bench -q -w0 -d1 --interval 250 -o record xyz-store
	exits 0
	make_there docs
	grep -qF xyz-store "$TREE/docs/benchmarks.md"
	jsonschema -i record "$TREE/record.schema.json"
	jq -c '.samples[0].memory = "x"' record >bad
	run jsonschema -i bad "$TREE/record.schema.json"
	((status == 1))
}

@test "-C compares its records, and the gauge by --figure" {
	runs_here
	bench -q -w0 -d1 --interval 100 -r 4 --nr_entries 64 -o base xyz-store
	bench -q -w0 -d1 --interval 100 -r 4 --nr_entries 128 -o new xyz-store
	bench -C base new --match bench
	exits 0
	grep -qE '^  4\+4 runs, M/s' "$OUT"
	bench -C base new --match bench --figure memory
	exits 0
	grep -qE '^  4\+4 runs, KiB' "$OUT"
	grep -qE '\+100' "$OUT"
	# less memory is better
	grep -qw worse "$OUT"
	bench -C base new --match bench --figure all
	exits 0
	grep -qE 'runs, M/s' "$OUT"
	grep -qE 'runs, KiB' "$OUT"
}

@test "the sweep measures it, and plot.sh draws what it recorded" {
	runs_here
	run -0 --separate-stderr "$TREE/benchs/run_bench_xyz.sh" --bench "$BENCH" -q -o sweep.jsonl
	[[ $(grep -cE '^xyz-store-[0-9]+ +[0-9.]+ ± [0-9.]+M/s$' <<<"$output") == 3 ]]
	run -0 --separate-stderr "$TREE/scripts/plot.sh" --text sweep.jsonl
	[[ $output == *$'xyz-store [M/s]\n'*$'\nnr_entries\n16 '*$'\n4096 '* ]]
}

@test "contract.bats holds for it" {
	runs_here
	cd "$TREE"
	# without the folder of bats' own parts, in which there is another 'bats'
	path=$(tr : '\n' <<<"$PATH" | grep -v '/bats-core$' | paste -sd :)
	env -i PATH="$path" HOME="${HOME:-/}" BENCH="$BENCH" CONTRACT_BENCHS='xyz-*' \
		bats --tap tests/contract.bats >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- 4>&- || {
		cat "$BATS_TEST_TMPDIR/log"
		false
	}
	(($(grep -c '^ok' "$BATS_TEST_TMPDIR/log") > 8))
	[[ $(<"$BATS_TEST_TMPDIR/log") != *'# skip'* ]]
}

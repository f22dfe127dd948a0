#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What bench -o writes beside that which holds for every benchmark (contract.bats).
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

BENCH=$(realpath -- "${BENCH:-./bench}")
SCHEMA=$(realpath -- record.schema.json)

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Whether each line of file $1 is a valid record; prints what is wrong
valid() {
	local args=() part
	rm -f part.*
	split -l1 "$1" part.
	for part in part.*; do
		args+=(-i "$part")
	done
	jsonschema "${args[@]}" "$SCHEMA" &&
		jq -e --slurpfile schema "$SCHEMA" '
			def undescribed($place): keys - ($place.properties | keys);
			undescribed($schema[0]) + (.noise | undescribed($schema[0].properties.noise)) == []' "$1"
}

@test "options, CPUs, counts and the way to attach are recorded" {
	"$BENCH" -q -w0 -d1 --interval 100 -o out -p2 count-local
	"$BENCH" -q -w0 -d1 --interval 100 -o out --rb-b2b -a --attach rawtp rb-custom
	valid out
	jq -es '.[0].conservation == null and .[0].config.attach == null and
		.[0].config.producers == 2 and .[0].config.prod_cpus == null' out
	jq -es '.[1] | .params["rb-b2b"] == true and .defaults["rb-b2b"] == false and
		.config.prod_cpus != null and .config.cons_cpus != null and .config.attach == "rawtp" and
		(.conservation | .ok and .attempts == .submitted + .drops and
			.submitted == .consumed and (.identities | length) == 2)' out
}

@test "a figure of two counts is their ratio" {
	run --separate-stderr "$BENCH" -q -w0 -d1 --interval 100 -o out bloom-false-positive
	[ "$status" -ne 4 ] || skip "$stderr"
	jq -e '(100 * ([.samples[].false_hits] | add) / ([.samples[].lookups] | add) /
		.figures.false_positives.mean - 1) | fabs < 1e-9' out
}

@test "rename-*: writes are hits and missed ones" {
	run --separate-stderr "$BENCH" -q -w0 -d1 --interval 100 -o out rename-rawtp
	[ "$status" -ne 4 ] || skip "$stderr"
	jq -e '.conservation | .ok and .writes == .hits + .missed and .writes > 0' out
}

@test "records of one command differ in what was measured only" {
	"$BENCH" -q -w0 -d1 --interval 100 -r2 -o out count-local
	valid out
	jq -es 'length == 2 and (map(del(.samples, .summary, .figures, .noise, .env.time)) | .[0] == .[1])' out
}

@test "an interrupted run is recorded as such" {
	local i pid status=0
	: >log
	"$BENCH" -w0 -d60 --interval 100 -o out count-local >log 2>&1 3>&- &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		(($(grep -c '^Iter' log) < 5)) || break
		sleep 0.05
	done
	kill -INT "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 130 ]
	valid out
	jq -e '.status == "interrupted" and (.samples | length > 3)' out
}

@test "the schema refuses what is no record" {
	local nr=0 change args=()
	"$BENCH" -q -w0 -d1 --interval 100 -o good count-local
	while read -r change; do
		nr=$((nr + 1))
		jq -c "$change" good >"bad.$nr"
		args+=(-i "bad.$nr")
	done <<-'END'
		.schema = 3
		del(.bench)
		.status = "fine"
		.summary.mean = "fast"
		.summary.mean = -1
		.summary = null
		.figures = {}
		del(.figures.drops)
		.figures.hits.mean = -1
		.figures.hits.median = -1
		.status = "interrupted" | .summary = null
		.samples = []
		.samples[0].dt_ns = 0
		del(.samples[0].drops)
		.samples[0].more = 1
		.figures.more = .figures.hits
		.figures.hits.unit = 1
		.config.producers = 0
		.config.prod_cpus = "2,"
		.env.time = "yesterday"
		del(.env.mitigations)
		.env.host = ""
		.params.x = {}
		.defaults = null
		.noise.steal_pct = 101
		.argv = "bench"
		.conservation = {attempts: 1, ok: false}
	END
	run jsonschema --output pretty "${args[@]}" -i good "$SCHEMA"
	echo "$output"
	[ "$status" -eq 1 ]
	for ((; nr; nr--)); do
		grep -F "===[ValidationError]===(bad.$nr)===" <<<"$output"
	done
	grep -F '===[SUCCESS]===(good)===' <<<"$output"
}

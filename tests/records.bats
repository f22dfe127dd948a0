#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What bench -o writes is what record.schema.json says: real records of each family.
# shellcheck disable=SC2154 # bats sets stderr

bats_require_minimum_version 1.5.0

BENCH=$(realpath -- "${BENCH:-./bench}")
SCHEMA=$(realpath -- record.schema.json)

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# Whether each line of file $1 is a valid record; says what is wrong
valid() {
	local args=() part
	rm -f part.*
	split -l1 "$1" part.
	for part in part.*; do
		args+=(-i "$part")
	done
	jsonschema "${args[@]}" "$SCHEMA"
}

# record BENCHMARK [OPTION...]: a run into the file named after it. Where it is unavailable, says so,
# and there is no record.
record() {
	run --separate-stderr "$BENCH" -q -w0 -d1 --interval 100 -o "$1" "$@"
	echo "$1: status $status: $stderr"
	if [ "$status" -eq 4 ]; then
		[[ $stderr == "bench: $1: unavailable: "* ]]
		[ ! -s "$1" ]
		return
	fi
	[ "$status" -eq 0 ]
	[ "$(wc -l <"$1")" -eq 1 ]
	# More than a schema can say
	jq -e --arg bench "$1" '
		.bench == $bench and .status == "ok" and .summary.n > 0 and
		(.samples | length >= 5) and
		([.samples[].dt_ns] | add > 0.8e9 and add < 1.5e9) and
		(.samples as $s | [range(1; $s | length) |
			$s[.].t_ns == $s[. - 1].t_ns + $s[. - 1].dt_ns] | all) and
		(.summary.ci95_low == null or
			(.summary.ci95_low <= .summary.mean and .summary.mean <= .summary.ci95_high))' "$1"
	cat "$1" >>all
}

# The mean, by jq from the samples of file $1: summary and samples agree
check_mean() {
	jq -e "(($2) / .summary.mean - 1) | fabs < 1e-9" "$1"
}

rate='([.samples[].hits] | add) * 1e3 / ([.samples[].dt_ns] | add)'

@test "real records of each family are valid, and true" {
	local bench
	record count-local -p2
	check_mean count-local "$rate"
	jq -e '.conservation == null and .config.attach == null and .config.producers == 2 and
		.config.prod_cpus == null' count-local

	record rb-custom --rb-b2b -a
	check_mean rb-custom "$rate"
	jq -e '.conservation.ok and .conservation.submitted == .conservation.consumed and
		.params["rb-b2b"] == true and .config.prod_cpus != null and
		.config.cons_cpus != null' rb-custom

	for bench in pb-libbpf bloom-lookup bpf-loop trig-tp trig-uprobe-nop no-private-stack rename-base; do
		record "$bench"
		[ ! -s "$bench" ] || check_mean "$bench" "$rate"
	done

	record bloom-false-positive
	[ ! -s bloom-false-positive ] || check_mean bloom-false-positive \
		'100 * ([.samples[].false_hits] | add) / ([.samples[].hits] | add)'

	valid all
}

@test "records of one command differ in what was measured only" {
	"$BENCH" -q -w0 -d1 --interval 100 -r2 -o out count-local
	valid out
	jq -es 'length == 2 and (map(del(.samples, .summary, .noise, .env.time)) | .[0] == .[1])' out
}

@test "an interrupted run is recorded as such" {
	local i pid status=0
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
	record count-local
	while read -r change; do
		nr=$((nr + 1))
		jq -c "$change" count-local >"bad.$nr"
		args+=(-i "bad.$nr")
	done <<-'END'
		.schema = 2
		del(.bench)
		.status = "fine"
		.summary.mean = -1
		.summary = null
		.samples = []
		.samples[0].dt_ns = 0
		del(.samples[0].drops)
		.samples[0].more = 1
		.config.producers = 0
		.config.prod_cpus = "2,"
		.env.time = "yesterday"
		del(.env.mitigations)
		.env.host = ""
		.params.x = {}
		.noise.steal_pct = 101
		.argv = "bench"
		.conservation = {attempts: 1, submitted: 0, consumed: 0, drops: 0, ok: false}
	END
	run jsonschema --output pretty "${args[@]}" -i count-local "$SCHEMA"
	echo "$output"
	[ "$status" -eq 1 ]
	for ((; nr; nr--)); do
		grep -F "===[ValidationError]===(bad.$nr)===" <<<"$output"
	done
	grep -F '===[SUCCESS]===(count-local)===' <<<"$output"
}

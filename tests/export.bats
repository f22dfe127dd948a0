#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Records in the formats of others, as these read them.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr and output

bats_require_minimum_version 1.5.0

EXPORT=$(realpath -- scripts/export.sh)

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	make_records >r.jsonl
	cat >log <<-'END'
		bench: note: skipped trig-kprobe: kprobes are not built into this kernel: requires CONFIG_KPROBES # and more
		bench: warning: the BPF JIT is off
		bench: bpf-for: unavailable: no bpf_iter_num_new() here
		bench: note: skipped trig-kprobe: kprobes are not built into this kernel: requires CONFIG_KPROBES # and more
	END
}

# Two runs of a rate (the second one with another setting), two of a cost, a failed one, and one of
# schema 1
make_records() {
	jq -n -c '
		def run($bench; $second): {
			schema: 2, bench: $bench, argv: ["bench", "--all"], params: { "nr-x": 1 },
			defaults: { "nr-x": 1 }, config: { producers: 1, consumers: 0, warmup_s: 1,
				duration_s: 1, interval_ms: 1000, prod_cpus: null, cons_cpus: null, attach: null },
			env: { time: "2026-11-30T09:08:\($second)+00:00", host: "vm", kernel_release: "6.18.1",
				kernel_version: "#1 SMP", machine: "x86_64", cpu_model: "A CPU", cpus_online: 2,
				cpus_allowed: 2, smt: "on", governor: "unknown", freq_min_khz: null, jit: "1",
				virtualization: "kvm", mitigations: "x: y; z: w", libbpf: "v1.1", bench: "0.1" },
			notes: [], noise: null,
			samples: [{ t_ns: 0, dt_ns: 1500000000, hits: 15300000, drops: 0 }],
			conservation: null, status: "ok" };
		def rate($mean): .figures = {
				hits: { unit: "M/s", kind: "rate", better: "higher", mean: $mean },
				drops: { unit: "M/s", kind: "rate", better: "lower", mean: 0.5 } }
			| .summary = { figure: "hits", report: "hits_drops", unit: "M/s", mean: $mean,
				ci95_low: null, ci95_high: null, n: 1 };
		def cost($ns): .figures = {
				ops: { unit: "M ops/s", kind: "rate", better: "higher", mean: (1000 / $ns) },
				latency: { unit: "ns/op", kind: "time", better: "lower", mean: $ns } }
			| .summary = { figure: "ops", report: "ops", unit: "M ops/s", mean: (1000 / $ns), n: 1 };
		(run("rb-custom"; "01") | rate(10.2)),
		(run("rb-custom"; "02") | rate(12.2) | .params["nr-x"] = 2),
		(run("rb-custom"; "03") | rate(10.6)),
		(run("bpf-loop"; "04") | cost(20)),
		(run("bpf-loop"; "05") | cost(40)),
		(run("htab-mem"; "06") | .figures = {} | .summary = null | .samples = [] | .status = "failed"),
		(run("old-one"; "07") | rate(3) | .schema = 1 | del(.figures, .defaults, .summary.figure))'
}

@test "kcidb: what the format demands, and nothing else" {
	run -0 --separate-stderr "$EXPORT" --origin my_lab --build my_lab:b1 --log log kcidb r.jsonl
	[ -z "$stderr" ]
	echo "$output" >out
	cat >schema <<-'END'
		{ "type": "object", "required": ["version", "tests"], "additionalProperties": false,
		  "properties": {
			"version": { "const": { "major": 5, "minor": 3 } },
			"tests": { "type": "array", "items": {
				"type": "object", "required": ["id", "build_id", "origin"], "additionalProperties": false,
				"properties": {
					"id": { "type": "string", "pattern": "^my_lab:.+$" },
					"build_id": { "const": "my_lab:b1" },
					"origin": { "const": "my_lab" },
					"path": { "type": "string", "pattern": "^bench\\.[A-Za-z0-9_-]+$" },
					"status": { "enum": ["DONE", "ERROR", "SKIP"] },
					"number": { "type": "object", "required": ["value", "unit", "prefix"],
						"additionalProperties": false,
						"properties": { "value": { "type": "number" }, "unit": { "type": "string" },
							"prefix": { "const": "metric" } } },
					"start_time": { "type": "string", "format": "date-time",
						"pattern": "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}([.]\\d+)?(Z|[+-]\\d{2}:\\d{2})$" },
					"duration": { "type": "number", "exclusiveMinimum": 0 },
					"environment": { "type": "object", "required": ["comment", "misc"],
						"additionalProperties": false,
						"properties": { "comment": { "type": "string" }, "misc": { "type": "object" } } },
					"misc": { "type": "object" } } } } } }
	END
	jsonschema -i out schema
	jq -e '[.. | select(. == null)] == []' out
	jq -e '.tests | (map(.id) | unique | length) == length and length == 9' out
	jq -e '.tests[0] | .path == "bench.rb-custom" and .status == "DONE" and .start_time == "2026-11-30T09:08:01+00:00"
		and .number == { value: 10200000, unit: "ops/s", prefix: "metric" } and .duration == 2.5
		and .environment.misc.kernel_release == "6.18.1" and .misc.figures.drops == 500000' out
	jq -e '.tests[3] | .number.value == 5e7 and .misc.figures.latency == 2e-8' out
	jq -e '.tests[5] | .status == "ERROR" and (has("number") | not)' out
	jq -e '.tests[6] | .status == "DONE" and .number.value == 3e6' out
	jq -e '[.tests[7:][] | [.path, .status]] == [["bench.bpf-for", "SKIP"], ["bench.trig-kprobe", "SKIP"]]' out
	jq -e '.tests[8].misc.reason | startswith("kprobes are not built")' out
	# its defaults; and the reader of its own, where it is
	run -0 "$EXPORT" kcidb r.jsonl
	jq -e '.tests[0] | .origin == "bench" and .build_id == "bench:6.18.1"' <<<"$output"
	! python3 -c 'import kcidb_io' 2>/dev/null || python3 -c '
		import json, kcidb_io
		assert kcidb_io.schema.V5_3.is_compatible(json.load(open("out")))'
}

@test "lava: signals as its shell reads them" {
	run -0 --separate-stderr "$EXPORT" --log log lava r.jsonl
	diff - <(echo "$output") <<-'END'
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=rb-custom RESULT=pass UNITS=Mops/s MEASUREMENT=10.4>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=rb-custom_nr-x-2 RESULT=pass UNITS=Mops/s MEASUREMENT=12.2>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=bpf-loop RESULT=pass UNITS=Mops/s MEASUREMENT=37.5>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=htab-mem RESULT=fail>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=old-one RESULT=pass UNITS=Mops/s MEASUREMENT=3>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=bpf-for RESULT=skip>
		<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=trig-kprobe RESULT=skip>
	END
	# Debian's lava-dispatcher, where it is
	echo "$output" >out
	! /usr/bin/python3 -c 'import lava_dispatcher' 2>/dev/null || /usr/bin/python3 - <<-'END'
		import re
		from lava_dispatcher.actions.test.shell import handle_testcase
		from lava_dispatcher.connection import SignalMatch
		for line in open("out"):
		    name, params = re.fullmatch(r"<LAVA_SIGNAL_(\S+) ([^>]+)>\n", line).groups()
		    res = SignalMatch().match(handle_testcase(params.split()))
		    assert name == "TESTCASE" and res["test_case_id"] and res["result"] in ("pass", "fail", "skip"), res
		    assert res["result"] != "pass" or res["measurement"] > 0 and res["units"], res
	END
}

@test "ktap: read by prove" {
	run -0 --separate-stderr "$EXPORT" --log log ktap r.jsonl
	echo "$output" | tee out
	[ "$(head -n2 out)" = $'KTAP version 1\n1..7' ]
	grep -qx '# hits: 10.4 M/s (10.2 to 10.6)' out
	grep -qx 'ok 6 bpf-for # SKIP no bpf_iter_num_new() here' out
	[ "$(grep -c '# SKIP' out)" -eq 2 ]
	run -1 prove --norc -e cat out
	[[ $output == *'Failed test:  4'* || $output == *'Failed 1/7'* ]]
	jq -c 'select(.status == "ok")' r.jsonl >good.jsonl
	"$EXPORT" ktap good.jsonl >good
	run -0 prove --norc -v -e cat good
	[[ $output == *'Tests=4'* ]]
	# every line is one of the format
	run -1 grep -vE '^(KTAP version 1|1\.\.[0-9]+|# .*|(not )?ok [0-9]+ [A-Za-z0-9._-]+( # SKIP [^#]*)?)$' out
}

@test "benchfmt: as benchstat reads it" {
	run -0 --separate-stderr "$EXPORT" benchfmt r.jsonl
	echo "$output" >out
	[ "$(grep -c ^Benchmark out)" -eq 6 ]
	grep -qx 'Benchmarkrb-custom-2 1 98.0392 ns/op 10.2 Mops/s 0.5 drops-Mops/s' out
	grep -qx 'Benchmarkrb-custom/nr-x=2-2 1 81.9672 ns/op 12.2 Mops/s 0.5 drops-Mops/s' out
	grep -qx 'Benchmarkbpf-loop-2 1 50 Mops/s 20 ns/op' out
	grep -qx 'kernel: 6.18.1' out
	# configuration once, names without blanks, values and units in pairs, no unit twice
	[ "$(grep -c '^kernel: ' out)" -eq 1 ]
	awk '
		/^[a-z][^A-Z \t]*: ./ { next }
		!/^Benchmark/ || NF < 4 || NF % 2 || $2 !~ /^[0-9]+$/ { print "bad: " $0; bad = 1 }
		{ delete seen
		  for (i = 3; i < NF; i += 2)
			if ($i !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/ || seen[$(i + 1)]++) { print "bad: " $0; bad = 1 } }
		END { exit bad }' out
	# of another kernel: its configuration follows
	jq -c '.env.kernel_release = "6.1.0"' r.jsonl >other.jsonl
	run -0 "$EXPORT" benchfmt r.jsonl other.jsonl
	[ "$(grep -c '^kernel: ' <<<"$output")" -eq 2 ]
	[ "$(grep -c '^cpu: ' <<<"$output")" -eq 1 ]
	! command -v benchstat >/dev/null || benchstat out | grep -q rb-custom
}

# refuses STATUS PATTERN ARGUMENT...
refuses() {
	rm -f out
	run "-$1" --separate-stderr "$EXPORT" -o out "${@:3}"
	echo "$stderr"
	# shellcheck disable=SC2053 # a pattern
	[[ $stderr == $2 && $stderr != *$'\n'* ]]
	[[ ! -e out && ! -e out.part ]]
}

@test "bad input: one line, and no output file" {
	: >empty.jsonl
	echo text >text.jsonl
	echo '{"a":1}' >json.jsonl
	jq -c '.schema = 3' r.jsonl >new.jsonl
	head -c 3000 r.jsonl >torn.jsonl
	jq -c 'select(.status == "failed")' r.jsonl >failed.jsonl
	jq -c 'del(.env)' r.jsonl >no-env.jsonl
	jq -c '.summary.mean = null' r.jsonl >no-mean.jsonl
	refuses 64 "export: FORMAT: invalid value 'xml': expected kcidb, lava, ktap or benchfmt" xml r.jsonl
	refuses 64 'export: expected a format, *' ktap
	refuses 64 'export: RECORDS: invalid value *' ktap none.jsonl
	refuses 64 'export: --origin: invalid value *' --origin 'My Lab' kcidb r.jsonl
	refuses 64 'export: --build: invalid value *' --build 6.18 kcidb r.jsonl
	refuses 64 'export: --log: invalid value *' --log none kcidb r.jsonl
	refuses 1 'export: empty.jsonl: there is no record in it' ktap r.jsonl empty.jsonl
	refuses 1 'export: text.jsonl:1: not JSON' ktap text.jsonl
	refuses 1 'export: json.jsonl:1: JSON, but no record of bench' ktap json.jsonl
	refuses 1 'export: new.jsonl:1: a record of schema 3, *' kcidb r.jsonl new.jsonl
	refuses 1 'export: torn.jsonl:[0-9]: not JSON' kcidb torn.jsonl
	refuses 1 'export: no-env.jsonl:1: *' kcidb no-env.jsonl
	refuses 1 'export: no-mean.jsonl:1: *' kcidb no-mean.jsonl
	# no figure at all
	refuses 1 'export: failed.jsonl: no complete run in it' benchfmt failed.jsonl
	# good input over an old file
	echo old >out
	"$EXPORT" -o out ktap r.jsonl
	[ "$(head -n1 out)" = 'KTAP version 1' ]
}

@test "where the clock counts instructions, a rate is a cost, in charts as well" {
	jq -c '.env.clock = "instructions"' r.jsonl >insns.jsonl
	run -0 --separate-stderr "$EXPORT" benchfmt insns.jsonl
	grep -qx 'Benchmarkrb-custom-2 1 98.0392 insns/op 2000 drops-insns/op' <<<"$output"
	grep -qx 'Benchmarkbpf-loop-2 1 40 insns/op 40 latency-insns/op' <<<"$output"
	run -0 --separate-stderr "$EXPORT" lava insns.jsonl
	grep -q 'rb-custom_nr-x-2 .*UNITS=insns/op MEASUREMENT=81.9672>' <<<"$output"
	run -0 --separate-stderr "${EXPORT%export.sh}plot.sh" --text insns.jsonl
	grep -q '\[insns/op\]' <<<"$output"
	grep -qE '^rb-custom nr-x 2 +81\.97 #' <<<"$output"
}

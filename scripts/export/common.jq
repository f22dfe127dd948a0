# SPDX-License-Identifier: GPL-2.0
#
# What the exports share. Input of each is an array: records of bench, and {skipped: NAME, why: TEXT}
# for benchmarks that could not run. $origin and $build: strings, for formats that have them.

def complete: .status == "ok" and (.summary | type) == "object" and (.summary.mean | type) == "number";

# One unit in words without blanks: "M/s" -> "Mops/s"
def short_unit:
	if test("^[kKMG]?/s$") then sub("/s$"; "ops/s") else . end
	| gsub(" "; "-") | sub("^(?<p>[kKMG])-ops/s$"; "\(.p)ops/s");

# {factor, unit} that make a figure one of bare units: no milli, no mega
def bare:
	{ "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9 } as $large
	| { "m": 1e-3, "u": 1e-6, "n": 1e-9 } as $small
	| if test("^[kKMG]?( ops)?/s$") then { factor: ($large[.[:1]] // 1), unit: "ops/s" }
	  elif . == "MiB" then { factor: 1048576, unit: "B" }
	  elif test("^[kKMG]B(/s)?$") then { factor: $large[.[:1]], unit: .[1:] }
	  elif test("^[mun]s(/op|/s)?$") then { factor: $small[.[:1]], unit: .[1:] }
	  else { factor: 1, unit: . } end;

# A figure {unit, mean} of a run in which the clock counts instructions is a cost, as for bench -C.
def cost_of_clock:
	(.unit | bare) as $bare
	| if ($bare.unit | IN("ops/s", "s/op") | not) then .
	  else .unit = "insns/op"
		| .mean |= if . == null or . <= 0 then null elif $bare.unit == "s/op" then . * $bare.factor * 1e9
			else 1e9 / $bare.factor / . end
	  end;

# All figures of a run, the first one first; schema 1 has that alone
def figures:
	. as $record | .summary as $s
	| [{ name: ($s.figure // "rate"), unit: $s.unit, mean: $s.mean }]
	  + [(.figures // {}) | to_entries[] | select(.key != $s.figure and (.value.mean | type) == "number")
	     | { name: .key, unit: .value.unit, mean: .value.mean }]
	| if $record.env.clock? == "instructions" then map(cost_of_clock | select(.mean)) else . end;

# What was chosen other than by default: rb-b2b=true
def chosen:
	(.defaults // {}) as $defaults
	| [(.params // {}) | to_entries[] | select($defaults[.key] != .value) | "\(.key)=\(.value)"]
	  + [.config.producers // 1 | select(. != 1) | "producers=\(.)"];
# Schema 1 has no defaults: its parameters are named where there are several settings
def settings:
	if .defaults then chosen else chosen | map(select(startswith("producers="))) end;
# In words that every format takes: rb-custom_rb-b2b-true
def name: ([.bench] + settings) | join("_") | gsub("="; "-") | gsub("[^A-Za-z0-9._-]"; "_");

def median: sort | if length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# Runs of one benchmark with the same settings, in the order of the input
def by_benchmark:
	[to_entries[] | .value + { at: .key } | if .skipped then . else . + { key: name } end]
	| group_by(.skipped // .key) | sort_by(.[0].at) | map(
		if .[0].skipped then { name: .[0].skipped, why: .[0].why, figures: [] }
		else
			[ .[] | select(complete) | .summary.figure // "rate" ][0] as $first
			| {
				name: .[0].key,
				runs: length,
				failed: (map(select(complete | not)) | length),
				figures: (map(select(complete) | figures[]) | group_by(.name) | map({
					name: .[0].name, unit: .[0].unit,
					median: (map(.mean) | median), lowest: (map(.mean) | min),
					highest: (map(.mean) | max)
				}) | sort_by(.name != $first))
			}
		end);

# Six digits are more than any run is good for
def digits6: if . == 0 then 0 else
	(fabs | log10 | floor) as $e | pow(10; 5 - $e) as $s | (. * $s | round) / $s end;

# {a: null} and [null] lose what is null
def without_nulls: walk(if type == "object" then with_entries(select(.value != null))
	elif type == "array" then map(select(. != null)) else . end);

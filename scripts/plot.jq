# SPDX-License-Identifier: GPL-2.0
#
# From records to charts. Input: an array of {side, record}, side being the name of the file; options
# in $x (the field that is to be the axis, or "") and $sides (number of files); for a chart a family
# ($by_family), the names of the files in $labels, what these are in $kind, and each benchmark's family in
# $families.
# Output: one chart a line,
#   {name, title, kind: "curves", x, logx, logy, unit, runs, series: [{name, points: [POINT]}]}, or
#   {name, title, kind: "bars", unit, runs, bars: [{label, values: {SIDE: POINT}}]}
# with POINT = {x, y, lo, hi, n, ats}: the median of n runs, from the lowest to the highest; of one run
# its mean and 95 % interval; in a chart of a family x is the number of the file and label its name;
# ats are the records' places in the input.

include "export/common";

# Fewer points than this on a line are better shown as bars
def min_points: 3;
# More lines than this cannot be told apart in grey
def max_lines: 6;
# More bars than this are too many for one picture
def max_bars: 28;

# What was chosen for a run, but not how long it was measured
def fields:
	{ bench } + .params + {
		producers: .config.producers,
		attach: .config.attach,
		"one CPU": (.config.prod_cpus != "" and .config.prod_cpus != null
			    and .config.prod_cpus == .config.cons_cpus)
	};

# Where the clock counts instructions, a rate is a cost, as for bench -C
def summed_up:
	if .env.clock? != "instructions" then .summary
	else .summary as $s
		| [$s.mean, $s.ci95_low, $s.ci95_high | { unit: $s.unit, mean: . } | cost_of_clock] as [$y, $a, $b]
		| $y + { ci95_low: ([$a.mean, $b.mean] | min), ci95_high: ([$a.mean, $b.mean] | max) }
	end;

def points:
	[ to_entries[] | .key as $at | .value | select(.record.status == "ok" and .record.summary.mean != null)
	  | { at: $at, side, fields: (.record | fields), s: (.record | summed_up) } ]
	| group_by([.side, .fields, .s.unit])
	| map(. as $runs | .[0] | {
		at, ats: [$runs[].at], side, fields, unit: .s.unit, n: ($runs | length),
		y: ([$runs[].s.mean] | median),
		lo: (if ($runs | length) > 1 then [$runs[].s.mean] | min
		     else .s.ci95_low // .s.mean end),
		hi: (if ($runs | length) > 1 then [$runs[].s.mean] | max
		     else .s.ci95_high // .s.mean end)
	  });

# Names of the fields that are not the same in all points, in the order of the record
def varying: . as $p
	| [ reduce ($p[].fields | keys_unsorted[]) as $k ([]; if index($k) then . else . + [$k] end)
	    | .[] | select(. as $k | [$p[].fields[$k]] | unique | length > 1) ];

def numeric($k): all(.[]; .fields[$k] | type == "number");

def without($names): with_entries(select(.key as $k | $names | index($k) | not));

# Groups of points that differ in nothing but the axis: a field, or two that have the same value
def lines($axis):
	[ .[] | select(.fields as $f | all($axis[]; $f[.] == $f[$axis[0]])) ]
	| group_by([(.fields | without($axis)), .unit, .side])
	| map(select(length >= min_points));

# The axis with most points on lines; of those with as many, the one with the longest lines
def best_axis($varying):
	. as $p
	| [ $varying[] | select(. as $k | $p | numeric($k)) ] as $numeric
	| [ ($numeric[] | [.]),
	    ($numeric[] as $a | $numeric[] as $b | select($a < $b) | [$b, $a]) ]
	| map({ axis: ., lines: (. as $a | $p | lines($a)) })
	| map(. + { score: [([.lines[] | length] | add // 0), ([.lines[] | length] | max // 0),
			    -(.axis | length)] })
	| map(select(.score[0] > 0))
	| if length == 0 then null else max_by(.score) | .axis end;

# A value in words: flags by their name alone, a benchmark by its
def words($k; $v):
	if $v == true then $k
	elif $v == false then empty
	elif $k == "bench" then $v
	else "\($k) \($v)" end;

def described($f; $names): [ $names[] | select($f[.] != null) | words(.; $f[.]) ] | join(" ");

# Splits what is too much for one chart: by the benchmark, then by what has fewest values
def split($max; $names; count):
	. as $p
	| if ($p | count) <= $max then [{ by: [], points: $p }]
	  else
		([ $names[] | { k: ., n: (. as $k | [$p[].fields[$k]] | unique | length) }
		   | select(.n > 1) ] | sort_by([.k != "bench", .n]) | .[0].k) as $k
		| if $k == null then [{ by: [], points: $p }]
		  else $p | group_by(.fields[$k])
			| map(split($max; [$names[] | select(. != $k)]; count)
			      | map(.by = [$k] + .by)) | add
		  end
	  end;

def spans($ratio): [.[] | select(. != null)] | length > 0 and min > 0 and max / min >= $ratio;

def runs: [.[].n] | [min, max];

# What is common to all points of a chart, in words; one producer is nothing to speak of
def title($names): . as $p
	| described($p[0].fields; [ $names[]
		| select(. as $k | [$p[].fields[$k]] | unique | length == 1)
		| select(. != "producers" or $p[0].fields.producers != 1) ]);

def curves($axis; $names):
	[ $names[] | select(. as $k | $axis | index($k) | not) ] as $others
	| group_by(.unit)[]
	| split(max_lines; $others; [.[] | [.side, (.fields | without($axis))]] | unique | length)[]
	| .points as $p
	| ($p | varying | map(select(. as $k | $axis | index($k) | not))) as $told
	| {
		name: $axis[0], kind: "curves", x: ($axis | join(" = ")), unit: $p[0].unit,
		title: ($p | title(["bench"] + ($others - ["bench"]))),
		logx: ([$p[].fields[$axis[0]]] | spans(100)),
		logy: ([$p[].y] | spans(100)),
		runs: ($p | runs),
		series: ($p | group_by(.fields | without($axis)) | sort_by(map(.at) | min) | map({
			name: described(.[0].fields; $told),
			points: (sort_by(.fields[$axis[0]])
				 | map({ x: .fields[$axis[0]], y, lo, hi, n }))
		}))
	};

# What is the same in most of the bars needs no word; a flag that is set always has one
def usual($k): group_by(.fields[$k]) | max_by(length) | .[0].fields[$k]
	| if type == "boolean" then false else . end;

# Bars of points that lie along an axis are in its order; $axis is [] where there is none
def bars($axis; $names):
	[ $names[] | select(. as $k | $axis | index($k) | not) ] as $others
	| group_by(.unit)[]
	| split(max_bars; $others; [.[].fields] | unique | length)[]
	| .points as $p
	| ($p | [ varying[] | select(. as $k | $axis[1:] | index($k) | not) ]) as $told
	| (reduce $told[] as $k ({}; .[$k] = ($p | usual($k)))) as $usual
	| {
		name: ($axis[0] // "bars"), kind: "bars", unit: $p[0].unit,
		title: ($p | title(["bench"] + ($others - ["bench"]))), runs: ($p | runs),
		bars: ($p | group_by(.fields) | map({
			f: .[0].fields, at: (map(.at) | min),
			values: (map({ key: .side, value: { y, lo, hi, n, ats } }) | from_entries)
		}) | sort_by(if $axis == [] then .at else .f | [without($axis), .[$axis[0]]] end)
		| map(.f as $f | {
			label: (described($f; [ $told[]
				| select(. == "bench" or $f[.] != $usual[.] or . == $axis[0]) ])
				| if . == "" then described($usual; $told) else . end),
			values
		}))
	};

def charts($varying):
	if length == 0 then empty
	else
		(if $x != "" then [$x] else best_axis($varying) end) as $axis
		| if $axis == null then bars([]; $varying)
		  else
			(lines($axis) | add // []) as $on
			| ($on | if length == 0 then empty
				 elif $sides > 1 then bars($axis; $varying)
				 else curves($axis; $varying) end),
			  (. - $on | if $x != "" then bars([]; $varying) else charts($varying) end)
		  end
	end;

# With many files: a chart a family, a line a benchmark and setting, the files along the axis
def family: $families[.fields.bench] // (.fields.bench | split("-")[0]);
def chunks: . as $all | [range(0; length; max_lines) | $all[.:. + max_lines]];
def along_files:
	group_by([family, .unit]) | sort_by(map(.at) | min)[]
	| (.[0] | family) as $family
	| (group_by(.fields) | sort_by(map(.at) | min) | chunks) as $parts
	| $parts | to_entries[] | .key as $part | (.value | add) as $p
	| ($p | varying) as $told
	| {
		name: "files", kind: "curves", x: $kind, labels: $labels, unit: $p[0].unit,
		title: ($family + if ($parts | length) > 1 then " (\($part + 1) of \($parts | length))" else "" end),
		logx: false, logy: ([$p[].y] | spans(100)), runs: ($p | runs),
		series: (.value | map({
			name: described(.[0].fields; (["bench"] + ($told - ["bench"]))),
			points: (map(.side as $side | { x: ($labels | index($side)), label: $side, y, lo, hi, n })
				| sort_by(.x))
		}))
	};

points | varying as $v | [if $by_family then along_files else charts($v) end] | to_entries[] | .value + { index: (.key + 1) }

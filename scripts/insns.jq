# SPDX-License-Identifier: GPL-2.0
#
# The arithmetic of scripts/insns.sh and scripts/costs.sh: what an operation costs, how exact that
# is, and the table of it.

include "export/common";

# With so many digits after the point
def fixed($d):
	(. * pow(10; $d) | round) as $i | ($i | fabs | tostring) as $s
	| if $d == 0 then $s
	  else ("0" * ($d + 1 - ($s | length)) // "") + $s | "\(.[:-$d]).\(.[-$d:])" end
	| if $i < 0 then "-" + . else . end;
def signed: (if . >= 0 then "+" else "" end) + fixed(2);
# So many significant digits; of what stands before the point, all
def digits($n): . as $x | fixed([range(1; $n) | select(pow(10; .) <= $x)] | $n - 1 - length);

# ---- figures

# ns per operation in a record; null: it has neither a rate nor a time of an operation. Where the
# clock counts instructions, 1 ns is one of them.
def per_operation:
	.summary | if .mean? then cost_of_clock | select(.unit == "insns/op").mean // null else null end;

# Of a sample of @record: its operations
def operations($record): .[$record.summary.figure // "hits"] // .ops // .hits // 0;

def apart($a; $b): if $a + $b > 0 then 200 * ($a - $b) / ($a + $b) | fabs else 0 end;

# How exact a run is, in percent
def within:
	. as $record | .summary as $s
	| [.samples[]? | if $s.unit == "ns/op" then .[$s.figure] | select(. > 0)
	   else operations($record) / .dt_ns end] as $r
	| ($r | length / 2 | floor) as $half
	| [if $s.ci95_high then 50 * ($s.ci95_high - $s.ci95_low) / $s.mean else 0 end,
	   if $half > 0 then apart($r[:$half] | median; $r[-$half:] | median) else 0 end] | max;

# Of the runs of one command line; null: none of them has a figure
def figure:
	map(select(per_operation)) | if . == [] then null else {
		insns: (map(per_operation) | add / length),
		within: ([(map(within) | max),
			  apart(map(per_operation) | max; map(per_operation) | min)] | max),
		threads: (.[0] | if .params["rb-b2b"]? == true then 1
			else (.config.producers? // 1) + (.config.consumers? // 0) end),
		# In the measured time. Of batches, others are made beside those that count.
		operations: (map(. as $r | .samples[]? | if $r.summary.unit == "ns/op" then .ops // 0
			else operations($r) end) | add),
		ns: (if .[0].summary.unit == "ns/op" then null else map(.samples[]?.dt_ns) | add end)
	} end;

# What makes runs the same ones
def key: [.bench, .params, .config.producers, .config.consumers];

# ---- insns.sh

def left($w): . + " " * ($w - length);
def right($w): (" " * ($w - length) // "") + .;

def say: "err \(.)";
def failure($line; $why; $status): {say: "'\($line)': \($why)", $status};

# The text of a file, by lines, of {"COLUMN/LINE.KIND": [LINE...]}
def text($files; $column; $n; $kind): $files["\($column)/\($n).\($kind)"] // [];

# A cell: figure, and failures where something is missing
def cell($o; $files; $base; $c; $n):
	text($files; $c; $n; "jsonl") as $lines | $o.lines[$n] as $line
	| (text($files; $c; $n; "why")[0] // "" | ltrimstr("bench: ")) as $why
	| (text($files; $c; $n; "status")[0] == "4") as $unavailable
	| ($lines | map(fromjson)) as $records
	| {
		release: $records[0].env.kernel_release,
		figure: ($records | figure),
		base: (if $records == [] then null
			else $records[0] | key as $key | $base | map(select(key == $key)) | figure end)
	}
	| .failures = [
		if $records != [] then
			select(.figure == null and $o.given)
			| failure($line; "no operations per second in its result"; 1)
		elif ($o.given or ($unavailable | not)) | not then empty
		elif $unavailable then failure($line; $why; 4)
		else failure($line; "failed in the guest" + if $why == "" then "" else ": " + $why end; 1) end,
		(select($o.against != "" and $records != [] and .base == null)
			| failure($line; "no such run in \($o.against)"; 1))];

# The change from one figure to the next, in percent
def change($before; $after): 100 * ($after.insns / $before.insns - 1);

# A figure against the base: nothing, or the failure
def gate($o; $n; $base; $figure):
	change($base; $figure) as $change | ($base.within + $figure.within) as $slack
	| if ($change | fabs) > $o.fail_on + $slack then
		failure($o.lines[$n]; "changed by \($change | signed) %: more than \($o.fail_on) %"; 1)
		| .say |= sub("':"; "'") | .changed = true
	  elif ($change | fabs) > $o.fail_on or $slack > $o.fail_on then
		failure($o.lines[$n]; "a change of \($o.fail_on) % cannot be told: the figures are exact to \($slack
			| fixed(2)) %"; 1)
	  else empty end;

# ---- profiles

# By row, of a profile's lines "INSTRUCTIONS WHERE SYMBOL"
def counts: map(capture("^(?<n>[0-9]+) (?<row>.*)")) | reduce .[] as $l ({}; .[$l.row] += ($l.n | tonumber));

# Of {figure, counts} of each kernel that has them: rows of a line of text, those below 0.5 % together
def profile:
	map(.total = ([.counts[]] | add // 0)) as $columns
	| def share($row): [$columns[] | (.counts[$row] // 0) / .total];
	# What is not the measured program's is always there
	def name: if (share(.) | max) >= 0.005 or test("\\((interrupts|other processes)\\)$") then .
		else "\(split(" ")[0]) other" end;
	([$columns[].counts | keys[]] | unique | map({key: ., value: name}) | from_entries) as $names
	| $columns | map(.counts |= reduce to_entries[] as $c ({}; .[$names[$c.key]] += $c.value)
		# What the clock says beyond the instructions: the CPU slept
		| if .figure.ns and .figure.ns - .total > 0.005 * .figure.ns
		  then .counts.idle = .figure.ns - .total else . end) as $columns
	| def at($column; $row): $column.counts[$row] // 0;
	def place: ["kernel other", "bpf other", "user other", "idle"] as $last
		| [($last | index(.) // -1), -([at($columns[]; .) / $columns[].total] | add)];
	[$columns[].counts | keys[]] | unique | sort_by(place) | .[]
	| . as $row | [$columns[] | at(.; $row) / .figure.operations] as $costs
	| " " + ([range($columns | length) | " \($costs[.] | fixed(2) | right(10)) \(
			100 * at($columns[.]; $row) / $columns[.].total | fixed(2) | right(6))% "] | add)
		+ if ($costs | length) == 2 then " \($costs[1] - $costs[0] | signed | right(10)) " else "" end
		+ " \($row)";

# ---- the table

# Lines "out TEXT" and "err TEXT" for standard output and error, in order, and at last "exit STATUS".
# On standard input are the lines of all files: lines (command lines), kernels and appends, of each column,
# and COLUMN/LINE.KIND. @options: those of insns.sh, and given: the user has named the command lines.
def insns($options):
	reduce (inputs | [input_filename, .]) as [$file, $text] ({}; .[$file] += [$text])
	| . as $files | ($options + {lines: (.lines // [])}) as $o
	| (if $o.against != "" then [text(.; "base"; 0; "jsonl")[] | fromjson] else [] end) as $base
	| [range($o.lines | length)] as $lines | [range(.kernels | length)] as $kernels
	| [$kernels[] as $c | [$lines[] as $n | cell($o; $files; $base; $c; $n)]] as $cells
	| [(select($o.against != "") | {name: "base", figures: ($cells[0] | map(.base))}),
	   ($kernels[] as $c | {
		name: (([$cells[$c][].release, ($files.kernels[$c] | select(. != "")), "kernel" | values][0])
			+ if $files.appends[$c] == "" then "" else " " + $files.appends[$c] end),
		figures: ($cells[$c] | map(.figure))
	   })] as $columns
	| ($columns | length) as $n_columns
	| ([12, ($o.lines[] | length)] | max) as $width
	| [($cells[][].failures[]),
	   ($lines[] as $n | select($o.fail_on != null and $columns[0].figures[$n] and $columns[1].figures[$n])
		| gate($o; $n; $columns[0].figures[$n]; $columns[1].figures[$n]))] as $failures
	| [$columns[].figures[] | values] as $figures
	| ($failures[] | "err \(.say)"),
	  (select($n_columns == 1) | "err kernel: \($columns[0].name)"),
	  "out " + ("command line" | left($width)) + ([range($n_columns) | . as $c
		| "  \(if $n_columns == 1 then "instructions" else $columns[$c].name end | right(18))  "
			+ ("+-%" | right(6)) + if $c > 0 then "  " + ("change %" | right(8)) else "" end] | add),
	  ($lines[] as $n
		# No row for what the user has not named and no kernel can run
		| select($o.given or ([$columns[].figures[$n] | values] != []))
		| "out " + ($o.lines[$n] | left($width)) + ([range($n_columns) | . as $c
			| $columns[$c].figures[$n] as $f
			| (if $c > 0 then $columns[$c - 1].figures[$n] else null end) as $before
			| "  \(if $f then (if $f.threads > 1 then "*" else "" end)
				+ (if $f.within > $o.exact then "~" else "" end) + ($f.insns | digits(5))
				else "-" end | right(18))  "
			+ (if $f then $f.within | fixed(3) else "-" end | right(6))
			+ if $c == 0 then "" else "  \(if $f and $before then change($before; $f) | signed
				else "-" end | right(8))" end] | add),
		  (select($o.profile) | [$kernels[] as $c
			| {figure: $cells[$c][$n].figure, counts: (text($files; $c; $n; "profile") | counts)}
			| select(.figure.operations > 0 and .counts != {})] | select(. != [])
			| (profile | "out \(.)"),
			  (select(any(.[]; ([.counts[]] | add) > 1.01 * .figure.operations * .figure.insns))
				| "err '\($o.lines[$n])': its profile includes what is outside of the operations measured"))),
	  (select(any($figures[]; .within > $o.exact))
		| "err '~': the samples or runs disagree by more than \($o.exact) %"),
	  (select(any($figures[]; .threads > 1))
		| "err '*': several busy threads take turns on the one CPU: the figure includes scheduling"),
	  "exit \(if any($failures[]; .changed) then 1
		elif $o.against != "" and $failures != [] then 125
		elif any($failures[]; .status == 1) then 1
		else $failures[-1].status // 0 end)";

# ---- costs.sh

# What a record is of: its options that are not the defaults, and the benchmark
def command_line:
	(.defaults // {}) as $defaults
	| [(.params | to_entries[] | select($defaults[.key] != .value)
		| if .value == true then "--\(.key)" else "--\(.key) \(.value)" end), .bench] | join(" ");

# Rows of the table, from the files of records of each kernel and of this machine ($native), which may have
# none. Figures have four digits; of this machine it is of several runs the fastest, which others disturbed
# least.
def costs($native):
	reduce (inputs | [input_filename, .]) as [$file, $record] ({files: [], lines: []};
		($record | command_line) as $line
		| (if .files[-1] != $file then .files += [$file] else . end)
		| (if .lines | index($line) then . else .lines += [$line] end)
		| .records[$file][$line] += [$record])
	| .records as $records | (.files - [$native]) as $files | .lines[] as $line
	| [$files[] as $file | $records[$file][$line] // [] | figure] | select(any)
	| map(if . then (if .within > 0.1 then "~" else "" end) + (.insns | digits(4)) else "-" end)
		+ [$records[$native][$line] // [] | map(per_operation // empty) | min | if . then digits(3) else "-" end]
	| "| `\($line)` | \(join(" | ")) |";

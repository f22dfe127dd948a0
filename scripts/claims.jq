# SPDX-License-Identifier: GPL-2.0
#
# What claims.sh computes and how it writes numbers. "-" stands for a figure that there is none of.

def known: . != "-" and . != "" and . != null;
def number: if known then tonumber else null end;

# With $n digits behind the point
def fixed($n): fabs as $x | pow(10; $n) as $scale | ($x * $scale | round) as $all
	| ($all / $scale | floor) as $whole | ($all - $whole * $scale | round | tostring) as $rest
	| (if . < 0 and $all > 0 then "-" else "" end) + ($whole | tostring)
	+ if $n == 0 then "" else "." + ("0" * ($n - ($rest | length)) // "") + $rest end;

def signed($n): (if . < 0 then "" else "+" end) + fixed($n);

# Of the rows of a table of reference/, which are its inputs: the one that begins with $keys
def published($keys; $column; $by):
	[inputs | select(startswith("#") | not) | split("\t")] | (.[0] | index($column)) as $at
	| first(.[1:][] | select(.[:$keys | length] == $keys) | .[$at]) // "-"
	| if $by != 1 and known then tonumber / $by | fixed(4) else . end;

# Of the inputs, which are what bench -C --csv prints: "MEDIAN_A MEDIAN_B P LOW HIGH", nothing
# without a row
def compared:
	[inputs | split(",")] | select(length > 1) | .[0] as $names | .[1] as $row
	| def field($name): $row[$names | index($name)] | if known then . else "-" end;
	  def ratio($name): field($name) | if known then 1 + tonumber / 100 else . end;
	[field("new_median"), field("base_median"), field("p"), ratio("change_ci95_low_pct"),
		ratio("change_ci95_high_pct")] | map(tostring) | join(" ");

# Records of bloom-false-positive against what was published, %: "VERDICT|WORDS|WORDS". See
# lib/bloom_theory.h for the formulas.
def false_positives($published):
	.[0].params.nr_entries as $n | .[0].params.nr_hash_funcs as $k
	| ([.[0].samples[] | .lookups // .hits] | add) as $lookups
	| ([.[0].samples[].false_hits] | add / $lookups) as $here
	| (64 | until(. >= ($n * $k / 5 | floor) * 7; . * 2)) as $bits
	| ($k * $n / $bits) as $c | (1 - (-$c | exp)) as $f | pow($f; $k) as $p
	| (pow($k * $p / $f; 2) * ((-$c | exp) - (1 + $c) * (-2 * $c | exp)) / $bits) as $fill
	| ($p * (1 - $p) / $lookups + $fill | sqrt) as $sd | (($here - $p) / $sd) as $off
	# That runner counts a false hit twice in its denominator; its figures agree with theory to
	# 0.12 percentage points
	| ($published / 100) as $x | ($here / (1 + $here) - $x | fabs) as $gap
	| (if ($off | fabs) <= 5 and $gap <= 5 * $sd + 0.0012 then "holds" else "does not hold" end)
	+ "|published \($published) %, which is \(100 * $x / (1 - $x) | fixed(2)) % of the lookups"
	+ "|here      \(100 * $here | fixed(3)) %, theory \(100 * $p | fixed(3)) %: "
	+ "\($off | signed(1)) standard deviations";

# See reference/claims.tsv for the kinds. What the interval of the ratio allows, but the medians do
# not show, is not shown.
def verdict($kind; $limit; $a; $b; $p; $low; $high):
	(if $b > 0 then $a / $b else 0 end) as $ratio | (($limit // 0) / 100) as $narrow
	| ($p != null and $p < 0.05) as $differ
	| def between($x; $y): $ratio >= $x and $ratio <= $y;
	if $kind == "beats" or $kind == "scales" then
		[$ratio >= $limit and $differ, ($high != null and $high < $limit) or ($ratio < 1 and $differ)]
	elif $kind == "within" then
		[between(1 - $narrow; 1 + $narrow),
		 $low != null and ($high < 1 - $narrow or $low > 1 + $narrow)]
	elif $kind == "keeps-up" then [$ratio >= 1 or ($differ | not), true]
	elif $kind == "steady" then [$ratio <= 1 or ($differ | not), true]
	elif $kind == "slower" then [($differ | not) or between(1 - $narrow; 1), true]
	else [false, true] end
	| if .[0] then "holds" elif .[1] then "does not hold" else "not shown" end;

# "A vs B M/s: R times", R left out where a figure is none
def pair($a; $b; $unit):
	def figure: if . == null then "-" else fixed(3) end;
	if $a == null and $b == null then "-"
	elif $b == null then "\($a | figure) \($unit)"
	else "\($a | figure) vs \($b | figure)\(if $unit == "" then "" else " " + $unit end)"
		+ if $a != null and $b > 0 then ": \($a / $b | fixed(if . < 10 then 2 else 0 end)) times" else "" end
	end;

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Charts from records. What is a chart, and what a line in it, is found by plot.jq; here they become
# pictures or text.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/plot.sh [OPTION...] RECORDS [NEW-RECORDS...]

Draw what is in a file of records (bench -o), as SVG and PNG: the rate over the
parameter that was swept, a line for each setting of the others, and bars for
what was not swept. With two files it is bars, before and after, with the change
that bench -C estimates. With more files, or two that hold several families of
benchmarks, it is a chart for each family, with the kernels (or the files, where
those are not all different) along the axis. Prints the names of the files that it
wrote.

  -o, --output PREFIX  files are PREFIX-1.svg, PREFIX-1.png, ... (default the
                       name of RECORDS without .jsonl)
  -t, --text           print the charts as text of 75 columns instead
      --svg            SVG alone, no PNG
  -x, --axis FIELD     the field of params for the axis, or producers (default:
                       the one that varies along most points)
      --title TEXT     put above each chart, before what is common to its points
      --bench FILE     the program that compares, and knows the families (default
                       ./bench)
  -h, --help           print this text

A point is the median of its runs, and its interval goes from the lowest to the
highest of them; of a single run, it is its mean with the 95 % interval. Axes are
logarithmic if they span two decades. Runs that failed or were interrupted are
left out.

Exit status: 0 done; 1 there is nothing to draw; 64 usage.
END
}

prefix='' text=false kinds='svg png' x='' title=''
parse o:tx: output:,text,svg,axis:,title:,bench: "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	-t | --text) text=true ;;
	--svg) kinds=svg ;;
	-o | --output) prefix=$2 && shift ;;
	-x | --axis) x=$2 && shift ;;
	--title) title=$2 && shift ;;
	--bench) BENCH=$2 && shift ;;
	esac
	shift
done
files=("${@:2}" "${after[@]}")
((${#files[@]})) || usage_error 'expected a file of records, or several'
((${#files[@]} <= 2)) || [[ -z $x ]] || usage_error '--axis: with more than two files the axis is the kernel'
for file in "${files[@]}"; do
	check_value RECORDS check_readable "$file"
done
((${#files[@]} == 1)) || check_value --bench check_program "$BENCH"
need jq jq
$text || need gnuplot gnuplot-nox
[[ -n $prefix ]] || prefix=$(basename -- "${files[0]}" .jsonl)
$text || check_value --output check_writable "$prefix-1.svg"
scratch

# Names of the files, as short as is unique
names=()
for file in "${files[@]}"; do
	names+=("$(basename -- "$file" .jsonl)")
done
unique_names() {
	[[ -z $(printf '%s\n' "${names[@]}" | sort | uniq -d) ]]
}
unique_names || names=("${files[@]%.jsonl}")
if ! unique_names && ((${#files[@]} == 2)); then
	names=(before after)
elif ! unique_names; then
	for i in "${!names[@]}"; do
		names[i]="$((i + 1))"
	done
fi
kind=file families='{}' by_family=false
if ((${#files[@]} > 1)) && [[ -z $x ]]; then
	families=$("$BENCH" --show-tables | jq -c '[.families[] | .title as $t | .benchmarks[]
		| { key: .name, value: $t }] | from_entries')
	by_family=$(jq -n --argjson families "$families" --argjson files "${#files[@]}" \
		'$files > 2 or ([inputs.bench | $families[.] // .] | unique | length > 1)' "${files[@]}" \
		2>/dev/null) || by_family=false # what is wrong with a file is said below
fi
# Of many, the kernel's name says more, where a file is of one and each is of another
if $by_family; then
	releases=()
	for file in "${files[@]}"; do
		releases+=("$(jq -r '.env.kernel_release // empty' "$file" 2>/dev/null | sort -u)")
	done
	if [[ ${releases[*]} != *$'\n'* && -z $(printf '%s\n' "${releases[@]}" | sort | uniq -d) ]]; then
		kind=kernel names=("${releases[@]}")
	fi
fi

for i in "${!files[@]}"; do
	jq -c --arg side "${names[i]}" '{ side: $side, record: . }' "${files[i]}" 2>"$scratch_dir/err" ||
		die "${files[i]}: not a file of records: $(head -n1 "$scratch_dir/err")"
done >"$scratch_dir/records"
sides=$(printf '%s\n' "${names[@]}" | jq -R . | jq -cs .)
jq -s -c --arg x "$x" --argjson sides "${#files[@]}" --argjson by_family "$by_family" --argjson labels "$sides" --arg kind "$kind" \
	--argjson families "$families" -L "$top/scripts" -f "$top/scripts/plot.jq" \
	"$scratch_dir/records" >"$scratch_dir/charts" 2>"$scratch_dir/err" ||
	die "${files[*]}: not records of bench: $(head -n1 "$scratch_dir/err")"
[[ -s $scratch_dir/charts ]] || die "${files[*]}: no complete run in it"
[[ -z $x ]] || jq -e -s --arg x "$x" 'any(.[]; .name == $x)' "$scratch_dir/charts" >/dev/null ||
	die "--axis: invalid value '$x': expected a field with 3 numbers or more" 64

# records_at NUMBER... : the records at these places of the input
records_at() {
	sed -n "$(printf '%sp;' "$@")" "$scratch_dir/records" | jq -c .record
}

# With two files: "CHART/BAR CHANGE" of each bar, the change in percent as bench -C estimates it from
# the same runs
changes() {
	local bar base new
	jq -r --argjson sides "$sides" '.index as $i | .bars // [] | to_entries[]
		| [.value.values[$sides[]].ats // empty | map(. + 1 | tostring) | join(" ")]
			as [$base, $new] | select($new) | "\($i)/\(.key)\t\($base)\t\($new)"' \
		"$scratch_dir/charts" |
		while IFS=$'\t' read -r bar base new; do
			# shellcheck disable=SC2086 # numbers
			{
				records_at $base >"$scratch_dir/base.jsonl"
				records_at $new >"$scratch_dir/new.jsonl"
			}
			"$BENCH" -C "$scratch_dir/base.jsonl" "$scratch_dir/new.jsonl" \
				--match env.machine --csv 2>/dev/null |
				jq -R -r -n --arg bar "$bar" '
					# A field with commas is quoted; none of those that is needed here
					[inputs | gsub("\"([^\"]|\"\")*\""; "_") / ","] | .[0] as $names
					| .[1] // empty | .[$names | index("change_pct")]
					| select(. != "") | "\($bar) \(.)"'
		done
}

if ((${#files[@]} == 2)); then
	changes | jq -R -n '[inputs / " " | { key: .[0], value: (.[1] | tonumber) }] | from_entries' \
		>"$scratch_dir/changes"
	jq -c --slurpfile changes "$scratch_dir/changes" '.index as $i
		| if .bars then .bars |= (to_entries | map(.value + { change: $changes[0]["\($i)/\(.key)"] })) else . end' \
		"$scratch_dir/charts" >"$scratch_dir/changed"
	mv "$scratch_dir/changed" "$scratch_dir/charts"
fi

# What the points stand for, and where they were measured
caption=$(jq -r -s --arg kind "$kind" '
	.[].record.env | .cpu_model + if $kind == "kernel" then "" else ", Linux \(.kernel_release)" end' \
	"$scratch_dir/records" | sort -u | paste -sd ';' | sed 's/;/; /g')

# The heading where the points of a chart have nothing in common
others=$(printf '%s, ' "${names[@]}")
others=${others%, }

# shellcheck disable=SC2016 # jq's variables
jq_common='
	def about_runs: if .runs[1] == 1 then "mean of one run, 95 % interval"
		elif .runs[0] == .runs[1] then "median of \(.runs[0]) runs, lowest to highest"
		else "median of \(.runs[0]) to \(.runs[1]) runs, lowest to highest (of one run: mean, 95 % interval)" end;
	def heading: [$title, .title] | map(select(. != "")) | join(": ") | if . == "" then $others else . end;
	def fixed($d): (. * pow(10; $d) | round) as $i | ($i | fabs | tostring) as $s
		| (if $i < 0 then "-" else "" end)
		  + if $d == 0 then $s else ("0" * ([$d + 1 - ($s | length), 0] | max) // "") + $s
			| .[:-$d] + "." + .[-$d:] end;
	# Four significant digits
	def figure: if . == null then "-" else
		(fabs | if . >= 1000 then 0 elif . >= 100 then 1 elif . >= 10 then 2 else 3 end) as $d
		| fixed($d) end;
	# As bench -C prints it
	def change: if . == null then "" elif fabs < 0.005 then "0.00 %" else
		(fabs | if . < 9.995 then 2 elif . < 99.95 then 1 else 0 end) as $d
		| (if . > 0 then "+" else "" end) + fixed($d) + " %" end;
'

draw_text() {
	jq -r --argjson sides "$sides" --arg title "$title" --arg others "$others" "$jq_common"'
		def pad($n): . + " " * ($n - length);
		def rpad($n): (" " * ($n - length) // "") + .;
		def fill($c; $n): if $n > 0 then $c * $n else "" end;
		# A bar: # up to the low end of the interval, ~ within it
		def bar($full; $width): (.lo / $full * $width | round) as $l
			| (.hi / $full * $width | round) as $h
			| fill("#"; $l) + fill("~"; ([$h, $width] | min) - ([$l, 0] | max));
		# Arguments are functions too: one called max would hide the real one
		def line($text; $w; $p; $full; $note): (($text[:$w] | pad($w)) + " " + ($p.y | figure | rpad(8))
			+ ($note | if . == "" then "" else " " + rpad(8) end) + " ") as $left
			| ($left + if $p.y == null then "" else
				($p | bar($full; 75 - ($left | length))) end) | sub(" +$"; "");
		"\(heading) [\(.unit)]", about_runs,
		if .kind == "curves" then
			([.series[].points[].hi] | max) as $max
			| (.x | length) as $xw
			| ([.series[].points[] | .label // .x | tostring | length] + [$xw] | max) as $w
			| .x as $x
			| .series[] | "", (if .name == "" then empty else .name end), $x,
				(.points[] | line("\(.label // .x)"; $w; .; $max; ""))
		else
			([.bars[].values[].hi] | max) as $max
			| ([.bars[].label | length] | max) as $w
			| ([$w, 40] | min) as $w
			| if ($sides | length) == 1 then "",
				(.bars[] | (if (.label | length) > $w then .label else empty end),
				 line((if (.label | length) > $w then "" else .label end); $w;
				      .values[$sides[0]]; $max; ""))
			  else
				([$sides[] | length] | max) as $sw
				| .bars[] | . as $b | "", (if .label == "" then empty else .label end),
				($sides | to_entries[] | .key as $i | .value as $s
				 | select($b.values[$s] != null)
				 | line("  " + $s; ([$sw, 20] | min) + 2; $b.values[$s]; $max;
					if $i == 0 then " " else ($b.change | change) end))
			  end
		end, "", ""' "$scratch_dir/charts" | fold -s -w 75
	echo "Bars: # up to the low end of the interval, ~ to the high end."
	fold -s -w 75 <<<"$caption"
}

# The gnuplot program of one chart, without terminal and output. Lines differ in point, dash and
# lightness, bars in pattern, so that it can be read in grey.
gnuplot_of() {
	jq -r --argjson sides "$sides" --arg title "$title" --arg others "$others" \
		--arg caption "$caption" "$jq_common"'
		def q: "\"" + (gsub("\\\\"; "/") | gsub("\""; "\\\"")) + "\"";
		["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f"] as $colors
		| [7, 4, 9, 6, 5, 8] as $points
		| "set tmargin 4; set label 2 \(heading | q) at screen 0.5, graph 1 center offset character 0,2.2 noenhanced",
		"set label 1 \("\(about_runs); \($caption)" | q) at screen 0.5, graph 1 center offset character 0,0.6 noenhanced font \",9\"",
		"set border 3; set tics nomirror out; set grid lc rgb \"#d0d0d0\" lt 1",
		if .kind == "curves" then
			"set xlabel \(.x | q) noenhanced; set ylabel \(.unit | q)",
			([.series[].points[].x] | [min, max]) as [$first, $last]
			| (if .labels then "set xrange [-0.3:\((.labels | length) - 0.7)]; set xtics noenhanced ("
				+ ([.labels | to_entries[] | "\(.value | q) \(.key)"] | join(", ")) + ")"
			   elif .logx then "set logscale x; set xrange [\($first / 1.2):\($last * 1.2)]"
			   else "set xrange [0:\($last * 1.03)]" end),
			# No half a producer
			(if (.labels | not) and $last <= 12 and all(.series[].points[].x; . == floor) then "set xtics 1" else empty end),
			(if .logy then "set logscale y" else "set yrange [0:*]" end),
			"set key below left Left reverse vertical maxcols 1 noenhanced spacing 1.2 samplen 5",
			([.series[].points[].y] | min) as $least | .logy as $logy
			| (.series | to_entries[] | "$s\(.key) << EOD",
				(.value.points[] | "\(.x) \(.y) \(if $logy and .lo <= 0 then $least / 10 else .lo end) \(.hi)"), "EOD"),
			"plot " + ([.series | to_entries[] | .key as $i
				| "$s\($i) using 1:2:3:4 with yerrorlines lw 1.5 ps 1.1 dt \($i % 5 + 1) "
				+ "pt \($points[$i % 6]) lc rgb \"\($colors[$i % 6])\" "
				+ (if .value.name == "" then "notitle" else "title \(.value.name | q)" end)]
				| join(", "))
		else
			.bars as $bars | ($bars | length) as $n | ($sides | length) as $k
			| ([$bars[].values[].hi] | max * 1.02) as $max
			# Figures are in the margin, where nothing strikes them through
			| "set xlabel \(.unit | q); set xrange [0:\($max)]; set rmargin \(if $k > 1 then 18 else 9 end)",
			"set yrange [\($n):-1]",
			"unset grid; set grid x lc rgb \"#d0d0d0\" lt 1",
			"set ytics (" + ([$bars | to_entries[] | "\(.value.label | q) \(.key)"] | join(", ")) + ") noenhanced scale 0",
			(if $k > 1 then "set key below left Left reverse horizontal noenhanced" else "unset key" end),
			($sides | to_entries[] | .key as $i | .value as $s | "$s\($i) << EOD",
				($bars | to_entries[] | select(.value.values[$s] != null)
				 | .value.values as $v | .value.change as $change | "\(.key + (if $k > 1 then ($i - 0.5) * 0.38 else 0 end)) \($v[$s].y) \($v[$s].lo) \($v[$s].hi) "
				 + ([($v[$s].y | figure), (if $i > 0 then $change | change else "" end)]
				    | map(select(. != "")) | join("  ") | q)), "EOD"),
			"h = \(if $k > 1 then 0.18 else 0.32 end)",
			"plot " + ([range($k) as $i
				| "$s\($i) using (0):1:(0):2:($1-h):($1+h) with boxxyerror fillstyle \(
					if $i == 1 then "pattern 4" else "solid 0.25" end) border lc rgb \"#000000\" lc rgb \"\(
					if $i == 1 then "#0072b2" else "#606060" end)\" title \($sides[$i] | q), "
				+ "$s\($i) using 2:1:3:4 with xerrorbars lc rgb \"#000000\" pt -1 lw 1.2 notitle, "
				+ "$s\($i) using (\($max)):1:5 with labels left offset 1,0 font \",9\" noenhanced notitle"]
				| join(", "))
		end'
}

# In pixels
height_of() {
	jq -r 'if .kind == "curves" then 440 + 22 * (.series | length)
		else 170 + (.bars | length) * (if any(.bars[]; .values | length > 1) then 40 else 22 end) end'
}

# What a screen reader says of the picture
name_svg() {
	local heading about
	{
		IFS= read -r heading
		IFS= read -r about
	} < <(jq -r --argjson sides "$sides" --arg title "$title" --arg others "$others" "$jq_common"'
		("\(heading), \(.unit)", about_runs) | @html')
	heading=$heading about=$about awk '
		/^<title>/ { print "<title>" ENVIRON["heading"] "</title>"; next }
		/^<desc>/ { print "<desc>" ENVIRON["about"] "</desc>"; next }
		1' "$scratch_dir/picture" >"$scratch_dir/named"
	mv -- "$scratch_dir/named" "$scratch_dir/picture"
}

if $text; then
	draw_text
	exit 0
fi
n=0
while IFS= read -r chart; do
	n=$((n + 1))
	height=$(height_of <<<"$chart")
	gnuplot_of <<<"$chart" >"$scratch_dir/chart"
	for kind in $kinds; do
		case $kind in
		svg) terminal="svg size 900,$height font 'sans,12' background 'white'" ;;
		png) terminal="pngcairo size 900,$height font 'sans,11'" ;;
		esac
		{
			echo "set terminal $terminal"
			echo "set output '$scratch_dir/picture'"
			cat "$scratch_dir/chart"
		} >"$scratch_dir/program"
		gnuplot "$scratch_dir/program" 2>"$scratch_dir/err" ||
			die "gnuplot failed: $(head -n3 "$scratch_dir/err")"
		[[ $kind != svg ]] || name_svg <<<"$chart"
		cp -- "$scratch_dir/picture" "$prefix-$n.$kind"
		echo "$prefix-$n.$kind"
	done
done <"$scratch_dir/charts"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Charts from records. What is a chart, and what a line in it, is found by plot.jq; here they become
# pictures or text.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

about() {
	cat <<'END'
Usage: scripts/plot.sh [OPTION...] RECORDS [NEW-RECORDS]

Draw what is in a file of records (bench -o), as SVG and PNG: the rate over the
parameter that was swept, a line for each setting of the others, and bars for
what was not swept. With two files it is bars, before and after. Prints the
names of the files that it wrote.
END
}

about_more() {
	cat <<'END'
A point is the median of its runs, and its interval goes from the lowest to the
highest of them; of a single run, it is its mean with the 95 % interval. Axes are
logarithmic where they span two decades. Runs that failed or were interrupted are
left out.
END
}

prefix='' text=false x='' title=''
opt -o --output PREFIX prefix '' 'files are PREFIX-1.svg, PREFIX-1.png, ... (default the name of RECORDS without .jsonl)'
opt -t --text '' text '' 'print the charts as text of 75 columns instead'
opt -x --axis FIELD x '' 'the field of params that is to be the axis, or producers (default: what varies along most points)'
opt '' --title TEXT title '' 'put above each chart, before what is common to its points'

parse_args "$@"
((${#args[@]} == 1 || ${#args[@]} == 2)) || usage_error 'it takes one file of records or two'
for file in "${args[@]}"; do
	check_value RECORDS check_readable "$file"
done
need jq jq
$text || need gnuplot gnuplot-nox
[[ -n $prefix ]] || prefix=$(basename -- "${args[0]}" .jsonl)
$text || check_value --output check_writable "$prefix-1.svg"
scratch

# Names of the files, as short as tells them apart
names=()
for file in "${args[@]}"; do
	names+=("$(basename -- "$file" .jsonl)")
done
if ((${#args[@]} == 2)) && [[ ${names[0]} == "${names[1]}" ]]; then
	names=("${args[@]%.jsonl}")
	[[ ${names[0]} != "${names[1]}" ]] || names=(before after)
fi

for i in "${!args[@]}"; do
	jq -c --arg side "${names[i]}" '{ side: $side, record: . }' "${args[i]}" 2>"$scratch_dir/err" ||
		die "${args[i]}: no file of records: $(head -n1 "$scratch_dir/err")"
done >"$scratch_dir/records"
jq -s -c --arg x "$x" --argjson sides "${#args[@]}" -f "$top/scripts/plot.jq" \
	"$scratch_dir/records" >"$scratch_dir/charts" 2>"$scratch_dir/err" ||
	die "${args[*]}: these are no records: $(head -n1 "$scratch_dir/err")"
[[ -s $scratch_dir/charts ]] || die "${args[*]}: there is no run in it that came to its end"
[[ -z $x ]] || jq -e -s --arg x "$x" 'any(.[]; .name == $x)' "$scratch_dir/charts" >/dev/null ||
	die "--axis: nothing to be drawn over '$x': it takes a field with 3 numbers or more" 64

# What the points stand for, and where they were measured
caption=$(jq -r -s '
	(.[].record.env | "\(.cpu_model), Linux \(.kernel_release)") as $e | $e' \
	"$scratch_dir/records" | sort -u | paste -sd ';' | sed 's/;/; /g')

# shellcheck disable=SC2016 # jq's variables
jq_common='
	def about_runs: if .runs[1] == 1 then "mean of one run, 95 % interval"
		elif .runs[0] == .runs[1] then "median of \(.runs[0]) runs, lowest to highest"
		else "median of \(.runs[0]) to \(.runs[1]) runs, lowest to highest (of one run: mean, 95 % interval)" end;
	def heading: [$title, .title] | map(select(. != "")) | join(": ");
	# Four digits that count
	def figure: if . == null then "-" else
		(fabs | if . >= 1000 then 0 elif . >= 100 then 1 elif . >= 10 then 2 else 3 end) as $d
		| (. * pow(10; $d) | round) as $i | ($i | fabs | tostring) as $s
		| (if $i < 0 then "-" else "" end)
		  + if $d == 0 then $s else ("0" * ([$d + 1 - ($s | length), 0] | max) // "") + $s
			| .[:-$d] + "." + .[-$d:] end end;
	def change($old; $new): if $old == null or $new == null or $old == 0 then ""
		else (($new / $old - 1) * 1000 | round / 10) | if . >= 0 then "+\(.) %" else "\(.) %" end end;
'

draw_text() {
	jq -r --argjson sides "$(printf '%s\n' "${names[@]}" | jq -R . | jq -s .)" --arg title "$title" "$jq_common"'
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
		(heading | if . == "" then "All" else . end) as $h
		| "\($h) [\(.unit)]", about_runs,
		if .kind == "curves" then
			([.series[].points[].hi] | max) as $max
			| (.x | length) as $xw
			| ([.series[].points[].x | tostring | length, $xw] | max) as $w
			| .x as $x
			| .series[] | "", (if .name == "" then empty else .name end), $x,
				(.points[] | line("\(.x)"; $w; .; $max; ""))
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
					if $i == 0 then " " else change($b.values[$sides[0]].y; $b.values[$s].y) end))
			  end
		end, "", ""' "$scratch_dir/charts" | fold -s -w 75
	echo "Bars: # up to the low end of the interval, ~ to the high end."
	fold -s -w 75 <<<"$caption"
}

# The gnuplot program of one chart, without terminal and output. Lines differ in point, dash and
# lightness, bars in pattern, so that it can be read in grey.
gnuplot_of() {
	jq -r --argjson sides "$(printf '%s\n' "${names[@]}" | jq -R . | jq -s .)" --arg title "$title" \
		--arg caption "$caption" "$jq_common"'
		def q: "\"" + (gsub("\\\\"; "/") | gsub("\""; "\\\"")) + "\"";
		["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f7f"] as $colors
		| [7, 4, 9, 6, 5, 8] as $points
		| "set title \(heading | q) offset 0,0.8 noenhanced; set tmargin 4",
		"set label 1 \("\(about_runs); \($caption)" | q) at screen 0.5, graph 1 center offset character 0,0.6 noenhanced font \",9\"",
		"set border 3; set tics nomirror out; set grid lc rgb \"#d0d0d0\" lt 1",
		if .kind == "curves" then
			"set xlabel \(.x | q) noenhanced; set ylabel \(.unit | q)",
			([.series[].points[].x] | [min, max]) as [$first, $last]
			| (if .logx then "set logscale x; set xrange [\($first / 1.2):\($last * 1.2)]"
			   else "set xrange [0:\($last * 1.03)]" end),
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
			| ([$bars[].values[].hi] | max) as $max
			| "set xlabel \(.unit | q); set xrange [0:\($max * (if $k > 1 then 1.3 else 1.15 end))]; set yrange [\($n):-1]",
			"unset grid; set grid x lc rgb \"#d0d0d0\" lt 1",
			"set ytics (" + ([$bars | to_entries[] | "\(.value.label | q) \(.key)"] | join(", ")) + ") noenhanced scale 0",
			(if $k > 1 then "set key below left Left reverse horizontal noenhanced" else "unset key" end),
			($sides | to_entries[] | .key as $i | .value as $s | "$s\($i) << EOD",
				($bars | to_entries[] | select(.value.values[$s] != null)
				 | .value.values as $v | "\(.key + (if $k > 1 then ($i - 0.5) * 0.38 else 0 end)) \($v[$s].y) \($v[$s].lo) \($v[$s].hi) "
				 + ([($v[$s].y | figure), (if $i > 0 then change($v[$sides[0]].y; $v[$s].y) else "" end)]
				    | map(select(. != "")) | join("  ") | q)), "EOD"),
			"h = \(if $k > 1 then 0.18 else 0.32 end)",
			"plot " + ([range($k) as $i
				| "$s\($i) using (0):1:(0):2:($1-h):($1+h) with boxxyerror fillstyle \(
					if $i == 1 then "pattern 4" else "solid 0.25" end) border lc rgb \"#000000\" lc rgb \"\(
					if $i == 1 then "#0072b2" else "#606060" end)\" title \($sides[$i] | q), "
				+ "$s\($i) using 2:1:3:4 with xerrorbars lc rgb \"#000000\" pt -1 lw 1.2 notitle, "
				+ "$s\($i) using 4:1:5 with labels left offset 0.6,0 font \",9\" noenhanced notitle"]
				| join(", "))
		end'
}

# In pixels
height_of() {
	jq -r 'if .kind == "curves" then 440 + 22 * (.series | length)
		else 150 + (.bars | length) * (if any(.bars[]; .values | length > 1) then 34 else 22 end) end'
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
	for kind in svg png; do
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
		cp -- "$scratch_dir/picture" "$prefix-$n.$kind"
		echo "$prefix-$n.$kind"
	done
done <"$scratch_dir/charts"

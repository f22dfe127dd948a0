#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# One HTML file that has all of several files of records.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/report.sh [OPTION...] -o FILE.html RECORDS...

Write one HTML file that stands alone: the comparison of the files of records
(bench -o) against the first one, as bench -C --csv has it, charts, the
environments and their differences, and each run. It needs no network and no
script; it can be read on a phone, printed, or read aloud.

  -o, --output FILE   the file; it is written once all of it is there
      --title TEXT    its heading (default: the kernels)
      --bench FILE    the program that compares (default ./bench)
  -h, --help          print this text

Exit status: 0 done; 1 the files cannot be compared; 64 usage.
END
}

output='' title=''
parse o: output:,title:,bench: "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	-o | --output) output=$2 && shift ;;
	--title) title=$2 && shift ;;
	--bench) BENCH=$2 && shift ;;
	esac
	shift
done
files=("${@:2}" "${after[@]}")
((${#files[@]})) || usage_error 'expected a file of records, or several'
[[ -n $output ]] || usage_error 'expected -o FILE.html'
for file in "${files[@]}"; do
	check_value RECORDS check_readable "$file"
done
check_value --output check_writable "$output"
check_value --bench check_program "$BENCH"
need jq jq
need gnuplot gnuplot-nox
scratch

# Each file and its name: that of the kernel where it is of one, and no other file is of it
names=()
for i in "${!files[@]}"; do
	read_records "${files[i]}" >"$scratch_dir/records.$i"
	names+=("$(jq -r '.env.kernel_release // "unknown"' "$scratch_dir/records.$i" | sort -u)")
done
kernels=$(printf '%s\n' "${names[@]}" | sort -u | paste -sd , | sed 's/,/, /g')
if [[ -n $(printf '%s\n' "${names[@]}" | sort | uniq -d) || ${names[*]} == *$'\n'* ]]; then
	names=()
	for file in "${files[@]}"; do
		names+=("$(basename -- "$file" .jsonl)")
	done
	[[ -z $(printf '%s\n' "${names[@]}" | sort | uniq -d) ]] || names=("${files[@]}")
fi
[[ -n $title ]] || title="BPF benchmarks: Linux $kernels"

: >"$scratch_dir/csv"
: >"$scratch_dir/text"
if ((${#files[@]} > 1)); then
	"$BENCH" -C "${files[@]}" --csv >"$scratch_dir/csv" 2>"$scratch_dir/err" ||
		die "$(why_failed "$scratch_dir/err")"
	"$BENCH" -C "${files[@]}" >"$scratch_dir/text" 2>/dev/null || true
else
	jq -e -s 'any(.[]; .status == "ok")' "$scratch_dir/records.0" >/dev/null ||
		die "${files[0]}: no complete run in it"
fi

plot=("$top/scripts/plot.sh" --bench "$BENCH" "${files[@]}")
"${plot[@]}" --text >"$scratch_dir/charts.txt" 2>"$scratch_dir/err" || die "$(sed 's/^plot: //' "$scratch_dir/err")"
"${plot[@]}" --svg -o "$scratch_dir/chart" >"$scratch_dir/svgs" 2>"$scratch_dir/err" ||
	die "$(sed 's/^plot: //' "$scratch_dir/err")"
n=0
while IFS= read -r svg; do
	n=$((n + 1))
	# Identifiers are those of one picture each
	sed -n '/<svg/,$p' "$svg" |
		sed -E -e "s/ id=(['\"])/ id=\1c$n-/g" -e "s/xlink:href='#/xlink:href='#c$n-/g" \
			-e "s/url\(#/url(#c$n-/g" -e 's/<svg/<svg role="img"/' >"$scratch_dir/svg"
	heading=$(sed -n 's|^<title>\(.*\)</title>$|\1|p' "$svg")
	jq -n -c --rawfile svg "$scratch_dir/svg" --arg title "$heading" '{ $svg, $title }'
done <"$scratch_dir/svgs" >"$scratch_dir/charts.json"

for i in "${!files[@]}"; do
	jq -s -c --arg name "${names[i]}" --arg path "${files[i]}" '{ $name, $path, records: . }' \
		"$scratch_dir/records.$i"
done | jq -s -r -L "$top/scripts/export" --rawfile css "$top/scripts/report.css" --rawfile csv "$scratch_dir/csv" \
	--rawfile text "$scratch_dir/text" --rawfile charts_text "$scratch_dir/charts.txt" \
	--slurpfile charts "$scratch_dir/charts.json" --arg title "$title" \
	-f "$top/scripts/report.jq" >"$scratch_dir/report" 2>"$scratch_dir/err" ||
	die "cannot make the report: $(head -n1 "$scratch_dir/err")"
put_file "$scratch_dir/report" "$output"

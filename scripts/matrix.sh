#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What runs where: a Markdown table made from the results of the guest suite.
set -euo pipefail
# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

usage() {
	cat <<'USAGE'
Usage: scripts/matrix.sh [--update FILE] [NAME=]RESULTS...

Print which benchmark runs on which kernel, and why not where it does not, as a
Markdown table. RESULTS are files that tests/guest/suite leaves: results.tsv in
the --out folder of scripts/vmtest.sh, or, for this machine's own kernel, by
  RESULTS=here.tsv tests/guest/suite benchmarks     (as root, bench in PATH)
NAME is the heading of its column (default: the kernel's release). Benchmarks of
a family that go alike everywhere share a row.

  -u, --update FILE  do not print it: put it into FILE, between the lines
                     <!-- matrix: begin --> and <!-- matrix: end -->
  -h, --help         this text

Exit status: 0; 1 where a benchmark failed, or nothing can be written; 64 usage.
USAGE
}

die() {
	echo "matrix: $1" >&2
	exit "${2:-1}"
}

update=''
while (($#)); do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-u | --update)
		(($# > 1)) || die "$1 needs a value" 64
		update=$2
		shift 2
		;;
	-*)
		usage >&2
		exit 64
		;;
	*) break ;;
	esac
done
(($#)) || {
	usage >&2
	exit 64
}

names=()
files=()
for arg; do
	file=${arg#*=}
	[[ -s $file ]] || die "there are no results in '$file'" 64
	files+=("$file")
	[[ $arg == *=* ]] && names+=("${arg%%=*}") || names+=("$(head -n1 "$file" | cut -f1)")
done

# A line of the files has kernel, benchmark, state, reason.
table() {
	awk -F '\t' -v headings="$(printf '%s\t' "${names[@]}")" '
		FNR == 1 { file++ }
		!($2 in seen) { seen[$2] = 1; bench[++benchs] = $2 }
		{ state[$2, file] = $3; reason[$2, file] = $4 }

		# Reasons are below the table, each of them once.
		function cell(name, f,    why) {
			if (state[name, f] == "available")
				return "✓"
			if (state[name, f] == "failed")
				return "failed"
			if (state[name, f] == "")
				return " "
			why = reason[name, f]
			if (!(why in number)) {
				number[why] = ++notes
				note[notes] = why
			}
			return "– (" number[why] ")"
		}

		END {
			split(headings, heading, "\t")
			printf "| benchmark |"
			for (f = 1; f <= file; f++)
				printf " %s |", heading[f]
			printf "\n| --- |"
			for (f = 1; f <= file; f++)
				printf " --- |"
			printf "\n"
			# A row for those of one family (the word before the first -) that go alike
			for (b = 1; b <= benchs; b++) {
				row = ""
				for (f = 1; f <= file; f++)
					row = row " " cell(bench[b], f) " |"
				family = bench[b]
				sub(/-.*/, "", family)
				key = family row
				if (!(key in names))
					order[++rows] = key
				else
					names[key] = names[key] ", "
				names[key] = names[key] bench[b]
				cells[key] = row
			}
			for (r = 1; r <= rows; r++)
				printf "| %s |%s\n", names[order[r]], cells[order[r]]
			if (notes)
				print ""
			for (n = 1; n <= notes; n++)
				printf "%d. %s\n", n, note[n]
		}' "${files[@]}"
}

if [[ -z $update ]]; then
	table
else
	begin='<!-- matrix: begin -->' end='<!-- matrix: end -->'
	[[ $(grep -cxF -e "$begin" -e "$end" "$update") == 2 ]] ||
		die "'$update' has no place for it: '$begin' and '$end' on lines of their own"
	new=$(mktemp "$update.XXXXXX")
	trap 'rm -f "$new"' EXIT
	{
		sed "/^$begin\$/q" "$update"
		table
		sed -n "/^$end\$/,\$p" "$update"
	} >"$new"
	# Not a rename: the mode and the links of the file stay
	cat "$new" >"$update"
fi
[[ -z $(awk -F '\t' '$3 == "failed"' "${files[@]}") ]] || die 'a benchmark failed'

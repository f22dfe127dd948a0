#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tables of options, benchmarks and figures say, put into the documents.
set -euo pipefail
# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

usage() {
	cat <<'USAGE'
Usage: scripts/docs.sh [--check]

Make docs/benchmarks.md from the tables in the program, and put them into README.md
(a row per family), bench.8 (options and benchmarks), record.schema.json (the
figures of each kind of result) and completions/bench.bash. What runs on this
machine does not matter.

      --check   change nothing: exit with 1 where a document is not up to date
  -h, --help    this text

Environment:
  BENCH   the program (default ./bench)
USAGE
}

check=false
case ${1:-} in
'') ;;
--check) check=true ;;
-h | --help)
	usage
	exit 0
	;;
*)
	usage >&2
	exit 64
	;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tables=$("${BENCH:-./bench}" --show-tables)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Too long for a command line
printf '%s\n' "$tables" >"$work/tables.json"

# What all the outputs below share: how an option is written, and its default and range
# shellcheck disable=SC2016 # jq's variables
common='
	def spelling: "--" + .name + (if .arg then "=" + .arg else "" end);
	def range:
		if .range then (if .expected then .expected + ", " else "" end) + .range
		elif .choices then .choices | join(", ")
		else .expected // "" end;
	def limits:
		[(if .arg and .default != "" then "default " + .default else empty end),
		 (range | select(. != ""))] | join("; ");
	def units: [.figures[] | "\(.name) (\(.unit))"] | join(", ");
'

benchmarks_md() {
	jq -r "$common"'
		"# The benchmarks",
		"",
		"Made by `make docs` from the tables in the program. `bench NAME --help` prints the same of one benchmark.",
		(.families[] |
			"",
			"## " + .title,
			"",
			(.about[:1] | ascii_upcase) + .about[1:] + ".",
			"",
			"| benchmark | what is counted | figures | requires |",
			"| --- | --- | --- | --- |",
			(.benchmarks[] |
				"| `\(.name)`" + ([.aliases[] | ", `\(.)`"] | add // "") +
				" | \(.desc) | \(units) | \(.requires // "") |"),
			(select(.options != []) |
				"",
				"| option | | |",
				"| --- | --- | --- |",
				(.options[] | "| `\(spelling)` | \(.help) | \(limits) |")))' <<<"$tables"
}

# Families whose benchmarks begin alike are written as a pattern
readme_rows() {
	jq -r '
		def names: [.benchmarks[].name] |
			if length > 6 and (map(split("-")[0]) | unique | length == 1)
			then "`\(.[0] | split("-")[0])-*` (\(length))"
			else map("`\(.)`") | join(", ") end;
		"| benchmarks | what they tell |",
		"| --- | --- |",
		(.families[] | "| \(names) | \(.about) |")' <<<"$tables"
}

man_options() {
	jq -r "$common"'
		def quoted: gsub("\\\\"; "\\e") | gsub("^(?<c>[.'\''])"; "\\&\(.c)") | gsub("(?<=[a-z])[.] "; ".\n");
		def item: ".It Fl " + (if .letter then .letter + " , Fl -" else "-" end) + .name +
			(if .arg then " Ns = Ns Ar " + (.arg | ascii_downcase) else "" end);
		def options: ".Bl -tag -width Ds", (.[] | item,
			(.help + (limits | if . == "" then "." else " (" + . + ")." end) | quoted)), ".El";
		(.options | options),
		(.families[] | select(.options != []) |
			".Ss Options of: \(.title)",
			(.options | options))' <<<"$tables"
}

man_benchmarks() {
	jq -r '
		.families[] |
		".Ss \(.title)",
		".Bl -tag -width Ds",
		(.benchmarks[] | ".It Cm \(.name)" + ([.aliases[] | " , \(.)"] | add // ""),
			((.desc[:1] | ascii_upcase) + .desc[1:] + ".")),
		".El"' <<<"$tables"
}

# A record has all figures of its benchmark, or none where there is nothing to sum up; samples have
# the raw ones
schema() {
	jq --slurpfile tables "$work/tables.json" '
		.allOf = ([$tables[0].families[].benchmarks[]] | group_by(.report) | map({
			if: { properties: { bench: { enum: [.[].name] } } },
			then: { properties: {
				samples: { items: {
					required: (["t_ns", "dt_ns"] + [.[0].figures[] | select(.raw).name]),
					properties: ([{ key: "t_ns", value: true }, { key: "dt_ns", value: true }] +
						[.[0].figures[] | select(.raw) |
							{ key: .name, value: { description: .help, "$ref": "#/$defs/count" } }] |
						from_entries),
					additionalProperties: false
				} },
				figures: {
					properties: ([.[0].figures[] | { key: .name, value: {
						description: .help,
						properties: {
							unit: { const: .unit },
							kind: { const: .kind },
							better: { const: .better }
						}
					} }] | from_entries),
					additionalProperties: false
				},
				summary: { properties: {
					figure: { const: .[0].figures[0].name },
					report: { const: .[0].report },
					unit: { const: .[0].figures[0].unit }
				} }
			},
			if: { properties: { summary: { type: "null" } } },
			then: { properties: { figures: { maxProperties: 0 } } },
			else: { properties: { figures: { required: [.[0].figures[].name] } } } }
		}))' record.schema.json
}

# between FILE BEGIN END: standard input in place of what is between two lines of FILE
between() {
	begin=$2 end=$3 awk '
		NR == FNR { text = text $0 "\n"; next }
		$0 == ENVIRON["end"] { inside = 0 }
		!inside
		$0 == ENVIRON["begin"] { printf "%s", text; inside = found = 1 }
		END { exit !found }' - "$1"
}

benchmarks_md >"$work/benchmarks.md"
readme_rows | between README.md '<!-- benchmarks: begin -->' '<!-- benchmarks: end -->' >"$work/README.md"
man_options | between bench.8 '.\" options: begin' '.\" options: end' >"$work/man"
man_benchmarks | (cd "$work" && between man '.\" benchmarks: begin' '.\" benchmarks: end') >"$work/bench.8"
schema >"$work/record.schema.json"
jq -r -f scripts/completion.jq <<<"$tables" |
	between completions/bench.bash '# tables: begin' '# tables: end' >"$work/bench.bash"

status=0
for file in docs/benchmarks.md README.md bench.8 record.schema.json completions/bench.bash; do
	new=$work/$(basename "$file")
	if [[ -f $file ]] && cmp -s "$new" "$file"; then
		continue
	elif $check; then
		echo "docs: $file is not up to date: make docs" >&2
		status=1
	else
		cp "$new" "$file"
	fi
done
exit "$status"

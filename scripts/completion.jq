# SPDX-License-Identifier: GPL-2.0
#
# From the program's tables (bench --show-tables) to those of completions/bench.bash.

def words: unique | join(" ");
def spellings: "--" + .name, (if .letter then "-" + .letter else empty end);
# What an option takes, for _bench_argument
def argument($figures):
	if .choices then "=" + (.choices | join(" "))
	elif .name == "figure" then "=" + $figures
	elif .arg == "FILE" or .arg == "BASE" then "FILE"
	else "other" end;
# The branches of a case over options, those with the same argument in one
def arguments($family; $figures):
	[.[] | select(.arg) | { s: [spellings], a: argument($figures) }] | group_by(.a)[]
	| "\t" + ([.[].s[] | "\($family):\(.)"] | unique | join(" | ")) + ") echo '\(.[0].a)' ;;";

([.families[].benchmarks[].figures[].name] + ["all"] | words) as $figures
| (.families | to_entries) as $families
| "_bench_names='" + ([.families[].benchmarks[].name] | join(" ")) + "'",
"",
"_bench_family() {",
"\tcase $1 in",
($families[] | "\t" + ([.value.benchmarks[] | .name, .aliases[]] | unique | join(" | ")) + ") echo \(.key) ;;"),
"\tesac",
"}",
"",
"_bench_options() {",
"\tcase $1 in",
"\tcore) echo '" + ([.options[] | "--" + .name] | join(" ")) + "' ;;",
"\tall) echo '" + ([.families[].options[] | "--" + .name] | words) + "' ;;",
($families[] | select(.value.options != [])
	| "\t\(.key)) echo '" + ([.value.options[] | "--" + .name] | join(" ")) + "' ;;"),
"\tesac",
"}",
"",
"_bench_argument() {",
"\tcase $1:$2 in",
(.options | arguments("core"; $figures)),
($families[] | .key as $k | .value.options | arguments($k; $figures)),
"\t*) return 1 ;;",
"\tesac",
"}"

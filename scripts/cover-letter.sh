#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Two files of records as text for a mail.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/cover-letter.sh [OPTION...] BASE NEW

Print what a reader of a patch wants to know of two files of records (bench -o),
to be pasted into the mail: what was compared, on what machine and kernel, how
it was measured, the table, and what may have disturbed it. At most 75 columns.

      --base TEXT     what BASE is, in words (default its kernel, or its file if
                      the kernels are the same)
      --new TEXT      what NEW is
  -m, --match FIELDS  compare rows by these, for bench -C
      --bench FILE    the program that compares (default ./bench)
  -h, --help          print this text

Exit status: 0 done; 1 the files cannot be compared; 64 usage.
END
}

base='' new='' match=''
parse m: base:,new:,match:,bench: "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	--base) base=$2 && shift ;;
	--new) new=$2 && shift ;;
	-m | --match) match=$2 && shift ;;
	--bench) BENCH=$2 && shift ;;
	esac
	shift
done
files=("${@:2}" "${after[@]}")
((${#files[@]} == 2)) || usage_error 'expected two files of records'
for file in "${files[@]}"; do
	check_value RECORDS check_readable "$file"
done
check_value --bench check_program "$BENCH"
need jq jq
scratch

# First, for it checks the files, and names the line that is wrong
compare=("$BENCH" -C "${files[@]}")
[[ -z $match ]] || compare+=(--match "$match")
"${compare[@]}" >"$scratch_dir/table" || exit

# shellcheck disable=SC2016 # jq's variables
facts='
	# "1 and 2", "1 to 3"
	def span: sort | unique | if length == 0 then "none" elif length == 1 then "\(.[0])"
		else "\(.[0]) to \(.[-1])" end;
	def list: unique | map(tostring) | join(", ");
	def plural($n; $one; $many): if $n == 1 then "1 \($one)" else "\($n) \($many)" end;
	def env($k): [.[].env[$k] // empty] | unique;
	def kernel: [.[].env | "\(.kernel_release) \(.kernel_version)"] | unique | join(", ");
	# Runs of each row
	def rows: group_by([.bench, .params, .config]);
	($b + $n) as $all
	| ($b | env("kernel_release")) as $kb | ($n | env("kernel_release")) as $kn
	| ($b | kernel) as $kernel_b | ($n | kernel) as $kernel_n
	| ($all[0].config) as $c
	| ($all | map(select(.status == "ok"))) as $ok
'
records() {
	jq -n -r --slurpfile b "${files[0]}" --slurpfile n "${files[1]}" \
		--arg base "$base" --arg new "$new" \
		--arg base_file "$(basename -- "${files[0]}" .jsonl)" \
		--arg new_file "$(basename -- "${files[1]}" .jsonl)" "$facts | $1"
}

paragraph() {
	fold -s -w 75 | sed 's/ *$//'
	echo
}

# A line with a dash, and what follows below its text
item() {
	local line
	while IFS= read -r line; do
		fold -s -w 73 <<<"$line" | sed -e 's/ *$//' -e '1s/^/- /' -e '2,$s/^/  /'
	done
}

# shellcheck disable=SC2016 # jq's variables
what='
	(if $base != "" then $base elif $kb != $kn then "Linux \($kb | list)" else $base_file end) as $x
	| (if $new != "" then $new elif $kb != $kn then "Linux \($kn | list)" else $new_file end) as $y
	| "Compared: \($x) (base) with \($y) (new)."
'
# shellcheck disable=SC2016 # jq's variables
where='
	def known($k): $all | env($k) | map(select(. != "unknown" and . != "")) | join(" / ");
	def add($words; $k): known($k) | if . == "" then empty else $words + . end;
	"Machine: " + ([known("cpu_model"), "\(known("cpus_online")) CPUs", known("machine"),
		add("SMT "; "smt"), add("governor "; "governor"), add("virtualization "; "virtualization")]
		| map(select(. != "")) | join(", ")) + ".",
	(if $kernel_b == $kernel_n then "Kernel: \($kernel_b)."
	 else "Kernel of base: \($kernel_b). Kernel of new: \($kernel_n)." end)
	+ " BPF JIT \(known("jit")); libbpf \(known("libbpf"))."
'
# shellcheck disable=SC2016 # jq's variables
how='
	"Measured by bench \($all | env("bench") | list): \([$b, $n | rows[] | length] | span) runs per side"
	+ " of \([$all[].config.duration_s] | span) s"
	+ (if any($all[]; .argv | index("--precision") or any(startswith("--precision="))) then " at most (--precision)" else "" end)
	+ ", \([$all[].config.warmup_s] | span) s of warm-up before each, sampled every "
	+ "\([$all[].config.interval_ms] | span) ms, threads "
	+ (if all($all[]; .config.prod_cpus // "" | . == "") then "not pinned" else "pinned" end)
	+ ". "
	+ (if all($all[]; .ab) then "The sides alternated (base new, new base, ...). "
	   else "" end)
	+ "A run is one observation, and no outlier was removed; the columns are explained below the "
	+ "table."
'
# shellcheck disable=SC2016 # jq's variables
noise='
	[$ok[] | .noise.steal_pct // empty] as $steal
	| ([$steal[] | select(. > 1)] | length) as $stolen
	| (if $stolen > 0 then "the hypervisor ran something else: steal time was above 1 % in "
		+ "\($stolen) of \($ok | length) runs, \($steal | max * 10 | round / 10) % at most"
	   else empty end),
	  ($ok | env("governor") | map(select(. != "performance" and . != "unknown"))
	   | if length > 0 then "the CPU frequency governor was \(list), not performance" else empty end),
	  ($ok | env("virtualization") | map(select(. != "none" and . != "unknown"))
	   | if length > 0 then "it is a virtual machine" + (map(select(. != "yes"))
		| if length > 0 then " (\(list))" else "" end) else empty end),
	  ([$ok[] | select((.config.prod_cpus // "") != "" and (.noise.migrations // 0) > 0)] | length
	   | if . > 0 then "threads moved between CPUs although pinned in \(plural(.; "run"; "runs"))" else empty end),
	  ([$ok[] | select(.config.producers + .config.consumers > (.env.cpus_online | tonumber))] | length
	   | if . > 0 then "there were more threads than CPUs in \(plural(.; "run"; "runs"))" else empty end),
	  ([$all[] | select(.status != "ok")] | length
	   | if . > 0 then "\(plural(.; "run"; "runs")) failed or cut short, and left out" else empty end),
	  ([$all[] | select(.argv | index("--verify"))] | length
	   | if . > 0 then "BPF run statistics (--verify) were on in \(plural(.; "run"; "runs"))" else empty end),
	  (([$b[].env.time] | max) as $last_b | ([$n[].env.time] | max) as $last_n
	   | if $last_b < ([$n[].env.time] | min) or $last_n < ([$b[].env.time] | min)
	     then "the sides were measured one after the other, not alternating: drift of the machine looks like a change"
	     else empty end)
'
# shellcheck disable=SC2016 # jq's variables
commands='
	def words: .argv
		# Without the options that name a file or repeat the run
		| [foreach .[] as $w ({skip: false}; {skip: ($w == "-o" or $w == "--output" or $w == "-r" or $w == "--runs"), was: .skip, w: $w};
			select((.was or .skip or (.w | test("^-[or].+|^--(output|runs)="))) | not) | .w)]
		| .[0] = "bench" | map(if test("^[A-Za-z0-9_./:=,@%+-]+$") then . else "\u0027\(.)\u0027" end) | join(" ");
	def side: { setting: [.[].ab.setting // empty] | unique | join(", "), commands: [.[] | words] | unique };
	def show($of): "Commands\($of)\(if .setting == "" then "" else ", under \(.setting)" end):",
		.commands[:10][], (.commands | length | if . > 10 then "and \(. - 10) more" else empty end);
	($b | side) as $base | ($n | side) as $new
	| if $base == $new then $base | show("")
	  else ($base | show(" of base")), ($new | show(" of new")) end
'
records "$what" | paragraph
records "$where" | paragraph
records "$how" | paragraph
sed 's/ *$//' "$scratch_dir/table"
echo
echo 'What a reader should know of the noise:'
records "$noise" >"$scratch_dir/noise"
if [[ -s $scratch_dir/noise ]]; then
	item <"$scratch_dir/noise"
else
	echo '- nothing that bench looks for (steal, governor, migrations, busy CPUs)'
fi
echo
records "$commands" | fold -s -w 69 |
	sed -e 's/ *$//' -e '/^Commands/b' -e 's/^bench/  &/;t' -e 's/^/      /'

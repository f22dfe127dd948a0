#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Two commands that alternate, their records in two files, and the comparison.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/ab.sh [OPTION...] COMMAND-A [COMMAND-B]

Run two commands alternately (A B, B A, A B, ...), so that drift of the machine
affects both alike, collect their records in two files, and compare these. A
command is one word to the shell: quote it. It has to write records: '{}' in it
is replaced by the name of a file, and without {}, '-o FILE' is appended to it.
Without COMMAND-B the same command runs on both sides, under two settings.

  -r, --runs NUM          runs of each (default 8; at least 4, or no difference
                          can be shown)
  -A, --records-a FILE    records of A (default ab-a.jsonl)
  -B, --records-b FILE    records of B (default ab-b.jsonl)
      --append            append to files that exist; without it they must not
      --sysctl NAME=A,B   set a sysctl to A and B before each run of A and B
      --before-a COMMAND  run before each run of A
      --before-b COMMAND  run before each run of B
      --after COMMAND     run once at the end, whatever happened
  -m, --match FIELDS      compare rows by these, for bench -C (default: those of
                          bench, params and config that A and B agree in)
      --markdown          print the comparison as Markdown
      --csv               print the comparison as CSV
      --fail-on-slower PCT
                          exit 1 if B is slower by more than PCT %, and 125, as
                          bench does, if that cannot be judged
      --bench FILE        the program that compares (default ./bench)
  -h, --help              print this text

Each record has a member 'ab': its side (base is A, new is B), the round, its
place in the order of all runs, and the setting.

Examples:
  # two builds
  scripts/ab.sh './old/bench -a -w1 -d3 bpf-loop' './new/bench -a -w1 -d3 bpf-loop'
  # two sets of options
  scripts/ab.sh './bench -a -w1 -d3 --rb-b2b rb-custom' \
                './bench -a -w1 -d3 --rb-b2b --rb-use-output rb-custom'
  # two settings of a sysctl; its present value is restored at the end
  scripts/ab.sh --sysctl kernel.bpf_stats_enabled=0,1 './bench -a -w1 -d3 trig-rawtp'
  # anything else that can be switched
  scripts/ab.sh --before-a 'cpupower set -b 0' --before-b 'cpupower set -b 15' \
                --after 'cpupower set -b 6' './bench -a -w1 -d3 bpf-loop'
  # a whole sweep
  scripts/ab.sh -r 6 './benchs/run_bench_rename.sh -q'

Ctrl-C ends it: settings are restored, the runs so far are compared, and the
records stay. Exit status: 0 done; 1 a run failed, or --fail-on-slower, with which
failed runs are 125; 4 this kernel cannot run it (125); 64 usage; 130 or 143
interrupted.
END
}

runs=8 file_a=ab-a.jsonl file_b=ab-b.jsonl append=false
before_a='' before_b='' after_all='' sysctl='' match='' markdown=false csv=false slower=''

check_sysctl() {
	[[ $1 =~ ^[a-z0-9_./-]+=[^,]+,[^,]+$ ]] || echo 'NAME=VALUE-A,VALUE-B'
}

# -n was the letter for runs
parse r:n:A:B:m: "runs:,records-a:,records-b:,append,sysctl:,before-a:,before-b:,after:,match:,\
markdown,csv,fail-on-slower:,bench:" "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	--append) append=true ;;
	--markdown) markdown=true ;;
	--csv) csv=true ;;
	-r | -n | --runs) runs=$2 && shift ;;
	-A | --records-a) file_a=$2 && shift ;;
	-B | --records-b) file_b=$2 && shift ;;
	--sysctl) sysctl=$2 && shift ;;
	--before-a) before_a=$2 && shift ;;
	--before-b) before_b=$2 && shift ;;
	--after) after_all=$2 && shift ;;
	-m | --match) match=$2 && shift ;;
	--fail-on-slower) slower=$2 && shift ;;
	--bench) BENCH=$2 && shift ;;
	esac
	shift
done
set -- "${@:2}" "${after[@]}"
(($# == 1 || $# == 2)) || usage_error 'expected one command or two, quoted'
command_a=$1 command_b=${2:-$1}
check_value --runs check_positive "$runs"
check_value --records-a check_writable "$file_a"
check_value --records-b check_writable "$file_b"
[[ -z $sysctl ]] || check_value --sysctl check_sysctl "$sysctl"
[[ -z $slower ]] || check_value --fail-on-slower check_percent "$slower"
check_value --bench check_program "$BENCH"
need jq jq
[[ $file_a != "$file_b" ]] || usage_error 'A and B need a file each'
for file in "$file_a" "$file_b"; do
	[[ -s $file ]] || continue
	$append || usage_error "$file exists: remove it, or use --append"
	[[ -z $(tail -c1 -- "$file") ]] || usage_error "$file: the last line is unfinished"
done
scratch
# For git bisect run, 1 is "slower" and nothing else
run_failed=1
[[ -z $slower ]] || run_failed=125

# ---- settings, restored at the end

sysctl_file='' sysctl_saved=''
if [[ -n $sysctl ]]; then
	sysctl_file=/proc/sys/$(tr . / <<<"${sysctl%%=*}")
	sysctl_saved=$("${as_root[@]}" cat "$sysctl_file" 2>/dev/null) ||
		die "--sysctl: cannot read '${sysctl%%=*}'" 64
fi

set_sysctl() {
	"${as_root[@]}" tee "$sysctl_file" <<<"$1" >/dev/null
}

# shellcheck disable=SC2317 # by trap
restore() {
	local status=$?
	trap '' INT TERM HUP
	[[ -z $sysctl_saved ]] || set_sysctl "$sysctl_saved" ||
		say "cannot restore ${sysctl%%=*} = $sysctl_saved"
	[[ -z $after_all ]] || bash -c "$after_all" || say "--after failed: $after_all"
	sysctl_saved='' after_all=''
	trap 'on_signal 130' INT
	trap 'on_signal 143' TERM HUP
	return "$status"
}
trap 'restore || true; rm -rf -- "$scratch_dir"' EXIT

# prepare SIDE: apply its setting, and set the variable setting to its words
prepare() {
	local value=${sysctl#*=} before=$before_a
	[[ $1 == a ]] || before=$before_b
	setting=''
	if [[ -n $sysctl ]]; then
		[[ $1 == a ]] && value=${value%%,*} || value=${value#*,}
		setting="${sysctl%%=*}=$value"
		set_sysctl "$value" || die "cannot set $setting" "$run_failed"
	fi
	if [[ -n $before ]]; then
		setting+=${setting:+; }$before
		run_child bash -c "$before" >&2 || ((interrupted)) ||
			die "--before-$1 failed: $before" "$run_failed"
	fi
}

# ---- runs

declare -A good=([a]=0 [b]=0) failed=([a]=0 [b]=0)

# collect SIDE ORDER FILE: append what a command wrote to FILE to the records of its side, each with
# a member 'ab', and set the variable collected to their number. The rest stays, byte by byte.
collect() {
	local file=$file_a ab line
	[[ $1 == a ]] || file=$file_b
	ab=$(jq -cn --arg side "$1" --argjson order "$2" --arg setting "$setting" '{
		side: (if $side == "a" then "base" else "new" end),
		round: (($order + 1) / 2 | floor), order: $order,
		setting: (if $setting == "" then null else $setting end) }')
	collected=0
	[[ -e $3 ]] || return 0
	# bench wrote it as root, maybe with another umask
	[[ -r $3 ]] || "${as_root[@]}" chmod a+r "$3"
	# Not a last line that is unfinished
	collected=$(wc -l <"$3")
	head -n "$collected" -- "$3" | while IFS= read -r line; do
		echo "${line%\}},\"ab\":$ab}"
	done | append_to "$file"
}

# run_side SIDE NUMBER
run_side() {
	local side=$1 status=0 command=$command_a records=$scratch_dir/records.jsonl summary
	[[ $side == a ]] || command=$command_b
	prepare "$side"
	((!interrupted)) || return 0
	if [[ $command == *{}* ]]; then
		command=${command//\{\}/$(printf %q "$records")}
	else
		command+=" -o $(printf %q "$records")"
	fi
	rm -f -- "$records"
	progress "[$2/$((2 * runs))] ${side^^}: $command"
	run_child bash -c "$command" >"$scratch_dir/out" 2>"$scratch_dir/err" || status=$?
	collect "$side" "$2" "$records"
	((!interrupted)) || return 0
	if ((!status)); then
		((collected)) || die "this command wrote no record: $command" "$run_failed"
		good[$side]=$((good[$side] + 1))
		# Of a sweep it is enough that it came to its end
		summary=$(tail -n1 "$scratch_dir/out")
		[[ $summary == Summary:* ]] || summary='Summary: done'
		summary=${summary#Summary: }
		say "$2/$((2 * runs)) ${side^^}: ${summary%% (*}"
		return 0
	fi
	say "$2/$((2 * runs)) ${side^^}: failed, exit status $status: $command"
	sed 's/^/  | /' "$scratch_dir/err" >&2
	failed[$side]=$((failed[$side] + 1))
	# A side's first run failed: so will the others
	((good[$side])) || {
		[[ -z $slower ]] || ((status != 1 && status != 4)) || status=125
		exit "$status"
	}
}

for ((i = 0; i < runs && !interrupted; i++)); do
	sides=(a b)
	((i % 2 == 0)) || sides=(b a)
	for ((k = 0; k < 2 && !interrupted; k++)); do
		run_side "${sides[k]}" $((2 * i + k + 1))
	done
done
restore
((!interrupted)) || say "interrupted; the records are in $file_a and $file_b"

# ---- comparison

# Those of bench, params and config that A and B agree in, so that two option sets or two benchmarks
# are one row; nothing if rows match by all three.
matching() {
	jq -n -r --slurpfile a "$file_a" --slurpfile b "$file_b" '
		def keys_of($records; f): [$records[] | f] | unique;
		def common(f): keys_of($a; f) as $x | keys_of($b; f) as $y | $x - ($x - $y);
		if (common([.bench, .params, .config]) | length) > 0 then "" else
			[("bench", "params", "config") as $f
			 | select(keys_of($a; .[$f]) == keys_of($b; .[$f])) | $f] | join(",")
		end'
}

if ((!good[a] || !good[b])); then
	say 'nothing to compare'
else
	[[ -n $match ]] || match=$(matching)
	compare=("$BENCH" -C "$file_a" "$file_b")
	[[ -z $match ]] || compare+=(--match "$match")
	! $markdown || compare+=(--markdown)
	! $csv || compare+=(--csv)
	[[ -z $slower ]] || compare+=(--fail-on-slower "$slower")
	status=0
	"${compare[@]}" || status=$?
	((interrupted)) || ((!status)) || exit "$status"
fi
((!interrupted)) || exit "$interrupted"
if ((failed[a] + failed[b])); then
	die "failed runs: ${failed[a]} of A, ${failed[b]} of B; they are not in the comparison" \
		"$run_failed"
fi

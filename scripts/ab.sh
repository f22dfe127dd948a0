#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Two commands by turns, into two files of records, and the comparison.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

about() {
	cat <<'END'
Usage: scripts/ab.sh [OPTION...] COMMAND-A [COMMAND-B]

Run two commands by turns (A B, B A, A B, ...), so that a machine that drifts
does so for both alike, collect their records in two files, and compare these. A
command is one word to the shell: quote it. It has to write records: '{}' in it
is replaced by the name of the file, and where there is none, '-o FILE' is put
after it. Without COMMAND-B it is the same command, under two settings.
END
}

about_more() {
	cat <<'END'
Examples:
  # two builds
  scripts/ab.sh './old/bench -a -w1 -d3 bpf-loop' './new/bench -a -w1 -d3 bpf-loop'
  # two sets of options
  scripts/ab.sh './bench -a -w1 -d3 --rb-b2b rb-custom' \
                './bench -a -w1 -d3 --rb-b2b --rb-use-output rb-custom'
  # two settings of a sysctl, whose present value is put back at the end
  scripts/ab.sh --sysctl kernel.bpf_stats_enabled=0,1 './bench -a -w1 -d3 trig-rawtp'
  # anything else that can be switched
  scripts/ab.sh --before-a 'cpupower set -b 0' --before-b 'cpupower set -b 15' \
                --after 'cpupower set -b 6' './bench -a -w1 -d3 bpf-loop'
  # a whole sweep
  scripts/ab.sh -n 6 './benchs/run_bench_rename.sh -q'

Ctrl-C ends it: settings are put back, what was measured is compared, and the
records stay. Exit status: 0 done; 1 a run failed, or --fail-on-slower; 4 this
kernel cannot run it; 64 usage; 130 or 143 interrupted.
END
}

runs=8 file_a=ab-a.jsonl file_b=ab-b.jsonl append=false
before_a='' before_b='' after='' sysctl='' match='' markdown=false csv=false slower=''

check_sysctl() {
	[[ $1 =~ ^[a-z0-9_./-]+=[^,]+,[^,]+$ ]] || echo 'it takes NAME=VALUE-A,VALUE-B'
}

opt -n --runs NUM runs check_positive "runs of each (default $runs; 4 are the fewest that can show anything)"
opt -A --records-a FILE file_a check_writable "records of A (default $file_a)"
opt -B --records-b FILE file_b check_writable "records of B (default $file_b)"
opt '' --append '' append '' 'add to records that are there; without it they must not be'
opt '' --sysctl NAME=A,B sysctl check_sysctl 'set a sysctl to A and B before each run of A and B'
opt '' --before-a COMMAND before_a '' 'before each run of A'
opt '' --before-b COMMAND before_b '' 'before each run of B'
opt '' --after COMMAND after '' 'once at the end, whatever happened'
opt -m --match FIELDS match '' \
	'what rows are compared by, for bench -C (default: of bench, params and config what A and B agree in)'
opt '' --markdown '' markdown '' 'print the comparison as Markdown'
opt '' --csv '' csv '' 'print the comparison as CSV'
opt '' --fail-on-slower PCT slower check_percent 'exit 1 where B is slower by more than PCT %'
opt '' --bench FILE BENCH check_program 'the program that compares (default ./bench)'

parse_args "$@"
((${#args[@]} == 1 || ${#args[@]} == 2)) || usage_error "it takes one command or two, quoted"
command_a=${args[0]} command_b=${args[1]:-${args[0]}}
check_value --bench check_program "$BENCH"
need jq jq
[[ $file_a != "$file_b" ]] || usage_error 'A and B need a file each'
if ! $append; then
	for file in "$file_a" "$file_b"; do
		[[ ! -s $file ]] || usage_error "$file is there already: remove it, or use --append"
	done
fi
scratch

# ---- settings, and how they are put back

sysctl_file='' sysctl_saved=''
if [[ -n $sysctl ]]; then
	sysctl_file=/proc/sys/$(tr . / <<<"${sysctl%%=*}")
	sysctl_saved=$("${as_root[@]}" cat "$sysctl_file" 2>/dev/null) ||
		die "--sysctl: there is no '${sysctl%%=*}' that can be read" 64
fi

set_sysctl() {
	"${as_root[@]}" tee "$sysctl_file" <<<"$1" >/dev/null
}

# shellcheck disable=SC2317 # by trap
put_back() {
	local status=$?
	trap '' INT TERM HUP # it has to happen
	[[ -z $sysctl_saved ]] || set_sysctl "$sysctl_saved" ||
		say "could not put back ${sysctl%%=*} = $sysctl_saved"
	[[ -z $after ]] || bash -c "$after" || say "--after failed: $after"
	sysctl_saved='' after=''
	trap 'on_signal 130' INT
	trap 'on_signal 143' TERM HUP
	return "$status"
}
trap 'put_back || true; rm -rf -- "$scratch_dir"' EXIT

# prepare SIDE: the setting of that side
prepare() {
	local setting=${sysctl#*=} before=$before_a
	[[ $1 == a ]] || before=$before_b
	if [[ -n $sysctl ]]; then
		[[ $1 == a ]] && setting=${setting%%,*} || setting=${setting#*,}
		set_sysctl "$setting" || die "cannot set ${sysctl%%=*} to '$setting'"
	fi
	[[ -z $before ]] || run_child bash -c "$before" >&2 || ((interrupted)) ||
		die "--before-$1 failed: $before"
}

# ---- runs

# Lines of the files at the start, and of runs that failed
declare -A good=([a]=0 [b]=0) failed=([a]=0 [b]=0)

nr_records() {
	[[ -e $1 ]] && wc -l <"$1" || echo 0
}

# run_side SIDE NUMBER
run_side() {
	local side=$1 status=0 file command before summary
	file=$file_a command=$command_a
	[[ $side == a ]] || file=$file_b command=$command_b
	prepare "$side"
	((!interrupted)) || return 0
	if [[ $command == *{}* ]]; then
		command=${command//\{\}/$(printf %q "$file")}
	else
		command+=" -o $(printf %q "$file")"
	fi
	before=$(nr_records "$file")
	progress "[$2/$((2 * runs))] ${side^^}: $command"
	run_child bash -c "$command" >"$scratch_dir/out" 2>"$scratch_dir/err" || status=$?
	((!interrupted)) || return 0
	if ((!status)); then
		(($(nr_records "$file") > before)) ||
			die "this wrote no record to $file: $command"
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
	# Nothing will come of it
	((good[$side])) || exit "$status"
}

for ((i = 0; i < runs && !interrupted; i++)); do
	sides=(a b)
	((i % 2 == 0)) || sides=(b a)
	for ((k = 0; k < 2 && !interrupted; k++)); do
		run_side "${sides[k]}" $((2 * i + k + 1))
	done
done
put_back
((!interrupted)) || say "interrupted; the records are in $file_a and $file_b"

# ---- comparison

# Of bench, params and config those that A and B agree in, so that two option sets or two benchmarks
# are put into one row; nothing where rows can be matched by all three.
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
	die "failed runs: ${failed[a]} of A, ${failed[b]} of B; they are not in the comparison"
fi

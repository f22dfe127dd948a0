#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Instructions per operation: a kernel under emulation, with instructions as its clock.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/insns.sh [OPTION...] '[OPTIONS] BENCHMARK'...

Boot a kernel under emulation where 1 ns is one instruction, run bench there with
each of these command lines (one quoted word each), and print instructions per
operation and the samples' deviation. The figures include timer ticks, 0.1 to
0.3 %. With several busy threads they include scheduling: there is one CPU.

  -k, --kernel PATH  a kernel as scripts/vmtest.sh takes it (default: as there)
      --bench FILE   the static binary to run (default: made by make STATIC=1)
  -o, --output FILE  append bench's records
  -h, --help         print this text

Example:
  scripts/insns.sh -k ~/linux '--rb-b2b rb-custom' bpf-loop

The table alone is on standard output. Exit status: 0 done; 1 a command line
failed in the guest, and has '-' in its row; 64 usage; 124 and 125 as
scripts/vmtest.sh; 130 or 143 interrupted.
END
}

kernel='' bench='' records='' lines=()
while (($#)); do
	case $1 in
	-h | --help) usage && exit ;;
	-k | --kernel | -o | --output | --bench) (($# > 1)) || usage_error "$1 requires a value" ;;
	--kernel=* | --output=* | --bench=*)
		set -- "${1%%=*}" "${1#*=}" "${@:2}"
		;;
	# A command line may start with an option of bench: the space in it tells it from one of ours
	-*' '*) ;;
	-[ko]*) set -- "${1:0:2}" "${1:2}" "${@:2}" ;;
	-*) usage_error "there is no option '$1'" ;;
	esac
	case $1 in
	-k | --kernel) kernel=$2 && shift ;;
	-o | --output) records=$2 && shift ;;
	--bench) bench=$2 && shift ;;
	*) lines+=("$1") ;;
	esac
	shift
done
((${#lines[@]})) || usage_error 'expected a command line of bench, quoted'
[[ -z $records ]] || check_value --output check_writable "$records"
[[ -z $bench ]] || check_value --bench check_program "$bench"
need jq jq
scratch

# In the guest. A kernel that has just booted still works in the background: the sleep lets it come
# to rest, and takes no time. So does the one between runs, for output on its way to a serial port.
# shellcheck disable=SC2016
guest='set -f
sleep 60
n=0
for line; do
	echo "insns: $line"
	sleep 1
	if bench -q -w1 -d3 --interval 100 $line -o /tmp/record; then
		mv /tmp/record /out/$n.jsonl
	fi
	rm -f /tmp/record
	n=$((n + 1))
done >&2'

vmtest=("$top/scripts/vmtest.sh" --icount --out "$scratch_dir" --timeout $((300 + 60 * ${#lines[@]})))
[[ -z $kernel ]] || vmtest+=(--kernel "$kernel")
[[ -z $bench ]] || vmtest+=(--bench "$bench")
status=0
run_child "${vmtest[@]}" -- sh -c "$guest" insns "${lines[@]}" >&2 || status=$?
((!interrupted)) || exit "$interrupted"
((!status)) || exit "$status"
say "$SECONDS s, the boot included"

# "INSTRUCTIONS DEVIATION" per record on standard input, with '-' for what it lacks: 1000 / (M/s) is
# ns per operation, and 1 ns is one instruction. Five significant digits.
instructions() {
	jq -r '.summary | if (.unit == "M/s" or .unit == "M ops/s") and .mean > 0
		then "\(1000 / .mean) \(if .stddev then 100 * .stddev / .mean else "-" end)"
		else "- -" end' |
		LC_ALL=C awk '$1 == "-" { print; next } {
			for (digits = 4; digits && 10 ^ (5 - digits) <= $1; digits--)
				;
			printf "%.*f %s\n", digits, $1, $2 == "-" ? "-" : sprintf("%.3f", $2) }'
}

width=12
for line in "${lines[@]}"; do
	((${#line} <= width)) || width=${#line}
done
printf "%-${width}s  %12s  %11s\n" 'command line' instructions 'deviation %'
for i in "${!lines[@]}"; do
	file=$scratch_dir/$i.jsonl rows='- -'
	if [[ -s $file ]]; then
		[[ -z $records ]] || cat "$file" >>"$records"
		rows=$(instructions <"$file")
	fi
	while read -r insns deviation; do
		printf "%-${width}s  %12s  %11s\n" "${lines[i]}" "$insns" "$deviation"
		[[ $insns == - ]] || continue
		status=1
		if [[ -s $file ]]; then
			say "no operations per second in the result of '${lines[i]}'"
		else
			say "failed in the guest: '${lines[i]}'"
		fi
	done <<<"$rows"
done
exit "$status"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Records for those who collect results of many.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/export.sh [OPTION...] FORMAT RECORDS...

Print files of records (bench -o) in a format of others:

  kcidb     KernelCI's report format (I/O schema 5.3), a test for each run
  lava      signals that LAVA's shell reads, one for each benchmark and setting:
            the median of its runs
  ktap      KTAP version 1, as kernel selftests print it, a result for each
            benchmark and setting, with its figures as diagnostic lines
  benchfmt  Go's benchmark format, which benchstat reads, a line for each run

  -o, --output FILE  write to FILE, once all of it is there
      --origin NAME  who measured, for kcidb (default bench; a-z, 0-9 and _)
      --build ID     the build that was measured, for kcidb (default
                     ORIGIN:kernel release)
      --log FILE     standard error of bench: what could not run is exported as
                     skipped, with its reason
  -h, --help         print this text

A run that failed or was cut short is ERROR, fail, and not ok; benchfmt leaves it
out.

Exit status: 0 done; 1 a file is no file of records, or has nothing to export;
64 usage.
END
}

check_format() {
	[[ $1 =~ ^(kcidb|lava|ktap|benchfmt)$ ]] || echo 'kcidb, lava, ktap or benchfmt'
}

check_origin() {
	[[ $1 =~ ^[a-z0-9_]+$ ]] || echo 'a name of a-z, 0-9 and _'
}

check_build() {
	[[ $1 =~ ^[a-z0-9_]+:.+$ ]] || echo 'ORIGIN:ID'
}

output='' origin=bench build='' log=''
parse o: output:,origin:,build:,log: "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	-o | --output) output=$2 && shift ;;
	--origin) origin=$2 && shift ;;
	--build) build=$2 && shift ;;
	--log) log=$2 && shift ;;
	esac
	shift
done
set -- "${@:2}" "${after[@]}"
(($# >= 2)) || usage_error 'expected a format, and a file of records or several'
format=$1
shift
check_value FORMAT check_format "$format"
check_value --origin check_origin "$origin"
[[ -z $build ]] || check_value --build check_build "$build"
[[ -z $log ]] || check_value --log check_readable "$log"
[[ -z $output ]] || check_value --output check_writable "$output"
for file; do
	check_value RECORDS check_readable "$file"
done
need jq jq
scratch

read_records "$@" >"$scratch_dir/records"
if [[ -n $log ]]; then
	# A name has no colon
	sed -nE -e 's/^bench: note: skipped ([a-z0-9-]+): (.*)/\1\t\2/p' \
		-e 's/^bench: ([a-z0-9-]+): unavailable: (.*)/\1\t\2/p' "$log" | sort -u |
		jq -R -c 'split("\t") | { skipped: .[0], why: .[1] }' >>"$scratch_dir/records"
fi
jq -s -r -L "$top/scripts/export" --arg origin "$origin" --arg build "$build" \
	-f "$top/scripts/export/$format.jq" "$scratch_dir/records" \
	>"$scratch_dir/out" 2>"$scratch_dir/err" ||
	die "$*: not records of bench: $(head -n1 "$scratch_dir/err")"
[[ -s $scratch_dir/out ]] || die "$*: no complete run in it"
if [[ -n $output ]]; then
	put_file "$scratch_dir/out" "$output"
else
	cat "$scratch_dir/out"
fi

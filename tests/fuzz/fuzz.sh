#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Fuzz one target, or take what it found into the corpus: `make fuzz` and `make fuzz-corpus` call it.
set -euo pipefail

MAX_SIZE=3000

usage() {
	cat <<'USAGE'
Usage: tests/fuzz/fuzz.sh run|merge FOLDER NAME

  run    fuzz the target NAME, built with libFuzzer as FOLDER/build/tests/fuzz/
         fuzz_NAME, for FUZZ_TIME seconds (default 600), from the inputs in
         tests/fuzz/corpus/NAME and FOLDER/corpus/NAME. New inputs go to the
         latter, findings to FOLDER/findings, what libFuzzer says to
         FOLDER/NAME.log.
  merge  make tests/fuzz/corpus/NAME anew: files with a name stay, and of all
         other inputs up to 3000 bytes the smallest ones that together reach
         as much code.
  -h, --help

Exit status: 0 no finding, 1 a finding or another failure, 64 usage.
USAGE
}

die() {
	echo "fuzz: $1" >&2
	exit 1
}

# What libFuzzer counted, by its name for it
counted() {
	sed -nE "s/^stat::$1: +//p" "$log"
}

# Bytes of an input: longer ones are slower, and say nothing new
max_len() {
	case $name in
	args) echo 1024 ;;
	values) echo 512 ;;
	*) echo 12288 ;; # 50 small records, or 6 real ones
	esac
}

run() {
	local seconds=${FUZZ_TIME:-600} status=0 coverage
	mkdir -p "$folder/corpus/$name" "$folder/findings"
	# Most of the time goes to allocations: 64 MB of freed memory are enough to find its users
	ASAN_OPTIONS=malloc_context_size=10:quarantine_size_mb=64 UBSAN_OPTIONS=print_stacktrace=1 \
		"$target" -max_total_time="$seconds" -timeout=30 \
		-rss_limit_mb=2048 -max_len="$(max_len)" -print_final_stats=1 \
		-artifact_prefix="$folder/findings/$name-" \
		"$folder/corpus/$name" "$corpus" >"$log" 2>&1 || status=$?
	if ((status)); then
		tail -n 60 "$log" >&2
		die "$name: a finding, or a failure; '$target FILE' shows it again, see $log"
	fi
	coverage=$(sed -nE 's/.* cov: ([0-9]+) ft: ([0-9]+) .*/\1 edges, \2 features/p' "$log" |
		tail -n 1)
	printf '%s: %s s, %s runs, %s a second, %s, no finding\n' "$name" "$seconds" \
		"$(counted number_of_executed_units)" "$(counted average_exec_per_sec)" "$coverage"
}

# A name that libFuzzer gives is the SHA-1 sum of the input
is_named() {
	[[ ! $1 =~ ^[0-9a-f]{40}$ ]]
}

merge() {
	local file from
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	mkdir "$tmp/all" "$tmp/merged"
	for file in "$corpus"/*; do
		! is_named "${file##*/}" || cp "$file" "$tmp/merged"
	done
	# The corpus is part of the tree: what is long is not worth its place there
	mkdir -p "$folder/corpus/$name"
	for from in "$corpus" "$folder/corpus/$name"; do
		find "$from" -type f -size -"$((MAX_SIZE + 1))"c -exec cp -t "$tmp/all" {} +
	done
	# By edges alone: how often each was taken would bring in hundreds more
	"$target" -merge=1 -use_counters=0 "$tmp/merged" "$tmp/all" >"$log" 2>&1 || {
		tail -n 60 "$log" >&2
		die "$name: cannot merge, see $log"
	}
	for file in "$corpus"/*; do
		is_named "${file##*/}" || rm "$file"
	done
	cp "$tmp"/merged/* "$corpus"
	printf '%s: %s files, %s bytes\n' "$name" "$(find "$corpus" -type f | wc -l)" \
		"$(cat "$corpus"/* | wc -c)"
}

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
	usage
	exit 0
fi
if (($# != 3)) || [[ $1 != run && $1 != merge ]]; then
	usage >&2
	exit 64
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$2
name=$3
target=$folder/build/tests/fuzz/fuzz_$name
corpus=tests/fuzz/corpus/$name
log=$folder/$name.log
[[ -x $target ]] || die "$target is not built"
[[ -d $corpus ]] || die "there is no $corpus"
"$1"

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# How the sources are laid out: who may include whom, how long a file is.

bats_require_minimum_version 1.5.0

setup() {
	cd "$(git rev-parse --show-toplevel 2>/dev/null || echo .)" || return
	SOURCES=$(ls bench.[ch] benchs/*.[ch] lib/*.[ch] lib/*/*.[ch])
}

# "WHO WHOM" for each include of a file of ours; a .c and its .h are one. bench.h, which benchmarks
# include, has no .c of its own.
includes() {
	# shellcheck disable=SC2086 # a list of files
	grep -HoE '^#include "(bench\.h|(lib|benchs)/[^"]+)"' $SOURCES |
		sed -E 's/^bench\.c:/main:/; s/\.[ch]:#include "/ /; s/\.h"$//' | awk '$1 != $2' | sort -u
}

@test "there is no cycle of includes" {
	[ "$(includes | wc -l)" -gt 50 ]
	includes | tsort >/dev/null
}

# The level of a file: calls go down only
level() {
	case $1 in
	main) echo 6 ;;
	bench) echo 5 ;; # what benchmarks include
	benchs/*) echo 5 ;;
	lib/cli/*) echo 4 ;;
	lib/run/*) echo 3 ;;
	lib/compare/*) echo 2 ;;
	lib/bpf/*) echo 2 ;;
	lib/*) echo 1 ;;
	esac
}

@test "files include only what lies below them" {
	local who whom bad=0
	while read -r who whom; do
		if (($(level "$who") < $(level "$whom"))); then
			echo "$who includes $whom"
			bad=1
		fi
		# Two rooms side by side
		if [[ "$who $whom" == "lib/compare/"*" lib/bpf/"* || "$who $whom" == "lib/bpf/"*" lib/compare/"* ]]; then
			echo "$who includes $whom"
			bad=1
		fi
	done < <(includes)
	((!bad))
}

@test "only bench.c and lib/cli print, and only bench.c ends the process" {
	local out
	out=$(grep -nE '\b(printf|puts|putchar|perror)\(|\b(std(out|err))\b' lib/*.c lib/run/*.c lib/bpf/*.c lib/compare/*.c benchs/*.c |
		grep -vE ':[0-9]+:[[:space:]]*/?\*|describe\(&state->run, stderr\)|lib/bpf/bpflog.c:.*fputs\(s, stderr\)') || true
	echo "$out"
	[ -z "$out" ]
	# (A child process ends by _exit().)
	out=$(grep -nE '(^|[^_a-z])exit\(' lib/*.c lib/*/*.c benchs/*.c) || true
	echo "$out"
	[ -z "$out" ]
}

@test "no core file is longer than a reader can hold" {
	local file lines
	for file in bench.c bench.h lib/*.[ch] lib/*/*.[ch]; do
		lines=$(wc -l <"$file")
		echo "$file $lines"
		[ "$lines" -le 600 ]
	done
	[ "$(wc -l <bench.c)" -le 500 ]
}

@test "comments end at column 100" {
	local long
	# Tabs are 8 wide; strings may be longer, so that they can be found
	# shellcheck disable=SC2086 # a list of files
	long=$(for file in $SOURCES progs/*.[ch]; do
		expand "$file" | awk -v file="$file" 'length($0) > 100 && (/^ *\/?\*/ || /\/\*.*\*\/$/) && !/"/ { print file ":" NR ": " $0 }'
	done)
	echo "$long"
	[ -z "$long" ]
}

# Any file can be put in the place of the one that these read: lib/cpuset.h knows better
@test "CPUs are counted by lib/cpuset.c" {
	run -1 grep -v '\*' <(grep -hE 'libbpf_num_possible_cpus|get_nprocs|_SC_NPROCESSORS' \
		bench.c benchs/*.[ch] lib/*.[ch] lib/*/*.[ch])
}

@test "include guards are named after the file" {
	local file guard
	for file in bench.h benchs/*.h lib/*.h lib/*/*.h progs/*.h; do
		guard=$(tr 'a-z/.' 'A-Z__' <<<"$file")
		echo "$file"
		grep -qx "#ifndef $guard" "$file"
		grep -qx "#define $guard" "$file"
		grep -qx "#endif /\* $guard \*/" "$file"
	done
}

@test "every file has its licence" {
	local file
	for file in $(git ls-files '*.c' '*.h' '*.sh' '*.bats' '*.bash' Makefile .ci/run tests/run tests/guest/init tests/guest/suite bench.8 | grep -v '^tests/fixtures'); do
		echo "$file"
		head -3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0'
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What is written about the program: nothing that it has is missing.

bats_require_minimum_version 1.5.0

BENCH=${BENCH:-./bench}

@test "the manual page has every option that --help has" {
	local opts opt
	opts=$("$BENCH" --help | grep -oE '^ +(-.,)? *--[a-zA-Z0-9_-]+' | grep -oE -- '--[a-zA-Z0-9_-]+')
	[ "$(wc -l <<<"$opts")" -gt 30 ]
	for opt in $opts; do
		echo "$opt"
		grep -qE -- "Fl -${opt#--}( |\$)|, -${opt#--}( |\$)" bench.8
	done
}

@test "the manual page is well-formed" {
	run mandoc -T lint -W warning bench.8
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "what make docs generates is up to date" {
	BENCH=$BENCH scripts/docs.sh --check
}

@test "README names only files that there are" {
	local file
	# shellcheck disable=SC2016 # backquotes as they stand in the text
	for file in $(grep -oE '`(scripts|tests|lib|benchs|progs|reference|docs)/[A-Za-z0-9_./-]+`' README.md | tr -d '`'); do
		echo "$file"
		[[ $file == *NAME* ]] || [ -e "$file" ]
	done
}

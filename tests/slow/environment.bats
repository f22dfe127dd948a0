#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Scripts in whatever environment a user has: locale, variables, functions, tools. What they print is
# the same, and numbers have a point.
# shellcheck disable=SC2154 # bats and helpers set the variables

bats_require_minimum_version 1.5.0

load ../helpers

setup_file() {
	# A locale with a decimal comma
	mkdir -p "$BATS_FILE_TMPDIR/locale"
	localedef -i de_DE -f UTF-8 "$BATS_FILE_TMPDIR/locale/de_DE.UTF-8" 2>/dev/null || true
	# Bash reads it first. A cd that prints is what many have
	cat >"$BATS_FILE_TMPDIR/rc" <<-'END'
		shopt -s nocasematch nullglob
		set -o noclobber
		cd() { builtin cd "$@" && pwd; }
		cat() { command cat -n "$@"; }
	END
	# Another set of tools
	mkdir "$BATS_FILE_TMPDIR/tools"
	for tool in $(busybox --list 2>/dev/null); do
		case $tool in
		*sh | su | sudo | busybox) ;;
		*) ln -s "$(command -v busybox)" "$BATS_FILE_TMPDIR/tools/$tool" ;;
		esac
	done
}

setup() {
	TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
	mkdir "$BATS_TEST_TMPDIR/with blanks"
	cd "$BATS_TEST_TMPDIR/with blanks" || return
	odd=(env "LOCPATH=$BATS_FILE_TMPDIR/locale" LC_ALL=de_DE.UTF-8 POSIXLY_CORRECT=1 CDPATH=.:/tmp
		GREP_OPTIONS=--color=always "BASH_ENV=$BATS_FILE_TMPDIR/rc" IFS=x SHELLOPTS=noclobber
		TIME_STYLE=iso BLOCK_SIZE=1M QUOTING_STYLE=c 'BASH_FUNC_sed%%=() { echo mine; }')
	busybox=(env "PATH=$BATS_FILE_TMPDIR/tools:$PATH")
}

all_scripts() {
	printf "%s\n" "$TOP"/benchs/run_bench_*.sh "$TOP"/scripts/*.sh | grep -vE "/(lib|clean-env)\.sh$"
}

# Is the decimal comma of bash itself in effect? Else nothing is shown
has_comma() {
	[[ $("${odd[@]}" env -u BASH_ENV bash -c 'printf "%.1f" 1,5' 2>/dev/null) == 1,5 ]]
}

@test "the environment is an odd one" {
	has_comma || skip 'no locale with a decimal comma can be made'
}

@test "help and commands are the same" {
	local script words
	while read -r script; do
		words=--help
		[[ $script != */run_bench_* ]] || words=--dry-run
		"$script" "$words" >plain
		[[ -s plain ]]
		"${odd[@]}" "$script" "$words" | diff plain -
		[[ ! -e $BATS_FILE_TMPDIR/tools/sed ]] || "${busybox[@]}" "$script" "$words" | diff plain -
	done < <(all_scripts)
}

@test "a sweep, alternating runs and what is made of their records" {
	local by
	for by in odd busybox; do
		[[ $by == odd || -e $BATS_FILE_TMPDIR/tools/sed ]] || continue
		local -n command=$by
		rm -f -- *
		"${command[@]}" "$TOP/benchs/run_bench_trigger.sh" -q --bench "$BENCH" -o sweep.jsonl rawtp >out 2>err
		grep -qE '^rawtp +: +[0-9]+\.[0-9]{3} ± [0-9]+\.[0-9]{3}M/s$' out
		[ "$(wc -l <sweep.jsonl)" -eq 1 ]
		"${command[@]}" "$TOP/scripts/ab.sh" --bench "$BENCH" -r 4 "$BENCH -q -w0 -d1 count-local" >out 2>err
		grep -qE '^count-local +[0-9.]+ +[0-9.]+ ' out
		jq -se 'length == 4 and all(.[]; .ab.side == "base")' ab-a.jsonl
		"$TOP/scripts/cover-letter.sh" ab-a.jsonl ab-b.jsonl >plain
		"${command[@]}" "$TOP/scripts/cover-letter.sh" ab-a.jsonl ab-b.jsonl | diff plain -
		unset -n command
	done
}

@test "claims: figures are computed, whatever the locale" {
	"${odd[@]}" "$TOP/scripts/claims.sh" --bench "$BENCH" -q -r 4 --only '1000000 entries, 2 hash' >out
	grep -qE 'here +[0-9]+\.[0-9]{3} %, theory 14\.384 %: [-+][0-9]+\.[0-9] standard' out
}


#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # start() sets pid
#
# trig-*: stack traces, long nops, USDT probes, all functions at once, names of former years. That
# the kernel counts the same runs, contract.bats checks of each of them.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	kill_started
}

short=(-w0 -d1 --interval 100)

# The only record in file $1: what jq makes of it by $2
of_record() {
	jq -er "$2" "$1"
}

# The best sample of a run, in M/s: what others do on this machine matters least to it.
best() {
	"$BENCH" "${short[@]}" "$@" 2>/dev/null 3>&- |
		sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' | sort -g | tail -n1
}

# Is the best sample of the run $1 above $2 times that of the run $3? Five tries.
above() {
	local try high low
	for try in 1 2 3 4 5; do
		# shellcheck disable=SC2086 # options and name
		high=$(best $1) low=$(best $3)
		echo "try $try: $1 $high M/s, $3 $low M/s"
		awk "BEGIN { exit !($high > $2 * $low) }" && return
	done
	return 1
}

need_x86_64() {
	[[ $(uname -m) == x86_64 ]] || skip 'x86-64 only'
}

# ---- stack traces

@test "-s: each run takes a stack trace" {
	local args
	for args in '--stacktrace -p2 trig-tp' '-s --trig-driver syscall trig-rawtp'; do
		# shellcheck disable=SC2086 # options and name
		bench "${short[@]}" --verify -o r.jsonl $args
		exits 0
		error_line 'bench: note: verified: the kernel counts [1-9]* runs too'
		no_error_line '*has no effect*'
		of_record r.jsonl '.params.stacktrace and .conservation.ok and
			(.conservation.identities | index("hits = stacks + drops")) and
			.conservation.stacks > 0 and .conservation.drops == 0'
		grep -E '^Summary: .*drops +0\.000 ± 0\.000M/s' out
		rm r.jsonl
	done
}

@test "-s costs what a stack trace does" {
	above trig-rawtp 3 '-s trig-rawtp'
}

@test "-s where there is no program in the kernel: a note" {
	local name
	for name in trig-kernel-count trig-usdt-nop count-local; do
		bench "${short[@]}" -o r.jsonl -s "$name"
		exits 0
		error_line "bench: note: --stacktrace has no effect on $name"
		of_record r.jsonl '(.conservation | type == "null") or (.conservation | has("stacks") | not)'
		rm r.jsonl
	done
}

@test "a letter of a family: in --help, and not a core's" {
	bench trig-tp --help
	exits 0
	grep -E '^ *-s, --stacktrace ' out
	bench "${short[@]}" --stacktrace=yes trig-rawtp
	exits 64
	one_error_line "bench: option '--stacktrace' takes no argument"
}

# ---- instructions

@test "nop5, nop10: what the kernel makes of each, and the two agree" {
	need_x86_64
	local kind len note said=()
	for kind in uprobe uretprobe-multi; do
		for len in 5 10; do
			bench "${short[@]}" -o r.jsonl --verify "trig-$kind-nop$len"
			if ((status == 4)); then
				error_line "bench: trig-$kind-nop$len: unavailable: this kernel refuses a *probe on a nop of $len bytes: *" ||
					error_line "bench: trig-$kind-nop$len: unavailable: this kernel has no multi-*"
				continue
			fi
			exits 0
			note=$(of_record r.jsonl '.notes[] | select(startswith("on this kernel"))')
			rm r.jsonl
			grep -xF "bench: note: $note" err
			# The shorter one first
			said+=("$(sed -E 's/.* on a nop of 10 bytes is (.*), on one of 5 bytes (.*)/\2, \1/
				s/.* on a nop of 5 bytes is (.*), on one of 10 bytes (.*)/\1, \2/' <<<"$note")")
		done
	done
	printf '%s\n' "${said[@]}" | sort -u >unique
	cat unique
	[[ $(<unique) =~ ^'a '(call|breakpoint)', '('a '(call|breakpoint)|refused)$ ]]
}

@test "nop5, nop10: the one that becomes a call is faster than a breakpoint" {
	need_x86_64
	local len found=0
	for len in 5 10; do
		bench "${short[@]}" "trig-uprobe-nop$len"
		((!status)) || continue
		grep -q "uprobe on a nop of $len bytes is a call" err || continue
		found=1
		above "trig-uprobe-nop$len" 1.2 trig-uprobe-nop
	done
	((found)) || skip 'this kernel optimizes neither'
}

# ---- USDT

# Bytes of the file $1 from offset $2 on, $3 of them, in hexadecimal
bytes_at() {
	od -An -v -tx1 -j "$(($2))" -N "$3" "$1" | xargs
}

# What is in the memory of process $1 at the place of its executable's offset $2
memory_at() {
	local range offset line addr exe
	exe=$(readlink "/proc/$1/exe")
	while read -r range _ offset _ _ line; do
		[[ $line == "$exe" ]] || continue
		addr=$((0x${range%-*} + $2 - 0x$offset))
		((addr >= 0x${range%-*} && addr < 0x${range#*-})) || continue
		dd if="/proc/$1/mem" bs=1 skip="$addr" count=6 status=none | od -An -v -tx1 | xargs
		return
	done <"/proc/$1/maps"
	return 1
}

@test "USDT: the probe is where the note in the file says, and in memory there" {
	need_x86_64
	local name probe skip code note offset location by at
	while read -r name probe skip code; do
		start -w0 -d60 --interval 100 "trig-$name"
		if ! await '^Iter'; then
			finish
			exits 4
			one_error_line 'bench: *: unavailable: this kernel refuses a uprobe on a nop of 10 bytes: *'
			continue
		fi
		note=$(grep '^bench: note: USDT probe ' err)
		[[ $note =~ "USDT probe optimized_attach:$probe: the nop".*' at '(0x[0-9a-f]+)' of the executable is probed, by a '(.*)$ ]]
		offset=${BASH_REMATCH[1]} by=${BASH_REMATCH[2]}
		[ "$(bytes_at "$BENCH" "$offset" $((${#code} / 2)) | tr -d ' ')" = "$code" ]
		# Addresses and offsets are the same but for whole pages
		location=$(readelf -n "$BENCH" | grep -A1 -x " *Name: $probe" | sed -n 's/.*Location: \(0x[0-9a-f]*\),.*/\1/p')
		(((offset - location - skip) % 4096 == 0))

		at=$(memory_at "$pid" "$offset")
		echo "$name: $at"
		case $by in
		breakpoint) [[ $at == 'cc '* ]] ;;
		call) [[ $at == 'e8 '* || $at == '48 8d 64 24 80 e8' ]] ;;
		*) false ;;
		esac
		# The nop before a long one is left alone
		((!skip)) || [[ $(memory_at "$pid" $((offset - 1))) == '90 '* ]]
		kill_started
	done <<-'TABLE'
		usdt-nop usdt_1 0 90c3
		usdt-nop5 usdt_2_nop5 1 0f1f440000c3
		usdt-nop10 usdt_2 1 662e0f1f840000000000c3
	TABLE
}

@test "USDT: a stripped executable has the notes; one without them is an error" {
	cp "$BENCH" bench.stripped
	strip bench.stripped
	BENCH=$PWD/bench.stripped bench "${short[@]}" --verify trig-usdt-nop
	exits 0
	error_line 'bench: note: verified: the kernel counts [1-9]* runs too'
	objcopy -R .note.stapsdt "$BENCH" bench.bare
	BENCH=$PWD/bench.bare bench "${short[@]}" trig-usdt-nop
	exits 1
	one_error_line 'bench: trig-usdt-nop: failed: cannot find USDT probe optimized_attach:usdt_1 in our executable: *'
}

# ---- all functions

@test "all functions at once: how many there are is a note and a figure, and they are traced" {
	local name nr tracing=$BATS_TEST_TMPDIR/tracing
	for name in trig-kprobe-multi-all trig-kretprobe-multi-all; do
		start_with --default-signal=INT -- -w0 -d60 --interval 100 --verify -o r.jsonl "$name"
		if ! await '^Iter'; then
			finish
			exits 4
			error_line "bench: $name: unavailable: this kernel has no fprobe, which a multi-k*probe is: requires CONFIG_FPROBE" ||
				error_line "bench: $name: unavailable: this kernel has no multi-k*probes: requires Linux 5.18 or newer"
			continue
		fi
		mkdir -p "$tracing"
		mount -t tracefs none "$tracing"
		nr=$(wc -l <"$tracing/enabled_functions")
		umount "$tracing"
		kill -INT "$pid"
		finish
		exits 130
		error_line 'bench: note: verified: the kernel counts [1-9]* runs too'
		of_record r.jsonl ".figures.functions.mean == .samples[0].functions and
			.samples[0].functions > 1000 and .samples[0].functions <= $nr and
			(.notes | index(\"an empty program is attached to \(.figures.functions.max) functions\"))"
		rm r.jsonl
	done
}

# ---- names

@test "every name that the selftests' bench ever had for a trigger or a renaming" {
	local name says
	# In a record, and in a refusal of its options, there is the name of today
	while read -r name says; do
		bench -c 2 "$name"
		exits 64
		one_error_line "bench: -c, --consumers: invalid value '2': $says has no consumer: *"
	done <<-'TABLE'
		trig-base trig-syscall-count
		trig-uprobe-base trig-usermode-count
		trig-uprobe-with-nop trig-uprobe-nop
		trig-uprobe-with-push trig-uprobe-push
		trig-uprobe-with-ret trig-uprobe-ret
		trig-uprobe-without-nop trig-uprobe-ret
		trig-uretprobe-with-nop trig-uretprobe-nop
		trig-uretprobe-with-push trig-uretprobe-push
		trig-uretprobe-with-ret trig-uretprobe-ret
		trig-uretprobe-without-nop trig-uretprobe-ret
		trig-fentry-sleep trig-fentry-sleep
		rename-fmodret rename-fmodret
	TABLE
	bench "${short[@]}" rename-fmodret
	exits 4
	one_error_line 'bench: rename-fmodret: unavailable: *'
}

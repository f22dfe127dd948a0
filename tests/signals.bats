#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Runs that are cut short, and what is left of them: a summary where something was measured, the
# right exit status, and nothing in the kernel. At random moments, and SIGKILL: contract.bats.
#
# Each test is a subshell to shellcheck.
# shellcheck disable=SC2030,SC2031

load helpers

teardown() {
	kill_started
}

# As long as nobody would wait; a run that is cut short ends far sooner
LONG='-d 3600'
SOON=30

# The job holds programs, maps and a link: it is in the middle of a run. Sets $held.
in_the_middle() {
	held=$(held_by "$pid")
	[[ $held == *prog* && $held == *map* && $held == *link* ]] ||
		fail "it holds only: $held"
}

# Cut short by $1 (its number with 128 is $2) after some samples were taken
cut_short() {
	await '^Iter   2 '
	in_the_middle
	kill "-$1" "$pid"
	finish "$SOON"
	exits "$2"
	[[ $(tail -n1 "$OUT") == Summary:* ]]
	# the summary is that of the samples that were shown
	(($(grep -c '^Iter' "$OUT") >= 3))
	error_line "bench: warning: cut short by SIG$1 after *.[0-9] of 3600 measured seconds"
	no_error_line '*failed*'
	gone "$held"
}

# shellcheck disable=SC2086 # words
@test "Ctrl-C: the summary of what was measured, exit status 130, nothing left" {
	for name in rb-custom pb-libbpf; do
		start_with --default-signal=INT -- -w0 $LONG --interval 100 "$name"
		cut_short INT 130
	done
}

# shellcheck disable=SC2086 # words
@test "other signals that stop: the same, exit status 128 + number" {
	for signal in TERM HUP QUIT XCPU USR1 USR2; do
		start_with "--default-signal=$signal" -- -w0 $LONG --interval 50 --rb-b2b rb-custom
		cut_short "$signal" $((128 + $(kill -l "$signal")))
	done
}

# Nothing was delivered until then: no summary, but no failure either
# shellcheck disable=SC2086 # words
@test "Ctrl-C before the first hit: cut short, not failed" {
	start_with --default-signal=INT -- -w0 $LONG --interval 100 --rb-consume timer:10000 \
		-o "$BATS_TEST_TMPDIR/r" rb-custom
	await '^Iter   2 '
	kill -INT "$pid"
	finish "$SOON"
	exits 130
	error_line 'bench: warning: cut short by SIGINT after *.[0-9] of 3600 measured seconds'
	error_line 'bench: rb-custom: no hits until then, and * drops'
	no_error_line '*failed*'
	jq -e '.status == "interrupted"' "$BATS_TEST_TMPDIR/r"
}

# As nohup has it; and only SIGHUP
# shellcheck disable=SC2086 # words
@test "SIGHUP stays ignored where it was" {
	start_with --ignore-signal=HUP -- -w0 $LONG --interval 100 count-local
	await '^Iter   0 '
	kill -HUP "$pid"
	await '^Iter   4 '
	kill -TERM "$pid"
	finish "$SOON"
	exits 143
	error_line 'bench: warning: cut short by SIGTERM after *'
}

# Background jobs of a script have it ignored
# shellcheck disable=SC2086 # words
@test "SIGINT is taken also where it was ignored" {
	start_with --ignore-signal=INT -- -w0 $LONG --interval 100 rb-libbpf
	await started
	cut_short INT 130
}

# shellcheck disable=SC2086 # words
@test "many threads, a consumer that sleeps for long, or is never woken: all end" {
	start -w0 $LONG --interval 100 -p 64 rb-custom
	cut_short INT 130
	start -w0 $LONG --interval 100 --rb-bench-producer rb-custom
	cut_short INT 130
	# it has consumed nothing yet: there is no summary
	start -w0 $LONG --interval 100 --rb-consume timer:10000 rb-custom
	await '^Iter   2 '
	in_the_middle
	kill -INT "$pid"
	finish 5
	exits 130
	gone "$held"
}

@test "Ctrl-C in the warm-up: nothing was measured, and nothing is made up" {
	for signal in INT=130 TERM=143; do
		start_with --default-signal=INT -- -w 3600 -d 3600 --interval 100 rb-custom
		await '^Iter   1 '
		in_the_middle
		kill "-${signal%=*}" "$pid"
		finish "$SOON"
		exits "${signal#*=}"
		run -1 grep Summary "$OUT"
		error_line 'bench: no full sample: nothing was measured'
		error_line "bench: warning: cut short by SIG${signal%=*} *"
		gone "$held"
	done
}

@test "Ctrl-C before the first sample is full" {
	start_with --default-signal=INT -- -q -w0 -d 3600 --interval 3600000 pb-libbpf
	for ((i = 0; i < 1200; i++)); do
		! held_by "$pid" | grep -q link || break
		sleep 0.05
	done
	sleep 0.3
	in_the_middle
	kill -INT "$pid"
	finish "$SOON"
	exits 130
	no_output
	error_line 'bench: no full sample: nothing was measured'
	gone "$held"
}

# With each bpf(2) taking its time, the set-up does; only it calls bpf(2). SIGINT is as env(1) is
# told by $1; the other arguments are options. The process of bench itself is $traced.
start_slow_setup() {
	local env=$1
	shift
	_files
	: >"$OUT"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -f -qq -e signal=none -o "$OUT.calls" \
		-e trace=bpf -e inject=bpf:delay_enter=50000 \
		env "$env" "$BENCH" -w0 -d1 "$@" rb-custom >"$OUT" 2>"$ERR" 3>&- 4>&- &
	pid=$!
	await '^Setting up'
	traced=$(pgrep -P "$pid")
}

# In the middle of it
in_the_setup() {
	for ((i = 0; i < 600; i++)); do
		held=$(held_by "$traced")
		[[ $held != *map* ]] || break
		sleep 0.02
	done
	[[ $held == *map* ]]
	[[ $(tail -n1 "$OUT") == 'Setting up '* ]]
}

@test "Ctrl-C in the set-up ends it at once, and nothing is left" {
	for signal in INT=130 TERM=143; do
		start_slow_setup --default-signal=INT
		in_the_setup
		kill "-${signal%=*}" "$traced"
		# strace ends as what it traced
		finish "$SOON"
		exits "${signal#*=}"
		run -1 grep -E 'Summary|started' "$OUT"
		gone "$held"
	done
}

@test "SIGINT in the set-up is taken also where it was ignored" {
	start_slow_setup --ignore-signal=INT
	in_the_setup
	kill -INT "$traced"
	finish "$SOON"
	exits 130
	run -1 grep Summary "$OUT"
	gone "$held"
}

@test "Ctrl-C in the set-up of a later run: the summary over those that were done" {
	start_slow_setup --default-signal=INT -r 3
	await '^Summary'
	for ((i = 0; i < 600; i++)); do
		(($(grep -c '^Setting up' "$OUT") < 2)) || break
		sleep 0.02
	done
	in_the_setup
	kill -INT "$traced"
	finish "$SOON"
	exits 130
	[[ $(grep -c '^Summary' "$OUT") == 2 ]]
	[[ $(tail -n2 "$OUT") == "Over 1 run of 'rb-custom':"$'\n'Summary:* ]]
	error_line 'bench: warning: cut short by SIGINT in the set-up of run 2 of 3'
	gone "$held"
}

@test "after a run that was not cut short nothing is left either" {
	start -w0 -d1 pb-custom
	await '^Benchmark .* started'
	sleep 0.2
	in_the_middle
	finish "$SOON"
	exits 0
	gone "$held"
	# nor is anything pinned
	[[ ! -d /sys/fs/bpf ]] || [[ -z $(find /sys/fs/bpf -name '*getpgid*' -o -name '*ringbuf*') ]]
}

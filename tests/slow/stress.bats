#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Stress: starts and stops at any moment, many more threads than CPUs, too little memory, full disks,
# readers that go away. Each time there has to be a true summary or a clear failure, within a bounded
# time, and nothing may be left: no process, no program, no map.
#
# `make check-all` takes a sample of it; `make stress` all. Environment:
#   STRESS_RUNS  starts and stops (40)
#   STRESS_FULL  1: every benchmark with each number of producers, not one of a family
#   STRESS_SEED  what is taken by chance follows from it; a test that fails says which it was
#
# Each test is a subshell to shellcheck.
# shellcheck disable=SC2030,SC2031

load ../helpers

RUNS=${STRESS_RUNS:-40}
FULL=${STRESS_FULL:-}

# No end is waited for longer than that, however busy the machine is
LIMIT=60

setup_file() {
	local build=${BUILD:-build}
	export SEED=${STRESS_SEED:-$((RANDOM * 32768 + RANDOM))}
	AVAILABLE=$("$BENCH" -l -v | awk '/^- / { name = $2 } /^    available$/ { print name }')
	[[ -n $AVAILABLE ]]
	# As the kernel knows them
	OBJECTS=$(sed -nE 's/.*name = "([^"]{1,15}).*/\1/p' "$build"/progs/*.skel.h | sort -u)
	[[ $OBJECTS == *ringbuf* ]]
	# What others left is theirs
	BEFORE=$(unheld)
	export AVAILABLE OBJECTS BEFORE
}

setup() {
	pid=
	disk=
	cgroup=
	place=
}

teardown() {
	kill_group
	[[ -z ${neighbour:-} ]] || kill -KILL "$neighbour"
	[[ -z $place ]] || rm -r "$place"
	[[ -z $cgroup ]] || remove_cgroup
	[[ -z $disk ]] || umount "$disk"
}

# ---- what is left

# Programs and maps that have names of ours and that no process holds: 'prog 12 ringbuf_tp', one a line
unheld() {
	local kind ours held
	ours=$(for kind in prog map; do
		bpftool "$kind" list |
			sed -nE "s/^([0-9]+): [^ ]+ +name ([^ ]+) .*/$kind \\1 \\2/p"
	done | awk 'NR == FNR { ours[$1]; next } $3 in ours' <(echo "$OBJECTS") -)
	[[ -n $ours ]] || return 0
	held=$(cat /proc/[0-9]*/fdinfo/* 2>/dev/null |
		sed -nE 's/^(prog|map)_id:[[:space:]]*([0-9]+)$/\1 \2/p')
	awk 'NR == FNR { held[$1, $2]; next } !(($1, $2) in held)' <(echo "$held") - <<<"$ours"
}

# The kernel frees them a little after their last user has gone
nothing_left() {
	local i left
	for ((i = 0; i < 200; i++)); do
		left=$(unheld | grep -vxF -e "$BEFORE" || true)
		[[ -n $left ]] || return 0
		sleep 0.1
	done
	fail "left in the kernel: $left"
}

@test "what is left in the kernel is found" {
	disk=$BATS_TEST_TMPDIR/bpf
	mkdir "$disk"
	mount -t bpf bpf "$disk" || {
		disk=
		skip 'no BPF file system can be mounted here'
	}
	[[ $(unheld) != *' ringbuf' ]]
	bpftool map create "$disk/map" type array key 4 value 4 entries 1 name ringbuf
	[[ $(unheld) == *' ringbuf' ]]
	rm "$disk/map"
	nothing_left
}

# ---- running bench

# In a process group of its own, and with no signal ignored. Comes back when it is bench that runs:
# that is before main().
launch() {
	_files
	set -m
	env --default-signal "$BENCH" "$@" >"$OUT" 2>"$ERR" 3>&- 4>&- &
	pid=$!
	set +m
	while [[ -e /proc/$pid/exe && ! /proc/$pid/exe -ef $BENCH ]]; do :; done
}

kill_group() {
	[[ -n $pid ]] || return 0
	kill -KILL -- "-$pid" "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=
}

now_ms() {
	local us=${EPOCHREALTIME//[.,]/}
	REPLY=$((us / 1000))
}

sleep_ms() {
	sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
}

# Standard error has one line of bench's that is no warning and no note, and it is like this pattern
one_failure() {
	local lines
	mapfile -t lines < <(grep -vE '^(bench: (warning|note): |  \| )' "$ERR")
	((${#lines[@]} == 1)) || fail "not one line that says what failed, but ${#lines[@]}"
	# shellcheck disable=SC2053 # a pattern
	[[ ${lines[0]} == $1 ]] || fail "the failure is not like: $1"
}

# ---- is it true?

# What is wrong with a record; and what a summary of it has to say, its first number
# shellcheck disable=SC2016 # jq's own
JUDGE='
def sum(f): [.samples[] | f] | add // 0;
def near($a; $b): ($a - $b | fabs) <= 1e-9 * ($b | fabs) + 1e-12;
(.conservation // {}) as $c | (if .status == "failed" then null else .summary end) as $s |
(.noise.paused_s // 0) as $paused |
[
	(select($c.ok == false) | "it does not conserve records"),
	(select($c.submitted) | select(sum(.hits) > ($c.consumed // $c.submitted)) |
		"more hits than records"),
	(select($c.submitted) | select(.params["rb-size"]) | select(sum(.drops) > $c.drops) |
		"more drops than there were"),
	(.samples | to_entries[] | select(.value.dt_ns <= 0 or ([.value[] | . < 0] | any)) |
		"sample \(.key) cannot be"),
	# The sample in which the process stood still is left out
	(.samples as $t | range(1; $t | length) | select($paused == 0) |
		select($t[.].t_ns != $t[. - 1].t_ns + $t[. - 1].dt_ns) | "sample \(.) has a gap before it"),
	(select($s) | select([$s.mean, $s.stddev] | all(type == "number" and . >= 0 and . < 1e9) | not) |
		"no number: \($s | tojson)"),
	(select($s.figure == "hits" or $s.report == "ops") |
		select(near($s.mean; sum(.[$s.figure]) * 1e3 / sum(.dt_ns)) | not) |
		"its mean is \($s.mean)"),
	(select($s.report == "false_positives") |
		select(near($s.mean; 100 * sum(.false_hits) / sum(.lookups)) | not) |
		"its share is \($s.mean)")
] as $faults |
[.status, $s.report // "-", $s.mean // "-", ($faults | join("; "))] | @tsv'

# Judges the records in file $1, and the summaries in $OUT, which have to be of the same runs (those
# over several runs, and the records' environment, aside). With $2 = 1 the last summary may have no
# record. Sets $nr_records, $statuses; adds to $bad.
judge_records() {
	local status report mean faults line i=0 printed
	mapfile -t printed < <(awk '/^Over / { skip = 1 } /^Summary/ { if (!skip) print; skip = 0 }' "$OUT")
	nr_records=0
	statuses=
	while IFS=$'\t' read -r status report mean faults; do
		nr_records=$((nr_records + 1))
		statuses+=" $status"
		[[ -z $faults ]] || bad+="record $nr_records: $faults; "
		[[ $report != - ]] || continue
		line=${printed[i]:-}
		i=$((i + 1))
		case $report in
		hits_drops | buffers) printf -v want 'Summary: hits %8.3f ±' "$mean" ;;
		ops) printf -v want 'Summary: throughput %8.3f ±' "$mean" ;;
		false_positives) printf -v want 'total operations. Percentage =  %2.2f %%' "$mean" ;;
		*) continue ;; # a family with lines of its own has tests of its own
		esac
		[[ $line == *"$want"* ]] || bad+="record $nr_records has $mean, but its summary is: $line; "
	done < <(jq -r "$JUDGE" "$1" || echo "not JSON")
	nr_printed=${#printed[@]}
	# A second signal may come between the two
	((nr_printed == i || (nr_printed == i + 1 && ${2:-0}))) ||
		bad+="$nr_printed summaries for $i records; "
	for line in "${printed[@]}"; do
		[[ ! $line =~ nan|inf|-[0-9] ]] || bad+="no number in: $line; "
	done
}

# ---- starts and stops

one_of() {
	REPLY=${*:RANDOM % $# + 1:1}
}

# In $1 of 100 cases
chance() {
	((RANDOM % 100 < $1))
}

random_ring_args() {
	local batch size='' consume mode
	one_of 1 50 500
	batch=$REPLY
	one_of epoll epoll epollet busy timer:1 timer:50
	consume=$REPLY
	one_of plain plain b2b sampled b2b-sampled output always never producer
	mode=$REPLY
	if chance 30; then
		size='--rb-size 4096'
		((batch < 500)) || batch=50
		[[ $name == rb-* ]] || size='--pb-pages 1'
	fi
	case $mode in
	b2b*) producers=1 ;;&
	b2b) args+=(--rb-b2b) ;;
	b2b-sampled) args+=(--rb-b2b --rb-sampled --rb-sample-rate "$batch") ;;
	sampled) args+=(--rb-sampled --rb-sample-rate "$batch") ;;
	output) args+=(--rb-use-output) ;;
	always) [[ $name == pb-* ]] || args+=(--rb-wakeup always) ;;
	never)
		[[ $name == pb-* ]] || args+=(--rb-wakeup never)
		[[ $consume == timer* ]] || consume=busy
		;;
	producer) [[ $name == pb-* ]] || args+=(--rb-bench-producer) ;;
	esac
	# shellcheck disable=SC2206 # words
	args+=(--rb-batch-cnt "$batch" --rb-consume "$consume" $size)
	if chance 30; then
		# shellcheck disable=SC2086 # words
		one_of $ATTACH_KINDS auto
		args+=(--attach "$REPLY")
	fi
}

# What is run, and how it is to end: $args, $name, $producers, $runs, $duration, $warmup (s), $signal,
# $moment (ms after the start)
random_case() {
	local end
	args=()
	# shellcheck disable=SC2086 # words
	one_of $AVAILABLE
	# Those with a consumer have the most to go wrong
	! chance 40 || one_of rb-libbpf rb-custom pb-libbpf pb-custom
	name=$REPLY
	one_of 1 1 1 2 3 8 24
	producers=$REPLY
	one_of 1 1 1 2 3
	runs=$REPLY
	one_of 0 0 1
	warmup=$REPLY
	one_of none INT INT INT TERM TERM KILL KILL HUP QUIT PIPE ALRM USR1 STOP INT-INT TERM-INT
	signal=$REPLY
	duration=1
	case $signal in
	none | ALRM | STOP) ;;
	*) ! chance 50 || duration=600 ;;
	esac
	one_of 1 7 50 250 1000
	args+=(-w "$warmup" -d "$duration" --interval "$REPLY" -r "$runs")
	case $name in
	rb-* | pb-*) random_ring_args ;;
	bloom-* | hashmap-*)
		one_of 1 1000 100000 3000000
		args+=(--nr_entries "$REPLY")
		;;
	bpf-loop)
		one_of 1 10 100000
		args+=(--nr_loops "$REPLY")
		;;
	trig-*)
		one_of 1 100 1000
		args+=(--trig-batch-iters "$REPLY")
		;;
	esac
	args+=(-p "$producers")
	! chance 30 || args+=(-a)
	! chance 25 || args+=(--verify)
	# With it nothing tells a summary over several runs from those of each
	((runs > 1)) || ! chance 25 || args+=(-q)

	# From before main() to after the end
	end=$((600 + (warmup + 1) * runs * 1100))
	moment=$((RANDOM % end))
	! chance 10 || moment=0
}

send() {
	case $signal in
	none) ;;
	STOP)
		kill -STOP "$pid" && sleep_ms $((RANDOM % 500)) && kill -CONT "$pid"
		;;
	*-*)
		kill "-${signal%-*}" "$pid" && sleep_ms $((RANDOM % 30)) && kill "-${signal#*-}" "$pid"
		;;
	*) kill "-$signal" "$pid" ;;
	esac
}

# The case went well by exit status 0: all was done, and took its time
judge_whole() {
	((nr_records == runs)) || bad+="$nr_records records of $runs runs; "
	[[ $statuses != *interrupted* && $statuses != *failed* ]] || bad+="statuses$statuses; "
	((elapsed >= duration * runs * 1000 - 500)) || bad+="done after $elapsed ms; "
	[[ $(tail -n1 "$OUT") == Summary:* ]] || bad+='the last line is no summary; '
}

judge_interrupted() {
	local last
	last=$(tail -n1 "$OUT")
	# It may not have come so far that anything was counted
	! grep -qE 'failed: (no hits|nothing happened)' "$ERR" || return 0
	! grep -q 'failed' "$ERR" || bad+='it fails; '
	# A second signal says not to wait for anything more
	[[ $signal != *-* ]] || return 0
	[[ $last != Summary:* ]] || return 0
	! grep -q '^bench: no full sample' "$ERR" || return 0
	# Else it was stopped in the set-up, or before it
	[[ -z $last || $last == 'Setting up '* ]] || bad+='no summary; '
	((nr_records == 0)) || bad+='no summary over the runs before; '
}

# Exit status, records, summaries, standard error. Sets $ended, a word for the statistics; adds to $bad.
judge_case() {
	local records=$BATS_TEST_TMPDIR/records
	ended=$status
	if [[ -s $records && $(tail -c1 "$records") != '' ]]; then
		# Killed while it wrote
		((status > 128)) || bad+='the last record has no end; '
		sed -i '$d' "$records"
	fi
	if [[ $status == @(0|1|129|130|131|138|143) ]]; then
		judge_records "$records" "$([[ $signal != *-* ]] || echo 1)"
	fi
	case $status:$signal in
	0:*)
		judge_whole
		[[ $signal == none ]] || ended='0, not stopped'
		;;
	130:INT | 130:*INT | 143:TERM*) judge_interrupted ;;
	129:HUP | 131:QUIT | 138:USR1) judge_interrupted ;;
	137:KILL | 141:PIPE | 142:ALRM) ;;
	1:*)
		# The ring was full before the measured time
		ended='no hits'
		[[ ${args[*]} == *--rb-bench-producer* ]] &&
			grep -q '^bench: warning: nobody consumes' "$ERR" || bad+="it fails at $signal; "
		;;
	4:*)
		[[ ${args[*]} == *--attach* ]] && grep -q '^bench: .*: unavailable: ' "$ERR" ||
			bad+='unavailable; '
		;;
	64:*)
		# Not every benchmark takes all of that; else nothing else may have happened
		ended=refused
		refusals=$((refusals + 1))
		[[ ! -s $OUT && $(grep -c 'invalid value' "$ERR") == 1 ]] || bad+='refused, and more; '
		return
		;;
	*) bad+="exit status $status at $signal; " ;;
	esac
	! grep -vE '^(bench: (warning|note): |bench: no full sample|bench: .*: (failed: (no hits|nothing happened)|unavailable: ))' "$ERR" ||
		bad+='it complains; '
}

# None of process group $1 is left, after a moment: what holds a cgroup sees the end of bench by a pipe
no_process() {
	local i
	for ((i = 0; i < 100; i++)); do
		pgrep -g "$1" >/dev/null || return 0
		sleep 0.05
	done
	pgrep -g "$1"
	return 1
}

# One start and one stop, the case of number $1. Sets $bad: what was wrong, in words; and $ended.
start_and_stop() {
	local began limit job
	bad=
	RANDOM=$((SEED + $1))
	RANDOM=$((RANDOM + RANDOM * 32768))
	random_case
	rm -f "$BATS_TEST_TMPDIR/records"
	: >"$BATS_TEST_TMPDIR/records"
	now_ms
	began=$REPLY
	launch "${args[@]}" -o "$BATS_TEST_TMPDIR/records" "$name"
	job=$pid
	sleep_ms "$moment"
	! held_by "$pid" | grep -q . || nr_held=$((nr_held + 1))
	send 2>/dev/null || true # it may have ended before
	limit=$LIMIT
	((duration > 1)) || limit=$((LIMIT + (warmup + duration) * runs))
	finish "$limit" || {
		bad+="no end within $limit s; "
		return
	}
	now_ms
	elapsed=$((REPLY - began))
	longest=$((elapsed > longest ? elapsed : longest))
	judge_case
	no_process "$job" || bad+='processes are left; '
	nothing_left || bad+='something is left; '
}

# All the time there is another bench, which nothing of this may touch
start_neighbour() {
	"$BENCH" -q -w0 -d 86400 --rb-b2b --rb-consume timer:20 -o "$BATS_TEST_TMPDIR/neighbour" \
		rb-libbpf >"$BATS_TEST_TMPDIR/neighbour.out" 2>"$BATS_TEST_TMPDIR/neighbour.err" 3>&- 4>&- &
	neighbour=$!
}

stop_neighbour() {
	kill -TERM "$neighbour"
	status=0
	wait "$neighbour" || status=$?
	neighbour=
	exits 143
	OUT=$BATS_TEST_TMPDIR/neighbour.out
	bad=
	judge_records "$BATS_TEST_TMPDIR/neighbour"
	[[ -z $bad && $statuses == ' interrupted' ]] || fail "the neighbour: $bad$statuses"
}

@test "starts, and stops at any moment by any signal" {
	local i nr_held=0 longest=0 failed=0 refusals=0 log=$BATS_TEST_TMPDIR/log
	declare -A count=()
	start_neighbour
	for ((i = 0; i < RUNS; i++)); do
		start_and_stop "$i" >"$log" 2>&1 3>&-
		if [[ -n $bad ]]; then
			failed=$((failed + 1))
			grep -vE '^(  stderr: )?Iter ' "$log" | head -n 40
			echo "=== ${args[*]} $name, $signal after $moment ms: $bad" \
				"(again: STRESS_SEED=$((SEED + i)) STRESS_RUNS=1)"
			((failed < 5)) || break
		fi
		count[$signal: $ended]=$((${count[$signal: $ended]:-0} + 1))
		(((i + 1) % 100)) || echo "# $((i + 1)) of $RUNS starts and stops" >&3
	done
	for i in "${!count[@]}"; do
		echo "# signal $i: ${count[$i]}"
	done | sort >&3
	echo "# the longest took $longest ms; $nr_held were stopped with something in the kernel" >&3
	((failed == 0)) || fail "$failed of them did not end as they should"
	((refusals * 4 <= RUNS)) || fail "$refusals were refused"
	# Else they were all stopped too soon, or too late
	((nr_held * 5 >= RUNS))
	stop_neighbour
	nothing_left
}

# ---- many threads

# The last run of bench, recorded in file $1, was a good one
true_summary() {
	exits 0
	bad=
	judge_records "$1"
	((nr_records == 1 && nr_printed == 1)) || bad+="$nr_records records"
	[[ -z $bad ]] || fail "$bad"
	[[ $(<"$ERR") != *failed* ]]
}

# One of each kind of work
FAMILIES='count-local rb-custom bloom-lookup trig-tp rb-libbpf bpf-loop pb-custom hashmap-with-bloom
	trig-uprobe-nop pb-libbpf trig-kernel-count rename-base no-private-stack count-global trig-syscall-count'

@test "16, 64 and 256 producers: a true summary, or a clear failure" {
	local name number i=0 rec=$BATS_TEST_TMPDIR/records numbers=(16 64 256) names
	names=$FAMILIES
	[[ -z $FULL ]] || names=$AVAILABLE
	for name in $names; do
		[[ $'\n'$AVAILABLE$'\n' == *$'\n'$name$'\n'* ]] || continue
		[[ -n $FULL ]] || numbers=($((4 ** (2 + i++ % 3))))
		for number in "${numbers[@]}"; do
			rm -f "$rec"
			bench -w0 -d1 --interval 250 -p "$number" -o "$rec" "$name"
			true_summary "$rec"
		done
	done
	nothing_left
}

@test "256 producers, pinned, of which the consumer is one in 257" {
	local name rec=$BATS_TEST_TMPDIR/records
	for name in rb-custom pb-libbpf; do
		rm -f "$rec"
		bench -a -w0 -d1 --interval 250 -p 256 -o "$rec" "$name"
		true_summary "$rec"
	done
	nothing_left
}

@test "Ctrl-C while very many threads come" {
	launch -w0 -d 3600 -p 1024 rb-custom
	await started
	kill -INT "$pid"
	finish "$LIMIT"
	exits 130
	nothing_left
}

@test "more threads than can be: refused" {
	refused --producers "'10000'" 'from 1 to 4096' -p 10000 rb-custom
}

@test "more threads than the user may have: the failure says so" {
	local name
	# Where that user can reach it
	place=$(mktemp -d)
	chmod 755 "$place"
	install -m 755 "$BENCH" "$place/bench"
	BENCH=$place/bench
	for name in count-local rb-custom; do
		bench_by setpriv --reuid 65533 --regid 65533 --clear-groups --inh-caps=+bpf,+perfmon \
			--ambient-caps=+bpf,+perfmon --bounding-set=-all,+bpf,+perfmon \
			prlimit --nproc=100 -- -w0 -d 3600 -p 200 "$name"
		exits 1
		one_failure "bench: $name: failed: cannot start producer * of *: Resource temporarily unavailable: *ulimit -u*"
	done
	nothing_left
}

# ---- little to be had: control groups

# A new control group, $cgroup; its file $2 (version 1: $3) is set to $4. Skips where there is none.
make_cgroup() {
	local controller=$1 v2=$2 v1=$3 value=$4 root
	root=$(awk -v c="$controller" '$3 == "cgroup" && ("," $4 ",") ~ ("," c ",") { print $2; exit }' /proc/mounts)
	if [[ -z $root ]]; then
		root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
		v1=$v2
		[[ -n $root && " $(<"$root/cgroup.controllers") " == *" $controller "* ]] ||
			skip "there is no $controller controller here"
		echo "+$controller" >"$root/cgroup.subtree_control" 2>/dev/null ||
			skip "no control group can be made in $root"
	fi
	cgroup=$root/bench-stress.$$
	mkdir "$cgroup" 2>/dev/null || {
		cgroup=
		skip "no control group can be made in $root"
	}
	echo "$value" >"$cgroup/$v1"
	[[ ! -e $cgroup/memory.swap.max ]] || echo 0 >"$cgroup/memory.swap.max"
}

remove_cgroup() {
	local i
	for ((i = 0; i < 100; i++)); do
		! rmdir "$cgroup" 2>/dev/null || return 0
		sleep 0.1
	done
	fail "$cgroup cannot be removed"
}

# bench in that group, by the rest of the command $@ up to --
# shellcheck disable=SC2016 # expanded there
in_cgroup() {
	bench_by sh -c 'echo $$ >"$0"/cgroup.procs && exec "$@"' "$cgroup" "$@"
}

@test "more threads than the control group may have: the failure says so" {
	local name
	make_cgroup pids pids.max pids.max 50
	for name in count-local rb-custom; do
		in_cgroup -- -w0 -d 3600 -p 200 "$name"
		exits 1
		one_failure "bench: $name: failed: cannot start producer * of *: Resource temporarily unavailable: *pids*cgroup*"
	done
	# A consumer beside the main thread and the one that receives signals, and no producer that could
	# ever wake it
	echo 3 >"$cgroup/pids.max"
	in_cgroup -- -w0 -d 3600 rb-custom
	exits 1
	# or not even that one, for the thread sanitizer has a thread of its own
	who=producer
	[[ -z $SANITIZED ]] || who='*'
	one_failure "bench: rb-custom: failed: cannot start $who 1 of *"
	nothing_left
}

@test "less memory than the maps need: the failure says what to do" {
	[[ -z $SANITIZED ]] || skip 'sanitizers need much memory themselves'
	local hidden=(unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' sh)
	make_cgroup memory memory.max memory.limit_in_bytes 32M

	in_cgroup -- -w0 -d1 --nr_entries 2000000 hashmap-with-bloom
	exits 64
	one_error_line "bench: --nr_entries: invalid value '2000000': for that many values of 8 bytes the maps of hashmap-with-bloom need * MiB, and * MiB are left by the memory limit of the cgroup"

	# Where bench cannot see the limit, the kernel says no
	for args in '--nr_entries 2000000 hashmap-with-bloom' '--nr_entries 20000000 bloom-lookup'; do
		# shellcheck disable=SC2086 # words
		in_cgroup "${hidden[@]}" -- -w0 -d1 $args
		no_memory "${args##* }"
	done
	for name in rb-custom rb-libbpf; do
		in_cgroup -- -w0 -d1 --rb-size 1073741824 "$name"
		exits 64
		one_error_line "bench: --rb-size: invalid value '1073741824': the pages of the ring buffer need 1024.0 MiB, and * MiB are left by the memory limit of the cgroup"
		in_cgroup "${hidden[@]}" -- -w0 -d1 --rb-size 1073741824 "$name"
		no_memory "$name"
	done
	nothing_left
}

no_memory() {
	exits 1
	one_failure "bench: $1: failed: *: Cannot allocate memory: too little memory: choose smaller sizes, or free some"
	run -1 grep Summary "$OUT"
}

@test "so little memory that nothing works: killed, or a failure, and soon" {
	[[ -z $SANITIZED ]] || skip 'sanitizers need much memory themselves'
	local args size
	make_cgroup memory memory.max memory.limit_in_bytes 1M
	for size in 512K 1M 2M 4M 8M; do
		echo "$size" >"$cgroup/memory.limit_in_bytes" 2>/dev/null || echo "$size" >"$cgroup/memory.max"
		for args in rb-custom pb-libbpf bloom-lookup '-p 64 count-local'; do
			# shellcheck disable=SC2086 # words
			in_cgroup -- -w0 -d1 --interval 50 $args
			case $status in
			0) [[ $(tail -n1 "$OUT") == Summary:* ]] ;;
			1 | 4) one_failure 'bench: *: *' ;;
			64) one_failure 'bench: * MiB are left by the memory limit of the cgroup' ;;
			137) ;;
			*) fail "exit status $status" ;;
			esac
		done
	done
	nothing_left
}

# ---- disks

# A file system of $1 bytes: $disk. Further mount options: $2
make_disk() {
	disk=$BATS_TEST_TMPDIR/disk
	mkdir -p "$disk"
	mount -t tmpfs -o "size=$1${2:+,$2}" none "$disk" || {
		disk=
		skip 'nothing can be mounted here'
	}
}

# A record could not be written, for the reason $2; there are $1 summaries all the same
write_failed() {
	exits 1
	one_failure "bench: -o, --output: cannot write to '*': $2"
	(($(grep -c '^Summary' "$OUT") == $1))
}

@test "the disk is full when the file is opened: nothing runs" {
	# The root of it is the one inode
	make_disk 64k nr_inodes=1
	bench -w0 -d 3600 -o "$disk/records" rb-custom
	exits 1
	one_error_line "bench: rb-custom: failed: -o, --output: cannot open '$disk/records': No space left on device"
	no_output
	umount "$disk"
	disk=
}

@test "the disk is full in the middle of a series: it ends there, and says so" {
	local whole
	make_disk 4096
	bench -w0 -d1 --interval 250 -r 9 -o "$disk/records" count-local
	# the part of the last one that was written is cut off again
	whole=$(wc -l <"$disk/records")
	((whole >= 1))
	[[ $(tail -c1 "$disk/records") == '' ]]
	jq -e '.status == "ok"' "$disk/records"
	# that of the one for which there was no room, and one over those that were recorded
	write_failed $((whole + 2)) 'No space left on device'
	bench -C "$disk/records" "$disk/records"
	exits 0

	# With room again, the next record is whole
	mount -o remount,size=64k "$disk"
	bench -q -w0 -d1 --interval 250 -o "$disk/records" count-local
	exits 0
	tail -n1 "$disk/records" | jq -e '.status == "ok"'
	umount "$disk"
	disk=
}

@test "the disk is full at the last record, to the byte" {
	local length
	make_disk 64k
	head -c 61440 /dev/zero >"$disk/filler"
	bench -w0 -d1 --interval 250 -o "$disk/records" count-local
	exits 0
	# Now nothing at all of the second fits
	length=$(wc -c <"$disk/records")
	head -c $((4096 - length)) /dev/zero | tr '\0' '\n' >>"$disk/records"
	bench -w0 -d1 --interval 250 -o "$disk/records" count-local
	write_failed 1 'No space left on device'
	(($(grep -c . "$disk/records") == 1))
	bench -C "$disk/records" "$disk/records"
	exits 0
	umount "$disk"
	disk=
}

@test "files that must not be written to, or not so far" {
	_files
	make_disk 64k
	mount -o remount,ro "$disk"
	bench -w0 -d 3600 -o "$disk/records" rb-custom
	exits 1
	one_error_line "bench: rb-custom: failed: -o, --output: cannot open '$disk/records': Read-only file system"
	umount "$disk"
	disk=

	bench -w0 -d 3600 -o "$BATS_TEST_TMPDIR" count-local
	exits 1
	one_error_line "bench: count-local: failed: -o, --output: cannot open '$BATS_TEST_TMPDIR': Is a directory"

	# ulimit -f, which the kernel also tells by a signal
	bench_by prlimit --fsize=1000 -- -w0 -d1 -r 5 -o "$BATS_TEST_TMPDIR/records" count-local
	write_failed 1 'File too large'
	said=$(prlimit --fsize=40 "$BENCH" -q -w0 -d1 count-local 2>&1 >"$OUT" 3>&- 4>&-) && return 1
	[[ $said == *'bench: cannot write to standard output: File too large' ]]
}

# ---- those who read

@test "a FIFO that no process reads from: a warning, and Ctrl-C ends it" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	launch -q -w0 -d1 -o "$fifo" rb-custom
	for ((i = 0; i < LIMIT * 20; i++)); do
		[[ ! -s $ERR ]] || break
		sleep 0.05
	done
	one_error_line "bench: warning: -o, --output: no process reads from '$fifo' yet: waiting for one"
	kill -INT "$pid"
	finish "$LIMIT"
	exits 130
	no_output
}

@test "a FIFO with a reader, sooner or later: it gets the records" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	# larger than what fits into a pipe
	launch -q -w0 -d1 --interval 1 -o "$fifo" count-local
	sleep 0.3
	jq -e '.status == "ok" and (.samples | length > 100)' <"$fifo"
	finish "$LIMIT"
	exits 0
	bench -q -w0 -d1 -r 2 -o >(cat >"$BATS_TEST_TMPDIR/records") count-local
	exits 0
}

# It would have waited in write(2), for itself
@test "the reader of a FIFO goes away: bench ends" {
	local fifo=$BATS_TEST_TMPDIR/fifo
	mkfifo "$fifo"
	for signal in default ignore; do
		_files
		env "--$signal-signal=PIPE" "$BENCH" -w0 -d1 --interval 1 -r 1000 -o "$fifo" rb-custom \
			>"$OUT" 2>"$ERR" 3>&- 4>&- &
		pid=$!
		head -c 100 <"$fifo" >/dev/null
		finish "$LIMIT"
		case $signal in
		default) exits 141 ;;
		ignore)
			exits 1
			one_failure "bench: -o, --output: cannot write to '$fifo': Broken pipe"
			;;
		esac
		[[ $(tail -n1 "$OUT") == Summary:* ]]
	done
	nothing_left
}

@test "-o -: the reader is killed: bench ends" {
	for signal in default ignore; do
		_files
		: >"$OUT"
		mkfifo "$OUT.pipe"
		env "--$signal-signal=PIPE" "$BENCH" -w0 -d1 --interval 250 -r 1000 -o - rb-custom \
			>"$OUT.pipe" 2>"$ERR" 3>&- 4>&- &
		pid=$!
		cat <"$OUT.pipe" >"$OUT" 3>&- 4>&- &
		reader=$!
		await '"status":"ok"'
		kill -KILL "$reader"
		finish "$LIMIT"
		# one record for each that could be written, and a summary more
		(($(wc -l <"$OUT") >= 1))
		(($(grep -c '^Summary' "$ERR") > $(wc -l <"$OUT")))
		case $signal in
		default) exits 141 ;;
		ignore)
			exits 1
			error_line "bench: -o, --output: cannot write to '-': Broken pipe"
			;;
		esac
		rm "$OUT.pipe"
	done
	nothing_left
}

# The record does not fit into the pipe at once
@test "Ctrl-C while a record is written: it is written whole, and the series ends" {
	local fifo=$BATS_TEST_TMPDIR/fifo i
	mkfifo "$fifo"
	launch -w0 -d2 --interval 1 -r 3 -o "$fifo" count-local
	exec {reader}<"$fifo"
	await '^Summary'
	for ((i = 0; i < LIMIT * 20; i++)); do
		[[ $(cat /proc/"$pid"/wchan) != *pipe* ]] || break
		sleep 0.05
	done
	kill -INT "$pid"
	sleep 0.5
	jq -e '.status == "ok" and (.samples | length > 700)' <&$reader
	exec {reader}<&-
	finish "$LIMIT"
	exits 130
	[[ $(tail -n2 "$OUT") == "Over 1 run of 'count-local':"$'\n'Summary:* ]]
}

# It waits for whoever reads, and SIGALRM is always pending, which the kernel hands out before SIGTERM
@test "nobody reads the output: SIGTERM ends the run, a second one all" {
	_files
	mkfifo "$OUT.pipe"
	env --default-signal "$BENCH" -w0 -d 600 --interval 1 rb-custom >"$OUT.pipe" 2>"$ERR" 3>&- 4>&- &
	pid=$!
	exec {reader}<"$OUT.pipe"
	# Some 100 bytes a ms, and the pipe takes 64 KiB
	sleep 3
	: >"$OUT"
	held=$(held_by "$pid")
	[[ $held == *prog* && $held == *link* ]]
	kill -TERM "$pid"
	gone "$held"
	error_line 'bench: warning: cut short by SIGTERM after *.[0-9] of 600 measured seconds'
	# There may be room for a summary, or not
	kill -TERM "$pid" || true
	finish "$LIMIT"
	exits 143
	exec {reader}<&-
}

# ---- two at once

@test "several at once append to one file, and -C reads it meanwhile" {
	local all=$BATS_TEST_TMPDIR/all name i pids=() compared=0
	# of some 10 to 100 KiB each
	for name in rb-custom rb-custom count-local trig-syscall-count; do
		"$BENCH" -q -w0 -d1 --interval $((1 + ${#pids[@]})) -r 4 -o "$all" "$name" \
			>/dev/null 2>"$BATS_TEST_TMPDIR/err.${#pids[@]}" 3>&- 4>&- &
		pids+=($!)
	done
	while kill -0 "${pids[@]}" 2>/dev/null; do
		[[ -s $all ]] || continue
		bench -C "$all" "$all"
		# A line may just be on its way into the file
		case $status in
		0) compared=$((compared + 1)) ;;
		*) one_error_line "bench: $all:*: the file ends in the middle of a record" ;;
		esac
	done
	((compared))
	for i in "${pids[@]}"; do
		wait "$i"
	done
	# An empty line may stand where a writer found another one in the middle of its own
	(($(grep -c . "$all") == 16))
	jq -e '.status == "ok"' <"$all"
	for name in rb-custom=8 count-local=4 trig-syscall-count=4; do
		(($(jq -r .bench "$all" | grep -cx "${name%=*}") == ${name#*=}))
	done
	nothing_left
}

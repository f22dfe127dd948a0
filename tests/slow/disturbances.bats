#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What falsifies a figure is reported and recorded: each input here gave a wrong one without a word.
# shellcheck disable=SC2154 # bats and helpers set the variables
# shellcheck disable=SC2030,SC2031 # each test is a subshell

bats_require_minimum_version 1.5.0

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	kill_started
}

# recorded FILTER: the only record in the file r is like this
recorded() {
	jq -e "$1" r >/dev/null || {
		jq -c '{ status, noise, env: { bpf_stats: .env.bpf_stats } }' r
		return 1
	}
}

@test "BPF statistics that another program has switched on" {
	[[ $(sysctl -n kernel.bpf_stats_enabled) == 0 ]] || skip 'they are on already'
	bench -q -w0 -d1 -o r trig-kernel-count
	exits 0
	if grep 'BPF statistics' "$ERR"; then
		recorded '.env.bpf_stats == "on"'
		skip 'another program has them on'
	fi
	recorded '.env.bpf_stats == "off"'
	rm r
	# By BPF_ENABLE_STATS, which leaves the sysctl at 0
	"$BENCH" -q -w0 -d6 --verify trig-kernel-count >/dev/null 2>&1 &
	local other=$!
	sleep 1.5
	bench -q -w0 -d1 -o r trig-kernel-count
	kill -TERM "$other"
	wait "$other" || true
	exits 0
	error_line 'bench: warning: BPF statistics are on *'
	recorded '.env.bpf_stats == "on"'
}

@test "BPF statistics that are switched on in the midst of a run" {
	[[ $(sysctl -n kernel.bpf_stats_enabled) == 0 ]] || skip 'they are on already'
	start -w0 -d6 --interval 500 -o r trig-kernel-count
	await 'Iter   1'
	timeout -s KILL 60 "$BENCH" -q -w0 -d2 --verify trig-kernel-count >/dev/null 2>&1
	finish
	exits 0
	recorded '.env.bpf_stats == "on"'
}

@test "a CPU quota" {
	local cgroup=/sys/fs/cgroup/cpu/bench-test-$$ quota=cpu.cfs_quota_us limit=20000 weight=cpu.shares
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		cgroup=/sys/fs/cgroup/bench-test-$$ quota=cpu.max limit='20000 100000' weight=cpu.weight
	fi
	mkdir "$cgroup" || skip 'no cgroup can be made'
	echo "$limit" >"$cgroup/$quota"
	# Other tests' processes must not leave it less than its quota.
	echo 10000 >"$cgroup/$weight"
	bench_by sh -c "echo \$\$ >'$cgroup/cgroup.procs'; exec \"\$@\"" sh -- -q -w0 -d3 -a -o r count-local
	rmdir "$cgroup" || { sleep 1 && rmdir "$cgroup"; }
	exits 0
	error_line 'bench: warning: a CPU quota (cgroup) stopped the threads for *'
	recorded '.noise.throttled_pct > 1'
}

@test "other processes on the CPU" {
	taskset -c 0 sh -c 'while :; do :; done' 3>&- 4>&- &
	pid=$!
	bench -q -w0 -d2 --interval 500 --prod-affinity 0 -o r count-local
	kill "$pid"
	exits 0
	error_line 'bench: warning: the threads waited for a CPU for *: something else ran there'
	recorded '.noise.waited_pct > 25 and .noise.waited_pct <= 100'
	# What was asked for is no such thing, and has its own line.
	rm r
	bench -q -w0 -d2 --interval 500 -p2 --prod-affinity 0 -o r count-local
	no_error_line '*something else ran*'
	error_line 'bench: warning: 2 threads on 1 CPU: *'
	recorded '.noise.waited_pct > 25'
}

@test "nice and other policies of the scheduler" {
	local by sched
	while IFS='|' read -r by sched; do
		rm -f r
		# shellcheck disable=SC2086 # words
		bench_by $by -- -q -w0 -d1 --interval 250 -o r count-local
		# Beside other tests nothing may be left for SCHED_IDLE.
		if [[ $sched == SCHED_IDLE* ]] && ((status)); then
			exits 1
			error_line 'bench: count-local: failed: nothing happened in the measured time'
		else
			exits 0
		fi
		error_line "bench: warning: the threads run as $sched, not as usual: *"
		recorded ".env.sched == \"$sched\""
		cat r >>all
	done <<-'END'
		nice -n 5|SCHED_OTHER, nice 5
		nice -n -5|SCHED_OTHER, nice -5
		chrt -b 0|SCHED_BATCH
		nice -n 3 chrt -i 0|SCHED_IDLE, nice 3
	END
	rm r
	bench -q -w0 -d1 --interval 250 -o r count-local
	recorded '.env.sched == "SCHED_OTHER"'
	no_error_line '*the threads run as*'
	bench -C r all
	grep -A2 '^Environments differ' "$OUT" | grep 'sched:'
}

# another COMMAND...: it runs beside, until it is stopped
another() {
	"$BENCH" -w0 -d60 "$@" >beside 2>&1 3>&- 4>&- &
	pid=$!
	until grep -q '^Iter' beside; do
		sleep 0.1
	done
}

@test "BPF programs of others on the same hook" {
	another --attach rawtp rb-custom
	bench -q -w0 -d1 -o r --attach rawtp rb-custom
	kill_started
	exits 0
	error_line 'bench: warning: * BPF program* of others on the same hook (*): *'
	recorded '.noise.beside >= 1'
}

# ftrace, perf and programs that have no link: the bare system call tells
@test "others that trace the system call" {
	mkdir tracing
	# Not beside the program of another test, which is what would be reported
	for _ in {1..10}; do
		rm -f r
		# shellcheck disable=SC2016 # for the inner shell
		bench_by unshare -m sh -c '
			mount -t tracefs none tracing && cd tracing/events/syscalls/sys_enter_getpgid || exit 99
			echo 1 >enable
			"$@"
			status=$?
			echo 0 >enable
			exit $status' sh -- -q -w0 -d1 -o "$PWD/r" --attach rawtp rb-custom
		((status != 99)) || skip 'no such tracepoint'
		exits 0
		! recorded '.noise.beside == 0' || break
	done
	error_line 'bench: warning: * getpgid(2)*'
	recorded '.noise.speed_before | .trigger_ns > 1.5 * .syscall_ns'
}

@test "real-time threads" {
	[[ $(sysctl -n kernel.sched_rt_runtime_us) == 950000 ]] || skip 'another limit'
	bench_by chrt -r 10 -- -q -w0 -d1 -a -o r count-local
	exits 0
	error_line 'bench: warning: the threads are real-time ones, which get 95 % of a CPU at most: *'
	recorded '.noise.rt_limit_pct == 95'
}

@test "a process that was stopped" {
	start -w0 -d3 -o r count-local
	await 'Iter   0'
	kill -STOP "$pid"
	sleep 3
	kill -CONT "$pid"
	finish
	exits 0
	error_line 'bench: warning: the process did not run for *'
	# All of the time asked for was measured, and no sample holds the pause
	recorded '.status == "paused" and .noise.paused_s > 2 and
		([.samples[].dt_ns] | add > 2.5e9 and max < 2.5e9)'
}

# No tick of the timer comes late: its samples are as long as others
@test "a process that was stopped for less than an interval" {
	start -w0 -d2 -o r count-local
	await 'Iter   0'
	kill -STOP "$pid"
	sleep 0.3
	kill -CONT "$pid"
	finish
	exits 0
	recorded '.status == "paused" and .noise.paused_s > 0.3 and ([.samples[].dt_ns] | add > 1.5e9)'
}

# The longer one ends in the time to be measured, which begins after it
@test "a process that was stopped in the warm-up" {
	for pause in 0.3 2.5; do
		rm -f r
		start -w2 -d1 --interval 100 -o r count-local
		await ' started\.$'
		kill -STOP "$pid"
		sleep "$pause"
		kill -CONT "$pid"
		finish
		exits 0
		run ! grep 'did not run' "$ERR"
		recorded '.status == "ok" and .noise.paused_s == 0 and
			([.samples[].dt_ns] | add > 0.9e9 and max < 1.5e9)'
	done
}

@test "a process that is stopped again and again, as by cpulimit" {
	start -q -w0 -d1 --interval 100 -o r count-local
	while kill -STOP "$pid" 2>/dev/null; do
		sleep 0.05
		kill -CONT "$pid"
		sleep 0.05
	done
	finish
	exits 0
	error_line 'bench: warning: the process was stopped and continued *'
	recorded '.status == "paused"'
}

# That it is late is no pause: its threads went on
@test "output that nobody reads for a while" {
	mkfifo pipe
	exec {reader}<>pipe
	# Until the pipe is full
	dd if=/dev/zero of=pipe bs=4096 count=15 status=none
	"$BENCH" -w0 -d2 --interval 10 -o r count-local >pipe 2>err 3>&- 4>&- &
	pid=$!
	sleep 5
	cat <pipe >/dev/null 3>&- 4>&- &
	cat=$!
	wait "$pid"
	kill "$cat"
	exec {reader}>&-
	recorded '.status == "ok"'
}

@test "CPUs that the mask leaves out, and those that the kernel refuses" {
	(($(nproc --all) > 1)) || skip 'one CPU'
	bench_by taskset -c 0 -- -q -w0 -d1 --prod-affinity 1 -o r count-local
	exits 0
	recorded '.config.prod_cpus == "1"'
	refused --prod-affinity 9999 '' --prod-affinity 9999 count-local
}

@test "a made-up list of CPUs" {
	(($(nproc --all) > 1)) || skip 'one CPU'
	echo 0 >online
	for name in pb-custom pb-libbpf rb-custom; do
		rm -f r
		bench_by unshare -m sh -c 'mount --bind online /sys/devices/system/cpu/online; exec taskset -c 1 "$@"' \
			sh -- -q -w0 -d1 -o r "$name"
		exits 0
		recorded '.conservation.consumed > 0 and .conservation.ok'
	done
}

# What programs wrote for each CPU has to fit, whatever /sys says
@test "a made-up list of possible CPUs" {
	(($(nproc --all) > 1)) || skip 'one CPU'
	echo 0 >possible
	for name in $("$BENCH" -l | sed -n 's/^- //p' | grep -E '^(crypto|xdp|.*htab|bpf-hash|hashmap|pb)'); do
		bench_by unshare -m sh -c 'mount --bind possible /sys/devices/system/cpu/possible; exec taskset -c 1 "$@"' \
			sh -- -q -w0 -d1 "$name"
		((status == 4)) || exits 0
	done
}

# The map of htab-mem was to have 4 billion entries
@test "no /sys at all" {
	for name in htab-mem bpf-hashmap-full-update hashmap-with-bloom xdp-lb pb-custom; do
		rm -f r
		bench_by unshare -m sh -c 'mount -t tmpfs none /sys; exec "$@"' sh -- -q -w0 -d1 -o r --attach tp "$name"
		if ((status == 4)); then
			error_line '*: unavailable: sysfs is not mounted, *: mount -t sysfs sysfs /sys'
		else
			exits 0
		fi
	done
}

@test "nothing delivered" {
	bench -w0 -d2 --rb-consume timer:10000 rb-custom
	exits 1
	error_line 'bench: rb-custom: failed: no hits in the measured time, and * drops'
}

@test "more samples than fit into memory" {
	refused --interval 1 'expected 87 or more' --interval 1 -d 86400 count-local
}

@test "a record file whose last line is torn" {
	bench -q -w0 -d1 -o r count-local
	head -c 100 r >torn
	cat r torn >both
	bench -q -w0 -d1 -o both count-local
	exits 0
	error_line "bench: warning: -o, --output: 'both' ended in the middle of a record: cut off"
	[ "$(jq -c .bench both | wc -l)" -eq 2 ]
	echo 'my notes' >notes
	printf 'no end' >>notes
	bench -q -w0 -d1 -o notes count-local
	exits 1
	[ "$(<notes)" = $'my notes\nno end' ]
}

@test "a full disk in the middle of a record leaves no half of it" {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c '
		mkdir small && mount -t tmpfs -o size=16k tmpfs small &&
			"$0" -q -w0 -d2 --interval 2 -o small/r count-local
		echo "$?" >status
		wc -c <small/r >size' "$BENCH" || true
	[ "$(<status)" = 1 ]
	[ "$(<size)" = 0 ]
}

@test "each signal that would end it: the summary, the record, and 128 + number" {
	local name
	for name in QUIT XCPU USR1 USR2 VTALRM PROF IO PWR RTMIN+3; do
		rm -f r
		start -w0 -d60 --interval 200 -o r count-local
		await 'Iter   0'
		kill -s "$name" "$pid"
		finish
		exits $((128 + $(kill -l "$name")))
		grep -q '^Summary: ' "$OUT"
		recorded '.status == "interrupted"'
	done
}

# It sends the signal to the process and to its group
@test "timeout(1): one signal, not two" {
	for name in INT TERM RTMIN+3; do
		rm -f r
		status=0
		timeout -s "$name" 3 "$BENCH" -w0 -d60 --interval 200 -o r count-local >out 2>err || status=$?
		exits 124
		grep -q '^Summary: ' out
		recorded '.status == "interrupted"'
	done
}

@test "who reads the output goes away: what was measured is recorded" {
	mkfifo pipe
	env --default-signal=PIPE "$BENCH" -w0 -d60 --interval 100 -o r count-local >pipe 2>err 3>&- 4>&- &
	pid=$!
	head -n4 <pipe >/dev/null
	status=0
	wait "$pid" || status=$?
	exits 141
	recorded '.status == "interrupted" and (.samples | length >= 2)'
}

@test "SIGKILL in a later run loses that one alone" {
	start -w0 -d1 -r 100 -o r count-local
	until (($(grep -sc . r || true) >= 2)); do
		sleep 0.1
	done
	kill -KILL "$pid"
	finish
	exits 137
	jq -se 'length >= 2 and all(.[]; .status == "ok")' r
	bench -q -w0 -d1 -o r count-local
	exits 0
	bench -C r r
	exits 0
}

@test "a lost ssh session: the summary, the record, and 129; nohup stays nohup" {
	start -w0 -d20 -o r count-local
	await 'Iter   0'
	kill -HUP "$pid"
	finish
	exits 129
	grep -q '^Summary: ' "$OUT"
	recorded '.status == "interrupted"'
	rm r
	start_with --ignore-signal=HUP -- -w0 -d2 -o r count-local
	await 'Iter   0'
	kill -HUP "$pid"
	finish
	exits 0
	recorded '.status == "ok"'
}

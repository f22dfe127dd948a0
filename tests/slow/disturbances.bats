#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What falsifies a figure is reported and recorded: each input here gave a wrong one without a word.
# shellcheck disable=SC2154 # bats and helpers set the variables

bats_require_minimum_version 1.5.0

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
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
	no_error_line '*BPF statistics*'
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

@test "a CPU quota" {
	local cgroup=/sys/fs/cgroup/cpu/bench-test-$$ quota=cpu.cfs_quota_us limit=20000
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		cgroup=/sys/fs/cgroup/bench-test-$$ quota=cpu.max limit='20000 100000'
	fi
	mkdir "$cgroup" || skip 'no cgroup can be made'
	echo "$limit" >"$cgroup/$quota"
	bench_by sh -c "echo \$\$ >'$cgroup/cgroup.procs'; exec \"\$@\"" sh -- -q -w0 -d3 -a -o r count-local
	rmdir "$cgroup" || { sleep 1 && rmdir "$cgroup"; }
	exits 0
	error_line 'bench: warning: a CPU quota (cgroup) stopped the threads for *'
	recorded '.noise.throttled_pct > 1'
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

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
#
# trig-*: each run of the attached program is counted once, and those of others are not.

bats_require_minimum_version 1.5.0

BENCH=${BENCH:-./bench}
# First instructions of the functions that uprobes are tried on
INSNS=(nop push ret)
[[ $(uname -m) != x86_64 ]] || INSNS+=(nop5)

# Runs `bench ARGS` with --verify for each ARGS given, four at a time, which must not matter to them:
# the kernel counts the same runs. Or, where the benchmark is unavailable on this kernel, the reason
# has to be one of those that there are for it.
verified() {
	local args job=0 pid pids=()
	for args; do
		# shellcheck disable=SC2086 # options and name
		{
			rc=0
			"$BENCH" -w0 -d1 --interval 100 --verify $args >"$JOBS/$job.out" 2>"$JOBS/$job.err" || rc=$?
			echo "$rc" >"$JOBS/$job.rc"
		} 3>&- &
		pids+=($!)
		job=$((job + 1))
		if ((job % 4 == 0 || job == $#)); then
			for pid in "${pids[@]}"; do
				wait "$pid"
			done
			pids=()
		fi
	done
	job=0
	for args; do
		verified_job "$args" "$JOBS/$job" || return
		job=$((job + 1))
	done
}

verified_job() {
	local name=${1##* } rc message
	rc=$(<"$2.rc")
	message=$(<"$2.err")
	echo "$1: exit $rc"
	echo "$message"
	if [ "$rc" -eq 4 ]; then
		known_reason "$name" "${message#"bench: $name: unavailable: "}"
		return
	fi
	[ "$rc" -eq 0 ] &&
		[[ $message == *'bench: note: verified: the kernel counts '[1-9]*' runs too'* ]] &&
		tail -n1 "$2.out" | grep -qE '^Summary: hits .*M/prod\), drops    0\.000 ± 0\.000M/s'
}

setup() {
	JOBS=$BATS_TEST_TMPDIR
}

# Is $2 a reason that $1 may have to be unavailable, for root?
known_reason() {
	case $1:$2 in
	trig-kprobe:'kprobes are not built into this kernel: requires CONFIG_KPROBES and CONFIG_KPROBE_EVENTS') ;;
	trig-kretprobe:'kprobes are not built into this kernel: requires CONFIG_KPROBES and CONFIG_KPROBE_EVENTS') ;;
	trig-kprobe-multi:'this kernel has no fprobe, which a multi-kprobe is: requires CONFIG_FPROBE') ;;
	trig-kretprobe-multi:'this kernel has no fprobe, which a multi-kretprobe is: requires CONFIG_FPROBE') ;;
	trig-fentry:'fentry programs are refused by this kernel: Operation not permitted'*) ;;
	trig-fexit:'fexit programs are refused by this kernel: Operation not permitted'*) ;;
	trig-fmodret:'fmod_ret programs are refused by this kernel: Operation not permitted'*) ;;
	trig-fentry-sleep:'sleepable fentry programs are refused by this kernel: Operation not permitted'*) ;;
	trig-fentry-sleep:'__'*'_sys_getpgid() is not on this kernel'\''s list of functions for sleepable programs: requires CONFIG_FUNCTION_ERROR_INJECTION, or Linux 7.1 or newer') ;;
	trig-uprobe-multi-*:'this kernel has no multi-uprobes: requires Linux 6.6 or newer') ;;
	trig-uretprobe-multi-*:'this kernel has no multi-uretprobes: requires Linux 6.6 or newer') ;;
	*)
		echo "not a known reason for $1: $2"
		return 1
		;;
	esac
}

# The rate of a run, in M/s, over the time in which it had a CPU: beside other tests it is the half.
rate() {
	rm -f "$JOBS/record"
	"$BENCH" -q -w0 -d1 --interval 100 -o "$JOBS/record" "$@" >/dev/null 2>&1 || return
	jq '.summary.mean / (1 - ([.noise.waited_pct // 0, 99] | min) / 100)' "$JOBS/record"
}

# Is the rate of the run $1 above $2 times that of the run $3? Three tries.
above() {
	local try high low
	for try in 1 2 3; do
		# shellcheck disable=SC2086 # options and name
		high=$(rate $1) low=$(rate $3)
		echo "try $try: $1 $high M/s, $3 $low M/s"
		awk "BEGIN { exit !($high > $2 * $low) }" && return
	done
	return 1
}

# Starts `bench $@` and waits until it prints samples to $JOBS/log. Its process is $pid.
start() {
	: >"$JOBS/log" # of the one before; the background shell may be late to do so
	"$BENCH" -w0 -d60 --interval 100 "$@" >"$JOBS/log" 2>"$JOBS/log.err" 3>&- &
	pid=$!
	until grep -q '^Iter' "$JOBS/log" || ! kill -0 "$pid"; do
		sleep 0.1
	done
}

# Stops it by SIGINT.
stop() {
	kill -INT "$pid"
	wait "$pid" || [ $? -eq 130 ]
}

@test "--trig-driver batch is refused for a program that sleeps" {
	run --separate-stderr "$BENCH" --trig-driver batch trig-fentry-sleep
	[ "$status" -eq 64 ]
	[ "$stderr" = "bench: --trig-driver: invalid value 'batch': trig-fentry-sleep is driven by system calls only, a batch must not sleep" ]
	[ -z "$output" ]
}

@test "names of older versions of the kernel selftests' bench are answered to" {
	local alias name
	while read -r alias name; do
		run "$BENCH" -c 2 "$alias"
		[ "$status" -eq 64 ]
		[ "$output" = "bench: -c, --consumers: invalid value '2': $name has no consumer: expected 0 or 1" ]
	done <<-END
		trig-base trig-syscall-count
		trig-uprobe-base trig-usermode-count
		trig-uprobe-with-nop trig-uprobe-nop
		trig-uprobe-without-nop trig-uprobe-ret
		trig-uretprobe-with-nop trig-uretprobe-nop
		trig-uretprobe-without-nop trig-uretprobe-ret
	END
	run --separate-stderr "$BENCH" -w0 -d1 -c1 trig-base
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "Setting up benchmark 'trig-syscall-count'..." ]
}

@test "programs in the kernel: the kernel counts the same runs, with 2 and 8 producers" {
	verified '-p '{2,8}\ trig-{kernel-count,tp,rawtp,{kprobe,kretprobe}{,-multi},fentry,fexit,fmodret}
}

@test "batches of 1 and of 1000" {
	verified '--trig-batch-iters '{1,1000}\ trig-{kernel-count,rawtp,fentry}
}

@test "programs in the kernel driven by system calls" {
	verified '-p 2 --trig-driver syscall '\
trig-{tp,rawtp,{kprobe,kretprobe}{,-multi},fentry,fexit,fmodret,fentry-sleep}
}

@test "uprobes: the kernel counts the same runs, with 1, 2 and 8 producers" {
	local name insn p=1 jobs=()
	for insn in "${INSNS[@]}"; do
		for name in uprobe uretprobe uprobe-multi uretprobe-multi; do
			jobs+=("-p $p trig-$name-$insn")
			p=$((p == 8 ? 1 : p == 2 ? 8 : 2))
		done
	done
	verified "${jobs[@]}"
}

@test "a function of user space that is called through a pid namespace of its own" {
	run --separate-stderr unshare --pid --fork --mount-proc \
		"$BENCH" -w0 -d1 --interval 100 --verify -p2 trig-uprobe-nop
	[ "$status" -eq 0 ]
	[[ $stderr == *'verified: the kernel counts '[1-9]*' runs too'* ]]
	run --separate-stderr unshare --pid --fork --mount-proc \
		"$BENCH" -w0 -d1 --interval 100 --verify -p2 --trig-driver syscall trig-rawtp
	[ "$status" -eq 0 ]
	[[ $stderr == *'verified: the kernel counts '[1-9]*' runs too'* ]]
}

@test "a stripped executable, also once its file is gone" {
	cp "$BENCH" "$BATS_TEST_TMPDIR/bench"
	strip "$BATS_TEST_TMPDIR/bench"
	BENCH=$BATS_TEST_TMPDIR/bench verified '-p 1 trig-uprobe-push'

	local child
	"$BATS_TEST_TMPDIR/bench" -w0 -d2 --verify trig-uretprobe-nop 2>"$BATS_TEST_TMPDIR/log" 3>&- &
	child=$!
	while [ "$(readlink "/proc/$child/exe")" != "$(realpath "$BATS_TEST_TMPDIR/bench")" ]; do
		sleep 0.01
	done
	rm "$BATS_TEST_TMPDIR/bench"
	wait "$child"
	grep 'verified: the kernel counts [1-9][0-9]* runs too' "$BATS_TEST_TMPDIR/log"
}

# What uprobe_file_offset() finds is what is in the file, however it is linked.
@test "targets are found in PIE, non-PIE, static and stripped executables" {
	local how exe=$BATS_TEST_TMPDIR/exe top=$BATS_TEST_DIRNAME/../..
	cat >"$exe.c" <<-'END'
		#include <fcntl.h>
		#include <string.h>
		#include <unistd.h>
		#include "lib/bpf/uprobe_target.h"

		int main(void)
		{
			int fd = open("/proc/self/exe", O_RDONLY), t, found = 0;
			uint64_t offset;
			char buf[8];

			for (t = 0; t < UPROBE_NR_TARGETS; t++) {
				uintptr_t addr = uprobe_target_addr(t);

				if (!addr)
					continue;
				if (uprobe_file_offset(addr, &offset) ||
				    pread(fd, buf, sizeof(buf), offset) != sizeof(buf) ||
				    memcmp(buf, (void *)addr, sizeof(buf)))
					return 10 + t;
				found++;
			}
			return found >= 3 ? 0 : 1;
		}
	END
	for how in '-fPIE -pie' '-fno-pie -no-pie' '-fno-pie -static' '-fPIE -static-pie' '-fPIE -pie -s'; do
		echo "$how"
		# shellcheck disable=SC2086 # several options
		cc -D_GNU_SOURCE -I"$top" $how -o "$exe" "$exe.c" "$top/lib/bpf/uprobe_target.c"
		"$exe"
	done
}

# Of the runs that the kernel counts, those that another bench made are not among the hits.
@test "hits are the runs that this bench made" {
	local args pid runs hits
	for args in '--trig-batch-iters 1000 trig-rawtp' '--trig-driver syscall trig-tp'; do
		# shellcheck disable=SC2086 # options and name
		start -p2 $args
		# shellcheck disable=SC2086
		run --separate-stderr "$BENCH" -w0 -d1 --interval 100 --verify $args
		stop
		[ "$status" -eq 0 ]
		runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' <<<"$stderr")
		hits=$(sed -n 's/^Iter *[0-9]* (\(.*\)us): hits *\([0-9.]*\)M\/s.*/\1 \2/p' <<<"$output" |
			awk '{ hits += $2 * (100000 + $1) } END { printf "%.0f\n", hits }')
		echo "$args: $hits hits, $runs runs"
		((hits > 0 && hits * 10 < runs * 8))
	done
}

# The breakpoint of a uprobe must not be in the memory of another bench.
@test "a uprobe does not slow down the same function in another bench" {
	local pid high low
	start trig-uprobe-nop
	high=$(rate trig-usermode-count)
	stop
	low=$(sed -n 's/^Iter.*hits *\([0-9.]*\)M\/s.*/\1/p' "$JOBS/log" | sort -g | tail -n1)
	echo "with the uprobe $low M/s, without $high M/s"
	awk "BEGIN { exit !($high > 5 * $low) }"
}

@test "what a driver can do at most is above what it makes of a program" {
	above trig-kernel-count 1 trig-rawtp
	above trig-usermode-count 5 trig-uprobe-nop
	above trig-syscall-count 1 '--trig-driver syscall trig-tp'
	above trig-syscall-count 1 '--trig-driver syscall trig-rawtp'
}

@test "a batch is faster than system calls" {
	above trig-rawtp 2 '--trig-driver syscall trig-rawtp'
}

@test "with CAP_BPF and CAP_PERFMON alone" {
	as_user() {
		setpriv --inh-caps=-all --bounding-set=-all,+bpf,+perfmon "$BENCH" -q -w0 -d1 "$@"
	}
	run --separate-stderr as_user trig-rawtp
	[ "$status" -eq 0 ]
	run --separate-stderr as_user trig-uprobe-nop
	[ "$status" -eq 0 ] ||
		[ "$stderr" = 'bench: trig-uprobe-nop: unavailable: this kernel wants CAP_SYS_ADMIN for a uprobe: run it as root' ]
	run --separate-stderr as_user trig-tp
	[ "$status" -eq 0 ] ||
		[[ $stderr == 'bench: trig-tp: unavailable: '*'tracepoint '*' cannot be looked up: '*': tracefs is not '* ]]
}

@test "where /proc and /sys are not there, the reason names them" {
	[[ -z ${SANITIZED:-} ]] || skip 'sanitizers need /proc'
	run --separate-stderr unshare --mount sh -c "umount -l /sys; exec '$BENCH' -q -w0 -d1 trig-uprobe-nop"
	[ "$status" -eq 4 ]
	[ "$stderr" = 'bench: trig-uprobe-nop: unavailable: sysfs is not mounted, which a uprobe needs: mount -t sysfs sysfs /sys' ]
	run --separate-stderr unshare --mount sh -c "umount -l /proc; exec '$BENCH' -q -w0 -d1 trig-uprobe-nop"
	[ "$status" -eq 4 ]
	[ "$stderr" = 'bench: trig-uprobe-nop: unavailable: cannot find the code of this program in /proc/self/maps: mount -t proc proc /proc' ]
}

@test "uprobes and loops in the kernel require no BTF" {
	local name
	for name in kernel-count uprobe-nop; do
		run --separate-stderr unshare --mount sh -c "mount -t tmpfs none /sys/kernel/btf; exec '$BENCH' -q -w0 -d1 trig-$name"
		[ "$status" -eq 0 ]
	done
}

@test "bench -l -v: each is available, or the reason is one that is known" {
	local name state
	run --separate-stderr "$BENCH" -l -v
	[ "$status" -eq 0 ]
	for name in usermode-count syscall-count kernel-count tp rawtp kprobe kretprobe kprobe-multi \
		kretprobe-multi fentry fexit fentry-sleep fmodret {uprobe,uretprobe}-{,multi-}{nop,push,ret}; do
		state=$(grep -xA2 -e "- trig-$name" <<<"$output" | sed -n '3s/^ *//p')
		echo "trig-$name: $state"
		[ "$state" = available ] || known_reason "trig-$name" "${state#unavailable: }"
	done
	[ "$(grep -c -E '^- trig-u(ret)?probe.*-nop5$' <<<"$output")" -eq $((${#INSNS[@]} > 3 ? 4 : 0)) ]
}

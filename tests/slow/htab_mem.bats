#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# htab-mem, rhtab-mem: that what is added is deleted, and that the memory shown is that of the map.

# shellcheck disable=SC2154 # helpers set pid

load ../helpers

SWEEPS=$BATS_TEST_DIRNAME/../../benchs
CASES='overwrite batch_add_batch_del add_del_on_diff_cpu'

setup_file() {
	bench -q -w0 -d1 --interval 100 htab-mem
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: htab-mem: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | 'this kernel cannot run a socket filter program with arguments '*) ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
	# Is the memory that of a cgroup, or what the kernel estimates?
	ESTIMATED=
	! grep -q 'memlock in fdinfo' "$ERR" || ESTIMATED='there is no memory cgroup for us'
	export ESTIMATED
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

teardown() {
	kill_started
}

# The cgroup of process $1, or of any bench
cgroups_of() {
	find /sys/fs/cgroup -type d -name "bench.$1.*" 2>/dev/null || true
}

no_cgroup_left() {
	local i
	for ((i = 0; i < 100; i++)); do
		[[ -n $(cgroups_of "$1") ]] || return 0
		sleep 0.05
	done
	fail "left: $(cgroups_of "$1")"
}

# Whether the identities hold is checked by each run itself; that it has those that it should, here
@test "what is added is deleted, the rest is counted as refused, and the map ends as it should" {
	local case args record=$BATS_TEST_TMPDIR/record
	for case in $CASES; do
		for args in '-p4 --preallocated' '-p2 --value-size 4K'; do
			rm -f "$record"
			# shellcheck disable=SC2086 # several arguments
			bench -w0 -d1 --interval 100 $args -o "$record" htab-mem --use-case "$case"
			exits 0
			jq -e --arg case "$case" '.config.producers as $p |
				.conservation | .ok and .attempts > 0 and
				if $case == "overwrite" then
					.updates + .refused == .attempts and .entries <= 64 * $p
				else
					.adds + .deletes + .refused == .attempts and
					.adds == .deletes and .adds > 0 and .entries == 0
				end' "$record" >/dev/null || {
				jq -c .conservation "$record"
				fail 'they do not'
			}
		done
	done
}

@test "lines are those of the selftests' bench" {
	bench -w0 -d1 htab-mem
	exits 0
	[[ $(sed -n 's/^Iter[^:]*: //p' "$OUT" | head -n1) =~ ^per-prod-op\ +[0-9.]+k/s,\ memory\ usage\ +[0-9.]+MiB$ ]]
	[[ $(tail -n1 "$OUT") =~ ^Summary:\ per-prod-op\ +[0-9.]+\ ±\ +[0-9.]+k/s,\ memory\ usage\ +[0-9.]+\ ±\ +[0-9.]+MiB,\ peak\ memory\ usage\ +[0-9.]+MiB$ ]]
}

# Mean of memory, in MiB, then its peak
memory() {
	sed -nE 's/^Summary: .*memory usage +([0-9.]+) ±.*peak memory usage +([0-9.]+)MiB.*/\1 \2/p' "$OUT"
}

# 8192 elements: 48 bytes, the key and the value each; and 16 bytes a bucket. The kernel charges
# pages in advance, for each CPU.
@test "a preallocated map has the memory of its elements, and no more of it as time goes on" {
	local size mean peak expected cpus
	cpus=$(nproc --all)
	for size in 8 4096; do
		bench -w0 -d1 --interval 100 -p2 htab-mem --use-case batch_add_batch_del --preallocated --value-size "$size"
		exits 0
		read -r mean peak < <(memory)
		expected=$(((8192 * (48 + 8 + size + 16)) * 100 / 1048576))
		calc 'mean > 0.95 * e && mean < 1.1 * e + 0.5 + 0.25 * cpus' mean="$mean" e="$((expected / 100)).$((expected % 100))" cpus="$cpus"
		calc 'peak - mean < 0.5 + 0.25 * cpus' peak="$peak" mean="$mean" cpus="$cpus"
	done
}

@test "without preallocation the memory is that of the elements in use, not of all that there may be" {
	[[ -z $ESTIMATED ]] || skip "$ESTIMATED"
	local small large all peak
	bench -q -w0 -d1 --interval 100 -p2 htab-mem --value-size 8
	read -r small peak < <(memory)
	bench -q -w0 -d1 --interval 100 -p2 htab-mem --value-size 4K
	read -r large peak < <(memory)
	bench -q -w0 -d1 --interval 100 -p2 htab-mem --value-size 4K --preallocated
	read -r all peak < <(memory)
	# Two producers have 64 elements of 4 KiB each
	calc 'large > small + 0.4 && large < all / 2' small="$small" large="$large" all="$all"
}

@test "no cgroup is left: at the end, by signals, by SIGKILL" {
	[[ -z $ESTIMATED ]] || skip "$ESTIMATED"
	local signal job
	for signal in INT TERM KILL; do
		start_with --default-signal=INT -- -w0 -d60 htab-mem
		await started
		job=$pid
		[[ -n $(cgroups_of "$job") ]] || fail 'there is none'
		kill "-$signal" "$job"
		finish 20
		no_cgroup_left "$job"
	done
	# It is gone before a run that ends by itself does
	start -q -w0 -d1 --interval 100 htab-mem
	job=$pid
	finish
	exits 0
	[[ -z $(cgroups_of "$job") ]]
}

# Nobody but the map is charged: the run may go on while its cgroup has no process
@test "no process is in the cgroup, and what waits for our end holds nothing of ours" {
	[[ -z $ESTIMATED ]] || skip "$ESTIMATED"
	local keeper
	start -w0 -d60 htab-mem
	await started
	[[ -z $(<"$(cgroups_of "$pid")/cgroup.procs") ]]
	keeper=$(pgrep -P "$pid" -x bench-cgroup)
	[[ $(ls /proc/"$keeper"/fd) == 0 ]]
	kill "$pid"
	finish
	[[ ! -e /proc/$keeper ]]
}

@test "without a cgroup, the kernel's estimate is shown, with a note" {
	bench_by unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"' - \
		-- -w0 -d1 htab-mem --preallocated
	exits 0
	error_line "bench: note: memory is the kernel's estimate (memlock in fdinfo): no cgroup with a memory controller"
	calc 'm > 0.5 && m < 2' m="$(memory | cut -d ' ' -f 1)"
}

@test "what does not fit together is refused, and nothing is loaded" {
	refused --producers "'3'" 'requires an even number' -p3 --use-case add_del_on_diff_cpu htab-mem
	refused --preallocated '' 'rhtab-mem cannot' --preallocated rhtab-mem
}

@test "the resizable map, or why not" {
	local case
	for case in $CASES; do
		bench -w0 -d1 --interval 100 -p2 rhtab-mem --use-case "$case"
		if ((status == 4)); then
			one_error_line 'bench: rhtab-mem: unavailable: this kernel *'
		else
			exits 0
		fi
	done
}

# Sections and names of rows; the last section is ours
@test "the sweep has the published sections and rows" {
	local stub=$BATS_TEST_TMPDIR/stub rows=$BATS_TEST_TMPDIR/rows
	cat >"$stub" <<-'END'
		#!/bin/sh
		echo 'Summary: per-prod-op   12.34 ±    0.40k/s, memory usage    0.50 ±    0.02MiB, peak memory usage    0.75MiB'
	END
	chmod +x "$stub"
	SUDO='' "$SWEEPS/run_bench_htab_mem.sh" --bench "$stub" >"$rows"
	[[ $(grep -B1 -E '^=+$' "$rows" | grep -v -E -e '^=+$' -e '^--$') == $'preallocated\nnormal bpf ma\nresizable' ]]
	for case in $CASES; do
		grep -q $'\t'"$case"$'\t' "$SWEEPS/../reference/htab_mem.tsv"
		(($(grep -c -E "^$case +per-prod-op: 12.34 ± +0.40k/s, avg mem: 0.50 ± +0.02MiB, peak mem: 0.75MiB\$" "$rows") == 3))
	done
}

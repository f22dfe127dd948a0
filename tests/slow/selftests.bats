#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Scripts written for the kernel selftests' bench: they call `sudo ./bench` with options and names of
# all its versions, and cut the figure out of the last line. Each that can run here prints one.
# shellcheck disable=SC2154 # bats and helpers set the variables

bats_require_minimum_version 1.5.0

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf '#!/bin/sh\nexec "$@"\n' >sudo
	# As long as a test may take
	printf '#!/bin/sh\nexec "%s" "$@" -w0 -d1\n' "$BENCH" >bench
	chmod +x sudo bench
	export PATH=$PWD:$PATH
}

RATE='[0-9]+\.[0-9]+ ± [0-9]+\.[0-9]+M/s'
OPS='[0-9]+\.[0-9]+ ± [0-9]+\.[0-9]+ M ops/s'

# prints PATTERN ARGUMENT...: the last line has the figure, or this kernel cannot
prints() {
	local pattern=$1 last code=0
	shift
	last=$(set -o pipefail && sudo ./bench -w3 -d10 -a "$@" 2>err | tail -n1) || code=$?
	echo "$* ($code): $last"
	((code != 4)) || {
		grep -q '^bench: .*unavailable: ' err
		return 0
	}
	((!code)) || cat err
	((!code))
	[[ $last =~ $pattern ]]
}

@test "ring buffers" {
	local name
	for name in rb-libbpf rb-custom pb-libbpf pb-custom; do
		prints "hits +$RATE.*drops +$RATE" "$name"
		prints "hits +$RATE.*drops +$RATE" --rb-sampled "$name"
		prints "hits +$RATE.*drops +$RATE" --rb-sampled --rb-b2b "$name"
		prints "hits +$RATE.*drops +$RATE" --rb-b2b --rb-batch-cnt 25 --rb-sampled --rb-sample-rate 25 "$name"
		prints "hits +$RATE.*drops +$RATE" --rb-batch-cnt 1 --rb-sample-rate 1 --prod-affinity 0 --cons-affinity 0 "$name"
	done
	prints "hits +$RATE.*drops +$RATE" --rb-b2b --rb-use-output rb-custom
	prints "hits +$RATE.*drops +$RATE" -p52 --rb-batch-cnt 50 rb-libbpf
}

@test "maps" {
	prints "total operations +$RATE" -p 4 --nr_hash_funcs 3 --nr_entries 50000 --value_size 8 bloom-lookup
	prints "total operations +$RATE" -p 4 --nr_hash_funcs 3 --nr_entries 50000 --value_size 8 bloom-update
	prints 'Percentage = +[0-9]+\.[0-9]+' --nr_hash_funcs 3 --nr_entries 50000 --value_size 8 bloom-false-positive
	prints "total operations +$RATE" --nr_hash_funcs 3 --nr_entries 50000 --value_size 8 hashmap-with-bloom
	prints "throughput +$OPS.*latency +[0-9.]+ ns/op" -p 1 --nr_loops 1000 bpf-loop
	prints "throughput +$OPS.*latency +[0-9.]+ ns/op" -p 1 bpf-hashmap-ful-update
	prints 'throughput' --key_size=4 --max_entries=1000 --nr_entries=500 --nr_loops=1000000 bpf-hashmap-lookup
	prints 'hits throughput +.* M ops/s.*hits latency +.* ns/op.*important_hits throughput' --nr_maps 16 local-storage-cache-seq-get
	prints 'hits throughput +.* M ops/s.*hits latency +.* ns/op.*important_hits throughput' --nr_maps 1 --hashmap_nr_keys_used=10 local-storage-cache-hashmap-control
	prints 'per-prod-op .*memory usage .*peak memory usage' -p 2 --use-case overwrite htab-mem
	prints "hits +$RATE" --cmp-str-len=64 strncmp-helper
	prints '' --nr_procs 100 --kthread_pid 1 --quiet 1 local-storage-tasks-trace
}

@test "triggers: figures behind the third blank" {
	local name summary
	for name in usermode-count syscall-count kernel-count base tp rawtp kprobe fentry fmodret uprobe-nop uretprobe-push; do
		prints '' "trig-$name"
		! grep -q 'unavailable: ' err || continue
		summary=$(sudo ./bench -w2 -d5 -a "trig-$name" 2>err | tail -n1 | cut -d'(' -f1 | cut -d' ' -f3-)
		[[ $summary =~ ^\ *$RATE\ $ ]]
	done
	for name in base kprobe kretprobe rawtp fentry fexit; do
		prints "hits +$RATE" "rename-$name"
	done
}

@test "every name that it had at some time" {
	local name
	for name in trig-{base,uprobe-base,fentry-sleep,kprobe-multi-all,kretprobe-multi-all,usdt-nop,usdt-nop5,usdt-nop10} \
		trig-{uprobe,uretprobe}-with-{nop,push,ret} trig-{uprobe,uretprobe}{,-multi}-nop{5,10} \
		rename-fmodret bpf-hashmap-ful-update local-storage-tasks-trace; do
		prints '' "$name"
		prints '' -s "$name"
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# rb-libbpf, rb-custom, pb-libbpf, pb-custom: options that do not go together, and on the real kernel
# that no record is lost or counted twice in any mode. bench itself compares what was submitted with
# what was consumed, exactly, after each run; that it would find a difference of one is shown at the
# end.
#
# Each test is a subshell to shellcheck.
# shellcheck disable=SC2030,SC2031

load ../helpers

teardown() {
	kill_started
}

RB='rb-libbpf rb-custom'
PB='pb-libbpf pb-custom'

# ---- refusals

@test "--rb-sample-rate: not so many that the consumer is never woken" {
	for name in $PB; do
		refused --rb-sample-rate "'501'" 500 --rb-sampled --rb-sample-rate 501 "$name"
		refused --rb-sample-rate "'500'" 499 --rb-sampled --rb-batch-cnt 499 "$name"
		refused --rb-sample-rate "'501'" 500 --rb-wakeup sampled --rb-sample-rate 501 "$name"
	done
	for name in $RB; do
		# (524288 - 1) / 16
		refused --rb-sample-rate "'32768'" 32767 --rb-sampled --rb-sample-rate 32768 "$name"
		refused --rb-sample-rate "'256'" 255 --rb-sampled --rb-size 4096 --rb-sample-rate 256 "$name"
		refused --rb-sample-rate "'501'" 500 --rb-sampled --rb-b2b --rb-sample-rate 501 "$name"
	done
	# nobody asked for sampling
	bench -q -w0 -d1 --rb-sample-rate 10000 pb-custom
	exits 0
}

@test "--rb-record-size: it has to fit" {
	# header and all: 4088 + 8 is the ring's size, of which the kernel leaves a byte free
	refused --rb-record-size "'4088'" 4096 --rb-size 4096 --rb-record-size 4088 rb-custom
	refused --rb-record-size "'65536'" 65536 --rb-size 65536 --rb-record-size 65536 rb-libbpf
	for name in $PB; do
		# 16 bits for the size of a record
		refused --rb-record-size "'65517'" '8 to 65516' --rb-record-size 65517 "$name"
		refused --rb-record-size "'65536'" '8 to 65516' --rb-record-size 65536 "$name"
	done
	page=$(getconf PAGESIZE)
	refused --rb-record-size "'$((page - 12))'" '1 page' --pb-pages 1 --rb-record-size $((page - 12)) pb-custom
}

@test "--rb-wakeup: not what would never wake a sleeper" {
	for name in $RB; do
		refused --rb-wakeup "'never'" busy --rb-wakeup never "$name"
		refused --rb-wakeup "'never'" timer --rb-wakeup never --rb-consume epollet "$name"
		refused --rb-wakeup "'always'" --rb-sampled --rb-sampled --rb-wakeup always "$name"
		refused --rb-wakeup "'never'" --rb-sampled --rb-consume busy --rb-sampled --rb-wakeup never "$name"
	done
	for name in $PB; do
		refused --rb-wakeup "'always'" 'adaptive' --rb-wakeup always "$name"
		refused --rb-wakeup "'never'" 'adaptive' --rb-wakeup never --rb-consume busy "$name"
	done
}

@test "--rb-consume: words, and a time" {
	for value in '' EPOLL poll timer timer: timer:0 timer:10001 timer:5x timer:-5 'timer: 5' busy:5; do
		refused --rb-consume "'$value'" 'timer:MS with MS from 1 to 10000' --rb-consume "$value" rb-custom
	done
}

@test "--rb-b2b: one producer" {
	for name in $RB $PB; do
		refused --rb-b2b '' '-p 2' --rb-b2b -p 2 "$name"
	done
}

@test "--rb-bench-producer and --rb-overwrite: ring buffers, without a consumer" {
	for name in $PB; do
		refused --rb-bench-producer '' 'ring buffers' --rb-bench-producer "$name"
		refused --rb-overwrite '' 'ring buffers' --rb-overwrite --rb-bench-producer "$name"
	done
	for name in $RB; do
		refused --rb-overwrite '' --rb-bench-producer --rb-overwrite "$name"
		refused --rb-b2b '' --rb-bench-producer --rb-b2b --rb-bench-producer "$name"
	done
}

# What would hang with a sleeping consumer does not with one that never sleeps, or not for long
@test "with --rb-consume busy or timer:MS any sample rate can be asked for" {
	for consume in busy timer:5; do
		bench -q -w0 -d1 --rb-consume "$consume" --rb-sampled --rb-sample-rate 600 --rb-b2b rb-custom
		exits 0
		calc 'hits > 0' hits="$(summary hits)"
	done
}

# ---- conservation

# conserve BENCHMARKS OPTIONS...: each of them, all at the same time: that nothing is lost must not
# depend on how the threads come to run. Leaves what they print in $BATS_TEST_TMPDIR/NAME.out
conserve() {
	local names=$1 name pids=() bad=
	shift
	for name in $names; do
		timeout -s KILL "$TIME_LIMIT" "$BENCH" -q -w0 -d1 --interval 250 "$@" "$name" \
			>"$BATS_TEST_TMPDIR/$name.out" 2>"$BATS_TEST_TMPDIR/$name.err" 3>&- 4>&- &
		pids+=($!)
	done
	for name in $names; do
		OUT=$BATS_TEST_TMPDIR/$name.out
		ERR=$BATS_TEST_TMPDIR/$name.err
		status=0
		wait "${pids[0]}" || status=$?
		pids=("${pids[@]:1}")
		_show "$name $*"
		((status == 0)) || bad+=" $name exits with $status;"
		[[ $(<"$OUT") =~ ^Summary:\ hits\ +([0-9.]+) ]] || bad+=" $name has no summary;"
		# Else there was nothing to conserve
		[[ ${BASH_REMATCH[1]:-0.000} != 0.000 ]] || bad+=" $name has no hits;"
		! grep -vE '^bench: (note|warning): ' "$ERR" || bad+=" $name complains;"
	done
	[[ -z $bad ]] || fail "$*:$bad"
}

# The benchmarks of the last conserve() that are named dropped records, or did not
dropped() {
	local name
	for name in $1; do
		OUT=$BATS_TEST_TMPDIR/$name.out calc 'drops > 0' drops="$(OUT=$BATS_TEST_TMPDIR/$name.out summary drops)"
	done
}

nothing_dropped() {
	local name
	for name in $1; do
		calc 'drops == 0' drops="$(OUT=$BATS_TEST_TMPDIR/$name.out summary drops)"
	done
}

@test "conserved: a producer and a consumer" {
	conserve "$RB $PB"
}

@test "conserved: sampled" {
	conserve "$RB $PB" --rb-sampled
}

# The consumer triggers a batch when it has consumed the one before: nothing can be dropped
@test "conserved: back-to-back, and nothing is dropped" {
	conserve "$RB $PB" --rb-b2b
	nothing_dropped "$RB $PB"
}

@test "conserved: back-to-back and sampled, and nothing is dropped" {
	conserve "$RB $PB" --rb-b2b --rb-sampled
	nothing_dropped "$RB $PB"
	conserve "$RB $PB" --rb-b2b --rb-batch-cnt 3000 --rb-sampled --rb-sample-rate 3000
	nothing_dropped "$RB $PB"
}

@test "conserved: output instead of reserve and submit" {
	conserve "$RB $PB" --rb-use-output
	conserve "$RB $PB" --rb-use-output --rb-sampled
}

@test "conserved: producer and consumer on one CPU, batches of one" {
	read -r first _ <<<"$(allowed_cpus)"
	conserve "$RB $PB" --rb-batch-cnt 1 --rb-sample-rate 1 --prod-affinity "$first" --cons-affinity "$first"
}

@test "conserved: several producers" {
	conserve "$RB $PB" -p 2
	conserve "$RB $PB" -p 4 -a --rb-wakeup sampled --rb-sample-rate 50
	conserve "$RB" -p 8 --rb-batch-cnt 50 --rb-use-output
}

@test "conserved: small buffers, which drop" {
	conserve "$RB" --rb-size 4096
	dropped "$RB"
	conserve "$RB" --rb-size 4096 -p 2 --rb-sampled --rb-sample-rate 255
	dropped "$RB"
	conserve "$PB" --pb-pages 1 --rb-sampled
	dropped "$PB"
}

@test "conserved: the largest batch, and batches of one" {
	# on a busy machine a perf buffer may be written no whole batch in a second
	conserve "$RB $PB" --rb-batch-cnt 4000 -d3
	conserve "$RB" --rb-batch-cnt 4000 --rb-use-output --rb-sampled
	conserve "$PB" --rb-batch-cnt 1 -p 2
}

@test "conserved: records of all sizes" {
	for size in 9 1000; do
		conserve "$RB $PB" --rb-record-size "$size"
	done
	conserve "$RB" --rb-record-size 65536 -p 2
	dropped "$RB"
	conserve "$PB" --rb-record-size 65516 -p 2
	dropped "$PB"
}

@test "conserved: each way to wait for records" {
	for consume in epollet busy timer:5; do
		conserve "$RB $PB" --rb-consume "$consume" --rb-b2b
		nothing_dropped "$RB $PB"
		conserve "$RB $PB" --rb-consume "$consume" --rb-sampled -p 3
	done
}

@test "conserved: each way to wake the consumer" {
	conserve "$RB" --rb-wakeup always
	conserve "$RB" --rb-wakeup always --rb-consume epollet --rb-b2b
	nothing_dropped "$RB"
	conserve "$RB" --rb-wakeup never --rb-consume busy
}

# No consumer: the ring is full after its 32767 records, and then all is dropped. That is reported, also
# where it was full before the measured time, which is a failure.
@test "conserved: producers alone fill the ring once" {
	local full='bench: warning: nobody consumes, and the ring buffer was full after 32767 records: *'
	bench -w0 -d1 --interval 250 --rb-bench-producer -p 3 rb-custom
	error_line "$full"
	if ((status)); then
		exits 1
		error_line 'bench: rb-custom: failed: no hits in the measured time, and * drops'
	else
		calc 'drops > 0' drops="$(summary drops)"
		calc 'hits <= 0.034' hits="$(summary hits)"
	fi
	bench -q -w1 -d1 --rb-bench-producer -o "$BATS_TEST_TMPDIR/r" rb-custom
	exits 1
	error_line "$full"
	error_line 'bench: rb-custom: failed: no hits in the measured time, and * drops'
	jq -e '.status == "failed" and .conservation.submitted == 32767 and (.notes | length == 1)' \
		"$BATS_TEST_TMPDIR/r"
}

# ---- sizes are what was asked for

# Back-to-back into a ring that a batch does not fit into: of each batch, as many records are
# submitted as there is room for, (size - 1) / (record + 8, rounded up to 8), and the rest is dropped
fills() {
	local size=$1 record=$2 room=$3 name
	shift 3
	conserve "$RB" --rb-b2b --rb-size "$size" --rb-record-size "$record" "$@"
	for name in $RB; do
		OUT=$BATS_TEST_TMPDIR/$name.out
		calc 'hits > 0.99 * share * (hits + drops) - 0.001 && hits < 1.01 * share * (hits + drops) + 0.001' \
			hits="$(summary hits)" drops="$(summary drops)" share="$(awk "BEGIN { print $room / 500 }")"
	done
}

@test "rings and records have the size that was asked for" {
	page=$(getconf PAGESIZE)
	((page == 4096)) || skip 'a page is larger here'
	fills 4096 8 255
	fills 4096 9 170
	fills 65536 1000 65 --rb-use-output
	fills 524288 65536 7
}

# ---- what the options are for

@test "sampled wake-ups are rarer: far more records" {
	bench -q -w0 -d1 --rb-b2b pb-custom
	each=$(summary hits)
	bench -q -w0 -d1 --rb-b2b --rb-sampled pb-custom
	calc 'sampled > 3 * each' sampled="$(summary hits)" each="$each"
	bench -q -w0 -d1 --rb-b2b --rb-sampled --rb-sample-rate 1 rb-custom
	each=$(summary hits)
	bench -q -w0 -d1 --rb-b2b --rb-sampled --rb-sample-rate 500 rb-custom
	calc 'sampled > 3 * each' sampled="$(summary hits)" each="$each"
	bench -q -w0 -d1 --rb-b2b --rb-wakeup always rb-custom
	each=$(summary hits)
	bench -q -w0 -d1 --rb-b2b rb-custom
	calc 'adaptive > 3 * each' adaptive="$(summary hits)" each="$each"
}

# A batch every 50 ms: 20 batches a second at most, of 500 records each, and 1 s is rounded a little
@test "timer:MS is the time between batches" {
	conserve "$RB $PB" --rb-consume timer:50 --rb-b2b
	for name in $RB $PB; do
		OUT=$BATS_TEST_TMPDIR/$name.out
		calc 'hits > 0 && hits <= 0.0115' hits="$(summary hits)"
	done
}

# ---- latency

@test "--rb-latency: not without a consumer" {
	refused --rb-latency '' --rb-bench-producer --rb-latency --rb-bench-producer rb-custom
}

# A record that waits for a timer takes as long; without the option nobody knows
@test "--rb-latency: each record is timed, by each consumer and in each way to put it there" {
	for options in '--rb-batch-cnt 1 --rb-b2b' '--rb-consume timer:400' '-p 2 --rb-use-output --rb-record-size 12'; do
		# shellcheck disable=SC2086 # several options
		conserve "$RB $PB" --rb-latency $options -o "$BATS_TEST_TMPDIR/r"
	done
	jq -se 'length == 12 and all(.[]; .figures as $f |
		.conservation.timed == .conservation.consumed and
		(.conservation.identities | index("consumed = timed")) and
		$f.latency_median.mean > 0 and $f.latency_median.mean <= $f.latency_p99.mean and
		$f.latency_p99.mean < 6e7 and
		(if .params["rb-consume"] == "timer:400" then $f.latency_median.mean > 1e5 else true end))' \
		"$BATS_TEST_TMPDIR/r"
	bench -q -w0 -d1 --rb-b2b -o "$BATS_TEST_TMPDIR/off" rb-custom
	jq -e '.figures.latency_median.mean == null and (.conservation | has("timed") | not)' "$BATS_TEST_TMPDIR/off"
}

# What a record has can be compared
@test "--rb-latency: with -v, and for comparisons" {
	for _ in 1 2 3; do
		bench -q -w0 -d1 --interval 250 -v --rb-latency --rb-b2b -o "$BATS_TEST_TMPDIR/a" rb-custom
		error_line 'bench: note: latency_median * us'
		error_line 'bench: note: latency_p99 * us'
	done
	bench -C "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/a" --figure latency_p99
	exits 0
	grep -q us "$OUT"
}

# ---- the check is alive

# A library in front of libbpf: its callback for records swallows one, or hands one on twice
make_thief() {
	cat >"$BATS_TEST_TMPDIR/thief.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <bpf/libbpf.h>

static ring_buffer_sample_fn real_rb;
static perf_buffer_event_fn real_pb;

static int times(void)
{
	static int seen;

	return ++seen == 1000 ? atoi(getenv("THIEF")) : 1;
}

static int thief_rb(void *ctx, void *data, size_t size)
{
	int n = times(), err = 0;

	while (n--)
		err = real_rb(ctx, data, size);
	return err;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn cb, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	struct ring_buffer *(*next)(int, ring_buffer_sample_fn, void *,
				    const struct ring_buffer_opts *);

	next = dlsym(RTLD_NEXT, "ring_buffer__new");
	real_rb = cb;
	return next(fd, thief_rb, ctx, opts);
}

static enum bpf_perf_event_ret thief_pb(void *ctx, int cpu, struct perf_event_header *event)
{
	enum bpf_perf_event_ret ret = LIBBPF_PERF_EVENT_CONT;
	int n = times();

	while (n--)
		ret = real_pb(ctx, cpu, event);
	return ret;
}

struct perf_buffer *perf_buffer__new_raw(int fd, size_t pages, struct perf_event_attr *attr,
					 perf_buffer_event_fn cb, void *ctx,
					 const struct perf_buffer_raw_opts *opts)
{
	struct perf_buffer *(*next)(int, size_t, struct perf_event_attr *, perf_buffer_event_fn,
				    void *, const struct perf_buffer_raw_opts *);

	next = dlsym(RTLD_NEXT, "perf_buffer__new_raw");
	real_pb = cb;
	return next(fd, pages, attr, thief_pb, ctx, opts);
}
END
	"${CC:-cc}" -shared -fPIC -o "$BATS_TEST_TMPDIR/thief.so" "$BATS_TEST_TMPDIR/thief.c" -ldl
}

@test "one record too few or too many, of millions, is found" {
	[[ -z $SANITIZED ]] || skip 'sanitizers want to be the first library'
	ldd "$BENCH" | grep -q libbpf || skip 'this bench has libbpf in itself'
	make_thief
	for name in rb-libbpf pb-libbpf; do
		for copies in 0 1 2; do
			bench_by env LD_PRELOAD="$BATS_TEST_TMPDIR/thief.so" THIEF=$copies -- \
				-q -w0 -d1 --rb-sampled "$name"
			if ((copies == 1)); then
				exits 0
				continue
			fi
			exits 1
			no_output
			error_line "bench: $name: failed: $name miscounts: submitted = consumed does not hold: *"
			[[ $(<"$ERR") =~ hold:\ ([0-9]+)\ is\ not\ ([0-9]+) ]]
			((BASH_REMATCH[2] - BASH_REMATCH[1] == copies - 1))
		done
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What a run prints: the lines that scripts parse, to the byte and in their order, on standard output;
# everything else on standard error. And that the figures on them fit together.

load helpers

teardown() {
	kill_started
}

# printf FORMAT NUMBERS must give back the very line that the numbers were taken from: so widths,
# precision and all words are right
# shellcheck disable=SC2059,SC2086 # the format is ours; one word for each number
same_as() {
	local line=$1 format=$2 numbers
	numbers=$(sed -E -e 's/[^0-9.-]+/ /g' <<<"$line")
	[[ $(printf "$format" $numbers) == "$line" ]] || {
		printf '%s\n' "$line" "$(printf "$format" $numbers)"
		fail 'this is not the format'
	}
}

iter_line() {
	same_as "$1" 'Iter %3d (%7.3fus): hits %8.3fM/s (%7.3fM/prod), drops %8.3fM/s, total operations %8.3fM/s'
}

summary_line() {
	same_as "$1" 'Summary: hits %8.3f ± %5.3fM/s (%7.3fM/prod), drops %8.3f ± %5.3fM/s, total operations %8.3f ± %5.3fM/s'
}

ops_iter_line() {
	same_as "$1" 'Iter %3d (%7.3fus): hits %8.3fM/s (%7.3fM/prod)'
}

ops_summary_line() {
	same_as "$1" 'Summary: throughput %8.3f ± %5.3f M ops/s (%7.3fM ops/prod), latency %8.3f ns/op'
}

# Standard output of a whole run of benchmark $1: each line where it belongs, and nothing else
whole_output() {
	local name=$1 iter=$2 summary=$3 lines i n
	mapfile -t lines <"$OUT"
	n=${#lines[@]}
	((n >= 4))
	[[ ${lines[0]} == "Setting up benchmark '$name'..." ]] || fail 'line 1'
	[[ ${lines[1]} == "Benchmark '$name' started." ]] || fail 'line 2'
	for ((i = 2; i < n - 1; i++)); do
		[[ ${lines[i]} == "Iter $(printf %3d $((i - 2))) ("* ]] || fail "line $((i + 1))"
		"$iter" "${lines[i]}"
	done
	"$summary" "${lines[n - 1]}"
	# the last line is a whole one
	[[ $(tail -c1 "$OUT") == '' ]]
}

@test "lines of rb-custom, to the byte and in order" {
	bench -w1 -d2 rb-custom
	exits 0
	whole_output rb-custom iter_line summary_line
}

@test "lines of all benchmarks that move records or count" {
	for name in count-local rb-libbpf pb-custom; do
		bench -w0 -d1 --interval 250 "$name"
		exits 0
		whole_output "$name" iter_line summary_line
	done
}

@test "lines of benchmarks that report operations" {
	bench -w0 -d1 --interval 250 bpf-loop
	exits 0
	whole_output bpf-loop ops_iter_line ops_summary_line
}

@test "a benchmark that is called by another name prints its own" {
	bench -w0 -d1 trig-base
	exits 0
	[[ $(head -n1 "$OUT") == "Setting up benchmark 'trig-syscall-count'..." ]]
}

@test "-q: the summary and nothing else on standard output" {
	bench -q -w0 -d1 rb-custom
	exits 0
	[[ $(wc -l <"$OUT") == 1 ]]
	summary_line "$(<"$OUT")"
	run -1 grep 'note:' < <(grep -v 'note: attached by' "$ERR")
}

@test "-v: what libbpf prints goes to standard error" {
	bench -v -w0 -d1 rb-custom
	exits 0
	whole_output rb-custom iter_line summary_line
	error_line 'libbpf: *'
	bench -w0 -d1 rb-custom
	no_error_line 'libbpf: *'
}

@test "each line on standard error begins with the program's name" {
	bench -a -w0 -d1 -p 7 rb-custom
	exits 0
	run -1 grep -v '^bench: \(note\|warning\): ' "$ERR"
	(($(nproc) >= 8)) || error_line 'bench: warning: 8 threads on * CPU*: they preempt each other'
}

# ---- samples

# Checks the Iter lines of a run with -w $1 -d $2 --interval $3. A busy machine may be late with a
# sample; what is held here has to be right however late it is. Where no tick of the timer was seen
# late by a quarter of the interval or more, there are exactly $4 of them.
samples_fit() {
	sed -nE 's/^Iter *([0-9]+) \( *(-?[0-9.]+)us\).*/\1 \2/p' "$OUT" |
		awk -v warmup="$1" -v duration="$2" -v interval="$3" -v exact="$4" '
		function no(what) { print "samples: " what; failed = 1; exit 1 }
		BEGIN { i = interval / 1000 }
		$1 != n++ { no("line " n " is number " $1) }
		full { no("one more after all was measured") }
		{
			dt = i + $2 / 1e6
			if (dt <= 0)
				no("an interval of " dt " s")
			if (t >= warmup - 1e-6)
				measured += dt
			t += dt
			if (t < n * i - 1e-6)
				no("number " $1 " came before its time")
			if (t >= n * i + i / 4)
				late = 1
			full = measured + i / 2 >= duration - 1e-6
		}
		END {
			if (failed)
				exit 1
			if (!full)
				no("only " measured " s were measured")
			if (!late && n != exact)
				no(n " of them, not " exact)
		}'
}

@test "-w1 -d2: three samples" {
	bench -w1 -d2 count-local
	exits 0
	samples_fit 1 2 1000 3
}

@test "--interval 100 -d1 -w0: ten samples" {
	bench -w0 -d1 --interval 100 rb-custom
	exits 0
	samples_fit 0 1 100 10
}

@test "intervals that do not fit into the times" {
	# those that begin at 0, 0.45 and 0.9 s are the warm-up; two more make 0.9 of 1 s
	bench -w1 -d1 --interval 450 count-local
	exits 0
	samples_fit 1 1 450 5
	bench -w0 -d1 --interval 7 count-global
	exits 0
	samples_fit 0 1 7 143
	bench -w0 -d1 --interval 1000 count-global
	exits 0
	samples_fit 0 1 1000 1
	error_line 'bench: note: one sample only*'
}

# Mean and deviation from the lines: hits (or drops, or both) weighted by the true intervals, those of
# the warm-up left out. Each rate on a line is rounded to 0.0005.
summary_fits() {
	sed -nE 's/^Iter *([0-9]+) \( *(-?[0-9.]+)us\): hits +([0-9.]+)M.* drops +([0-9.]+)M.* operations +([0-9.]+)M.*/\1 \2 \3 \4 \5/p' "$OUT" |
		awk -v warmup="$1" -v interval="$2" -v summary="$(tail -n1 "$OUT")" '
		function no(what, got, want) {
			print what ": the summary has " got ", the samples make " want
			failed = 1
		}
		function abs(x) { return x < 0 ? -x : x }
		{
			dt = interval / 1000 + $2 / 1e6
			if (abs($3 + $4 - $5) > 0.00151)
				no("total of sample " $1, $5, $3 + $4)
			if (t >= warmup - 1e-6) {
				w[++n] = dt
				time += dt
				for (k = 1; k <= 3; k++) {
					rate[k, n] = $(k + 2)
					count[k] += $(k + 2) * dt
				}
			}
			t += dt
		}
		END {
			gsub(/[^0-9.]+/, " ", summary)
			split(summary, s, " ")
			# hits, deviation, per producer, drops, deviation, total, deviation
			at[1] = 1; at[2] = 4; at[3] = 6
			if (!n)
				no("samples", 0, "some")
			for (k = 1; k <= 3; k++) {
				mean = count[k] / time
				if (abs(mean - s[at[k]]) > 0.00101)
					no("mean " k, s[at[k]], mean)
				squares = 0
				for (i = 1; i <= n; i++)
					squares += w[i] * (rate[k, i] - mean) ^ 2
				deviation = n > 1 ? sqrt(squares / (time * (n - 1) / n)) : 0
				if (abs(deviation - s[at[k] + 1]) > 0.00201)
					no("deviation " k, s[at[k] + 1], deviation)
			}
			exit failed
		}'
}

@test "the summary is made of the samples" {
	bench -w0 -d1 --interval 100 rb-custom
	exits 0
	summary_fits 0 100
	bench -w0 -d1 --interval 100 --rb-size 4096 --rb-b2b rb-libbpf
	exits 0
	summary_fits 0 100
	bench -w0 -d1 --interval 50 count-global
	exits 0
	summary_fits 0 50
}

@test "the warm-up is not in the summary" {
	bench -w1 -d1 --interval 200 rb-custom
	exits 0
	summary_fits 1 200
}

@test "the figure for a producer is that of all, divided" {
	for producers in 1 3; do
		bench -w0 -d1 --interval 250 -p "$producers" rb-custom
		exits 0
		sed -nE 's/.*hits +([0-9.]+)(M\/s| ± [0-9.]+M\/s) \( *([0-9.]+)M\/prod\).*/\1 \3/p' "$OUT" |
			awk -v p="$producers" '
			{ n++; d = $1 / p - $2; if (d > 0.00067 || d < -0.00067) bad = 1 }
			END { exit n < 3 || bad }'
	done
}

# ---- scripts made for the kernel selftests' bench

# They take the whole output, make one line of it, and then look for the last 'NAME  a ± b'
old_script() {
	local flat
	flat=$(tr -s ' \n' '  ' <"$OUT")
	[[ $flat =~ .*$1\ ([0-9]+\.[0-9]+\ ±\ [0-9]+\.[0-9]+$2) ]] || fail "no '$1' for an old script"
	echo "${BASH_REMATCH[1]}"
}

@test "scripts made for the kernel selftests' bench find what they look for" {
	local flat
	bench -w1 -d1 --interval 250 rb-custom
	exits 0
	flat=$(tail -n1 "$OUT" | tr -s ' ')
	[[ $flat == "Summary: hits $(old_script hits 'M/s') ("* ]]
	[[ $flat == *", drops $(old_script drops 'M/s'), "* ]]
	[[ $flat == *", total operations $(old_script 'total operations' 'M/s')" ]]

	bench -w0 -d1 bpf-loop
	exits 0
	flat=$(tail -n1 "$OUT" | tr -s ' ')
	[[ $flat == *"throughput $(old_script throughput ' M ops/s') ("* ]]
	[[ $flat =~ latency\ [0-9]+\.[0-9]+\ ns/op$ ]]
}

# ---- where it goes

@test "lines come when they are printed, also into a file" {
	start -w0 -d 60 --interval 100 count-local
	await '^Iter   2 '
	[[ -e /proc/$pid ]]
	[[ $(sed -n 2p "$OUT") == "Benchmark 'count-local' started." ]]
	kill -INT "$pid"
	finish
}

@test "standard output is full: an error, and nothing is left" {
	_files
	"$BENCH" -w0 -d2 rb-custom >/dev/full 2>"$ERR" 3>&- 4>&- &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		! held_by "$pid" | grep -q link || break
		sleep 0.05
	done
	held=$(held_by "$pid")
	[[ $held == *prog* && $held == *link* ]]
	: >"$OUT"
	finish
	exits 1
	error_line 'bench: *standard output*No space left on device'
	gone "$held"
}

@test "standard output is full: not only runs" {
	for args in -l '-q -w0 -d1 count-local' --show-env --help --version; do
		_files
		: >"$OUT"
		status=0
		# glibc itself leaks four bytes over --help
		# shellcheck disable=SC2086 # words
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 "$BENCH" $args >/dev/full 2>"$ERR" || status=$?
		_show "$args"
		exits 1
		error_line 'bench: *standard output*No space left on device'
	done
}

@test "standard output is closed" {
	_files
	: >"$OUT"
	status=0
	"$BENCH" -w0 -d1 -q count-local >&- 2>"$ERR" 3>&- 4>&- || status=$?
	exits 1
	error_line 'bench: *standard output*Bad file descriptor'
}

# Else what is meant for the user would be written into a map, or a file that records go to
@test "closed standard descriptors are not taken by anything else" {
	local fd
	_files
	: >"$OUT"
	"$BENCH" -w0 -d5 rb-custom <&- >&- 2>&- 3>&- 4>&- &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		! held_by "$pid" | grep -q link || break
		sleep 0.05
	done
	for fd in 0 1 2; do
		echo "$fd: $(readlink /proc/"$pid"/fd/"$fd" || true)"
		[[ $(readlink /proc/"$pid"/fd/"$fd" || true) =~ ^(/dev/null)?$ ]]
	done
}

@test "who reads the output goes away: bench ends" {
	_files
	mkfifo "$OUT.pipe"
	start_to_pipe() {
		"$@" "$BENCH" -w0 -d3 --interval 100 rb-custom >"$OUT.pipe" 2>"$ERR" 3>&- 4>&- &
		pid=$!
		head -n3 <"$OUT.pipe" >"$OUT"
	}
	# it dies of the signal, as is usual
	start_to_pipe env --default-signal=PIPE
	finish 30
	exits 141
	[[ $(wc -l <"$OUT") == 3 ]]
	# or write(2) returns it
	start_to_pipe env --ignore-signal=PIPE
	finish 30
	exits 1
	error_line 'bench: *standard output*Broken pipe'
}

# ---- failures

@test "what cannot run prints nothing on standard output" {
	bench -w0 -d1 --rb-overwrite --rb-bench-producer rb-custom
	((status == 4)) || skip 'this kernel has BPF_F_RB_OVERWRITE'
	no_output
	one_error_line 'bench: rb-custom: unavailable: this kernel has no BPF ring buffer that overwrites (BPF_F_RB_OVERWRITE): requires Linux 6.19 or newer'
}

@test "a run in which nothing is consumed fails, and is not summed up" {
	bench -w0 -d1 --rb-consume timer:10000 -o "$BATS_TEST_TMPDIR/record" rb-custom
	exits 1
	error_line 'bench: rb-custom: failed: no hits in the measured time, and * drops'
	run -1 grep Summary "$OUT"
	jq -e '.status == "failed"' "$BATS_TEST_TMPDIR/record"
}

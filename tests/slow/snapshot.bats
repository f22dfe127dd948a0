#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# A kernel's snapshot: --all, and --resume after it was cut short.
#
# shellcheck disable=SC2154 # pid is set by the helpers

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	RECORDS=$BATS_TEST_TMPDIR/all.jsonl
}

teardown() {
	kill_started
}

# Wait until file $RECORDS has $1 lines
await_records() {
	local i
	for ((i = 0; i < TIME_LIMIT * 20; i++)); do
		[[ ! -e $RECORDS ]] || (($(wc -l <"$RECORDS") < $1)) || return 0
		[[ -e /proc/$pid ]] || break
		sleep 0.05
	done
	_show
	fail "there are no $1 records"
}

# A complete file of 'bench --all -r2 -o all.jsonl' as of an earlier boot, but for the runs that the
# jq condition $1 names; from one real record
make_records() {
	[[ -e one ]] || bench -q -w0 -d1 -o one count-local
	"$BENCH" --show-tables >tables
	jq -c --slurpfile tables tables --argjson dropped "$(jq -n "$1")" '
		. as $one | $tables[0].families[].benchmarks[] | . as $b | range(2) as $run
		| select([$b.name, $run] | IN($dropped[]) | not)
		| $one | .bench = $b.name | .argv = ["bench", "--all", "-r2", "-o", "all.jsonl"]
		| .samples = [{ t_ns: 0, dt_ns: 1000000000 }
			+ ([$b.figures[] | select(.raw) | { key: .name, value: (1000000 * (1 + $run)) }] | from_entries)]' \
		one >"$RECORDS"
}

@test "--all: 8 rounds of a second, all benchmarks by turns; Ctrl-C keeps what there is" {
	start_with --default-signal=INT -- --all -o "$RECORDS"
	await_records 3
	kill -INT "$pid"
	finish
	exits 130
	jq -es '.[:3] | all(.status == "ok" and .config.warmup_s == 0 and .config.duration_s == 1)' "$RECORDS"
	# the first round has each once, as they are listed
	diff <(jq -r .bench "$RECORDS" | head -n3) \
		<("$BENCH" -l | sed -n 's/^- //p' | grep -xF -f <(jq -r .bench "$RECORDS" | head -n3))
	# one summary each, with the benchmark's name, and no line of a sample
	(($(grep -c "^Over 1 run of '" "$OUT") >= 3))
	(($(grep -c '^Summary: ' "$OUT") == $(grep -c '^Over ' "$OUT")))
	run -1 grep -E '^(Iter|Setting up)' "$OUT"
	error_line "bench: note: $RECORDS keeps what was measured; the same command with --resume goes on"
}

@test "--all: what is given stays, in any order and spelling" {
	start_with --default-signal=INT -- -w1 --dura 2 --all -r 1 -o "$RECORDS"
	await_records 1
	kill -INT "$pid"
	finish
	jq -es '.[0].config | .warmup_s == 1 and .duration_s == 2' "$RECORDS"
}

@test "--resume: goes on where the file ends, and sums up all runs" {
	make_records '[["count-global", 1], ["count-local", 0], ["count-local", 1]]'
	cp "$RECORDS" before
	# torn by a power failure
	head -n1 before | head -c 200 >>"$RECORDS"
	bench --all -r2 --resume -o all.jsonl
	exits 0
	error_line "bench: warning: -o, --output: 'all.jsonl' ended in the middle of a record: cut off"
	head -n "$(wc -l <before)" "$RECORDS" | cmp - before
	# round by round: what lacks two runs comes first
	diff <(tail -n +$(($(wc -l <before) + 1)) "$RECORDS" | jq -r .bench) - <<-'END'
		count-local
		count-global
		count-local
	END
	# runs of both processes, which were 1.000 and 2.000 M/s where they were made up
	(($(grep -c "^Over 2 runs of '" "$OUT") == $(jq -r .bench "$RECORDS" | sort -u | wc -l)))
	grep -A1 "^Over 2 runs of 'bpf-loop'" "$OUT" | grep -q '^Summary: throughput *1.500 ± 0.707 M ops/s'
	# all is done: nothing runs
	cp "$RECORDS" before
	bench --all -r2 -o all.jsonl --resume
	exits 0
	cmp before "$RECORDS"
	grep -q "^Over 2 runs of 'bpf-loop'" "$OUT"
}

@test "--resume: what was cut short is done again, what failed is not" {
	make_records '[["count-local", 1]]'
	sed -i '/"bench":"count-local"/s/"status":"ok"/"status":"interrupted"/
		/"bench":"rb-custom"/s/"status":"ok"/"status":"failed"/' "$RECORDS"
	cp "$RECORDS" before
	bench --all -r2 --resume -o all.jsonl
	exits 1
	error_line 'bench: note: rb-custom failed before: it is not run again'
	diff <(tail -n +$(($(wc -l <before) + 1)) "$RECORDS" | jq -r .bench) <(printf '%s\n' count-local count-local)
}

@test "--resume: without a file, or with an empty one, it is the same command" {
	bench -q -w0 -d1 -r2 --resume -o all.jsonl count-local
	exits 0
	(($(wc -l <all.jsonl) == 2))
	: >all.jsonl
	bench -q -w0 -d1 -r2 --resume -o all.jsonl count-local
	exits 0
	(($(wc -l <all.jsonl) == 2))
}

# refused_resume PATTERN ARGS...: one line, 64, and the file stays
refused_resume() {
	cp all.jsonl before
	bench "${@:2}"
	exits 64
	one_error_line "$1"
	no_output
	cmp before all.jsonl
}

@test "--resume: refused with other arguments, on another kernel, or of no records" {
	make_records '[["count-local", 1]]'
	refused_resume "bench: --resume: 'all.jsonl' was written by a command with other arguments" \
		--all -r3 --resume -o all.jsonl
	refused_resume "bench: --resume: 'all.jsonl' was written by a command with other arguments" \
		--all -r2 --resume -o all.jsonl -q
	refused_resume "bench: --resume: 'all.jsonl' was written by a command with other arguments" \
		--all --resume -o all.jsonl
	refused_resume 'bench: --resume: requires -o FILE*' --all -r2 --resume
	refused_resume 'bench: --resume: requires -o FILE*' --all -r2 --resume -o -
	jq -c '.env.kernel_release = "6.1.0"' all.jsonl >other
	mv other all.jsonl
	refused_resume "bench: --resume: 'all.jsonl' is of Linux 6.1.0, and this is $(uname -r)" \
		--all -r2 --resume -o all.jsonl
	jq -c '.schema = 1' before >all.jsonl
	refused_resume "bench: --resume: 'all.jsonl' was written by another version of bench" \
		--all -r2 --resume -o all.jsonl
	jq -c '.schema = 3' before >all.jsonl
	refused_resume 'bench: --resume: all.jsonl:1: a record of schema 3, *' --all -r2 --resume -o all.jsonl
	echo 'no record' >all.jsonl
	refused_resume 'bench: --resume: all.jsonl:1: *' --all -r2 --resume -o all.jsonl
	mkfifo pipe
	cat pipe >/dev/null &
	bench --all -r2 --resume -o pipe
	exits 64
	one_error_line "bench: --resume: 'pipe' is no file*"
}

@test "--resume: refused while another one writes to the file" {
	start_with --default-signal=INT -- -q -w0 -d1 -r9 --resume -o "$RECORDS" count-local
	await_records 1
	bench -q -w0 -d1 -r9 --resume -o "$RECORDS" count-local
	exits 1
	one_error_line "bench: count-local: failed: --resume: another bench is writing to '$RECORDS'"
	kill -INT "$pid"
	finish
	exits 130
	bench -q -w0 -d1 -r2 --resume -o "$RECORDS" count-local
	exits 64
}

@test "--all: what cannot run here is listed at the end, with the reason" {
	make_records '[]'
	# without any capability, what has BPF cannot
	bench_by setpriv --bounding-set=-all --inh-caps=-all -- --all -r2 --resume -o all.jsonl
	exits 0
	error_line 'bench: note: skipped rb-custom: *'
	(($(grep -c 'skipped rb-custom' "$ERR") == 1))
	no_error_line 'bench: note: skipped count-local: *'
}

@test "--all: a line of progress on a terminal, with the time left" {
	command -v script >/dev/null || skip 'script not found'
	make_records '[["count-local", 0], ["count-local", 1], ["rb-custom", 1]]'
	TERM=xterm timeout 60 script -qec "'$BENCH' --all -r2 --resume -o all.jsonl" pty >/dev/null 3>&- 4>&-
	tr '\r' '\n' <pty >lines
	grep -qE 'round 1 of 2, count-local, [0-9]+ s left$' lines
	grep -qE 'round 2 of 2, rb-custom, [0-9]+ s left$' lines
	# of three runs of a second, the first one: 3 s; the last one: 1 s
	grep -qE 'round 1 of 2, count-local, [345] s left$' lines
	grep -qE 'round 2 of 2, (rb-custom|count-local), [01] s left$' lines
}

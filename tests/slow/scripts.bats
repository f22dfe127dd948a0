#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The sweeps and scripts/: mostly with a fake bench, whose answers are known; a few runs of the real
# one.
# shellcheck disable=SC2016 # programs of awk and jq, and the fake bench
# shellcheck disable=SC2030,SC2031 # each test is a process, and sets its own output

bats_require_minimum_version 1.5.0

setup_file() {
	cat >"$BATS_FILE_TMPDIR/fake" <<'FAKE'
#!/bin/bash
# Writes its arguments to $CALLS. Answers by the first line of $ANSWERS whose pattern (up to a '=')
# the arguments match: a rate, 'exit N TEXT', or 'sleep N'. $DRIFT thousandths are added to the rate
# each call.
if [[ $1 == -C || $1 == --show-tables ]]; then
	exec "$REAL" "$@"
fi
trap 'echo stopped >>"$CALLS"; exit 143' TERM INT
echo "$*" >>"$CALLS"
mapfile -t calls <"$CALLS"
rate=10
while IFS='=' read -r pattern answer; do
	# shellcheck disable=SC2053 # it is a pattern
	[[ " $* " == *$pattern* ]] || continue
	rate=$answer
	break
done <"$ANSWERS"
case $rate in
exit*)
	read -r _ status text <<<"$rate"
	echo "$text" >&2
	exit "$status"
	;;
sleep*)
	sleep "${rate#sleep }" &
	wait $!
	rate=10
	;;
esac
argv='' params='' out='' name='' producers=1
for word in "$0" "$@"; do
	argv+="${argv:+,}\"$word\""
done
while (($#)); do
	case $1 in
	-o) out=$2 && shift ;;
	-p?*) producers=${1#-p} ;;
	--interval | --precision | --prod-affinity | --cons-affinity) shift ;;
	--rb-b2b | --rb-sampled | --rb-use-output | --rb-overwrite | --rb-bench-producer)
		params+=",\"${1#--}\":true"
		;;
	--verify) echo 'bench: note: verified: the kernel counts 1234 runs too' >&2 ;;
	--*) params+=",\"${1#--}\":$2" && shift ;;
	-*) ;;
	*) name=$1 ;;
	esac
	shift
done
case $name in
rb-* | pb-*) params=",\"rb-b2b\":false,\"rb-sampled\":false,\"rb-batch-cnt\":500,\"rb-sample-rate\":500$params" ;;
esac
# In thousandths, with no process of its own: tests make hundreds of calls
[[ $rate == *.* ]] || rate+=.000
n=${rate#*.}000
n=$((${rate%.*} * 1000 + 10#${n::3} + ${#calls[@]} * ${DRIFT:-1}))
printf -v rate '%d.%03d' $((n / 1000)) $((n % 1000))
[[ -z ${WARNING:-} ]] || echo "bench: warning: $WARNING" >&2
printf -v second %02d $((${#calls[@]} % 60))
env='"time":"2026-11-30T11:37:'$second'+00:00","host":"h","kernel_release":"'${RELEASE:-6.18.44}'","kernel_version":"#1","machine":"x86_64","cpu_model":"Some CPU","cpus_online":2,"cpus_allowed":2,"smt":"off","governor":"'${GOVERNOR:-performance}'","freq_min_khz":"unknown","freq_max_khz":"unknown","mitigations":"none","virtualization":"'${VIRT:-none}'","jit":"1","libbpf":"v1.1","bench":"0.1"'
[[ -z $out ]] || printf '%s\n' "{\"schema\":1,\"bench\":\"$name\",\"argv\":[$argv],\"params\":{${params#,}},\"config\":{\"producers\":$producers,\"consumers\":1,\"warmup_s\":0,\"duration_s\":1,\"interval_ms\":100,\"prod_cpus\":\"1\",\"cons_cpus\":\"0\",\"attach\":\"tp\"},\"env\":{$env},\"noise\":{\"steal_pct\":${STEAL:-0},\"invol_switches\":0,\"migrations\":0,\"strayed\":false},\"samples\":[{\"t_ns\":0,\"dt_ns\":1000000000,\"hits\":1000000,\"drops\":0,\"false_hits\":${FALSE_HITS:-0}}],\"summary\":{\"report\":\"hits_drops\",\"unit\":\"M/s\",\"mean\":$rate,\"stddev\":0.1,\"median\":$rate,\"ci95_low\":$rate,\"ci95_high\":$rate,\"n\":10,\"drops_mean\":${DROPS:-0.0},\"drops_stddev\":0.0,\"latency_ns\":null,\"false_hits_pct\":null},\"conservation\":null,\"status\":\"${STATUS:-ok}\"}" >>"$out"
echo "Setting up benchmark '$name'..."
case $name in
bpf-loop) printf 'Summary: throughput %8.3f ± 0.100 M ops/s (%7.3fM ops/prod), latency %8.3f ns/op\n' "$rate" "$rate" 4.5 ;;
bloom-false-positive) echo 'Summary: 24 false hits of 1000 total operations. Percentage =  2.40 %' ;;
*) printf 'Summary: hits %8.3f ± 0.100M/s (%7.3fM/prod), drops    0.500 ± 0.010M/s, total operations %8.3f ± 0.200M/s\n' "$rate" "$rate" "$rate" ;;
esac
FAKE
	chmod +x "$BATS_FILE_TMPDIR/fake"
}

setup() {
	TOP=$BATS_TEST_DIRNAME/../..
	SWEEPS=$TOP/benchs
	SCRIPTS=$TOP/scripts
	REAL=$(realpath "${BENCH:-./bench}")
	BENCH=$BATS_FILE_TMPDIR/fake
	CALLS=$BATS_TEST_TMPDIR/calls
	ANSWERS=$BATS_TEST_TMPDIR/answers
	export BENCH REAL CALLS ANSWERS
	unset WARMUP DURATION RUNS RECORDS PRECISION INTERVAL PROD_CNT VALUE_SIZES THREADS HASHES ENTRIES
	: >"$CALLS"
	: >"$ANSWERS"
	cd "$BATS_TEST_TMPDIR" || return
}

# 'PATTERN=ANSWER' for the fake bench, see above
answer() {
	printf '%s\n' "$@" >"$ANSWERS"
}

calls() {
	wc -l <"$CALLS"
}

sweeps() {
	ls "$SWEEPS"/run_bench_*.sh
}

all_scripts() {
	sweeps
	printf '%s\n' "$SCRIPTS"/{ab,claims,insns,plot,cover-letter}.sh
}

# Waits until $1, a condition, holds; 10 s at most
wait_for() {
	local i
	for ((i = 0; i < 100; i++)); do
		! eval "$1" || return 0
		sleep 0.1
	done
	return 1
}

# A folder of an ordinary user, with all that the scripts need and the sudo $1
user_home() {
	HOME_DIR=$(mktemp -d)
	cp -r "$SWEEPS" "$SCRIPTS" "$BENCH" "$1" "$HOME_DIR/"
	touch "$HOME_DIR/calls" "$HOME_DIR/answers"
	chown -R 65534 "$HOME_DIR"
	chmod -R a+rX "$HOME_DIR"
}

# as_user SCRIPT ARGUMENT...
as_user() {
	PATH=$HOME_DIR:$PATH BENCH=$HOME_DIR/fake CALLS=$HOME_DIR/calls ANSWERS=$HOME_DIR/answers \
		TMPDIR=$HOME_DIR run -0 setpriv --reuid 65534 --clear-groups "$HOME_DIR/$1" "${@:2}"
}

teardown() {
	[[ -z ${HOME_DIR:-} ]] || rm -rf "$HOME_DIR"
}

no_line_over() {
	! grep -nE "^.{$(($1 + 1)),}" <<<"$output"
}

# ---- all of them

@test "--help: usage, options, exit status" {
	local script
	while read -r script; do
		run -0 --separate-stderr "$script" --help
		[ -z "$stderr" ]
		[[ $output == "Usage: $(realpath --relative-to="$TOP" "$script") "* ]]
		[[ $output == *'  -h, --help '*'this text'* ]]
		[[ $output == *'xit status'*'64 usage'* ]]
		no_line_over 90
	done < <(all_scripts)
	[ "$(calls)" -eq 0 ]
}

@test "a wrong command line is refused with 64, one line, and nothing run" {
	local script words
	while read -r script; do
		for words in --no-such-option '--bench /nonexistent x y'; do
			# shellcheck disable=SC2086 # words
			run -64 --separate-stderr "$script" $words
			[ -z "$output" ]
			[ "$(wc -l <<<"$stderr")" -eq 1 ]
		done
	done < <(all_scripts)
	run -64 --separate-stderr "$SWEEPS/run_bench_rename.sh" -d 5x
	[ "$stderr" = "run_bench_rename: --duration: invalid value '5x': expected a whole number above 0" ]
	DURATION=0 run -64 "$SWEEPS/run_bench_rename.sh"
	run -64 "$SWEEPS/run_bench_rename.sh" -r
	run -64 "$SWEEPS/run_bench_rename.sh" rawtp
	run -64 "$SWEEPS/run_bench_rename.sh" --quick=1
	run -64 "$SWEEPS/run_bench_rename.sh" -o /nonexistent/x
	run -64 "$SWEEPS/run_bench_bloom_filter_map.sh" --entries 10,20
	run -64 "$SCRIPTS/ab.sh" x y z
	[ "$(calls)" -eq 0 ]
}

# Of a user's environment: POSIXLY_CORRECT ends getopt's options at the first argument
@test "options may follow arguments, and -- ends them" {
	POSIXLY_CORRECT=1 run -0 "$SWEEPS/run_bench_trigger.sh" tp --quick -n -- -q --attach 'a b'
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *'/fake -w0 -d1 -a --interval 100 -q --attach a b -p1 trig-tp' ]]
}

@test "progress: as wide as the terminal, and none on TERM=dumb" {
	local screen
	answer '=10'
	screen=$(TERM=xterm script -qec "stty cols 30; '$SWEEPS/run_bench_rename.sh' -q" /dev/null)
	grep -q 'rename-base' <<<"$screen"
	# Each is drawn after a carriage return, up to the erasure of what is behind it
	tr '\r' '\n' <<<"$screen" | sed -n 's/\x1b\[K.*//p' >shown
	[ -s shown ]
	run ! grep -E '.{30}' shown
	screen=$(TERM=dumb script -qec "'$SWEEPS/run_bench_rename.sh' -q" /dev/null)
	[[ $screen != *$'\e'* ]]
}

# ---- sweeps: the shape of the published results

# 'SECTION|ROW' for each row that $output has
printed_rows() {
	awk '/^=+$/ { section = last; next }
	     / ± / { row = substr($0, 1, 20); sub(/ +$/, "", row); print section "|" row }
	     { last = $0 }' <<<"$output"
}

@test "ring buffers: sections and rows are the published ones, and two sections more" {
	run -0 --separate-stderr "$SWEEPS/run_bench_ringbufs.sh" --all-producers --precision 0
	printed_rows | grep -v -e '^Perfbuf, multi-producer|' -e '^Ringbuf.*overwrite' | sort >rows
	awk -F '\t' '!/^#/ && $1 != "section" { print $1 "|" $2 }' \
		"$TOP/reference/ringbuf_perfbuf.tsv" | sort >published
	[ "$(wc -l <published)" -eq 62 ]
	diff published rows
	[ "$(printed_rows | grep -c '^Perfbuf, multi-producer|pb-libbpf nr_prod ')" -eq 16 ]
	[ "$(printed_rows | grep -c '^Ringbuf, multi-producer contention in overwrite mode, no consumer|rb-prod nr_prod ')" -eq 16 ]
	# The underline is as long as the heading, the row as the kernel's scripts print it
	[[ $output == *$'\nSingle-producer, parallel producer\n==================================\nrb-libbpf            10.001 ± 0.100M/s (drops 0.500 ± 0.010M/s)\n'* ]]
	[ "$(calls)" -eq 94 ]
	grep -qx -e '-w3 -d10 -a --interval 1000 --rb-b2b --rb-batch-cnt 25 --rb-sampled --rb-sample-rate 25 pb-custom' "$CALLS"
	grep -qx -e '-w3 -d10 -a --interval 1000 -p52 --rb-batch-cnt 50 --rb-overwrite --rb-bench-producer rb-libbpf' "$CALLS"
}

@test "bpf_loop: the published points, in the form of the kernel's script" {
	run -0 --separate-stderr "$SWEEPS/run_bench_bpf_loop.sh"
	sed -nE 's/.*-p1 --nr_loops ([0-9]+) bpf-loop$/\1/p' "$CALLS" >points
	awk '!/^#/ && $1 != "nr_loops" { print $1 }' "$TOP/reference/bpf_loop.tsv" | diff - points
	[[ $output == $'\tnr_loops: 10, nr_threads: 1\nbpf_loop:            throughput: 10.001 ± 0.100 M ops/s, latency: 4.500 ns/op\n\n\tnr_loops: 100,'* ]]
}

@test "bloom filter: the published grid, in the form of the kernel's script" {
	local benchmark
	"$SWEEPS/run_bench_bloom_filter_map.sh" --dry-run >dry
	awk -v OFS='\t' '!/^#/ && $1 ~ /^[0-9]/ { print $1, $2, $3 }' \
		"$TOP/reference/bloom_filter.tsv" | sort >published
	for benchmark in bloom-lookup bloom-update bloom-false-positive; do
		sed -nE "s/.*-p1 --nr_hash_funcs ([0-9]+) --nr_entries ([0-9]+) --value_size ([0-9]+) $benchmark\$/\1\t\2\t\3/p" dry |
			sort | diff published -
	done
	[ "$(grep -c -e 'hashmap-with-bloom$' dry)" -eq 60 ]
	[ "$(grep -c -e 'hashmap-without-bloom$' dry)" -eq 60 ]

	run -0 --separate-stderr "$SWEEPS/run_bench_bloom_filter_map.sh" -q --hashes 3 --entries '50000 1000000'
	[[ $output == *$'\tvalue_size: 8 bytes, # threads: 1, # hashes: 3\n50,000 entries -\n\tLookups, total operations:  10.001 ± 0.100M/s (drops 0.500 ± 0.010M/s)\n\tUpdates, total operations:  10.002'*$'\n\tFalse positive rate:  2.40%\n1,000,000 entries -\n'* ]]
	[[ $output == *$'\n\tHashmap with bloom filter:  10.0'*' ± 0.200M/s'* ]]
}

@test "bloom filter: values that there cannot be are no points" {
	run -0 "$SWEEPS/run_bench_bloom_filter_map.sh" --dry-run --value-sizes '2 4' --hashes 1 --entries '65535 65536'
	[ "$(grep -c -e '--nr_entries 65535 --value_size 2 ' <<<"$output")" -eq 5 ]
	[ "$(grep -c -e '--nr_entries 65536 --value_size 2 ' <<<"$output")" -eq 0 ]
	[ "$(grep -c -e '--nr_entries 65536 --value_size 4 ' <<<"$output")" -eq 5 ]
}

@test "private stack: the published rows" {
	run -0 --separate-stderr "$SWEEPS/run_bench_private_stack.sh"
	cut -d : -f 1 <<<"$output" >rows
	awk -F '\t' '$1 == 1 { print $2 "-" $3 }' "$TOP/reference/private_stack.tsv" | diff - rows
	[ "${lines[0]}" = 'no-private-stack-1:  10.001 ± 0.100M/s (drops 0.500 ± 0.010M/s)' ]
}

@test "trigger: the published rows; names and PROD_CNT as the kernel's script takes them" {
	run -0 --separate-stderr "$SWEEPS/run_bench_trigger.sh"
	cut -d : -f 1 <<<"$output" | sed 's/ *$//' | grep -v -x fentry-sleep | sort >rows
	awk -F '\t' '$1 == 1 { print $2 }' "$TOP/reference/kprobe_multi_all.tsv" | sort | diff - rows
	[ "${lines[0]}" = 'usermode-count :   10.001 ± 0.100M/s' ]
	: >"$CALLS"
	PROD_CNT=3 run -0 --separate-stderr "$SWEEPS/run_bench_trigger.sh" -q tp rawtp -- --trig-batch-iters 7
	[ "$output" = $'tp             :   10.001 ± 0.100M/s\nrawtp          :   10.002 ± 0.100M/s' ]
	diff - "$CALLS" <<-END
		-w0 -d1 -a --interval 100 --trig-batch-iters 7 -p3 trig-tp
		-w0 -d1 -a --interval 100 --trig-batch-iters 7 -p3 trig-rawtp
	END
}

@test "uprobes, rename: the rows" {
	run -0 --separate-stderr "$SWEEPS/run_bench_uprobes.sh" -q
	[ "$(sed -n 's/ *:.*//p' <<<"$output" | paste -sd ' ')" = 'usermode-count syscall-count uprobe-nop uprobe-push uprobe-ret uprobe-nop5 uprobe-nop10 uretprobe-nop uretprobe-push uretprobe-ret uretprobe-nop5 uretprobe-nop10 usdt-nop usdt-nop5 usdt-nop10 uprobe-multi-nop uprobe-multi-push uprobe-multi-ret uprobe-multi-nop5 uprobe-multi-nop10 uretprobe-multi-nop uretprobe-multi-push uretprobe-multi-ret uretprobe-multi-nop5 uretprobe-multi-nop10' ]
	run -0 --separate-stderr "$SWEEPS/run_bench_rename.sh" -q
	[ "$(cut -d : -f 1 <<<"$output" | xargs)" = 'base kprobe kretprobe rawtp fentry fexit' ]
	[ "${lines[0]}" = 'base      :   10.026 ± 0.100M/s' ]
}

@test "every benchmark and option that a sweep uses is one of bench's" {
	local sweep
	"$REAL" -l | sed -n 's/^- //p' >known
	"$REAL" --help | grep -oE -e '--[a-z_0-9-]+' | sort -u >options
	while read -r sweep; do
		"$sweep" --dry-run --all-producers >dry
		grep "^$BENCH " dry | sed -e 's/.* xdp-lb .*/xdp-lb/' -e 's/.* //' | sort -u >names
		[ -s names ]
		run ! grep -vxF -f known names
		grep "^$BENCH " dry | grep -oE -e '--[a-z_0-9-]+' | sort -u >used
		run ! grep -vxF -f options used
	done < <(sweeps)
}

# ---- sweeps: how they measure

@test "sweep: options, environment, and which of them counts" {
	local sweep=$SWEEPS/run_bench_rename.sh
	run -0 "$sweep"
	grep -qx -e '-w1 -d3 -a --interval 100 --precision 1 rename-base' "$CALLS"
	WARMUP=2 DURATION=7 RUNS=3 RECORDS=x.jsonl PRECISION=2 INTERVAL=50 run -0 "$sweep"
	grep -qx -e '-w2 -d7 -a --interval 50 --precision 2 -r3 -o x.jsonl rename-base' "$CALLS"
	[ "$(wc -l <x.jsonl)" -eq 6 ]
	WARMUP=2 DURATION=7 run -0 "$sweep" -w4 --duration=8 -r 2 -- --attach tp
	grep -qx -e '-w4 -d8 -a --interval 100 --precision 1 -r2 --attach tp rename-base' "$CALLS"
	run -0 "$sweep" -q -d2 --precision 5
	grep -qx -e '-w0 -d2 -a --interval 100 --precision 5 rename-base' "$CALLS"
}

@test "sweep: --quick has few enough points for 2 minutes" {
	local sweep points
	while read -r sweep; do
		# On a machine with any number of CPUs
		points=$("$sweep" --quick --all-producers --dry-run | grep -c "^$BENCH -w0 -d1 ")
		echo "$sweep: $points"
		# 1 s each, and as much as 0.4 s of set-up
		((points > 0 && points <= 85))
	done < <(sweeps)
}

@test "sweep: producers up to the CPUs and one beyond, and a note" {
	local cpus
	cpus=$(nproc)
	run -0 --separate-stderr "$SWEEPS/run_bench_ringbufs.sh" -q
	sed -n 's/^rb-libbpf nr_prod \([0-9]*\) .*/\1/p' <<<"$output" >counts
	if ((cpus < 32)); then
		[ "$(awk -v n="$cpus" '$1 > n' counts | wc -l)" -eq 1 ]
		[[ $stderr == *"this machine has $cpus CPUs: producers are $(paste -sd ' ' counts) (of up to 52; --all-producers measures all)"* ]]
	else
		[ "$(tail -n1 counts)" -eq 52 ]
	fi
}

@test "sweep: what the kernel cannot do is skipped, with the reason" {
	answer 'rename-kprobe=exit 4 bench: rename-kprobe: unavailable: there are no kprobes here'
	run -0 --separate-stderr "$SWEEPS/run_bench_rename.sh" -q
	[ "${lines[1]}" = 'kprobe    : skipped: there are no kprobes here' ]
	[ "${#lines[@]}" -eq 6 ]
	[[ $stderr == *'run_bench_rename: 5 of 6 points measured in '*' s, 1 skipped' ]]

	answer '=exit 4 bench: x: unavailable: CAP_BPF missing'
	run -4 --separate-stderr "$SWEEPS/run_bench_rename.sh" -q
	[ "$(grep -c 'skipped: CAP_BPF missing$' <<<"$output")" -eq 6 ]
}

@test "sweep: goes on after a point that fails, and lists it at the end" {
	answer 'rename-kprobe=exit 1 bench: rename-kprobe: failed: no luck' 'rename-fentry=exit 139'
	run -1 --separate-stderr "$SWEEPS/run_bench_rename.sh" -q
	[ "${lines[1]}" = 'kprobe    : failed (see the end)' ]
	[ "${lines[5]}" = 'fexit     :   10.006 ± 0.100M/s' ]
	[[ $stderr == *"4 of 6 points measured in "*", 2 failed"* ]]
	[[ $stderr == *"failed: $BENCH -w0 -d1 -a --interval 100 rename-kprobe"*'exit status 1: rename-kprobe: failed: no luck'* ]]
	[[ $stderr == *'rename-fentry'*'exit status 139'* ]]

	cat >odd <<<'#!/bin/sh
echo "Summary: nothing of note"'
	chmod +x odd
	run -1 --separate-stderr "$SWEEPS/run_bench_rename.sh" -q --bench ./odd
	[ "${lines[0]}" = 'base      : failed (see the end)' ]
}

@test "sweep: warnings of bench, once for each kind" {
	WARNING='3.2 % steal time: the hypervisor ran something else' run -0 --separate-stderr \
		"$SWEEPS/run_bench_rename.sh" -q
	[ "$(grep -c steal <<<"$stderr")" -eq 1 ]
	[[ $stderr == *'warning at 6 of them: 3.2 % steal time: the hypervisor ran something else (the last)'* ]]
}

# The child has to end as well; SIGINT comes to the script alone, as by kill, or to all, as by Ctrl-C
@test "sweep: a signal ends it at once" {
	local signal status begin pid
	answer 'rename-kprobe=sleep 30'
	for signal in INT:130 TERM:143; do
		: >"$CALLS"
		env --default-signal=INT "$SWEEPS/run_bench_rename.sh" -q >out 2>err 3>&- &
		pid=$!
		wait_for 'grep -q rename-kprobe "$CALLS"'
		begin=$SECONDS
		kill "-${signal%:*}" "$pid"
		status=0
		wait "$pid" || status=$?
		echo "$signal: $status after $((SECONDS - begin)) s; $(cat err)"
		[ "$status" -eq "${signal#*:}" ]
		((SECONDS - begin <= 5))
		grep -qx stopped "$CALLS"
		[ "$(wc -l <out)" -eq 1 ]
		[ "$(tail -n1 err)" = 'run_bench_rename: interrupted' ]
		run ! grep -q rename-rawtp "$CALLS"
	done
}

@test "sweep: sudo where it is not run as root, and only there" {
	mkdir bin
	cat >bin/sudo <<<'#!/bin/sh
echo "sudo $*" >>"$CALLS"
[ "$1" = -v ] || exec "$@"'
	chmod +x bin/sudo
	PATH=$PWD/bin:$PATH run -0 "$SWEEPS/run_bench_trigger.sh" -q tp
	run ! grep -q sudo "$CALLS"

	user_home bin/sudo
	as_user benchs/run_bench_trigger.sh -q tp
	grep -qx 'sudo -v' "$HOME_DIR/calls"
	grep -qx "sudo $HOME_DIR/fake -w0 -d1 -a --interval 100 -p1 trig-tp" "$HOME_DIR/calls"
	: >"$HOME_DIR/calls"
	SUDO='' as_user benchs/run_bench_trigger.sh -q tp
	run ! grep -q sudo "$HOME_DIR/calls"
}

@test "sweep: with the real bench" {
	local rows
	run --separate-stderr "$SWEEPS/run_bench_trigger.sh" -q --bench "$REAL" -o real.jsonl \
		usermode-count syscall-count rawtp fentry
	echo "$output$stderr"
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[[ ${lines[0]} =~ ^usermode-count\ :\ +[0-9]+\.[0-9]{3}\ ±\ [0-9.]+M/s$ ]]
	rows=$(grep -cE ' ± [0-9.]+M/s$' <<<"$output")
	[ $((rows + $(grep -c ': skipped: ' <<<"$output"))) -eq 4 ]
	[ "$(jq -s 'map(select(.status == "ok")) | length' real.jsonl)" -eq "$rows" ]
}

# ---- ab.sh

@test "ab: takes turns, A B B A" {
	run -0 --separate-stderr "$SCRIPTS/ab.sh" -r 4 "$BENCH -a count-local" "$BENCH -a --rb-b2b count-local"
	awk '{ print (/rb-b2b/ ? "B" : "A") }' "$CALLS" | paste -sd '' >order
	[ "$(cat order)" = ABBAABBA ]
	[ "$(wc -l <ab-a.jsonl)" -eq 4 ]
	[ "$(wc -l <ab-b.jsonl)" -eq 4 ]
	# The records are those of bench, and how they came about
	[ "$(jq -c '[.ab.side, .ab.round, .ab.order, .ab.setting]' ab-a.jsonl ab-b.jsonl | paste -sd ' ')" = \
		'["base",1,1,null] ["base",2,4,null] ["base",3,5,null] ["base",4,8,null] ["new",1,2,null] ["new",2,3,null] ["new",3,6,null] ["new",4,7,null]' ]
	# Options differ, and yet it is one row
	[[ $output == *$'\ncount-local '*'4+4 runs, M/s'* ]]
}

@test "ab: {} stands for the file, and {} alone; -n is -r" {
	run -0 "$SCRIPTS/ab.sh" -n 4 -A 'my a.jsonl' -B b.jsonl "$BENCH -o {} count-local" "X=1 $BENCH -a -o {} count-local; true"
	[ "$(wc -l <'my a.jsonl')" -eq 4 ]
	[ "$(wc -l <b.jsonl)" -eq 4 ]
	[ "$(grep -c -e '-o' "$CALLS")" -eq 8 ]
}

# git bisect run takes 1 for a bad commit, and 125 for one that cannot be judged
@test "ab: --fail-on-slower: what could not be measured is not slower" {
	answer ' off =exit 4 bench: off: unavailable: no such thing' ' broken =exit 1 bench: broken: sorry' \
		' wrong =exit 64 bench: wrong usage'
	run -125 "$SCRIPTS/ab.sh" -r 4 --fail-on-slower 5 "$BENCH off" "$BENCH rb-custom"
	rm -f ab-*
	run -125 "$SCRIPTS/ab.sh" -r 4 --fail-on-slower 5 "$BENCH rb-custom" "$BENCH broken"
	rm -f ab-*
	run -125 "$SCRIPTS/ab.sh" -r 4 --fail-on-slower 5 "$BENCH rb-custom" "true {}"
	rm -f ab-*
	run -64 "$SCRIPTS/ab.sh" -r 4 --fail-on-slower 5 "$BENCH rb-custom" "$BENCH wrong"
	rm -f ab-*
	run -4 "$SCRIPTS/ab.sh" -r 4 "$BENCH off" "$BENCH rb-custom"
}

@test "ab: two benchmarks are one row, and faster is seen; --fail-on-slower" {
	answer 'rb-custom=12' 'rb-libbpf=10'
	run -0 --separate-stderr "$SCRIPTS/ab.sh" -r 5 "$BENCH rb-libbpf" "$BENCH rb-custom"
	[[ $output == *'rb-libbpf->rb-custom'*'+'*'%'*'0.0079'*'faster'* ]]
	rm ab-*.jsonl
	run -1 --separate-stderr "$SCRIPTS/ab.sh" -r 5 --fail-on-slower 5 "$BENCH rb-custom" "$BENCH rb-libbpf"
	[[ $output == *slower* ]]
}

@test "ab: --before-a, --before-b and --after" {
	run -0 "$SCRIPTS/ab.sh" -r 4 --before-a 'echo setting a >>$CALLS' --before-b 'echo setting b >>$CALLS' \
		--after 'echo back >>$CALLS' "$BENCH -a count-local"
	sed 's/^-a .*/run/' "$CALLS" | paste -sd , >order
	[ "$(cat order)" = 'setting a,run,setting b,run,setting b,run,setting a,run,setting a,run,setting b,run,setting b,run,setting a,run,back' ]
	[ "$(jq -r .ab.setting ab-b.jsonl | sort -u)" = 'echo setting b >>$CALLS' ]
}

@test "ab: --after happens when a run fails, a setting fails, or a signal comes" {
	answer '=exit 4 bench: x: unavailable: not here'
	run -4 "$SCRIPTS/ab.sh" --after 'echo back >>$CALLS' "$BENCH -a count-local"
	[ "$(tail -n1 "$CALLS")" = back ]
	[ "$(calls)" -eq 2 ]
	[[ $output == *'1/16 A: failed, exit status 4:'*'unavailable: not here'* ]]

	answer '=10'
	run -1 "$SCRIPTS/ab.sh" --before-b false --after 'echo back >>$CALLS' "$BENCH -a count-local"
	[ "$(tail -n1 "$CALLS")" = back ]
	[[ $output == *'--before-b failed: false'* ]]
}

@test "ab: Ctrl-C puts back, keeps the records, and compares what there is" {
	local pid status=0
	answer '-z=sleep 30'
	cat >side-b <<<"#!/bin/bash
if ((\$(wc -l <ab-b.jsonl) >= 4)); then exec $BENCH -z \"\$@\"; fi
exec $BENCH \"\$@\""
	chmod +x side-b
	: >ab-b.jsonl
	env --default-signal=INT "$SCRIPTS/ab.sh" --after 'echo back >>$CALLS' "$BENCH count-local" \
		'./side-b count-local; true' -A ab-a.jsonl >out 2>err 3>&- &
	pid=$!
	# '; true' makes -o FILE an argument of true: {} was forgotten, which has to be reported
	wait "$pid" || status=$?
	[ "$status" -eq 1 ]
	grep -q 'this command wrote no record: ./side-b' err

	rm -f ab-*.jsonl
	: >"$CALLS"
	: >ab-b.jsonl
	env --default-signal=INT "$SCRIPTS/ab.sh" --after 'echo back >>$CALLS' "$BENCH count-local" \
		'./side-b -o {} count-local; true' >out 2>err 3>&- &
	pid=$!
	wait_for 'grep -q -e "^-z" "$CALLS"'
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	cat out err
	[ "$status" -eq 130 ]
	# The grandchild ended as well
	grep -qx stopped "$CALLS"
	[ "$(tail -n1 "$CALLS")" = back ]
	[ "$(wc -l <ab-b.jsonl)" -eq 4 ]
	grep -q '4+4 runs, M/s\|5+4 runs, M/s' out
	grep -q 'interrupted; the records are in ab-a.jsonl and ab-b.jsonl' err
}

@test "ab: a run that fails later is reported, and the rest compared" {
	cat >sometimes <<<"#!/bin/bash
((\$(wc -l <\"\$CALLS\") != 5)) || { echo x >>\"\$CALLS\"; echo 'bench: bad luck' >&2; exit 1; }
exec $BENCH \"\$@\""
	chmod +x sometimes
	run -1 --separate-stderr "$SCRIPTS/ab.sh" -r 5 './sometimes count-local'
	[[ $stderr == *'6/10 B: failed, exit status 1'*'bench: bad luck'* ]]
	[[ $stderr == *'failed runs: 0 of A, 1 of B'* ]]
	[[ $output == *'5+4 runs'* ]]
}

@test "ab: records that are there are not mixed with new ones unless asked" {
	echo '{}' >ab-b.jsonl
	run -64 "$SCRIPTS/ab.sh" "$BENCH count-local"
	[[ $output == *'ab-b.jsonl exists: remove it, or use --append'* ]]
	[ "$(calls)" -eq 0 ]
	rm ab-b.jsonl
	run -0 "$SCRIPTS/ab.sh" -r 2 "$BENCH count-local"
	run -0 "$SCRIPTS/ab.sh" -r 2 --append "$BENCH count-local"
	[ "$(wc -l <ab-b.jsonl)" -eq 4 ]
	# Nothing is appended to half a line
	printf '{"schema"' >>ab-b.jsonl
	run -64 "$SCRIPTS/ab.sh" -r 2 --append "$BENCH count-local"
	[[ $output == *'ab-b.jsonl: the last line is unfinished'* ]]
	run -64 "$SCRIPTS/ab.sh" -A x -B x "$BENCH count-local"
	run -64 "$SCRIPTS/ab.sh" --sysctl kernel.no_such_thing=0,1 "$BENCH count-local"
	run -64 "$SCRIPTS/ab.sh" --sysctl kernel.ostype "$BENCH count-local"
}

@test "ab: --sysctl sets both values, and the one from before at the end" {
	local name=kernel.bpf_stats_enabled file=/proc/sys/kernel/bpf_stats_enabled before
	before=$(cat "$file")
	cat >see <<<"#!/bin/bash
cat $file >>seen
exec $BENCH \"\$@\""
	chmod +x see
	run -0 "$SCRIPTS/ab.sh" -r 4 --sysctl "$name=1,0" './see count-local'
	[ "$(paste -sd '' seen)" = 10011001 ]
	[ "$(cat "$file")" = "$before" ]

	run -0 "$SCRIPTS/cover-letter.sh" ab-a.jsonl ab-b.jsonl
	no_line_over 75
	[[ $output == *'The sides alternated'* ]]
	[[ $output == *"Commands of base, under $name=1:"$'\n  bench count-local\n'"Commands of new, under $name=0:"$'\n  bench count-local' ]]
	[[ $output != *'not alternating'* ]]
}

@test "ab: an ordinary user's records, though root runs bench and wrote the file" {
	# root's umask is strict, and only root may write to what is its own
	cat >sudo <<<'#!/bin/sh
case $1 in
-v) exit ;;
tee) chmod u+w "$4" ;;
esac
umask 077
exec "$@"'
	chmod +x sudo
	"$BENCH" -o a.jsonl count-local >/dev/null
	user_home sudo
	install -m 444 -o 65534 a.jsonl "$HOME_DIR/"
	as_user scripts/ab.sh -r 2 --append -A "$HOME_DIR/a.jsonl" -B "$HOME_DIR/b.jsonl" \
		"$HOME_DIR/benchs/run_bench_rename.sh -q"
	[ "$(wc -l <"$HOME_DIR/a.jsonl")" -eq 13 ]
	[ "$(wc -l <"$HOME_DIR/b.jsonl")" -eq 12 ]
}

# ---- claims.sh

@test "claims: each published figure is found, and each command is one that bench takes" {
	local where value
	# The functions of the script, without its run
	sed -n '/^calculate() {/,/^}/p; /^published() {/,/^}/p' "$SCRIPTS/claims.sh" >functions
	sed '/^#/d; /^family/d' "$TOP/reference/claims.tsv" | cut -f 6,7 | tr '\t' '\n' | grep -vx -e - >wheres
	[ "$(wc -l <wheres)" -gt 40 ]
	while read -r where; do
		value=$(top=$TOP bash -c '. ./functions; published "$1"' - "$where")
		echo "$where: $value"
		[[ $value =~ ^[0-9]+(\.[0-9]+)?$ ]]
	done <wheres
	value=$(top=$TOP bash -c '. ./functions; published "$1"' - 'private_stack|1|private-stack|8|hits_mean/8')
	[ "$value" = 11.2529 ]
	value=$(top=$TOP bash -c '. ./functions; published "$1"' - 'private_stack|1|private-stack|9|hits_mean')
	[ "$value" = - ]

	"$REAL" -l | sed -n 's/^- //p' >known
	sed '/^#/d; /^family/d' "$TOP/reference/claims.tsv" | cut -f 8,9 | tr '\t' '\n' |
		grep -vx -e - | sed 's/.* //' | sort -u >names
	[ "$(wc -l <names)" -gt 15 ]
	run ! grep -vxF -f known names
}

# A table of claims: each argument is 'KIND LIMIT CPUS A | B'
claims_table() {
	local claim kind limit cpus rest
	printf 'family\tkind\tlimit\tcpus\tclaim\tpublished_a\tpublished_b\ta\tb\n' >claims.tsv
	for claim in "$@"; do
		read -r kind limit cpus rest <<<"$claim"
		printf 'some\t%s\t%s\t%s\tthat %s\t%s\t%s\t%s\t%s\n' "$kind" "$limit" "$cpus" "$claim" \
			'count|count-global|1|hits_mean' 'count|count-global|4|hits_mean' \
			"${rest% |*}" "${rest#*| }" >>claims.tsv
	done
}

# The verdicts, one a line
verdicts() {
	sed -nE 's/^ *([0-9]+) (holds|does not hold|not shown|cannot be run) .*/\1 \2/p' <<<"$output"
}

@test "claims: what holds and what does not" {
	answer ' fast =20' ' slow =10' ' near =10.5' ' off =exit 4 bench: off: unavailable: no such thing' \
		' broken =exit 1 bench: broken: failed: sorry'
	claims_table 'beats 1.5 1 fast | slow' 'beats 2.5 1 fast | slow' 'beats 1 1 slow | fast' \
		'keeps-up - 1 fast | slow' 'keeps-up - 1 slow | fast' \
		'within 15 1 near | slow' 'within 15 1 fast | slow' \
		'slower 10 1 slow | near' 'slower 1 1 slow | near' 'slower 10 1 near | slow' \
		'beats 1 1 off | slow' 'beats 1 1 fast | off' 'beats 1 1 fast | broken' \
		'beats 1 100000 fast | slow' 'drops - 1 slow | -' 'counted - 1 --verify slow | -' \
		'counted - 1 fast | -'
	run -1 --separate-stderr "$SCRIPTS/claims.sh" --claims claims.tsv -q
	echo "$output"
	no_line_over 75
	verdicts | diff - <(cat <<-END
		1 holds
		2 does not hold
		3 does not hold
		4 holds
		5 does not hold
		6 holds
		7 does not hold
		8 holds
		9 does not hold
		10 does not hold
		11 cannot be run
		12 cannot be run
		13 cannot be run
		14 cannot be run
		15 does not hold
		16 holds
		17 does not hold
	END
	)
	[[ $output == *'published 150.500 vs 53.600 M/s: 2.81 times'*'here      20.0'*' vs 10.0'*' M/s: 2.00 times, p 0.0079'* ]]
	[[ $output == *'here: no such thing'* ]]
	[[ $output == *'here: exit status 1: broken: failed: sorry'* ]]
	[[ $output == *"here: requires 100000 CPUs, and there are $(nproc)"* ]]
	[[ ${lines[-1]} == '17 claims: 5 hold, 8 do not, 0 are not shown, 4 cannot be run here ('* ]]
	[[ $stderr == *'1 runs or comparisons failed'* ]]
	# Five runs of what is compared, one of the rest
	[ "$(grep -c ' near$' "$CALLS")" -eq 5 ]
	[ "$(grep -c -e '--verify' "$CALLS")" -eq 1 ]
	[ "$(grep -c ' off$' "$CALLS")" -eq 1 ]
}

@test "claims: a difference that may be chance is not shown" {
	answer ' fast =10.002' ' slow =10'
	claims_table 'beats 1 1 fast | slow' 'keeps-up - 1 slow | fast' 'scales 0.5 1 fast | slow'
	DRIFT=10 run -0 --separate-stderr "$SCRIPTS/claims.sh" --claims claims.tsv -q -r 4
	[ "$(verdicts | head -n2)" = $'1 not shown\n2 holds' ]
	# and the sides take turns, in the other order every other round
	sed 's/.* //' "$CALLS" | paste -sd ' ' >order
	[ "$(cat order)" = 'fast slow slow fast fast slow slow fast' ]
}

@test "claims: the false positive rate against theory and the published one" {
	printf 'family\tkind\tlimit\tcpus\tclaim\tpublished_a\tpublished_b\ta\tb\nbloom\trate\t-\t1\tthat\tbloom_filter|1|100000|8|false_positive_pct_as_printed\t-\t--nr_entries 100000 --nr_hash_funcs 1 bloom-false-positive\t-\n' >claims.tsv
	# bits = 262144 would be 31.7 %, and the published 24.04 % are 31.65 %
	FALSE_HITS=317000 run -0 --separate-stderr "$SCRIPTS/claims.sh" --claims claims.tsv -q
	echo "$output"
	[ "$(verdicts)" = '1 holds' ]
	[[ $output == *'published 24.04 %, which is 31.65 % of the lookups'*'here      31.700 %, theory 31.714 %: -0.'* ]]
	FALSE_HITS=330000 run -0 --separate-stderr "$SCRIPTS/claims.sh" --claims claims.tsv -q
	[ "$(verdicts)" = '1 does not hold' ]
	FALSE_HITS=240400 run -0 --separate-stderr "$SCRIPTS/claims.sh" --claims claims.tsv -q
	[ "$(verdicts)" = '1 does not hold' ]
}

@test "claims: with the real bench" {
	run -0 --separate-stderr "$SCRIPTS/claims.sh" --bench "$REAL" -q -n 4 -o real.jsonl \
		--only 'false positives of 100000 entries, [13] |run count.*rawtp'
	echo "$output"
	no_line_over 75
	# Identities: they hold wherever they can be run at all
	verdicts | sed 's/^[0-9]* //' >kinds
	[ "$(grep -cx -e holds -e 'cannot be run' kinds)" -eq 3 ]
	[ "$(grep -cx holds kinds)" -eq "$(jq -s length real.jsonl)" ]
}

@test "claims: a figure that every run has between two limits" {
	printf 'family\tkind\tlimit\tcpus\tclaim\tpublished_a\tpublished_b\ta\tb\n' >claims.tsv
	printf 'some\tfigure\t%s\t1\tthat\t-\t-\tcount-local\t-\n' 'hits 0 1e9' 'hits 1e9 2e9' 'hits 0 0' >>claims.tsv
	run -0 --separate-stderr "$SCRIPTS/claims.sh" --bench "$REAL" --claims claims.tsv -q
	echo "$output"
	verdicts | diff - <(printf '%s\n' '1 holds' '2 does not hold' '3 does not hold')
	[[ $output =~ here\ +[0-9.]+\ M/s ]]
}

@test "claims: no claim of that name" {
	run -64 "$SCRIPTS/claims.sh" --only 'no such claim'
	run -64 "$SCRIPTS/claims.sh" -n 3
	[[ $output == *"--runs: invalid value '3': expected a whole number of at least 4"* ]]
	[ "$(calls)" -eq 0 ]
}

# ---- plot.sh

# Records of a sweep over --nr_loops, of two settings
sweep_records() {
	local n b
	for n in 10 100 1000 10000; do
		for b in 0 1; do
			answer "=$((n / 1000 + 5 + b))"
			"$BENCH" -o "$1" --nr_loops "$n" --set "$b" bpf-loop >/dev/null
			"$BENCH" -o "$1" --nr_loops "$n" --set "$b" bpf-loop >/dev/null
		done
	done
}

@test "plot: finds the axis, the lines and the units" {
	sweep_records s.jsonl
	run -0 --separate-stderr "$SCRIPTS/plot.sh" --text s.jsonl
	echo "$output"
	no_line_over 75
	[[ $output == $'bpf-loop [M/s]\nmedian of 2 runs, lowest to highest\n\nset 0\nnr_loops\n10 '* ]]
	[[ $output == *$'\nset 1\nnr_loops\n10 '* ]]
	# The longest bar is the highest figure
	awk '/#/ && NF { n = gsub(/[#~]/, "&"); if (n > most) { most = n; value = $2 } } END { print value }' <<<"$output" >top
	[[ $(cat top) == 16.0* ]]
	run -64 "$SCRIPTS/plot.sh" --text -x seed s.jsonl
	run -0 "$SCRIPTS/plot.sh" --text -x set s.jsonl || true
}

@test "plot: pictures, with a logarithmic axis over decades" {
	sweep_records s.jsonl
	run -0 --separate-stderr "$SCRIPTS/plot.sh" -o pic s.jsonl
	[ "$output" = $'pic-1.svg\npic-1.png' ]
	[ "$(head -c 8 pic-1.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
	# Axis, unit, both lines, and the ticks of a logarithmic axis
	for text in bpf-loop nr_loops M/s 'set 0' 'set 1' 10 100 1000 10000; do
		grep -qE "> *$text *<|\[$text\]|CDATA\[$text" pic-1.svg
	done
}

@test "plot: two files are bars, before and after, with the change" {
	sweep_records before.jsonl
	answer '=10'
	sed 's/"mean":[0-9.]*/"mean":20/' before.jsonl >after.jsonl
	run -0 --separate-stderr "$SCRIPTS/plot.sh" --text before.jsonl after.jsonl
	echo "$output"
	no_line_over 75
	[ "$(grep -c '^  before ' <<<"$output")" -eq 8 ]
	[ "$(grep -cE '^  after +20\.00 +\+[0-9.]+ % #' <<<"$output")" -eq 8 ]
	# Hodges-Lehmann as bench -C has it: the ratio of these medians is 1.5
	local rate
	for rate in 1 2 10; do
		answer "=$rate"
		DRIFT=0 "$BENCH" -o few.jsonl bpf-loop >/dev/null
	done
	for rate in 2 3 40; do
		answer "=$rate"
		DRIFT=0 "$BENCH" -o more.jsonl bpf-loop >/dev/null
	done
	"$REAL" -C few.jsonl more.jsonl | grep -q '+100%'
	run -0 "$SCRIPTS/plot.sh" --text few.jsonl more.jsonl
	[[ $output == *'+100 % '* ]]
	# names with commas in them
	jq -c '.config.prod_cpus = "0,2"' few.jsonl >commas.jsonl
	run -0 "$SCRIPTS/plot.sh" --text commas.jsonl more.jsonl
	[[ $output == *'+100 % '* ]]
	run -0 "$SCRIPTS/plot.sh" -o ba before.jsonl after.jsonl
	[ "$output" = $'ba-1.svg\nba-1.png' ]
}

@test "plot: two files of several families are a chart for each, with the kernels along the axis" {
	local name
	answer '=10'
	for name in bpf-loop count-local count-global; do
		RELEASE=6.1.0 "$BENCH" -o old.jsonl "$name" >/dev/null
		RELEASE=6.2.0 "$BENCH" -o new.jsonl "$name" >/dev/null
	done
	run -0 --separate-stderr "$SCRIPTS/plot.sh" --text old.jsonl new.jsonl
	echo "$output"
	[ "$(grep -c '/s\]$' <<<"$output")" -eq 2 ]
	[ "$(grep -cE '^ *6\.[12]\.0 ' <<<"$output")" -eq 6 ]
}

@test "plot: a title where nothing is common, and no half producers" {
	"$SWEEPS/run_bench_rename.sh" -q -o my.jsonl >/dev/null 2>&1
	run -0 "$SCRIPTS/plot.sh" my.jsonl
	grep -q '>my<\|CDATA\[my\]' my-1.svg
	for n in 1 2 3; do
		"$BENCH" "-p$n" -o p.jsonl count-local >/dev/null
	done
	run -0 "$SCRIPTS/plot.sh" p.jsonl
	run ! grep -qE '> *[012]\.5 *<|CDATA\[[012]\.5' p-1.svg
}

@test "plot: what cannot be drawn" {
	STATUS=interrupted "$BENCH" -o bad.jsonl bpf-loop >/dev/null
	run -1 "$SCRIPTS/plot.sh" --text bad.jsonl
	[[ $output == *'no complete run in it'* ]]
	echo 'not JSON' >text.jsonl
	run -1 "$SCRIPTS/plot.sh" --text text.jsonl
	[[ $output == *'text.jsonl: not a file of records: '* ]]
	echo '[1,2]' >other.jsonl
	run -1 "$SCRIPTS/plot.sh" --text other.jsonl
	[[ $output == *'not records of bench: '* ]]
	run -64 "$SCRIPTS/plot.sh" --text /nonexistent
	run -64 "$SCRIPTS/plot.sh" --text
}

@test "plot: the whole ring buffer sweep is three charts, each point once" {
	"$SWEEPS/run_bench_ringbufs.sh" --all-producers -q -o rb.jsonl >/dev/null 2>&1
	run -0 "$SCRIPTS/plot.sh" --text rb.jsonl
	no_line_over 75
	[ "$(grep -c '\[M/s\]$' <<<"$output")" -eq 3 ]
	[[ $output == *$'\nproducers\n1 '*$'\nrb-sample-rate = rb-batch-cnt\n1 '* ]]
	jq -c '[.bench, .params, .config.producers]' rb.jsonl | sort -u >points
	[ "$(grep -cE ' 10\.[0-9]+ #' <<<"$output")" -eq "$(wc -l <points)" ]
}

# ---- cover-letter.sh

@test "cover letter: what, where, how, the table, the noise, the commands" {
	answer ' rb-custom =10'
	for i in 1 2 3 4 5; do
		RELEASE=6.18.1 "$BENCH" -a -d1 -o a.jsonl rb-custom >/dev/null
	done
	answer ' rb-custom =12'
	for i in 1 2 3 4 5; do
		RELEASE=6.18.2 STEAL=2.5 GOVERNOR=powersave VIRT=kvm "$BENCH" -a -d1 -o b.jsonl rb-custom >/dev/null
	done
	run -0 --separate-stderr "$SCRIPTS/cover-letter.sh" a.jsonl b.jsonl
	echo "$output"
	no_line_over 75
	[ -z "$stderr" ]
	[ "${lines[0]}" = 'Compared: Linux 6.18.1 (base) with Linux 6.18.2 (new).' ]
	[[ $output == *'Machine: Some CPU, 2 CPUs, x86_64, SMT off,'* ]]
	[[ $output == *'Kernel of base: 6.18.1 #1. Kernel of new: 6.18.2 #1.'* ]]
	[[ $output == *'Measured by bench 0.1: 5 runs per side of 1 s, 0 s of warm-up'* ]]
	[[ $output == *"$("$REAL" -C a.jsonl b.jsonl | grep '^rb-custom' | sed 's/ *$//')"* ]]
	[[ $output == *'steal time was above 1 % in 5 of 10'$'\n''  runs, 2.5 % at most'* ]]
	[[ $output == *'- the CPU frequency governor was powersave, not performance'* ]]
	[[ $output == *'- it is a virtual machine (kvm)'* ]]
	[[ $output == *'one after the other, not'*'alternating'* ]]
	[[ $output == *$'Commands:\n  bench -a -d1 rb-custom' ]]

	run -0 "$SCRIPTS/cover-letter.sh" --base 'the old one' --new 'mine' a.jsonl b.jsonl
	[ "${lines[0]}" = 'Compared: the old one (base) with mine (new).' ]
}

@test "cover letter: no noise is reported as such" {
	"$SCRIPTS/ab.sh" -r 4 "$BENCH rb-custom" >/dev/null 2>&1
	run -0 "$SCRIPTS/cover-letter.sh" ab-a.jsonl ab-b.jsonl
	echo "$output"
	[[ $output == *'- nothing that bench looks for (steal, governor, migrations, busy CPUs)'* ]]
}

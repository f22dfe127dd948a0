#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The command line: what is refused beside bad values of single options (contract.bats), and that
# nothing is put into the kernel before all of it was checked; what is accepted, in old spellings
# too; several benchmarks; lists and help; and where threads then run.
#
# Helpers set pid and more.
# shellcheck disable=SC2154

load helpers

teardown() {
	kill_started
}

# Without this the other tests could not fail
@test "strace sees what a run puts into the kernel" {
	bench_traced -w0 -d1 rb-custom
	exits 0
	grep -q 'bpf(BPF_MAP_CREATE' "$CALLS"
	grep -q 'bpf(BPF_PROG_LOAD' "$CALLS"
}

@test "-c, --consumers: as many as the benchmark needs" {
	refused '-c, --consumers' "'2'" 'rb-custom has 1' -c 2 rb-custom
	refused '-c, --consumers' "'0'" 'pb-libbpf has 1' -c 0 pb-libbpf
	refused '-c, --consumers' "'2'" '0 or 1' -c 2 bpf-loop
	# The last benchmark checked has none, and there is a consumer where it is not asked for
	refused '-c, --consumers' "'2'" '0 or 1' --rb-bench-producer -c 2 rb-libbpf
}

@test "--interval is not longer than the measured time" {
	refused --interval "'1001'" '1 s' --interval 1001 -d1 rb-custom
	refused --interval "'5001'" '5 s' --interval 5001 rb-custom
	# whatever comes first
	refused --interval "'2001'" '2 s' rb-custom -d2 --interval 2001
}

@test "CPU sets that are none" {
	for option in prod-affinity cons-affinity; do
		for value in 5-2 '' '1,' ',1' '1,,2' a 1-a -1 1- -; do
			refused "--$option" "'$value'" 'CPUs such as 1,2-10,15' "--$option" "$value" rb-custom
		done
		refused "--$option" "'65536'" CPUs "--$option" 65536 rb-custom
	done
}

@test "CPUs that are not online" {
	online=$(</sys/devices/system/cpu/online)
	refused --prod-affinity 'CPU 60000' "$online" --prod-affinity 0,60000 rb-custom
	refused --cons-affinity 'CPU 60000' "$online" --cons-affinity 60000 rb-custom
	# a benchmark without consumers has no place for them, but a wrong set is wrong
	refused --cons-affinity 'CPU 60000' "$online" --cons-affinity 60000 count-local
}

@test "no benchmark, or none of that name" {
	refused 'no benchmark' '' 'bench -l'
	refused 'no benchmark' '' 'bench -l' -d1 -a
	refused 'there is no benchmark' "'nope'" 'bench -l' nope
	refused 'there is no benchmark' "''" 'bench -l' ''
	refused 'no benchmark matches' "'nope-*'" 'bench -l' 'nope-*'
	# one wrong name is enough, also behind '--'
	refused 'there is no benchmark' "'nope'" 'bench -l' count-local nope
	refused 'there is no benchmark' "'-d'" '' -- count-local -d 1
	refused '-d, --duration' "'x'" '' count-local -d x
}

@test "a misspelt name gets the nearest one" {
	refused "there is no benchmark 'rb-costum': did you mean 'rb-custom'?" '' '' rb-costum
	refused "there is no benchmark 'trig_rawtp': did you mean 'trig-rawtp'?" '' '' -w0 trig_rawtp
	refused "unrecognized option '--rb-bacth-cnt': did you mean '--rb-batch-cnt'?" '' '' \
		--rb-bacth-cnt 5 rb-custom
	refused "unrecognized option '--duratoin': did you mean '--duration'?" '' '' --duratoin=5 rb-custom
	refused "--rb-wakeup: invalid value 'allways'" "(did you mean 'always'?)" '' \
		--rb-wakeup allways rb-custom
}

@test "options that there are not" {
	refused "unrecognized option '--foo'" '' '' --foo rb-custom
	refused "unrecognized option '-Z'" '' '' -Z rb-custom
	refused "unrecognized option '-9'" '' '' -9 rb-custom
	# without their arguments
	refused "option '--rb-size' requires an argument" '' '' rb-custom --rb-size
	refused "option '-d' requires an argument" '' '' rb-custom -d
	# what could be several
	refused "option '--rb' is ambiguous" '--rb-b2b, --rb-use-output' '' --rb rb-custom
	# what argp would have
	refused "unrecognized option '--HANG'" '' '' --HANG=1 rb-custom
	refused "unrecognized option '--program-name'" '' '' --program-name=x rb-custom
}

@test "what a message repeats is one line, and does nothing to a terminal" {
	refused '-d, --duration' "'5\\?'" 'from 1' -d $'5\r' rb-custom
	refused --rb-size "'1\\?2'" 'from 4096' --rb-size $'1\n2' rb-custom
	refused '' "'\\?\\[2J\\?'" '' $'\e[2J\xc2\x9b'
	# and what is expected is printed behind the longest value too
	refused '-d, --duration' "'999*...*9998'" 'expected a whole number from 1' \
		-d "$(printf '9%.0s' {1..9999})8" rb-custom
}

# With a good option behind it, or before: one wrong one is enough
@test "the first wrong option is the one that is named" {
	refused '-p, --producers' "'0'" '' -p 0 -d 0 rb-custom
	refused '-d, --duration' "'0'" '' -d 0 -p 0 rb-custom
}

@test "what old scripts pass is accepted, and nothing is printed about it" {
	for consumers in 0 1; do
		bench -w0 -d1 -c "$consumers" -q count-local
		exits 0
		no_error_line '*-c *'
		no_error_line '*onsumer*'
	done
	bench --warmup=0 --duration=1 --producers=1 --consumers=1 --affinity --verbose rb-custom
	exits 0
	no_error_line '*--consumers*'
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

# The example in --help of the kernel selftests' bench
@test "count-local takes any number of consumers, and reports that they have no effect" {
	bench -w0 -d1 -p 2 -c 8 count-local
	exits 0
	error_line 'bench: note: *-c 8 has no effect'
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

@test "the last of two settings counts" {
	bench -d 5 -w 5 -w0 -d1 --interval 1000 --interval=250 count-local
	exits 0
	(($(grep -c '^Iter' "$OUT") > 1))
}

@test "options of another family are accepted, with a note that they have no effect" {
	bench -w0 -d1 --rb-b2b --rb-batch-cnt 100 count-local
	exits 0
	error_line 'bench: note: --rb-b2b has no effect on count-local'
	error_line 'bench: note: --rb-batch-cnt has no effect on count-local'
	no_error_line '*--rb-size*'
	# but their values are checked
	refused --rb-batch-cnt "'0'" 'from 1' --rb-batch-cnt 0 count-local
}

# ---- several benchmarks

no_caps=(setpriv --bounding-set=-all --inh-caps=-all)

# What was set up, in order, on one line
set_up() {
	sed -n "s/^Setting up benchmark '\(.*\)'\.\.\.\$/\1/p" "$OUT" | paste -sd ' '
}

@test "several names: round by round, then a summary for each" {
	bench -w0 -d1 --interval 250 -r 2 count-local rb-custom count-local
	exits 0
	[[ $(set_up) == 'count-local rb-custom count-local rb-custom' ]]
	[[ $(grep '^Over' "$OUT") == "Over 2 runs of 'count-local':"$'\n'"Over 2 runs of 'rb-custom':" ]]
	[[ $(grep -c '^Summary' "$OUT") == 6 ]]
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

@test "a pattern is all that match; options go to those that know them" {
	bench_by "${no_caps[@]}" -- -w0 -d1 --rb-b2b --trig-batch-iters 7 'count-*' 'rb-c*'
	exits 0
	[[ $(set_up) == 'count-global count-local' ]]
	error_line 'bench: note: skipped rb-custom: *CAP_BPF and CAP_PERFMON missing*'
	error_line 'bench: note: --trig-batch-iters has no effect on any of these benchmarks'
	no_error_line '*--rb-b2b*'
	refused --trig-batch-iters "'0'" 'from 1' --trig-batch-iters 0 'count-*' rb-custom
}

@test "--all: what cannot run here is skipped, the others run" {
	bench_by "${no_caps[@]}" -- -q -w0 -d1 -r1 --interval 250 --all
	exits 0
	grep -c '^Summary' "$OUT" | grep -qx "$("$BENCH" --show-tables |
		jq '[.families[].benchmarks[] | select(.bpf | not)] | length')"
	run -1 grep -vE '^bench: (warning: |note: skipped [^ ]*: .*CAP_BPF and CAP_PERFMON missing)' "$ERR"
}

@test "one named outright that cannot run here: the others run, exit status 4 at the end" {
	bench_by "${no_caps[@]}" -- -q -w0 -d1 rb-custom 'rb-l*' count-local
	exits 4
	error_line 'bench: rb-custom: unavailable: *CAP_BPF and CAP_PERFMON missing*'
	error_line 'bench: note: skipped rb-libbpf: *'
	[[ $(grep -c '^Summary' "$OUT") == 1 ]]
	# all that a pattern has are skipped
	bench_by "${no_caps[@]}" -- -q -w0 -d1 'rb-*'
	exits 4
	no_output
}

@test "one that fails is not run again, the others are, exit status 1 before 4" {
	[[ -z $SANITIZED ]] || skip 'the sanitizers need all of the address space'
	bench_by "${no_caps[@]}" sh -c 'ulimit -v 400000 && exec "$@"' sh -- \
		-q -w0 -d1 -r 2 -p 200 count-local rb-custom
	exits 1
	error_line 'bench: count-local: failed: cannot start producer *'
	error_line 'bench: rb-custom: unavailable: *'
	(($(grep -c failed "$ERR") == 1))
}

@test "Ctrl-C ends all of them" {
	start_with --default-signal=INT -- -w0 -d 3600 --interval 100 count-local rb-custom
	await '^Iter   1 '
	kill -INT "$pid"
	finish
	exits 130
	[[ $(set_up) == count-local ]]
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

@test "-l lists the benchmarks and loads nothing" {
	bench_traced -l
	exits 0
	no_kernel_calls
	[[ ! -s $ERR ]]
	[[ $(head -n1 "$OUT") == 'Available benchmarks:' ]]
	run -1 grep -vE '^- [a-z0-9-]+$' <(tail -n +2 "$OUT")
	for name in count-global count-local rb-libbpf rb-custom pb-libbpf pb-custom; do
		[[ $(grep -cx -e "- $name" "$OUT") == 1 ]]
	done
	[[ -z $(sort "$OUT" | uniq -d) ]]
}

@test "-l with names and patterns lists those alone" {
	bench --list 'rb-*' count-local
	exits 0
	[[ $(<"$OUT") == $'Available benchmarks:\n- rb-libbpf\n- rb-custom\n- count-local' ]]
	refused 'there is no benchmark' "'nope'" '' -l nope
	refused 'no benchmark matches' "'nope*'" '' -l 'nope*'
}

@test "-l -v prints of each what it is, and whether it runs here" {
	bench -l -v
	exits 0
	[[ ! -s $ERR ]]
	awk '
		NR == 1 { if ($0 != "Available benchmarks:") bad = 1; next }
		NR % 3 == 2 && !/^- [a-z0-9-]+$/ { bad = 1 }
		NR % 3 == 0 && !/^    [^ ].*[^ ]$/ { bad = 1 }
		NR % 3 == 1 && !/^    (available|unavailable: [^ ].*[^ ])$/ { bad = 1 }
		bad { print "not as it should be: " $0; exit 1 }
		END { if (NR % 3 != 1) exit 1 }' "$OUT"
	# the same benchmarks in the same order
	sed -n 's/^- //p' "$OUT" >"$OUT.long"
	bench -l
	sed -n 's/^- //p' "$OUT" | cmp - "$OUT.long"
}

@test "--help, --usage and --version go to standard output and load nothing" {
	for option in -h --help --usage --version '-?' -V; do
		bench_traced "$option"
		exits 0
		[[ -s $OUT && ! -s $ERR ]]
		no_kernel_calls
	done
	[[ $(<"$OUT") =~ ^bench\ [0-9]+\.[0-9]+ ]]
	bench --help
	# each family under its title, defaults and ranges
	grep -qx ' Ring buffer and perf buffer' "$OUT"
	tr -s ' \n' ' ' <"$OUT" >"$OUT.flat"
	grep -qF -e '--rb-size=BYTES Size of the ring buffer (default 524288; a power of two, 4096 to 1073741824)' "$OUT.flat"
	grep -qF -e '-d, --duration=SEC Measured time, seconds (default 5; 1 to 86400)' "$OUT.flat"
	grep -qF 'EXIT CODES' "$OUT"
}

@test "--show-env prints facts, 'key: value', and loads nothing" {
	bench_traced --show-env
	exits 0
	no_kernel_calls
	[[ ! -s $ERR ]]
	run -1 grep -vE '^[a-z_0-9]+: [^ ]' "$OUT"
	[[ $(sed -n 's/^kernel_release: //p' "$OUT") == $(uname -r) ]]
	[[ $(sed -n 's/^machine: //p' "$OUT") == $(uname -m) ]]
	grep -qx "libbpf: v[0-9].*" "$OUT"
}

# ---- where threads run, as the kernel sees it

# placed OPTIONS...: sets $places to the CPU lists of the threads: the first one's, those of the
# consumers, those of the producers
placed() {
	local tid
	start -w0 -d 600 "$@"
	# All of them are there before the first sample is taken
	await '^Iter   0 '
	places=
	# In the order in which they were made, also where thread ids have run over
	while read -r _ tid; do
		places+=" $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/"$pid"/task/"$tid"/status)"
	done < <(for tid in /proc/"$pid"/task/*; do
		echo "$((${tid##*/} < pid)) ${tid##*/}"
	done | sort -n -k1,1 -k2,2)
	places=${places# }
	kill -TERM "$pid"
	finish 30
	exits 143
}

is_placed() {
	# The second thread receives signals, wherever it runs; the thread sanitizer has one more
	[[ $places == "$1 $*" || (-n $SANITIZED && $places == "$1 $1 $*") ]] ||
		fail "the threads may use '$places', not '$1 $*'"
}

@test "without -a every thread may use every CPU" {
	all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	placed --interval 100 -p 2 rb-custom
	is_placed "$all" "$all" "$all" "$all"
}

@test "-a: consumers from the first CPU up, producers on the next ones, and round again" {
	all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	read -ra cpus <<<"$(allowed_cpus)"
	n=${#cpus[@]}
	placed --interval 100 -a rb-custom
	is_placed "$all" "${cpus[0]}" "${cpus[1 % n]}"
	placed --interval 100 -a -p 4 rb-libbpf
	is_placed "$all" "${cpus[0]}" "${cpus[1 % n]}" "${cpus[2 % n]}" "${cpus[3 % n]}" "${cpus[4 % n]}"
	# no consumer: the producers begin at the first
	placed --interval 100 -a -p 3 count-local
	is_placed "$all" "${cpus[0]}" "${cpus[1 % n]}" "${cpus[2 % n]}"
	placed --interval 100 -a -p 2 --rb-bench-producer rb-custom
	is_placed "$all" "${cpus[0]}" "${cpus[1 % n]}"
}

@test "--prod-affinity and --cons-affinity, which imply -a" {
	all=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	read -ra cpus <<<"$(allowed_cpus)"
	n=${#cpus[@]}
	((n > 1)) || skip 'one CPU only'
	placed --interval 100 --prod-affinity "${cpus[1]}" --cons-affinity "${cpus[0]}" rb-custom
	is_placed "$all" "${cpus[0]}" "${cpus[1]}"
	placed --interval 100 --prod-affinity "${cpus[0]}" --cons-affinity "${cpus[1]}" -p 2 pb-custom
	is_placed "$all" "${cpus[1]}" "${cpus[0]}" "${cpus[0]}"
	placed --interval 100 --prod-affinity "${cpus[0]},${cpus[1]}" -p 3 rb-custom
	is_placed "$all" "${cpus[0]}" "${cpus[0]}" "${cpus[1]}" "${cpus[0]}"
	# producers go on behind the consumer where only that is placed
	placed --interval 100 --cons-affinity "${cpus[n - 1]}" -p 2 rb-custom
	is_placed "$all" "${cpus[n - 1]}" "${cpus[0]}" "${cpus[1]}"
}

@test "-a keeps to the CPUs that this process may use" {
	read -r _ second _ <<<"$(allowed_cpus)"
	[[ -n $second ]] || skip 'one CPU only'
	# the shell that starts it is what is bound
	bound=$(taskset -pc $$ | sed 's/.*: //')
	taskset -pc "$second" $BASHPID >/dev/null
	placed --interval 100 -a -p 2 rb-custom
	taskset -pc "$bound" $BASHPID >/dev/null
	is_placed "$second" "$second" "$second" "$second"
}

@test "--counters: per operation on standard error and in the record, or 4 where there are none" {
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr "$BENCH" -q -w0 -d1 --counters=instructions,ref-cycles -o record count-local
	echo "$status, $stderr"
	if [ "$status" -eq 4 ]; then
		[[ $stderr == *'count-local: unavailable: this machine has no hardware counter of those'* ]] ||
			[[ $stderr == *'count-local: unavailable: cannot count instructions, as --counters wants: '* ]]
	else
		[ "$status" -eq 0 ]
		[[ $stderr == *'note: per operation (hits): instructions '*', ref-cycles '* ]]
		jq -e '.counters | keys == ["instructions", "ref-cycles"]' record
		jq -e '.counters.instructions | . == null or .per_operation > 1' record
	fi
	# Its argument is optional: the next word is none
	run "$BENCH" --counters nowhere
	[ "$status" -eq 64 ]
	[[ $output == *"there is no benchmark 'nowhere'"* ]]
	for list in '' ',' 'instructions,' insns; do
		run "$BENCH" -d1 "--counters=$list" count-local
		[ "$status" -eq 64 ]
		[[ $output == *"--counters: invalid value '$list': expected a comma list of instructions, "* ]]
	done
	"$BENCH" -q -w0 -d1 -o plain count-local
	jq -e '.counters == null' plain
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The command line: what is refused, with which words, and that nothing is put into the kernel before
# all of it was checked; what is accepted, in old spellings too; lists and help; and where threads
# then run.
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

@test "-d, --duration: a whole number of seconds from 1" {
	for value in 5x x5 0 '' -1 +1 ' 1' '1 ' 1.5 0x10 1e3 99999999999999999999; do
		refused '-d, --duration' "'$value'" 'from 1 to 86400' -d "$value" rb-custom
	done
	refused '-d, --duration' "'0'" 'from 1' --duration=0 rb-custom
	refused '-d, --duration' "'86401'" 'to 86400' --duration 86401 rb-custom
	refused '-d, --duration' "'rb-custom'" 'from 1' -w0 -d rb-custom
}

@test "-w, --warmup: a whole number of seconds from 0" {
	refused '-w, --warmup' "'-1'" 'from 0 to 86400' -w -1 rb-custom
	refused '-w, --warmup' "'1s'" 'from 0 to 86400' -w1s rb-custom
	refused '-w, --warmup' "''" 'from 0 to 86400' --warmup= rb-custom
	refused '-w, --warmup' "'86401'" 'from 0 to 86400' -w 86401 rb-custom
}

@test "-p, --producers: a number of threads from 1" {
	for value in 0 1000000 5x '' -1 4097; do
		refused '-p, --producers' "'$value'" 'from 1 to 4096' -p "$value" rb-custom
	done
}

@test "-c, --consumers: as many as the benchmark needs" {
	refused '-c, --consumers' "'2'" 'rb-custom takes 1' -c 2 rb-custom
	refused '-c, --consumers' "'0'" 'pb-libbpf takes 1' -c 0 pb-libbpf
	refused '-c, --consumers' "'1x'" 'from 0 to 4096' -c 1x rb-custom
	refused '-c, --consumers' "'-1'" 'from 0 to 4096' -c -1 rb-custom
	refused '-c, --consumers' "'2'" '0 or 1' -c 2 bpf-loop
	# The last benchmark checked has none, and there is a consumer where it is not asked for
	refused '-c, --consumers' "'2'" '0 or 1' --rb-bench-producer -c 2 rb-libbpf
}

@test "--interval: milliseconds, not longer than the measured time" {
	refused --interval "'0'" 'from 1' --interval 0 rb-custom
	refused --interval "'10ms'" 'from 1' --interval 10ms rb-custom
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

@test "CPUs that this process may not use" {
	read -r first second _ <<<"$(allowed_cpus)"
	[[ -n $second ]] || skip 'one CPU only'
	bench_by taskset -c "$first" -- --prod-affinity "$second" rb-custom
	exits 64
	one_error_line "bench: --prod-affinity: CPU $second *it may use $first"
	no_output
	bench_by taskset -c "$second" -- --cons-affinity "$first" -p 2 rb-custom
	exits 64
	one_error_line "bench: --cons-affinity: CPU $first *it may use $second"
}

@test "--attach: one of five words" {
	for value in foo '' AUTO rawt ' tp'; do
		refused --attach "'$value'" 'auto, fentry, kprobe, tp, rawtp' --attach "$value" rb-custom
	done
}

@test "one benchmark, one that there is" {
	refused 'no benchmark' '' 'bench -l'
	refused 'no benchmark' '' 'bench -l' -d1 -a
	refused '' "'nope'" 'bench -l' nope
	refused '' "''" 'bench -l' ''
	refused '' "'rb'" 'bench -l' rb
	refused '' "'rb-custom' comes after 'rb-libbpf'" '' rb-libbpf rb-custom
	refused '' "'count-local' comes after 'count-local'" '' count-local -d1 count-local
	# also where it is after '--', and where what is wrong is a later option
	refused '' "'-d'" '' -- count-local -d 1
	refused '-d, --duration' "'x'" '' count-local -d x
}

@test "options that there are not" {
	refused '' "--foo" '' --foo rb-custom
	refused '' "Z" '' -Z rb-custom
	refused '' "'9'" '' -9 rb-custom
	# an argument to a flag; an option without its argument
	refused '' "--rb-b2b" '' --rb-b2b=1 rb-custom
	refused '' "--rb-size" '' rb-custom --rb-size
	refused '' "d" '' rb-custom -d
	# what could be several
	refused '' "--rb" '' --rb rb-custom
}

# argp has some that --help does not show; with --HANG it sleeps for an hour
@test "there are no hidden options" {
	for option in --HANG --H --HANG=1 --program-name=x; do
		refused '' "$option" '' "$option" rb-custom
	done
}

@test "what a message repeats is one line, and does nothing to a terminal" {
	refused '-d, --duration' "'5\\?'" 'from 1' -d $'5\r' rb-custom
	refused --rb-size "'1\\?2'" 'from 4096' --rb-size $'1\n2' rb-custom
	refused '' "'\\?\\[2J\\?'" '' $'\e[2J\xc2\x9b'
	# and what is allowed is said behind the longest value too
	refused '-d, --duration' "'999*...*9998'" 'from 1' -d "$(printf '9%.0s' {1..9999})8" rb-custom
}

# With a good option behind it, or before: one wrong one is enough
@test "the first wrong option is the one that is named" {
	refused '-p, --producers' "'0'" '' -p 0 -d 0 rb-custom
	refused '-d, --duration' "'0'" '' -d 0 -p 0 rb-custom
}

@test "what old scripts pass is accepted without a word" {
	for consumers in 0 1; do
		for name in count-global count-local; do
			bench -w0 -d1 -c "$consumers" -q "$name"
			exits 0
			no_error_line '*-c*'
			no_error_line '*consumer*'
		done
	done
	bench -w0 -d1 -c1 -q rb-custom
	exits 0
	no_error_line '*consumer*'
	bench --warmup=0 --duration=1 --producers=1 --consumers=1 --affinity --verbose rb-custom
	exits 0
	no_error_line '*consumer*'
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

# The example in --help of the kernel's runner
@test "count-local takes any number of consumers, and says that they mean nothing" {
	bench -w0 -d1 -p 2 -c 8 count-local
	exits 0
	error_line 'bench: note: *-c 8*'
	[[ $(tail -n1 "$OUT") == Summary:* ]]
}

@test "the last of two settings counts" {
	bench -d 5 -w 5 -w0 -d1 --interval 1000 --interval 500 -q count-local
	exits 0
	bench --interval 1000 -d1 -w0 --interval=250 count-local
	exits 0
	(($(grep -c '^Iter' "$OUT") > 1))
}

@test "options of another family are accepted, and it is said that they mean nothing" {
	bench -w0 -d1 --rb-b2b --rb-batch-cnt 100 count-local
	exits 0
	error_line 'bench: note: --rb-b2b means nothing to count-local'
	error_line 'bench: note: --rb-batch-cnt means nothing to count-local'
	no_error_line '*--rb-size*'
	# but their values are checked
	refused --rb-batch-cnt "'0'" 'from 1' --rb-batch-cnt 0 count-local
	# one's own are no foreign ones
	bench -w0 -d1 --rb-b2b rb-custom
	exits 0
	no_error_line '*means nothing*'
}

@test "-l lists the benchmarks and loads nothing" {
	bench_traced -l
	exits 0
	[[ ! -s $CALLS ]]
	[[ ! -s $ERR ]]
	[[ $(head -n1 "$OUT") == 'Available benchmarks:' ]]
	run -1 grep -vE '^- [a-z0-9-]+$' <(tail -n +2 "$OUT")
	for name in count-global count-local rb-libbpf rb-custom pb-libbpf pb-custom; do
		[[ $(grep -cx -e "- $name" "$OUT") == 1 ]]
	done
	[[ -z $(sort "$OUT" | uniq -d) ]]
	cp "$OUT" "$OUT.short"
	bench --list rb-custom
	exits 0
	cmp "$OUT" "$OUT.short"
}

@test "-l -v says of each what it is, and whether it runs here" {
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

# What is called available runs, and what is not exits with 4 and the same reason
@test "-l -v tells the truth" {
	bench -l -v
	cp "$OUT" "$OUT.list"
	for name in count-local rb-libbpf rb-custom pb-libbpf pb-custom; do
		state=$(grep -A2 -x -e "- $name" "$OUT.list" | sed -n '3s/^    //p')
		bench -w0 -d1 -q "$name"
		if [[ $state == available ]]; then
			exits 0
		else
			exits 4
			one_error_line "bench: $name: $state"
		fi
	done
}

@test "--help, --usage and --version go to standard output and load nothing" {
	for option in --help --usage --version '-?' -V; do
		bench_traced "$option"
		exits 0
		[[ -s $OUT && ! -s $ERR && ! -s $CALLS ]]
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
	[[ ! -s $CALLS && ! -s $ERR ]]
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
	# The thread sanitizer has a thread of its own, the second
	[[ -z $SANITIZED || $places != "$1 $*" ]] || return 0
	[[ $places == "$*" ]] || fail "the threads may use '$places', not '$*'"
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

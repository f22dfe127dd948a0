#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/insns.sh with a stand-in for qemu: the guest brings back what is in the folder `records`,
# or in records.KERNEL. tests/vm/insns.bats has the same with a real one.
# shellcheck disable=SC2016,SC2154 # the programs here expand their variables; run sets $stderr

bats_require_minimum_version 1.5.0

INSNS=$(realpath "$BATS_TEST_DIRNAME/../../scripts/insns.sh")

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export TMPDIR=$PWD/tmp QEMU=$PWD/qemu XDG_CACHE_HOME=$PWD/cache
	mkdir tmp records
	echo 'no kernel' | tee bzImage >other
	# A static program of any kind will do
	STATIC=$(command -v busybox)
	cat >qemu <<'QEMU'
#!/usr/bin/env bash
case ${1:-} in
-help)
	cat help 2>/dev/null || echo '-plugin [file=]<file>'
	exit
	;;
--version)
	echo 'QEMU emulator version 7.2.22 (Debian)'
	exit
	;;
esac
printf '%s\n' "$@" >qemu.args
while (($#)); do
	case $1 in
	-chardev) [[ $2 != *id=result,* ]] || result=${2##*path=} ;;
	-initrd) cp "$2" initramfs ;;
	-kernel) kernel=$(basename "$2") ;;
	-plugin) out=${2#*,out=} && out=${out%%,*} ;;
	esac
	shift
done
[[ ! -e crash ]] || exit 1
[[ -z ${out:-} ]] || cp blocks "$out"
rm -rf r
mkdir r
echo 0 >r/status
[[ -e records.$kernel ]] && cp -r "records.$kernel" r/out || cp -r records r/out
tar -czf "$result" -C r .
QEMU
	chmod +x qemu
}

# record NUMBER UNIT MEAN [MEMBERS...]: of the command line with that number, from 0; to the folder
# $dir. MEMBERS are merged into it.
record() {
	jq -cn --arg unit "$2" --argjson mean "$3" --argjson more "${4:-{\}}" \
		'{bench: "b", params: {}, config: {producers: 1, consumers: 0},
		  env: {kernel_release: "6.99", clock: "instructions"}, summary: {unit: $unit, mean: $mean}} * $more' \
		>>"${dir:-records}/$1.jsonl"
}

insns() {
	run --separate-stderr "$INSNS" -k bzImage --bench "$STATIC" "$@"
	echo "--- exit status $status"
	printf '%s\n' "$output" "$stderr"
	[ -z "$(ls -A tmp)" ]
}

# row NUMBER WORD...: that line of the table, spaces squeezed
row() {
	[ "$(tr -s ' ' <<<"${lines[$1]}")" = "${*:2}" ]
}

@test "a rate becomes instructions per operation, and a record is appended" {
	record 0 M/s 5.7770
	record 1 'M ops/s' 66.35
	record 2 M/s 0.081699346
	record 3 M/s 1250
	echo 'there already' >all.jsonl
	insns -o all.jsonl '--rb-b2b rb-custom' '--nr_loops=1000 bpf-loop' trig-tp '-p 1 count-local'
	[ "$status" -eq 0 ]
	row 0 command line instructions +-%
	row 1 --rb-b2b rb-custom 173.10 0.000
	row 2 --nr_loops=1000 bpf-loop 15.072 0.000
	row 3 trig-tp 12240 0.000
	row 4 -p 1 count-local 0.8000 0.000
	[ "${#lines[@]}" -eq 5 ]
	[ "$(wc -l <all.jsonl)" -eq 5 ]
	[ "$(head -n1 all.jsonl)" = 'there already' ]
	[ "$(tail -n1 all.jsonl | jq -r .env.clock)" = instructions ]
	[[ $stderr == *'kernel: 6.99'* ]]
}

@test "how exact: the interval, the halves' medians, the runs, whichever is worst" {
	samples() {
		printf '{"samples":[%s]' "$(printf '{"dt_ns":1000000,"hits":%s},' "$@" | sed 's/,$//')"
	}
	# Half an interval of 0.04 %
	record 0 M/s 10 '{"summary":{"ci95_low":9.996,"ci95_high":10.004}}'
	# The first half is faster by 1 %; one stray does not matter
	record 1 M/s 10 "$(samples 10050 90 10050 9950 9950 9950)}"
	# As fast
	record 2 M/s 10 "$(samples 10000 10000 10000 10001)}"
	# Two runs that differ
	record 3 M/s 10
	record 3 M/s 20
	insns trig-tp trig-rawtp trig-fentry '-r2 trig-fexit'
	[ "$status" -eq 0 ]
	row 1 trig-tp 100.00 0.040
	row 2 trig-rawtp '~100.00' 1.000
	row 3 trig-fentry 100.00 0.005
	row 4 -r2 trig-fexit '~75.000' 66.667
	[[ $stderr == *"'~': the samples or runs disagree by more than 0.1 %"* ]]
}

@test "busy threads that take turns are marked; the consumer of back-to-back is not one" {
	record 0 M/s 10 '{"config":{"consumers":1}}'
	record 1 M/s 10 '{"config":{"consumers":1},"params":{"rb-b2b":true}}'
	record 2 M/s 10 '{"config":{"producers":2}}'
	insns rb-custom '--rb-b2b rb-custom' '-p2 trig-tp'
	row 1 rb-custom '*100.00' 0.000
	row 2 --rb-b2b rb-custom 100.00 0.000
	row 3 -p2 trig-tp '*100.00' 0.000
	[[ $stderr == *"'*': several busy threads take turns"* ]]
}

@test "a command line that fails: '-', its name and the reason on standard error, exit status 1" {
	echo 1 >records/0.status
	echo 'bench: no memory' >records/0.why
	record 1 % 2.4
	record 2 M/s 10
	echo '{"summary":null}' >records/3.jsonl
	insns '--bad rb-libbpf' bloom-false-positive trig-tp bpf-loop
	[ "$status" -eq 1 ]
	row 1 --bad rb-libbpf - -
	row 2 bloom-false-positive - -
	row 3 trig-tp 100.00 0.000
	row 4 bpf-loop - -
	[[ $stderr == *"insns: '--bad rb-libbpf': failed in the guest: no memory"* ]]
	[[ $stderr == *"insns: 'bloom-false-positive': no operations per second"* ]]
	[[ $stderr == *"insns: 'bpf-loop': no operations"* ]]
}

@test "a benchmark that this kernel lacks: exit status 4, 125 with --against" {
	record 0 M/s 10
	insns -o base.jsonl trig-tp
	echo 4 >records/1.status
	echo 'bench: trig-x is not available: this kernel has no x' >records/1.why
	insns trig-tp trig-x
	[ "$status" -eq 4 ]
	row 2 trig-x - -
	[[ $stderr == *"'trig-x': trig-x is not available: this kernel has no x"* ]]
	insns --against base.jsonl --fail-on-change 1 trig-tp trig-x
	[ "$status" -eq 125 ]
}

@test "two kernels: two columns, and the change in percent" {
	mkdir records.other
	record 0 M/s 10
	record 1 M/s 10
	dir=records.other record 0 M/s 8 '{"env":{"kernel_release":"7.0"}}'
	insns -k other --append 'a=b c' trig-tp bpf-loop
	[ "$status" -eq 1 ]
	row 0 command line 6.99 +-% 7.0 a=b c +-% change %
	row 1 trig-tp 100.00 0.000 125.00 0.000 +25.00
	row 2 bpf-loop 100.00 0.000 - - -
	grep -q 'nokaslr.* a=b c\|a=b c nokaslr' qemu.args
}

@test "--against: 0 where nothing changed by more, 1 where it did, 125 where it cannot be told" {
	record 0 M/s 10
	insns -o base.jsonl trig-tp
	insns --against base.jsonl --fail-on-change 0.1 trig-tp
	[ "$status" -eq 0 ]
	row 0 command line base +-% 6.99 +-% change %
	row 1 trig-tp 100.00 0.000 100.00 0.000 +0.00

	rm records/0.jsonl
	record 0 M/s 9.9
	insns --against base.jsonl --fail-on-change 2 trig-tp
	[ "$status" -eq 0 ]
	insns --against base.jsonl trig-tp
	[ "$status" -eq 0 ]
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 1 ]
	row 1 trig-tp 100.00 0.000 101.01 0.000 +1.01
	[[ $stderr == *"'trig-tp' changed by +1.01 %: more than 0.5 %"* ]]

	# Cheaper is a change as well
	rm records/0.jsonl
	record 0 M/s 10.1
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 1 ]

	# Too inexact to tell
	rm records/0.jsonl
	record 0 M/s 9.9 '{"summary":{"ci95_low":9.8,"ci95_high":10}}'
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 125 ]
	[[ $stderr == *'cannot be told'* ]]

	# Another run; one that failed; a kernel that does not boot, or was not built
	rm records/0.jsonl
	record 0 M/s 10 '{"params":{"size":2}}'
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 125 ]
	[[ $stderr == *"'trig-tp': no such run in base.jsonl"* ]]
	rm records/0.jsonl
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 125 ]
	touch crash
	insns --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 125 ]
	run "$INSNS" -k nowhere --bench "$STATIC" --against base.jsonl --fail-on-change 0.5 trig-tp
	[ "$status" -eq 125 ]
}

@test "git bisect run finds the commit that changed a figure, and skips one that does not boot" {
	mkdir records.other records.broken repo
	record 0 M/s 10
	dir=records.other record 0 M/s 8
	insns -o base.jsonl trig-tp
	cd repo
	git init -q .
	for kernel in bzImage bzImage broken other other other; do
		n=$((${n:-0} + 1))
		git rm -qrf --cached . && rm -rf k
		mkdir k
		echo "$n" >"k/$kernel"
		git add k
		git -c user.name=t -c user.email=t@example.org commit -qm "commit $n"
	done
	cat >../step <<-END
		#!/bin/sh
		cd ..
		exec $INSNS -k repo/k/* --bench $STATIC --against base.jsonl --fail-on-change 1 trig-tp
	END
	chmod +x ../step
	git bisect start HEAD HEAD~5
	run git bisect run ../step
	echo "$output"
	# The broken one cannot be told apart from the first bad one
	[[ $output == *"only 'skip'ped commits left"* ]]
	[ "$(git bisect log | sed -nE 's/^# (bad|good|skip): \[.*\] /\1 /p' | sort -u | tr '\n' ,)" = \
		'bad commit 4,bad commit 6,good commit 1,good commit 2,skip commit 3,' ]
}

@test "--against: a change that is certain goes before what cannot be told" {
	record 0 M/s 10
	record 1 M/s 10 '{"bench":"c"}'
	insns -o base.jsonl trig-tp bpf-loop
	rm records/*
	record 0 M/s 20
	insns --against base.jsonl --fail-on-change 0.5 trig-tp bpf-loop
	[ "$status" -eq 1 ]
}

@test "--against: records of real time are none to compare with" {
	record 0 M/s 10
	jq -c '.env.clock = "time"' records/0.jsonl >time.jsonl
	insns --against time.jsonl --fail-on-change 1 trig-tp
	[ "$status" -eq 125 ]
	[[ $stderr == *"no record with instructions as its clock"* ]]
}

@test "the guest counts instructions, and runs each command line word by word" {
	insns '--rb-b2b  rb-custom' '* x'
	grep -qx 'shift=0,sleep=off' qemu.args
	cpio --quiet -i --to-stdout vmtest/command <initramfs >script
	# What is to be written to is the guest's
	sed -i -e "s|/tmp/|$PWD/tmp/|g; s|/proc/sys|$PWD|g; s|\([> \"]\)/out|\1$PWD|g" script
	mkdir bin kernel
	printf '#!/bin/sh\n' | tee bin/sleep bin/rm >bin/mv
	echo 'echo "$*" >>moved' >>bin/mv
	printf '#!/bin/sh\n%s\n' 'printf "[%s]" "$@" >>calls' 'echo >>calls' '[ "$8" != "*" ]' >bin/bench
	chmod +x bin/*
	PATH=$PWD/bin:$PATH sh ./script
	rm -r tmp/*
	cat calls
	[ "$(head -n1 calls)" = "[-q][-w0][-d2][--precision][0.08][--interval][50][--rb-b2b][rb-custom][-o][$PWD/tmp/record]" ]
	[ "$(tail -n1 calls)" = "[-q][-w0][-d2][--precision][0.08][--interval][50][*][x][-o][$PWD/tmp/record]" ]
	[ "$(cat moved)" = "$PWD/tmp/record $PWD/0.jsonl" ]
	[ "$(cat 0.status 1.status)" = $'0\n1' ]
}

@test "no command lines: those of the guest, without a row for what it cannot run" {
	printf '%s\n' '--rb-b2b rb-custom' trig-tp trig-x bloom-false-positive >records/lines
	record 0 M/s 10
	record 1 M/s 20
	echo 4 >records/2.status
	record 3 % 1
	insns
	[ "$status" -eq 0 ]
	row 1 --rb-b2b rb-custom 100.00 0.000
	row 2 trig-tp 50.000 0.000
	[ "${#lines[@]}" -eq 3 ]
}

@test "a guest that does not end well: no table, no record" {
	touch crash
	insns -o all.jsonl trig-tp
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ ! -e all.jsonl ]
}

# A static program with the marks, at the addresses that `blocks` uses
with_marks() {
	cat >marks.c <<'C'
void bench_measure_begin(void) {}
void bench_measure_pause(void) {}
void bench_measure_resume(void) {}
void bench_measure_end(void) {}
int main(void) { return 0; }
C
	gcc -static -o marks marks.c
	STATIC=$PWD/marks
}

@test "--profile: by function, small ones together, interrupts and others apart, in each run's own blocks" {
	with_marks
	main=$(nm marks | awk '$3 == "main" { print $1 }')
	cat >records/kernel <<'END'
ffffffff81000000 T section_start
ffffffff81000000 t lookup.isra.0
ffffffff81000100 t lookup.cold
ffffffff81000200 T small
ffffffff81000300 t tick
END
	cat >records/1.bpf <<'END'
ffffffffa0000000 t bpf_prog_0123456789abcdef_count	[bpf]
ffffffffa0000100 t bpf_trampoline_6442451234	[bpf]
END
	touch records/0.{bpf,maps}
	echo '7ffff7ffd000-7ffff7fff000 r-xp 00000000 00:00 0 [vdso]' >records/1.maps
	cat >blocks <<END
run 0
k ffffffff81000000 77777
run 1
k ffffffff81000000 50000
k ffffffff81000010 10000
k ffffffff81000100 10000
k ffffffff81000200 10
i ffffffff81000300 1000
b $main 9000
k ffffffffa0000000 6000
k ffffffffa0000100 7000
o 00007ffff7ffd010 4000
o 0000000000000010 900
k ffffffffc0000000 2000
o 00007ffff7fff010 90
END
	record 0 M/s 10
	# 1000 operations
	record 1 M/s 10 '{"samples":[{"dt_ns":100000,"hits":1000}]}'
	insns --profile trig-tp bpf-loop
	[ "$status" -eq 0 ]
	cat >expected <<'END'
bpf-loop                  100.00   0.000
       70.00  70.00%  kernel lookup
        9.00   9.00%  user main
        7.00   7.00%  bpf bpf_trampoline
        6.00   6.00%  bpf count
        4.00   4.00%  user [vdso]
        2.00   2.00%  kernel (unknown)
        1.00   1.00%  kernel (interrupts)
        0.99   0.99%  user (other processes)
        0.01   0.01%  kernel other
END
	diff <(printf '%s\n' "${lines[@]:2}" | tail -n10 | tr -s ' ') <(tr -s ' ' <expected)
	grep -qE '^.*/insns-1-[0-9a-f]{16}\.so,bench=.*/marks,out=.*,marks=.*$' qemu.args
	[ -e "$(sed -n 's/^\(.*insns-1-.*\.so\),bench.*/\1/p' qemu.args)" ]
}

@test "--profile: every awk attributes alike, numbers beyond 2^31 included" {
	local awk n=0
	printf '%s\n' 'ffffffff81000000 t section_start' 'ffffffff81000000 T f.isra.0.cold' \
		'ffffffff81000100 t g.constprop.3' 'ffffffffa0000000 t bpf_prog_0123456789abcdef_x [bpf]' \
		'0000000000401000 T main [bench]' | LC_ALL=C sort >symbols
	printf '%s\n' 'run 0' 'k ffffffff81000000 1' 'run 1' 'k ffffffff81000010 5000000000' \
		'k ffffffff810000f0 7' 'k ffffffff81000100 9' 'k ffffffffa0000020 11' 'b 0000000000401010 12' \
		'o 0000000000401010 13' 'o 0000000000000010 14' 'k ffffffffc0000000 15' \
		'i ffffffff81000000 16' >blocks
	printf '%s\n' '5000000007 kernel f' '9 kernel g' '11 bpf x' '12 user main' \
		'27 user (other processes)' '15 kernel (unknown)' '16 kernel (interrupts)' | sort >expected
	for awk in mawk gawk 'busybox awk' original-awk; do
		command -v "${awk%% *}" >/dev/null || continue
		n=$((n + 1))
		LC_ALL=C $awk -v run=1 -f "${INSNS%.sh}-profile.awk" symbols blocks | sort >"$awk.out"
		diff "$awk.out" expected
	done
	[ "$n" -ge 2 ]
}

@test "--profile of two kernels: side by side, by the functions' names" {
	with_marks
	mkdir records.other
	echo 'ffffffff81000000 t f.isra.0' >records/kernel
	printf '%s\n' 'ffffffff81000100 t g' 'ffffffff81000000 t f' >records.other/kernel
	printf '%s\n' 'run 0' 'k ffffffff81000000 90000' 'k ffffffff81000100 10000' >blocks
	touch records{,.other}/0.{bpf,maps}
	record 0 M/s 10 '{"samples":[{"dt_ns":100000,"hits":1000}]}'
	dir=records.other record 0 M/s 10 '{"samples":[{"dt_ns":100000,"hits":1000}]}'
	insns -k other --profile trig-tp
	row 2 ' 100.00 100.00% 90.00 90.00% -10.00 kernel f'
	row 3 ' 0.00 0.00% 10.00 10.00% +10.00 kernel g'
}

@test "--profile: time without instructions is a row" {
	with_marks
	echo 'ffffffff81000000 t f' >records/kernel
	printf '%s\n' 'run 0' 'k ffffffff81000000 90000' >blocks
	touch records/0.{bpf,maps}
	record 0 M/s 10 '{"samples":[{"dt_ns":100000,"hits":1000}]}'
	insns --profile trig-tp
	row 2 ' 90.00 100.00% kernel f'
	row 3 ' 10.00 11.11% idle'
}

@test "--profile without what it needs: what, why and what to do" {
	insns --profile trig-tp
	[ "$status" -eq 64 ]
	[[ $stderr == *"has no symbol bench_measure_pause: use one of this tree, not stripped"* ]]
	with_marks
	echo 'no such thing' >help
	insns --profile trig-tp
	[ "$status" -eq 1 ]
	[[ $stderr == *"was built without plugins: use one built with --enable-plugins"* ]]
	rm help
	CC=false insns --profile trig-tp
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot compile the plugin"* ]]
	QEMU=$PWD/nowhere insns --profile trig-tp
	[ "$status" -eq 1 ]
	[ ! -e qemu.args ]
}

@test "costs.sh: a column a kernel, one for this machine, whether it can be measured or not" {
	echo b >records/lines
	record 0 M/s 10
	cp -r records records.other
	rm records.other/0.jsonl
	dir=records.other
	record 0 M/s 20
	printf '#!/bin/sh\nexit 1\n' >native
	chmod +x native
	costs() {
		BENCH=$PWD/native run --separate-stderr "${INSNS%/*}/costs.sh" -o costs --bench "$STATIC" \
			"$PWD/bzImage" "$PWD/other,mitigations=off"
		printf '%s\n' "$output" "$stderr"
		[ "$status" -eq 0 ]
		[ "${lines[0]}" = '| benchmark | 6.99 | 6.99, mitigations=off | here, ns |' ]
	}
	costs
	[ "${lines[2]}" = '| `b` | 100.0 | 50.00 | - |' ]
	# What was measured is kept
	rm bzImage qemu
	dir=costs
	record native M/s 100
	costs
	[ "${lines[2]}" = '| `b` | 100.0 | 50.00 | 10.0 |' ]
}

@test "bad arguments: 64, and no qemu" {
	insns -k nowhere trig-tp
	[ "$status" -eq 64 ]
	[[ $stderr == *"--kernel: there is no 'nowhere'"* ]]
	rm -f qemu.args
	insns --bench /nowhere trig-tp
	[ "$status" -eq 64 ]
	insns -o /nowhere/x trig-tp
	[ "$status" -eq 64 ]
	insns --rb-b2b rb-custom
	[ "$status" -eq 64 ]
	[[ $stderr == *"there is no option '--rb-b2b'"* ]]
	insns trig-tp --profile
	[ "$status" -eq 64 ]
	insns --fail-on-change 1 trig-tp
	[ "$status" -eq 64 ]
	insns --against /nowhere trig-tp
	[ "$status" -eq 64 ]
	touch base
	insns --against base --fail-on-change=x trig-tp
	[ "$status" -eq 64 ]
	insns --against base -k other trig-tp
	[ "$status" -eq 64 ]
	insns --arch sparc trig-tp
	[ "$status" -eq 64 ]
	[ ! -e qemu.args ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/insns.sh with a stand-in for qemu: the guest brings back what is in the folder `records`.
# shellcheck disable=SC2016,SC2154 # the programs here expand their variables; run sets $stderr

bats_require_minimum_version 1.5.0

INSNS=$(realpath "$BATS_TEST_DIRNAME/../scripts/insns.sh")

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export TMPDIR=$PWD/tmp QEMU=$PWD/qemu
	mkdir tmp records
	echo 'no kernel' >bzImage
	# A static program of any kind will do
	STATIC=$(command -v busybox)
	cat >qemu <<'QEMU'
#!/usr/bin/env bash
printf '%s\n' "$@" >qemu.args
while (($#)); do
	case $1 in
	-chardev) [[ $2 != *id=result,* ]] || result=${2##*path=} ;;
	-initrd) cp "$2" initramfs ;;
	esac
	shift
done
[[ ! -e crash ]] || exit 1
mkdir r
echo 0 >r/status
cp -r records r/out
tar -czf "$result" -C r .
QEMU
	chmod +x qemu
}

# record NUMBER UNIT MEAN STDDEV: of the command line with that number, from 0
record() {
	echo "{\"summary\":{\"unit\":\"$2\",\"mean\":$3,\"stddev\":$4}}" >>"records/$1.jsonl"
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
	record 0 M/s 5.7770 0.0052
	record 1 'M ops/s' 66.35 0
	record 2 M/s 0.081699346 0.0001
	record 3 M/s 1250 1
	echo 'there already' >all.jsonl
	insns -o all.jsonl '--rb-b2b rb-custom' '--nr_loops=1000 bpf-loop' trig-tp '-p 1 count-local'
	[ "$status" -eq 0 ]
	row 0 command line instructions deviation %
	row 1 --rb-b2b rb-custom 173.10 0.090
	row 2 --nr_loops=1000 bpf-loop 15.072 0.000
	row 3 trig-tp 12240 0.122
	row 4 -p 1 count-local 0.8000 0.080
	[ "${#lines[@]}" -eq 5 ]
	[ "$(wc -l <all.jsonl)" -eq 5 ]
	[ "$(head -n1 all.jsonl)" = 'there already' ]
}

@test "a command line that fails: '-', its name on standard error, exit status 1" {
	record 1 % 2.4 0.1
	record 2 M/s 10 0.001
	echo '{"summary":null}' >records/3.jsonl
	insns '--bad rb-libbpf' bloom-false-positive trig-tp bpf-loop
	[ "$status" -eq 1 ]
	row 1 --bad rb-libbpf - -
	row 2 bloom-false-positive - -
	row 3 trig-tp 100.00 0.010
	row 4 bpf-loop - -
	[[ $stderr == *"insns: failed in the guest: '--bad rb-libbpf'"* ]]
	[[ $stderr == *"insns: no operations per second in the result of 'bloom-false-positive'"* ]]
	[[ $stderr == *"in the result of 'bpf-loop'"* ]]
	[[ $stderr != *trig-tp* ]]
}

@test "each run of -r has its row, without a deviation where there is one sample" {
	record 0 M/s 10 0
	record 0 M/s 20 null
	insns '-r2 trig-tp'
	[ "$status" -eq 0 ]
	row 1 -r2 trig-tp 100.00 0.000
	row 2 -r2 trig-tp 50.000 -
}

@test "the guest counts instructions, and runs each command line word by word" {
	insns '--rb-b2b  rb-custom' '* x'
	grep -qx 'shift=0,sleep=off' qemu.args
	cpio --quiet -i --to-stdout vmtest/command <initramfs >script
	mkdir bin
	printf '#!/bin/sh\n' | tee bin/sleep bin/rm >bin/mv
	echo 'echo "$*" >>moved' >>bin/mv
	printf '#!/bin/sh\n%s\n' 'printf "[%s]" "$@" >>calls' 'echo >>calls' '[ "$6" != "*" ]' >bin/bench
	chmod +x bin/*
	PATH=$PWD/bin:$PATH sh ./script
	cat calls
	[ "$(head -n1 calls)" = '[-q][-w1][-d3][--interval][100][--rb-b2b][rb-custom][-o][/tmp/record]' ]
	[ "$(tail -n1 calls)" = '[-q][-w1][-d3][--interval][100][*][x][-o][/tmp/record]' ]
	[ "$(cat moved)" = '/tmp/record /out/0.jsonl' ]
}

@test "a guest that does not end well: vmtest's status, no table, no record" {
	touch crash
	insns -o all.jsonl trig-tp
	[ "$status" -eq 125 ]
	[ -z "$output" ]
	[ ! -e all.jsonl ]
}

@test "bad arguments: 64, and no qemu" {
	insns
	[ "$status" -eq 64 ]
	[ "$stderr" = 'insns: expected a command line of bench, quoted (--help explains)' ]
	insns -k nowhere trig-tp
	[ "$status" -eq 64 ]
	[[ $stderr == *"--kernel: there is no 'nowhere'"* ]]
	insns --bench /nowhere trig-tp
	[ "$status" -eq 64 ]
	insns -o /nowhere/x trig-tp
	[ "$status" -eq 64 ]
	insns --rb-b2b rb-custom
	[ "$status" -eq 64 ]
	[[ $stderr == *"there is no option '--rb-b2b'"* ]]
	[ ! -e qemu.args ]
}

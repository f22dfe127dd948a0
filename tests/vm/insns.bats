#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/insns.sh with a real guest: that its figures are exact, and what a disassembly says. Takes
# some minutes: make check-insns.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # what runs in the guest expands its variables

bats_require_minimum_version 1.5.0

top=$(realpath "$BATS_TEST_DIRNAME/../..")

# Straight lines, loops, system calls, a lock, a breakpoint, batches with what surrounds them
lines=(count-local bpf-loop trig-kernel-count '--rb-b2b rb-custom' trig-fentry trig-uprobe-nop
	bloom-lookup bpf-nop xdp-lb)

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	bench=${VM_BENCH:-$top/bench-static}
	jited=${VM_JITED:-$top/build/static/tests/jited}
	"$top/scripts/insns.sh" --bench "$bench" --profile -o first.jsonl "${lines[@]}" >first 2>first.err ||
		{ cat first.err && return 1; }
	"$top/scripts/insns.sh" --bench "$bench" "${lines[@]}" >second 2>second.err ||
		{ cat second.err && return 1; }
	# The code of what was profiled
	"$top/scripts/vmtest.sh" --icount --bench "$bench" --add "$jited" --out code -- sh -c '
		for b in bpf-loop trig-kernel-count trig-uprobe-nop; do
			bench -q -w0 -d1 $b &
			sleep 0.5
			jited /out
			wait
		done' >code.out 2>code.err || { cat code.err && return 1; }
	objdump -d --no-show-raw-insn "$bench" --disassemble=count_producer >count_producer
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return 1
}

# cost FILE LINE: its figure
cost() {
	awk -v line="$2" 'index($0, line " ") == 1 { sub("^" line " *", ""); sub(/^[~*]+/, "", $1); print $1 }' "$1"
}

# row LINE SYMBOL: of its profile
row() {
	awk -v line="$1" -v symbol="$2" '
		/^[^ ]/ { here = index($0, line " ") == 1 }
		here && /^ / { name = $3 " " $4 }
		here && /^ / && name == symbol { print $1 }' first
}

# code FILE: instructions of a straight-line function, up to its return, which may be a jump
code() {
	objdump -D -b binary -m i386:x86-64 --no-show-raw-insn "code/$1" |
		awk -F'\t' '/^ +[0-9a-f]+:/ { print $2; if ($2 ~ /^(ret|jmp)/) exit }'
}

# loop: instructions of a turn of the loop in a disassembly on standard input: from where a conditional
# jump goes to that jump itself, by jumps without a condition, past those with one
loop() {
	awk -F'\t' '
		/^ +[0-9a-f]+:/ {
			addr = $1
			gsub(/[ :]/, "", addr)
			number[addr] = ++n
			split($2, word, " ")
			sub(/^0x/, "", word[2])
			jump[n] = word[1]
			target[n] = word[2]
		}
		END {
			for (i = 1; i <= n; i++) {
				if (jump[i] !~ /^j/ || jump[i] == "jmp" || !(target[i] in number))
					continue
				steps = 1
				for (at = number[target[i]]; at && at != i && steps < n; steps++)
					at = jump[at] == "jmp" ? number[target[at]] : \
						jump[at] ~ /^ret/ || at == n ? 0 : at + 1
				if (at == i && (!size || steps < size))
					size = steps
			}
			print size
		}'
}

near() {
	echo "$1 and $2, within $3"
	awk "BEGIN { d = $1 - $2; exit !(d * d <= ($3) * ($3)) }"
}

# Its samples are twice as long, and taking one costs up to 10^5 instructions
@test "two boots, one of them with the profile, agree within 0.2 %" {
	paste first second >&2
	for line in "${lines[@]}"; do
		near "$(cost first "$line")" "$(cost second "$line")" "0.002 * $(cost second "$line")"
	done
}

# rows FILE: of a table, "COMMAND LINE|FIGURE", without those marked as not exact
rows() {
	awk 'NR > 1 && $(NF - 1) !~ /^[~*]/ { figure = $(NF - 1); sub(/ +[^ ]+ +[^ ]+$/, ""); print $0 "|" figure }' "$1"
}

@test "the whole table: two boots agree within 0.1 % in every row that is called exact" {
	for n in 1 2; do
		"$top/scripts/insns.sh" --bench "${VM_BENCH:-$top/bench-static}" >"all.$n" 2>"all.$n.err" ||
			{ cat "all.$n.err" && return 1; }
	done
	awk -F'|' '
		NR == FNR { first[$1] = $2; next }
		$1 in first {
			n++
			apart = 100 * ($2 / first[$1] - 1)
			if (apart < 0)
				apart = -apart
			same += apart == 0
			if (apart > 0.1) {
				print $1 ": " first[$1] " and " $2
				bad++
			}
			if (apart > most)
				most = apart
		}
		END {
			print n " rows compared, " same " of them equal in each digit; apart by " most " % at most"
			exit bad || n <= 40
		}' <(rows all.1) <(rows all.2) >compared || { cat compared && return 1; }
	sed 's/^/# /' compared >&3
}

@test "every figure is called exact" {
	run ! grep '~' first second
}

@test "the rows of a profile sum to the cost, within 1 %" {
	awk '
		/^[^ ]/ && NR > 1 { line++; cost[line] = $(NF - 1) }
		/^ / && $3 != "idle" { sum[line] += $1 }
		END {
			for (i = 1; i <= line; i++) {
				print cost[i], sum[i]
				bad += (sum[i] / cost[i] - 1) ^ 2 > 0.01 ^ 2
			}
			exit bad || line < 9
		}' first
}

@test "count-local costs what its loop has" {
	size=$(loop <count_producer)
	near "$(row count-local 'user count_producer')" "$size" 0.005
	near "$(cost first count-local)" "$size" "0.005 * $size"
}

@test "bpf-loop: the callback costs what its code has" {
	near "$(row bpf-loop 'bpf nothing')" "$(code call_bpf_loop.2 | wc -l)" 0.01
}

@test "trig-kernel-count: a turn costs what the loop has" {
	objdump -D -b binary -m i386:x86-64 --no-show-raw-insn code/batch_count.0 >batch_count
	size=$(loop <batch_count)
	whole=$(wc -l <batch_count)
	# The program is entered once in 100 turns
	cost=$(row trig-kernel-count 'bpf batch_count')
	echo "$cost; loop $size, whole $whole"
	awk "BEGIN { exit !($cost >= $size && $cost <= $size + $whole / 100 + 0.01) }"
}

@test "a straight-line program costs what its code has" {
	run ! grep '^j[^m]' <(code trig_probe.0)
	near "$(row trig-uprobe-nop 'bpf trig_probe')" "$(code trig_probe.0 | wc -l)" 0.01
}

# step KERNEL...: one of git bisect run, for the cost of bloom-lookup
step() {
	run "$top/scripts/insns.sh" --bench "${VM_BENCH:-$top/bench-static}" "$@" --against first.jsonl \
		--fail-on-change 2 bloom-lookup
	echo "$*: exit status $status"
	echo "$output"
}

@test "git bisect run's answers: 6.1 is good, 6.12, which no longer inlines hash(), is bad" {
	step
	[ "$status" -eq 0 ]
	step -k linux-image-6.12-amd64
	[ "$status" -eq 1 ]
	[[ $output == *"'bloom-lookup' changed by +14."*" %: more than 2 %"* ]]
}

@test "git bisect run skips a kernel that does not boot, is for another machine, or is none" {
	head -c 1000000 /dev/zero >nothing
	cp nothing arm64
	printf 'ARM\144' | dd of=arm64 bs=1 seek=56 conv=notrunc status=none
	for kernel in nothing arm64 nowhere; do
		step -k "$kernel"
		[ "$status" -eq 125 ]
	done
	[[ $output == *"--kernel: there is no 'nowhere'"* ]]
	# Without a question, as elsewhere
	run "$top/scripts/insns.sh" --bench "${VM_BENCH:-$top/bench-static}" -k arm64 bloom-lookup
	[ "$status" -eq 64 ]
	[[ $output == *"'arm64' is for aarch64, not x86_64: name it with --arch"* ]]
}

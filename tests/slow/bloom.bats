#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Bloom filter benchmarks: that they count what they should, and that the kernel's filter is wrong as
# often as the theory says. Rates do not matter here, so runs go on side by side.

load ../helpers

ALL='bloom-lookup bloom-update bloom-false-positive hashmap-without-bloom hashmap-with-bloom'

# The benchmarks may be unavailable for these reasons only; then there is nothing to test.
setup_file() {
	bench -q -w0 -d1 bloom-lookup
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: bloom-lookup: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | \
		'this kernel has no bloom filter map (BPF_MAP_TYPE_BLOOM_FILTER): requires Linux 5.16 or newer' | \
		'this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer') ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

available() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

teardown() {
	kill_started
}

# ---- arguments

@test "more entries than there are different values are refused" {
	local name
	for name in $ALL; do
		refused --nr_entries "'75000'" 'only 65536 different values of 2 bytes' \
			--nr_entries 75000 --value_size 2 "$name"
	done
	refused --nr_entries "'16777217'" 'only 16777216 different values of 3 bytes' \
		--nr_entries 16777217 --value_size 3 bloom-lookup
	# None is left that is absent
	for name in bloom-false-positive hashmap-without-bloom hashmap-with-bloom; do
		refused --nr_entries "'65536'" 'all values of 2 bytes' \
			--nr_entries 65536 --value_size 2 "$name"
	done
}

@test "more memory than there is is refused, with both amounts" {
	# 1 TiB
	refused --nr_entries "'4294967295'" 'need 104????.? MiB*, and *[0-9] MiB are ' \
		--nr_entries 4294967295 --value_size 256 bloom-lookup
	refused --nr_entries "'134217729'" 'a BPF hash map holds 134217728 at most' \
		--nr_entries 134217729 hashmap-with-bloom
}

@test "CAP_BPF and CAP_PERFMON are enough" {
	available
	local name
	for name in $ALL; do
		bench_by setpriv --reuid 65534 --clear-groups --inh-caps=-all,+bpf,+perfmon \
			--ambient-caps=-all,+bpf,+perfmon -- -q -w0 -d1 "$name"
		exits 0
	done
}

# ---- counts

# Operations that all the samples count, and runs of the program by the kernel's count
hits_and_runs() {
	local runs
	runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
	[[ -n $runs ]] || fail 'not verified against the run count of the kernel'
	sed -nE -e 's/^Iter +[0-9]+ \( *(.*)us\): hits +([0-9.]+)M.*/\1 \2/p' \
		-e 's/^Iter.*us\): [0-9]+ false hits of ([0-9]+) total.*/\1/p' "$OUT" |
		awk -v runs="$runs" '
			{ hits += NF == 2 ? $2 * (100000 + $1) : $1 }
			END { printf "%.0f %d\n", hits, runs }'
}

# How many operations one run makes is set by the sizes alone. The samples hold all but what came
# after the last one; so at most all, and most of it.
@test "a run makes the operations that it should, and the kernel counts the same runs" {
	available
	local ops name hits runs args
	while read -r ops name args; do
		# shellcheck disable=SC2086 # several arguments
		bench -w0 -d1 --interval 100 --verify "$name" $args
		exits 0
		read -r hits runs <<<"$(hits_and_runs)"
		calc 'hits <= 1.001 * ops * runs' hits="$hits" ops="$ops" runs="$runs"
		calc 'hits > 0.5 * ops * runs' hits="$hits" ops="$ops" runs="$runs"
	done <<-END
		6656 bloom-lookup
		6656 bloom-update
		4096 bloom-false-positive
		7168 hashmap-without-bloom
		4096 hashmap-with-bloom
		256 bloom-lookup --value_size 256 --nr_hash_funcs 15
	END
}

# The run fails where a filter does not find an entry, and where a hash map has a value that is none or
# gets one twice. --verify also has bloom-false-positive ask a hash map.
@test "the maps hold what was put into them and nothing else, from one entry to all there can be" {
	available
	local name
	for name in $ALL; do
		bench -q -w0 -d1 --verify "$name" --nr_entries 1 --nr_hash_funcs 1
		exits 0
		bench -q -w0 -d1 --verify "$name" --value_size 2 --nr_entries 65535 --nr_hash_funcs 15
		exits 0
	done
	bench -q -w0 -d1 bloom-lookup --value_size 2 --nr_entries 65536
	exits 0
}

@test "maps are not filled by a system call an element" {
	available
	local name
	for name in bloom-lookup hashmap-with-bloom; do
		bench_traced -q -w0 -d1 --nr_entries 300000 "$name"
		exits 0
		(($(grep -c 'bpf(BPF_PROG_TEST_RUN' "$CALLS") > 300000 / 256))
		# Those of libbpf, for the programs' own data
		(($(grep -c 'bpf(BPF_MAP_UPDATE_' "$CALLS") < 20))
	done
}

# ---- what the filter gets wrong

# Runs of bloom-false-positive, eight at a time. Standard input: "FUNCTIONS ENTRIES SIZE SEED" a line;
# prints each with "FALSE_HITS LOOKUPS" behind it.
measure() {
	local k n size seed i=0 dir=$BATS_TEST_TMPDIR/measure
	mkdir -p "$dir"
	while read -r k n size seed; do
		{
			timeout -s KILL "$TIME_LIMIT" "$BENCH" -q -w0 -d1 --nr_hash_funcs "$k" \
				--nr_entries "$n" --value_size "$size" --seed "$seed" \
				bloom-false-positive </dev/null 2>&1 |
				sed -nE "s/^Summary: ([0-9]+) false hits of ([0-9]+) total.*/$k $n $size $seed \\1 \\2/p" \
					>"$dir/$i"
		} 3>&- 4>&- &
		i=$((i + 1))
		((i % 8)) || wait
	done
	wait
	cat "$dir"/*
	rm -r "$dir"
}

# Lines of measure() with two figures more: the rate expected, and by how many standard deviations
# the one measured is off. lib/bloom_theory.h explains the formulas; this is written independently
# of it, and what it says of small sizes matters: there are 2^16 values of 2 bytes only, and looking
# up all that are absent a thousand times does not bring the rate closer to p than once.
expect() {
	awk '
		function bits(n, k,    want, b) {
			want = int(n * k / 5) * 7
			for (b = 64; b < want; b *= 2)
				;
			return b
		}
		{
			k = $1; n = $2; m = bits(n, k); c = k * n / m
			f = 1 - exp(-c)
			p = f ^ k
			absent = 256 ^ ($3 < 8 ? $3 : 8) - n
			var = p * (1 - p) * (1 / $6 + 1 / absent)
			var += (k * p / f) ^ 2 * (exp(-c) - (1 + c) * exp(-2 * c)) / m
			print $0, p, ($5 / $6 - p) / sqrt(var)
		}'
}

# All k of 1..10, and sizes whose values the kernel hashes in different ways: by words and by bytes,
# shorter and longer than the three words that its hash function takes at a time
@test "the false positive rate is what theory says, within 5 standard deviations" {
	available
	local lines
	lines=$(for k in {1..10}; do
		cat <<-END
			$k 50 8 1
			$k 1000 2 2
			$k 30000 2 3
			$k $((90000 / k)) 3 4
			$k $((700 * k)) 7 5
			$k 140000 8 6
			$k 70000 $((5 + 8 * k)) 7
			$k 4600 $((246 + k)) 8
		END
	done | measure | expect)
	echo 'functions entries size seed false_hits lookups expected deviations'
	echo "$lines"
	(($(wc -l <<<"$lines") == 80))
	# There have to be enough false hits for their number to be distributed about normally
	awk '!($6 * $7 > 10 && $8 > -5 && $8 < 5) { print "off: " $0; bad = 1 } END { exit bad }' <<<"$lines"
}

# The sum of 32 squares lies between 8 and 73 but once in 100000 times, and fewer than 4 of 32 on one
# side come about as rarely.
scatters() {
	local lines
	lines=$(for seed in {1..32}; do echo "$* $seed"; done | measure | expect)
	echo "$lines"
	awk '
		{ below += $8 < 0; above += $8 > 0; squares += $8 * $8 }
		END {
			print below " below, " above " above, sum of squares " squares
			exit !(NR == 32 && below >= 4 && above >= 4 && squares > 8 && squares < 73)
		}' <<<"$lines"
}

@test "several seeds scatter around theory, as far as it says: many values" {
	available
	scatters 3 1000 8
}

@test "several seeds scatter around theory, as far as it says: few values" {
	available
	scatters 2 30000 2
}

# 5536 values are absent: all are looked up often, so the rate depends on seed and filter alone
@test "the same seed gives the same values and the same filter" {
	available
	local rates
	mapfile -t rates < <(printf '1 60000 2 %s\n' 1 1 2 | measure | awk '{ print $5 / $6 }')
	echo "${rates[@]}"
	calc '(a - b) ^ 2 < 0.0005 ^ 2' a="${rates[0]}" b="${rates[1]}"
	calc '(a - b) ^ 2 > 0.002 ^ 2' a="${rates[0]}" b="${rates[2]}"
}

# ---- set-up

# The first descriptors of maps show that the set-up has begun
set_up_begun() {
	local i
	for ((i = 0; i < TIME_LIMIT * 20; i++)); do
		held=$(held_by "$pid")
		[[ $held != *map* ]] || return 0
		sleep 0.05
	done
	fail 'no map was created'
}

@test "SIGINT ends the set-up, and leaves nothing" {
	available
	local held
	start_with --default-signal=INT -- -w0 -d1 --nr_entries 30000000 bloom-update
	set_up_begun
	kill -INT "$pid"
	finish 20
	exits 130
	[[ $(<"$OUT") != *started* ]]
	gone "$held"
}

@test "progress of a long set-up is shown on a terminal, and only there" {
	available
	local cpu file=$BATS_TEST_TMPDIR/typescript i
	cpu=$(allowed_cpus)
	cpu=${cpu%% *}
	# On one CPU, this takes seconds anywhere
	taskset -c "$cpu" script -qefc "exec '$BENCH' -w0 -d1 --nr_entries 40000000 bloom-lookup" \
		"$file" >/dev/null 2>&1 </dev/null 3>&- 4>&- &
	pid=$!
	for ((i = 0; i < TIME_LIMIT * 20; i++)); do
		! grep -qE 'filling the maps: +[0-9]+ %' "$file" 2>/dev/null || break
		[[ -e /proc/$pid ]] || break
		sleep 0.05
	done
	kill "$pid" || true
	wait "$pid" || true
	pid=
	grep -qE 'filling the maps: +[0-9]+ %' "$file"

	bench_by taskset -c "$cpu" -- -w0 -d1 --nr_entries 10000000 bloom-lookup
	exits 0
	no_error_line '*filling*'
}

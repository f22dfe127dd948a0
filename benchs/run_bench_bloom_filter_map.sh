#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

VALUE_SIZES=${VALUE_SIZES:-}
THREADS=${THREADS:-1}
HASHES=${HASHES:-}
ENTRIES=${ENTRIES:-}

about() {
	cat <<'END'
Usage: benchs/run_bench_bloom_filter_map.sh [OPTION...] [-- BENCH-OPTION...]

Measure the bloom filter map over the size of a value, the number of threads, of
hash functions and of entries; then a hash map with and without a bloom filter
in front. Without options it is the grid of the published results. That of the
kernel's own script, which takes a day and more, is
  --value-sizes '2 4 8 16 40' --threads '1 4 8 12 16' --hashes '1 2 3 4 5 6 7 8 9 10'
  --entries '10000 50000 75000 100000 250000 500000 750000 1000000 2500000 5000000'
Rows that cannot exist (75000 different values of 2 bytes) are left out. The
false positive rate is the true one; the published p, counted with each false hit
twice in the denominator, becomes it as p / (1 - p).

      --value-sizes LIST
                        sizes of a value (default 8 64; 8 with --quick)
      --threads LIST    numbers of producers (default 1)
      --hashes LIST     numbers of hash functions (default 1 2 3 4 5; 1 3 5 with
                        --quick)
      --entries LIST    numbers of entries (default 50000 100000 500000 1000000
                        2500000 5000000; 50000 1000000 with --quick)
END
}

check_numbers() {
	[[ $1 =~ ^[1-9][0-9]{0,8}( [1-9][0-9]{0,8})*$ ]] || echo 'numbers with a space between them'
}

own_options=,value-sizes:,threads:,hashes:,entries:

sweep_option() {
	case $1 in
	--value-sizes) VALUE_SIZES=$2 ;;
	--threads) THREADS=$2 ;;
	--hashes) HASHES=$2 ;;
	--entries) ENTRIES=$2 ;;
	esac
}

# 1234567 with separators, whatever the locale
grouped() {
	local n=$1 out=''
	while ((${#n} > 3)); do
		out=,${n: -3}$out
		n=${n:: -3}
	done
	echo "$n$out"
}

# distinct SIZE COUNT: are there more than COUNT values of this size?
distinct() {
	(($1 > 3 || $2 < 1 << 8 * $1))
}

sweep() {
	local v t h e args hash_threads value_sizes threads hashes entries

	if $quick; then
		: "${VALUE_SIZES:=8}" "${HASHES:=1 3 5}" "${ENTRIES:=50000 1000000}"
	else
		: "${VALUE_SIZES:=8 64}" "${HASHES:=1 2 3 4 5}"
		: "${ENTRIES:=50000 100000 500000 1000000 2500000 5000000}"
	fi
	check_value --value-sizes check_numbers "$VALUE_SIZES"
	check_value --threads check_numbers "$THREADS"
	check_value --hashes check_numbers "$HASHES"
	check_value --entries check_numbers "$ENTRIES"
	read -r -a value_sizes <<<"$VALUE_SIZES"
	read -r -a threads <<<"$THREADS"
	read -r -a hashes <<<"$HASHES"
	read -r -a entries <<<"$ENTRIES"

	header "Bloom filter map"
	for v in "${value_sizes[@]}"; do
		thin "${threads[@]}"
		for t in "${producers[@]}"; do
			for h in "${hashes[@]}"; do
				subtitle "value_size: $v bytes, # threads: $t, # hashes: $h"
				for e in "${entries[@]}"; do
					distinct "$v" "$e" || continue
					args=(-p"$t" --nr_hash_funcs "$h" --nr_entries "$e"
						--value_size "$v")
					text '%s entries -\n' "$(grouped "$e")"
					row_format='\t%-20s %s\n'
					point hits 'Lookups, total operations: ' "${args[@]}" bloom-lookup
					point hits 'Updates, total operations: ' "${args[@]}" bloom-update
					point percentage 'False positive rate: ' "${args[@]}" \
						bloom-false-positive
				done
				text '\n'
			done
		done
	done

	# The published ones have 8 threads; more than CPUs would measure the scheduler
	hash_threads=$((nr_cpus < 8 ? nr_cpus : 8))
	header "Hashmap without bloom filter vs. hashmap with bloom filter (throughput, $hash_threads threads)"
	for v in "${value_sizes[@]}"; do
		for h in "${hashes[@]}"; do
			subtitle "value_size: $v, # hashes: $h"
			for e in "${entries[@]}"; do
				distinct "$v" "$e" || continue
				args=(-p"$hash_threads" --nr_hash_funcs "$h" --nr_entries "$e"
					--value_size "$v")
				text '%s entries -\n' "$(grouped "$e")"
				point total 'Hashmap without bloom filter: ' "${args[@]}" \
					hashmap-without-bloom
				point total 'Hashmap with bloom filter: ' "${args[@]}" \
					hashmap-with-bloom
			done
			text '\n'
		done
	done
}

sweep_main "$@"

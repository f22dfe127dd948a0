#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_local_storage.sh [OPTION...] [-- BENCH-OPTION...]

Measure lookups in a hash map over the number of keys, and gets of task local
storage over the number of maps; then both without the lookup or the get: what
the loop around them costs.
END
}

value_local_storage() {
	local mean='([0-9.]+ ± [0-9.]+ M ops/s)'

	[[ $1 =~ hits\ throughput\ +$mean,\ hits\ latency\ +([0-9.]+ ns/op),\ important_hits\ throughput\ +$mean ]] &&
		value="hits throughput: ${BASH_REMATCH[1]}, hits latency: ${BASH_REMATCH[2]}, important_hits throughput: ${BASH_REMATCH[3]}"
}

# section HEADING-SUFFIX get|empty BENCH-OPTION...: over the numbers in the arrays keys and maps
section() {
	local suffix=$1 what=$2 n
	shift 2
	header "Hashmap Control$suffix"
	for n in "${keys[@]}"; do
		subtitle "num keys: $n"
		point local_storage "hashmap (control) sequential    $what: " \
			"$@" --nr_maps 1 --hashmap_nr_keys_used "$n" \
			local-storage-cache-hashmap-control
		text '\n'
	done
	header "Local Storage$suffix"
	for n in "${maps[@]}"; do
		subtitle "num_maps: $n"
		point local_storage "local_storage cache sequential  $what: " \
			"$@" --nr_maps "$n" local-storage-cache-seq-get
		point local_storage "local_storage cache interleaved $what: " \
			"$@" --nr_maps "$n" local-storage-cache-int-get
		text '\n'
	done
}

sweep() {
	local keys=(10 1000 10000 100000 4194304) maps=(1 10 16 17 24 32 100 1000)

	section '' get
	# The loop does not depend on them
	! $quick || keys=(1000) maps=(1 16 1000)
	section ', the loop alone' empty --empty
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_bpf_hashmap_lookup.sh [OPTION...] [-- BENCH-OPTION...]

Measure lookups in a hash map for 65536 entries over how many it has. Of the rates
published in 2023, compare the column true_rate of reference/hashmap_lookup.tsv.
END
}

sweep() {
	local b n

	for b in hashmap rhashmap; do
		header "bpf-$b-lookup"
		for ((n = 4096; n <= 65536; n += 4096)); do
			point ops "$n" --key_size=4 --max_entries=65536 --nr_entries="$n" \
				--nr_loops=1000000 --map_flags=0x40 "bpf-$b-lookup"
		done
	done
}

sweep_main "$@"

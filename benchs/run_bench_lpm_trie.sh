#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_lpm_trie.sh [OPTION...] [-- BENCH-OPTION...]

Measure an LPM trie of 10000 entries, with one producer. The results published
in 2025 are of random keys; since then the selftests' bench takes keys in order
by default.
END
}

value_ops_in_section() {
	[[ $1 =~ throughput\ +([0-9.]+ ± [0-9.]+ [MK] ops/s).*latency\ +([0-9.]+ [nm]s/op) ]] &&
		value="throughput: ${BASH_REMATCH[1]}, latency: ${BASH_REMATCH[2]}"
}

sweep() {
	local op

	header 'Keys in order'
	for op in noop baseline; do
		point ops "$op-1: " --nr_entries 1 "lpm-trie-$op"
	done
	for op in lookup update insert delete free; do
		point ops_in_section "$op-10000: " --nr_entries 10000 "lpm-trie-$op"
	done

	header 'Random keys'
	for op in baseline lookup update; do
		point ops "$op-10000: " --random --nr_entries 10000 "lpm-trie-$op"
	done
}

sweep_main "$@"

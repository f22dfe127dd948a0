#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_bpf_for.sh [OPTION...] [-- BENCH-OPTION...]

Measure open-coded loops (bpf_for()) over the number of turns, and of threads.
END
}

sweep() {
	local n t

	thin 1 4 8 12 16
	for t in "${producers[@]}"; do
		for n in 10 100 500 1000 5000 10000 50000 100000 500000 1000000; do
			subtitle "nr_loops: $n, nr_threads: $t"
			point ops 'bpf_for: ' -p"$t" --nr_loops "$n" bpf-for
			text '\n'
		done
	done
}

sweep_main "$@"

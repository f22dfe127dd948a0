#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_bpf_hashmap_full_update.sh [OPTION...] [-- BENCH-OPTION...]

Measure how fast a full hash map refuses updates: on one CPU, on all but one, and
on all. Rows of the selftests' bench are of one CPU each, while all but one are at
it: the row with that number of threads divided by them.
END
}

sweep() {
	local b t

	for b in hashmap rhashmap; do
		header "bpf-$b-full-update"
		while read -r t; do
			point ops "nr_threads: $t" -p"$t" "bpf-$b-full-update"
		done < <(printf '%s\n' 1 $((nr_cpus - 1)) "$nr_cpus" | grep -vx 0 | sort -nu)
	done
}

sweep_main "$@"

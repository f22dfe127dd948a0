#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_sockmap.sh [OPTION...] [-- BENCH-OPTION...]

Measure how fast TCP data arrives that a BPF program redirects from one socket
to another, or passes, and without BPF; and by the size of parsed records.
Figures are what the reader got. Published are lines of --rx-verdict-ingress.
END
}

value_sockmap() {
	[[ $1 =~ received\ +([0-9.]+ ± [0-9.]+ MB/s),\ sent.*,\ drops\ +([0-9.]+) ]] &&
		value="${BASH_REMATCH[1]} (drops ${BASH_REMATCH[2]}/s)"
}

sweep() {
	local mode size

	header 'Receiving side'
	for mode in normal pass verdict-egress verdict-ingress; do
		point sockmap "rx-$mode" "--rx-$mode" sockmap
	done
	header 'Sending side'
	for mode in normal pass verdict-egress verdict-ingress; do
		point sockmap "tx-$mode" "--tx-$mode" sockmap
	done
	header 'Receiving side, in records (rx-verdict-egress)'
	for size in 100 1000 10000 50000; do
		point sockmap "$size" --rx-verdict-egress --rx-strp "$size" sockmap
	done
}

sweep_main "$@"

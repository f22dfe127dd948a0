#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_xdp_lb.sh [OPTION...] [-- BENCH-OPTION...]

Measure a packet through the XDP load balancer, in all scenarios: the median of
batches, their deviation, their 99th percentile, ns per packet; what drawing the
packet and the loop take of it; and the share of lookups of connections that
missed.
END
}

row_format='  %-20s%s\n'

value_lb() {
	local number='([0-9.]+)'
	[[ $1 =~ median\ +$number\ ±\ +$number.*batches\ +$number\ .*empty\ +$number.*LRU(.*)$ ]] || return
	local missed=${BASH_REMATCH[5]}
	[[ $missed != ' misses'* ]] || missed=${missed# misses}
	value=$(printf '%9.2f %9.2f %9.2f %9.2f %12s' "${BASH_REMATCH[@]:1:4}" "${missed:--}")
}

group() {
	local scenario
	subtitle "$1"
	for scenario in "${@:2}"; do
		point lb "$scenario" xdp-lb --scenario "$scenario"
	done
}

sweep() {
	header 'XDP load balancer, ns per packet'
	text '  %-20s%9s %9s %9s %9s %12s\n' scenario p50 stddev p99 'loop' 'LRU misses'
	group 'single flow' tcp-v4-lru-hit tcp-v4-ch tcp-v6-lru-hit tcp-v6-ch udp-v4-lru-hit \
		udp-v6-lru-hit tcp-v4v6-lru-hit
	group 'diverse flows, 4096 sources' tcp-v4-lru-diverse tcp-v4-ch-diverse \
		tcp-v6-lru-diverse tcp-v6-ch-diverse udp-v4-lru-diverse
	group 'TCP flags' tcp-v4-syn tcp-v4-rst-miss
	group 'LRU stress' tcp-v4-lru-miss udp-v4-lru-miss tcp-v4-lru-warmup
	group 'early exits' pass-v4-no-vip pass-v6-no-vip pass-v4-icmp pass-non-ip drop-v4-frag \
		drop-v4-options drop-v6-frag
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_uprobes.sh [OPTION...] [-- BENCH-OPTION...]

Measure uprobes and uretprobes on each kind of instruction that the kernel treats
differently, attached one by one, and then by multi-uprobe links.
END
}

sweep() {
	local t

	row_format='%-15s: %s\n'
	for t in usermode-count syscall-count {uprobe,uretprobe}-{nop,push,ret,nop5}; do
		point hits_aligned "$t" "trig-$t"
	done
	text '\n'
	row_format='%-20s: %s\n'
	for t in {uprobe,uretprobe}-multi-{nop,push,ret,nop5}; do
		point hits_aligned "$t" "trig-$t"
	done
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_uprobes.sh [OPTION...] [-- BENCH-OPTION...]

Measure uprobes and uretprobes on each kind of instruction that the kernel treats
differently, attached one by one, USDT probes, and then uprobes and uretprobes
attached by multi-uprobe links.
END
}

insns=(nop push ret)
usdt=(nop)
# Which of these a kernel optimizes depends on its version
if [[ $(uname -m) == x86_64 ]]; then
	insns+=(nop5 nop10)
	usdt+=(nop5 nop10)
fi

sweep() {
	local t

	row_format='%-15s: %s\n'
	for t in usermode-count syscall-count "${insns[@]/#/uprobe-}" "${insns[@]/#/uretprobe-}" \
		"${usdt[@]/#/usdt-}"; do
		point hits_aligned "$t" "trig-$t"
	done
	text '\n'
	row_format='%-21s: %s\n'
	for t in "${insns[@]/#/uprobe-multi-}" "${insns[@]/#/uretprobe-multi-}"; do
		point hits_aligned "$t" "trig-$t"
	done
}

sweep_main "$@"

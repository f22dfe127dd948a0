#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_rename.sh [OPTION...] [-- BENCH-OPTION...]

Measure the cost of a program attached to a kernel function of some length
(renaming a thread), by each way to attach it.
END
}

sweep() {
	local t

	row_format='%-10s: %s\n'
	for t in base kprobe kretprobe rawtp fentry fexit; do
		point hits_aligned "$t" "rename-$t"
	done
}

sweep_main "$@"

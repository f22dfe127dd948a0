#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_private_stack.sh [OPTION...] [-- BENCH-OPTION...]

Measure a program with and without a private stack over the size of its batches.
Rows are runs of the program. Those of the mail of 2024-07-18 are inflated by the
size of the batch: divide them by the number in the row's name to compare.
END
}

sweep() {
	local b n

	for n in 1 8 64 512 2048 4096; do
		for b in no-private-stack private-stack; do
			point hits "$b-$n: " --nr-batch-iters "$n" "$b"
		done
	done
}

sweep_main "$@"

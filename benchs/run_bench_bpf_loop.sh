#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_bpf_loop.sh [OPTION...] [-- BENCH-OPTION...]

Measure bpf_loop() over the number of callbacks per call, and of threads.
END
}

sweep() {
	sweep_loops 'bpf_loop: ' bpf-loop
}

sweep_main "$@"

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
	sweep_loops 'bpf_for: ' bpf-for
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_strncmp.sh [OPTION...] [-- BENCH-OPTION...]

Measure comparisons of strings by a loop in the program and by bpf_strncmp(), over
the length of the strings. Published rows count one comparison per system call, so
those of short strings measure the call.
END
}

sweep() {
	local b n

	for n in 1 8 64 512 2048 4095; do
		for b in no-helper helper; do
			point hits "$b-$n" --cmp-str-len="$n" "strncmp-$b"
		done
	done
}

sweep_main "$@"

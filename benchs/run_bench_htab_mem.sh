#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_htab_mem.sh [OPTION...] [-- BENCH-OPTION...]

Measure how much memory a hash map holds while 8 threads add and delete entries,
and how fast they do: preallocated, allocated as needed, and the resizable hash
map. Published rows include the memory of the process.
END
}

value_htab_mem() {
	local k='([0-9.]+ ± +[0-9.]+k/s)' mib='([0-9.]+ ± +[0-9.]+MiB)'

	[[ $1 =~ per-prod-op\ +$k.*memory\ usage\ +$mib,\ peak\ memory\ usage\ +([0-9.]+MiB) ]] &&
		value="per-prod-op: ${BASH_REMATCH[1]}, avg mem: ${BASH_REMATCH[2]}, peak mem: ${BASH_REMATCH[3]}"
}

use_cases() {
	local name

	for name in overwrite batch_add_batch_del add_del_on_diff_cpu; do
		point htab_mem "$name" -p8 --use-case "$name" "$@"
	done
}

sweep() {
	header 'preallocated'
	use_cases --preallocated htab-mem
	header 'normal bpf ma'
	use_cases htab-mem
	header 'resizable'
	use_cases rhtab-mem
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

triggers=(usermode-count kernel-count syscall-count
	fentry fexit fentry-sleep fmodret rawtp tp
	kprobe kprobe-multi kprobe-multi-all
	kretprobe kretprobe-multi kretprobe-multi-all)

about() {
	cat <<END
Usage: benchs/run_bench_trigger.sh [OPTION...] [NAME...] [-- BENCH-OPTION...]

Measure how fast a BPF program can be triggered, by each way to attach it to the
kernel (uprobes have their own script), or by the named ones:
  $(fold -s -w 76 <<<"${triggers[*]}" | sed 's/ *$//; 2,$s/^/  /')

PROD_CNT in the environment is the number of producers (default 1).
END
}

sweep_arguments() {
	((!$#)) || triggers=("$@")
	check_value PROD_CNT check_positive "${PROD_CNT:-1}"
	after+=("-p${PROD_CNT:-1}")
}

sweep() {
	local t

	row_format='%-15s: %s\n'
	for t in "${triggers[@]}"; do
		point hits_aligned "$t" "trig-$t"
	done
}

sweep_main "$@"

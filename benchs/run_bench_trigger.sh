#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

triggers=(usermode-count kernel-count syscall-count
	fentry fexit fentry-sleep fmodret rawtp tp
	kprobe kprobe-multi kretprobe kretprobe-multi)

about() {
	cat <<END
Usage: benchs/run_bench_trigger.sh [OPTION...] [NAME...] [-- BENCH-OPTION...]

Measure how fast a BPF program can be made to run, by each way to hang it on
something in the kernel (uprobes have a script of their own), or by those named:
  $(fold -s -w 76 <<<"${triggers[*]}" | sed '2,$s/^/  /')

PROD_CNT in the environment is the number of producers (default 1).
END
}

# Names, then bench's own options
sweep_arguments() {
	local i
	more_options=()
	for ((i = 0; i < ${#args[@]}; i++)); do
		if [[ ${args[i]} == -- ]]; then
			more_options=("${args[@]:i+1}")
			args=("${args[@]::i}")
			break
		fi
	done
	((!${#args[@]})) || triggers=("${args[@]}")
	check_value PROD_CNT check_positive "${PROD_CNT:-1}"
	more_options+=("-p${PROD_CNT:-1}")
}

sweep() {
	local t

	row_format='%-15s: %s\n'
	for t in "${triggers[@]}"; do
		point hits_aligned "$t" "trig-$t"
	done
}

sweep_main "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
set -euo pipefail
# shellcheck source=benchs/run_common.sh
. "$(dirname "${BASH_SOURCE[0]}")/run_common.sh"

about() {
	cat <<'END'
Usage: benchs/run_bench_ringbufs.sh [OPTION...] [-- BENCH-OPTION...]

Measure BPF ring buffer and perf buffer: consumers, notification, batches,
sample rates, ways to submit, and producers that compete.
END
}

sweep() {
	local b n one_cpu
	local all=(rb-libbpf rb-custom pb-libbpf pb-custom)
	local rates=(1 5 10 25 50 100 250 500 1000 2000 3000)
	local counts=(1 2 3 4 8 12 16 20 24 28 32 36 40 44 48 52)

	if $quick; then
		rates=(1 5 25 100 500 3000)
		counts=(1 2 3 4 8 16 32 52)
	fi

	header "Single-producer, parallel producer"
	for b in "${all[@]}"; do
		point hits "$b" "$b"
	done

	header "Single-producer, parallel producer, sampled notification"
	for b in "${all[@]}"; do
		point hits "$b" --rb-sampled "$b"
	done

	header "Single-producer, back-to-back mode"
	for b in "${all[@]}"; do
		point hits "$b" --rb-b2b "$b"
		point hits "$b-sampled" --rb-b2b --rb-sampled "$b"
	done

	header "Ringbuf back-to-back, effect of sample rate"
	for n in "${rates[@]}"; do
		point hits "rb-sampled-$n" \
			--rb-b2b --rb-batch-cnt "$n" --rb-sampled --rb-sample-rate "$n" rb-custom
	done

	header "Perfbuf back-to-back, effect of sample rate"
	for n in "${rates[@]}"; do
		point hits "pb-sampled-$n" \
			--rb-b2b --rb-batch-cnt "$n" --rb-sampled --rb-sample-rate "$n" pb-custom
	done

	header "Ringbuf back-to-back, reserve+commit vs output"
	point hits reserve --rb-b2b rb-custom
	point hits output --rb-b2b --rb-use-output rb-custom

	header "Ringbuf sampled, reserve+commit vs output"
	point hits reserve-sampled --rb-sampled rb-custom
	point hits output-sampled --rb-sampled --rb-use-output rb-custom

	header "Single-producer, consumer/producer competing on the same CPU, low batch count"
	one_cpu=$(first_cpu)
	for b in "${all[@]}"; do
		point hits "$b" --rb-batch-cnt 1 --rb-sample-rate 1 \
			--prod-affinity "$one_cpu" --cons-affinity "$one_cpu" "$b"
	done

	thin "${counts[@]}"

	header "Ringbuf, multi-producer contention"
	for n in "${producers[@]}"; do
		point hits "rb-libbpf nr_prod $n" -p"$n" --rb-batch-cnt 50 rb-libbpf
	done

	header "Perfbuf, multi-producer"
	for n in "${producers[@]}"; do
		point hits "pb-libbpf nr_prod $n" \
			-p"$n" --rb-batch-cnt 50 --rb-sample-rate 50 pb-libbpf
	done

	header "Ringbuf, multi-producer contention in overwrite mode, no consumer"
	for n in "${producers[@]}"; do
		point hits "rb-prod nr_prod $n" \
			-p"$n" --rb-batch-cnt 50 --rb-overwrite --rb-bench-producer rb-libbpf
	done
}

sweep_main "$@"

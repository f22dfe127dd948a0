#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# BPF programs that time themselves, and the first of them, bpf-nop: that its turns are counted, and
# its figures are what they are called. What the service makes of a known time is in
# tests/unit/test_timing.c.

load ../helpers

# Of the record in $OUT
field() {
	jq -r "$1" "$OUT"
}

# Each batch counts the turns that the program made, and the kernel the runs of the program.
@test "all turns are those that the programs counted, also with producers that share CPUs" {
	local producers
	for producers in 1 5; do
		bench -w0 -d1 -p "$producers" --verify -o - bpf-nop
		exits 0
		error_line 'bench: note: verified: the kernel counts * runs too'
		[[ $(field '.conservation | .ok and .turns == .measured + .beside + .nothing') == true ]]
		(($(field .conservation.measured) > 0 && $(field .conservation.nothing) > 0))
		# What the samples hold is all but what came after the last one: on a busy machine a
		# batch of each producer
		calc 'samples <= all && samples > 0.5 * all' all="$(field .conservation.measured)" \
			samples="$(field '[.samples[].ops] | add')"
	done
}

# Its body is empty: so it is the same loop as the one beside. Wide, as batches of the one come when
# the machine is busy, and those of the other when it is not.
@test "bpf-nop costs what the empty loop beside it costs" {
	for _ in 1 2 3; do
		bench -q -w0 -d1 -o - bpf-nop
		exits 0
		! calc 'nop > 0.5 * empty && nop < 2 * empty' \
			nop="$(field .figures.mean.mean)" empty="$(field .figures.empty.mean)" ||
			return 0
	done
	false
}

@test "quantiles are in order, and the mean is the time of the batches over their turns" {
	bench -q -w0 -d1 --interval 100 -o - bpf-nop
	exits 0
	[[ $(field '.figures | .min_of_batches.mean <= .median.mean and .median.mean <= .p99_of_batches.mean
		and .p99_of_batches.mean <= .max_of_batches.mean') == true ]]
	# shellcheck disable=SC2016 # a variable of jq
	[[ $(field '(([.samples[].timed] | add) / ([.samples[].ops] | add)) as $mean
		| (.figures.mean.mean / $mean) - 1 | fabs < 1e-6') == true ]]
	# The extremes of the run are those of some sample
	[[ $(field '([.samples[].max_of_batches] | max) / 1000 - .figures.max_of_batches.mean
		| fabs < 0.001') == true ]]
	[[ $(field .summary.figure) == median ]]
}

@test "the loop that this kernel has is recorded, and noted where it is not the first choice" {
	bench -w0 -d1 -o - bpf-nop
	exits 0
	case $(field .env.loop) in
	may_goto) no_error_line '*bpf_loop()*' ;;
	bpf_loop) error_line 'bench: note: driven by batch (loops by bpf_loop(), for may_goto requires Linux 6.9*' ;;
	*) false ;;
	esac
}

@test "the lines of samples and the summary" {
	bench -w0 -d1 --interval 500 bpf-nop
	exits 0
	local number=' +[0-9]+\.[0-9]{3}'
	[[ $(sed -n 3p "$OUT") =~ ^'Iter   0 ('.*'us): median'$number' ns/op, mean'$number' ns/op, p99 of batches'$number' ns/op'$ ]]
	[[ $(tail -n1 "$OUT") =~ ^'Summary: median'$number' ±'$number' ns/op, mean'$number' ±'$number' ns/op, p99 of batches'$number' ns/op, empty'$number' ns/op'$ ]]
}

@test "-d and --precision end it" {
	bench -q -w0 -d3 -o - bpf-nop
	exits 0
	calc 'ns > 2.4e9 && ns < 6e9' ns="$(field '[.samples[].dt_ns] | add')"
	# Anything is precise enough
	bench -q -w0 -d60 --interval 20 --precision 50 -o - bpf-nop
	exits 0
	calc 'ns < 30e9' ns="$(field '[.samples[].dt_ns] | add')"
}

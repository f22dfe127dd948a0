# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the sweeps share; to be sourced. A sweep has a function about(), the head of its --help, and
# a function sweep() that names headings and points in the order in which they are printed;
# sweep_main "$@" does the rest. sweep() is called twice: first to count the points, for the time
# left, then to measure them.
#
# The rows are those of the kernel selftests' scripts, so that results can be laid beside published
# ones.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

WARMUP=${WARMUP:-}
DURATION=${DURATION:-}
RUNS=${RUNS:-1}
RECORDS=${RECORDS:-}
PRECISION=${PRECISION:-}
INTERVAL=${INTERVAL:-}
quick=false dry_run=false all_producers=false

usage() {
	about
	cat <<'END'

  -w, --warmup SEC      discarded before each point (default 1; 3 with
                        --precision 0; 0 with --quick)
  -d, --duration SEC    measured at each point, at most (default 3; 10 with
                        --precision 0; 1 with --quick)
  -r, --runs NUM        whole runs of each point (default 1); with more, the row
                        is that over runs
  -o, --records FILE    append a record of each run to FILE
      --precision PCT   end a point as soon as its mean is known to ±PCT %
                        (default 1); 0: measure for the whole duration (the
                        default with --quick)
      --interval MS     sampling interval (default 100; 1000 with --precision 0)
  -q, --quick           roughly, and within 2 minutes
      --all-producers   include the points with more producers than CPUs
      --bench FILE      the program to run (default ./bench)
      --dry-run         print the commands, and run none
  -h, --help            print this text

Options after -- are passed to bench. BENCH, WARMUP, DURATION, RUNS, RECORDS,
PRECISION and INTERVAL in the environment are defaults of the options; SUDO is
the command that runs bench as root ('' if the user has the capabilities).

Points that this kernel does not support are skipped, and the row says why.
Failures are listed at the end. Of the points with more producers than CPUs, only
the first is measured. The deviation (±) is that of the samples, one each
--interval, and with --runs that of the runs.

Exit status: 0 done; 1 a point failed; 4 this kernel supports none of it;
64 usage; 130 or 143 interrupted, the rows printed so far are good.
END
}

# ---- headings

header() {
	$measuring || return 0
	clear_progress
	printf '\n%s\n%s\n' "$1" "${1//?/=}"
}

subtitle() {
	$measuring || return 0
	clear_progress
	printf '\t%s\n' "$1"
}

# A line, or part of one, that is printed as it is
text() {
	$measuring || return 0
	clear_progress
	# shellcheck disable=SC2059 # the caller's format
	printf "$@"
}

# thin COUNT...: sets the array producers to those of these numbers that are useful on this machine:
# up to the number of CPUs, and one beyond.
thin() {
	local n
	producers=()
	for n in "$@"; do
		if ((${#producers[@]} && producers[-1] > nr_cpus)) && ! $all_producers; then
			thinned="${producers[*]} (of up to ${*: -1}; --all-producers measures all)"
			return 0
		fi
		producers+=("$n")
	done
}

# sweep_loops LABEL NAME: a benchmark of loops over their turns, and the threads
sweep_loops() {
	local n t

	thin 1 4 8 12 16
	for t in "${producers[@]}"; do
		for n in 10 100 500 1000 5000 10000 50000 100000 500000 1000000; do
			subtitle "nr_loops: $n, nr_threads: $t"
			point ops "$1" -p"$t" --nr_loops "$n" "$2"
			text '\n'
		done
	done
}

# ---- the part of a summary that a row shows, in the variable value; unset by another summary

rate_pattern='([0-9.]+ ± [0-9.]+M/s)'

value_hits() {
	[[ $1 =~ hits\ +$rate_pattern.*drops\ +$rate_pattern ]] &&
		value="${BASH_REMATCH[1]} (drops ${BASH_REMATCH[2]})"
}

# As aligned as bench does it
value_hits_aligned() {
	[[ $1 =~ hits\ (\ *[0-9.]+ ± [0-9.]+M/s) ]] &&
		value="${BASH_REMATCH[1]}"
}

value_total() {
	[[ $1 =~ total\ operations\ +$rate_pattern ]] &&
		value="${BASH_REMATCH[1]}"
}

value_ops() {
	[[ $1 =~ throughput\ +([0-9.]+ ± [0-9.]+ M ops/s).*latency\ +([0-9.]+ ns/op) ]] &&
		value="throughput: ${BASH_REMATCH[1]}, latency: ${BASH_REMATCH[2]}"
}

value_percentage() {
	[[ $1 =~ Percentage\ =\ +([0-9.]+) ]] &&
		value="${BASH_REMATCH[1]}%"
}

# ---- points

nr_points=0 nr_done=0 nr_seen=0 started=0 thinned='' sweep_over=false
failures=() skipped=0
row_format='%-20s %s\n'

# From the time per point: as asked for, then as measured so far
seconds_left() {
	if ((nr_seen)); then
		echo $(((SECONDS - started) * (nr_points - nr_seen) / nr_seen))
	else
		echo $((nr_points * RUNS * (WARMUP + DURATION)))
	fi
}

# point VALUE LABEL ARGUMENT...: measures one and prints its row. value_VALUE() takes the figures
# out of the summary.
point() {
	local value_of=value_$1 label=$2 status=0 value='' lines=()
	shift 2
	if ! $measuring; then
		nr_points=$((nr_points + 1))
		return 0
	fi
	! $sweep_over || return 0
	if $dry_run; then
		printf '%s\n' "${as_root[*]}${as_root:+ }$BENCH ${bench_options[*]} $*"
		return 0
	fi
	[[ ! -t 2 ]] || progress \
		"[$((nr_seen + 1))/$nr_points] $* ($(duration "$(seconds_left)") left)"
	run_child "${as_root[@]}" "$BENCH" "${bench_options[@]}" "$@" \
		>"$scratch_dir/out" 2>"$scratch_dir/err" || status=$?
	clear_progress
	nr_seen=$((nr_seen + 1))
	if ((interrupted || status == 130 || status == 143)); then
		((interrupted)) || interrupted=$status
		sweep_over=true
		return 0
	fi
	[[ ! -s $scratch_dir/err ]] ||
		sed -n 's/^bench: warning: //p' "$scratch_dir/err" >>"$scratch_dir/warnings"
	mapfile -t lines <"$scratch_dir/out"
	((!${#lines[@]})) || "$value_of" "${lines[-1]}" || true
	if ((status == 4)); then
		skipped=$((skipped + 1))
		value="skipped: $(why_failed "$scratch_dir/err" | sed 's/^[^ ]*: unavailable: //')"
	elif ((status)) || [[ -z $value ]]; then
		failures+=("$BENCH ${bench_options[*]} $*")
		failures+=("  exit status $status: $(why_failed "$scratch_dir/err")")
		value="failed (see the end)"
	else
		nr_done=$((nr_done + 1))
	fi
	# shellcheck disable=SC2059 # the sweep's format
	printf "$row_format" "$label" "$value"
}

# Warnings of bench that have the same words, whatever the numbers, as one line each
show_warnings() {
	[[ -s $scratch_dir/warnings ]] || return 0
	awk '
		{ kind = $0; gsub(/[0-9.]+(e[+-][0-9]+)?/, "N", kind); n[kind]++; text[kind] = $0 }
		END { for (k in n) print "warning at " n[k] " of them: " text[k] (n[k] > 1 ? " (the last)" : "") }
	' "$scratch_dir/warnings" | while IFS= read -r line; do say "$line"; done
}

# A sweep's own options: a list for getopt(1), and sweep_option NAME VALUE that takes each
own_options=''

# Arguments of the trigger sweep; the others have none
sweep_arguments() {
	((!$#)) || usage_error "unexpected argument '$1'"
}

sweep_main() {
	local i precisely=0
	# -n was the letter for a dry run
	parse w:d:r:o:qn "warmup:,duration:,runs:,records:,precision:,interval:,quick,all-producers,\
bench:,dry-run$own_options" "$@"
	set -- "${args[@]}"
	while [[ $1 != -- ]]; do
		case $1 in
		-h | --help) usage && exit ;;
		-q | --quick) quick=true ;;
		-n | --dry-run) dry_run=true ;;
		--all-producers) all_producers=true ;;
		-w | --warmup) WARMUP=$2 && shift ;;
		-d | --duration) DURATION=$2 && shift ;;
		-r | --runs) RUNS=$2 && shift ;;
		-o | --records) RECORDS=$2 && shift ;;
		--precision) PRECISION=$2 && shift ;;
		--interval) INTERVAL=$2 && shift ;;
		--bench) BENCH=$2 && shift ;;
		*) sweep_option "$1" "$2" && shift ;;
		esac
		shift
	done
	sweep_arguments "${@:2}"
	# The grid of published results took -w3 -d10; a third of that is as good on a steady machine
	if $quick; then
		: "${WARMUP:=0}" "${DURATION:=1}" "${PRECISION:=0}" "${INTERVAL:=100}"
	fi
	: "${PRECISION:=1}"
	[[ $PRECISION =~ ^0+(\.0*)?$ ]] || precisely=1
	if ((!precisely)); then
		: "${WARMUP:=3}" "${DURATION:=10}" "${INTERVAL:=1000}"
	else
		: "${WARMUP:=1}" "${DURATION:=3}" "${INTERVAL:=100}"
	fi
	check_value --warmup check_number "$WARMUP"
	check_value --duration check_positive "$DURATION"
	check_value --runs check_positive "$RUNS"
	check_value --precision check_percent "$PRECISION"
	check_value --interval check_positive "$INTERVAL"
	[[ -z $RECORDS ]] || check_value --records check_writable "$RECORDS"
	check_value --bench check_program "$BENCH"
	bench_options=("-w$WARMUP" "-d$DURATION" -a --interval "$INTERVAL")
	((!precisely)) || bench_options+=(--precision "$PRECISION")
	((RUNS == 1)) || bench_options+=("-r$RUNS")
	[[ -z $RECORDS ]] || bench_options+=(-o "$RECORDS")
	# Last, so that the user's options win
	bench_options+=("${after[@]}")

	measuring=false
	sweep
	measuring=true
	if ! $dry_run; then
		scratch
		# The password now, not in the middle of a table
		((${#as_root[@]} == 0)) || [[ ${as_root[0]} != sudo ]] || sudo -v
		[[ -z $thinned ]] ||
			say "this machine has $nr_cpus CPUs: producers are $thinned"
	fi
	started=$SECONDS
	sweep
	! $dry_run || return 0
	say "$nr_done of $nr_points points measured in $(duration $((SECONDS - started)))$(
		((!skipped)) || echo ", $skipped skipped"
	)$( ((!${#failures[@]})) || echo ", $((${#failures[@]} / 2)) failed")"
	show_warnings
	for ((i = 0; i < ${#failures[@]}; i += 2)); do
		say "failed: ${failures[i]}"
		say "${failures[i + 1]}"
	done
	((!interrupted)) || die interrupted "$interrupted"
	((!${#failures[@]})) || exit 1
	((nr_done)) || exit 4
}

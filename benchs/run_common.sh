# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the sweeps share; to be sourced. A sweep is a function sweep() that names headings and
# points in the order in which they are to be printed; sweep_main "$@" does the rest. It is called
# twice: first to count the points, for the time left, then to measure them.
#
# The printed rows are those of the kernel's own scripts, so that results can be laid beside
# published ones.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

WARMUP=${WARMUP:-}
DURATION=${DURATION:-}
RUNS=${RUNS:-1}
RECORDS=${RECORDS:-}
PRECISION=${PRECISION:-}
INTERVAL=${INTERVAL:-}
quick=false dry_run=false all_producers=false

# Rows of the options that all sweeps have
sweep_options() {
	opt -w --warmup SEC WARMUP check_number \
		'thrown away before each point (default 1; 3 with --precision 0; 0 with --quick)'
	opt -d --duration SEC DURATION check_positive \
		'measured at each point, at most (default 3; 10 with --precision 0; 1 with --quick)'
	opt -r --runs NUM RUNS check_positive \
		'whole runs of each point (default 1); the row is then that over runs'
	opt -o --records FILE RECORDS check_writable 'append a record of each run to FILE'
	opt '' --precision PCT PRECISION check_percent \
		'end a point as soon as its mean is known to ±PCT % (default 1); 0: measure for the whole duration (the default with --quick)'
	opt '' --interval MS INTERVAL check_positive \
		'sampling interval (default 100; 1000 with --precision 0)'
	opt -q --quick '' quick '' 'roughly, and within 2 minutes'
	opt '' --all-producers '' all_producers '' \
		'do not leave out the points with more producers than there are CPUs'
	opt '' --bench FILE BENCH check_program 'the program to run (default ./bench)'
	opt -n --dry-run '' dry_run '' 'print the commands, and run none'
}

about_more() {
	cat <<'END'
Options after -- are given to bench as they are. BENCH, WARMUP, DURATION, RUNS,
RECORDS, PRECISION and INTERVAL in the environment are defaults of the options;
SUDO is the command that makes a user root ('' where he needs not be).

What this kernel cannot do is skipped, and the row says why. What fails is
listed at the end. Of the points with more producers than there are CPUs, only
the first is measured. The deviation (±) is that of the samples, one each
--interval, and with --runs that of the runs.

Exit status: 0 done; 1 a point failed; 4 this kernel can do none of it; 64 usage;
130 or 143 interrupted, the rows printed so far are good.
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

# thin COUNT...: of these numbers of producers, those that make sense on this machine, into the
# array producers: up to the number of CPUs, and one beyond.
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

# ---- what of a summary a row shows, into the variable value; nothing where it is no such summary

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

# What each point costs, in seconds: as asked, and as it was until now
seconds_left() {
	if ((nr_seen)); then
		echo $(((SECONDS - started) * (nr_points - nr_seen) / nr_seen))
	else
		echo $((nr_points * RUNS * (WARMUP + DURATION)))
	fi
}

# point VALUE LABEL ARGUMENT...: measures one and prints its row. VALUE says which value_ function
# takes it out of the summary.
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
	[[ ! -t 2 ]] ||
		progress "[$((nr_seen + 1))/$nr_points] $* ($(duration "$(seconds_left)") left)"
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

sweep_main() {
	local i precisely=0
	sweep_options
	parse_args "$@"
	sweep_arguments
	check_value --bench check_program "$BENCH"
	if $quick; then
		: "${WARMUP:=0}" "${DURATION:=1}"
		: "${PRECISION:=0}" "${INTERVAL:=100}"
	fi
	: "${PRECISION:=1}"
	[[ $PRECISION =~ ^0+(\.0*)?$ ]] || precisely=1
	# Published results took -w3 -d10; a third of that is as good where the machine is steady
	if ((!precisely)); then
		: "${WARMUP:=3}" "${DURATION:=10}" "${INTERVAL:=1000}"
	else
		: "${WARMUP:=1}" "${DURATION:=3}" "${INTERVAL:=100}"
	fi
	bench_options=("-w$WARMUP" "-d$DURATION" -a --interval "$INTERVAL")
	((!precisely)) || bench_options+=(--precision "$PRECISION")
	((RUNS == 1)) || bench_options+=("-r$RUNS")
	[[ -z $RECORDS ]] || bench_options+=(-o "$RECORDS")
	# Last, for what the user asks for counts
	bench_options+=("${more_options[@]}")

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

# What a sweep takes besides options: nothing but bench's own after --. Those with positional
# arguments have a function of their own.
sweep_arguments() {
	more_options=()
	((${#args[@]})) || return 0
	[[ ${args[0]} == -- ]] || usage_error "'${args[0]}' is no option"
	more_options=("${args[@]:1}")
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What holds for every benchmark and every option, over the tables that bench itself prints: a new
# benchmark is tested by being there.
#
# Environment:
#   CONTRACT_BENCHS  which benchmarks, as 'bench -l' takes names and patterns ('*': all); default:
#                    of each family the first that runs here, with BPF if the family has one such
#   CONTRACT_SEED    the random moments of signals follow from it; printed with a failure
#
# shellcheck disable=SC2016,SC2154 # helpers set pid and more

load helpers

setup_file() {
	export TABLES=$BATS_FILE_TMPDIR/tables STATES=$BATS_FILE_TMPDIR/states
	export SEED=${CONTRACT_SEED:-$((RANDOM * 32768 + RANDOM))}
	"$BENCH" --show-tables >"$TABLES"
	# NAME, tab, 'available' or 'unavailable: REASON'
	"$BENCH" -l -v | awk -v OFS='\t' '/^- / { name = $2; next }
		/^    (available|unavailable: .*)$/ { print name, substr($0, 5) }' >"$STATES"
	CHOSEN=$(choose)
	[[ -n $CHOSEN ]]
	export CHOSEN
}

teardown() {
	kill_started
	[[ -z ${second:-} ]] || kill -KILL "$second" 2>/dev/null || true
}

# jq over the tables: what it finds, raw
tables() {
	jq -r "$@" "$TABLES"
}

# The same for benchmark $1, which is $b in the filter $2, and $f is its family
of() {
	tables --arg name "$1" '.families[] as $f | $f.benchmarks[] | select(.name == $name) as $b | '"$2"
}

is_available() {
	grep -qxF "$1"$'\tavailable' "$STATES"
}

uses_bpf() {
	[[ $(of "$1" '$b.bpf') == true ]]
}

choose() {
	local names name first
	if [[ -n ${CONTRACT_BENCHS:-} ]]; then
		# shellcheck disable=SC2086 # words
		(set -f && "$BENCH" -l $CONTRACT_BENCHS) | sed -n 's/^- //p'
		return
	fi
	while read -r -a names; do
		first=
		for name in "${names[@]}"; do
			is_available "$name" || continue
			first=${first:-$name}
			! uses_bpf "$name" || {
				first=$name
				break
			}
		done
		echo "${first:-${names[0]}}"
	done < <(tables '.families[] | [.benchmarks[].name] | join(" ")')
}

# Of the chosen ones the first of each family: options and their checks are the family's
one_of_each_family() {
	awk 'NR == FNR { family[$1] = $2; next } !seen[family[$1]]++' \
		<(tables '.families | to_entries[] | "\(.value.benchmarks[].name) \(.key)"') - <<<"$CHOSEN"
}

# The last line is a summary; some families have a format of their own
has_summary() {
	grep -qi '^summary' <<<"$(tail -n1 "${1:-$OUT}")" || fail 'the last line is no summary'
}

# Calls $1 with each chosen benchmark that runs here
each_available() {
	local name count=0
	for name in $CHOSEN; do
		is_available "$name" || continue
		"$1" "$name" # not '|| fail', which would have its own failures ignored
		count=$((count + 1))
	done
	((count)) || skip 'none of them runs here'
	echo "$1: $count benchmarks"
}

@test "the tables have what -l lists, in this order, and each has a state" {
	tables '.families[].benchmarks[].name' >"$BATS_TEST_TMPDIR/names"
	diff "$BATS_TEST_TMPDIR/names" <("$BENCH" -l | sed -n 's/^- //p')
	diff "$BATS_TEST_TMPDIR/names" <(cut -f 1 "$STATES")
	(($(wc -l <"$BATS_TEST_TMPDIR/names") > 30))
}

# ---- options

# Values that an option must refuse, one a line, by what the tables say of it
BAD_VALUES='
def whole: if type == "number" and . < 9007199254740992 then . else empty end;
if .type == "number" or .type == "size" then
	"", "1.5",
	"\((.default | tonumber?) // .min)x",
	(.min | whole - 1 | tostring), (.max | whole + 1 | tostring),
	(if .expected == "a power of two" then "\(3 * .min)" else empty end)
elif .type == "choice" then "", "no-such", (.choices[0] | ascii_upcase), "\(.choices[0])x"
elif .type == "flag" then empty
else "" end'

# What the message has to say is expected; a pattern of [[ == ]]
EXPECTED='
def num: if . > 9007199254740992 then "" else tostring end;
if .type == "number" or .type == "size" then
	"\(.expected // "a whole number") from \(.min) to \(.max | num)"
elif .type == "choice" then .expected // (.choices | join(", "))
else .expected // "" end'

# Each bad value of the option in the row $1 of the tables is refused, for benchmark $2
refuses_bad_values() {
	local row=$1 name=$2 option value expected
	option=$(jq -r .name <<<"$row")
	expected=$(jq -r "$EXPECTED" <<<"$row")
	while IFS= read -r value; do
		refused "--$option: invalid value " "'$value': expected " "$expected" "--$option=$value" "$name"
		values=$((values + 1))
	done < <(jq -r "$BAD_VALUES" <<<"$row")
	if [[ $(jq -r .type <<<"$row") == flag ]]; then
		refused "option '--$option' takes no argument" '' '' "--$option=1" "$name"
		values=$((values + 1))
	fi
}

@test "bad values of each option of each family are refused, and nothing is loaded" {
	local name row values=0
	for name in $(one_of_each_family); do
		while IFS= read -r row; do
			refuses_bad_values "$row" "$name"
		done < <(of "$name" '$f.options[] | tojson')
	done
	echo "$values values"
	# those named in CONTRACT_BENCHS may have no options
	[[ -n ${CONTRACT_BENCHS:-} ]] || ((values > 50))
}

@test "bad values of each option of the core are refused, and nothing is loaded" {
	local row values=0 name=${CHOSEN%%$'\n'*}
	while IFS= read -r row; do
		refuses_bad_values "$row" "$name"
	done < <(tables '.options[] | tojson')
	echo "$values values"
	((values > 50))
}

@test "an option without its argument is refused" {
	local name option count=0
	for name in $(one_of_each_family); do
		while IFS= read -r option; do
			refused "option '--$option' requires an argument" '' '' "$name" "--$option"
			count=$((count + 1))
		done < <(of "$name" '$f.options[] | select(.arg) | .name')
	done
	[[ -n ${CONTRACT_BENCHS:-} ]] || ((count > 5))
}

@test "--help of a benchmark has its options in full, and its figures" {
	local name word words=0
	for name in $CHOSEN; do
		bench "$name" --help
		exits 0
		tr -s ' \n' ' ' <"$OUT" >"$OUT.flat"
		while IFS= read -r word; do
			grep -qF -e "$word" "$OUT.flat" || fail "--help of $name does not have: $word"
			words=$((words + 1))
		done < <(of "$name" '$b.desc, ($f.options[] | "--\(.name)", .help),
			($b.figures[] | "\(.name) \(.unit) \(.help)")')
	done
	((words > 2))
}

# ---- who may run it

@test "no capabilities: exit 4 and the reason; what uses no BPF runs" {
	local name by=(setpriv --bounding-set=-all --inh-caps=-all) checked=0
	for name in $CHOSEN; do
		if uses_bpf "$name"; then
			bench_by "${by[@]}" -- -w0 -d1 "$name"
			exits 4
			no_output
			one_error_line "bench: $name: unavailable: *: CAP_BPF and CAP_PERFMON missing*"
		elif is_available "$name"; then
			bench_by "${by[@]}" -- -q -w0 -d1 --interval 250 "$name"
			exits 0
			has_summary
		fi
		checked=$((checked + 1))
	done
	((checked))
}

@test "what cannot run here exits with 4, and the reason that -l -v gives" {
	local name state
	for name in $CHOSEN; do
		state=$(awk -F '\t' -v name="$name" '$1 == name { print $2 }' "$STATES")
		[[ $state != available ]] || continue
		bench -w0 -d1 "$name"
		exits 4
		no_output
		[[ $(<"$ERR") == "bench: $name: $state" ]] || fail "not the reason of -l -v: $state"
	done
}

# ---- runs

# What the records of a benchmark have to have, by its row of the tables, $b; and its family's, $f
RECORDS='
def near($x; $y): ($x - $y | fabs) <= 1e-9 * ($y | fabs) + 1e-12;
def sum(f): map(f) | add // 0;
$b.figures as $figures | [$figures[] | select(.raw)] as $raw |
[$f.options[] | select(.subject | not) | .name] as $options |
length == 2 and all(.[];
	.schema == 2 and .bench == $b.name and .status == "ok" and
	(.params | keys) == ($options | sort) and .defaults == .params and
	.config.interval_ms == 100 and
	# one sample each 100 ms, without gaps, whole intervals
	(.samples | length >= 5 and length <= 10) and
	(.samples as $s | all(range(1; $s | length); $s[.].t_ns == $s[. - 1].t_ns + $s[. - 1].dt_ns)) and
	(.samples | sum(.dt_ns) > 0.8e9 and sum(.dt_ns) < 1.6e9) and
	all(.samples[]; (keys - ["t_ns", "dt_ns"]) == ([$raw[].name] | sort)) and
	# each figure of the table, and the first one is the summary
	(.figures | keys) == ([$figures[].name] | sort) and
	(.figures as $g | all($figures[]; $g[.name].unit == .unit and $g[.name].kind == .kind and
		$g[.name].better == .better)) and
	.summary.figure == $figures[0].name and .summary.n > 0 and
	near(.summary.mean; .figures[$figures[0].name].mean) and
	# rates are those of the samples
	(.samples as $s | .figures as $g | all($raw[] | select(.kind == "rate" and .section == null) | .name;
		. as $n | ($g[$n].unit | startswith("M") | not) or
		near($g[$n].mean; ($s | sum(.[$n])) * 1e3 / ($s | sum(.dt_ns))))) and
	all(.figures[]; .ci95_low == null or (.ci95_low <= .mean and .mean <= .ci95_high)) and
	# what is conserved is
	(if $b.conserves then .conservation.ok != false else true end)) and
# The second run begins at nothing: no count goes on from the first. One that did would begin with
# the ten samples of the first run together.
((.[0].samples + .[1].samples[1:]) as $others | .[1].samples[0] as $first |
	all($raw[] | select(.kind == "rate" and .section == null) | .name;
		. as $n | $first[$n] <= 3 * ([$others[][$n]] | max) + 1000))'

# Two runs with --verify, recorded, with another bench beside them that does the same: neither counts
# what the other one does. The records of all benchmarks go to one file, for the schema.
runs_twice() {
	local name=$1 record=$BATS_TEST_TMPDIR/record
	local beside=$BATS_TEST_TMPDIR/beside code=0
	rm -f "$record"
	"$BENCH" -q -w0 -d1 --interval 250 --verify "$name" >"$beside" 2>"$beside.err" 3>&- 4>&- &
	second=$!
	bench -w0 -d1 --interval 100 -r2 --verify -o "$record" "$name"
	wait "$second" || code=$?
	second=
	cat "$beside" "$beside.err"
	exits 0
	((code == 0)) || fail "the one beside it exits with $code"
	has_summary "$beside"
	# one of each run, and one over both
	(($(grep -ci '^summary' "$OUT") >= 3))
	has_summary
	# The kernel's own count of runs, where one can be held against it
	if grep -q 'there is no run count' "$ERR"; then
		(($(grep -c 'note: --verify: there is no run count' "$ERR") == 2))
	else
		uses_bpf "$name"
		(($(grep -cE 'note: verified: the kernel counts [1-9][0-9]* runs too' "$ERR") == 2))
	fi
	jq -es --argjson f "$(of "$name" '$f | tojson')" --argjson b "$(of "$name" '$b | tojson')" \
		"$RECORDS" "$record" >/dev/null || {
		jq -c 'del(.env)' "$record"
		fail "the records of $name are not what its table says"
	}
	cat "$record" >>"$BATS_FILE_TMPDIR/records"
}

@test "two runs with fresh state, and two benches at once: verified, and recorded as the tables say" {
	rm -f "$BATS_FILE_TMPDIR/records"
	each_available runs_twice
}

@test "the schema accepts the records" {
	local args=() part
	[[ -s $BATS_FILE_TMPDIR/records ]] || skip 'there are none'
	split -l1 -a4 "$BATS_FILE_TMPDIR/records" "$BATS_TEST_TMPDIR/part."
	for part in "$BATS_TEST_TMPDIR"/part.*; do
		args+=(-i "$part")
	done
	jsonschema "${args[@]}" record.schema.json
}

# ---- ends

# Waits until process $1 is stopped, or gone
stopped() {
	local i
	for ((i = 0; i < 200; i++)); do
		[[ $(cut -d ' ' -f 3 /proc/"$1"/stat 2>/dev/null) == [SRD] ]] || return 0
		sleep 0.01
	done
}

# Started, and stopped after $3 ms by signal $2. What it holds is noted while it stands still.
ends_by() {
	local name=$1 signal=$2 ms=$3 held
	start_with --default-signal -- -w0 -d 3600 --interval 50 "$name"
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	kill -STOP "$pid"
	stopped "$pid"
	held=$(held_by "$pid")
	kill "-$signal" "$pid"
	kill -CONT "$pid" 2>/dev/null || true # SIGKILL did not wait for it
	finish 30
	exits $((128 + $(kill -l "$signal")))
	case $signal in
	KILL) ;;
	*)
		no_error_line '*failed*'
		if grep -q '^Iter' "$OUT"; then
			# but where nothing was counted yet
			grep -qE ': (no hits|nothing happened) until then' "$ERR" || has_summary
			error_line "bench: warning: cut short by SIG$signal after *"
		fi
		;;
	esac
	gone "$held"
	[[ -z $held ]] || held_something=$((held_something + 1))
}

# Those named in CONTRACT_BENCHS by each of the signals, the others by one of them
ends_at_random_moments() {
	local signal signals=(INT TERM KILL)
	[[ -n ${CONTRACT_BENCHS:-} ]] || signals=("${signals[RANDOM % 3]}")
	for signal in "${signals[@]}"; do
		ends_by "$1" "$signal" $((RANDOM % 700))
	done
}

@test "SIGINT, SIGTERM and SIGKILL at random moments: nothing is left" {
	local held_something=0
	echo "CONTRACT_SEED=$SEED"
	RANDOM=$SEED
	each_available ends_at_random_moments
	echo "$held_something of them held something in the kernel"
}

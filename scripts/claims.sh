#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What published results agree in (reference/claims.tsv), held against this machine.
# shellcheck disable=SC2016 # filters of jq
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/claims.sh [OPTION...]

Take each statement in which the published results agree, measure what it needs,
and print: the claim, the published figures, the figures here, and whether it
holds, does not hold, is not shown (the difference may be chance), or cannot be
run here and why. Other machines give other figures: the shapes should hold.

  -r, --runs NUM      runs of each side of a comparison (default 5, at least 4)
  -w, --warmup SEC    discarded before each run (default 1; 0 with --quick)
  -d, --duration SEC  measured in each run (default 2; 1 with --quick)
      --interval MS   sampling interval (default 100)
  -q, --quick         roughly, in a third of the time
  -o, --records FILE  append a record of each run to FILE
      --only REGEX    only claims whose family or words match
      --claims FILE   the table of claims (default reference/claims.tsv)
      --bench FILE    the program to run (default ./bench)
  -h, --help          print this text

The commands of all claims are run in turn, those of one claim next to each
other and in the opposite order every other round, so that drift of the machine
affects all alike. Exit status: 0 it ran to its end, whatever holds; 1 a run
failed; 64 usage; 130 or 143 interrupted (what has been measured is printed).
END
}

runs=5 warmup='' duration='' interval=100 quick=false records='' only='' list=$top/reference/claims.tsv

check_runs() {
	[[ $1 =~ ^([4-9]|[1-9][0-9]{1,3})$ ]] ||
		echo 'a whole number of at least 4 (fewer runs cannot show a difference)'
}

# -n was the letter for runs
parse r:n:w:d:qo: "runs:,warmup:,duration:,interval:,quick,records:,only:,claims:,bench:" "$@"
set -- "${args[@]}"
while [[ $1 != -- ]]; do
	case $1 in
	-h | --help) usage && exit ;;
	-q | --quick) quick=true ;;
	-r | -n | --runs) runs=$2 && shift ;;
	-w | --warmup) warmup=$2 && shift ;;
	-d | --duration) duration=$2 && shift ;;
	--interval) interval=$2 && shift ;;
	-o | --records) records=$2 && shift ;;
	--only) only=$2 && shift ;;
	--claims) list=$2 && shift ;;
	--bench) BENCH=$2 && shift ;;
	esac
	shift
done
set -- "${@:2}" "${after[@]}"
((!$#)) || usage_error "unexpected argument '$1'"
$quick && : "${warmup:=0}" "${duration:=1}"
: "${warmup:=1}" "${duration:=2}"
check_value --runs check_runs "$runs"
check_value --warmup check_number "$warmup"
check_value --duration check_positive "$duration"
check_value --interval check_positive "$interval"
[[ -z $records ]] || check_value --records check_writable "$records"
check_value --claims check_readable "$list"
check_value --bench check_program "$BENCH"
need jq jq
scratch

# ---- the table

producers=$((nr_cpus < 4 ? nr_cpus : 4))
family=() kind=() limit=() cpus=() claim=() published_a=() published_b=() side_a=() side_b=()

arguments() {
	local text=$1
	text=${text//@P/$producers}
	text=${text//@C/$(first_cpu)}
	[[ $text != - ]] || text=''
	echo "$text"
}

while IFS=$'\t' read -r f k l c words pa pb a b; do
	[[ $f != family ]] || continue
	[[ -z $only || "$f $words" =~ $only ]] || continue
	family+=("$f") kind+=("$k") limit+=("$l") cpus+=("$c") claim+=("$words")
	published_a+=("$pa") published_b+=("$pb")
	side_a+=("$(arguments "$a")") side_b+=("$(arguments "$b")")
done < <(sed '/^#/d' "$list")
((${#claim[@]})) || die "no claim matches '$only'" 64

# Commands, each once, in the order of the claims; index_of: from arguments to number
commands=()
declare -A index_of=()
for i in "${!claim[@]}"; do
	for a in "${side_a[i]}" "${side_b[i]}"; do
		[[ -n $a && -z ${index_of[$a]:-} ]] || continue
		index_of[$a]=${#commands[@]}
		commands+=("$a")
	done
done

# ---- runs

why=()     # of each command: why it could not be run; empty: it could
verified=() # of each command: what --verify reported
failures=0

records_of() {
	echo "$scratch_dir/$1.jsonl"
}

run_command() {
	local n=$1 status=0 options words
	read -r -a words <<<"${commands[n]}"
	options=("-w$warmup" "-d$duration" -a --interval "$interval")
	run_child "${as_root[@]}" "$BENCH" "${options[@]}" -o "$(records_of "$n")" "${words[@]}" \
		>"$scratch_dir/out" 2>"$scratch_dir/err" || status=$?
	((!interrupted)) || return 0
	if ((status)); then
		why[n]=$(why_failed "$scratch_dir/err" | sed 's/^[^ ]*: unavailable: //')
		if ((status != 4)); then
			failures=$((failures + 1))
			why[n]="exit status $status: ${why[n]}"
		fi
	fi
	verified[n]=$(sed -n 's/^bench: note: verified: //p' "$scratch_dir/err")
}

# What has to be run in a round: in the first all that some claim needs and that this machine has the
# CPUs for, then what is compared and can be.
to_run() {
	local round=$1 i a b
	for i in "${!claim[@]}"; do
		((cpus[i] <= nr_cpus)) || continue
		a=${index_of[${side_a[i]}]}
		if [[ -z ${side_b[i]} ]]; then
			((round > 1)) || echo "$a"
			continue
		fi
		b=${index_of[${side_b[i]}]}
		((round == 1)) || [[ -z ${why[a]:-}${why[b]:-} ]] || continue
		printf '%s\n' "$a" "$b"
	done | awk '!seen[$0]++'
}

((${#as_root[@]} == 0)) || [[ ${as_root[0]} != sudo ]] || sudo -v
started=$SECONDS measured=0
for ((round = 1; round <= runs && !interrupted; round++)); do
	mapfile -t todo < <(to_run "$round" | if ((round % 2)); then cat; else tac; fi)
	for n in "${todo[@]}"; do
		((!interrupted)) || break
		left=$(((runs - round + 1) * ${#todo[@]} * (warmup + duration + 1)))
		((!measured)) || left=$(((SECONDS - started) * (
			(runs - round + 1) * ${#todo[@]} - measured % ${#todo[@]}) / measured))
		progress "[round $round of $runs, $(duration "$left") left] ${commands[n]}"
		run_command "$n"
		measured=$((measured + 1))
	done
done
clear_progress

# ---- figures

# calculate FILTER JQ-OPTION...: by the definitions of claims.jq
calculate() {
	jq -r -L "$top/scripts" "include \"claims\"; $1" "${@:2}"
}

# published WHERE: that figure, or '-'
published() {
	local column keys
	[[ $1 != - ]] || {
		echo -
		return
	}
	column=${1##*|} keys=${1%|*}
	calculate 'published($keys / "|" | .[1:]; $column; $by)' -Rn --arg keys "$keys" \
		--arg column "${column%/*}" --argjson by "$(
			[[ $column == */* ]] && echo "${column#*/}" || echo 1
		)" <"$top/reference/${1%%|*}.tsv"
}

# compared A B: "MEDIAN_A MEDIAN_B P LOW HIGH UNIT" of two files of records, LOW and HIGH being the
# 95 % interval of A's ratio to B; '-' stands for what there is none of
compared() {
	local unit
	unit=$(jq -r -s '.[0].summary.unit' "$1")
	"$BENCH" -C "$2" "$1" --match env.machine --csv 2>"$scratch_dir/err" |
		calculate compared -Rn | sed "s|\$| $unit|"
}

# The same of the relative deviations of the runs
deviations() {
	local side
	for side in "$1" "$2"; do
		jq -c '.summary.unit = "%" | .summary.mean = 100 * .summary.stddev / .summary.mean' \
			"$side" >"$side.deviation"
	done
	compared "$1.deviation" "$2.deviation"
}

# false_positives RECORDS PUBLISHED: "VERDICT|WORDS|WORDS"
false_positives() {
	calculate 'false_positives($published)' -s --argjson published "$2" "$1"
}

# verdict KIND LIMIT A B P LOW HIGH
verdict() {
	calculate '$ARGS.positional | verdict(.[0]; .[1] | number; .[2] | number; .[3] | number;
		.[4] | number; .[5] | number; .[6] | number)' -n --args "$@"
}

# p as it is printed, if there is one
p_of() {
	[[ ! $1 =~ ^[0-9] ]] || printf ", p %.2g" "$1"
}

# pair A B UNIT: "A vs B M/s: R times"
pair() {
	calculate '$ARGS.positional | pair(.[0] | number; .[1] | number; .[2])' -n --args "$@"
}

# ---- the table of results

declare -A total=([holds]=0 ['does not hold']=0 ['not shown']=0 ['cannot be run']=0)

# row NUMBER VERDICT CLAIM LINE...: in 75 columns
row() {
	local text=$3 line
	total[$2]=$((total[$2] + 1))
	{
		fold -s -w 56 <<<"$text"
		for line in "${@:4}"; do
			fold -s -w 56 <<<"$line"
		done
	} | sed 's/ *$//' | awk -v n="$1" -v verdict="$2" '
		NR == 1 { printf "%2d %-14s  %s\n", n, verdict, $0 }
		NR > 1 { printf "%19s%s\n", "", $0 }'
}

# judge NUMBER: one claim
judge() {
	local i=$1 a b here pub_a pub_b lim unit result lines name low high
	local -a figure
	lim=${limit[i]} unit=M/s
	pub_a=$(published "${published_a[i]}") pub_b=$(published "${published_b[i]}")
	[[ ${kind[i]} != steady ]] || unit=''
	[[ ${published_a[i]} != bpf_loop* || ${kind[i]} == steady ]] || unit='M ops/s'
	lines=()
	[[ $pub_a == - || ${kind[i]} == rate ]] || lines=("published $(pair "$pub_a" "$pub_b" "$unit")")

	if ((cpus[i] > nr_cpus)); then
		row $((i + 1)) 'cannot be run' "${claim[i]}" "${lines[@]}" \
			"here: requires ${cpus[i]} CPUs, and there are $nr_cpus"
		return
	fi
	for side in "${side_a[i]}" "${side_b[i]}"; do
		[[ -n $side ]] || continue
		b=${index_of[$side]}
		[[ -e $(records_of "$b") || -n ${why[b]:-} ]] || why[b]='not measured, interrupted'
		[[ -z ${why[b]:-} ]] || {
			row $((i + 1)) 'cannot be run' "${claim[i]}" "${lines[@]}" "here: ${why[b]}"
			return
		}
	done
	a=$(records_of "${index_of[${side_a[i]}]}")
	case ${kind[i]} in
	rate)
		IFS='|' read -r result pub_a here < <(false_positives "$a" "$pub_a")
		row $((i + 1)) "$result" "${claim[i]}" "$pub_a" "$here"
		return
		;;
	counted)
		here=${verified[index_of[${side_a[i]}]]}
		[[ -n $here ]] && result=holds || result='does not hold'
		row $((i + 1)) "$result" "${claim[i]}" "${here:-bench did not report that they are equal}"
		return
		;;
	figure)
		read -r name low high <<<"$lim"
		read -r here result unit < <(jq -r -s --arg name "$name" --argjson low "$low" --argjson high "$high" '
			map(.figures[$name]) | (map(.mean) | sort | .[length / 2 | floor]) as $median
			| "\($median) \(all(.[].mean; . >= $low and . <= $high)) \(.[0].unit)"' "$a")
		[[ $result == true ]] && result=holds || result='does not hold'
		row $((i + 1)) "$result" "${claim[i]}" "here      $(pair "$here" - "$unit")"
		return
		;;
	drops)
		read -r here result < <(jq -r -s '
			map(.figures.drops.mean // .summary.drops_mean)
			| "\(sort | .[length / 2 | floor]) \(all(.[]; . > 0))"' "$a")
		[[ $result == true ]] && result=holds || result='does not hold'
		row $((i + 1)) "$result" "${claim[i]}" "published drops ${lines[0]#published }" \
			"here      drops $(pair "$here" - M/s)"
		return
		;;
	scales) lim=$(jq -n "$lim * $producers") ;;
	esac
	b=$(records_of "${index_of[${side_b[i]}]}")
	if [[ ${kind[i]} == steady ]]; then
		read -r -a figure < <(deviations "$a" "$b")
	else
		read -r -a figure < <(compared "$a" "$b")
	fi
	if ((${#figure[@]} < 6)); then
		row $((i + 1)) 'cannot be run' "${claim[i]}" "${lines[@]}" \
			"here: cannot compare: $(why_failed "$scratch_dir/err")"
		failures=$((failures + 1))
		return
	fi
	result=$(verdict "${kind[i]}" "$lim" "${figure[@]:0:5}")
	here="$(pair "${figure[0]}" "${figure[1]}" "${figure[*]:5}")$(p_of "${figure[2]}")"
	row $((i + 1)) "$result" "${claim[i]}" "${lines[@]}" "here      $here"
}

echo "Claims of published results, on $(sed -n '/^model name[[:space:]]*: /{s///p;q}' /proc/cpuinfo)" | fold -s -w 75
echo "with $nr_cpus CPUs, Linux $(uname -r). Figures are medians of $runs runs of $duration s."
last=''
for i in "${!claim[@]}"; do
	if [[ ${family[i]} != "$last" ]]; then
		printf '\n%s\n%s\n' "${family[i]}" "${family[i]//?/-}"
		last=${family[i]}
	fi
	judge "$i" || {
		failures=$((failures + 1))
		row $((i + 1)) 'cannot be run' "${claim[i]}" 'here: the records cannot be read'
	}
done
printf '\n%d claims: %d hold, %d do not, %d are not shown, %d cannot be run here (%s)\n' \
	"${#claim[@]}" "${total[holds]}" "${total['does not hold']}" "${total['not shown']}" \
	"${total['cannot be run']}" "$(duration $((SECONDS - started)))"

if [[ -n $records ]]; then
	for n in "${!commands[@]}"; do
		[[ ! -e $(records_of "$n") ]] || cat "$(records_of "$n")"
	done | append_to "$records"
fi
((!interrupted)) || die interrupted "$interrupted"
((!failures)) || die "$failures runs or comparisons failed"

# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts share, the sweeps in benchs/ included; to be sourced. It takes bash 4.4.
#
# A script describes itself by about() (and maybe about_more()), its options by rows of opt(), and
# calls parse_args "$@"; --help, the checks and the messages follow from that.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prog=$(basename "$0" .sh)

say() {
	clear_progress
	echo "$prog: $*" >&2
}

# die MESSAGE [EXIT CODE]
die() {
	say "$1"
	exit "${2:-1}"
}

# ---- options as data

opt_keys=() # of each row: -s and --long
declare -A opt_key=() opt_arg=() opt_var=() opt_check=() opt_help=()

# opt SHORT LONG ARG VARIABLE CHECK HELP: one option. SHORT may be ''. ARG is '' for a flag, which
# sets VARIABLE to true; CHECK is the name of a check_ function below, or ''. The default is what
# VARIABLE holds.
opt() {
	local long=$2
	opt_keys+=("$long")
	opt_key[$long]=$long
	[[ -z $1 ]] || opt_key[$1]=$long
	opt_arg[$long]=$3 opt_var[$long]=$4 opt_check[$long]=$5 opt_help[$long]=$6
}

# Checks say what is allowed where the value is not
check_number() {
	[[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] || echo 'it takes a whole number'
}

check_positive() {
	[[ $1 =~ ^[1-9][0-9]{0,8}$ ]] || echo 'it takes a whole number above 0'
}

check_percent() {
	[[ $1 =~ ^[0-9]{1,3}(\.[0-9]{1,6})?$ ]] || echo 'it takes a number such as 1 or 0.5'
}

check_program() {
	[[ -f $1 && -x $1 ]] || command -v "$1" >/dev/null || echo 'there is no such program'
}

check_readable() {
	[[ -f $1 && -r $1 ]] || echo 'there is no such file that can be read'
}

check_writable() {
	local dir
	dir=$(dirname -- "$1")
	if [[ -d $1 ]]; then
		echo 'it is a folder'
	elif [[ -e $1 ]]; then
		[[ -w $1 ]] || echo 'it cannot be written to'
	else
		[[ -d $dir && -w $dir ]] || echo "there can be no file in $dir"
	fi
}

# option_usage LEFT HELP: in 78 columns
option_usage() {
	local left=$1 line='' word
	if ((${#left} > 25)); then
		echo "$left"
		left=''
	fi
	for word in $2; do
		if ((${#line} + ${#word} >= 52)); then
			printf '%-26s%s\n' "$left" "$line"
			left='' line=''
		fi
		line+="${line:+ }$word"
	done
	printf '%-26s%s\n' "$left" "$line"
}

usage() {
	local long short left
	about
	echo
	for long in "${opt_keys[@]}"; do
		left='      '
		for short in "${!opt_key[@]}"; do
			[[ ${opt_key[$short]} != "$long" || $short == "$long" ]] || left="  $short, "
		done
		option_usage "$left$long${opt_arg[$long]:+ ${opt_arg[$long]}}" "${opt_help[$long]}"
	done
	option_usage '  -h, --help' 'this text'
	if declare -F about_more >/dev/null; then
		echo
		about_more
	fi
}

# usage_error MESSAGE: what is wrong with the command line, and the end
usage_error() {
	die "$1 (--help explains)" 64
}

# check_value NAME CHECK VALUE: CHECK is one of the functions above, or empty
check_value() {
	local why
	[[ -n $2 ]] || return 0
	why=$("$2" "$3")
	[[ -z $why ]] || die "$1: '$3' is not allowed: $why" 64
}

# Sets the options' variables, and the array args to what remains.
parse_args() {
	local arg long value
	args=()
	while (($#)); do
		arg=$1
		shift
		case $arg in
		-h | --help)
			usage
			exit 0
			;;
		--)
			args+=(-- "$@")
			break
			;;
		--*=*)
			set -- "${arg#*=}" "$@"
			arg=${arg%%=*}
			[[ -n ${opt_arg[${opt_key[$arg]:-none}]:-} ]] ||
				usage_error "$arg: there is no such option that takes a value"
			;;
		--* | -[!-])
			;;
		-?*)
			# -w3 is -w 3; flags cannot be put together
			set -- "${arg:2}" "$@"
			arg=${arg:0:2}
			[[ -n ${opt_arg[${opt_key[$arg]:-none}]:-} ]] ||
				usage_error "there is no option '$arg$1'"
			;;
		*)
			args+=("$arg")
			continue
			;;
		esac
		long=${opt_key[$arg]:-}
		[[ -n $long ]] || usage_error "there is no option '$arg'"
		if [[ -z ${opt_arg[$long]} ]]; then
			printf -v "${opt_var[$long]}" true
			continue
		fi
		(($#)) || usage_error "$arg needs a value"
		value=$1
		shift
		check_value "$long" "${opt_check[$long]}" "$value"
		printf -v "${opt_var[$long]}" '%s' "$value"
	done
	# Values that came from the environment
	for long in "${opt_keys[@]}"; do
		value=${!opt_var[$long]:-}
		[[ -z $value || -z ${opt_arg[$long]} ]] ||
			check_value "${opt_var[$long]}" "${opt_check[$long]}" "$value"
	done
}

# ---- tools, folders, root

# need TOOL PACKAGE: where it is missing, the end
need() {
	command -v "$1" >/dev/null ||
		die "no $1: install $2 (scripts/install-deps.sh --test)"
}

# A folder for what is not to be kept, removed at the end
scratch() {
	[[ -z ${scratch_dir:-} ]] || return 0
	scratch_dir=$(mktemp -d "${TMPDIR:-/tmp}/$prog.XXXXXX")
	trap 'rm -rf -- "$scratch_dir"' EXIT
}

# What a command is to be prefixed with, to be run by root; SUDO= (empty) says that it takes none,
# since the user has the capabilities himself.
as_root=()
if ((EUID)); then
	read -r -a as_root <<<"${SUDO-sudo}"
fi

# ---- the machine

# CPUs that this process may use
# shellcheck disable=SC2034 # for who sources this
nr_cpus=$(nproc)

# The first of them
first_cpu() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status
}

# ---- a child that can be interrupted

# bash runs a trap only when its foreground child has ended: so a child runs in the background, and
# is waited for. Interrupted is 130 or 143 once a signal has come; whoever works in a loop looks at it.
interrupted=0
child=''
stopped=() # processes that have been told to end

# The descendants of a process, and it itself
family_of() {
	# shellcheck disable=SC2016 # awk's variables
	cat /proc/[0-9]*/status 2>/dev/null | awk -v root="$1" '
		$1 == "Pid:" { pid = $2 }
		$1 == "PPid:" { parent[pid] = $2 }
		END {
			for (pid in parent) {
				for (p = pid; p != root && p in parent; p = parent[p])
					;
				if (p == root)
					print pid
			}
		}'
}

# Is one of these processes still there?
any_runs() {
	local pid
	for pid; do
		[[ ! -d /proc/$pid ]] || return 0
	done
	return 1
}

on_signal() {
	local pids
	# shellcheck disable=SC2034 # for who sources this
	interrupted=$1
	[[ -n $child ]] || return 0
	mapfile -t pids < <(family_of "$child")
	((${#pids[@]})) || return 0
	stopped=("${pids[@]}")
	# They may be root's. bench ends at the first signal with a summary; that is not needed here.
	kill -TERM "${pids[@]}" 2>/dev/null ||
		((${#as_root[@]} == 0)) || "${as_root[@]}" kill -TERM "${pids[@]}" 2>/dev/null || true
}
trap 'on_signal 130' INT
trap 'on_signal 143' TERM HUP

# run_child COMMAND...: its exit status. A background child of a script ignores SIGINT, unless env
# undoes that.
run_child() {
	local status=0 n=0
	env --default-signal=INT,QUIT "$@" &
	child=$!
	# The wait ends early when a signal comes
	while :; do
		status=0
		wait "$child" || status=$?
		[[ -d /proc/$child ]] || break
	done
	child=''
	# Its own children may take a little longer: what they work on is not to be changed before
	while ((n++ < 50)) && any_runs "${stopped[@]}"; do
		sleep 0.1
	done
	return "$status"
}

# ---- progress, for a person who waits

progress_shown=false

progress() {
	[[ -t 2 ]] || return 0
	printf '\r%.78s\033[K' "$1" >&2
	progress_shown=true
}

clear_progress() {
	! ${progress_shown:-false} || printf '\r\033[K' >&2
	progress_shown=false
}

# duration SECONDS: in words
duration() {
	if (($1 >= 5400)); then
		echo "$((($1 + 1800) / 3600)) h"
	elif (($1 >= 90)); then
		echo "$((($1 + 30) / 60)) min"
	else
		echo "$1 s"
	fi
}

# ---- bench

BENCH=${BENCH:-$top/bench}

# why_failed FILE: of bench's standard error, the line that says why it did not do it
why_failed() {
	awk '
		/^bench: (warning|note): / { next }
		/^bench: / && !why { why = $0 }
		/[^[:space:]]/ { last = $0 }
		END { sub(/^bench: /, "", why); print why ? why : last }' "$1"
}

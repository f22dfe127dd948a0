# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the scripts share, the sweeps in benchs/ included; to be sourced. Requires bash 4.4.

# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
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

# ---- options

# usage_error MESSAGE: what is wrong with the command line, and exit
usage_error() {
	die "$1 (--help explains)" 64
}

# shellcheck disable=SC2034 # for who sources this
args=() after=()

# parse SHORT LONG ARGUMENT...: sets the array args to the arguments as getopt(1) sorts them by its
# lists of options (options, --, the rest), and the array after to what follows a -- among them.
parse() {
	local short=$1 long=$2 sorted i
	shift 2
	after=()
	for ((i = 1; i <= $#; i++)); do
		[[ ${!i} == -- ]] || continue
		# shellcheck disable=SC2034 # for who sources this
		after=("${@:i+1}")
		set -- "${@:1:i-1}"
	done
	sorted=$(
		unset POSIXLY_CORRECT GETOPT_COMPATIBLE
		getopt -n "$prog" -o "h$short" -l "help,$long" -- "$@"
	) || exit 64
	eval "args=($sorted)"
}

# Checks print what was expected where the value is not that
check_number() {
	[[ $1 =~ ^(0|[1-9][0-9]{0,8})$ ]] || echo 'a whole number'
}

check_positive() {
	[[ $1 =~ ^[1-9][0-9]{0,8}$ ]] || echo 'a whole number above 0'
}

check_percent() {
	[[ $1 =~ ^[0-9]{1,3}(\.[0-9]{1,6})?$ ]] || echo 'a number such as 1 or 0.5'
}

check_program() {
	[[ -f $1 && -x $1 ]] || command -v "$1" >/dev/null || echo 'a program'
}

check_readable() {
	[[ -f $1 && -r $1 ]] || echo 'a readable file'
}

# What root wrote can be appended to by root
check_writable() {
	if [[ -e $1 ]]; then
		[[ ! -d $1 && (-w $1 || ${#as_root[@]} -gt 0) ]] || echo 'a writable file'
	else
		[[ -w $(dirname -- "$1") ]] || echo 'a file in a writable folder'
	fi
}

# check_value NAME CHECK VALUE: CHECK is one of the functions above
check_value() {
	local expected
	expected=$("$2" "$3")
	[[ -z $expected ]] || die "$1: invalid value '$3': expected $expected" 64
}

# ---- tools, folders, root

# need TOOL PACKAGE: exit if it is not installed
need() {
	command -v "$1" >/dev/null ||
		die "no $1: install $2 (scripts/install-deps.sh --test)"
}

# A temporary folder, removed at exit
scratch() {
	[[ -z ${scratch_dir:-} ]] || return 0
	scratch_dir=$(mktemp -d "${TMPDIR:-/tmp}/$prog.XXXXXX")
	trap 'rm -rf -- "$scratch_dir"' EXIT
}

# The prefix that runs a command as root. SUDO= (empty): none, the user has the capabilities.
as_root=()
if ((EUID)); then
	read -r -a as_root <<<"${SUDO-sudo}"
fi

# Append standard input to a file, which may be root's
append_to() {
	if [[ -w $1 || ! -e $1 ]]; then
		cat >>"$1"
	else
		"${as_root[@]}" tee -a -- "$1" >/dev/null
	fi
}

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
# is waited for. interrupted is 130 or 143 after a signal; loops check it.
interrupted=0
child=''
stopped=() # processes that were sent SIGTERM

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

# A background child of a script ignores SIGINT, unless env undoes that. Older ones, and busybox's,
# cannot; bench does so itself.
not_ignored=(env "--default-signal=INT,QUIT")
"${not_ignored[@]}" true 2>/dev/null || not_ignored=()

# run_child COMMAND...: its exit status
run_child() {
	local status=0 n=0
	"${not_ignored[@]}" "$@" &
	child=$!
	# The wait ends early when a signal comes
	while :; do
		status=0
		wait "$child" || status=$?
		[[ -d /proc/$child ]] || break
	done
	child=''
	# Its own children may take a little longer
	while ((n++ < 50)) && any_runs "${stopped[@]}"; do
		sleep 0.1
	done
	return "$status"
}

# ---- progress: one line, cut to the terminal's width; none on a terminal without cursor control

progress_shown=false

progress() {
	local columns
	[[ -t 2 && ${TERM:-dumb} != dumb ]] || return 0
	read -r _ columns < <(stty size <&2 2>/dev/null) || true
	((${columns:=0} > 1)) || columns=80
	printf '\r%s\033[K' "${1:0:columns-1}" >&2
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

# ---- records and other files

# read_records FILE...: all records, one a line, or exit with the first line that is none
read_records() {
	local file fault
	for file; do
		# A line that is none becomes a string, the reason
		# shellcheck disable=SC2016 # jq's variables
		jq -n -R -c --arg file "$file" '
			def fault: if type != "object" or .schema == null then "JSON, but no record of bench"
				elif .schema != 1 and .schema != 2 then
					"a record of schema \(.schema), but schemas 1 and 2 are read"
				elif (.bench | type) != "string" or ([.env, .config, .params] | any(type != "object")) then
					"a record without \"bench\", \"env\", \"config\" or \"params\""
				elif .status == "ok" and (.summary | type != "object" or (.mean | type) != "number") then
					"a record without a result, though its status is \"ok\""
				else null end;
			foreach inputs as $line (0; . + 1; . as $n | $line | select(test("[^[:space:]]"))
				| (try [fromjson] catch []) as $r
				| (if $r == [] then "not JSON" else $r[0] | fault end) as $fault
				| if $fault then "\($file):\($n): \($fault)" else $r[0] end)' \
			"$file" >"$scratch_dir/read" 2>"$scratch_dir/err" ||
			die "$file: cannot be read: $(head -n1 "$scratch_dir/err")"
		fault=$(grep -m1 '^"' "$scratch_dir/read" || true)
		[[ -z $fault ]] || die "$(jq -r . <<<"$fault")"
		[[ -s $scratch_dir/read ]] || die "$file: there is no record in it"
		cat "$scratch_dir/read"
	done
}

# put_file FROM TO: TO is what it was, or complete
put_file() {
	if ! cp -- "$1" "$2.part" || ! mv -- "$2.part" "$2"; then
		rm -f -- "$2.part"
		die "cannot write '$2'"
	fi
}

# ---- bench

# That of the tree; or the one that was installed with the scripts, or elsewhere
find_bench() {
	local file
	for file in "$top/bench" "$(realpath -m -- "$top/../../sbin/bench")" \
		"$(PATH=$PATH:/usr/local/sbin:/usr/sbin command -v bench)"; do
		[[ ! -f $file || ! -x $file ]] || break
	done
	echo "${file:-$top/bench}"
}

BENCH=${BENCH:-$(find_bench)}

# why_failed FILE: the line of bench's standard error that has the reason
why_failed() {
	awk '
		/^bench: (warning|note): / { next }
		/^bench: / && !why { why = $0 }
		/[^[:space:]]/ { last = $0 }
		END { sub(/^bench: /, "", why); print why ? why : last }' "$1"
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the bats files share: load it with `load helpers`.
#
# bench ARGS...    runs bench to its end; then $status is its exit status, and the files $OUT and
#                  $ERR have what it wrote
# start ARGS...    starts it in the background: $pid; await and finish go with it
# refused ...      bench refuses its arguments, and touches nothing before

bats_require_minimum_version 1.5.0

# Debian keeps bpftool and capsh in /usr/sbin, which is not in everybody's PATH
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
BENCH=${BENCH:-./bench}
[[ -x $BENCH ]] || {
	echo "no bench at '$BENCH': make it first, or set BENCH" >&2
	exit 1
}
BENCH=$(realpath "$BENCH")
SANITIZED=${SANITIZED:-}
# Output is compared to the byte
export LC_ALL=C

# No run here takes so long, however busy the machine is
TIME_LIMIT=120

fail() {
	echo "$*"
	return 1
}

# Where the files of the run at hand are. Not at load time: bats knows the folder in a test only.
_files() {
	OUT=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/out
	ERR=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}/err
}

# Show what bench wrote: bats prints it where the test fails
_show() {
	echo "--- bench $* (exit status ${status:-none yet})"
	local lines
	mapfile -t lines <"$OUT"
	((!${#lines[@]})) || printf '%s\n' "${lines[@]}"
	mapfile -t lines <"$ERR"
	((!${#lines[@]})) || printf '  stderr: %s\n' "${lines[@]}"
}

bench() {
	_files
	status=0
	timeout -s KILL "$TIME_LIMIT" "$BENCH" "$@" >"$OUT" 2>"$ERR" 3>&- 4>&- || status=$?
	_show "$@"
}

# The same through another command: bench_by setpriv ... -- ARGS
bench_by() {
	local by=()
	while [[ $1 != -- ]]; do
		by+=("$1")
		shift
	done
	shift
	_files
	status=0
	timeout -s KILL "$TIME_LIMIT" "${by[@]}" "$BENCH" "$@" >"$OUT" 2>"$ERR" 3>&- 4>&- ||
		status=$?
	_show "$@" "(by ${by[*]})"
}

# ---- what has to be

exits() {
	((status == $1)) || fail "exit status $status, not $1"
}

# Standard error has exactly one line, and it is like this pattern of [[ == ]]
one_error_line() {
	local lines
	mapfile lines <"$ERR"
	((${#lines[@]} == 1)) || fail "not one line on standard error, but ${#lines[@]}"
	# shellcheck disable=SC2053 # a pattern
	[[ ${lines[0]} == $1$'\n' ]] || fail "the line on standard error is not like: $1"
}

# Some line on standard error is like this pattern
error_line() {
	local line
	while IFS= read -r line; do
		# shellcheck disable=SC2053 # a pattern
		[[ $line != $1 ]] || return 0
	done <"$ERR"
	fail "no line on standard error is like: $1"
}

no_error_line() {
	! error_line "$1" >/dev/null || fail "there is a line on standard error like: $1"
}

no_output() {
	[[ ! -s $OUT ]] || fail 'there is something on standard output'
}

# The calls by which things get into the kernel, or are looked up there
KERNEL_CALLS=bpf,perf_event_open,fsopen,fsmount

# Run bench, with all such calls of it and its threads listed in $CALLS. (The leak check of the
# address sanitizer does not work under strace.)
bench_traced() {
	_files
	CALLS=$OUT.calls
	status=0
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout -s KILL "$TIME_LIMIT" \
		strace -f -qq -e signal=none -e "trace=$KERNEL_CALLS" -o "$CALLS" \
		"$BENCH" "$@" >"$OUT" 2>"$ERR" 3>&- 4>&- || status=$?
	_show "$@"
	# Else "no calls" would mean nothing
	[[ -e $CALLS ]] || fail 'strace did not work'
}

# None of them in $CALLS. (strace has a line '???( <detached' of a thread that the end of the process
# overtook.)
no_kernel_calls() {
	! grep -E "\<(${KERNEL_CALLS//,/|})\(" "$CALLS" || fail 'it called that'
}

# refused OPTION VALUE ALLOWED ARGS...: one line on standard error which has these three in this
# order (each may be ''), nothing on standard output, exit status 64, nothing put into the kernel. (The
# sanitizers' build leaves the last to the other one: the leak check and strace exclude each other.)
refused() {
	local like="bench: *"
	[[ -z $1 ]] || like+="$1*"
	[[ -z $2 ]] || like+="$2*"
	[[ -z $3 ]] || like+="$3*"
	shift 3
	if [[ -n $SANITIZED ]]; then
		bench "$@"
	else
		bench_traced "$@"
		no_kernel_calls
	fi
	exits 64
	one_error_line "$like"
	no_output
}

# ---- in the background

start() {
	start_with -- "$@"
}

# With options of env(1), for signals: start_with --default-signal=INT -- ARGS. Without them it is as
# bats does it, which is to ignore SIGINT, or not to, by the way in which it is run itself.
start_with() {
	local options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	_files
	status=
	: >"$OUT"
	env "${options[@]}" "$BENCH" "$@" >"$OUT" 2>"$ERR" 3>&- 4>&- &
	pid=$!
}

# Wait until standard output of the job has a line that matches; it must not end before
await() {
	local i
	for ((i = 0; i < TIME_LIMIT * 20; i++)); do
		! grep -qE -e "$1" "$OUT" || return 0
		[[ -e /proc/$pid ]] || break
		sleep 0.05
	done
	grep -qE -e "$1" "$OUT" || {
		_show
		fail "no line like '$1' came"
	}
}

# Wait for the end of the job, $1 seconds at the most, and set $status
finish() {
	local limit=${1:-$TIME_LIMIT} start=$SECONDS
	while [[ -e /proc/$pid && $(cut -d ' ' -f 3 /proc/"$pid"/stat 2>/dev/null) != Z ]] &&
		((SECONDS - start <= limit)); do
		sleep 0.05
	done
	if ((SECONDS - start > limit)); then
		kill_started
		fail "it did not end within $limit s"
		return 1
	fi
	status=0
	wait "$pid" || status=$?
	pid=
	_show
}

# For teardown(): nothing that a failed test started goes on
kill_started() {
	[[ -n ${pid:-} ]] || return 0
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=
}

# ---- what is in the kernel

# The BPF objects that process $1 holds: 'prog 12', 'map 7', 'link 3', one a line
held_by() {
	cat /proc/"$1"/fdinfo/* 2>/dev/null |
		sed -nE 's/^(prog|map|link)_id:[[:space:]]*([0-9]+)$/\1 \2/p' | sort -u
}

# Wait until none of these (lines as above) is left. The kernel frees them a little after the last
# descriptor is closed; it does not use a number again.
gone() {
	local kind id i left
	for ((i = 0; i < 200; i++)); do
		left=
		while read -r kind id; do
			[[ -n $kind ]] || continue
			! bpftool "$kind" show id "$id" >/dev/null 2>&1 || left+=" $kind $id"
		done <<<"$1"
		[[ -n $left ]] || return 0
		sleep 0.1
	done
	fail "left in the kernel:$left"
}

# ---- CPUs

# '0-2,5' -> '0 1 2 5'
expand_cpus() {
	local part cpus=()
	for part in ${1//,/ }; do
		# shellcheck disable=SC2207 # numbers
		cpus+=($(seq "${part%-*}" "${part#*-}"))
	done
	echo "${cpus[@]}"
}

# Those that this process may use
allowed_cpus() {
	expand_cpus "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
}

# ---- what bench prints

# Field $1 of the summary on standard output: hits, drops, 'total operations'; mean in M/s
summary() {
	sed -nE "s/^Summary: .*\\b$1 +([0-9.]+) ± .*/\\1/p" "$OUT"
}

# Is the arithmetic expression $1 true, for awk? calc 'a > 3 * b' a=1.5 b=0.2
calc() {
	local expression=$1 args=()
	shift
	for arg; do
		args+=(-v "$arg")
	done
	awk "${args[@]}" "BEGIN { exit !($expression) }" </dev/null || fail "not true: $expression ($*)"
}

# ---- which ways to attach this kernel takes: the one place where kernels differ

# shellcheck disable=SC2034 # for those who load this
ATTACH_KINDS='fentry kprobe tp rawtp'

# Why --attach KIND may be unavailable: a pattern of [[ =~ ]]. The kernels that we test on refuse
# fentry where they are locked down or built without it, and kprobes where those are not built in;
# tracepoints of system calls they have all.
attach_reasons() {
	case $1 in
	fentry) echo 'Operation not permitted|no BPF trampolines|no BTF|No such (file or directory|process)|Invalid argument|Operation not supported|Unknown error 524' ;;
	kprobe) echo 'kprobes are not built into this kernel|cannot have a kprobe|Operation not permitted|Operation not supported' ;;
	*) echo 'none' ;;
	esac
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Who may run what: with some of the capabilities, in namespaces; and the ways in which a program can
# be attached. Where it cannot run, one line reports why, exit status 4. Without any capabilities:
# contract.bats.

load helpers

# The binary where nobody can reach it
setup_file() {
	PLACE=$(mktemp -d)
	chmod 755 "$PLACE"
	install -m 755 "$BENCH" "$PLACE/bench"
	export PLACE
}

teardown_file() {
	rm -rf "$PLACE"
}

setup() {
	BENCH=$PLACE/bench
	cd /
}

# Runs bench as user 65534 with the capabilities $1 (such as '+bpf,+perfmon', or '') and no others
as_nobody() {
	local caps=()
	[[ -z $1 ]] || caps=("--inh-caps=$1" "--ambient-caps=$1" "--bounding-set=-all,$1")
	shift
	bench_by setpriv --reuid 65534 --regid 65534 --clear-groups "${caps[@]}" -- "$@"
}

unavailable() {
	exits 4
	no_output
	one_error_line "bench: $1: unavailable: $2"
}

# A run in which records were moved; bench itself has checked that none was lost
moved_records() {
	exits 0
	[[ $(tail -n1 "$OUT") == Summary:* ]]
	calc 'hits > 0' hits="$(summary hits)"
}

RING_BENCHS='rb-libbpf rb-custom pb-libbpf pb-custom'

@test "with one of the two, the other is missing" {
	for name in $RING_BENCHS; do
		as_nobody +bpf -w0 -d1 "$name"
		unavailable "$name" '*: CAP_PERFMON missing: *' # EPERM, or EACCES of perf_event_open(2)
		no_error_line '*CAP_BPF *missing*'
		as_nobody +perfmon -w0 -d1 "$name"
		unavailable "$name" '*Operation not permitted*: CAP_BPF missing: *'
		no_error_line '*CAP_PERFMON missing*'
	done
}

# tracefs is root's: then raw tracepoints are what is left where there is no fentry
@test "with both, all of them run without root" {
	for name in $RING_BENCHS; do
		as_nobody +bpf,+perfmon -w0 -d1 --interval 250 "$name"
		moved_records
	done
	as_nobody +bpf,+perfmon -w0 -d1 --attach rawtp rb-custom
	moved_records
}

# What is missing then is not CAP_BPF or CAP_PERFMON, and must be reported all the same
@test "with both, what tp requires is named" {
	as_nobody +bpf,+perfmon -w0 -d1 --attach tp rb-custom
	((status != 0)) || skip 'tracefs is open to all here'
	unavailable rb-custom 'cannot attach to getpgid(2) as asked by --attach (tp: *)*'
	error_line '*tracefs*'
}

@test "CAP_SYS_ADMIN stands for both" {
	as_nobody +sys_admin -w0 -d1 rb-custom
	moved_records
}

@test "lists and facts require no rights" {
	as_nobody '' --show-env
	exits 0
	as_nobody '' -d0 rb-custom
	exits 64
	as_nobody '' -l -v
	exits 0
	[[ ! -s $ERR ]]
	for name in $RING_BENCHS; do
		grep -A2 -x -e "- $name" "$OUT" | sed -n 3p |
			grep -qE '^    unavailable: .*CAP_BPF and CAP_PERFMON missing'
	done
	grep -A2 -x -e '- count-local' "$OUT" | grep -qx '    available'
}

# The program asks for the thread group id, which is another one inside
@test "in a pid namespace records are counted" {
	for kind in auto rawtp; do
		bench_by unshare -pf --mount-proc -- -w0 -d1 --attach "$kind" rb-custom
		moved_records
	done
	bench_by unshare -pf --mount-proc -- -w0 -d1 --rb-b2b pb-custom
	moved_records
}

@test "without /proc and /sys" {
	[[ -z $SANITIZED ]] || skip 'sanitizers need /proc'
	# A run ends well, or with a reason; nothing else
	for fs in /proc /sys; do
		bench_by unshare -m sh -c "mount -t tmpfs none $fs && exec \"\$@\"" sh -- -w0 -d1 -q rb-custom
		if ((status)); then
			[[ $status == 1 || $status == 4 ]]
			one_error_line 'bench: rb-custom: *: *'
		else
			moved_records
		fi
	done
}

# ---- ways to attach

# For each kind: it works, or it is unavailable with a reason that attach_reasons() knows
@test "--attach: each kind works, or the reason is one that is known" {
	for kind in $ATTACH_KINDS; do
		bench -w0 -d1 --interval 250 --attach "$kind" rb-custom
		if ((status == 0)); then
			moved_records
			# it is what was asked for: nothing to be said about it
			no_error_line '*attached by*'
		else
			[[ $(<"$ERR") =~ \($kind:\ .*($(attach_reasons "$kind")) ]]
			unavailable rb-custom "cannot attach to getpgid(2) as asked by --attach ($kind: *)*"
		fi
	done
}

@test "tracepoints of both sorts work, back-to-back too" {
	for kind in tp rawtp; do
		for name in rb-custom pb-libbpf; do
			bench -w0 -d1 --attach "$kind" --rb-b2b "$name"
			moved_records
		done
	done
}

# The first kind in the order of the list that works by itself, and why each before it does not: in
# brief, and in full with -v
@test "--attach auto takes the first that works, and one note reports which and why" {
	local reasons='' brief='' kind
	for kind in $ATTACH_KINDS; do
		bench -w0 -d1 -q --attach "$kind" rb-custom
		((status)) || break
		[[ $(<"$ERR") =~ \(($kind: .*)\)$ ]]
		reasons+="${reasons:+; }${BASH_REMATCH[1]}"
		brief+="${brief:+, }$kind: *"
	done
	# printed with -q as well, once per command
	bench -q -w0 -d1 --interval 250 -r 2 --attach auto rb-custom
	moved_records
	if [[ -z $reasons ]]; then
		no_error_line '*attached by*'
		return
	fi
	error_line "bench: note: attached by $kind ($brief); -v for details"
	(($(grep -c 'attached by' "$ERR") == 1))
	(($(grep 'attached by' "$ERR" | wc -c) < 120))
	[[ $(grep 'attached by' "$ERR") != *'requires'* ]]
	bench -v -w0 -d1 rb-custom
	moved_records
	error_line "bench: note: attached by $kind ($reasons)"
}

# Whoever else calls getpgid(2), or runs another bench, is not counted: else records would be lost
@test "two at once: neither sees the other" {
	for kind in auto rawtp; do
		start -w0 -d2 -a --attach "$kind" rb-custom
		await started
		first=$pid
		mv "$OUT" "$OUT.first" # the descriptors are open
		mv "$ERR" "$ERR.first"
		bench -w0 -d1 --attach "$kind" --rb-b2b rb-custom
		moved_records
		# so few that they would be lost among those of the first
		calc 'drops == 0' drops="$(summary drops)"
		status=0
		wait "$first" || status=$?
		mv "$OUT.first" "$OUT"
		mv "$ERR.first" "$ERR"
		pid=
		moved_records
	done
}

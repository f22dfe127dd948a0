#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Messages where something is missing: what that is, and what to do, in one line. Each is made to
# happen: rights, limits and files are taken away; and what another kernel would return is returned
# in place of this one (tests/confine.c).

load ../helpers

# Where user 54321 can reach them, and the dynamic loader finds all it needs
setup_file() {
	PLACE=$(mktemp -d)
	chmod 755 "$PLACE"
	install -m 755 "$BENCH" "$PLACE/bench"
	install -m 755 "${BUILD:-build}/tests/confine" "$PLACE/confine"
	export PLACE
}

teardown_file() {
	rm -rf "$PLACE"
}

setup() {
	BENCH=$PLACE/bench
	confine=$PLACE/confine
	nobody=(setpriv --reuid 54321 --regid 54321 --clear-groups)
	with_caps=("${nobody[@]}" '--inh-caps=+bpf,+perfmon' '--ambient-caps=+bpf,+perfmon'
		'--bounding-set=-all,+bpf,+perfmon')
	cd /
}

# One line says so, with this reason (a pattern)
unavailable() {
	exits 4
	no_output
	one_error_line "bench: $1: unavailable: $2"
}

# It failed, with this reason and, below it, nothing that does not start with a bar
failed() {
	exits 1
	error_line "bench: $1: failed: $2"
	! grep -v -e '^bench: ' -e '^  | ' "$ERR" || fail 'other lines on standard error'
}

# A run of one second that went well
runs() {
	exits 0
	[[ $(tail -n1 "$OUT") == Summary:* ]] || fail 'no summary'
}

short=(-w0 -d1 --interval 250)

# One of each family that needs BPF, and that runs here if anything does
BPF_BENCHS='rb-libbpf pb-custom bloom-lookup hashmap-without-bloom bpf-loop no-private-stack
	rename-rawtp trig-kernel-count trig-rawtp trig-uprobe-nop trig-uprobe-multi-nop'

# Does $1 run here when nothing is taken away?
available() {
	"$BENCH" -l -v "$1" | grep -qx '    available'
}

# Runs bench where the folders named before -- have nothing in them
without_files() {
	local script='' dir
	while [[ $1 != -- ]]; do
		for dir in $1; do
			[[ ! -d $dir ]] || script+="mount -t tmpfs -o mode=755 none $dir && "
		done
		shift
	done
	shift
	bench_by unshare -m sh -c "$script exec \"\$@\"" sh "${by[@]}" -- "$@"
}

# The same with a text in the place of a file: with_file FILE TEXT -- ARGS
with_file() {
	local fake=$BATS_TEST_TMPDIR/fake
	printf '%s\n' "$2" >"$fake"
	bench_by unshare -m sh -c "mount --bind '$fake' '$1' && exec \"\$@\"" sh "${by[@]}" -- "${@:4}"
}

by=()

TRACING='/sys/kernel/tracing /sys/kernel/debug'

# ---- rights

@test "no capabilities: sudo is named to users, and not to root" {
	local name
	for name in $BPF_BENCHS; do
		bench_by "${nobody[@]}" -- "${short[@]}" "$name"
		unavailable "$name" '*: Operation not permitted: CAP_BPF and CAP_PERFMON missing: run it as root (sudo), or give it the capabilities cap_bpf,cap_perfmon (setcap)'
		bench_by setpriv --bounding-set=-all --inh-caps=-all -- "${short[@]}" "$name"
		unavailable "$name" '*: Operation not permitted: CAP_BPF and CAP_PERFMON missing, though this is root: run it outside of the container*--cap-add BPF --cap-add PERFMON)'
	done
}

@test "in a user namespace: capabilities do not count there" {
	local name
	unshare -Ur true || skip 'no user namespaces here'
	for name in $BPF_BENCHS; do
		bench_by unshare -Ur -- "${short[@]}" "$name"
		unavailable "$name" '*: Operation not permitted: this process is in a user namespace, whose capabilities do not count for BPF: run it outside, as root of the machine*'
	done
}

@test "--verify requires CAP_SYS_ADMIN" {
	bench_by "${with_caps[@]}" -- "${short[@]}" --verify trig-kernel-count
	exits 4
	one_error_line 'bench: trig-kernel-count: unavailable: cannot switch BPF statistics on, as --verify wants: Operation not permitted: CAP_SYS_ADMIN missing: run it as root (sudo), or without --verify'
	bench_by setpriv --bounding-set=-all,+bpf,+perfmon -- "${short[@]}" --verify bloom-lookup
	exits 4
	one_error_line 'bench: bloom-lookup: unavailable: *: CAP_SYS_ADMIN missing: run it as root with all capabilities, or without --verify'
}

# ---- seccomp, as containers and services have it

@test "a seccomp filter that forbids bpf(2) is not taken for missing capabilities" {
	local name
	for name in $BPF_BENCHS; do
		bench_by "$confine" bpf:EPERM -- "${short[@]}" "$name"
		unavailable "$name" '*: Operation not permitted: a seccomp filter forbids bpf(2): run it outside of the container or service that set it, or have bpf(2) and perf_event_open(2) allowed there'
		bench_by "$confine" bpf:ENOSYS -- "${short[@]}" "$name"
		unavailable "$name" '*: Function not implemented: a seccomp filter forbids bpf(2), or this kernel is built without it (CONFIG_BPF_SYSCALL): run it outside*'
	done
	# Where rights are missing as well, they come first: they are what the filter goes by.
	bench_by "${nobody[@]}" "$confine" bpf:EPERM -- "${short[@]}" rb-libbpf
	unavailable rb-libbpf '*CAP_BPF and CAP_PERFMON missing*'
}

@test "a seccomp filter that forbids bpf(2) does not stop what uses no BPF" {
	local name
	for name in count-local trig-syscall-count rename-base; do
		bench_by "$confine" bpf:EPERM perf_event_open:EPERM -- "${short[@]}" "$name"
		runs
		! grep -v '^bench: warning: the threads waited for a CPU for ' "$ERR" ||
			fail 'a line on standard error'
	done
}

@test "a seccomp filter that forbids perf_event_open(2): named where it is needed" {
	local name err
	for name in pb-libbpf pb-custom 'trig-uprobe-nop' '--attach tp rb-custom'; do
		for err in EPERM:'Operation not permitted' EACCES:'Permission denied'; do
			# shellcheck disable=SC2086 # words
			bench_by "$confine" "perf_event_open:${err%:*}" -- "${short[@]}" $name
			unavailable "${name##* }" "*: ${err#*:}: a seccomp filter forbids perf_event_open(2): run it outside*"
		done
	done
}

@test "a seccomp filter that forbids perf_event_open(2): another way to attach is taken" {
	bench_by "$confine" perf_event_open:EPERM -- "${short[@]}" rb-custom
	runs
	! grep -q 'attached by rawtp' "$ERR" ||
		error_line 'bench: note: attached by rawtp (*, tp: EPERM); -v for details'
}

# Without seccomp it is something else that answers in the kernel's place
@test "bpf(2) refused by a security module" {
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 bench_by strace -f -qq -o /dev/null \
		-e trace=bpf -e inject=bpf:error=EPERM -- "${short[@]}" rb-custom
	unavailable rb-custom '*: Operation not permitted: a security module forbids bpf(2) (*): allow it there'
}

@test "perf_event_paranoid above 2 leaves perf events to CAP_SYS_ADMIN" {
	by=("$confine" 'perf_event_open,type=1:EACCES' "${with_caps[@]}")
	with_file /proc/sys/kernel/perf_event_paranoid 4 -- "${short[@]}" pb-custom
	unavailable pb-custom 'cannot open a perf event: Permission denied: sysctl kernel.perf_event_paranoid is 4, which leaves perf events to CAP_SYS_ADMIN: run it as root, or set it to 2'
}

# ---- files

@test "tracefs not mounted, and not to be mounted: by a user, under seccomp" {
	by=("${with_caps[@]}")
	without_files "$TRACING" -- "${short[@]}" --attach tp rb-custom
	unavailable rb-custom 'cannot attach to getpgid(2) as asked by --attach (tp: tracepoint syscalls/sys_enter_getpgid cannot be looked up: Operation not permitted: tracefs is not mounted, and this user may not mount it: mount -t tracefs -o mode=750,gid=54321 tracefs /sys/kernel/tracing)'
	without_files "$TRACING" -- "${short[@]}" --trig-driver syscall trig-tp
	unavailable trig-tp 'tracepoint syscalls/sys_enter_getpgid cannot be looked up: Operation not permitted: tracefs is not mounted, and this user may not mount it: *'
	by=("$confine" fsopen:EPERM)
	without_files "$TRACING" -- "${short[@]}" --attach tp rb-custom
	unavailable rb-custom '*tracefs is not mounted, and a seccomp filter forbids a private mount: mount -t tracefs *'
	by=("$confine" fsopen:ENOSYS)
	without_files "$TRACING" -- "${short[@]}" --trig-driver syscall trig-tp
	unavailable trig-tp '*: Function not implemented: tracefs is not mounted, and *: mount -t tracefs *'
	# Nothing to be said where it can be done without
	by=()
	without_files "$TRACING" -- "${short[@]}" --attach tp rb-custom
	runs
}

# How tracefs is mounted goes for all mounts of it: "mode=700,gid=0"
tracefs_options() {
	unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing &&
		stat -c mode=%a,gid=%g /sys/kernel/tracing'
}

set_tracefs_options() {
	unshare -m sh -c "mount -t tracefs tracefs /sys/kernel/tracing &&
		mount -o 'remount,$1' /sys/kernel/tracing"
}

teardown() {
	[[ -z ${tracefs_was:-} ]] || set_tracefs_options "$tracefs_was"
}

# The advice is followed, and helps
@test "tracefs mounted, but not for this user" {
	local mount='mount -t tracefs tracefs /sys/kernel/tracing' advice
	tracefs_was=$(tracefs_options) || skip 'tracefs cannot be mounted here'
	set_tracefs_options mode=700,gid=0
	bench_by unshare -m sh -c "$mount && exec \"\$@\"" sh "${with_caps[@]}" -- \
		"${short[@]}" --attach tp rb-custom
	unavailable rb-custom '*tp: tracepoint syscalls/sys_enter_getpgid cannot be looked up: *: tracefs is not for this user to read: run it as root, or mount -o remount,mode=750,gid=54321 /sys/kernel/tracing)'
	advice=$(sed -E 's/.* or (mount -o .*)\)$/\1/' "$ERR")
	bench_by unshare -m sh -c "$mount && $advice && exec \"\$@\"" sh "${with_caps[@]}" -- \
		"${short[@]}" --attach tp rb-custom
	runs
}

@test "no BTF: named by what requires it, and not by what does not" {
	local name dirs='/sys/kernel/btf /boot /lib/modules /usr/lib/debug'
	for name in no-private-stack trig-fentry rename-fentry; do
		without_files "$dirs" -- "${short[@]}" "$name"
		unavailable "$name" 'this kernel has no BTF: requires CONFIG_DEBUG_INFO_BTF'
	done
	for name in bpf-loop bloom-lookup trig-uprobe-nop rename-rawtp; do
		without_files "$dirs" -- "${short[@]}" "$name"
		runs
		[[ $(<"$ERR") != *BTF* ]]
	done
	without_files "$dirs" -- "${short[@]}" trig-rawtp
	runs
	error_line 'bench: note: driven by syscall (batch: this kernel has no BTF: requires CONFIG_DEBUG_INFO_BTF); -v for details'
	without_files "$dirs" -- "${short[@]}" rb-custom
	runs
	error_line 'bench: note: attached by * (fentry: no BTF, *); -v for details'
}

@test "no sysfs is named as such, not as no BTF" {
	without_files /sys -- "${short[@]}" no-private-stack
	unavailable no-private-stack 'sysfs is not mounted, where the kernel has its BTF: mount -t sysfs sysfs /sys'
	without_files /sys -- "${short[@]}" pb-libbpf
	unavailable pb-libbpf 'sysfs is not mounted, where the kernel lists its CPUs: mount -t sysfs sysfs /sys'
	without_files /sys -- "${short[@]}" trig-uprobe-nop
	unavailable trig-uprobe-nop 'sysfs is not mounted, which a uprobe needs: mount -t sysfs sysfs /sys'
}

@test "no /proc" {
	local name
	[[ -z $SANITIZED ]] || skip 'sanitizers need /proc'
	for name in rename-base rename-rawtp; do
		without_files /proc -- "${short[@]}" "$name"
		unavailable "$name" 'there is no /proc/thread-self/comm: mount -t proc proc /proc'
	done
}

# ---- limits

# Found out at once: in the midst of its work, libbpf would take it for features that are missing
@test "too few file descriptors: ulimit -n is named" {
	local name n
	[[ -z $SANITIZED ]] || skip 'the sanitizers want some for themselves'
	for name in rb-custom pb-libbpf bloom-lookup bpf-loop rename-rawtp trig-uprobe-nop; do
		for n in 4 8 16 32; do
			bench_by sh -c "ulimit -n $n && exec \"\$@\"" sh -- "${short[@]}" "$name"
			no_output
			failed "$name" "cannot open 32 files: Too many open files: raise ulimit -n, which is $n"
		done
		bench_by sh -c "ulimit -n 64 && exec \"\$@\"" sh -- "${short[@]}" "$name"
		runs
	done
	bench_by sh -c 'ulimit -n 8 && exec "$@"' sh -- "${short[@]}" count-local
	runs
}

@test "too little address space: ulimit -v is named" {
	[[ -z $SANITIZED ]] || skip 'the sanitizers want all of it'
	bench_by sh -c 'ulimit -v 400000 && exec "$@"' sh -- "${short[@]}" --rb-size 536870912 rb-custom
	failed rb-custom 'cannot map the ring buffer: Cannot allocate memory: *ulimit -v is 400000 KiB, raise it'
	bench_by sh -c 'ulimit -v 400000 && exec "$@"' sh -- "${short[@]}" -p 200 count-local
	failed count-local 'cannot start producer * of 200: Resource temporarily unavailable: no room for its stack: ulimit -v is 400000 KiB, raise it or take fewer threads'
}

@test "too few threads: ulimit -u is named" {
	bench_by "${nobody[@]}" bash -c 'ulimit -u 20 && exec "$@"' bash -- "${short[@]}" -p 100 count-local
	failed count-local 'cannot start producer * of 100: Resource temporarily unavailable: a limit on threads is reached: raise ulimit -u (20), pids.max of the cgroup or sysctl kernel.threads-max, or take fewer threads'
}

@test "perf buffers too large for a user: the limits are named" {
	local name
	(($(</proc/sys/kernel/perf_event_paranoid) > -1)) || skip 'this kernel lets users map as much as they like'
	for name in pb-custom pb-libbpf; do
		bench_by "${with_caps[@]}" sh -c 'ulimit -l 64 && exec "$@"' sh -- \
			"${short[@]}" --pb-pages 4096 "$name"
		failed "$name" 'cannot map a perf buffer of 4096 pages per CPU: more than sysctl kernel.perf_event_mlock_kb and ulimit -l allow without CAP_IPC_LOCK: choose fewer (--pb-pages), or raise one of them: Operation not permitted'
		bench_by "${with_caps[@]}" sh -c 'ulimit -l 64 && exec "$@"' sh -- \
			"${short[@]}" --pb-pages 1 "$name"
		runs
	done
}

@test "a file too large for ulimit -f is an error with words" {
	local file=$BATS_TEST_TMPDIR/records
	! grep -q __tsan_init "$BENCH" || skip 'ThreadSanitizer writes a file before bench does'
	# What it writes here must not be one of them
	bench_by bash -c 'set -o pipefail; (ulimit -f 0 && exec "$@") 2>&1 | cat' bash -- \
		"${short[@]}" -q -o "$file" count-local
	exits 1
	grep -qx "bench: -o, --output: cannot write to '$file': File too large" "$OUT"
	[[ ! -s $file ]]
}

# Where bpf(2) knows no helper of Linux 5.11, memory is locked memory
@test "locked memory that maps count as before Linux 5.11: ulimit -l is named" {
	by=("$confine" 'bpf,cmd=5,helper=160:EINVAL' 'bpf,cmd=0:EPERM'
		setpriv --bounding-set=-sys_resource)
	bench_by "${by[@]}" sh -c 'ulimit -l 64 && exec "$@"' sh -- "${short[@]}" rb-custom
	unavailable rb-custom 'cannot create a BPF ring buffer (BPF_MAP_TYPE_RINGBUF): Operation not permitted: maps and programs count as locked memory before Linux 5.11, of which 64 KiB are allowed: ulimit -l unlimited'
	# On a newer kernel, that is not it
	by=("$confine" 'bpf,cmd=0:EPERM' setpriv --bounding-set=-sys_resource)
	bench_by "${by[@]}" sh -c 'ulimit -l 64 && exec "$@"' sh -- "${short[@]}" rb-custom
	exits 4
	no_error_line '*ulimit*'
}

@test "buffers too large for the memory that there is are refused, with both amounts" {
	by=(env -C /)
	with_file /proc/meminfo 'MemAvailable: 102400 kB' -- --rb-size 268435456 rb-custom
	exits 64
	one_error_line "bench: --rb-size: invalid value '268435456': the pages of the ring buffer need 256.0 MiB, and 100.0 MiB are available"
	with_file /proc/meminfo 'MemAvailable: 102400 kB' -- --pb-pages 131072 pb-custom
	exits 64
	one_error_line "bench: --pb-pages: invalid value '131072': the pages of the perf buffers of all CPUs need * MiB, and 100.0 MiB are available"
}

@test "no memory for a map" {
	bench_by "$confine" bpf,cmd=0,type=27:ENOMEM -- "${short[@]}" rb-custom
	failed rb-custom 'cannot create a BPF ring buffer (BPF_MAP_TYPE_RINGBUF): Cannot allocate memory: *memory*'
}

# ---- kernels that have less

# NAME|OPTIONS|RULE|what is said
@test "what an old kernel lacks is named, with the version that brought it" {
	local name options rule text
	local asserted=0
	while IFS='|' read -r name options rule text <&9; do
		available "$name" || continue
		asserted=$((asserted + 1))
		# shellcheck disable=SC2086 # words
		bench_by "$confine" "$rule" -- "${short[@]}" $options "$name"
		exits 4
		one_error_line "bench: $name: unavailable: $text"
	done 9<<-'END'
		rb-libbpf||bpf,cmd=0,type=27:EINVAL|this kernel has no BPF ring buffer (BPF_MAP_TYPE_RINGBUF): requires Linux 5.8 or newer
		pb-custom||bpf,cmd=0,type=4:EINVAL|this kernel has no perf event array (BPF_MAP_TYPE_PERF_EVENT_ARRAY): requires Linux 4.3 or newer
		bloom-lookup||bpf,cmd=0,type=30:EINVAL|this kernel has no bloom filter map (BPF_MAP_TYPE_BLOOM_FILTER): requires Linux 5.16 or newer
		rb-custom|--rb-overwrite --rb-bench-producer|bpf,cmd=0,flags=0x80000:EINVAL|this kernel has no BPF ring buffer that overwrites (BPF_F_RB_OVERWRITE): requires Linux 6.19 or newer
		bloom-lookup||bpf,cmd=10:ENOTSUPP|this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer
		bpf-loop||bpf,cmd=10:EINVAL|this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer
		trig-kernel-count||bpf,cmd=10:ENOTSUPP|this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer
		bpf-loop||bpf,cmd=5,helper=181:EINVAL:unknown func bpf_loop#181|this kernel has no bpf_loop() for programs of this type: requires Linux 5.17 or newer
		no-private-stack||bpf,cmd=5,helper=181:EINVAL:invalid func unknown#181|this kernel has no bpf_loop() for programs of this type: requires Linux 6.10 or newer
		trig-uprobe-multi-nop||bpf,cmd=28,attach=48:EINVAL|this kernel has no multi-uprobes: requires Linux 6.6 or newer
		trig-uretprobe-multi-ret||bpf,cmd=28,attach=48:EINVAL|this kernel has no multi-uretprobes: requires Linux 6.6 or newer
	END
	# Those of Linux 5.8 run anywhere
	((asserted >= 4)) || fail "only $asserted of them run here"
}

# As Linux 5.10 does: what it complains about first is not the helper. libbpf's probe is two instructions.
@test "a helper is found missing also where the verifier complains about something else" {
	bench_by "$confine" 'bpf,cmd=5,helper=181,insns=2:EINVAL:invalid func unknown#181' \
		"bpf,cmd=5,helper=181:EINVAL:number of funcs in func_info doesn't match number of subprogs" \
		-- "${short[@]}" bpf-loop
	unavailable bpf-loop 'this kernel has no bpf_loop() for programs of this type: requires Linux 5.17 or newer'
}

@test "a kernel without tracing has none of its programs" {
	local name type
	local asserted=0
	while read -r name type <&9; do
		available "$name" || continue
		asserted=$((asserted + 1))
		bench_by "$confine" bpf,cmd=5,type=2:EINVAL bpf,cmd=5,type=5:EINVAL \
			bpf,cmd=5,type=17:EINVAL bpf,cmd=5,type=24:EINVAL bpf,cmd=5,type=26:EINVAL \
			-- "${short[@]}" "$name"
		exits 4
		one_error_line "bench: $name: unavailable: *this kernel has no BPF programs of type $type: requires CONFIG_BPF_EVENTS*"
	done 9<<-'END'
		rb-custom tracepoint
		pb-libbpf raw_tracepoint
		bloom-lookup raw_tracepoint
		bpf-loop raw_tracepoint
		no-private-stack raw_tracepoint
		rename-rawtp raw_tracepoint
		trig-kernel-count raw_tracepoint
		trig-tp tracepoint
		trig-uprobe-nop kprobe
	END
	((asserted >= 4)) || fail "only $asserted of them run here"
}

@test "--verify where the kernel cannot be asked to count" {
	bench_by "$confine" bpf,cmd=32:EINVAL -- "${short[@]}" --verify trig-kernel-count
	exits 4
	one_error_line 'bench: trig-kernel-count: unavailable: this kernel cannot be asked to count the runs of programs, as --verify wants (BPF_ENABLE_STATS): requires Linux 5.8 or newer'
}

@test "programs that the JIT alone can run, without it" {
	local log='callbacks are not allowed in non-JITed programs'
	bench_by "$confine" "bpf,cmd=5,helper=181:EINVAL:$log" -- "${short[@]}" bpf-loop
	unavailable bpf-loop 'the program needs the BPF JIT, *sysctl net.core.bpf_jit_enable=1'
	available trig-rawtp || skip 'trig-rawtp does not run here'
	log='JIT is required for calling kernel function'
	bench_by "$confine" "bpf,cmd=5,kfunc=1:ENOTSUPP:$log" -- "${short[@]}" --trig-driver batch trig-rawtp
	unavailable trig-rawtp 'the program needs the BPF JIT, *sysctl net.core.bpf_jit_enable=1'
	# By default it does without, and says why it is not the first choice
	bench_by "$confine" "bpf,cmd=5,kfunc=1:ENOTSUPP:$log" -- "${short[@]}" trig-rawtp
	runs
	error_line 'bench: note: driven by syscall (batch: the program needs the BPF JIT, *'
}

@test "in a network namespace, which has no sysctl for the JIT, there is no warning about it" {
	bench_by unshare -n -- "${short[@]}" trig-kernel-count
	runs
	no_error_line '*JIT*'
}

# ---- errors nobody thought of

@test "errors of the kernel's own have words" {
	local name
	for name in bpf-loop trig-kernel-count rename-rawtp bloom-lookup; do
		bench_by "$confine" bpf,cmd=5,type=17:524 -- "${short[@]}" "$name"
		failed "$name" '*: Operation not supported (ENOTSUPP)*'
		no_error_line '*Unknown error*'
	done
}

@test "a load that fails for no known reason shows the verifier's last words" {
	local log='12: (b7) r0 = 0
13: (95) exit
R7 is not what it should be
processed 14 insns (limit 1000000)
'
	bench_by "$confine" "bpf,cmd=5,helper=181:EINVAL:$log" -- "${short[@]}" bpf-loop
	failed bpf-loop "the verifier of this kernel refuses the BPF programs of bpf-loop*: Invalid argument"
	error_line '  | R7 is not what it should be'
	bench_by "$confine" "bpf,cmd=5,helper=42:EINVAL:$log" -- "${short[@]}" trig-fentry
	((status == 1)) || exits 4 # 4: it has no fentry at all
	((status == 4)) || error_line '  | R7 is not what it should be'
	# As an error that a want of rights has too
	bench_by "$confine" "bpf,cmd=5,helper=181:EACCES:$log" -- "${short[@]}" bpf-loop
	failed bpf-loop "the verifier of this kernel refuses the BPF programs of bpf-loop*: Permission denied"
	error_line '  | R7 is not what it should be'
}

@test "-l -v gives the same reasons, a line each" {
	by=("$confine" bpf:EPERM)
	bench_by "${by[@]}" -- -l -v
	exits 0
	[[ ! -s $ERR ]]
	(($(grep -c '^    unavailable: .*a seccomp filter forbids bpf(2): run it outside' "$OUT") > 20))
	[[ $(<"$OUT") != *'Unknown error'* ]]
	! grep -vE '^(Available benchmarks:|- [^ ]*|    .*)$' "$OUT" || fail 'other lines'
}

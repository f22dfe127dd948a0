#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/vmtest.sh with a stand-in for qemu, which does what the file `guest` says. With the real
# one it is `make vmtest`.
# shellcheck disable=SC2016 # the guests expand their variables themselves

VMTEST=$(realpath "$BATS_TEST_DIRNAME/../../scripts/vmtest.sh")

fail() {
	echo "$*"
	return 1
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export TMPDIR=$PWD/tmp XDG_CACHE_HOME=$PWD/cache QEMU=$PWD/qemu KVM_DEVICE=$PWD/no-kvm
	mkdir tmp
	echo 'no kernel' >bzImage
	# A static program of any kind will do
	STATIC=$(command -v busybox)

	# Its variables: console, stdout, stderr, result (files), initrd, accel
	cat >qemu <<'QEMU'
#!/usr/bin/env bash
echo $$ >qemu.pid
printf '%s\n' "$@" >qemu.args
while (($#)); do
	case $1 in
	-chardev)
		port=${2#file,id=}
		declare "${port%%,*}=${2##*path=}"
		;;
	-initrd) initrd=$2 ;;
	-accel) accel=$2 ;;
	esac
	shift
done
source ./guest
QEMU
	chmod +x qemu

	# One that ends well; the exit status of its command is in the file `answer`
	echo 0 >answer
	cat >good <<'GUEST'
echo "Linux version 0" >"$console"
mkdir -p r/out/sub
cp answer r/status
echo record >r/out/sub/file
echo "to standard output" >"$stdout"
echo "to standard error" >"$stderr"
tar -czf "$result" -C r .
GUEST
	cp good guest
}

# Run it to its end: $status, the files out and err
vmtest() {
	vmtest_by "$VMTEST" --kernel bzImage --bench "$STATIC" "$@"
}

vmtest_by() {
	status=0
	"$@" >out 2>err || status=$?
	echo "--- exit status $status; standard output and standard error:"
	cat out err
}

exits() {
	((status == $1)) || fail "exit status $status, not $1"
}

says() {
	grep -qF -e "$1" err || fail "standard error does not say: $1"
}

says_not() {
	! grep -qF -e "$1" err || fail "standard error says: $1"
}

# No process and no file
nothing_left() {
	[[ -z $(ls -A "$TMPDIR") ]] || fail "left in $TMPDIR: $(ls -A "$TMPDIR")"
	! kill -0 "$(cat qemu.pid)" 2>/dev/null || fail 'qemu is left'
}

@test "output, exit status and files of the command come back" {
	echo 7 >answer
	vmtest --out here
	exits 7
	[[ $(cat out) == 'to standard output' ]]
	says 'to standard error'
	[[ $(cat here/sub/file) == record ]]
	[[ $(cat here/console.log) == 'Linux version 0' ]]
	nothing_left
}

@test "without --out, it says that files are dropped" {
	vmtest
	exits 0
	says 'dropped: name a folder with --out'
	nothing_left
}

@test "a guest that crashes: 125, with the console from the crash on" {
	cat >guest <<-'GUEST'
		printf '%s\n' one two three four 'BUG: unable to handle page fault' 'RIP: 0010:f' >"$console"
		echo early >"$stdout"
	GUEST
	vmtest
	exits 125
	[[ $(cat out) == early ]]
	says 'ended before the command did'
	says '| BUG: unable to handle page fault'
	says '| RIP: 0010:f'
	says_not '| one'
	nothing_left
}

@test "a result that was cut off is none" {
	echo 'truncate -s -20 "$result"' >>guest
	vmtest --out here
	exits 125
	[[ ! -e here/sub ]]
	nothing_left
}

@test "what the guest's kernel complained about is shown, and the result stands" {
	echo 'echo "[    1.2] WARNING: CPU: 0 PID: 1 at kernel/bpf/x.c:1 f+0x1" >>"$console"' >>guest
	vmtest
	exits 0
	says 'the guest kernel complained'
	says '| [    1.2] WARNING: CPU: 0'
	# As Linux 6.19 and newer write it
	cp good guest
	echo 'echo "[    1.2] WARNING: kernel/bpf/x.c:1 at f+0x1, CPU#0: bench/1" >>"$console"' >>guest
	vmtest
	says '| [    1.2] WARNING: kernel/bpf/x.c:1'
}

@test "a qemu that does not start: 125, with its words" {
	echo 'echo "qemu: no such machine" >&2; exit 1' >guest
	vmtest
	exits 125
	says "never said a word (qemu's exit status 1)"
	says 'qemu: no such machine'
	nothing_left
}

@test "time-out: 124, with the end of the console, or from where the kernel says that it hangs" {
	echo 'echo "the last words" >"$console"; exec sleep 1000' >guest
	vmtest --timeout 1
	exits 124
	says 'not done after 1 s (--timeout)'
	says '| the last words'
	echo '{ seq 20; echo "INFO: task bench:1 blocked for more than 120 seconds."; seq 21 50; } >"$console"; exec sleep 1000' >guest
	vmtest --timeout 1
	says '| INFO: task bench:1 blocked'
	says_not '| 9'
	nothing_left
}

@test "a guest that has done its work and does not go down is no time-out" {
	echo 3 >answer
	echo 'exec sleep 1000' >>guest
	vmtest --timeout 1
	exits 3
	nothing_left
}

@test "SIGINT and SIGTERM: 130 and 143, and nothing is left" {
	echo 'echo up >"$console"; exec sleep 1000' >guest
	for pair in INT:130 TERM:143; do
		rm -f qemu.pid
		vmtest_by timeout --foreground --preserve-status -s "${pair%:*}" 3 \
			"$VMTEST" --kernel bzImage --bench "$STATIC"
		exits "${pair#*:}"
		nothing_left
	done
}

@test "SIGKILL: qemu ends too" {
	echo 'echo up >"$console"; exec sleep 1000' >guest
	vmtest_by timeout --foreground -s KILL 3 "$VMTEST" --kernel bzImage --bench "$STATIC"
	exits 137
	for _ in {1..50}; do
		kill -0 "$(cat qemu.pid)" 2>/dev/null || return 0
		sleep 0.1
	done
	fail 'qemu is left'
}

@test "KVM where it works" {
	touch kvm
	KVM_DEVICE=kvm vmtest
	exits 0
	says_not emulating
	grep -qx kvm qemu.args
	nothing_left
}

@test "emulation where a guest in KVM gives no sign of life" {
	touch kvm
	echo 5 >answer
	{ echo '[[ $accel != kvm ]] || exec sleep 1000'; cat good; } >guest
	KVM_DEVICE=kvm vmtest
	exits 5
	[[ $(cat out) == 'to standard output' ]]
	says 'no sign of life within 5 s: emulating'
	grep -qx tcg,thread=single qemu.args
	nothing_left
}

@test "emulation where there is no KVM, with a word about it unless it was asked for" {
	vmtest
	says "no KVM (there is no $KVM_DEVICE): emulating"
	grep -qx tcg,thread=single qemu.args
	vmtest --accel tcg
	says_not emulating
}

@test "kernel arguments, memory and CPUs reach the machine" {
	vmtest --append 'lockdown=integrity quiet' --cpus 3 --mem=77
	exits 0
	grep -qE '^console=.* panic=-1 .*lockdown=integrity quiet$' qemu.args
	grep -qx 3 qemu.args
	grep -qx 77 qemu.args
}

@test "--icount: emulation with instructions as the clock, one CPU, nokaslr" {
	touch kvm
	KVM_DEVICE=kvm vmtest --icount --cpus 3 --append quiet
	exits 0
	says_not emulating
	grep -qx 'shift=0,sleep=off' qemu.args
	grep -qx tcg,thread=single qemu.args
	[[ $(grep -x -A1 -e -smp qemu.args | tail -n1) == 1 ]]
	grep -qE '^console=.* quiet nokaslr$' qemu.args
	rm qemu.args
	vmtest --accel kvm --icount
	exits 64
	says '--icount: cannot count instructions under --accel kvm'
	[[ ! -e qemu.args ]]
}

@test "the initramfs has what the guest needs, all of it root's" {
	echo 'cp "$initrd" initramfs' >>guest
	vmtest
	cpio --quiet -t <initramfs >names
	for name in init bin/busybox bin/bench bin/suite vmtest/suite vmtest/command \
		vmtest/expect-6.1-amd64.tsv; do
		grep -qx "$name" names || fail "no $name"
	done
	[[ -z $(cpio --quiet -tvn <initramfs | awk '$3 != 0 || $4 != 0') ]]
	[[ $(cpio --quiet -i --to-stdout vmtest/command <initramfs) == "'suite' " ]]
}

@test "what is added is in the guest's /bin" {
	printf '#!/bin/sh\necho one\n' >one
	printf '#!/bin/sh\necho two\n' >'number two'
	chmod +x one 'number two'
	echo 'cp "$initrd" initramfs' >>guest
	vmtest --add one --add='number two'
	exits 0
	[[ $(cpio --quiet -i --to-stdout bin/one <initramfs) == *'echo one' ]]
	[[ $(cpio --quiet -i --to-stdout 'bin/number two' <initramfs) == *'echo two' ]]
}

@test "the command arrives as it was given, word for word" {
	words=(printf '[%s]\n' "it's" 'a  b' '$HOME "q" `id`' '' $'two\nlines' '*')
	echo 'cp "$initrd" initramfs' >>guest
	vmtest -- "${words[@]}"
	cpio --quiet -i --to-stdout vmtest/command <initramfs >script
	[[ $(sh ./script) == "$("${words[@]}")" ]]
}

@test "a kernel tree will do for --kernel" {
	mkdir -p tree/arch/x86/boot
	echo built >tree/arch/x86/boot/bzImage
	vmtest --arch x86_64 --kernel tree
	grep -qx 'tree/arch/x86/boot/bzImage' qemu.args
}

# A Debian mirror: stubs of apt-cache and apt-get, for the packages in the folder mirror. Each has
# a file NAME.depends.
fake_apt() {
	mkdir -p mirror bin
	cat >bin/apt-cache <<'APT'
#!/bin/sh
for name; do :; done
cd "$MIRROR" || exit
case $1 in
depends) echo "$name"; sed 's/^/  Depends: /' "${name%:*}.depends" ;;
policy) printf '%s:\n  Installed: (none)\n  Candidate: 1.2-3\n' "$name"; ;;
esac
APT
	cat >bin/apt-get <<'APT'
#!/bin/sh
for name; do :; done
echo "$name" >>"$MIRROR/downloaded"
cp "$MIRROR/${name%%:*}.deb" .
APT
	chmod +x bin/*
	export MIRROR=$PWD/mirror PATH=$PWD/bin:$PATH
}

# package NAME FILE: a package that holds nothing but that file
package() {
	mkdir -p "pkg/DEBIAN" "pkg/$(dirname "$2")"
	printf 'Package: %s\nVersion: 1.2-3\nArchitecture: amd64\nMaintainer: n <n@n>\nDescription: d\n' \
		"$1" >pkg/DEBIAN/control
	echo "the kernel of $1" >"pkg/$2"
	dpkg-deb --build pkg "mirror/$1.deb" >/dev/null
	rm -r pkg
}

# The kernel that was booted
booted() {
	cat "$(grep -x -A1 -e -kernel qemu.args | tail -n1)"
}

@test "without --kernel: the newest one of the distribution, from its package" {
	fake_apt
	echo linux-image-6.1.0-57-amd64:amd64 >mirror/linux-image-amd64.depends
	: >mirror/linux-image-6.1.0-57-amd64.depends
	package linux-image-6.1.0-57-amd64 boot/vmlinuz-6.1.0-57-amd64
	vmtest_by "$VMTEST" --arch x86_64 --bench "$STATIC" -- true
	exits 0
	[ "$(booted)" = 'the kernel of linux-image-6.1.0-57-amd64' ]
	[ "$(cat mirror/downloaded)" = linux-image-6.1.0-57-amd64:amd64=1.2-3 ]
	# Not again
	vmtest_by "$VMTEST" --arch x86_64 --bench "$STATIC" -- true
	exits 0
	[ "$(wc -l <mirror/downloaded)" -eq 1 ]
}

@test "without --kernel: where it is in a package beside the one that is installed" {
	fake_apt
	echo linux-image-7.2.13+deb14-amd64 >mirror/linux-image-amd64.depends
	printf '%s\n' linux-base-7.2.13+deb14-amd64 linux-binary-7.2.13+deb14-amd64:amd64 \
		linux-modules-7.2.13+deb14-amd64 >mirror/linux-image-7.2.13+deb14-amd64.depends
	package linux-image-7.2.13+deb14-amd64 usr/share/doc/nothing
	package linux-binary-7.2.13+deb14-amd64 usr/lib/modules/7.2.13+deb14-amd64/vmlinuz
	vmtest_by "$VMTEST" --arch x86_64 --bench "$STATIC" -- true
	exits 0
	[ "$(booted)" = 'the kernel of linux-binary-7.2.13+deb14-amd64' ]
}

@test "without --kernel: a package without a kernel is not taken for one" {
	fake_apt
	echo linux-image-7.2.13+deb14-amd64 >mirror/linux-image-amd64.depends
	: >mirror/linux-image-7.2.13+deb14-amd64.depends
	package linux-image-7.2.13+deb14-amd64 usr/share/doc/nothing
	vmtest_by "$VMTEST" --arch x86_64 --bench "$STATIC" -- true
	exits 125
	says 'there is no kernel in the package linux-image-7.2.13+deb14-amd64:amd64=1.2-3'
	says 'apt-get has no kernel for amd64'
	[ ! -e qemu.args ]
}

@test "bad arguments: 64, one line that names option and value, and no qemu" {
	while IFS='|' read -r option value words; do
		vmtest "$option" "$value"
		exits 64
		[[ $(cat err) == "vmtest: $option: $words"* ]] || fail "says something else"
		[[ $(wc -l <err) == 1 && ! -s out && ! -e qemu.pid ]]
	done <<-'CASES'
		--kernel|nowhere|there is no 'nowhere'
		--accel|xen|'xen' is not one of auto, kvm, tcg
		--arch|vax|'vax' is not one of x86_64, arm64
		--cpus|0|'0' is not a whole number above 0
		--cpus|2x|'2x' is not a whole number above 0
		--mem|-5|'-5' is not a whole number above 0
		--timeout|1.5|'1.5' is not a whole number above 0
		--bench|/nowhere|there is no program '/nowhere'
		--add|/nowhere|there is no file '/nowhere'
		--bench|/usr/bin/env|'/usr/bin/env' is not static
		--out|/dev/null/x|cannot make '/dev/null/x'
	CASES
	vmtest --cpus
	exits 64
	says '--cpus needs a value'
	vmtest --unknown
	exits 64
	[[ $(cat err) == "vmtest: there is no option '--unknown': try --help" && ! -e qemu.pid ]]
	vmtest bench rb-custom
	exits 64
	[[ $(cat err) == "vmtest: 'bench' is no option: a command for the guest comes after --, as in: -- bench rb-custom" ]]
	[[ ! -e qemu.pid ]]
}

@test "a kernel for another machine is refused by what its image says" {
	head -c 514 /dev/zero >x86
	printf HdrS >>x86
	head -c 56 /dev/zero >arm
	printf 'ARM\x64' >>arm
	vmtest_by "$VMTEST" --arch arm64 --kernel x86 --bench "$STATIC"
	[ "$status" -eq 64 ]
	says "--kernel: 'x86' is for x86_64, not aarch64: name it with --arch"
	vmtest_by "$VMTEST" --arch x86_64 --kernel arm --bench "$STATIC"
	[ "$status" -eq 64 ]
	says "--kernel: 'arm' is for aarch64, not x86_64"
}

@test "no qemu: says which package to install" {
	QEMU=qemu-system-x86_64-is-not-here vmtest --arch x86_64
	exits 125
	says 'no qemu-system-x86_64-is-not-here: install qemu-system-x86'
}

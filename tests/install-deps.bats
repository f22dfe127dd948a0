#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/install-deps.sh on systems that are made up here: a folder with an
# os-release and fake tools is all that it sees. Nothing is installed.
# shellcheck disable=SC2016 # the fakes expand their variables themselves

BUILD_TOOLS='gcc make pkg-config clang bpftool'
BUILD_MODULES='libbpf libelf zlib libzstd capstone jansson libRmath'
TEST_TOOLS='bats prove clang-format shellcheck mandoc setpriv unshare capsh jq strace jsonschema gnuplot busybox cpio'

# Write a fake command; its text comes on standard input
fake() {
	{
		echo '#!/bin/bash'
		cat
	} >"$BIN/$1"
	chmod +x "$BIN/$1"
}

setup() {
	SCRIPT=$BATS_TEST_DIRNAME/../scripts/install-deps.sh
	SYS=$BATS_TEST_TMPDIR/sys
	BIN=$SYS/bin
	export SYS BIN
	cp -a "$BATS_FILE_TMPDIR/sys" "$SYS"
}

# The system that each test gets a copy of
setup_file() {
	SYS=$BATS_FILE_TMPDIR/sys
	BIN=$SYS/bin
	mkdir -p "$BIN" "$SYS/etc" "$SYS/usr/sbin" "$SYS/tools"
	for tool in bash cat env grep; do
		ln -s "$(command -v "$tool")" "$BIN/$tool"
	done

	# What the fakes know: packages (installed), modules (of pkg-config, with
	# version), candidates (of apt); and calls, what was called
	touch "$SYS/packages" "$SYS/modules" "$SYS/candidates" "$SYS/calls" \
		"$SYS/libelf-private"

	fake id <<<'echo "${FAKE_UID:-0}"'
	fake uname <<<'echo 6.8.0-1-generic'
	fake gcc <<'FAKE'
case $1 in
-E) [[ ! -e $SYS/no-headers ]] ;;
-print-file-name=*) [[ -e $SYS/no-sanitizers ]] && echo "${1#*=}" || echo "/usr/lib/${1#*=}" ;;
esac
FAKE
	fake pkg-config <<'FAKE'
version_of() {
	while read -r name version; do
		[[ $name == "$1" ]] && found=$version
	done <"$SYS/modules"
	[[ -n ${found:-} ]]
}
case $1 in
--exists) version_of "$2" ;;
--modversion) version_of "$2" && echo "$found" ;;
--atleast-version=1.0) version_of "$2" && ((${found%%.*} >= 1)) ;;
--static) version_of libelf && echo "-lelf -lz$(<"$SYS/libelf-private")" ;;
*) exit 9 ;;
esac
FAKE
	fake dpkg-query <<<'grep -qx -- "${!#}" "$SYS/packages" && echo -n installed'
	fake rpm <<<'[[ $1 == -q ]] && grep -qx -- "$3" "$SYS/packages"'
	# Like the real one, it has more to say after the line that is looked for
	fake apt-cache <<'FAKE'
grep -qx -- "$2" "$SYS/candidates" && echo "  Candidate: 1.0" || echo "  Candidate: (none)"
sleep 0.2
echo "  Version table:" || exit 141
FAKE
	fake apt-get <<'FAKE'
echo "apt-get $* [${DEBIAN_FRONTEND:-}]" >>"$SYS/calls"
case " $* " in
*' update '*) exit "${UPDATE_STATUS:-0}" ;;
*' install '*) . "$SYS/install" ;;
esac
FAKE
	fake dnf <<<'echo "dnf $*" >>"$SYS/calls"; . "$SYS/install"'
	fake pacman <<'FAKE'
if [[ $1 == -T ]]; then
	grep -qx -- "$2" "$SYS/packages"
	exit
fi
echo "pacman $*" >>"$SYS/calls"
. "$SYS/install"
FAKE
	# What an installation changes
	cat >"$SYS/install" <<'FAKE'
PATH=$PATH:/usr/bin:/bin
[[ -z ${INSTALL_STATUS:-} ]] || exit "$INSTALL_STATUS"
[[ ! -e $SYS/install-does-nothing ]] || exit 0
for package in "$@"; do
	[[ $package != -* ]] || continue
	echo "$package" >>"$SYS/packages"
	case $package in
	libbpf | libbpf-dev*) echo "libbpf ${FAKE_LIBBPF:-1.1.2}" >>"$SYS/modules" ;;
	linux-tools-generic)
		mkdir -p "$SYS/usr/lib/linux-tools/6.8.0-31-generic"
		echo '#!/bin/bash' >"$SYS/usr/lib/linux-tools/6.8.0-31-generic/bpftool"
		chmod +x "$SYS/usr/lib/linux-tools/6.8.0-31-generic/bpftool"
		# The script in PATH finds no tools for the running kernel
		printf '#!/bin/bash\nexit 2\n' >"$SYS/usr/sbin/bpftool"
		chmod +x "$SYS/usr/sbin/bpftool"
		;;
	esac
done
FAKE
	for tool in $BUILD_TOOLS $TEST_TOOLS; do
		[[ -e $BIN/$tool ]] || printf '#!/bin/bash\nexit 0\n' >"$SYS/tools/$tool"
	done
	chmod +x "$SYS"/tools/*
}

# ---- the made-up system

os() {
	printf '%s\n' "$@" >"$SYS/etc/os-release"
}

# Everything is there, from wherever
# shellcheck disable=SC2086 # a list
complete() {
	cp "$SYS"/tools/* "$BIN/"
	printf '%s 4.0.2\n' $BUILD_MODULES cmocka >"$SYS/modules"
}

without_tool() {
	rm "$BIN/$1"
}

without_module() {
	grep -v "^$1 " "$SYS/modules" >"$SYS/modules.new" || true
	mv "$SYS/modules.new" "$SYS/modules"
}

# A system as first installed
bare() {
	touch "$SYS/no-headers" "$SYS/no-sanitizers"
	rm "$BIN/gcc" "$BIN/pkg-config"
}

deps() {
	run env -i PATH="$BIN" SYS="$SYS" INSTALL_DEPS_ROOT="$SYS" FAKE_UID="${FAKE_UID:-0}" \
		INSTALL_STATUS="${INSTALL_STATUS:-}" UPDATE_STATUS="${UPDATE_STATUS:-0}" \
		FAKE_LIBBPF="${FAKE_LIBBPF:-}" "$SCRIPT" "$@"
	echo "status $status"
	echo "$output"
	cat "$SYS/calls"
}

calls() {
	diff - "$SYS/calls"
}

APT='apt-get -o DPkg::Lock::Timeout=300'

# ---- nothing missing

@test "install-deps: one line where nothing is missing, nothing with --quiet" {
	os ID=debian
	complete
	for options in '' --test; do
		# shellcheck disable=SC2086
		deps $options
		[ "$status" -eq 0 ]
		[ "$output" = 'install-deps: nothing is missing' ]
		# shellcheck disable=SC2086
		deps --quiet $options
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	calls </dev/null
}

@test "install-deps: no root and no sudo needed where nothing is missing" {
	os ID=debian
	complete
	FAKE_UID=1000 deps --test
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: bpftool and capsh in /usr/sbin are found, whatever PATH is" {
	os ID=debian
	complete
	mv "$BIN/bpftool" "$BIN/capsh" "$SYS/usr/sbin/"
	deps --test
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: the package database is believed where a probe finds nothing" {
	os ID=debian
	complete
	without_module jansson
	without_tool clang
	printf '%s\n' libjansson-dev clang >"$SYS/packages"
	deps
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: libzstd is needed where libelf was built with it" {
	os ID=debian
	complete
	without_module libzstd
	deps
	[ "$status" -eq 0 ]
	calls </dev/null

	echo ' -lzstd' >"$SYS/libelf-private"
	deps
	[ "$status" -eq 0 ]
	grep -q 'install .* libzstd-dev ' "$SYS/calls"
}

# ---- Debian

@test "install-deps: Debian: update once, then install what is missing and no more" {
	os ID=debian
	complete
	without_module libbpf
	without_module jansson
	without_tool jq
	deps
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		$APT update [noninteractive]
		$APT install -y --no-install-recommends libbpf-dev libjansson-dev [noninteractive]
	EXPECTED
	[[ $output == *'missing: libbpf-dev libjansson-dev'*'installing libbpf-dev libjansson-dev'* ]]
}

@test "install-deps: Debian: --test installs what the tests need too, each package once" {
	os ID=debian
	complete
	for tool in make $TEST_TOOLS; do
		without_tool "$tool"
	done
	without_module cmocka
	deps --test
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		$APT update [noninteractive]
		$APT install -y --no-install-recommends make bats perl libcmocka-dev clang-format shellcheck mandoc util-linux libcap2-bin jq strace python3-jsonschema gnuplot-nox busybox-static cpio [noninteractive]
	EXPECTED
}

@test "install-deps: Debian: a bare system" {
	os ID=debian
	echo bpftool >"$SYS/candidates"
	bare
	# Once installed, these two are used to look again
	echo 'cp "$SYS/tools/make" "${0%/*}/gcc"; cp "$SYS/tools/make" "${0%/*}/pkg-config"' \
		>>"$SYS/install"
	deps
	[ "$status" -eq 0 ]
	grep -q -F "install -y --no-install-recommends gcc libc6-dev linux-libc-dev make pkg-config clang bpftool libbpf-dev libelf-dev zlib1g-dev libzstd-dev libcapstone-dev libjansson-dev r-mathlib [" "$SYS/calls"
}

@test "install-deps: Debian: output of the installation is kept out of standard output" {
	os ID=debian
	complete
	without_tool make
	echo 'echo noise' >>"$SYS/install"
	deps
	[[ $output == *noise* ]]
	without_tool make 2>/dev/null || true
	: >"$SYS/packages"
	env -i PATH="$BIN" SYS="$SYS" INSTALL_DEPS_ROOT="$SYS" "$SCRIPT" 2>/dev/null >"$SYS/stdout"
	[ "$(grep -c install "$SYS/calls")" -eq 2 ]
	[ ! -s "$SYS/stdout" ]
}

@test "install-deps: not root: sudo, but only to install" {
	os ID=debian
	complete
	fake sudo <<<'echo "sudo $1" >>"$SYS/calls"; exec "$@"'
	without_tool make
	FAKE_UID=1000 deps
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		sudo env
		$APT update [noninteractive]
		sudo env
		$APT install -y --no-install-recommends make [noninteractive]
	EXPECTED
}

@test "install-deps: root: no sudo, even where there is one" {
	os ID=debian
	complete
	fake sudo <<<'echo "sudo $1" >>"$SYS/calls"; exec "$@"'
	without_tool make
	deps
	[ "$status" -eq 0 ]
	[ "$(grep -c sudo "$SYS/calls")" -eq 0 ]
}

@test "install-deps: not root and no sudo: says what to do, and tries nothing" {
	os ID=debian
	complete
	without_tool jq
	FAKE_UID=1000 deps --test
	[ "$status" -eq 1 ]
	[[ $output == *'missing: jq'* ]]
	[[ $output == *"no sudo: run 'scripts/install-deps.sh --test' as root"* ]]
	calls </dev/null
}

@test "install-deps: Debian: old package lists are used where the update fails" {
	os ID=debian
	complete
	without_tool make
	UPDATE_STATUS=100 deps
	[ "$status" -eq 0 ]
	[[ $output == *'apt-get update failed'* ]]
	grep -q 'install .* make ' "$SYS/calls"
}

@test "install-deps: a failed installation is an error" {
	os ID=debian
	complete
	without_tool make
	INSTALL_STATUS=100 deps
	[ "$status" -eq 1 ]
	[[ $output == *'the installation failed'* ]]
}

@test "install-deps: what is missing after all is named" {
	os ID=debian
	complete
	without_tool clang
	touch "$SYS/install-does-nothing"
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'still missing'*'- clang, for the BPF target'* ]]
}

@test "install-deps: a libbpf before 1.0 does not do, installed or not" {
	os ID=ubuntu ID_LIKE=debian
	complete
	without_module libbpf
	echo 'libbpf 0.5.0' >>"$SYS/modules"
	echo libbpf-dev >>"$SYS/packages"
	FAKE_LIBBPF=0.5.0 deps
	[ "$status" -eq 1 ]
	[[ $output == *"libbpf is 0.5.0: build 1.0 or newer"* ]]
}

# ---- Ubuntu's bpftool

@test "install-deps: Ubuntu: package bpftool where there is one" {
	os ID=ubuntu ID_LIKE=debian
	complete
	without_tool bpftool
	echo bpftool >"$SYS/candidates"
	deps
	[ "$status" -eq 0 ]
	grep -q -F 'install -y --no-install-recommends bpftool [' "$SYS/calls"
}

@test "install-deps: Ubuntu: linux-tools where bpftool is no package" {
	os ID=ubuntu ID_LIKE=debian
	complete
	without_tool bpftool
	deps
	[ "$status" -eq 0 ]
	grep -q -F 'recommends linux-tools-common linux-tools-generic [' "$SYS/calls"
	[[ $output == *"make BPFTOOL=$SYS/usr/lib/linux-tools/6.8.0-31-generic/bpftool"* ]]

	# and the next time it is there
	: >"$SYS/calls"
	deps
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: Ubuntu: the running kernel's linux-tools too, where they exist" {
	os ID=ubuntu ID_LIKE=debian
	complete
	without_tool bpftool
	echo linux-tools-6.8.0-1-generic >"$SYS/candidates"
	deps
	[ "$status" -eq 0 ]
	grep -q -F 'linux-tools-common linux-tools-generic linux-tools-6.8.0-1-generic [' \
		"$SYS/calls"
}

@test "install-deps: a bpftool that does not run counts as missing" {
	os ID=debian
	complete
	fake bpftool <<<'exit 2'
	echo bpftool >"$SYS/candidates"
	deps
	grep -q -F 'recommends bpftool [' "$SYS/calls"
}

# ---- what only some need

@test "install-deps: --fuzz: libFuzzer, where clang cannot link with it" {
	os ID=debian
	complete
	deps --fuzz
	[ "$status" -eq 0 ]
	calls </dev/null

	fake clang <<<'[[ " $* " != *-fsanitize=fuzzer* ]]'
	deps --test --vm
	[ "$status" -eq 0 ]
	[[ $(<"$SYS/calls") != *clang* ]]
	: >"$SYS/calls"
	deps --fuzz
	# It is there, and clang still cannot: the package database is believed
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		$APT update [noninteractive]
		$APT install -y --no-install-recommends libclang-rt-dev [noninteractive]
	EXPECTED

	os ID=fedora
	: >"$SYS/calls"
	: >"$SYS/packages"
	FAKE_UID=1000 deps --fuzz
	[ "$status" -eq 1 ]
	[[ $output == *"run 'scripts/install-deps.sh --fuzz' as root"* ]]
	calls </dev/null
	deps --fuzz
	[ "$status" -eq 0 ]
	calls <<<'dnf install -y --setopt=install_weak_deps=False compiler-rt'
}

# ---- Fedora and Arch

@test "install-deps: Fedora" {
	os ID=fedora
	complete
	touch "$SYS/no-headers" "$SYS/no-sanitizers"
	for tool in make clang bpftool $TEST_TOOLS; do
		without_tool "$tool"
	done
	for module in $BUILD_MODULES cmocka; do
		without_module "$module"
	done
	echo 'echo "libbpf 1.5.0" >>"$SYS/modules"' >>"$SYS/install"
	deps --test
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		dnf install -y --setopt=install_weak_deps=False glibc-devel kernel-headers make clang bpftool libbpf-devel elfutils-libelf-devel zlib-devel libzstd-devel capstone-devel jansson-devel libRmath-devel bats perl-Test-Harness libcmocka-devel clang-tools-extra ShellCheck mandoc util-linux libcap jq strace python3-jsonschema gnuplot busybox cpio libasan libubsan libtsan
	EXPECTED
}

@test "install-deps: Fedora: nothing missing by the package database" {
	os ID=fedora
	complete
	without_module zlib
	without_module jansson
	printf '%s\n' zlib-devel jansson-devel >"$SYS/packages"
	deps
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: Arch, where mandoc cannot be had" {
	os ID=arch
	complete
	touch "$SYS/no-headers"
	for tool in make clang bpftool $TEST_TOOLS; do
		without_tool "$tool"
	done
	for module in $BUILD_MODULES cmocka; do
		without_module "$module"
	done
	deps --test
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		pacman -S --needed --noconfirm glibc linux-api-headers make clang bpf libbpf libelf zlib zstd capstone jansson r bats perl cmocka shellcheck util-linux libcap jq strace python-jsonschema gnuplot busybox cpio
	EXPECTED
}

@test "install-deps: Arch: a failed installation points to the upgrade" {
	os ID=arch
	complete
	without_tool make
	INSTALL_STATUS=1 deps
	[ "$status" -eq 1 ]
	[[ $output == *'pacman -Syu'* ]]
}

@test "install-deps: systems made from these are known by ID_LIKE" {
	complete
	without_tool make
	while read -r call id like; do
		os "ID=$id" "ID_LIKE=\"$like\""
		: >"$SYS/calls"
		: >"$SYS/packages"
		deps
		[ "$status" -eq 0 ]
		[[ $(tail -n 1 "$SYS/calls") == "$call "* ]]
	done <<-SYSTEMS
		apt-get linuxmint ubuntu debian
		apt-get raspbian debian
		dnf rocky rhel centos fedora
		dnf nobara fedora
		pacman manjaro arch
	SYSTEMS
}

@test "install-deps: a known system without its package manager" {
	os ID=fedora
	complete
	without_tool make
	rm "$BIN/dnf"
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'dnf not found'* ]]
}

# ---- other systems

@test "install-deps: an unknown system: names what is needed" {
	os ID=alpine 'PRETTY_NAME="Alpine Linux v3.20"'
	complete
	without_tool clang
	without_module jansson
	without_tool jq
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'cannot install packages on Alpine Linux v3.20, only on Debian'* ]]
	[[ $output == *'- clang, for the BPF target'* ]]
	[[ $output == *'- jansson'* ]]
	[[ $output != *jq* ]]
	[[ $output != *libbpf* ]]
	calls </dev/null
}

@test "install-deps: an unknown system, or none named, with everything there" {
	os ID=alpine
	complete
	deps --test
	[ "$status" -eq 0 ]
	rm "$SYS/etc/os-release"
	deps --test
	[ "$status" -eq 0 ]
	without_tool clang
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'cannot install packages on this system'* ]]
}

@test "install-deps: OS_RELEASE names another file" {
	os ID=debian
	complete
	without_tool make
	echo ID=arch >"$SYS/other"
	run env -i PATH="$BIN" SYS="$SYS" INSTALL_DEPS_ROOT="$SYS" OS_RELEASE="$SYS/other" "$SCRIPT"
	[ "$status" -eq 0 ]
	grep -q '^pacman ' "$SYS/calls"
}

# ---- the command line, and the table

@test "install-deps: --help" {
	deps --help
	[ "$status" -eq 0 ]
	[[ $output == 'Usage: scripts/install-deps.sh [--test] [--vm] [--fuzz] [--quiet]'* ]]
	calls </dev/null
}

@test "install-deps: unknown arguments are refused" {
	os ID=debian
	for argument in --tset test -x ''; do
		deps "$argument"
		[ "$status" -eq 64 ]
		[[ $output == *"unknown argument '$argument'"* ]]
	done
	calls </dev/null
}

@test "install-deps: apt knows every Debian package of the table" {
	command -v apt-cache >/dev/null || skip 'not a Debian system'
	apt-cache pkgnames >"$SYS/known"
	grep -qx libc6-dev "$SYS/known" || skip 'no package lists here'
	# Ubuntu before 24.04 has it in linux-tools
	grep -qx ID=debian /etc/os-release || echo bpftool >>"$SYS/known"
	sed -nE 's/^(build|test|vm|fuzz):[^:]*:([^:]*):.*/\2/p' "$SCRIPT" | grep -vx -e - >"$SYS/table"
	[ "$(wc -l <"$SYS/table")" -gt 15 ]
	run grep -vxF -f "$SYS/known" "$SYS/table"
	echo "not known: $output"
	[ -z "$output" ]
}

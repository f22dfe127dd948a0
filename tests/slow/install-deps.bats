#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/install-deps.sh on fake systems: a folder with an os-release and fake tools, where an
# installation is a line in a file. Nothing is installed.
# shellcheck disable=SC2016 # the fakes expand their variables themselves

bats_require_minimum_version 1.5.0

MODULES='libbpf libelf zlib libzstd capstone jansson libRmath cmocka'
TOOLS='make clang bpftool bats prove clang-format shellcheck mandoc setpriv script capsh jq strace jsonschema gnuplot busybox cpio zsh chromium dh lintian'

# Write a fake command; its text comes on standard input
fake() {
	{
		echo '#!/bin/bash'
		cat
	} >"$BIN/$1"
	chmod +x "$BIN/$1"
}

# A complete system. "no-NAME" is a header, module or runtime that is missing.
setup() {
	SCRIPT=$BATS_TEST_DIRNAME/../../scripts/install-deps.sh
	SYS=$BATS_TEST_TMPDIR
	BIN=$SYS/bin
	local tool
	mkdir -p "$BIN" "$SYS/etc" "$SYS/usr/sbin"
	touch "$SYS/calls"
	for tool in bash cat dirname env sleep; do
		ln -s "$(command -v "$tool")" "$BIN/"
	done
	fake id <<<'echo "${FAKE_UID:-0}"'
	fake gcc <<'FAKE'
case $1 in
-E) [[ ! -e $SYS/no-headers ]] ;;
-print-file-name=*) [[ -e $SYS/no-sanitizers ]] && echo "${1#*=}" || echo "/usr/lib/${1#*=}" ;;
esac
FAKE
	fake pkg-config <<'FAKE'
case $1 in
--exists)
	read -r name _ version <<<"$2"
	[[ ! -e $SYS/no-$name && ! ($version == 1.0 && -e $SYS/old-$name) ]]
	;;
--static) [[ ! -e $SYS/no-libelf ]] && echo "-lelf$(cat "$SYS/libelf-private" 2>/dev/null)" ;;
esac
FAKE
	# Like the real one, it writes on after the line that counts
	fake apt-cache <<'FAKE'
echo "  Candidate: ${CANDIDATE:-1.0}"
sleep 0.2
echo '  Version table:' || exit 141
FAKE
	for manager in apt-get dnf pacman; do
		fake "$manager" <<'FAKE'
echo "${0##*/} $* [${DEBIAN_FRONTEND:-}]" >>"$SYS/calls"
[[ " $* " != *' update '* ]] || exit "${UPDATE_STATUS:-0}"
echo noise
[[ -z ${INSTALL_STATUS:-} ]] || exit "$INSTALL_STATUS"
[[ ! -e $SYS/install ]] || . "$SYS/install"
FAKE
	done
	for tool in $TOOLS; do
		fake "$tool" </dev/null
	done
	# An installation makes it complete, unless a test says otherwise
	cp -r "$BIN" "$SYS/whole"
	echo 'PATH=/usr/bin:/bin; cp "$SYS"/whole/* "$SYS/bin/"; rm -f "$SYS"/no-*' >"$SYS/install"
}

os() {
	printf '%s\n' "$@" >"$SYS/etc/os-release"
}

without() {
	local name
	for name; do
		[[ ! -e $BIN/$name ]] || rm "$BIN/$name"
		touch "$SYS/no-$name"
	done
}

# Standard output goes to $SYS/stdout, standard error to $output
deps() {
	: >"$SYS/calls"
	run env -i PATH="$BIN" SYS="$SYS" INSTALL_DEPS_ROOT="$SYS" FAKE_UID="${FAKE_UID:-0}" \
		INSTALL_STATUS="${INSTALL_STATUS:-}" UPDATE_STATUS="${UPDATE_STATUS:-0}" \
		CANDIDATE="${CANDIDATE:-}" bash -c '"$@" 2>&1 >"$SYS/stdout"' - "$SCRIPT" "$@"
	echo "status $status"
	echo "$output"
	cat "$SYS/calls"
}

calls() {
	diff - "$SYS/calls"
}

APT='apt-get -o DPkg::Lock::Timeout=300'

@test "install-deps: nothing missing: one line, or none with --quiet, and no root" {
	os ID=debian
	FAKE_UID=1000 deps --test
	[ "$status" -eq 0 ]
	[ "$(cat "$SYS/stdout")" = 'install-deps: nothing is missing' ]
	deps --quiet --test
	[ "$status" -eq 0 ]
	[ -z "$output$(cat "$SYS/stdout")" ]
	# Whatever PATH is
	mv "$BIN/bpftool" "$BIN/capsh" "$SYS/usr/sbin/"
	deps --test
	[ "$status" -eq 0 ]
	calls </dev/null
}

@test "install-deps: Debian: what is missing and no more, in one call" {
	os ID=debian
	without libbpf jansson jq
	deps
	[ "$status" -eq 0 ]
	calls <<-EXPECTED
		$APT update [noninteractive]
		$APT install -y --no-install-recommends libbpf-dev libjansson-dev [noninteractive]
	EXPECTED
	# make run prints a benchmark's output there
	[ ! -s "$SYS/stdout" ]
}

@test "install-deps: a bare system: every package of the groups" {
	local id expected
	while IFS=: read -r id expected; do
		os "ID=$id"
		# shellcheck disable=SC2086 # lists
		without gcc pkg-config headers sanitizers $TOOLS $MODULES
		deps --test --slow
		[ "$status" -eq 0 ]
		grep -qF " $expected [" "$SYS/calls"
	done <<-'END'
		debian:gcc libc6-dev linux-libc-dev make pkg-config clang bpftool libbpf-dev libelf-dev zlib1g-dev libzstd-dev libcapstone-dev libjansson-dev r-mathlib bats perl libcmocka-dev clang-format shellcheck mandoc util-linux bsdutils libcap2-bin jq strace python3-jsonschema gnuplot-nox busybox-static cpio zsh chromium debhelper lintian
		fedora:gcc glibc-devel kernel-headers make pkgconf-pkg-config clang bpftool libbpf-devel elfutils-libelf-devel zlib-devel libzstd-devel capstone-devel jansson-devel libRmath-devel bats perl-Test-Harness libcmocka-devel clang-tools-extra ShellCheck mandoc util-linux util-linux-script libcap jq strace python3-jsonschema gnuplot busybox cpio zsh libasan libubsan libtsan chromium
		arch:gcc glibc linux-api-headers make pkgconf clang bpf libbpf libelf zlib zstd capstone jansson r bats perl cmocka shellcheck util-linux libcap jq strace python-jsonschema gnuplot busybox cpio zsh chromium
	END
}

@test "install-deps: --arm64: apt gets to know the architecture; elsewhere there is nothing to install" {
	os ID=debian
	fake dpkg <<'FAKE'
case $1 in
--add-architecture) echo "dpkg $*" >>"$SYS/calls" && : >"$SYS/added" ;;
--print-foreign-architectures) [[ ! -e $SYS/added ]] || echo arm64 ;;
*) echo amd64 ;;
esac
FAKE
	echo 'PATH=/usr/bin:/bin; mkdir -p "$SYS/usr/aarch64-linux-gnu/lib"
		touch "$SYS/usr/aarch64-linux-gnu/lib/libc.a"
		cp "$SYS/bin/make" "$SYS/bin/aarch64-linux-gnu-gcc"
		cp "$SYS/bin/make" "$SYS/bin/qemu-system-aarch64"' >"$SYS/install"
	deps --arm64
	[ "$status" -eq 0 ]
	[ "$(head -n 1 "$SYS/calls")" = 'dpkg --add-architecture arm64' ]
	grep -q ' libc6-dev-arm64-cross gcc-aarch64-linux-gnu qemu-system-arm ' "$SYS/calls"
	: >"$SYS/calls"
	deps --arm64 --quiet
	[ "$status" -eq 0 ]
	[ ! -s "$SYS/calls" ]
	os ID=fedora
	rm "$BIN/aarch64-linux-gnu-gcc"
	deps --arm64
	[ "$status" -eq 0 ]
}

@test "install-deps: systems derived from these, by ID_LIKE" {
	local call id like
	while read -r call id like; do
		os "ID=$id" "ID_LIKE=\"$like\""
		without make
		deps
		[ "$status" -eq 0 ]
		[[ $(tail -n 1 "$SYS/calls") == "$call "*' make ['* ]]
	done <<-'END'
		apt-get linuxmint ubuntu debian
		dnf rocky rhel centos fedora
		pacman manjaro arch
	END
}

@test "install-deps: not root: sudo, but only to install; without sudo it says what to do" {
	os ID=debian
	without make
	FAKE_UID=1000 deps --fuzz
	[ "$status" -eq 1 ]
	[[ $output == *"no sudo: run 'scripts/install-deps.sh --fuzz' as root"* ]]
	calls </dev/null
	fake sudo <<<'echo "sudo $1" >>"$SYS/calls"; exec "$@"'
	FAKE_UID=1000 deps
	[ "$status" -eq 0 ]
	[ "$(grep -c sudo "$SYS/calls")" -eq 2 ]
	without make
	deps
	[ "$(grep -c sudo "$SYS/calls")" -eq 0 ]
}

@test "install-deps: libzstd where libelf was built with it; libFuzzer where clang lacks it" {
	os ID=debian
	touch "$SYS/no-libzstd"
	deps
	[ "$status" -eq 0 ]
	calls </dev/null
	echo ' -lzstd' >"$SYS/libelf-private"
	deps
	grep -q 'recommends libzstd-dev ' "$SYS/calls"

	fake clang <<<'[[ " $* " != *-fsanitize=fuzzer* ]]'
	deps --test
	calls </dev/null
	deps --fuzz
	grep -q 'recommends libclang-rt-dev ' "$SYS/calls"
}

@test "install-deps: bpftool: one that does not run is none; Ubuntu's linux-tools" {
	os ID=ubuntu ID_LIKE=debian
	fake bpftool <<<'exit 2'
	deps
	grep -q 'recommends bpftool ' "$SYS/calls"
	fake bpftool <<<'exit 2'
	echo 'PATH=/usr/bin:/bin; d=$SYS/usr/lib/linux-tools/6.8.0-31-generic; mkdir -p "$d"; cp "$SYS/whole/bpftool" "$d/"' >"$SYS/install"
	CANDIDATE='(none)' deps
	[ "$status" -eq 0 ]
	grep -q 'recommends linux-tools-generic ' "$SYS/calls"
	deps
	calls </dev/null
}

@test "install-deps: a browser: not on Ubuntu, which has no package of it" {
	os ID=ubuntu ID_LIKE=debian
	without chromium
	deps --slow
	[ "$status" -eq 0 ]
	calls </dev/null
	os ID=linuxmint 'ID_LIKE="ubuntu debian"'
	deps --slow
	grep -q 'recommends chromium ' "$SYS/calls"
}

@test "install-deps: failures: old lists do, an installation that failed or did not help does not" {
	os ID=debian
	without make
	UPDATE_STATUS=100 deps
	[ "$status" -eq 0 ]
	[[ $output == *'apt-get update failed'* ]]
	without make
	INSTALL_STATUS=100 deps
	[ "$status" -eq 1 ]
	[[ $output == *'the installation failed'* ]]
	os ID=arch
	INSTALL_STATUS=1 deps
	[[ $output == *'pacman -Syu'* ]]

	os ID=ubuntu
	: >"$SYS/install"
	touch "$SYS/old-libbpf"
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'still missing, or too old: make libbpf 1.0 (build it, '* ]]
}

@test "install-deps: another system, or one without its package manager: what is missing" {
	os ID=alpine
	deps
	[ "$status" -eq 0 ]
	without clang jansson jq
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'missing: clang jansson'$'\n'*'install these by hand'* ]]
	rm "$SYS/etc/os-release" "$BIN/dnf"
	deps
	[ "$status" -eq 1 ]
	os ID=fedora
	deps
	[ "$status" -eq 1 ]
	[[ $output == *'install these by hand'* ]]
}

@test "install-deps: the command line" {
	deps --help
	[ "$status" -eq 0 ]
	[[ $(cat "$SYS/stdout") == 'Usage: scripts/install-deps.sh [--test] [--slow] [--vm] [--arm64] [--fuzz] [--quiet]'* ]]
	deps --tset
	[ "$status" -eq 64 ]
	[[ $output == *"unknown argument '--tset'"* ]]
	calls </dev/null
}

@test "install-deps: apt knows every Debian package of the table" {
	command -v apt-cache >/dev/null || skip 'not a Debian system'
	apt-cache pkgnames >"$SYS/known"
	grep -qx libc6-dev "$SYS/known" || skip 'no package lists here'
	# Ubuntu before 24.04 has it in linux-tools
	grep -qx ID=debian /etc/os-release || echo bpftool >>"$SYS/known"
	awk '/^(base|test|slow|vm|fuzz) / && $3 != "-" { print $3 }' "$SCRIPT" >"$SYS/table"
	[ "$(wc -l <"$SYS/table")" -gt 25 ]
	run ! grep -vxF -f "$SYS/known" "$SYS/table"
}

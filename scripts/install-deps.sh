#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Install the packages that building, running and testing bench require.
set -euo pipefail
# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

usage() {
	cat <<'USAGE'
Usage: scripts/install-deps.sh [--test] [--slow] [--vm] [--arm64] [--fuzz] [--quiet]

Install the packages that are missing for `make` and `make run`, on Debian,
Ubuntu, Fedora, Arch and their derivatives. Tools and libraries from elsewhere
(your own bpftool in PATH, a libbpf that pkg-config finds) count as present. Uses
sudo if something is missing and it does not run as root.

  -t, --test   also for `make test`, `make check-asan`, `make check-tsan` and
               `make check-format`
      --slow   also for what `make check-all` has beyond --test and --vm: a browser,
               and what builds a Debian package
      --vm     also for `make vmtest`
      --arm64  also for `make vmtest-arm64`, on Debian and Ubuntu: adds arm64 to the
               architectures of packages that apt knows
      --fuzz   also for `make fuzz`
  -q, --quiet  print nothing if nothing is missing
  -h, --help   print this text

Exit status: 0 nothing is missing, or no longer; 1 something is missing and cannot
be installed; 64 usage.
USAGE
}

# Group, how it is found, and its package on Debian, Fedora and Arch. '-': comes with another one,
# or there is none (on Arch, mandoc conflicts with man-db). Without recommended packages, Debian's
# gcc comes without C library headers.
table() {
	cat <<'TABLE'
base tool:gcc                gcc                 gcc                   gcc
base header:stdio.h          libc6-dev           glibc-devel           glibc
base header:linux/bpf.h      linux-libc-dev      kernel-headers        linux-api-headers
base tool:make               make                make                  make
base tool:pkg-config         pkg-config          pkgconf-pkg-config    pkgconf
base tool:clang              clang               clang                 clang
base bpftool:bpftool         bpftool             bpftool               bpf
base module:libbpf:1.0       libbpf-dev          libbpf-devel          libbpf
base module:libelf           libelf-dev          elfutils-libelf-devel libelf
base module:zlib             zlib1g-dev          zlib-devel            zlib
base zstd:libzstd            libzstd-dev         libzstd-devel         zstd
base module:capstone         libcapstone-dev     capstone-devel        capstone
base module:jansson          libjansson-dev      jansson-devel         jansson
base module:libRmath         r-mathlib           libRmath-devel        r
test tool:bats               bats                bats                  bats
test tool:prove              perl                perl-Test-Harness     perl
test module:cmocka           libcmocka-dev       libcmocka-devel       cmocka
test tool:clang-format       clang-format        clang-tools-extra     clang
test tool:shellcheck         shellcheck          ShellCheck            shellcheck
test tool:mandoc             mandoc              mandoc                -
test tool:setpriv            util-linux          util-linux            util-linux
test tool:script             bsdutils            util-linux-script     util-linux
test tool:capsh              libcap2-bin         libcap                libcap
test tool:jq                 jq                  jq                    jq
test tool:strace             strace              strace                strace
test tool:jsonschema         python3-jsonschema  python3-jsonschema    python-jsonschema
test tool:gnuplot            gnuplot-nox         gnuplot               gnuplot
test tool:busybox            busybox-static      busybox               busybox
test tool:cpio               cpio                cpio                  cpio
test tool:zsh                zsh                 zsh                   zsh
test sanitizer:libasan.so    -                   libasan               -
test sanitizer:libubsan.so   -                   libubsan              -
test sanitizer:libtsan.so    -                   libtsan               -
slow browser:chromium        chromium            chromium              chromium
slow tool:dh                 debhelper           -                     -
slow tool:lintian            lintian             -                     -
vm   tool:qemu-system-x86_64 qemu-system-x86     qemu-system-x86-core  qemu-system-x86
arm64 foreign:arm64          libc6-dev-arm64-cross -                   -
arm64 tool:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu -               -
arm64 cross:libc.a           libc6-dev-arm64-cross -                   -
arm64 tool:qemu-system-aarch64 qemu-system-arm   -                     -
fuzz fuzzer:libFuzzer        libclang-rt-dev     compiler-rt           compiler-rt
TABLE
}

say() {
	echo "install-deps: $1" >&2
}

die() {
	say "$1"
	exit "${2:-1}"
}

# found KIND:NAME[:VERSION]
found() {
	local kind name version libs path
	IFS=: read -r kind name version <<<"$1"
	case $kind in
	tool) command -v "$name" ;;
	header) gcc -E -x c -o /dev/null - <<<"#include <$name>" ;;
	module) pkg-config --exists "$name >= ${version:-0}" ;;
	# Ubuntu's /usr/sbin/bpftool fails without the tools of exactly the running kernel; those of any
	# kernel can generate a skeleton, and the Makefile finds them
	bpftool)
		for path in "$(command -v bpftool)" "$root"/usr/lib/linux-tools{/*,-*}/bpftool; do
			[[ ! -x $path ]] || ! "$path" version || return 0
		done
		return 1
		;;
	# A static link needs what libelf was built with: not on Debian 12, but later
	zstd)
		libs=$(pkg-config --static --libs libelf) || return 1
		[[ $libs != *-lzstd* ]] || pkg-config --exists "$name"
		;;
	# An architecture whose packages apt can download
	foreign) [[ $'\n'$(dpkg --print-architecture && dpkg --print-foreign-architectures)$'\n' == *$'\n'"$name"$'\n'* ]] ;;
	cross) [[ -f $root/usr/aarch64-linux-gnu/lib/$name ]] ;;
	# gcc prints a bare name for a file that it does not have
	sanitizer) [[ $(gcc -print-file-name="$name") == */* ]] ;;
	# Ubuntu has it as a snap alone
	browser) command -v "$name" || [[ " $ids " == ' ubuntu '* ]] ;;
	# In Debian's clang since 14 it is a package of its own
	fuzzer) clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null - \
		<<<'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return 0; }' ;;
	esac >/dev/null 2>&1
}

# Set missing, and packages to those of this system, each once
find_missing() {
	local group what names package
	missing=() packages=()
	while read -r group what names; do
		read -r -a names <<<"$names"
		package=${names[family]}
		[[ " $groups " == *" $group "* && $package != - ]] || continue
		! found "$what" || continue
		what=${what#*:}
		missing+=("${what/:/ }")
		[[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
	done < <(table)
}

groups=base quiet=false arguments=$*
while (($#)); do
	case $1 in
	-t | --test) groups+=' test' ;;
	--slow) groups+=' slow' ;;
	--vm) groups+=' vm' ;;
	--arm64) groups+=' arm64' ;;
	--fuzz) groups+=' fuzz' ;;
	-q | --quiet) quiet=true ;;
	-h | --help) usage && exit ;;
	*) die "unknown argument '$1' (--help explains)" 64 ;;
	esac
	shift
done

# For tests of this script: where the system is
root=${INSTALL_DEPS_ROOT:-}
# Not in every PATH: Debian's bpftool and capsh, Arch's prove
PATH=$PATH:$root/usr/local/sbin:$root/usr/sbin:$root/sbin:$root/usr/bin/core_perl
# shellcheck source=/dev/null
ids=$(ID='' ID_LIKE='' && . "$root/etc/os-release" 2>/dev/null && echo "$ID $ID_LIKE") || ids=''
# family: the system's column in the table
case " $ids " in
*' debian '* | *' ubuntu '*)
	family=0 install=(apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends)
	;;
*' fedora '* | *' rhel '* | *' centos '*)
	family=1 install=(dnf install -y --setopt=install_weak_deps=False)
	;;
# No -y: new lists without an upgrade (-u) can break an Arch system
*' arch '* | *' archlinux '*) family=2 install=(pacman -S --needed --noconfirm) ;;
*) family=0 install=(none) ;;
esac

find_missing
if ((!${#missing[@]})); then
	$quiet || echo 'install-deps: nothing is missing'
	exit 0
fi
say "missing: ${missing[*]}"
command -v "${install[0]}" >/dev/null ||
	die 'cannot install on this system, only with apt-get, dnf or pacman: install these by hand'
as_root=()
if [[ $(id -u) != 0 ]]; then
	as_root=(sudo)
	command -v sudo >/dev/null ||
		die "not root, and there is no sudo: run 'scripts/install-deps.sh${arguments:+ $arguments}' as root"
fi
if [[ ${install[0]} == apt-get ]]; then
	as_root+=(env DEBIAN_FRONTEND=noninteractive)
	[[ " ${missing[*]} " != *' arm64 '* ]] || "${as_root[@]}" dpkg --add-architecture arm64
	"${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update >&2 ||
		say 'apt-get update failed: using the old lists'
	# Ubuntu before 24.04 has no package bpftool. Not by a pipe to grep -q, which kills apt-cache when
	# it has seen enough: that is a failure under pipefail.
	policy=$(LC_ALL=C apt-cache policy bpftool)
	[[ $policy == *'Candidate: '[!\(]* ]] ||
		packages=("${packages[@]/#bpftool/linux-tools-generic}")
fi
say "installing ${packages[*]}"
"${as_root[@]}" "${install[@]}" "${packages[@]}" >&2 ||
	die "the installation failed$([[ ${install[0]} != pacman ]] || echo ' (packages not found: pacman -Syu first)')"
find_missing
((!${#missing[@]})) || die "still missing, or too old: ${missing[*]} (build it, and set PATH or PKG_CONFIG_PATH)"

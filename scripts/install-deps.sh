#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Install what building and running bench needs, and with --test what its tests
# need. Does nothing where all of it is there.
set -euo pipefail

usage() {
	cat <<'USAGE'
Usage: scripts/install-deps.sh [--test] [--vm] [--fuzz] [--quiet]

Install the packages that are missing for `make` and `make run`, on Debian,
Ubuntu, Fedora, Arch and systems made from them. Tools and libraries that came
from elsewhere (a bpftool of your own in PATH, a libbpf that pkg-config finds)
count as present. Uses sudo where it is not run as root and something is missing.

  -t, --test   also what `make test`, `make check-asan`, `make check-tsan` and
               `make check-format` need
      --vm     also what `make vmtest` needs
      --fuzz   also what `make fuzz` needs
  -q, --quiet  print nothing where nothing is missing
  -h, --help   this text

Exit status: 0 all is there, 1 something is missing and could not be installed,
64 usage.

Environment, for tests of this script:
  INSTALL_DEPS_ROOT  prefix of the system folders that are searched (default /)
  OS_RELEASE         file that names the system (default etc/os-release there)
USAGE
}

# For whom : how to find it : package on Debian : Fedora : Arch : what it is.
# '-' where another package of the table brings it along, or where it cannot be
# had. On Arch that is mandoc, which conflicts with man-db; the test that uses it
# is skipped there. With no recommended packages, Debian's gcc comes without C
# library headers.
needs() {
	cat <<'NEEDS'
build:tool gcc:gcc:gcc:gcc:C compiler
build:header stdio.h:libc6-dev:glibc-devel:glibc:C library headers
build:header linux/bpf.h:linux-libc-dev:kernel-headers:linux-api-headers:kernel headers
build:tool make:make:make:make:make
build:tool pkg-config:pkg-config:pkgconf-pkg-config:pkgconf:pkg-config
build:tool clang:clang:clang:clang:clang, for the BPF target
build:bpftool:bpftool:bpftool:bpf:bpftool
build:module libbpf 1.0:libbpf-dev:libbpf-devel:libbpf:libbpf 1.0 or newer
build:module libelf:libelf-dev:elfutils-libelf-devel:libelf:libelf
build:module zlib:zlib1g-dev:zlib-devel:zlib:zlib
build:zstd:libzstd-dev:libzstd-devel:zstd:libzstd, which this system's libelf needs
build:module capstone:libcapstone-dev:capstone-devel:capstone:capstone
build:module jansson:libjansson-dev:jansson-devel:jansson:jansson
build:module libRmath:r-mathlib:libRmath-devel:r:libRmath (R's distribution functions)
test:tool bats:bats:bats:bats:bats
test:tool prove:perl:perl-Test-Harness:perl:prove (Perl's Test::Harness)
test:module cmocka:libcmocka-dev:libcmocka-devel:cmocka:cmocka
test:tool clang-format:clang-format:clang-tools-extra:clang:clang-format
test:tool shellcheck:shellcheck:ShellCheck:shellcheck:shellcheck
test:tool mandoc:mandoc:mandoc:-:mandoc
test:tool setpriv:util-linux:util-linux:util-linux:setpriv (util-linux)
test:tool unshare:util-linux:util-linux:util-linux:unshare (util-linux)
test:tool capsh:libcap2-bin:libcap:libcap:capsh (libcap)
test:tool jq:jq:jq:jq:jq
test:tool strace:strace:strace:strace:strace
test:tool jsonschema:python3-jsonschema:python3-jsonschema:python-jsonschema:jsonschema
test:tool gnuplot:gnuplot-nox:gnuplot:gnuplot:gnuplot
test:tool busybox:busybox-static:busybox:busybox:busybox
test:tool cpio:cpio:cpio:cpio:cpio
vm:tool qemu-system-x86_64:qemu-system-x86:qemu-system-x86-core:qemu-system-x86:qemu
fuzz:fuzzer:libclang-rt-dev:compiler-rt:compiler-rt:clang's libFuzzer and sanitizer runtimes
test:sanitizer asan:-:libasan:-:AddressSanitizer runtime of gcc
test:sanitizer ubsan:-:libubsan:-:UndefinedBehaviorSanitizer runtime of gcc
test:sanitizer tsan:-:libtsan:-:ThreadSanitizer runtime of gcc
NEEDS
}

with_tests=false
with_vm=false
with_fuzz=false
quiet=false
root=${INSTALL_DEPS_ROOT:-}
os_release=${OS_RELEASE:-$root/etc/os-release}

# Not in everybody's PATH: Debian's bpftool and capsh, Arch's prove
PATH=$PATH:$root/usr/local/sbin:$root/usr/sbin:$root/sbin:$root/usr/bin/core_perl

say() {
	echo "install-deps: $1" >&2
}

die() {
	say "$1"
	exit 1
}

# ---- what is there already

probe_tool() {
	command -v "$1" >/dev/null
}

probe_header() {
	gcc -E -x c -o /dev/null - <<<"#include <$1>" 2>/dev/null
}

probe_module() {
	if (($# > 1)); then
		pkg-config --atleast-version="$2" "$1" 2>/dev/null
	else
		pkg-config --exists "$1" 2>/dev/null
	fi
}

# A static link needs what libelf was built with: not on Debian 12, but later
probe_zstd() {
	local libs
	libs=$(pkg-config --static --libs libelf 2>/dev/null) || return 1
	[[ $libs != *-lzstd* ]] || probe_module libzstd
}

# gcc answers with a bare name for a file that it does not have
probe_sanitizer() {
	[[ $(gcc -print-file-name="lib$1.so" 2>/dev/null) == */* ]]
}

# In Debian's clang since 14 it is a package of its own
probe_fuzzer() {
	clang -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null <<<'
		int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)
		{
			return 0;
		}'
}

# Print the path of a bpftool that runs. Ubuntu's /usr/sbin/bpftool is a script
# which fails unless the tools of exactly the running kernel are installed, but
# those of any kernel can make a skeleton.
find_bpftool() {
	local path
	for path in "$(command -v bpftool)" "$root"/usr/lib/linux-tools/*/bpftool \
		"$root"/usr/lib/linux-tools-*/bpftool; do
		if [[ -x $path ]] && "$path" version >/dev/null 2>&1; then
			echo "$path"
			return 0
		fi
	done
	return 1
}

probe_bpftool() {
	find_bpftool >/dev/null
}

installed() {
	case $family in
	debian) [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]] ;;
	fedora) rpm -q --whatprovides "$1" >/dev/null 2>&1 ;;
	arch) pacman -T "$1" >/dev/null 2>&1 ;;
	*) return 1 ;;
	esac
}

# ---- the system

# Print the family of the system, nothing for one that is not known
system_family() {
	local word ids=''
	if [[ -r $os_release ]]; then
		# shellcheck source=/dev/null
		ids=$(ID='' ID_LIKE='' && . "$os_release" && echo "$ID $ID_LIKE")
	fi
	for word in $ids; do
		case $word in
		debian | ubuntu) echo debian ;;
		fedora | rhel | centos) echo fedora ;;
		arch | archlinux) echo arch ;;
		*) continue ;;
		esac
		return 0
	done
}

system_name() {
	local name=''
	if [[ -r $os_release ]]; then
		# shellcheck source=/dev/null
		name=$(PRETTY_NAME='' NAME='' ID='' && . "$os_release" &&
			echo "${PRETTY_NAME:-${NAME:-$ID}}")
	fi
	echo "${name:-this system}"
}

# ---- what is missing

# Fill packages and names (what they are) with what is missing
find_missing() {
	local mode probe debian fedora arch name package kind args
	packages=()
	names=()
	while IFS=: read -r mode probe debian fedora arch name; do
		case $mode in
		test) $with_tests || continue ;;
		vm) $with_vm || continue ;;
		fuzz) $with_fuzz || continue ;;
		esac
		case $family in
		debian) package=$debian ;;
		fedora) package=$fedora ;;
		arch) package=$arch ;;
		*) package='' ;;
		esac
		[[ $package != - ]] || continue

		read -r kind args <<<"$probe"
		# shellcheck disable=SC2086 # one word for each argument
		! "probe_$kind" $args || continue
		# A package may be there and too old: then only the version counts
		if [[ -n $package && $args != *' '* ]] && installed "$package"; then
			continue
		fi
		names+=("$name")
		[[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
	done < <(needs)
}

list_names() {
	printf '  - %s\n' "${names[@]}" >&2
}

# ---- installing

as_root() {
	if [[ $(id -u) == 0 ]]; then
		"$@"
	else
		sudo "$@"
	fi
}

# Whether apt can install this name; a virtual package has no candidate
apt_has() {
	local policy
	# Whole, before it is searched: a grep -q that ends early kills apt-cache, and pipefail would
	# make that a no
	policy=$(LC_ALL=C apt-cache policy "$1" 2>/dev/null)
	grep -qE '^ *Candidate: [^(]' <<<"$policy"
}

# Ubuntu before 24.04 has no package bpftool
apt_resolve_bpftool() {
	local i kernel_tools
	kernel_tools=linux-tools-$(uname -r)
	for i in "${!packages[@]}"; do
		[[ ${packages[i]} == bpftool ]] || continue
		! apt_has bpftool || return 0
		unset 'packages[i]'
		packages+=(linux-tools-common linux-tools-generic)
		! apt_has "$kernel_tools" || packages+=("$kernel_tools")
		return 0
	done
}

install_debian() {
	local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)

	# Lists that are a bit old may do: let the installation decide
	as_root "${apt[@]}" update || say 'apt-get update failed; going on with the old lists'
	apt_resolve_bpftool
	say "installing ${packages[*]}"
	as_root "${apt[@]}" install -y --no-install-recommends "${packages[@]}"
}

install_fedora() {
	say "installing ${packages[*]}"
	as_root dnf install -y --setopt=install_weak_deps=False "${packages[@]}"
}

# No -y: new lists without an upgrade (-u) can break an Arch system, and an
# upgrade is the user's decision
install_arch() {
	say "installing ${packages[*]}"
	as_root pacman -S --needed --noconfirm "${packages[@]}" || {
		say "where packages were not found, upgrade the system first (pacman -Syu)"
		return 1
	}
}

# ---- main

while (($#)); do
	case $1 in
	-t | --test) with_tests=true ;;
	--vm) with_vm=true ;;
	--fuzz) with_fuzz=true ;;
	-q | --quiet) quiet=true ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		echo "install-deps: unknown argument '$1'" >&2
		usage >&2
		exit 64
		;;
	esac
	shift
done

family=$(system_family)
find_missing
if ((!${#names[@]})); then
	$quiet || echo 'install-deps: nothing is missing'
	exit 0
fi

case $family in
debian) manager='apt-get' ;;
fedora) manager=dnf ;;
arch) manager=pacman ;;
*)
	say "cannot install packages on $(system_name), only on Debian, Ubuntu, Fedora and Arch."
	say 'Please install these, and try again:'
	list_names
	exit 1
	;;
esac

say "missing: ${packages[*]}"
command -v "$manager" >/dev/null || die "$manager not found: please install them by hand"
if [[ $(id -u) != 0 ]] && ! command -v sudo >/dev/null; then
	die "not root, and there is no sudo: run 'scripts/install-deps.sh$(
		! $with_tests || printf ' --test'
		! $with_vm || printf ' --vm'
		! $with_fuzz || printf ' --fuzz'
	)' as root"
fi

# The package manager's own output must not end up in that of 'make run'
"install_$family" >&2 || die 'the installation failed, see above'

find_missing
if ((${#names[@]})); then
	say 'still missing, though the installation went well:'
	list_names
	if probe_tool pkg-config && probe_module libbpf && ! probe_module libbpf 1.0; then
		say "this system's libbpf is $(pkg-config --modversion libbpf): build 1.0 or newer" \
			'(https://github.com/libbpf/libbpf), and set PKG_CONFIG_PATH'
	fi
	exit 1
fi

bpftool=$(find_bpftool || true)
if [[ -n $bpftool && $bpftool != "$(command -v bpftool)" ]]; then
	say "the bpftool in PATH does not run here: use 'make BPFTOOL=$bpftool'"
fi

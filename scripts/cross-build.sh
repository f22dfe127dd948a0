#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Build the static bench for 64-bit Arm on another machine, with Debian's cross
# compiler and Debian's arm64 libraries, which are unpacked into the cache and not
# installed: the -dev packages of two architectures do not always go together.
set -euo pipefail
# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

usage() {
	cat <<'USAGE'
Usage: scripts/cross-build.sh [-o DIR] [MAKE-ARGUMENT...]

Build DIR/bench-static for arm64 (default DIR: build/arm64). Needs Debian or
Ubuntu, and once, as root:
  scripts/install-deps.sh --arm64

  -o, --output DIR  where to build
  -h, --help        this text

Exit status: 0, or 1 where something is missing or does not build; 64 usage.

Environment:
  XDG_CACHE_HOME    libraries are kept in $XDG_CACHE_HOME/bench/sysroot-arm64
                    (default ~/.cache)
USAGE
}

die() {
	echo "cross-build: $1" >&2
	exit "${2:-1}"
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=build/arm64
while (($#)); do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-o | --output)
		(($# > 1)) || die "$1 needs a value" 64
		out=$2
		shift 2
		;;
	-*)
		usage >&2
		exit 64
		;;
	*) break ;;
	esac
done

arch=arm64 triplet=aarch64-linux-gnu
sysroot=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bench/sysroot-$arch
packages=(libbpf-dev libelf-dev zlib1g-dev libcapstone-dev libjansson-dev r-mathlib)

command -v "$triplet-gcc" >/dev/null || die "no $triplet-gcc: install gcc-$triplet (scripts/install-deps.sh --arm64)"
[[ -f /usr/$triplet/lib/libc.a ]] || die "no C library to cross-build with: install libc6-dev-$arch-cross (scripts/install-deps.sh --arm64)"

# Whole or not at all; anew when apt knows of other versions
make_sysroot() {
	local tmp deb stamp
	stamp=$(LC_ALL=C apt-cache policy "${packages[@]/%/:$arch}" |
		awk '/^[^ ]/ { name = $1 } $1 == "Candidate:" { print name, $2 }')
	[[ -n $stamp ]] || die "apt does not know $arch: dpkg --add-architecture $arch && apt-get update"
	[[ $(cat "$sysroot/stamp" 2>/dev/null) != "$stamp" ]] || return 0
	echo "cross-build: downloading ${packages[*]} for $arch into $sysroot" >&2
	mkdir -p "$(dirname "$sysroot")"
	tmp=$(mktemp -d "$sysroot.XXXXXX")
	# shellcheck disable=SC2064 # as it is now
	trap "rm -rf '$tmp'" EXIT
	(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download "${packages[@]/%/:$arch}") >&2 ||
		die "cannot download the libraries"
	for deb in "$tmp"/*.deb; do
		dpkg-deb -x "$deb" "$tmp"
	done
	rm "$tmp"/*.deb
	echo "$stamp" >"$tmp/stamp"
	rm -rf "$sysroot"
	mv -T "$tmp" "$sysroot"
	chmod 755 "$sysroot"
	trap - EXIT
}
make_sysroot

# Debian's R library is in no architecture's folder. clang's BPF target has no folder of
# its own for asm/types.h.
export PKG_CONFIG_SYSROOT_DIR=$sysroot
export PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/lib/pkgconfig
exec make -C "$top" STATIC=1 CROSS_COMPILE="$triplet-" O="$(realpath -m -- "$out")" \
	BPF_CFLAGS="-O2 -idirafter /usr/$triplet/include" "$@"

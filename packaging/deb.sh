#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The Debian package.
set -euo pipefail

usage() {
	cat <<'END'
Usage: packaging/deb.sh [FOLDER]

Build the Debian package bpf-bench from a copy of this tree, as `make deb` does,
and put it into FOLDER (default build/deb). The flags are those of
dpkg-buildflags. Requires debhelper and dpkg-dev.

  -h, --help   print this text

Exit status: 0 done; 1 it cannot be built; 64 usage.
END
}

die() {
	echo "deb: $1" >&2
	exit "${2:-1}"
}

case ${1:-} in
-h | --help) usage && exit ;;
-*) die "unknown option '$1' (--help explains)" 64 ;;
esac
(($# <= 1)) || die 'expected one folder (--help explains)' 64
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in dh:debhelper dpkg-buildpackage:dpkg-dev; do
	command -v "${tool%:*}" >/dev/null || die "no ${tool%:*}: install ${tool#*:}"
done
out=$(realpath -m -- "${1:-build/deb}")
version=$(sed -n 's/^VERSION := //p' Makefile)
# The time of the last change: two builds of one tree are the same
date=$(git log -1 --format=%aD 2>/dev/null) || date=$(date -Rr Makefile)
maintainer=${DEBEMAIL:-}
[[ -n $maintainer ]] || maintainer=$(git log -1 --format='%an <%ae>' 2>/dev/null) || true
[[ $maintainer == *' <'*@*'>' ]] || die "no maintainer: set DEBEMAIL='NAME <ADDRESS>'" 64

src=$out/bpf-bench-$version
rm -rf -- "$src"
mkdir -p -- "$src"
if [[ -e .git ]]; then
	git ls-files -z
else
	find . -path ./build -prune -o -type f ! -name 'bench' ! -name 'bench-*' -print0
fi | tar --null -T - -c | tar -C "$src" -x
cp -R packaging/debian "$src/debian"
sed -i "s|^Maintainer: MAINTAINER$|Maintainer: ${maintainer//|/}|" "$src/debian/control"
cat >"$src/debian/changelog" <<END
bpf-bench ($version) unstable; urgency=medium

  * Built from the source tree.

 -- $maintainer  $date
END
# What the make that calls this was told is not for the package
(cd "$src" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u O -u CFLAGS -u CPPFLAGS -u LDFLAGS \
	dpkg-buildpackage -us -uc -b) >"$out/build.log" 2>&1 || {
	tail -n 20 "$out/build.log" >&2
	die "dpkg-buildpackage failed, see $out/build.log"
}
ls -- "$out"/*.deb

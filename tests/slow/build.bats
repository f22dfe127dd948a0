#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The Makefile, on a copy of the tree: what it prints, what it builds anew, and what it leaves alone.
# Not under sanitizers: nothing here would be another.
#
# shellcheck disable=SC2034 # BENCH is for the helpers

load ../helpers

setup_file() {
	[[ -z $SANITIZED ]] || skip 'the build is the same under sanitizers'
	for tool in make clang bpftool pkg-config; do
		command -v "$tool" >/dev/null || skip "$tool not found"
	done
	SRC=$BATS_FILE_TMPDIR/src
	OBJ=$BATS_FILE_TMPDIR/o # not O, which make would take from the environment
	export SRC OBJ
	mkdir "$SRC"
	tar -C "$BATS_TEST_DIRNAME/../.." --exclude-vcs --exclude=./build --exclude=./bench \
		--exclude=./bench-static -c . | tar -C "$SRC" -x
	(cd "$SRC" && find . -type f | sort) >"$BATS_FILE_TMPDIR/tree"
	mk -j2 >"$BATS_FILE_TMPDIR/first" 2>&1 || {
		cat "$BATS_FILE_TMPDIR/first"
		return 1
	}
}

# With nothing of what the make that runs us passes on
plain_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u CFLAGS -u SANITIZE -u O -u V -u STATIC -u WERROR \
		make -C "$SRC" --no-print-directory "$@" 3>&- 4>&-
}

mk() {
	plain_make O="$OBJ" "$@"
}

# What a make prints in short, 'CC lib/num.o' a line, without the folder
short() {
	sed -E -e "s|$OBJ/||" -e 's/^  ([A-Z]+) +/\1 /' | sort
}

# The next make builds what is on standard input ('CC lib/num.o' a line), and nothing else
builds() {
	sort >"$BATS_TEST_TMPDIR/expected"
	mk >"$BATS_TEST_TMPDIR/log" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/log"
		return 1
	}
	short <"$BATS_TEST_TMPDIR/log" | diff "$BATS_TEST_TMPDIR/expected" -
}

# 'CC x.o' for each C file of the program that includes $1
users_of() {
	local file
	for file in "$SRC"/*.c "$SRC"/lib/*.c "$SRC"/lib/*/*.c "$SRC"/benchs/*.c; do
		! grep -q "^#include \"$1\"" "$file" || {
			file=${file#"$SRC"/}
			echo "CC ${file%.c}.o"
		}
	done
}

@test "a build prints one short line a file" {
	run -1 grep -vE '^  [A-Z]+ +[^ ]+$' "$BATS_FILE_TMPDIR/first"
	while read -r kind file; do
		[[ $(grep -cFx "$(printf '  %-8s %s' "$kind" "$OBJ/$file")" "$BATS_FILE_TMPDIR/first") == 1 ]]
	done < <(
		cd "$SRC"
		for file in ./*.c lib/*.c lib/*/*.c benchs/*.c; do
			file=${file#./}
			echo "CC ${file%.c}.o"
		done
		for file in progs/*.bpf.c; do
			echo "BPF ${file%.c}.o"
			echo "SKEL ${file%.bpf.c}.skel.h"
		done
		echo LINK bench
	)
}

@test "a build elsewhere leaves nothing in the tree, and works" {
	(cd "$SRC" && find . -type f | sort) | diff "$BATS_FILE_TMPDIR/tree" -
	BENCH=$OBJ/bench
	bench -w0 -d1 -q rb-custom
	exits 0
}

@test "a second make does nothing" {
	find "$OBJ" -type f -printf '%p %T@\n' | sort >"$BATS_TEST_TMPDIR/before"
	builds </dev/null
	find "$OBJ" -type f -printf '%p %T@\n' | sort | diff "$BATS_TEST_TMPDIR/before" -
}

@test "touching a source builds it anew, and nothing else" {
	touch "$SRC/lib/num.c"
	builds <<<$'CC lib/num.o\nLINK bench'
}

@test "touching a header builds anew what uses it, and nothing else" {
	touch "$SRC/lib/bpf/ringbuf.h"
	{
		users_of lib/bpf/ringbuf.h
		echo LINK bench
	} >"$BATS_TEST_TMPDIR/users"
	(($(wc -l <"$BATS_TEST_TMPDIR/users") >= 3))
	builds <"$BATS_TEST_TMPDIR/users"
}

@test "touching a BPF source builds it, its skeleton and who uses that, and nothing else" {
	touch "$SRC/progs/perfbuf.bpf.c"
	builds <<'END'
BPF progs/perfbuf.bpf.o
SKEL progs/perfbuf.skel.h
CC benchs/bench_perfbuf.o
LINK bench
END
}

@test "touching a header of both sides builds both anew" {
	touch "$SRC/progs/bloom.h"
	mk >"$BATS_TEST_TMPDIR/log" 2>&1
	grep -q '^  BPF .*progs/bloom.bpf.o$' "$BATS_TEST_TMPDIR/log"
	grep -q '^  CC .*benchs/bench_bloom.o$' "$BATS_TEST_TMPDIR/log"
	run -1 grep -v -e bloom -e '^  LINK' "$BATS_TEST_TMPDIR/log"
}

@test "V=1 shows the commands" {
	touch "$SRC/lib/num.c"
	mk V=1 >"$BATS_TEST_TMPDIR/log" 2>&1
	grep -qE '^[^ ]+ .* -c -o [^ ]*lib/num\.o lib/num\.c' "$BATS_TEST_TMPDIR/log"
	run -1 grep -E '^  (CC|LINK)' "$BATS_TEST_TMPDIR/log"
}

@test "a header that is gone does not stop the build" {
	echo '/* SPDX-License-Identifier: GPL-2.0 */' >"$SRC/lib/short_lived.h"
	cp "$SRC/lib/num.c" "$BATS_TEST_TMPDIR/num.c"
	sed -i '1a #include "lib/short_lived.h"' "$SRC/lib/num.c"
	mk
	rm "$SRC/lib/short_lived.h"
	cp "$BATS_TEST_TMPDIR/num.c" "$SRC/lib/num.c"
	builds <<<$'CC lib/num.o\nLINK bench'
}

@test "a bpftool that fails leaves no half of a skeleton" {
	touch "$SRC/progs/perfbuf.bpf.c"
	printf '#!/bin/sh\necho "half of it"\nexit 1\n' >"$BATS_TEST_TMPDIR/bpftool"
	chmod +x "$BATS_TEST_TMPDIR/bpftool"
	run -2 mk BPFTOOL="$BATS_TEST_TMPDIR/bpftool"
	builds <<'END'
SKEL progs/perfbuf.skel.h
CC benchs/bench_perfbuf.o
LINK bench
END
}

@test "a tool that is missing is named, and the way to get it" {
	for tool in CC CLANG; do
		run -2 plain_make O="$BATS_TEST_TMPDIR/o" "$tool=no-such-tool"
		[[ $output == *"'no-such-tool': scripts/install-deps.sh"* ]]
	done
	run -2 plain_make O="$BATS_TEST_TMPDIR/o" BPFTOOL=
	[[ $output == *'no bpftool: scripts/install-deps.sh'* ]]
}

@test "a benchmark whose files are gone is gone" {
	cp "$BATS_TEST_DIRNAME"/../fixtures/bench_xyz.c "$SRC/benchs/"
	cp "$BATS_TEST_DIRNAME"/../fixtures/xyz.bpf.c "$SRC/progs/"
	mk
	"$OBJ/bench" -l | grep -qx -e '- xyz-store'
	rm "$SRC/benchs/bench_xyz.c" "$SRC/progs/xyz.bpf.c"
	mk
	run -1 grep xyz <("$OBJ/bench" -l)
}

@test "make install: the program and its manual page, below DESTDIR and PREFIX" {
	dest=$BATS_TEST_TMPDIR/dest
	mk install DESTDIR="$dest" PREFIX=/opt/b >"$BATS_TEST_TMPDIR/log"
	# completions and scripts: see install.bats
	(cd "$dest" && find . -type f ! -path './opt/b/share/b*' -printf '%m %p\n' | sort) | diff - <(
		echo '644 ./opt/b/share/man/man8/bench.8'
		echo '755 ./opt/b/sbin/bench'
	)
	cmp "$dest/opt/b/sbin/bench" "$OBJ/bench"
	cmp "$dest/opt/b/share/man/man8/bench.8" "$SRC/bench.8"
	mk install DESTDIR="$dest" >/dev/null
	[[ -x $dest/usr/local/sbin/bench ]]
}

@test "STATIC=1: one binary with nothing dynamic, which runs" {
	mk -j2 STATIC=1 >"$BATS_TEST_TMPDIR/log" 2>&1 || {
		cat "$BATS_TEST_TMPDIR/log"
		false
	}
	run ldd "$OBJ/bench-static"
	[[ $output == *'not a dynamic executable'* || $output == *'statically linked'* ]]
	run -1 grep NEEDED <(readelf -d "$OBJ/bench-static")
	BENCH=$OBJ/bench-static
	# also where there is nothing else at all
	mkdir "$BATS_TEST_TMPDIR/root"
	cp "$OBJ/bench-static" "$BATS_TEST_TMPDIR/root/bench"
	run -0 chroot "$BATS_TEST_TMPDIR/root" /bench --version
	[[ $output == bench\ * ]]
	bench -w0 -d1 --interval 250 rb-custom
	exits 0
	bench -w0 -d1 -q pb-libbpf
	exits 0
}

@test "other flags build all C files anew, and no BPF" {
	mk -j2 CFLAGS=-O0 >"$BATS_TEST_TMPDIR/log" 2>&1
	files=("$SRC"/*.c "$SRC"/lib/*.c "$SRC"/lib/*/*.c "$SRC"/benchs/*.c)
	(($(grep -c '^  CC ' "$BATS_TEST_TMPDIR/log") == ${#files[@]}))
	run -1 grep BPF "$BATS_TEST_TMPDIR/log"
	grep -q '^  LINK ' "$BATS_TEST_TMPDIR/log"
}

@test "make clean takes all that make made, and nothing else" {
	mkdir -p "$SRC/build/lib"
	touch "$SRC/build/lib/num.o" "$SRC/bench" "$SRC/bench-static"
	plain_make clean
	(cd "$SRC" && find . -type f | sort) | diff "$BATS_FILE_TMPDIR/tree" -
}

# O may be a folder that was there before, with other things in it
@test "make O=DIR clean leaves what is not of the build" {
	mkdir -p "$OBJ"
	touch "$OBJ/mine" "$SRC/bench"
	mk clean
	[[ -e $OBJ/mine ]]
	# the build in the tree is another one
	[[ -e $SRC/bench ]]
	[[ ! -e $OBJ/bench && ! -e $OBJ/lib ]]
	rm "$SRC/bench"
}

@test "clang builds it too, without a warning" {
	plain_make O="$BATS_TEST_TMPDIR/clang" CC=clang WERROR=1 -j2 all units "$BATS_TEST_TMPDIR/clang/tests/bench_self"
	BENCH=$BATS_TEST_TMPDIR/clang/bench
	bench -w0 -d1 -q rb-custom
	exits 0
	"$BATS_TEST_TMPDIR/clang/tests/unit/test_ringbuf"
}

# The objects in bench are of its own byte order. Other machines make them from the same sources.
@test "BPF objects for other machines" {
	for target in 'bpfeb s390x' 'bpfeb powerpc64' 'bpfel aarch64' 'bpfel riscv64' 'bpfel loongarch64'; do
		read -r endian machine <<<"$target"
		objects=("$SRC"/progs/*.bpf.c)
		objects=("${objects[@]/#$SRC/$BATS_TEST_TMPDIR/$machine}")
		plain_make O="$BATS_TEST_TMPDIR/$machine" WERROR=1 -j2 BPF_TARGET="$endian" \
			TRIPLET="$machine-linux-gnu" "${objects[@]/%.c/.o}"
		for object in "$BATS_TEST_TMPDIR/$machine"/progs/*.bpf.o; do
			elf=$(LC_ALL=C readelf -h "$object")
			case $endian in
			bpfeb) [[ $elf == *'big endian'* ]] ;;
			bpfel) [[ $elf == *'little endian'* ]] ;;
			esac
			[[ $elf == *'Linux BPF'* ]]
		done
	done
}

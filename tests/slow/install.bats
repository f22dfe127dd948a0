#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# What is installed works from there, and builds are the same anywhere.

bats_require_minimum_version 1.5.0

setup_file() {
	for tool in make clang bpftool pkg-config; do
		command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || skip "$tool not found"
	done
	copy_tree "$BATS_FILE_TMPDIR/a"
	plain_make a -j2
}

copy_tree() {
	mkdir -p "$1"
	(cd "$BATS_TEST_DIRNAME/../.." && tar --exclude-vcs --exclude=./build --exclude=./bench --exclude=./bench-static -c .) |
		tar -C "$1" -x
}

# plain_make TREE ARGUMENT...: with nothing of what the make that runs us passes on
plain_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u CPPFLAGS -u CFLAGS -u LDFLAGS -u SANITIZE -u O -u V -u STATIC \
		-u WERROR make -C "$BATS_FILE_TMPDIR/$1" --no-print-directory "${@:2}" 3>&- 4>&-
}

@test "make install builds nothing that is built, and needs no compiler" {
	cd "$BATS_FILE_TMPDIR/a"
	find . -path ./build -o -name bench -printf '%p %T@\n' >../before
	find build -type f -printf '%p %T@\n' | sort >>../before
	run -0 plain_make a install DESTDIR="$BATS_TEST_TMPDIR/dest" CC=none CLANG=none BPFTOOL= CFLAGS=-O0
	run -1 grep -E '^  (CC|BPF|SKEL|LINK) ' <<<"$output"
	find . -path ./build -o -name bench -printf '%p %T@\n' >../after
	find build -type f -printf '%p %T@\n' | sort >>../after
	diff ../before ../after
}

@test "PREFIX and DESTDIR: everything is in place, works from there, and goes again" {
	dest=$BATS_TEST_TMPDIR/dest
	plain_make a install DESTDIR="$dest" PREFIX=/opt/b >/dev/null
	cd "$dest/opt/b"
	[ "$(stat -c %a sbin/bench)" = 755 ]
	for file in share/man/man8/bench.8 share/bash-completion/completions/bench share/bench/scripts/plot.jq; do
		[ "$(stat -c %a "$file")" = 644 ]
	done
	bash --norc -c '. share/bash-completion/completions/bench; complete -p bench' | grep -q _bench
	[ "$(find "$dest" -type f ! -path '*/opt/b/*' | wc -l)" -eq 0 ]
	# each script explains itself, and finds what it needs
	for script in share/bench/scripts/*.sh share/bench/benchs/run_bench_*.sh; do
		[[ ! -x $script ]] || "$script" --help >/dev/null
	done
	# jq's modules are named without a folder
	cat share/bench/scripts/*.sh share/bench/benchs/*.sh >all
	while IFS= read -r file; do
		[[ $file == *bench || -e share/bench/$file ]]
	done < <(sed -nE -e 's|.*include \\"([a-z]+)\\".*|scripts/\1.jq|p' -e 's|.*[$]top/([a-z_./-]+).*|\1|p' all | sort -u)
	rm all
	# The program beside them, and no other: that of the tree is gone
	mv "$BATS_FILE_TMPDIR/a/bench" "$BATS_FILE_TMPDIR/a/bench.off"
	cd "$BATS_TEST_TMPDIR"
	"$dest/opt/b/sbin/bench" -q -w0 -d1 -r4 -o a.jsonl count-local >/dev/null
	cp a.jsonl b.jsonl
	status=0
	env -u BENCH PATH=/usr/bin:/bin "$dest/opt/b/share/bench/scripts/cover-letter.sh" a.jsonl b.jsonl >letter || status=$?
	env -u BENCH PATH=/usr/bin:/bin "$dest/opt/b/share/bench/scripts/report.sh" -o r.html a.jsonl b.jsonl || status=$?
	env -u BENCH "$dest/opt/b/share/bench/scripts/export.sh" lava b.jsonl >signals || status=$?
	env -u BENCH "$dest/opt/b/share/bench/benchs/run_bench_bpf_loop.sh" --dry-run >sweep || status=$?
	mv "$BATS_FILE_TMPDIR/a/bench.off" "$BATS_FILE_TMPDIR/a/bench"
	[ "$status" -eq 0 ]
	grep -q count-local letter
	grep -q count-local r.html
	grep -q "$dest/opt/b/sbin/bench" sweep
	# what others have put there stays
	touch "$dest/opt/b/share/bench/scripts/mine"
	plain_make a uninstall DESTDIR="$dest" PREFIX=/opt/b >/dev/null
	[ "$(cd "$dest" && find . -type f)" = ./opt/b/share/bench/scripts/mine ]
	rm "$dest/opt/b/share/bench/scripts/mine"
	plain_make a uninstall DESTDIR="$dest" PREFIX=/opt/b >/dev/null
	[ ! -e "$dest/opt/b/share/bench" ]
}

# uninstall deleted what the first word of it named
@test "a DESTDIR and a PREFIX with blanks and quotes" {
	dest="$BATS_TEST_TMPDIR/it's my  dest"
	touch "$BATS_TEST_TMPDIR/it's"
	plain_make a install DESTDIR="$dest" PREFIX='/opt/x y' >/dev/null
	"$dest/opt/x y/sbin/bench" --version
	[ -x "$dest/opt/x y/share/bench/scripts/ab.sh" ]
	[ "$(ls "$BATS_TEST_TMPDIR")" = $'it\'s\nit\'s my  dest' ]
	plain_make a uninstall DESTDIR="$dest" PREFIX='/opt/x y' >/dev/null
	[ -z "$(find "$dest" -type f)" ]
	[ ! -e "$dest/opt/x y/share/bench" ]
	[ -e "$BATS_TEST_TMPDIR/it's" ]
}

# In a path with blanks, too
@test "two builds in two folders are equal to the byte, and name neither" {
	copy_tree "$BATS_FILE_TMPDIR/another/it's a  folder"
	plain_make "another/it's a  folder" -j2 O="$BATS_FILE_TMPDIR/elsewhere" >/dev/null
	cmp "$BATS_FILE_TMPDIR/a/bench" "$BATS_FILE_TMPDIR/elsewhere/bench"
	for object in "$BATS_FILE_TMPDIR"/a/build/progs/*.bpf.o; do
		cmp "$object" "$BATS_FILE_TMPDIR/elsewhere/progs/${object##*/}"
	done
	run -1 grep -c "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/elsewhere/bench" "$BATS_FILE_TMPDIR/a/bench"
	rm -rf "$BATS_FILE_TMPDIR/another" "$BATS_FILE_TMPDIR/elsewhere"
}

@test "CPPFLAGS, CFLAGS and LDFLAGS are honored" {
	run -0 plain_make a -n V=1 CPPFLAGS=-DBY_CPPFLAGS CFLAGS=-DBY_CFLAGS LDFLAGS=-Wl,-z,now build/lib/num.o bench
	[[ $output == *-DBY_CPPFLAGS*lib/num.c* && $output == *-DBY_CFLAGS*lib/num.c* ]]
	[[ $output == *-Wl,-z,now*'-o bench '* ]]
}

@test "the Debian package: built, no error from lintian" {
	for tool in dh lintian; do
		command -v "$tool" >/dev/null || skip "$tool not found"
	done
	run -0 env DEBEMAIL='Some One <some.one@debian.org>' make -C "$BATS_FILE_TMPDIR/a" --no-print-directory deb
	echo "$output"
	deb=$(ls "$BATS_FILE_TMPDIR"/a/build/deb/bpf-bench_*.deb)
	run -0 lintian --allow-root --fail-on error "$deb"
	dpkg-deb -x "$deb" "$BATS_TEST_TMPDIR/x"
	"$BATS_TEST_TMPDIR/x/usr/sbin/bench" --version
	# hardened: position independent, read-only relocations, bound at start
	readelf -hldW "$BATS_TEST_TMPDIR/x/usr/sbin/bench" >"$BATS_TEST_TMPDIR/elf"
	grep -q 'Type:.*DYN' "$BATS_TEST_TMPDIR/elf"
	grep -q GNU_RELRO "$BATS_TEST_TMPDIR/elf"
	grep -qE 'BIND_NOW|FLAGS_1.*NOW' "$BATS_TEST_TMPDIR/elf"
}

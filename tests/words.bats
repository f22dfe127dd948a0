#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Phrases that must not come back: in messages, help, documents and comments the terms are those of
# kernel developers.

bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_DIRNAME/.." || return
}

# Extended regular expressions, each with what to write in its place
phrases() {
	cat <<'END'
\bhang(s|ing)? on\b|\bhung on\b	attached to (a hang is a lockup)
\bit takes (Linux|CONFIG|CAP_|BTF|another|a newer)	requires ...
\b(takes?|use) another (kernel|one)\b	the reason, or nothing
\brecords a (trigger|wake-up|batch)\b|\ba wake-up of the consumer\b	records per trigger
\bmillions? a second\b|\bobjects? a (line|run)\b	millions per second, one per line
\bmeans? nothing to\b	has no effect on
\bis not allowed: |'s? is not allowed\b	invalid value 'x': expected ...
\bkernel has not\b|\bor has off\b|\bhas off\b	lacks or has disabled
\bdenies to have\b|\bdenies an entry\b	does not find (returns ENOENT for)
\b(is|are) told\b	is reported, is printed
\ba note says so\b	a note is printed
\bof our own\b|\bfor nobody but\b|\bwho waits\b	its own; only for
\bkernel's (own )?(older )?runners?\b|\brunner in the selftests\b	the kernel selftests' bench
\bhypervisor took away\b	3 % steal time: the hypervisor ran something else
\bthey wait for each other\b	they preempt each other
\bmoods?\b|\btrig_way\b|\bown_runs\.by\b	what it is, in the field's word
\binstructions an operation\b|\bon ours unchanged\b|\bruns? unchanged\b	per operation; runs unmodified
\bright value as a test\b	add a regression test
\bwith what holds here\b|\ba house in rooms\b|\brooms with\b	code in subdirectories
\bSays (no|so|which)\b|\b[Ss]ays no by\b	Returns 0, or -errno
END
}

# None of them is in the files $@
none_in() {
	local phrase better found=0 searched=0
	searched=$(find "$@" -type f ! -name words.bats ! -path '*/corpus/*' | wc -l)
	((searched)) || {
		echo "no files: $*"
		return 1
	}
	while IFS=$'\t' read -r phrase better; do
		! grep -rnE --exclude=words.bats --exclude-dir=corpus -e "$phrase" "$@" || {
			echo "  better: $better"
			found=$((found + 1))
		}
	done < <(phrases)
	((!found))
}

@test "each phrase is found where it is" {
	phrases >"$BATS_TEST_TMPDIR/phrases"
	(($(wc -l <"$BATS_TEST_TMPDIR/phrases") > 15))
	for words in 'a program that hangs on a system call' 'it takes Linux 5.8 or newer' \
		"'x' is not allowed: it takes 1" '-c 8 means nothing to x' "the kernel's own runner"; do
		echo "$words" >"$BATS_TEST_TMPDIR/words"
		run none_in "$BATS_TEST_TMPDIR/words"
		[ "$status" -eq 1 ]
	done
	echo 'attached to a system call; requires Linux 5.8 or newer' >"$BATS_TEST_TMPDIR/words"
	none_in "$BATS_TEST_TMPDIR/words"
}

@test "none is in messages, help and comments" {
	none_in bench.[ch] lib benchs progs
}

@test "none is in scripts and the build" {
	none_in scripts Makefile .ci
}

@test "none is in tests" {
	none_in tests
}

@test "none is in the documents" {
	none_in README.md bench.8 docs record.schema.json
}

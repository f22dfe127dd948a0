#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/matrix.sh: the README's table of what runs where.

MATRIX=$(realpath "$BATS_TEST_DIRNAME/../../scripts/matrix.sh")

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\t%s\t%s\t%s\n' \
		6.1 a-one available - \
		6.1 a-two unavailable 'no such thing' \
		6.1 a-three available - \
		6.1 b-one unavailable 'no such thing' \
		6.1 b-two unavailable 'another reason' >old
	printf '%s\t%s\t%s\t%s\n' \
		6.18 a-one available - \
		6.18 a-two available - \
		6.18 a-three available - \
		6.18 b-one available - \
		6.18 c available - >new
	cat >expected <<-'TABLE'
		| benchmark | 6.1 | newer |
		| --- | --- | --- |
		| a-one, a-three | ✓ | ✓ |
		| a-two | – (1) | ✓ |
		| b-one | – (1) | ✓ |
		| b-two | – (2) |   |
		| c |   | ✓ |

		1. no such thing
		2. another reason
	TABLE
}

@test "a row for those of a family that go alike, each reason once" {
	"$MATRIX" old newer=new >out
	diff -u expected out
}

@test "a benchmark that failed is shown, and makes it fail" {
	printf '6.18\td\tfailed\t-\n' >>new
	run "$MATRIX" old new
	[[ $status == 1 ]]
	[[ $output == *'| d |   | failed |'* ]]
	[[ $output == *'matrix: a benchmark failed'* ]]
}

@test "--update puts it between its marks, and touches nothing else" {
	printf '%s\n' top '<!-- matrix: begin -->' 'what was' 'there' '<!-- matrix: end -->' end >readme
	chmod 640 readme
	"$MATRIX" --update readme old newer=new
	{
		printf '%s\n' top '<!-- matrix: begin -->'
		cat expected
		printf '%s\n' '<!-- matrix: end -->' end
	} | diff -u - readme
	[[ $(stat -c %a readme) == 640 ]]
	# Again: the same
	cp readme before
	"$MATRIX" --update readme old newer=new
	diff -u before readme
	[[ $(ls readme*) == readme ]]
}

@test "--update of a file without marks is refused, and leaves it alone" {
	echo text >readme
	run "$MATRIX" --update readme old
	[[ $status == 1 && $output == *"no place for it"* ]]
	[[ $(cat readme) == text ]]
}

@test "no results: 64" {
	run "$MATRIX"
	[[ $status == 64 && $output == *Usage:* ]]
	run "$MATRIX" nowhere
	[[ $status == 64 && $output == "matrix: there are no results in 'nowhere'" ]]
}

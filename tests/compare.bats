#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# bench -C: what a user sees of a comparison; the arithmetic is in tests/unit/test_compare.c and
# test_utest.c. Needs no root: the files are made up here.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr and output, for each test
# shellcheck disable=SC2016 # $i is a variable of jq

bats_require_minimum_version 1.5.0

BENCH=$(realpath -- "${BENCH:-./bench}")

# records BENCHMARK RUNS MEAN [JQ]: that many records on standard output, evenly from 3.5 % below the
# mean to 3.5 % above it; JQ alters each of them
records() {
	jq -cn --arg bench "$1" --argjson n "$2" --argjson mean "$3" "
		range(\$n) as \$i | {
			schema: 1, bench: \$bench, argv: [\"bench\", \$bench], params: {\"rb-b2b\": false},
			config: {producers: 1, consumers: 0, warmup_s: 1, duration_s: 5,
				interval_ms: 1000, prod_cpus: null, cons_cpus: null, attach: \"tp\"},
			env: {time: \"2026-11-30T11:37:01+00:00\", host: \"vm\", kernel_release: \"6.18\"},
			noise: null, samples: [],
			summary: {report: \"hits_drops\", unit: \"M/s\",
				mean: (\$mean * (0.965 + 0.07 * \$i / ([\$n - 1, 1] | max)))},
			conservation: null, status: \"ok\"
		} | ${4:-.}"
}

# No line of $output is wider than 75 columns, whatever the locale of the tests
check_width() {
	local widest
	widest=$(iconv -f UTF-8 -t UTF-32LE <<<"$output" | od -An -v -tu4 -w4 |
		awk '$1 == 10 { n = 0; next } { n++ } n > max { max = n } END { print max }')
	echo "widest line: $widest"
	((widest <= 75))
}

# compare_exit STATUS ARGUMENT...: bench with these ends so, with one line on standard error
compare_exit() {
	local want=$1
	shift
	run --separate-stderr "$BENCH" "$@"
	echo "status $status, wanted $want; output: $output; stderr: $stderr"
	[ "$status" -eq "$want" ]
	[ "$want" -eq 0 ] || [ "$(wc -l <<<"$stderr")" -eq 1 ]
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "the table" {
	{ records rb-custom 8 100; records rb-libbpf 8 100; records rb-custom 1 1 '.status = "failed"'; } >base
	{ records rb-custom 8 125; records rb-libbpf 8 100; } >new
	compare_exit 0 -C base new
	[ -z "$stderr" ]
	# The answer is what a mail needs, to the byte.
	diff - <(echo "$output") <<-'END'
		base: base, 16 runs, 1 left out (1 failed)
		new:  new, 16 runs
		all:  rb-b2b=false, producers=1, consumers=0, warmup_s=1, duration_s=5,
		      interval_ms=1000, attach=tp

		                         base           new         change       p
		rb-custom               100.0         125.0         +25.0%  0.0002
		  8+8 runs, M/s  96.50..103.5  120.6..129.4  +21.3..+28.8%  faster
		rb-libbpf               100.0         100.0          0.00%  1.0000
		  8+8 runs, M/s  96.50..103.5  96.50..103.5  -2.93..+3.02%       ~

		Medians over runs and, below, their 95 % intervals. Change: Hodges-Lehmann
		estimate of the ratio, with its 95 % interval. p: two-sided Mann-Whitney U
		test, exact. ~: no difference shown.
		For a verdict among 2 rows p has to be below 0.025, so that of the verdicts
		no more than 5 % are to be expected by chance (Benjamini-Hochberg).
	END
}

@test "a file with itself shows '~' on every row" {
	{ records a 4 100; records b 5 3.7; records c 8 0.01; records d 9 1e6; records e 20 2 '.summary.unit = "%"'; } >base
	compare_exit 0 -C base base --fail-on-slower 0
	[ "$(grep -c ' ~$' <<<"$output")" -eq 5 ]
	[ "$(grep -c ' 0.00%  1.0000$' <<<"$output")" -eq 5 ]
	run ! grep -E 'faster|slower|better|worse|few|Environments' <<<"$output"
}

@test "no line is wider than 75 columns" {
	local long=a-benchmark-with-a-name-that-nobody-would-have-thought-of-at-all-but-here-it-is

	{
		records rb-custom 8 100 '.params.path = "/usr/lib/±/" + ("x" * 100) + ($i | tostring)'
		records "$long" 12 0.000123 '.config.producers = 64'
		records "$long" 300 1e9 '.env.mitigations = "a: b; " * 80'
		records "only-in-base-$long" 2 1
	} >base
	{
		records rb-custom 8 1 '.params.path = "/usr/lib/±/" + ("x" * 100) + ($i | tostring)'
		records "$long" 12 123456 '.config.producers = 64'
		records "$long" 300 1e-3 '.env.mitigations = "a: b; " * 60 + "c: d"'
		records "only-in-new-$long" 2 1
	} >new
	compare_exit 0 -C base new
	check_width
	[[ $output == *"300+300 runs, M/s"* ]]
	compare_exit 0 -C base new --match config
	check_width
	# Paths are what users choose.
	mkdir -p "$long/$long"
	cp base "$long/$long/base"
	compare_exit 0 -C "$long/$long/base" new
	check_width
}

@test "what differs between the machines is reported, the time is not" {
	records a 8 100 >base
	records a 8 100 '.env |= (.kernel_release = "6.19" | .time = "later" | .governor = "powersave")' >new
	compare_exit 0 -C base new
	[[ $output == *$'\nEnvironments differ (base -> new):\n  kernel_release: 6.18 -> 6.19\n  governor: absent -> powersave\n\n'* ]]
	[[ $output != *later* ]]
}

# schema_2 [JQ]: records on standard input as the next version would have written them, with an option
# that is new
schema_2() {
	jq -c ".schema = 2 | .summary.figure = \"hits\" | .figures = {
			drops: {unit: \"M/s\", kind: \"rate\", better: \"lower\", mean: 0},
			hits: (.summary | {unit, mean, kind: \"rate\", better: \"higher\"})
		} | .defaults = .params | .params.new = 5 | .defaults.new = 5 | ${1:-.}"
}

@test "records of schema 1 and of schema 2" {
	records rb-custom 8 100 >base
	records rb-custom 8 125 | schema_2 >new
	compare_exit 0 -C base new
	[[ $output == *$'\nnote: ignored, since some runs lack it and others have its default: new=5\n'* ]]
	[[ $output == *$'\nrb-custom  '*$' faster\n'* ]]
	compare_exit 0 -C new base
	[[ $output == *$'\nrb-custom  '*$' slower\n'* ]]
	# not with another value than the default
	records rb-custom 8 125 | schema_2 '.params.new = 6' >new
	compare_exit 1 -C base new
	[ "$stderr" = "bench: nothing to compare: no row of base is in new (new: absent -> 6; see --match)" ]
	records rb-custom 8 125 | schema_2 '.figures.hits.kind = "speed"' >new
	bad_file ':1: a record whose figure "hits" has a "kind" other than "rate", "gauge", "ratio" or "time"'
}

@test "--match holds two option sets, or two benchmarks, against each other" {
	{ records rb-custom 8 100; } >base
	{ records rb-custom 8 130 '.params["rb-b2b"] = true'; } >new
	compare_exit 1 -C base new
	[[ $output == *"Nothing to compare: no row is on both sides."* ]]
	[[ $output == *$'(see --match):\n  rb-b2b: false -> true' ]]
	[ "$stderr" = "bench: nothing to compare: no row of base is in new (rb-b2b: false -> true; see --match)" ]
	compare_exit 0 -C base new --match bench,config
	[[ $output == *$'\nrb-custom rb-b2b=false->true'*'+30.0%  0.0002'* ]]

	records rb-libbpf 8 130 >new
	compare_exit 0 -C base new --match params,config
	[[ $output == *$'\nrb-custom->rb-libbpf '*'+30.0%  0.0002'* ]]
	compare_exit 0 -C base new --match config.producers,params.rb-b2b
	[[ $output == *$'\nrb-custom->rb-libbpf '*'+30.0%  0.0002'* ]]
}

@test "--match refuses what is no field" {
	local fields
	records rb-custom 8 100 >base
	for fields in '' 'bench,' foo params. env summary.mean; do
		compare_exit 64 -C base base --match "$fields"
		[[ $stderr == "bench: --match: "*" a comma list "* ]]
		[ -z "$output" ]
	done
	compare_exit 64 -C base base --match bench,config.producer
	[ "$stderr" = "bench: --match: no record has a field 'config.producer'" ]
}

@test "--markdown is a table as GitHub reads it" {
	{ records a 8 100; records 'x|y' 3 1; } >base
	{ records a 8 80; records 'x|y' 3 1; } >new
	compare_exit 0 -C base new --markdown
	diff - <(grep '^|' <<<"$output") <<-'END'
		|  | unit | runs | base | new | change | p | verdict |
		| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
		| a | M/s | 8+8 | 100.0 (96.50..103.5) | 80.00 (77.20..82.80) | -20.0% (-22.3..-17.6%) | 0.0002 | slower |
		| x\|y | M/s | 3+3 | 1.000 (-) | 1.000 (-) | 0.00% (-) | - | too few runs |
	END
}

# They are what a program wrote into a file, and a terminal obeys them
@test "no control character of a record is printed" {
	local evil='"x\u001b[2J\u009b1m\r\n"' format
	records a 4 100 ".summary.unit = $evil | .params.p = $evil + (\$i | tostring) | .env.host = $evil" >base
	records a 4 100 ".summary.unit = $evil | .params.p = $evil + (\$i | tostring)" >new
	for format in '' --markdown; do
		# shellcheck disable=SC2086
		compare_exit 0 -C base new --match bench $format
		[[ $output == *'?'*'[2J?1m'* ]]
		run ! grep -P '[\x00-\x1f\x7f]|\xc2[\x80-\x9f]' <<<"$output"
	done
}

@test "--csv has all digits, and a header" {
	{ records a 8 100; records 'x,"y"' 3 1; } >base
	{ records a 8 80; records 'x,"y"' 3 1; records only 1 1; } >new
	"$BENCH" -C base new --csv >out
	# RFC 4180: each line ends with CR LF
	[ "$(grep -c $'\r$' out)" -eq "$(wc -l <out)" ]
	[ "$(wc -l <out)" -eq 4 ]
	# jq as a second opinion on the change: (80 - 100) / 100, as exactly as doubles have it
	IFS=, read -r -a head < <(tr -d '\r' <out)
	IFS=, read -r -a row < <(sed -n 2p out | tr -d '\r')
	[ "${#head[@]}" -eq "${#row[@]}" ]
	for i in "${!head[@]}"; do
		printf '%s = %s\n' "${head[i]}" "${row[i]}"
	done | tee fields
	grep -x 'row = a' fields
	grep -x 'verdict = slower' fields
	grep -x 'base_runs = 8' fields
	grep -x 'p_method = exact' fields
	grep -x 'figure = hits' fields
	grep -x 'file = new' fields
	grep -x 'bench = a' fields
	jq -en "$(sed -n 's/^change_pct = //p' fields) + 20 | fabs < 1e-12"
	jq -en "$(sed -n 's/^p = //p' fields) - 2 / 12870 | fabs < 1e-17"
	sed -n 3p out | grep -F '"x,""y""",M/s,too few runs,3,3,'
	sed -n 4p out | grep -F 'only,M/s,one side only,0,1,'
}

@test "--markdown and --csv contradict each other" {
	records a 8 100 >base
	compare_exit 64 -C base base --csv --markdown
	[ -z "$output" ]
	# one line, also where there is more to say
	compare_exit 64 -C base --csv --markdown
	[ -z "$output" ]
}

@test "--fail-on-slower makes git bisect run work" {
	{ records a 8 100; records b 8 100; } >base
	{ records a 8 100; records b 8 90; } >new
	run --separate-stderr "$BENCH" -C base new --fail-on-slower 5
	[ "$status" -eq 1 ]
	[ -z "$stderr" ]
	[[ $output == *slower* ]]
	compare_exit 0 -C base new --fail-on-slower 11
	compare_exit 0 -C base new
	# The other way round it is faster.
	compare_exit 0 -C new base --fail-on-slower 0
	[[ $output == *faster* ]]
}

# 125 is what git bisect run skips
@test "--fail-on-slower exits with 125 where nothing can be judged" {
	records a 3 100 >base
	records a 3 10 >new
	compare_exit 125 -C base new --fail-on-slower 5
	[ "$stderr" = "bench: --fail-on-slower: a common row cannot be judged: a verdict requires 4 runs on each side, with one figure in one unit" ]
	[[ $output == *"too few runs"* ]]
	records other 8 10 >new
	compare_exit 125 -C base new --fail-on-slower 5
	[[ $stderr == "bench: nothing to compare: "* ]]
}

@test "arguments: two files or more" {
	records a 4 100 >base
	compare_exit 64 -C base
	[[ $stderr == "bench: -C, --compare: "* ]]
	run "$BENCH" -C
	[ "$status" -eq 64 ]
	compare_exit 0 -C base base base
	[[ $output == *'file 2'*'file 3'* ]]
	compare_exit 64 -C base base --fail-on-slower x
	compare_exit 64 -C base base --fail-on-slower -1
}

# bad_file WANT: new, as it is, leads to that message, and nothing is printed
bad_file() {
	compare_exit 1 -C base new
	[ -z "$output" ]
	# shellcheck disable=SC2053 # a pattern
	[[ $stderr == "bench: new"$1 ]]
	# The same for the other side
	compare_exit 1 -C new base
	# shellcheck disable=SC2053
	[[ $stderr == "bench: new"$1 ]]
}

@test "files that are missing, empty or no files" {
	records a 4 100 >base
	bad_file ': cannot open it: No such file or directory'
	: >new
	bad_file ': there is no record in it'
	printf '\n\n' >new
	bad_file ': there is no record in it'
	rm new
	mkdir new
	bad_file ': cannot read it: Is a directory'
}

@test "broken and foreign files are reported by line" {
	records a 4 100 >base
	{ cat base; head -c 100 base; } >new
	bad_file ':5: the file ends in the middle of a record'
	{ cat base; head -c 100 base; echo; cat base; } >new
	bad_file ':5: not JSON (column *)'
	printf '\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR' >new
	bad_file ':1: not JSON (column *)'
	printf 'nr\tmean\n1\t2\n' >new
	bad_file ':1: not JSON (column *)'
	{ echo; echo '{"a": 1}'; } >new
	bad_file ':2: JSON, but no record of bench (it has no "schema")'
	jq -c '.schema = 3' base >new
	bad_file ':1: a record of schema 3, but this bench reads schemas 1 and 2'
	{ cat base; jq -c 'del(.summary)' base; } >new
	bad_file ':5: a record with no "summary" though its status is "ok"'
	sed '3s/"mean":[0-9.]*/"mean":NaN/' base >new
	bad_file ':3: not JSON (column *)'
	sed '3s/"mean":[0-9.]*/"mean":1e400/' base >new
	bad_file ':3: not JSON (column *)'
	sed '2s/"mean":/"mean":-/' base >new
	bad_file ':2: a record with a negative "mean" in "summary"'
	sed '4s/"status":"ok"/"status":"fine"/' base >new
	bad_file ':4: a record whose "status" is none of "ok", "interrupted", "paused" and "failed"'
	head -c 10000000 /dev/zero | tr '\0' x >new
	bad_file ':1: not JSON (column *)'
	[[ $stderr != *[^[:print:]]* ]]
}

@test "a missing line break at the end, and empty lines, are fine" {
	records a 4 100 >base
	{ echo; cat base; echo; } | head -c -2 >new
	[ "$(tail -c1 new)" = '}' ]
	compare_exit 0 -C base new
	[[ $output == *'4+4 runs, M/s'* ]]
}

@test "output that cannot be written is an error" {
	records a 4 100 >base
	run bash -c '"$1" -C base base 2>&1 >/dev/full' -- "$BENCH"
	[ "$status" -eq 1 ]
	[[ $output == "bench: cannot write the comparison: No space left on device"* ]]
}

@test "a comparison takes no privileges" {
	records a 4 100 >base
	chmod a+rx . base
	[ "$(id -u)" -eq 0 ] || skip "not root, so that all tests here are this one"
	# The binary may be where only root can go.
	cp "$BENCH" ./bench
	run setpriv --reuid 65534 --clear-groups ./bench -C base base
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *'4+4 runs, M/s'* ]]
}

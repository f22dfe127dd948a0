#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# The report of several kernels, as a browser shows it, and charts along kernels.
# shellcheck disable=SC2154 # bats sets stderr

load ../helpers

SCRIPTS=$(realpath -- scripts)

# Not by cd: the tests load the helpers again, from where this one leaves them
setup_file() {
	local dir=$BATS_FILE_TMPDIR
	records 6.1.0-28-amd64 1 >"$dir/6.1.jsonl"
	records 6.12.9 1.02 >"$dir/6.12.jsonl"
	records '6.18.2<b>&"x"' 1.3 >"$dir/6.18.jsonl"
	records 7.3.0-rc2 0.6 >"$dir/7.3.jsonl"
	(cd "$dir" && "$SCRIPTS/report.sh" --bench "$BENCH" -o r.html 6.1.jsonl 6.12.jsonl 6.18.jsonl 7.3.jsonl)
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# records KERNEL FACTOR: 8 runs of a few benchmarks
records() {
	"$BENCH" --show-tables | jq -c --arg kernel "$1" --argjson factor "$2" '
		.families[].benchmarks[] | select(.name | IN("rb-custom", "rb-libbpf", "count-local", "bpf-loop",
			"bloom-false-positive", "trig-tp", "trig-rawtp", "trig-uprobe-nop", "trig-uretprobe-nop",
			"trig-usdt-nop", "trig-uprobe-push", "trig-uprobe-ret", "trig-kernel-count")) | . as $b
		| range(8) as $run | .figures[0] as $f | ((3 + ($b.name | length)) * $factor * (1 + $run / 100)) as $mean
		| { schema: 2, bench: $b.name, argv: ["bench", "--all"], params: {}, defaults: {},
			config: { producers: 1, consumers: 0, warmup_s: 0, duration_s: 1, interval_ms: 1000,
				prod_cpus: null, cons_cpus: null, attach: null },
			env: { time: "2026-11-30T09:08:0\($run)+00:00", host: "vm", kernel_release: $kernel,
				kernel_version: "#1 SMP", machine: "x86_64", cpu_model: "A CPU", cpus_online: 2,
				smt: "on", governor: "performance", jit: "1", virtualization: "none",
				mitigations: (if $factor > 1.2 then "none" else "all of them" end), libbpf: "v1.1", bench: "0.1" },
			notes: [], noise: null, samples: [{ t_ns: 0, dt_ns: 1000000000 }],
			figures: { ($f.name): { unit: $f.unit, kind: $f.kind, better: $f.better, mean: $mean } },
			summary: { figure: $f.name, report: $b.report, unit: $f.unit, mean: $mean,
				ci95_low: null, ci95_high: null, n: 1 },
			conservation: null, status: "ok" }'
}

# browse OPTION...: r.html, or the page that is named last, in a browser without a screen
browse() {
	command -v chromium >/dev/null || skip 'chromium not found'
	timeout 300 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$BATS_TEST_TMPDIR/profile" --enable-logging=stderr --v=0 "$@" 2>browser.err 3>&- 4>&-
}

@test "one file that stands alone" {
	[[ $(head -n1 r.html) == '<!DOCTYPE html>' ]]
	# nothing from elsewhere, no script
	run -1 grep -nE '<script|<link[^>]*href="[^d]|@import|url\((https?:)?//| (src|href)=["'\'']?https?:' r.html
	# what a record says is text
	grep -qF '6.18.2&lt;b&gt;&amp;&quot;x&quot;' r.html
	run -1 grep -F '6.18.2<b>' r.html
	# identifiers are unique, and tables and charts have names
	[[ -z $(grep -oE ' id=["'\''][^"'\'']+' r.html | sort | uniq -d) ]]
	(($(grep -c '<table' r.html) == $(grep -c '<caption' r.html)))
	(($(grep -c '<svg role="img"' r.html) == $(grep -c '<figure class="chart">' r.html)))
	(($(grep -c '^<title>' r.html) == 1 + $(grep -c '<svg role="img"' r.html)))
}

@test "its table is that of bench -C --csv" {
	"$BENCH" -C 6.1.jsonl 6.12.jsonl 6.18.jsonl 7.3.jsonl --csv >csv
	# row, base, then median, change and verdict of each file
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["row"] != last { if (last) print line; last = $at["row"]; line = last " " $at["base_median"] }
		{ line = line " " $at["new_median"] " " $at["change_pct"] " " $at["verdict"] }
		END { print line }' csv | sort >expected
	(($(wc -l <expected) == 13))
	browse --dump-dom "file://$PWD/r.html" >dom
	python3 - >shown <<-'END'
		import re
		table = re.search(r'<table id="comparison">.*?</table>', open("dom").read(), re.S).group()
		for row in re.findall(r"<tr>(.*?)</tr>", table, re.S)[1:]:
		    row = re.sub(r'<span class="range">.*?</span>', "", row)
		    cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)
		    value = lambda c: (re.search(r'value="([^"]*)"', c) or re.match("()", c)).group(1)
		    out = [cells[0], value(cells[2])]
		    for i in range(3, len(cells), 3):
		        verdict = cells[i + 2].replace("no difference shown", "~")
		        out += [value(cells[i]), value(cells[i + 1]), verdict]
		    print(*out)
	END
	sort shown | diff expected -
	# what is shown of a number is that number
	python3 - <<-'END'
		import re
		for value, text in re.findall(r'<data value="([^"]+)">([^<]+)</data>', open("dom").read()):
		    shown = float(text.replace(" %", ""))
		    assert abs(shown - float(value)) <= 0.06 * max(1, abs(float(value)) / 100), (value, text)
	END
}

# Wide and narrow, in light and dark, and printed: no error on the console, no page wider than the
# window, text that stands out from its background
@test "a browser shows it: wide, narrow, dark, printed" {
	sed 's|</body>|<pre id="probe"></pre><script>(function () {\
		var lum = function (c) { c = c.match(/[0-9.]+/g).slice(0, 3).map(function (v) { v /= 255;\
			return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });\
			return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };\
		var back = lum(getComputedStyle(document.body).backgroundColor), least = 99;\
		document.querySelectorAll("p, th, td, a, h1, summary, .better, .worse").forEach(function (e) {\
			var l = lum(getComputedStyle(e).color);\
			least = Math.min(least, (Math.max(l, back) + 0.05) / (Math.min(l, back) + 0.05)); });\
		document.getElementById("probe").textContent = ["window", innerWidth, "page",\
			document.documentElement.scrollWidth, "contrast", least.toFixed(2), "dark",\
			matchMedia("(prefers-color-scheme: dark)").matches].join(" "); })()</script></body>|' r.html >probe.html
	for kind in '1280,900 0' '500,900 0' '1280,900 1' '500,900 1'; do
		read -r size dark <<<"$kind"
		mode=(--blink-settings=preferredColorScheme=1)
		((!dark)) || mode=(--blink-settings=preferredColorScheme=0)
		browse "${mode[@]}" --window-size="$size" --dump-dom "file://$PWD/probe.html" >dom
		probe=$(sed -n 's|.*<pre id="probe">\([^<]*\)</pre>.*|\1|p' dom)
		echo "$kind: $probe"
		read -r _ width _ page _ contrast _ is_dark <<<"$probe"
		((page <= width))
		calc 'c >= 4.5' "c=$contrast"
		[[ $is_dark == "$( ((dark)) && echo true || echo false)" ]]
		run -1 grep -E ':CONSOLE[:(]' browser.err
	done
	browse --no-pdf-header-footer --print-to-pdf=r.pdf "file://$PWD/r.html"
	[[ $(head -c 5 r.pdf) == %PDF- ]]
}

@test "of one file, and of two" {
	"$SCRIPTS/report.sh" --bench "$BENCH" -o one.html 6.1.jsonl
	grep -q '<table id="results">' one.html
	grep -q '>rb-custom</th>' one.html
	"$SCRIPTS/report.sh" --bench "$BENCH" --title 'Mine & yours' -o two.html 6.1.jsonl 7.3.jsonl
	grep -qF '<h1>Mine &amp; yours</h1>' two.html
	grep -q 'They differ in: kernel release' two.html
}

# refuses STATUS PATTERN FILE...
refuses() {
	rm -f out.html
	run "-$1" --separate-stderr "$SCRIPTS/report.sh" --bench "$BENCH" -o out.html "${@:3}"
	echo "$stderr"
	# shellcheck disable=SC2053 # a pattern
	[[ $stderr == $2 && $stderr != *$'\n'* ]]
	[[ ! -e out.html && ! -e out.html.part ]]
}

@test "what one file alone has stands in its column" {
	grep -v '"bench":"rb-custom"' 6.1.jsonl >least.jsonl
	cp least.jsonl most.jsonl
	"$SCRIPTS/report.sh" --bench "$BENCH" -o least.html least.jsonl most.jsonl 7.3.jsonl
	sed -n 's|^<tr><th scope="row">rb-custom</th>||p' least.html | head -n1 >row
	cat row
	# unit, base, three cells of the second one, three of the third
	[[ $(sed 's|<td[^>]*>|\n|g' row | wc -l) == 9 ]]
	[[ $(sed 's|<td[^>]*>|\n|g' row | sed -n 7p) == *'<data value='* ]]
	run -1 grep '<data' <(sed 's|<td[^>]*>|\n|g' row | sed -n 3,6p)
}

@test "bad input: one line, and no page" {
	: >empty
	sed 's/"schema":2/"schema":3/' 6.1.jsonl >new
	sed 's/"status":"ok"/"status":"failed"/' 6.1.jsonl >failed
	sed "s/6.1.0-28/6.1.0-29/" failed >new-failed
	head -c 3000 6.1.jsonl >torn
	refuses 64 'report: RECORDS: invalid value *' 6.1.jsonl none
	refuses 64 'report: expected a file of records*'
	refuses 1 'report: empty: there is no record in it' 6.1.jsonl empty
	refuses 1 'report: new:1: a record of schema 3, *' 6.1.jsonl new
	refuses 1 'report: torn:[0-9]: not JSON' torn
	refuses 1 'report: *' failed new-failed
	refuses 1 'report: failed: no complete run in it' failed
}

@test "plot: of many files, a chart a family, kernels along the axis" {
	run -0 --separate-stderr "$SCRIPTS/plot.sh" --bench "$BENCH" --text 6.1.jsonl 6.12.jsonl 7.3.jsonl
	echo "$output"
	# the family of triggers has 8 lines: two charts
	(($(grep -c '\[' <<<"$output") == $(grep '\[' <<<"$output" | sort -u | wc -l)))
	(($(grep -cE '\((1|2) of 2\) \[M/s\]$' <<<"$output") == 2))
	(($(grep -c '^6.1.0-28-amd64 ' <<<"$output") == 13))
	grep -A4 -x rb-custom <<<"$output" | grep -qE '^7.3.0-rc2 +7\.452 #+~'
	# the same kernel twice: names of files
	run -0 "$SCRIPTS/plot.sh" --bench "$BENCH" --text 6.1.jsonl 6.12.jsonl 6.1.jsonl
	run -64 "$SCRIPTS/plot.sh" --bench "$BENCH" -x nr 6.1.jsonl 6.12.jsonl 7.3.jsonl
	run -0 "$SCRIPTS/plot.sh" --bench "$BENCH" --svg -o pic 6.1.jsonl 6.12.jsonl 7.3.jsonl
	[[ $output != *png* ]]
	for text in 6.1.0-28-amd64 6.12.9 7.3.0-rc2 kernel; do
		grep -q "> *$text *<" pic-1.svg
	done
}

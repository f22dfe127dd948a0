# SPDX-License-Identifier: GPL-2.0
#
# One page of HTML. Input: the files, as an array of {name, path, records}. Others: $css; $csv, what
# bench -C --csv prints ("": there is one file); $text, what bench -C prints; $charts, an array of
# {svg, title (HTML)}; $charts_text; $title.

include "common";

def e: tostring | @html;
def slug: gsub("[^A-Za-z0-9]+"; "-");

# ---- CSV, with quotes

def csv_fields: [("," + .) | match(",(\"(?:[^\"]|\"\")*\"|[^,]*)"; "g").captures[0].string
	| if startswith("\"") then .[1:-1] | gsub("\"\""; "\"") else . end];
def csv: split("\n") | map(select(. != "") | csv_fields) | .[0] as $names
	| .[1:] | map([$names, .] | transpose | map({ key: .[0], value: .[1] }) | from_entries);

# ---- numbers as they are read: four digits; the exact one is the element's value

def fixed($d): (. * pow(10; $d) | round) as $i | ($i | fabs | tostring) as $s
	| (if $i < 0 then "-" else "" end)
	  + if $d == 0 then $s else ("0" * ([$d + 1 - ($s | length), 0] | max) // "") + $s
		| .[:-$d] + "." + .[-$d:] end;
def short: (fabs | if . >= 1000 then 0 elif . >= 100 then 1 elif . >= 10 then 2 elif . >= 1 or . == 0 then 3
	elif . >= 0.1 then 4 elif . >= 0.01 then 5 else 6 end) as $d | fixed($d);
def number: if . == null or . == "" then "" else "<data value=\"\(e)\">\(tonumber | short)</data>" end;
def percent: if . == "" then "" else
	"<data value=\"\(e)\">\(tonumber | (if . > 0 then "+" else "" end) + fixed(if fabs < 10 then 2 else 1 end)) %</data>" end;
def range($low; $high; f): if $low == "" or $high == "" then "" else
	"<span class=\"range\">\($low | f) to \($high | f)</span>" end;

def wide($what): "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"\($what | e)\">" + . + "</div>";

# ---- the comparison: a row a benchmark, a column a file

def class: if test("^(better|faster)") then "better" elif test("^(worse|slower)") then "worse" else "" end;
def verdict: if . == "" then "" elif . == "~" then "no difference shown" else . end;
# What a row has of a file; of one that it lacks there is nothing
def compared: "<td class=\"number\">\(.new_median | number)\(range(.new_ci95_low; .new_ci95_high; number))</td>"
	+ "<td class=\"number\">\(.change_pct | percent)\(range(.change_ci95_low_pct; .change_ci95_high_pct; percent))</td>"
	+ "<td class=\"\(.verdict | class)\">\(.verdict | verdict | e)</td>";
def comparison($names; $paths):
	$csv | csv
	# A row is of one figure; files follow each other
	| [foreach .[] as $r ({ at: 0, key: null, files: [] };
		([$r.row, $r.figure, $r.base_median] | tostring) as $key
		| if $key == .key and (.files | index($r.file) | not) then .files += [$r.file]
		  else { at: (.at + 1), key: $key, files: [$r.file] } end;
		{ at, r: $r })]
	| group_by(.at) | map(map(.r)) as $rows
	| ("<table id=\"comparison\"><caption>Medians over runs with their 95 % intervals; change against "
		+ "\($names[0] | e)</caption><thead><tr><th scope=\"col\">Benchmark</th><th scope=\"col\">Unit</th>"
		+ "<th scope=\"col\" class=\"number\">\($names[0] | e)</th>"
		+ ($names[1:] | map("<th scope=\"col\" class=\"number\">\(e)</th><th scope=\"col\" class=\"number\">Change</th><th scope=\"col\">Verdict</th>") | add)
		+ "</tr></thead><tbody>"
		+ ($rows | map(
			"<tr><th scope=\"row\">\(.[0].row | e)</th><td>\(.[0].unit | e)</td>"
			+ "<td class=\"number\">\(.[0].base_median | number)\(range(.[0].base_ci95_low; .[0].base_ci95_high; number))</td>"
			+ (. as $row | $paths[1:] | map(. as $path
				| first($row[] | select(.file == null or .file == $path)) // null
				| if . then compared else "<td></td>" * 3 end) | add)
			+ "</tr>") | join("\n"))
		+ "</tbody></table>") | wide("Comparison");

def one_file:
	("<table id=\"results\"><caption>Medians over runs, with the lowest and the highest</caption><thead><tr>"
		+ "<th scope=\"col\">Benchmark</th><th scope=\"col\">Figure</th><th scope=\"col\">Unit</th>"
		+ "<th scope=\"col\" class=\"number\">Median</th><th scope=\"col\" class=\"number\">Runs</th></tr></thead><tbody>"
		+ (by_benchmark | map(. as $b | (.figures[:1][] // { name: "", unit: "", median: null, lowest: "", highest: "" })
			| "<tr><th scope=\"row\">\($b.name | e)</th><td>\(.name | e)</td><td>\(.unit | e)</td>"
			+ "<td class=\"number\">\(.median | number)\(range(.lowest; .highest; number))</td>"
			+ "<td class=\"number\">\($b.runs)\(if $b.failed > 0 then ", \($b.failed) of them failed" else "" end)</td></tr>")
			| join("\n"))
		+ "</tbody></table>") | wide("Results");

# ---- environments

def values($key): [.records[].env[$key] // empty] | unique | map(tostring)
	| if length > 3 then .[:3] + ["and \(length - 3) more"] else . end | join("; ");
def environment:
	. as $files
	| [.[].records[].env | keys_unsorted[]] | reduce .[] as $k ([]; if index($k) then . else . + [$k] end)
	| map(. as $k | { k: $k, v: [$files[] | values($k)] })
	| ("<table class=\"environment\"><caption>Machine and software, as recorded</caption><thead><tr>"
		+ "<th scope=\"col\">Fact</th>" + ($files | map("<th scope=\"col\">\(.name | e)</th>") | add) + "</tr></thead><tbody>"
		+ (map("<tr\(if .k != "time" and (.v | unique | length) > 1 then " class=\"differs\"" else "" end)>"
			+ "<th scope=\"row\">\(.k | e)</th>" + (.v | map("<td>\(e)</td>") | add) + "</tr>") | join("\n"))
		+ "</tbody></table>") | wide("Environments");
def differences:
	. as $files
	| [.[].records[].env | keys[]] | unique - ["time"]
	| map(select(. as $k | [$files[] | values($k)] | unique | length > 1))
	| if ($files | length) == 1 then ""
	  elif . == [] then "<p>The environments do not differ.</p>"
	  else "<p>They differ in: \(map(gsub("_"; " ") | e) | join(", ")).</p>" end;

# ---- each run

def run_figures: if complete then figures | map("\(.name | e) \(.mean | number) \(.unit | e)") | join("; ") else "" end;
def runs:
	"<details><summary>\(.name | e): \(.records | length) runs</summary>"
	+ (("<table><caption>Runs of \(.name | e)</caption><thead><tr><th scope=\"col\">Benchmark</th><th scope=\"col\">Time</th>"
		+ "<th scope=\"col\">Status</th><th scope=\"col\">Figures</th></tr></thead><tbody>"
		+ (.records | map("<tr><th scope=\"row\">\(name | e)</th><td>\(.env.time | e)</td><td>\(.status | e)</td>"
			+ "<td>\(run_figures)</td></tr>") | join("\n"))
		+ "</tbody></table>") | wide("Runs"))
	+ "</details>";

. as $files | [.[].name] as $names
| "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"generator\" content=\"bench\">
<link rel=\"icon\" href=\"data:,\">
<title>\($title | e)</title>
<style>
\($css)</style>
</head>
<body>
<header>
<h1>\($title | e)</h1>
<p>\($files | map("\(.name | e): \(.records | length) runs, \([.records[].bench] | unique | length) benchmarks") | join("<br>"))</p>
<nav aria-label=\"Contents\"><a href=\"#table\">Table</a> · <a href=\"#charts\">Charts</a> · <a href=\"#environments\">Environments</a> · <a href=\"#runs\">Runs</a></nav>
</header>
<main>
<section id=\"table\">
<h2>\(if $csv == "" then "Results" else "Comparison" end)</h2>
\(if $csv == "" then [$files[].records[]] | one_file else comparison($names; [$files[].path]) end)
\(if $text == "" then "" else "<details><summary>The same as text, with notes and how it is judged</summary><pre>\($text | e)</pre></details>" end)
</section>
<section id=\"charts\">
<h2>Charts</h2>
\($charts | map("<figure class=\"chart\"><h3>\(.title)</h3>" + (.svg | wide("Chart")) + "</figure>") | join("\n"))
<details><summary>The charts as text</summary><pre>\($charts_text | e)</pre></details>
</section>
<section id=\"environments\">
<h2>Environments</h2>
\(differences)
\(environment)
</section>
<section id=\"runs\">
<h2>Runs</h2>
\(map(runs) | join("\n"))
</section>
</main>
</body>
</html>"

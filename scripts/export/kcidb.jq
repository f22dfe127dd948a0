# SPDX-License-Identifier: GPL-2.0
#
# KernelCI's report format, I/O schema 5.3. A run is a test.

include "common";

def id($n): "\($origin):" + ([.env.host, .env.time, .bench, "\($n)"] | map(select(.))
	| join("-") | gsub("[^A-Za-z0-9._:+-]"; "_"));
def build: if $build == "" then "\($origin):\(.env.kernel_release)" else $build end;
def environment: {
	comment: ([.env.cpu_model, "\(.env.cpus_online) CPUs", .env.machine] | map(select(.)) | join(", ")),
	misc: .env
};

([.[] | select(.skipped | not)][0]) as $any
| { version: { major: 5, minor: 3 }, tests: [to_entries[] | .key as $n | .value
	| if .skipped then
		.skipped as $bench | .why as $why | $any | {
			id: (.bench = $bench | id($n)), build_id: build, origin: $origin,
			path: "bench.\($bench)", status: "SKIP", environment: environment,
			misc: { reason: $why }
		}
	  else {
		id: id($n),
		build_id: build,
		origin: $origin,
		path: "bench.\(.bench | gsub("[^A-Za-z0-9_-]"; "_"))",
		status: (if complete then "DONE" else "ERROR" end),
		number: (if complete then
			(.summary.unit | bare) as $bare
			| { value: (.summary.mean * $bare.factor), unit: $bare.unit, prefix: "metric" }
			else null end),
		start_time: .env.time,
		duration: (([.samples[]?.dt_ns] | add // 0) / 1e9 + (.config.warmup_s // 0)),
		environment: environment,
		misc: ({ status, argv, params, config, noise, notes }
			+ { figures: (if complete then [figures[] | { key: .name, value: (.mean * (.unit | bare).factor) }]
				| from_entries else null end) })
	  } end] }
| without_nulls

# SPDX-License-Identifier: GPL-2.0
#
# Go's benchmark format, which benchstat reads: one line a run.

include "common";

# Not what differs from run to run: benchstat makes a table for each set of these values
def configuration: [
	{ k: "kernel", v: .env.kernel_release }, { k: "machine", v: .env.machine },
	{ k: "cpu", v: .env.cpu_model }, { k: "cpus", v: .env.cpus_online },
	{ k: "governor", v: .env.governor }, { k: "smt", v: .env.smt },
	{ k: "virtualization", v: .env.virtualization }, { k: "jit", v: .env.jit },
	{ k: "mitigations", v: .env.mitigations }, { k: "libbpf", v: .env.libbpf },
	{ k: "bench", v: .env.bench }
] | map(select(.v != null) | "\(.k): \(.v | tostring | gsub("[\n\r]"; " "))");

def title: "Benchmark" + ([.bench] + settings | join("/") | gsub("[^A-Za-z0-9._/=-]"; "_"))
	+ "-\(.env.cpus_online // 1)";

# Units are unique in a line; the first rate is that of operations, and has their time beside it
def values:
	figures as $all
	| ($all[0].unit | bare) as $bare
	| [(if $bare.unit == "ops/s" and $all[0].mean > 0 and ([$all[].unit] | index("ns/op") | not)
	    then "\(1e9 / ($all[0].mean * $bare.factor) | digits6) ns/op" else empty end),
	   ($all | to_entries[] | (.value.unit | short_unit) as $unit
		| "\(.value.mean | digits6) " + if .key == 0 or $unit == "ns/op" then $unit
			else "\(.value.name)-\($unit)" end)]
	| join(" ");

foreach (.[] | select(complete)) as $r ({ last: [] };
	($r | configuration) as $new | .lines = ($new - .last) | .last = $new;
	.lines[], ($r | "\(title) 1 \(values)"))

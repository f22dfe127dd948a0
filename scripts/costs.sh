#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# docs/costs.md: what each BPF operation costs in instructions, on several kernels.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/costs.sh [OPTION...] KERNEL[,ARGUMENTS]...

Measure every benchmark that one thread drives on each of these kernels, by
scripts/insns.sh, and here in ns (as root); print a table in Markdown, one column a
kernel. KERNEL is as scripts/vmtest.sh --kernel takes it; a package that apt does
not know is left out, with a note. ARGUMENTS go to the kernel.

  -o, --output DIR   where the records are kept (default build/costs). A column
                     whose records are there is not measured again: remove DIR
                     for that
      --bench FILE   the static binary for the guests (default: made by make
                     STATIC=1)
      --update FILE  put the table between FILE's lines <!-- costs --> and
                     <!-- /costs --> instead of printing it
  -h, --help         this text

Exit status: 0 done, 1 a kernel failed, 64 usage.

Environment:
  BENCH              the binary to measure this machine with (default ./bench)
END
}

out=$top/build/costs bench='' update=''
while (($#)); do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-o | --output | --bench | --update)
		(($# > 1)) || usage_error "$1 needs a value"
		case $1 in
		--bench) bench=$2 ;;
		--update) update=$2 ;;
		*) out=$2 ;;
		esac
		shift 2
		;;
	-*) usage_error "there is no option '$1'" ;;
	*) break ;;
	esac
done
(($#)) || usage_error 'expected a kernel'
if [[ -n $update ]] && ! grep -qx '<!-- costs -->' -- "$update"; then
	die "--update: '$update' has no line <!-- costs -->" 64
fi
need jq jq
scratch
mkdir -p "$out"

# ---- the kernels

names=() files=() status=0
for column; do
	kernel=${column%%,*} append=''
	[[ $column != *,* ]] || append=${column#*,}
	file=$out/${column//[^a-zA-Z0-9.=-]/_}.jsonl
	if [[ ! -s $file ]]; then
		if [[ $kernel == linux-* && ! -e $kernel ]] &&
			! LC_ALL=C apt-cache policy "$kernel" 2>/dev/null | grep -q 'Candidate: [^(]'; then
			say "$kernel is left out: apt knows no such package"
			continue
		fi
		rm -f "$scratch_dir/records"
		insns=(-k "$kernel" -o "$scratch_dir/records")
		[[ -z $append ]] || insns+=(--append "$append")
		[[ -z $bench ]] || insns+=(--bench "$bench")
		say "$kernel $append"
		if ! run_child "$top/scripts/insns.sh" "${insns[@]}" >/dev/null 2>"$scratch_dir/err"; then
			((!interrupted)) || exit "$interrupted"
			cat "$scratch_dir/err" >&2
			say "$kernel failed"
			status=1
		fi
		[[ ! -s $scratch_dir/records ]] || mv "$scratch_dir/records" "$file"
	fi
	[[ -s $file ]] || continue
	names+=("$(jq -rs '.[0].env.kernel_release | split(".") | .[:2] | join(".")' "$file")${append:+, $append}")
	files+=("$file")
done
((${#files[@]})) || die 'no kernel was measured'

# What a record is of: its options that are not the defaults, and the benchmark
# shellcheck disable=SC2016
line='(.defaults // {} | if . == {} then {"rb-b2b": false} else . end) as $defaults
	| [(.params | to_entries[] | select($defaults[.key] != null and $defaults[.key] != .value)
		| if .value == true then "--\(.key)" else "--\(.key) \(.value)" end), .bench] | join(" ")'

# ---- this machine, in ns: of three runs the fastest, which others disturbed least

native=$out/native.jsonl
if [[ ! -s $native ]]; then
	jq -r "$line" "${files[@]}" | awk '!seen[$0]++' >"$scratch_dir/lines"
	say "this machine, $(wc -l <"$scratch_dir/lines") benchmarks"
	while read -r words; do
		# shellcheck disable=SC2086 # words
		"${as_root[@]}" "$BENCH" -q -r3 -w1 -d1 --interval 100 $words -o "$scratch_dir/native" \
			</dev/null >/dev/null 2>&1 || true
	done <"$scratch_dir/lines"
	[[ ! -s $scratch_dir/native ]] || mv "$scratch_dir/native" "$native"
	[[ -e $native ]] || : >"$native"
fi

# ---- the table

# Four digits of a figure, three of a time
table() {
	local i inputs=()
	for i in "${!files[@]}"; do
		jq -c "{column: $i, line: ($line), mean: .summary.mean, unit: .summary.unit}" "${files[i]}"
	done >"$scratch_dir/figures"
	jq -c "{column: \"native\", line: ($line), mean: .summary.mean, unit: .summary.unit}" "$native" \
		>>"$scratch_dir/figures"
	inputs=("$scratch_dir/figures")
	printf '| benchmark |'
	printf ' %s |' "${names[@]}"
	printf ' here, ns |\n| --- |'
	printf ' ---: |%.0s' "${names[@]}" native
	echo
	jq -rs --argjson n "${#names[@]}" '
		def fixed($digits): if $digits == 0 then round | tostring
			else (. * pow(10; $digits) | round | tostring
				| if length <= $digits then "0" * ($digits + 1 - length) + . else . end
				| .[:-$digits] + "." + .[-$digits:]) end;
		def four: fixed(if . >= 1000 then 0 elif . >= 100 then 1 else 2 end);
		def three: fixed(if . >= 100 then 0 elif . >= 10 then 1 else 2 end);
				map(select(.mean > 0 and (.unit | test("^M( ops)?/s$"))))
		| reduce .[] as $f ({order: [], cost: {}};
			(if .cost[$f.line] then . else .order += [$f.line] end)
			| .cost[$f.line][$f.column | tostring] += [1000 / $f.mean])
		| .cost as $cost | .order[] | . as $line | select([$cost[$line] | keys[] | select(. != "native")] != [])
		| [range($n) as $c | $cost[$line]["\($c)"] // [] | if . == [] then "-" else add / length | four end]
			as $cells
		| ($cost[$line].native // [] | if . == [] then "-" else min | three end) as $native
		| "| `\($line)` | \($cells + [$native] | join(" | ")) |"' "${inputs[@]}"
	echo
	echo 'The kernels, as the records name them:'
	echo
	for i in "${!files[@]}"; do
		jq -rs --arg name "${names[i]}" '.[0].env
			| "- **\($name)**: \(.kernel_release), \(.kernel_version), \(.machine); JIT \(.jit). Mitigations: \(.mitigations)."' \
			"${files[i]}"
	done
	jq -rs '.[0].env // empty
		| "- **here**: \(.kernel_release), \(.cpu_model), virtualization: \(.virtualization). Mitigations: \(.mitigations)."' "$native"
}

if [[ -z $update ]]; then
	table
	exit "$status"
fi
table >"$scratch_dir/table"
awk -v table="$scratch_dir/table" '
	$0 == "<!-- costs -->" {
		print
		print ""
		while ((getline line <table) > 0)
			print line
		print ""
		skip = 1
	}
	$0 == "<!-- /costs -->" { skip = 0 }
	!skip' "$update" >"$scratch_dir/new"
cat "$scratch_dir/new" >"$update"
exit "$status"

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# docs/costs.md: what each BPF operation costs in instructions, on several kernels.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/costs.sh [OPTION...] [arm64:]KERNEL[,ARGUMENTS]...

Measure every benchmark that one thread drives on each of these kernels, by
scripts/insns.sh, and here in ns (as root); print a table in Markdown, one column a
kernel. KERNEL is as scripts/vmtest.sh --kernel takes it; a package or file that is
not there is left out, with a note. ARGUMENTS go to the kernel.

  -o, --output DIR   where the records are kept (default build/costs). A column
                     whose records are there is not measured again: remove DIR
                     for that
      --bench FILE   the static binary for the guests (default: made by make
                     STATIC=1)
      --bench-arm64 FILE
                     the same for arm64: (scripts/cross-build.sh makes one)
      --update FILE  put the table between FILE's lines <!-- costs --> and
                     <!-- /costs --> instead of printing it
  -h, --help         this text

Exit status: 0 done, 1 a kernel failed, 64 usage.

Environment:
  BENCH              the binary to measure this machine with (default ./bench)
END
}

out=$top/build/costs bench='' bench_arm64='' update=''
while (($#)); do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-o | --output | --bench | --bench-arm64 | --update)
		(($# > 1)) || usage_error "$1 needs a value"
		case $1 in
		--bench) bench=$2 ;;
		--bench-arm64) bench_arm64=$2 ;;
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

# is_there KERNEL ARCH
is_there() {
	[[ ! -e $1 ]] || return 0
	[[ $1 == linux-* ]] &&
		[[ $(LC_ALL=C apt-cache policy "$1${2:+:$2}" 2>/dev/null) == *'Candidate: '[!\(]* ]]
}

names=() files=() status=0
for column; do
	arch='' kernel=$column append='' static=$bench
	[[ $kernel != arm64:* ]] || arch=arm64 kernel=${kernel#*:} static=$bench_arm64
	[[ $kernel != *,* ]] || append=${kernel#*,} kernel=${kernel%%,*}
	file=$out/${column//[^a-zA-Z0-9.=-]/_}.jsonl
	if [[ ! -s $file ]]; then
		is_there "$kernel" "$arch" || {
			say "$column is left out: there is no such file, and apt knows no such package"
			continue
		}
		rm -f "$scratch_dir/records"
		insns=(-k "$kernel" -o "$scratch_dir/records" ${arch:+--arch "$arch"}
			${append:+--append "$append"} ${static:+--bench "$static"})
		say "$column"
		start=$SECONDS
		if ! run_child "$top/scripts/insns.sh" "${insns[@]}" >/dev/null 2>"$scratch_dir/err"; then
			((!interrupted)) || exit "$interrupted"
			cat "$scratch_dir/err" >&2
			say "$column failed"
			status=1
		fi
		say "$column: $((SECONDS - start)) s"
		[[ ! -s $scratch_dir/records ]] || mv "$scratch_dir/records" "$file"
	fi
	[[ -s $file ]] || continue
	names+=("$(jq -rs '.[0].env | (.kernel_release | split(".") | .[:2] | join("."))
		+ if .machine == "aarch64" then ", arm64" else "" end' "$file")${append:+, $append}")
	files+=("$file")
done
((${#files[@]})) || die 'no kernel was measured'

# ---- this machine, in ns: of three runs the fastest, which others disturbed least

native=$out/native.jsonl
if [[ ! -s $native ]]; then
	jq -r -L "$top/scripts" 'include "insns"; command_line' "${files[@]}" |
		awk '!seen[$0]++' >"$scratch_dir/lines"
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

table() {
	local i
	printf '| benchmark |'
	printf ' %s |' "${names[@]}"
	printf ' here, ns |\n| --- |'
	printf ' ---: |%.0s' "${names[@]}" native
	echo
	# shellcheck disable=SC2016 # jq's variables
	jq -nr -L "$top/scripts" --arg native "$native" 'include "insns"; costs($native)' \
		"${files[@]}" "$native"
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

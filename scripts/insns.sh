#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Instructions per operation: kernels under emulation, with instructions as their clock.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
	cat <<'END'
Usage: scripts/insns.sh [OPTION...] ['OPTIONS BENCHMARK'...]

Boot a kernel under emulation where 1 ns is one instruction, run bench there with
each of these command lines (one quoted word each; default: every benchmark that
one thread drives), and print instructions per operation. Needs no root.

  -k, --kernel PATH    a kernel as scripts/vmtest.sh takes it (default: as there);
                       given again: another column, and the change in percent from
                       the column before
      --append ARGS    arguments for the kernel named by the last -k, such as
                       mitigations=off
      --arch ARCH      x86_64 or arm64 (default: this machine's)
      --bench FILE     the static binary to run (default: made by make STATIC=1)
  -o, --output FILE    append bench's records
      --add FILE       a file for the guest's /bin, such as a BPF object for prog-run:
                       --add my.o '--object /bin/my.o prog-run'; may be given again
      --profile        under each row: instructions per operation by function
      --against FILE   records of an earlier -o: its figures are the first column
      --fail-on-change PCT
                       with --against: exit with 1 where a figure differs by more,
                       either way
  -h, --help           this text

Example:
  scripts/insns.sh -k linux-image-amd64 -k ~/linux '--rb-b2b rb-custom' bpf-loop

The table alone is on standard output. '+-%' is how exact a figure is, in percent:
the largest of half its samples' 95 % interval, the difference of their first
half's median from the second's, and (with -r) the difference between runs.
'~' marks a figure worse than 0.1, '*' one of several busy threads, which take
turns on the one CPU. Figures include timer ticks, 0.1 to 0.4 %.

Exit status: 0 done; 1 a kernel does not boot, a command line failed, or a figure
changed (--fail-on-change); 4 a benchmark is not available in that kernel;
64 usage; 130 or 143 interrupted. With --against, 125 for whatever keeps a figure
from being known, as `git bisect run` expects.
END
}

# What each command line is measured by: 8 to 40 samples of 5 * 10^7 instructions, until they agree.
# The symbols of BPF programs are taken during the warm-up, which only --profile needs; and its samples
# are longer, so that a batch that is cut in two at either end is little of the whole.
measure=(-w0 -d2 --precision 0.08 --interval 50)
measure_profile=(-w1 -d2 --precision 0.08 --interval 100)
# Percent, above which a figure is not called exact
exact=0.1

kernels=() appends=() arch=$(uname -m) bench='' records='' profile=false against='' fail_on='' add=()

needs_value=' -k --kernel --append --arch --bench --add -o --output --against --fail-on-change '
while (($#)); do
	case $1 in
	# A command line may start with an option of bench: the space tells it from one of ours
	-*' '*) [[ $1 == --*=* && $needs_value == *" ${1%%=*} "* ]] || break ;;
	esac
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--profile)
		profile=true
		measure=("${measure_profile[@]}")
		shift
		continue
		;;
	--)
		shift
		break
		;;
	--*=*)
		[[ $needs_value == *" ${1%%=*} "* ]] || usage_error "there is no option '${1%%=*}'"
		set -- "${1%%=*}" "${1#*=}" "${@:2}"
		;;
	-*)
		[[ $needs_value == *" $1 "* ]] || usage_error "there is no option '$1'"
		(($# > 1)) || usage_error "$1 needs a value"
		;;
	*) break ;;
	esac
	case $1 in
	-k | --kernel)
		kernels+=("$2")
		appends+=('')
		;;
	--append)
		((${#kernels[@]})) || kernels=('') appends=('')
		appends[-1]+="${appends[-1]:+ }$2"
		;;
	--arch) arch=$2 ;;
	--bench) bench=$2 ;;
	--add) add+=(--add "$2") ;;
	-o | --output) records=$2 ;;
	--against) against=$2 ;;
	--fail-on-change)
		[[ $2 =~ ^[0-9]{1,3}(\.[0-9]{1,6})?$ ]] ||
			die "--fail-on-change: invalid value '$2': expected a number such as 1 or 0.5" 64
		fail_on=$2
		;;
	esac
	shift 2
done
lines=("${@//$'\n'/ }")
for line in "${lines[@]}"; do
	[[ $line != -* || $line == *' '* ]] ||
		usage_error "expected command lines of bench, each one quoted word, not '$line'"
done
((${#kernels[@]})) || kernels=('') appends=('')
[[ -z $fail_on || -n $against ]] || usage_error '--fail-on-change needs --against'
if [[ -n $against ]]; then
	((${#kernels[@]} == 1)) || usage_error '--against compares one kernel'
	[[ -f $against && -r $against ]] || die "--against: cannot read '$against'" 64
fi
if [[ -n $records ]]; then
	dir=$(dirname -- "$records")
	if [[ -d $records || (-e $records && ! -w $records) || (! -e $records && ! -w $dir) ]]; then
		die "--output: cannot write to '$records'" 64
	fi
fi
case $arch in
x86_64 | amd64) qemu=${QEMU:-qemu-system-x86_64} ;;
arm64 | aarch64) qemu=${QEMU:-qemu-system-aarch64} ;;
*) die "--arch: '$arch' is not one of x86_64, arm64" 64 ;;
esac

# fail MESSAGE STATUS: nothing could be measured. To `git bisect` that is 125, whatever it was.
fail() {
	[[ -z $1 ]] || say "$1"
	[[ -z $against ]] || exit 125
	exit "$2"
}

need jq jq
scratch
if [[ -n $against ]]; then
	mkdir "$scratch_dir/base"
	jq -c 'select(.env.clock? == "instructions")' "$against" >"$scratch_dir/base/0.jsonl" 2>/dev/null ||
		fail "--against: '$against' is not a file of records" 64
	[[ -s $scratch_dir/base/0.jsonl ]] ||
		fail "--against: '$against' has no record with instructions as its clock (env.clock)" 64
fi

if [[ -z $bench ]]; then
	[[ $arch != a*64 || $arch == amd64 || $(uname -m) == aarch64 ]] ||
		usage_error "--arch $arch: name a static bench for it with --bench"
	make -s -C "$top" STATIC=1 >&2 || fail 'cannot build the static bench' 1
	bench=$top/bench-static
fi
[[ -f $bench && -x $bench ]] || die "--bench: there is no program '$bench'" 64
bench=$(realpath -- "$bench")

# ---- the plugin: compiled into the cache, anew when its source has changed

plugin=''
if $profile; then
	need nm binutils
	command -v "$qemu" >/dev/null || fail "no $qemu: scripts/install-deps.sh --vm" 1
	"$qemu" -help 2>/dev/null | grep '^ *-plugin' >/dev/null ||
		fail "--profile: $qemu was built without plugins: use one built with --enable-plugins" 1
	nm "$bench" 2>/dev/null | grep ' T bench_measure_pause$' >/dev/null ||
		fail "--profile: '$bench' has no symbol bench_measure_pause: use one of this tree, not stripped" 64
	major=$("$qemu" --version | sed -nE '1s/.* version ([0-9]+)\..*/\1/p')
	((${major:-7} >= 9)) && interface=2 || interface=1
	sources=("$top"/scripts/plugin/{insns.c,qemu.h})
	cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bench/plugin
	plugin=$cache/insns-$interface-$(cat "${sources[@]}" | sha256sum | cut -c1-16).so
	if [[ ! -f $plugin ]]; then
		mkdir -p "$cache"
		"${CC:-cc}" -std=gnu11 -O2 -Wall -shared -fPIC -fvisibility=hidden \
			-DPLUGIN_VERSION="$interface" -o "$scratch_dir/plugin.so" "${sources[0]}" ||
			fail '--profile: cannot compile the plugin for qemu: install a C compiler (scripts/install-deps.sh)' 1
		mv "$scratch_dir/plugin.so" "$plugin.$$"
		mv "$plugin.$$" "$plugin"
	fi
fi

# ---- in the guest

# A kernel that has just booted still works in the background: the sleep lets it come to rest, and
# takes no time. So does the one between runs, for output on its way to a serial port. Addresses
# are the same each time, since what is done with strings on the stack depends on them.
#
# Standard output is the plugin's: see scripts/plugin/insns.c. Symbols of BPF programs are taken
# when bench says that it starts: all is loaded and attached then, and nothing measured yet. That takes
# the kernel 0.3 s, of the warm-up, in which bench stands still. They are the last ones.
# shellcheck disable=SC2016
guest='set -f
profile=$1 measure=$2 quiet=-q
shift 2
echo 0 >/proc/sys/kernel/randomize_va_space
if $profile; then
	quiet=
	echo 0 >/proc/sys/kernel/kptr_restrict
	awk '\''$3 ~ /^(asm_sysvec_.*|asm_common_interrupt|el[01](h_64|t_64)?_irq)$/ { print "irq", $1 }
		$3 ~ /^(__switch_to_asm|cpu_switch_to)$/ { print "switch", $1 }
		$2 ~ /^[tTwW]$/ && $4 == "" { print >"/out/kernel" }'\'' /proc/kallsyms
fi
if [ $# -eq 0 ]; then
	# Ring buffers and perf buffers have a consumer besides: back-to-back, one thread does all
	for name in $(bench -l | sed -n "s/^- //p"); do
		case $name in
		rb-* | pb-*) set -- "$@" "--rb-b2b $name" ;;
		*) set -- "$@" "$name" ;;
		esac
	done
	for line; do
		echo "$line"
	done >/out/lines
fi
sleep 60
n=0
for line; do
	echo "run $n"
	echo "insns: $line" >&2
	: >/tmp/out
	: >/tmp/symbols
	sleep 1
	bench $quiet $measure $line -o /tmp/record 2>/tmp/err >/tmp/out &
	pid=$!
	if $profile; then
		until grep -q "^Benchmark .* started" /tmp/out || [ ! -d /proc/$pid/task/$pid ]; do
			sleep 0.02
		done
		if kill -STOP $pid 2>/dev/null; then
			grep -e vdso -e uprobes /proc/$pid/maps >/out/$n.maps
			cat /proc/kallsyms >/tmp/symbols
			kill -CONT $pid
		fi
	fi
	wait $pid
	status=$?
	cat /tmp/err >&2
	grep "^Summary" /tmp/out >&2
	echo $status >/out/$n.status
	! $profile || tail -c 100000 /tmp/symbols | grep "\]$" >/out/$n.bpf
	if [ $status -eq 0 ]; then
		mv /tmp/record /out/$n.jsonl
	else
		grep "^bench: " /tmp/err | grep -v -e "^bench: note" -e "^bench: warning" >/out/$n.why
	fi
	rm -f /tmp/record
	n=$((n + 1))
done'

# run_guest NUMBER: the kernel of that number runs all command lines
run_guest() {
	local out=$scratch_dir/$1 vmtest status=0
	vmtest=("$top/scripts/vmtest.sh" --icount --out "$out" --arch "$arch" --bench "$bench"
		"${add[@]}"
		--timeout $((300 + 60 * (${#lines[@]} ? ${#lines[@]} : 60))))
	[[ -z ${kernels[$1]} ]] || vmtest+=(--kernel "${kernels[$1]}")
	[[ -z ${appends[$1]} ]] || vmtest+=(--append "${appends[$1]}")
	[[ -z $plugin ]] || vmtest+=(--plugin "$plugin,bench=$bench,out=$scratch_dir/$1.blocks")
	run_child "${vmtest[@]}" -- sh -c "$guest" insns "$profile" "${measure[*]}" \
		"${lines[@]}" >/dev/null || status=$?
	((!interrupted)) || exit "$interrupted"
	# What kept the guest from coming up or from its end, vmtest.sh has said
	((status < 124)) || status=1
	((!status)) || fail '' "$status"
	if ((!${#lines[@]})); then
		mapfile -t lines <"$out/lines"
		given=false
	fi
	[[ -z $records ]] || for n in "${!lines[@]}"; do
		# the guest's clock begins at a fixed time
		[[ ! -f $out/$n.jsonl ]] || jq -c '.env.time = (now | strftime("%Y-%m-%dT%H:%M:%S+00:00"))' \
			"$out/$n.jsonl"
	done >>"$records"
}

given=true # the user has named what to run
for i in "${!kernels[@]}"; do
	start=$SECONDS
	run_guest "$i"
	say "${kernels[i]:-default kernel}${appends[i]:+ ${appends[i]}}: $((SECONDS - start)) s, the boot included"
done

# ---- profiles

# symbols_of COLUMN LINE: "ADDRESS TYPE NAME [MODULE]", sorted
symbols_of() {
	{
		cat "$scratch_dir/$1/kernel" "$scratch_dir/$1/$2.bpf"
		nm "$bench" | awk '{ print $0, "[bench]" }'
		# Code that the kernel maps into every process
		awk '{
			split($1, range, "-")
			print range[1], "t", $NF, "[bench]"
			print range[2], "t", "-", "[end]"
		}' "$scratch_dir/$1/$2.maps"
	} | LC_ALL=C awk 'NF >= 3 && $2 ~ /^[tTwW]$/ {
			addr = $1
			while (length(addr) < 16)
				addr = "0" addr
			print addr, $2, $3, $4
		}' | LC_ALL=C sort
}

# profile_of COLUMN LINE: its instructions by function
profile_of() {
	symbols_of "$1" "$2" >"$scratch_dir/symbols"
	LC_ALL=C awk -v run="$2" -f "$top/scripts/insns-profile.awk" \
		"$scratch_dir/symbols" "$scratch_dir/$1.blocks"
}

# ---- figures and the table: scripts/insns.jq, from the lines of all files

cd "$scratch_dir"
printf '%s\n' "${lines[@]}" >lines
printf '%s\n' "${kernels[@]}" >kernels
printf '%s\n' "${appends[@]}" >appends
files=(lines kernels appends)
for file in {base,[0-9]*}/*.{jsonl,status,why}; do
	[[ -f $file ]] || continue
	files+=("$file")
	[[ $profile == true && $file == [0-9]*.jsonl ]] || continue
	profile_of "${file%%/*}" "$(basename "$file" .jsonl)" >"${file%.jsonl}.profile"
	files+=("${file%.jsonl}.profile")
done

status=1
[[ -z $against ]] || status=125
while IFS= read -r text; do
	case $text in
	out\ *) printf '%s\n' "${text#* }" ;;
	err\ *) say "${text#* }" ;;
	exit\ *) status=${text#* } ;;
	esac
done < <(jq -nRr -L "$top/scripts" --argjson given "$given" --argjson profile "$profile" \
	--argjson exact "$exact" --arg against "$against" --argjson fail_on "${fail_on:-null}" \
	'include "insns"; insns({$given, $profile, $exact, $against, $fail_on})' "${files[@]}")
exit "$status"

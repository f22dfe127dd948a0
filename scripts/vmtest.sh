#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Boot a kernel in a virtual machine, run bench or its test suite there, bring
# back what came of it.
set -euo pipefail
# shellcheck source=scripts/clean-env.sh
. "$(dirname "${BASH_SOURCE[0]}")/clean-env.sh"

usage() {
	cat <<'USAGE'
Usage: scripts/vmtest.sh [OPTION...] [-- COMMAND [ARG...]]

Boot a kernel under qemu from an initramfs that holds a static bench, busybox and
tests/guest, and run COMMAND there as root (without one: the guest test suite).
Its standard output and standard error arrive here as it writes them; its exit
status becomes this script's; files that it leaves in /out go to --out. Needs no
root here, and installs nothing.

  -k, --kernel PATH   a bzImage (arm64: an Image), a kernel tree in which one has
                      been built, or a package such as linux-image-6.12-amd64,
                      downloaded by apt-get and unpacked into the cache; default:
                      the newest kernel package of this distribution (without
                      apt-get: the kernel that runs)
      --accel HOW     kvm, tcg (emulation), or auto: KVM where a guest shows a
                      sign of life in it within a few seconds (default auto)
      --arch ARCH     x86_64 or arm64 (default: this machine's)
      --icount        emulate with instructions as the clock: the guest's time
                      advances by 1 ns per instruction, and idle time is skipped.
                      COMMAND has BENCH_CLOCK=instructions in its environment.
                      Implies --accel tcg, --cpus 1 and nokaslr
      --plugin FILE[,NAME=VALUE...]
                      a TCG plugin for qemu, and its arguments; it also gets
                      marks=FILE, to which COMMAND's standard output is written
                      as it comes. Implies --accel tcg
      --cpus N        (default 2)
      --mem MB        (default 1024)
      --append ARGS   more arguments for the kernel, such as lockdown=integrity
      --timeout SEC   for all of it, the boot included (default 600)
      --out DIR       where files from the guest's /out go, and its console.log
      --bench FILE    the static binary to run (default: made by make STATIC=1)
      --add FILE      another static binary, script or other file, for the guest's /bin; may be
                      given again
  -v, --verbose       show the guest's console on standard error
  -h, --help          this text

Exit status: COMMAND's own; 124 after a time-out; 125 where the guest crashed or
did not come up; 64 usage; 130 or 143 when interrupted.

Environment:
  XDG_CACHE_HOME      kernels are kept in $XDG_CACHE_HOME/bench/kernels
                      (default ~/.cache)
  QEMU                the emulator (default qemu-system-ARCH)
  BUSYBOX             a static busybox for the guest's architecture
  KVM_DEVICE          for tests of this script (default /dev/kvm)

Examples:
  # the kernel just built, the whole suite
  scripts/vmtest.sh --kernel ~/linux/arch/x86/boot/bzImage
  # one benchmark there
  scripts/vmtest.sh -k ~/linux -- bench -w1 -d3 rb-custom
  # look around
  scripts/vmtest.sh -- sh -c 'mount -t tracefs t /sys/kernel/tracing; bench -l -v'
USAGE
}

say() {
	echo "vmtest: $1" >&2
}

die() {
	say "$1"
	exit "${2:-125}"
}

# How long a guest in KVM may stay silent. Its first line comes after some 100 ms.
kvm_probe_s=5
kvm_device=${KVM_DEVICE:-/dev/kvm}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
kernel='' accel=auto cpus=2 mem=1024 append='' timeout=600 out='' bench='' add=() verbose=false
icount=false plugin=''
arch=$(uname -m)

# ---- arguments

number() {
	[[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || die "$1: '$2' is not a whole number above 0" 64
}

while (($#)); do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	-v | --verbose)
		verbose=true
		shift
		continue
		;;
	--icount)
		icount=true
		shift
		continue
		;;
	--)
		shift
		break
		;;
	--*=*)
		set -- "${1%%=*}" "${1#*=}" "${@:2}"
		;;
	esac
	case $1 in
	-k | --kernel | --accel | --arch | --cpus | --mem | --append | --timeout | --out | --bench | \
		--add | --plugin)
		(($# > 1)) || die "$1 needs a value" 64
		;;
	-*) die "there is no option '$1': try --help" 64 ;;
	*) die "'$1' is no option: a command for the guest comes after --, as in: -- $*" 64 ;;
	esac
	case $1 in
	-k | --kernel) kernel=$2 ;;
	--accel) accel=$2 ;;
	--arch) arch=$2 ;;
	--cpus) number "$1" "$2" && cpus=$2 ;;
	--mem) number "$1" "$2" && mem=$2 ;;
	--append) append=$2 ;;
	--timeout) number "$1" "$2" && timeout=$2 ;;
	--out) out=$2 ;;
	--bench) bench=$2 ;;
	--add) add+=("$2") ;;
	--plugin) plugin=$2 ;;
	esac
	shift 2
done
(($#)) || set -- suite

[[ $accel =~ ^(auto|kvm|tcg)$ ]] || die "--accel: '$accel' is not one of auto, kvm, tcg" 64
if $icount; then
	[[ $accel != kvm ]] || die "--icount: cannot count instructions under --accel kvm: use tcg" 64
	accel=tcg cpus=1 append+="${append:+ }nokaslr"
fi
if [[ -n $plugin ]]; then
	[[ $accel != kvm ]] || die "--plugin: qemu has no plugins under --accel kvm: use tcg" 64
	[[ -f ${plugin%%,*} ]] || die "--plugin: there is no '${plugin%%,*}'" 64
	accel=tcg
fi
case $arch in
x86_64 | amd64)
	arch=x86_64 debian_arch=amd64 image=arch/x86/boot/bzImage
	qemu=${QEMU:-qemu-system-x86_64} qemu_package=qemu-system-x86
	;;
arm64 | aarch64)
	arch=aarch64 debian_arch=arm64 image=arch/arm64/boot/Image
	qemu=${QEMU:-qemu-system-aarch64} qemu_package=qemu-system-arm
	;;
*) die "--arch: '$arch' is not one of x86_64, arm64" 64 ;;
esac
[[ $arch == "$(uname -m)" ]] && native=true || native=false

package=''
if [[ $kernel =~ ^linux-(image|binary)-[a-z0-9.+-]+$ && ! -e $kernel ]]; then
	package=$kernel kernel=''
fi
if [[ -n $kernel ]]; then
	[[ ! -d $kernel ]] || kernel=$kernel/$image
	[[ -f $kernel && -r $kernel ]] || die "--kernel: there is no '$kernel'" 64
fi
[[ -z $bench || -x $bench ]] || die "--bench: there is no program '$bench'" 64
for file in "${add[@]}"; do
	[[ -f $file && -r $file ]] || die "--add: there is no file '$file'" 64
done
if [[ -n $out ]]; then
	mkdir -p -- "$out" 2>/dev/null || die "--out: cannot make '$out'" 64
	[[ -w $out ]] || die "--out: cannot write to '$out'" 64
fi

need() {
	command -v "$1" >/dev/null || die "no $1: install $2 (scripts/install-deps.sh --vm)"
}
need "$qemu" "$qemu_package"
need cpio cpio

# ---- what has to be cleaned up

work='' qemu_pid='' tails=()

kill_qemu() {
	[[ -n $qemu_pid ]] || return 0
	kill -KILL "$qemu_pid" 2>/dev/null || true
	wait "$qemu_pid" 2>/dev/null || true
	qemu_pid=''
}

# shellcheck disable=SC2317 # by trap
cleanup() {
	kill_qemu
	((${#tails[@]} == 0)) || kill "${tails[@]}" 2>/dev/null || true
	[[ -z $work ]] || rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

work=$(mktemp -d "${TMPDIR:-/tmp}/vmtest.XXXXXX")

# ---- the kernel, as the distribution has it

cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/bench

# The first package that package $1 depends on with a name of $2 and a version in it
depends_on() {
	LC_ALL=C apt-cache depends --important "$1:$debian_arch" 2>/dev/null |
		awk -v name="^$2-[0-9]" '$1 == "Depends:" && !found && $2 ~ name {
			sub(/:.*/, "", $2)
			print $2
			found = 1
		}'
}

# "PACKAGE VERSION" of the first of these packages that apt knows. Kernels come under a
# name of their own (linux-image-6.1.0-57-amd64), on which a plain name depends;
# Debian's have been in a package linux-binary-... beside that since Linux 7.
known_package() {
	local meta package binary version
	for meta; do
		package=$(depends_on "$meta" linux-image)
		package=${package:-$meta}
		binary=$(depends_on "$package" linux-binary)
		package=${binary:-$package}
		version=$(LC_ALL=C apt-cache policy "$package:$debian_arch" |
			awk '$1 == "Candidate:" { print $2 }')
		[[ -n $version && $version != '(none)' ]] || continue
		echo "$package $version"
		return 0
	done
	return 1
}

# Unpack the kernel of a package into folder $2, whole or not at all.
fetch_package() {
	local package=$1 dir=$2 tmp=$work/package deb vmlinuz log=$work/apt.log
	mkdir -p "$tmp" "$(dirname "$dir")"
	say "downloading the kernel package $package into $cache"
	if ! (cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download "$package") >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	deb=$(echo "$tmp"/*.deb)
	mkdir "$tmp/unpacked"
	# In /boot, or with the modules
	if ! dpkg-deb --fsys-tarfile "$deb" |
		tar -x -C "$tmp/unpacked" --wildcards --no-anchored 'vmlinuz*' 2>"$log"; then
		say "there is no kernel in the package $package"
		return 1
	fi
	vmlinuz=$(find "$tmp/unpacked" -type f -name 'vmlinuz*')
	mkdir "$dir.$$"
	mv "$vmlinuz" "$dir.$$/vmlinuz"
	# Somebody else may have been faster
	mv -T "$dir.$$" "$dir" 2>/dev/null || rm -rf "$dir.$$"
	rm -rf "$tmp"
	[[ -f $dir/vmlinuz ]]
}

# The kernel of a package, by the newest version that apt knows
package_kernel() {
	local version dir
	command -v apt-get >/dev/null || die "--kernel: no apt-get to download $package with" 64
	read -r package version < <(known_package "$package") ||
		die "--kernel: apt-get has no $package: run apt-get update (as root)" 64
	dir=$cache/kernels/${package}_${version//[^a-zA-Z0-9.+~-]/_}_$debian_arch
	[[ -f $dir/vmlinuz ]] || fetch_package "$package:$debian_arch=$version" "$dir" ||
		die "--kernel: cannot download $package"
	kernel=$dir/vmlinuz
}

default_kernel() {
	local package version dir='' newest
	if ! command -v apt-get >/dev/null; then
		# Fedora and Arch have it there, Fedora for every user to read
		kernel=/lib/modules/$(uname -r)/vmlinuz
		if ! $native || [[ ! -r $kernel ]]; then
			die 'kernels are downloaded by apt-get: name one with --kernel'
		fi
		say "there is no apt-get to download a kernel with: taking $kernel"
		return
	fi
	if read -r package version < <(known_package "linux-image-$debian_arch" linux-image-generic); then
		dir=$cache/kernels/${package}_${version//[^a-zA-Z0-9.+~-]/_}_$debian_arch
		[[ -f $dir/vmlinuz ]] || fetch_package "$package:$debian_arch=$version" "$dir" || dir=''
	fi
	if [[ -z $dir ]]; then
		newest=$(printf '%s\n' "$cache"/kernels/*_"$debian_arch"/vmlinuz | sort -V | tail -n1)
		[[ -f $newest ]] ||
			die "apt-get has no kernel for $debian_arch: run apt-get update (as root), or name one with --kernel"
		say "no new kernel to be had: using $newest"
		dir=$(dirname "$newest")
	fi
	kernel=$dir/vmlinuz
}
if [[ -n $package ]]; then
	package_kernel
elif [[ -z $kernel ]]; then
	default_kernel
fi

# Images say what they are for: "HdrS" of x86's boot protocol, "ARM\x64" of arm64's.
kernel_arch() {
	case $(od -An -c -j514 -N4 "$kernel" 2>/dev/null | tr -d ' ') in
	HdrS)
		echo x86_64
		return
		;;
	esac
	[[ $(od -An -c -j56 -N4 "$kernel" 2>/dev/null | tr -d ' ') != ARMd ]] || echo aarch64
}
case $(kernel_arch) in
"$arch" | '') ;;
*) die "--kernel: '$kernel' is for $(kernel_arch), not $arch: name it with --arch" 64 ;;
esac

# ---- the initramfs

# From Debian's package for another architecture; a local one has to be static,
# since there is nothing in the guest for it to link with.
find_busybox() {
	local path
	if [[ -n ${BUSYBOX:-} ]]; then
		[[ -x $BUSYBOX ]] || die "BUSYBOX: there is no program '$BUSYBOX'" 64
		echo "$BUSYBOX"
		return
	fi
	if $native; then
		for path in "$(command -v busybox || true)" /bin/busybox /usr/lib/initcpio/busybox; do
			if [[ -x $path ]] && is_static "$path"; then
				echo "$path"
				return
			fi
		done
		die 'no static busybox: install busybox-static (scripts/install-deps.sh --vm)'
	fi
	path=$cache/busybox-$debian_arch
	if [[ ! -x $path ]]; then
		say "downloading busybox for $debian_arch"
		mkdir -p "$cache" "$work/busybox"
		(cd "$work/busybox" && apt-get -q -o APT::Sandbox::User=root \
			download "busybox-static:$debian_arch") >"$work/apt.log" 2>&1 || {
			cat "$work/apt.log" >&2
			die "no busybox for $debian_arch: dpkg --add-architecture $debian_arch and apt-get update, or set BUSYBOX"
		}
		dpkg-deb -x "$work"/busybox/*.deb "$work/busybox"
		mv "$(find "$work/busybox" -path "*/bin/busybox" -type f)" "$path"
	fi
	echo "$path"
}

# Whether an ELF program asks for no interpreter
is_static() {
	! LC_ALL=C grep -qaE -m1 '/ld(-linux[-a-z0-9_]*|-musl[-a-z0-9_]*)?\.so\.?[0-9]*' <(head -c 4096 "$1")
}

# One word of a shell's command line
quoted() {
	printf "'%s' " "${1//\'/\'\\\'\'}"
}

if [[ -z $bench ]]; then
	$native || die "--arch $arch: name a static bench for it with --bench"
	make -s -C "$top" STATIC=1 >&2 || die 'cannot build the static bench'
	bench=$top/bench-static
fi
is_static "$bench" || die "--bench: '$bench' is not static (make STATIC=1)" 64
busybox=$(find_busybox) || exit

root=$work/root
mkdir -p "$root/bin" "$root/vmtest"
cp "$busybox" "$root/bin/busybox"
cp "$bench" "$root/bin/bench"
((!${#add[@]})) || cp "${add[@]}" "$root/bin/"
cp "$top"/tests/guest/* "$root/vmtest/"
mv "$root/vmtest/init" "$root/init"
ln -s /vmtest/suite "$root/bin/suite"
{
	# A guest cannot see it
	! $icount || echo 'export BENCH_CLOCK=instructions'
	for word in "$@"; do
		quoted "$word"
	done
} >"$root/vmtest/command"
chmod -R u=rwX,go=rX "$root"
(cd "$root" && find . -print0 | sort -z | cpio -0 -o -H newc -R 0:0 --quiet) >"$work/initramfs"
rm -rf "$root"

# ---- the machine

# $1: kvm or tcg. qemu dies with us even when we are killed by SIGKILL, where
# setpriv can arrange that.
start_qemu() {
	local console=ttyS0 cmd=() port
	rm -f "$work"/*.log "$work/result"
	: >"$work/console.log"
	: >"$work/stdout.log"
	: >"$work/stderr.log"
	! command -v setpriv >/dev/null || ! setpriv --pdeathsig KILL true 2>/dev/null ||
		cmd+=(setpriv --pdeathsig KILL)
	cmd+=("$qemu" -nodefaults -no-user-config -display none -no-reboot -m "$mem" -smp "$cpus")
	case $1 in
	kvm) cmd+=(-accel kvm -cpu host) ;;
	# One CPU at a time, which takes no longer here: qemu 7.2 lets one execute
	# what another is just patching, and Linux 7 does not always survive that.
	tcg) cmd+=(-accel 'tcg,thread=single' -cpu max) ;;
	esac
	# What is random in the guest, such as the seeds of hash maps, is the same in each boot
	! $icount || cmd+=(-icount 'shift=0,sleep=off' -seed 1 -rtc 'base=2026-01-01,clock=vm')
	[[ -z $plugin ]] || cmd+=(-plugin "$plugin,marks=$work/stdout.log")
	for port in console stdout stderr result; do
		: >"$work/$port.log"
		cmd+=(-chardev "file,id=$port,path=$work/$port.log")
	done
	if [[ $arch == x86_64 ]]; then
		for port in console stdout stderr result; do
			cmd+=(-serial "chardev:$port")
		done
		console="ttyS0 earlyprintk=serial,ttyS0,115200"
	else
		# Its one serial port, with four more on the PCI bus
		cmd+=(-machine virt)
		cmd+=(-serial chardev:console -device
			'pci-serial-4x,chardev1=null,chardev2=stdout,chardev3=stderr,chardev4=result'
			-chardev 'null,id=null')
		console="ttyAMA0 earlycon"
	fi
	# panic=-1: a reboot at once, which -no-reboot makes the end of qemu
	cmd+=(-kernel "$kernel" -initrd "$work/initramfs" -append
		"console=$console panic=-1 oops=panic rdinit=/init $append")
	"${cmd[@]}" </dev/null >"$work/qemu.log" 2>&1 &
	qemu_pid=$!
}

qemu_lives() {
	kill -0 "$qemu_pid" 2>/dev/null
}

accel_candidates() {
	local why=''
	if [[ $accel != auto ]]; then
		echo "$accel"
		return
	fi
	if ! $native; then
		why="$arch on $(uname -m)"
	elif [[ ! -e $kvm_device ]]; then
		why="there is no $kvm_device"
	elif [[ ! -r $kvm_device || ! -w $kvm_device ]]; then
		why="$kvm_device is not for this user"
	fi
	if [[ -n $why ]]; then
		say "no KVM ($why): emulating, slowly; figures from it mean nothing"
		echo tcg
	else
		echo kvm
		echo tcg
	fi
}

# Whether the guest has shown a sign of life within $1 seconds. Where KVM does not work qemu may
# abort, which is not the user's business and which the shell would tell him.
sign_of_life() {
	local until=$((SECONDS + $1))
	while qemu_lives && ((SECONDS < until)); do
		[[ ! -s $work/console.log ]] || return 0
		sleep 0.1
	done
	[[ -s $work/console.log ]]
} 2>/dev/null

mapfile -t candidates < <(accel_candidates)
for how in "${candidates[@]}"; do
	start_qemu "$how"
	if [[ $accel != auto || $how == tcg ]] || sign_of_life "$kvm_probe_s"; then
		break
	fi
	kill_qemu
	say "a guest in KVM gives no sign of life within $kvm_probe_s s: emulating, slowly; figures from it mean nothing"
done

# $1: the port's name, $2: where to. tail ends by itself once qemu has and all of
# the file has been shown.
follow() {
	tail -n +1 -s 0.2 -f --pid="$qemu_pid" "$work/$1.log" >&"$2" &
	tails+=($!)
}
follow stdout 1
follow stderr 2
! $verbose || follow console 2

start=$SECONDS timed_out=false
while qemu_lives; do
	if ((SECONDS - start >= timeout)); then
		timed_out=true
		break
	fi
	sleep 0.2
done
qemu_status=0
if $timed_out; then
	kill_qemu
else
	wait "$qemu_pid" || qemu_status=$?
	qemu_pid=''
fi
for pid in "${tails[@]}"; do
	wait "$pid" || true
done
tails=()

# ---- what came of it

[[ -z $out ]] || cp "$work/console.log" "$out/console.log"

# The last lines of the console, from the crash on if there was one
console_tail() {
	tr -d '\r' <"$work/console.log" | awk '
		/Kernel panic|Oops|BUG:|INFO: (task|rcu)|general protection|Unable to handle|Internal error/ && !n { n = NR }
		{ line[NR] = $0 }
		END {
			from = n ? (n > 3 ? n - 3 : 1) : (NR > 15 ? NR - 15 : 1)
			for (i = from; i <= NR && i < from + 100; i++)
				print "  | " line[i]
		}' >&2
}

mkdir "$work/result"
if tar -xzf "$work/result.log" -C "$work/result" --no-same-owner 2>/dev/null &&
	read -r status <"$work/result/status" && [[ $status =~ ^[0-9]+$ ]]; then
	if [[ -n $(ls -A "$work/result/out") ]]; then
		if [[ -n $out ]]; then
			cp -r "$work/result/out/." "$out/"
		else
			say "files that the guest left in /out are dropped: name a folder with --out"
		fi
	fi
	if grep -qaE 'WARNING: (CPU|.*:[0-9]+ at )|BUG:|UBSAN|KASAN|possible circular locking' "$work/console.log"; then
		say 'the guest kernel complained:'
		tr -d '\r' <"$work/console.log" | grep -aE -m3 -A20 \
			'WARNING: (CPU|.*:[0-9]+ at )|BUG:|UBSAN|KASAN|possible circular locking' | sed 's/^/  | /' >&2
	fi
	exit "$status"
fi

if $timed_out; then
	say "not done after $timeout s (--timeout); the guest's console ends:"
	console_tail
	exit 124
fi
if [[ -s $work/console.log ]]; then
	say 'the guest ended before the command did; its console:'
	console_tail
else
	say "the guest never said a word (qemu's exit status $qemu_status)"
fi
[[ ! -s $work/qemu.log ]] || sed 's/^/  | qemu: /' "$work/qemu.log" >&2
exit 125

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Crypto: that what counts as a hit was encrypted, and what cannot be is refused. (That what was
# encrypted decrypts to the same, each set-up checks.)
#
# shellcheck disable=SC2154 # helpers set status and more

load ../helpers

setup_file() {
	bench -q -w0 -d1 crypto-encrypt
	UNAVAILABLE=
	((status == 0)) || UNAVAILABLE=$(sed 's/^bench: crypto-encrypt: unavailable: //' "$ERR")
	case $UNAVAILABLE in
	'' | \
		'this kernel has no BTF'* | \
		"this kernel has no cipher 'ecb(aes)'"* | \
		'this kernel has no bpf_crypto_encrypt(): requires Linux 6.10 or newer'* | \
		'this kernel cannot run a raw_tp program on request (BPF_PROG_TEST_RUN): requires Linux 5.10 or newer') ;;
	*) return 1 ;;
	esac
	export UNAVAILABLE
}

setup() {
	[[ -z $UNAVAILABLE ]] || skip "$UNAVAILABLE"
}

@test "each run of the program is a hit, of several producers too, and none fails" {
	local name record=$BATS_TEST_TMPDIR/record runs
	for name in crypto-encrypt crypto-decrypt; do
		rm -f "$record"
		bench -w0 -d1 --interval 100 -p 3 --verify -o "$record" "$name" --crypto-len 32
		exits 0
		runs=$(sed -n 's/^bench: note: verified: the kernel counts \([0-9]*\) runs too$/\1/p' "$ERR")
		# All but what came after the last sample, and one of the set-up
		calc 'hits < runs && hits > 0.5 * runs && !drops' runs="$runs" \
			hits="$(jq '[.samples[].hits] | add' "$record")" \
			drops="$(jq '[.samples[].drops] | add' "$record")"
	done
}

# The best sample at length $2, in M/s
best() {
	bench -w0 -d1 --interval 100 -a "$1" --crypto-len "$2" >/dev/null
	sed -nE 's/^Iter.*hits +([0-9.]+)M\/s.*/\1/p' "$OUT" | sort -g | tail -n1
}

@test "the more bytes, the longer it takes" {
	local name short long
	for name in crypto-encrypt crypto-decrypt; do
		short=$(best "$name" 16)
		long=$(best "$name" 256)
		calc 'short > 1.3 * long && long > 0' short="$short" long="$long"
	done
}

# bench refuses with 64 and one line like $1; that what the cipher takes is only known once it is there
refuses() {
	local like=$1
	shift
	bench "$@"
	exits 64
	no_output
	one_error_line "bench: $like"
}

@test "lengths that the cipher does not take are refused, with what it takes" {
	local len
	for len in 1 13 15 17 255; do
		refuses "--crypto-len: invalid value '$len': expected a multiple of 16, the block size of ecb(aes)" \
			-q -w0 -d1 crypto-decrypt --crypto-len "$len"
	done
}

@test "ciphers that need something else, or that there are not, are refused" {
	# Only where the kernel has it, too
	bench -q -w0 -d1 crypto-encrypt --crypto-cipher 'cbc(aes)'
	((status == 4)) || {
		exits 64
		one_error_line "bench: --crypto-cipher: invalid value 'cbc(aes)': expected a cipher without an initialization vector*"
	}
	refuses "--crypto-cipher: invalid value 'A b': expected a name as in /proc/crypto*" \
		crypto-encrypt --crypto-cipher 'A b'
	bench -q -w0 -d1 crypto-encrypt --crypto-cipher 'ecb(no-such)'
	exits 4
	no_output
	one_error_line "bench: crypto-encrypt: unavailable: this kernel has no cipher 'ecb(no-such)': requires *"
}

@test "without CAP_NET_ADMIN it is unavailable, and says so; with it, root is not needed" {
	local caps=+bpf,+perfmon
	bench_by setpriv --reuid 65534 --clear-groups --inh-caps=-all,$caps --ambient-caps=-all,$caps -- \
		-q -w0 -d1 crypto-encrypt
	exits 4
	no_output
	one_error_line 'bench: crypto-encrypt: unavailable: *: CAP_NET_ADMIN missing*'
	caps+=,+net_admin
	bench_by setpriv --reuid 65534 --clear-groups --inh-caps=-all,$caps --ambient-caps=-all,$caps -- \
		-q -w0 -d1 crypto-encrypt
	exits 0
}

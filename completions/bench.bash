# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Completion for bench(8) in bash: benchmarks, the options of those that are named, and the values
# that options may have. zsh loads it too: autoload -U bashcompinit && bashcompinit, then source it.

# What follows is made from the program's tables by `make docs`:
#   _bench_names                      all benchmarks
#   _bench_family NAME                number of the family that has the benchmark; or nothing
#   _bench_options FAMILY             its options; those of all benchmarks: core
#   _bench_argument FAMILY OPTION     what the option takes: FILE; =VALUE...; other. Else returns 1.
# tables: begin
_bench_names='bloom-lookup bloom-update bloom-false-positive hashmap-without-bloom hashmap-with-bloom count-global count-local crypto-encrypt crypto-decrypt bpf-hashmap-full-update bpf-rhashmap-full-update bpf-hashmap-lookup bpf-rhashmap-lookup htab-mem rhtab-mem lpm-trie-noop lpm-trie-baseline lpm-trie-lookup lpm-trie-insert lpm-trie-update lpm-trie-delete lpm-trie-free local-storage-cache-seq-get local-storage-cache-int-get local-storage-tasks-trace local-storage-cache-hashmap-control local-storage-create no-private-stack private-stack rename-base rename-kprobe rename-kretprobe rename-rawtp rename-fentry rename-fexit rename-fmodret rb-libbpf rb-custom pb-libbpf pb-custom sockmap strncmp-no-helper strncmp-helper bpf-nop trig-usermode-count trig-syscall-count trig-kernel-count trig-tp trig-rawtp trig-kprobe trig-kretprobe trig-kprobe-multi trig-kretprobe-multi trig-kprobe-multi-all trig-kretprobe-multi-all trig-fentry trig-fexit trig-fentry-sleep trig-fmodret trig-uprobe-nop trig-uretprobe-nop trig-uprobe-multi-nop trig-uretprobe-multi-nop trig-uprobe-push trig-uretprobe-push trig-uprobe-multi-push trig-uretprobe-multi-push trig-uprobe-ret trig-uretprobe-ret trig-uprobe-multi-ret trig-uretprobe-multi-ret trig-uprobe-nop5 trig-uretprobe-nop5 trig-uprobe-multi-nop5 trig-uretprobe-multi-nop5 trig-uprobe-nop10 trig-uretprobe-nop10 trig-uprobe-multi-nop10 trig-uretprobe-multi-nop10 trig-usdt-nop trig-usdt-nop5 trig-usdt-nop10 xdp-lb prog-run bpf-for bpf-loop'

_bench_family() {
	case $1 in
	bloom-false-positive | bloom-lookup | bloom-update | hashmap-with-bloom | hashmap-without-bloom) echo 0 ;;
	count-global | count-local) echo 1 ;;
	crypto-decrypt | crypto-encrypt) echo 2 ;;
	bpf-hashmap-ful-update | bpf-hashmap-full-update | bpf-rhashmap-full-update) echo 3 ;;
	bpf-hashmap-lookup | bpf-rhashmap-lookup) echo 4 ;;
	htab-mem | rhtab-mem) echo 5 ;;
	lpm-trie-baseline | lpm-trie-delete | lpm-trie-free | lpm-trie-insert | lpm-trie-lookup | lpm-trie-noop | lpm-trie-update) echo 6 ;;
	local-storage-cache-int-get | local-storage-cache-seq-get) echo 7 ;;
	local-storage-tasks-trace) echo 8 ;;
	local-storage-cache-hashmap-control) echo 9 ;;
	local-storage-create) echo 10 ;;
	no-private-stack | private-stack) echo 11 ;;
	rename-base | rename-fentry | rename-fexit | rename-fmodret | rename-kprobe | rename-kretprobe | rename-rawtp) echo 12 ;;
	pb-custom | pb-libbpf | rb-custom | rb-libbpf) echo 13 ;;
	sockmap) echo 14 ;;
	strncmp-helper | strncmp-no-helper) echo 15 ;;
	bpf-nop) echo 16 ;;
	trig-base | trig-fentry | trig-fentry-sleep | trig-fexit | trig-fmodret | trig-kernel-count | trig-kprobe | trig-kprobe-multi | trig-kprobe-multi-all | trig-kretprobe | trig-kretprobe-multi | trig-kretprobe-multi-all | trig-rawtp | trig-syscall-count | trig-tp | trig-uprobe-base | trig-uprobe-multi-nop | trig-uprobe-multi-nop10 | trig-uprobe-multi-nop5 | trig-uprobe-multi-push | trig-uprobe-multi-ret | trig-uprobe-nop | trig-uprobe-nop10 | trig-uprobe-nop5 | trig-uprobe-push | trig-uprobe-ret | trig-uprobe-with-nop | trig-uprobe-with-push | trig-uprobe-with-ret | trig-uprobe-without-nop | trig-uretprobe-multi-nop | trig-uretprobe-multi-nop10 | trig-uretprobe-multi-nop5 | trig-uretprobe-multi-push | trig-uretprobe-multi-ret | trig-uretprobe-nop | trig-uretprobe-nop10 | trig-uretprobe-nop5 | trig-uretprobe-push | trig-uretprobe-ret | trig-uretprobe-with-nop | trig-uretprobe-with-push | trig-uretprobe-with-ret | trig-uretprobe-without-nop | trig-usdt-nop | trig-usdt-nop10 | trig-usdt-nop5 | trig-usermode-count) echo 17 ;;
	xdp-lb) echo 18 ;;
	prog-run) echo 19 ;;
	bpf-for) echo 20 ;;
	bpf-loop) echo 21 ;;
	esac
}

_bench_options() {
	case $1 in
	core) echo '--list --all --duration --warmup --producers --consumers --affinity --prod-affinity --cons-affinity --verbose --quiet --interval --runs --attach --verify --counters --precision --output --resume --compare --match --figure --markdown --csv --fail-on-slower --assume-steady --show-env --show-tables --help --usage --version' ;;
	all) echo '--batch-size --cmp-str-len --crypto-cipher --crypto-len --ctx-in --data-in --delay-consumer --empty --hashmap_nr_keys_used --key_size --kthread_pid --list-scenarios --machine-readable --map_flags --max-unread --max_entries --nr-batch-iters --nr_entries --nr_hash_funcs --nr_loops --nr_maps --nr_procs --object --order --pb-pages --preallocated --prefix_len --producer-duration --program --random --rb-b2b --rb-batch-cnt --rb-bench-producer --rb-consume --rb-latency --rb-overwrite --rb-record-size --rb-sample-rate --rb-sampled --rb-size --rb-use-output --rb-wakeup --repeat --rx-normal --rx-pass --rx-strp --rx-verdict-egress --rx-verdict-ingress --scenario --seed --show-jit --stacktrace --storage-type --trig-batch-iters --trig-driver --tx-normal --tx-pass --tx-verdict-egress --tx-verdict-ingress --use-case --value-size --value_size' ;;
	0) echo '--nr_entries --nr_hash_funcs --value_size --seed' ;;
	2) echo '--crypto-len --crypto-cipher' ;;
	4) echo '--key_size --map_flags --max_entries --nr_entries --nr_loops --order --seed' ;;
	5) echo '--use-case --value-size --preallocated' ;;
	6) echo '--nr_entries --prefix_len --random --seed' ;;
	7) echo '--nr_maps --empty' ;;
	8) echo '--nr_procs --kthread_pid' ;;
	9) echo '--nr_maps --hashmap_nr_keys_used --seed --empty' ;;
	10) echo '--batch-size --storage-type' ;;
	11) echo '--nr-batch-iters --show-jit' ;;
	13) echo '--rb-b2b --rb-use-output --rb-batch-cnt --rb-sampled --rb-sample-rate --rb-size --pb-pages --rb-record-size --rb-wakeup --rb-consume --rb-overwrite --rb-bench-producer --rb-latency' ;;
	14) echo '--rx-verdict-egress --rx-verdict-ingress --rx-pass --rx-normal --tx-verdict-ingress --tx-verdict-egress --tx-pass --tx-normal --rx-strp --delay-consumer --producer-duration --max-unread' ;;
	15) echo '--cmp-str-len --seed' ;;
	17) echo '--trig-batch-iters --trig-driver --stacktrace' ;;
	18) echo '--scenario --list-scenarios --machine-readable' ;;
	19) echo '--object --program --data-in --ctx-in --repeat' ;;
	20) echo '--nr_loops' ;;
	21) echo '--nr_loops' ;;
	esac
}

_bench_argument() {
	case $1:$2 in
	core:--figure) echo '=all batches bpf cpu_ns create_errors creates drops empty failed_calls false_hits false_positives functions grace_ns grace_periods held hits important_hits in_section latency latency_median latency_p99 lookups max_of_batches mean median memory min_of_batches missed misses operations ops p99_of_batches peak_memory receive_calls received refused send_calls sent storages ticks timed total unread wakeups wakeups_per_1000' ;;
	core:--attach) echo '=auto fentry kprobe tp rawtp' ;;
	core:--compare | core:--output | core:-C | core:-o) echo 'FILE' ;;
	core:--cons-affinity | core:--consumers | core:--duration | core:--fail-on-slower | core:--interval | core:--match | core:--precision | core:--prod-affinity | core:--producers | core:--runs | core:--warmup | core:-c | core:-d | core:-p | core:-r | core:-w) echo 'other' ;;
	0:--nr_entries | 0:--nr_hash_funcs | 0:--seed | 0:--value_size) echo 'other' ;;
	2:--crypto-cipher | 2:--crypto-len) echo 'other' ;;
	4:--order) echo '=linear random' ;;
	4:--key_size | 4:--map_flags | 4:--max_entries | 4:--nr_entries | 4:--nr_loops | 4:--seed) echo 'other' ;;
	5:--use-case) echo '=overwrite batch_add_batch_del add_del_on_diff_cpu' ;;
	5:--value-size) echo 'other' ;;
	6:--nr_entries | 6:--prefix_len | 6:--seed) echo 'other' ;;
	7:--nr_maps) echo 'other' ;;
	8:--kthread_pid | 8:--nr_procs) echo 'other' ;;
	9:--hashmap_nr_keys_used | 9:--nr_maps | 9:--seed) echo 'other' ;;
	10:--storage-type) echo '=socket task' ;;
	10:--batch-size) echo 'other' ;;
	11:--nr-batch-iters) echo 'other' ;;
	13:--rb-wakeup) echo '=adaptive sampled always never' ;;
	13:--pb-pages | 13:--rb-batch-cnt | 13:--rb-consume | 13:--rb-record-size | 13:--rb-sample-rate | 13:--rb-size) echo 'other' ;;
	14:--delay-consumer | 14:--max-unread | 14:--producer-duration | 14:--rx-strp) echo 'other' ;;
	15:--cmp-str-len | 15:--seed) echo 'other' ;;
	17:--trig-driver) echo '=auto batch syscall' ;;
	17:--trig-batch-iters) echo 'other' ;;
	18:--scenario) echo '=tcp-v4-lru-hit tcp-v4-ch tcp-v6-lru-hit tcp-v6-ch udp-v4-lru-hit udp-v6-lru-hit tcp-v4v6-lru-hit tcp-v4-lru-diverse tcp-v4-ch-diverse tcp-v6-lru-diverse tcp-v6-ch-diverse udp-v4-lru-diverse tcp-v4-syn tcp-v4-rst-miss tcp-v4-lru-miss udp-v4-lru-miss tcp-v4-lru-warmup pass-v4-no-vip pass-v6-no-vip pass-v4-icmp pass-non-ip drop-v4-frag drop-v4-options drop-v6-frag' ;;
	19:--ctx-in | 19:--data-in | 19:--object) echo 'FILE' ;;
	19:--program | 19:--repeat) echo 'other' ;;
	20:--nr_loops) echo 'other' ;;
	21:--nr_loops) echo 'other' ;;
	*) return 1 ;;
	esac
}
# tables: end

# Families of the benchmarks that are named on the command line, each once
_bench_chosen() {
	local i word name family chosen=' '
	for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
		((i != COMP_CWORD)) || continue
		word=${COMP_WORDS[i]}
		word=${word#[\'\"]}
		word=${word%[\'\"]}
		[[ -n $word && $word != -* ]] || continue
		if [[ $word == *[*?]* ]]; then
			for name in $_bench_names; do
				# shellcheck disable=SC2053 # a pattern
				[[ $name == $word ]] || continue
				family=$(_bench_family "$name")
				[[ $chosen == *" $family "* ]] || chosen+="$family "
			done
		else
			family=$(_bench_family "$word")
			[[ -z $family || $chosen == *" $family "* ]] || chosen+="$family "
		fi
	done
	echo "$chosen"
}

_bench_files() {
	local IFS=$'\n'
	compopt -o filenames 2>/dev/null
	# shellcheck disable=SC2207 # one a line
	COMPREPLY=($(compgen -f -- "$cur"))
}

_bench_words() {
	# shellcheck disable=SC2207 # no word of the tables has a blank
	COMPREPLY=($(compgen -P "$prefix" -W "$1" -- "$cur"))
}

# The argument of option $1, which is one of family $2. Returns 1 if it takes none.
_bench_complete_argument() {
	local argument
	argument=$(_bench_argument "$2" "$1") || return 1
	case $argument in
	FILE) _bench_files ;;
	=*) _bench_words "${argument#=}" ;;
	esac
}

_bench() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} prefix=''
	local family chosen options
	COMPREPLY=()
	# --attach=tp is three words in bash, and one in zsh
	if [[ $cur == '=' ]]; then
		cur=''
	elif [[ $prev == '=' ]] && ((COMP_CWORD > 2)); then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $cur == --*=* ]]; then
		prev=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}
	fi
	chosen=$(_bench_chosen)
	if [[ $prev == -* ]]; then
		for family in core $chosen; do
			! _bench_complete_argument "$prev" "$family" || return 0
		done
	fi
	if [[ $cur == -* ]]; then
		options=$(_bench_options core)
		for family in $chosen; do
			options+=" $(_bench_options "$family")"
		done
		_bench_words "$options"
		# The benchmark may be named after its options
		if [[ -z ${COMPREPLY[*]} && $chosen == ' ' ]]; then
			_bench_words "$(_bench_options all)"
		fi
	elif [[ " ${COMP_WORDS[*]} " == *' -C '* || " ${COMP_WORDS[*]} " == *' --compare '* ]]; then
		_bench_files
	else
		_bench_words "$_bench_names"
	fi
	return 0
}

complete -F _bench bench

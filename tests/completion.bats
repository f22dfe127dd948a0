#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# Completion in a real bash.

bats_require_minimum_version 1.5.0

BENCH=$(realpath -- "${BENCH:-./bench}")
COMPLETION=$(realpath -- completions/bench.bash)

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

# completed WORD...: what bash offers for the last word, one a line
completed() {
	bash --norc --noprofile -c '
		. "$0"
		[[ $(complete -p bench) == "complete -F _bench bench" ]] || exit 1
		COMP_WORDS=(bench "$@") COMP_CWORD=$#
		_bench bench "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' "$COMPLETION" "$@"
}

# offers EXPECTED WORD...
offers() {
	local expected=$1
	shift
	diff <(completed "$@" | sort) <(tr ' ' '\n' <<<"$expected" | sort)
}

@test "names of benchmarks" {
	offers 'rb-libbpf rb-custom' rb-
	offers 'rb-custom' -a -w3 -d10 rb-cu
	offers 'trig-usdt-nop trig-usdt-nop10 trig-usdt-nop5' rb-custom trig-usdt
	diff <(completed '' | sort) <("$BENCH" -l | sed -n 's/^- //p' | sort)
	# an alias works, but is not offered
	offers 'bpf-hashmap-full-update' bpf-hashmap-ful
}

@test "options of the benchmarks that are named, and of all" {
	offers '--rb-wakeup' rb-custom --rb-w
	offers '--rb-wakeup' --rb-b2b pb-libbpf --rb-w
	offers '--nr_loops' bpf-loop --nr
	offers '' bpf-loop --rb-
	offers '--nr_loops --nr_entries --nr_hash_funcs' bpf-loop 'bloom-*' --nr
	offers '--nr_entries --nr_hash_funcs' '"bloom-*"' --nr
	offers '--prod-affinity --producers' bpf-loop --prod
	# behind it, since it is named there
	comp=$(bash --norc -c '. "$0"; COMP_WORDS=(bench --nr bpf-loop) COMP_CWORD=1; _bench
		printf "%s " "${COMPREPLY[@]}"' "$COMPLETION")
	[ "$comp" = '--nr_loops ' ]
	# no benchmark yet: those of all
	completed --rb-w | grep -qx -e --rb-wakeup
	run -1 grep -e '^--rb' <(completed --)
}

@test "every option of every benchmark, and every value" {
	"$BENCH" --show-tables >tables
	while read -r bench options; do
		# shellcheck disable=SC2086 # words
		diff <(completed "$bench" -- | sort) <(printf '%s\n' $options | sort -u)
	done < <(jq -r '[.options[].name] as $core | .families[]
		| [.benchmarks[0].name] + (($core + [.options[].name]) | map("--" + .)) | join(" ")' tables)
	nr=0
	while read -r bench option values; do
		offers "$values" "$bench" "--$option" ''
		nr=$((nr + 1))
	done < <(jq -r '.options as $core | .families[] | .benchmarks[0].name as $b | ($core + .options)[]
		| select(.choices) | [$b, .name] + .choices | join(" ")' tables)
	((nr > 10))
}

@test "values of options, in each spelling" {
	offers 'tp' rb-custom --attach t
	offers 'tp' rb-custom --attach = t
	offers 'auto fentry kprobe tp rawtp' rb-custom --attach =
	# as zsh has it
	offers '--attach=tp' rb-custom --attach=t
	offers 'hits' -C a b --figure hit
	# a number: nothing
	offers '' rb-custom -d ''
	offers '' rb-custom --rb-size ''
	# a flag takes none: the next word is a benchmark
	offers 'rb-custom' --rb-b2b rb-c
}

@test "files" {
	touch a.jsonl 'b c.jsonl' other
	diff <(completed -o '' | sort) <(printf '%s\n' a.jsonl 'b c.jsonl' other)
	diff <(completed --output = a) <(echo a.jsonl)
	diff <(completed -C '' | sort) <(printf '%s\n' a.jsonl 'b c.jsonl' other)
	diff <(completed -C a.jsonl b) <(echo 'b c.jsonl')
}

@test "zsh loads it too" {
	command -v zsh >/dev/null || skip 'zsh not found'
	# It compares with what is typed itself, after compgen
	complete_in_zsh() {
		zsh -f -c 'autoload -U compinit bashcompinit && compinit -D && bashcompinit && . "$0"
			COMP_WORDS=(bench "$@") COMP_CWORD=$#
			compgen -F _bench -- "${@[-1]}"' "$COMPLETION" "$@" | grep -e "^${*: -1}" | sort
	}
	diff <(complete_in_zsh rb-) <(printf '%s\n' rb-custom rb-libbpf)
	diff <(complete_in_zsh 'bloom-*' bpf-loop --nr) <(printf '%s\n' --nr_entries --nr_hash_funcs --nr_loops)
	diff <(complete_in_zsh rb-custom --attach=t) <(echo --attach=tp)
	diff <(complete_in_zsh rb-custom --attach t) <(echo tp)
}

# What a user sees who presses the key
@test "in an interactive shell, by its key" {
	command -v script >/dev/null || skip 'script not found'
	cat >bench <<-'END'
		#!/bin/sh
		printf '<%s>' "$@" >>ran
		echo >>ran
	END
	chmod +x bench
	{
		sleep 1
		printf 'PS1=\n. %q\n' "$COMPLETION"
		sleep 1
		printf './bench trig-usdt-nop5\t\n'
		printf './bench rb-cus\t--rb-wake\tadap\t\n'
		printf './bench rb-custom --attach=fe\t\n'
		printf './bench -C ra\t\n'
		sleep 1
		printf 'exit\n'
		sleep 0.5
	} | TERM=dumb timeout 30 script -qec 'bash --norc --noprofile -i' pty >/dev/null 3>&- 4>&-
	cat pty ran
	diff ran - <<-'END'
		<trig-usdt-nop5>
		<rb-custom><--rb-wakeup><adaptive>
		<rb-custom><--attach=fentry>
		<-C><ran>
	END
}

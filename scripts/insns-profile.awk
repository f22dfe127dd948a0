# SPDX-License-Identifier: GPL-2.0
#
# A profile by function, for scripts/insns.sh: "INSTRUCTIONS WHERE SYMBOL", in no order. Variable: run, the
# number of the command line. Files: the sorted symbols "ADDRESS TYPE NAME [MODULE]", and what
# scripts/plugin/insns.c wrote.

FNR == 1 {
	file++
}

# ---- symbols

# Of two names at one address: not one of where a section begins or ends; then the global one, then
# the shorter one
function better(type, name, type2, name2) {
	if ((name ~ /_(start|begin|end)$/) != (name2 ~ /_(start|begin|end)$/))
		return name !~ /_(start|begin|end)$/
	if ((type ~ /[TW]/) != (type2 ~ /[TW]/))
		return type ~ /[TW]/
	return length(name) < length(name2)
}

# A symbol's row. Names that only the compiler or the load has changed are the same in two kernels.
function row_of(name, module) {
	if (module == "[end]")
		return "user (other processes)"
	if (module == "[bpf]") {
		sub(/^bpf_prog_[0-9a-f]+_/, "", name)
		sub(/^bpf_trampoline_[0-9_]+$/, "bpf_trampoline", name)
		return "bpf " name
	}
	while (sub(/\.(isra|constprop|part|cold)(\.[0-9]+)?$/, "", name))
		;
	return (module == "[bench]" ? "user " : "kernel ") name
}

file == 1 {
	if (nr && addr[nr] == $1 "") {
		if (!better($2, $3, type[nr], name[nr]))
			next
		nr--
	}
	addr[++nr] = $1 ""
	type[nr] = $2
	name[nr] = $3
	module[nr] = $4
	next
}

# ---- blocks

# The last symbol that begins at or before an address; 0: none
function symbol_at(a,    low, high, mid) {
	low = 0
	high = nr
	while (low < high) {
		mid = int((low + high + 1) / 2)
		if (addr[mid] <= a)
			low = mid
		else
			high = mid - 1
	}
	return low
}

# Nothing is named for 16 MB around: code that has come or gone since the symbols were taken
function is_nowhere(a, i) {
	return a ~ /^[89a-f]/ && (!i || substr(addr[i], 1, 10) != substr(a, 1, 10)) && \
		(i == nr || substr(addr[i + 1], 1, 10) != substr(a, 1, 10))
}

$1 == "run" {
	wanted = $2 == run
	next
}

wanted && $1 == "full" {
	print "insns: the plugin had no room for all code" >"/dev/stderr"
	next
}

wanted {
	if ($1 == "i") {
		row = "kernel (interrupts)"
	} else {
		i = symbol_at($2 "")
		if (is_nowhere($2 "", i))
			row = "kernel (unknown)"
		else
			row = i ? row_of(name[i], module[i]) : "user (other processes)"
		# Beside bench, only what the kernel maps into every process is the program's own
		if ($1 == "o" && name[i] !~ /^\[/)
			row = "user (other processes)"
	}
	count[row] += $3
}

END {
	for (row in count)
		printf "%.0f %s\n", count[row], row
}

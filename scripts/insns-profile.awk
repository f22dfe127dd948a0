# SPDX-License-Identifier: GPL-2.0
#
# Instructions per operation by function, for scripts/insns.sh. Variables: run, the number of the
# command line; totals, of each column "COLUMN OPERATIONS NS". Files: for each column "column=NUMBER",
# its sorted symbols "ADDRESS TYPE NAME [MODULE]", and what scripts/plugin/insns.c wrote.

BEGIN {
	n = split(totals, word, " ")
	for (i = 1; i < n; i += 3) {
		columns[++nr_columns] = word[i]
		ops[word[i]] = word[i + 1]
		ns[word[i]] = word[i + 2]
	}
}

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

file % 2 == 1 {
	if (FNR == 1)
		nr = 0
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
	count[row, column] += $3
	total[column] += $3
	rows[row] = 1
}

# ---- the report

function print_row(row,    i, c, x, first, last) {
	printf " "
	for (i = 1; i <= nr_columns; i++) {
		c = columns[i]
		x = count[row, c] / ops[c]
		printf " %10.2f %6.2f%% ", x, total[c] ? 100 * count[row, c] / total[c] : 0
		if (i == 1)
			first = x
		last = x
	}
	if (nr_columns == 2)
		printf " %+10.2f ", last - first
	printf " %s\n", row
}

END {
	for (row in rows) {
		most = sum = 0
		for (i = 1; i <= nr_columns; i++) {
			c = columns[i]
			share = total[c] ? count[row, c] / total[c] : 0
			most = share > most ? share : most
			sum += share
		}
		# What is not the measured program's is always there
		if (most >= 0.005 || row ~ /\((interrupts|other processes)\)$/) {
			shown[++nr_shown] = row
			order[nr_shown] = sum
			continue
		}
		split(row, word, " ")
		others[word[1] " other"] = 1
		for (i = 1; i <= nr_columns; i++)
			count[word[1] " other", columns[i]] += count[row, columns[i]]
	}
	for (i = 2; i <= nr_shown; i++) {
		for (j = i; j > 1 && order[j - 1] < order[j]; j--) {
			x = order[j]
			order[j] = order[j - 1]
			order[j - 1] = x
			x = shown[j]
			shown[j] = shown[j - 1]
			shown[j - 1] = x
		}
	}
	for (i = 1; i <= nr_shown; i++)
		print_row(shown[i])
	split("kernel bpf user", word, " ")
	for (i = 1; i <= 3; i++)
		if (word[i] " other" in others)
			print_row(word[i] " other")
	# What the clock says beyond the instructions: the CPU slept
	for (i = 1; i <= nr_columns; i++) {
		c = columns[i]
		if (ns[c] - total[c] > 0.005 * ns[c]) {
			count["idle", c] = ns[c] - total[c]
			slept = 1
		}
	}
	if (slept)
		print_row("idle")
}

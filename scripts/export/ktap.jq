# SPDX-License-Identifier: GPL-2.0
#
# KTAP version 1, as kselftests print it: one result a benchmark and setting, its figures before it.

include "common";

# A # would begin a directive
def plain: gsub("[\n\r]"; " ") | gsub("#"; "");

by_benchmark
| "KTAP version 1",
  "1..\(length)",
  (to_entries[] | (.key + 1) as $n | .value
	| (.figures[] | "# \(.name): \(.median | digits6) \(.unit)"
		+ if .lowest == .highest then "" else " (\(.lowest | digits6) to \(.highest | digits6))" end),
	  if .why then "ok \($n) \(.name) # SKIP \(.why | plain)"
	  elif .failed > 0 or .figures == [] then
		"# \(.failed) of \(.runs) runs failed or were cut short",
		"not ok \($n) \(.name)"
	  else "ok \($n) \(.name)" end)

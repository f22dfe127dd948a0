# SPDX-License-Identifier: GPL-2.0
#
# The signals that LAVA's shell reads: one a benchmark and setting, the median of its runs.

include "common";

by_benchmark[] | "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=\(.name) RESULT=" +
	if .why then "skip" elif .failed > 0 or .figures == [] then "fail"
	else "pass UNITS=\(.figures[0].unit | short_unit) MEASUREMENT=\(.figures[0].median | digits6)" end + ">"

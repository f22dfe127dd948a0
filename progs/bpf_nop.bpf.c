// SPDX-License-Identifier: GPL-2.0
/* Turns of a loop that do nothing. */
#include "timing.bpf.h"

char LICENSE[] SEC("license") = "GPL";

TIMED_RAW_TP(bpf_nop)
{
}

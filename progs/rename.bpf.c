// SPDX-License-Identifier: GPL-2.0
/* Programs on the renaming of a thread; they count their runs, ours and others' apart. */
#include "own_runs.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?kprobe")
int rename_probe(void *ctx)
{
	count_run();
	return 0;
}

SEC("?raw_tracepoint")
int rename_rawtp(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fentry")
int rename_fentry(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fexit")
int rename_fexit(void *ctx)
{
	count_run();
	return 0;
}

SEC("?fmod_ret")
int rename_fmodret(void *ctx)
{
	count_run();
	return 0;
}

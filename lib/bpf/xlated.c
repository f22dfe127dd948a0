// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "lib/bpf/xlated.h"

#ifndef BPF_PSEUDO_KFUNC_CALL
#define BPF_PSEUDO_KFUNC_CALL 2 /* Linux 5.13 */
#endif

static bool is_call(const struct bpf_insn *insn, enum xlated_call call)
{
	return insn->code == (BPF_JMP | BPF_CALL) &&
	       insn->src_reg == (call == XLATED_KFUNC ? BPF_PSEUDO_KFUNC_CALL : 0);
}

int xlated_calls(int prog_fd, enum xlated_call call)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info), bytes, i;
	struct bpf_insn *insns;
	int ret;

	ret = bpf_obj_get_info_by_fd(prog_fd, &info, &size);
	if (ret)
		return ret;
	bytes = info.xlated_prog_len;
	insns = calloc(1, bytes + 1);
	if (!insns)
		return -ENOMEM;
	info = (struct bpf_prog_info){
		.xlated_prog_len = bytes,
		.xlated_prog_insns = (uintptr_t)insns,
	};
	size = sizeof(info);
	ret = bpf_obj_get_info_by_fd(prog_fd, &info, &size);
	/* No pointer: this user may not see them. */
	if (!ret && !info.xlated_prog_insns)
		ret = -EPERM;
	for (i = 0; !ret && i < bytes / sizeof(*insns); i++)
		ret = is_call(&insns[i], call);
	free(insns);
	return ret;
}

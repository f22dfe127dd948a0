/* SPDX-License-Identifier: GPL-2.0 */
/* What the verifier made of a loaded program. */
#ifndef LIB_BPF_XLATED_H
#define LIB_BPF_XLATED_H

enum xlated_call {
	XLATED_HELPER, /* of a helper */
	XLATED_KFUNC, /* of a kernel function */
};

/*
 * Does the program still have such a call, or has the verifier put instructions in the place of
 * all? 1: it has; 0: it has not; -errno: the kernel does not say.
 */
int xlated_calls(int prog_fd, enum xlated_call call);

#endif /* LIB_BPF_XLATED_H */

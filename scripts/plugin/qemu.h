/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of qemu's interface for TCG plugins that insns.c uses, declared here because
 * distributions do not package qemu's header. Source: qemu's documentation of
 * include/qemu/qemu-plugin.h, interface versions 1 (qemu 4.2 to 8.2) to 5 (qemu 10).
 */
#ifndef PLUGIN_QEMU_H
#define PLUGIN_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_EXPORT __attribute__((visibility("default")))
/* Not in every version: NULL where qemu lacks it. */
#define QEMU_OPTIONAL __attribute__((weak))

typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

struct qemu_info_t {
	const char *target_name; /* "x86_64", "aarch64" */
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

/* A counter in a scoreboard: qemu keeps one for each virtual CPU. */
struct qemu_plugin_u64 {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

enum qemu_plugin_op {
	QEMU_PLUGIN_INLINE_ADD_U64,
};

enum qemu_plugin_cb_flags {
	QEMU_PLUGIN_CB_NO_REGS,
};

/* What qemu looks up in a plugin. */
extern QEMU_EXPORT int qemu_plugin_version;
QEMU_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
				    char **argv);

/* All versions */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int vcpu, void *data),
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_reset(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

/*
 * Version 1 and 2: returns the instruction's bytes, and looks at nothing but @insn. From version 3
 * on: copies at most @len of them to @dest, and returns how many. The result is an integer or a
 * pointer, of the same size.
 */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len);

/* Version 1 only (until qemu 8.2) */
QEMU_OPTIONAL void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
							    enum qemu_plugin_op op, void *ptr,
							    uint64_t imm);

/* From version 2 on (qemu 9) */
QEMU_OPTIONAL struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size);
QEMU_OPTIONAL void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score,
						unsigned int vcpu);
QEMU_OPTIONAL void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
								     enum qemu_plugin_op op,
								     struct qemu_plugin_u64 entry,
								     uint64_t imm);

#endif /* PLUGIN_QEMU_H */

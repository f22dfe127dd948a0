// SPDX-License-Identifier: GPL-2.0
/* scripts/plugin/insns.c, with a qemu of each interface played by this file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "scripts/plugin/insns.c"

/* ---- qemu: translates a block when told to, and runs it */

#define MAX_INSNS 4

struct qemu_plugin_insn {
	uint64_t addr;
	size_t size;
	unsigned char bytes[16];
};

struct qemu_plugin_tb {
	struct qemu_plugin_insn insns[MAX_INSNS];
	size_t n;
	void (*cb)(unsigned int vcpu, void *data);
	void *data;
	uint64_t *count;
	uint64_t add;
};

struct qemu_plugin_scoreboard {
	void *data;
};

static struct {
	int version;
	void (*translate)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
	void (*reset)(qemu_plugin_id_t id);
	int inlined, inlined_per_vcpu;
} qemu;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t id,
						      struct qemu_plugin_tb *tb))
{
	qemu.translate = cb;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int vcpu, void *data),
					  enum qemu_plugin_cb_flags flags, void *data)
{
	tb->cb = cb;
	tb->data = data;
}

void qemu_plugin_reset(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id))
{
	qemu.translate = NULL;
	qemu.reset = cb;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb)
{
	return tb->n;
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb)
{
	return tb->insns[0].addr;
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t idx)
{
	return (struct qemu_plugin_insn *)&tb->insns[idx];
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn)
{
	return insn->addr;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn)
{
	return insn->size;
}

uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t len)
{
	if (qemu.version < 3)
		return (uintptr_t)insn->bytes;
	assert_true(len <= insn->size);
	memcpy(dest, insn->bytes, len);
	return len;
}

void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					      void *ptr, uint64_t imm)
{
	assert_int_equal(qemu.version, 1);
	tb->count = ptr;
	tb->add = imm;
	qemu.inlined++;
}

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t element_size)
{
	struct qemu_plugin_scoreboard *score = malloc(sizeof(*score));

	score->data = calloc(1, element_size);
	return score;
}

void *qemu_plugin_scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu)
{
	assert_int_equal(vcpu, 0);
	return score->data;
}

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
						       enum qemu_plugin_op op,
						       struct qemu_plugin_u64 entry, uint64_t imm)
{
	assert_true(qemu.version >= 2);
	tb->count = (uint64_t *)((char *)entry.score->data + entry.offset);
	tb->add = imm;
	qemu.inlined_per_vcpu++;
}

/* Code of one-byte instructions */
static struct qemu_plugin_tb block_of(uint64_t addr, const char *bytes)
{
	struct qemu_plugin_tb tb = { .n = strlen(bytes) };
	size_t i;

	for (i = 0; i < tb.n; i++)
		tb.insns[i] = (struct qemu_plugin_insn){ addr + i, 1, { bytes[i] } };
	return tb;
}

static void run(struct qemu_plugin_tb *tb, int times)
{
	while (times--) {
		/* As qemu does: the call first */
		if (tb->cb)
			tb->cb(0, tb->data);
		if (tb->count)
			*tb->count += tb->add;
	}
	if (qemu.reset) {
		void (*cb)(qemu_plugin_id_t id) = qemu.reset;

		qemu.reset = NULL;
		cb(1);
	}
}

/* Translates the code, and runs it. */
static void execute(uint64_t addr, const char *bytes, int times)
{
	struct qemu_plugin_tb tb = block_of(addr, bytes);

	qemu.translate(1, &tb);
	run(&tb, times);
}

/*
 * ---- the static bench: begin at 0x1000, end at 0x1010, a loop at 0x1020, pause at 0x1030, resume at
 * 0x1038
 */

#define CODE_ADDR 0x1000

static void write_bench(const char *name)
{
	static const char strings[] = "\0bench_measure_begin\0bench_measure_end"
				      "\0bench_measure_pause\0bench_measure_resume";
	struct {
		Elf64_Ehdr ehdr;
		Elf64_Phdr phdr;
		Elf64_Shdr shdrs[3];
		Elf64_Sym syms[5];
		char strings[96];
		char code[64];
	} elf = {};
	FILE *f = fopen(name, "w");

	memcpy(elf.ehdr.e_ident, ELFMAG, SELFMAG);
	elf.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	elf.ehdr.e_type = ET_EXEC;
	elf.ehdr.e_phoff = offsetof(typeof(elf), phdr);
	elf.ehdr.e_phnum = 1;
	elf.ehdr.e_shoff = offsetof(typeof(elf), shdrs);
	elf.ehdr.e_shnum = 3;
	elf.phdr = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = offsetof(typeof(elf), code),
		.p_vaddr = CODE_ADDR,
		.p_filesz = sizeof(elf.code),
	};
	elf.shdrs[1] = (Elf64_Shdr){
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(typeof(elf), syms),
		.sh_size = sizeof(elf.syms),
		.sh_link = 2,
	};
	elf.shdrs[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(typeof(elf), strings),
		.sh_size = sizeof(elf.strings),
	};
	elf.syms[1] = (Elf64_Sym){ .st_name = 1, .st_value = CODE_ADDR };
	elf.syms[2] = (Elf64_Sym){ .st_name = 21, .st_value = CODE_ADDR + 0x10 };
	elf.syms[3] = (Elf64_Sym){ .st_name = 39, .st_value = CODE_ADDR + 0x30 };
	elf.syms[4] = (Elf64_Sym){ .st_name = 59, .st_value = CODE_ADDR + 0x38 };
	memcpy(elf.strings, strings, sizeof(strings));
	memcpy(elf.code, "B", 1);
	memcpy(elf.code + 0x10, "E", 1);
	memcpy(elf.code + 0x20, "loop", 4);
	memcpy(elf.code + 0x30, "P", 1);
	memcpy(elf.code + 0x38, "R", 1);
	assert_non_null(f);
	assert_int_equal(fwrite(&elf, sizeof(elf), 1, f), 1);
	fclose(f);
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_text(const char *name, const char *text)
{
	unsigned char *data = NULL;
	size_t size = 0;

	assert_true(read_whole(name, &data, &size));
	data[size - 1] = '\0';
	assert_string_equal(data, text);
	free(data);
}

/* The plugin itself keeps all of it until qemu ends. */
static void forget(void)
{
	size_t i;

	for (i = 0; i < MAX_CHUNKS && state.chunks[i]; i++) {
		free(state.chunks[i]->counts);
		free(state.chunks[i]->score);
		free(state.chunks[i]);
	}
	free(state.elf);
	if (state.out) {
		free((char *)state.marks_name);
		fclose(state.out);
	}
	memset(&state, 0, sizeof(state));
}

static int install(int version, const char *target)
{
	char bench[] = "bench=bench", marks[] = "marks=marks", out[] = "out=out";
	char *argv[] = { bench, marks, out };
	const struct qemu_info_t info = {
		.target_name = target,
		.version = { .min = 1, .cur = version },
		.system_emulation = true,
		.system = { .smp_vcpus = 1, .max_vcpus = 1 },
	};

	forget();
	memset(&qemu, 0, sizeof(qemu));
	qemu.version = version;
	return qemu_plugin_install(1, &info, 3, argv);
}

#define KERNEL 0xffffffff81000000

static void counts_with(int version)
{
	write_bench("bench");
	write_text("marks", "noise\nirq ffffffff81000100\nswitch ffffffff81000200\nrun 7\n");
	assert_int_equal(install(version, "x86_64"), 0);

	/*
	 * Before the first measurement nothing is counted, and another program has a B there, too.
	 */
	execute(KERNEL, "abc", 1000);
	execute(CODE_ADDR, "b", 1);
	assert_false(state.armed);
	execute(CODE_ADDR, "B", 1);
	assert_true(state.armed);

	execute(KERNEL, "abc", 10);
	execute(KERNEL, "abc", 10); /* translated again */
	execute(CODE_ADDR + 0x20, "loop", 5);
	execute(CODE_ADDR + 0x20, "lo\xccp", 1); /* with a uprobe in it */
	execute(CODE_ADDR + 0x20, "abcd", 2); /* another program's */
	execute(0x500000, "x", 3);

	/* An interrupt runs code that runs outside of it as well, and ends by a switch. */
	execute(KERNEL + 0x100, "i", 1);
	execute(KERNEL, "abc", 2);
	execute(KERNEL + 0x200, "s", 1);
	execute(KERNEL, "abc", 1);

	/* Neither known nor new code counts in a pause, in an interrupt or not. */
	execute(CODE_ADDR + 0x30, "P", 1);
	execute(KERNEL, "abc", 100);
	execute(KERNEL + 0x300, "new", 1);
	execute(KERNEL + 0x100, "i", 1);
	execute(KERNEL, "abc", 100);
	execute(KERNEL + 0x200, "s", 1);
	execute(CODE_ADDR + 0x38, "R", 1);

	execute(CODE_ADDR + 0x10, "E", 1);
	execute(KERNEL, "abc", 1000);

	/* The next run starts from zero, here in a pause. */
	write_text("marks", "run 8\n");
	execute(CODE_ADDR + 0x30, "P", 1);
	execute(CODE_ADDR, "B", 1);
	execute(KERNEL, "abc", 100);
	execute(CODE_ADDR + 0x38, "R", 1);
	execute(KERNEL, "abc", 1);
	execute(CODE_ADDR + 0x10, "E", 1);

	assert_text("out", "run 7\n"
			   "k ffffffff81000000 63\n"
			   "i ffffffff81000000 6\n"
			   "b 0000000000001020 24\n"
			   "o 0000000000001020 8\n"
			   "o 0000000000500000 3\n"
			   "i ffffffff81000100 1\n"
			   "k ffffffff81000200 1\n"
			   "b 0000000000001038 1\n"
			   "run 8\n"
			   "k ffffffff81000000 3\n"
			   "b 0000000000001038 1");
	assert_int_equal(!!qemu.inlined, version == 1);
	assert_int_equal(!!qemu.inlined_per_vcpu, version > 1);
}

static void counts_with_1(void **unused)
{
	counts_with(1);
}

static void counts_with_2(void **unused)
{
	counts_with(2);
}

static void counts_with_3(void **unused)
{
	counts_with(3);
}

static void knows_the_return_of_an_interrupt(void **unused)
{
	assert_int_equal(install(1, "x86_64"), 0);
	assert_true(is_irq_return((unsigned char *)"\x48\xcf", 2));
	assert_false(is_irq_return((unsigned char *)"\xcf", 1));
	assert_true(is_breakpoint((unsigned char *)"\xcc", 1));
	assert_int_equal(install(1, "aarch64"), 0);
	assert_true(is_irq_return((unsigned char *)"\xe0\x03\x9f\xd6", 4));
	assert_true(is_breakpoint((unsigned char *)"\xa0\x00\x20\xd4", 4));
	assert_false(is_breakpoint((unsigned char *)"\xcc", 1));
}

static void refuses(void **unused)
{
	assert_int_equal(install(1, "riscv64"), -1);
	write_text("bench",
		   "no ELF file at all, but long enough to be taken for the header of one, "
		   "which has 64 bytes");
	assert_int_equal(install(1, "x86_64"), -1);
	unlink("bench");
	assert_int_equal(install(1, "x86_64"), -1);
}

static int enter_folder(void **unused)
{
	static char name[] = "/tmp/insns-plugin.XXXXXX";

	return mkdtemp(name) ? chdir(name) : -1;
}

static int leave_folder(void **unused)
{
	char name[64];

	forget();
	unlink("bench");
	unlink("marks");
	unlink("out");
	return getcwd(name, sizeof(name)) ? rmdir(name) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_with_1), cmocka_unit_test(counts_with_2),
		cmocka_unit_test(counts_with_3), cmocka_unit_test(knows_the_return_of_an_interrupt),
		cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

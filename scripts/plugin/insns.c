// SPDX-License-Identifier: GPL-2.0
/*
 * A TCG plugin for qemu: where the guest's instructions go while bench measures. Used by
 * scripts/insns.sh --profile, in a guest with one virtual CPU.
 *
 * Arguments:
 *   bench=FILE   the static bench that the guest runs. Its functions bench_measure_begin(), _pause(),
 *                _resume() and _end() tell when to count
 *   marks=FILE   read when a measurement begins: lines "irq ADDRESS" and "switch ADDRESS", of
 *                functions at which an interrupt begins and the task is switched (before the
 *                first measurement only); and "run NUMBER", of which the last one counts. Lines
 *                that do not look so are skipped
 *   out=FILE     for each measurement: a line "run NUMBER", then lines "WHERE ADDRESS INSTRUCTIONS",
 *                one per translation block that ran. WHERE is k (kernel), i (kernel, in an
 *                interrupt), b (bench) or o (other code in user space)
 *
 * A block is counted when it begins. So what is left of it counts as well where an exception ends
 * it early, which is rare.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"

/* The interface that qemu is asked for: 1 up to qemu 8.2, 2 from qemu 9 on, which refuses 1. */
#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif

#define CHUNK_BLOCKS 4096
#define MAX_CHUNKS   1024
#define MAX_MARKS    1024
#define HASH_SIZE    (2 * CHUNK_BLOCKS * MAX_CHUNKS)
#define KERNEL_START (1ULL << 63)

int qemu_plugin_version = PLUGIN_VERSION;

struct block {
	uint64_t addr;
	uint32_t n_insns;
	char where; /* k, b or o */
};

/* qemu adds to counts[], so that a chunk never moves. */
struct chunk {
	uint64_t *counts; /* instructions */
	struct qemu_plugin_scoreboard *score; /* from interface version 2 on: where counts[] is */
	uint64_t at_irq[CHUNK_BLOCKS]; /* counts[] when the interrupt began */
	uint64_t in_irq[CHUNK_BLOCKS]; /* of counts[], those in interrupts */
	uint64_t at_pause[2][CHUNK_BLOCKS]; /* counts[] and in_irq[] when the pause began */
	struct block blocks[CHUNK_BLOCKS];
};

static const char *const mark_names[] = { "bench_measure_begin", "bench_measure_pause",
					  "bench_measure_resume", "bench_measure_end" };

enum mark {
	MARK_BEGIN,
	MARK_PAUSE,
	MARK_RESUME,
	MARK_END,
	MARK_NR_IN_BENCH,
	MARK_IRQ = MARK_NR_IN_BENCH,
	MARK_IRQ_RETURN,
	MARK_SWITCH,
};

static struct {
	int version; /* of qemu's interface */
	bool x86;
	const char *marks_name;
	FILE *out;

	unsigned char *elf; /* the static bench */
	size_t elf_size;
	uint64_t in_bench[MARK_NR_IN_BENCH]; /* addresses of its marks */

	bool armed; /* blocks are counted as soon as they are translated */
	bool measuring;
	bool paused;
	unsigned int run; /* as the marks say */
	unsigned int irq_depth;
	uint64_t irqs[MAX_MARKS], switches[MAX_MARKS];
	size_t nr_irqs, nr_switches;

	struct chunk *chunks[MAX_CHUNKS];
	size_t nr_blocks;
	uint32_t hash[HASH_SIZE]; /* number of a block + 1 */
	bool full;
} state;

/* ---- bench */

static bool read_whole(const char *name, unsigned char **data, size_t *size)
{
	FILE *f = fopen(name, "r");
	bool ok = false;
	long len;

	if (!f)
		return false;
	if (!fseek(f, 0, SEEK_END) && (len = ftell(f)) > 0) {
		rewind(f);
		*size = len;
		*data = malloc(len);
		ok = *data && fread(*data, 1, len, f) == (size_t)len;
	}
	fclose(f);
	return ok;
}

static bool elf_has(uint64_t offset, uint64_t size)
{
	return offset <= state.elf_size && size <= state.elf_size - offset;
}

/* Finds the addresses of the marks. */
static bool read_symbols(void)
{
	const Elf64_Ehdr *ehdr = (void *)state.elf;
	const Elf64_Shdr *shdrs, *symtab = NULL, *strtab;
	const Elf64_Sym *syms;
	const char *name;
	size_t i, mark;

	if (!elf_has(0, sizeof(*ehdr)) || memcmp(ehdr->e_ident, ELFMAG, SELFMAG) ||
	    ehdr->e_ident[EI_CLASS] != ELFCLASS64 || ehdr->e_type != ET_EXEC ||
	    !elf_has(ehdr->e_shoff, ehdr->e_shnum * sizeof(*shdrs)) ||
	    !elf_has(ehdr->e_phoff, ehdr->e_phnum * sizeof(Elf64_Phdr)))
		return false;
	shdrs = (void *)(state.elf + ehdr->e_shoff);
	for (i = 0; i < ehdr->e_shnum; i++)
		if (shdrs[i].sh_type == SHT_SYMTAB)
			symtab = &shdrs[i];
	if (!symtab || symtab->sh_link >= ehdr->e_shnum)
		return false;
	strtab = &shdrs[symtab->sh_link];
	if (!elf_has(symtab->sh_offset, symtab->sh_size) ||
	    !elf_has(strtab->sh_offset, strtab->sh_size) || !strtab->sh_size ||
	    state.elf[strtab->sh_offset + strtab->sh_size - 1])
		return false;
	syms = (void *)(state.elf + symtab->sh_offset);
	for (i = 0; i < symtab->sh_size / sizeof(*syms); i++) {
		if (syms[i].st_name >= strtab->sh_size)
			continue;
		name = (char *)state.elf + strtab->sh_offset + syms[i].st_name;
		for (mark = 0; mark < MARK_NR_IN_BENCH; mark++)
			if (!strcmp(name, mark_names[mark]))
				state.in_bench[mark] = syms[i].st_value;
	}
	for (mark = 0; mark < MARK_NR_IN_BENCH; mark++)
		if (!state.in_bench[mark])
			return false;
	return true;
}

/* The code of bench at @addr; NULL: there is none. */
static const unsigned char *bench_code(uint64_t addr, size_t size)
{
	const Elf64_Ehdr *ehdr = (void *)state.elf;
	const Elf64_Phdr *ph = (void *)(state.elf + ehdr->e_phoff);
	size_t i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && (ph[i].p_flags & PF_X) && addr >= ph[i].p_vaddr &&
		    addr - ph[i].p_vaddr + size <= ph[i].p_filesz &&
		    elf_has(ph[i].p_offset, ph[i].p_filesz))
			return state.elf + ph[i].p_offset + (addr - ph[i].p_vaddr);
	return NULL;
}

/* ---- blocks of the guest's code */

static size_t insn_bytes(struct qemu_plugin_insn *insn, unsigned char *bytes, size_t room)
{
	size_t size = qemu_plugin_insn_size(insn);

	if (size > room)
		size = room;
	if (state.version >= 3)
		qemu_plugin_insn_data(insn, bytes, size);
	else
		memcpy(bytes, (void *)qemu_plugin_insn_data(insn, NULL, 0), size);
	return size;
}

/* An instruction that a uprobe has put there */
static bool is_breakpoint(const unsigned char *bytes, size_t size)
{
	if (state.x86)
		return size == 1 && bytes[0] == 0xcc;
	return size == 4 && bytes[3] == 0xd4 && (bytes[2] & 0xe0) == 0x20;
}

/* iretq, eret */
static bool is_irq_return(const unsigned char *bytes, size_t size)
{
	if (state.x86)
		return size == 2 && bytes[0] == 0x48 && bytes[1] == 0xcf;
	return size == 4 && !memcmp(bytes, "\xe0\x03\x9f\xd6", 4);
}

/* Other programs have code at the same addresses: so the instructions are compared. */
static bool is_bench(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), size, i;
	unsigned char bytes[16];

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		const unsigned char *code;

		size = insn_bytes(insn, bytes, sizeof(bytes));
		code = bench_code(qemu_plugin_insn_vaddr(insn), size);
		if (!code || (memcmp(code, bytes, size) && !is_breakpoint(bytes, size)))
			return false;
	}
	return true;
}

static uint64_t *block_count(size_t i)
{
	return &state.chunks[i / CHUNK_BLOCKS]->counts[i % CHUNK_BLOCKS];
}

static struct block *block_at(size_t i)
{
	return &state.chunks[i / CHUNK_BLOCKS]->blocks[i % CHUNK_BLOCKS];
}

static struct chunk *chunk_new(void)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return NULL;
	if (state.version == 1) {
		chunk->counts = calloc(CHUNK_BLOCKS, sizeof(*chunk->counts));
	} else {
		chunk->score = qemu_plugin_scoreboard_new(CHUNK_BLOCKS * sizeof(*chunk->counts));
		chunk->counts = qemu_plugin_scoreboard_find(chunk->score, 0);
	}
	return chunk;
}

/* The number of the block; -1: there is no room for it. The same code may be translated again. */
static ssize_t block_number(uint64_t addr, uint32_t n_insns, char where)
{
	uint64_t h = (addr * 31 + n_insns * 7 + where) * 0x9e3779b97f4a7c15ULL;
	size_t slot = (h >> 32) % HASH_SIZE, i = state.nr_blocks;
	struct block *block;

	for (; state.hash[slot]; slot = (slot + 1) % HASH_SIZE) {
		block = block_at(state.hash[slot] - 1);
		if (block->addr == addr && block->n_insns == n_insns && block->where == where)
			return state.hash[slot] - 1;
	}
	if (i == CHUNK_BLOCKS * MAX_CHUNKS)
		return -1;
	if (i % CHUNK_BLOCKS == 0) {
		state.chunks[i / CHUNK_BLOCKS] = chunk_new();
		if (!state.chunks[i / CHUNK_BLOCKS])
			return -1;
	}
	*block_at(i) = (struct block){ .addr = addr, .n_insns = n_insns, .where = where };
	state.hash[slot] = ++state.nr_blocks;
	return i;
}

/* ---- what happens in the guest */

static void each_chunk(void (*fn)(struct chunk *chunk))
{
	size_t i;

	for (i = 0; i * CHUNK_BLOCKS < state.nr_blocks; i++)
		fn(state.chunks[i]);
}

static void chunk_clear(struct chunk *chunk)
{
	memset(chunk->counts, 0, CHUNK_BLOCKS * sizeof(*chunk->counts));
	memset(chunk->in_irq, 0, sizeof(chunk->in_irq));
	memset(chunk->at_pause, 0, sizeof(chunk->at_pause));
}

static void chunk_pause(struct chunk *chunk)
{
	memcpy(chunk->at_pause[0], chunk->counts, sizeof(chunk->at_pause[0]));
	memcpy(chunk->at_pause[1], chunk->in_irq, sizeof(chunk->at_pause[1]));
}

/* A chunk made meanwhile has zeros in at_pause[], as it should. */
static void chunk_resume(struct chunk *chunk)
{
	memcpy(chunk->counts, chunk->at_pause[0], sizeof(chunk->at_pause[0]));
	memcpy(chunk->in_irq, chunk->at_pause[1], sizeof(chunk->at_pause[1]));
}

static void chunk_irq_begin(struct chunk *chunk)
{
	memcpy(chunk->at_irq, chunk->counts, sizeof(chunk->at_irq));
}

static void chunk_irq_end(struct chunk *chunk)
{
	size_t i;

	/* A chunk made meanwhile has zeros in at_irq[], as it should. */
	for (i = 0; i < CHUNK_BLOCKS; i++)
		chunk->in_irq[i] += chunk->counts[i] - chunk->at_irq[i];
}

static void irq_end(void)
{
	if (state.irq_depth)
		each_chunk(chunk_irq_end);
	state.irq_depth = 0;
}

static void measure_begin(void)
{
	each_chunk(chunk_clear);
	state.irq_depth = 0;
	state.measuring = true;
}

static void measure_end(void)
{
	size_t i;

	irq_end();
	if (state.paused)
		each_chunk(chunk_resume);
	state.measuring = false;
	fprintf(state.out, "run %u\n", state.run);
	for (i = 0; i < state.nr_blocks; i++) {
		const struct block *b = block_at(i);
		uint64_t count = *block_count(i);
		uint64_t in_irq = state.chunks[i / CHUNK_BLOCKS]->in_irq[i % CHUNK_BLOCKS];

		/* Interrupts end in user space only where a switch was not seen. */
		if (b->where != 'k')
			in_irq = 0;
		if (count > in_irq)
			fprintf(state.out, "%c %016" PRIx64 " %" PRIu64 "\n", b->where, b->addr,
				count - in_irq);
		if (in_irq)
			fprintf(state.out, "i %016" PRIx64 " %" PRIu64 "\n", b->addr, in_irq);
	}
	if (state.full)
		fprintf(state.out, "full\n");
	fflush(state.out);
}

static void read_marks(void)
{
	FILE *f = fopen(state.marks_name, "r");
	uint64_t addr;
	char line[256];

	if (!f)
		return;
	state.nr_irqs = state.nr_switches = 0;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "run %u", &state.run);
		if (sscanf(line, "irq %" SCNx64, &addr) == 1 && state.nr_irqs < MAX_MARKS)
			state.irqs[state.nr_irqs++] = addr;
		else if (sscanf(line, "switch %" SCNx64, &addr) == 1 &&
			 state.nr_switches < MAX_MARKS)
			state.switches[state.nr_switches++] = addr;
	}
	fclose(f);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* All code is translated anew from here on. */
static void arm(qemu_plugin_id_t id)
{
	state.armed = true;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	measure_begin();
}

static qemu_plugin_id_t plugin_id;

static void at_mark(unsigned int vcpu, void *data)
{
	(void)vcpu;
	switch ((enum mark)(uintptr_t)data) {
	case MARK_BEGIN:
		read_marks();
		if (state.armed)
			measure_begin();
		else
			qemu_plugin_reset(plugin_id, arm);
		break;
	case MARK_PAUSE:
		irq_end();
		if (state.measuring && !state.paused)
			each_chunk(chunk_pause);
		state.paused = true;
		break;
	case MARK_RESUME:
		irq_end();
		if (state.measuring && state.paused)
			each_chunk(chunk_resume);
		state.paused = false;
		break;
	case MARK_END:
		if (state.measuring)
			measure_end();
		break;
	case MARK_IRQ:
		if (state.measuring && !state.irq_depth++)
			each_chunk(chunk_irq_begin);
		break;
	case MARK_IRQ_RETURN:
		if (state.irq_depth == 1)
			irq_end();
		else if (state.irq_depth)
			state.irq_depth--;
		break;
	case MARK_SWITCH:
		irq_end();
		break;
	}
}

static void call_at(struct qemu_plugin_tb *tb, enum mark mark)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, at_mark, QEMU_PLUGIN_CB_NO_REGS,
					     (void *)(uintptr_t)mark);
}

static bool is_one_of(uint64_t addr, const uint64_t *addrs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (addrs[i] == addr)
			return true;
	return false;
}

static void mark_kernel(struct qemu_plugin_tb *tb, uint64_t addr)
{
	size_t n = qemu_plugin_tb_n_insns(tb), size;
	unsigned char bytes[16];

	size = insn_bytes(qemu_plugin_tb_get_insn(tb, n - 1), bytes, sizeof(bytes));
	if (is_one_of(addr, state.irqs, state.nr_irqs))
		call_at(tb, MARK_IRQ);
	else if (is_one_of(addr, state.switches, state.nr_switches))
		call_at(tb, MARK_SWITCH);
	else if (is_irq_return(bytes, size))
		call_at(tb, MARK_IRQ_RETURN);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	uint32_t n_insns = qemu_plugin_tb_n_insns(tb);
	char where = 'k';
	size_t mark = 0;
	ssize_t i;

	(void)id;
	/* The boot runs at full speed. */
	while (mark < MARK_NR_IN_BENCH && addr != state.in_bench[mark])
		mark++;
	if (!state.armed && mark == MARK_NR_IN_BENCH)
		return;
	if (addr < KERNEL_START)
		where = is_bench(tb) ? 'b' : 'o';
	if (where == 'b' && mark < MARK_NR_IN_BENCH)
		call_at(tb, mark);
	else if (where == 'k')
		mark_kernel(tb, addr);
	if (!state.armed)
		return;
	i = block_number(addr, n_insns, where);
	if (i < 0) {
		state.full = true;
	} else if (state.version == 1) {
		qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
							 block_count(i), n_insns);
	} else {
		struct qemu_plugin_u64 entry = {
			.score = state.chunks[i / CHUNK_BLOCKS]->score,
			.offset = i % CHUNK_BLOCKS * sizeof(uint64_t),
		};

		qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
								  entry, n_insns);
	}
}

/* ---- the beginning */

static int refuse(const char *why, const char *what)
{
	fprintf(stderr, "insns plugin: %s%s\n", why, what);
	return -1;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv)
{
	const char *bench = NULL, *out = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "bench=", 6))
			bench = argv[i] + 6;
		else if (!strncmp(argv[i], "marks=", 6))
			state.marks_name = argv[i] + 6;
		else if (!strncmp(argv[i], "out=", 4))
			out = argv[i] + 4;
		else
			return refuse("unknown argument ", argv[i]);
	}
	if (!bench || !out || !state.marks_name)
		return refuse("expected bench=FILE, marks=FILE and out=FILE", "");
	if (!info->system_emulation || info->system.max_vcpus != 1)
		return refuse("expected a machine with one CPU", "");

	plugin_id = id;
	state.version = info->version.cur;
	if (state.version == 1 && !qemu_plugin_register_vcpu_tb_exec_inline)
		return refuse("qemu lacks qemu_plugin_register_vcpu_tb_exec_inline()", "");
	if (state.version > 1 &&
	    (!qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu || !qemu_plugin_scoreboard_find))
		return refuse("qemu lacks qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu()", "");
	state.x86 = !strcmp(info->target_name, "x86_64");
	if (!state.x86 && strcmp(info->target_name, "aarch64"))
		return refuse("no support for ", info->target_name);

	if (!read_whole(bench, &state.elf, &state.elf_size))
		return refuse("cannot read ", bench);
	if (!read_symbols())
		return refuse("there are no marks such as bench_measure_begin() in ", bench);
	/* Kept: the name belongs to qemu. */
	state.marks_name = strdup(state.marks_name);
	state.out = fopen(out, "w");
	if (!state.out || !state.marks_name)
		return refuse("cannot write to ", out);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}

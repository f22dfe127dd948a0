// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/bpf/usdt.h"

#define NOTE_SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define NOTE_OWNER   "stapsdt"
#define NOTE_TYPE    3

/* What a note begins with. Provider, name and arguments follow, each ended by a zero. */
struct note_desc {
	uint64_t pc, base, semaphore;
};

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *shdr)
{
	Elf_Scn *scn = NULL;
	const char *s;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, shdr))
			return NULL;
		s = elf_strptr(elf, strings, shdr->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

static bool is_probe(const char *desc, size_t size, const char *provider, const char *name)
{
	const char *p = desc + sizeof(struct note_desc), *end = desc + size;
	size_t len = strlen(provider) + 1;

	return size > sizeof(struct note_desc) && (size_t)(end - p) > len &&
	       !memcmp(p, provider, len) && (size_t)(end - p - len) > strlen(name) &&
	       !strcmp(p + len, name);
}

static bool find_note(Elf_Scn *scn, const char *provider, const char *name, struct note_desc *found)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = 0, next, name_at, desc_at;
	GElf_Nhdr nhdr;

	for (; data && (next = gelf_getnote(data, at, &nhdr, &name_at, &desc_at)); at = next) {
		const char *buf = data->d_buf;

		if (nhdr.n_type != NOTE_TYPE || nhdr.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(buf + name_at, NOTE_OWNER, sizeof(NOTE_OWNER)) ||
		    !is_probe(buf + desc_at, nhdr.n_descsz, provider, name))
			continue;
		memcpy(found, buf + desc_at, sizeof(*found));
		return true;
	}
	return false;
}

/* From where code is to be in memory to where it is in the file. */
static int to_offset(Elf *elf, uint64_t addr, uint64_t *offset)
{
	GElf_Phdr phdr;
	size_t nr, i;

	if (elf_getphdrnum(elf, &nr))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &phdr) || phdr.p_type != PT_LOAD || addr < phdr.p_vaddr ||
		    addr - phdr.p_vaddr >= phdr.p_filesz)
			continue;
		*offset = addr - phdr.p_vaddr + phdr.p_offset;
		return 0;
	}
	return -EINVAL;
}

static int find_probe(Elf *elf, const char *provider, const char *name, uint64_t *offset)
{
	struct note_desc note;
	GElf_Shdr shdr;
	Elf_Scn *scn;

	scn = find_section(elf, NOTE_SECTION, &shdr);
	if (!scn || !find_note(scn, provider, name, &note))
		return -ENOENT;
	/* Moved since it was linked, and the notes were not told? */
	if (note.base && find_section(elf, BASE_SECTION, &shdr))
		note.pc += shdr.sh_addr - note.base;
	return to_offset(elf, note.pc, offset);
}

int usdt_file_offset(const char *provider, const char *name, uint64_t *offset)
{
	Elf *elf;
	int fd, err;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	err = elf ? find_probe(elf, provider, name, offset) : -EINVAL;
	elf_end(elf);
	close(fd);
	return err;
}

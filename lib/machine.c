// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lib/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/cpuset.h"
#include "lib/num.h"

#define ARRAY_SIZE(a)	  (sizeof(a) / sizeof((a)[0]))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define CPU_DIR	 "/sys/devices/system/cpu"
#define VULN_DIR CPU_DIR "/vulnerabilities"
#define DMI_DIR	 "/sys/class/dmi/id"

/* Reading files */

static PRINTF(3, 0) int make_path(char path[PATH_MAX], const char *root, const char *fmt,
				  va_list ap)
{
	int len, more;

	len = snprintf(path, PATH_MAX, "%s", root);
	if (len < 0 || len >= PATH_MAX)
		return -ENAMETOOLONG;
	more = vsnprintf(path + len, PATH_MAX - len, fmt, ap);
	if (more < 0 || more >= PATH_MAX - len)
		return -ENAMETOOLONG;
	return 0;
}

/*
 * Read a whole small file and end it with a NUL. Returns its length, or -EOVERFLOW where it does
 * not fit: half of a CPU list is a wrong list.
 */
static PRINTF(4, 5) int read_file(const char *root, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	size_t len = 0;
	ssize_t got;
	va_list ap;
	int fd, err;

	va_start(ap, fmt);
	err = make_path(path, root, fmt, ap);
	va_end(ap);
	if (err)
		return err;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size) {
		got = read(fd, buf + len, size - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			err = -errno;
			break;
		}
		if (!got)
			break;
		len += got;
	}
	close(fd);
	if (err)
		return err;
	if (len == size)
		return -EOVERFLOW;
	buf[len] = '\0';
	return len;
}

/*
 * Values end up in terminals, mails and JSON, so keep to one line of printable ASCII, without
 * blanks at the ends and with one for each run of them (firmware pads its strings).
 */
static void clean(char *s)
{
	const unsigned char *from = (const unsigned char *)s;
	char *to = s;

	for (; *from; from++) {
		if (isspace(*from)) {
			if (to > s && to[-1] != ' ')
				*to++ = ' ';
		} else {
			*to++ = *from > 0x20 && *from < 0x7f ? (char)*from : '?';
		}
	}
	if (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* The first line of a file, cleaned; -ENODATA where nothing is in it. */
static PRINTF(4, 5) int read_line(const char *root, char *buf, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	ssize_t len;
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = make_path(path, "", fmt, ap);
	va_end(ap);
	if (err)
		return err;
	len = read_file(root, buf, size, "%s", path);
	if (len < 0)
		return len;
	buf[strcspn(buf, "\n")] = '\0';
	clean(buf);
	return buf[0] ? 0 : -ENODATA;
}

/* A file that holds one decimal number, as sysctl and cpufreq files do. */
static PRINTF(3, 4) int read_number(const char *root, long long *num, const char *fmt, ...)
{
	char path[PATH_MAX], text[64];
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = make_path(path, "", fmt, ap);
	va_end(ap);
	if (!err)
		err = read_line(root, text, sizeof(text), "%s", path);
	if (err)
		return err;
	return num_parse(text, 0, LLONG_MAX, num);
}

/* /proc/cpuinfo and its like are read a line at a time: they grow with the number of CPUs. */
static PRINTF(2, 3) FILE *open_lines(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = make_path(path, root, fmt, ap);
	va_end(ap);
	return err ? NULL : fopen(path, "re");
}

/*
 * Split 'key <blanks> : value' in place and clean both. False where there is no colon. The value
 * may be empty.
 */
static bool split_line(char *line, char **key, char **value)
{
	char *colon = strchr(line, ':');

	if (!colon)
		return false;
	*colon = '\0';
	*key = line;
	*value = colon + 1;
	clean(*key);
	clean(*value);
	return true;
}

/* The first non-empty value of a key in a file of 'key : value' lines, cut to size. */
static int find_key(const char *root, const char *file, const char *key, char *buf, size_t size)
{
	char *line = NULL, *name, *value;
	int err = -ENOENT;
	size_t cap = 0;
	FILE *f;

	f = open_lines(root, "%s", file);
	if (!f)
		return -ENOENT;
	while (getline(&line, &cap, f) >= 0) {
		if (!split_line(line, &name, &value) || strcmp(name, key) || !*value)
			continue;
		snprintf(buf, size, "%s", value);
		err = 0;
		break;
	}
	free(line);
	fclose(f);
	return err;
}

/* Whether word is one of the words of text, which is cleaned: one blank between words. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	while (*text) {
		size_t n = strcspn(text, " ");

		if (n == len && !memcmp(text, word, n))
			return true;
		text += n;
		text += *text == ' ';
	}
	return false;
}

/* Add an item to a comma separated list unless it is there already. */
static int add_distinct(char *list, size_t size, const char *item)
{
	size_t used = strlen(list), len = strlen(item);
	const char *pos = list;

	while (*pos) {
		size_t n = strcspn(pos, ",");

		if (n == len && !memcmp(pos, item, n))
			return 0;
		pos += n;
		pos += *pos == ',';
	}
	if (used + !!used + len >= size)
		return -EOVERFLOW;
	sprintf(list + used, "%s%s", used ? "," : "", item);
	return 0;
}

/* /proc/stat has a line 'cpuN ...' for each CPU that is online: make a list of them. */
static int online_from_stat(const char *root, struct cpuset *online)
{
	char *list = NULL, *line = NULL;
	size_t cap = 0, size;
	FILE *f, *out;
	int err;

	*online = (struct cpuset){ 0 };
	f = open_lines(root, "/proc/stat");
	if (!f)
		return -ENOENT;
	out = open_memstream(&list, &size);
	if (!out) {
		fclose(f);
		return -ENOMEM;
	}
	while (getline(&line, &cap, f) >= 0) {
		size_t digits = strncmp(line, "cpu", 3) ? 0 : strspn(line + 3, "0123456789");

		if (digits)
			fprintf(out, "%s%.*s", ftell(out) ? "," : "", (int)digits, line + 3);
	}
	free(line);
	fclose(f);
	err = fclose(out) ? -ENOMEM : cpuset_parse(list, online);
	free(list);
	return err;
}

/* To be freed with cpuset_free(). */
static int online_cpus(const char *root, struct cpuset *online)
{
	char list[4096];

	if (!read_line(root, list, sizeof(list), CPU_DIR "/online") && !cpuset_parse(list, online))
		return 0;
	return online_from_stat(root, online);
}

/*
 * The facts, one function each. The value is "" on entry; they fill it and return 0, or return
 * -errno for 'unknown'.
 */

static int get_time(const char *root, char *value, size_t size)
{
	time_t now = time(NULL);
	char date[64];
	long offset;
	struct tm tm;

	tzset(); /* localtime_r() need not look at TZ by itself */
	if (!localtime_r(&now, &tm))
		return -errno;
	if (!strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return -EOVERFLOW;
	/* %z leaves out the colon which goes with the colons of the time */
	offset = labs(tm.tm_gmtoff) / 60;
	snprintf(value, size, "%s%c%02ld:%02ld", date, tm.tm_gmtoff < 0 ? '-' : '+', offset / 60,
		 offset % 60);
	return 0;
}

static int get_host(const char *root, char *value, size_t size)
{
	struct utsname uts;

	if (uname(&uts))
		return -errno;
	snprintf(value, size, "%s", uts.nodename);
	return 0;
}

static int get_kernel_release(const char *root, char *value, size_t size)
{
	struct utsname uts;

	if (uname(&uts))
		return -errno;
	snprintf(value, size, "%s", uts.release);
	return 0;
}

static int get_kernel_version(const char *root, char *value, size_t size)
{
	struct utsname uts;

	if (uname(&uts))
		return -errno;
	snprintf(value, size, "%s", uts.version);
	return 0;
}

static int get_machine(const char *root, char *value, size_t size)
{
	struct utsname uts;

	if (uname(&uts))
		return -errno;
	snprintf(value, size, "%s", uts.machine);
	return 0;
}

/*
 * arm64 has numbers in place of a name. One machine can have several kinds of core, so go through
 * all of them.
 */
static int arm_cpu_model(const char *root, char *value, size_t size)
{
	char implementer[32] = "", item[96];
	char *line = NULL, *key, *text;
	size_t cap = 0;
	int err = 0;
	FILE *f;

	f = open_lines(root, "/proc/cpuinfo");
	if (!f)
		return -ENOENT;
	while (!err && getline(&line, &cap, f) >= 0) {
		if (!split_line(line, &key, &text) || !*text)
			continue;
		if (!strcmp(key, "CPU implementer")) {
			snprintf(implementer, sizeof(implementer), "%s", text);
		} else if (!strcmp(key, "CPU part") && implementer[0]) {
			snprintf(item, sizeof(item), "implementer %s part %.32s", implementer,
				 text);
			err = add_distinct(value, size, item);
		}
	}
	free(line);
	fclose(f);
	if (err)
		return err;
	return value[0] ? 0 : -ENOENT;
}

/* s390x: 'processor 0: version = FF,  identification = 0123AB,  machine = 3906', from any CPU */
static int s390_cpu_model(const char *root, char *value, size_t size)
{
	char *line = NULL, *key, *text, *type;
	int err = -ENOENT;
	size_t cap = 0;
	FILE *f;

	f = open_lines(root, "/proc/cpuinfo");
	if (!f)
		return -ENOENT;
	while (err && getline(&line, &cap, f) >= 0) {
		if (!split_line(line, &key, &text) || strncmp(key, "processor ", 10))
			continue;
		type = strstr(text, "machine = ");
		if (!type || !type[10])
			continue;
		snprintf(value, size, "machine %s", type + 10);
		err = 0;
	}
	free(line);
	fclose(f);
	return err;
}

static int get_cpu_model(const char *root, char *value, size_t size)
{
	/* x86; loongarch; mips; riscv; powerpc */
	static const char *const keys[] = { "model name", "Model Name", "cpu model", "uarch",
					    "cpu" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!find_key(root, "/proc/cpuinfo", keys[i], value, size))
			return 0;
	}
	if (!arm_cpu_model(root, value, size))
		return 0;
	return s390_cpu_model(root, value, size);
}

static int get_cpus_online(const char *root, char *value, size_t size)
{
	struct cpuset online;
	int err;

	err = online_cpus(root, &online);
	if (err)
		return err;
	snprintf(value, size, "%d", online.cnt);
	cpuset_free(&online);
	return 0;
}

static int get_cpus_allowed(const char *root, char *value, size_t size)
{
	struct cpuset allowed;
	int err;

	err = cpuset_allowed(&allowed);
	if (err)
		return err;
	snprintf(value, size, "%d", allowed.cnt);
	cpuset_free(&allowed);
	return 0;
}

static int get_smt(const char *root, char *value, size_t size)
{
	char control[32];
	long long num;
	int err;

	err = read_line(root, control, sizeof(control), CPU_DIR "/smt/control");
	if (err)
		return err;
	if (!strcmp(control, "forceoff")) {
		snprintf(value, size, "off");
	} else if (!strcmp(control, "on") || !strcmp(control, "off") ||
		   !strcmp(control, "notsupported")) {
		snprintf(value, size, "%s", control);
	} else if (!read_number(root, &num, CPU_DIR "/smt/control")) {
		/* powerpc shows threads per core while only some of them are on */
		snprintf(value, size, "%s", num > 1 ? "on" : "off");
	} else {
		/*
		 * 'notimplemented': no switch here. Siblings may run all the same, and then
		 * 'active' is 1. It is 0 also where the scheduler does not know of them.
		 */
		err = read_number(root, &num, CPU_DIR "/smt/active");
		if (err)
			return err;
		if (num != 1)
			return -ENODATA;
		snprintf(value, size, "on");
	}
	return 0;
}

static int get_governor(const char *root, char *value, size_t size)
{
	struct cpuset online;
	char name[64];
	int i, err;

	err = online_cpus(root, &online);
	if (err)
		return err;
	for (i = 0; !err && i < online.cnt; i++) {
		/* A CPU that does not show its governor is listed as such, not passed over. */
		if (read_line(root, name, sizeof(name), CPU_DIR "/cpu%d/cpufreq/scaling_governor",
			      online.cpus[i]))
			strcpy(name, "unknown");
		err = add_distinct(value, size, name);
	}
	cpuset_free(&online);
	return err;
}

/*
 * The limits in force (scaling_*), which a user may have narrowed, not those of the hardware.
 * Where one CPU does not show them, nothing is known about the whole.
 */
static int freq_limit(const char *root, const char *file, bool want_max, char *value, size_t size)
{
	long long khz, limit = -1;
	struct cpuset online;
	int i, err;

	err = online_cpus(root, &online);
	if (err)
		return err;
	for (i = 0; !err && i < online.cnt; i++) {
		err = read_number(root, &khz, CPU_DIR "/cpu%d/cpufreq/%s", online.cpus[i], file);
		if (!err && (limit < 0 || (want_max ? khz > limit : khz < limit)))
			limit = khz;
	}
	cpuset_free(&online);
	if (!err)
		snprintf(value, size, "%lld", limit);
	return err;
}

static int get_freq_min(const char *root, char *value, size_t size)
{
	return freq_limit(root, "scaling_min_freq", false, value, size);
}

static int get_freq_max(const char *root, char *value, size_t size)
{
	return freq_limit(root, "scaling_max_freq", true, value, size);
}

/* Mitigations */

struct weakness {
	char name[64];
	char state[1024];
};

static int visible_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Not alphasort(), whose order depends on the user's locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Write 'name: state; name: state' with the entries that fit into size as a whole. Brief leaves
 * out all but the first clause of each state. Returns how many did not fit.
 */
static size_t join_weaknesses(const struct weakness *weak, size_t nr, bool brief, char *buf,
			      size_t size)
{
	static const char prefix[] = "Mitigation: ";
	char entry[sizeof(weak->name) + sizeof(weak->state) + 2];
	size_t used = 0, left = 0, i, len;

	buf[0] = '\0';
	for (i = 0; i < nr; i++) {
		const char *state = weak[i].state;
		size_t n;
		char *c;

		if (!strncmp(state, prefix, strlen(prefix)))
			state += strlen(prefix);
		n = brief ? strcspn(state, ";") : strlen(state);
		len = snprintf(entry, sizeof(entry), "%s: %.*s", weak[i].name, (int)n, state);
		/* States have semicolons of their own, which here end an entry. */
		for (c = entry; (c = strchr(c, ';')); c++)
			*c = ',';
		if (used + (used ? 2 : 0) + len >= size) {
			left++;
			continue;
		}
		used += sprintf(buf + used, "%s%s", used ? "; " : "", entry);
	}
	return left;
}

static void summarize_weaknesses(const struct weakness *weak, size_t nr, char *value, size_t size)
{
	char note[32];
	size_t left;

	if (!nr) {
		snprintf(value, size, "none");
		return;
	}
	if (!join_weaknesses(weak, nr, false, value, size) ||
	    !join_weaknesses(weak, nr, true, value, size))
		return;
	/* Say how many are missing, with room kept for saying it. */
	left = join_weaknesses(weak, nr, true, value, size - sizeof(note));
	snprintf(note, sizeof(note), "%s+%zu more", value[0] ? "; " : "", left);
	strcat(value, note);
}

static int get_mitigations(const char *root, char *value, size_t size)
{
	struct weakness *weak = NULL;
	struct dirent **entries;
	char path[PATH_MAX];
	int nr, i, len, err = 0;
	size_t used = 0;

	len = snprintf(path, sizeof(path), "%s%s", root, VULN_DIR);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	nr = scandir(path, &entries, visible_entry, by_name);
	if (nr < 0)
		return -errno;
	if (!nr)
		err = -ENODATA;
	else if (!(weak = calloc(nr, sizeof(*weak))))
		err = -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (!err) {
			struct weakness *w = &weak[used];
			const char *name = entries[i]->d_name;

			if (read_line(root, w->state, sizeof(w->state), VULN_DIR "/%s", name))
				strcpy(w->state, "unknown");
			snprintf(w->name, sizeof(w->name), "%.63s", name);
			clean(w->name);
			used += !!strcmp(w->state, "Not affected");
		}
		free(entries[i]);
	}
	free(entries);
	if (!err)
		summarize_weaknesses(weak, used, value, size);
	free(weak);
	return err;
}

/* Virtualization */

/*
 * A guest's kernel offers its hypervisor's clock. It is not asked by CPUID here: where user mode
 * runs without the hypervisor's help, as under PVM, the instruction is answered by the machine
 * outside of the guest.
 */
static int name_from_clocksource(const char *root, char *value, size_t size)
{
	char text[256];
	int err;

	err = read_line(root, text, sizeof(text),
			"/sys/devices/system/clocksource/clocksource0/available_clocksource");
	if (err)
		return err;
	if (has_word(text, "kvm-clock"))
		snprintf(value, size, "kvm");
	else if (has_word(text, "xen"))
		snprintf(value, size, "xen");
	else if (strstr(text, "hyperv_clocksource"))
		snprintf(value, size, "hyperv");
	else
		return -ENOENT;
	return 0;
}

/*
 * Makers and products that only virtual machines carry. A cloud's bare metal machines carry its
 * name too, so where the CPU itself tells, it decides, and this only finds the name.
 */
static int name_from_dmi(const char *root, char *value, size_t size)
{
	static const struct {
		const char *mark;
		const char *name;
	} names[] = {
		{ "KVM", "kvm" },
		{ "QEMU", "qemu" },
		{ "VMware", "vmware" },
		{ "VMW", "vmware" },
		{ "VirtualBox", "vbox" },
		{ "innotek GmbH", "vbox" },
		{ "Xen", "xen" },
		{ "HVM domU", "xen" },
		{ "Bochs", "bochs" },
		{ "BHYVE", "bhyve" },
		{ "Parallels", "parallels" },
		{ "Virtual Machine", "hyperv" },
		{ "Hyper-V", "hyperv" },
		{ "Apple Virtualization", "apple" },
		{ "Cloud Hypervisor", "cloud-hypervisor" },
		{ "OpenStack", "openstack" },
		{ "Google Compute Engine", "google" },
		{ "Amazon EC2", "amazon" },
		{ "Alibaba Cloud ECS", "alibaba" },
	};
	static const char *const files[] = { "product_name", "sys_vendor", "board_vendor",
					     "bios_vendor" };
	char text[256];
	size_t i, j;

	if (!read_line(root, text, sizeof(text), DMI_DIR "/product_name")) {
		size_t len = strlen(text);

		/* Amazon's instance types: m5.metal, c5.metal-48xl */
		if (strstr(text, ".metal-") || (len > 6 && !strcmp(text + len - 6, ".metal")))
			return -ENOENT;
	}
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		if (read_line(root, text, sizeof(text), DMI_DIR "/%s", files[i]))
			continue;
		for (j = 0; j < ARRAY_SIZE(names); j++) {
			if (strncmp(text, names[j].mark, strlen(names[j].mark)))
				continue;
			snprintf(value, size, "%s", names[j].name);
			return 0;
		}
	}
	return -ENOENT;
}

/*
 * SMBIOS 2.4 and later, type 0 (BIOS information), extension byte 2 at offset 0x13, bit 4: 'this
 * table describes a virtual machine'. Returns 1, 0, or -errno where it is not shown.
 */
static int dmi_virtual_bit(const char *root)
{
	char raw[1024];
	ssize_t len;

	len = read_file(root, raw, sizeof(raw), "/sys/firmware/dmi/entries/0-0/raw");
	if (len < 0)
		return len;
	/* Byte 1 is the length of the table without its strings. */
	if (len <= 0x13 || (unsigned char)raw[1] <= 0x13)
		return -ENODATA;
	return !!(raw[0x13] & 0x10);
}

/* A hypervisor that hands over a device tree says so in it; -ENOENT where there is no tree. */
static int virt_from_devicetree(const char *root, char *value, size_t size)
{
	char text[1024], path[PATH_MAX];
	ssize_t len, i;

	if (!read_line(root, text, sizeof(text), "/proc/device-tree/hypervisor/compatible")) {
		if (!strncmp(text, "xen,", 4))
			snprintf(value, size, "xen");
		else if (!strcmp(text, "linux,kvm"))
			snprintf(value, size, "kvm");
		else
			snprintf(value, size, "%s", text);
		return 0;
	}

	/* A list of strings, each with its NUL: make it words */
	len = read_file(root, text, sizeof(text), "/proc/device-tree/compatible");
	if (len <= 0)
		return len < 0 ? len : -ENODATA;
	for (i = 0; i < len; i++) {
		if (!text[i])
			text[i] = ' ';
	}
	clean(text);
	if (strstr(text, "qemu") || has_word(text, "riscv-virtio")) {
		snprintf(value, size, "qemu");
	} else if (has_word(text, "linux,dummy-virt")) {
		/* The same board is made by QEMU, Firecracker, crosvm and others. */
		snprintf(value, size, "hypervisor");
	} else {
		snprintf(path, sizeof(path), "%s/proc/device-tree/ibm,partition-name", root);
		snprintf(value, size, "%s", access(path, F_OK) ? "none" : "powervm");
	}
	return 0;
}

/* s390x: every machine is a partition at least, and may be a guest in one. */
static int virt_from_sysinfo(const char *root, char *value, size_t size)
{
	char text[128];

	if (!find_key(root, "/proc/sysinfo", "VM00 Control Program", text, sizeof(text))) {
		if (!strncmp(text, "KVM", 3))
			snprintf(value, size, "kvm");
		else if (!strncmp(text, "z/VM", 4))
			snprintf(value, size, "zvm");
		else
			snprintf(value, size, "%s", text);
		return 0;
	}
	if (find_key(root, "/proc/sysinfo", "LPAR Number", text, sizeof(text)))
		return -ENOENT;
	snprintf(value, size, "lpar");
	return 0;
}

/*
 * 'none', the hypervisor's name, or 'hypervisor' for one without a name. On x86 the CPU's flags
 * settle the question; elsewhere firmware is asked, and where it says nothing, it stays unknown.
 */
static int get_virtualization(const char *root, char *value, size_t size)
{
	char flags[8192];
	int bit;

	if (!read_line(root, value, size, "/sys/hypervisor/type") ||
	    !name_from_clocksource(root, value, size))
		return 0;
	if (!find_key(root, "/proc/cpuinfo", "vendor_id", value, size) &&
	    !strcmp(value, "User Mode Linux")) {
		snprintf(value, size, "uml");
		return 0;
	}
	if (!find_key(root, "/proc/cpuinfo", "flags", flags, sizeof(flags))) {
		if (!has_word(flags, "hypervisor")) {
			/* A list that was cut may have lost the word. */
			if (strlen(flags) == sizeof(flags) - 1)
				return -EOVERFLOW;
			snprintf(value, size, "none");
			return 0;
		}
		if (!name_from_dmi(root, value, size))
			return 0;
		if (!read_line(root, value, size, DMI_DIR "/product_name"))
			return 0;
		snprintf(value, size, "hypervisor");
		return 0;
	}
	if (!virt_from_sysinfo(root, value, size) || !virt_from_devicetree(root, value, size) ||
	    !name_from_dmi(root, value, size))
		return 0;
	bit = dmi_virtual_bit(root);
	if (bit < 0)
		return bit;
	snprintf(value, size, "%s", bit ? "hypervisor" : "none");
	return 0;
}

static int get_jit(const char *root, char *value, size_t size)
{
	long long enable, harden;
	int err;

	err = read_number(root, &enable, "/proc/sys/net/core/bpf_jit_enable");
	if (err)
		return err;
	/* Only root may read this one. */
	if (read_number(root, &harden, "/proc/sys/net/core/bpf_jit_harden"))
		snprintf(value, size, "%lld", enable);
	else
		snprintf(value, size, "%lld (harden %lld)", enable, harden);
	return 0;
}

static const struct {
	const char *key;
	int (*get)(const char *root, char *value, size_t size);
} getters[] = {
	{ "time", get_time },
	{ "host", get_host },
	{ "kernel_release", get_kernel_release },
	{ "kernel_version", get_kernel_version },
	{ "machine", get_machine },
	{ "cpu_model", get_cpu_model },
	{ "cpus_online", get_cpus_online },
	{ "cpus_allowed", get_cpus_allowed },
	{ "smt", get_smt },
	{ "governor", get_governor },
	{ "freq_min_khz", get_freq_min },
	{ "freq_max_khz", get_freq_max },
	{ "mitigations", get_mitigations },
	{ "virtualization", get_virtualization },
	{ "jit", get_jit },
};

_Static_assert(ARRAY_SIZE(getters) == MACHINE_NR_FACTS, "MACHINE_NR_FACTS is the table's length");

size_t machine_facts_at(const char *root, struct machine_fact *facts, size_t max)
{
	size_t i;

	for (i = 0; i < max && i < ARRAY_SIZE(getters); i++) {
		struct machine_fact *fact = &facts[i];

		fact->key = getters[i].key;
		fact->value[0] = '\0';
		if (getters[i].get(root, fact->value, sizeof(fact->value)))
			fact->value[0] = '\0';
		clean(fact->value);
		if (!fact->value[0])
			strcpy(fact->value, "unknown");
	}
	return i;
}

size_t machine_facts(struct machine_fact *facts, size_t max)
{
	return machine_facts_at("", facts, max);
}

const char *machine_fact_value(const struct machine_fact *facts, size_t nr, const char *key)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(facts[i].key, key))
			return facts[i].value;
	}
	return NULL;
}

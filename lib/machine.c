// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lib/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "lib/cpuset.h"
#include "lib/sysfile.h"
#include "lib/util.h"

#define CPU_DIR	 "/sys/devices/system/cpu"
#define VULN_DIR CPU_DIR "/vulnerabilities"

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

/* Is @item one of the items of @list, between which is one character of @sep? */
static bool has_item(const char *list, const char *item, const char *sep)
{
	size_t len = strlen(item), n;

	for (;; list += n + 1) {
		n = strcspn(list, sep);
		if (n == len && !memcmp(list, item, n))
			return true;
		if (!list[n])
			return false;
	}
}

/* Add an item to a comma separated list unless it is there already. */
static int add_distinct(char *list, size_t size, const char *item)
{
	size_t used = strlen(list), len = strlen(item);

	if (has_item(list, item, ","))
		return 0;
	if (used + !!used + len >= size)
		return -EOVERFLOW;
	sprintf(list + used, "%s%s", used ? "," : "", item);
	return 0;
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

#define UNAME_FACT(fact, field)                                           \
	static int get_##fact(const char *root, char *value, size_t size) \
	{                                                                 \
		struct utsname uts;                                       \
                                                                          \
		(void)root;                                               \
		if (uname(&uts))                                          \
			return -errno;                                    \
		snprintf(value, size, "%s", uts.field);                   \
		return 0;                                                 \
	}

UNAME_FACT(host, nodename)
UNAME_FACT(kernel_release, release)
UNAME_FACT(kernel_version, version)
UNAME_FACT(machine, machine)

/*
 * arm64 has numbers in place of a name, of maybe several kinds of core; s390x has 'processor 0:
 * version = FF,  identification = 0123AB,  machine = 3906', where all are alike.
 */
static int numbered_cpu_model(const char *root, char *value, size_t size)
{
	char implementer[32] = "", item[96];
	char *line = NULL, *text;
	size_t cap = 0;
	int err = 0;
	FILE *f;

	f = sysfile_open(root, "/proc/cpuinfo");
	if (!f)
		return -errno;
	while (!err && getline(&line, &cap, f) >= 0) {
		if (!strncmp(line, "processor ", 10) && (text = strstr(line, "machine = "))) {
			snprintf(item, sizeof(item), "machine %.32s", text + 10);
			item[strcspn(item, "\n")] = '\0';
		} else if ((text = sysfile_value(line, "CPU implementer", ':'))) {
			snprintf(implementer, sizeof(implementer), "%s", text);
			continue;
		} else if ((text = sysfile_value(line, "CPU part", ':')) && implementer[0]) {
			snprintf(item, sizeof(item), "implementer %s part %.32s", implementer,
				 text);
		} else {
			continue;
		}
		err = add_distinct(value, size, item);
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
		if (!sysfile_key(root, "/proc/cpuinfo", keys[i], ':', value, size))
			return 0;
	}
	return numbered_cpu_model(root, value, size);
}

static int get_cpus_online(const char *root, char *value, size_t size)
{
	struct cpuset online;
	int err;

	err = cpuset_online_at(root, &online);
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

	err = sysfile_line(root, control, sizeof(control), CPU_DIR "/smt/control");
	if (err)
		return err;
	if (!strcmp(control, "forceoff")) {
		snprintf(value, size, "off");
	} else if (!strcmp(control, "on") || !strcmp(control, "off") ||
		   !strcmp(control, "notsupported")) {
		snprintf(value, size, "%s", control);
	} else if (!sysfile_number(root, &num, CPU_DIR "/smt/control")) {
		/* powerpc shows threads per core while only some of them are on */
		snprintf(value, size, "%s", num > 1 ? "on" : "off");
	} else {
		/*
		 * 'notimplemented': no switch here. Siblings may run all the same, and then
		 * 'active' is 1. It is 0 also where the scheduler does not know of them.
		 */
		err = sysfile_number(root, &num, CPU_DIR "/smt/active");
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

	err = cpuset_online_at(root, &online);
	if (err)
		return err;
	for (i = 0; !err && i < online.cnt; i++) {
		/* A CPU that does not show its governor is listed as such, not passed over. */
		if (sysfile_line(root, name, sizeof(name),
				 CPU_DIR "/cpu%d/cpufreq/scaling_governor", online.cpus[i]))
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

	err = cpuset_online_at(root, &online);
	if (err)
		return err;
	for (i = 0; !err && i < online.cnt; i++) {
		err = sysfile_number(root, &khz, CPU_DIR "/cpu%d/cpufreq/%s", online.cpus[i], file);
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

			if (sysfile_line(root, w->state, sizeof(w->state), VULN_DIR "/%s", name))
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

/* The hypervisor's name, or "none". */
static int ask_systemd(char *value, size_t size)
{
	FILE *f = popen("exec systemd-detect-virt --vm 2>/dev/null", "re");

	if (!f)
		return -errno;
	if (!fgets(value, size, f))
		value[0] = '\0';
	pclose(f);
	value[strcspn(value, "\n")] = '\0';
	return value[0] ? 0 : -ENOENT;
}

/*
 * systemd-detect-virt names the hypervisor. On x86 it runs only where the CPU's flags have
 * 'hypervisor': without the flag there is none. "yes" is a hypervisor that nobody names.
 */
static int get_virtualization(const char *root, char *value, size_t size)
{
	char *line = NULL, *flags = NULL;
	bool virt = true;
	size_t cap = 0;
	FILE *f;

	f = sysfile_open(root, "/proc/cpuinfo");
	while (f && !flags && getline(&line, &cap, f) >= 0)
		flags = sysfile_value(line, "flags", ':');
	if (flags)
		virt = has_item(flags, "hypervisor", " ");
	if (root[0] || !virt || ask_systemd(value, size))
		snprintf(value, size, "%s", !virt ? "none" : flags ? "yes" : "unknown");
	free(line);
	if (f)
		fclose(f);
	return 0;
}

static int get_jit(const char *root, char *value, size_t size)
{
	long long enable, harden;
	int err;

	err = sysfile_number(root, &enable, "/proc/sys/net/core/bpf_jit_enable");
	if (err)
		return err;
	/* Only root may read this one. */
	if (sysfile_number(root, &harden, "/proc/sys/net/core/bpf_jit_harden"))
		snprintf(value, size, "%lld", enable);
	else
		snprintf(value, size, "%lld (harden %lld)", enable, harden);
	return 0;
}

/* The kernel's configuration, for gzgets(), which reads plain files too; NULL: there is none. */
static gzFile open_config(const char *root)
{
	static const char *const places[] = { "/proc/config.gz", "/boot/config-%s",
					      "/lib/modules/%s/config" };
	gzFile config = NULL;
	struct utsname uts;
	size_t i;
	FILE *f;

	if (uname(&uts))
		return NULL;
	for (i = 0; i < ARRAY_SIZE(places) && !config; i++) {
		f = sysfile_open(root, places[i], uts.release);
		if (!f)
			continue;
		config = gzdopen(dup(fileno(f)), "rb");
		fclose(f);
	}
	return config;
}

/* What makes a kernel check itself wherever it goes, at several times the cost. */
static int get_debug(const char *root, char *value, size_t size)
{
	static const char *const options[] = {
		"KASAN_GENERIC", "KASAN_SW_TAGS", "KCSAN",	   "KMSAN",	    "KCOV",
		"GCOV_KERNEL",	 "LOCKDEP",	  "DEBUG_OBJECTS", "SLUB_DEBUG_ON",
	};
	gzFile config = open_config(root);
	size_t i, len = 0;
	char line[512];
	int err;

	if (!config)
		return -ENOENT;
	while (len < size && gzgets(config, line, sizeof(line))) {
		char *end = strstr(line, "=y\n");

		if (!end || strncmp(line, "CONFIG_", 7))
			continue;
		*end = '\0';
		for (i = 0; i < ARRAY_SIZE(options); i++)
			if (!strcmp(line + 7, options[i]))
				len += snprintf(value + len, size - len, "%s%s", len ? ", " : "",
						options[i]);
	}
	gzerror(config, &err);
	if (!len && gztell(config) > 0 && (err == Z_OK || err == Z_STREAM_END))
		snprintf(value, size, "none");
	gzclose(config);
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
	{ "debug", get_debug },
};

_Static_assert(ARRAY_SIZE(getters) == MACHINE_NR_FACTS, "MACHINE_NR_FACTS is the table's length");

static void read_fact(const char *root, size_t i, struct machine_fact *fact)
{
	fact->key = getters[i].key;
	fact->value[0] = '\0';
	if (getters[i].get(root, fact->value, sizeof(fact->value)))
		fact->value[0] = '\0';
	clean(fact->value);
	if (!fact->value[0])
		strcpy(fact->value, "unknown");
}

size_t machine_facts_at(const char *root, struct machine_fact *facts, size_t max)
{
	size_t i;

	for (i = 0; i < max && i < ARRAY_SIZE(getters); i++)
		read_fact(root, i, &facts[i]);
	return i;
}

size_t machine_facts(struct machine_fact *facts, size_t max)
{
	return machine_facts_at("", facts, max);
}

void machine_fact(const char *key, struct machine_fact *fact)
{
	size_t i = 0;

	while (strcmp(getters[i].key, key))
		i++;
	read_fact("", i, fact);
}

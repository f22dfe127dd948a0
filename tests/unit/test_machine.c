// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw(), CPU_ALLOC() */
#endif
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/machine.h"

#define CPU_DIR	 "/sys/devices/system/cpu"
#define VULN_DIR CPU_DIR "/vulnerabilities"

/* The machine that a test lays out, file by file */
static char root[PATH_MAX / 2];

static int make_root(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%s/test_machine.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int remove_root(void **state)
{
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *path, const char *text)
{
	size_t len = strlen(text);
	char full[PATH_MAX], *slash;
	int fd;

	assert_true(snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full));
	for (slash = full + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(full, 0777))
			assert_int_equal(errno, EEXIST);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	assert_int_equal(close(fd), 0);
}

static void take_away(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(unlink(full), 0);
}

/* A string of len times c, to be freed. */
static char *long_string(size_t len, char c)
{
	char *s = malloc(len + 1);

	assert_non_null(s);
	memset(s, c, len);
	s[len] = '\0';
	return s;
}

static const struct machine_fact *fact_of(const struct machine_fact *facts, const char *key)
{
	for (int i = 0; i < MACHINE_NR_FACTS; i++) {
		if (!strcmp(facts[i].key, key))
			return &facts[i];
	}
	fail_msg("no fact '%s'", key);
	return NULL;
}

/* What holds for every value wherever it comes from */
static void assert_sound(const struct machine_fact *facts)
{
	for (int i = 0; i < MACHINE_NR_FACTS; i++) {
		const char *v = facts[i].value;
		size_t len = strnlen(v, sizeof(facts[i].value));

		assert_in_range(len, 1, sizeof(facts[i].value) - 1);
		for (size_t j = 0; j < len; j++)
			assert_in_range(v[j], 0x20, 0x7e);
		assert_true(v[0] != ' ' && v[len - 1] != ' ');
	}
}

/* The value of one fact of the machine laid out; good until the next call. */
static const char *value_of(const char *key)
{
	static struct machine_fact facts[MACHINE_NR_FACTS];

	memset(facts, 'x', sizeof(facts));
	assert_int_equal(machine_facts_at(root, facts, MACHINE_NR_FACTS), MACHINE_NR_FACTS);
	assert_sound(facts);
	return fact_of(facts, key)->value;
}

static void assert_fact(const char *key, const char *want)
{
	assert_string_equal(value_of(key), want);
}

static void keys_in_order(void **state)
{
	static const char *const keys[] = {
		"time",		  "host",	    "kernel_release",
		"kernel_version", "machine",	    "cpu_model",
		"cpus_online",	  "cpus_allowed",   "smt",
		"governor",	  "freq_min_khz",   "freq_max_khz",
		"mitigations",	  "virtualization", "jit",
		"debug",
	};
	struct machine_fact facts[MACHINE_NR_FACTS + 1];

	assert_int_equal(sizeof(keys) / sizeof(keys[0]), MACHINE_NR_FACTS);
	facts[MACHINE_NR_FACTS].key = "untouched";
	assert_int_equal(machine_facts(facts, MACHINE_NR_FACTS + 1), MACHINE_NR_FACTS);
	for (int i = 0; i < MACHINE_NR_FACTS; i++)
		assert_string_equal(facts[i].key, keys[i]);
	assert_string_equal(facts[MACHINE_NR_FACTS].key, "untouched");
	assert_sound(facts);
}

static void no_more_than_max(void **state)
{
	struct machine_fact facts[3];

	facts[2].key = "untouched";
	assert_int_equal(machine_facts(facts, 2), 2);
	assert_string_equal(facts[1].key, "host");
	assert_string_equal(facts[2].key, "untouched");
	assert_int_equal(machine_facts(facts, 0), 0);
	assert_int_equal(machine_facts(NULL, 0), 0);
}

static void one_by_key(void **state)
{
	struct machine_fact facts[MACHINE_NR_FACTS], fact;

	machine_facts(facts, MACHINE_NR_FACTS);
	/* From the second on: the first is the time. */
	for (int i = 1; i < MACHINE_NR_FACTS; i++) {
		machine_fact(facts[i].key, &fact);
		assert_string_equal(fact.key, facts[i].key);
		assert_string_equal(fact.value, facts[i].value);
	}
}

/* This machine, against the C library */
static void this_machine(void **state)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	struct utsname uts;
	char online[32];

	machine_facts(facts, MACHINE_NR_FACTS);
	assert_int_equal(uname(&uts), 0);
	assert_string_equal(fact_of(facts, "host")->value, uts.nodename);
	assert_string_equal(fact_of(facts, "kernel_release")->value, uts.release);
	assert_string_equal(fact_of(facts, "kernel_version")->value, uts.version);
	assert_string_equal(fact_of(facts, "machine")->value, uts.machine);
	snprintf(online, sizeof(online), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	assert_string_equal(fact_of(facts, "cpus_online")->value, online);
}

/* The flag in /proc/cpuinfo and our answer agree; only x86 has the flag. */
static void this_machine_virtual(void **state)
{
#if defined(__x86_64__) || defined(__i386__)
	struct machine_fact facts[MACHINE_NR_FACTS];
	bool flag = false;
	char *line = NULL;
	size_t cap = 0;
	FILE *f;

	if (!access("/sys/hypervisor/type", F_OK))
		skip();
	f = fopen("/proc/cpuinfo", "r");
	assert_non_null(f);
	while (getline(&line, &cap, f) >= 0)
		flag = flag || (!strncmp(line, "flags", 5) && strstr(line, " hypervisor "));
	free(line);
	fclose(f);
	machine_facts(facts, MACHINE_NR_FACTS);
	assert_int_equal(!!strcmp(fact_of(facts, "virtualization")->value, "none"), flag);
	assert_string_not_equal(fact_of(facts, "virtualization")->value, "unknown");
#else
	skip();
#endif
}

static void allowed_is_what_is_left_after_pinning(void **state)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	cpu_set_t before, one;
	char count[32];

	if (sched_getaffinity(0, sizeof(before), &before))
		skip(); /* more CPUs than a plain cpu_set_t takes */
	machine_facts(facts, MACHINE_NR_FACTS);
	snprintf(count, sizeof(count), "%d", CPU_COUNT(&before));
	assert_string_equal(fact_of(facts, "cpus_allowed")->value, count);

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	machine_facts(facts, MACHINE_NR_FACTS);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_string_equal(fact_of(facts, "cpus_allowed")->value, "1");
}

/* Read the fact 'time' back: its shape, and that it is now. */
static void assert_time_is_now(const char *zone)
{
	struct machine_fact fact;
	int hours, minutes;
	struct tm tm = { 0 };
	char sign, *rest;
	time_t now, then;

	assert_int_equal(machine_facts(&fact, 1), 1);
	now = time(NULL);
	rest = strptime(fact.value, "%Y-%m-%dT%H:%M:%S", &tm);
	assert_non_null(rest);
	assert_string_equal(rest, zone);
	assert_int_equal(sscanf(rest, "%c%2d:%2d", &sign, &hours, &minutes), 3);
	then = timegm(&tm) - (sign == '-' ? -60 : 60) * (hours * 60 + minutes);
	assert_in_range(now - then, 0, 5);
}

static void time_in_local_zone(void **state)
{
	char *tz = getenv("TZ");

	tz = tz ? strdup(tz) : NULL;
	/* POSIX counts these west of Greenwich, ISO 8601 east. */
	setenv("TZ", "TST-05:30", 1);
	assert_time_is_now("+05:30");
	setenv("TZ", "TST+03:30", 1);
	assert_time_is_now("-03:30");
	setenv("TZ", "TST+00:30", 1);
	assert_time_is_now("-00:30");
	setenv("TZ", "UTC0", 1);
	assert_time_is_now("+00:00");
	if (tz)
		setenv("TZ", tz, 1);
	else
		unsetenv("TZ");
	tzset();
	free(tz);
}

static void nothing_there_is_unknown(void **state)
{
	static const char *const keys[] = { "cpu_model",      "smt",	      "governor",
					    "freq_min_khz",   "freq_max_khz", "mitigations",
					    "virtualization", "jit",	      "debug" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_fact(keys[i], "unknown");
}

static void empty_files_are_unknown(void **state)
{
	static const char *const keys[] = { "cpu_model",    "smt",	    "governor",
					    "freq_min_khz", "freq_max_khz", "virtualization",
					    "jit" };

	put("/proc/cpuinfo", "");
	put("/proc/stat", "");
	put("/proc/sys/net/core/bpf_jit_enable", "");
	put(CPU_DIR "/online", "");
	put(CPU_DIR "/smt/control", "\n");
	put(CPU_DIR "/smt/active", "");
	put(CPU_DIR "/cpu0/cpufreq/scaling_governor", "");
	put(VULN_DIR "/meltdown", "");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_fact(keys[i], "unknown");
	assert_fact("mitigations", "meltdown: unknown");
}

/* A path too long for the system must not be cut to one that exists. */
static void root_too_long(void **state)
{
	struct machine_fact facts[MACHINE_NR_FACTS];
	char *path = long_string(PATH_MAX + 100, '/');

	machine_facts_at(path, facts, MACHINE_NR_FACTS);
	assert_string_equal(fact_of(facts, "cpu_model")->value, "unknown");
	assert_string_equal(fact_of(facts, "mitigations")->value, "unknown");
	assert_string_equal(fact_of(facts, "jit")->value, "unknown");
	free(path);
}

static void cpu_model_x86(void **state)
{
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
			     "model\t\t: 44\nmodel name\t: Intel(R) Xeon(R) CPU           X5650  @ "
			     "2.67GHz\nstepping\t: 2\n\nprocessor\t: 1\nmodel name\t: Other\n");
	assert_fact("cpu_model", "Intel(R) Xeon(R) CPU X5650 @ 2.67GHz");
}

static void cpu_model_last_line_without_newline(void **state)
{
	put("/proc/cpuinfo", "model name\t: A: B");
	assert_fact("cpu_model", "A: B");
	put("/proc/cpuinfo", "model name\t:");
	assert_fact("cpu_model", "unknown");
	put("/proc/cpuinfo", "model name");
	assert_fact("cpu_model", "unknown");
	put("/proc/cpuinfo", "model name\t: \nmodel name\t: Second");
	assert_fact("cpu_model", "Second");
	put("/proc/cpuinfo", "my model name : A\nmodel name of it : B\n");
	assert_fact("cpu_model", "unknown");
}

static void cpu_model_arm64(void **state)
{
	put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\n"
			     "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\n"
			     "CPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
			     "processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
			     "processor\t: 2\nCPU implementer\t: 0x41\nCPU part\t: 0xd0\n\n");
	assert_fact("cpu_model", "implementer 0x41 part 0xd0c,implementer 0x41 part 0xd0");
}

static void cpu_model_elsewhere(void **state)
{
	put("/proc/cpuinfo",
	    "vendor_id       : IBM/S390\n# processors    : 2\n"
	    "bogomips per cpu: 3033.00\nmax thread id   : 0\n"
	    "processor 0: version = FF,  identification = 0133E8,  machine = 2964\n"
	    "cpu number      : 0\n");
	assert_fact("cpu_model", "machine 2964");
	put("/proc/cpuinfo", "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n"
			     "uarch\t\t: sifive,u74-mc\n");
	assert_fact("cpu_model", "sifive,u74-mc");
	put("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t: 2GHz\n");
	assert_fact("cpu_model", "POWER9, altivec supported");
	put("/proc/cpuinfo", "processor\t: 0\nsomething\t: else\nCPU part\t: 0xd0c\n");
	assert_fact("cpu_model", "unknown");
}

static void cpu_model_amid_huge_lines(void **state)
{
	char *flags = long_string(300000, 'f');
	char *text;

	assert_true(asprintf(&text, "flags\t: %s\nmodel name\t: Big One\n", flags) > 0);
	put("/proc/cpuinfo", text);
	assert_fact("cpu_model", "Big One");
	free(text);

	assert_true(asprintf(&text, "model name\t: %s", flags) > 0);
	put("/proc/cpuinfo", text);
	free(text);
	text = long_string(511, 'f');
	assert_fact("cpu_model", text);
	free(text);
	free(flags);
}

static void only_printable_ascii(void **state)
{
	put("/proc/cpuinfo", "model name\t:  \x01"
			     "A\xff\xc3\xa9\x7f\x1b[31m\r\n");
	assert_fact("cpu_model", "?A?????[31m");
}

static void online_cpus_are_counted(void **state)
{
	put(CPU_DIR "/online", "0-2,5,7-8\n");
	assert_fact("cpus_online", "6");
}

static void smt_states(void **state)
{
	static const struct {
		const char *control;
		const char *active;
		const char *want;
	} cases[] = {
		{ "on\n", "1\n", "on" },
		{ "on", "0\n", "on" },
		{ "off\n", "0\n", "off" },
		{ "forceoff\n", "0\n", "off" },
		{ "notsupported\n", "0\n", "notsupported" },
		{ "notimplemented\n", "1\n", "on" },
		{ "notimplemented\n", "0\n", "unknown" },
		{ "notimplemented\n", "", "unknown" },
		{ "4\n", "1\n", "on" },
		{ "1\n", "0\n", "off" },
		{ "onwards\n", "0\n", "unknown" },
		{ "", "1\n", "unknown" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(CPU_DIR "/smt/control", cases[i].control);
		put(CPU_DIR "/smt/active", cases[i].active);
		assert_fact("smt", cases[i].want);
	}
}

static void governors_distinct(void **state)
{
	put(CPU_DIR "/online", "0-2,4\n");
	put(CPU_DIR "/cpu0/cpufreq/scaling_governor", "performance\n");
	put(CPU_DIR "/cpu1/cpufreq/scaling_governor", "performance");
	put(CPU_DIR "/cpu2/cpufreq/scaling_governor", "performance\n");
	put(CPU_DIR "/cpu3/cpufreq/scaling_governor", "offline\n");
	put(CPU_DIR "/cpu4/cpufreq/scaling_governor", "performance\n");
	assert_fact("governor", "performance");

	/* a prefix of the other is not the other */
	put(CPU_DIR "/cpu2/cpufreq/scaling_governor", "perf\n");
	assert_fact("governor", "performance,perf");
	put(CPU_DIR "/cpu1/cpufreq/scaling_governor", "powersave\n");
	assert_fact("governor", "performance,powersave,perf");

	put(CPU_DIR "/cpu1/cpufreq/scaling_governor", "");
	put(CPU_DIR "/cpu2/cpufreq/scaling_governor", "performance\n");
	assert_fact("governor", "performance,unknown");
}

static void governors_too_many(void **state)
{
	char path[PATH_MAX], name[64];

	put(CPU_DIR "/online", "0-15\n");
	for (int cpu = 0; cpu < 16; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpufreq/scaling_governor", cpu);
		snprintf(name, sizeof(name), "a_governor_of_a_quite_long_name_%d\n", cpu);
		put(path, name);
	}
	assert_fact("governor", "unknown");
}

static void frequency_limits(void **state)
{
	put(CPU_DIR "/online", "0-1\n");
	put(CPU_DIR "/cpu0/cpufreq/scaling_min_freq", "800000\n");
	put(CPU_DIR "/cpu1/cpufreq/scaling_min_freq", "400000\n");
	put(CPU_DIR "/cpu0/cpufreq/scaling_max_freq", "3000000\n");
	put(CPU_DIR "/cpu1/cpufreq/scaling_max_freq", "10000000\n");
	assert_fact("freq_min_khz", "400000");
	assert_fact("freq_max_khz", "10000000");

	/* one CPU without it leaves the whole unknown */
	put(CPU_DIR "/cpu1/cpufreq/scaling_max_freq", "<unsupported>\n");
	assert_fact("freq_max_khz", "unknown");
	assert_fact("freq_min_khz", "400000");
	take_away(CPU_DIR "/cpu0/cpufreq/scaling_min_freq");
	assert_fact("freq_min_khz", "unknown");
	put(CPU_DIR "/cpu0/cpufreq/scaling_min_freq", "99999999999999999999\n");
	assert_fact("freq_min_khz", "unknown");
}

static void mitigations_told(void **state)
{
	put(VULN_DIR "/tsa", "Not affected\n");
	assert_fact("mitigations", "none");
	put(VULN_DIR "/spectre_v2", "Mitigation: Retpolines; STIBP: disabled; BHI: Not affected\n");
	put(VULN_DIR "/meltdown", "Mitigation: PTI\n");
	put(VULN_DIR "/spec_store_bypass", "Vulnerable");
	put(VULN_DIR "/mds", "Not affected");
	put(VULN_DIR "/retbleed", "");
	put(VULN_DIR "/.hidden", "Vulnerable\n");
	assert_fact("mitigations",
		    "meltdown: PTI; retbleed: unknown; spec_store_bypass: Vulnerable; "
		    "spectre_v2: Retpolines, STIBP: disabled, BHI: Not affected");
}

static void put_weakness(int i, const char *state)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), VULN_DIR "/w%02d", i);
	put(path, state);
}

/* Too long for the value as a whole, but not with the first clauses alone */
static void mitigations_cut_to_clauses(void **state)
{
	char want[512] = "";

	for (int i = 0; i < 20; i++) {
		put_weakness(i, "Mitigation: Some; and more that does not fit\n");
		sprintf(want + strlen(want), "%sw%02d: Some", i ? "; " : "", i);
	}
	assert_fact("mitigations", want);
}

/* 511 bytes are the most that a value has room for; one more calls for shortening. */
static void mitigations_just_fit(void **state)
{
	char *text = long_string(511 - 5, 'm');

	text[100] = ';';
	put_weakness(0, text);
	assert_int_equal(strlen(value_of("mitigations")), 511);
	free(text);
	text = long_string(512 - 5, 'm');
	text[100] = ';';
	put_weakness(0, text);
	assert_int_equal(strlen(value_of("mitigations")), 105);
	free(text);
}

/* Eight entries have room for themselves, but not for the word that there are more. */
static void mitigations_left_out_are_counted(void **state)
{
	char *text = long_string(57, 'm');
	const char *value, *pos;
	int whole = 0, more = -1;

	for (int i = 0; i < 30; i++)
		put_weakness(i, text);
	value = value_of("mitigations");
	for (pos = value; *pos == 'w'; whole++) {
		int nr;

		assert_int_equal(sscanf(pos, "w%2d: ", &nr), 1);
		assert_int_equal(nr, whole);
		assert_memory_equal(pos + 5, text, 57);
		assert_memory_equal(pos + 62, "; ", 2);
		pos += 64;
	}
	assert_true(whole > 5);
	assert_int_equal(sscanf(pos, "+%d more", &more), 1);
	assert_int_equal(whole + more, 30);
	free(text);
}

static void mitigations_all_too_long(void **state)
{
	char *text = long_string(900, 'm');

	put_weakness(0, text);
	assert_fact("mitigations", "+1 more");
	put_weakness(1, "Vulnerable\n");
	assert_fact("mitigations", "w01: Vulnerable; +1 more");
	free(text);

	/* longer than any state is: not read by halves */
	text = long_string(200000, 'm');
	put_weakness(0, text);
	assert_fact("mitigations", "w00: unknown; w01: Vulnerable");
	free(text);
}

/* Without systemd-detect-virt, which answers for the running machine only */
static void virtualization_by_x86_flag(void **state)
{
	char *flags, *text;

	put("/proc/cpuinfo", "vendor_id\t: Some\nflags\t\t: nohypervisor hypervisors fpu\n");
	assert_fact("virtualization", "none");
	put("/proc/cpuinfo", "flags\t\t: fpu hypervisor lahf_lm\n");
	assert_fact("virtualization", "yes");
	put("/proc/cpuinfo", "flags\t\t: hypervisor");
	assert_fact("virtualization", "yes");
	flags = long_string(100000, 'f');
	assert_true(asprintf(&text, "flags\t: %s hypervisor\n", flags) > 0);
	put("/proc/cpuinfo", text);
	assert_fact("virtualization", "yes");
	free(text);
	free(flags);
	put("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
	assert_fact("virtualization", "unknown");
}

static void jit_states(void **state)
{
	put("/proc/sys/net/core/bpf_jit_enable", "1\n");
	assert_fact("jit", "1");
	put("/proc/sys/net/core/bpf_jit_harden", "2\n");
	assert_fact("jit", "1 (harden 2)");
	put("/proc/sys/net/core/bpf_jit_enable", "0");
	assert_fact("jit", "0 (harden 2)");
	put("/proc/sys/net/core/bpf_jit_harden", "");
	assert_fact("jit", "0");
	put("/proc/sys/net/core/bpf_jit_enable", "on\n");
	assert_fact("jit", "unknown");
}

static void kernels_that_check_themselves(void **state)
{
	char path[512], *text;
	struct utsname uts;

	assert_int_equal(uname(&uts), 0);
	snprintf(path, sizeof(path), "/lib/modules/%s/config", uts.release);
	put(path, "CONFIG_KCSAN=y\n");
	assert_fact("debug", "KCSAN");
	snprintf(path, sizeof(path), "/boot/config-%s", uts.release);
	put(path, "CONFIG_KASAN=y\n# CONFIG_KASAN_GENERIC is not set\nCONFIG_KASAN_HW_TAGS=y\n"
		  "CONFIG_LOCKDEP=n\nCONFIG_LOCKDEP_SUPPORT=y\nX_CONFIG_KCOV=y\nCONFIG_KCOV=m\n");
	assert_fact("debug", "none");
	put("/proc/config.gz", "CONFIG_LOCKDEP=y\nCONFIG_KASAN=y\nCONFIG_KASAN_GENERIC=y");
	assert_fact("debug", "LOCKDEP");
	put("/proc/config.gz", "CONFIG_LOCKDEP=y\nCONFIG_KASAN_GENERIC=y\n");
	assert_fact("debug", "LOCKDEP, KASAN_GENERIC");
	put("/proc/config.gz", "\x1f\x8b\x08 cut off");
	assert_fact("debug", "unknown");
	put("/proc/config.gz", "");
	assert_fact("debug", "unknown");
	/* More than fits */
	text = calloc(100, sizeof("CONFIG_LOCKDEP=y\n"));
	assert_non_null(text);
	for (int i = 0; i < 99; i++)
		strcat(text, "CONFIG_LOCKDEP=y\n");
	put("/proc/config.gz", text);
	assert_non_null(strchr(value_of("debug"), ','));
	free(text);
}

#define ROOTED(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_in_order),
		cmocka_unit_test(no_more_than_max),
		cmocka_unit_test(one_by_key),
		cmocka_unit_test(this_machine),
		cmocka_unit_test(this_machine_virtual),
		cmocka_unit_test(allowed_is_what_is_left_after_pinning),
		cmocka_unit_test(time_in_local_zone),
		ROOTED(root_too_long),
		ROOTED(nothing_there_is_unknown),
		ROOTED(empty_files_are_unknown),
		ROOTED(cpu_model_x86),
		ROOTED(cpu_model_last_line_without_newline),
		ROOTED(cpu_model_arm64),
		ROOTED(cpu_model_elsewhere),
		ROOTED(cpu_model_amid_huge_lines),
		ROOTED(only_printable_ascii),
		ROOTED(online_cpus_are_counted),
		ROOTED(smt_states),
		ROOTED(governors_distinct),
		ROOTED(governors_too_many),
		ROOTED(frequency_limits),
		ROOTED(mitigations_told),
		ROOTED(mitigations_cut_to_clauses),
		ROOTED(mitigations_just_fit),
		ROOTED(mitigations_left_out_are_counted),
		ROOTED(mitigations_all_too_long),
		ROOTED(virtualization_by_x86_flag),
		ROOTED(jit_states),
		ROOTED(kernels_that_check_themselves),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}

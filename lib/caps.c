// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/caps.h"

/* Value of @key ("CapEff:") in /proc/self/status, read as a number of base @base. */
static int read_status(const char *key, int base, uint64_t *value)
{
	char line[256];
	FILE *f;
	int err = -ENOENT;

	f = fopen("/proc/self/status", "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		*value = strtoull(line + strlen(key), NULL, base);
		err = 0;
		break;
	}
	fclose(f);
	return err;
}

static bool has_cap(uint64_t eff, int cap)
{
	return eff >> cap & 1;
}

int caps_missing(char *buf, size_t size)
{
	bool bpf, perfmon;
	uint64_t eff;
	int err;

	buf[0] = '\0';
	err = read_status("CapEff:", 16, &eff);
	if (err)
		return err;
	bpf = has_cap(eff, CAP_BPF) || has_cap(eff, CAP_SYS_ADMIN);
	perfmon = has_cap(eff, CAP_PERFMON) || has_cap(eff, CAP_SYS_ADMIN);
	snprintf(buf, size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? "" : "CAP_PERFMON");
	return 0;
}

static bool in_user_namespace(void)
{
	unsigned long inside, outside, count;
	FILE *f = fopen("/proc/self/uid_map", "re");
	int n;

	if (!f)
		return false;
	n = fscanf(f, "%lu %lu %lu", &inside, &outside, &count);
	fclose(f);
	/* The initial one maps all ids to themselves; a new one may have no map yet. */
	return n != 3 || inside != 0 || outside != 0 || count < 0xffffffffUL;
}

/* The chosen mode is in brackets: "none [integrity] confidentiality". */
static bool read_lockdown(char *mode, size_t size)
{
	char line[128], *from, *to;
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	bool ok = false;

	if (!f)
		return false;
	if (fgets(line, sizeof(line), f) && (from = strchr(line, '[')) &&
	    (to = strchr(from, ']'))) {
		*to = '\0';
		ok = strcmp(from + 1, "none");
		snprintf(mode, size, "%s", from + 1);
	}
	fclose(f);
	return ok;
}

void caps_other_limits(char *buf, size_t size)
{
	uint64_t seccomp = 0;
	char mode[64];

	buf[0] = '\0';
	if (in_user_namespace())
		snprintf(
			buf, size,
			"this process is in a user namespace, whose capabilities do not count for BPF");
	else if (read_lockdown(mode, sizeof(mode)))
		snprintf(buf, size, "the kernel is locked down (%s)", mode);
	else if (!read_status("Seccomp:", 10, &seccomp) && seccomp)
		snprintf(buf, size, "a seccomp filter is active, which may forbid bpf(2)");
}

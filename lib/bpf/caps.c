// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bpf/caps.h"
#include "lib/bpf/detached.h"
#include "lib/sysctl.h"

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

/* Kernels before 5.8 know neither CAP_BPF nor CAP_PERFMON: CAP_SYS_ADMIN it is there. */
static bool kernel_has_cap_bpf(void)
{
	return sysctl_read("kernel/cap_last_cap", CAP_BPF) >= CAP_BPF;
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
	if (has_cap(eff, CAP_SYS_ADMIN))
		return 0;
	if (!kernel_has_cap_bpf()) {
		snprintf(buf, size, "CAP_SYS_ADMIN");
		return 0;
	}
	bpf = has_cap(eff, CAP_BPF);
	perfmon = has_cap(eff, CAP_PERFMON);
	snprintf(buf, size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? "" : "CAP_PERFMON");
	return 0;
}

bool caps_sys_admin(void)
{
	uint64_t eff;

	return read_status("CapEff:", 16, &eff) || has_cap(eff, CAP_SYS_ADMIN);
}

/* The number that the kernel gives the first user namespace, PROC_USER_INIT_INO. */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU

bool caps_in_user_namespace(void)
{
	struct stat st;

	/* A kernel without user namespaces has no such file. */
	return !stat("/proc/self/ns/user", &st) && st.st_ino != FIRST_USER_NAMESPACE;
}

bool caps_has_seccomp(void)
{
	uint64_t mode;

	return !read_status("Seccomp:", 10, &mode) && mode;
}

/* First line of file @name of securityfs, mounted or not. Returns whether there is one. */
static bool read_securityfs(const char *name, char *line, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/security/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = detached_open("securityfs", name);
	if (fd < 0)
		return false;
	n = read(fd, line, size - 1);
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return n > 0;
}

/* The chosen mode is in brackets: "none [integrity] confidentiality". */
void caps_lockdown(char *buf, size_t size)
{
	char line[128], *from, *to;

	buf[0] = '\0';
	if (!read_securityfs("lockdown", line, sizeof(line)))
		return;
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (!to)
		return;
	*to = '\0';
	if (strcmp(from + 1, "none"))
		snprintf(buf, size, "%s", from + 1);
}

void caps_security_modules(char *buf, size_t size)
{
	if (!read_securityfs("lsm", buf, size))
		buf[0] = '\0';
}

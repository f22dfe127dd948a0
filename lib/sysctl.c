// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>

#include "lib/sysctl.h"

long long sysctl_read(const char *name, long long otherwise)
{
	long long value;
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	f = fopen(path, "re");
	if (!f)
		return otherwise;
	if (fscanf(f, "%lld", &value) != 1)
		value = otherwise;
	fclose(f);
	return value;
}

// SPDX-License-Identifier: GPL-2.0
#include "lib/sysctl.h"

#include "lib/sysfile.h"

long long sysctl_read(const char *name, long long otherwise)
{
	long long value;

	return sysfile_number("", &value, "/proc/sys/%s", name) ? otherwise : value;
}

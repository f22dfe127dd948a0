// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cli/message.h"
#include "lib/cli/output.h"
#include "lib/record.h"

/*
 * A FIFO is opened for writing alone. If bench had an end to read from itself, records would go
 * nowhere without a word once the reader has gone, and we would wait for ever when the pipe is
 * full.
 */
static int open_fifo(const char *path)
{
	int fd;

	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) {
		fcntl(fd, F_SETFL, 0); /* but writes shall wait */
	} else if (errno == ENXIO) {
		warning("-o, --output: no process reads from '%s' yet: waiting for one", path);
		fd = open(path, O_WRONLY | O_CLOEXEC);
	}
	return fd;
}

static bool is_fifo(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISFIFO(st.st_mode);
}

/* A former writer may have been killed in the middle of a record. */
static int mend(int fd, const char *path, struct bench_err *err)
{
	bool cut;
	int ret = record_cut_torn(fd, &cut);

	if (ret == -EBADMSG)
		bench_failed(err, 0, "-o, --output: '%s' does not end with a record: another file?",
			     path);
	else if (ret)
		bench_failed(err, ret, "-o, --output: cannot read '%s'", path);
	else if (cut)
		warning("-o, --output: '%s' ended in the middle of a record: cut off", path);
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

int output_open(const char *path, struct bench_err *err)
{
	int fd;

	if (!strcmp(path, "-"))
		fd = dup(STDOUT_FILENO);
	else if (is_fifo(path))
		fd = open_fifo(path);
	else
		/* For reading too: record_append() looks whether the last line was ended. */
		fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return bench_failed(err, errno, "-o, --output: cannot open '%s'", path);
	return mend(fd, path, err);
}

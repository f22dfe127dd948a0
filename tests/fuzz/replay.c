// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds files to a fuzz target, which is linked with it, and reports in TAP: those that are named,
 * or in the folders that are named; else those of the target's corpus, for which it has to be
 * started at the top of the tree.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* No input takes so long, whatever the sanitizer and however busy the machine. */
#define LIMIT_S 120

struct files {
	char **paths;
	size_t cnt;
};

static void __attribute__((noreturn)) die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void add_file(struct files *files, const char *path)
{
	files->paths = reallocarray(files->paths, files->cnt + 1, sizeof(*files->paths));
	if (!files->paths)
		die("a list of files");
	files->paths[files->cnt] = strdup(path);
	if (!files->paths[files->cnt++])
		die("a list of files");
}

static int no_dot_files(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_path(struct files *files, const char *path)
{
	struct dirent **entries;
	struct stat st;
	char *name;
	int n, i;

	if (stat(path, &st))
		die(path);
	if (!S_ISDIR(st.st_mode)) {
		add_file(files, path);
		return;
	}
	n = scandir(path, &entries, no_dot_files, alphasort);
	if (n < 0)
		die(path);
	for (i = 0; i < n; i++) {
		if (asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0)
			die(path);
		add_path(files, name);
		free(name);
		free(entries[i]);
	}
	free(entries);
}

/* Of exactly the right size, so that reading behind its end is noticed. */
static uint8_t *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	uint8_t *data;

	if (!f || fstat(fileno(f), &st))
		die(path);
	*size = st.st_size;
	data = malloc(*size);
	if ((*size && !data) || fread(data, 1, *size, f) != *size)
		die(path);
	fclose(f);
	return data;
}

/*
 * In a process of its own, so that a crash has a name and the other files still have their turn.
 * Twice, since a fuzzer goes on in the same process: nothing of an input may be left for the next
 * one.
 */
static int run_file(const char *path)
{
	int status, i;
	uint8_t *data;
	size_t size;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		alarm(LIMIT_S);
		data = read_file(path, &size);
		for (i = 0; i < 2; i++)
			LLVMFuzzerTestOneInput(data, size);
		free(data);
		/* Not _exit(): now the sanitizer looks for leaks. */
		exit(0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return status;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	struct files files = {};
	size_t failed = 0, i;
	char *corpus;
	int status;

	if (argc == 1) {
		if (strncmp(name, "fuzz_", 5) ||
		    asprintf(&corpus, "tests/fuzz/corpus/%s", name + 5) < 0)
			die("a corpus to this name");
		add_path(&files, corpus);
		free(corpus);
	}
	for (i = 1; i < (size_t)argc; i++)
		add_path(&files, argv[i]);
	if (!files.cnt) {
		puts("1..1\nnot ok 1 - there is an input");
		return 1;
	}
	printf("1..%zu\n", files.cnt);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (i = 0; i < files.cnt; i++) {
		status = run_file(files.paths[i]);
		failed += status != 0;
		printf("%s %zu - %s", status ? "not ok" : "ok", i + 1, files.paths[i]);
		if (WIFSIGNALED(status))
			printf(" (%s)", strsignal(WTERMSIG(status)));
		else if (status)
			printf(" (exit status %d)", WEXITSTATUS(status));
		putchar('\n');
		free(files.paths[i]);
	}
	free(files.paths);
	return failed != 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * local-storage-create: what it costs to give each new socket, or each new thread, a local storage
 * of its own. Producers create a batch of them, which makes the program (progs/
 * local_storage_create.bpf.c) create the storage, and let go of them, which frees it.
 */
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/detached.h"
#include "progs/own_runs.h"
#include "local_storage_create.skel.h"

enum storage_type {
	STORAGE_SOCKET,
	STORAGE_TASK,
};

static const char *const type_names[] = { "socket", "task", NULL };

struct create_params {
	long long batch_size;
	int type; /* enum storage_type */
};

static const struct opt create_opts[] = {
	{ .name = "batch-size",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct create_params, batch_size),
	  .def = 32,
	  .min = 1,
	  .max = 65536,
	  .help = "Sockets, or threads, that a producer creates before it closes, or joins, them" },
	{ .name = "storage-type",
	  .arg = "TYPE",
	  .type = OPT_CHOICE,
	  .at = offsetof(struct create_params, type),
	  .def = STORAGE_SOCKET,
	  .choices = type_names,
	  .help = "What gets the storage: UDP sockets over IPv6, or threads" },
};

/* Counts of one producer, alone on their cache lines. */
struct create_counts {
	uint64_t calls; /* that succeeded */
	uint64_t failed_calls;
} __attribute__((aligned(BENCH_CACHELINE)));

struct create_ctx {
	struct local_storage_create_bpf *skel;
	struct bpf_program *prog;
	struct bpf_link *link;
	struct create_counts *counts;
	const char *brief; /* why a way does not work, in two or three words */
};

/* ---- limits */

/* Of a thread, most of it its kernel stack; of a socket. */
#define THREAD_BYTES (32 * 1024)
#define SOCKET_BYTES (4 * 1024)

/* For all other files of the process. */
#define FILES_SPARE 64

static uint64_t files_needed(const struct bench_run *run)
{
	const struct create_params *params = run->params;

	return params->batch_size * run->cfg->producers + FILES_SPARE;
}

static int create_check(struct bench_run *run)
{
	const struct create_params *params = run->params;
	bool is_task = params->type == STORAGE_TASK;
	struct rlimit files;

	if (!is_task && !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max < files_needed(run))
		return bench_refused(&run->err,
				     "--batch-size: invalid value '%lld': that many sockets for "
				     "each of %lld producers and %d other files are more than "
				     "the %llu files that may be open (ulimit -Hn)",
				     params->batch_size, run->cfg->producers, FILES_SPARE,
				     (unsigned long long)files.rlim_max);
	return bench_check_memory(&run->err, "batch-size", params->batch_size,
				  is_task ? "that many threads for each producer" :
					    "that many sockets for each producer",
				  (is_task ? THREAD_BYTES : SOCKET_BYTES) * params->batch_size *
					  run->cfg->producers);
}

/* Never down, and for the life of the process: no harm, and another run needs it again. */
static void raise_file_limit(const struct bench_run *run)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= files_needed(run))
		return;
	files.rlim_cur = files_needed(run);
	setrlimit(RLIMIT_NOFILE, &files);
}

/* ---- creating one */

static int create_socket(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

static void *do_nothing(void *arg)
{
	return NULL;
}

/* Small, so that the C library keeps the stacks of a batch for the next one. */
#define THREAD_STACK (64 * 1024)

static void thread_attr(pthread_attr_t *attr)
{
	pthread_attr_init(attr);
	pthread_attr_setstacksize(attr, THREAD_STACK > PTHREAD_STACK_MIN ? THREAD_STACK :
									   PTHREAD_STACK_MIN);
}

/* One, for nothing but to make the program run. */
static int create_one(struct bench_run *run, enum storage_type type)
{
	pthread_t thread;
	int fd, err;

	if (type == STORAGE_TASK) {
		err = pthread_create(&thread, NULL, do_nothing, NULL);
		if (err)
			return bench_step_error(&run->err, WHY_THREAD, err,
						"cannot start a thread");
		return pthread_join(thread, NULL);
	}
	fd = create_socket();
	if (fd == -EAFNOSUPPORT)
		return bench_unavailable(&run->err,
					 "there are no sockets of IPv6: requires CONFIG_IPV6, and "
					 "a kernel that was not booted with ipv6.disable=1");
	if (fd < 0)
		return bench_failed(&run->err, fd, "cannot create a socket");
	close(fd);
	return 0;
}

/* ---- attaching */

/* The cgroup of this process in the unified hierarchy: a descriptor, or -errno. */
static int open_cgroup(void)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char line[PATH_MAX + 8], path[2 * PATH_MAX], *name = NULL;
	struct statfs fs;
	FILE *f;
	size_t i;
	int fd;

	f = fopen("/proc/self/cgroup", "re");
	if (!f)
		return -errno;
	while (!name && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::/", strlen("0::/")))
			name = line + strlen("0::/");
	fclose(f);
	/* Not listed until the first mount of it: then all processes are in the topmost cgroup. */
	if (!name)
		name = strcpy(line, "");
	name[strcspn(name, "\n")] = '\0';
	for (i = 0; i < ARRAY_SIZE(roots); i++) {
		snprintf(path, sizeof(path), "%s/%s", roots[i], name);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	/* Not mounted there, or not at all. */
	return detached_open("cgroup2", *name ? name : ".");
}

static int attach_cgroup(struct bench_run *run, struct create_ctx *ctx)
{
	int fd, err;

	fd = open_cgroup();
	if (fd < 0)
		return bench_unavailable(&run->err,
					 "cannot open the cgroup of this process in the unified "
					 "hierarchy (cgroup2): %s",
					 why_errno(fd));
	ctx->link = bpf_program__attach_cgroup(ctx->prog, fd);
	err = errno;
	close(fd);
	return ctx->link ? 0 : bench_bpf_error(&run->err, err, "cannot attach to the cgroup");
}

static int attach_by_btf(struct bench_run *run, struct create_ctx *ctx)
{
	ctx->link = bpf_program__attach(ctx->prog);
	return ctx->link ? 0 : bench_bpf_error(&run->err, errno, "cannot attach the program");
}

/* One way to see what is created. */
struct create_way {
	const char *name;
	enum storage_type type;
	const char *prog;
	const char *function; /* that it is attached to; NULL: none */
	const char *lack; /* where that is missing */
	const char *not_sleepable; /* where the verifier refuses it; NULL: it does not sleep */
	const char *why_not_run;
	int (*attach)(struct bench_run *run, struct create_ctx *ctx);
};

/* Those of a type, best first: that of the kernel selftests' bench. */
static const struct create_way ways[] = {
	{
		.name = "lsm",
		.type = STORAGE_SOCKET,
		.prog = "socket_lsm",
		.function = "bpf_lsm_socket_post_create",
		.lack = "this kernel has no LSM programs: requires CONFIG_BPF_LSM and Linux 5.7 "
			"or newer",
		.not_sleepable = "this kernel has no sleepable LSM programs on "
				 "socket_post_create: requires Linux 5.11 or newer",
		.why_not_run = "bpf is not among the active security modules (lsm= at boot)",
		.attach = attach_by_btf,
	},
	{
		.name = "cgroup",
		.type = STORAGE_SOCKET,
		.prog = "socket_cgroup",
		.why_not_run = "it does not run for sockets of this process",
		.attach = attach_cgroup,
	},
	{
		.name = "tp_btf",
		.type = STORAGE_TASK,
		.prog = "task_fork",
		.why_not_run = "it does not run for threads of this process",
		.attach = attach_by_btf,
	},
};

static int set_up_way(struct bench_run *run, const struct create_way *way)
{
	struct create_ctx *ctx = run->priv;
	int err;

	ctx->brief = "not built in";
	if (way->function && hook_has_btf() && !hook_function_exists(way->function))
		return bench_unavailable(&run->err, "%s", way->lack);
	ctx->skel = local_storage_create_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->prog = bpf_object__find_program_by_name(ctx->skel->obj, way->prog);
	ctx->skel->rodata->own_runs.tgid = bench_tgid();
	bpf_program__set_autoload(ctx->prog, true);
	bpf_map__set_autocreate(ctx->skel->maps.sockets, way->type == STORAGE_SOCKET);
	bpf_map__set_autocreate(ctx->skel->maps.tasks, way->type == STORAGE_TASK);
	err = bench_load(run, ctx->skel->skeleton);
	if (err == -EINVAL && way->not_sleepable) {
		ctx->brief = "not sleepable";
		return bench_unavailable(&run->err, "%s", way->not_sleepable);
	}
	if (!err)
		err = way->attach(run, ctx);
	if (!err)
		err = create_one(run, way->type);
	ctx->brief = err ? why_errno_name(err) : "not active";
	if (!err && !ctx->skel->bss->seen)
		err = bench_unavailable(&run->err, "%s", way->why_not_run);
	return err;
}

static void undo_way(struct create_ctx *ctx)
{
	bpf_link__destroy(ctx->link);
	ctx->link = NULL;
	local_storage_create_bpf__destroy(ctx->skel);
	ctx->skel = NULL;
}

static int create_setup(struct bench_run *run)
{
	size_t size = run->cfg->producers * sizeof(struct create_counts), i;
	const struct create_params *params = run->params;
	struct bench_trigger *trigger = &run->trigger;
	struct create_ctx *ctx;
	int err;

	if (params->type == STORAGE_TASK)
		err = bench_probe_storage(&run->err, "local storage of tasks", "Linux 5.13",
					  BPF_MAP_TYPE_TASK_STORAGE);
	else
		err = bench_probe_storage(&run->err, "local storage of sockets", "Linux 5.9",
					  BPF_MAP_TYPE_SK_STORAGE);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->counts = aligned_alloc(BENCH_CACHELINE, size);
	if (!ctx->counts)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	memset(ctx->counts, 0, size);
	if (params->type == STORAGE_SOCKET)
		raise_file_limit(run);
	trigger->verb = "attached by";
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if ((int)ways[i].type != params->type)
			continue;
		err = set_up_way(run, &ways[i]);
		if (!err) {
			snprintf(trigger->name, sizeof(trigger->name), "%s", ways[i].name);
			return 0;
		}
		/* Only LSM has another way after it. */
		if (ways[i].attach != attach_by_btf || params->type == STORAGE_TASK)
			break;
		undo_way(ctx);
		snprintf(trigger->fallback, sizeof(trigger->fallback), "%s: %s", ways[i].name,
			 ctx->brief);
		snprintf(trigger->reasons, sizeof(trigger->reasons), "%s: %.990s", ways[i].name,
			 run->err.text);
		run->err = (struct bench_err){}; /* the next way may work */
	}
	return err;
}

static void create_teardown(struct bench_run *run)
{
	struct create_ctx *ctx = run->priv;

	if (!ctx)
		return;
	undo_way(ctx);
	free(ctx->counts);
	free(ctx);
}

/* ---- the run */

static void add(uint64_t *count, uint64_t n)
{
	__atomic_store_n(count, *count + n, __ATOMIC_RELAXED);
}

/* Counts a batch of @made, the rest of which failed with errno @err. */
static int count_batch(struct bench_thread *t, struct create_counts *counts, long long made,
		       long long failed, int err)
{
	add(&counts->calls, made);
	add(&counts->failed_calls, failed);
	/* Some may fail where others hold what there is; all of them is no measurement. */
	if (!made && failed)
		return bench_failed(&t->run->err, err, "cannot create a socket, or a thread");
	return 0;
}

static int socket_producer(struct bench_thread *t, struct create_counts *counts)
{
	const struct create_params *params = t->run->params;
	long long made, failed, i;
	int *fds, fd, err = 0, ret = 0;

	fds = calloc(params->batch_size, sizeof(*fds));
	if (!fds)
		return bench_failed(&t->run->err, ENOMEM, "cannot start a producer");
	while (!bench_stopping(t) && !ret) {
		made = failed = 0;
		for (i = 0; i < params->batch_size && !bench_stopping(t); i++) {
			fd = create_socket();
			if (fd >= 0) {
				fds[made++] = fd;
			} else {
				err = fd;
				failed++;
			}
		}
		for (i = 0; i < made; i++)
			close(fds[i]);
		ret = count_batch(t, counts, made, failed, err);
	}
	free(fds);
	return ret;
}

static int task_producer(struct bench_thread *t, struct create_counts *counts)
{
	const struct create_params *params = t->run->params;
	long long made, failed, i;
	pthread_t *threads;
	pthread_attr_t attr;
	int err = 0, ret = 0;

	threads = calloc(params->batch_size, sizeof(*threads));
	if (!threads)
		return bench_failed(&t->run->err, ENOMEM, "cannot start a producer");
	thread_attr(&attr);
	while (!bench_stopping(t) && !ret) {
		made = failed = 0;
		for (i = 0; i < params->batch_size && !bench_stopping(t); i++) {
			int e = pthread_create(&threads[made], &attr, do_nothing, NULL);

			if (!e) {
				made++;
			} else {
				err = e;
				failed++;
			}
		}
		for (i = 0; i < made; i++)
			pthread_join(threads[i], NULL);
		ret = count_batch(t, counts, made, failed, err);
	}
	pthread_attr_destroy(&attr);
	free(threads);
	return ret;
}

static int create_producer(struct bench_thread *t)
{
	const struct create_params *params = t->run->params;
	struct create_ctx *ctx = t->run->priv;
	struct create_counts *counts = &ctx->counts[t->idx];

	/* All threads of the run are there by now; whatever is created from here on, we create. */
	__atomic_store_n(&ctx->skel->bss->started, 1, __ATOMIC_SEQ_CST);
	return params->type == STORAGE_TASK ? task_producer(t, counts) : socket_producer(t, counts);
}

/* ---- figures */

enum { CREATES, CREATE_ERRORS, FAILED_CALLS };

static const struct figure create_figures[] = {
	[CREATES] = {
		.name = "creates",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_HIGHER,
		.help = "storages created, in thousands per second",
	},
	[CREATE_ERRORS] = {
		.name = "create_errors",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_LOWER,
		.help = "sockets or threads that the kernel created no storage for",
	},
	[FAILED_CALLS] = {
		.name = "failed_calls",
		.unit = "k/s",
		.scale = 1e3,
		.better = BETTER_LOWER,
		.help = "calls of socket(2) or pthread_create(3) that failed",
	},
};

static void create_progress(FILE *out, const struct report *report, const double *values,
			    const struct sample *s, int producers)
{
	fprintf(out, "creates %8.3lfk/s (%7.3lfk/prod)\n", values[CREATES],
		values[CREATES] / producers);
}

static void create_summary(FILE *out, const struct report *report, const struct figure_stats *stats,
			   const struct sample *total, int producers)
{
	const uint64_t *v = total->raw.v;

	fprintf(out, "Summary: creates %8.3lf \u00B1 %5.3lfk/s (%7.3lfk/prod), %" PRIu64 " total\n",
		stats[CREATES].mean, stats[CREATES].stddev, stats[CREATES].mean / producers,
		v[CREATES]);
	if (v[CREATE_ERRORS] || v[FAILED_CALLS])
		fprintf(out,
			"socket() or pthread_create() errors %" PRIu64 " create_errs %" PRIu64 "\n",
			v[FAILED_CALLS], v[CREATE_ERRORS]);
}

static const struct report report_creates = {
	.name = "creates",
	.figures = create_figures,
	.nr_figures = ARRAY_SIZE(create_figures),
	.progress = create_progress,
	.summary = create_summary,
};

static uint64_t sum_counts(const struct bench_run *run, size_t offset)
{
	const struct create_ctx *ctx = run->priv;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < run->cfg->producers; i++)
		sum += __atomic_load_n((const uint64_t *)((const char *)&ctx->counts[i] + offset),
				       __ATOMIC_RELAXED);
	return sum;
}

#define SUM_COUNTS(run, member) sum_counts(run, offsetof(struct create_counts, member))

static void create_measure(struct bench_run *run, struct values *v)
{
	const struct create_ctx *ctx = run->priv;

	v->v[CREATES] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_HITS);
	v->v[CREATE_ERRORS] = bench_slots_sum(ctx->skel->bss->cpu_slots, SLOT_DROPS);
	v->v[FAILED_CALLS] = SUM_COUNTS(run, failed_calls);
}

static void create_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct cpu_slot *slots;
	struct create_ctx *ctx = run->priv;

	/* Until then sockets, or threads, of others make it run. */
	bpf_link__destroy(ctx->link);
	ctx->link = NULL;
	if (run->cfg->verify)
		hook_quiesce();
	slots = ctx->skel->bss->cpu_slots;
	bench_count(c, "creates", bench_slots_sum(slots, SLOT_HITS));
	bench_count(c, "create_errors", bench_slots_sum(slots, SLOT_DROPS));
	bench_count(c, "calls", SUM_COUNTS(run, calls));
	bench_count(c, "failed_calls", SUM_COUNTS(run, failed_calls));
	bench_identity(c, "creates + create_errors = calls");
	c->prog_fd = bpf_program__fd(ctx->prog);
	c->runs = bench_slots_sum(slots, SLOT_HITS) + bench_slots_sum(slots, SLOT_DROPS) +
		  bench_slots_sum(slots, SLOT_OTHERS);
}

static const struct bench create = {
	.name = "local-storage-create",
	.kernel_workers = true,
	.desc = "storages of 64 bytes created for new sockets or threads, --batch-size at a time",
	.needs = "Linux 5.13 or newer (sockets: 5.9)",
	.report = &report_creates,
	.check = create_check,
	.setup = create_setup,
	.teardown = create_teardown,
	.producer = create_producer,
	.measure = create_measure,
	.conserve = create_conserve,
};

static const struct bench *const create_benchs[] = { &create };

static struct bench_family create_family = {
	.title = "Local storage: creating it",
	.about = "what it costs to give a socket or a thread its storage",
	.opts = create_opts,
	.nr_opts = ARRAY_SIZE(create_opts),
	.params_size = sizeof(struct create_params),
	.benchs = create_benchs,
	.nr_benchs = ARRAY_SIZE(create_benchs),
};

BENCH_FAMILY(create_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * prog-run: what a run of the user's own BPF program takes.
 *
 * The kernel runs it on request (BPF_PROG_TEST_RUN). Where it repeats the run in one call, as it
 * does for programs that get a packet, the time is that of the runs alone; where it does not, each
 * run is a system call, which is part of the time. Either way an empty program of the same type
 * stands beside.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/user_object.h"
#include "lib/run/timing.h"

#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif

/* Of the kernel: a context is 64 KiB at most, and so is a packet. */
#define INPUT_MAX 65536

/* A packet where the user gave none. */
#define ZEROS 64

/* The kernel takes an int. */
#define RUNS_MAX (1 << 23)

/*
 * How long a call with repeated runs shall take. For XDP the kernel patches its code before and
 * after it, and waits for RCU: tens of milliseconds. It looks for signals and for others that want
 * the CPU between the runs.
 */
#define REPEATED_NS 10000000

#define MAX_RETVALS 8

struct prog_run_params {
	const char *object;
	const char *program;
	const char *data_in;
	const char *ctx_in;
	long long repeat;
};

static const struct opt prog_run_opts[] = {
	{ .name = "object",
	  .arg = "FILE",
	  .at = offsetof(struct prog_run_params, object),
	  OPT_STRING,
	  .is_subject = true,
	  .allowed = "the name of a file",
	  .help = "Compiled BPF object with the program; without it, an empty program is run" },
	{ .name = "program",
	  .arg = "NAME",
	  .at = offsetof(struct prog_run_params, program),
	  OPT_STRING,
	  .is_subject = true,
	  .allowed = "the name of a program",
	  .help = "Program of it that is run, where there are several" },
	{ .name = "data-in",
	  .arg = "FILE",
	  .at = offsetof(struct prog_run_params, data_in),
	  OPT_STRING,
	  .allowed = "the name of a file",
	  .help = "Packet that the program gets; without it, 64 bytes of 0" },
	{ .name = "ctx-in",
	  .arg = "FILE",
	  .at = offsetof(struct prog_run_params, ctx_in),
	  OPT_STRING,
	  .allowed = "the name of a file",
	  .help = "Context that the program gets, as the kernel takes it for programs of its type" },
	{ .name = "repeat",
	  .arg = "NUM",
	  .type = OPT_NUM,
	  .at = offsetof(struct prog_run_params, repeat),
	  .def = 0,
	  .min = 1,
	  .max = RUNS_MAX,
	  .def_text = "as many as take 10 ms",
	  .help = "Runs in one call, where the kernel repeats them; they share a packet, which 1 "
		  "makes anew for each" },
};

/* A file's bytes. */
struct input {
	void *data;
	size_t size;
};

/* What the program returned, and how often. */
struct retvals {
	struct {
		uint32_t value;
		uint64_t nr;
	} v[MAX_RETVALS];
	size_t nr;
	uint64_t others;
};

/* Of one producer, alone on their cache lines. */
struct caller {
	struct retvals retvals;
	void *ctx; /* its own, for some programs write there */
	uint64_t runs; /* of the program */
	uint64_t interrupted; /* calls of which nobody knows how many runs they made */
	bool deaf; /* signals are blocked */
} __attribute__((aligned(BENCH_CACHELINE)));

struct prog_run_ctx {
	struct user_object uo;
	int prog_fd; /* the object's, or of an empty program where the user has given none */
	int empty_fd;
	enum bpf_prog_type type;
	enum bpf_attach_type attach_type;
	uint32_t flags;
	struct input data, ctx;
	bool repeats; /* the kernel runs it several times in a call */
	struct caller first; /* of the set-up */
	struct caller *callers;
	struct timing *timing;
};

/* ---- arguments */

static int read_input(struct bench_err *err, const char *opt, const char *path, struct input *in)
{
	ssize_t n = 0;
	int fd;

	if (!path)
		return 0;
	in->data = malloc(INPUT_MAX + 1);
	if (!in->data)
		return bench_failed(err, ENOMEM, "cannot read '%s'", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return bench_refused(err, "--%s: cannot open '%s': %s", opt, path, strerror(errno));
	while (in->size <= INPUT_MAX &&
	       (n = read(fd, (char *)in->data + in->size, INPUT_MAX + 1 - in->size)) > 0)
		in->size += n;
	close(fd);
	if (n < 0)
		return bench_refused(err, "--%s: cannot read '%s': %s", opt, path, strerror(errno));
	if (!in->size || in->size > INPUT_MAX)
		return bench_refused(err, "--%s: '%s' has %s: expected 1 to %d bytes", opt, path,
				     in->size ? "more" : "no bytes", INPUT_MAX);
	return 0;
}

static int open_object(struct bench_run *run, struct user_object *uo)
{
	const struct prog_run_params *params = run->params;
	char why[1024];

	if (!params->object)
		return 0;
	if (!user_object_open(params->object, params->program, uo, why, sizeof(why)))
		return 0;
	return bench_refused(&run->err, "--object: %s", why);
}

static int read_inputs(struct bench_run *run, struct input *data, struct input *ctx)
{
	const struct prog_run_params *params = run->params;
	int err;

	err = read_input(&run->err, "data-in", params->data_in, data);
	return err ? err : read_input(&run->err, "ctx-in", params->ctx_in, ctx);
}

static int prog_run_check(struct bench_run *run)
{
	const struct prog_run_params *params = run->params;
	struct input data = {}, ctx = {};
	struct user_object uo = {};
	int err;

	if (params->program && !params->object)
		return bench_refused(&run->err, "--program: there is no --object that it is in");
	err = read_inputs(run, &data, &ctx);
	if (!err)
		err = open_object(run, &uo);
	user_object_close(&uo);
	free(data.data);
	free(ctx.data);
	return err;
}

/* ---- running it */

static void count_retval(struct retvals *r, uint32_t value, uint64_t nr)
{
	size_t i;

	for (i = 0; i < r->nr && r->v[i].value != value; i++)
		;
	if (i == MAX_RETVALS) {
		r->others += nr;
		return;
	}
	if (i == r->nr) {
		r->v[i].value = value;
		r->v[i].nr = 0;
		r->nr++;
	}
	r->v[i].nr += nr;
}

static double thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/*
 * One call: @runs runs, where the kernel repeats them, else one. Returns 0 or -errno. @ns: that the
 * runs took.
 *
 * The kernel tells the time of a repeated run without the system call, but only its mean in whole
 * nanoseconds, rounded down: of a program of 3.9 ns that is 3. The CPU time of the whole call is
 * not rounded, and contains the system call, which many runs make small. So it is taken where it
 * lies within what the kernel's figure stands for; and else the middle of that.
 */
static int call_prog(const struct prog_run_ctx *ctx, struct caller *c, int fd, uint64_t runs,
		     double *ns)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	double start, low;
	int err;

	if (ctx->ctx.size) {
		memcpy(c->ctx, ctx->ctx.data, ctx->ctx.size);
		opts.ctx_in = c->ctx;
		opts.ctx_size_in = ctx->ctx.size;
	}
	if (ctx->data.size) {
		opts.data_in = ctx->data.data;
		opts.data_size_in = ctx->data.size;
	}
	if (ctx->repeats)
		opts.repeat = runs;
	start = ctx->repeats ? thread_cpu_ns() : now_ns();
	err = bpf_prog_test_run_opts(fd, &opts);
	*ns = (ctx->repeats ? thread_cpu_ns() : now_ns()) - start;
	if (err)
		return err;
	if (ctx->repeats) {
		low = (double)opts.duration * runs;
		if (*ns < low || *ns > low + runs)
			*ns = low + 0.5 * runs;
	}
	if (fd == ctx->prog_fd) {
		c->runs += runs;
		count_retval(&c->retvals, opts.retval, 1);
	}
	return 0;
}

/*
 * A signal that comes while the kernel repeats a run ends the call, and nobody knows how many runs
 * there were. Without signals a call ends as well, soon enough for a thread that is to stop.
 */
static void block_signals(struct caller *c)
{
	sigset_t all;

	if (c->deaf)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	c->deaf = true;
}

static int prog_run_batch(struct bench_thread *t, bool nothing, uint64_t turns,
			  struct timing_batch *out)
{
	const struct prog_run_params *params = t->run->params;
	struct prog_run_ctx *ctx = t->run->priv;
	struct caller *c = &ctx->callers[t->idx];
	const int fd = nothing ? ctx->empty_fd : ctx->prog_fd;
	uint64_t runs;
	double ns;
	int err;

	block_signals(c);
	runs = !ctx->repeats ? 1 : params->repeat ? (uint64_t)params->repeat : turns;
	while (out->turns < turns) {
		err = call_prog(ctx, c, fd, runs, &ns);
		if (err == -EINTR) {
			c->interrupted += !nothing;
			*out = (struct timing_batch){};
			return 0;
		}
		if (err)
			return bench_bpf_error(&t->run->err, err, "cannot run the program");
		out->turns += runs;
		out->ns += ns;
	}
	return 0;
}

/* ---- set-up */

/* r0 = 0; exit */
static const struct bpf_insn return_0[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int load_empty(const struct prog_run_ctx *ctx)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ctx->attach_type,
		    /* libbpf keeps to itself that these always have it. */
		    .prog_flags = ctx->flags |
				  (ctx->type == BPF_PROG_TYPE_SYSCALL ? BPF_F_SLEEPABLE : 0));

	return bpf_prog_load(ctx->type, "empty", "GPL", return_0, ARRAY_SIZE(return_0), &opts);
}

static int load_object(struct bench_run *run, struct prog_run_ctx *ctx)
{
	const struct prog_run_params *params = run->params;
	char pins[200], subject[192];
	int err;

	err = open_object(run, &ctx->uo);
	if (err)
		return err;
	ctx->type = bpf_program__type(ctx->uo.prog);
	ctx->attach_type = bpf_program__expected_attach_type(ctx->uo.prog);
	err = user_object_unpin(&ctx->uo, pins, sizeof(pins));
	if (err)
		return bench_failed(&run->err, err, "cannot make maps that are not pinned");
	if (pins[0])
		bench_note(run, "%s", pins);
	snprintf(subject, sizeof(subject), "program '%s' of '%s'", bpf_program__name(ctx->uo.prog),
		 params->object);
	err = bench_load_object(run, ctx->uo.obj, subject);
	if (err)
		return err;
	ctx->flags = bpf_program__flags(ctx->uo.prog);
	ctx->prog_fd = bpf_program__fd(ctx->uo.prog);
	return 0;
}

static int load_default(struct bench_run *run, struct prog_run_ctx *ctx)
{
	ctx->type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	ctx->prog_fd = load_empty(ctx);
	if (ctx->prog_fd < 0)
		return bench_bpf_error(&run->err, ctx->prog_fd, "cannot load a raw_tp program");
	bench_note(run, "no --object: an empty raw_tp program is run");
	return 0;
}

static const char *prog_name(const struct prog_run_ctx *ctx)
{
	return ctx->uo.prog ? bpf_program__name(ctx->uo.prog) : "empty";
}

static const char *type_name(const struct prog_run_ctx *ctx)
{
	return libbpf_bpf_prog_type_str(ctx->type) ?: "unknown";
}

static bool gets_packet(const struct prog_run_ctx *ctx)
{
	switch (ctx->type) {
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_CGROUP_SKB:
	case BPF_PROG_TYPE_LWT_IN:
	case BPF_PROG_TYPE_LWT_OUT:
	case BPF_PROG_TYPE_LWT_XMIT:
	case BPF_PROG_TYPE_LWT_SEG6LOCAL:
	case BPF_PROG_TYPE_FLOW_DISSECTOR:
		return true;
	default:
		return false;
	}
}

static int give_zeros(struct bench_run *run, struct input *in, size_t size, const char *opt)
{
	in->data = calloc(1, size);
	if (!in->data)
		return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
	in->size = size;
	bench_note(run, "no --%s: the program gets %zu bytes of 0", opt, size);
	return 0;
}

static int try_error(struct bench_run *run, const struct prog_run_ctx *ctx, int err)
{
	if (err == -ENOTSUPP || err == -EOPNOTSUPP)
		return bench_unavailable(&run->err,
					 "this kernel cannot run a program of type %s on request "
					 "(BPF_PROG_TEST_RUN)",
					 type_name(ctx));
	if (err == -EINVAL)
		return bench_failed(&run->err, err,
				    "the kernel does not take this context or packet for a program "
				    "of type %s (--ctx-in, --data-in)",
				    type_name(ctx));
	return bench_bpf_error(&run->err, err, "cannot run program '%s'", prog_name(ctx));
}

/* Runs it once, and finds out how this type is run. */
static int try_it(struct bench_run *run, struct prog_run_ctx *ctx)
{
	const struct prog_run_params *params = run->params;
	double ns;
	int err;

	/* The kernel runs functions of its own then, to which they are perhaps attached. */
	if (ctx->type == BPF_PROG_TYPE_TRACING)
		return bench_unavailable(&run->err,
					 "a program of type %s runs where it is attached only, not "
					 "on request (BPF_PROG_TEST_RUN)",
					 type_name(ctx));
	if (gets_packet(ctx) && !ctx->data.size) {
		err = give_zeros(run, &ctx->data, ZEROS, "data-in");
		if (err)
			return err;
	}
	err = call_prog(ctx, &ctx->first, ctx->prog_fd, 1, &ns);
	/* It reads arguments, and there are to be some. */
	if (err == -EINVAL && ctx->type == BPF_PROG_TYPE_RAW_TRACEPOINT && !ctx->ctx.size) {
		err = give_zeros(run, &ctx->ctx, 12 * sizeof(uint64_t), "ctx-in");
		if (err)
			return err;
		ctx->first.ctx = calloc(1, ctx->ctx.size);
		if (!ctx->first.ctx)
			return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
		err = call_prog(ctx, &ctx->first, ctx->prog_fd, 1, &ns);
	}
	if (err)
		return try_error(run, ctx, err);
	ctx->repeats = true;
	err = call_prog(ctx, &ctx->first, ctx->prog_fd, 2, &ns);
	if (!err)
		return 0;
	ctx->repeats = false;
	if (err != -EINVAL)
		return try_error(run, ctx, err);
	if (params->repeat)
		return bench_refused(&run->err,
				     "--repeat: the kernel does not repeat programs of type %s",
				     type_name(ctx));
	return 0;
}

/*
 * Does the program write to the packet? Then a repeated run finds what the one before has left.
 * That of a flow dissector comes back as something else.
 */
static void look_at_packet(struct bench_run *run, struct prog_run_ctx *ctx)
{
	const struct prog_run_params *params = run->params;
	unsigned char *out = malloc(ctx->data.size + 256);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = ctx->data.data,
		    .data_size_in = ctx->data.size, .data_out = out,
		    .data_size_out = ctx->data.size + 256, .ctx_in = ctx->ctx.data,
		    .ctx_size_in = ctx->ctx.size);

	if (out && gets_packet(ctx) && ctx->type != BPF_PROG_TYPE_FLOW_DISSECTOR && ctx->repeats &&
	    params->repeat != 1 && !bpf_prog_test_run_opts(ctx->prog_fd, &opts)) {
		ctx->first.runs++;
		if (opts.data_size_out != ctx->data.size ||
		    memcmp(out, ctx->data.data, ctx->data.size))
			bench_warn(run, "the program changes its packet, and repeated runs get it "
					"as the one before left it: --repeat 1 makes it anew");
	}
	free(out);
}

static void record_facts(struct bench_run *run, const struct prog_run_ctx *ctx)
{
	const struct prog_run_params *params = run->params;
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	char tag[2 * sizeof(info.tag) + 1] = "";
	size_t i;

	run->trigger.verb = "run as";
	snprintf(run->trigger.name, sizeof(run->trigger.name), "%s:%s", type_name(ctx),
		 prog_name(ctx));
	bench_fact(run, "object", "%s", params->object ?: "none");
	if (!bpf_obj_get_info_by_fd(ctx->prog_fd, &info, &size)) {
		for (i = 0; i < sizeof(info.tag); i++)
			snprintf(tag + 2 * i, 3, "%02x", info.tag[i]);
		bench_fact(run, "prog_tag", "%s", tag);
	}
	bench_fact(run, "retval", "%d", (int)ctx->first.retvals.v[0].value);
}

static int make_callers(struct bench_run *run, struct prog_run_ctx *ctx)
{
	const struct prog_run_params *params = run->params;
	size_t nr = run->cfg->producers, i;

	ctx->timing = timing_new(run, prog_run_batch, "runs", RUNS_MAX,
				 ctx->repeats && !params->repeat ? REPEATED_NS : TIMING_BATCH_NS);
	if (!ctx->timing)
		return -ENOMEM;
	ctx->callers = aligned_alloc(BENCH_CACHELINE, nr * sizeof(*ctx->callers));
	if (!ctx->callers)
		return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
	memset(ctx->callers, 0, nr * sizeof(*ctx->callers));
	for (i = 0; i < nr && ctx->ctx.size; i++) {
		ctx->callers[i].ctx = malloc(ctx->ctx.size);
		if (!ctx->callers[i].ctx)
			return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
	}
	return 0;
}

static int prog_run_setup(struct bench_run *run)
{
	const struct prog_run_params *params = run->params;
	struct prog_run_ctx *ctx;
	int err;

	ctx = aligned_alloc(BENCH_CACHELINE, sizeof(*ctx));
	if (!ctx)
		return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
	memset(ctx, 0, sizeof(*ctx));
	ctx->prog_fd = ctx->empty_fd = -1;
	run->priv = ctx;
	err = read_inputs(run, &ctx->data, &ctx->ctx);
	if (err)
		return err;
	if (ctx->ctx.size) {
		ctx->first.ctx = malloc(ctx->ctx.size);
		if (!ctx->first.ctx)
			return bench_failed(&run->err, ENOMEM, "cannot set up prog-run");
	}
	err = params->object ? load_object(run, ctx) : load_default(run, ctx);
	if (!err)
		err = try_it(run, ctx);
	if (err)
		return err;
	look_at_packet(run, ctx);
	ctx->empty_fd = load_empty(ctx);
	if (ctx->empty_fd < 0)
		return bench_bpf_error(&run->err, ctx->empty_fd,
				       "cannot load an empty program of type %s", type_name(ctx));
	record_facts(run, ctx);
	return make_callers(run, ctx);
}

static void prog_run_teardown(struct bench_run *run)
{
	struct prog_run_ctx *ctx = run->priv;
	long long i;

	if (!ctx)
		return;
	if (!ctx->uo.obj && ctx->prog_fd >= 0)
		close(ctx->prog_fd);
	if (ctx->empty_fd >= 0)
		close(ctx->empty_fd);
	user_object_close(&ctx->uo);
	for (i = 0; ctx->callers && i < run->cfg->producers; i++)
		free(ctx->callers[i].ctx);
	free(ctx->callers);
	free(ctx->first.ctx);
	free(ctx->data.data);
	free(ctx->ctx.data);
	timing_free(ctx->timing);
	free(ctx);
}

static int prog_run_producer(struct bench_thread *t)
{
	struct prog_run_ctx *ctx = t->run->priv;

	return timing_producer(ctx->timing, t);
}

static void prog_run_measure(struct bench_run *run, struct values *v)
{
	struct prog_run_ctx *ctx = run->priv;

	timing_measure(ctx->timing, v);
}

static int prog_run_batches(struct bench_run *run, struct batches *b)
{
	struct prog_run_ctx *ctx = run->priv;

	return timing_batches(ctx->timing, b);
}

/* ---- after it */

static void add_retvals(struct retvals *to, const struct retvals *from)
{
	size_t i;

	for (i = 0; i < from->nr; i++)
		count_retval(to, from->v[i].value, from->v[i].nr);
	to->others += from->others;
}

/* Where runs are repeated in a call, the kernel tells what the last one returned. */
static void report_retvals(struct bench_run *run, const struct prog_run_ctx *ctx,
			   const struct retvals *r)
{
	char text[200] = "";
	size_t used = 0, i;

	if (r->nr < 2)
		return;
	for (i = 0; i < r->nr && used < sizeof(text); i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%d (%" PRIu64 " times)",
				 i ? ", " : "", (int)r->v[i].value, r->v[i].nr);
	if (r->others && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used, ", others (%" PRIu64 ")", r->others);
	bench_note(run, "return values%s: %s", ctx->repeats ? " of the last run in a call" : "",
		   text);
}

static void prog_run_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct prog_run_ctx *ctx = run->priv;
	struct retvals retvals = {};
	struct timing_sums sums;
	uint64_t runs = ctx->first.runs, interrupted = 0;
	long long i;

	for (i = 0; i < run->cfg->producers; i++) {
		runs += ctx->callers[i].runs;
		interrupted += ctx->callers[i].interrupted;
		add_retvals(&retvals, &ctx->callers[i].retvals);
	}
	timing_sum_up(ctx->timing, &sums);
	timing_judge(ctx->timing, &sums);
	report_retvals(run, ctx, &retvals);
	bench_count(c, "runs", runs);
	bench_count(c, "measured", sums.measured);
	bench_count(c, "beside", sums.beside);
	bench_count(c, "set_up", ctx->first.runs);
	bench_count(c, "batches", sums.batches);
	if (interrupted) {
		bench_note(run,
			   "%" PRIu64 " calls were interrupted: how many runs they made is "
			   "not known, and they do not count",
			   interrupted);
		return;
	}
	bench_identity(c, "runs = measured + beside + set_up");
	c->prog_fd = ctx->prog_fd;
	c->runs = runs;
}

static const struct figure prog_run_figures[] = { TIMING_FIGURES };

static const struct report prog_run_report = {
	.name = "timing",
	.figures = prog_run_figures,
	.nr_figures = ARRAY_SIZE(prog_run_figures),
	.progress = timing_progress_line,
	.summary = timing_summary_line,
};

static const struct bench prog_run = {
	.name = "prog-run",
	.desc = "runs of your own BPF program (--object) on request, with the system call where the "
		"kernel does not repeat runs in one",
	.report = &prog_run_report,
	.check = prog_run_check,
	.setup = prog_run_setup,
	.teardown = prog_run_teardown,
	.producer = prog_run_producer,
	.measure = prog_run_measure,
	.batches = prog_run_batches,
	.conserve = prog_run_conserve,
};

static const struct bench *const prog_run_benchs[] = { &prog_run };

static struct bench_family prog_run_family = {
	.title = "Your own program",
	.about = "what a run of your own compiled BPF program takes",
	.opts = prog_run_opts,
	.nr_opts = ARRAY_SIZE(prog_run_opts),
	.params_size = sizeof(struct prog_run_params),
	.benchs = prog_run_benchs,
	.nr_benchs = ARRAY_SIZE(prog_run_benchs),
};

BENCH_FAMILY(prog_run_family);

// SPDX-License-Identifier: GPL-2.0
/*
 * sockmap: how fast TCP data gets from one socket to another: redirected by a BPF program on the
 * sockets of a sockmap, past one that lets it through, or without BPF.
 *
 * There are two connections over loopback, c1 to p1 and c2 to p2. A proxy would own p1 and p2, and
 * copy from one to the other: that is what redirecting saves. A producer sends a file again and
 * again; the consumer reads all of it from c2, whichever way it has come.
 *
 * What counts is what the consumer gets. What the kernel accepted is not there yet: a redirect to a
 * queue of another socket never makes the sender wait, and the queue grows until memory is used up.
 * So the producer is held back as long as too much is unread.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/caps.h"
#include "lib/cpuset.h"
#include "sockmap.skel.h"

#define FILE_SIZE	(128 * 1024)
#define MIN_MAX_UNREAD	(2 * FILE_SIZE)
#define MAX_MAX_UNREAD	(128 * 1024 * 1024)
#define MAX_RECORD_SIZE (128 * 1024) /* of the default receive buffer */

/*
 * A record has an skb of its own, which takes more memory than the record, and the kernel may move
 * no more than one per tick.
 */
#define MAX_UNREAD_RECORDS 256

enum sock { C1, P1, C2, P2, NR_SOCKS };

struct sockmap_params {
	bool rx_verdict_egress, rx_verdict_ingress, rx_pass, rx_normal;
	bool tx_verdict_ingress, tx_verdict_egress, tx_pass, tx_normal;
	long long record_size; /* 0: the stream is not parsed */
	long long delay_s; /* negative: for ever */
	long long producer_s; /* 0: no end */
	long long max_unread;
};

/* What is sent to socket @to arrives at c2: by the program on @source, which may have a @target. */
struct mode {
	const char *option;
	size_t at;
	enum sock to;
	enum sock full; /* whose send buffer has to have room */
	enum hook_point { NO_BPF, ON_RECEIVE, ON_SEND } hook_point;
	enum sock source;
	bool redirects;
	enum sock target;
	uint32_t flags; /* of the redirect */
	bool proxy; /* a thread copies from p1 to p2 */
};

#define MODE(member, ...)                                                  \
	{                                                                  \
		.at = offsetof(struct sockmap_params, member), __VA_ARGS__ \
	}

/* The first one is the default. */
static const struct mode modes[] = {
	MODE(rx_verdict_egress, .option = "rx-verdict-egress", .to = C1, .full = C1,
	     .hook_point = ON_RECEIVE, .source = P1, .redirects = true, .target = P2),
	MODE(rx_verdict_ingress, .option = "rx-verdict-ingress", .to = C1, .full = C1,
	     .hook_point = ON_RECEIVE, .source = P1, .redirects = true, .target = C2,
	     .flags = BPF_F_INGRESS),
	MODE(rx_pass, .option = "rx-pass", .to = P2, .full = P2, .hook_point = ON_RECEIVE,
	     .source = C2),
	MODE(rx_normal, .option = "rx-normal", .to = C1, .full = C1, .proxy = true),
	MODE(tx_verdict_ingress, .option = "tx-verdict-ingress", .to = P2, .full = P2,
	     .hook_point = ON_SEND, .source = P2, .redirects = true, .target = C2,
	     .flags = BPF_F_INGRESS),
	MODE(tx_verdict_egress, .option = "tx-verdict-egress", .to = P1, .full = P2,
	     .hook_point = ON_SEND, .source = P1, .redirects = true, .target = P2),
	MODE(tx_pass, .option = "tx-pass", .to = P2, .full = P2, .hook_point = ON_SEND,
	     .source = P2),
	MODE(tx_normal, .option = "tx-normal", .to = P2, .full = P2),
};

#define MODE_OPT(name_, member, help_)                                                          \
	{                                                                                       \
		.name = name_, .type = OPT_FLAG, .at = offsetof(struct sockmap_params, member), \
		.help = help_                                                                   \
	}

static const struct opt sockmap_opts[] = {
	MODE_OPT("rx-verdict-egress", rx_verdict_egress,
		 "What p1 receives is redirected to be sent by p2 (the default)"),
	MODE_OPT("rx-verdict-ingress", rx_verdict_ingress,
		 "What p1 receives is redirected to the receive queue of c2"),
	MODE_OPT("rx-pass", rx_pass, "What c2 receives from p2 passes a BPF program"),
	MODE_OPT("rx-normal", rx_normal,
		 "No BPF: a thread reads what p1 receives, and sends it by p2"),
	MODE_OPT("tx-verdict-ingress", tx_verdict_ingress,
		 "What is sent by p2 is redirected to the receive queue of c2"),
	MODE_OPT("tx-verdict-egress", tx_verdict_egress,
		 "What is sent by p1 is redirected to be sent by p2"),
	MODE_OPT("tx-pass", tx_pass, "What is sent by p2 to c2 passes a BPF program"),
	MODE_OPT("tx-normal", tx_normal, "No BPF: p2 sends to c2"),
	{ .name = "rx-strp",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct sockmap_params, record_size),
	  .def = 0,
	  .min = 0,
	  .max = MAX_RECORD_SIZE,
	  .help = "Have a stream parser cut what is received into records of that size; 0: no "
		  "parser" },
	{ .name = "delay-consumer",
	  .arg = "SEC",
	  .type = OPT_NUM,
	  .at = offsetof(struct sockmap_params, delay_s),
	  .def = 0,
	  .min = -86400,
	  .max = 86400,
	  .help = "The consumer begins to read so many seconds late; negative: it never reads" },
	{ .name = "producer-duration",
	  .arg = "SEC",
	  .type = OPT_NUM,
	  .at = offsetof(struct sockmap_params, producer_s),
	  .def = 0,
	  .min = 0,
	  .max = 86400,
	  .help = "The producer stops after so many seconds; 0: it does not" },
	{ .name = "max-unread",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct sockmap_params, max_unread),
	  .def = 4 * 1024 * 1024,
	  .min = MIN_MAX_UNREAD,
	  .max = MAX_MAX_UNREAD,
	  .help = "Hold the producer back while so much is sent and not read" },
};

struct sockmap_ctx {
	const struct mode *mode;
	struct sockmap_bpf *skel; /* NULL: no BPF */
	int prog_fd; /* that is measured */
	int socks[NR_SOCKS];
	int file_fd; /* what is sent */
	char *file; /* the same, mapped */
	char *bufs[2]; /* of the consumer and the proxy, FILE_SIZE each */

	/* The producer's; in the end, the consumer's. */
	struct bench_counter sent, send_calls, refused, held;
	/* The consumer's. */
	struct bench_counter received, receive_calls, left;
	struct bench_counter forwarded; /* the proxy's */
};

static const struct mode *find_mode(const struct bench_run *run)
{
	const struct mode *mode = &modes[0];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (*((const bool *)run->params + modes[i].at))
			mode = &modes[i];
	return mode;
}

static int sockmap_consumers(const struct bench_run *run)
{
	return find_mode(run)->proxy ? 2 : 1;
}

static int sockmap_check(struct bench_run *run)
{
	const struct sockmap_params *params = run->params;
	const struct mode *mode = find_mode(run);
	size_t i;

	if (run->cfg->producers != 1)
		return bench_refused(&run->err,
				     "--producers: invalid value '%lld': %s has one connection to "
				     "send on: expected 1",
				     run->cfg->producers, run->bench->name);
	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (&modes[i] != mode && *((const bool *)run->params + modes[i].at))
			return bench_refused(&run->err, "--%s: cannot be combined with --%s",
					     modes[i].option, mode->option);
	if (params->record_size && mode->hook_point != ON_RECEIVE)
		return bench_refused(&run->err,
				     "--rx-strp: has no effect with --%s: no BPF program sees what "
				     "is received",
				     mode->option);
	/* The pages are those of the file; what is on a queue takes at most as much again. */
	return bench_check_memory(&run->err, "max-unread", params->max_unread, "so many bytes",
				  params->max_unread);
}

/* ---- set-up: sockets */

static int socket_failed(struct bench_run *run, const char *what)
{
	const int err = errno;

	if (err == ENETUNREACH || err == EADDRNOTAVAIL)
		return bench_unavailable(&run->err,
					 "cannot %s 127.0.0.1: %s: bring the loopback interface "
					 "up (ip link set lo up)",
					 what, why_errno(err));
	return bench_step_error(&run->err, WHY_OTHER, err, "cannot %s 127.0.0.1", what);
}

/* Connects @client, and has @peer be the other end. */
static int connect_pair(struct bench_run *run, int listener, const struct sockaddr_in *addr,
			int *client, int *peer)
{
	*client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*client < 0 || connect(*client, (const struct sockaddr *)addr, sizeof(*addr)))
		return socket_failed(run, "connect to");
	*peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	return *peer < 0 ? socket_failed(run, "accept a connection on") : 0;
}

static int make_sockets(struct bench_run *run, struct sockmap_ctx *ctx)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int listener, err;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(listener, 2) || getsockname(listener, (struct sockaddr *)&addr, &len))
		err = socket_failed(run, "listen on");
	else
		err = connect_pair(run, listener, &addr, &ctx->socks[C1], &ctx->socks[P1]);
	if (!err)
		err = connect_pair(run, listener, &addr, &ctx->socks[C2], &ctx->socks[P2]);
	if (listener >= 0)
		close(listener);
	/* What cannot be sent at once is refused. */
	if (!err && fcntl(ctx->socks[ctx->mode->to], F_SETFL, O_NONBLOCK))
		err = socket_failed(run, "send without blocking to");
	return err;
}

/* Sent from the page cache, without a copy. Any few bytes of it tell where in it they are. */
static int make_file(struct bench_run *run, struct sockmap_ctx *ctx)
{
	uint64_t x = 88172645463325252ULL, *words;
	size_t i;

	ctx->file_fd = memfd_create("sockmap", MFD_CLOEXEC);
	if (ctx->file_fd < 0 || ftruncate(ctx->file_fd, FILE_SIZE))
		return bench_step_error(&run->err, WHY_OTHER, errno, "cannot make a file to send");
	ctx->file = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, ctx->file_fd, 0);
	if (ctx->file == MAP_FAILED)
		return bench_step_error(&run->err, WHY_OTHER, errno, "cannot map a file to send");
	words = (uint64_t *)ctx->file;
	for (i = 0; i < FILE_SIZE / sizeof(*words); i++) {
		/* Marsaglia's xorshift with the shifts 13, 7 and 17 */
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[i] = x;
	}
	return 0;
}

/* ---- set-up: BPF */

static int check_rights(struct bench_err *err, enum hook_point hook_point)
{
	/* r0 = 0; exit */
	static const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const bool on_send = hook_point == ON_SEND;
	const char *type = on_send ? "sk_msg" : "sk_skb";
	char missing[64];
	int fd;

	fd = bpf_prog_load(on_send ? BPF_PROG_TYPE_SK_MSG : BPF_PROG_TYPE_SK_SKB, NULL, "GPL",
			   return_0, ARRAY_SIZE(return_0), NULL);
	if (fd == -EPERM && !caps_missing(missing, sizeof(missing)) && !missing[0])
		return bench_unavailable(err,
					 "cannot load a BPF program of type %s: Operation not "
					 "permitted: CAP_NET_ADMIN missing: run it as root (sudo)",
					 type);
	if (fd == -EINVAL)
		return bench_unavailable(err,
					 "this kernel has no BPF programs of type %s: requires "
					 "CONFIG_INET and CONFIG_BPF_SYSCALL",
					 type);
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot load a BPF program of type %s", type);
	close(fd);
	fd = bpf_map_create(BPF_MAP_TYPE_SOCKMAP, NULL, sizeof(uint32_t), sizeof(uint64_t), 1,
			    NULL);
	if (fd == -EINVAL)
		return bench_unavailable(err, "this kernel has no sockmap: requires "
					      "CONFIG_BPF_STREAM_PARSER");
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot create a sockmap");
	close(fd);
	return 0;
}

/* Before the socket is put into it: that is when it gets the programs of its map. */
static int attach_to_source(struct bench_run *run, const struct sockmap_ctx *ctx,
			    const struct bpf_program *prog, enum bpf_attach_type type)
{
	int err;

	err = bpf_prog_attach(bpf_program__fd(prog), bpf_map__fd(ctx->skel->maps.source), type, 0);
	if (err == -EOPNOTSUPP && type == BPF_SK_SKB_STREAM_PARSER)
		return bench_unavailable(&run->err, "this kernel has no stream parser for a "
						    "sockmap, which --rx-strp uses: requires "
						    "CONFIG_BPF_STREAM_PARSER");
	return err ? bench_bpf_error(&run->err, err, "cannot attach a program to a sockmap") : 0;
}

static int put_socket(struct bench_run *run, const struct bpf_map *map, int fd)
{
	const uint32_t zero = 0;
	const uint64_t value = fd;
	int err;

	err = bpf_map_update_elem(bpf_map__fd(map), &zero, &value, BPF_ANY);
	return err ? bench_bpf_error(&run->err, err, "cannot put a socket into a sockmap") : 0;
}

static int load(struct bench_run *run, struct sockmap_ctx *ctx)
{
	const struct sockmap_params *params = run->params;
	const struct mode *mode = ctx->mode;
	const bool on_send = mode->hook_point == ON_SEND;
	struct bpf_program *verdict;
	int err;

	err = check_rights(&run->err, mode->hook_point);
	if (err)
		return err;
	ctx->skel = sockmap_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	ctx->skel->rodata->redirects = mode->redirects;
	ctx->skel->rodata->redirect_flags = mode->flags;
	ctx->skel->rodata->record_size = params->record_size;
	verdict = on_send ? ctx->skel->progs.tx_verdict : ctx->skel->progs.rx_verdict;
	bpf_program__set_autoload(verdict, true);
	bpf_program__set_autoload(ctx->skel->progs.parser, params->record_size > 0);
	err = bench_load(run, ctx->skel->skeleton);
	if (!err && params->record_size)
		err = attach_to_source(run, ctx, ctx->skel->progs.parser, BPF_SK_SKB_STREAM_PARSER);
	if (!err)
		err = attach_to_source(run, ctx, verdict,
				       on_send ? BPF_SK_MSG_VERDICT : BPF_SK_SKB_STREAM_VERDICT);
	if (!err && mode->redirects)
		err = put_socket(run, ctx->skel->maps.target, ctx->socks[mode->target]);
	if (!err)
		err = put_socket(run, ctx->skel->maps.source, ctx->socks[mode->source]);
	ctx->prog_fd = bpf_program__fd(verdict);
	snprintf(run->trigger.name, sizeof(run->trigger.name), on_send ? "sk_msg" : "sk_skb");
	return err;
}

/* What a program on the receiving side redirects or passes, a kernel worker moves. */
static void warn_of_cpus(struct bench_run *run)
{
	struct cpuset cpus = {};

	if (!cpuset_allowed(&cpus) && cpus.cnt < 3)
		bench_warn(run,
			   "%d CPU%s for three busy threads: the producer, the consumer, and the "
			   "kernel's worker that moves what is redirected",
			   cpus.cnt, cpus.cnt == 1 ? "" : "s");
	cpuset_free(&cpus);
}

static int sockmap_setup(struct bench_run *run)
{
	struct sockmap_ctx *ctx;
	int err, i;

	ctx = aligned_alloc(BENCH_CACHELINE, sizeof(*ctx));
	if (!ctx)
		return bench_failed(&run->err, ENOMEM, "cannot set up %s", run->bench->name);
	memset(ctx, 0, sizeof(*ctx));
	run->priv = ctx;
	ctx->mode = find_mode(run);
	ctx->file = MAP_FAILED;
	ctx->file_fd = -1;
	for (i = 0; i < NR_SOCKS; i++)
		ctx->socks[i] = -1;
	for (i = 0; i < (int)ARRAY_SIZE(ctx->bufs); i++) {
		ctx->bufs[i] = malloc(FILE_SIZE);
		if (!ctx->bufs[i])
			return bench_failed(&run->err, ENOMEM, "cannot set up %s",
					    run->bench->name);
	}
	err = make_file(run, ctx);
	if (!err)
		err = make_sockets(run, ctx);
	if (!err && ctx->mode->hook_point != NO_BPF)
		err = load(run, ctx);
	if (!err && ctx->mode->hook_point == ON_RECEIVE)
		warn_of_cpus(run);
	return err;
}

static void sockmap_teardown(struct bench_run *run)
{
	struct sockmap_ctx *ctx = run->priv;
	size_t i;

	if (!ctx)
		return;
	for (i = 0; i < NR_SOCKS; i++)
		if (ctx->socks[i] >= 0)
			close(ctx->socks[i]);
	sockmap_bpf__destroy(ctx->skel);
	if (ctx->file != MAP_FAILED)
		munmap(ctx->file, FILE_SIZE);
	if (ctx->file_fd >= 0)
		close(ctx->file_fd);
	for (i = 0; i < ARRAY_SIZE(ctx->bufs); i++)
		free(ctx->bufs[i]);
	free(ctx);
}

/* ---- the producer */

#define NS_PER_S   1000000000ULL
#define A_WHILE_US 100
/* Whoever waits looks that often whether it has to stop. */
#define POLL_MS 10

static void poll_for(int fd, short events)
{
	struct pollfd pfd = { .fd = fd, .events = events };

	poll(&pfd, 1, POLL_MS);
}

/*
 * Sends up to @max bytes of the file, which goes on where it ended. Returns how many the kernel
 * took, 0: it refused to, for now; or -errno after bench_failed().
 */
static ssize_t send_some(struct bench_thread *t, size_t max)
{
	struct sockmap_ctx *ctx = t->run->priv;
	off_t at = bench_counter_read(&ctx->sent) % FILE_SIZE;
	ssize_t n;

	if (max > FILE_SIZE - (size_t)at)
		max = FILE_SIZE - at;
	n = sendfile(ctx->socks[ctx->mode->to], ctx->file_fd, &at, max);
	if (n > 0) {
		bench_counter_add(&ctx->sent, n);
		bench_counter_add(&ctx->send_calls, 1);
		return n;
	}
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0 && errno != EAGAIN && errno != ENOMEM && errno != ENOBUFS)
		return bench_step_error(&t->run->err, WHY_OTHER, errno, "cannot send");
	bench_counter_add(&ctx->refused, 1);
	return 0;
}

/* Bytes that may be unread; a call sends half of them at most. */
static uint64_t unread_limit(const struct sockmap_params *params)
{
	const uint64_t records = MAX_UNREAD_RECORDS * (uint64_t)params->record_size;
	const uint64_t limit = params->max_unread;

	return records && records < limit ? records : limit;
}

/* A connection that the kernel has given up is an error, not the end of the process. */
static void block_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int sockmap_producer(struct bench_thread *t)
{
	const struct sockmap_params *params = t->run->params;
	struct sockmap_ctx *ctx = t->run->priv;
	const uint64_t end_ns = now_ns() + params->producer_s * NS_PER_S;
	const uint64_t limit = unread_limit(params);
	const uint64_t size = limit / 2 < FILE_SIZE ? limit / 2 : FILE_SIZE;
	uint64_t received = 0; /* when last looked at */
	bool refused = false;
	ssize_t n = 0;

	block_sigpipe();
	while (n >= 0 && !bench_stopping(t) && (!params->producer_s || now_ns() < end_ns)) {
		if (bench_counter_read(&ctx->sent) + size - received > limit) {
			received = bench_counter_read(&ctx->received);
			if (bench_counter_read(&ctx->sent) + size - received > limit) {
				bench_counter_add(&ctx->held, 1);
				usleep(A_WHILE_US);
				continue;
			}
		}
		n = send_some(t, size);
		if (n)
			refused = false;
		else if (refused) /* although there was room */
			usleep(A_WHILE_US);
		else
			refused = true;
		if (refused)
			poll_for(ctx->socks[ctx->mode->full], POLLOUT);
	}
	return n < 0 ? n : 0;
}

/* ---- the consumer, and the proxy */

#define CHECK_STRIDE 1024
#define CHECK_BYTES  64
#define FULL_CHECKS  64 /* one of so many reads is compared as a whole */

/*
 * Are these @n bytes those of the file, from @at on? All of them, or some of each KiB: data that
 * was lost, doubled or put into another order shifts them, and to compare all would make the reader
 * a good deal slower.
 */
static bool is_right(const struct sockmap_ctx *ctx, const char *buf, size_t n, size_t at, bool all)
{
	size_t i, k, step, len;

	for (i = 0; i < n; i += step) {
		k = (at + i) % FILE_SIZE;
		step = FILE_SIZE - k;
		if (!all && step > CHECK_STRIDE)
			step = CHECK_STRIDE;
		if (step > n - i)
			step = n - i;
		len = all || step < CHECK_BYTES ? step : CHECK_BYTES;
		if (memcmp(buf + i, ctx->file + k, len))
			return false;
	}
	return true;
}

/*
 * Reads what there is. Returns how many bytes, 0: there are none; or -errno after bench_failed().
 */
static ssize_t receive_some(struct bench_thread *t, enum sock sock)
{
	struct sockmap_ctx *ctx = t->run->priv;
	ssize_t n;

	n = recv(ctx->socks[sock], ctx->bufs[t->idx], FILE_SIZE, MSG_DONTWAIT);
	if (n > 0)
		return n;
	if (!n)
		return bench_failed(&t->run->err, ECONNRESET, "cannot receive");
	if (errno == EAGAIN || errno == EINTR)
		return 0;
	return bench_step_error(&t->run->err, WHY_OTHER, errno, "cannot receive");
}

/* Reads from c2 and counts it in @counter. Returns like receive_some(). */
static ssize_t consume_some(struct bench_thread *t, struct bench_counter *counter)
{
	struct sockmap_ctx *ctx = t->run->priv;
	uint64_t at, calls;
	ssize_t n;

	n = receive_some(t, C2);
	if (n <= 0)
		return n;
	at = bench_counter_read(&ctx->received) + bench_counter_read(&ctx->left);
	calls = bench_counter_read(&ctx->receive_calls);
	if (!is_right(ctx, ctx->bufs[t->idx], n, at % FILE_SIZE, calls % FULL_CHECKS == 0))
		return bench_failed(&t->run->err, 0,
				    "the %zd bytes received after %" PRIu64
				    " are not those that were sent",
				    n, at);
	bench_counter_add(&ctx->receive_calls, 1);
	bench_counter_add(counter, n);
	return n;
}

/* Nothing comes for so long: it is lost; or not all in such a time, when it might as well be. */
#define LOST_NS	 (10 * NS_PER_S)
#define DRAIN_NS (45 * NS_PER_S)

/*
 * The producer has ended: reads what is on its way, and counts it in @counter. A parser keeps the
 * beginning of a record until it has all of it, so the last one is made whole.
 */
static int drain(struct bench_thread *t, struct bench_counter *counter)
{
	const struct sockmap_params *params = t->run->params;
	struct sockmap_ctx *ctx = t->run->priv;
	const uint64_t start_ns = now_ns();
	uint64_t last_ns = start_ns, sent, got;
	ssize_t n;

	block_sigpipe();
	for (;;) {
		sent = bench_counter_read(&ctx->sent);
		if (params->record_size && sent % params->record_size) {
			n = send_some(t, params->record_size - sent % params->record_size);
			if (n < 0)
				return n;
			if (n)
				continue;
		}
		n = consume_some(t, counter);
		if (n < 0)
			return n;
		if (n)
			last_ns = now_ns();
		if (n && last_ns - start_ns < DRAIN_NS)
			continue;
		got = bench_counter_read(&ctx->received) + bench_counter_read(&ctx->left);
		if (got >= sent)
			return 0;
		if (now_ns() - last_ns > LOST_NS || now_ns() - start_ns > DRAIN_NS)
			return bench_failed(&t->run->err, 0,
					    "%" PRIu64 " of %" PRIu64
					    " bytes that were sent did not arrive in %.0f s",
					    sent - got, sent, (now_ns() - start_ns) / 1e9);
		poll_for(ctx->socks[C2], POLLIN);
	}
}

static int consume(struct bench_thread *t)
{
	const struct sockmap_params *params = t->run->params;
	struct sockmap_ctx *ctx = t->run->priv;
	const uint64_t start_ns = now_ns() + params->delay_s * NS_PER_S;
	ssize_t n;

	while (!bench_stopping(t) && (params->delay_s < 0 || now_ns() < start_ns))
		poll(NULL, 0, POLL_MS);
	while (!bench_stopping(t)) {
		n = consume_some(t, &ctx->received);
		if (n < 0)
			return n;
		if (!n)
			poll_for(ctx->socks[C2], POLLIN);
	}
	/* What never was to be read must not pass for received. */
	return drain(t, params->delay_s < 0 ? &ctx->left : &ctx->received);
}

/* Sends all of its buffer, unless the consumer has failed. */
static int forward(struct bench_thread *t, size_t n)
{
	struct sockmap_ctx *ctx = t->run->priv;
	size_t done = 0;
	ssize_t ret;

	while (done < n) {
		ret = send(ctx->socks[P2], ctx->bufs[t->idx] + done, n - done,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (ret > 0)
			done += ret;
		else if (errno == EAGAIN)
			poll_for(ctx->socks[P2], POLLOUT);
		else if (errno != EINTR)
			return bench_step_error(&t->run->err, WHY_OTHER, errno, "cannot send");
		if (bench_stopping(t) && __atomic_load_n(&t->run->err.code, __ATOMIC_RELAXED))
			return -EIO;
	}
	bench_counter_add(&ctx->forwarded, n);
	return 0;
}

static int proxy(struct bench_thread *t)
{
	struct sockmap_ctx *ctx = t->run->priv;
	ssize_t n;

	do {
		n = receive_some(t, P1);
		if (n > 0)
			n = forward(t, n);
		else if (!n)
			poll_for(ctx->socks[P1], POLLIN);
		if (n < 0)
			return n;
	} while (!bench_stopping(t) ||
		 bench_counter_read(&ctx->forwarded) < bench_counter_read(&ctx->sent));
	return 0;
}

static int sockmap_consumer(struct bench_thread *t)
{
	return t->idx ? proxy(t) : consume(t);
}

/* ---- the result */

enum { RECEIVED, REFUSED, SENT, SEEN, SEND_CALLS, RECEIVE_CALLS, HELD, UNREAD };

static const struct figure sockmap_figures[] = {
	[RECEIVED] = {
		.name = "received",
		.unit = "MB/s",
		.scale = 1e6,
		.better = BETTER_HIGHER,
		.help = "bytes that the consumer read, in millions per second",
	},
	/* As the core knows it: where nothing is received, it says how many. */
	[REFUSED] = {
		.name = "drops",
		.unit = "/s",
		.better = BETTER_LOWER,
		.help = "attempts to send that the kernel refused (EAGAIN), or that were held back",
	},
	[SENT] = {
		.name = "sent",
		.unit = "MB/s",
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "bytes that the kernel accepted",
	},
	[SEEN] = {
		.name = "bpf",
		.unit = "MB/s",
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "bytes that the BPF program was shown; with --tx-*, not those that were "
			"sent where the kernel refused some",
	},
	[SEND_CALLS] = {
		.name = "send_calls",
		.unit = "/s",
		.better = BETTER_NONE,
		.help = "calls of sendfile(2) that sent something",
	},
	[RECEIVE_CALLS] = {
		.name = "receive_calls",
		.unit = "/s",
		.better = BETTER_NONE,
		.help = "calls of recv(2) that got something",
	},
	[HELD] = {
		.name = "held",
		.unit = "/s",
		.better = BETTER_NONE,
		.help = "times that the producer was held back, for --max-unread bytes were unread",
	},
	[UNREAD] = {
		.name = "unread",
		.unit = "MB",
		.kind = FIGURE_GAUGE,
		.scale = 1e6,
		.better = BETTER_NONE,
		.help = "bytes that were sent and not yet read",
	},
};

static void sockmap_progress(FILE *out, const struct report *report, const double *values,
			     const struct sample *s, int producers)
{
	fprintf(out,
		"Send Speed %8.3lf MB/s (%8.3lf calls/s), BPF Speed %8.3lf MB/s, "
		"Rcv Speed %8.3lf MB/s (%8.3lf calls/s)\n",
		values[SENT], values[SEND_CALLS], values[SEEN], values[RECEIVED],
		values[RECEIVE_CALLS]);
}

static void sockmap_summary(FILE *out, const struct report *report,
			    const struct figure_stats *stats, const struct sample *total,
			    int producers)
{
	fprintf(out,
		"Summary: total trans %8.3lf MB, received %8.3lf \u00B1 %5.3lf MB/s, "
		"sent %8.3lf \u00B1 %5.3lf MB/s, drops %8.3lf \u00B1 %5.3lf/s, "
		"unread %8.3lf MB (highest %.3lf MB)\n",
		total->raw.v[RECEIVED] / 1e6, stats[RECEIVED].mean, stats[RECEIVED].stddev,
		stats[SENT].mean, stats[SENT].stddev, stats[REFUSED].mean, stats[REFUSED].stddev,
		stats[UNREAD].mean, stats[UNREAD].max);
}

static const struct report report_sockmap = {
	.name = "sockmap",
	.figures = sockmap_figures,
	.nr_figures = ARRAY_SIZE(sockmap_figures),
	.progress = sockmap_progress,
	.summary = sockmap_summary,
};

static uint64_t sum_slots(const struct sockmap_ctx *ctx, enum cpu_slot_field field)
{
	return ctx->skel ? bench_slots_sum(ctx->skel->bss->cpu_slots, field) : 0;
}

static void sockmap_measure(struct bench_run *run, struct values *v)
{
	struct sockmap_ctx *ctx = run->priv;

	/* What is received was sent before: no one may see more of it. */
	v->v[RECEIVED] = bench_counter_read(&ctx->received);
	v->v[SENT] = bench_counter_read(&ctx->sent);
	v->v[UNREAD] = v->v[SENT] > v->v[RECEIVED] ? v->v[SENT] - v->v[RECEIVED] : 0;
	v->v[SEEN] = sum_slots(ctx, SLOT_SUBMITTED);
	v->v[HELD] = bench_counter_read(&ctx->held);
	v->v[REFUSED] = v->v[HELD] + bench_counter_read(&ctx->refused);
	v->v[SEND_CALLS] = bench_counter_read(&ctx->send_calls);
	v->v[RECEIVE_CALLS] = bench_counter_read(&ctx->receive_calls);
}

static void sockmap_conserve(struct bench_run *run, struct bench_conservation *c)
{
	struct sockmap_ctx *ctx = run->priv;

	bench_count(c, "sent", bench_counter_read(&ctx->sent));
	bench_count(c, "received", bench_counter_read(&ctx->received));
	bench_count(c, "never_read", bench_counter_read(&ctx->left));
	bench_identity(c, "sent = received + never_read");
	if (ctx->mode->proxy) {
		bench_count(c, "forwarded", bench_counter_read(&ctx->forwarded));
		bench_identity(c, "sent = forwarded");
	}
	if (!ctx->skel)
		return;
	bench_count(c, "bpf", sum_slots(ctx, SLOT_SUBMITTED));
	/*
	 * A message that could not be sent is shown again, or the one after it is not shown.
	 */
	if (ctx->mode->hook_point == ON_RECEIVE)
		bench_identity(c, "sent = bpf");
	c->prog_fd = ctx->prog_fd;
	c->runs = sum_slots(ctx, SLOT_HITS);
}

static const struct bench sockmap = {
	.name = "sockmap",
	.kernel_workers = true,
	.desc = "TCP data redirected by a sockmap's program, or one that passes it, or none",
	.needs = "Linux 5.10 or newer with CONFIG_BPF_STREAM_PARSER",
	.report = &report_sockmap,
	.any_consumers = true,
	.consumers = sockmap_consumers,
	.check = sockmap_check,
	.setup = sockmap_setup,
	.teardown = sockmap_teardown,
	.producer = sockmap_producer,
	.consumer = sockmap_consumer,
	.measure = sockmap_measure,
	.conserve = sockmap_conserve,
};

static const struct bench *const sockmap_benchs[] = { &sockmap };

static struct bench_family sockmap_family = {
	.title = "Sockmap",
	.about = "what it saves to redirect TCP data from socket to socket in the kernel",
	.opts = sockmap_opts,
	.nr_opts = ARRAY_SIZE(sockmap_opts),
	.params_size = sizeof(struct sockmap_params),
	.benchs = sockmap_benchs,
	.nr_benchs = ARRAY_SIZE(sockmap_benchs),
};

BENCH_FAMILY(sockmap_family);

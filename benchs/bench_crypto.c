// SPDX-License-Identifier: GPL-2.0
/*
 * crypto-encrypt, crypto-decrypt: what it costs a program that sees packets to encrypt, or decrypt,
 * the first bytes of one.
 *
 * The measured program is a tc one, which BPF_PROG_TEST_RUN gives a packet that many times in one
 * call; a hit is a run in which the kernel did what it was asked for. Before that, the set-up
 * encrypts and decrypts once and looks whether the same comes out: what the kernel refuses, it
 * refuses faster than it encrypts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/if_ether.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/hook.h"
#include "progs/crypto.h"
#include "crypto.skel.h"

/*
 * Runs of the program in one system call: 0.1 to 2 ms, by the length and what the CPU can do. (The
 * kernel lets others run in between.)
 */
#define REPEAT 512

#define CIPHER_MAX 32
#define KEY	   "0123456789abcdef"

#ifndef ENOTSUPP
#define ENOTSUPP 524 /* the kernel's own */
#endif

struct crypto_params {
	long long len;
	char cipher[CIPHER_MAX + 1];
};

static int parse_cipher(const char *arg, void *dest)
{
	size_t len = strlen(arg);

	if (!len || len > CIPHER_MAX ||
	    strspn(arg, "abcdefghijklmnopqrstuvwxyz0123456789-_(),") != len)
		return -EINVAL;
	memcpy(dest, arg, len + 1);
	return 0;
}

static void reset_cipher(void *dest)
{
	strcpy(dest, "ecb(aes)");
}

static int format_cipher(const void *dest, char *buf, size_t size)
{
	snprintf(buf, size, "%s", (const char *)dest);
	return 0;
}

static const struct opt crypto_opts[] = {
	{ .name = "crypto-len",
	  .arg = "BYTES",
	  .type = OPT_SIZE,
	  .at = offsetof(struct crypto_params, len),
	  .def = 16,
	  .min = 1,
	  .max = CRYPTO_MAX_LEN,
	  .help = "Bytes that are encrypted or decrypted: whole blocks of the cipher" },
	{ .name = "crypto-cipher",
	  .arg = "NAME",
	  .type = OPT_CUSTOM,
	  .at = offsetof(struct crypto_params, cipher),
	  .parse = parse_cipher,
	  .reset = reset_cipher,
	  .format = format_cipher,
	  .allowed = "a name as in /proc/crypto, of at most 32 characters",
	  .help = "The cipher: one with a key of 16 bytes and without an initialization vector" },
};

struct crypto_ctx {
	struct crypto_bpf *skel;
	int prog_fd;
	/* What the measured program is given. */
	char packet[CRYPTO_MAX_LEN];
	uint32_t packet_len;
};

static bool encrypts(const struct bench_run *run)
{
	return *(const bool *)run->bench->data;
}

/* A packet with @len bytes that matter. */
static uint32_t packet_len(uint32_t len)
{
	return len < ETH_HLEN ? ETH_HLEN : len;
}

/*
 * Has the program work once on the first @len bytes of @data, with the result in @result. Returns
 * 0, -errno of what the kernel refused to do, or a positive errno where the run itself failed.
 */
static int run_once(struct crypto_ctx *ctx, const struct bpf_program *prog, uint32_t len,
		    const char data[CRYPTO_MAX_LEN], char result[CRYPTO_MAX_LEN])
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = data, .data_size_in = packet_len(len));
	const uint32_t zero = 0;
	/* The kernel copies the values of all possible CPUs, which /sys may not tell of. */
	const uint32_t nr_cpus = cpuset_limit();
	char *results;
	int err;

	ctx->skel->bss->len = len;
	ctx->skel->bss->status = 0;
	ctx->skel->bss->remember_cpu = 1;
	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &opts);
	ctx->skel->bss->remember_cpu = 0;
	if (err)
		return abs(err);
	if (ctx->skel->bss->status)
		return ctx->skel->bss->status;
	if (ctx->skel->bss->last_cpu >= nr_cpus)
		return ERANGE;
	results = calloc(nr_cpus, CRYPTO_MAX_LEN);
	if (!results)
		return ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(ctx->skel->maps.results), &zero, results);
	if (!err)
		memcpy(result, results + ctx->skel->bss->last_cpu * CRYPTO_MAX_LEN, CRYPTO_MAX_LEN);
	free(results);
	return abs(err);
}

/*
 * After a length that the cipher does not take: finds the first one that works, which is the
 * cipher's unit, and refuses the option with it.
 */
static int refuse_len(struct bench_run *run, struct crypto_ctx *ctx, int err)
{
	const struct crypto_params *params = run->params;
	char result[CRYPTO_MAX_LEN];
	uint32_t len;

	for (len = 1; len <= CRYPTO_MAX_LEN; len++)
		if (!run_once(ctx, ctx->skel->progs.crypto_encrypt, len, ctx->packet, result))
			return bench_refused(&run->err,
					     "--crypto-len: invalid value '%lld': expected a "
					     "multiple of %u, the block size of %s",
					     params->len, len, params->cipher);
	return bench_refused(
		&run->err,
		"--crypto-cipher: invalid value '%s': expected a cipher without an "
		"initialization vector, such as ecb(aes) (bpf_crypto_encrypt() returns "
		"%s)",
		params->cipher, why_errno_name(err));
}

/* Makes the measured program's packet, by encrypting and decrypting another. */
static int check_round_trip(struct bench_run *run)
{
	const struct crypto_params *params = run->params;
	struct crypto_ctx *ctx = run->priv;
	char plain[CRYPTO_MAX_LEN], secret[CRYPTO_MAX_LEN], back[CRYPTO_MAX_LEN];
	uint32_t i;
	int err;

	for (i = 0; i < CRYPTO_MAX_LEN; i++)
		plain[i] = '0' + i % 10;
	memcpy(ctx->packet, plain, sizeof(plain));
	err = run_once(ctx, ctx->skel->progs.crypto_encrypt, params->len, plain, secret);
	if (err == -EINVAL)
		return refuse_len(run, ctx, err);
	if (!err)
		err = run_once(ctx, ctx->skel->progs.crypto_decrypt, params->len, secret, back);
	if (err > 0)
		return bench_bpf_error(&run->err, err, "cannot run a tc program on request");
	if (err)
		return bench_failed(&run->err, err, "the kernel cannot encrypt and decrypt by %s",
				    params->cipher);
	if (memcmp(plain, back, params->len))
		return bench_failed(
			&run->err, 0,
			"bpf_crypto_decrypt() does not return what bpf_crypto_encrypt() "
			"was given (%s)",
			params->cipher);
	if (!memcmp(plain, secret, params->len))
		return bench_failed(&run->err, 0, "bpf_crypto_encrypt() changes nothing (%s)",
				    params->cipher);
	if (!encrypts(run))
		memcpy(ctx->packet, secret, sizeof(secret));
	ctx->packet_len = packet_len(params->len);
	ctx->skel->bss->len = params->len;
	return 0;
}

/* The kernel's context for the cipher and the key, which a program makes and keeps in a map. */
static int create_context(struct bench_run *run)
{
	const struct crypto_params *params = run->params;
	struct crypto_ctx *ctx = run->priv;
	int err;

	strcpy(ctx->skel->bss->params.type, "skcipher");
	strcpy(ctx->skel->bss->params.algo, params->cipher);
	ctx->skel->bss->params.key_len = strlen(KEY);
	memcpy(ctx->skel->bss->params.key, KEY, strlen(KEY));
	err = bench_prog_run(bpf_program__fd(ctx->skel->progs.crypto_create), NULL);
	if (err)
		return bench_bpf_error(&run->err, err, "cannot run a syscall program on request");
	switch (ctx->skel->bss->status) {
	case 0:
		return 0;
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENOTSUPP:
		return bench_unavailable(&run->err,
					 "this kernel has no cipher '%s': requires "
					 "CONFIG_CRYPTO_SKCIPHER and that of the cipher "
					 "(CONFIG_CRYPTO_ECB and CONFIG_CRYPTO_AES for ecb(aes))",
					 params->cipher);
	case -EINVAL:
		return bench_refused(&run->err,
				     "--crypto-cipher: invalid value '%s': expected a cipher that "
				     "takes a key of %zu bytes, such as ecb(aes)",
				     params->cipher, strlen(KEY));
	default:
		return bench_failed(&run->err, ctx->skel->bss->status,
				    "cannot make a context for the cipher %s", params->cipher);
	}
}

/* May this user, who may load tracing programs, load one that sees packets as well? */
static int check_rights(struct bench_err *err)
{
	/* r0 = 0; exit */
	static const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd;

	fd = bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, NULL, "GPL", return_0, ARRAY_SIZE(return_0),
			   NULL);
	if (fd == -EPERM)
		return bench_unavailable(err, "cannot load a tc program: Operation not permitted: "
					      "CAP_NET_ADMIN missing: run it as root (sudo)");
	if (fd < 0)
		return bench_bpf_error(err, fd, "cannot load a tc program");
	close(fd);
	return 0;
}

static int check_kernel(struct bench_err *err)
{
	if (!hook_has_btf())
		return bench_unavailable(err, "%s", why_no_btf());
	if (!hook_function_exists("bpf_crypto_encrypt"))
		return bench_unavailable(err, "this kernel has no bpf_crypto_encrypt(): requires "
					      "Linux 6.10 or newer with CONFIG_CRYPTO");
	return 0;
}

static int crypto_setup(struct bench_run *run)
{
	struct crypto_ctx *ctx;
	int err;

	err = bench_probe_prog_run(&run->err);
	if (!err)
		err = check_rights(&run->err);
	if (!err)
		err = check_kernel(&run->err);
	if (err)
		return err;
	ctx = bench_priv_alloc(run, sizeof(*ctx));
	if (!ctx)
		return -ENOMEM;
	ctx->skel = crypto_bpf__open();
	if (!ctx->skel)
		return bench_open_error(run);
	bpf_program__set_autoload(ctx->skel->progs.crypto_create, true);
	bpf_program__set_autoload(ctx->skel->progs.crypto_encrypt, true);
	bpf_program__set_autoload(ctx->skel->progs.crypto_decrypt, true);
	err = bench_load(run, ctx->skel->skeleton);
	if (!err)
		err = create_context(run);
	if (!err)
		err = check_round_trip(run);
	if (err)
		return err;
	ctx->prog_fd = bpf_program__fd(encrypts(run) ? ctx->skel->progs.crypto_encrypt :
						       ctx->skel->progs.crypto_decrypt);
	/* What the checks counted. */
	memset(ctx->skel->bss->cpu_slots, 0, sizeof(ctx->skel->bss->cpu_slots));
	snprintf(run->trigger.name, sizeof(run->trigger.name), "batch");
	return 0;
}

static void crypto_teardown(struct bench_run *run)
{
	struct crypto_ctx *ctx = run->priv;

	if (!ctx)
		return;
	crypto_bpf__destroy(ctx->skel);
	free(ctx);
}

static uint64_t sum_slots(const struct crypto_ctx *ctx, enum cpu_slot_field field)
{
	return bench_slots_sum(ctx->skel->bss->cpu_slots, field);
}

static int crypto_producer(struct bench_thread *t)
{
	const struct crypto_ctx *ctx = t->run->priv;
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = ctx->packet,
		    .data_size_in = ctx->packet_len, .repeat = REPEAT);
	int err;

	while (!bench_stopping(t)) {
		err = bpf_prog_test_run_opts(ctx->prog_fd, &opts);
		/* What it had done until a signal came is counted. */
		if (err && err != -EINTR)
			return bench_bpf_error(&t->run->err, err,
					       "cannot run a tc program on request");
		if (sum_slots(ctx, SLOT_DROPS) && !sum_slots(ctx, SLOT_HITS))
			return bench_failed(&t->run->err, ctx->skel->bss->status,
					    "every call of bpf_crypto_%scrypt() fails",
					    encrypts(t->run) ? "en" : "de");
	}
	return 0;
}

static void crypto_measure(struct bench_run *run, struct values *v)
{
	const struct crypto_ctx *ctx = run->priv;

	v->v[HITS] = sum_slots(ctx, SLOT_HITS);
	v->v[DROPS] = sum_slots(ctx, SLOT_DROPS);
}

static void crypto_conserve(struct bench_run *run, struct bench_conservation *c)
{
	const struct crypto_ctx *ctx = run->priv;

	c->prog_fd = ctx->prog_fd;
	/* The set-up had each of the two programs run once. */
	c->runs = sum_slots(ctx, SLOT_HITS) + sum_slots(ctx, SLOT_DROPS) + 1;
}

#define CRYPTO_BENCH(op, encrypts_, desc_)                                                   \
	static const struct bench crypto_##op = {                                            \
		.name = "crypto-" #op,                                                       \
		.desc = desc_,                                                               \
		.needs = "Linux 6.10 or newer with CONFIG_CRYPTO_ECB and CONFIG_CRYPTO_AES", \
		.report = &report_hits_drops,                                                \
		.data = &(const bool){ encrypts_ },                                          \
		.setup = crypto_setup,                                                       \
		.teardown = crypto_teardown,                                                 \
		.producer = crypto_producer,                                                 \
		.measure = crypto_measure,                                                   \
		.conserve = crypto_conserve,                                                 \
	}

CRYPTO_BENCH(encrypt, true, "bpf_crypto_encrypt() of the first --crypto-len bytes of a packet");
CRYPTO_BENCH(decrypt, false, "bpf_crypto_decrypt() of a packet with the result of the former");

static const struct bench *const crypto_benchs[] = { &crypto_encrypt, &crypto_decrypt };

static struct bench_family crypto_family = {
	.title = "Crypto",
	.about = "what it costs a BPF program to encrypt and decrypt",
	.opts = crypto_opts,
	.nr_opts = ARRAY_SIZE(crypto_opts),
	.params_size = sizeof(struct crypto_params),
	.benchs = crypto_benchs,
	.nr_benchs = ARRAY_SIZE(crypto_benchs),
};

BENCH_FAMILY(crypto_family);

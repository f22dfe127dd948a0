// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/bpf/bpflog.h"
#include "lib/bpf/why.h"
#include "lib/util.h"

/* printf() format, for the name of a helper. */
#define NO_HELPER "this kernel has no %s() for programs of this type"

static struct {
	pthread_mutex_t lock;
	bool verbose;
	size_t len;
	char text[16384]; /* the end of what was said; older text is pushed out at the front */
} log_ = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A verifier log comes as one message of any length: only the end of it tells why it failed. */
static void keep(const char *s, size_t n)
{
	const size_t max = sizeof(log_.text) - 1;

	if (n > max) {
		s += n - max;
		n = max;
	}
	if (log_.len + n > max) {
		size_t drop = log_.len + n - max;

		memmove(log_.text, log_.text + drop, log_.len - drop);
		log_.len -= drop;
	}
	memcpy(log_.text + log_.len, s, n);
	log_.len += n;
	log_.text[log_.len] = '\0';
}

static int print_cb(enum libbpf_print_level level, const char *fmt, va_list args)
{
	va_list again;
	char *s;
	int n;

	if (level == LIBBPF_DEBUG && !log_.verbose)
		return 0;
	va_copy(again, args);
	n = vasprintf(&s, fmt, again);
	va_end(again);
	if (n < 0)
		return 0;
	pthread_mutex_lock(&log_.lock);
	if (log_.verbose)
		fputs(s, stderr);
	if (level != LIBBPF_DEBUG)
		keep(s, n);
	pthread_mutex_unlock(&log_.lock);
	free(s);
	return n;
}

void bpflog_start(bool verbose)
{
	log_.verbose = verbose;
	libbpf_set_print(print_cb);
}

void bpflog_clear(void)
{
	pthread_mutex_lock(&log_.lock);
	log_.len = 0;
	log_.text[0] = '\0';
	pthread_mutex_unlock(&log_.lock);
}

/* Where the last @lines lines of @s begin, or the last ones that fit in @size. */
static const char *last_lines(const char *s, size_t size, int lines)
{
	const char *from = s + strlen(s), *prev;

	while (from > s && lines-- > 0) {
		for (prev = from - 1; prev > s && prev[-1] != '\n'; prev--)
			;
		if (strlen(prev) >= size)
			break;
		from = prev;
	}
	return from;
}

void bpflog_tail(char *buf, size_t size, int lines)
{
	pthread_mutex_lock(&log_.lock);
	snprintf(buf, size, "%s", last_lines(log_.text, size, lines));
	pthread_mutex_unlock(&log_.lock);
}

/* ---- what the kernel lacks */

/* Names of helpers by number, as the header has them that this is built with. */
#define HELPER_NAME(name) [BPF_FUNC_##name] = "bpf_" #name
static const char *const helper_names[] = { __BPF_FUNC_MAPPER(HELPER_NAME) };

static const char *helper_name(int id)
{
	return id > 0 && (size_t)id < ARRAY_SIZE(helper_names) ? helper_names[id] : NULL;
}

/*
 * "unknown func bpf_loop#181", "invalid func unknown#181", "program of this type cannot use helper
 * bpf_loop#181": the words depend on the kernel, and a helper that is newer than it has no name.
 */
static bool explain_helper(const char *log, char *buf, size_t size)
{
	static const char *const words[] = { "unknown func ", "invalid func ",
					     "cannot use helper " };
	const char *p = NULL;
	char name[64] = "";
	size_t i;
	int id;

	for (i = 0; !p && i < ARRAY_SIZE(words); i++) {
		p = strstr(log, words[i]);
		if (p)
			p += strlen(words[i]);
	}
	if (!p || sscanf(p, "%63[a-zA-Z0-9_]#%d", name, &id) != 2)
		return false;
	if (helper_name(id))
		snprintf(buf, size, NO_HELPER, helper_name(id));
	else
		snprintf(buf, size, "this kernel lacks helper number %d", id);
	return true;
}

static bool explain_kfunc(const char *log, char *buf, size_t size)
{
	const char *p = strstr(log, "calling kernel function ");
	char name[64];

	if (!p || sscanf(p, "calling kernel function %63[a-zA-Z0-9_] is not allowed", name) != 1 ||
	    !strstr(p, "is not allowed"))
		return false;
	snprintf(buf, size, "this kernel does not let programs of this type call %s()", name);
	return true;
}

static const struct {
	const char *words; /* of the verifier, or of libbpf */
	enum bpflog_lack lack;
	const char *text;
	const char *(*find_text)(void);
} lacks[] = {
	{ "in non-JITed programs", BPFLOG_OTHER, .find_text = why_no_jit },
	{ "JIT is required for calling kernel function", BPFLOG_OTHER, .find_text = why_no_jit },
	{ "JIT does not support calling kernel function", BPFLOG_FEATURE,
	  .text = "the BPF JIT of this kernel does not let programs call its functions" },
	{ "Error loading vmlinux BTF", BPFLOG_OTHER, .find_text = why_no_btf },
	{ "BPF_STX uses reserved fields", BPFLOG_OTHER,
	  .text = "this kernel has no atomic BPF instructions: requires Linux 5.12 or newer" },
	{ "BPF_XADD uses reserved fields", BPFLOG_OTHER,
	  .text = "this kernel has no atomic BPF instructions: requires Linux 5.12 or newer" },
	{ "unknown opcode", BPFLOG_OTHER,
	  .text = "this kernel does not know all BPF instructions: requires Linux 5.1 or newer" },
	{ "BPF program is too large", BPFLOG_TOO_LARGE,
	  .text = "the program is too large for the verifier of this kernel" },
};

enum bpflog_lack bpflog_explain_text(const char *log, char *buf, size_t size)
{
	size_t i;

	buf[0] = '\0';
	if (explain_helper(log, buf, size) || explain_kfunc(log, buf, size))
		return BPFLOG_FEATURE;
	for (i = 0; i < ARRAY_SIZE(lacks); i++) {
		if (strstr(log, lacks[i].words)) {
			snprintf(buf, size, "%s",
				 lacks[i].text ? lacks[i].text : lacks[i].find_text());
			return lacks[i].lack;
		}
	}
	return BPFLOG_NONE;
}

/*
 * What the verifier stumbles on first may be something that goes with a helper: before Linux 5.13
 * it is the callback of bpf_loop(), of which it has other words to say.
 */
static bool explain_calls(const struct bpf_object *obj, char *buf, size_t size)
{
	const struct bpf_insn *insn, *end;
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		if (!bpf_program__autoload(prog))
			continue;
		insn = bpf_program__insns(prog);
		for (end = insn + bpf_program__insn_cnt(prog); insn < end; insn++) {
			if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg ||
			    !helper_name(insn->imm) ||
			    libbpf_probe_bpf_helper(bpf_program__type(prog), insn->imm, NULL))
				continue;
			snprintf(buf, size, NO_HELPER, helper_name(insn->imm));
			return true;
		}
	}
	return false;
}

/* A kernel without tracing refuses its programs with no word. */
static bool explain_type(const struct bpf_object *obj, char *buf, size_t size)
{
	struct bpf_program *prog;
	enum bpf_prog_type type, probe;

	bpf_object__for_each_program(prog, obj) {
		type = bpf_program__type(prog);
		/* The two go together, and this one is easily probed. */
		probe = type == BPF_PROG_TYPE_TRACING ? BPF_PROG_TYPE_RAW_TRACEPOINT : type;
		if (!bpf_program__autoload(prog) || libbpf_probe_bpf_prog_type(probe, NULL) != 0)
			continue;
		snprintf(buf, size, WHY_NO_PROG_TYPE, libbpf_bpf_prog_type_str(type));
		return true;
	}
	return false;
}

enum bpflog_lack bpflog_explain(const struct bpf_object *obj, int err, char *buf, size_t size)
{
	enum bpflog_lack lack;

	pthread_mutex_lock(&log_.lock);
	lack = bpflog_explain_text(log_.text, buf, size);
	pthread_mutex_unlock(&log_.lock);
	/* Not with the lock held: libbpf may have something to say again. */
	if (lack || err != -EINVAL)
		return lack;
	if (explain_type(obj, buf, size))
		return BPFLOG_OTHER;
	return explain_calls(obj, buf, size) ? BPFLOG_FEATURE : BPFLOG_NONE;
}

bool bpflog_verifier_spoke(void)
{
	bool spoke;

	pthread_mutex_lock(&log_.lock);
	spoke = strstr(log_.text, "END PROG LOAD LOG");
	pthread_mutex_unlock(&log_.lock);
	return spoke;
}

bool bpflog_failed_map(char *buf, size_t size)
{
	const char *end, *from = NULL;

	buf[0] = '\0';
	pthread_mutex_lock(&log_.lock);
	end = strstr(log_.text, "': failed to create: ");
	for (from = end; from && from > log_.text && from[-1] != '\''; from--)
		;
	if (from)
		snprintf(buf, size, "%.*s", (int)(end - from), from);
	pthread_mutex_unlock(&log_.lock);
	return from;
}

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

/* Helpers that our programs call, and the Linux version that brought them. */
static const struct helper {
	int id;
	const char *name;
	const char *since;
} helpers[] = {
	{ BPF_FUNC_map_push_elem, "bpf_map_push_elem", "4.20" },
	{ BPF_FUNC_map_peek_elem, "bpf_map_peek_elem", "4.20" },
	{ BPF_FUNC_perf_event_output, "bpf_perf_event_output", "4.4" },
	{ BPF_FUNC_get_numa_node_id, "bpf_get_numa_node_id", "4.10" },
	{ BPF_FUNC_get_current_pid_tgid, "bpf_get_current_pid_tgid", "4.2" },
	{ BPF_FUNC_ringbuf_output, "bpf_ringbuf_output", "5.8" },
	{ BPF_FUNC_ringbuf_reserve, "bpf_ringbuf_reserve", "5.8" },
	{ BPF_FUNC_ringbuf_submit, "bpf_ringbuf_submit", "5.8" },
	{ BPF_FUNC_ringbuf_query, "bpf_ringbuf_query", "5.8" },
	{ BPF_FUNC_loop, "bpf_loop", "5.17" },
};

static const struct helper *find_helper(int id)
{
	size_t i;

	for (i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (helpers[i].id == id)
			return &helpers[i];
	return NULL;
}

static bool no_helper(const struct helper *helper, char *buf, size_t size)
{
	snprintf(buf, size,
		 "this kernel has no %s() for such a program: it takes Linux %s or newer",
		 helper->name, helper->since);
	return true;
}

/*
 * "unknown func bpf_loop#181", "invalid func unknown#181", "program of this type cannot use helper
 * bpf_loop#181": the words depend on the kernel, and a helper that is newer than it has no name.
 */
static bool explain_helper(const char *log, char *buf, size_t size)
{
	static const char *const words[] = { "unknown func ", "invalid func ",
					     "cannot use helper " };
	const struct helper *helper;
	const char *p = NULL;
	char name[64] = "";
	size_t i;
	int id;

	for (i = 0; !p && i < sizeof(words) / sizeof(words[0]); i++) {
		p = strstr(log, words[i]);
		if (p)
			p += strlen(words[i]);
	}
	if (!p || sscanf(p, "%63[a-zA-Z0-9_]#%d", name, &id) != 2)
		return false;
	helper = find_helper(id);
	if (helper)
		return no_helper(helper, buf, size);
	snprintf(buf, size,
		 "this kernel has no %s() (number %d) for such a program: it takes a newer one",
		 name, id);
	return true;
}

static bool explain_kfunc(const char *log, char *buf, size_t size)
{
	const char *p = strstr(log, "calling kernel function ");
	char name[64];

	if (!p || sscanf(p, "calling kernel function %63[a-zA-Z0-9_] is not allowed", name) != 1 ||
	    !strstr(p, "is not allowed"))
		return false;
	snprintf(buf, size,
		 "this kernel does not let such a program call %s(): it takes a newer one", name);
	return true;
}

static const struct {
	const char *words; /* of the verifier, or of libbpf */
	const char *text;
	const char *(*find_text)(void);
} lacks[] = {
	{ "in non-JITed programs", .find_text = why_no_jit },
	{ "JIT is required for calling kernel function", .find_text = why_no_jit },
	{ "JIT does not support calling kernel function",
	  .text = "the BPF JIT of this kernel does not let programs call its functions: it takes a newer one" },
	{ "Error loading vmlinux BTF", .find_text = why_no_btf },
	{ "BPF_STX uses reserved fields",
	  .text = "this kernel has no atomic BPF instructions: it takes Linux 5.12 or newer" },
	{ "BPF_XADD uses reserved fields",
	  .text = "this kernel has no atomic BPF instructions: it takes Linux 5.12 or newer" },
	{ "unknown opcode",
	  .text = "this kernel does not know all BPF instructions: it takes Linux 5.1 or newer" },
	{ "BPF program is too large",
	  .text = "the program is too large for this kernel's verifier: smaller batches may do "
		  "(--rb-batch-cnt, --trig-batch-iters), or it takes Linux 5.2 or newer" },
};

bool bpflog_explain_text(const char *log, char *buf, size_t size)
{
	size_t i;

	buf[0] = '\0';
	if (explain_helper(log, buf, size) || explain_kfunc(log, buf, size))
		return true;
	for (i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		if (strstr(log, lacks[i].words)) {
			snprintf(buf, size, "%s",
				 lacks[i].text ? lacks[i].text : lacks[i].find_text());
			return true;
		}
	}
	return false;
}

/* The helper that the instruction calls; NULL: none, or none that is known here. */
static const struct helper *called_helper(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && !insn->src_reg ? find_helper(insn->imm) : NULL;
}

/*
 * What the verifier stumbles on first may be something that goes with the helper: before Linux 5.13
 * it is the callback of bpf_loop(), of which it has other words to say.
 */
static bool explain_calls(const struct bpf_object *obj, char *buf, size_t size)
{
	const struct bpf_insn *insns;
	const struct helper *helper;
	struct bpf_program *prog;
	size_t i;

	bpf_object__for_each_program(prog, obj) {
		if (!bpf_program__autoload(prog))
			continue;
		insns = bpf_program__insns(prog);
		for (i = 0; i < bpf_program__insn_cnt(prog); i++) {
			helper = called_helper(&insns[i]);
			if (helper &&
			    !libbpf_probe_bpf_helper(bpf_program__type(prog), helper->id, NULL))
				return no_helper(helper, buf, size);
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

bool bpflog_explain(const struct bpf_object *obj, int err, char *buf, size_t size)
{
	bool found;

	pthread_mutex_lock(&log_.lock);
	found = bpflog_explain_text(log_.text, buf, size);
	pthread_mutex_unlock(&log_.lock);
	/* Not with the lock held: libbpf may have something to say again. */
	return found ||
	       (err == -EINVAL && (explain_type(obj, buf, size) || explain_calls(obj, buf, size)));
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

// SPDX-License-Identifier: GPL-2.0
/*
 * What libbpf and the verifier say: the end of it is kept, and what a kernel lacks is read from it.
 * Other kernels' words are given as they write them; this one's are had by loading what it refuses.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench.h"
#include "lib/bpf/bpflog.h"
#include "lib/bpf/caps.h"
#include "progs/ringbufs.h"
#include "perfbuf.skel.h"
#include "ringbuf.skel.h"

static const struct bench a_bench = { .name = "a-bench" };
static const struct bench b_bench = { .name = "b-bench", .needs = "Linux 9.9 (bpf_wait())" };

/* ---- words of other kernels */

static void assert_lacks(const char *log, enum bpflog_lack lack, const char *text)
{
	char buf[256];

	assert_int_equal(bpflog_explain_text(log, buf, sizeof(buf)), lack);
	assert_string_equal(buf, text);
}

static void helpers_are_named(void **state)
{
	/* Linux 6.1 and before; of a helper that is newer than the kernel it knows no name */
	assert_lacks("12: (85) call bpf_loop#181\nunknown func bpf_loop#181\nprocessed 12 insns\n",
		     BPFLOG_FEATURE, "this kernel has no bpf_loop() for programs of this type");
	assert_lacks("invalid func unknown#181\n", BPFLOG_FEATURE,
		     "this kernel has no bpf_loop() for programs of this type");
	assert_lacks("program of this type cannot use helper bpf_ringbuf_reserve#131\n",
		     BPFLOG_FEATURE,
		     "this kernel has no bpf_ringbuf_reserve() for programs of this type");
	/* what the header does not know either */
	assert_lacks("invalid func unknown#9999\n", BPFLOG_FEATURE,
		     "this kernel lacks helper number 9999");
	assert_lacks("calling kernel function bpf_modify_return_test_tp is not allowed\n",
		     BPFLOG_FEATURE,
		     "this kernel does not let programs of this type call "
		     "bpf_modify_return_test_tp()");
}

static void other_things_are_named(void **state)
{
	assert_lacks("BPF_STX uses reserved fields\n", BPFLOG_OTHER,
		     "this kernel has no atomic BPF instructions: requires Linux 5.12 or newer");
	assert_lacks("unknown opcode be\n", BPFLOG_OTHER,
		     "this kernel does not know all BPF instructions: requires Linux 5.1 or newer");
	assert_lacks("BPF program is too large. Processed 1000001 insn\n", BPFLOG_TOO_LARGE,
		     "the program is too large for the verifier of this kernel");
	assert_lacks("JIT does not support calling kernel function\n", BPFLOG_FEATURE,
		     "the BPF JIT of this kernel does not let programs call its functions");
}

static void assert_mentions(const char *log, const char *text)
{
	char buf[256];

	assert_int_equal(bpflog_explain_text(log, buf, sizeof(buf)), BPFLOG_OTHER);
	if (!strstr(buf, text))
		fail_msg("'%s' does not say '%s'", buf, text);
}

static void jit_and_btf_are_named(void **state)
{
	assert_mentions("callbacks are not allowed in non-JITed programs\n", "bpf_jit_enable");
	assert_mentions("calling kernel functions are not allowed in non-JITed programs\n",
			"bpf_jit_enable");
	assert_mentions("JIT is required for calling kernel function\n", "bpf_jit_enable");
	assert_mentions("libbpf: Error loading vmlinux BTF: -3\n", "BTF");
}

static void what_is_not_known_is_not_explained(void **state)
{
	assert_lacks("", BPFLOG_NONE, "");
	assert_lacks("R0 !read_ok\nprocessed 1 insns\n", BPFLOG_NONE, "");
	assert_lacks("unknown func \n", BPFLOG_NONE, "");
}

/* ---- what is kept */

/* Has libbpf say so: it complains about what it cannot open. */
static void say(const char *what)
{
	assert_null(bpf_object__open_file(what, NULL));
}

static size_t count_lines(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void the_last_lines_are_kept(void **state)
{
	char buf[4096], name[64];
	int i;

	bpflog_clear();
	bpflog_tail(buf, sizeof(buf), 20);
	assert_string_equal(buf, "");
	for (i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "/nowhere/number-%d", i);
		say(name);
	}
	bpflog_tail(buf, sizeof(buf), 3);
	assert_int_equal(count_lines(buf), 3);
	assert_non_null(strstr(buf, "number-2999"));
	assert_null(strstr(buf, "number-2990"));
	/* Whole lines: as many as there is room for */
	bpflog_tail(buf, 200, 100);
	assert_true(strlen(buf) < 200 && count_lines(buf) >= 1);
	assert_memory_equal(buf, "libbpf: ", strlen("libbpf: "));
	assert_non_null(strstr(buf, "number-2999"));
	bpflog_tail(buf, 10, 100);
	assert_string_equal(buf, "");
	bpflog_clear();
	bpflog_tail(buf, sizeof(buf), 20);
	assert_string_equal(buf, "");
}

/* ---- loads that fail on this kernel */

static int can_load(void)
{
	char caps[64];

	return !caps_missing(caps, sizeof(caps)) && caps_sys_admin() && !caps_in_user_namespace();
}

/* bench_load() of what cannot be loaded. */
static struct bench_err failed_load(const struct bench *bench, struct bpf_object_skeleton *skel)
{
	struct bench_run run = { .bench = bench };

	assert_true(bench_load(&run, skel) < 0);
	return run.err;
}

static void the_verifier_is_quoted(void **state)
{
	struct ringbuf_bpf *skel;
	struct bench_err err;

	if (!can_load())
		skip();
	skel = ringbuf_bpf__open();
	assert_non_null(skel);
	bpf_program__set_autoload(skel->progs.getpgid_rawtp, true);
	skel->rodata->batch_cnt = 1;
	skel->rodata->use_output = true;
	skel->rodata->record_size = 2 * RB_MAX_RECORD_SIZE; /* more than there is to copy */
	err = failed_load(&a_bench, skel->skeleton);
	ringbuf_bpf__destroy(skel);
	assert_int_equal(err.code, BENCH_EXIT_FAILED);
	assert_non_null(strstr(err.text,
			       "the verifier of this kernel refuses the BPF programs of a-bench"));
	assert_non_null(strstr(err.text, "Permission denied"));
	assert_non_null(strstr(err.detail, "invalid access to map value"));
	/* The beginning of so long a log would only hide that. */
	assert_null(strstr(err.detail, "BEGIN PROG LOAD LOG"));
	assert_int_equal(count_lines(err.detail), 20);
}

/* Loads a program that calls what it may not. */
static struct bench_err load_without_helper(const struct bench *bench)
{
	struct perfbuf_bpf *skel;
	struct bench_err err;

	skel = perfbuf_bpf__open();
	assert_non_null(skel);
	skel->rodata->batch_cnt = 1;
	bpf_program__set_autoload(skel->progs.getpgid_tp, true);
	/* Such a program may call next to nothing. */
	bpf_program__set_type(skel->progs.getpgid_tp, BPF_PROG_TYPE_FLOW_DISSECTOR);
	err = failed_load(bench, skel->skeleton);
	perfbuf_bpf__destroy(skel);
	return err;
}

/* Which is reported, with what the benchmark requires if it says so; nothing of the verifier. */
static void no_words_where_it_is_clear_what_is_missing(void **state)
{
#define TEXT "this kernel has no bpf_perf_event_output() for programs of this type"
	struct bench_err err;

	if (!can_load())
		skip();
	err = load_without_helper(&a_bench);
	assert_int_equal(err.code, BENCH_EXIT_UNAVAILABLE);
	assert_string_equal(err.text, TEXT);
	assert_string_equal(err.detail, "");
	err = load_without_helper(&b_bench);
	assert_int_equal(err.code, BENCH_EXIT_UNAVAILABLE);
	assert_string_equal(err.text, TEXT ": requires Linux 9.9 (bpf_wait())");
	assert_string_equal(err.detail, "");
}

static void a_map_that_cannot_be_made_is_named(void **state)
{
	struct ringbuf_bpf *skel;
	struct bench_err err;

	if (!can_load())
		skip();
	skel = ringbuf_bpf__open();
	assert_non_null(skel);
	bpf_map__set_map_flags(skel->maps.ringbuf, 1U << 31);
	err = failed_load(&a_bench, skel->skeleton);
	ringbuf_bpf__destroy(skel);
	assert_int_equal(err.code, BENCH_EXIT_FAILED);
	assert_string_equal(
		err.text,
		"cannot create map 'ringbuf' of the BPF programs of a-bench: Invalid argument");
	assert_non_null(strstr(err.detail, "ringbuf"));
}

static void the_first_error_stays(void **state)
{
	struct bench_err first = {}, second = {}, none = {};

	bench_failed(&second, 0, "second");
	strcpy(second.detail, "its detail\n");
	assert_int_equal(bench_take_error(&first, &second, EIO), -EIO);
	assert_string_equal(first.text, "second");
	assert_string_equal(first.detail, "its detail\n");
	bench_failed(&none, 0, "none");
	assert_int_equal(bench_take_error(&first, &none, -EIO), -EIO);
	assert_string_equal(first.text, "second");
	assert_string_equal(first.detail, "its detail\n");
}

static int start(void **state)
{
	bpflog_start(false);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_are_named),
		cmocka_unit_test(other_things_are_named),
		cmocka_unit_test(jit_and_btf_are_named),
		cmocka_unit_test(what_is_not_known_is_not_explained),
		cmocka_unit_test(the_last_lines_are_kept),
		cmocka_unit_test(the_verifier_is_quoted),
		cmocka_unit_test(no_words_where_it_is_clear_what_is_missing),
		cmocka_unit_test(a_map_that_cannot_be_made_is_named),
		cmocka_unit_test(the_first_error_stays),
	};

	return cmocka_run_group_tests_name("bpflog", tests, start, NULL);
}

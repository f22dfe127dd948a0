# SPDX-License-Identifier: GPL-2.0
#
# make			builds ./bench
# make run, make test	the README's two commands: set up, build, run or test
# make V=1		shows the commands
# make O=DIR		builds everything in DIR (and the program as DIR/bench)
# make STATIC=1		one binary with nothing dynamic (./bench-static)
# make help		all targets

VERSION := 0.1
comma := ,
# Any text as one word of the shell: a path may have blanks and quotes
quote = '$(subst ','\'',$(1))'

O ?= build
ifneq ($(words $(O)),1)
$(error O=$(O): make cannot have blanks in the names of files that it builds: choose another folder)
endif
V ?= 0
PREFIX ?= /usr/local
DESTDIR ?=
SBINDIR ?= $(PREFIX)/sbin
MANDIR ?= $(PREFIX)/share/man
# Scripts, sweeps and published figures
DATADIR ?= $(PREFIX)/share/bench
COMPLETIONSDIR ?= $(PREFIX)/share/bash-completion/completions

CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
CLANG ?= clang
INSTALL ?= install
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
ifneq ($(CROSS_COMPILE),)
# Debian has no pkg-config with a cross prefix for every target; the plain one will do there.
ifeq ($(shell command -v $(PKG_CONFIG) 2>/dev/null),)
PKG_CONFIG := pkg-config
endif
endif
# Debian keeps bpftool in /usr/sbin, which is not in everybody's PATH; on Ubuntu what is there may be
# a wrapper that only works for some kernels, while the real one is among the linux-tools.
BPFTOOL ?= $(shell for t in $$(PATH="$$PATH:/usr/sbin:/sbin:/usr/local/sbin" command -v bpftool) \
	     /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do \
	     "$$t" version >/dev/null 2>&1 && echo "$$t" && break; done)

ifeq ($(V),0)
Q := @
msg = @printf '  %-8s %s\n' '$(1)' $(call quote,$(2:$(CURDIR)/%=%))
MAKEFLAGS += --no-print-directory
else
Q :=
msg = @:
endif

# ---- what is built from what: found by pattern, nothing to edit for a new file

BPF_SRCS   := $(sort $(wildcard progs/*.bpf.c))
LIB_SRCS   := $(sort $(wildcard lib/*.c lib/*/*.c))
BENCH_SRCS := $(sort $(wildcard benchs/*.c))
UNIT_SRCS  := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRCS  := $(sort $(wildcard tests/fuzz/fuzz_*.c))

ifeq ($(STATIC),1)
B := $(O)/static
BIN := $(if $(filter build,$(O)),bench-static,$(O)/bench-static)
else
B := $(O)
BIN := $(if $(filter build,$(O)),bench,$(O)/bench)
endif

SKELS := $(BPF_SRCS:progs/%.bpf.c=$(B)/progs/%.skel.h)
LIB_OBJS := $(LIB_SRCS:%.c=$(B)/%.o)
OBJS := $(B)/bench.o $(BENCH_SRCS:%.c=$(B)/%.o) $(LIB_OBJS)
UNITS := $(UNIT_SRCS:%.c=$(B)/%)
FUZZERS := $(FUZZ_SRCS:%.c=$(B)/%)

# ---- flags

PKGS := libbpf libelf zlib capstone jansson libRmath
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wno-unused-parameter -Wmissing-prototypes -Wstrict-prototypes
ifeq ($(WERROR),1)
WARN += -Werror
endif

# No path of this machine stays in what is built: the same sources make the same bytes anywhere. Not
# in the flags below, since a tree that was moved has nothing to build.
PREFIX_MAP = $(call quote,-ffile-prefix-map=$(CURDIR)=.) $(call quote,-ffile-prefix-map=$(abspath $(B))=build)

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -DBENCH_VERSION='"$(VERSION)"' -I. -I$(B)/progs -Iprogs \
	     $(WARN) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -pthread $(shell $(PKG_CONFIG) --cflags $(PKGS))
ifeq ($(STATIC),1)
ALL_LDFLAGS = -static -pthread $(SANITIZE) $(LDFLAGS)
LDLIBS = $(shell $(PKG_CONFIG) --static --libs $(PKGS)) -lm
else
ALL_LDFLAGS = -pthread $(SANITIZE) $(LDFLAGS)
LDLIBS = $(shell $(PKG_CONFIG) --libs $(PKGS)) -lm
endif

# clang -target bpf knows no multiarch folder, where Debian keeps asm/types.h.
TRIPLET := $(shell $(CC) -dumpmachine 2>/dev/null)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
BPF_ARCH := $(shell echo '$(firstword $(subst -, ,$(TRIPLET)))' | sed -e 's/x86_64/x86/' \
	      -e 's/i.86/x86/' -e 's/aarch64/arm64/' -e 's/arm.*/arm/;s/^arm$$/arm/' -e 's/s390x/s390/' \
	      -e 's/powerpc64.*/powerpc/' -e 's/riscv64.*/riscv/' -e 's/loongarch64/loongarch/')
BPF_TARGET ?= bpf
# What distributions make clang do of itself, and BPF has not, or would pay for.
BPF_PLAIN := -fno-stack-protector -fcf-protection=none -U_FORTIFY_SOURCE \
	     -ftrivial-auto-var-init=uninitialized
BPF_CFLAGS ?= -O2
ALL_BPF_CFLAGS = -target $(BPF_TARGET) -mcpu=v3 -g $(BPF_CFLAGS) -Wall -Wextra -Wno-unused-parameter \
		 $(BPF_PLAIN) $(if $(filter 1,$(WERROR)),-Werror) -D__TARGET_ARCH_$(BPF_ARCH) -Iprogs \
		 $(if $(MULTIARCH),-idirafter /usr/include/$(MULTIARCH)) \
		 $(shell $(PKG_CONFIG) --cflags libbpf)

# ---- build

.PHONY: all
all: $(BIN)

$(BIN): $(OBJS) $(B)/objs
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(OBJS) $(LDLIBS)

# Skeletons are made before anything is compiled (which file includes which is not known on the
# first build); after that the .d files say exactly what depends on what.
$(B)/%.o: %.c $(B)/flags | $(SKELS)
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(PREFIX_MAP) -MMD -MP -c -o $@ $<

$(B)/progs/%.bpf.o: progs/%.bpf.c $(B)/bpf-flags | need-tools
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(ALL_BPF_CFLAGS) $(PREFIX_MAP) -MMD -MP -MT $@ -c -o $@ $<

# A failed bpftool must not leave a half-written header that the next make takes for good.
$(B)/progs/%.skel.h: $(B)/progs/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$*)_bpf >$@.tmp
	$(Q)mv $@.tmp $@

.SECONDARY: $(SKELS) $(BPF_SRCS:progs/%.bpf.c=$(B)/progs/%.bpf.o)

# Objects are made anew when the flags change, not only when the sources do.
.PHONY: force
$(B)/flags: force
	@mkdir -p $(@D)
	@echo $(call quote,$(CC) $(ALL_CFLAGS)) | cmp -s - $@ || echo $(call quote,$(CC) $(ALL_CFLAGS)) >$@

# A benchmark whose file is gone has to go from the program too.
$(B)/objs: force
	@mkdir -p $(@D)
	@echo '$(OBJS)' | cmp -s - $@ || echo '$(OBJS)' >$@

$(B)/bpf-flags: force
	@mkdir -p $(@D)
	@echo $(call quote,$(CLANG) $(ALL_BPF_CFLAGS)) | cmp -s - $@ || \
		echo $(call quote,$(CLANG) $(ALL_BPF_CFLAGS)) >$@

.PHONY: need-tools
need-tools:
	@command -v $(CC) >/dev/null || { echo "no C compiler '$(CC)': scripts/install-deps.sh" >&2; exit 1; }
	@echo __SIZEOF_LONG__ | $(CC) $(CFLAGS) -E -P -x c - 2>/dev/null | grep -q 8 || { \
		echo "'$(CC)' compiles for 32 bits: bench and the kernel share 64-bit positions and counters as longs: requires a 64-bit compiler" >&2; \
		exit 1; }
	@command -v $(CLANG) >/dev/null || { echo "no '$(CLANG)': scripts/install-deps.sh" >&2; exit 1; }
	@[ -n "$(BPFTOOL)" ] || { echo "no bpftool: scripts/install-deps.sh" >&2; exit 1; }
	@$(PKG_CONFIG) --exists 'libbpf >= 1.0' $(PKGS) || { \
		echo "missing: libbpf >= 1.0, or one of $(PKGS): scripts/install-deps.sh" >&2; exit 1; }

# ---- tests

UNIT_LIBS = $(shell $(PKG_CONFIG) --libs cmocka)

$(B)/tests/unit/%: $(B)/tests/unit/%.o $(LIB_OBJS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(UNIT_LIBS) $(LDLIBS)

# Where libFuzzer is, it brings the main(); else the files of the corpus are fed to the target.
FUZZ_OBJS := $(B)/tests/fuzz/common.o $(if $(filter 1,$(LIBFUZZER)),,$(B)/tests/fuzz/replay.o)

$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(FUZZ_OBJS) $(LIB_OBJS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(if $(filter 1,$(LIBFUZZER)),-fsanitize=fuzzer) -o $@ $^ $(LDLIBS)

# The options are those of the benchmarks.
$(B)/tests/fuzz/fuzz_args: $(BENCH_SRCS:%.c=$(B)/%.o)

.SECONDARY: $(UNITS:%=%.o) $(FUZZERS:%=%.o) $(FUZZ_OBJS)

.PHONY: units
units: $(UNITS) $(FUZZERS) $(addprefix $(B)/tests/,confine jited bench_self)

.PHONY: deps
deps:
	$(Q)scripts/install-deps.sh --quiet

.PHONY: test-deps
test-deps:
	$(Q)scripts/install-deps.sh --quiet --test

# The set-up may install the compiler that this Makefile looked for when it was read: so the
# build is a make of its own.
.PHONY: run
run: deps
	$(Q)$(MAKE) $(BIN)
	$(if $(filter 0,$(shell id -u)),,sudo) ./$(BIN) -a -w3 -d10 rb-custom

# A few minutes: unit tests, and tests/*.bats, which take one benchmark of each family.
.PHONY: test
test: test-deps
	$(Q)$(MAKE) check

# The rest, some 20 minutes: every benchmark, tests/slow/*.bats with the stress test, the corpus of
# the fuzz targets, the sanitizers, and a guest with another kernel.
.PHONY: check-all
check-all: test-deps
	$(Q)scripts/install-deps.sh --quiet --slow
	$(Q)$(MAKE) check-asan SANITIZER_TESTS='$(SANITIZER_SAMPLE)'
	$(Q)$(MAKE) check-tsan SANITIZER_TESTS='$(SANITIZER_SAMPLE)'
	$(Q)$(MAKE) vmtest
	$(Q)CONTRACT_BENCHS='*' $(MAKE) check TEST_JOBS=2 TESTS='$(SLOW_TESTS)'

# More guests: each kernel in KERNELS (as vmtest.sh --kernel takes it), and arm64. docs/kernels.md has
# where others come from. All of them run, whatever comes of the first.
KERNELS ?= linux-image-6.12-amd64
.PHONY: check-kernels
check-kernels:
	$(Q)status=0; \
	for kernel in $(KERNELS); do $(MAKE) vmtest-kernel KERNEL="$$kernel" || status=1; done; \
	$(MAKE) vmtest-arm64 || status=1; \
	exit $$status

# Runs a command with less than it would have, for tests of what is said then.
$(B)/tests/confine: $(B)/tests/confine.o
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# For guests: what the JIT made of the BPF programs that are loaded.
$(B)/tests/jited: $(B)/tests/jited.o
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Files of tests at a time. Most runs last as long as asked, however many others there are, and none
# minds another bench; but those of check-all compare speeds.
TEST_JOBS ?= 4
export TEST_JOBS

BATS := $(sort $(wildcard tests/*.bats))
SLOW_BATS := $(sort $(wildcard tests/slow/*.bats))
SLOW_TESTS := $(FUZZ_SRCS) tests/contract.bats $(SLOW_BATS)

# The tests alone, with nothing installed: TESTS, as tests/run takes them. The longest come first.
LONG_BATS := $(addprefix tests/,contract.bats output.bats signals.bats)
TESTS ?= $(LONG_BATS) $(UNIT_SRCS) $(filter-out $(LONG_BATS),$(BATS))
.PHONY: check
check: $(BIN) units
	$(Q)BUILD='$(B)' BENCH='$(BIN)' SANITIZED=$(SANITIZED) tests/run $(TESTS)

# All that run the program itself; not those of the build, of scripts and of texts. check-all takes
# a sample of them.
SANITIZER_TESTS = $(UNIT_SRCS) $(FUZZ_SRCS) \
	$(filter-out $(addprefix tests/,docs.bats tree.bats words.bats),$(BATS)) \
	$(filter-out $(addprefix tests/slow/,build.bats install-deps.bats insns.bats matrix.bats \
	newfamily.bats scripts.bats vmtest.bats),$(SLOW_BATS))
SANITIZER_SAMPLE = $(UNIT_SRCS) $(FUZZ_SRCS) tests/contract.bats tests/records.bats

.PHONY: check-asan check-tsan
check-asan:
	$(Q)$(MAKE) O=$(O)/asan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
		SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' SANITIZED=1 \
		TESTS='$(SANITIZER_TESTS)' check
# lib/memcg.c clones children, after which TSan would refuse to start threads. And it sleeps a second
# at each exit.
check-tsan:
	$(Q)TSAN_OPTIONS='die_after_fork=0 atexit_sleep_ms=0' $(MAKE) O=$(O)/tsan CFLAGS='-O1 -g -fno-omit-frame-pointer' \
		SANITIZE='-fsanitize=thread -Wno-tsan' SANITIZED=1 \
		TESTS='$(SANITIZER_TESTS)' check

# All of the stress test, of which `make check-all` takes a sample: some 45 minutes.
STRESS_RUNS ?= 1000
.PHONY: stress
stress: test-deps
	$(Q)$(MAKE) $(BIN)
	$(Q)BUILD=$(B) BENCH=$(BIN) STRESS_RUNS=$(STRESS_RUNS) STRESS_FULL=1 STRESS_SEED=$(STRESS_SEED) \
		TEST_TIMEOUT=7200 FILE_TIMEOUT=10800 tests/run --verbose tests/slow/stress.bats

# ---- fuzzing, with libFuzzer: FUZZ_TIME seconds for each of the targets FUZZ, -j of them at a time.
# Inputs that reach something new, and findings, stay in $(O)/fuzz; `make fuzz-corpus` takes what
# the corpus in the tree lacks from there.

FUZZ ?= $(FUZZ_SRCS:tests/fuzz/fuzz_%.c=%)
FUZZ_TIME ?= 600

.PHONY: fuzz-deps fuzzers fuzz-targets
fuzz-deps: deps
	$(Q)scripts/install-deps.sh --quiet --fuzz

fuzzers: fuzz-deps
	$(Q)$(MAKE) O=$(O)/fuzz/build CC=$(CLANG) LIBFUZZER=1 CFLAGS='-O2 -g -fno-omit-frame-pointer' \
		SANITIZE='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all' \
		fuzz-targets
fuzz-targets: $(FUZZERS)

.PHONY: fuzz fuzz-corpus $(FUZZ:%=fuzz/%) $(FUZZ:%=fuzz-corpus/%)
fuzz: $(FUZZ:%=fuzz/%)
$(FUZZ:%=fuzz/%): fuzz/%: fuzzers
	$(Q)FUZZ_TIME=$(FUZZ_TIME) tests/fuzz/fuzz.sh run $(O)/fuzz $*
fuzz-corpus: $(FUZZ:%=fuzz-corpus/%)
$(FUZZ:%=fuzz-corpus/%): fuzz-corpus/%: fuzzers
	$(Q)tests/fuzz/fuzz.sh merge $(O)/fuzz $*

# What the runner itself costs: figures, not a test.
$(B)/tests/bench_self: $(B)/tests/bench_self.o $(LIB_OBJS)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

.PHONY: bench-self
bench-self: $(BIN) $(B)/tests/bench_self
	$(Q)$(B)/tests/bench_self ./$(BIN)

# Do the statements that published results agree in hold here?
.PHONY: claims
claims: test-deps
	$(Q)$(MAKE) $(BIN)
	$(Q)BENCH='$(abspath $(BIN))' scripts/claims.sh $(CLAIMS)

# ---- the guest: every benchmark on another kernel, in a virtual machine

VM_BENCH := $(if $(filter build,$(O)),bench-static,$(O)/bench-static)

VM_RUN = prove --norc --verbose --exec '' scripts/vmtest.sh ::

# What a kernel that runs cannot be put into for good: a second guest comes up with it.
VM_BOOT_OPTIONS = lockdown=confidentiality sysctl.net.core.bpf_jit_enable=0

.PHONY: vm-deps
vm-deps: deps
	$(Q)scripts/install-deps.sh --quiet --vm

.PHONY: vmtest
vmtest: vm-deps
	$(Q)$(MAKE) STATIC=1 all $(O)/static/tests/confine
	$(Q)$(VM_RUN) --bench $(VM_BENCH) \
		--add $(O)/static/tests/confine --timeout 1200 --out $(O)/vmtest $(VMTEST_ARGS)
	$(Q)$(VM_RUN) --bench $(VM_BENCH) --timeout 600 \
		--append '$(VM_BOOT_OPTIONS)' $(VMTEST_ARGS) -- suite booted dmesg

.PHONY: vmtest-arm64
vmtest-arm64:
	$(Q)scripts/install-deps.sh --quiet --arm64
	$(Q)scripts/cross-build.sh -o $(O)/arm64 all '$(abspath $(O)/arm64)/static/tests/confine'
	$(Q)$(VM_RUN) --arch arm64 \
		--bench $(O)/arm64/bench-static --add $(O)/arm64/static/tests/confine --timeout 1800 --out $(O)/vmtest-arm64 $(VMTEST_ARGS)
	$(Q)$(VM_RUN) --arch arm64 --icount --bench $(O)/arm64/bench-static --timeout 900 -- suite counters

# Whether instructions per operation are exact: boots several guests, some minutes.
.PHONY: check-insns
check-insns: vm-deps
	$(Q)$(MAKE) STATIC=1 all $(O)/static/tests/jited
	$(Q)VM_BENCH='$(abspath $(VM_BENCH))' VM_JITED='$(abspath $(O))/static/tests/jited' \
		BENCH=$(VM_BENCH) TEST_TIMEOUT=1800 FILE_TIMEOUT=5400 tests/run --verbose tests/vm/insns.bats

# docs/costs.md: [arm64:]KERNEL[,ARGUMENTS] of each column, KERNEL as vmtest.sh --kernel takes it, such as
# the vmlinuz of another release. One that is not there is left out.
COSTS_KERNELS ?= linux-image-amd64,mitigations=off linux-image-amd64 linux-image-6.12-amd64 \
		 arm64:linux-image-arm64
.PHONY: costs
costs: vm-deps
	$(Q)$(MAKE) $(BIN)
	$(Q)$(MAKE) STATIC=1
	$(Q)$(if $(findstring arm64:,$(COSTS_KERNELS)),scripts/install-deps.sh --quiet --arm64 && \
		scripts/cross-build.sh -o $(O)/arm64)
	$(Q)BENCH='$(abspath $(BIN))' scripts/costs.sh -o $(O)/costs --bench $(VM_BENCH) \
		--bench-arm64 $(O)/arm64/bench-static --update docs/costs.md $(COSTS_KERNELS)

# Another kernel: KERNEL is as vmtest.sh --kernel takes it. What came of it stays, for the matrix.
.PHONY: vmtest-kernel
vmtest-kernel: vm-deps
	$(Q)test -n '$(KERNEL)' || { echo 'make vmtest-kernel KERNEL=PATH' >&2; exit 64; }
	$(Q)$(MAKE) STATIC=1 all $(O)/static/tests/confine
	$(Q)$(VM_RUN) --kernel '$(KERNEL)' --bench $(VM_BENCH) \
		--add $(O)/static/tests/confine --timeout 1200 \
		--out '$(O)/vmtest-kernel/$(subst /,_,$(KERNEL))' $(VMTEST_ARGS)

# The table of what runs where in docs/kernels.md: as root, after vmtest, and those of vmtest-kernel and vmtest-arm64
# that were run.
matrix_arm64 := $(wildcard $(O)/vmtest-arm64/results.tsv)
.PHONY: matrix
matrix: $(BIN)
	$(Q)PATH='$(abspath $(dir $(BIN)))':$$PATH RESULTS=$(O)/here.tsv tests/guest/suite benchmarks
	$(Q)scripts/matrix.sh --update docs/kernels.md \
		"$$(uname -r | cut -d. -f1,2), $$(uname -m | tr _ -) (test machine)=$(O)/here.tsv" \
		'6.1, x86-64 (Debian 12)=$(O)/vmtest/results.tsv' \
		$(matrix_arm64:%='6.1$(comma) arm64 (Debian 12)=%') \
		$$(for f in $(wildcard $(O)/vmtest-kernel/*/results.tsv); do \
			echo "$$(head -n1 "$$f" | cut -f1) $$f"; done | sort -V | cut -d' ' -f2)

C_FILES = $(sort $(wildcard *.[ch] scripts/plugin/*.[ch] lib/*.[ch] lib/*/*.[ch] benchs/*.[ch] progs/*.[ch] tests/*.[ch] tests/*/*.[ch]))
SH_FILES = $(sort $(wildcard scripts/*.sh benchs/*.sh packaging/*.sh) completions/bench.bash tests/run tests/tap-exec $(wildcard tests/fuzz/*.sh tests/fixtures/*.sh) .ci/run $(wildcard tests/guest/suite tests/guest/init))
BATS_FILES = $(BATS) $(SLOW_BATS) $(sort $(wildcard tests/*.bash tests/vm/*.bats))

# What the tables in the program say, in the documents and completions
.PHONY: docs
docs: $(BIN)
	$(Q)BENCH='$(abspath $(BIN))' scripts/docs.sh

.PHONY: check-format
check-format:
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)shellcheck -x $(SH_FILES)
	$(Q)shellcheck -x -s bash $(BATS_FILES)

.PHONY: format
format:
	$(Q)clang-format -i $(C_FILES)

# ---- install, clean

# Those that need no source tree
INSTALL_SCRIPTS := $(addprefix scripts/,ab.sh claims.sh cover-letter.sh export.sh plot.sh report.sh) \
		   $(sort $(wildcard benchs/run_bench_*.sh))
INSTALL_DATA := scripts/lib.sh scripts/clean-env.sh benchs/run_common.sh \
		$(filter-out scripts/completion.jq,$(sort $(wildcard scripts/*.jq scripts/*.css scripts/export/*.jq reference/*.tsv)))

# What is built already is installed as it is: root, or a machine without a compiler, builds nothing.
.PHONY: install
install: $(if $(wildcard $(BIN)),,$(BIN))
	$(call msg,INSTALL,$(DESTDIR)$(SBINDIR)/bench)
	$(Q)$(INSTALL) -D -m 755 $(BIN) $(call quote,$(DESTDIR)$(SBINDIR)/bench)
	$(call msg,INSTALL,$(DESTDIR)$(MANDIR)/man8/bench.8)
	$(Q)$(INSTALL) -D -m 644 bench.8 $(call quote,$(DESTDIR)$(MANDIR)/man8/bench.8)
	$(call msg,INSTALL,$(DESTDIR)$(COMPLETIONSDIR)/bench)
	$(Q)$(INSTALL) -D -m 644 completions/bench.bash $(call quote,$(DESTDIR)$(COMPLETIONSDIR)/bench)
	$(call msg,INSTALL,$(DESTDIR)$(DATADIR))
	$(Q)set -e; for f in $(INSTALL_SCRIPTS); do $(INSTALL) -D -m 755 $$f $(call quote,$(DESTDIR)$(DATADIR))/$$f; done
	$(Q)set -e; for f in $(INSTALL_DATA); do $(INSTALL) -D -m 644 $$f $(call quote,$(DESTDIR)$(DATADIR))/$$f; done

.PHONY: uninstall
uninstall:
	$(call msg,REMOVE,$(DESTDIR)$(DATADIR))
	$(Q)rm -f $(call quote,$(DESTDIR)$(SBINDIR)/bench) $(call quote,$(DESTDIR)$(MANDIR)/man8/bench.8) \
		$(call quote,$(DESTDIR)$(COMPLETIONSDIR)/bench)
	$(Q)rm -f $(foreach f,$(INSTALL_SCRIPTS) $(INSTALL_DATA),$(call quote,$(DESTDIR)$(DATADIR)/$(f)))
	$(Q)for d in /scripts/export /scripts /benchs /reference ''; do \
		! [ -d $(call quote,$(DESTDIR)$(DATADIR))$$d ] || \
			rmdir --ignore-fail-on-non-empty $(call quote,$(DESTDIR)$(DATADIR))$$d; done

# The Debian package, in $(O)/deb, from a copy of the sources.
.PHONY: deb
deb:
	$(Q)packaging/deb.sh $(call quote,$(abspath $(O))/deb)

.PHONY: clean
clean:
	$(call msg,CLEAN,$(O))
	$(Q)rm -f $(if $(filter build,$(O)),bench bench-static) \
		$(addprefix $(O)/,bench bench-static bench.o bench.d flags bpf-flags objs)
	$(Q)rm -rf $(addprefix $(O)/,lib benchs progs tests static asan tsan fuzz/build)
	$(Q)! [ -d $(O) ] || rmdir --ignore-fail-on-non-empty $(O)

.PHONY: help
help:
	@sed -n 's/^# *\(make.*\)/\1/p' Makefile
	@echo 'check check-all check-kernels check-asan check-tsan check-format docs format install uninstall deb clean bench-self claims stress fuzz fuzz-corpus vmtest vmtest-kernel vmtest-arm64 matrix'

.DELETE_ON_ERROR:
-include $(OBJS:.o=.d) $(UNITS:=.d) $(FUZZERS:=.d) $(FUZZ_OBJS:.o=.d) $(B)/tests/bench_self.d $(BPF_SRCS:progs/%.bpf.c=$(B)/progs/%.bpf.d)

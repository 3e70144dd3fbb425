# SPDX-License-Identifier: Apache-2.0
# The front door; Meson does the work. `make help` lists what there is.
BUILD   ?= build
PYTHON  ?= /usr/bin/python3
PREFIX  ?= $(or $(prefix),/usr/local)
LIBDIR  ?= $(libdir)
# More words for Meson: -Dpage=disabled, --libexecdir ...
MESON_ARGS ?=
WERROR  ?= false
FUZZ_SECONDS ?= 60
ATTACK_SECONDS ?= 600
ATTACK_SEED ?= 1
DAMAGE  ?= 40
PORTABLE_TESTS ?= tests/cases
# Fewer: what differs is how files are opened and inflated, not what is read in them.
PORTABLE_DAMAGE ?= 20
PORTABLE_TORTURE ?= few
# Where Python looks for packages of the prefix.
PYTHON_PLACE = $(shell $(PYTHON) tools/python_place $(PREFIX))
# Places in reports of sanitizers need lines only; to write everything about types costs a third of the build.
LINES   := -Dc_args=-g1
export HOLOTRACE := $(abspath $(BUILD))/holotrace
# Where nobody chose a language Python does, for what it starts; to ccache that is another compilation than the first one was.
ifeq ($(LC_ALL)$(LC_CTYPE)$(LANG),)
export LC_CTYPE := C.UTF-8
endif

all: configure ## build the program, build/holotrace, and the library, from what is installed
	@ninja -C $(BUILD) --quiet

configure:
	@tools/configure $(BUILD) --prefix=$(PREFIX) $(if $(LIBDIR),--libdir=$(LIBDIR)) -Dwerror=$(WERROR) \
		-Dpython.platlibdir=$(PYTHON_PLACE) -Dpython.purelibdir=$(PYTHON_PLACE) \
		$(if $(HT_PORTABLE),-Dportable=true) $(MESON_ARGS)

setup: ## install what building needs: Debian packages as root or with sudo, and the packages of the page
	@tools/setup build

demo: setup ## set up, build, and summarise the bundled four-rank run, in the terminal and as demo/report.html
	@$(MAKE) --no-print-directory all
	@mkdir -p demo
	$(BUILD)/holotrace report examples/ddp
	$(BUILD)/holotrace report examples/ddp -o demo/report.html
	@echo
	@echo "The same as a page, with charts: demo/report.html"

test: ## set up, build and run every test; ends with one line of counts
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tools/run_tests $(BUILD)

# With -Og the compiler knows less of what a function sets than with -O2, which looks for what is not set. What is undefined ends
# the program, and ASan says where: the sentences that UBSan would say instead, and go on, make the program four times as large
# and twice as slow to start.
SANITIZED := handle_sigill=1
sanitize-build:
	@tools/setup test
	@tools/configure build-sanitize -Doptimization=g '$(LINES) -Wno-maybe-uninitialized -fsanitize=float-cast-overflow -fsanitize-undefined-trap-on-error' \
		-Db_ndebug=false -Db_sanitize=address,undefined -Db_lundef=false -Dmpi=disabled -Dwerror=$(WERROR)
	@ninja -C build-sanitize --quiet

# The extension of Python has one processor while the others are at work: at the end they wait for their longest.
sanitize: sanitize-build ## unit tests, fault injection, corpora and cases under ASan and UBSan, asserts on
	@LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0:$(SANITIZED) HOLOTRACE=$(CURDIR)/build-sanitize/holotrace \
		$(PYTHON) -m pytest -q -p no:cacheprovider python/tests/test_core.py python/tests/test_table.py \
		>build-sanitize/extension.log 2>&1 & extension=$$!; \
	HOLOTRACE_DAMAGE=$(DAMAGE) ASAN_OPTIONS=$(SANITIZED) HOLOTRACE=$(CURDIR)/build-sanitize/holotrace $(PYTHON) tools/run_tests build-sanitize \
		--dist load tests/extreme tests/badinput tests/serve tests/golden tests/cases; status=$$?; \
	wait $$extension || status=1; cat build-sanitize/extension.log; exit $$status

portable-build:
	@tools/setup portable
	@tools/configure build-portable -Dportable=true -Dgzip=zlib -Dwerror=$(WERROR)
	@ninja -C build-portable --quiet

portable: portable-build ## unit tests and cases for a build with zlib and without any call of one operating system
	@HOLOTRACE_DAMAGE=$(PORTABLE_DAMAGE) HOLOTRACE_TORTURE=$(PORTABLE_TORTURE) HOLOTRACE=$(CURDIR)/build-portable/holotrace \
		$(PYTHON) tools/run_tests build-portable $(PORTABLE_TESTS)

tsan-build:
	@tools/setup tsan
	@tools/configure build-tsan -Doptimization=1 '$(LINES)' -Db_ndebug=false -Db_sanitize=thread \
		-Db_lundef=false -Dpython=disabled -Dtests=disabled -Dmpi=disabled -Drecord=disabled -Dserve=disabled -Dwerror=$(WERROR)
	@ninja -C build-tsan --quiet holotrace

tsan: tsan-build ## look for data races: reading, every analysis and the report with four threads
	@$(PYTHON) tools/run_tsan build-tsan

nightly: ## what every change passes, with larger inputs and for longer, and what takes long besides
	@HOLOTRACE_LONG=1 HOLOTRACE_DAMAGE=2000 $(MAKE) --no-print-directory test
	@HOLOTRACE_LONG=1 $(MAKE) --no-print-directory sanitize DAMAGE=400
	@$(MAKE) --no-print-directory portable PORTABLE_DAMAGE=400 PORTABLE_TORTURE= \
		PORTABLE_TESTS="tests/abi tests/cases tests/golden python/tests/test_core.py"
	@HOLOTRACE_LONG=1 $(MAKE) --no-print-directory tsan
	@$(MAKE) --no-print-directory attack torture fuzz dist

lint: ## formatting, include directions, sizes, registry and documentation, cppcheck
	@tools/setup lint
	@$(MAKE) --no-print-directory all
	@tools/lint $(BUILD)

docs: all ## write reference pages and Python types from the descriptors
	@$(PYTHON) tools/gen_docs $(BUILD)/holotrace
	@$(PYTHON) tools/gen_python_stubs $(BUILD)

screenshots: all ## draw the pictures of README and docs from the examples, in Chromium
	@tools/setup test
	@$(PYTHON) tools/screenshots $(BUILD)

accept: all ## rewrite golden results and generated pages; review the difference
	@$(PYTHON) tests/golden/accept $(BUILD)/holotrace
	@$(PYTHON) tests/abi/abi.py accept $(BUILD)
	@$(PYTHON) tools/gen_docs $(BUILD)/holotrace
	@$(PYTHON) tools/gen_python_stubs $(BUILD)
	@git --no-pager diff --stat -- tests/golden tests/abi docs python/holotrace

fuzz: ## run every fuzzer for FUZZ_SECONDS each
	@tools/setup fuzz
	@CC=clang tools/configure build-fuzz -Dfuzz=true -Dbuildtype=debugoptimized \
		-Ddefault_library=static -Db_lundef=false
	@ninja -C build-fuzz --quiet fuzzers
	@tools/run_fuzz build-fuzz $(FUZZ_SECONDS)

attack: ## damaged and hostile traces, kills, hard shapes, for ATTACK_SECONDS with ATTACK_SEED
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tools/attack $(BUILD) --seconds $(ATTACK_SECONDS) --seed $(ATTACK_SEED)

torture: ## fail each allocation and each read in turn
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@tools/run_torture $(BUILD)

bench: ## measure against the yardsticks; prints the table
	@tools/setup bench
	@tools/configure build-bench -Dbench=true
	@ninja -C build-bench --quiet
	@bench/run build-bench
	@bench/complexity build-bench
	@bench/complexity build-bench --verbs serve --page docs/complexity-serve.md --keep build-bench/complexity-serve.json
	@test "$$(nproc)" -lt 8 || bench/cores build-bench

dist: ## static programs, source archive and wheels with checksums in dist/, tested
	@tools/setup dist
	@$(PYTHON) tools/dist
	@HOLOTRACE=$(CURDIR)/build-dist/holotrace $(PYTHON) -m pytest -q -rs -p no:cacheprovider -n 3 --dist load tests/dist

# What is built is installed as it stands: sudo drops CC and CFLAGS, which would be another build, and make's words may be fewer.
# Only a place that is named here is looked at.
PLACED = $(filter command environment,$(foreach word,PREFIX prefix LIBDIR libdir,$(firstword $(origin $(word)))))
install: $(if $(wildcard $(BUILD)/holotrace),,all) ## install what is built (or build it) below PREFIX and LIBDIR, and DESTDIR
	@$(if $(PLACED),meson configure $(BUILD) --prefix=$(PREFIX) $(if $(LIBDIR),--libdir=$(LIBDIR)) \
		-Dpython.platlibdir=$(PYTHON_PLACE) -Dpython.purelibdir=$(PYTHON_PLACE) >/dev/null && ninja -C $(BUILD) --quiet)
	@meson install -C $(BUILD) --no-rebuild

clean: ## remove what was built
	rm -rf build build-sanitize build-portable build-tsan build-fuzz build-bench build-dist demo

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

.PHONY: all configure setup demo test sanitize-build sanitize portable-build portable tsan-build tsan nightly lint docs screenshots accept fuzz attack torture bench dist install clean help

# make demo: build and run the real job on shipped logs.   make test: every test, under 10 minutes.
SHELL := /bin/sh
PYTHON ?= python3
CC ?= cc
VENV := .venv
BIN := $(VENV)/bin
B := build/c

SOURCES := $(shell find csrc/src -name '*.c' | LC_ALL=C sort)
HEADERS := $(shell find csrc pyapi/binding tests/c -name '*.h')
BINDING := $(wildcard pyapi/binding/*.c)
PACKAGE := $(shell find pyapi -type f -not -path '*/__pycache__/*' -not -path '*.egg-info/*')
SUITES := $(patsubst tests/c/check_%.c,%,$(sort $(wildcard tests/c/check_*.c)))

# Check kills a test after 4 s by default, which a busy machine needs for more than one of them.
export CK_DEFAULT_TIMEOUT ?= 240

WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla
CFLAGS_ALL := -std=c11 -fPIC -fvisibility=hidden -Icsrc/include -Icsrc/src -Itests/c $(WARN) -MMD -MP
# The objects of the C suites are those of the wheel, so they are built as setup.py builds them.
OPT ?= -O2 -g -fstack-protector-strong -fno-plt -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# Shows that a long step runs.
STEP := sh tests/tools/step.sh
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
# A file of tests stays in one process: its fixtures are made once.
PYTEST := -m pytest -q -n $(JOBS) --dist loadfile
SAN := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined

.PHONY: instructions demo test test-all check-c check-py asan valgrind tsan lint bench fuzz fuzz-py coverage coverage-py \
        clean build deps-build deps-test symbols test-aarch64 wheel help picture browser install docs consumers
.DEFAULT_GOAL := help

help:
	@echo "make demo       build, then the real job on shipped logs"
	@echo "make test       all tests (C suites, pytest, notebooks, README commands)"
	@echo "make test-all   the same and the slow ones: sanitizers, valgrind, long property runs"
	@echo "make lint | asan | valgrind | tsan | coverage | bench | fuzz SECONDS=n | test-aarch64 | consumers | clean"
	@echo "make docs | install PREFIX=/usr/local | wheel"

# ---- the environment -----------------------------------------------------------------------
$(BIN)/python:
	@PYTHON=$(PYTHON) CC=$(CC) tests/tools/need.sh build
	@echo "making $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/deps-build: pyproject.toml tests/tools/requirements.py | $(BIN)/python
	@$(BIN)/python tests/tools/requirements.py plot report rst > $(VENV)/requirements.txt
	@$(STEP) "installing what the build and the demo need" \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/deps-test: pyproject.toml tests/tools/requirements.py | $(BIN)/python
	@$(BIN)/python tests/tools/requirements.py all test > $(VENV)/requirements.txt
	@$(STEP) "installing what the tests need" \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -r $(VENV)/requirements.txt
	@touch $@ $(VENV)/deps-build

deps-test: $(VENV)/deps-test
deps-build: $(VENV)/deps-build

# The package is built into a wheel and installed from it: tests never see the source tree. The C
# core in it is the library of the C suites: it is compiled once.
$(VENV)/installed: $(SOURCES) $(HEADERS) $(BINDING) $(PACKAGE) setup.py pyproject.toml | $(VENV)/deps-build
	@PYTHON=$(BIN)/python CC=$(CC) tests/tools/need.sh build
	@$(STEP) "compiling the C core" $(MAKE) -s -j$(JOBS) --no-print-directory $(B)/libtickgauge.a
	@rm -rf build/wheel build/py/lib* build/py/bdist*
	@TICKGAUGE_BUILD=build/py TICKGAUGE_CORE=$(B)/libtickgauge.a $(STEP) "building tickgauge" $(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w build/wheel .
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

build: $(VENV)/installed

# ---- what users run ------------------------------------------------------------------------
demo: build
	@sh tests/tools/demo.sh $(BIN)

test: $(VENV)/deps-test check-c instructions symbols build check-py
	@echo "make test: all passed"

# The slow ones, and the report in a real browser.
test-all: browser test asan valgrind tsan
	@TICKGAUGE_SLOW=1 $(BIN)/python -m pytest -q -m slow || [ $$? -eq 5 ]

browser:
	@tests/tools/need.sh browser

check-py: build $(VENV)/deps-test
	@$(BIN)/python $(PYTEST) -m "not slow"

# ---- the C core and its suites -------------------------------------------------------------
define c_build
$(1)/%.o: %.c
	@mkdir -p $$(@D)
	@$(CC) $(CFLAGS_ALL) $(2) -c $$< -o $$@
$(1)/libtickgauge.a: $(patsubst %.c,$(1)/%.o,$(SOURCES))
	@rm -f $$@
	@ar rcs $$@ $$^
$(1)/check_%: $(1)/tests/c/check_%.o $(1)/libtickgauge.a
	@$(CC) $(2) $$< $(1)/libtickgauge.a $$(shell pkg-config --libs check) -lm -lpthread -o $$@
-include $(shell find $(1) -name '*.d' 2>/dev/null)
endef
$(eval $(call c_build,$(B),$(OPT)))
$(eval $(call c_build,build/asan,$(SAN)))
$(eval $(call c_build,build/tsan,-O1 -g -fsanitize=thread))
$(eval $(call c_build,build/cov,-O0 -g --coverage))

.PRECIOUS: $(B)/%.o build/asan/%.o build/tsan/%.o build/cov/%.o
.PHONY: need-test
need-test:
	@PYTHON=$(PYTHON) CC=$(CC) tests/tools/need.sh build test

check-c: need-test
	@$(MAKE) -s --no-print-directory run-suites DIR=$(B)
compile-suites: $(addprefix $(DIR)/check_,$(SUITES))
run-suites:
	@$(STEP) "compiling the C suites of $(DIR)" $(MAKE) -s -j$(JOBS) --no-print-directory compile-suites
	@for s in $(SUITES); do echo "-- check_$$s"; CK_DEFAULT_TIMEOUT=300 $(DIR)/check_$$s || exit 1; done

# Instructions a line against the committed figures; WRITE=--write commits new ones.
instructions: need-test $(B)/bench_core
	@$(PYTHON) tests/bench/instructions.py $(B)/bench_core $(WRITE)
$(B)/bench_core: $(B)/tests/bench/core.o $(B)/libtickgauge.a
	@$(CC) $(OPT) $^ -lm -lpthread -o $@

# No Python in the core, and exactly the exported names.
symbols: $(B)/libtickgauge.a
	@sh tests/tools/symbols.sh $< $(CC)

# ---- the C library by itself ---------------------------------------------------------------
PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
LIB := $(DESTDIR)$(PREFIX)/lib

# Headers, static and shared library, pkg-config; docs/examples/readings.c is a first program.
install: $(B)/libtickgauge.a
	@install -d $(DESTDIR)$(PREFIX)/include/tickgauge $(LIB)/pkgconfig
	@install -m 644 csrc/include/tickgauge/*.h $(DESTDIR)$(PREFIX)/include/tickgauge
	@install -m 644 $< $(LIB)
	@$(CC) -shared -Wl,-soname,libtickgauge.so.0 -Wl,--whole-archive $< -Wl,--no-whole-archive \
	  -lm -lpthread -o $(LIB)/libtickgauge.so.$(VERSION)
	@ln -sf libtickgauge.so.$(VERSION) $(LIB)/libtickgauge.so.0
	@ln -sf libtickgauge.so.0 $(LIB)/libtickgauge.so
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: tickgauge' 'Version: $(VERSION)' \
	  'Description: latency of firmware and boards, read off their consoles' \
	  'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -ltickgauge' \
	  'Libs.private: -lm -lpthread' > $(LIB)/pkgconfig/tickgauge.pc
	@echo "installed into $(DESTDIR)$(PREFIX)"

# ---- the harder looks ----------------------------------------------------------------------
asan: need-test $(VENV)/deps-test
	@ASAN_OPTIONS=detect_leaks=1 $(MAKE) -s --no-print-directory run-suites DIR=build/asan
	@rm -rf build/asan-site
	@TICKGAUGE_SANITIZE=address,undefined $(BIN)/python -m pip install -q --no-deps \
	  --no-build-isolation --disable-pip-version-check --target build/asan-site .
	@ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONMALLOC=malloc TICKGAUGE_HOSTILE=8 \
	  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  PYTHONPATH=$(CURDIR)/build/asan-site $(BIN)/python $(PYTEST) -m "not slow and not noasan"

valgrind: need-test
	@tests/tools/need.sh valgrind
	@$(MAKE) -s -j$(JOBS) --no-print-directory $(addprefix $(B)/check_,$(SUITES))
	@printf '%s\n' $(SUITES) | xargs -P $(JOBS) -n 1 sh tests/tools/memcheck.sh $(B)
	@echo "make valgrind: clean"

tsan: need-test
	@$(MAKE) -s --no-print-directory run-suites DIR=build/tsan SUITES="$(filter reader thread%,$(SUITES))"

lint: build $(VENV)/deps-test
	@tests/tools/need.sh lint
	@$(BIN)/python -m pip install -q --disable-pip-version-check ruff mypy
	@for f in $(SOURCES); do $(CC) -std=c11 -Icsrc/include -Icsrc/src $(WARN) -Werror -O2 -fsyntax-only $$f || exit 1; done
# One file a run: over several its analyzer takes every va_list behind the first for uninitialized.
	@printf "%s\n" $(SOURCES) | xargs -P $(JOBS) -n 1 sh -c 'clang-tidy --quiet "$$0" -- -std=c11 -Icsrc/include \
	  -Icsrc/src 2>/dev/null'
	@$(BIN)/python tests/tools/house.py
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy
	@echo "make lint: clean"

SECONDS ?= 30
# TARGETS="scanner py_page": these only; the names of those in Python begin with py_.
C_TARGETS = $(filter-out py_%,$(TARGETS))
PY_TARGETS = $(filter py_%,$(TARGETS))
fuzz:
	@status=0; \
	if [ -z "$(TARGETS)" ] || [ -n "$(C_TARGETS)" ]; then \
	  { tests/tools/need.sh fuzz && JOBS=$(JOBS) sh tests/fuzz/run.sh $(SECONDS) $(C_TARGETS); } || status=1; fi; \
	if [ -z "$(TARGETS)" ] || [ -n "$(PY_TARGETS)" ]; then \
	  $(MAKE) -s --no-print-directory fuzz-py TARGETS="$(PY_TARGETS)" || status=1; fi; \
	exit $$status

fuzz-py: build $(VENV)/deps-test
	@$(BIN)/python -m pip install -q --disable-pip-version-check $$($(BIN)/python tests/tools/requirements.py fuzz)
	@$(BIN)/python tests/fuzz/py/run.py $(SECONDS) $(TARGETS)

bench: build $(VENV)/deps-test
	@$(BIN)/python tests/bench/run.py

coverage: need-test
	@$(MAKE) -s --no-print-directory run-suites DIR=build/cov
	@$(MAKE) -s --no-print-directory coverage-py
	@$(PYTHON) tests/tools/coverage.py c build/cov
	@$(PYTHON) tests/tools/coverage.py python build/cov/python.json 85

# Processes that the tests start are counted, too; a failing test fails it.
coverage-py: build $(VENV)/deps-test
	@$(BIN)/python -m pip install -q --disable-pip-version-check \
	  "$$($(BIN)/python tests/tools/requirements.py dev | grep ^coverage)"
	@rm -rf build/cov/python*; mkdir -p build/cov
	@$(BIN)/python -m coverage run -m pytest -q -m "not slow and not noasan"
	@$(BIN)/python -m coverage combine -q
	@$(BIN)/python -m coverage json -q -o build/cov/python.json

# The exports through the programs that read them: SQUAD, LAVA's dispatcher, benchstat.
consumers: build $(VENV)/deps-test
	@sh tests/tools/consumers.sh $(BIN)/python

test-aarch64:
	@tests/tools/need.sh aarch64
	@sh tests/tools/aarch64.sh

# The picture of README, drawn anew.
picture: build
	@$(BIN)/python tests/tools/picture.py

# The site, with the outputs of the notebooks; a warning is a failure. make docs BUILDER=linkcheck
BUILDER ?= html
docs: build $(VENV)/deps-test
	@$(BIN)/python tests/tools/requirements.py docs > $(VENV)/requirements-docs.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r $(VENV)/requirements-docs.txt
	@$(BIN)/python tests/tools/site.py $(BUILDER)

# The sdist, the wheel made of it, and both tested in empty environments: PYTHONS="python3.11 python3.13".
PYTHONS ?= $(PYTHON)
wheel:
	@sh tests/tools/wheels.sh $(PYTHONS)

clean:
	rm -rf build dist out $(VENV)

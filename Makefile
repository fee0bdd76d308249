# onlyonce: build, tests, demo. `make help` lists the targets.
#
# CC, CFLAGS, LDFLAGS and SAN are yours to set; what the build itself needs stands in NEED_*.
# PROGRAM says where the program is put, for a script that wants several builds side by side.
ifeq ($(origin CC),default)
CC = gcc
endif
CFLAGS ?= -O2 -g
LDFLAGS ?=
SAN ?=
BUILD ?= build
PROGRAM ?= onlyonce
# V=1 prints the commands in full.
V ?=
QUIET = $(if $(V),,@echo '  $(1) $@' &&)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

PKGS = sqlite3 libfyaml jansson libxxhash libxml-2.0
# Empty until `make deps` has run; the targets that run it start make again afterwards.
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
CHECK_CFLAGS := $(shell pkg-config --cflags check 2>/dev/null)
CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null)

NEED_CFLAGS = -std=c11 -D_GNU_SOURCE -I. -Wall -Wextra -Werror -MMD -MP $(PKG_CFLAGS)
NEED_LIBS = $(PKG_LIBS)
ifneq ($(SAN),)
BUILD := $(BUILD)-san
NEED_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
NEED_CFLAGS += -fno-omit-frame-pointer
NEED_LIBS += -fsanitize=address,undefined
endif

# Each compiler and set of flags has its own directory of objects, so that they never mix.
KEY := $(shell echo '$(CC) $(CFLAGS) $(LDFLAGS) $(SAN)' | cksum | cut -d ' ' -f 1)
OBJ := $(BUILD)/$(KEY)

SOURCES := $(wildcard sim/*.c receivers/*.c reports/*.c)
OBJECTS := $(SOURCES:%.c=$(OBJ)/%.o)
LIBRARY := $(filter-out $(OBJ)/sim/main.o,$(OBJECTS))
TESTS := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/*.c))
BENCHES := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/bench/*.c))

# Scripts of `make test`; the first two have their own place in it.
SCRIPTS = $(filter-out tests/deps.sh tests/tidy.sh tests/builds.sh,$(sort $(wildcard tests/*.sh)))
HEAVY = $(sort $(wildcard tests/heavy/*.sh))
SEED = scenarios/seed/lost-reply.yaml

.PHONY: all help deps demo test test-program test-all bench bench-program bless tidy clean FORCE
.DEFAULT_GOAL := all

all: $(PROGRAM)

help:
	@echo 'make            build ./onlyonce   (CC=clang, CFLAGS=-O0, SAN=1, PROGRAM=path, JOBS=n)'
	@echo 'make deps       install the packages that are missing (Debian: apt-get)'
	@echo 'make demo       the story of a lost reply: verdicts, diagram, report'
	@echo 'make test       all tests; under 8 minutes on 2 cores'
	@echo 'make test-all   the same, and the heavier suites of tests/heavy'
	@echo 'make bench      measure the numbers that the design promises'
	@echo 'make bless      write tests/golden anew from what the program prints now'
	@echo 'make tidy       the rules of the source that a compiler does not check'
	@echo 'make clean      remove everything that was built'

deps:
	@tests/deps.sh test

$(OBJ)/%.o: %.c Makefile
	$(if $(PKG_LIBS),,$(error packages are missing; `make deps` installs them))
	@mkdir -p $(@D)
	$(call QUIET,CC) $(CC) $(NEED_CFLAGS) $(CFLAGS) $(LAST_CFLAGS) -c -o $@ $<

# Its long jumps from stack to stack are what _FORTIFY_SOURCE takes for an attack.
$(OBJ)/sim/coro.o: LAST_CFLAGS = -U_FORTIFY_SOURCE
$(TESTS): NEED_CFLAGS += $(CHECK_CFLAGS)

$(OBJ)/onlyonce: $(OBJECTS)
	$(call QUIET,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(NEED_LIBS)

$(OBJ)/test: $(TESTS) $(LIBRARY)
	$(call QUIET,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(NEED_LIBS) $(CHECK_LIBS) -lm

$(OBJ)/bench: $(BENCHES) $(LIBRARY)
	$(if $(BENCHES),,$(error there is nothing in tests/bench))
	$(call QUIET,LD) $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(NEED_LIBS) -lm

# Compared each time, because another compiler's program may lie there with a newer date.
$(PROGRAM): $(OBJ)/onlyonce FORCE
	@mkdir -p $(@D)
	@cmp -s $< $@ || cp -f $< $@

test-program: $(OBJ)/test
	@cmp -s $< $(BUILD)/test || cp -f $< $(BUILD)/test

bench-program: $(OBJ)/bench
	@cmp -s $< $(BUILD)/bench || cp -f $< $(BUILD)/bench

demo:
	@tests/deps.sh demo
	@$(MAKE) all
	./onlyonce run $(SEED)
	./onlyonce show $(SEED) --receiver table
	./onlyonce compare scenarios/seed -o report

# The unit tests' output is kept, so that their summary can stand last. All steps run, also after
# one that failed; the other builds beside them. A script that calls make calls it as a person would.
test:
	@tests/deps.sh test
	@$(MAKE) all test-program
	@unset MAKEFLAGS MFLAGS MAKELEVEL; failed=; log=$(BUILD)/test.log; builds=$(BUILD)/builds.log; \
	tests/builds.sh >$$builds 2>&1 </dev/null & others=$$!; \
	tests/tidy.sh || failed=tests/tidy.sh; \
	$(BUILD)/test >$$log 2>&1 </dev/null || failed="$$failed $(BUILD)/test"; cat $$log; \
	for script in $(SCRIPTS); do \
	    echo "== $$script"; ./$$script </dev/null || failed="$$failed $$script"; \
	done; \
	echo "== tests/builds.sh"; \
	wait $$others || failed="$$failed tests/builds.sh"; cat $$builds; \
	if [ -n "$$failed" ]; then echo "FAILED: $$failed"; fi; \
	grep -E '^[0-9]+%: Checks: ' $$log | tail -n 1; [ -z "$$failed" ]

test-all: test
	@unset MAKEFLAGS MFLAGS MAKELEVEL; failed=; \
	for script in $(HEAVY); do \
	    echo "== $$script"; ./$$script </dev/null || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "FAILED: $$failed"; exit 1; fi

bench:
	@tests/deps.sh demo
	@$(MAKE) all bench-program
	@$(BUILD)/bench

bless:
	@$(MAKE) all test-program
	ONLYONCE_BLESS=1 $(BUILD)/test

tidy:
	@tests/tidy.sh

clean:
	rm -rf build build-san onlyonce report

-include $(OBJECTS:.o=.d) $(TESTS:.o=.d) $(BENCHES:.o=.d)

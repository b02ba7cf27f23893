# lockstep: build, test, look after. `make help` lists the targets.
CC ?= cc
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
BUILD ?= build
CFLAGS ?= -O2 -g
PACKAGES = gsl lua5.4 libcjson expat yajl sqlite3 zlib yaml-0.1
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings \
           -Wswitch-enum -Wcast-qual -Werror=implicit-function-declaration
# -ffp-contract=off: every compiler and level of optimisation gives the same digits.
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE -ffp-contract=off -I. $(WARNINGS) $(CFLAGS) \
             $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
LIBS = $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lm

WORKLOAD = $(addprefix models/workload/,job model cost lower step life convergence queue money cluster)
SCENARIOS = $(addprefix scenarios/,fields lua study program packets queue questions commands import import/python export whatif plan report explain check trace step sweep mpi)
FOLDERS = sim $(addprefix sim/,base system data packet) models/hardware models/network $(addprefix models/network/,messages collectives) \
          $(WORKLOAD) $(SCENARIOS) results $(addprefix results/,chart page answer store film) \
          calibrate $(addprefix calibrate/,gpu gpu/bench gpu/fit collectives training tcp queue)
PROGRAMS = models/hardware/write_catalogue.c calibrate/tcp/netbench.c scenarios/mpi/lockstep_mpi.c # with a main of their own
SOURCES = $(filter-out $(PROGRAMS),$(sort $(wildcard $(addsuffix /*.c,$(FOLDERS)))))
TABLES = $(BUILD)/models/hardware/catalogue_tables.o # made of the catalogue
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o) $(TABLES)
TEST_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/*.c tests/fuzz/*.c)) tests/bench/flows.c scenarios/library/library.c)
FUZZERS = $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# float-cast-overflow: what clang counts in, and gcc does not.
SANITIZE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all $(SANITIZE_MORE)

all: $(BUILD)/lockstep

help:
	@echo "make demo    set the machine up, build, and answer a first question with a table and a plot"
	@echo "make test    set the machine up, build, and run all tests"
	@echo "make         build only (build/lockstep)          make install   to PREFIX=$(PREFIX)"
	@echo "make asan    the tests under ASan and UBSan       make lint      format, warnings, cppcheck, include directions"
	@echo "make bench   speed, as ratios in one run          make fuzz      every fuzzer for FUZZ_SECONDS=20"
	@echo "make studies STUDIES=10000 drawn studies under clang's sanitizers     make nightly HOURS=1  all that draws"
	@echo "make coverage lines that the tests reach, by folder"
	@echo "make netbox  real collectives over shaped cables, against their simulation (root)"
	@echo "make cuda    build/cuda/lockstep-bench, which measures GPUs (where nvcc is found)"
	@echo "make cuda-check  lockstep-bench's kernels and device layer on an emulated GPU (where g++ is found)"
	@echo "make recovery 1,000 made-up measurements: do the fits' intervals hold the truth?"
	@echo "make scoreboard writes the README's figures anew from lockstep validate"
	@echo "make sweep-torture  a sweep of 10,000 points, killed 20 times and resumed"
	@echo "make store-torture  200 damaged stores: is one of them taken for what was simulated?"
	@echo "make failures  memory, files, processes refused at 1,000 points: a sentence, and nothing half written"
	@echo "make laws    20,000 drawn jobs, clusters and lives against laws (LAWS=20000 LAWS_FROM=1); a violation is made small"
	@echo "make mutants 200 small mistakes put into the program one at a time: do the tests see them? (MUTANTS=200 MUTANTS_FROM=1)"
	@echo "make plan-torture  200 random plans: does pruning lose anything that trying every layout finds?"
	@echo "make golden  keeps what the program answers now (tests/golden), after a change that was meant to move it"
	@echo "make boundaries  every value that may be set, at both ends of its range and beyond"
	@echo "make report-check  reports in headless Chromium: charts seen, contrast, buttons, nothing on the console"
	@echo "make manual  writes what the program prints into the pages of docs/"
	@echo "make web     build/web, the program in a page (where emcc is found); make web-test: does it answer as this one does?"
	@echo "make web-bench  how long the page takes in Chromium: first picture, sliders, WebAssembly against native"
	@echo "make wheel   build/wheel, a Python package with the program in it (docs/library.md)"
	@echo "make html    build/html, the manual with a search, which opens from disk (where cmark-gfm and mandoc are found)"
	@echo "make release build/release: source, Debian packages, wheel, manual, page of what is committed, with SHA256SUMS"
	@echo "make mpi     build/lockstep-mpi, sweeps and plans over MPI (where mpicc is found)"
	@echo "make portable  what builds without Linux's own calls: by clang, against musl (where both are found)"
	@echo "make map     every source file with the sentence that it opens with"
	@echo "make digests gcc -O0, -O2, ASan and clang builds must give the same runs"

# ---- The two commands of the README: they do everything on a fresh Debian 12 machine.
demo:
	@sh .ci/packages
	@$(MAKE) --no-print-directory -j2 $(BUILD)/lockstep
	@$(BUILD)/lockstep run scenarios/examples/scaling_efficiency.lua --plot
	@$(BUILD)/lockstep run scenarios/examples/scaling_efficiency.lua -q --plot=scaling,breakdown --plot-dir $(BUILD) >/dev/null
	@echo; echo "The plots as pictures: $(BUILD)/scaling_efficiency-scaling.png and -breakdown.png"

test:
	@sh .ci/packages
	@$(MAKE) --no-print-directory -j2 $(BUILD)/lockstep $(BUILD)/tests/run
	@$(MAKE) --no-print-directory check

# ---- Building.
$(BUILD)/lockstep: $(BUILD)/main.o $(OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# lockstep with its Lua wide open, to show that the second wall holds.
UNGUARDED_OBJECTS = $(BUILD)/main.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/wall/*.c)) \
                    $(filter-out $(BUILD)/scenarios/lua/lua_library.o,$(OBJECTS))
$(BUILD)/tests/unguarded: $(UNGUARDED_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Makes calls fail in the program under test.
$(BUILD)/tests/fail.so: tests/fail/fail.c tests/fail/fail.h tests/fail/calls.h
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS)) $(if $(findstring sanitize,$(CFLAGS)),-DOTHERS_MEMORY) -shared -fPIC -o $@ $<

# Tests compile a third quicker so, and take as long: what they spend time in is the program.
$(filter-out $(BUILD)/tests/bench/%,$(TEST_OBJECTS)): ALL_CFLAGS += $(if $(findstring -O2,$(CFLAGS)),-O1)
# Tests read the catalogue once for all their processes (tests/fuzz/kept.c); it is constant, and takes 10 ms.
KEPT = $(foreach name,catalogue_builtin catalogue_with_profile,-Wl,--wrap=$(name))
$(BUILD)/tests/run: $(TEST_OBJECTS) $(OBJECTS) | $(BUILD)/tests/unguarded $(BUILD)/tests/fail.so
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) $(KEPT) -o $@ $^ $(LIBS)

# Needs nothing but libc, so that it can be copied to any host.
NETBENCH_OBJECTS = $(addprefix $(BUILD)/,calibrate/tcp/netbench.o calibrate/tcp/schedule.o \
                   $(patsubst %.c,%.o,$(wildcard models/network/messages/algorithms*.c)) \
                   $(addprefix sim/base/,arena.o options.o problem.o quantity.o text.o))
$(BUILD)/netbench: $(NETBENCH_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

# Questions from other programs: a C library and a Python package (scenarios/library).
$(BUILD)/liblockstep.so.0: scenarios/library/library.c scenarios/library/lockstep.h
	@echo "  LINK  $@"
	@mkdir -p $(@D)
	@$(CC) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS) $(LDFLAGS)) -shared -fPIC -Wl,-soname,$(@F) -o $@ $<

wheel: $(BUILD)/lockstep
	@mkdir -p $(BUILD)/wheel
	@$(CC) $(CFLAGS) $(LDFLAGS) -s -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -o $(BUILD)/wheel/lockstep $(BUILD)/main.o $(OBJECTS) $(LIBS)
	@python3 scenarios/library/python/make_wheel.py $(BUILD)/wheel/lockstep $(BUILD)/wheel

$(BUILD)/bench: $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/bench/*.c)) $(OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# What decides results: a sweep's store knows by the checksum which engine a point comes from. Comments do not.
ENGINE_FILES = $(sort $(wildcard $(addsuffix /*.[ch],$(filter-out results% calibrate%,$(FOLDERS))) \
                 models/hardware/catalogue/*.json scenarios/import/software/*.options))
ENGINE_NAME = -DLOCKSTEP_ENGINE='"$(shell awk -f sim/engine_text.awk $(ENGINE_FILES) | sha256sum | cut -c1-12)"'
$(BUILD)/sim/base/version.o: ALL_CFLAGS += $(ENGINE_NAME)
$(BUILD)/sim/base/version.o: $(ENGINE_FILES) sim/engine_text.awk

# The catalogue is part of the program (.incbin), so a change to it is a change to this file, here and in a page; and it is made into tables.
$(BUILD)/models/hardware/catalogue.o $(BUILD)/wasm/models/hardware/catalogue.o: $(wildcard models/hardware/catalogue/*.json)
MAKER_OBJECTS = $(filter-out %/catalogue_builtin.o %/command_hw.o,$(filter $(BUILD)/sim/% $(BUILD)/models/hardware/%,\
                  $(SOURCES:%.c=$(BUILD)/%.o))) $(BUILD)/models/hardware/write_catalogue.o
$(BUILD)/write_catalogue: $(MAKER_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/catalogue_tables.c: $(BUILD)/write_catalogue
	@$< >$@.part && mv $@.part $@

$(TABLES): $(BUILD)/catalogue_tables.c
	@echo "  CC    $<"
	@$(CC) $(filter-out -Wcast-qual,$(ALL_CFLAGS)) -c -o $@ $<

# So is the style and the script of reports.
$(BUILD)/results/page/report_write.o $(BUILD)/wasm/results/page/report_write.o: $(wildcard results/page/page.*)
# So are the options of training software.
$(BUILD)/scenarios/import/software.o $(BUILD)/wasm/scenarios/import/software.o: $(wildcard scenarios/import/software/*.options)
# So is the course, with the pages of measurements that it rests on.
$(BUILD)/scenarios/lua/lua_course.o $(BUILD)/wasm/scenarios/lua/lua_course.o: $(wildcard scenarios/lessons/course/*.lua) \
  $(patsubst %,docs/%.md,training-accuracy collectives-accuracy first-contact critical-batch goodput)
# So are the classes of measured families.
$(BUILD)/calibrate/training/nested_training.o: calibrate/measurements/families.csv
# So are the answers' schemas.
$(BUILD)/results/answer/ask.o $(BUILD)/wasm/results/answer/ask.o: results/schema.json

# Collectives over real TCP between network namespaces, against their simulation. NETBOX=--quick for a short form.
netbox: $(BUILD)/netbench $(BUILD)/lockstep
	@BUILD=$(BUILD) sh calibrate/tcp/netbox $(NETBOX)

# ---- The program that measures GPUs. Machine code for every GPU that this nvcc knows and NVIDIA still sells or rents,
# and PTX of the newest for those to come.
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
CUDA_FAMILIES = 70 75 80 86 89 90 100 120
CUDA_KNOWN = $(sort $(patsubst sm_%,%,$(shell $(NVCC) --list-gpu-code 2>/dev/null)))
CUDA_CODES = $(filter $(CUDA_KNOWN),$(CUDA_FAMILIES))
NVCC_FLAGS = -std=c++17 -O2 -I. -Xcompiler -Wall,-Wextra -Wno-deprecated-gpu-targets \
             $(foreach code,$(CUDA_CODES),-gencode arch=compute_$(code),code=sm_$(code)) \
             -gencode arch=compute_$(lastword $(CUDA_CODES)),code=compute_$(lastword $(CUDA_CODES))
CUDA_OBJECTS = $(patsubst %.cu,$(BUILD)/cuda/%.o,$(sort $(wildcard calibrate/gpu/bench/*.cu)))
BENCH_OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard calibrate/gpu/bench/bench*.c)))

cuda:
ifeq ($(NVCC),)
	@echo "cuda: skipped, no nvcc was found (PATH, /usr/local/cuda/bin); NVCC=/path/to/nvcc make cuda names one"
else
	@$(MAKE) --no-print-directory -j$(shell nproc 2>/dev/null || echo 2) $(BUILD)/cuda/lockstep-bench
endif

$(BUILD)/cuda/lockstep-bench: $(CUDA_OBJECTS) $(BENCH_OBJECTS)
	@echo "  LINK  $@"
	@$(NVCC) -o $@ $^ -lcublasLt -ldl -Xlinker -rpath -Xlinker $(dir $(NVCC))../lib64

$(BUILD)/cuda/%.o: %.cu $(wildcard calibrate/gpu/bench/bench.h calibrate/gpu/bench/cuda_*.h)
	@mkdir -p $(@D)
	@echo "  NVCC  $<"
	@$(NVCC) $(NVCC_FLAGS) -c -o $@ $<

include tests/cuda/build.mk
include web/build.mk

# ---- Sweeps and plans over MPI: a program of its own, so that nothing else needs MPI.
MPICC ?= $(shell command -v mpicc 2>/dev/null)
MPIRUN ?= mpirun
mpi:
ifeq ($(MPICC),)
	@echo "mpi: skipped, no mpicc was found; on Debian: apt-get install libopenmpi-dev openmpi-bin"
else
	@$(MAKE) --no-print-directory -j2 $(BUILD)/lockstep-mpi
endif

$(BUILD)/lockstep-mpi: scenarios/mpi/lockstep_mpi.c $(OBJECTS)
	@echo "  MPICC $@"
	@$(MPICC) $(filter-out -Wmissing-prototypes,$(ALL_CFLAGS)) $(LDFLAGS) -o $@ $^ $(LIBS)

# A failed point, an interrupted run and all: the ranks' store must be the one that lockstep sweep writes.
mpi-check: mpi $(BUILD)/lockstep
	@BUILD=$(BUILD) MPIRUN="$(MPIRUN)" sh tests/mpi_check

# ---- Checking.
recovery: $(BUILD)/lockstep
	$(BUILD)/lockstep calibrate recovery --trials 1000

check: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run $(TESTS)

# What tests/golden keeps, as this program answers now.
golden: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_GOLDEN=write LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run test_golden wild_lives flags_are_refused
	@git diff --stat tests/golden

# results/schema.json: with the keys that answers have and it does not say. Say then what they are.
schema: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_SCHEMA=write LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run every_answer_is_as_its_schema_says
	@git diff --stat results/schema.json

# 10,000 points, killed 20 times at random: the store must be that of a run that nobody disturbed.
sweep-torture: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_TORTURE=1 LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run killed_at_random

# Damaged stores, 200 ways: each is refused, mended to what it was, or was not harmed.
store-torture: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_STORE_TRIALS=$${LOCKSTEP_STORE_TRIALS:-200} LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run no_damaged_store

# Every kind of refusal of the system, at points spread over its calls: a thousand and more.
failures: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_FAILURES=$${LOCKSTEP_FAILURES:-20} LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run whatever_the_system_refuses

# Pruned against exhaustive, 200 questions: some minutes.
plan-torture: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_PLAN_CASES=$${LOCKSTEP_PLAN_CASES:-200} LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run pruning_finds

# Every settable path and every flag at the ends of what it may be and beyond; 20,000 drawn jobs: some minutes.
boundaries: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP_BOUNDARIES=$${LOCKSTEP_BOUNDARIES:-1} LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run test_boundaries test_plausible

# Drawn jobs against laws (tests/laws.h): some 20 s on two cores. A violation prints a small scenario.
LAWS ?= 20000
LAWS_FROM ?= 1
laws: $(BUILD)/tests/run $(BUILD)/lockstep
	LAWS=$(LAWS) LAWS_FROM=$(LAWS_FROM) LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run laws_hold_on_drawn_studies

# Pages in a browser: half a minute. Skipped, with the reason, where no Chromium can be had.
report-check: $(BUILD)/lockstep
	@BUILD=$(BUILD) tests/report_check

manual: $(BUILD)/lockstep
	@sh .ci/manual $(BUILD)/lockstep

asan:
	@$(MAKE) --no-print-directory -j2 BUILD=build-asan CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" build-asan/lockstep build-asan/tests/run
	@$(MAKE) --no-print-directory BUILD=build-asan CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" check

lint:
	@sh .ci/lint

map:
	@for file in $$(git ls-files '*.h' '*.c' '*.cu' | grep -v '^tests/'); do \
	    sed -n "1s|^// |$$file: |p" $$file; done

digests:
	@sh .ci/digests

scoreboard: $(BUILD)/lockstep
	@sh .ci/scoreboard $(BUILD)/lockstep

collectives-accuracy: $(BUILD)/lockstep
	@sh .ci/collectives-accuracy $(BUILD)/lockstep

# The same flows in SimGrid, where Debian's libsimgrid-dev is installed.
SIMGRID_SHIFTS = $(if $(wildcard /usr/include/simgrid/s4u.hpp),$(BUILD)/simgrid_shifts)
$(BUILD)/simgrid_shifts: tests/bench/simgrid_shifts.cpp
	$(CXX) -O2 -o $@ $< -lsimgrid

bench: $(BUILD)/bench $(BUILD)/lockstep $(SIMGRID_SHIFTS)
	$(if $(SIMGRID_SHIFTS),SIMGRID_SHIFTS=$(SIMGRID_SHIFTS)) LOCKSTEP=$(BUILD)/lockstep $(BUILD)/bench

# ---- Fuzzing. All sources are compiled once, with clang's sanitizers and marks for the fuzzer; each fuzzer is one file
# more. In the tests' program, which replays the corpora, a fuzzer's function bears the name of its file.
FUZZ_CC ?= clang
FUZZ_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS ?= 20
FUZZ_NAMED = -DLLVMFuzzerTestOneInput=$(notdir $*)
$(BUILD)/tests/fuzz/%.o: ALL_CFLAGS += $(FUZZ_NAMED)
# Where numbers are crunched no input is compared with words: marks for comparisons would take two thirds of the time.
FUZZ_HOT =
HOT_OBJECTS = $(filter-out $(BUILD)/models/network/read_%,$(filter $(addprefix $(BUILD)/,models/network/% \
              models/workload/life/% models/workload/lower/% models/workload/step/% models/workload/cost/% models/workload/model/% \
              sim/run% sim/fluid% sim/event% sim/fold% sim/base/arena% sim/base/list% \
              sim/program%),$(OBJECTS)))
$(HOT_OBJECTS): ALL_CFLAGS += $(FUZZ_HOT)
FUZZ_WRAP = $(KEPT) -Wl,--wrap=lua_host_open
FUZZ_HELPERS = $(patsubst %.c,$(BUILD)/%.o,tests/draw_study.c tests/drawn_run.c $(filter-out tests/fuzz/fuzz_%,$(wildcard tests/fuzz/*.c)))

$(BUILD)/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o $(FUZZ_HELPERS) $(OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) -fsanitize=fuzzer $(FUZZ_WRAP) -o $@ $^ $(LIBS)

# The tests of drawn studies alone: with the objects that are there anyway.
$(BUILD)/studies: $(BUILD)/tests/run.o $(BUILD)/tests/test_drawn_studies.o $(FUZZ_HELPERS) $(OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

FUZZ_MAKE = $(MAKE) --no-print-directory -j2 BUILD=build-fuzz CC="$(FUZZ_CC)" CFLAGS="$(FUZZ_FLAGS)" FUZZ_NAMED= \
            FUZZ_HOT=-fno-sanitize-coverage=trace-cmp
.PHONY: fuzzers studies nightly mutants coverage
fuzzers:
	@$(FUZZ_MAKE) $(addprefix build-fuzz/,$(FUZZERS))

fuzz: fuzzers
	@sh tests/fuzz/run $(FUZZ_SECONDS) $(FUZZERS)

# Studies drawn from seeds FROM, FROM + 1, …, each loaded, simulated and printed under clang's sanitizers.
STUDIES ?= 1000
FROM ?= 1
studies:
	@$(FUZZ_MAKE) build-fuzz/studies
	@LOCKSTEP_STUDIES=$(STUDIES) LOCKSTEP_STUDIES_FROM=$(FROM) build-fuzz/studies drawn_studies_run

# Small mistakes put into cost, memory, money, plan, life, queue, store and explain: do the tests see them?
MUTANTS ?= 200
MUTANTS_FROM ?= 1
mutants: $(BUILD)/tests/run $(BUILD)/lockstep
	@BUILD=$(BUILD) CC="$(CC)" FLAGS="$(ALL_CFLAGS)" LIBS="$(LIBS)" KEPT="$(KEPT)" OBJECTS="$(OBJECTS)" \
	    TEST_OBJECTS="$(TEST_OBJECTS)" bash tests/mutants/run $(if $(AGAIN),again $(AGAIN),$(MUTANTS) $(MUTANTS_FROM))

HOURS ?= 1
nightly: fuzzers $(BUILD)/tests/run $(BUILD)/lockstep
	@$(FUZZ_MAKE) build-fuzz/studies
	@BUILD=$(BUILD) bash tests/nightly $(HOURS) $(FUZZERS)

# Lines that make test reaches, by folder; COVERAGE=files: by file, the least covered first.
coverage:
	@$(MAKE) --no-print-directory -j2 BUILD=build-coverage CC=gcc CFLAGS="-O1 -g --coverage" LDFLAGS=--coverage \
	    build-coverage/lockstep build-coverage/tests/run
	@find build-coverage -name '*.gcda' -delete
	@LOCKSTEP=build-coverage/lockstep build-coverage/tests/run || echo "coverage: some tests failed"
	@sh tests/coverage build-coverage $(COVERAGE)

# ---- Installing. What validate reads comes with the program (sim/system/file.c finds it).
MEASURED = measurements measurements/convergence measurements/kernels measurements/nccl measurements/nccl/batch-3 measurements/queue measurements/training measurements/training/batch-2 measurements/training/batch-3 measurements/training/own
# Manual pages, from what --help prints.
MAN_DATE = $(shell LC_ALL=C date -u $(if $(SOURCE_DATE_EPOCH),-d @$(SOURCE_DATE_EPOCH),-r CHANGELOG.md) '+%B %-d, %Y')
man: $(BUILD)/lockstep
	@mkdir -p $(BUILD)/man
	@$(BUILD)/lockstep --help | sed -n '/^Commands:/,/^$$/s/^  \([a-z]*\) \+\(.*\)/\1 \2/p' | while read -r command about; do \
	    $(BUILD)/lockstep $$command --help | awk -v command=$$command -v about="$$about" -v date="$(MAN_DATE)" -f docs/man.awk \
	        >$(BUILD)/man/lockstep-$$command.1 || exit 1; done
	@$(BUILD)/lockstep --help | awk -v about="simulates GPU clusters and distributed training" -v date="$(MAN_DATE)" -f docs/man.awk \
	    >$(BUILD)/man/lockstep.1

# The manual as a folder of HTML with a search, which opens from a disk.
html: man
	@command -v cmark-gfm >/dev/null && command -v mandoc >/dev/null || \
	    { echo "html: needs cmark-gfm and mandoc; on Debian: apt-get install cmark-gfm mandoc python3" >&2; exit 1; }
	@python3 docs/html/make.py $(BUILD)/man $(BUILD)/html "$$($(BUILD)/lockstep --version | cut -d ' ' -f 2)"

# In the browsers that are here.
html-test: html
	@for browser in "chromium $(CHROMIUM)" "firefox $(FIREFOX)"; do set -- $$browser; \
	    [ $$# = 2 ] || { echo "html-test: no $$1 is here: the manual was not opened in it"; continue; }; \
	    echo "in $$1"; node tests/web/manual.js $$browser $(BUILD)/html || exit 1; done

portable:
	@.ci/portable

release:
	@BUILD=$(BUILD) .ci/release

# What completes at TAB, where each shell looks for it.
COMPLETIONS = bash:bash-completion/completions/lockstep zsh:zsh/site-functions/_lockstep fish:fish/vendor_completions.d/lockstep.fish

install: $(BUILD)/lockstep $(BUILD)/liblockstep.so.0 man
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include share/man/man1 share/doc/lockstep) $(DESTDIR)$(LIBDIR)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/share/lockstep/,examples/algorithms examples/launch examples/packets $(MEASURED))
	install -m 755 $(BUILD)/lockstep $(wildcard $(BUILD)/cuda/lockstep-bench) $(DESTDIR)$(PREFIX)/bin
	install -m 644 $(BUILD)/liblockstep.so.0 $(DESTDIR)$(LIBDIR)
	ln -sf liblockstep.so.0 $(DESTDIR)$(LIBDIR)/liblockstep.so
	install -m 644 $(BUILD)/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 scenarios/library/lockstep.h $(DESTDIR)$(PREFIX)/include
	install -m 644 scenarios/examples/*.lua scenarios/lessons/*.lua $(DESTDIR)$(PREFIX)/share/lockstep/examples
	install -m 644 scenarios/examples/algorithms/*.lua $(DESTDIR)$(PREFIX)/share/lockstep/examples/algorithms
	install -m 644 scenarios/examples/packets/*.lua $(DESTDIR)$(PREFIX)/share/lockstep/examples/packets
	install -m 755 scenarios/examples/launch/* $(DESTDIR)$(PREFIX)/share/lockstep/examples/launch
	install -m 644 results/schema.json $(DESTDIR)$(PREFIX)/share/lockstep
	$(foreach folder,$(MEASURED),install -m 644 $(filter-out %/,$(wildcard calibrate/$(folder)/*.*)) $(DESTDIR)$(PREFIX)/share/lockstep/$(folder) &&) true
	install -m 644 README.md ARCHITECTURE.md CHANGELOG.md COPYING $(DESTDIR)$(PREFIX)/share/doc/lockstep
	@for shell in $(COMPLETIONS); do file=$(DESTDIR)$(PREFIX)/share/$${shell#*:}; \
	    install -d "$${file%/*}" && $(BUILD)/lockstep completion "$${shell%%:*}" >"$$file" || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/lockstep $(DESTDIR)$(PREFIX)/bin/lockstep-bench
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/lockstep.1 $(DESTDIR)$(PREFIX)/share/man/man1/lockstep-*.1
	rm -f $(DESTDIR)$(LIBDIR)/liblockstep.so $(DESTDIR)$(LIBDIR)/liblockstep.so.0 $(DESTDIR)$(PREFIX)/include/lockstep.h
	rm -f $(foreach shell,$(COMPLETIONS),$(DESTDIR)$(PREFIX)/share/$(lastword $(subst :, ,$(shell))))
	rm -rf $(DESTDIR)$(PREFIX)/share/lockstep $(DESTDIR)$(PREFIX)/share/doc/lockstep

clean:
	rm -rf build build-asan build-O0 build-clang build-fuzz build-coverage build-lint-gcc

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all help demo test check wheel man html html-test portable release wasm web web-test web-browsers web-bench web-picture asan lint digests map bench fuzz scoreboard collectives-accuracy netbox \
        cuda cuda-check mpi mpi-check sweep-torture store-torture golden schema boundaries failures laws \
        recovery plan-torture report-check manual install uninstall clean

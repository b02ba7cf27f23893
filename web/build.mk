# The program compiled to WebAssembly, and a page round it (docs/web.md): build/wasm, build/web. Needs Debian's emscripten, and the sources of Lua, cJSON, GSL and zlib, which web/sources takes from Debian.
EMCC ?= emcc
WEB = $(BUILD)/wasm
WEB_FROM = $(WEB)/sources
# acorn, which emcc asks node for: a node that is not Debian's does not look there.
EM_ENV = NODE_PATH=$${NODE_PATH:-/usr/share/nodejs}

# What reaches for processes, sockets, databases and terminals stays outside; web/absent.c stands in for it.
WEB_ABSENT = $(addprefix sim/,$(addsuffix .c,system/worker_pool system/wall_linux system/other_program system/letters_out data/json_stream data/nsys data/yaml)) \
             models/network/read_topology_xml.c results/store/% scenarios/sweep/% scenarios/questions/merge.c calibrate/%
WEB_OBJECTS = $(patsubst %.c,$(WEB)/%.o,web/absent.c $(filter-out $(WEB_ABSENT),$(SOURCES)))
GSL_PARTS = blas/blas block/init cdf/gauss cdf/gaussinv cdf/tdist err/error err/stream \
    $(addprefix linalg/,condest householder inline qr qrpt) $(addprefix matrix/,copy init matrix rowcol submatrix swap) \
    $(addprefix multifit_nlinear/,convergence covar fdf fdfvv fdjac lm qr scaling trust) \
    $(addprefix permutation/,init inline permutation permute) $(addprefix randist/,exponential gamma gausszig weibull) \
    rng/inline sort/sortvec $(addprefix specfunc/,beta elementary erfc exp expint gamma gamma_inc log psi trig zeta) \
    $(addprefix statistics/,covariance mean quantiles variance) $(addprefix sys/,fdiv infnan pow_int) \
    $(addprefix vector/,copy init minmax oper subvector swap vector view)
LIBRARY_SOURCES = $(filter-out %/lua.c %/luac.c,$(wildcard $(WEB_FROM)/lua/src/*.c)) $(WEB_FROM)/cjson/cJSON.c \
    $(addprefix $(WEB_FROM)/zlib/,$(addsuffix .c,adler32 crc32 deflate trees inflate inftrees inffast zutil)) \
    $(GSL_PARTS:%=$(WEB_FROM)/gsl/%.c) $(filter-out %/tests.c %/test_%,$(wildcard $(WEB_FROM)/gsl/cblas/*.c))
LIBRARY_OBJECTS = $(LIBRARY_SOURCES:.c=.o)

# Browsers know these since 2021: doubles become whole numbers without a check around each, memory is copied by one instruction.
WEB_OPT = -O3 -mnontrapping-fptoint -msign-ext -mbulk-memory

# A fresh instance answers each question, in memory that ask.js clears: nothing is kept between two.
EM_LINK = $(WEB_OPT) -sMODULARIZE=1 -sIMPORTED_MEMORY=1 -sEXIT_RUNTIME=1 -sINVOKE_RUN=0 -sALLOW_MEMORY_GROWTH=1 -sMAXIMUM_MEMORY=2GB -sTOTAL_STACK=8MB \
          -sWASM_BIGINT -sEXPORTED_RUNTIME_METHODS=FS,callMain -sENVIRONMENT=worker,node -sEXPORT_NAME=lockstepEngine

# emcc's own compiler without emcc, which takes as long again to start.
wasm: $(BUILD)/lockstep
	@command -v $(EMCC) >/dev/null || { echo "wasm: no emcc was found; on Debian: apt-get install emscripten dpkg-dev" >&2; exit 1; }
	@web/sources $(WEB_FROM)
	@$(MAKE) --no-print-directory $(WEB)/engine.js WEB_CC="$${WEB_CC:-clang} $$($(EMCC) --cflags 2>/dev/null)"

$(WEB)/engine.js: $(WEB)/main.o $(WEB_OBJECTS) $(WEB)/catalogue_tables.o $(WEB)/libraries.a
	@echo "  LINK  $@"
	@$(EM_ENV) $(EMCC) $(EM_LINK) -o $@ $^

$(WEB)/%.o: %.c $(WEB_FROM)/ready
	@mkdir -p $(@D)
	@echo "  WASM  $<"
	@$(WEB_CC) $(WEB_OPT) -std=c17 -D_GNU_SOURCE -ffp-contract=off -I. -I$(WEB_FROM)/include $(WARNINGS) -MMD -MP -c -o $@ $<
$(WEB)/sim/base/version.o: WARNINGS += $(ENGINE_NAME)

# The tables of the catalogue have pointers of another size here: they are written by the same program, in node.
$(WEB)/write_catalogue.js: $(filter $(WEB)/sim/% $(WEB)/models/hardware/%,$(filter-out %/catalogue_builtin.o,$(WEB_OBJECTS))) \
                           $(WEB)/models/hardware/write_catalogue.o $(WEB)/web/absent.o $(WEB)/libraries.a
	@$(EM_ENV) $(EMCC) -O1 -sSINGLE_FILE=1 -sEXIT_RUNTIME=1 -sENVIRONMENT=node -sALLOW_MEMORY_GROWTH=1 -o $@ $^
$(WEB)/catalogue_tables.c: $(WEB)/write_catalogue.js
	@node $< >$@.part && mv $@.part $@
$(WEB)/catalogue_tables.o: $(WEB)/catalogue_tables.c
	@echo "  WASM  $<"
	@$(WEB_CC) $(WEB_OPT) -std=c17 -w -I. -c -o $@ $<

$(LIBRARY_OBJECTS): %.o: %.c
	@$(WEB_CC) $(WEB_OPT) -w -ffp-contract=off -I$(WEB_FROM)/include -I$(WEB_FROM)/gsl -c -o $@ $<
$(WEB)/libraries.a: $(LIBRARY_OBJECTS)
	@echo "  AR    $@"
	@rm -f $@ && $(EM_ENV) emar rcs $@ $^

# The same answers, byte by byte, as the native program gives: every example and lesson, WEB_STUDIES drawn scenarios.
WEB_STUDIES ?= 100
$(BUILD)/write_studies: $(addprefix $(BUILD)/,tests/web/write_studies.o tests/draw_study.o) $(OBJECTS)
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The page: index.html and a script, which open from a disk.
WEB_PAGE = $(wildcard web/*.js web/page.* web/scenarios/*.lua web/vendor/*)
web: wasm
	@$(MAKE) --no-print-directory $(BUILD)/web/index.html

$(BUILD)/web/index.html: $(WEB)/engine.js $(WEB_PAGE)
	@echo "  PAGE  $@"
	@node web/pack.js $(BUILD)

CHROMIUM ?= $(firstword $(shell command -v chromium chromium-browser google-chrome 2>/dev/null))
FIREFOX ?= $(firstword $(shell command -v firefox-esr firefox 2>/dev/null))
web-test: web $(BUILD)/write_studies
	@rm -rf $(WEB)/studies && mkdir -p $(WEB)/studies
	@$(BUILD)/write_studies $(WEB)/studies 1 $(WEB_STUDIES)
	@node tests/web/check.js $(BUILD) $(filter-out %/pieces.lua,$(wildcard scenarios/examples/*.lua scenarios/lessons/*.lua)) \
	    $$(ls -v $(WEB)/studies/*.lua)
	@$(MAKE) --no-print-directory web-browsers

# The page as it is, opened in the browsers that are here.
web-browsers:
	@for browser in "chromium $(CHROMIUM)" "firefox $(FIREFOX)"; do set -- $$browser; \
	    [ $$# = 2 ] || { echo "web-test: no $$1 is here: the page was not opened in it"; continue; }; \
	    echo "in $$1"; node tests/web/browser.js $$browser $(BUILD)/web/index.html $(BUILD) scenarios/examples/scaling_efficiency.lua \
	        scenarios/examples/megatron_22b_175b.lua scenarios/lessons/ring_all_reduce.lua web/scenarios/*.lua || exit 1; done

# How long the page takes in Chromium, and the program in it: docs/web.md has figures.
web-bench: web
	@node tests/web/bench.js $(BUILD) $(CHROMIUM)

# README's picture of it: 1200 x 690, in 64 colours where pngquant is here.
web-picture: web
	@$(CHROMIUM) --headless --no-sandbox --hide-scrollbars --window-size=1200,690 --virtual-time-budget=15000 \
	    --screenshot=$(WEB)/page.png file://$(realpath $(BUILD))/web/index.html >$(WEB)/page.log 2>&1
	@pngquant 64 --force --output docs/page.png $(WEB)/page.png || cp $(WEB)/page.png docs/page.png

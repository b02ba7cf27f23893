# The emulated GPU (tests/cuda): lockstep-bench with all its kernels, on a CPU. Needs g++ 11 or newer and nothing of CUDA.
WATCH = -fsanitize=thread --param=tsan-distinguish-volatile=1 --param=tsan-instrument-func-entry-exit=0
GXX = $(shell g++ $(WATCH) -E -x c++ /dev/null >/dev/null 2>&1 && command -v g++)
EMULATED = $(BUILD)/tests/cuda
EMULATED_FLAGS = -std=c++17 -O2 -g1 -U_FORTIFY_SOURCE -Itests/cuda/include -I. -Wall -Wextra -Wno-unknown-pragmas
# Loads and stores of kernels call the functions of memory.cpp; slots, threads and copies are few and small.
KERNEL_FLAGS = $(EMULATED_FLAGS) $(WATCH) -fsanitize=undefined -fno-sanitize=vptr \
               -fno-sanitize-recover=undefined -Dmain=lockstep_bench_main \
               -DCOPY_BYTES=16384 -DRING_BYTES=8192 -DRANK_THREADS=32 -DSLOT_BYTES=4096
EMULATOR_HEADERS = $(wildcard tests/cuda/*.h tests/cuda/include/*.h tests/cuda/include/calibrate/gpu/bench/*.h \
                   calibrate/gpu/bench/bench.h calibrate/gpu/bench/cuda_layer.h)
EMULATOR_OBJECTS = $(patsubst %,$(EMULATED)/%.o,threads memory runtime streams cublaslt shrink check check_right check_wrong)
SUITE = $(basename $(notdir $(sort $(wildcard calibrate/gpu/bench/*.cu))))
MUTATED = $(addprefix cuda_,gemm launch nccl streams virtual) # files that mutants.sed has rules for
# The emulator's objects come first: its own copies of what templates make are not to be watched.
EMULATED_LINK = $(GXX) -o $@ $(filter %.o,$^) -fsanitize=undefined -rdynamic -ldl -lrt \
                -Wl,--disable-new-dtags,-rpath,'$$ORIGIN' -Wl,--wrap=bench_plan_open,--wrap=bench_rules

cuda-check:
ifeq ($(GXX),)
	@echo "cuda-check: skipped, no g++ 11 or newer was found; on Debian: apt-get install g++"
else
	@$(MAKE) --no-print-directory -j2 $(EMULATED)/check $(EMULATED)/mutants $(EMULATED)/libnccl.so.2 $(EMULATED)/libnvidia-ml.so.1
	@CUDA_CHECK_FOLDER=$(EMULATED) LOCKSTEP=$(BUILD)/lockstep $(EMULATED)/check
endif

$(EMULATED)/check: $(EMULATOR_OBJECTS) $(EMULATED)/wrong_kernels.o $(SUITE:%=$(EMULATED)/suite/%.o) $(BENCH_OBJECTS)
	@echo "  LINK  $@"
	@$(EMULATED_LINK)

$(EMULATED)/mutants: $(EMULATOR_OBJECTS) $(EMULATED)/wrong_kernels.o $(MUTATED:%=$(EMULATED)/mutated/%.o) \
                     $(patsubst %,$(EMULATED)/suite/%.o,$(filter-out $(MUTATED),$(SUITE))) $(BENCH_OBJECTS)
	@echo "  LINK  $@"
	@$(EMULATED_LINK)

$(EMULATED)/%.o: tests/cuda/%.cpp $(EMULATOR_HEADERS)
	@mkdir -p $(@D)
	@echo "  G++   $<"
	@$(GXX) $(EMULATED_FLAGS) -c -o $@ $<

$(EMULATED)/libnccl.so.2: tests/cuda/libnccl.cpp $(EMULATOR_HEADERS)
	@mkdir -p $(@D)
	@$(GXX) $(EMULATED_FLAGS) -fPIC -shared -o $@ $<

$(EMULATED)/libnvidia-ml.so.1: tests/cuda/libnvml.cpp
	@mkdir -p $(@D)
	@$(GXX) $(EMULATED_FLAGS) -fPIC -shared -o $@ $<

# The suite's own files, with launches that g++ understands and the line numbers they had.
$(EMULATED)/suite/%.cpp: calibrate/gpu/bench/%.cu tests/cuda/rewrite.sed
	@mkdir -p $(@D)
	@{ echo '#line 1 "$<"'; sed -f tests/cuda/rewrite.sed $<; } >$@

$(EMULATED)/mutated/%.cpp: calibrate/gpu/bench/%.cu tests/cuda/rewrite.sed tests/cuda/mutants.sed
	@mkdir -p $(@D)
	@{ echo '#line 1 "$<"'; sed -f tests/cuda/mutants.sed $< | sed -f tests/cuda/rewrite.sed; } >$@

$(EMULATED)/wrong_kernels.cpp: tests/cuda/wrong_kernels.cu tests/cuda/rewrite.sed
	@mkdir -p $(@D)
	@{ echo '#line 1 "$<"'; sed -f tests/cuda/rewrite.sed $<; } >$@

$(EMULATED)/suite/%.o: $(EMULATED)/suite/%.cpp $(EMULATOR_HEADERS)
	@echo "  G++   calibrate/gpu/bench/$*.cu"
	@$(GXX) $(KERNEL_FLAGS) -c -o $@ $<
$(EMULATED)/mutated/%.o: $(EMULATED)/mutated/%.cpp $(EMULATOR_HEADERS)
	@$(GXX) $(KERNEL_FLAGS) -c -o $@ $<
$(EMULATED)/wrong_kernels.o: $(EMULATED)/wrong_kernels.cpp $(EMULATOR_HEADERS)
	@$(GXX) $(KERNEL_FLAGS) -Itests/cuda -c -o $@ $<
.PRECIOUS: $(EMULATED)/suite/%.cpp $(EMULATED)/mutated/%.cpp

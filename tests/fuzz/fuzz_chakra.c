// Any bytes as a Chakra trace of one rank of two: refused with a sentence that names the file, or a rank whose streams
// hold every node once.
//     make fuzz FUZZERS=fuzz_chakra
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/base/check.h"
#include "tests/fuzz/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Gpu *gpu = catalogue_gpu(catalogue_builtin(arena), "A100-SXM4-80GB"), *gpus[2] = {gpu, gpu};
    const Cluster cluster = {.gpu_count = 2, .gpu_of = gpus};
    const int all[] = {0, 1};
    const RankGroup world = {all, all, 2};
    RecordedRank ranks[2] = {0};
    ProgramSpec program = {.cluster = &cluster,
                           .ranks = ranks,
                           .groups = &world,
                           .group_count = 1,
                           .precision = BF16,
                           .tensors_on_gpu = true};
    ChakraReader *reader = chakra_open(arena, &program, problems);
    bool read = chakra_read_rank(reader, "f", (const char *)data, bytes, 0);
    chakra_close(reader);
    CHECK(read == (problem_count(problems) == 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, "f") == 0);
    int ops = 0;
    for (int s = 0; read && s < ranks[0].count; s++)
        for (int i = 0; i < ranks[0].items[s].count; i++) {
            const RecordedOp *op = &ranks[0].items[s].items[i];
            bool is_mark = op->kind == RECORDED_MARK || op->kind == RECORDED_WAIT;
            ops += !is_mark;
            CHECK(op->label > 0 && op->label < program.label_count);
            CHECK(is_mark ? op->peer >= 0 && op->peer < ranks[0].mark_count : op->bytes >= 0 && op->time >= 0);
        }
    CHECK(ops == ranks[0].op_count);
    arena_close(arena);
    return 0;
}

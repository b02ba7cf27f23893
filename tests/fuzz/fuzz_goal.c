// Any bytes as GOAL or as layers, for a cluster of two GPUs: refused with a sentence that names the file, or ranks
// whose streams hold every operation once, and wait for marks that are set.
//     make fuzz FUZZERS=fuzz_goal
#include <stdint.h>
#include <string.h>

#include "scenarios/program/program.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_rank(const RecordedRank *rank, const ProgramSpec *program) {
    int ops = 0, marks = 0;
    for (int s = 0; s < rank->count; s++)
        for (int i = 0; i < rank->items[s].count; i++) {
            const RecordedOp *op = &rank->items[s].items[i];
            bool is_mark = op->kind == RECORDED_MARK || op->kind == RECORDED_WAIT;
            ops += !is_mark;
            marks += op->kind == RECORDED_MARK;
            CHECK(op->label > 0 && op->label < program->label_count);
            CHECK(!is_mark || (op->peer >= 0 && op->peer < rank->mark_count));
            CHECK(op->kind != RECORDED_SEND || op->peer < 2);
        }
    CHECK(ops == rank->op_count && marks == rank->mark_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    char *text = arena_alloc(arena, bytes + 1);
    memcpy(text, data, bytes);
    const Cluster cluster = {.gpu_count = 2};
    RecordedRank ranks[2] = {0};
    static const int all[] = {0, 1};
    static const RankGroup groups[] = {{all, all, 2}};
    ProgramSpec program = {
        .cluster = &cluster, .ranks = ranks, .groups = groups, .group_count = 1, .tensors_on_gpu = true};
    bool read = (is_layer_text(text) ? program_read_layers : program_read_goal)(arena, "f", text, &program, problems);
    CHECK(read == (problem_count(problems) == 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, "f") == 0);
    for (int r = 0; read && r < 2; r++) check_rank(&ranks[r], &program);
    arena_close(arena);
    return 0;
}

// The first byte says as what, the second which row; the rest are any bytes as a side of lockstep diff: an answer in
// JSON, rows of CSV, a trace. Refused with a problem that names the file, or a side whose parts sum to its step;
// against itself it differs in nothing, and against a known side its parts sum to the difference.
//     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_diff.c, then run it on tests/fuzz/corpus_diff
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/workload/cost/cost.h"
#include "scenarios/explain/diff.h"
#include "sim/base/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { AS_JSON, AS_CSV, AS_TRACE, KINDS };

static bool read_side(Arena *arena, int kind, int row, const char *path, DiffSide *side, Problems *problems) {
    if (kind == AS_JSON) return diff_side_of_json(arena, path, row, side, problems);
    if (kind == AS_TRACE) return diff_side_of_trace(arena, path, side, problems);
    return diff_side_of_csv(arena, path, arena_printf(arena, "%d", row), side, problems);
}

// A simulated job: a second of products and of tensor-parallel traffic.
static DiffSide known_side(Arena *arena) {
    DiffSide side = diff_side_named("known");
    side.step_s = 2;
    side.samples = 8;
    side.causes = ARENA_ARRAY(arena, DiffCause, 2);
    side.causes[side.cause_count++] = (DiffCause){"gemm", "Matrix multiplication", 1, 1u << CAUSE_GEMM};
    side.causes[side.cause_count++] = (DiffCause){"tp", "Tensor parallel", 1, 1u << CAUSE_TP};
    diff_close_side(arena, &side);
    return side;
}

static void check_sums(Arena *arena, const DiffSide *a, const DiffSide *b) {
    Problems *problems = problems_create(arena);
    Diff diff = diff_sides(arena, a, b, problems);
    double sum_a = 0, sum_b = 0, size = 0;
    for (int i = 0; i < diff.time_count; i++) {
        sum_a += diff.time[i].a;
        sum_b += diff.time[i].b;
        size += fabs(diff.time[i].a) + fabs(diff.time[i].b);
    }
    CHECK(problem_count(problems) == 0);
    // Stretches of either sign cancel: to as many digits as the largest of them has.
    CHECK(!isfinite(size) || fabs(sum_a - a->step_s) <= 1e-8 * (size + a->step_s));
    CHECK(!isfinite(size) || fabs(sum_b - b->step_s) <= 1e-8 * (size + b->step_s));
    diff_record(arena, &diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes < 2) return 0;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    DiffSide side, known = known_side(arena);
    int descriptor = memfd_create("fuzz", 0);
    CHECK(descriptor >= 0 && write(descriptor, data + 2, bytes - 2) == (ssize_t)(bytes - 2));
    const char *path = arena_printf(arena, "/proc/self/fd/%d", descriptor);
    bool ok = read_side(arena, data[0] % KINDS, data[1] % 8, path, &side, problems);
    CHECK(ok == (problem_count(problems) == 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, path) == 0);
    if (ok) {
        CHECK(side.step_s > 0);
        check_sums(arena, &side, &known);
        check_sums(arena, &known, &side);
        check_sums(arena, &side, &side);
    }
    close(descriptor);
    arena_close(arena);
    return 0;
}

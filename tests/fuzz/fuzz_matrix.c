// The first byte says how many ranks; the rest is the file of --matrix: refused with a problem that names it, or what
// every rank sends to every other.
//     make fuzz FUZZERS=fuzz_matrix
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "models/workload/cluster/cluster.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    if (bytes == 0) return 0;
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    int ranks = 1 + data[0] % 16;
    const char *path = fuzz_file("matrix.txt", data + 1, bytes - 1);
    const double *pairs = pair_matrix_read(arena, path, ranks, problems);
    CHECK(!pairs == (problem_count(problems) > 0));
    for (int i = 0; i < problem_count(problems); i++) CHECK(strcmp(problem_at(problems, i)->where.file, path) == 0);
    for (int i = 0; pairs && i < ranks * ranks; i++) CHECK(pairs[i] >= 0 && pairs[i] <= 1e15);
    if (pairs) CHECK(isfinite(pair_matrix_mean(pairs, ranks)) && pair_matrix_mean(pairs, ranks) > 0);
    arena_close(arena);
    return 0;
}

// Any bytes as the file of --anchor, a table of measured runs: refused with problems that have a place, or anchors that
// correct a step by a factor.
//     make fuzz FUZZERS=fuzz_anchor
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "calibrate/training/training.h"
#include "sim/base/check.h"
#include "tests/fuzz/folder.h"
#include "tests/fuzz/kept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define MOST_GPUS_HERE 128 // of a run that is predicted here
#define MOST_ROWS 4

// Small enough to be simulated at once.
static bool is_small(const MeasuredRuns *runs) {
    for (int i = 0; i < runs->count; i++) {
        const MeasuredRun *run = &runs->items[i];
        if (run->skipped) continue;
        if (run->cluster->groups[0].gpus > MOST_GPUS_HERE || run->training.global_batch > 4096) return false;
        if (run->training.model->block_count > 64 || run->training.seq_len > 1e5) return false;
    }
    return runs->count <= MOST_ROWS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    MeasuredRuns runs = {0};
    const char *path = fuzz_file("runs.csv", data, bytes);
    bool read = measured_runs_read(arena, kept_catalogue(), path, &runs, problems);
    CHECK(read || problem_count(problems) > 0);
    for (int i = 0; i < problem_count(problems); i++) CHECK(problem_at(problems, i)->where.file);
    for (int i = 0; i < runs.count; i++) CHECK(runs.items[i].skipped || runs.items[i].cluster);
    if (read && is_small(&runs)) {
        Anchors *anchors = anchors_read(arena, kept_catalogue(), &path, 1, problems_create(arena));
        for (int i = 0; i < anchors->count; i++) {
            AnchorCorrection correction = anchors_correct(anchors, &anchors->items[i]);
            CHECK(isfinite(correction.factor) && correction.factor > 0);
        }
    }
    arena_close(arena);
    return 0;
}

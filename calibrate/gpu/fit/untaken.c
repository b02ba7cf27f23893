// Measurements without a constant, sorted by the model that a step uses instead.
#include "calibrate/gpu/fit/untaken.h"

#include <string.h>

#include "sim/base/check.h"

// The first row that fits is it; a NULL fits all.
static const struct {
    BenchSection section;
    const char *operation, *variant; // of the variant: a part of it
    const char *what, *why;
    bool is_link;
} rows[] = {
    {BENCH_GEMM, NULL, NULL, "GEMMs of odd rows", "matrix units want rows of 16 bytes; frameworks pad what is odd",
     false},
    {BENCH_SUSTAINED, NULL, NULL, "GEMM and copy", "what a soak leaves is held against them", false},
    {BENCH_TRANSFER, "peer_copy", "both ways", "peer copies both ways", "GPUs of a step exchange by NCCL's kernels",
     true},
    {BENCH_TRANSFER, "peer_copy", NULL, "peer copies", "GPUs of a step exchange by NCCL's kernels", true},
    {BENCH_TRANSFER, "transfer", "pageable", "pageable copies", "loaders and offload of a step pin their memory",
     false},
    {BENCH_MEMORY, "strided", NULL, "strided streams", "kernels of a step use the sectors that they read", false},
    {BENCH_LAUNCH, "launch", "and wait", "launch and wait", "a step waits for its stream, not for each kernel", false},
    {BENCH_LAUNCH, NULL, "issue", "issue of other commands", "issue times grow with that of an empty kernel", false},
    {BENCH_INTERFERENCE, NULL, "alone", "GEMMs alone", "what ran beside them is held against them", false},
    {BENCH_INTERFERENCE, NULL, NULL, "GEMMs beside others", "interference is that of a ring of 16 blocks", false},
    {BENCH_VIRTUAL, NULL, NULL, "virtual, many blocks", "they tell of the memory behind all channels", false},
    {BENCH_NCCL, NULL, NULL, "NCCL of unknown nodes", "lockstep validate collectives --fit-on takes their logs", false},
};
#define ROW_COUNT ((int)(sizeof rows / sizeof *rows))

static bool fits(int row, const BenchCase *of) {
    return rows[row].section == of->section &&
           (!rows[row].operation || strcmp(rows[row].operation, of->operation) == 0) &&
           (!rows[row].variant || strstr(of->variant, rows[row].variant));
}

static Untaken *place_of(UntakenList *list, const char *what, const char *why, bool is_link) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].what, what) == 0) return &list->items[i];
    CHECK(list->count < MOST_UNTAKEN);
    list->items[list->count] = (Untaken){.what = what, .why = why, .is_link = is_link};
    return &list->items[list->count++];
}

void untaken_note(UntakenList *list, const BenchCase *of, double seconds) {
    int row = 0;
    while (row < ROW_COUNT && !fits(row, of)) row++;
    Untaken *untaken = row < ROW_COUNT ? place_of(list, rows[row].what, rows[row].why, rows[row].is_link)
                                       : place_of(list, "others", "no cost function says anything of them", false);
    double bytes = of->moved_bytes > 0 ? of->moved_bytes : (double)of->bytes;
    if (untaken->count++ == 0 || seconds < untaken->least_seconds) untaken->least_seconds = seconds;
    if (bytes / seconds > untaken->most_rate) untaken->most_rate = bytes / seconds;
}

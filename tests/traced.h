// A step traced for a test, as spans and curves.
#pragma once

#include "sim/spans.h"
#include "tests/script.h"

#define TRACED_PIPELINE                                                                                                \
    "sim.study { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 32, fabric = 'ib-hdr200' }, "                       \
    "run = sim.training { model = 'gpt2-124m', parallel = { tp = 2, pp = 4 }, batch = { micro = 1, global = 64 } } }"
#define TRACED_ALL_REDUCE                                                                                              \
    "sim.program { on = sim.cluster { node = 'dgx-a100-80gb', gpus = 4 }, "                                            \
    "rank = function(r) r:compute { seconds = 1e-3 } r:all_reduce { bytes = 64e6 } end }"

typedef struct Traced {
    Loaded loaded;
    Arena *arena;
    const SpanSet *set;
} Traced;

// `expression`: what a scenario returns; `ranks` as --ranks has it; curves of so many ranks.
Traced traced_open(const char *expression, const char *ranks, bool unfolded, int curve_ranks);
void traced_close(Traced *traced);

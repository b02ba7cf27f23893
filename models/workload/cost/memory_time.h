// Memory of a rank over the passes of a step, and its peak.
#pragma once

#include "models/workload/cost/cost.h"
#include "models/workload/job/schedule.h"

// The highest point of one pass, or of the optimizer's step, which ends the curve.
typedef struct MemoryMoment {
    PipelinePass pass;
    bool optimizer;
    int block; // of the model, where the pass is highest
    double bytes[MEMORY_CLASS_COUNT], total;
} MemoryMoment;

typedef struct MemoryCurve {
    MemoryMoment *items;
    int count, peak; // the moment when most is in use, the first of equals
} MemoryCurve;

// Of the given stage. Micro-batches after which the order repeats are left out: *left_out (or NULL) of them.
MemoryCurve memory_over_time(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu, int stage,
                             int *left_out);

// "backward of micro-batch 1 at the head", "forward of micro-batch 3 at layer 12 (chunk 2)".
const char *memory_moment_text(Arena *arena, const Model *model, const MemoryMoment *moment);

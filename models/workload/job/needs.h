// What a setting needs of the job to have an effect: a pipeline's schedule needs stages. The table of fields has it of
// each (Field.needs): advice tries only what has an effect, and what is said in vain is pointed out.
#pragma once

#include "models/workload/job/layout.h"
#include "sim/data/record.h"

// As bits: 1u << NEED_PIPELINE.
typedef enum JobNeed {
    NEED_GPUS, // more than one
    NEED_TRANSFORMER,
    NEED_ENCODER,
    NEED_EXPERTS,
    NEED_CONVOLUTIONS,
    NEED_TENSOR_PARALLEL,
    NEED_PIPELINE,
    NEED_CONTEXT_PARALLEL,
    NEED_EXPERT_PARALLEL,
    NEED_REPLICAS,
    NEED_ACCUMULATION,
    NEED_OVERLAP, // of gradients with backward
    NEED_DIRECT_COPIES,
    NEED_OWN_REDUCTION,
    NEED_ZERO,
    NEED_ZERO_1,
    NEED_ZERO_3,
    NEED_EAGER,
    NEED_ADAM,
    NEED_FP8,
    NEED_RECOMPUTATION,
    NEED_ONE_PROCESS,
    NEED_HOROVOD,
    NEED_JITTER,
    NEED_DRAWN_ROUTING,
    NEED_DATA,
    NEED_DECODING,
    NEED_COUNT
} JobNeed;

// What overrules even the usual: who asks for it is told so.
#define NEEDS_OF_USUAL (1u << NEED_DIRECT_COPIES | 1u << NEED_OWN_REDUCTION)

// Strategies of TensorFlow whose gradients are reduced once backward is over.
static inline bool strategy_reduces_late(Strategy strategy) {
    return strategy == STRATEGY_MIRRORED || strategy == STRATEGY_MULTI_WORKER;
}
// Gradients travel while backward runs, where that is possible.
bool job_hides_gradients(const TrainingSpec *training, const Resolved *resolved);

unsigned job_has(const TrainingSpec *training, const Resolved *resolved); // bits
// Of the settings that were made and need something.
const Effect *job_effects(Arena *arena, const TrainingSpec *training, const Resolved *resolved, int *count);

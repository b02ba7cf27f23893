// Shared by the files that compute a job's memory.
#pragma once

#include "models/workload/cost/cost_internal.h"
#include "models/workload/job/schedule.h"

// Memory of one block on one GPU; equal blocks have the same.
typedef struct BlockMemory {
    int block; // 0: none, or the embedding, which is like no other
    GpuParameters parameters;
    double activations, late, working; // bytes
} BlockMemory;
// What has been looked at last, of a job on a GPU.
typedef struct MemorySeen {
    BlockMemory block;
    int count; // of consecutive blocks like it, none at an end of the model; 0: none yet
    int dp;
    Memory blocks; // of these
} MemorySeen;
// memory_estimate of one micro-batch; `seen` is of this or of an earlier call for the same job.
Memory memory_of_blocks(const TrainingSpec *training, int first_block, int last_block, double micro_batch, int dp,
                        const Gpu *gpu, MemorySeen *seen);

typedef struct Stages { // of a job
    const TrainingSpec *training;
    Pipeline pipeline;
    const int *first; // block of each chunk; NULL: there is no such pipeline
    int dp;
    double micro_batch;
    const Gpu *gpu;
    MemorySeen *seen;
} Stages;

bool optimizer_is_sharded(const TrainingSpec *training, int dp); // ranks hold a part of its state each

// Memory of the optimizer's step in addition to `memory`: roots of all second moments at once, where it works on
// lists of tensors (PyTorch, torch/optim/adam.py: _multi_tensor_adam).
double list_step_bytes(const TrainingSpec *training, const Memory *memory);

Stages stages_of(Arena *arena, const TrainingSpec *training, int gpus, const Gpu *gpu);
Memory stage_memory(Arena *arena, const Stages *stages, int stage);
Memory stage_memory_whole(Arena *arena, const Stages *stages, int stage); // all that is ever held, as if at once
bool gradients_come_and_go(const Stages *stages); // within the step, so that they never meet all activations
void stage_memory_at_its_peak(Arena *arena, const Stages *stages, int stage, Memory *memory); // given the whole

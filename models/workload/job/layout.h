// A resolved layout: which ranks form which groups, how many micro-batches, which blocks on which stage; and whether
// a job is possible at all.
#pragma once

#include "models/workload/job/schedule.h"
#include "models/workload/job/training.h"

// The layout and batch with every default resolved.
typedef struct Resolved {
    Strategy strategy;
    Schedule schedule;
    int tp, cp, pp, vpp, dp;
    int data_ranks;     // dp x cp: those of one stage that reduce gradients with each other
    int ep, etp;        // ranks over which experts are spread, and that share each of them
    int expert_ranks;   // tp x reduce_ranks / (ep x etp): those that hold the same experts
    int shard;          // ranks that share one copy of ZeRO-sharded state; 1 without it
    double micro_batch; // samples of one forward on one replica
    int micro_batches;  // per replica and step
    double global_batch;
    Pipeline pipeline;
    int reduce_ranks;       // that hold the same chunks: data_ranks, and with DualPipe those of another stage too
    const int *first_block; // [chunks + 1]: chunk c in the model's order holds first_block[c] … first_block[c+1]-1
} Resolved;

// Adds problems (with remedies) when the layout does not divide the GPUs, the batch or the model; then false.
bool resolve_layout(Arena *arena, const TrainingSpec *training, int gpu_count, Resolved *resolved, Problems *problems);

// Rank of tensor-parallel index t, data rank d, stage p: tp fastest, then cp and dp (d = context index + cp x replica),
// then pp, as Megatron orders them.
static inline int layout_rank(const Resolved *r, int t, int d, int p) { return t + r->tp * (d + r->data_ranks * p); }

// Whether frameworks shard so: with a pipeline or expert parallelism they stop at ZeRO 1 (Megatron-Core's distributed
// optimizer; DeepSpeed's pipeline engine refuses 2 and 3). A stated stage is simulated anyway.
static inline bool layout_zero_is_usual(int zero, int pp, int ep) { return zero <= 1 || (pp <= 1 && ep <= 1); }

// The check of a job common to all callers: job_check, precisions that the GPUs lack, and all of resolve_layout.
bool job_possible(Arena *arena, const TrainingSpec *training, int gpu_count, GpuTypes gpus, Resolved *resolved,
                  Problems *problems);

// Batch sizes given or derived: samples per forward of one replica, and forwards per step.
int replicas_of_job(const TrainingSpec *training, int gpus); // dp
double micro_batch_of_job(const TrainingSpec *training, int dp);
double micro_batches_of_job(const TrainingSpec *training, int dp);

// Blocks to pipeline stages: chunk c of pp x vpp gets blocks first[c] … first[c+1]-1; layers are spread evenly,
// embedding on the first and head on the last. first has chunks + 1 places. Problems when there are fewer layers than
// chunks.
bool blocks_to_stages(const Model *model, int chunks, int *first, Where where, Problems *problems);
// The same by the job's layout: layers of each chunk, or embedding and head counted as layers.
bool blocks_to_chunks(const TrainingSpec *training, int chunks, int *first, Problems *problems);

// The next wider one that the GPU has: of FP4 on a Hopper FP8. FP32 where nothing else is left.
Precision nearest_precision(const Gpu *gpu, Precision wanted);

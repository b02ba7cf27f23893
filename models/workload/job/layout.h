// A resolved layout: which ranks form which groups, how many micro-batches, which blocks on which stage; and whether
// a job is possible at all.
#pragma once

#include "models/workload/job/training.h"
#include "sim/base/list.h"

// ---- Pipeline schedules: which GPU holds which chunk of the model, and its order of passes of micro-batches through
// its chunks. No costs: times and bytes follow from the order.

typedef enum PassKind {
    PASS_FORWARD,
    PASS_BACKWARD,        // gradients of inputs and of weights
    PASS_BACKWARD_INPUT,  // of inputs: the previous stage waits for it
    PASS_BACKWARD_WEIGHT, // of weights: no pass depends on it
    PASS_KINDS
} PassKind;

// One micro-batch through one chunk.
typedef struct PipelinePass {
    uint8_t kind;       // PassKind
    bool overlaps_next; // its exchanges run while the pass that follows computes, and the other way round (DualPipe)
    int16_t part;       // which of the GPU's chunks
    int32_t micro_batch;
} PipelinePass;

typedef LIST_OF(PipelinePass) PassList;

typedef struct Pipeline {
    Schedule schedule;
    int pp, vpp;       // stages; chunks of the model per stage
    int micro_batches; // of a replica
    int parts;         // chunks that a GPU holds
    int chunks;        // of the model: parts x pp, or pp where each is held twice
    int left_out;      // further micro-batches in the middle, where orders repeat (pipeline_shortened); 0 usual
} Pipeline;

// The job's schedule with derived values: one stage has no schedule, more than one chunk per stage is interleaved,
// and a schedule that fixes the chunks per stage has its own number.
Pipeline pipeline_of(Schedule schedule, int pp, int vpp, int micro_batches);
// Adds problems, with remedies, if the schedule cannot order that many micro-batches on that many stages, or is
// incompatible with the layout's vpp and zero; then false.
bool pipeline_possible(const Pipeline *pipeline, const TrainingSpec *training, Problems *problems);

// The chunk that is part `part` of a stage's GPUs, and the stage that the part's output goes to (-1: it is the last;
// the stage itself: it stays).
int pipeline_chunk(const Pipeline *pipeline, int stage, int part);
int pipeline_next_stage(const Pipeline *pipeline, int stage, int part);
int pipeline_previous_stage(const Pipeline *pipeline, int stage, int part); // -1: it is the first
// The stage whose GPUs hold the same chunks: another where each chunk is held twice (DualPipe), else itself.
int pipeline_twin_stage(const Pipeline *pipeline, int stage);
int pipeline_copies(const Pipeline *pipeline); // of each chunk in a replica
// Micro-batches that a part sees: first <= micro_batch < end.
int pipeline_first_micro_batch(const Pipeline *pipeline, int part);
int pipeline_end_micro_batch(const Pipeline *pipeline, int part);
bool ends_lie_apart(const Pipeline *pipeline);             // first and last chunk on different GPUs
bool pipeline_returns(const Pipeline *pipeline, int part); // its micro-batches go from later stages to earlier ones

// The same with fewer micro-batches, enough to fill it, to come to do the same again and again, and to empty it; as it
// is where there are few anyway, or where its order does not repeat in the middle alone.
Pipeline pipeline_shortened(const Pipeline *pipeline);
int pipeline_round(const Pipeline *pipeline); // micro-batches after which orders repeat in the middle

PassList pipeline_order(Arena *arena, const Pipeline *pipeline, int stage);

// The most that a stage's micro-batches keep at once: kept[part] from forward until backward, late[part] from the
// backward of inputs until that of weights.
double pipeline_peak(Arena *arena, const Pipeline *pipeline, int stage, const double *kept, const double *late);

bool schedule_splits_backward(Schedule schedule); // inputs and weights apart

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
    bool staged;            // GPUs of a node copy through host memory (of a cluster: false until one is known)
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

// Layers that are spread over stages, with the embedding and the head where they count as one each.
int layers_counted(const TrainingSpec *training);
// Blocks to pipeline stages: chunk c of pp x vpp gets blocks first[c] … first[c+1]-1; layers are spread evenly,
// embedding on the first and head on the last. first has chunks + 1 places. Problems when there are fewer layers than
// chunks.
bool blocks_to_stages(const Model *model, int chunks, int *first, Where where, Problems *problems);
// The same by the job's layout: layers of each chunk, or embedding and head counted as layers.
bool blocks_to_chunks(const TrainingSpec *training, int chunks, int *first, Problems *problems);

// The next wider one that the GPU has: of FP4 on a Hopper FP8. FP32 where nothing else is left.
Precision nearest_precision(const Gpu *gpu, Precision wanted);

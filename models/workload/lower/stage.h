// Private to lowering: the program of one pipeline stage on one type of GPU, and the channels it requires.
#pragma once

#include <math.h>

#include "models/workload/job/training.h"
#include "models/workload/lower/lower.h"
#include "sim/base/list.h"

// ---- Gradient reduction of data-parallel ranks: the collectives of a bucket, and when it is full. Used by a stage's
// program and by the bound on its time.

typedef struct DataRanks {
    int reduce;  // that hold the same weights
    int shard;   // that share one copy of ZeRO-sharded state; 1 without it
    int experts; // that hold the same experts
} DataRanks;

typedef enum DataGroup { DATA_SHARD, DATA_REPLICAS, DATA_EXPERTS } DataGroup; // replicas: of shards

typedef struct Reduction {
    DataGroup group;
    CollectiveOp op;
    double bytes;
} Reduction;
#define REDUCTIONS_MOST 3

// Collectives that sum the gradients of `parameters` over all data ranks, in order; ZeRO-sharded ones stay with their
// owner. Hybrid sharding: scattered within each shard group, then summed over the groups. Returns their number.
int reductions_of(const TrainingSpec *training, DataRanks ranks, double parameters, double experts,
                  Reduction reductions[REDUCTIONS_MOST]);
// Whether a bucket with the gradients of that many parameters is sent.
bool bucket_is_full(const TrainingSpec *training, double parameters, double experts);

// On the wire, whole parameters and whole bytes.
static inline double exchanged_bytes(double parameters, double bytes_each) {
    return ceil(ceil(parameters) * bytes_each);
}

// The channels an actor may have. A slot that a job does not need has channel -1 and no operations.
enum {
    SLOT_TP,
    SLOT_CP,
    SLOT_SHARD,     // ranks that share one copy of ZeRO-sharded state
    SLOT_DP,        // ranks that hold the same weights
    SLOT_EP,        // ranks over which experts are spread
    SLOT_EXPERT_DP, // ranks that hold the same experts
    SLOT_REPLICAS,  // data ranks of a stage, for what their models exchange between kernels
    SLOT_FORWARD_OUT,
    SLOT_FORWARD_IN,
    SLOT_BACKWARD_OUT,
    SLOT_BACKWARD_IN,
    SLOT_RETURN_OUT, // the same for parts whose micro-batches go from later stages to earlier ones
    SLOT_RETURN_IN,
    SLOT_RETURN_BACKWARD_OUT,
    SLOT_RETURN_BACKWARD_IN,
    SLOT_EMBEDDING,
    SLOT_TO_HOST, // offloading
    SLOT_FROM_HOST,
    SLOT_DISK_READ,
    SLOT_DISK_WRITE,
    SLOT_STORAGE,
    SLOT_HOST,
    SLOT_COUNT
};

// A collective that a channel must be able to do: becomes a Plan of the same number.
typedef struct Shape {
    CollectiveOp op;
    double bytes;
} Shape;

typedef struct ShapeList {
    Shape *items;
    int count, room;
} ShapeList;

// The number of this shape in the list, added when new.
int shape_number(Arena *arena, ShapeList *list, CollectiveOp op, double bytes);

// Shapes by slot. TP, DP and EMBEDDING differ by stage; transfers between stages differ by sender.
typedef struct StageShapes {
    ShapeList slot[SLOT_COUNT];
} StageShapes;

// What blocks cost that some stage has had before.
typedef struct KnownCost {
    const Gpu *gpu;
    int block, layer; // of the model, and of its chunk
    BlockCost cost;
} KnownCost;

typedef struct KnownCosts {
    const KnownCost **items;
    int count, room;
} KnownCosts;

typedef struct StageRequest {
    const TrainingSpec *training;
    const Resolved *resolved;
    const Gpu *gpu;
    const Gpu *slower; // gradients are fused when this one has them too; NULL: none is slower
    int stage;
    KnownCosts *costs;            // of all stages so far
    StageShapes *shapes;          // of all stages, [pp]: out-slots are numbered by the sender's list
    const double *output_bytes;   // [chunks] passed on after each chunk, per rank
    double traffic_seconds;       // a rank's data-parallel traffic takes per byte, when alone
    double tp_traffic_seconds;    // a rank's tensor-parallel traffic
    int label_per_kind;           // pass k of a kind has label 1 + kind x label_per_kind + k; see pass_number
    double storage_bytes;         // read per step by this rank; 0 none
    double host_to_gpu_bytes;     // copied per step; 0 none
    double host_bytes_per_second; // of host memory, a rank's part of it
    double pace;                  // multiplies the time of kernels: 1, or what waiting for slower replicas adds
    double decode_seconds;        // of host work per step to prepare the next batch; 0 none
} StageRequest;

// Passes of a kind are numbered by part and micro-batch.
static inline int pass_number(const Pipeline *pipeline, const PipelinePass *pass) {
    return pass->part * pipeline->micro_batches + pass->micro_batch;
}

Program stage_program(Arena *arena, const StageRequest *request);

// torch.nn.DataParallel: the program of GPU 0 and that of the others.
Program data_parallel_program(Arena *arena, const StageRequest *request, bool first);

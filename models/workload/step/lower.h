// Lowering: a training job on a cluster becomes a System of actors (one per GPU), programs and channels.
#ifndef LOCKSTEP_WORKLOAD_LOWER_H
#define LOCKSTEP_WORKLOAD_LOWER_H

#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/training.h"
#include "models/workload/step/schedule.h"
#include "sim/fold.h"
#include "sim/program.h"

// The layout and batch with every "fill" worked out.
typedef struct Resolved {
    Strategy strategy;
    Schedule schedule;
    int tp, cp, pp, vpp, dp;
    int data_ranks;     // dp x cp: those of one stage that reduce gradients with each other
    int ep;             // data ranks over which experts are spread
    int expert_ranks;   // reduce_ranks / ep: those that hold the same experts
    int shard;          // of which so many share one copy of what ZeRO shards; 1 without it
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

typedef struct Lowered {
    const System *system; // actor = rank
    Resolved resolved;
    const TrainingSpec *training; // with the layout and batch as worked out
    double traffic_seconds;       // that a rank's data-parallel traffic takes per byte, when alone
    int first_forward_label, first_backward_label, label_per_kind; // label ids: forward k, backward k
    Memory memory;                                                 // of the fullest rank
    int fullest_stage;
} Lowered;

// NULL after problems. The system holds one optimizer step; data for the next step loads meanwhile.
const Lowered *lower_training(Arena *arena, const Cluster *cluster, const TrainingSpec *training, Problems *problems);

// What steps on one cluster have in common: which ranks do the same, by layout.
typedef struct StepBook StepBook;
StepBook *step_book_create(Arena *arena, const Cluster *cluster);

// The same folded, without making the whole of it where the book (or NULL) knows the layout, or finds out: then
// Lowered.system is NULL.
const Lowered *lower_folded(Arena *arena, const Cluster *cluster, const TrainingSpec *training, StepBook *book,
                            Folded *folded, Problems *problems);

#endif

// A lower bound on a layout's step time in closed form, from the same cost functions as the simulation: compute and
// blocking traffic on an uncontended network; filling and draining of the pipeline; exposed traffic of gradients and
// sharded weights. Contention, skew and interference are left out.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "models/workload/job/training.h"

typedef struct PlanBound {
    double step_s;             // infinite: the model has too few layers for the chunks
    double busy_s;             // computing part, mean over ranks: the simulation's, up to rounding
    double spent[CAUSE_COUNT]; // the same by cause, and the rest of step_s as the cause of least power
} PlanBound;

// Cache of blocks' costs and collectives' times.
typedef struct PlanCosts PlanCosts;
PlanCosts *plan_costs_create(Arena *arena, const Cluster *cluster, const Model *model);
// The layout is resolved: tp, pp, vpp, dp, micro_batch and global_batch are above 0.
PlanBound plan_bound(PlanCosts *costs, const TrainingSpec *training);

// ---- Inside: costs of blocks and times of collectives on one cluster, each computed once.

// Sums over the blocks before each: [block_count + 1], so that a chunk's is a difference.
typedef struct BlockSums {
    double *forward, *backward; // of the main stream, with the collectives it waits for
    double *busy[CAUSE_COUNT];  // computing, both ways
    double *parameters, *experts;
    double *output_bytes; // [block_count] as they are, no sums
} BlockSums;

// Ranks first, first + stride, …
typedef struct RankRow {
    int first, count, stride;
} RankRow;

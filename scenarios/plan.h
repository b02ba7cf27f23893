// Planning: which layout is fastest on each cluster that comes into question, and which cluster is then best.
#ifndef LOCKSTEP_SCENARIOS_PLAN_H
#define LOCKSTEP_SCENARIOS_PLAN_H

#include "scenarios/study.h"

typedef enum PlanObjective { PLAN_COST, PLAN_TIME, PLAN_ENERGY, PLAN_OBJECTIVE_COUNT } PlanObjective;
extern const char *const plan_objective_names[PLAN_OBJECTIVE_COUNT];

typedef struct PlanRequest {
    const Catalogue *catalogue;
    TrainingSpec training; // layout fields above 0, micro_batch above 0 and zero: fixed, not searched
    bool recompute_fixed;  // training.recompute is the user's word
    bool zero_fixed, sequence_parallel_fixed;
    const NodeType *const *nodes; // every combination of these three is a cluster
    int node_count;
    const FabricLink *const *links;
    int link_count;
    const int *gpus;
    int gpus_count;
    double price_per_gpu_hour; // below 0: the catalogue's
    const char *currency;
    double deadline_s, budget; // 0: none
    PlanObjective objective;
    const struct FaultsSpec *faults; // or NULL: nothing fails
    bool exhaustive;                 // simulate every candidate that fits, not only those whose bound could still win
} PlanRequest;

// The best layout on one cluster.
typedef struct PlanRow {
    const NodeType *node;
    const FabricLink *link;
    int gpus;
    TrainingSpec training; // with the layout chosen
    RecordPoint point;     // point.ran false: nothing fits; why_not says why
    bool late, over_budget;
} PlanRow;

typedef struct PlanResult {
    PlanRow *rows; // by objective: those that keep date and budget first, then the nearest misses
    int row_count;
    int chosen; // index, or -1: no plan keeps date and budget
    int candidates, too_large, simulated;
} PlanResult;

// Candidates are layouts (tp, pp, vpp, micro-batch, recomputation) that divide the GPUs, the batch and the model. What
// does not fit in memory is dropped first; a lower bound on the step (compute of the busiest stage, fill and drain of
// the pipeline) orders the rest, and simulation stops when no bound is below the best step found.
PlanResult plan_search(Arena *arena, const PlanRequest *request);

// The bound: never above the simulated step. For tests.
double plan_lower_bound(const TrainingSpec *training, int gpus, const Gpu *gpu);

#endif

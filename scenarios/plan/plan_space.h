// Enumeration of the layouts of a job on a number of GPUs, in a fixed order.
#pragma once

#include "scenarios/plan/plan.h"

typedef struct PlanCandidate {
    Layout layout;
    Schedule schedule;
    Recompute recompute;
    OffloadPlace optimizer; // where its state lies
    double micro_batch;
    int number;       // in the order of enumeration
    double bound;     // of the objective, per step: see plan_search.c
    bool fits, plain; // in memory; no candidate that differs only by less recomputation does
} PlanCandidate;

typedef struct PlanSpace {
    PlanCandidate *items;
    int count, room;
} PlanSpace;

// tp divides heads, keys and GPUs; cp is a power of two that leaves pieces of 1,024 tokens; pp divides the rest and
// leaves each stage a layer; ep divides experts and data ranks; dp fills; micro-batches up to 16 sequences divide a
// replica's batch; vpp divides a stage's layers and the micro-batches divide by pp; ZeRO 2 and 3 without a pipeline
// or spread experts, as in their frameworks; recomputation of nothing, of attention, of all; limited to layouts that
// the stated software supports (software.h). Settings fixed by the request have one value.
PlanSpace plan_space(Arena *arena, const PlanRequest *request, double global_batch, int gpus);
// Finds those that fit in memory, and the bound of each; then sorts by bound (plan_search.c).
void plan_judge_candidates(const PlanRequest *request, const Cluster *cluster, double batch, PlanSpace *space,
                           PlanCount *count);
TrainingSpec plan_training(const PlanRequest *request, const PlanCandidate *candidate, double global_batch);

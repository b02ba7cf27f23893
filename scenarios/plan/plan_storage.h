// What a plan's checkpoints are written to: so many units of storage, rented for as long as the run takes, and whether
// that is fast enough.
#ifndef LOCKSTEP_SCENARIOS_PLAN_STORAGE_H
#define LOCKSTEP_SCENARIOS_PLAN_STORAGE_H

#include "scenarios/plan/plan.h"

typedef struct PlanStorage {
    const StorageType *unit; // NULL: checkpoints are not counted
    int units;
    double billed;     // of these: all that the user asks for, else the share of the GPUs that they are sized for
    double per_hour;   // 0: nobody says what it costs, or somebody else pays
    const char *lacks; // a sentence: it is too slow for the cluster; or NULL
} PlanStorage;

PlanStorage plan_storage(Arena *arena, const PlanRequest *request, const PlanRow *row);
// Adds to the row's cost what its storage does, where checkpoints are counted; row->storage_cost is that.
void plan_pay_storage(const PlanRequest *request, const Cluster *cluster, PlanRow *row);

#endif

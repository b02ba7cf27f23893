// Start small and grow: the run on as many GPUs as there are by then, on each kind of cluster of the plan. In each
// phase the run goes on with the layout that is best on so many GPUs; what a switch of layout takes (a checkpoint, a
// restart) is not counted, and nothing is paid before the GPUs are there.
#ifndef LOCKSTEP_SCENARIOS_PLAN_GROW_H
#define LOCKSTEP_SCENARIOS_PLAN_GROW_H

#include "scenarios/plan/plan_chance.h"

// Of a run in phases: phase k goes from begins[k] (days from today, rising) to the next, the last for ever. `whole` is
// what the whole run would take and cost in each, from the day it begins.
PlanOutcome plan_grown(const PlanOutcome *whole, const double *begins, int phases);

typedef struct PlanGrowth {
    int row; // of the last phase: names the cluster
    PlanChance chance;
    double used_days[PLAN_PHASES_MOST]; // expected, of each phase; 0: done before
} PlanGrowth;

typedef struct PlanGrowths {
    PlanGrowth *items; // those that keep both most surely first
    int count;
} PlanGrowths;

// Of request->phases; clusters that have a plan for each of them.
PlanGrowths plan_growths(Arena *arena, const PlanRequest *request, const PlanResult *result);

#endif

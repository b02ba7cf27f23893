// The plan's machines on spot until its date asks for machines that stay: which of a plan's clusters does so at the
// least cost, beside the same on demand and on spot to the end. The run is that of models/workload/life/fallback.h,
// once in each of the worlds that the plan's chances are drawn from: there its work takes what it takes on demand,
// failures counted in where they are, and both prices are that world's.
#ifndef LOCKSTEP_SCENARIOS_PLAN_FALLBACK_H
#define LOCKSTEP_SCENARIOS_PLAN_FALLBACK_H

#include "scenarios/plan/plan_chance.h"

typedef enum FallbackPolicy {
    FALLBACK_ON_DEMAND, // from the start
    FALLBACK_ON_SPOT,   // to the end
    FALLBACK_FOR_DATE,  // on spot, then on demand as the date asks
    FALLBACK_POLICY_COUNT
} FallbackPolicy;
extern const char *const fallback_policy_names[FALLBACK_POLICY_COUNT];  // "on_demand": in JSON
extern const char *const fallback_policy_titles[FALLBACK_POLICY_COUNT]; // on screen

#define PLAN_FALLBACK_DRAWS 2048 // lives on spot, node by node

typedef struct PlanPolicy {
    PlanChance chance;
    double cost;         // mean
    double work_on_spot; // share of the work, mean
    double falls_back;   // share of worlds that begin on spot and move
    double gives_up;     // share of worlds in which it is never done
    double taken;        // times that a node is taken back, mean
} PlanPolicy;

typedef struct PlanFallback {
    int demand_row, spot_row; // of the cluster; demand_row -1: no cluster of the plan can be had both ways
    double mtbf_s;            // until a node is taken back
    double every_s;           // between checkpoints on spot
    double
        foresight; // time counted on for the work left, over what is expected: for failures, at the confidence wished
    bool saves_in_time;
    PlanPolicy policies[FALLBACK_POLICY_COUNT];
} PlanFallback;

// Of the cluster where falling back keeps date and budget as surely as is wished at the least mean cost; where none
// does, of that which keeps them most surely. None without a date.
PlanFallback plan_fallback(Arena *arena, const PlanRequest *request, const PlanResult *result);

#endif

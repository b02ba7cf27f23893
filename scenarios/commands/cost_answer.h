// What `lockstep cost` found, for its screen and its JSON.
#ifndef LOCKSTEP_SCENARIOS_COST_ANSWER_H
#define LOCKSTEP_SCENARIOS_COST_ANSWER_H

#include "models/workload/money/money.h"
#include "results/results.h"

// A line of the price book for the same GPUs, beside what the cluster costs.
typedef struct Rival {
    const Offer *offer;
    double per_hour;                               // of as many GPUs, in the cluster's currency
    double break_even_utilisation, payback_months; // of owning against it; NAN when the cluster is rented
} Rival;

typedef struct CostAnswer {
    Arena *arena;
    const Cluster *cluster;
    ActivityMix mix;
    ClusterBill bill;
    ClusterPower power;
    OwnCost own;      // where bill.owned
    double run_hours; // 0: no run was asked for
    const Rival *rivals;
    int rival_count;
    bool all_offers; // the list of them is what was asked for
} CostAnswer;

void cost_print(const CostAnswer *answer, const Style *style);
void cost_print_json(const CostAnswer *answer);

#endif

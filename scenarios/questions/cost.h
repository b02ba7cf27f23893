// lockstep cost: the price data from which its answer is made.
#pragma once

#include "models/workload/money/money.h"
#include "sim/base/quantity.h"
#include "sim/data/answer.h"

// An offer of the price book for the same GPUs, compared with the cluster's cost.
typedef struct Rival {
    const Offer *offer;
    double per_hour;                               // of as many GPUs, in the cluster's currency
    double break_even_utilisation, payback_months; // of owning against it; NAN when the cluster is rented
} Rival;

typedef struct CostFound {
    Arena *arena;
    const Cluster *cluster;
    ActivityMix mix;
    ClusterBill bill;
    ClusterPower power;
    OwnCost own;      // where bill.owned
    double run_hours; // 0: no run was requested
    const Rival *rivals;
    int rival_count;
    bool all_offers; // the list of offers was requested
    Date today;
} CostFound;

void cost_answer(Answer *answer, const CostFound *found);
int command_cost(int argc, char **argv);  // argv[0] is "cost"; the answer is the exit code
int command_power(int argc, char **argv); // argv[0] is "power"

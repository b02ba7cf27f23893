// Private to the bound: costs of blocks and times of collectives on one cluster, each computed once.
#pragma once

#include "models/workload/cost/cost.h"
#include "scenarios/plan/plan_bound.h"

// Sums over the blocks before each: [block_count + 1], so that a chunk's is a difference.
typedef struct BlockSums {
    double *forward, *backward; // of the main stream, with the collectives it waits for
    double *busy[CAUSE_COUNT];  // computing, both ways
    double *parameters, *experts;
    double *output_bytes; // [block_count] as they are, no sums
} BlockSums;

const BlockSums *plan_block_sums(PlanCosts *costs, const TrainingSpec *training);

// Ranks first, first + stride, …
typedef struct RankRow {
    int first, count, stride;
} RankRow;

// With the network to itself; 0 for one rank.
double plan_alone_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes);
// The quickest of such groups wherever in a node they begin.
double plan_quickest_seconds(PlanCosts *costs, Backend backend, CollectiveOp op, RankRow ranks, double bytes);

const Cluster *plan_costs_cluster(const PlanCosts *costs);
GpuTypes plan_costs_gpus(const PlanCosts *costs); // its GPUs, as cluster_gpus_in_turn has them

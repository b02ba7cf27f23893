// Slowdown of a job by its placement: the step of a training job, simulated on the nodes and leaf switches it was
// given, with the part of the uplinks that its neighbours leave, over its step on adjacent nodes. Each placement is
// simulated once.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/job/training.h"

typedef struct QueueNetwork QueueNetwork;

// Where a job runs.
typedef struct Spread {
    int gpus, nodes, leaves;
} Spread;

// The cluster's node type, link and fabric tree; its size does not matter. `training` on any number of GPUs, which
// its replicas fill. The arena is for all later simulations.
QueueNetwork *queue_network_create(Arena *arena, const Catalogue *catalogue, const ClusterSpec *cluster,
                                   const TrainingSpec *training);

// Traffic that the undisturbed job sends up from each of its leaf switches, mean over its step, as a multiple of the
// NIC bandwidth of one node. 0 when it stays on one leaf.
double queue_network_demand(QueueNetwork *network, Spread spread);
// Step time over that of the same GPUs on adjacent nodes, with so much of a leaf's uplinks, in the same unit.
double queue_network_slowdown(QueueNetwork *network, Spread spread, double uplink);
// Uplinks of one leaf switch in the same unit.
double queue_network_uplink(const QueueNetwork *network);
int queue_network_nodes_per_leaf(const QueueNetwork *network);

// Steps simulated so far, and sizes on which the layout cannot run: their jobs are as fast wherever they are.
int queue_network_simulated(const QueueNetwork *network);
const char *queue_network_refused(const QueueNetwork *network); // "3, 12", or "" when there are none

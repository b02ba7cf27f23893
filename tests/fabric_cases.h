// Fabrics of every kind with what the book says of each, for the tests of networks and of jobs on them.
#pragma once

#include "models/workload/cluster/fabric_kinds.h"

#define NIC (0.94 * 25e9) // of infiniband(200)
#define NODE_RATE (8 * NIC)

// Nodes with 8 GPUs and 8 NICs (DGX A100 like). All formulas are per byte that each GPU sends.
typedef struct FabricCase {
    const char *text; // after the link
    int nodes, most_switches;
    double exchange_seconds; // all_to_all by the fabric's narrowest part; 0: the NICs decide
    double bisection;        // bytes per second between the first and the last half of the nodes
} FabricCase;

extern const FabricCase fabric_cases[];
extern const int fabric_case_count;

// What follows a link in --fabric, with the link's numbers those of infiniband(200). NULL after problems.
const FabricShape *fabric_case_shape(Arena *arena, const char *text, Problems *problems);

// Nodes and clusters that network tests share.
#pragma once

#include "models/network/network.h"

NodeShape dgx_h100(void);    // NVSwitch, one NIC per GPU on the same switch
NodeShape dgx_a100(void);    // NVSwitch, 2 GPUs and 2 NICs per PCIe switch
NodeShape dgx_1(void);       // V100 hybrid cube mesh, 4 NICs
NodeShape quad_gh200(void);  // four GPUs linked in pairs, one NIC each
NodeShape pcie_server(void); // 8 GPUs, 2 per PCIe switch, 2 sockets, one NIC per socket
NodeShape workstation(void); // 2 GPUs without peer access, one NIC
NodeShape nvl72_tray(void);  // 4 GPUs of an NVLink domain of 18 nodes

FabricShape infiniband(double gigabits);
FabricShape fat_tree(double gigabits, int nodes_per_leaf, double oversubscription, bool rails);

// Nodes of one shape, or a failed CHECK.
Network *network_of(Arena *arena, NodeShape shape, int node_count, FabricShape fabric);
CollectivePlan plan_for(Arena *arena, const Network *network, CollectiveOp op, const int *ranks, int rank_count,
                        double bytes, const char *algorithm);
// The first `per_node` ranks of each of the first `nodes` nodes.
int *first_ranks(Arena *arena, const Network *network, int nodes, int per_node);

// Weight of the link of that name in a plan; 0 when it is not used.
double weight_on(const Network *network, const CollectivePlan *plan, const char *link);
// Sum of the weights of links whose name ends so, within a node (-1: any).
double weight_of_kind(const Network *network, const CollectivePlan *plan, int node, const char *middle,
                      const char *ending);

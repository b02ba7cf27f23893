// Bill of materials of a fabric: switches and cables, counted from the simulated network.
#pragma once

#include "models/network/network.h"

typedef struct FabricBill {
    int64_t ports;         // of nodes: NICs that are plugged in
    int64_t node_cables;   // from a NIC to a switch
    int64_t switch_cables; // from switch to switch
    int64_t switches;      // of `ports_per_switch` each
} FabricBill;

// All zero for a single node. Lines between sites are rented, not bought: they are not counted.
FabricBill fabric_bill(const Network *network, int ports_per_switch);

// What a collective puts on the links of the fabric. For files of this folder only.
#ifndef LOCKSTEP_NETWORK_FABRIC_LOADS_H
#define LOCKSTEP_NETWORK_FABRIC_LOADS_H

#include "models/network/loads.h"

typedef struct FabricLoads {
    Loads loads;         // `between` of fabric links only, as the pattern has it per byte
    double leaving;      // bytes that leave nodes for the fabric, all together
    double line_seconds; // of the long lines that one byte crosses on its way: around a ring, or one way elsewhere
} FabricLoads;

FabricLoads fabric_loads(Arena *arena, const Group *group, const CollectiveRequest *request);

#endif

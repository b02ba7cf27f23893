// The PCIe switch or socket of each GPU, NIC and switch of a node. Private to this folder.
#pragma once

#include "models/network/topology.h"

#define SWITCHES_MOST (NODE_GPU_LIMIT + NODE_NIC_LIMIT)

// Places: 0 and up are switches, -1 and down sockets 0 and up.
typedef struct Placement {
    int switch_count, socket_count;
    int gpus[NODE_GPU_LIMIT], nics[NODE_NIC_LIMIT], switches[SWITCHES_MOST];
} Placement;

static inline int on_socket(int socket) { return -1 - socket; }

Placement placement_of(const NodeShape *shape);

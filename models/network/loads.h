// The load of a communication pattern on every link it uses. Private to this folder.
#pragma once

#include "models/network/network_constants.h"
#include "models/network/topology.h"

typedef LinkLoad Load;

typedef struct Loads {
    Arena *arena;
    Load *items;
    int count, room;
    double line_seconds, longest_line_seconds; // one way over the long lines crossed in turn, and over one of them
} Loads;

// Ranks that need no NIC to reach each other: those of one node, or of one NVLink domain.
typedef struct Block {
    int first, count; // of Group.ranks
} Block;

typedef struct Group {
    const Network *network;
    const NcclConstants *constants; // NULL: shipped
    const int *ranks;               // in node order
    int rank_count;
    const Block *blocks; // those that are listed; others do as they do (CollectiveRequest.repeats)
    int block_count, listed_blocks;
    int least, most;              // ranks of the smallest and the largest block
    Medium medium;                // the worst by which neighbours in a block reach each other
    double pcie_bytes_per_second; // raw, the slowest
    bool rdma, host_bridge;       // all NICs reach GPU memory; some do so through a host bridge
    bool far_nics;                // some of a block's GPUs have none at their own part of the root complex and bounce
    bool across_sockets;          // all of a block's GPUs reach their NICs only by the link between sockets
    bool superchip;               // all of them launch without PCIe
    int nics;                     // that the ranks of the poorest block use
    int year;                     // of the oldest GPU
    int nccl_version;             // as in CollectiveRequest, never 0
    bool in_switch_reduction;
    double network_seconds; // one way between two blocks, switches included
} Group;

Group group_create(Arena *arena, const Network *network, const int *ranks, int rank_count);
// The same of `repeats` parts, each `stride` ranks after the one before; only the first stays listed.
void group_repeat(Group *group, int repeats, int stride);

// How NCCL joins GPUs of one node without NVSwitch: with as many rings as fill all their NVLinks, with all pairs
// loaded equally, with one cycle of NVLinks run both ways, or in order over whatever path there is.
typedef enum RingForm { RING_ALL_LINKS, RING_EVEN, RING_CYCLE, RING_IN_ORDER } RingForm;

typedef struct NodeRing {
    RingForm form;
    int cycle[8];
    Medium medium;
} NodeRing;

// The same rings one by one: in each, the order of the GPUs by their place in `gpus`. None where they are joined in
// order.
#define MESH_GPUS_MOST 8
#define MESH_RINGS_MOST 16
typedef struct MeshRings {
    int count;
    int8_t order[MESH_RINGS_MOST][MESH_GPUS_MOST];
} MeshRings;
MeshRings mesh_rings(const Layout *layout, const int *gpus, int count);

NodeRing node_ring(const Layout *layout, const int *gpus, int count); // two GPUs or more
double linked_rate(const Layout *layout, const int *gpus, int count,
                   int from); // of all NVLinks from one GPU to the others

// Of what goes around a ring, the share that the busiest of a block's ranks passes on to another of the block. Where
// each rank has a NIC, rings leave by each in turn; with fewer NICs always by those next to them, and others pass on
// all.
double ring_share_inside(const Group *group, int ranks);
// One byte around a ring through all ranks: within blocks, and from each block to the next over the NICs of all its
// ranks equally (one ring per NIC, each leaving by another rank).
Loads ring_loads(Arena *arena, const Group *group);
// One byte around a ring of processes that work on host memory: `copies` bytes in memory for each within a node, one
// NIC per node unless all_nics; and for GPU tensors half a turn's bytes from and to each GPU.
Loads host_ring_loads(Arena *arena, const Group *group, bool on_host, bool all_nics, double copies);
// Each rank sends 1 byte in all, spread evenly over all ranks, itself included.
Loads all_to_all_loads(Arena *arena, const Group *group);
// Each rank but the root sends its share of 1 byte to the root (or the root to each, outward).
Loads rooted_loads(Arena *arena, const Group *group, int root, bool outward);
// Each rank sends one byte to the next, the last to the first.
Loads shift_loads(Arena *arena, const Group *group);
// One byte from one rank to another.
Loads pair_loads(Arena *arena, const Network *network, int from, int to);

// The same on the fabric: each message that leaves a block is laid over the links that it crosses (fabric_loads.c).
void add_fabric_loads(Loads *loads, const Group *group, const CollectiveRequest *request);

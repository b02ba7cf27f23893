// A cluster: nodes from the catalogue joined by a fabric, with its storage and prices. Const once built.
#pragma once

#include "models/hardware/hardware.h"
#include "models/hardware/power.h"
#include "models/network/network.h"
#include "sim/base/options.h"
#include "sim/system/gate.h"

typedef struct NodeGroup {
    Where where;
    const NodeType *type;
    int gpus;                     // GPUs of this type of node in all; the last node may be partly used
    const Gpu *gpu;               // instead of the node's own, or NULL
    double pcie_bytes_per_second; // of a GPU's slot, one direction; 0: x16 of the node's and GPU's generation
} NodeGroup;

typedef struct ClusterSpec {
    Where where;
    const NodeGroup *groups;
    int group_count;
    const FabricLink *link; // NULL: one node only
    int nics;               // of each node on this fabric; 0: as many as the node has
    FabricKind fabric;
    int nodes_per_leaf;      // 0: 32
    double oversubscription; // 1 none
    bool rail_optimised;
    const FabricShape *layout;        // instead of the four above, with the link's defaults; or NULL
    const StorageType *storage;       // shared storage, or NULL
    int storage_units;                // of it; 0: as many as the cluster needs (hardware.h)
    double price_per_gpu_hour;        // -1: the nodes' price in the price book
    const char *currency;             // of the answer and of stated prices; NULL: the price book's
    const struct RentSpec *rent;      // which line of the price book (cluster_money.h); or NULL: on demand, the newest
    const struct BillSpec *bill;      // discount, support, tax, excluded rows (cluster_money.h); or NULL
    const struct OwnSpec *own;        // bought instead of rented (cluster_money.h); or NULL
    const struct Grid *grid;          // that its electricity is from, or NULL: the world's average
    const struct Site *site;          // of rented machines: racks, breakers; NULL: colocation
    double power_cap_watts;           // limit of every GPU; 0: none
    double power_usage_effectiveness; // 0: the site's, for rented machines 1.3
    const struct FaultsSpec *faults;  // or NULL: nothing fails
    const double *link_speed; // NULL, or factors of the first nodes' NICs (degraded links); the others are sound
    int link_speed_count;
} ClusterSpec;

typedef struct Cluster {
    const ClusterSpec *spec;
    int gpu_count, node_count;
    const Gpu *const *gpu_of;       // per rank
    const NodeType *const *node_of; // per rank's node: [node_count]
    const StorageType *storage;     // all units of the spec's together, or NULL
    const Network *network;
    const struct ClusterMoney *money; // cluster_money.h
} Cluster;

double pcie_bytes_per_second(int generation, int lanes); // raw, one direction

#define CLUSTER_MOST_GPUS 1000000

// Whether its GPUs are so few that sums and small multiples of them are whole numbers of 32 bits; false after a
// problem.
bool cluster_is_of_a_size(const ClusterSpec *spec, Problems *problems);
// NULL after problems.
const Cluster *cluster_create(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec, Problems *problems);
// The types of its GPUs as they follow each other: neighbours are mostly of one type.
GpuTypes cluster_gpus_in_turn(Arena *arena, const Cluster *cluster);
// "64 × dgx-a100-80gb": its nodes; "A100-SXM4-80GB": its GPUs, the types of a mixed one joined by " + ".
const char *cluster_nodes_text(Arena *arena, const ClusterSpec *spec);
const char *cluster_gpus_text(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec);
// "eth-1g (1 Gb/s Ethernet, TCP sockets)"; NULL: one node needs none.
const char *cluster_fabric_text(Arena *arena, const ClusterSpec *spec);
// "ib-ndr400, rail-optimised fat tree, 4 to 1"; "" for one node.
const char *cluster_network_text(Arena *arena, const ClusterSpec *spec);
int cluster_node_count(const ClusterSpec *spec);
// The types of GPU in it, each once.
GpuTypes cluster_gpu_types(Arena *arena, const Catalogue *catalogue, const ClusterSpec *spec);

// ---- Bytes from every rank to every other, read from a text file: a row of numbers for each sender, with a number for
// each receiver; or one row for all senders. Blanks or commas between numbers; # begins a comment.

// [from * ranks + to] bytes. NULL after problems.
const double *pair_matrix_read(Arena *arena, const char *file, int ranks, Problems *problems);
// Bytes sent per rank, on average; including those to itself.
double pair_matrix_mean(const double *pairs, int ranks);

// ---- A node type from a dump of a real node (nvidia-smi topo -m, NCCL's or hwloc's XML): links from the dump, GPU and
// host properties from the catalogue.
struct NodeInterior;

// Whether the name is that of a file (it has a '/', or ends in .txt, .log, .out or .xml) rather than of a part.
bool is_node_file(const char *name);

// gpu_name and like may be NULL: then the GPU comes from the file (XML has sm_90), the host from the catalogue's node
// with such GPUs. gate: of the scenario that names the file; NULL: named by the user. NULL after problems.
const NodeType *node_from_file(Arena *arena, const Catalogue *catalogue, const ReadGate *gate, const char *path,
                               const char *gpu_name, const char *like, Where where, Problems *problems);
const NodeType *node_from_interior(Arena *arena, const Catalogue *catalogue, const char *name,
                                   const struct NodeInterior *interior, const Gpu *gpu, const NodeType *like,
                                   Where where, Problems *problems);

// A node of the catalogue by name, or one from a file.
const NodeType *node_from_text(Arena *arena, const Catalogue *catalogue, const char *text, const char *gpu_name,
                               Where where, Problems *problems);

// The same of --node (or `usual`, where it is not given) and --gpu, which is of files alone.
#define NODE_FILE_GPU                                                                                                  \
    {                                                                                                                  \
        "gpu", OPTION_TEXT, "NAME", .of = OF_QUESTION,                                                                 \
                                    .help = "GPU of a node whose file does not say it (lockstep hw list gpu)"          \
    }
const NodeType *node_from_options(Arena *arena, const Catalogue *catalogue, const Options *options, const char *usual,
                                  Problems *problems);
// Says so where --gpu is given and no node is from a file.
void node_gpu_needs_a_file(const Options *options, bool from_file, Problems *problems);

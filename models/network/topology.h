// Internals of the network: the parts of a node as a small graph with the paths through it computed once per node
// shape, and the nodes, each a place in that graph plus the number of its first link. Private to this folder.
#pragma once

#include <stdbool.h>

#include "models/network/interior.h"
#include "models/network/network.h"
#include "sim/base/arena.h"
#include "sim/base/problem.h"

#define NODE_GPU_LIMIT 32
#define NODE_NIC_LIMIT 64
#define NODE_LINK_LIMIT 2048
#define PATH_LIMIT 10

// Links in order from one part of a node to another, as numbers within the node.
typedef struct Path {
    int16_t count;
    int16_t links[PATH_LIMIT]; // host memory may occur twice: written, then read
    bool nvlink;               // all of it is NVLink
    bool staged;               // stops over in host memory
    double seconds;            // latency of the hardware alone
} Path;

typedef enum PartKind { PART_GPU, PART_NVSWITCH, PART_PCIE_SWITCH, PART_SOCKET, PART_MEMORY, PART_NIC } PartKind;

typedef struct Part {
    PartKind kind;
    int number; // among its kind
} Part;

typedef enum LayoutLinkKind {
    LINK_NVLINK,
    LINK_PCIE,
    LINK_SOCKET,
    LINK_MEMORY,
    LINK_NIC,
    LAYOUT_LINK_KINDS
} LayoutLinkKind;

typedef struct LayoutLink {
    LayoutLinkKind kind;
    const char *name;        // within the node: "gpu2.nvlink.out"
    double bytes_per_second; // attainable
} LayoutLink;

typedef struct Edge {
    int16_t from, to, link;
} Edge;

// The NICs nearest to a GPU that are its own when all GPUs talk at once.
typedef struct NicSet {
    int16_t count;
    int16_t nics[NODE_NIC_LIMIT];
} NicSet;

// What all nodes of one shape share.
typedef struct Layout {
    const NodeShape *shape; // gpu_count here is the GPUs present
    int ranks;              // GPUs used
    Part *parts;
    int part_count;
    LayoutLink *links;
    int link_count;
    Edge *edges;
    int edge_count;
    int first_pcie_switch, first_socket, first_memory, first_nic; // part numbers; GPUs come first
    int pcie_switch_count, socket_count;
    int16_t *gpu_parent, *nic_parent; // the PCIe switch or socket of each, as part numbers
    int16_t *nvlink_out, *nvlink_in;  // [gpu] link to and from the NVSwitch; -1 without
    int16_t *nvlink_pair;             // [from * gpus + to] link of a pair; -1 when not linked
    int16_t *nic_out, *nic_in;        // [nic] links
    NicSet *gpu_nics;                 // [gpu]
    Path *gpu_to_gpu;                 // [from * gpus + to]
    Path *gpu_to_nic, *nic_to_gpu;    // [gpu * nics + nic], the NIC's own link included
    Path *gpu_to_host, *host_to_gpu;  // [gpu] the memory of its own socket
    Path *nic_to_host;                // [gpu] from its own NIC to that memory
} Layout;

typedef struct Node {
    int32_t layout;
    int32_t first_rank;
    int32_t first_link;
    int32_t domain; // nodes of one NVLink domain have the same number; others a number of their own
} Node;

// What a pair of fabric links joins, for pictures; the first link goes from `from` to `to`.
typedef struct FabricEnds {
    const char *from, *to;
} FabricEnds;

struct Network {
    FabricShape fabric;
    Layout *layouts;
    int layout_count;
    Node *nodes;
    int node_count;
    int32_t *node_of; // [rank]
    int rank_count;
    Arena *arena;
    Link *fabric_links; // [fabric_link_count]
    Link **links;       // all of them, built on first use; until then *links is NULL
    double *nic_rates;  // [layout] of its NICs' own links
    double *link_speed; // NULL, or [node]: factor on those
    int link_count;
    int rails;                 // NICs of the best equipped node
    int32_t first_fabric_link; // in pairs: one way and back
    int fabric_link_count;     //
    FabricEnds *fabric_ends;   // [fabric_link_count / 2]
    int switch_count;          // switches with NICs
    const char **switch_names; // [switch_count * planes]
    int planes;                // equal networks side by side; each NIC is on all of them
    const void *laid;          // what the fabric's kind keeps for itself
};

// Adds the problems of a shape that cannot be built; returns whether it can.
bool layout_check(const NodeShape *shape, Where where, Problems *problems);
void layout_create(Arena *arena, const NodeShape *shape, Layout *layout);
// Fills the paths of a layout whose parts, links and edges are there (routes.c).
void layout_find_paths(Arena *arena, Layout *layout);
// With rails alone a message goes to the GPU on the receiver's rail first, where NVLink leads to it.
int layout_relay_gpu(const Layout *layout, int gpu, int nic);
int layout_socket_above(const Layout *layout, int part); // of a PCIe switch or a socket, as a part number

static inline const Node *node_of_rank(const Network *network, int rank) {
    return &network->nodes[network->node_of[rank]];
}
static inline const Layout *layout_of(const Network *network, const Node *node) {
    return &network->layouts[node->layout];
}
// Of a node's link or the fabric's.
static inline int gpu_of_rank(const Network *network, int rank) {
    return rank - node_of_rank(network, rank)->first_rank;
}

// ---- The fabric (fabric.c; each kind in a fabric_*.c).
// The switch of a node's NIC; 0 in a single switch.
int fabric_leaf(const Network *network, int node, int nic);
// One way between two of these: all switches crossed, and apart from them the lines (between sites, or drawn by a
// user).
int fabric_switches(const Network *network, int from, int to);
double fabric_switch_seconds(const Network *network, int from, int to);
double fabric_line_seconds(const Network *network, int from, int to);

// Callback for each fabric link that traffic crosses, with its share of the traffic.
typedef struct Crossing {
    void (*add)(void *context, int32_t link, double share);
    void *context;
    bool spread; // over all equally good ways; else the first of them
} Crossing;

// The basic function of collectives: `share` of traffic from switch to switch, link by link.
void fabric_cross(const Network *network, int from, int to, double share, const Crossing *crossing);
// From above the fabric down to a switch, if there is a tier above.
void fabric_enter(const Network *network, int to, const Crossing *crossing);
double fabric_enter_seconds(const Network *network, int to);

// The i-th NICs by which two ranks of different nodes meet. With rails and no way between them, or when the sender's
// neighbours hand messages on (PXN), a message leaves by the receiver's rail.
typedef struct NicPair {
    int out, in;
} NicPair;
NicPair fabric_nics(const Network *network, int from_rank, int to_rank, int i, bool relayed);
int nics_of_rank(const Network *network, int rank); // that are a rank's own

// ---- The PCIe switch or socket of each GPU, NIC and switch of a node. Private to this folder.

#define SWITCHES_MOST (NODE_GPU_LIMIT + NODE_NIC_LIMIT)

// Places: 0 and up are switches, -1 and down sockets 0 and up.
typedef struct Placement {
    int switch_count, socket_count;
    int gpus[NODE_GPU_LIMIT], nics[NODE_NIC_LIMIT], switches[SWITCHES_MOST];
} Placement;

static inline int on_socket(int socket) { return -1 - socket; }

// ---- Properties of a transport, independent of the links below it. Private to this folder.
typedef struct TransportRow {
    const char *name;
    double header_bytes, mtu;           // of a packet on the wire: all that is not payload, and payload and IP headers
    double mtu_headers;                 // of these inside the MTU
    double cpu_seconds_per_byte;        // of one core that sends; 0: the NIC does it
    double connection_bytes_per_second; // of one connection at most; 0: a NIC's whole rate
    int connections;                    // per NIC
    double window_bytes;                // in flight per connection; 0: as much as it takes
    double first_window_bytes;          // slow start; 0: full speed at once
    double eager_bytes;                 // sent at once at most; longer messages agree first; 0: any
    bool hashed;                        // flows choose among equal ways by hash unless switches are adaptive
} TransportRow;

const TransportRow *transport_row(Transport transport);
// Share of the line rate that is payload.
double transport_payload_share(const TransportRow *row, double mtu);
// Rate limit of the connections of that many NICs over such a round trip; 0: no limit.
double transport_rate(Transport transport, double round_trip_seconds, int nics);
// Time that a message waits for its window to open, beyond one round trip's worth that is always open.
double transport_start_seconds(Transport transport, double round_trip_seconds, double bytes, int nics);

// ---- The table of fabrics: a kind is a row and the file with its functions. Private to this folder.
typedef struct FabricRow {
    const char *name;                                                        // in messages
    void (*check)(const NetworkSpec *spec, Where where, Problems *problems); // NULL: always valid
    void (*lay)(Arena *arena, Network *network);                             // sets the number of links, names them
    int (*leaf)(const Network *network, int node, int nic);                  // NULL: one switch
    int (*switches)(const Network *network, int from, int to);               // crossed, from == to included
    void (*cross)(const Network *network, int from, int to, double share, const Crossing *crossing); // NULL: no links
    double (*line_seconds)(const Network *network, int from, int to);          // NULL: no long lines
    void (*enter)(const Network *network, int leaf, const Crossing *crossing); // NULL: nothing above the leaves
    // Links up (or down) from a leaf to the top, which nothing crosses but through NICs beneath. NULL: no such links.
    void (*above)(const Network *network, int leaf, bool down, const Crossing *crossing);
    bool (*is_even)(const Network *network, int senders); // see network_is_even: of the fabric alone. NULL: never
} FabricRow;

extern const FabricRow single_switch_row, tree_row, rail_only_row, dragonfly_row, dragonfly_plus_row, torus_row,
    graph_row;

// Room for the links of a fabric, in pairs, after those of the nodes.
void fabric_make_room(Arena *arena, Network *network, int switches, int planes, int pairs);
// Fills one pair; the names are the arena's.
void fabric_set_pair(Network *network, int pair, double bytes_per_second, const char *forth, const char *back,
                     const char *from, const char *to);
void fabric_set_name(Network *network, int number, const char *name);
// Payload bandwidth of a shared line of that line rate: the share that NICs attain, but over TCP what the wire allows.
// There the CPUs of each host hold its NICs back, and hosts share the line.
double fabric_line_rate(const Network *network, double line_bytes_per_second);
// Bandwidth of the lines above that many nodes, whose line rates add up to the NICs' over `oversubscription`.
double fabric_rate_above(const Network *network, int nodes, double oversubscription);
// Effective share of parallel links when flows choose among them by hash (fabric_loads.c).
double fabric_hash_share(double flows, double links);

static inline void cross_link(const Crossing *crossing, const Network *network, int link, double share) {
    crossing->add(crossing->context, network->first_fabric_link + link, share);
}
static inline double or_one(double number) { return number > 0 ? number : 1; }

// A fat tree's tiers from the leaves up: units of one tier have one bundle of links up to the next.
#define TREE_TIER_LIMIT 3
typedef struct TreeTier {
    const char *word; // "leaf", "pod", "site"
    int units;        // per plane
    int nodes;        // per unit
    double bytes_per_second;
    double hashed;  // the share of it that is left where flows choose by hash
    double seconds; // of the line between two units, when they are joined by a line and not by switches
    bool line;
    int first_pair;
} TreeTier;

typedef struct Tree {
    TreeTier tiers[TREE_TIER_LIMIT];
    int tier_count;
    bool rails;
} Tree;

int tree_unit(const Network *network, int leaf, int tier);
int64_t graph_cable_cost(const FabricShape *fabric, const GraphCable *cable); // routes have the least sum

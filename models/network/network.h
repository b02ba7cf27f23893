// The network between and inside nodes: vertices, directed links with capacity and latency, routes, and the cost of a
// back end's collectives. It knows links and ranks (one GPU is one rank); no catalogue, no workload.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/problem.h"
#include "sim/program.h"

// ---- What a node is made of, in numbers (filled from the catalogue by models/workload/cluster/cluster.c).
typedef enum GpuFabric {
    GPU_FABRIC_NONE,
    GPU_FABRIC_PAIRS,
    GPU_FABRIC_MESH,
    GPU_FABRIC_CUBE_MESH,
    GPU_FABRIC_SWITCH
} GpuFabric;

typedef struct NodeShape {
    const char *name;
    int gpu_count; // used: one rank each
    int gpu_slots; // present, of which the first gpu_count are used; 0: gpu_count
    GpuFabric gpu_fabric;
    double nvlink_bytes_per_second; // per GPU and direction, all its links (SWITCH, MESH)
    double pair_bytes_per_second; // between two linked GPUs, one direction (PAIRS, MESH); of a single link (CUBE_MESH)
    bool in_switch_reduction;     // NVLS
    int nvlink_domain_nodes;      // nodes per NVLink domain (1 usual, 18 for NVL72)
    bool peer_to_peer;            // over PCIe; false: through host memory
    int sockets;
    int gpus_per_pcie_switch;       // 0: each GPU on the CPU's own lanes
    double pcie_bytes_per_second;   // x16, one direction, raw
    double pcie_share;              // of it that copies attain; 0: usual
    double socket_bytes_per_second; // between sockets, one direction
    double host_memory_bytes_per_second;
    int nic_count; // 0: no scale-out network
    bool gpudirect_rdma;
    bool nics_across_sockets; // each GPU's NIC is attached to another socket than the GPU
    int architecture_year;    // of the GPU: 2017 Volta, 2020 Ampere, 2022 Hopper, 2024 Blackwell (chooses constants)
    bool superchip;           // GPU and CPU in one package (GH200, GB200)
    bool numa_per_switch;     // each PCIe switch is a NUMA node (DGX A100): prints SYS, else NODE
    const struct NodeInterior *interior; // imported (interior.h): connections of the parts; NULL: even
    double collective_factors[7];        // on constants of NCCL, in the order of measured_factors; 0: 1
    bool deep_switches;                  // a PCIe switch is several bridges deep (DGX A100): prints PXB, else PIX
} NodeShape;

typedef enum Transport {
    NET_INFINIBAND,
    NET_ROCE,
    NET_EFA,
    NET_SLINGSHOT,
    NET_TCP,
    NET_TCPX
} Transport; // TCPX: TCP into GPU memory
typedef enum FabricKind {
    FABRIC_SINGLE_SWITCH,
    FABRIC_FAT_TREE,       // leaves under spines, perhaps pods of them, planes and sites
    FABRIC_RAIL_ONLY,      // NIC i of every node on switch i, and nothing between the switches
    FABRIC_DRAGONFLY,      // groups of switches that all know each other
    FABRIC_DRAGONFLY_PLUS, // groups of leaves under spines
    FABRIC_TORUS,          // a switch per node, joined to its neighbours in up to three dimensions
    FABRIC_GRAPH,          // whatever the user drew
    FABRIC_KIND_COUNT
} FabricKind;

// Switches by number, cables with equal capacity each way, and the switch of each node.
typedef struct GraphCable {
    int from, to;
    double bytes_per_second; // line rate, one direction
    double latency_seconds;
    double node_rates; // bytes_per_second 0: the bandwidth of the NICs of that many nodes
} GraphCable;

typedef struct FabricGraph {
    const char *const *switch_names;
    int switch_count;
    const GraphCable *cables;
    int cable_count;
    const int *switch_of_nic; // [node_count * nics] in the order of the cluster's nodes
    int node_count;           // that there is room for
    int nics;                 // of a node with a switch for each NIC; 1: one switch for the node
} FabricGraph;

typedef struct FabricShape {
    FabricKind kind;
    Transport transport;
    double nic_bytes_per_second;    // line rate, one direction
    double efficiency;              // attainable payload share
    double latency_seconds;         // one way, NIC to NIC with software, without switches
    double switch_latency_seconds;  // per switch crossed
    int nodes_per_leaf;             // FAT_TREE; 0 with sites: one switch per site
    double oversubscription;        // FAT_TREE: down capacity / up capacity, 1 = none
    double uplink_bytes_per_second; // FAT_TREE: line rate of a leaf's way up, instead of oversubscription; 0: none
    bool rail_optimised;            // FAT_TREE: NIC i of every node of a pod on leaf i
    int nodes_per_pod;              // FAT_TREE of three levels; 0: two levels
    double pod_oversubscription;    // above the pods; 0: 1
    int places;                     // FAT_TREE: nodes that there is room for; 0: any number
    int planes;                     // FAT_TREE: as many equal networks, each NIC on all of them; 0: 1
    int nodes_per_site;             // FAT_TREE: several sites; 0: one
    double site_bytes_per_second;   // line rate of a site's line, one direction
    double site_latency_seconds;    // one way between two sites
    int groups, switches_per_group, nodes_per_switch; // DRAGONFLY, DRAGONFLY_PLUS
    double group_oversubscription;                    // within a group, as above; 0: 1
    double global_oversubscription;                   // between groups; 0: 1
    int dims[3], dim_count;                           // TORUS
    double cable_bytes_per_second;                    // TORUS: line rate each way; 0: as fast as a NIC
    const FabricGraph *graph;                         // GRAPH
    double flows_per_nic; // FAT_TREE: that choose their way up by hash (ECMP); 0: spread evenly (adaptive routing)
} FabricShape;

const char *fabric_kind_name(FabricKind kind); // "fat tree"

typedef struct NetworkSpec {
    const NodeShape *shapes; // distinct shapes
    const int *node_shape;   // [node_count] index into shapes
    int node_count;
    FabricShape fabric;       // ignored with one node
    const double *link_speed; // NULL, or [node_count]: factor on a node's NICs (a degraded cable), 1 usual
} NetworkSpec;

typedef struct Network Network;

// Ranks number GPUs node by node. A network whose parts cannot be built (a cube mesh of 5 GPUs) adds problems at
// `where` and gives NULL.
Network *network_create(Arena *arena, const NetworkSpec *spec, Where where, Problems *problems);
int network_rank_count(const Network *network);
int network_node_of(const Network *network, int rank);
const Link *network_links(const Network *network, int *count);
// Ids of the links from one rank's memory to another's in order; *latency in seconds, one way. Returns the count
// (0 for itself). The room a route may need is NETWORK_ROUTE_LIMIT. A route staged in host memory names that memory's
// link twice (written, then read): its load counts twice. Of ways that a fabric spreads its traffic over it is the
// first.
#define NETWORK_ROUTE_LIMIT 224
int network_route(const Network *network, int from_rank, int to_rank, int32_t *links, double *latency);
// Of a fat tree: the links that lie above a NIC's, in its direction. What they carry comes through the NICs beneath.
typedef struct LinkAbove {
    int32_t nic, above;
} LinkAbove;
const LinkAbove *network_links_above(Arena *arena, const Network *network, int *count); // none in other fabrics
// Whether nodes and NVLink domains are all equal and whole, NICs equally fast, and links of the fabric carry all the
// NICs' traffic if that many ranks of a domain send to other domains in one collective (collective_price_senders).
bool network_is_even(const Network *network, int senders);
double network_node_seconds(const Network *network, int from, int to);           // of switches, from node to node
int network_domain_nodes(const Network *network);                                // of the first node's domain
bool network_is_one_domain(const Network *network, const int *ranks, int count); // of NVLink, or one node
// As many others, at the same places of nodes of the same kind.
bool network_are_alike(const Network *network, const int *ranks, const int *others, int count);
int network_node_links(const Network *network); // of the first node; nodes' links are one after the other
Link network_link(Arena *arena, const Network *network, int32_t link);
double network_link_rate(const Network *network, int32_t link); // of it, without its name
// The same kind of answer to and from the host memory nearest to a rank (for copies), and from outside the cluster into
// that memory (for shared storage: down from the spine through the rank's NIC; nothing when the node has no NIC).
int network_route_to_host(const Network *network, int rank, int32_t *links, double *latency);
int network_route_from_host(const Network *network, int rank, int32_t *links, double *latency);
int network_route_from_outside(const Network *network, int rank, int32_t *links, double *latency);
// nvidia-smi topo -m cell for a pair of GPUs: "X", "NV12", "PIX", "PXB", "PHB", "NODE", "SYS".
const char *network_path_name(const Network *network, int rank_a, int rank_b);

// ---- Collectives.
typedef enum CollectiveOp {
    COLLECTIVE_SEND_RECV,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BARRIER,
    COLLECTIVE_OP_COUNT
} CollectiveOp;

typedef enum Backend { BACKEND_NCCL, BACKEND_GLOO, BACKEND_MPI, BACKEND_COUNT } Backend;

bool collective_is_direct(CollectiveOp op);      // each message goes from its first rank to its last
const char *collective_op_name(CollectiveOp op); // "all_reduce"
bool collective_op_from_name(const char *name, CollectiveOp *op);
const char *backend_name(Backend backend); // "nccl"
bool backend_from_name(const char *name, Backend *backend);
// Whether the real back end supports it for tensors in GPU memory (true) or CPU memory; else *why is a sentence.
bool backend_supports(Backend backend, CollectiveOp op, bool on_gpu, bool cuda_aware_mpi, const char **why);

// NCCL's; other back ends have none: PROTOCOL_COUNT, whose name is empty.
typedef enum Protocol { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, PROTOCOL_COUNT } Protocol;
extern const char *const protocol_names[PROTOCOL_COUNT + 1];

// Tokens that a kernel brings to `choices` uniform choices among the ranks: seconds per token of all the kernel's
// workers together, and per copy to another node or its own. Rows of row_bytes.
typedef struct TokenExchange {
    double choices, row_bytes, token_seconds, copy_seconds;
} TokenExchange;

typedef struct CollectiveRequest {
    CollectiveOp op;
    Backend backend;
    const int *ranks; // in the group's order; SEND_RECV: two, from ranks[0] to ranks[1]
    int rank_count;
    int root; // index within ranks, for rooted operations
    // nccl-tests' size: whole array for all_gather, reduce_scatter, gather, scatter; per-rank buffer for the others.
    double bytes;
    // NULL: the back end's own choice; "ring", "tree", "nvls", "nvls_tree", "pat" where they apply; "collnet" only when
    // asked for (it needs switches that reduce: SHARP).
    const char *algorithm;
    const Protocol *protocol; // NULL: the back end's own choice
    bool on_host;             // tensors in CPU memory (gloo, mpi): no copies to and from the GPU
    bool shift;               // SEND_RECV: every rank sends to the next and the last to the first, all at once
    int gpus_per_process;     // 0 or 1: each GPU has a process that launches its kernels; N: one launches for N in turn
    int nccl_version;         // 22105 is 2.21.5; 0: one usual with the GPU's generation
    int threads_per_process;  // 0 or 1; N: one process has a thread for each GPU, and so few calls that launches show
    // 0 or 1; N: the ranks are the first of N parts that are alike, each `stride` ranks after the one before: whole
    // NVLink domains, in a fabric without contention (network_is_even). Of collective_price_create and
    // ring-like operations alone; loads are those of the first part.
    int repeats, stride;
    const double *pair_bytes; // ALL_TO_ALL: [from * rank_count + to] bytes to each, `bytes` their mean per rank, ranks
                              // rising; NULL: even
    // ALL_TO_ALL: the payload is tokens, of which one copy for several ranks of a node crosses the network (DeepEP,
    // HybridEP); NULL: each byte crosses separately, as message by message it always does.
    const struct TokenExchange *tokens;
    int ranks_per_gpu;                     // 0 or 1: each rank has its GPU; N: ranks of N processes take turns on one
    const struct WrittenSteps *steps;      // NULL; message by message: done so, whatever the algorithm
    const struct NcclConstants *constants; // NULL: shipped (models/network/network_constants.h)
    double tolerance;                      // message by message: RunOptions.tolerance where messages are many; 0: exact
} CollectiveRequest;

typedef struct CollectivePlan {
    Plan plan;             // uses in the arena, weights rounded by weight_round
    const char *algorithm; // "ring", "tree", "nvls", "direct"
    Protocol protocol;
    int channels;
    double alone_seconds;  // latency + bytes over the narrowest link: the time with no other traffic
    double moving_seconds; // of which bytes over the narrowest link, or as fast as software moves them
    int32_t limiting_link; // -1 when latency alone decides
} CollectivePlan;

// What jobs run on and lockstep collective prints: links of nodes and fabric, long lines, the back end's choice.
CollectivePlan collective_plan(Arena *arena, const Network *network, const CollectiveRequest *request);
// The same for several requests of one group of ranks and one back end: the group is looked at once.
void collective_plans(Arena *arena, const Network *network, const CollectiveRequest *requests, int count,
                      CollectivePlan *plans);

// Standard deviation of the logarithm of the time, for a machine never measured of which some things had to be assumed
// ("nccl_version…", "launch…", "gdr…", …). Nine times in ten the time lies within exp(±RANGE_90 of it).
#define RANGE_90 1.645
double collective_spread(const Network *network, const CollectiveRequest *request, const char *const *assumed,
                         int assumed_count);

// The same collective again and again, at other sizes: the links are looked at once.
typedef struct CollectivePrice CollectivePrice;
CollectivePrice *collective_price_create(Arena *arena, const Network *network, const CollectiveRequest *request);
// alone_seconds, with other constants (NULL: shipped), as fitting needs.
double collective_price_seconds(const CollectivePrice *price, double bytes, const struct NcclConstants *constants);

// What a collective puts on a link per byte of a payload that is left open: `inside` grows with the bytes that GPUs of
// one node (or NVLink domain) pass on, `between` with those that cross the fabric.
typedef struct LinkLoad {
    int32_t link;
    double inside, between;
} LinkLoad;

// All of them. Operations of one family put the same on the same links: those that go around a ring do.
const LinkLoad *collective_price_loads(const CollectivePrice *price, int *count);
CollectiveOp collective_family(CollectiveOp op);
// Prices with equal likeness, of different ranks, give equal plans but for the links.
uint64_t collective_price_likeness(const CollectivePrice *price);
// Ranks of a domain that send to other domains at once; of an exchange of all with all INT_MAX, 0 inside a domain.
int collective_price_senders(const CollectivePrice *price);
// The plan of any operation of the family, without its uses: a link's weight is that of its load.
Plan collective_price_plan(const CollectivePrice *price, CollectiveOp op, double bytes, double *inside,
                           double *between);
static inline double load_weight(double load_inside, double load_between, double inside, double between) {
    return weight_round(inside * load_inside + between * load_between);
}

// ---- Pictures.
// One node as nvidia-smi topo -m prints it, NICs and legend included.
void network_print_matrix(const Network *network, int node, FILE *out);
// The whole network for Graphviz: each node with its parts, leaf switches, spine.
void network_print_dot(const Network *network, FILE *out);

// ---- Bill of materials of a fabric: switches and cables, counted from the simulated network.

typedef struct FabricBill {
    int64_t ports;         // of nodes: NICs that are plugged in
    int64_t node_cables;   // from a NIC to a switch
    int64_t switch_cables; // from switch to switch
    int64_t switches;      // of `ports_per_switch` each
} FabricBill;

// All zero for a single node. Lines between sites are rented, not bought: they are not counted.
FabricBill fabric_bill(const Network *network, int ports_per_switch);

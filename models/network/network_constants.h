// The numbers of links, of NCCL and of back ends on host memory, with unit, value, uncertainty and source. Link
// capacities are attainable ones: a link's payload rate with NCCL's Simple protocol.
#pragma once

#include "models/network/network.h"
#include "sim/base/quantity.h"

// How two GPUs of a node reach each other.
typedef enum Medium { MEDIUM_NVLINK, MEDIUM_PCIE, MEDIUM_HOST, MEDIUM_COUNT } Medium;

// ---- NCCL. Names that denote several constants in a row are followed by one per protocol, generation or transport.
typedef enum ConstantId {
    FLOOR_TIME, // + generation
    FLOOR_TIME_LAST = FLOOR_TIME + 3,
    FLOOR_BETWEEN,
    HOP_TIME, // + medium * PROTOCOL_COUNT + protocol
    HOP_TIME_LAST = HOP_TIME + 8,
    RAMP_TIME, // + protocol
    RAMP_TIME_LAST = RAMP_TIME + 2,
    NETWORK_HOP_TIME, // + protocol
    NETWORK_HOP_TIME_LAST = NETWORK_HOP_TIME + 2,
    NETWORK_RAMP_TIME, // + protocol
    NETWORK_RAMP_TIME_LAST = NETWORK_RAMP_TIME + 2,
    TRANSPORT_HOP, // + transport
    TRANSPORT_HOP_LAST = TRANSPORT_HOP + 5,
    TRANSPORT_RATE, // + transport
    TRANSPORT_RATE_LAST = TRANSPORT_RATE + 5,
    BOUNCED_HOP,
    RENDEZVOUS_TIME,
    HOP_GENERATION, // + generation
    HOP_GENERATION_LAST = HOP_GENERATION + 3,
    LL_RATE, // + generation
    LL_RATE_LAST = LL_RATE + 3,
    RING_LAST_STEP,
    LL_SHARE,
    LL128_SHARE,
    NETWORK_LL_SHARE,
    NETWORK_LL128_SHARE,
    SLINGSHOT_POST_TIME,
    FILL_INSIDE, // + age
    FILL_INSIDE_LAST = FILL_INSIDE + 1,
    FILL_BETWEEN, // + age
    FILL_BETWEEN_LAST = FILL_BETWEEN + 1,
    FILL_BYTES,
    TREE_HOP,
    TREE_SHARE,
    TREE_NETWORK_SHARE,
    TREE_FILL,
    NVLS_TIME,
    NVLS_RAMP_TIME,
    NVLS_SLOW_TIME,
    NVLS_SLOW_BYTES,
    NVLS_SHARE, // + 0 Hopper, 1 Blackwell
    NVLS_SHARE_LAST = NVLS_SHARE + 1,
    NVLS_TREE_TIME,
    NVLS_TREE_SHARE, // + 0 Hopper, 1 Blackwell
    NVLS_TREE_SHARE_LAST = NVLS_TREE_SHARE + 1,
    PAIR_FLOOR,
    PAIR_MESSAGE_TIME,
    PAIR_NETWORK_TIME,
    PAIR_FILL, // + age
    PAIR_FILL_LAST = PAIR_FILL + 1,
    PAIR_FILL_BYTES,
    PAIR_CHANNEL_RATE, // + generation
    PAIR_CHANNEL_RATE_LAST = PAIR_CHANNEL_RATE + 3,
    PAIR_RATE,
    EXCHANGE_SHARE,
    BROADCAST_HOP,
    BROADCAST_BYTES,
    CHAIN_FILL,
    PROCESS_LAUNCH_TIME,
    THREAD_LAUNCH_TIME,
    PCIE_PEER_SHARE, // + age
    PCIE_PEER_SHARE_LAST = PCIE_PEER_SHARE + 1,
    STAGED_SHARE, // + 0 to PCIe 3, 1 since
    STAGED_SHARE_LAST = STAGED_SHARE + 1,
    BRIDGE_DUPLEX_SHARE,
    BRIDGE_SHARE,
    BOUNCED_SHARE,
    FAR_RATE,
    SOCKET_RATE,
    TIME_SLICE,
    // A platform against all others: factors that `lockstep validate collectives --fit-on` finds, 1 usual.
    PLATFORM_FLOOR,
    PLATFORM_LAUNCH,
    PLATFORM_INSIDE_HOP,
    PLATFORM_BETWEEN_HOP,
    PLATFORM_FILL,
    PLATFORM_INSIDE_RATE,
    PLATFORM_BETWEEN_RATE,
    PLATFORM_PAIR,
    PLATFORM_LONG_RATE,
    PLATFORM_LONG_BYTES,
    CONSTANT_COUNT
} ConstantId;

// What a fit may move: those of the whole model, those of one platform, none.
typedef enum ConstantScope { SCOPE_SHARED, SCOPE_PLATFORM, SCOPE_FIXED } ConstantScope;

typedef struct ConstantRow {
    const char *name, *unit;
    double scale;        // SI per unit
    double value;        // shipped, in the unit
    double uncertainty;  // of the value, relative: standard error of the fit, or our judgement where nothing was fitted
    double prior;        // known without the logs, in the unit: where fits start and what pulls on them
    double prior_spread; // standard deviation of its logarithm
    ConstantScope scope;
    const char *source; // of the prior
} ConstantRow;

extern const ConstantRow constant_rows[CONSTANT_COUNT];

// The constants of a platform that measurements determine: NodeShape.collective_factors multiplies them. The first
// NODE_FACTORS are measured inside one node, the others between nodes.
enum { NODE_FACTORS = 4, MEASURED_FACTORS = 7 };
extern const ConstantId measured_factors[MEASURED_FACTORS];

// Rules that apply to some GPUs, networks or versions only. Each can be switched off, to measure its effect on
// machines that were left out (lockstep validate collectives --rules).
typedef enum RuleId {
    RULE_STAGED_PHASES,
    RULE_FILL_BY_AGE,
    RULE_TREE_UNDERRATED,
    RULE_FIRST_EFA,
    RULE_SLINGSHOT_POSTS,
    RULE_RENDEZVOUS,
    RULE_FAR_NICS,
    RULE_ACROSS_SOCKETS,
    RULE_HOST_BRIDGE,
    RULE_SOCKETS_BY_ROOT,
    RULE_PAIR_PARTS,
    RULE_PAIR_RATE,
    RULE_FILL_SIMPLE,
    RULE_HOPS_HIDE,
    RULE_RING_LAST_STEP,
    RULE_HOP_GENERATION,
    RULE_LL_RATE,
    RULE_TUNER,
    RULE_PAIR_PROTOCOL,
    RULE_STAGED_BY_SLOT,
    RULE_PEER_BY_AGE,
    RULE_FLOOR_BETWEEN,
    RULE_COUNT
} RuleId;

typedef struct RuleRow {
    const char *name, *source;
    bool learned; // from measured logs alone, not from a software's source
} RuleRow;

extern const RuleRow rule_rows[RULE_COUNT];

// A set of values in SI units, when others than the shipped ones are tried.
typedef struct NcclConstants {
    double values[CONSTANT_COUNT];
    bool without[RULE_COUNT];
} NcclConstants;

NcclConstants nccl_constants_shipped(void);
NcclConstants nccl_constants_prior(void); // the shared ones as known without any log

// ---- Back ends that work on host memory.
typedef struct HostConstants {
    double software_seconds;         // per message, on top of the network's latency
    double local_seconds;            // per message within a node
    double process_bytes_per_second; // what one process moves at most
    double local_copies;             // bytes through host memory per byte between processes of a node
} HostConstants;

HostConstants host_constants(Backend backend); // of Gloo or MPI

// How much longer a software step between nodes takes than on InfiniBand (1.75 us one way): the power is 3/4, by
// square roots; the rest of a transport's factor is its TRANSPORT_HOP.
double latency_factor(double network_seconds);

// ---- Fitted and assumed numbers of links, of back ends on host memory, and of the uncertainty of a collective's time.

typedef enum NetworkConstantId {
    NVLINK_SHARE,
    CUBE_MESH_SHARE,
    PCIE_SHARE,
    LINK_LATENCY, // + LayoutLinkKind, to LINK_MEMORY
    LINK_LATENCY_LAST = LINK_LATENCY + 3,
    LARGE_BYTES,
    LONG_BYTES,
    MODEL_LONG,
    MODEL_LARGE,
    MODEL_SMALL,
    HOST_MEMORY,
    BOUNCED_SPREAD,
    PEER_SPREAD,
    SOCKET_SPREAD,
    SLINGSHOT_SPREAD,
    ETHERNET_SPREAD,
    ETHERNET_SPREAD_SMALL,
    GLOO_MESSAGE_TIME,
    GLOO_LOCAL_TIME,
    GLOO_PROCESS_RATE,
    GLOO_COPIES,
    MPI_MESSAGE_TIME,
    MPI_LOCAL_TIME,
    MPI_PROCESS_RATE,
    MPI_COPIES,
    UNSAID_LAUNCH,
    UNSAID_LAUNCH_SMALL,
    UNSAID_NCCL_VERSION,
    UNSAID_NCCL_VERSION_SMALL,
    UNSAID_GDR,
    UNSAID_GDR_SMALL,
    UNSAID_NIC_RATE,
    UNSAID_NIC_RATE_SMALL,
    UNSAID_NICS,
    UNSAID_NICS_SMALL,
    UNSAID_TRANSPORT,
    UNSAID_TRANSPORT_SMALL,
    UNSAID_SWITCH_GPUS,
    UNSAID_SWITCH_GPUS_SMALL,
    UNSAID_SOCKETS,
    UNSAID_SOCKETS_SMALL,
    UNSAID_GPU,
    UNSAID_GPU_SMALL,
    NETWORK_CONSTANT_COUNT
} NetworkConstantId;

extern const Constant network_constants[NETWORK_CONSTANT_COUNT];

static inline double network_constant(NetworkConstantId id) { return network_constants[id].value; }

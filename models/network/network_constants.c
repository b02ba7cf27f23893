#include "models/network/network_constants.h"

#include <math.h>

#include "models/network/topology.h"

// ---- The constants' table. Priors are known without measured collectives: NCCL's own tuner, its protocols, data
// sheets, or an order of magnitude with a wide spread. Values are one fit to the logs of calibrate/measurements/nccl
// (lockstep validate collectives --refit prints it). Fixed rows follow their source.

#define US "us", 1e-6
#define MB "MB", 1e6
#define GBS "GB/s", 1e9
#define ONE "", 1
#define TUNER "NCCL graph/tuning.cc"
#define OWN "order of magnitude"

// clang-format off
const ConstantRow constant_rows[CONSTANT_COUNT] = {
    // name                             unit, value, uncertainty, prior, spread, scope, source of the prior
    [FLOOR_TIME + 0]        = {"floor, Volta and older",        US, 6.03, 0.06, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 1]        = {"floor, Ampere",                 US, 8.74, 0.04, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 2]        = {"floor, Hopper and Ada",         US, 5.77, 0.04, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 3]        = {"floor, Blackwell",              US, 7.7, 0.04, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_BETWEEN]         = {"floor, what several nodes add", US, 2.22, 0.16, 2, 0.7, SCOPE_SHARED, "a proxy is told and polls; " OWN},
    [HOP_TIME + 0]          = {"hop, NVLink, LL",               US, 0.763, 0.05, 0.6, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 1]          = {"hop, NVLink, LL128",            US, 2.11, 0.09, 1.9, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 2]          = {"hop, NVLink, Simple",           US, 3.75, 0.05, 3.4, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 3]          = {"hop, PCIe, LL",                 US, 0.995, 0.08, 1.0, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 4]          = {"hop, PCIe, LL128",              US, 2.5, 0.06, 2.5, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 5]          = {"hop, PCIe, Simple",             US, 9.09, 0.06, 5.7, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 6]          = {"hop, host memory, LL",          US, 1.01, 0.06, 1.0, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 7]          = {"hop, host memory, LL128",       US, 2.5, 0.06, 2.5, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 8]          = {"hop, host memory, Simple",      US, 5.2, 0.06, 5.7, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [RAMP_TIME + 0]         = {"hop, per doubling of channels, LL",     US, 0.0918, 0.14, 0.1, 0.8, SCOPE_SHARED, OWN},
    [RAMP_TIME + 1]         = {"hop, per doubling of channels, LL128",  US, 0.2, 0.17, 0.2, 0.8, SCOPE_SHARED, OWN},
    [RAMP_TIME + 2]         = {"hop, per doubling of channels, Simple", US, 0.427, 0.15, 0.4, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_HOP_TIME + 0]  = {"hop, network, LL",              US, 5.49, 0.05, 5.0, 0.5, SCOPE_SHARED, TUNER ": tree, network"},
    [NETWORK_HOP_TIME + 1]  = {"hop, network, LL128",           US, 5.93, 0.11, 6.0, 0.5, SCOPE_SHARED, TUNER ": between ring and tree, network"},
    [NETWORK_HOP_TIME + 2]  = {"hop, network, Simple",          US, 15.2, 0.06, 14, 0.5, SCOPE_SHARED, TUNER ": network"},
    [NETWORK_RAMP_TIME + 0] = {"hop, network, per doubling of channels, LL",     US, 1.29, 0.17, 1, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_RAMP_TIME + 1] = {"hop, network, per doubling of channels, LL128",  US, 0.654, 0.19, 0.7, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_RAMP_TIME + 2] = {"hop, network, per doubling of channels, Simple", US, 3.01, 0.16, 3, 0.8, SCOPE_SHARED, OWN},
    [TRANSPORT_HOP + NET_INFINIBAND] = {"hop, InfiniBand against its latency", ONE, 1.02, 0.02, 1, 0.1, SCOPE_SHARED, "the reference"},
    [TRANSPORT_HOP + NET_ROCE]       = {"hop, RoCE against its latency",       ONE, 1.06, 0.07, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_EFA]        = {"hop, EFA against its latency",        ONE, 1.07, 0.05, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_SLINGSHOT]  = {"hop, Slingshot against its latency",  ONE, 1.06, 0.05, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_TCP]        = {"hop, TCP against its latency",        ONE, 0.953, 0.07, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_TCPX]       = {"hop, GPUDirect-TCPX against its latency", ONE, 1.01, 0.05, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_RATE + NET_INFINIBAND] = {"rate, InfiniBand against the catalogue", ONE, 0.994, 0.01, 0.99, 0.1, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_ROCE]       = {"rate, RoCE against the catalogue",       ONE, 1.02, 0.02, 1.1, 0.15, SCOPE_SHARED, "some paths collide"},
    [TRANSPORT_RATE + NET_EFA]        = {"rate, EFA against the catalogue",        ONE, 1.03, 0.02, 1.06, 0.1, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_SLINGSHOT]  = {"rate, Slingshot against the catalogue",  ONE, 1.12, 0.02, 1.17, 0.15, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_TCP]        = {"rate, TCP against the catalogue",        ONE, 0.906, 0.05, 1, 0.3, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_TCPX]       = {"rate, GPUDirect-TCPX against the catalogue", ONE, 0.983, 0.02, 0.97, 0.15, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [BOUNCED_HOP]           = {"hop, bounced in host memory against RDMA", ONE, 0.662, 0.06, 0.8, 0.4, SCOPE_SHARED, "no flush read after each receive; " OWN},
    [RENDEZVOUS_TIME]       = {"hop, what a rendezvous adds",   US, 6.18, 0.09, 5.0, 0.5, SCOPE_SHARED, "a round trip: as a hop of LL"},
    [HOP_GENERATION + 0]    = {"hop, NVLink, LL, Volta and older against Hopper", ONE, 1.19, 0.05, 1.2, 0.3, SCOPE_SHARED, "clocks of the SMs; " OWN},
    [HOP_GENERATION + 1]    = {"hop, NVLink, LL, Ampere against Hopper",          ONE, 1.24, 0.05, 1.2, 0.3, SCOPE_SHARED, "clocks of the SMs; " OWN},
    [HOP_GENERATION + 2]    = {"hop, NVLink, LL, Hopper",                         ONE, 1, 0.05, 1, 0, SCOPE_FIXED, "the reference"},
    [HOP_GENERATION + 3]    = {"hop, NVLink, LL, Blackwell against Hopper",       ONE, 1.68, 0.05, 1.7, 0.3, SCOPE_SHARED, "two dies; " OWN},
    [LL_RATE + 0]           = {"LL of one GPU, Volta and older", GBS, 38.8, 0.07, 39, 0.4, SCOPE_SHARED, TUNER ": llMaxBws, one node"},
    [LL_RATE + 1]           = {"LL of one GPU, Ampere",         GBS, 83, 0.08, 87.7, 0.4, SCOPE_SHARED, TUNER ": llMaxBws, one node"},
    [LL_RATE + 2]           = {"LL of one GPU, Hopper and Ada", GBS, 147, 0.07, 141, 0.4, SCOPE_SHARED, TUNER ": llMaxBws, one node"},
    [LL_RATE + 3]           = {"LL of one GPU, Blackwell",      GBS, 265, 0.06, 282, 0.4, SCOPE_SHARED, TUNER ": llMaxBws, one node"},
    [RING_LAST_STEP]        = {"last step of a ring over NVLink, against the others", ONE, 0.495, 0.08, 0.5, 0.5, SCOPE_SHARED, "copies what has come; " OWN},
    [LL_SHARE]              = {"LL of NVLink",                  ONE, 0.496, 0.04, 0.5, 0.2, SCOPE_SHARED, "8 of 16 bytes are data"},
    [LL128_SHARE]           = {"LL128 of NVLink",               ONE, 0.888, 0.02, 0.9375, 0.1, SCOPE_SHARED, "120 of 128 bytes are data"},
    [NETWORK_LL_SHARE]      = {"LL of NICs",                    ONE, 0.378, 0.08, 0.4, 0.4, SCOPE_SHARED, "8 of 16 bytes are data, and small messages"},
    [NETWORK_LL128_SHARE]   = {"LL128 of NICs",                 ONE, 0.939, 0.02, 0.9375, 0.1, SCOPE_SHARED, "120 of 128 bytes are data"},
    [SLINGSHOT_POST_TIME]   = {"each message of a proxy over Slingshot", US, 9.08, 0.06, 4, 1, SCOPE_SHARED, "matched in software; " OWN},
    [FILL_INSIDE + 0]       = {"fill of chunks in a node, to 2.8",   US, 28, 0.11, 20, 1, SCOPE_SHARED, "a 512 KiB step of a 25 GB/s channel"},
    [FILL_INSIDE + 1]       = {"fill of chunks in a node, from 2.9", US, 17.7, 0.08, 15, 1, SCOPE_SHARED, "a 512 KiB step of a 35 GB/s channel"},
    [FILL_BETWEEN + 0]      = {"fill of chunks between nodes, to 2.8",   US, 21.7, 0.16, 20, 1, SCOPE_SHARED, "a 512 KiB step of a 25 GB/s NIC"},
    [FILL_BETWEEN + 1]      = {"fill of chunks between nodes, from 2.9", US, 8.42, 0.14, 10, 1, SCOPE_SHARED, "a 512 KiB step of a 50 GB/s NIC"},
    [FILL_BYTES]            = {"size at which half the fill shows", MB, 0.173, 0.15, 0.5, 1, SCOPE_SHARED, "a step"},
    [TREE_HOP]              = {"hop, tree against ring",        ONE, 1.04, 0.06, 1, 0.3, SCOPE_SHARED, TUNER},
    [TREE_SHARE]            = {"tree of NVLink",                ONE, 0.82, 0.01, 0.78, 0.15, SCOPE_SHARED, TUNER ": 0.92 x 0.85"},
    [TREE_NETWORK_SHARE]    = {"tree of NICs, from three nodes on", ONE, 0.69, 0.04, 0.75, 0.2, SCOPE_SHARED, TUNER ": 0.92, by 0.7 to 0.9 from 16 to 256 MB"},
    [TREE_FILL]             = {"chunks in flight per level of a tree", ONE, 1.26, 0.09, 1, 0.5, SCOPE_SHARED, "each level passes whole chunks on"},
    [NVLS_TIME]             = {"NVLS, start",                   US, 17.3, 0.11, 18, 0.5, SCOPE_SHARED, TUNER ": 23 to 25 us, of which the ring's base"},
    [NVLS_RAMP_TIME]        = {"NVLS, per doubling of channels", US, 0.977, 0.19, 1, 0.8, SCOPE_SHARED, OWN},
    [NVLS_SLOW_TIME]        = {"NVLS, slow approach",           US, 156, 0.11, 100, 1, SCOPE_SHARED, OWN},
    [NVLS_SLOW_BYTES]       = {"NVLS, size of half the slow approach", MB, 48.3, 0.18, 40, 1, SCOPE_SHARED, OWN},
    [NVLS_SHARE + 0]        = {"NVLS of NVLink, Hopper",        ONE, 0.733, 0.02, 0.72, 0.15, SCOPE_SHARED, TUNER ": 0.85 of 20.6 GB/s a link"},
    [NVLS_SHARE + 1]        = {"NVLS of NVLink, Blackwell",     ONE, 0.554, 0.02, 0.60, 0.2, SCOPE_SHARED, TUNER ": 0.74 of 40.1 GB/s a link"},
    [NVLS_TREE_TIME]        = {"NVLSTree, start",               US, 24.3, 0.11, 25, 0.5, SCOPE_SHARED, TUNER},
    [NVLS_TREE_SHARE + 0]   = {"NVLSTree of NVLink, Hopper",    ONE, 0.563, 0.02, 0.6, 0.2, SCOPE_SHARED, "NVLS and a tree at once; " OWN},
    [NVLS_TREE_SHARE + 1]   = {"NVLSTree of NVLink, Blackwell", ONE, 0.468, 0.02, 0.5, 0.2, SCOPE_SHARED, "NVLS and a tree at once; " OWN},
    [PAIR_FLOOR]            = {"floor, messages against collectives", ONE, 1.11, 0.04, 1.3, 0.3, SCOPE_SHARED, OWN},
    [PAIR_MESSAGE_TIME]     = {"each further message",          US, 0.761, 0.14, 1, 0.7, SCOPE_SHARED, OWN},
    [PAIR_NETWORK_TIME]     = {"each message between nodes",    US, 3.51, 0.09, 2, 0.7, SCOPE_SHARED, OWN},
    [PAIR_FILL + 0]         = {"fill of a message, to Ampere",  US, 63.3, 0.2, 60, 1, SCOPE_SHARED, "a few steps of 128 to 512 KiB"},
    [PAIR_FILL + 1]         = {"fill of a message, from Hopper", US, 58.2, 0.19, 60, 1, SCOPE_SHARED, "a few steps of 128 to 512 KiB"},
    [PAIR_FILL_BYTES]       = {"size at which the fill of a message is whole", MB, 1.81, 0.21, 2, 1, SCOPE_SHARED, "a few steps of 512 KiB"},
    [PAIR_CHANNEL_RATE + 0] = {"a channel of a message, Volta and older", GBS, 10, 0.03, 10, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 1] = {"a channel of a message, Ampere", GBS, 15.2, 0.04, 14, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 2] = {"a channel of a message, Hopper and Ada", GBS, 20.6, 0.04, 20, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 3] = {"a channel of a message, Blackwell", GBS, 27.6, 0.03, 28, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_RATE]             = {"one pair over a NIC",           GBS, 27.1, 0.04, 28, 0.3, SCOPE_SHARED, "NCCL paths.cc: two channels of 14 GB/s"},
    [EXCHANGE_SHARE]        = {"all_to_all of links",           ONE, 0.935, 0.02, 0.93, 0.1, SCOPE_SHARED, OWN},
    [BROADCAST_HOP]         = {"hops of broadcast and reduce that show", ONE, 1.3, 0.09, 1, 0.5, SCOPE_SHARED, "nccl-tests' iterations overlap"},
    [BROADCAST_BYTES]       = {"size at which half of them show", MB, 0.258, 0.17, 0.3, 1, SCOPE_SHARED, OWN},
    [CHAIN_FILL]            = {"chunks in flight per rank of a broadcast", ONE, 1.04, 0.09, 1, 0.5, SCOPE_SHARED, "one each"},
    [PROCESS_LAUNCH_TIME]   = {"launch, per GPU of one process", US, 4.42, 0.02, 3, 0.4, SCOPE_SHARED, "a CUDA launch"},
    [THREAD_LAUNCH_TIME]    = {"launch, per further thread of one process", US, 2.66, 0.06, 1.5, 0.7, SCOPE_SHARED, "threads wait for one lock; " OWN},
    [PCIE_PEER_SHARE + 0]   = {"GPU to GPU over PCIe of raw, before 2022", ONE, 0.504, 0.03, 0.6, 0.25, SCOPE_SHARED, "15 to 21 of 31.5 GB/s are usual"},
    [PCIE_PEER_SHARE + 1]   = {"GPU to GPU over PCIe of raw, since 2022", ONE, 0.743, 0.03, 0.75, 0.25, SCOPE_SHARED, "bidirectional tests: 50 of 63 GB/s"},
    [STAGED_SHARE + 0]      = {"one way of one GPU over host memory of raw, to PCIe 3", ONE, 0.677, 0.02, 0.67, 0.2, SCOPE_SHARED, "copies without peer access: 0.67 to 0.85 of what a slot carries one way"},
    [STAGED_SHARE + 1]      = {"one way of one GPU over host memory of raw, from PCIe 4", ONE, 0.501, 0.02, 0.6, 0.3, SCOPE_SHARED, "copies without peer access: 0.67 to 0.85 of what a slot carries one way"},
    [BRIDGE_DUPLEX_SHARE]   = {"in + out of one GPU to a NIC over a host bridge of raw", ONE, 0.729, 0.04, 0.75, 0.4, SCOPE_SHARED, "NCCL graph/topo.h: 24 of 31.5 GB/s, shared by both ways"},
    [BRIDGE_SHARE]          = {"one way of one GPU to a NIC over a host bridge of raw", ONE, 0.736, 0.03, 0.75, 0.3, SCOPE_SHARED, OWN},
    [BOUNCED_SHARE]         = {"in + out of one GPU bounced in host memory of raw", ONE, 0.452, 0.03, 0.75, 0.5, SCOPE_SHARED, "NCCL graph/topo.h: 24 of 31.5 GB/s, shared by both ways"},
    [FAR_RATE]              = {"each way of a GPU to a NIC far off in the root complex", GBS, 5.86, 0.03, 8, 0.5, SCOPE_SHARED, "NCCL graph/topo.h: 16 GB/s between AMD's sockets, shared by both ways"},
    [SOCKET_RATE]           = {"TCP of one interface",          GBS, 2.72, 0.05, 3, 0.3, SCOPE_SHARED, "two connections, each bound to one core"},
    [TIME_SLICE]            = {"turn of one of several processes on a GPU", US, 2000, 0.1, 2000, 0, SCOPE_FIXED, "nvidia-smi compute-policy: medium, the default"},
    [PLATFORM_FLOOR]        = {"platform: floor",               ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_LAUNCH]       = {"platform: launch",              ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_INSIDE_HOP]   = {"platform: hop in a node",       ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_BETWEEN_HOP]  = {"platform: hop between nodes",   ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_FILL]         = {"platform: fill",                ONE, 1, 0, 1, 0.7, SCOPE_PLATFORM, "as all"},
    [PLATFORM_INSIDE_RATE]  = {"platform: rate in a node",      ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_BETWEEN_RATE] = {"platform: rate between nodes",  ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_PAIR]         = {"platform: rate of a pair",      ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as all"},
    [PLATFORM_LONG_RATE]    = {"platform: rate of long payloads", ONE, 1, 0, 1, 0.5, SCOPE_PLATFORM, "as of all"},
    [PLATFORM_LONG_BYTES]   = {"platform: where long payloads begin", MB, INFINITY, 0, INFINITY, 0, SCOPE_FIXED, "nowhere, unless --fit-on finds a step"},
};
// clang-format on

// clang-format off
const RuleRow rule_rows[RULE_COUNT] = {
    [RULE_STAGED_PHASES]   = {"a ring over host memory takes a step more than it has", "NCCL device/all_gather.h: sends first, receives last", false},
    [RULE_FILL_BY_AGE]     = {"fill of chunks is shorter from 2.9 on", "logs of 2.8 against later ones", true},
    [RULE_TREE_UNDERRATED] = {"trees of two nodes are not taken for what they save", "NCCL graph/search.cc", true},
    [RULE_FIRST_EFA]       = {"the first EFA's plug-in leaves Simple only", "aws-ofi-nccl: sets NCCL_PROTO=simple before RDMA", false},
    [RULE_SLINGSHOT_POSTS] = {"proxies over Slingshot post messages one by one", "libfabric cxi: matched in software", true},
    [RULE_RENDEZVOUS]      = {"long messages over Slingshot agree first", "libfabric cxi: eager to 18 KiB, sites set 0", false},
    [RULE_FAR_NICS]        = {"GPUs far from the NICs have a pace of their own", "NCCL graph/topo.h: 16 GB/s between AMD's sockets", true},
    [RULE_ACROSS_SOCKETS]  = {"RDMA across sockets goes at the pace of far GPUs", "NCCL graph/topo.h: 16 GB/s between AMD's sockets", false},
    [RULE_HOST_BRIDGE]     = {"RDMA over a host bridge is slower than the slot", "NCCL graph/topo.h: 24 of 31.5 GB/s", true},
    [RULE_SOCKETS_BY_ROOT] = {"several interfaces carry the root of their number", "all bytes pass host memory three or four times", true},
    [RULE_PAIR_PARTS]      = {"messages in a node share channels from 2.22 on", "NCCL enqueue.cc", false},
    [RULE_PAIR_RATE]       = {"one connection between nodes has a most", "NCCL graph/paths.cc: two channels of 14 GB/s", false},
    [RULE_FILL_SIMPLE]     = {"since 2.9 only Simple fills chunks within a node", "steps of LL and LL128 are of 32 KB to 0.5 MB", true},
    [RULE_HOPS_HIDE]       = {"hops over NVLink hide behind the bytes of their steps", "NCCL device.h: two slices to a chunk", false},
    [RULE_RING_LAST_STEP]  = {"a ring over NVLink takes half a step more than it has", "NCCL device/all_gather.h: receives last", false},
    [RULE_HOP_GENERATION]  = {"hops of LL over NVLink differ by generation", "logs", true},
    [RULE_LL_RATE]         = {"LL has a most of its own by generation", "NCCL graph/tuning.cc: llMaxBws", false},
    [RULE_PAIR_PROTOCOL]   = {"messages in a node take LL or Simple by their size", "NCCL enqueue.cc", false},
    [RULE_STAGED_BY_SLOT]  = {"staging in host memory goes by the slot's generation", "copies without peer access: 0.67 of raw", false},
    [RULE_PEER_BY_AGE]     = {"peer access over PCIe goes by the platform's age", "bidirectional tests: 50 of 63 GB/s", false},
    [RULE_FLOOR_BETWEEN]   = {"several nodes take longer to start", "logs", true},
    [RULE_TUNER]           = {"within an NVSwitch NCCL chooses by its own table", "NCCL graph/tuning.cc", false},
};
// clang-format on

const ConstantId measured_factors[MEASURED_FACTORS] = {
    PLATFORM_FLOOR,       PLATFORM_INSIDE_HOP,   PLATFORM_FILL, PLATFORM_INSIDE_RATE,
    PLATFORM_BETWEEN_HOP, PLATFORM_BETWEEN_RATE, PLATFORM_PAIR};

NcclConstants nccl_constants_shipped(void) {
    NcclConstants constants = {0};
    for (int i = 0; i < CONSTANT_COUNT; i++) constants.values[i] = constant_rows[i].value * constant_rows[i].scale;
    return constants;
}

NcclConstants nccl_constants_prior(void) {
    NcclConstants constants = {0};
    for (int i = 0; i < CONSTANT_COUNT; i++) constants.values[i] = constant_rows[i].prior * constant_rows[i].scale;
    return constants;
}

double latency_factor(double network_seconds) {
    double share = network_seconds / 1.75e-6;
    return sqrt(share * sqrt(share));
}

// ---- The table of network constants.

_Static_assert(LINK_LATENCY_LAST == LINK_LATENCY + LINK_MEMORY, "one latency for each kind of link but NICs");

// clang-format off
const Constant network_constants[NETWORK_CONSTANT_COUNT] = {
    // name, unit, value, sigma, kind, source, basis
    [NVLINK_SHARE] = {"payload of NVLink, of raw", "", 0.786, 0.04, CONSTANT_MEASURED, "busbw at 16 GiB: 235 of 300 GB/s, 367 of 450, 682 of 900", "A100, H100, B200: 3 machines"},
    [CUBE_MESH_SHARE] = {"payload of V100's cube mesh, of raw", "", 0.895, 0.05, CONSTANT_MEASURED, "busbw: 134.6 of 150 GB/s", "1 machine"},
    [PCIE_SHARE] = {"payload of PCIe, of raw", "", 0.80, 0.05, CONSTANT_MEASURED, "pinned copies: 12.3 of 15.75 GB/s, 25 of 31.5", "2 generations"},
    [LINK_LATENCY + LINK_NVLINK] = {"latency of an NVLink hop", "s", 0.3e-6, 0.5, CONSTANT_ASSUMED, "through a switch about 0.6 us under software; order of magnitude", "nothing measured"},
    [LINK_LATENCY + LINK_PCIE] = {"latency of a PCIe hop", "s", 0.25e-6, 0.5, CONSTANT_ASSUMED, "0.15 to 0.3 us, vendors' figures", "nothing measured"},
    [LINK_LATENCY + LINK_SOCKET] = {"latency between sockets", "s", 0.2e-6, 0.5, CONSTANT_ASSUMED, "vendors' figures, order of magnitude", "nothing measured"},
    [LINK_LATENCY + LINK_MEMORY] = {"latency of host memory", "s", 0.1e-6, 0.5, CONSTANT_ASSUMED, "vendors' figures, order of magnitude", "nothing measured"},
    [LARGE_BYTES] = {"size from which a collective counts as large in its uncertainty", "B", 65536, 0.5, CONSTANT_ASSUMED, "where rates begin to matter beside latency", "nothing measured"},
    [LONG_BYTES] = {"size from which rates decide alone", "B", 67108864, 0.5, CONSTANT_ASSUMED, "from here on chunks and hops are a few per cent", "nothing measured"},
    [MODEL_LONG] = {"sigma of the model's own error from 64 MiB", "", 0.15, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "43 machines"},
    [MODEL_LARGE] = {"sigma of the model's own error from 64 KiB to 64 MiB", "", 0.26, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "37 machines"},
    [MODEL_SMALL] = {"sigma of the model's own error below 64 KiB", "", 0.25, 0.2, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "30 machines"},
    [HOST_MEMORY] = {"sigma of large collectives staged in host memory, besides", "", 0.5, 0.3, CONSTANT_MEASURED, "hosts with the same slots differ by a factor of four in how fast GPUs pass bytes by host memory", "5 machines"},
    [BOUNCED_SPREAD] = {"sigma of large messages that bounce in host memory, besides", "", 0.3, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "5 machines"},
    [PEER_SPREAD] = {"sigma of large collectives over PCIe, besides", "", 0.25, 0.3, CONSTANT_MEASURED, "15 to 21 of 31.5 GB/s within one machine", "2 machines"},
    [SOCKET_SPREAD] = {"sigma over TCP, besides", "", 0.45, 0.3, CONSTANT_MEASURED, "one connection moves 0.6 to 5 GB/s", "5 machines"},
    [SLINGSHOT_SPREAD] = {"sigma over Slingshot, besides", "", 0.35, 0.3, CONSTANT_MEASURED, "sites set the provider differently, and share global links", "3 machines"},
    [ETHERNET_SPREAD] = {"sigma of large collectives over RoCE, EFA and TCPX, besides", "", 0.15, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "12 machines"},
    [ETHERNET_SPREAD_SMALL] = {"sigma of small collectives over RoCE, EFA and TCPX, besides", "", 0.3, 0.3, CONSTANT_MEASURED, "machines left out (validate collectives --nested): their 90th percentile, by 1.645", "7 machines"},
    [GLOO_MESSAGE_TIME] = {"Gloo, each message", "s", 20e-6, 0.5, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_LOCAL_TIME] = {"Gloo, each message within a node", "s", 15e-6, 0.5, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_PROCESS_RATE] = {"Gloo, what one process moves", "B/s", 3e9, 0.4, CONSTANT_ASSUMED, "usual of one TCP connection", "nothing measured"},
    [GLOO_COPIES] = {"Gloo, bytes through host memory per byte within a node", "", 4, 0.3, CONSTANT_ASSUMED, "copy in and copy out, each read and written", "nothing measured"},
    [MPI_MESSAGE_TIME] = {"Open MPI, each message", "s", 1e-6, 0.5, CONSTANT_ASSUMED, "usual over verbs", "nothing measured"},
    [MPI_LOCAL_TIME] = {"Open MPI, each message within a node", "s", 0.7e-6, 0.5, CONSTANT_ASSUMED, "usual over shared memory", "nothing measured"},
    [MPI_PROCESS_RATE] = {"Open MPI, what one process moves", "B/s", 10e9, 0.4, CONSTANT_ASSUMED, "what one core copies", "nothing measured"},
    [MPI_COPIES] = {"Open MPI, bytes through host memory per byte within a node", "", 4, 0.3, CONSTANT_ASSUMED, "copy in and copy out, each read and written", "nothing measured"},
    [UNSAID_LAUNCH] = {"sigma where nobody says: launch, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one process for 8 GPUs takes 20 us, 8 processes 10", "nothing measured"},
    [UNSAID_LAUNCH_SMALL] = {"sigma where nobody says: launch, small collectives", "", 0.35, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one process for 8 GPUs takes 20 us, 8 processes 10", "nothing measured"},
    [UNSAID_NCCL_VERSION] = {"sigma where nobody says: NCCL's version, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: other tuning", "nothing measured"},
    [UNSAID_NCCL_VERSION_SMALL] = {"sigma where nobody says: NCCL's version, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: other tuning", "nothing measured"},
    [UNSAID_GDR] = {"sigma where nobody says: GPUDirect, large collectives", "", 0.35, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: host memory instead", "nothing measured"},
    [UNSAID_GDR_SMALL] = {"sigma where nobody says: GPUDirect, small collectives", "", 0.2, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: host memory instead", "nothing measured"},
    [UNSAID_NIC_RATE] = {"sigma where nobody says: a NIC's rate, large collectives", "", 0.7, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 100 to 400 Gb/s", "nothing measured"},
    [UNSAID_NIC_RATE_SMALL] = {"sigma where nobody says: a NIC's rate, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 100 to 400 Gb/s", "nothing measured"},
    [UNSAID_NICS] = {"sigma where nobody says: NICs per node, large collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one, or one for each GPU", "nothing measured"},
    [UNSAID_NICS_SMALL] = {"sigma where nobody says: NICs per node, small collectives", "", 0.1, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: one, or one for each GPU", "nothing measured"},
    [UNSAID_TRANSPORT] = {"sigma where nobody says: transport, large collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: InfiniBand or TCP", "nothing measured"},
    [UNSAID_TRANSPORT_SMALL] = {"sigma where nobody says: transport, small collectives", "", 0.5, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: InfiniBand or TCP", "nothing measured"},
    [UNSAID_SWITCH_GPUS] = {"sigma where nobody says: GPUs per PCIe switch, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1, 2 or 4", "nothing measured"},
    [UNSAID_SWITCH_GPUS_SMALL] = {"sigma where nobody says: GPUs per PCIe switch, small collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1, 2 or 4", "nothing measured"},
    [UNSAID_SOCKETS] = {"sigma where nobody says: CPU sockets, large collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1 or 2", "nothing measured"},
    [UNSAID_SOCKETS_SMALL] = {"sigma where nobody says: CPU sockets, small collectives", "", 0.05, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: 1 or 2", "nothing measured"},
    [UNSAID_GPU] = {"sigma where nobody says: GPU, large collectives", "", 0.3, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: the next generation", "nothing measured"},
    [UNSAID_GPU_SMALL] = {"sigma where nobody says: GPU, small collectives", "", 0.2, 0.3, CONSTANT_ASSUMED, "half the logarithm between the usual answers: the next generation", "nothing measured"},
};

// The constants' table. Priors are what is known without measured collectives: NCCL's own tuner, its protocols, data
// sheets, or an order of magnitude with a wide spread. Values are one fit to the logs of calibrate/measurements/nccl
// (lockstep validate collectives --refit prints it). Fixed rows are as their source says.
#include "models/network/constants.h"

#include <math.h>

#include "models/network/network_constants.h"

#define US "us", 1e-6
#define MB "MB", 1e6
#define GBS "GB/s", 1e9
#define ONE "", 1
#define TUNER "NCCL graph/tuning.cc"
#define OWN "order of magnitude"

// clang-format off
const ConstantRow constant_rows[CONSTANT_COUNT] = {
    // name                             unit, value, uncertainty, prior, spread, scope, source of the prior
    [FLOOR_TIME + 0]        = {"floor, Volta and older",        US, 5.83, 0.06, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 1]        = {"floor, Ampere",                 US, 7.88, 0.05, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 2]        = {"floor, Hopper and Ada",         US, 6.85, 0.06, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [FLOOR_TIME + 3]        = {"floor, Blackwell",              US, 6.57, 0.08, 6.6, 0.4, SCOPE_SHARED, TUNER ": base of a ring"},
    [SUPERCHIP_FLOOR]       = {"floor, superchip against others", ONE, 0.785, 0.06, 0.8, 0.3, SCOPE_SHARED, "launch without PCIe; " OWN},
    [HOP_TIME + 0]          = {"hop, NVLink, LL",               US, 0.827, 0.06, 0.6, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 1]          = {"hop, NVLink, LL128",            US, 1.6, 0.1, 1.9, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 2]          = {"hop, NVLink, Simple",           US, 2.63, 0.06, 3.4, 0.5, SCOPE_SHARED, TUNER ": ring, NVLink"},
    [HOP_TIME + 3]          = {"hop, PCIe, LL",                 US, 1, 0.19, 1.0, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 4]          = {"hop, PCIe, LL128",              US, 2.5, 0.25, 2.5, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 5]          = {"hop, PCIe, Simple",             US, 7.24, 0.12, 5.7, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 6]          = {"hop, host memory, LL",          US, 1.01, 0.19, 1.0, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 7]          = {"hop, host memory, LL128",       US, 2.5, 0.25, 2.5, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [HOP_TIME + 8]          = {"hop, host memory, Simple",      US, 4.42, 0.07, 5.7, 0.5, SCOPE_SHARED, TUNER ": ring, PCI"},
    [RAMP_TIME + 0]         = {"hop, per doubling of channels, LL",     US, 0.093, 0.19, 0.1, 0.8, SCOPE_SHARED, OWN},
    [RAMP_TIME + 1]         = {"hop, per doubling of channels, LL128",  US, 0.157, 0.18, 0.2, 0.8, SCOPE_SHARED, OWN},
    [RAMP_TIME + 2]         = {"hop, per doubling of channels, Simple", US, 0.334, 0.17, 0.4, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_HOP_TIME + 0]  = {"hop, network, LL",              US, 5.88, 0.05, 5.0, 0.5, SCOPE_SHARED, TUNER ": tree, network"},
    [NETWORK_HOP_TIME + 1]  = {"hop, network, LL128",           US, 6.04, 0.11, 6.0, 0.5, SCOPE_SHARED, TUNER ": between ring and tree, network"},
    [NETWORK_HOP_TIME + 2]  = {"hop, network, Simple",          US, 15.2, 0.06, 14, 0.5, SCOPE_SHARED, TUNER ": network"},
    [NETWORK_RAMP_TIME + 0] = {"hop, network, per doubling of channels, LL",     US, 1.37, 0.17, 1, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_RAMP_TIME + 1] = {"hop, network, per doubling of channels, LL128",  US, 0.645, 0.19, 0.7, 0.8, SCOPE_SHARED, OWN},
    [NETWORK_RAMP_TIME + 2] = {"hop, network, per doubling of channels, Simple", US, 3.11, 0.16, 3, 0.8, SCOPE_SHARED, OWN},
    [TRANSPORT_HOP + NET_INFINIBAND] = {"hop, InfiniBand against its latency", ONE, 1.01, 0.02, 1, 0.1, SCOPE_SHARED, "the reference"},
    [TRANSPORT_HOP + NET_ROCE]       = {"hop, RoCE against its latency",       ONE, 1.17, 0.06, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_EFA]        = {"hop, EFA against its latency",        ONE, 1.08, 0.05, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_SLINGSHOT]  = {"hop, Slingshot against its latency",  ONE, 1.04, 0.05, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_TCP]        = {"hop, TCP against its latency",        ONE, 0.979, 0.07, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_HOP + NET_TCPX]       = {"hop, GPUDirect-TCPX against its latency", ONE, 1.02, 0.1, 1, 0.4, SCOPE_SHARED, "latency alone"},
    [TRANSPORT_RATE + NET_INFINIBAND] = {"rate, InfiniBand against the catalogue", ONE, 1, 0.01, 0.99, 0.1, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_ROCE]       = {"rate, RoCE against the catalogue",       ONE, 1.02, 0.02, 1.1, 0.15, SCOPE_SHARED, "some paths collide"},
    [TRANSPORT_RATE + NET_EFA]        = {"rate, EFA against the catalogue",        ONE, 1.03, 0.02, 1.06, 0.1, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_SLINGSHOT]  = {"rate, Slingshot against the catalogue",  ONE, 1.12, 0.02, 1.17, 0.15, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_TCP]        = {"rate, TCP against the catalogue",        ONE, 0.911, 0.05, 1, 0.3, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [TRANSPORT_RATE + NET_TCPX]       = {"rate, GPUDirect-TCPX against the catalogue", ONE, 0.98, 0.037, 0.97, 0.15, SCOPE_SHARED, "data sheets and point-to-point measurements"},
    [BOUNCED_HOP]           = {"hop, bounced in host memory against RDMA", ONE, 0.646, 0.06, 0.8, 0.4, SCOPE_SHARED, "no flush read after each receive; " OWN},
    [RENDEZVOUS_TIME]       = {"hop, what a rendezvous adds",   US, 6.19, 0.09, 5.0, 0.5, SCOPE_SHARED, "a round trip: as a hop of LL"},
    [LL_SHARE]              = {"LL of NVLink",                  ONE, 0.504, 0.05, 0.5, 0.2, SCOPE_SHARED, "8 of 16 bytes are data"},
    [LL128_SHARE]           = {"LL128 of NVLink",               ONE, 0.929, 0.02, 0.9375, 0.1, SCOPE_SHARED, "120 of 128 bytes are data"},
    [NETWORK_LL_SHARE]      = {"LL of NICs",                    ONE, 0.372, 0.09, 0.4, 0.4, SCOPE_SHARED, "8 of 16 bytes are data, and small messages"},
    [NETWORK_LL128_SHARE]   = {"LL128 of NICs",                 ONE, 0.933, 0.02, 0.9375, 0.1, SCOPE_SHARED, "120 of 128 bytes are data"},
    [SLINGSHOT_POST_TIME]   = {"each message of a proxy over Slingshot", US, 9.15, 0.12, 4, 1, SCOPE_SHARED, "matched in software; " OWN},
    [FILL_INSIDE + 0]       = {"fill of chunks in a node, to Ampere",   US, 32.7, 0.08, 20, 1, SCOPE_SHARED, "a 512 KiB step of a 25 GB/s channel"},
    [FILL_INSIDE + 1]       = {"fill of chunks in a node, from Hopper", US, 9.11, 0.15, 15, 1, SCOPE_SHARED, "a 512 KiB step of a 35 GB/s channel"},
    [FILL_BETWEEN + 0]      = {"fill of chunks between nodes, to Ampere",   US, 34.2, 0.12, 20, 1, SCOPE_SHARED, "a 512 KiB step of a 25 GB/s NIC"},
    [FILL_BETWEEN + 1]      = {"fill of chunks between nodes, from Hopper", US, 8.78, 0.13, 10, 1, SCOPE_SHARED, "a 512 KiB step of a 50 GB/s NIC"},
    [FILL_BYTES]            = {"size at which half the fill shows", MB, 0.205, 0.14, 0.5, 1, SCOPE_SHARED, "a step"},
    [TREE_HOP]              = {"hop, tree against ring",        ONE, 1.09, 0.06, 1, 0.3, SCOPE_SHARED, TUNER},
    [TREE_SHARE]            = {"tree of NVLink",                ONE, 0.821, 0.02, 0.78, 0.15, SCOPE_SHARED, TUNER ": 0.92 x 0.85"},
    [TREE_NETWORK_SHARE]    = {"tree of NICs, from three nodes on", ONE, 0.694, 0.04, 0.75, 0.2, SCOPE_SHARED, TUNER ": 0.92, by 0.7 to 0.9 from 16 to 256 MB"},
    [TREE_FILL]             = {"chunks in flight per level of a tree", ONE, 1.2, 0.1, 1, 0.5, SCOPE_SHARED, "each level passes whole chunks on"},
    [NVLS_TIME]             = {"NVLS, start",                   US, 16.9, 0.12, 18, 0.5, SCOPE_SHARED, TUNER ": 23 to 25 us, of which the ring's base"},
    [NVLS_RAMP_TIME]        = {"NVLS, per doubling of channels", US, 0.963, 0.19, 1, 0.8, SCOPE_SHARED, OWN},
    [NVLS_SLOW_TIME]        = {"NVLS, slow approach",           US, 154, 0.12, 100, 1, SCOPE_SHARED, OWN},
    [NVLS_SLOW_BYTES]       = {"NVLS, size of half the slow approach", MB, 49.4, 0.19, 40, 1, SCOPE_SHARED, OWN},
    [NVLS_SHARE + 0]        = {"NVLS of NVLink, Hopper",        ONE, 0.73, 0.02, 0.72, 0.15, SCOPE_SHARED, TUNER ": 0.85 of 20.6 GB/s a link"},
    [NVLS_SHARE + 1]        = {"NVLS of NVLink, Blackwell",     ONE, 0.562, 0.05, 0.60, 0.2, SCOPE_SHARED, TUNER ": 0.74 of 40.1 GB/s a link"},
    [NVLS_TREE_TIME]        = {"NVLSTree, start",               US, 24.3, 0.12, 25, 0.5, SCOPE_SHARED, TUNER},
    [NVLS_TREE_SHARE + 0]   = {"NVLSTree of NVLink, Hopper",    ONE, 0.565, 0.025, 0.6, 0.2, SCOPE_SHARED, "NVLS and a tree at once; " OWN},
    [NVLS_TREE_SHARE + 1]   = {"NVLSTree of NVLink, Blackwell", ONE, 0.468, 0.05, 0.5, 0.2, SCOPE_SHARED, "NVLS and a tree at once; " OWN},
    [PAIR_FLOOR]            = {"floor, messages against collectives", ONE, 1.23, 0.05, 1.3, 0.3, SCOPE_SHARED, OWN},
    [PAIR_MESSAGE_TIME]     = {"each further message",          US, 1.52, 0.14, 1, 0.7, SCOPE_SHARED, OWN},
    [PAIR_NETWORK_TIME]     = {"each message between nodes",    US, 2.75, 0.1, 2, 0.7, SCOPE_SHARED, OWN},
    [PAIR_FILL + 0]         = {"fill of a message, to Ampere",  US, 62.3, 0.2, 60, 1, SCOPE_SHARED, "a few steps of 128 to 512 KiB"},
    [PAIR_FILL + 1]         = {"fill of a message, from Hopper", US, 60.1, 0.25, 60, 1, SCOPE_SHARED, "a few steps of 128 to 512 KiB"},
    [PAIR_FILL_BYTES]       = {"size at which the fill of a message is whole", MB, 1.87, 0.24, 2, 1, SCOPE_SHARED, "a few steps of 512 KiB"},
    [PAIR_CHANNEL_RATE + 0] = {"a channel of a message, Volta and older", GBS, 10, 0.12, 10, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 1] = {"a channel of a message, Ampere", GBS, 14.8, 0.062, 14, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 2] = {"a channel of a message, Hopper and Ada", GBS, 20.1, 0.094, 20, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_CHANNEL_RATE + 3] = {"a channel of a message, Blackwell", GBS, 28, 0.094, 28, 0.25, SCOPE_SHARED, "what one SM copies; " OWN},
    [PAIR_RATE]             = {"one pair over a NIC",           GBS, 27.1, 0.075, 28, 0.3, SCOPE_SHARED, "NCCL paths.cc: two channels of 14 GB/s"},
    [EXCHANGE_SHARE]        = {"all_to_all of NICs",            ONE, 0.922, 0.02, 0.93, 0.1, SCOPE_SHARED, OWN},
    [BROADCAST_HOP]         = {"hops of broadcast and reduce that show", ONE, 1.1, 0.1, 1, 0.5, SCOPE_SHARED, "nccl-tests' iterations overlap"},
    [BROADCAST_BYTES]       = {"size at which half of them show", MB, 0.303, 0.19, 0.3, 1, SCOPE_SHARED, OWN},
    [CHAIN_FILL]            = {"chunks in flight per rank of a broadcast", ONE, 1.06, 0.09, 1, 0.5, SCOPE_SHARED, "one each"},
    [PROCESS_LAUNCH_TIME]   = {"launch, per GPU of one process", US, 4.05, 0.03, 3, 0.4, SCOPE_SHARED, "a CUDA launch"},
    [THREAD_LAUNCH_TIME]    = {"launch, per further thread of one process", US, 1.64, 0.08, 1.5, 0.7, SCOPE_SHARED, "threads wait for one lock; " OWN},
    [PCIE_PEER_SHARE]       = {"GPU to GPU over PCIe of raw",   ONE, 0.506, 0.062, 0.6, 0.25, SCOPE_SHARED, "15 to 21 of 31.5 GB/s are usual"},
    [STAGED_SHARE]          = {"one way of one GPU over host memory of raw", ONE, 0.516, 0.02, 0.6, 0.3, SCOPE_SHARED, "copies without peer access: 0.67 to 0.85 of what a slot carries one way"},
    [BRIDGE_DUPLEX_SHARE]   = {"in + out of one GPU to a NIC over a host bridge of raw", ONE, 0.729, 0.15, 0.75, 0.4, SCOPE_SHARED, "NCCL graph/topo.h: 24 of 31.5 GB/s, shared by both ways"},
    [BRIDGE_SHARE]          = {"one way of one GPU to a NIC over a host bridge of raw", ONE, 0.736, 0.11, 0.75, 0.3, SCOPE_SHARED, OWN},
    [BOUNCED_SHARE]         = {"in + out of one GPU bounced in host memory of raw", ONE, 0.454, 0.03, 0.75, 0.5, SCOPE_SHARED, "NCCL graph/topo.h: 24 of 31.5 GB/s, shared by both ways"},
    [FAR_RATE]              = {"each way of a GPU to a NIC far off in the root complex", GBS, 5.88, 0.12, 8, 0.5, SCOPE_SHARED, "NCCL graph/topo.h: 16 GB/s between AMD's sockets, shared by both ways"},
    [SOCKET_RATE]           = {"TCP of one interface",          GBS, 2.73, 0.05, 3, 0.3, SCOPE_SHARED, "two connections, each bound to one core"},
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
    [RULE_FILL_BY_AGE]     = {"fill of chunks differs from Hopper on", "logs; faster channels", true},
    [RULE_SUPERCHIP]       = {"a superchip's floor is lower", "launch without PCIe", true},
    [RULE_TREE_UNDERRATED] = {"trees of two nodes are not taken for what they save", "NCCL graph/search.cc", true},
    [RULE_NVLS_TAKEN]      = {"NVLS is taken from 2 MB on even where rings are faster", "NCCL graph/tuning.cc", false},
    [RULE_FIRST_EFA]       = {"the first EFA's plug-in leaves Simple only", "aws-ofi-nccl: sets NCCL_PROTO=simple before RDMA", false},
    [RULE_SLINGSHOT_POSTS] = {"proxies over Slingshot post messages one by one", "libfabric cxi: matched in software", true},
    [RULE_RENDEZVOUS]      = {"long messages over Slingshot agree first", "libfabric cxi: eager to 18 KiB, sites set 0", false},
    [RULE_FAR_NICS]        = {"GPUs far from the NICs have a pace of their own", "NCCL graph/topo.h: 16 GB/s between AMD's sockets", true},
    [RULE_HOST_BRIDGE]     = {"RDMA over a host bridge is slower than the slot", "NCCL graph/topo.h: 24 of 31.5 GB/s", true},
    [RULE_SOCKETS_BY_ROOT] = {"several interfaces carry the root of their number", "all bytes pass host memory three or four times", true},
    [RULE_PAIR_PARTS]      = {"messages in a node share channels from 2.22 on", "NCCL enqueue.cc", false},
    [RULE_PAIR_RATE]       = {"one connection between nodes has a most", "NCCL graph/paths.cc: two channels of 14 GB/s", false},
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

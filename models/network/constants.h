// The physical constants of the network model, in one place, each with its source. They were fitted to public
// nccl-tests logs of about forty clusters (tests/data/nccl holds some of them) unless another source is named.
// Link capacities are attainable ones: what a link carries of payload with NCCL's Simple protocol.
#ifndef LOCKSTEP_NETWORK_CONSTANTS_H
#define LOCKSTEP_NETWORK_CONSTANTS_H

#include "models/network/network.h"

typedef enum Protocol { PROTOCOL_LL, PROTOCOL_LL128, PROTOCOL_SIMPLE, PROTOCOL_COUNT } Protocol;
// How two GPUs of a node reach each other.
typedef enum Medium { MEDIUM_NVLINK, MEDIUM_PCIE, MEDIUM_HOST, MEDIUM_COUNT } Medium;

// ---- Links: attainable share of the raw rate, and latency of the hardware alone.
#define NVLINK_SHARE 0.786       // A100 235 of 300 GB/s, H100 367 of 450, B200 682 of 900 (busbw at 16 GiB)
#define CUBE_MESH_SHARE 0.895    // V100 cube mesh: 134.6 of 150 GB/s
#define PCIE_SHARE 0.80          // pinned copies: 12.3 of 15.75, 25 of 31.5 GB/s
#define PCIE_PEER_SHARE 0.50     // GPU to GPU over PCIe: 15 to 16.5 of 31.5 GB/s (A100 PCIe)
#define STAGED_DUPLEX_SHARE 0.50 // in + out of one GPU through host memory: 18 (4090), 10 (A100), 8 (A40) of 31.5 GB/s
#define BRIDGE_DUPLEX_SHARE 0.94 // in + out of one GPU to a NIC across the host bridge: 2 x 14.8 of 31.5 GB/s
#define NO_RDMA_SHARE 0.46       // one GPU's network traffic bounced in host memory: 14.5 of 31.5, 8.4 of 15.75 GB/s

// ---- NCCL.
// What changes with the GPU's generation, and the NCCL version usual with it.
typedef struct GenerationConstants {
    int from_year;
    double floor_seconds;       // of any collective: launch, first flags
    double hop_factor;          // on the NVLink hop latencies
    double ll_share;            // of NVLink with LL
    double fill_inside_seconds; // of the chunk pipeline, within a node and between nodes, at large sizes
    double fill_between_seconds;
    double pair_fill_seconds;           // of one send and receive
    double nvls_share, nvls_tree_share; // of raw NVLink with in-switch reduction in one domain, and between domains
} GenerationConstants;

typedef struct NcclConstants {
    GenerationConstants generations[4];
    double hop_seconds[MEDIUM_COUNT][PROTOCOL_COUNT]; // one step of a ring within a node
    double ramp_seconds[PROTOCOL_COUNT];              // more per step for each doubling of channels
    double network_hop_seconds[PROTOCOL_COUNT];       // one step between nodes, times transport_factor
    double network_ramp_seconds[PROTOCOL_COUNT];
    double channel_bytes[PROTOCOL_COUNT]; // payload that keeps one channel busy
    double nvlink_share[PROTOCOL_COUNT];  // of the attainable rate (LL of the generation)
    double network_share[PROTOCOL_COUNT];
    double tree_hop_factor, tree_share; // tree against ring, within a node
    double tree_fill, tree_chunk_bytes; // chunks in flight that fill a tree's levels
    double fill_bytes;                  // size at which half the fill time shows
    double nvls_seconds, nvls_tree_seconds, nvls_ramp_seconds;
    double nvls_slow_seconds, nvls_slow_bytes; // slow approach to full rate: seconds at sizes far above bytes
    int nvls_least_ranks;                      // NCCL prefers the ring below
    double pair_floor_factor, pair_message_seconds, pair_network_seconds, pair_fill_bytes;
    double pair_bytes_per_second;                 // one send and receive between nodes
    double exchange_share;                        // of the NICs in all_to_all
    double broadcast_hop_factor, broadcast_bytes; // repeated broadcasts overlap: hops show at large sizes only
} NcclConstants;

extern const NcclConstants nccl_constants;

// ---- Back ends that work on host memory.
typedef struct HostConstants {
    double software_seconds;         // per message, on top of the network's latency
    double local_seconds;            // per message within a node
    double process_bytes_per_second; // what one process moves at most
    double local_copies;             // bytes through host memory per byte between processes of a node
} HostConstants;

extern const HostConstants gloo_constants, mpi_constants;

// How much longer a software step between nodes takes than on a fabric with 5 us: 0.7 on InfiniBand (1.7 us), 2.1 on
// EFA (8 us), 5.8 on TCP (30 us); fits of the logs put these at 0.68, 2.8 and 5.3. The power is 3/4, by square roots.
double transport_factor(double network_seconds);

#endif

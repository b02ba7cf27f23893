// The values of the constants. Where no other source stands, they are fits to the public nccl-tests logs of about
// forty clusters, whose spread over clusters is 10 to 30 %.
#include "models/network/constants.h"

#include <math.h>

#define US 1e-6

const NcclConstants nccl_constants = {
    // from  floor   hop   LL    fill inside, between, pair   NVLS (H100 309 of 450, B200 0.52), NVLSTree
    .generations = {{0, 5.3 * US, 0.99, 0.43, 34 * US, 36 * US, 121 * US, 0, 0},
                    {2019, 7.7 * US, 1.07, 0.43, 34 * US, 36 * US, 121 * US, 0, 0},
                    {2022, 9.4 * US, 0.87, 0.62, 7 * US, 13 * US, 65 * US, 0.70, 0.53},
                    {2024, 7.5 * US, 0.87, 0.62, 7 * US, 13 * US, 65 * US, 0.52, 0.42}},
    .hop_seconds = {[MEDIUM_NVLINK] = {0.74 * US, 1.44 * US, 2.15 * US},
                    [MEDIUM_PCIE] = {1.5 * US, 2.5 * US, 8.1 * US},
                    [MEDIUM_HOST] = {2.0 * US, 3.0 * US, 4.2 * US}},
    .ramp_seconds = {0.073 * US, 0.18 * US, 0.36 * US},
    .network_hop_seconds = {9.0 * US, 6.9 * US, 20 * US},
    .network_ramp_seconds = {4.0 * US, 0.66 * US, 3.7 * US},
    .channel_bytes = {4096, 5120, 32768}, // NCCL: threads x threshold
    .nvlink_share = {0.43, 0.90, 1},      // LL carries 8 of 16 bytes, LL128 120 of 128
    .network_share = {0.35, 0.89, 1},
    .tree_hop_factor = 1.1,
    .tree_share = 0.80,
    .tree_fill = 1.3,
    .tree_chunk_bytes = 128e3,
    .fill_bytes = 0.23e6,
    .nvls_seconds = 12.8 * US,
    .nvls_tree_seconds = 21 * US,
    .nvls_ramp_seconds = 1.5 * US,
    .nvls_slow_seconds = 161 * US,
    .nvls_slow_bytes = 65e6,
    .nvls_least_ranks = 5, // NCCL 2.27 on H200: from 5 GPUs
    .pair_floor_factor = 1.5,
    .pair_message_seconds = 1.2 * US,
    .pair_network_seconds = 3.3 * US,
    .pair_fill_bytes = 2.1e6,
    .pair_bytes_per_second = 25.6e9, // 25 of 50 GB/s between H100 nodes
    .exchange_share = 0.94,
    .broadcast_hop_factor = 1.5,
    .broadcast_bytes = 0.31e6,
};

// Gloo: TCP, one thread per pair. Not fitted: 20 us per message and 3 GB/s are usual of one TCP connection.
const HostConstants gloo_constants = {20 * US, 15 * US, 3e9, 4};
// Open MPI: about 1 us per message over shared memory or verbs; copy in and copy out within a node.
const HostConstants mpi_constants = {1 * US, 0.7 * US, 10e9, 4};

double transport_factor(double network_seconds) {
    double share = network_seconds / 5e-6;
    return 1.5 * sqrt(share * sqrt(share));
}

// Time of expert-parallel dispatch and combine kernels, by library: what each worker (an SM or a pair of SMs) reads
// and writes, in addition to the traffic over NVLink and the network.
#pragma once

#include "models/hardware/hardware.h"

typedef struct ExchangeShape {
    double tokens; // of each rank
    double hidden, experts, per_token, ranks;
    double nodes;                // that a network joins; 1: all ranks reach each other over NVLink
    double element_bytes;        // of the transferred data, scales included
    double sms;                  // that the kernel may use, if the library has an option for it; 0: its default
    double nic_bytes_per_second; // of a GPU, raw, where there are several nodes
} ExchangeShape;

// A mode of a library on a generation of GPUs, with constants fitted to timings.
typedef struct ExchangeKernel {
    const char *mode, *phase; // columns of calibrate/measurements/kernels/exchange.csv
    Architecture generation;
    bool of_servers, over_network;
    double start_seconds;
    double peer_seconds; // more of a start for each rank (low latency: each expert; over a network: log2 of the nodes)
    double fill;         // tokens of a worker before its phases overlap
    double token_seconds, token_byte_seconds; // of a worker for each of its tokens, and for each byte of it
    double copy_seconds, copy_byte_seconds;   // the same for each copy of it that is sent or summed
    double nvlink_share;                      // of the raw rate
} ExchangeKernel;

extern const ExchangeKernel exchange_kernels[];
extern const int exchange_kernel_count;
// The row of a mode, phase and GPU; of the generation nearest to the GPU's where that was not timed; NULL: no such row.
const ExchangeKernel *exchange_kernel_of(const Gpu *gpu, const char *mode, const char *phase, bool over_network);
// Seconds of the kernel that moves data; DeepEP's exchange of counts before it is not in it.
double exchange_seconds(const Gpu *gpu, const ExchangeShape *shape, const ExchangeKernel *kernel);
// Seconds that all workers together, with the library's default SMs, spend on a token of a row of so many bytes, and
// on each of its additional copies.
void exchange_worker_seconds(const ExchangeKernel *kernel, double row_bytes, double *token, double *copy);
// Mean number of groups met by a token that chooses k of the experts uniformly.
double exchange_groups_met(double groups, double experts, double per_token);

// Kernels of libraries that a layer runs besides plain products: flash attention, routed experts and the exchange of
// their tokens.
#pragma once

#include "models/hardware/hardware.h"

// ---- Time of one flash attention kernel, forward: tiles of queries, each of which passes over its visible keys,
// distributed over the SMs.

typedef struct FlashShape {
    Precision precision;
    double batch, length; // `batch` sequences, each with as many keys as queries
    double heads, kv_heads, key_dim, value_dim;
    bool causal;
    double window; // keys that a query sees at most; 0: all
} FlashShape;

// A library's kernel on a generation of GPUs, with constants fitted to timings.
typedef struct FlashKernel {
    const char *family, *dtype, *kernel; // columns of calibrate/measurements/kernels/attention.csv
    Architecture generation;
    bool of_servers;
    double share;         // of the rate of a GEMM
    double wide_share;    // of that, of heads wider than 192
    double softmax;       // share of the exponentials' time that is not behind products
    double tile_clocks;   // of an SM, that a tile's start and end cost
    double start_seconds; // of the launch, including other kernels of the same row
    double passes;        // over keys and values in 16 bits, of the kernels that split, turn or store them
    double sharpness;     // of the maximum of the SMs' mean work and one tile's
} FlashKernel;

extern const FlashKernel flash_kernels[];
extern const int flash_kernel_count;
// The row of a kernel and GPU; of the kernel's on the generation nearest to the GPU's where that was not timed; NULL:
// no such kernel.
const FlashKernel *flash_kernel_of(const Gpu *gpu, const char *family, const char *dtype, const char *kernel);
// Seconds, launch and all.
double flash_seconds(const Gpu *gpu, const FlashShape *shape, const FlashKernel *kernel);

// ---- Forward time of the routed experts of one rank: tokens are sorted by expert, two grouped products with an
// activation between, and the weighted sum back.

typedef struct GroupedShape {
    Precision precision;
    double tokens; // that enter the layer, over all ranks
    double hidden, inter, experts, per_token, tp, ep;
    bool gated;
    double power; // of the law that tokens of experts are drawn from, on the rank that has most; 0: all have as many
} GroupedShape;

// What the rank gets of them.
typedef struct GroupedLoad {
    double experts, active, routed; // that it holds, that get a token, tokens with repeats
} GroupedLoad;
GroupedLoad grouped_load(const GroupedShape *shape);

// A library's kernels on a generation of GPUs, as they were timed.
typedef struct GroupedKernel {
    const char *dtype, *kernel; // columns of calibrate/measurements/kernels/experts.csv
    Architecture generation;
    bool of_servers;
    double share;          // of the rate of a GEMM
    double memory_share;   // of the rate at which a GEMM reads
    double tile_rows;      // tokens of an expert for which its weights are read once more, as far as the L2 lacks them
    double start_seconds;  // of the launches
    double passes;         // over the products' inputs and outputs, of the kernels around them
    double expert_seconds; // for each expert of the rank
    double token_seconds;  // for each token that enters the layer: the choice of its experts
} GroupedKernel;

extern const GroupedKernel grouped_kernels[];
extern const int grouped_kernel_count;
// The row of a kernel and GPU; of the generation nearest to the GPU's where that was not timed; NULL: no such kernel.
const GroupedKernel *grouped_kernel_of(const Gpu *gpu, const char *dtype, const char *kernel);
double grouped_seconds(const Gpu *gpu, const GroupedShape *shape, const GroupedLoad *load, const GroupedKernel *kernel);

// ---- Time of expert-parallel dispatch and combine kernels, by library: what each worker (an SM or a pair of SMs)
// reads and writes, in addition to the traffic over NVLink and the network.

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

// Time of one flash attention kernel, forward: tiles of queries, each of which passes over its visible keys,
// distributed over the SMs.
#pragma once

#include "models/hardware/hardware.h"

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

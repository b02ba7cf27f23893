// Forward time of the routed experts of one rank: tokens are sorted by expert, two grouped products with an
// activation between, and the weighted sum back.
#pragma once

#include "models/hardware/hardware.h"

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

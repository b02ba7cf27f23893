// Launches and casts, as kernels replayed in a CUDA graph show them.
#include "calibrate/gpu/predict_kernels.h"

#include "models/hardware/kernel.h"

#define SIXTEEN_BITS 2.0

double launches_in_a_graph(const Gpu *gpu, int kernels) {
    return kernels * gpu->graph_launch_share * gpu->launch_seconds;
}

// Elementary kernels end sooner in a graph than products do: 1.4 us on Hopper and RTX PRO 6000, 1.6 on L40S, 1.8 to 2.1
// on Blackwell's servers, where the floor of products is 2.6, 1.9 and 2.
#define SMALL_KERNEL_SECONDS 1.8e-6

// Fitted to the casts of calibrate/measurements/kernels/ops.csv. One scale of a tensor is found by operators of a
// framework: absolute values, their maximum, the scale, and then the cast.
const Cast cast_by_given_scale = {SIXTEEN_BITS + 1, 0, 0}, cast_by_row = {SIXTEEN_BITS + 2, 2e-9, 0.8e-6},
           cast_by_tensor = {3 * SIXTEEN_BITS + 1, 0, 7e-6};

double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements) {
    return SMALL_KERNEL_SECONDS + cast->first_seconds + memory_seconds(gpu, cast->bytes * elements) +
           cast->row_seconds * rows;
}

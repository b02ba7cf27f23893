// Times of launches and casts, as kernels replayed in a CUDA graph.
#include "calibrate/gpu/predict_kernels.h"

#include <math.h>

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
const Cast cast_by_given_scale = {SIXTEEN_BITS + 1, 0.4e-9, 0, 0}, cast_by_row = {SIXTEEN_BITS + 2, 1.3e-9, 0.6e-6, 0},
           cast_by_tensor = {2 * SIXTEEN_BITS + 1, 0, 7e-6, 2};

// A loop over the same input finds it in the L2 or, where it is larger, has just evicted it. Servers' parts have an L2
// in two halves, which keep copies of each other's lines; graphics parts' is one.
static double looped_share(const Gpu *gpu, double elements) {
    double kept = (gpu_is_of_servers(gpu) ? 0.5 : 1) * gpu->l2_bytes;
    return 1 / (1 + pow((SIXTEEN_BITS + 1) * elements / kept, 8));
}

double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements) {
    double cached = looped_share(gpu, elements), each = cast->bytes + (gpu_is_of_servers(gpu) ? cast->server_bytes : 0),
           bytes = each * elements;
    return SMALL_KERNEL_SECONDS + cast->first_seconds + cast->row_seconds * rows +
           cold_memory_seconds(gpu, bytes) * (1 - cached * (1 - 1 / gpu->l2_speed_up));
}

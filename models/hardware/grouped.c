// Routed experts of one rank. The table's rows are what
// `lockstep calibrate fit calibrate/measurements/kernels/experts.csv` says.
#include "models/hardware/grouped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "sim/base/random.h"

#define DRAWS 12
#define EXPERTS_MOST 4096

// clang-format off
const GroupedKernel grouped_kernels[] = {
    {"bf16", "triton", AMPERE, true, 0.336, 41.24e-6, 0.96, 0.2325e-6, 51.76e-9},
    {"bf16", "trtllm", AMPERE, true, 0.518, 19.31e-6, 1.18, 0.0542e-6, 34.97e-9},
    {"bf16", "flashinfer_cutlass", BLACKWELL, true, 0.542, 28.29e-6, 1.34, 0.3462e-6, 4.93e-9},
    {"bf16", "flashinfer_trtllm", BLACKWELL, true, 0.592, 13.22e-6, 0.47, 0.0226e-6, 6.51e-9},
    {"bf16", "trtllm_cutlass", BLACKWELL, true, 1.188, 21.63e-6, 3.06, 0.1034e-6, 5.86e-9},
    {"bf16", "trtllm_nongated", BLACKWELL, true, 1.189, 75.08e-6, 1.74, 0.0421e-6, 0.85e-9},
    {"fp8_block", "deepgemm", BLACKWELL, true, 1.256, 26.35e-6, 3.53, 0.1645e-6, 6.17e-9},
    {"fp8_tensor", "flashinfer_cutlass", BLACKWELL, true, 0.815, 37.90e-6, 3.19, 0.0763e-6, 1.22e-9},
    {"fp8_tensor", "flashinfer_trtllm", BLACKWELL, true, 0.581, 17.03e-6, 0.31, 0.0177e-6, 5.25e-9},
    {"nvfp4", "flashinfer_cutlass", BLACKWELL, true, 0.675, 17.53e-6, 3.71, 1.0827e-6, 1.06e-9},
    {"nvfp4", "flashinfer_trtllm", BLACKWELL, true, 0.932, 22.14e-6, 0.55, 0.0781e-6, 7.67e-9},
    {"bf16", "triton_tritonexperts", HOPPER, true, 0.712, 30.28e-6, 0.65, 0.0827e-6, 85.95e-9},
    {"bf16", "trtllm_cutlass", HOPPER, true, 0.845, 23.26e-6, 1.71, 0.1236e-6, 11.39e-9},
    {"bf16", "trtllm_nongated", HOPPER, true, 0.870, 20.91e-6, 1.18, 0.1426e-6, 7.54e-9},
    {"fp8_block", "trtllm_cutlass", HOPPER, true, 0.629, 19.04e-6, 6.76, 0.2470e-6, 9.23e-9},
    {"fp8_tensor", "flashinfer_cutlass", HOPPER, true, 0.141, 27.36e-6, 0.72, 2.9540e-6, 3.66e-9},
    {"bf16", "triton_tritonexperts", ADA, false, 1.007, 14.79e-6, 1.80, 0.0317e-6, 97.94e-9},
    {"bf16", "trtllm_cutlass", ADA, false, 0.567, 13.53e-6, 0.45, 0.0334e-6, 0.41e-9},
    {"fp8_tensor", "triton_tritonexperts", ADA, false, 0.359, 18.21e-6, 0.73, 0.0976e-6, 59.39e-9},
    {"bf16", "flashinfer_cutlass", BLACKWELL, false, 0.484, 23.44e-6, 0.90, 0.0334e-6, 2.36e-9},
    {"bf16", "trtllm_cutlass", BLACKWELL, false, 0.903, 12.68e-6, 0.54, 0.0416e-6, 10.50e-9},
    {"bf16", "trtllm_nongated", BLACKWELL, false, 0.906, 14.33e-6, 0.90, 0.0480e-6, 1.02e-9},
    {"fp8_block", "trtllm_triton", BLACKWELL, false, 0.338, 34.46e-6, 0.52, 0.0324e-6, 160.63e-9},
    {"fp8_tensor", "flashinfer_cutlass", BLACKWELL, false, 0.476, 24.38e-6, 0.87, 0.0398e-6, 0.82e-9},
    {"nvfp4", "flashinfer_cutlass", BLACKWELL, false, 0.862, 34.09e-6, 0.73, 0.0386e-6, 4.02e-9},
};
// clang-format on
const int grouped_kernel_count = (int)(sizeof grouped_kernels / sizeof *grouped_kernels);

// ---- What a rank gets.

static GroupedLoad even_load(double experts, double routed) {
    return (GroupedLoad){experts, fmin(experts, fmax(1, routed)), fmax(1, routed)};
}

// From x^-power between the fewest and the most that an expert may get (as aiconfigurator's collectors draw them).
static void draw_tokens(const GroupedShape *shape, RandomStream *stream, int count, double *tokens) {
    double wanted = shape->tokens * shape->per_token, sum = 0;
    double least = wanted > count ? 1 : 0.01, most = wanted > count ? fmax(1.01, 0.8 * shape->tokens) : 2;
    double q = 1 - shape->power, low = pow(least, q), high = pow(most, q);
    for (int e = 0; e < count; e++) sum += tokens[e] = pow(low + (high - low) * random_uniform(stream), 1 / q);
    for (int e = 0; e < count; e++) tokens[e] = fmin(shape->tokens, round(tokens[e] / sum * wanted));
}

static GroupedLoad fullest_of(const double *tokens, int ranks, int each) {
    GroupedLoad fullest = {each, 0, -1};
    for (int rank = 0; rank < ranks; rank++) {
        GroupedLoad load = {each, 0, 0};
        for (int e = rank * each; e < (rank + 1) * each; e++) load.routed += tokens[e], load.active += tokens[e] > 0;
        if (load.routed > fullest.routed) fullest = load;
    }
    return fullest;
}

GroupedLoad grouped_load(const GroupedShape *shape) {
    double each = fmax(1, floor(shape->experts / shape->ep + 0.5));
    double even = shape->tokens * shape->per_token * each / shape->experts;
    int ranks = (int)fmax(1, shape->ep), count = ranks * (int)each;
    if (shape->power <= 0 || count > EXPERTS_MOST) return even_load(each, even);
    double tokens[EXPERTS_MOST];
    RandomStream stream = random_stream(1, "tokens of experts by a power law", (uint64_t)shape->experts);
    GroupedLoad mean = {each, 0, 0};
    for (int draw = 0; draw < DRAWS; draw++) {
        draw_tokens(shape, &stream, count, tokens);
        GroupedLoad load = fullest_of(tokens, ranks, (int)each);
        mean.active += load.active / DRAWS, mean.routed += load.routed / DRAWS;
    }
    return (GroupedLoad){each, fmax(1, mean.active), fmax(1, mean.routed)};
}

// ---- What it takes.

static int64_t at_least_one(double size) { return size < 1 ? 1 : (int64_t)ceil(size); }

double grouped_seconds(const Gpu *gpu, const GroupedShape *shape, const GroupedLoad *load,
                       const GroupedKernel *kernel) {
    Gpu slower = *gpu;
    slower.gemm_efficiency[shape->precision] = fmin(1, kernel->share * gpu->gemm_efficiency[shape->precision]);
    double width = shape->inter / shape->tp, sides = shape->gated ? 2 : 1;
    Gemm up = {.precision = shape->precision,
               .batch = (int64_t)fmax(1, round(load->active)),
               .m = at_least_one(load->routed / load->active),
               .n = at_least_one(sides * width),
               .k = at_least_one(shape->hidden)};
    Gemm down = up;
    down.n = up.k, down.k = at_least_one(width);
    double moved = 2 * load->routed * (2 * shape->hidden + (sides + 1) * width);
    return kernel->start_seconds + gemm_seconds(&slower, &up) + gemm_seconds(&slower, &down) +
           kernel->passes * cold_memory_seconds(gpu, moved) + kernel->expert_seconds * load->experts +
           kernel->token_seconds * shape->tokens;
}

const GroupedKernel *grouped_kernel_of(const Gpu *gpu, const char *dtype, const char *kernel) {
    const GroupedKernel *best = NULL;
    int nearest = 0;
    for (int i = 0; i < grouped_kernel_count; i++) {
        const GroupedKernel *row = &grouped_kernels[i];
        if (strcmp(row->dtype, dtype) != 0 || strcmp(row->kernel, kernel) != 0) continue;
        int distance =
            2 * abs((int)row->generation - (int)gpu->generation) + (row->of_servers != gpu_is_of_servers(gpu));
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}

// Routed experts of one rank. The table's rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/experts.csv`.
#include "models/hardware/grouped.h"

#include <math.h>
#include <string.h>

#include "models/hardware/kernel.h"
#include "sim/base/random.h"

#define DRAWS 12
#define EXPERTS_MOST 4096

// clang-format off
const GroupedKernel grouped_kernels[] = {
    {"bf16", "triton", AMPERE, true, 0.322, 0.807, 121.5, 39.28e-6, 1.07, 0.3579e-6, 1.18e-9},
    {"bf16", "trtllm", AMPERE, true, 0.533, 0.879, 121.5, 19.50e-6, 0.98, 0.1020e-6, 36.46e-9},
    {"bf16", "flashinfer_cutlass", BLACKWELL, true, 0.625, 0.818, 121.5, 28.73e-6, 3.19, 0.1317e-6, 1.20e-9},
    {"bf16", "flashinfer_trtllm", BLACKWELL, true, 0.652, 0.992, 43.2, 13.68e-6, 0.49, 0.0132e-6, 5.78e-9},
    {"bf16", "trtllm_cutlass", BLACKWELL, true, 1.189, 0.862, 248.9, 21.32e-6, 2.34, 0.1141e-6, 7.52e-9},
    {"bf16", "trtllm_nongated", BLACKWELL, true, 1.057, 1.099, 121.5, 37.52e-6, 1.57, 0.3681e-6, 5.40e-9},
    {"fp8_block", "deepgemm", BLACKWELL, true, 1.194, 0.976, 183.4, 24.81e-6, 3.32, 0.2757e-6, 6.66e-9},
    {"fp8_tensor", "flashinfer_cutlass", BLACKWELL, true, 0.817, 0.776, 121.5, 31.54e-6, 3.40, 0.1218e-6, 1.57e-9},
    {"fp8_tensor", "flashinfer_trtllm", BLACKWELL, true, 0.810, 0.896, 29.8, 14.90e-6, 0.63, 0.0330e-6, 7.17e-9},
    {"nvfp4", "flashinfer_cutlass", BLACKWELL, true, 0.852, 0.430, 121.5, 33.86e-6, 3.32, 0.1079e-6, 1.03e-9},
    {"nvfp4", "flashinfer_trtllm", BLACKWELL, true, 0.906, 0.860, 121.5, 18.92e-6, 0.40, 0.0160e-6, 8.84e-9},
    {"bf16", "triton_tritonexperts", HOPPER, true, 0.816, 0.891, 142.1, 31.45e-6, 1.60, 0.0399e-6, 19.30e-9},
    {"bf16", "trtllm_cutlass", HOPPER, true, 0.861, 0.819, 211.6, 21.31e-6, 1.48, 0.1585e-6, 11.21e-9},
    {"bf16", "trtllm_nongated", HOPPER, true, 0.953, 0.943, 154.2, 42.98e-6, 1.72, 0.1075e-6, 5.73e-9},
    {"fp8_block", "trtllm_cutlass", HOPPER, true, 0.723, 0.933, 123.9, 19.26e-6, 7.44, 0.2706e-6, 7.05e-9},
    {"fp8_tensor", "flashinfer_cutlass", HOPPER, true, 0.184, 0.173, 183.2, 24.33e-6, 1.00, 0.6548e-6, 5.94e-9},
    {"bf16", "triton_tritonexperts", ADA, false, 0.874, 0.969, 215.9, 9.05e-6, 0.74, 0.0098e-6, 0.73e-9},
    {"bf16", "trtllm_cutlass", ADA, false, 0.546, 1.017, 121.5, 13.06e-6, 0.49, 0.0293e-6, 0.43e-9},
    {"bf16", "trtllm_nongated", ADA, false, 0.804, 0.961, 121.5, 9.31e-6, 0.53, 0.0452e-6, 0.75e-9},
    {"fp8_tensor", "triton_tritonexperts", ADA, false, 0.850, 0.923, 121.9, 16.25e-6, 0.60, 0.1425e-6, 0.59e-9},
    {"bf16", "flashinfer_cutlass", BLACKWELL, false, 0.496, 1.113, 59.3, 23.12e-6, 0.82, 0.0825e-6, 5.36e-9},
    {"bf16", "trtllm_cutlass", BLACKWELL, false, 0.649, 1.127, 121.5, 18.09e-6, 0.75, 0.0287e-6, 5.14e-9},
    {"bf16", "trtllm_nongated", BLACKWELL, false, 1.056, 1.078, 121.5, 16.19e-6, 1.20, 0.0534e-6, 1.06e-9},
    {"fp8_block", "trtllm_triton", BLACKWELL, false, 0.266, 0.901, 121.5, 31.60e-6, 0.24, 0.0484e-6, 0.71e-9},
    {"fp8_tensor", "flashinfer_cutlass", BLACKWELL, false, 0.450, 1.112, 53.4, 24.35e-6, 0.71, 0.0475e-6, 0.62e-9},
    {"nvfp4", "flashinfer_cutlass", BLACKWELL, false, 0.849, 1.010, 121.5, 34.03e-6, 0.68, 0.0555e-6, 4.04e-9},
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

// Triton's kernels lay out a row for each choice of each token, and the kernels between and after the products
// process all of them, also those of experts on other ranks (vLLM's fused_moe on A100, H100, H200 and L40S).
static bool passes_over_all(const GroupedKernel *kernel) { return strstr(kernel->kernel, "triton") != NULL; }

// TensorRT-LLM's Triton kernels multiply them, too (RTX PRO 6000, one campaign).
static bool multiplies_all(const GroupedKernel *kernel) { return strcmp(kernel->kernel, "trtllm_triton") == 0; }

static int64_t at_least_one(double size) { return size < 1 ? 1 : (int64_t)ceil(size); }

// Tiles of one expert go through all of its weights before the next tokens do: weights beyond the L2's capacity are
// read again (B200, 16 bits: 176 MB of weights run at half the rate of 88).
static double product_seconds(const Gpu *gpu, const Gemm *gemm, const GroupedKernel *kernel) {
    double weights = operand_bytes(gemm->precision, false) * (double)gemm->n * (double)gemm->k;
    double missed = fmax(0, weights - gpu->l2_share * gpu->l2_bytes), times = (double)gemm->m / kernel->tile_rows;
    return fmax(gemm_seconds(gpu, gemm), cold_memory_seconds(gpu, (double)gemm->batch * missed * times));
}

double grouped_seconds(const Gpu *gpu, const GroupedShape *shape, const GroupedLoad *load,
                       const GroupedKernel *kernel) {
    Gpu slower = *gpu;
    slower.gemm_efficiency[shape->precision] = fmin(1, kernel->share * gpu->gemm_efficiency[shape->precision]);
    slower.memory_efficiency = fmin(1, kernel->memory_share * gpu->memory_efficiency);
    double width = shape->inter / shape->tp, sides = shape->gated ? 2 : 1;
    double all = fmax(load->routed, shape->tokens * shape->per_token);
    double rows = passes_over_all(kernel) ? all : load->routed,
           multiplied = multiplies_all(kernel) ? all : load->routed;
    Gemm up = {.precision = shape->precision,
               .batch = (int64_t)fmax(1, round(load->active)),
               .m = at_least_one(multiplied / load->active),
               .n = at_least_one(sides * width),
               .k = at_least_one(shape->hidden)};
    Gemm down = up;
    down.n = up.k, down.k = at_least_one(width);
    double moved = 2 * rows * (2 * shape->hidden + (sides + 1) * width);
    return kernel->start_seconds + product_seconds(&slower, &up, kernel) + product_seconds(&slower, &down, kernel) +
           kernel->passes * cold_memory_seconds(gpu, moved) + kernel->expert_seconds * load->experts +
           kernel->token_seconds * shape->tokens;
}

const GroupedKernel *grouped_kernel_of(const Gpu *gpu, const char *dtype, const char *kernel) {
    const GroupedKernel *best = NULL;
    int nearest = 0;
    for (int i = 0; i < grouped_kernel_count; i++) {
        const GroupedKernel *row = &grouped_kernels[i];
        if (strcmp(row->dtype, dtype) != 0 || strcmp(row->kernel, kernel) != 0) continue;
        int distance = gpu_generations_from(gpu, row->generation, row->of_servers);
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}

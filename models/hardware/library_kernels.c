#include "models/hardware/library_kernels.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"
#include "sim/base/random.h"

// ---- Flash attention by tiles. The table holds constants fitted to kernels timed alone; its rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/attention.csv`.

#define QUERIES 128.0 // of a tile
#define KEYS 64.0     // that it takes at a time
#define HEAD_STEP 16.0
#define WIDE 192.0      // libraries have other kernels for wider heads
#define MOST_TILES 1024 // counted one by one; of more the mean is the same to a thousandth
#define BESIDE 2.0      // sharpness of products and exponentials, which warps take in turn
#define SHARPNESS 2.3   // of arithmetic and memory, as GEMMs have it

// clang-format off
const FlashKernel flash_kernels[] = {
    {"gqa", "bf16", "fa2", AMPERE, true, 0.723, 1.000, 0.302, 3821, 5.95e-6, 1.95, 1.40},
    {"mla", "bf16", "trtllm_fmha", AMPERE, true, 0.657, 1.000, 0.302, 1136, 10.87e-6, 0.52, 1.41},
    {"encoder", "bf16", "fa4", BLACKWELL, true, 0.794, 1.000, 0.897, 3438, 6.35e-6, 1.34, 1.14},
    {"gqa", "bf16", "flashinfer_trtllm", BLACKWELL, true, 1.181, 0.891, 1.032, 5549, 7.71e-6, 3.28, 1.12},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, true, 0.755, 1.017, 0.969, 9052, 9.88e-6, 1.09, 1.08},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, true, 0.968, 1.000, 0.699, 4577, 12.49e-6, 0.59, 1.06},
    {"encoder", "bf16", "fa3", HOPPER, true, 0.721, 1.000, 0.389, 3109, 7.83e-6, 0.82, 1.20},
    {"gqa", "bf16", "fa3", HOPPER, true, 0.959, 1.041, 1.082, 6116, 8.57e-6, 2.75, 1.32},
    {"gqa", "fp8", "trtllm_fmha", HOPPER, true, 0.631, 1.047, 0.974, 15078, 7.03e-6, 1.06, 1.26},
    {"mla", "bf16", "trtllm_fmha", HOPPER, true, 0.830, 1.000, 0.302, 3703, 13.02e-6, 0.58, 1.25},
    {"encoder", "bf16", "fa2", ADA, false, 0.900, 1.000, 0.296, 856, 4.83e-6, 0.35, 1.35},
    {"gqa", "bf16", "fa2", ADA, false, 0.884, 1.066, 0.321, 12688, 1.58e-6, 1.27, 1.97},
    {"gqa", "fp8", "trtllm_fmha", ADA, false, 1.152, 0.209, 8.943, 18661, 2.88e-6, 1.97, 3.04},
    {"mla", "bf16", "trtllm_fmha", ADA, false, 0.812, 1.000, 0.301, 1002, 5.81e-6, 0.51, 1.98},
    {"encoder", "bf16", "fa2", BLACKWELL, false, 0.765, 1.000, 0.287, 659, 4.72e-6, 0.24, 1.41},
    {"gqa", "bf16", "fa2", BLACKWELL, false, 0.754, 1.052, 0.323, 8016, 3.23e-6, 1.55, 1.70},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, false, 1.144, 0.132, 8.771, 12644, 9.11e-6, 1.46, 2.02},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, false, 0.651, 1.000, 0.301, 1746, 9.97e-6, 0.42, 1.95},
};
// clang-format on
const int flash_kernel_count = (int)(sizeof flash_kernels / sizeof *flash_kernels);

static double up_to(double value, double step) { return step * ceil(value / step); }

typedef struct Keys {
    double all, most; // of all tiles of a head, of the one that sees most
} Keys;

// Of the tile that ends with query `last`.
static double keys_of_tile(const FlashShape *shape, double last) {
    double to = shape->causal ? fmin(shape->length, last) : shape->length, from = 0;
    if (shape->causal && shape->window > 0) from = fmax(0, last - QUERIES - shape->window);
    return up_to(to - KEYS * floor(from / KEYS), KEYS);
}

static Keys keys_of_head(const FlashShape *shape) {
    double tiles = ceil(shape->length / QUERIES), every = ceil(tiles / MOST_TILES);
    Keys keys = {0, 0};
    for (double tile = every; tile < tiles + every; tile += every) {
        double seen = keys_of_tile(shape, QUERIES * fmin(tile, tiles));
        keys.all += seen * fmin(every, tiles - (tile - every));
        keys.most = fmax(keys.most, seen);
    }
    return keys;
}

static double maximum_of(double a, double b, double sharpness) {
    return pow(pow(a, sharpness) + pow(b, sharpness), 1 / sharpness);
}

static double work_seconds(const Gpu *gpu, const FlashShape *shape, const FlashKernel *kernel) {
    double share = shape->key_dim > WIDE ? kernel->share * kernel->wide_share : kernel->share;
    double rate = share * gpu->gemm_efficiency[shape->precision] * gpu->sustained * gpu->peak_flops[shape->precision] /
                  gpu->sm_count;
    double products = 2 * (up_to(shape->key_dim, HEAD_STEP) + up_to(shape->value_dim, HEAD_STEP)) / rate;
    double exponentials = kernel->softmax / (gpu->sustained * exponentials_per_second(gpu));
    double per_key = QUERIES * maximum_of(products, exponentials, BESIDE);
    Keys keys = keys_of_head(shape);
    double start = kernel->tile_clocks / (gpu->tensor_hz * gpu->sustained), tiles = ceil(shape->length / QUERIES);
    double mean = (keys.all * per_key + tiles * start) * shape->batch * shape->heads / gpu->sm_count;
    return maximum_of(mean, keys.most * per_key + start, kernel->sharpness);
}

double flash_seconds(const Gpu *gpu, const FlashShape *shape, const FlashKernel *kernel) {
    double row = shape->key_dim + shape->value_dim, tokens = shape->batch * shape->length;
    double bytes = precision_bytes(shape->precision) * tokens * (shape->heads + shape->kv_heads) * row;
    double stored = kernel->passes * 2 * 2 * tokens * shape->kv_heads * row;
    double per_byte = looped_seconds_per_byte(gpu, bytes);
    double work = work_seconds(gpu, shape, kernel);
    double seconds = maximum_of(work, bytes * per_byte, SHARPNESS) + stored * per_byte;
    double lasting = seconds / (seconds + hardware_constant(HEATING_SECONDS));
    return kernel->start_seconds + seconds + gpu->gemm_heating * work * lasting;
}

static bool is_called(const FlashKernel *row, const char *family, const char *dtype, const char *kernel) {
    return strcmp(row->family, family) == 0 && strcmp(row->dtype, dtype) == 0 && strcmp(row->kernel, kernel) == 0;
}

const FlashKernel *flash_kernel_of(const Gpu *gpu, const char *family, const char *dtype, const char *kernel) {
    const FlashKernel *best = NULL;
    int nearest = 0;
    for (int i = 0; i < flash_kernel_count; i++) {
        const FlashKernel *row = &flash_kernels[i];
        if (!is_called(row, family, dtype, kernel)) continue;
        int distance = gpu_generations_from(gpu, row->generation, row->of_servers);
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}

// ---- Routed experts of one rank. The table's rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/experts.csv`.

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

// ---- Time of expert-parallel token exchanges. The table's rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/exchange.csv`.

// The concurrent parts of an exchange combine as a sharp maximum: DeepEP over 4 nodes goes from its SMs' rate to the
// network's within two steps of 4 SMs.
#define EXCHANGE_SHARPNESS 4.0
#define DEFAULT_SMS 20 // deep_ep.Buffer.num_sms

// clang-format off
const ExchangeKernel exchange_kernels[] = {
    {"ll", "combine", BLACKWELL, true, false, 12.20e-6, 0.0173e-6, 0.79, 52.8e-9, 0.0150e-9, 21.05e-9, 0.01668e-9, 0.662},
    {"ll", "dispatch", BLACKWELL, true, false, 7.99e-6, 0.0189e-6, 1.27, 2251.3e-9, 0.0139e-9, 32.90e-9, 0.05241e-9, 0.540},
    {"normal", "combine", BLACKWELL, true, false, 15.91e-6, 1.2373e-6, 18.43, 345.5e-9, 0.0190e-9, 27.31e-9, 0.01574e-9, 0.704},
    {"normal", "dispatch", BLACKWELL, true, false, 23.64e-6, 0.8922e-6, 8.28, 243.5e-9, 0.0027e-9, 60.19e-9, 0.01535e-9, 0.668},
    {"nvlinkonesided", "combine", BLACKWELL, true, false, 12.21e-6, 0.4249e-6, 2.79, 229.2e-9, 0.0095e-9, 42.62e-9, 0.01348e-9, 0.731},
    {"nvlinkonesided", "dispatch", BLACKWELL, true, false, 9.97e-6, 0.1943e-6, 2.46, 1333.7e-9, 0.0105e-9, 38.77e-9, 0.01613e-9, 0.723},
    {"nvlinktwosided", "combine", BLACKWELL, true, false, 7.41e-6, 0.0594e-6, 0.30, 10267.6e-9, 0.0105e-9, 57.30e-9, 0.05943e-9, 0.582},
    {"nvlinktwosided", "combine_low_precision", BLACKWELL, true, false, 7.58e-6, 0.0697e-6, 0.39, 18510.1e-9, 0.0103e-9, 502.70e-9, 0.02754e-9, 0.696},
    {"nvlinktwosided", "dispatch", BLACKWELL, true, false, 6.64e-6, 0.0679e-6, 0.51, 5538.4e-9, 0.0826e-9, 191.76e-9, 0.02529e-9, 0.653},
    {"nvlinktwosided", "prepare", BLACKWELL, true, false, 9.41e-6, 0.0867e-6, 2.79, 939.9e-9, 0.0103e-9, 3.94e-9, 0.02072e-9, 0.698},
    {"ll", "combine", HOPPER, true, false, 9.04e-6, 0.0046e-6, 1.52, 182.2e-9, 0.0090e-9, 30.92e-9, 0.00912e-9, 0.476},
    {"ll", "combine", HOPPER, true, true, 14.14e-6, 0.7276e-6, 3.82, 276.2e-9, 0.0100e-9, 47.52e-9, 0.01761e-9, 0.698},
    {"ll", "dispatch", HOPPER, true, false, 6.53e-6, 0.0110e-6, 1.05, 1971.2e-9, 0.0105e-9, 47.21e-9, 0.02595e-9, 0.559},
    {"ll", "dispatch", HOPPER, true, true, 11.56e-6, 4.4491e-6, 3.00, 227.7e-9, 0.0099e-9, 41.72e-9, 0.01544e-9, 0.698},
    {"normal", "combine", HOPPER, true, false, 17.28e-6, 0.3671e-6, 18.09, 44.4e-9, 0.0598e-9, 12.61e-9, 0.01166e-9, 0.687},
    {"normal", "combine", HOPPER, true, true, 15.10e-6, 0.3173e-6, 15.03, 2989.3e-9, 0.0107e-9, 56.28e-9, 0.04525e-9, 0.725},
    {"normal", "dispatch", HOPPER, true, false, 19.44e-6, 0.4420e-6, 11.91, 130.7e-9, 0.0148e-9, 39.40e-9, 0.01570e-9, 0.777},
    {"normal", "dispatch", HOPPER, true, true, 14.62e-6, 9.4714e-6, 8.29, 1307.0e-9, 0.0105e-9, 55.14e-9, 0.02511e-9, 0.847},
};
// clang-format on
const int exchange_kernel_count = (int)(sizeof exchange_kernels / sizeof *exchange_kernels);

// ---- Traffic of each mode, and its workers.

typedef struct Plan {
    double workers, peers;
    double copies;                    // of a token, those that stay with its rank among them
    double over_nvlink, over_network; // copies that travel so
} Plan;

double exchange_groups_met(double groups, double experts, double per_token) {
    double missed = 1, elsewhere = experts - experts / groups;
    for (int i = 0; i < (int)per_token && missed > 0; i++) missed *= fmax(0, elsewhere - i) / (experts - i);
    return groups * (1 - missed);
}

// DeepEP's normal kernels: a channel is one SM that sends and one that receives. A token goes once to each rank; over
// a network once to each node, where the rank that gets it passes it on.
static Plan plan_of_channels(const ExchangeShape *shape) {
    double ranks_met = exchange_groups_met(shape->ranks, shape->experts, shape->per_token);
    double nodes_met = exchange_groups_met(shape->nodes, shape->experts, shape->per_token);
    bool network = shape->nodes > 1;
    return (Plan){.workers = fmax(1, (shape->sms > 0 ? shape->sms : DEFAULT_SMS) / 2),
                  .peers = shape->ranks,
                  .copies = network ? nodes_met : ranks_met,
                  .over_nvlink = ranks_met * (1 - shape->nodes / shape->ranks),
                  .over_network = nodes_met * (1 - 1 / shape->nodes)};
}

// DeepEP's low-latency kernels: a message for each of a token's experts; an SM for each expert, or for the fewest that
// all SMs can hold.
static Plan plan_of_messages(const Gpu *gpu, const ExchangeShape *shape) {
    double each = ceil(shape->experts / gpu->sm_count), far = shape->per_token * (1 - 1 / shape->nodes);
    return (Plan){.workers = ceil(shape->experts / each),
                  .peers = shape->experts,
                  .copies = shape->per_token,
                  .over_nvlink = shape->per_token * (1 - 1 / shape->ranks) - far,
                  .over_network = far};
}

// TensorRT-LLM's kernels over NVLink: blocks on all SMs, a copy for each rank; balanced routing spreads a token's
// experts over as many ranks as there are.
static Plan plan_of_nvlink(const Gpu *gpu, const ExchangeShape *shape) {
    double copies = fmin(shape->per_token, shape->ranks);
    return (Plan){.workers = gpu->sm_count,
                  .peers = shape->ranks,
                  .copies = copies,
                  .over_nvlink = copies * (1 - 1 / shape->ranks)};
}

static Plan plan_of(const Gpu *gpu, const ExchangeShape *shape, const char *mode) {
    if (strcmp(mode, "normal") == 0) return plan_of_channels(shape);
    if (strcmp(mode, "ll") == 0) return plan_of_messages(gpu, shape);
    return plan_of_nvlink(gpu, shape);
}

// ---- What it takes.

static double seconds_over(double bytes, double bytes_per_second) {
    return bytes > 0 && bytes_per_second > 0 ? bytes / bytes_per_second : 0;
}

static double overlapped_seconds(double a, double b, double c) {
    double most = fmax(a, fmax(b, c));
    if (!(most > 0)) return 0;
    double sum =
        pow(a / most, EXCHANGE_SHARPNESS) + pow(b / most, EXCHANGE_SHARPNESS) + pow(c / most, EXCHANGE_SHARPNESS);
    return most * pow(sum, 1 / EXCHANGE_SHARPNESS);
}

static double token_seconds(const ExchangeKernel *kernel, double row) {
    return kernel->token_seconds + kernel->token_byte_seconds * row;
}

static double copy_seconds(const ExchangeKernel *kernel, double row) {
    return kernel->copy_seconds + kernel->copy_byte_seconds * row;
}

void exchange_worker_seconds(const ExchangeKernel *kernel, double row_bytes, double *token, double *copy) {
    *token = token_seconds(kernel, row_bytes) / (DEFAULT_SMS / 2.0);
    *copy = copy_seconds(kernel, row_bytes) / (DEFAULT_SMS / 2.0);
}

double exchange_seconds(const Gpu *gpu, const ExchangeShape *shape, const ExchangeKernel *kernel) {
    Plan plan = plan_of(gpu, shape, kernel->mode);
    double row = shape->hidden * shape->element_bytes, bytes = shape->tokens * row;
    double token = token_seconds(kernel, row) + plan.copies * copy_seconds(kernel, row);
    double nvlink = kernel->nvlink_share * gpu->nvlink_bytes_per_second;
    double network = hardware_constant(EXCHANGE_NIC_SHARE) * shape->nic_bytes_per_second;
    double peers = kernel->over_network ? log2(shape->nodes) : plan.peers;
    return kernel->start_seconds + kernel->peer_seconds * peers + kernel->fill * token +
           overlapped_seconds(shape->tokens / plan.workers * token, seconds_over(plan.over_nvlink * bytes, nvlink),
                              seconds_over(plan.over_network * bytes, network));
}

const ExchangeKernel *exchange_kernel_of(const Gpu *gpu, const char *mode, const char *phase, bool over_network) {
    const ExchangeKernel *best = NULL;
    int nearest = 0;
    for (int i = 0; i < exchange_kernel_count; i++) {
        const ExchangeKernel *row = &exchange_kernels[i];
        if (strcmp(row->mode, mode) != 0 || strcmp(row->phase, phase) != 0 || row->over_network != over_network)
            continue;
        int distance = gpu_generations_from(gpu, row->generation, row->of_servers);
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}

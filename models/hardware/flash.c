// Flash attention by tiles. The table holds what kernels were timed alone to take; its rows are what
// `lockstep calibrate fit calibrate/measurements/kernels/attention.csv` says.
#include "models/hardware/flash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"

#define QUERIES 128.0 // of a tile
#define KEYS 64.0     // that it takes at a time
#define HEAD_STEP 16.0
#define MOST_TILES 1024 // counted one by one; of more the mean is the same to a thousandth
#define BESIDE 2.0      // sharpness of products and exponentials, which warps take in turn
#define SHARPNESS 2.3   // of arithmetic and memory, as GEMMs have it

// clang-format off
const FlashKernel flash_kernels[] = {
    {"gqa", "bf16", "fa2", AMPERE, true, 0.715, 0.302, 2427, 7.24e-6, 3.16, 1.47},
    {"mla", "bf16", "trtllm_fmha", AMPERE, true, 0.660, 0.302, 1049, 10.39e-6, 0.52, 1.51},
    {"encoder", "bf16", "fa4", BLACKWELL, true, 0.789, 0.953, 3511, 6.31e-6, 1.25, 1.31},
    {"gqa", "bf16", "flashinfer_trtllm", BLACKWELL, true, 1.075, 0.932, 5572, 7.85e-6, 3.49, 1.22},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, true, 0.746, 0.969, 9160, 10.15e-6, 1.32, 1.16},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, true, 0.899, 0.375, 4061, 13.13e-6, 0.61, 1.12},
    {"encoder", "bf16", "fa3", HOPPER, true, 0.705, 0.356, 1486, 8.31e-6, 1.02, 1.21},
    {"gqa", "bf16", "fa3", HOPPER, true, 0.926, 0.858, 6646, 8.32e-6, 2.14, 1.40},
    {"gqa", "fp8", "trtllm_fmha", HOPPER, true, 0.680, 1.260, 12339, 8.83e-6, 2.21, 1.44},
    {"mla", "bf16", "trtllm_fmha", HOPPER, true, 0.821, 0.302, 3371, 13.50e-6, 0.60, 1.33},
    {"encoder", "bf16", "fa2", ADA, false, 0.905, 0.300, 1437, 5.09e-6, 0.63, 1.67},
    {"gqa", "bf16", "fa2", ADA, false, 0.869, 0.309, 9686, 3.29e-6, 1.25, 2.01},
    {"gqa", "fp8", "trtllm_fmha", ADA, false, 0.650, 0.304, 28290, 1.76e-6, 1.92, 2.35},
    {"mla", "bf16", "trtllm_fmha", ADA, false, 0.837, 0.301, 1077, 6.11e-6, 0.62, 2.03},
    {"encoder", "bf16", "fa2", BLACKWELL, false, 0.742, 0.298, 779, 4.44e-6, 0.35, 1.50},
    {"gqa", "bf16", "fa2", BLACKWELL, false, 0.749, 0.312, 4737, 5.28e-6, 1.57, 1.68},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, false, 0.167, 0.301, 9316, 9.73e-6, 0.80, 1.53},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, false, 0.665, 0.301, 871, 10.02e-6, 0.44, 1.99},
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
    double rate = kernel->share * gpu->gemm_efficiency[shape->precision] * gpu->sustained *
                  gpu->peak_flops[shape->precision] / gpu->sm_count;
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
        int distance =
            2 * abs((int)row->generation - (int)gpu->generation) + (row->of_servers != gpu_is_of_servers(gpu));
        if (!best || distance < nearest) best = row, nearest = distance;
    }
    return best;
}

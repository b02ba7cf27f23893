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
#define MOST_TILES 1024   // counted one by one; of more the mean is the same to a thousandth
#define EXPONENTIALS 16.0 // that an SM takes a clock
#define BESIDE 2.0        // sharpness of products and exponentials, which warps take in turn
#define SHARPNESS 2.3     // of arithmetic and memory, as GEMMs have it

// clang-format off
const FlashKernel flash_kernels[] = {
    {"gqa", "bf16", "fa2", AMPERE, true, 0.718, 0.302, 52, 7.02e-6, 2.98, 1.47},
    {"mla", "bf16", "trtllm_fmha", AMPERE, true, 0.665, 0.302, 24, 9.91e-6, 0.47, 1.49},
    {"encoder", "bf16", "fa4", BLACKWELL, true, 0.616, 0.214, 645, 5.05e-6, 0.68, 1.40},
    {"gqa", "bf16", "flashinfer_trtllm", BLACKWELL, true, 1.263, 1.050, 519, 7.96e-6, 3.33, 1.22},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, true, 0.862, 0.953, 1088, 10.05e-6, 0.85, 1.18},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, true, 0.894, 0.287, 296, 13.04e-6, 0.57, 1.12},
    {"encoder", "bf16", "fa3", HOPPER, true, 0.710, 0.351, 220, 7.00e-6, 0.77, 1.20},
    {"gqa", "bf16", "fa3", HOPPER, true, 1.069, 1.609, 307, 8.80e-6, 2.26, 1.63},
    {"gqa", "fp8", "trtllm_fmha", HOPPER, true, 0.758, 1.700, 525, 11.12e-6, 2.42, 1.44},
    {"mla", "bf16", "trtllm_fmha", HOPPER, true, 0.822, 0.302, 131, 13.30e-6, 0.58, 1.33},
    {"encoder", "bf16", "fa2", ADA, false, 0.909, 0.300, 86, 3.83e-6, 0.54, 1.68},
    {"gqa", "bf16", "fa2", ADA, false, 0.851, 0.311, 37, 6.24e-6, 1.54, 1.93},
    {"gqa", "fp8", "trtllm_fmha", ADA, false, 0.630, 0.322, 483, 4.53e-6, 2.46, 2.99},
    {"mla", "bf16", "trtllm_fmha", ADA, false, 0.847, 0.301, 28, 5.14e-6, 0.60, 2.04},
    {"encoder", "bf16", "fa2", BLACKWELL, false, 0.745, 0.298, 48, 3.65e-6, 0.34, 1.54},
    {"gqa", "bf16", "fa2", BLACKWELL, false, 0.744, 0.313, 42, 6.43e-6, 1.59, 1.76},
    {"gqa", "fp8", "trtllm_fmha", BLACKWELL, false, 0.169, 0.302, 78, 10.35e-6, 0.88, 1.57},
    {"mla", "bf16", "trtllm_fmha", BLACKWELL, false, 0.670, 0.301, 33, 8.66e-6, 0.41, 1.98},
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

static Keys keys_of_head(const FlashShape *shape, double more_keys) {
    double tiles = ceil(shape->length / QUERIES), every = ceil(tiles / MOST_TILES);
    Keys keys = {0, 0};
    for (double tile = every; tile < tiles + every; tile += every) {
        double seen = keys_of_tile(shape, QUERIES * fmin(tile, tiles)) + more_keys;
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
    double clock = gpu->tensor_hz > 0 ? gpu->tensor_hz : gpu->boost_hz;
    double exponentials = kernel->softmax / (EXPONENTIALS * clock * gpu->sustained);
    double per_key = QUERIES * maximum_of(products, exponentials, BESIDE);
    Keys keys = keys_of_head(shape, kernel->more_keys);
    double mean = keys.all * shape->batch * shape->heads / gpu->sm_count;
    return per_key * maximum_of(mean, keys.most, kernel->sharpness);
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

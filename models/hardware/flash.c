// Flash attention by tiles. The table holds constants fitted to kernels timed alone; its rows are the output of
// `lockstep calibrate fit calibrate/measurements/kernels/attention.csv`.
#include "models/hardware/flash.h"

#include <math.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "models/hardware/kernel.h"

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

// Kernel time: a GEMM is cut into tiles that run in waves over the SMs, with memory traffic beside it; other kernels
// move bytes. What the constants of a GPU are, the catalogue says.
#include "models/hardware/kernel.h"

#include <math.h>

#include "sim/check.h"

#define L2_BYTES_PER_CLOCK_AND_SM                                                                                      \
    64.0                     // operand feed; fitted per GPU it does not carry over to other GPUs, so it is fixed
#define WIDE_OUTPUT 18000.0  // elements: half of what a wide output costs; fitted to the FP32 rows of ten GPUs
#define SPLIT_K_LEAST 256.0  // elements of K that a split keeps at least
#define SPLIT_K_SECONDS 1e-6 // the second kernel, which adds the parts

// How matrix units and vector units cut a GEMM. cuBLAS has tiles 32 wide for vector units alone (sgemm_32x128, 128x32,
// 64x32 in the kernel names of NeuSight's traces). Their tiles do less work in the time that it takes to start and end
// one, so in elements of K their ramp is shorter: a half fits the FP32 rows of ten GPUs best among 1, 1/2, 1/4, 1/8.
typedef struct Tile {
    double m, n;
} Tile;
typedef struct Units {
    const Tile *tiles;
    int tile_count;
    double k_step;     // elements of K per step of a tile's main loop
    double ramp_share; // of the GPU's gemm_ramp
} Units;

static const Tile matrix_tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
static const Tile vector_tiles[] = {{128, 128}, {128, 64}, {64, 128}, {64, 64},
                                    {128, 32},  {32, 128}, {64, 32},  {32, 64}};
static const double splits[] = {1, 2, 3, 4, 6, 8};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
static const Units matrix_units = {matrix_tiles, COUNT_OF(matrix_tiles), 32, 1};
static const Units vector_units = {vector_tiles, COUNT_OF(vector_tiles), 8, 0.5};

double gemm_flops(const Gemm *gemm) {
    return 2.0 * (double)gemm->batch * (double)gemm->m * (double)gemm->n * (double)gemm->k;
}

double gemm_bytes(const Gemm *gemm) {
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k;
    return precision_bytes(gemm->precision) * (double)gemm->batch * (m * k + k * n + m * n);
}

double gpu_peak(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision]; }

bool gpu_supports(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision] > 0; }

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

// (a^q + b^q)^(1/q): never below the larger, and equal parts cost 2^(1/q) of one.
static double smooth_maximum(double a, double b, double sharpness) {
    double large = larger(a, b), small = smaller(a, b);
    if (small <= 0 || small < 1e-4 * large) return large;
    return large * pow(1 + pow(small / large, sharpness), 1 / sharpness);
}

static double flops_attained(const Gpu *gpu, Precision precision) {
    CHECK(gpu_supports(gpu, precision));
    return gpu->gemm_efficiency[precision] * gpu->sustained * gpu->peak_flops[precision];
}

static double bytes_attained(const Gpu *gpu) { return gpu->memory_efficiency * gpu->memory_bytes_per_second; }

// What a GEMM's shape and GPU give to every tile and split.
typedef struct TileCosts {
    double m, n, k, batch, sms;
    double seconds_per_product; // of a tile's FLOP, per element of m, n and K, on one SM
    double seconds_per_operand; // of feeding an SM, per element
    double ramp, wave_weight;
    const Units *units;
} TileCosts;

static double waves(const TileCosts *costs, double tile_count) {
    double share = tile_count / costs->sms;
    double fluid = larger(1, share), whole = larger(1, ceil(share));
    return (1 - costs->wave_weight) * fluid + costs->wave_weight * whole;
}

static double compute_seconds(const TileCosts *costs, double split) {
    double best = INFINITY;
    const Units *units = costs->units;
    double depth = units->k_step * ceil(costs->k / split / units->k_step) + units->ramp_share * costs->ramp;
    for (int i = 0; i < units->tile_count; i++) {
        double tile_m = units->tiles[i].m, tile_n = units->tiles[i].n;
        double tile_count = ceil(costs->m / tile_m) * ceil(costs->n / tile_n) * costs->batch * split;
        double arithmetic = tile_m * tile_n * costs->seconds_per_product;
        double feed = (tile_m + tile_n) * costs->seconds_per_operand;
        best = smaller(best, waves(costs, tile_count) * depth * larger(arithmetic, feed));
    }
    return best;
}

// The parts of a split GEMM are written and read again in FP32, mostly within the L2.
static double split_seconds(const Gpu *gpu, const Gemm *gemm, double split) {
    if (split == 1) return 0;
    double bytes = split * (double)gemm->batch * (double)gemm->m * (double)gemm->n * 8 / 3;
    return SPLIT_K_SECONDS + bytes / bytes_attained(gpu);
}

static bool on_vector_units(const Gpu *gpu, Precision precision) {
    return gpu->peak_flops[precision] <= gpu->vector_flops[precision];
}

// cuBLAS lays the blocks of a wave along the contiguous side of the output first. Where a wave no longer reaches its
// end, blocks share only one of the operands, and the other streams past the L2 once for each row of tiles. Seen on
// vector units: their tiles are smaller, so they read more per FLOP. One width fits all GPUs; how much rate is left is
// theirs.
static double width_cost(const Gpu *gpu, const Gemm *gemm) {
    double width = (double)gemm->n / WIDE_OUTPUT, square = width * width;
    return 1 + (1 / gpu->wide_gemm_rate - 1) * square / (1 + square);
}

double gemm_seconds(const Gpu *gpu, const Gemm *gemm) {
    CHECK(gemm->batch >= 0 && gemm->m >= 0 && gemm->n >= 0 && gemm->k >= 0);
    if (gemm->batch == 0 || gemm->m == 0 || gemm->n == 0 || gemm->k == 0) return 0;
    TileCosts costs = {
        .m = (double)gemm->m,
        .n = (double)gemm->n,
        .k = (double)gemm->k,
        .batch = (double)gemm->batch,
        .sms = gpu->sm_count,
        .seconds_per_product = 2 * gpu->sm_count / flops_attained(gpu, gemm->precision),
        .seconds_per_operand = precision_bytes(gemm->precision) / (L2_BYTES_PER_CLOCK_AND_SM * gpu->tensor_hz),
        .ramp = gpu->gemm_ramp,
        .wave_weight = gpu->wave_weight,
        .units = on_vector_units(gpu, gemm->precision) ? &vector_units : &matrix_units,
    };
    if (costs.units == &vector_units) costs.seconds_per_product *= width_cost(gpu, gemm);
    double memory = gemm_bytes(gemm) / bytes_attained(gpu);
    double best = INFINITY;
    for (int i = 0; i < COUNT_OF(splits); i++) {
        if (splits[i] > 1 && costs.k / splits[i] < SPLIT_K_LEAST) break;
        double compute = compute_seconds(&costs, splits[i]), extra = split_seconds(gpu, gemm, splits[i]);
        if (larger(compute, memory) + extra >= best) continue;
        best = smaller(best, smooth_maximum(compute, memory, gpu->roofline_sharpness) + extra);
    }
    return best;
}

double roofline_seconds(const Gpu *gpu, Precision precision, double flops, double bytes) {
    double compute = flops > 0 ? flops / flops_attained(gpu, precision) : 0;
    return smooth_maximum(compute, bytes / bytes_attained(gpu), gpu->roofline_sharpness);
}

double memory_seconds(const Gpu *gpu, double bytes) {
    // A soft knee: what a cache keeps ends over a factor of two or so in size, not at once.
    double kept = gpu->l2_share * gpu->l2_bytes, ratio = bytes / kept, square = ratio * ratio;
    double in_cache = bytes / sqrt(sqrt(1 + square * square));
    return (in_cache / gpu->l2_speed_up + (bytes - in_cache)) / bytes_attained(gpu);
}

double cold_memory_seconds(const Gpu *gpu, double bytes) { return bytes / bytes_attained(gpu); }

// Kernel time: a GEMM is cut into tiles that run in waves over the SMs. Operands are read beside the arithmetic, the
// output is written after it; other kernels move bytes. What the constants of a GPU are, the catalogue says.
#include "models/hardware/kernel.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

#define L2_BYTES_PER_CLOCK_AND_SM                                                                                      \
    64.0                    // operand feed; fitted per GPU it does not carry over to other GPUs, so it is fixed
#define WIDE_L2_BYTES 160.0 // of L2 for each column, where half of what a wide output costs is paid: its line and a bit
#define WIDE_L2_MOST (8.0 * 1024 * 1024) // a larger L2 keeps them all, but cuBLAS takes narrower tiles then
#define SPLIT_K_LEAST 256.0              // elements of K that a split keeps at least
#define SPLIT_K_SECONDS 1e-6             // the second kernel, which adds the parts
#define FAR_BYTES 4294967296.0           // what the 32-bit offsets of AMD's buffer instructions reach

// How matrix units and vector units cut a GEMM. cuBLAS has tiles 32 wide for vector units alone (sgemm_32x128, 128x32,
// 64x32 in the kernel names of NeuSight's traces). On Ampere and Ada it multiplies batches with sgemm_128x128 whatever
// their shape: rows short of 128 are work in vain (half of the rate with 64 of them), columns short of it are not. On
// the A100 its tiles start as late as 24 elements of K more would let them (products of 64 at 0.7 of the rate).
typedef struct Tile {
    double m, n;
} Tile;
typedef struct Units {
    const Tile *tiles;
    int tile_count;
    double k_step; // elements of K per step of a tile's main loop
    double start;  // elements of K that a tile's start costs beyond the GPU's ramp
} Units;

static const Tile matrix_tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
static const Tile vector_tiles[] = {{128, 128}, {128, 64}, {64, 128}, {64, 64},
                                    {128, 32},  {32, 128}, {64, 32},  {32, 64}};
static const Tile tall_tiles[] = {{128, 128}, {128, 64}, {128, 32}};
static const double splits[] = {1, 2, 3, 4, 6, 8};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
static const Units matrix_units = {matrix_tiles, COUNT_OF(matrix_tiles), 32, 0};
static const Units vector_units = {vector_tiles, COUNT_OF(vector_tiles), 8, 0};
static const Units ampere_batches = {tall_tiles, COUNT_OF(tall_tiles), 8, 24};
static const Units ada_batches = {tall_tiles, COUNT_OF(tall_tiles), 8, 0};

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

double gemm_flops(const Gemm *gemm) {
    return 2.0 * (double)gemm->batch * (double)gemm->m * (double)gemm->n * (double)gemm->k;
}

static double operand_bytes(const Gemm *gemm) {
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k;
    return precision_bytes(gemm->precision) * (double)gemm->batch * (m * k + k * n);
}

// Types of less than two bytes are for operands: FP8 and FP4 add up to BF16, INT8 to INT32.
static double output_bytes(const Gemm *gemm) {
    double bytes = gemm->precision == INT8 ? 4 : larger(2, precision_bytes(gemm->precision));
    return bytes * (double)gemm->batch * (double)gemm->m * (double)gemm->n;
}

double gemm_bytes(const Gemm *gemm) { return operand_bytes(gemm) + output_bytes(gemm); }

double gpu_peak(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision]; }

bool gpu_supports(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision] > 0; }

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
    double depth = units->k_step * ceil(costs->k / split / units->k_step) + costs->ramp;
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

static bool is_called(const char *name, const char *other) { return name && strcmp(name, other) == 0; }

static const Units *units_of(const Gpu *gpu, const Gemm *gemm) {
    if (!on_vector_units(gpu, gemm->precision)) return &matrix_units;
    if (gemm->batch > 1 && is_called(gpu->architecture, "Ampere")) return &ampere_batches;
    if (gemm->batch > 1 && is_called(gpu->architecture, "Ada")) return &ada_batches;
    return &vector_units;
}

// Blocks of a wave lie along the contiguous side of the output, and each step of K touches an L2 line (128 bytes) of
// every column's operand. Where the L2 cannot keep them until the next steps have used the rest of the line, they are
// read again: seen from 8,000 columns on with 2 MiB (P4), 16,000 with 4 (P100), 30,000 with 6 (V100), and on vector
// units alone, whose steps are short. How much rate is left is the GPU's own; with 40 MiB and more it is nearly all.
static double width_cost(const Gpu *gpu, const Gemm *gemm) {
    double kept = smaller(gpu->l2_bytes, WIDE_L2_MOST) / WIDE_L2_BYTES;
    double width = (double)gemm->n / kept, square = width * width;
    return 1 + (1 / gpu->wide_gemm_rate - 1) * square / (1 + square);
}

// What vector units pay for how the operands lie: those of a linear layer both lie along K and are transposed on their
// way to the registers, which one that is not transposed saves, up to the peak; rows of odd length are loaded element
// by element.
static double lie_cost(const Gpu *gpu, const Gemm *gemm) {
    double most = larger(1, 1 / gpu->gemm_efficiency[gemm->precision]);
    double cost = gemm->is_untransposed ? 1 / smaller(most, gpu->untransposed_gemm_gain) : 1;
    return gemm->n % 2 || gemm->k % 2 ? cost / gpu->odd_gemm_rate : cost;
}

// rocBLAS falls back to kernels of small tiles for operands beyond the reach of its offsets (MI100 and MI210: 0.4).
static double far_cost(const Gpu *gpu, const Gemm *gemm) {
    double larger_operand = (double)(gemm->m > gemm->n ? gemm->m : gemm->n) * (double)gemm->k;
    bool is_far = precision_bytes(gemm->precision) * larger_operand > FAR_BYTES;
    return is_far && is_called(gpu->vendor, "AMD") ? 1 / gpu->wide_gemm_rate : 1;
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
        .wave_weight = gpu->wave_weight,
        .units = units_of(gpu, gemm),
    };
    costs.ramp = gpu->gemm_ramp * 2 / precision_bytes(gemm->precision) + costs.units->start;
    bool on_matrix_units = costs.units == &matrix_units;
    costs.seconds_per_product *= on_matrix_units ? far_cost(gpu, gemm) : width_cost(gpu, gemm) * lie_cost(gpu, gemm);
    double reading = operand_bytes(gemm) / bytes_attained(gpu), writing = output_bytes(gemm) / bytes_attained(gpu);
    double best = INFINITY;
    for (int i = 0; i < COUNT_OF(splits); i++) {
        if (splits[i] > 1 && costs.k / splits[i] < SPLIT_K_LEAST) break;
        double compute = compute_seconds(&costs, splits[i]), extra = split_seconds(gpu, gemm, splits[i]);
        if (larger(compute, reading) + extra >= best) continue;
        best = smaller(best, smooth_maximum(compute, reading, gpu->roofline_sharpness) + extra);
    }
    return best + writing;
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

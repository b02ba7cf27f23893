// Kernel time: a GEMM is cut into tiles that run in waves over the SMs. Operands are read while the SMs compute; the
// output is written after the arithmetic (matrix units) or during that of other tiles (vector units, whose SMs hold
// several). Other kernels move bytes. The constants of a GPU come from the catalogue.
#include "models/hardware/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/hardware/hardware_constants.h"
#include "sim/base/check.h"

#define USUAL_EXPONENTIALS 16.0 // a clock and SM
#define FAR_BYTES 4294967296.0  // what the 32-bit offsets of AMD's buffer instructions reach

// How matrix units and vector units cut a GEMM. cuBLAS has tiles 32 wide for vector units alone (sgemm_32x128, 128x32,
// 64x32 in the kernel names of NeuSight's traces). Batches it multiplies in one tile whatever their shape, whose rows
// and columns beyond the product are work in vain: 128 x 128 on Ampere and Ada, elsewhere 64 x 128 or smaller.
typedef struct Tile {
    double m, n;
} Tile;
typedef struct Units {
    const Tile *tiles;
    int tile_count;
    double k_step; // elements of K per step of a tile's main loop
} Units;

static const Tile matrix_tiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}};
static const Tile vector_tiles[] = {{128, 128}, {128, 64}, {64, 128}, {64, 64},
                                    {128, 32},  {32, 128}, {64, 32},  {32, 64}};
static const Tile large_tile[] = {{128, 128}}, wide_tile[] = {{64, 128}}, small_tile[] = {{64, 64}};
static const double splits[] = {1, 2, 3, 4, 6, 8};
#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))
static const Units matrix_units = {matrix_tiles, COUNT_OF(matrix_tiles), 32};
static const Units vector_units = {vector_tiles, COUNT_OF(vector_tiles), 8};
static const Units large_batches = {large_tile, COUNT_OF(large_tile), 8};
static const Units wide_batches = {wide_tile, COUNT_OF(wide_tile), 8};
static const Units small_batches = {small_tile, COUNT_OF(small_tile), 8};

// What cuBLAS does on the vector units of each generation. Since Ampere its kernels slice K among the warps of a block
// (sgemm_32x32_sliced1x4) and are split only where even that leaves most of the SMs idle.
typedef struct Habits {
    const Units *batches; // NULL: as others
    bool splits_k;
} Habits;
static const Habits habits[ARCHITECTURE_COUNT] = {
    [PASCAL] = {&wide_batches, true}, [TURING] = {&wide_batches, true},   [AMPERE] = {&large_batches, false},
    [ADA] = {&large_batches, false},  [HOPPER] = {&small_batches, false}, [BLACKWELL] = {&small_batches, false},
};
static const Habits other_habits = {&small_batches, true};

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

double gemm_flops(const Gemm *gemm) {
    return 2.0 * (double)gemm->batch * (double)gemm->m * (double)gemm->n * (double)gemm->k;
}

static double bytes_in(const Gemm *gemm) {
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k;
    return operand_bytes(gemm->precision, false) * (double)gemm->batch * (m * k + k * n);
}

// Types of less than two bytes are for operands: FP8 and FP4 add up to BF16, INT8 to INT32.
static double written_bytes(const Gemm *gemm) {
    double usual = gemm->precision == INT8 ? 4 : larger(2, precision_bytes(gemm->precision));
    return (gemm->output_bytes > 0 ? gemm->output_bytes : usual) * (double)gemm->batch * (double)gemm->m *
           (double)gemm->n;
}

double gemm_bytes(const Gemm *gemm) { return bytes_in(gemm) + written_bytes(gemm); }

double gpu_peak(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision]; }

bool gpu_supports(const Gpu *gpu, Precision precision) { return gpu->peak_flops[precision] > 0; }

#define SERVER_FLOPS 1500 // a clock and SM, in 16 bits: graphics parts have 1,024, A100 has 2,048

bool gpu_is_of_servers(const Gpu *gpu) {
    double clock = gpu->tensor_hz > 0 ? gpu->tensor_hz : gpu->boost_hz;
    return gpu->peak_flops[FP16] > SERVER_FLOPS * gpu->sm_count * clock;
}

int gpu_generations_from(const Gpu *gpu, Architecture generation, bool of_servers) {
    return 2 * abs((int)generation - (int)gpu->generation) + (of_servers != gpu_is_of_servers(gpu));
}

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
    double loop_products;       // as many as a tile's loop takes the time of, per element of K
    double seconds_per_operand; // of feeding an SM, per element
    double ramp, wave_weight;
    double clock_gain; // of SMs while few are at work, over the clock that the power limit leaves to all together
    const Units *units;
} TileCosts;

static double waves(const TileCosts *costs, double tile_count) {
    double share = tile_count / costs->sms;
    double fluid = larger(1, share), whole = larger(1, ceil(share));
    return (1 - costs->wave_weight) * fluid + costs->wave_weight * whole;
}

// Tiles run in waves. On vector units these are at full clock, and a power limit binds the work of all SMs together:
// where few of them are at work, as in a last wave, they keep their clock (L4: no wave shows in its times).
static double compute_seconds(const TileCosts *costs, double split) {
    double best = INFINITY;
    const Units *units = costs->units;
    double least = split > 1 ? hardware_constant(SPLIT_K_LEAST) : 0; // shorter parts would take no less
    double depth = units->k_step * ceil(larger(costs->k / split, least) / units->k_step) + costs->ramp;
    for (int i = 0; i < units->tile_count; i++) {
        double tile_m = units->tiles[i].m, tile_n = units->tiles[i].n;
        double tile_count = ceil(costs->m / tile_m) * ceil(costs->n / tile_n) * costs->batch * split;
        double arithmetic = (tile_m * tile_n + costs->loop_products) * costs->seconds_per_product;
        double feed = (tile_m + tile_n) * costs->seconds_per_operand;
        double in_waves = waves(costs, tile_count) * larger(arithmetic / costs->clock_gain, feed);
        double of_power = tile_count / costs->sms * arithmetic;
        best = smaller(best, depth * larger(in_waves, of_power));
    }
    return best;
}

static bool on_vector_units(const Gpu *gpu, Precision precision) {
    return gpu->peak_flops[precision] <= gpu->vector_flops[precision];
}

// The parts of a split GEMM are written and read again in FP32, mostly within the L2.
static double split_seconds(const Gpu *gpu, const Gemm *gemm, double split) {
    if (split == 1) return 0;
    double bytes = split * (double)gemm->batch * (double)gemm->m * (double)gemm->n * 8 / 3;
    bool on_vector = on_vector_units(gpu, gemm->precision);
    return (on_vector ? hardware_constant(VECTOR_SPLIT_SECONDS) : gpu->split_k_seconds) + bytes / bytes_attained(gpu);
}

// Per clock and SM.
static double feed_bytes(const Gpu *gpu, Precision precision) {
    return on_vector_units(gpu, precision) ? hardware_constant(VECTOR_FEED_BYTES) : gpu->gemm_feed_bytes;
}

static const Habits *habits_of(const Gpu *gpu) {
    const Habits *own = &habits[gpu->generation];
    return own->batches ? own : &other_habits;
}

static const Units *units_of(const Gpu *gpu, const Gemm *gemm) {
    if (!on_vector_units(gpu, gemm->precision)) return &matrix_units;
    return gemm->batch > 1 ? habits_of(gpu)->batches : &vector_units;
}

// e_c is that of tiles of 128 x 128. A loop's clocks weigh most where its tile is small and its SM does many products
// per clock.
static void add_loop(TileCosts *costs, const Gpu *gpu, Precision precision) {
    double largest = 128 * 128, rate = gpu->peak_flops[precision] / (2 * gpu->sm_count * gpu->tensor_hz);
    costs->loop_products = hardware_constant(LOOP_CLOCKS) * rate;
    costs->seconds_per_product *= largest / (largest + costs->loop_products);
}

// Rows of operands that lie along a long K are far apart: each step of K touches an L2 line and soon a page of its own
// for every row of a tile. Seen from 8,000 elements on with 2 MiB of L2 (P4), 16,000 with 4 (P100), 30,000 with 6
// (V100), and on vector units alone, whose steps are short. How much rate is left is the GPU's own; with 40 MiB and
// more it is nearly all.
static double long_cost(const Gpu *gpu, const Gemm *gemm) {
    double kept = smaller(gpu->l2_bytes, hardware_constant(LONG_L2_MOST)) / hardware_constant(LONG_L2_BYTES);
    double length = (double)gemm->k / kept, square = length * length;
    return 1 + (1 / gpu->long_gemm_rate - 1) * square / (1 + square);
}

// What vector units pay for how the operands lie: those of a linear layer both lie along K and are transposed on their
// way to the registers, which one that is not transposed saves, up to the peak; rows of odd length are loaded element
// by element.
static double lie_cost(const Gpu *gpu, const Gemm *gemm) {
    double most = larger(1, 1 / gpu->gemm_efficiency[gemm->precision]);
    double cost = gemm->is_untransposed ? 1 / smaller(most, gpu->untransposed_gemm_gain) : 1;
    return gemm->n % 2 || gemm->k % 2 ? cost / gpu->odd_gemm_rate : cost;
}

// Rows that do not begin at 16 bytes can neither be copied in bulk nor loaded 8 elements at a time: an SM's
// instructions to load them set the rate.
static double least_seconds_per_product(const Gpu *gpu, const Gemm *gemm) {
    if (gemm->loads == 0) return 0;
    return 2 / (hardware_constant(LOADED_FLOPS) * gemm->loads * gpu->tensor_hz);
}

// rocBLAS falls back to kernels of small tiles for weights beyond the reach of its offsets (MI100 and MI210: 0.4).
static double far_cost(const Gpu *gpu, const Gemm *gemm) {
    bool is_far = precision_bytes(gemm->precision) * (double)gemm->n * (double)gemm->k > FAR_BYTES;
    return is_far && gpu->vendor && strcmp(gpu->vendor, "AMD") == 0 ? 1 / gpu->long_gemm_rate : 1;
}

// Thirds would let twice the depth take less time where half of it cannot be split, which only few tiles can show.
static bool splits_k(const Gpu *gpu, const TileCosts *costs, double split) {
    double tile_count = ceil(costs->m / 128) * ceil(costs->n / 128) * costs->batch;
    return habits_of(gpu)->splits_k || (tile_count < hardware_constant(SPLIT_SMS) * costs->sms && fmod(split, 3) != 0);
}

// A soft knee: the effect of a cache ends over a factor of two or so in size, not at once.
static double bytes_kept(const Gpu *gpu, double bytes) {
    double ratio = bytes / (gpu->l2_share * gpu->l2_bytes), square = ratio * ratio;
    return bytes / sqrt(sqrt(1 + square * square));
}

double looped_seconds_per_byte(const Gpu *gpu, double loop_bytes) {
    double kept = bytes_kept(gpu, loop_bytes) / loop_bytes;
    return (1 - kept * (1 - 1 / gpu->gemm_l2_gain)) / bytes_attained(gpu);
}

// A GPU that has been idle or read memory starts at its highest clock; within some milliseconds of products it sinks to
// what the power limit leaves. A product is slower by what of it was arithmetic at the lower clock.
static double heated_seconds(const Gpu *gpu, const Gemm *gemm, double seconds) {
    double arithmetic = gemm_flops(gemm) / flops_attained(gpu, gemm->precision);
    double lasting = seconds / (seconds + hardware_constant(HEATING_SECONDS));
    return seconds + gpu->gemm_heating * (1 - gemm->quiet) * arithmetic * lasting;
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
        .clock_gain = 1,
        .seconds_per_operand =
            operand_bytes(gemm->precision, false) / (feed_bytes(gpu, gemm->precision) * gpu->tensor_hz),
        .wave_weight = gpu->wave_weight,
        .units = units_of(gpu, gemm),
    };
    costs.ramp = gpu->gemm_ramp * 2 / operand_bytes(gemm->precision, false);
    double per_byte = gemm->loop_bytes > 0 ? looped_seconds_per_byte(gpu, gemm->loop_bytes) : 1 / bytes_attained(gpu);
    double reading = bytes_in(gemm) * per_byte, after = written_bytes(gemm) * per_byte;
    bool on_matrix_units = costs.units == &matrix_units;
    if (on_matrix_units) {
        costs.seconds_per_product *= far_cost(gpu, gemm) / (gemm->rate > 0 ? gemm->rate : 1);
        costs.seconds_per_product = larger(costs.seconds_per_product, least_seconds_per_product(gpu, gemm));
    } else {
        costs.seconds_per_product *= long_cost(gpu, gemm) * lie_cost(gpu, gemm);
        add_loop(&costs, gpu, gemm->precision);
        costs.clock_gain = 1 / gpu->sustained;
        reading += after, after = 0;
    }
    double best = INFINITY;
    for (int i = 0; i < COUNT_OF(splits); i++) {
        if (splits[i] > 1 && (gemm->whole_k || costs.k < hardware_constant(SPLIT_K_LEAST))) break;
        if (splits[i] > 1 && !on_matrix_units && !splits_k(gpu, &costs, splits[i])) continue;
        double compute = compute_seconds(&costs, splits[i]), extra = split_seconds(gpu, gemm, splits[i]);
        if (larger(compute, reading) + extra >= best) continue;
        best = smaller(best, smooth_maximum(compute, reading, gpu->roofline_sharpness) + extra);
    }
    return on_matrix_units ? heated_seconds(gpu, gemm, best + after) : best + after;
}

double roofline_seconds(const Gpu *gpu, Precision precision, double flops, double bytes) {
    double compute = flops > 0 ? flops / flops_attained(gpu, precision) : 0;
    return smooth_maximum(compute, bytes / bytes_attained(gpu), gpu->roofline_sharpness);
}

double kernels_memory_seconds(const Gpu *gpu, double bytes, double kernel_bytes) {
    if (bytes == 0 || kernel_bytes == 0) return 0;
    double in_cache = bytes * (bytes_kept(gpu, kernel_bytes) / kernel_bytes);
    return (in_cache / gpu->l2_speed_up + (bytes - in_cache)) / bytes_attained(gpu);
}

double memory_seconds(const Gpu *gpu, double bytes) { return kernels_memory_seconds(gpu, bytes, bytes); }

double exponentials_per_second(const Gpu *gpu) {
    return (gpu->exponentials > 0 ? gpu->exponentials : USUAL_EXPONENTIALS) * gpu->tensor_hz;
}

double cold_memory_seconds(const Gpu *gpu, double bytes) { return bytes / bytes_attained(gpu); }

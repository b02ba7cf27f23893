// Fit of a GPU's GEMM constants (models/hardware/kernel.h) to measured GEMMs.
#pragma once

#include "models/hardware/kernel.h"
#include "sim/base/list.h"
#include "sim/data/csv.h"

typedef struct GemmPoint {
    Gemm gemm;
    double seconds;
} GemmPoint;

// A row of the table. `gpu` is NULL, with the reason in `why_not`, if it cannot be predicted.
typedef struct GemmRow {
    const char *gpu_name, *why_not;
    const Gpu *gpu;
    GemmPoint point;
    int line;
} GemmRow;

typedef LIST_OF(GemmRow) GemmRows;

// All points of one GPU and precision: they share an efficiency, a memory efficiency and a launch time.
typedef struct GemmGroup {
    const Gpu *gpu;
    Precision precision;
    GemmPoint *items;
    int count, room;
} GemmGroup;

typedef struct GemmData {
    GemmGroup *groups;
    int group_count;
    int used, best_shapes, unknown_gpus, too_few; // rows, and why the others were left out
    const char *unknown_names;                    // "MI325X, MI355X"
} GemmData;

// From CSV columns gpu, dtype, op, batch, M, N, K, latency_ms: all rows, or groups large enough for a fit.
// NULL after adding problems.
const GemmRows *gemm_rows_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
const GemmData *gemm_data_read(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);
bool gemm_row_has_depth_as_n(const Csv *csv, int row);

typedef struct Estimate {
    double value, sigma; // sigma is relative
} Estimate;

Estimate share_estimate(double x, double sigma); // of a share, from its logit

typedef struct GroupFit {
    const Gpu *gpu;
    Precision precision;
    int count;
    Estimate compute_efficiency, memory_efficiency, launch_seconds;
    // Zero where they do not apply to these units, or no shape determines them.
    Estimate long_rate, untransposed_gain, odd_rate;
    // |predicted / measured - 1|, each half of the shapes predicted from the other; bias: median of the signed
    double median_error, p90_error, bias;
} GroupFit;

typedef struct GemmFit {
    Estimate ramp, wave_weight, sharpness; // shared by all GPUs with tensor cores; the others are fitted with these
    GroupFit *groups;
    int group_count;
} GemmFit;

// Errors come from fits to halves of the shapes, values from all; the halves are drawn from streams named by the seed.
GemmFit gemm_fit(Arena *arena, const GemmData *data, uint64_t seed);

// Assumed for every GPU, since no single table determines them.
#define GEMM_FIT_FEED_BYTES 64
#define GEMM_FIT_SPLIT_SECONDS 1e-6

bool gemm_fit_on_tensor_cores(const Gpu *gpu, Precision precision);

// A launch this long is the measuring program's, not the GPU's: it is fitted, but no constant of the GPU.
#define HARNESS_LAUNCH_SECONDS 10e-6

// ---- Splits of GEMMs for a fit: halves of the shapes, each predicted from the other, and blocks for the jackknife.

#define SPLIT_BLOCKS 8

// For each point of each group the half it is in (0 or 1) and its block.
typedef struct Split {
    int **half, **block;
} Split;

// Halves are stratified: a group's shapes are sorted by batched or not and by FLOP, and of each two neighbours a coin
// sends one to either side; GPUs with the same shapes have the same split. Errors of points of one weight matrix are
// correlated, so they share a block.
Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed);

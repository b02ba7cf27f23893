// Joint fit of the GEMM constants of many types of GPU, to tables of kernels replayed as CUDA graphs (columns gpu,
// dtype, framework, weights, m, n, k, latency_us, cast_us) and to our own GEMMs: common values, deviations by
// generation, deviations by type. Types and generations are shrunk towards the common values, so that one without
// measurements has a prediction and one with few rows stays near it.
#pragma once

#include "calibrate/gpu/fit/fit_gemm.h"

// What a GPU's generation has in common. Server parts and graphics parts of one name are not kin: their SMs differ.
typedef enum KinConstant { KIN_WAVE, KIN_HEATING, KIN_L2_GAIN, KIN_GRAPH_LAUNCH, KIN_CONSTANTS } KinConstant;

typedef struct Kin {
    const char *name; // "Blackwell, servers"
    Architecture generation;
    bool of_servers;
    Estimate constants[KIN_CONSTANTS];
    int gpu_count, count; // types that were measured, and rows
} Kin;

// Rows of one GPU, type of number and campaign.
typedef struct Campaign {
    const Gpu *gpu;
    const char *dtype, *framework, *weights;
    Precision precision;
    bool in_graph;
    GemmPoint *points;
    int count, room;
    int kin;
    // |predicted / measured - 1|, each half of the pairs of n and k predicted from the other, and all with no row of
    // this type of GPU seen
    double median_error, p90_error, bias, out_median_error, out_p90_error, out_bias;
} Campaign;

typedef struct TypeOfGpu {
    const Gpu *gpu;
    Precision precision; // BF16: of both 16-bit types
    Estimate efficiency;
} TypeOfGpu;

typedef struct GenerationFit {
    Campaign *campaigns;
    int campaign_count, campaign_room, unknown_gpus, left_out;
    Kin *kins;
    int kin_count, kin_room;
    TypeOfGpu *types;
    int type_count, type_room;
    Estimate feed_bytes, split_seconds, quiet, scaling_seconds[PRECISION_COUNT];
} GenerationFit;

bool kernel_table_is_of_gemms(const char *path);
// `without_types`: also scored on each type of GPU with none of its rows seen, a fit more for each. NULL after adding
// problems.
const GenerationFit *generation_fit(Arena *arena, const Catalogue *catalogue, const char *path, bool without_types,
                                    Problems *problems);
int generation_fit_kin(const GenerationFit *fit, const Gpu *gpu); // -1: none of its kin was measured
// What is known of how a row was timed: by which framework's program, over what weights.
void gemm_in_a_loop(Gemm *gemm, const char *framework, const char *weights);

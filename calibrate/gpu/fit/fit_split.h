// Splits of GEMMs for a fit: halves of the shapes, each predicted from the other, and blocks for the jackknife.
#pragma once

#include "calibrate/gpu/fit/fit_gemm.h"

#define SPLIT_BLOCKS 8

// For each point of each group the half it is in (0 or 1) and its block.
typedef struct Split {
    int **half, **block;
} Split;

// Halves are stratified: a group's shapes stand in order of batched or not and of FLOP, and of each two neighbours a
// coin sends one to either side; on GPUs with the same shapes they fall alike. Points of one weight matrix err
// together, so they share a block.
Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed);

// Splits of GEMMs for a fit: halves of the shapes, each predicted from the other, and blocks for the jackknife.
#pragma once

#include "calibrate/gpu/fit/fit_gemm.h"

#define SPLIT_BLOCKS 8

// For each point of each group the half it is in (0 or 1) and its block.
typedef struct Split {
    int **half, **block;
} Split;

// Halves are stratified: a group's shapes are sorted by batched or not and by FLOP, and of each two neighbours a coin
// sends one to either side; GPUs with the same shapes have the same split. Errors of points of one weight matrix are
// correlated, so they share a block.
Split split_points(Arena *arena, const GemmGroup *const *groups, int group_count, uint64_t seed);

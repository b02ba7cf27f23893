// Predicted time of single kernels between products: launches and casts. Kernels are replayed as a CUDA graph.
#pragma once

#include "models/hardware/hardware.h"

double launches_in_a_graph(const Gpu *gpu, int kernels);
// Quantisation: a kernel's bytes read and written for each element, the start of a block per row, and preceding
// kernels that find a scale.
typedef struct Cast {
    double bytes, row_seconds, first_seconds;
    double server_bytes; // as many more, where memory is faster than what finds a maximum
} Cast;
extern const Cast cast_by_given_scale, cast_by_row, cast_by_tensor; // one scale for all of a tensor must be found first
double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements);

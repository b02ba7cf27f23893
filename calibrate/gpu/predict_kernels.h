// What single kernels take that stand beside products (launches, casts), and what an exchange of tokens sends, as a
// job's layers are priced. Kernels are replayed as a CUDA graph.
#ifndef LOCKSTEP_CALIBRATE_PREDICT_KERNELS_H
#define LOCKSTEP_CALIBRATE_PREDICT_KERNELS_H

#include "models/workload/cost/cost.h"

typedef struct ExpertsShape {
    Precision precision;
    Fp8Recipe recipe;
    double tokens; // that enter the layer, of all ranks
    int hidden, ffn, count, per_token, tp, ep;
    bool gated;
} ExpertsShape;

double launches_in_a_graph(const Gpu *gpu, int kernels);
// What lays numbers out in fewer bits: a kernel, bytes read and written for each element, what starting a block for
// each row takes, and kernels that find a scale of all first.
typedef struct Cast {
    double bytes, row_seconds, first_seconds;
} Cast;
extern const Cast cast_by_given_scale, cast_by_row, cast_by_tensor; // one scale for all of a tensor must be found first
double cast_seconds(const Gpu *gpu, const Cast *cast, double rows, double elements);
// Bytes that a rank sends to all others when each of so many of its tokens goes to its experts, one copy per rank.
double exchange_bytes(const Gpu *gpu, const ExpertsShape *shape, double tokens_of_rank);

#endif

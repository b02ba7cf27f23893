// Fitting the kernels of routed experts, a row of models/hardware/grouped.h for each kernel and generation of GPUs, to
// a table of them (columns gpu, dtype, kernel, tokens, hidden, inter, gated, experts, topk, tp, ep, routing,
// latency_us).
#pragma once

#include "models/hardware/grouped.h"
#include "sim/data/csv.h"

typedef struct ExpertsPoint {
    const Gpu *gpu;
    GroupedShape shape;
    GroupedLoad load;
    double seconds;
} ExpertsPoint;

typedef struct ExpertsGroup {
    GroupedKernel kernel; // as fitted
    const char *architecture;
    ExpertsPoint *items;
    int count, room;
    double share_sigma;                   // relative
    double median_error, p90_error, bias; // |predicted / measured - 1|, each half of the shapes from the other
} ExpertsGroup;

typedef struct ExpertsFit {
    ExpertsGroup *items;
    int count, room, left_out;
} ExpertsFit;

bool kernel_table_is_of_experts(const char *path);
// The power of a routing, "power_law_1.2"; 0: "balanced"; less than 0 otherwise.
double routing_power(const char *routing);
// "nvfp4", "fp8_block": the type that the experts' products are in.
bool experts_precision(const char *dtype, Precision *precision);
// NULL after adding problems.
const ExpertsFit *experts_fit(Arena *arena, const Catalogue *catalogue, const char *path, Problems *problems);

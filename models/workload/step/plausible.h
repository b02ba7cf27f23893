// Final sanity check of a simulated step: it exceeds no rate of the arithmetic units, links or memory that it runs
// on. A violation is a fault of this program, or of the parts it was given.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/lower/lower.h"

// What a step claims, and what bounds it. 0 bounds nothing.
typedef struct StepClaim {
    double seconds, least_seconds, most_seconds; // of a step; ends of its range
    const double *spent;                         // by cause; NULL: unknown
    int spent_count;
    double flops, peak_flops;          // done in a step at least, and per second by all GPUs at most
    double wire_seconds;               // that the busiest link takes for its bytes
    const char *wire;                  // its name
    double weight_bytes, memory_bytes; // of the fullest GPU: least bytes of weights, and the claimed total
} StepClaim;

// A sentence about the violation, with both numbers; NULL without one.
const char *above_physics(Arena *arena, const StepClaim *claim);

// Lower bound of a step's arithmetic: causal attention does half of the counted FLOPs, Winograd's convolutions on
// vector units 1 / 2.25 (also in TF32, where cuDNN may use them), and the first of linear layers needs no gradients
// of its input. For the unit whose peak peak_flops_of returns.
double least_flops_per_sample(const TrainingSpec *training, const Cluster *cluster);
double peak_flops_of(const Cluster *cluster, Precision precision);
// Least bytes of weights on the fullest of the GPUs.
double least_weight_bytes(const Lowered *lowered, const Cluster *cluster);

// Adds the sentence as a fault (problem.h). False when the claim is above physics.
bool is_plausible(const StepClaim *claim, Where where, Problems *problems);

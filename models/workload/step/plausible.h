// Final sanity check of a simulated step: it exceeds no rate of the arithmetic units, links or memory that it runs
// on. A violation is a fault of this program, or of the parts it was given.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/step/lower.h"

// What a step claims, and what bounds it. 0 bounds nothing.
typedef struct StepClaim {
    double seconds, least_seconds, most_seconds; // of a step; ends of its range
    const double *spent;                         // by cause; NULL: unknown
    int spent_count;
    double flops, peak_flops;          // done in a step at least, and per second by all GPUs at most
    double wire_seconds;               // that the busiest link takes for its bytes
    const char *wire;                  // its name
    double weight_bytes, memory_bytes; // that the fullest GPU holds of weights at least, and is said to hold in all
} StepClaim;

// A sentence that says what is violated, with both numbers; NULL when nothing is.
const char *above_physics(Arena *arena, const StepClaim *claim);

// Of a step's arithmetic what is surely done: causal attention does half of what is counted, Winograd's convolutions
// on vector units 1 / 2.25 (also in TF32, where cuDNN may take those), and the first of linear layers needs no
// gradients of its input. On these GPUs: of a number that peak_flops_of says of the step's precision.
double least_flops_per_sample(const TrainingSpec *training, const Cluster *cluster);
double peak_flops_of(const Cluster *cluster, Precision precision);
// Bytes of weights on the fullest of the GPUs at least.
double least_weight_bytes(const Lowered *lowered, const Cluster *cluster);

// Adds the sentence as a fault (problem.h). False when the claim is above physics.
bool is_plausible(const StepClaim *claim, Where where, Problems *problems);

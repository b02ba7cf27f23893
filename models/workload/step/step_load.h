// Electric load of all GPUs of a cluster over a step: each GPU by its main stream's activity, the sum as a step
// function of time, repeated step after step.
#pragma once

#include "models/workload/cluster/cluster.h"
#include "models/workload/cost/cost.h"
#include "sim/run.h"

// The same with GPUs that never draw less than a share of their limit, by kernels that fill or by a feature of theirs.
#define LOAD_FLOORS 4
extern const double load_floors[LOAD_FLOORS]; // of the TDP or the limit that is set; the first is 0

typedef struct StepLoad {
    double seconds;                   // of a step
    int count;                        // of moments, rising from 0
    const double *from_s;             // [count]
    const double *watts[LOAD_FLOORS]; // [count] from that moment on, of all GPUs
    const double *area[LOAD_FLOORS];  // [count] joules until then
} StepLoad;

typedef struct StepLoadMaker StepLoadMaker;

// Before a run: sets the options' callback `tell`. `class_of` NULL where actors are ranks.
StepLoadMaker *step_load_begin(Arena *arena, const Cluster *cluster, const System *system, const int32_t *class_of,
                               RunOptions *options);
// `rest`: the cause of a rank's final wait for the slowest.
const StepLoad *step_load_end(StepLoadMaker *maker, const RunResult *result, Cause rest);

// A step that takes longer by a factor, all of it.
const StepLoad *step_load_stretched(Arena *arena, const StepLoad *load, double factor);

typedef struct LoadSwing {
    double mean, least, most; // watts; the extremes of means over `window`
    double ramp;              // watts a second: the most by which such means differ that lie `apart`
} LoadSwing;

// `window` and `apart`, seconds above 0: smoothing time of power supplies, and time span of a ramp. Exact.
LoadSwing load_swing(const StepLoad *load, int level, double window, double apart);

// Means over `parts` equal parts of the step.
void load_means(const StepLoad *load, int level, int parts, double *watts);

// The amplitude in watts of the part of the load that goes up and down `times` times in a step, from its means.
double load_tone(const double *means, int parts, int times);

// A store that holds the load at its mean: how much it must give at most, in watts, and hold, in joules.
typedef struct LoadStore {
    double watts, joules;
} LoadStore;
LoadStore load_store(const double *means, int parts, double seconds);

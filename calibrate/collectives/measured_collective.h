// A measured log with the cluster it was measured on, for prediction with any constants.
#pragma once

#include "calibrate/collectives/describe_cluster.h"
#include "calibrate/collectives/nccl_log.h"
#include "models/network/constants.h"

#define LARGE_BYTES 65536.0      // below, latency decides; from here on, bandwidth
#define LENGTHY_BYTES 67108864.0 // and from here on bandwidth alone

typedef struct MeasuredCollective {
    const NcclLog *log;
    const DescribedCluster *cluster;
    CollectiveOp op;
    CollectivePrice *price;
    double *predicted;                              // [log->row_count] seconds
    bool *matters;                                  // [CONSTANT_COUNT] which constants its times depend on
    double small_spread, large_spread, long_spread; // of the logarithm, zero-shot
    const char *machine, *gpu;        // whose logs are left out together: by name, or by all that describes it
    const char *setup, *network_kind; // likewise with one NCCL; of the same network: equal, "" within one node
    bool fitted;                      // constants were fitted on this very log
    bool informed;                    // or on another log of the same setup
} MeasuredCollective;

typedef struct Measurements {
    MeasuredCollective *items;
    int count, room;
} Measurements;

// ---- Fitting (fit_collectives.c). All fits are of logarithms of predicted over measured time, robust, with each
// constant's own prior spread around where it starts; `near` (or NULL) is where the search begins.
int constants_of_scope(ConstantScope scope, ConstantId *ids); // room for CONSTANT_COUNT

// Once, before the log is fitted, and again for other rules (NULL: all hold).
void find_what_matters(Arena *arena, MeasuredCollective *measured, const bool *without);

// Machines with a weight above 0 whose times depend on it.
int machines_that_tell(const Measurements *logs, const double *weights, ConstantId id);

// Takes the logs with a weight above 0; writes the constants of that scope from their start to their best; sigma (or
// NULL), in the order of constants_of_scope, takes standard errors of their logarithms. Returns the root mean square of
// the residuals in units of the noise.
double fit_collectives(Arena *arena, const Measurements *logs, const double *weights, ConstantScope scope,
                       NcclConstants *constants, const NcclConstants *near, double *sigma);
// The same of those constants alone, each log with the same weight.
double fit_these(Arena *arena, const Measurements *logs, const ConstantId *ids, int count, NcclConstants *constants,
                 double *sigma);

// Fit of one GPU's constants to its own measurements, with the simulator's cost functions.
#pragma once

#include "calibrate/gpu/fit/measured.h"

#define MOST_DEVICE_PARAMETERS (PRECISION_COUNT + 29)
#define ADVICES 3

typedef struct DeviceParameter {
    const char *key;         // of the catalogue: "gemm_efficiency_bf16", "launch_time"
    const char *unit;        // of the output: "us"
    double scale;            // of the unit
    Precision precision;     // of an efficiency
    double value, low, high; // low and high: the 95 % interval
    double sigma;            // relative
    bool identified;         // by the measurements; otherwise the catalogue's value was kept
    bool in_catalogue;       // a constant that the simulator uses; else output only
} DeviceParameter;

typedef struct OperationError {
    const char *operation;
    int count;
    bool watched;             // predicted from the constants of others
    double median, p90, bias; // of |predicted / measured - 1|; bias: median of the signed
} OperationError;

typedef struct Outlier {
    const Measured *row;
    double error; // predicted / measured - 1
} Outlier;

// Advised measurements, the best first; each assumes that those before it have been made.
typedef struct Advice {
    Measured what;
    double stray; // of predictions afterwards; 0: no advice
} Advice;

typedef struct DeviceFit {
    Constants constants; // fitted, and the start's where not identified
    DeviceParameter parameters[MOST_DEVICE_PARAMETERS];
    int count;
    double *correlation;               // count squared; zero where a parameter was not identified
    double noise;                      // root mean square of the log residuals
    OperationError *errors, *held_out; // on all rows; on the half that a fit to the other half had not seen
    int error_count, held_out_count;
    Outlier *outliers; // further than 4 robust sigmas of their group and 15 %, largest first
    int outlier_count;
    double stray; // one sigma of a prediction of the plan's cases, as far as the constants' uncertainty goes
    Advice advice[ADVICES];
} DeviceFit;

// With a seed, hold-out errors on random halves are computed; `brief` leaves out all but the parameters. The
// catalogue (or NULL) is used to advise the next measurements.
DeviceFit device_fit(Arena *arena, const Catalogue *catalogue, const Gpu *start, const Measured *rows, int count,
                     uint64_t seed, bool brief);

// Errors of given constants, without a fit, in the order of first mention.
OperationError *device_errors(Arena *arena, const Constants *constants, const Measured *rows, int count,
                              int *error_count);

// ---- Between the files of the fit (fit_advice.c).
typedef struct Belief {
    const struct Free *frees;
    const double *x; // on the whole line
    double *covariance;
    int count;
    const double *noise; // by group
} Belief;
void advise(Arena *arena, const Catalogue *catalogue, const Constants *constants, const Belief *belief, DeviceFit *fit);

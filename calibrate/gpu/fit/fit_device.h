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

// ---- Advice.
typedef struct Belief {
    const struct Free *frees;
    const double *x; // on the whole line
    double *covariance;
    int count;
    const double *noise; // by group
} Belief;
void advise(Arena *arena, const Catalogue *catalogue, const Constants *constants, const Belief *belief, DeviceFit *fit);

// ---- The parameters that measurements of one GPU can determine: a table of constants, the measurements that inform
// each, and its mapping to the unconstrained line that fits search. Private to the fit.

// Groups share no constant, so each is a fit of its own.
typedef enum FitGroup {
    GROUP_COMPUTE,
    GROUP_HOST,
    GROUP_COPY,
    GROUP_BESIDE,
    GROUP_CLOCK,
    GROUP_POWER,
    GROUP_COLLECTIVE,
    GROUP_CHANNEL,
    GROUP_COUNT
} FitGroup;

typedef enum Curve { CURVE_SHARE, CURVE_POSITIVE, CURVE_ABOVE_ONE } Curve;

typedef struct ParameterRow {
    const char *key;
    Curve curve;
    FitGroup group;
    size_t offset; // in Constants
    int fewest;    // measurements that inform it
    bool per_precision, in_catalogue;
    MeasuredKind kind, also; // whose measurements inform it
    int protocol;            // of a channel, or -1
    ChannelAlgorithm algorithm;
    const char *unit;
    double scale; // of the unit
} ParameterRow;

extern const ParameterRow parameter_rows[];
extern const int parameter_row_count;

// One unknown of a fit.
typedef struct Free {
    const ParameterRow *row;
    Precision precision;
} Free;

double *free_place(Constants *constants, const Free *free);
double value_of(const Free *free, double x); // from the whole line
double line_of(const Free *free, double value);
const char *free_key(Arena *arena, const Free *free);

// All unknowns that a GPU has; returns how many.
int list_frees(const Gpu *gpu, Free *frees);

// ---- Recovery test of one GPU's fit: are known constants found within the stated intervals?

typedef struct RecoveryRow {
    char key[40];
    int identified, held; // trials in which it was identified, and those whose interval held the truth
    double error;         // sum over them of the relative error
} RecoveryRow;

typedef struct Recovery {
    RecoveryRow parameters[MOST_DEVICE_PARAMETERS];
    int count, rows;
} Recovery;

// On the shapes of the full plan, and NCCL's collectives over a node of the catalogue with this GPU.
Recovery recovery_run(const Catalogue *catalogue, const Gpu *gpu, int trials, double noise, uint64_t seed);
